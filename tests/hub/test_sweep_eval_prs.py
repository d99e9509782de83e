"""``sweep_eval_prs.py`` with the real client and the emulator: each class, what is done about it, and what never is."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime

import pytest
from opening_runs import Run, add_model, result_of, spec_of
from ported_pulls import FIFTY, LOGIC, OWNER, PORTER, SWEEP, B, only

from benchwright.hub.registry import Registry
from benchwright.hub.views import View
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import eval_file, results_file


def test_a_visible_result_is_left_alone(sweeper, ported, nova, peers, written):
    peers(["70", "60"])
    ported.open(nova, {"logic": "62.5"})
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["results"][0]["rank"], told["results"][0]["rank_of_all"]) == ("visible", 2, 2)
    assert told["steps"] == told["taken"] == [] and written() == []


def test_a_dry_run_sends_nothing(sweeper, ported, nova, peers, written, monkeypatch):
    peers(FIFTY, size=70)
    monkeypatch.delenv("HF_TOKEN")
    ported.open(nova, {"logic": "62.5"})
    before = ported.path.read_bytes()
    code, lines = sweeper.run()
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


def test_a_drifted_link_is_led_elsewhere_in_our_own_comment(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    body = ported.body(nova, num)
    told = only(sweeper.answer("--apply"))
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
    assert only(sweeper.answer("--apply"))["taken"] == [] and written() == []


def test_an_invisible_result_is_dropped_and_the_rest_stays(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"quest": "38.75", "logic": "62.5"})
    head = ported.pull(nova, num).head
    told = only(sweeper.answer("--apply"))
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


def test_one_of_two_results_in_a_file_is_dropped(sweeper, ported, nova, peers, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.50", "hard": "7.0"}, files=["both", "both"])
    assert only(sweeper.answer("--apply"))["class"] == "visible"
    assert ported.files(nova, num) == {
        ".eval_results/both.yaml": "- dataset:\n    id: bench-org/logic-1k\n    task_id: hard\n  value: 7.0\n"
    }


def test_a_pull_request_that_nobody_can_see_is_closed_with_a_comment(sweeper, ported, nova, peers, written):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    dry = only(sweeper.answer())
    assert (dry["class"], dry["steps"]) == ("invisible", ["close it: no view shows any of its results"])
    told = only(sweeper.answer("--apply"))
    assert written() == [f"POST /api/models/nova-ai/nova-27b/discussions/{num}/status"]
    assert told["class"] == told["results"][0]["class"] == "closed" and ported.pull(nova, num).status == "closed"
    comment = ported.pull(nova, num).events[-2].data["latest"]["raw"]
    assert "- Logic-1k (62.5): number 51 of all, and in no view's top 50" in comment
    (record,) = Registry.load(ported.path).records
    assert (record.state, record.history[-1].what) == ("closed", "closed")
    assert only(sweeper.answer("--apply"))["class"] == "closed" and written() == []


@pytest.mark.parametrize("status", [500, 429])
def test_a_view_that_is_not_told_keeps_everything(sweeper, ported, nova, peers, written, emulator, status):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    fault = Fault("error", status=status)
    emulator.fault = lambda request: fault if "max_params=12B" in request.target else None
    envelope = sweeper.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 4, [])
    assert envelope["problems"][0]["where"] == f"nova-ai/nova-27b#{num}: Logic-1k"
    assert ported.pull(nova, num).status == "open"
    emulator.fault = None
    assert only(sweeper.answer("--apply"))["class"] == "closed"


def test_an_empty_board_keeps_everything(sweeper, ported, nova, peers, written, emulator, monkeypatch):
    """A board that answers with nothing, as one of an unknown task does, proves nothing."""
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    from benchwright.hub import boards as module

    rows = module.Hub.pages
    empty = lambda hub, path, **query: iter(()) if query.get("max_params") == "32B" else rows(hub, path, **query)  # noqa: E731
    monkeypatch.setattr(module.Hub, "pages", empty)
    envelope = sweeper.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
    assert envelope["problems"][0]["found"] == "the board is empty (up to 32B, base models only)"


def test_a_task_that_is_no_more_keeps_everything(sweeper, ported, nova, peers, written, emulator, logic):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.commit(logic, {"eval.yaml": eval_file("Logic-1k", "logic_v2")})
    envelope = sweeper.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 2, [])
    assert only(envelope)["why"] == "bench-org/logic-1k: no task 'logic'"
    assert ported.pull(nova, num).status == "open"


def test_a_result_that_the_board_does_not_list_is_unknown(sweeper, ported, nova, peers, written, emulator):
    peers(["70"])
    ported.open(nova, {"logic": "62.5"})
    emulator.settings.board_lag = 3600
    emulator.state.clock = lambda: datetime.now(UTC)
    assert only(sweeper.answer("--apply"))["class"] == "unknown" and written() == []


def test_an_edit_of_a_file_on_main_is_never_closed(sweeper, ported, nova, peers, written, emulator, result):
    peers(FIFTY, size=1)
    emulator.commit(nova, {".eval_results/logic.yaml": result("61.0")})
    num = ported.open(nova, {"logic": "62.5"})
    told = only(sweeper.answer("--apply"))
    assert (told["class"], written(), ported.pull(nova, num).status) == ("edits_existing", [], "open")
    assert told["why"] == "main has .eval_results/logic.yaml, too, and is what boards show until a merge"


def test_another_result_of_the_model_is_for_a_person(sweeper, ported, nova, peers, written, emulator, result):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, {".eval_results/other-name.yaml": result("63.0")})
    told = only(sweeper.answer("--apply"))
    assert (told["class"], written()) == ("superseded", [])
    assert told["why"] == "the board has 63.0 of main for this model"


def test_the_same_result_of_another_pull_request_is_not_ours(sweeper, ported, nova, peers, written, emulator, result):
    peers(["70"])
    emulator.open_pull_request(nova, {".eval_results/logic.yaml": result("62.5")}, author="visitor", title="Add it")
    ported.open(nova, {"logic": "62.5"})
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["why"]) == ("superseded", "the board has 62.5 of pull request 1 for this model")
    assert written() == []


def test_a_body_that_could_not_be_edited_is_edited_later(sweeper, ported, nova, peers, written, emulator):
    """The commit is there, twice the edit is not: the registry remembers what the body still links."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5", "quest": "38.75"})
    emulator.fault = RuledFaults([FaultRule(Fault("cut"), method="POST", path="*/edit", times=2)])
    assert only(sweeper.answer("--apply"))["class"] == "invisible"
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["steps"][0]) == ("visible", "take out of the body what was dropped")
    assert only(sweeper.answer("--apply"))["taken"] == [
        "take out of the body what was dropped",
        "rename it to 'Add community evaluation results for CLIQuest 2.0'",
    ]
    assert "logic" not in ported.body(nova, num)
    assert [one.task_id for one in Registry.load(ported.path).records[0].results] == ["quest"]


def test_a_commit_on_another_head_is_refused(sweeper, ported, nova, peers, written, emulator):
    """Somebody commits right before ours: the parent check keeps ours out."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5", "quest": "38.75"})

    def comes(request):
        if "/preupload/" in request.path or "/commit/" in request.path:
            emulator.fault = None
            emulator.commit(nova, {"README.md": "more"}, ref=f"refs/pr/{num}", author=OWNER)

    emulator.fault = comes
    envelope = sweeper.answer("--apply")
    assert envelope["problems"][0]["found"].startswith("HTTP 412")
    assert set(ported.files(nova, num)) == {".eval_results/logic.yaml", ".eval_results/quest.yaml"}
    assert only(sweeper.answer("--apply"))["class"] == "changed_by_owner"


def test_others_pull_requests_and_lost_markers_are_unknown(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    (record,) = ported.registry.records
    from dataclasses import replace

    ported.registry.put(replace(record, author="somebody"))
    envelope = sweeper.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
    assert envelope["problems"][0]["found"] == f"its author is {PORTER}"
    ported.registry.put(record)
    from huggingface_hub import HfApi

    event = ported.pull(nova, num).events[0].id
    HfApi(emulator.url, emulator.token(PORTER)).edit_discussion_comment(nova.id, num, event, "Nothing")
    written()
    assert sweeper.answer("--apply")["problems"][0]["found"] == "its body lacks the marker"
    assert written() == []


def test_another_ones_token_writes_nothing(sweeper, ported, nova, peers, written, emulator, monkeypatch):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    monkeypatch.setenv("HF_TOKEN", emulator.token("visitor"))
    envelope = sweeper.answer("--apply")
    assert (envelope["exit"], written()) == (5, [])
    assert envelope["problems"][0]["found"] == "opened by porter, and the token is visitor's"
    monkeypatch.setenv("HF_TOKEN", emulator.token(PORTER, "read"))
    assert (sweeper.answer("--apply")["problems"][0]["code"], written()) == ("token-rights", [])


def test_renamed_and_missing_models(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.rename(nova, "nova-ai/nova-28b")
    told = only(sweeper.answer("--apply"))
    assert (told["repo"], told["class"]) == ("nova-ai/nova-28b", "visible")
    assert "max_params=32B" in ported.body(nova, num)
    emulator.delete(nova)
    envelope = sweeper.answer()
    assert (only(envelope)["class"], envelope["problems"][0]["code"]) == ("unknown", "repo-missing")


def test_an_intent_is_told_and_a_failure_is_not(sweeper, ported, nova, written):
    from dataclasses import replace

    ported.open(nova, {"quest": "38.75"})
    (record,) = ported.registry.records
    intent = replace(record, num=None, state="intent", spec_hash="0" * 12)
    ported.registry.write([intent, replace(intent, state="failed", spec_hash="1" * 12)])
    envelope = sweeper.answer("--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"], written()) == (5, "not-opened", [])
    assert len(envelope["data"]["pull_requests"]) == 1


def test_what_the_opening_left_behind_is_swept(sweeper, ported, open_hub, emulator, peers, tmp_path):
    """From the spec on: opened by the real opener; of two results in a file one is dropped later."""
    add_model(emulator, "nova-ai/nova-7b", parameters={"BF16": 27 * B})
    quest = result_of("38.75", "quest", "bench-org/cliquest-2", origin="Table 6 (Nova row, CLIQuest 2.0 column)")
    results = [result_of("62.50"), quest, result_of("7.0", "hard")]
    peers(["70"])
    emulator.add_model("peer-lab/quest", {".eval_results/q.yaml": results_file("bench-org/cliquest-2", "quest", 41)})
    emulator.add_model("peer-lab/hard", {".eval_results/h.yaml": results_file(LOGIC, "hard", 8)})
    Run(open_hub(), ported.path).apply(spec_of(tmp_path, {"nova-ai/nova-7b": results}))
    told = only(sweeper.answer())
    assert (told["class"], told["steps"]) == ("visible", [])
    peers(FIFTY, size=1, lab="new-lab")
    told = only(sweeper.answer("--apply"))
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
    assert only(sweeper.answer("--apply"))["taken"] == []


def test_no_registry_and_a_damaged_one(sweeper, ported):
    envelope = sweeper.answer()
    assert (envelope["exit"], envelope["summary"]) == (2, f"no file {ported.path}")
    ported.path.parent.mkdir()
    ported.path.write_text('{"version": 1')
    for mode in ("--apply", "--json"):
        envelope = sweeper.answer(mode)
        assert envelope["exit"] == 5
        command = envelope["problems"][0]["fix"].partition("from the Hub: ")[2]
        opener = str(SWEEP.with_name("open_eval_prs.py"))
        assert shlex.split(command) == [sys.executable, opener, "--registry", str(ported.path), "--rebuild"]


def test_a_limit_of_the_hub_ends_the_writing(sweeper, ported, peers, written, emulator):
    peers(FIFTY, size=1)
    models = [emulator.add_model(f"nova-ai/nova-{number}", parameters={"BF16": 27 * B}) for number in range(3)]
    for model in models:
        ported.open(model, {"logic": "62.5"})
    emulator.fault = RuledFaults(
        [FaultRule(Fault("error", status=429), method="POST", path="*/status", skip=1, times=9)]
    )
    envelope = sweeper.answer("--apply")
    assert envelope["exit"] == 4 and len(written()) == 2
    assert [one["class"] for one in envelope["data"]["pull_requests"]] == ["closed", "invisible", "invisible"]
    emulator.fault = None
    assert {one["class"] for one in sweeper.answer("--apply")["data"]["pull_requests"]} == {"closed"}


@pytest.mark.parametrize("fault", [Fault("cut"), Fault("cut", takes_effect=True), Fault("error", takes_effect=True)])
def test_a_lost_answer_is_looked_after(sweeper, ported, nova, peers, emulator, fault):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.fault = RuledFaults([FaultRule(fault, method="POST", path="*/status")])
    envelope = sweeper.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"]) == (("closed", 0) if fault.takes_effect else ("invisible", 4))
    assert only(sweeper.answer("--apply"))["class"] == "closed"
    assert sum(event.type == "comment" for event in ported.pull(nova, num).events) == 2


def test_a_hand_off_has_a_command_that_writes_only_where_there_is_something_to_do(
    sweeper, ported, nova, peers, tmp_path
):
    peers(["70", "60"])
    ported.open(nova, {"logic": "62.5"})
    sheet = tmp_path / "sheet.md"
    sweeper.answer("--handoff", sheet)
    assert f"{SWEEP} --registry {ported.path}\n```" in sheet.read_text()
    assert "--apply" not in sheet.read_text()
    peers(FIFTY, size=70, lab="new-lab")
    sweeper.answer("--handoff", sheet)
    assert f"{SWEEP} --registry {ported.path} --apply\n```" in sheet.read_text()
    sweeper.answer("--apply", "--handoff", sheet)
    assert "--apply" not in sheet.read_text()


def test_what_was_done_is_told_even_if_the_sheet_cannot_be_written(sweeper, ported, nova, peers, tmp_path):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    envelope = sweeper.answer("--apply", "--handoff", tmp_path)
    assert (only(envelope)["class"], envelope["exit"], envelope["data"]["applied"]) == ("closed", 3, True)
    (problem,) = envelope["problems"]
    assert (problem["code"], problem["where"]) == ("sheet-not-written", str(tmp_path))


def test_a_run_has_a_budget_of_requests(sweeper, ported, nova, peers, written, monkeypatch):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    monkeypatch.setattr("benchwright.hub.client.BUDGET", 9)
    envelope = sweeper.answer("--apply")
    assert (envelope["exit"], only(envelope)["class"], written()) == (4, "unknown", [])
    (problem,) = envelope["problems"]
    assert problem["found"].endswith("this run has sent 9 requests to the Hub, and may send no more")


def test_a_sweep_of_many_reads_each_board_once(sweeper, ported, peers, emulator):
    """200 pull requests: two requests each, one for their owner, and sixteen views of each board at most."""
    peers(FIFTY, size=1)
    with emulator.at_once():
        models = [emulator.add_model(f"nova-ai/nova-{number}", parameters={"BF16": 27 * B}) for number in range(200)]
    for model in models:
        ported.open(model, {"logic": "62.5"})
    emulator.seen[:] = []
    envelope = sweeper.answer()
    targets = [one.request.target for one in emulator.seen]
    boards = [one for one in targets if "/leaderboard" in one]
    assert len(boards) == len(set(boards)) == 16
    assert len(targets) == envelope["data"]["requests"] == 16 + 2 + 1 + 2 * 200
    assert json.dumps(envelope["data"]["pull_requests"]).count('"class": "invisible"') == 400
