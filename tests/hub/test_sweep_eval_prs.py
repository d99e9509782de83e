"""``sweep_eval_prs.py`` with the real client and the emulator: each class, what is done about it, and what never is."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from opening_runs import Run, add_model, result_of, spec_of
from ported_pulls import DATASETS, LOGIC, PORTER, Ported

from benchwright.contract import Failure
from benchwright.hub.boards import Boards
from benchwright.hub.client import HubPatience
from benchwright.hub.registry import Registry
from benchwright.hub.sweep.command import swept_registry
from benchwright.hub.views import View
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card, eval_file, results_file
from scripts_in_process import Script, load

FILE = Path(__file__).resolve().parents[2] / ".agents/skills/port-evals-to-hub/scripts/sweep_eval_prs.py"
FIFTY = [str(90 - number / 10) for number in range(50)]
OWNER = "nova-keeper"
B = 10**9


@pytest.fixture
def ported(emulator, logic, tmp_path):
    """A registry; the benchmarks are ``logic`` and ``cliquest-2``, the models' owner is known."""
    emulator.add_dataset("bench-org/cliquest-2", {"eval.yaml": eval_file("CLIQuest 2.0", "quest")}, official=True)
    emulator.add_organisation("nova-ai", {OWNER: "admin"})
    emulator.add_user(PORTER)
    return Ported(emulator, tmp_path)


@pytest.fixture
def nova(emulator):
    """A model of 27 thousand millions of parameters."""
    return emulator.add_model("nova-ai/nova-27b", {"README.md": card("Nova")}, parameters={"BF16": 27 * B})


@pytest.fixture
def script(emulator, ported, capsys, monkeypatch):
    """The script, with a token of who opened the pull requests, and soon tired of asking."""
    monkeypatch.setenv("HF_TOKEN", emulator.token(PORTER))
    monkeypatch.setattr(HubPatience.__init__, "__defaults__", (2, 0.01, 0.05, 5.0))
    return Script(load(FILE), capsys, ("--registry", ported.path))


@pytest.fixture
def written(emulator):
    """What has been sent to the emulator since the last call that is no GET: method and path."""

    def since() -> list[str]:
        seen, emulator.seen[:] = [one.request for one in emulator.seen], []
        return [f"{one.method} {one.path}" for one in seen if one.method not in ("GET", "HEAD")]

    return since


def only(envelope):
    """The one pull request of an answer."""
    (told,) = envelope["data"]["pull_requests"]
    return told


def test_a_visible_result_is_left_alone(script, ported, nova, peers, written):
    peers(["70", "60"])
    ported.open(nova, {"logic": "62.5"})
    told = only(script.answer("--apply"))
    assert (told["class"], told["results"][0]["rank"], told["results"][0]["rank_of_all"]) == ("visible", 2, 2)
    assert told["steps"] == told["taken"] == [] and written() == []


def test_a_dry_run_sends_nothing(script, ported, nova, peers, written, monkeypatch):
    peers(FIFTY, size=70)
    monkeypatch.delenv("HF_TOKEN")
    ported.open(nova, {"logic": "62.5"})
    before = ported.path.read_bytes()
    code, lines = script.run()
    assert (code, written(), ported.path.read_bytes()) == (0, [], before)
    assert sorted(one.name for one in ported.path.parent.iterdir()) == ["prs.json"]
    assert lines[0] == "DRY RUN: nothing written; 1 pull request: 1 drifted"
    assert lines[1:4] == [
        "  nova-ai/nova-27b#1  drifted",
        "    Logic-1k 62.5: drifted, number 1: up to 32B, base models only",
        "    to do: lead the link of Logic-1k (62.5) to where it is number 1: up to 32B, base models only",
    ]
    assert lines[-1] == "DRY RUN: nothing written"
    assert lines[-3] == "to do it (where a client blocks this, a person runs it):"
    assert f"sweep_eval_prs.py --registry {ported.path} --apply" in lines[-2]


def test_a_drifted_link_is_led_elsewhere_in_our_own_comment(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    body = ported.body(nova, num)
    told = only(script.answer("--apply"))
    event = ported.pull(nova, num).events[0].id
    assert written() == [f"POST /api/models/nova-ai/nova-27b/discussions/{num}/comment/{event}/edit"]
    assert ported.body(nova, num) == body.replace(
        "leaderboard_task_id=logic)", "leaderboard_task_id=logic&leaderboard_max_params=32B)"
    )
    assert told["class"] == "visible" and told["taken"] == [
        "lead the link of Logic-1k (62.5) to where it is number 1: up to 32B, base models only"
    ]
    (record,) = Registry.load(ported.path).records
    assert record.results[0].shown.view == View("32B")
    assert [one.what for one in record.history] == ["repointed"]
    assert only(script.answer("--apply"))["taken"] == [] and written() == []


def test_an_invisible_result_is_dropped_and_the_rest_stays(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"quest": "38.75", "logic": "62.5"})
    head = ported.pull(nova, num).head
    told = only(script.answer("--apply"))
    place = f"POST /api/models/nova-ai/nova-27b/discussions/{num}"
    assert written() == [
        f"POST /api/models/nova-ai/nova-27b/commit/refs%2Fpr%2F{num}",
        f"{place}/comment/{ported.pull(nova, num).events[0].id}/edit",
        f"{place}/title",
    ]
    assert list(ported.files(nova, num)) == [".eval_results/quest.yaml"]
    assert nova.commits[ported.pull(nova, num).head].parents == (head,)
    assert ported.pull(nova, num).title == "Add community evaluation results for CLIQuest 2.0"
    body = ported.body(nova, num)
    assert "logic" not in body and "leaderboard_task_id=quest" in body and "<!-- port-evals:" in body
    assert told["taken"] == [
        "drop Logic-1k (62.5): number 51 of all, and in no view's top 50",
        "rename it to 'Add community evaluation results for CLIQuest 2.0'",
    ]
    (record,) = Registry.load(ported.path).records
    assert [one.task_id for one in record.results] == ["quest"]
    assert record.history[-1].note == "bench-org/logic-1k, logic: 62.5"
    assert record.head == ported.pull(nova, num).head


def test_one_of_two_results_in_a_file_is_dropped(script, ported, nova, peers, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.50", "hard": "7.0"}, files=["both", "both"])
    assert only(script.answer("--apply"))["class"] == "visible"
    assert ported.files(nova, num) == {
        ".eval_results/both.yaml": "- dataset:\n    id: bench-org/logic-1k\n    task_id: hard\n  value: 7.0\n"
    }


def test_a_pull_request_that_nobody_can_see_is_closed_with_a_comment(script, ported, nova, peers, written):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    dry = only(script.answer())
    assert (dry["class"], dry["steps"]) == ("invisible", ["close it: no view shows any of its results"])
    told = only(script.answer("--apply"))
    assert written() == [f"POST /api/models/nova-ai/nova-27b/discussions/{num}/status"]
    assert told["class"] == told["results"][0]["class"] == "closed" and ported.pull(nova, num).status == "closed"
    comment = ported.pull(nova, num).events[-2].data["latest"]["raw"]
    assert "- Logic-1k (62.5): number 51 of all, and in no view's top 50" in comment
    (record,) = Registry.load(ported.path).records
    assert (record.state, record.history[-1].what) == ("closed", "closed")
    assert only(script.answer("--apply"))["class"] == "closed" and written() == []


@pytest.mark.parametrize("status", [500, 429])
def test_a_view_that_is_not_told_keeps_everything(script, ported, nova, peers, written, emulator, status):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    fault = Fault("error", status=status)
    emulator.fault = lambda request: fault if "max_params=12B" in request.target else None
    envelope = script.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 4, [])
    assert envelope["problems"][0]["where"] == f"nova-ai/nova-27b#{num}: Logic-1k"
    assert ported.pull(nova, num).status == "open"
    emulator.fault = None
    assert only(script.answer("--apply"))["class"] == "closed"


def test_an_empty_board_keeps_everything(script, ported, nova, peers, written, emulator, monkeypatch):
    """A board that answers with nothing, as one of an unknown task does, proves nothing."""
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    from benchwright.hub import boards as module

    rows = module.Hub.pages
    empty = lambda hub, path, **query: iter(()) if query.get("max_params") == "32B" else rows(hub, path, **query)  # noqa: E731
    monkeypatch.setattr(module.Hub, "pages", empty)
    envelope = script.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
    assert envelope["problems"][0]["found"] == "the board is empty (up to 32B, base models only)"


def test_a_task_that_is_no_more_keeps_everything(script, ported, nova, peers, written, emulator, logic):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.commit(logic, {"eval.yaml": eval_file("Logic-1k", "logic_v2")})
    envelope = script.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 2, [])
    assert only(envelope)["why"] == "bench-org/logic-1k: no task 'logic'"
    assert ported.pull(nova, num).status == "open"


def test_a_result_that_the_board_does_not_list_is_unknown(script, ported, nova, peers, written, emulator):
    peers(["70"])
    ported.open(nova, {"logic": "62.5"})
    emulator.settings.board_lag = 3600
    emulator.state.clock = lambda: datetime.now(UTC)
    assert only(script.answer("--apply"))["class"] == "unknown" and written() == []


def test_an_edit_of_a_file_on_main_is_never_closed(script, ported, nova, peers, written, emulator, result):
    peers(FIFTY, size=1)
    emulator.commit(nova, {".eval_results/logic.yaml": result("61.0")})
    num = ported.open(nova, {"logic": "62.5"})
    told = only(script.answer("--apply"))
    assert (told["class"], written(), ported.pull(nova, num).status) == ("edits_existing", [], "open")
    assert told["why"] == "main has .eval_results/logic.yaml, too, and is what boards show until a merge"


def test_another_result_of_the_model_is_for_a_person(script, ported, nova, peers, written, emulator, result):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, {".eval_results/other-name.yaml": result("63.0")})
    told = only(script.answer("--apply"))
    assert (told["class"], written()) == ("superseded", [])
    assert told["why"] == "the board has 63.0 of main for this model"


def test_the_same_result_of_another_pull_request_is_not_ours(script, ported, nova, peers, written, emulator, result):
    peers(["70"])
    emulator.open_pull_request(nova, {".eval_results/logic.yaml": result("62.5")}, author="visitor", title="Add it")
    ported.open(nova, {"logic": "62.5"})
    told = only(script.answer("--apply"))
    assert (told["class"], told["why"]) == ("superseded", "the board has 62.5 of pull request 1 for this model")
    assert written() == []


def test_a_merged_result_is_nobodys_to_remove(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.merge_pull_request(nova, num, author=OWNER)
    told = only(script.answer("--apply"))
    assert (told["class"], told["results"][0]["class"], written()) == ("merged", "invisible", [])
    assert Registry.load(ported.path).records[0].state == "merged"


def test_one_that_its_owner_closed_stays_closed(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.close_pull_request(nova, num, author=OWNER)
    emulator.delete_ref(nova, num)
    told = only(script.answer("--apply"))
    assert (told["class"], told["why"], written()) == ("closed_by_owner", f"closed by {OWNER}", [])
    (record,) = Registry.load(ported.path).records
    assert (record.state, record.history[-1].what) == ("closed", "closed_by_owner")


def test_what_others_changed_is_theirs(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, {"README.md": "more"}, ref=f"refs/pr/{num}", author=OWNER, title="Say more")
    told = only(script.answer("--apply"))
    assert (told["class"], written()) == ("changed_by_owner", [])
    assert told["why"] == f"{OWNER} committed 'Say more'"


@pytest.mark.parametrize("what", ["reopened", "renamed", "body"])
def test_whatever_others_do_counts(script, ported, nova, peers, written, emulator, monkeypatch, what):
    from huggingface_hub import HfApi

    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    owner = HfApi(emulator.url, emulator.token(OWNER))
    if what == "reopened":
        assert only(script.answer("--apply"))["class"] == "closed"
        owner.change_discussion_status(nova.id, num, "open")
    elif what == "renamed":
        owner.rename_discussion(nova.id, num, "Hold on")
    else:
        owner.edit_discussion_comment(nova.id, num, ported.pull(nova, num).events[0].id, "Hold on")
    written()
    told = only(script.answer("--apply"))
    assert (told["class"], written(), ported.pull(nova, num).status) == ("changed_by_owner", [], "open")
    words = {"reopened": "made it open", "renamed": "changed the title", "body": "edited the body"}
    assert told["why"] == f"{OWNER} {words[what]}"


def test_what_we_opened_again_by_hand_is_not_closed_again(script, ported, nova, peers, written, emulator):
    """No script opens one again, so a person has; and the comment that closed it says that none will touch it."""
    from huggingface_hub import HfApi

    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    assert only(script.answer("--apply"))["class"] == "closed"
    HfApi(emulator.url, emulator.token(PORTER)).change_discussion_status(nova.id, num, "open")
    written()
    told = only(script.answer("--apply"))
    assert (told["class"], told["why"], written()) == ("changed_by_owner", f"{PORTER} made it open", [])


def test_a_comment_ends_automatic_edits_and_is_shown(script, ported, nova, peers, written, emulator, tmp_path):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.comment(nova, num, "Please stop\nopening these.", author=OWNER)
    told = only(script.answer("--apply", "--handoff", tmp_path / "sheet.md"))
    assert (told["class"], written()) == ("commented", [])
    assert told["why"] == f"{OWNER}: Please stop opening these."
    assert [(one["author"], one["text"]) for one in told["comments"]] == [(OWNER, "Please stop\nopening these.")]
    assert f"- what others wrote is answered: {told['url']}" in (tmp_path / "sheet.md").read_text()


def test_a_sweep_goes_on_once_a_comment_is_answered(script, ported, nova, peers, written, emulator):
    """What others wrote counts from the last comment of the pull request's author on."""
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.comment(nova, num, "Which harness?", author=OWNER)
    emulator.comment(nova, num, "Harness X 0.4.", author=PORTER)
    emulator.comment(nova, num, "And how many trials?", author=OWNER)
    told = only(script.answer("--apply"))
    assert (told["class"], told["why"], len(told["comments"])) == ("commented", f"{OWNER}: And how many trials?", 1)
    assert written() == []
    emulator.comment(nova, num, "Five.", author=PORTER)
    told = only(script.answer("--apply"))
    assert (told["class"], told["comments"], len(told["taken"])) == ("visible", [], 1)


def test_what_happens_between_the_two_looks_counts(script, ported, nova, peers, written, emulator):
    """A comment that comes after the first look, when all boards are read, stops what was planned by it."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    looks = []

    def comes(request):
        if request.path.endswith(f"/discussions/{num}"):
            looks.append(request)
            if len(looks) == 2:
                emulator.comment(nova, num, "Stop.", author=OWNER)

    emulator.fault = comes
    told = only(script.answer("--apply"))
    assert (told["class"], told["taken"], written()) == ("commented", [], [])


def test_a_file_that_comes_to_main_between_the_two_looks_counts(script, ported, nova, peers, written, emulator, result):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    looks = []

    def comes(request):
        if request.path == "/api/models/nova-ai/nova-27b":
            looks.append(request)
            if len(looks) == 2:
                emulator.commit(nova, {".eval_results/logic.yaml": result("62.5")})

    emulator.fault = comes
    told = only(script.answer("--apply"))
    assert (told["class"], told["taken"], written()) == ("edits_existing", [], [])


def test_a_file_that_we_changed_is_unknown_however_often_it_is_swept(
    script, ported, nova, peers, written, emulator, result
):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    changed = {".eval_results/logic.yaml": result("62.6")}
    emulator.commit(nova, changed, ref=f"refs/pr/{num}", author=PORTER)
    for _ in range(2):
        told = only(script.answer("--apply"))
        assert (told["class"], written()) == ("unknown", [])
        assert told["why"] == ".eval_results/logic.yaml is not as the registry has it"


@pytest.mark.parametrize("name", ["quest", "logic"])
def test_a_result_that_the_registry_does_not_know_keeps_its_pull_request(
    script, ported, nova, peers, written, emulator, result, name
):
    """As an ``--amend`` leaves it that was killed behind its commit: what was added may well be seen."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    text = results_file(DATASETS["quest"], "quest", "38.75")
    text = text if name == "quest" else result("62.5") + text
    emulator.commit(nova, {f".eval_results/{name}.yaml": text}, ref=f"refs/pr/{num}", author=PORTER)
    told = only(script.answer("--apply"))
    assert (told["class"], written(), ported.pull(nova, num).status) == ("unknown", [], "open")
    assert told["why"] == f"it changes .eval_results/{name}.yaml, with results that the registry does not know"


def test_an_edit_of_mains_file_that_the_registry_does_not_know_keeps_its_pull_request(
    script, ported, nova, peers, written, emulator
):
    """Nothing of it is on a board, and with the pull request it would be lost."""
    peers(FIFTY, size=1)
    text = results_file(DATASETS["quest"], "quest", "30.0")
    emulator.commit(nova, {".eval_results/quest.yaml": text})
    num = ported.open(nova, {"logic": "62.5"})
    edited = {".eval_results/quest.yaml": text.replace("30.0", "38.75")}
    emulator.commit(nova, edited, ref=f"refs/pr/{num}", author=PORTER)
    envelope = script.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
    (problem,) = envelope["problems"]
    assert (problem["code"], problem["where"], problem["found"]) == (
        "unregistered-files",
        f"nova-ai/nova-27b#{num}",
        "it changes .eval_results/quest.yaml, with results that the registry does not know",
    )
    assert problem["fix"] == (
        f"nothing was done to it: open_eval_prs.py with a spec of all results that it is to have, and --amend {num};"
        " or --rebuild, which registers them as they are"
    )


def test_what_main_has_changed_since_is_no_change_of_ours(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    text = results_file(DATASETS["quest"], "quest", "30.0")
    emulator.commit(nova, {".eval_results/quest.yaml": text})
    ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, {".eval_results/quest.yaml": text.replace("30.0", "31.0")}, author=OWNER)
    assert only(script.answer("--apply"))["class"] == "closed"


def test_what_main_has_deleted_since_is_for_a_person(script, ported, nova, peers, written, emulator, tmp_path):
    """Our branch still has it, and boards may show it by our pull request: ``--amend`` takes it out."""
    peers(FIFTY, size=70)
    theirs = ".eval_results/quest.yaml"
    emulator.commit(nova, {theirs: results_file(DATASETS["quest"], "quest", "30.0"), "README.md": "Logic-1k: 62.5."})
    num = ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, deleted=[theirs], author=OWNER)
    for _ in range(2):
        envelope = script.answer("--apply")
        assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
        (problem,) = envelope["problems"]
        assert (problem["code"], problem["found"]) == (
            "left-over-files",
            f"it still has {theirs}, which main had and its owner has deleted since",
        )
        assert problem["fix"] == (
            "boards may still show it by this pull request. open_eval_prs.py with a spec of all results that it is to"
            f" have, and --amend {num}, takes it out; or close it by hand"
        )
    source = {"url": f"https://huggingface.co/{nova.id}", "name": "Model Card"}
    spec = spec_of(tmp_path, {nova.id: [result_of("62.5", source=source)]}).path
    opener = Script(load(FILE.with_name("open_eval_prs.py")), script.capsys, script.always)
    steps = opener.answer(spec, "--amend", num, "--apply")["data"]["steps"]
    assert f"delete {theirs}" in steps
    assert only(script.answer("--apply"))["class"] == "visible"


def test_what_others_take_out_stays_registered(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5", "quest": "38.75"})
    emulator.commit(nova, deleted=[".eval_results/logic.yaml"], ref=f"refs/pr/{num}", author=OWNER)
    assert only(script.answer("--apply"))["class"] == "changed_by_owner"
    assert len(Registry.load(ported.path).records[0].results) == 2


def test_a_body_that_could_not_be_edited_is_edited_later(script, ported, nova, peers, written, emulator):
    """The commit is there, twice the edit is not: the registry remembers what the body still links."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5", "quest": "38.75"})
    emulator.fault = RuledFaults([FaultRule(Fault("cut"), method="POST", path="*/edit", times=2)])
    assert only(script.answer("--apply"))["class"] == "invisible"
    told = only(script.answer("--apply"))
    assert (told["class"], told["steps"][0]) == ("visible", "take out of the body what was dropped")
    assert only(script.answer("--apply"))["taken"] == [
        "take out of the body what was dropped",
        "rename it to 'Add community evaluation results for CLIQuest 2.0'",
    ]
    assert "logic" not in ported.body(nova, num)
    assert [one.task_id for one in Registry.load(ported.path).records[0].results] == ["quest"]


def test_a_commit_on_another_head_is_refused(script, ported, nova, peers, written, emulator):
    """Somebody commits right before ours: the parent check keeps ours out."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5", "quest": "38.75"})

    def comes(request):
        if "/preupload/" in request.path or "/commit/" in request.path:
            emulator.fault = None
            emulator.commit(nova, {"README.md": "more"}, ref=f"refs/pr/{num}", author=OWNER)

    emulator.fault = comes
    envelope = script.answer("--apply")
    assert envelope["problems"][0]["found"].startswith("HTTP 412")
    assert set(ported.files(nova, num)) == {".eval_results/logic.yaml", ".eval_results/quest.yaml"}
    assert only(script.answer("--apply"))["class"] == "changed_by_owner"


def test_others_pull_requests_and_lost_markers_are_unknown(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    (record,) = ported.registry.records
    from dataclasses import replace

    ported.registry.put(replace(record, author="somebody"))
    envelope = script.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
    assert envelope["problems"][0]["found"] == f"its author is {PORTER}"
    ported.registry.put(record)
    from huggingface_hub import HfApi

    event = ported.pull(nova, num).events[0].id
    HfApi(emulator.url, emulator.token(PORTER)).edit_discussion_comment(nova.id, num, event, "Nothing")
    written()
    assert script.answer("--apply")["problems"][0]["found"] == "its body lacks the marker"
    assert written() == []


def test_another_ones_token_writes_nothing(script, ported, nova, peers, written, emulator, monkeypatch):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    monkeypatch.setenv("HF_TOKEN", emulator.token("visitor"))
    envelope = script.answer("--apply")
    assert (envelope["exit"], written()) == (5, [])
    assert envelope["problems"][0]["found"] == "opened by porter, and the token is visitor's"
    monkeypatch.setenv("HF_TOKEN", emulator.token(PORTER, "read"))
    assert (script.answer("--apply")["problems"][0]["code"], written()) == ("token-rights", [])


def test_renamed_and_missing_models(script, ported, nova, peers, written, emulator):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.rename(nova, "nova-ai/nova-28b")
    told = only(script.answer("--apply"))
    assert (told["repo"], told["class"]) == ("nova-ai/nova-28b", "visible")
    assert "max_params=32B" in ported.body(nova, num)
    emulator.delete(nova)
    envelope = script.answer()
    assert (only(envelope)["class"], envelope["problems"][0]["code"]) == ("unknown", "repo-missing")


def test_an_intent_is_told_and_a_failure_is_not(script, ported, nova, written):
    from dataclasses import replace

    ported.open(nova, {"quest": "38.75"})
    (record,) = ported.registry.records
    intent = replace(record, num=None, state="intent", spec_hash="0" * 12)
    ported.registry.write([intent, replace(intent, state="failed", spec_hash="1" * 12)])
    envelope = script.answer("--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"], written()) == (5, "not-opened", [])
    assert len(envelope["data"]["pull_requests"]) == 1


def test_what_the_opening_left_behind_is_swept(script, ported, open_hub, emulator, peers, tmp_path):
    """From the spec on: opened by the real opener; of two results in a file one is dropped later."""
    add_model(emulator, "nova-ai/nova-7b", parameters={"BF16": 27 * B})
    quest = result_of("38.75", "quest", "bench-org/cliquest-2", origin="Table 6 (Nova row, CLIQuest 2.0 column)")
    results = [result_of("62.50"), quest, result_of("7.0", "hard")]
    peers(["70"])
    emulator.add_model("peer-lab/quest", {".eval_results/q.yaml": results_file("bench-org/cliquest-2", "quest", 41)})
    emulator.add_model("peer-lab/hard", {".eval_results/h.yaml": results_file(LOGIC, "hard", 8)})
    Run(open_hub(), ported.path).apply(spec_of(tmp_path, {"nova-ai/nova-7b": results}))
    told = only(script.answer())
    assert (told["class"], told["steps"]) == ("visible", [])
    peers(FIFTY, size=1, lab="new-lab")
    told = only(script.answer("--apply"))
    assert told["class"] == "visible" and told["taken"] == [
        "drop Logic-1k (62.50): number 52 of all, and in no view's top 50"
    ]
    repo = emulator.repo("nova-ai/nova-7b")
    assert (
        ported.pull(repo, 1).title == "Add community evaluation results for Logic-1k and CLIQuest 2.0"
    )  # the hard part
    assert (
        "\n\nThese results were extracted from Table 6 (Nova row, CLIQuest 2.0 column) for CLIQuest 2.0"
        " and the model card for Logic-1k (hard).\n\n"
    ) in ported.body(repo, 1)
    assert ported.files(repo, 1)[".eval_results/logic-1k.yaml"].count("- dataset:") == 1
    assert "leaderboard_task_id=logic)" not in ported.body(repo, 1) and "leaderboard_task_id=hard)" in ported.body(
        repo, 1
    )
    assert only(script.answer("--apply"))["taken"] == []


def test_no_registry_and_a_damaged_one(script, ported):
    envelope = script.answer()
    assert (envelope["exit"], envelope["summary"]) == (2, f"no file {ported.path}")
    ported.path.parent.mkdir()
    ported.path.write_text('{"version": 1')
    for mode in ("--apply", "--json"):
        envelope = script.answer(mode)
        assert envelope["exit"] == 5
        command = envelope["problems"][0]["fix"].partition("from the Hub: ")[2]
        opener = str(FILE.with_name("open_eval_prs.py"))
        assert shlex.split(command) == [sys.executable, opener, "--registry", str(ported.path), "--rebuild"]


def test_a_limit_of_the_hub_ends_the_writing(script, ported, peers, written, emulator):
    peers(FIFTY, size=1)
    models = [emulator.add_model(f"nova-ai/nova-{number}", parameters={"BF16": 27 * B}) for number in range(3)]
    for model in models:
        ported.open(model, {"logic": "62.5"})
    emulator.fault = RuledFaults(
        [FaultRule(Fault("error", status=429), method="POST", path="*/status", skip=1, times=9)]
    )
    envelope = script.answer("--apply")
    assert envelope["exit"] == 4 and len(written()) == 2
    assert [one["class"] for one in envelope["data"]["pull_requests"]] == ["closed", "invisible", "invisible"]
    emulator.fault = None
    assert {one["class"] for one in script.answer("--apply")["data"]["pull_requests"]} == {"closed"}


@pytest.mark.parametrize("fault", [Fault("cut"), Fault("cut", takes_effect=True), Fault("error", takes_effect=True)])
def test_a_lost_answer_is_looked_after(script, ported, nova, peers, emulator, fault):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.fault = RuledFaults([FaultRule(fault, method="POST", path="*/status")])
    envelope = script.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"]) == (("closed", 0) if fault.takes_effect else ("invisible", 4))
    assert only(script.answer("--apply"))["class"] == "closed"
    assert sum(event.type == "comment" for event in ported.pull(nova, num).events) == 2


def test_ranks_are_kept_and_drawn(script, ported, nova, peers, emulator):
    peers(["70", "60"])
    ported.open(nova, {"logic": "62.5"})
    named = ported.path.with_name("ranks.csv")
    code, lines = script.run("--ranks", named)
    assert (code, lines[0]) == (0, "DRY RUN: nothing written to the Hub; 1 pull request: 1 visible")
    assert named.read_text().splitlines()[1].split(",", 1)[1] == (
        f"nova-ai/nova-27b,1,{LOGIC},logic,Logic-1k,62.5,visible,2,all,yes,2"
    )
    assert "nova-ai/nova-27b#1" in named.with_suffix(".html").read_text()
    for _ in range(2):
        script.answer("--apply")
    assert len(ported.ranks.read_text().splitlines()) == 2
    ported.ranks.write_text("day\n")
    before = len(emulator.seen)
    envelope = script.answer("--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"], len(emulator.seen)) == (2, "bad-history", before)


def test_what_a_sweep_drops_or_closes_was_in_no_view_that_day(script, ported, nova, peers, emulator):
    """The ranks keep what was seen before it: the line of the same day says no more that it is visible."""
    alone = emulator.add_model("nova-ai/alone-27b", {"README.md": card("Alone")}, parameters={"BF16": 27 * B})
    peers(["70"])
    ported.open(nova, {"quest": "38.75", "logic": "62.5"})
    ported.open(alone, {"logic": "62.0"})
    script.answer("--apply")
    peers(FIFTY, size=1, lab="new-lab")
    for _ in range(2):
        answer = script.answer("--apply")
        assert [one["class"] for one in answer["data"]["pull_requests"]] == ["visible", "closed"]
        assert sorted(line.split(",", 1)[1] for line in ported.ranks.read_text().splitlines()[1:]) == [
            f"nova-ai/alone-27b,1,{LOGIC},logic,Logic-1k,62.0,invisible,,,,53",
            "nova-ai/nova-27b,1,bench-org/cliquest-2,quest,CLIQuest 2.0,38.75,visible,1,all,yes,1",
            f"nova-ai/nova-27b,1,{LOGIC},logic,Logic-1k,62.5,invisible,,,,52",
        ]
    assert f"62.5, {datetime.now(UTC).date()}: in no view" in ported.ranks.with_suffix(".html").read_text()


def test_a_link_that_is_led_elsewhere_counts_as_it_is_afterwards(script, ported, nova, peers):
    peers(FIFTY, size=70)
    ported.open(nova, {"logic": "62.5"})
    script.answer("--apply")
    assert ",62.5,visible,1,32B,yes," in ported.ranks.read_text()


def test_a_hand_off_has_a_command_that_writes_only_where_there_is_something_to_do(
    script, ported, nova, peers, tmp_path
):
    peers(["70", "60"])
    ported.open(nova, {"logic": "62.5"})
    sheet = tmp_path / "sheet.md"
    script.answer("--handoff", sheet)
    assert f"{FILE} --registry {ported.path}\n```" in sheet.read_text()
    assert "--apply" not in sheet.read_text()
    peers(FIFTY, size=70, lab="new-lab")
    script.answer("--handoff", sheet)
    assert f"{FILE} --registry {ported.path} --apply\n```" in sheet.read_text()
    script.answer("--apply", "--handoff", sheet)
    assert "--apply" not in sheet.read_text()


def test_what_ranks_cannot_keep_is_not_dropped(script, ported, nova, peers, written, tmp_path, monkeypatch):
    """Its rank would be known to nobody afterwards."""
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})

    def full(*words):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benchwright.hub.sweep.rank_history.write_text", full)
    envelope = script.answer("--apply")
    (problem,) = envelope["problems"]
    assert (only(envelope)["class"], envelope["exit"], written()) == ("invisible", 3, [])
    assert (problem["where"], problem["found"]) == (str(ported.ranks), "cannot be written (no space left on device)")
    assert problem["fix"] == "make room for it, or name another file with --ranks"
    monkeypatch.undo()


def test_what_was_done_is_told_even_if_ranks_cannot_be_written(script, ported, nova, peers, tmp_path):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    (tmp_path / "ranks.html").mkdir()
    envelope = script.answer("--apply", "--ranks", tmp_path / "ranks.csv")
    assert (only(envelope)["class"], envelope["exit"]) == ("closed", 3)
    assert envelope["problems"][0]["code"] == "ranks-not-written"


def test_what_was_done_is_told_even_if_the_sheet_cannot_be_written(script, ported, nova, peers, tmp_path):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    envelope = script.answer("--apply", "--handoff", tmp_path)
    assert (only(envelope)["class"], envelope["exit"], envelope["data"]["applied"]) == ("closed", 3, True)
    (problem,) = envelope["problems"]
    assert (problem["code"], problem["where"]) == ("sheet-not-written", str(tmp_path))


def test_two_sweeps_do_not_keep_the_same_ranks_at_once(script, ported, nova, peers, emulator, open_hub, tmp_path):
    """Both would read them, and the one that ends last would write them without the other's lines."""
    peers(["70"])
    ported.open(nova, {"logic": "62.5"})
    ranks, refused = tmp_path / "ranks.csv", []

    def comes(request):
        emulator.fault = None
        try:
            words = {"progress": lambda *_, **__: None, "again": "", "apply": False}
            swept_registry(Boards(open_hub()), ported.path, ranks=ranks, **words)
        except Failure as failure:
            refused.append(failure)

    emulator.fault = comes
    for _ in range(2):
        envelope = script.answer("--ranks", ranks)
        assert (envelope["exit"], only(envelope)["class"]) == (0, "visible")
    (problem,) = refused[0].problems
    assert (refused[0].exit, problem.code, problem.where) == (5, "locked", f"{ranks}.lock")


def test_ranks_in_a_folder_that_cannot_be_written_are_told_before_anything_is_sent(script, ported, nova, emulator):
    ported.open(nova, {"logic": "62.5"})
    envelope = script.answer("--apply", "--ranks", ported.path / "ranks.csv")
    assert (envelope["exit"], envelope["problems"][0]["code"], emulator.seen) == (3, "history-unreadable", [])
    assert script.answer("--ranks", ".")["exit"] == 3


def test_a_run_has_a_budget_of_requests(script, ported, nova, peers, written, monkeypatch):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    monkeypatch.setattr("benchwright.hub.client.BUDGET", 9)
    envelope = script.answer("--apply")
    assert (envelope["exit"], only(envelope)["class"], written()) == (4, "unknown", [])
    (problem,) = envelope["problems"]
    assert problem["found"].endswith("this run has sent 9 requests to the Hub, and may send no more")


def test_a_sweep_of_many_reads_each_board_once(script, ported, peers, emulator):
    """200 pull requests: two requests each, one for their owner, and sixteen views of each board at most."""
    peers(FIFTY, size=1)
    with emulator.at_once():
        models = [emulator.add_model(f"nova-ai/nova-{number}", parameters={"BF16": 27 * B}) for number in range(200)]
    for model in models:
        ported.open(model, {"logic": "62.5"})
    emulator.seen[:] = []
    envelope = script.answer()
    targets = [one.request.target for one in emulator.seen]
    boards = [one for one in targets if "/leaderboard" in one]
    assert len(boards) == len(set(boards)) == 16
    assert len(targets) == envelope["data"]["requests"] == 16 + 2 + 1 + 2 * 200
    assert json.dumps(envelope["data"]["pull_requests"]).count('"class": "invisible"') == 400
