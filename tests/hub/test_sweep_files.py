"""Sweeps of pull requests whose files are not those that the registry knows, or main's besides."""

from __future__ import annotations

import pytest
from opening_runs import result_of, spec_of
from ported_pulls import DATASETS, FIFTY, OWNER, PORTER, SWEEP, only

from benchwright.hub.registry import Registry
from benchwright.rehearsal.hub.sample import results_file
from scripts_in_process import Script, load


def test_a_file_that_comes_to_main_between_the_two_looks_counts(
    sweeper, ported, nova, peers, written, emulator, result
):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    looks = []

    def comes(request):
        if request.path == "/api/models/nova-ai/nova-27b":
            looks.append(request)
            if len(looks) == 2:
                emulator.commit(nova, {".eval_results/logic.yaml": result("62.5")})

    emulator.fault = comes
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["taken"], written()) == ("edits_existing", [], [])


def test_a_file_that_we_changed_is_unknown_however_often_it_is_swept(
    sweeper, ported, nova, peers, written, emulator, result
):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    changed = {".eval_results/logic.yaml": result("62.6")}
    emulator.commit(nova, changed, ref=f"refs/pr/{num}", author=PORTER)
    for _ in range(2):
        told = only(sweeper.answer("--apply"))
        assert (told["class"], written()) == ("unknown", [])
        assert told["why"] == ".eval_results/logic.yaml is not as the registry has it"


@pytest.mark.parametrize("name", ["quest", "logic"])
def test_a_result_that_the_registry_does_not_know_keeps_its_pull_request(
    sweeper, ported, nova, peers, written, emulator, result, name
):
    """As an ``--amend`` leaves it that was killed behind its commit: what was added may well be seen."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    text = results_file(DATASETS["quest"], "quest", "38.75")
    text = text if name == "quest" else result("62.5") + text
    emulator.commit(nova, {f".eval_results/{name}.yaml": text}, ref=f"refs/pr/{num}", author=PORTER)
    told = only(sweeper.answer("--apply"))
    assert (told["class"], written(), ported.pull(nova, num).status) == ("unknown", [], "open")
    assert told["why"] == f"it changes .eval_results/{name}.yaml, with results that the registry does not know"


def test_an_edit_of_mains_file_that_the_registry_does_not_know_keeps_its_pull_request(
    sweeper, ported, nova, peers, written, emulator
):
    """Nothing of it is on a board, and with the pull request it would be lost."""
    peers(FIFTY, size=1)
    text = results_file(DATASETS["quest"], "quest", "30.0")
    emulator.commit(nova, {".eval_results/quest.yaml": text})
    num = ported.open(nova, {"logic": "62.5"})
    edited = {".eval_results/quest.yaml": text.replace("30.0", "38.75")}
    emulator.commit(nova, edited, ref=f"refs/pr/{num}", author=PORTER)
    envelope = sweeper.answer("--apply")
    assert (only(envelope)["class"], envelope["exit"], written()) == ("unknown", 1, [])
    (problem,) = envelope["problems"]
    assert (problem["code"], problem["where"], problem["found"]) == (
        "unregistered-files",
        f"nova-ai/nova-27b#{num}",
        "it changes .eval_results/quest.yaml, with results that the registry does not know",
    )
    assert problem["fix"] == (
        f"nothing was done to it: open_eval_prs.py with a spec of all results that it is to have, and --amend {num};"
        " or --rebuild, which registers what results its .yaml files have"
    )


def test_what_main_has_changed_since_is_no_change_of_ours(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    text = results_file(DATASETS["quest"], "quest", "30.0")
    emulator.commit(nova, {".eval_results/quest.yaml": text})
    ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, {".eval_results/quest.yaml": text.replace("30.0", "31.0")}, author=OWNER)
    assert only(sweeper.answer("--apply"))["class"] == "closed"


@pytest.fixture
def opener(sweeper):
    """``open_eval_prs.py`` with the same registry."""
    return Script(load(SWEEP.with_name("open_eval_prs.py")), sweeper.capsys, sweeper.always)


def spec_of_logic(folder, nova):
    """The spec of the one result that the model's card tells."""
    source = {"url": f"https://huggingface.co/{nova.id}", "name": "Model Card"}
    return spec_of(folder, {nova.id: [result_of("62.5", source=source)]}).path


def test_what_main_has_deleted_since_is_for_a_person(sweeper, opener, ported, nova, peers, written, emulator, tmp_path):
    """Our branch still has it, and boards may show it by our pull request: ``--amend`` takes it out."""
    peers(FIFTY, size=70)
    theirs = ".eval_results/quest.yaml"
    emulator.commit(nova, {theirs: results_file(DATASETS["quest"], "quest", "30.0"), "README.md": "Logic-1k: 62.5."})
    num = ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, deleted=[theirs], author=OWNER)
    for _ in range(2):
        envelope = sweeper.answer("--apply")
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
    steps = opener.answer(spec_of_logic(tmp_path, nova), "--amend", num, "--apply")["data"]["steps"]
    assert f"delete {theirs}" in steps
    assert only(sweeper.answer("--apply"))["class"] == "visible"


def test_what_others_take_out_stays_registered(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5", "quest": "38.75"})
    emulator.commit(nova, deleted=[".eval_results/logic.yaml"], ref=f"refs/pr/{num}", author=OWNER)
    assert only(sweeper.answer("--apply"))["class"] == "changed_by_owner"
    assert len(Registry.load(ported.path).records[0].results) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zz.yml", results_file(DATASETS["quest"], "quest", "38.75")),
        ("old/zz.txt", "by hand"),
        ("zz.yaml", "- dataset:\n    id: bench-org/cliquest-2\n"),
    ],
)
def test_a_file_that_no_rebuild_registers_is_unregistered_until_an_amendment(
    name, text, sweeper, opener, ported, nova, peers, written, emulator, tmp_path
):
    """A dry run says of it what ``--apply`` says: after a rebuild, too, its head is not known to be as registered."""
    peers(FIFTY, size=70)
    emulator.commit(nova, {"README.md": "Logic-1k: 62.5."})
    num, path = ported.open(nova, {"logic": "62.5"}), f".eval_results/{name}"
    emulator.commit(nova, {path: text}, ref=f"refs/pr/{num}", author=PORTER)
    assert opener.answer("--rebuild")["exit"] == 0
    (record,) = Registry.load(ported.path).records
    assert ([one.filename for one in record.results], record.head) == ([".eval_results/logic.yaml"], None)
    for words in ((), ("--apply",), ()):
        envelope = sweeper.answer(*words)
        assert (only(envelope)["class"], envelope["problems"][0]["code"]) == ("unknown", "unregistered-files")
        assert path in envelope["problems"][0]["found"]
    assert written() == []
    steps = opener.answer(spec_of_logic(tmp_path, nova), "--amend", num, "--apply")["data"]["steps"]
    assert f"delete {path}" in steps
    for words in ((), ("--apply",)):
        assert only(sweeper.answer(*words))["class"] == "visible"


def test_an_edit_of_mains_file_that_an_amendment_leaves_is_still_unregistered(
    sweeper, opener, ported, nova, peers, emulator, tmp_path
):
    peers(FIFTY, size=70)
    text = results_file(DATASETS["quest"], "quest", "30.0")
    emulator.commit(nova, {".eval_results/quest.yaml": text, "README.md": "Logic-1k: 62.5."})
    num = ported.open(nova, {"logic": "62.5"})
    edited = {".eval_results/quest.yaml": text.replace("30.0", "38.75")}
    emulator.commit(nova, edited, ref=f"refs/pr/{num}", author=PORTER)
    assert opener.answer(spec_of_logic(tmp_path, nova), "--amend", num, "--apply")["exit"] == 0
    for words in ((), ("--apply",)):
        assert only(sweeper.answer(*words))["class"] == "unknown"
