"""What a model declares already, wherever it does, and what is not known of that."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from huggingface_hub import CommitOperationAdd, HfApi

from benchwright.contract import Exit, Failure
from benchwright.hub.benchmarks import benchmark
from benchwright.hub.declared import Declaration, declared, declared_before, told_entries
from benchwright.hub.entries import write_entries
from benchwright.hub.model_repo import RepoMissing, model_repo
from benchwright.rehearsal.hub import Fault, FaultRule, RandomFaults, RuledFaults

NOVA, LOGIC = "nova-ai/nova-7b", "bench-org/logic-1k"
FILE = ".eval_results/logic.yaml"


@pytest.fixture(autouse=True)
def bench(logic):
    return logic


@pytest.fixture
def nova(emulator):
    emulator.add_user("rival")
    return emulator.add_model(NOVA, {"README.md": "x"})


@pytest.fixture
def pull(emulator, nova):
    return lambda files, **more: emulator.open_pull_request(nova, files, **{"author": "rival", "title": "Add"} | more)


@pytest.fixture
def of(hub):
    """The declarations of a task, as a text each."""

    def find(task="logic", **more) -> list[str]:
        found = declared(hub, NOVA, cached=False, **more)
        return [f"{one.origin} {one.value_text} {one.broken or ''}".strip() for one in found.of(bench_of(hub), task)]

    return find


def bench_of(hub):
    return benchmark(hub, LOGIC)


def test_nothing_is_declared_in_three_requests(nova, hub, asked):
    assert dict(declared(hub, NOVA)) == {}
    assert len(asked()) == 3  # the model, its owner, its pull requests


def test_a_file_of_any_name_on_main_counts(emulator, nova, hub, of, result, asked):
    emulator.commit(nova, {".eval_results/anything.yaml": result("61.25", notes="no tools")})
    found = declared(hub, NOVA)
    assert dict(found) == {(LOGIC, "logic"): (Declaration("main", ".eval_results/anything.yaml", "61.25", "no tools"),)}
    assert len(asked()) == 4  # and the list of official benchmarks
    assert of("hard") == []


def test_files_that_the_hub_leaves_out_count_too(emulator, nova, of, result):
    emulator.commit(nova, {".eval_results/a.yml": result("61.250"), ".eval_results/old/b.yaml": result("9")})
    assert sorted(of()) == ["main 61.250", "main 9"]
    emulator.commit(nova, {".eval_results/notes.txt": "nothing"}, deleted=[".eval_results/old/b.yaml"])
    assert of() == ["main 61.250"]


def test_open_pull_requests_of_anybody_count_and_say_whose_they_are(emulator, nova, hub, pull, result):
    pull({FILE: result("64.0")})
    (found,) = declared(hub, NOVA)[LOGIC, "logic"]
    assert found == Declaration("pr 1", FILE, "64.0", author="rival", status="open")


def test_closed_and_merged_pull_requests_declare_no_more(emulator, nova, pull, of, result):
    pull({FILE: result("64")})
    pull({".eval_results/hard.yaml": result("7", "hard")})
    emulator.close_pull_request(nova, 1)
    assert (of(), of("hard")) == ([], ["pr 2 7"])
    emulator.merge_pull_request(nova, 2)
    assert of("hard") == ["main 7"]


def test_pages_beyond_the_first_and_drafts_count(emulator, nova, hub, pull, of, result):
    emulator.settings.discussions_page = 3
    pull({FILE: result("64")})
    for number in range(7):
        pull({f"f{number}": "x"})
    api = HfApi(emulator.url, token=hub.token)
    api.create_pull_request(NOVA, "A draft", description="…")
    operation = CommitOperationAdd(".eval_results/hard.yaml", result("7", "hard").encode())
    api.create_commit(NOVA, [operation], commit_message="Add", revision="refs/pr/9")
    emulator.seen.clear()
    assert (of(), of("hard")) == (["pr 1 64"], ["pr 9 7"])


def test_edits_of_files_on_main_count(emulator, nova, pull, of, result):
    emulator.commit(nova, {FILE: result("50")})
    pull({FILE: result("50") + result("7", "hard")})
    pull({"README.md": "y"})
    assert of() == ["main 50", "pr 1 50"]
    assert of("hard") == ["pr 1 7"]


@pytest.mark.parametrize(
    "text",
    [
        "- dataset:\n    id: bench-org/logic-1k\n    task_id: logic\n  value: 50\n  source:\n    url: null\n",
        "- dataset:\n    id: bench-org/logic-1k\n    task_id: logic\n  value: 'fifty'\n",
        "- dataset:\n    id: bench-org/logic-1k\n    task_id: logic\n  value: 50\n  notes: [\n",
        "- dataset:\n    id: bench-org/logic-1k\n  value: 50\n",
        "- dataset:\n    id: bench-org/logic-1k\n    task_id: logic_overall\n  value: 50\n",
        "\tno yaml at all [",
        "- value: 50\n",
    ],
    ids=["null url", "text value", "broken yaml", "no task", "wrong task", "garbage", "no dataset"],
)
@pytest.mark.parametrize("on_main", [True, False])
def test_a_broken_file_may_declare_what_it_mentions(emulator, nova, hub, pull, of, text, on_main):
    if on_main:
        emulator.commit(nova, {FILE: text})
    else:
        pull({FILE: text})
    (found,) = declared(hub, NOVA).of(bench_of(hub), "logic")
    assert found.origin == ("main" if on_main else "pr 1")
    problems = declared(hub, NOVA).problems
    if found.broken:
        assert [one.where for one in problems] == [f"{NOVA}: {FILE} ({found.origin})"]
    else:
        assert problems == ()  # the Hub takes a task that there is not


def test_a_broken_file_does_not_hide_its_neighbours(emulator, nova, of, result):
    broken = "- dataset:\n    id: other/bench\n    task_id: x\n  value: 50\n  source:\n    url: null\n"
    emulator.commit(nova, {FILE: result("61"), ".eval_results/broken.yaml": broken})
    assert of() == ["main 61"]
    assert of("hard") == []


def test_a_dataset_that_was_renamed_is_the_same_one(emulator, nova, bench, hub, result):
    emulator.commit(
        nova, {FILE: result("61"), ".eval_results/b.yaml": result("7", "hard").replace("bench-org", "Bench-Org")}
    )
    emulator.rename(bench, "bench-org/logic-2k")
    assert set(declared(hub, NOVA)) == {("bench-org/logic-2k", "logic"), ("Bench-Org/logic-1k", "hard")}


def test_datasets_that_are_none_are_as_they_are_written(emulator, nova, hub, result):
    emulator.add_dataset("bench-org/shut", disabled=True)
    for number, name in enumerate(("bench-org/none", "bench-org/shut", "no dataset?")):
        emulator.commit(nova, {f".eval_results/{number}.yaml": result("61").replace(LOGIC, name)})
    names = {"bench-org/none", "bench-org/shut", "no dataset?"}
    assert {dataset for dataset, _ in declared(hub, NOVA)} == names


def test_a_model_by_its_old_name(emulator, nova, hub, result):
    emulator.commit(nova, {FILE: result("61")})
    emulator.rename(nova, "nova-ai/nova-8b")
    assert set(declared(hub, NOVA)) == {(LOGIC, "logic")}


def test_behind_a_gate_the_hub_itself_tells(emulator, nova, of, pull, result):
    emulator.commit(nova, {FILE: result("61")})
    pull({".eval_results/hard.yaml": result("7", "hard")})
    emulator.change(nova, gated="manual")
    assert (of(), of("hard")) == (["main 61"], ["pr 1 7"])
    pull({".eval_results/b.yaml": "\t["})
    told = "pr 2 None behind a gate that this token does not pass"
    assert (of(), of("hard")) == (["main 61", told], ["pr 1 7", told])


def test_small_numbers_that_the_hub_tells_are_written_out(emulator, nova, hub, result):
    emulator.commit(nova, {FILE: result("0.0000001")})
    emulator.change(nova, gated="manual")
    (entry,) = told_entries(model_repo(hub, NOVA), FILE, None)
    assert entry.value_text == "0.0000001"
    assert "  value: 0.0000001\n" in write_entries([entry])


def test_without_discussions_main_alone_declares(emulator, nova, of, result):
    emulator.commit(nova, {FILE: result("61")})
    emulator.change(nova, discussions_disabled=True)
    assert of() == ["main 61"]


@pytest.mark.parametrize("path", ["*/discussions", "*/tree/*", "*/resolve/*", "/api/datasets", "*/overview"])
def test_what_is_not_told_is_unknown(emulator, nova, hub, pull, result, path):
    emulator.commit(nova, {".eval_results/a.yaml": result("61")})
    pull({FILE: result("64")})
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path=path, times=9)])
    with pytest.raises(Failure) as failure:
        declared(hub, NOVA)
    assert failure.value.exit is Exit.REMOTE


def test_a_model_that_is_not_there_declares_nothing_that_is_known(hub):
    with pytest.raises(RepoMissing):
        declared(hub, "nova-ai/none")


def test_a_pull_request_costs_its_list_and_its_files(emulator, nova, hub, pull, result, asked):
    emulator.commit(nova, {f".eval_results/{number}.yaml": result(number) for number in range(9)})
    pull({FILE: result("64")})
    pull({"README.md": "y"})
    assert len(declared(hub, NOVA)[LOGIC, "logic"]) == 10
    per_pull = [target for target in asked() if "refs%2Fpr" in target]
    assert len(per_pull) == 3
    assert hub.requests[NOVA] == 6  # the model, its pull requests, main's list, and those


def test_under_faults_the_answer_is_right_or_none(emulator, nova, open_hub, pull, result):
    emulator.commit(nova, {FILE: result("61"), ".eval_results/a.yml": result("5")})
    pull({".eval_results/hard.yaml": result("7", "hard")})
    right = declared(open_hub(), NOVA)
    answers = 0
    for seed in range(25):
        emulator.fault = RandomFaults(seed, 0.35)
        try:
            assert declared(open_hub(), NOVA) == right
            answers += 1
        except Failure as failure:
            assert failure.exit is Exit.REMOTE
    assert answers > 5


class TestClosed:
    def found(self, hub) -> list[str]:
        made = declared_before(hub, NOVA, cached=False).of(bench_of(hub), "logic")
        return [f"{one.origin} {one.value_text} {one.author} {one.closed_by}" for one in made]

    def test_what_somebody_closed_is_found(self, emulator, nova, hub, pull, result):
        emulator.add_organisation("nova-ai", {"keeper": "admin"})
        pull({FILE: result("64")})
        pull({FILE: result("65")})
        emulator.close_pull_request(nova, 1, author="keeper")
        assert self.found(hub) == ["pr 1 64 rival keeper"]

    def test_also_when_its_ref_is_gone(self, emulator, nova, hub, pull, result):
        pull({FILE: result("64.50"), "README.md": "- dataset"})
        emulator.close_pull_request(nova, 1, author="rival")
        emulator.delete_ref(nova, 1)
        assert self.found(hub) == ["pr 1 64.50 rival rival"]

    @pytest.mark.parametrize("title", ["Fix a typo", "Add evaluation results"])
    def test_of_files_that_are_gone_the_title_speaks(self, emulator, nova, hub, pull, result, title):
        one = pull({FILE: result("64")}, title=title)
        emulator.close_pull_request(nova, 1, author="rival")
        emulator.delete_ref(nova, 1)
        one.head = None
        assert self.found(hub) == (["pr 1 None rival rival"] if "results" in title else [])

    def test_what_was_merged_and_taken_out_since_is_found(self, emulator, nova, hub, pull, result):
        pull({FILE: result("64") + result("7", "hard")})
        emulator.merge_pull_request(nova, 1)
        assert self.found(hub) == []
        emulator.commit(nova, {FILE: result("7", "hard")})
        assert self.found(hub) == ["pr 1 64 rival None"]

    def test_what_was_merged_as_an_edit_and_is_there_still_is_no_obstacle(self, emulator, nova, hub, pull, result):
        """Its difference shows one line of the file, and not what that is of."""
        notes = "".join(f"  # line {number}\n" for number in range(9))
        emulator.commit(nova, {FILE: result("7", "hard") + notes + "# old\n"})
        pull({FILE: result("7", "hard") + notes + "# new\n"})
        emulator.merge_pull_request(nova, 1)
        emulator.delete_ref(nova, 1)
        assert self.found(hub) == []

    def test_older_ones_than_the_format_are_not_looked_into(self, emulator, nova, hub, pull, result, asked):
        with emulator.at(datetime(2025, 11, 30, tzinfo=UTC)):
            pull({FILE: result("64")})
        with emulator.at(datetime(2025, 12, 1, tzinfo=UTC)):
            pull({FILE: result("65")})
        for number in (1, 2):
            emulator.close_pull_request(nova, number, author="rival")
        asked()
        assert self.found(hub) == ["pr 2 65 rival rival"]
        assert not any("refs%2Fpr%2F1" in target for target in asked())

    def test_other_closed_pull_requests_are_none(self, emulator, nova, hub, pull, result):
        pull({"README.md": "y"})
        pull({FILE: result("64")})
        emulator.close_pull_request(nova, 1)
        emulator.merge_pull_request(nova, 2)
        assert self.found(hub) == []
