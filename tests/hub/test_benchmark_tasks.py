"""Benchmarks: their names, their tasks, and which datasets are none."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.benchmarks import benchmark, names, official_benchmarks
from benchwright.hub.refusals import Gated, NotFound
from benchwright.rehearsal.hub.sample import eval_file


def made(emulator, text: str, **flags):
    emulator.add_dataset("bench-org/quiz", {"eval.yaml": text}, **{"official": True, **flags})


def test_tasks_come_from_its_file_and_the_first_is_the_default(emulator, hub, asked):
    repo = emulator.add_dataset(
        "sum-arena/sums", {"eval.yaml": eval_file("Sums  2026", "sum-arena/sums", "fixit_%_resolved")}, official=True
    )
    for _ in range(2):
        told = benchmark(hub, "sum-arena/sums")
    assert (told.tasks, told.name, told.official) == (("sum-arena/sums", "fixit_%_resolved"), "Sums 2026", True)
    assert told.revision == repo.main.oid
    assert len(asked()) == 2


def test_names_are_written_as_their_authors_write_them(emulator, hub):
    emulator.add_dataset("ScaleAI/SWE-bench_Pro", {"eval.yaml": eval_file("SWE-bench_Pro", "SWE_Bench_Pro")})
    emulator.add_dataset("bench-org/no-name", {"eval.yaml": "tasks:\n  - id: a\n"})
    assert benchmark(hub, "ScaleAI/SWE-bench_Pro").name == "SWE-Bench Pro"
    assert benchmark(hub, "bench-org/no-name").name == "no-name"
    assert names()["harborframework/terminal-bench-2.0"] == "Terminal-Bench 2.0"


def test_a_task_that_there_is_not_is_refused_with_those_there_are(logic, hub):
    told = benchmark(hub, "bench-org/logic-1k")
    told.check_task("hard")
    with pytest.raises(Failure) as refused:
        told.check_task("logic_overall")
    assert refused.value.exit is Exit.USAGE
    assert str(refused.value) == (
        "bench-org/logic-1k: no task 'logic_overall', expected one of logic, hard\n"
        "    fix: correct the task; the name of a split is none"
    )


def test_a_dataset_that_is_not_official_has_no_board(emulator, hub):
    made(emulator, eval_file("Quiz", "quiz"), official=False)
    with pytest.raises(Failure) as refused:
        benchmark(hub, "bench-org/quiz").check_official()
    told = (
        "bench-org/quiz: without the tag benchmark:official, expected an official benchmark\n"
        "    fix: leave its results out: the dataset has no leaderboard"
    )
    assert (refused.value.exit, str(refused.value)) == (Exit.NO, told)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tasks: [", "while parsing a flow node"),
        ("- a", "no mapping"),
        ("name: Quiz", "not a list of tasks with an id each"),
        ("tasks: []", "not a list of tasks with an id each"),
        ("tasks:\n  - id: a\n  - name: b\n", "not a list of tasks with an id each"),
        ("tasks:\n  - id: 7\n", "not a list of tasks with an id each"),
        ("tasks:\n  - id: a\n  - id: a\n", "ids of tasks that are there twice: a, a"),
    ],
)
def test_a_file_without_tasks_is_an_error(emulator, hub, text, found):
    made(emulator, text)
    with pytest.raises(Failure) as failure:
        benchmark(hub, "bench-org/quiz")
    (problem,) = failure.value.problems
    assert (problem.code, problem.where) == ("benchmark-unreadable", "datasets/bench-org/quiz: eval.yaml")
    assert problem.found.startswith(found)


def test_a_dataset_that_is_gated_or_none_is_said_to_be_so(emulator, hub, open_hub):
    made(emulator, eval_file("Quiz", "quiz"), gated="auto", granted=["porter"])
    assert benchmark(hub, "bench-org/quiz").tasks == ("quiz",)
    with pytest.raises(Gated):
        benchmark(open_hub(False), "bench-org/quiz")
    emulator.add_dataset("bench-org/plain", {"README.md": "x"})
    for name, kind in (("bench-org/none", "repo"), ("bench-org/plain", "file")):
        with pytest.raises(NotFound) as missing:
            benchmark(hub, name)
        assert missing.value.kind == kind


def test_a_benchmark_that_was_renamed_has_its_present_id(emulator, hub, logic):
    emulator.rename(logic, "bench-org/logic-2k")
    assert benchmark(hub, "bench-org/logic-1k").dataset == "bench-org/logic-2k"


def test_official_benchmarks_are_listed_over_all_pages(emulator, hub):
    emulator.settings.list_page = 2
    for number in range(5):
        emulator.add_dataset(f"bench-org/b{number}", {"eval.yaml": eval_file("B", "b")}, official=number != 3)
    assert official_benchmarks(hub) == tuple(f"bench-org/b{number}" for number in (0, 1, 2, 4))
