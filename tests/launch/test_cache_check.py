"""The cache check on small result trees: what counts as done, what is set aside, what is remembered."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import pytest
from launch_results import relabelled

from benchwright import forks
from benchwright.arena import Item
from benchwright.contract import Exit, Failure
from benchwright.files import RunPaths
from benchwright.launch import cache_check
from benchwright.launch.cache_check import check_cache
from waiting import PATIENCE

ITEMS = [Item("KNN_c1", "iris", 0, fold, "iris-0a1b") for fold in range(3)]


@pytest.fixture(autouse=True)
def enough_time(monkeypatch):
    """A busy machine reads few files in the time that set-up takes for them."""
    monkeypatch.setattr(cache_check, "_SECONDS_FOR_READING", PATIENCE)


@pytest.fixture
def paths(tmp_path):
    return RunPaths(tmp_path, "demo")


def write(paths, item, content=None):
    path = paths.result(item.experiment, item.task_key, item.repeat, item.fold)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if content is not None else relabelled(item))
    return path


def check(paths, wanted=ITEMS, experiments=("KNN_c1",), tasks=("iris-0a1b",)):
    return check_cache(paths, wanted, experiments=experiments, tasks=tasks, report=lambda done, total: None)


@pytest.fixture
def decoded(monkeypatch):
    """The files that were read in full."""
    seen = []
    genuine = cache_check.load_result
    monkeypatch.setattr(cache_check, "load_result", lambda path: seen.append(path) or genuine(path))
    return seen


def test_a_run_that_has_not_begun_has_nothing(paths):
    state = check(paths)
    assert (state.done, state.damaged, state.problems) == (frozenset(), frozenset(), ())
    assert not paths.checked_results.exists()


def test_whole_results_are_done_and_the_others_missing(paths):
    write(paths, ITEMS[0])
    write(paths, ITEMS[2])
    assert check(paths).done == {ITEMS[0], ITEMS[2]}


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda content: content[:-9], "gzip of "),
        (lambda content: b"", "0 bytes"),
        (lambda content: content[:900] + bytes([content[900] ^ 255]) + content[901:], ""),
    ],
)
def test_a_damaged_result_is_set_aside_and_missing(paths, damage, found):
    content = damage(relabelled(ITEMS[1]))
    path = write(paths, ITEMS[1], content)
    state = check(paths)
    assert (state.done, state.damaged) == (frozenset(), {ITEMS[1]})
    (problem,) = state.problems
    assert (problem.code, problem.where) == ("damaged-result", str(path))
    assert problem.found.startswith(found)
    assert problem.fix == "moved to results.pkl.damaged, this item runs again"
    assert not path.exists()
    assert path.with_name("results.pkl.damaged").read_bytes() == content
    assert check(paths).problems == ()


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(pickle.dumps({"a": 1, "pad": "x" * 500}), mtime=0),
        pickle.dumps("only a text, and long enough to be looked at" * 20),
        relabelled(ITEMS[1], metric_error=float("nan")),
        relabelled(ITEMS[1], task_metadata={}),
        relabelled(ITEMS[0]),
        relabelled(Item("XGB_c1", "iris", 0, 1, "iris-0a1b")),
    ],
    ids=["no result", "a text", "no finite error", "no task", "another fold", "another config"],
)
def test_what_an_evaluation_could_not_use_is_missing(paths, content):
    path = write(paths, ITEMS[1], content)
    state = check(paths)
    assert (state.done, state.damaged) == (frozenset(), {ITEMS[1]})
    assert path.with_name("results.pkl.damaged").read_bytes() == content


@pytest.fixture
def closed_run(open_folder):
    """A run of whoever asks, with one result that its owner alone may read, and one that is cut off."""
    paths = RunPaths(open_folder, "demo")
    write(paths, ITEMS[0])
    write(paths, ITEMS[1]).chmod(0)
    write(paths, ITEMS[2], b"cut off")
    for folder in (open_folder, *(path for path in open_folder.rglob("*") if path.is_dir())):
        folder.chmod(0o777)
    return paths


def test_a_result_that_may_not_be_read_is_neither_done_nor_moved(closed_run, as_nobody):
    before = sorted(path.name for path in closed_run.data.rglob("*"))
    with pytest.raises(Failure) as caught:
        check(closed_run)
    (problem,) = caught.value.problems
    assert caught.value.exit == Exit.ENVIRONMENT
    assert (problem.code, problem.where) == ("unreadable", f"{closed_run.data}/KNN_c1/iris-0a1b/0_1/results.pkl")
    assert problem.found == "cannot be read: Permission denied"
    assert problem.fix == "have it made readable for you, or wait for its disk; then run setup again"
    assert sorted(path.name for path in closed_run.data.rglob("*")) == before


@pytest.mark.parametrize("place", [".", "KNN_c1", "KNN_c1/iris-0a1b"])
def test_a_folder_of_wanted_results_that_may_not_be_read_is_refused(closed_run, place, request):
    (closed_run.data / place).chmod(0o300)
    request.getfixturevalue("as_nobody")
    with pytest.raises(Failure) as caught:
        check(closed_run)
    (problem,) = caught.value.problems
    assert (caught.value.exit, problem.code) == (Exit.ENVIRONMENT, "unreadable")
    assert Path(problem.where) == closed_run.data / place


def test_a_folder_of_others_that_may_not_be_read_is_told(closed_run, request):
    (closed_run.data / "KNN_c1" / "iris-0a1b" / "0_1" / "results.pkl").unlink()
    (closed_run.data / "others").mkdir(mode=0)
    request.getfixturevalue("as_nobody")
    state = check(closed_run)
    assert [problem.code for problem in state.problems] == ["unreadable", "damaged-result"]
    assert (state.done, state.damaged) == ({ITEMS[0]}, {ITEMS[2]})


def test_what_is_gone_since_it_was_found_is_missing(paths, monkeypatch):
    for item in ITEMS[:2]:
        write(paths, item)
    genuine = cache_check.find_results

    def found(data):
        before = genuine(data)
        before.files[0].path.unlink()
        return before

    monkeypatch.setattr(cache_check, "find_results", found)
    state = check(paths)
    assert (state.done, state.damaged, state.problems) == ({ITEMS[1]}, frozenset(), ())


def test_a_second_damaged_result_does_not_take_the_firsts_place(paths):
    for content in (b"first", b"second"):
        path = write(paths, ITEMS[0], content)
        check(paths)
    assert path.with_name("results.pkl.damaged").read_bytes() == b"first"
    assert path.with_name("results.pkl.damaged.2").read_bytes() == b"second"


def test_a_file_is_read_once(paths, decoded):
    for item in ITEMS:
        write(paths, item)
    check(paths)
    assert len(decoded) == 3
    assert check(paths).done == set(ITEMS)
    assert len(decoded) == 3


def test_a_file_that_changed_is_read_again(paths, decoded):
    path = write(paths, ITEMS[0])
    check(paths)
    content = path.read_bytes()
    path.unlink()
    write(paths, ITEMS[0], content[:50] + b"\0" + content[51:])
    assert check(paths).damaged == {ITEMS[0]}
    assert len(decoded) == 2


def test_the_memory_forgets_what_is_gone(paths):
    written = [write(paths, item) for item in ITEMS]
    check(paths)
    written[0].unlink()
    check(paths)
    assert sorted(json.loads(paths.checked_results.read_text())) == ["KNN_c1/iris-0a1b/0_1", "KNN_c1/iris-0a1b/0_2"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"KNN_c1/iris-0a1b/0_0": "x"}'])
def test_a_damaged_memory_costs_a_second_look_and_no_more(paths, decoded, content):
    write(paths, ITEMS[0])
    paths.checked_results.parent.mkdir(parents=True)
    paths.checked_results.write_text(content)
    assert check(paths).done == {ITEMS[0]}
    assert len(decoded) == 1


def test_an_interrupted_check_keeps_what_it_learnt(paths, decoded, monkeypatch):
    for item in ITEMS:
        write(paths, item)
    counting = cache_check.load_result

    def interrupted(path):
        if len(decoded) == 2:
            raise KeyboardInterrupt
        return counting(path)

    monkeypatch.setattr(cache_check, "load_result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(paths)
    assert len(json.loads(paths.checked_results.read_text())) == 2


def test_reading_has_a_budget_and_the_next_check_goes_on(paths, decoded, monkeypatch):
    for item in ITEMS:
        write(paths, item)
    monkeypatch.setattr(cache_check, "_SECONDS_FOR_READING", 0.0)
    state = check(paths)
    assert (state.done, state.by_ends, decoded) == (frozenset(ITEMS), len(ITEMS), [])
    monkeypatch.setattr(cache_check, "_SECONDS_FOR_READING", PATIENCE)
    state = check(paths)
    assert (state.done, state.by_ends) == (frozenset(ITEMS), 0)
    assert len(json.loads(paths.checked_results.read_text())) == len(ITEMS)


def test_results_that_no_plan_knows_are_one_problem_that_says_so(paths):
    write(paths, ITEMS[0])
    for name in ("XGB_c1", "XGB_r1", "XGB_r2", "XGB_r3"):
        write(paths, Item(name, "iris", 0, 0, "iris-0a1b"))
    write(paths, Item("KNN_c1", "other", 0, 0, "other-ffff"))
    state = check(paths)
    assert state.done == {ITEMS[0]}
    (problem,) = state.problems
    assert problem.code == "foreign-results"
    assert str(problem) == (
        f"{paths.data}: 5 results that no plan of 'demo' knows: KNN_c1/other-ffff, XGB_c1/iris-0a1b, "
        "XGB_r1/iris-0a1b and 2 more, "
        "expected results of this benchmark's experiments on its tasks\n"
        "    fix: another benchmark's? give this one a benchmark_name of its own, or move those results away"
    )


def test_results_of_another_plan_of_this_benchmark_are_not_foreign(paths):
    write(paths, Item("XGB_c1", "wine", 0, 0, "wine-1"))
    assert check(paths, experiments=["KNN_c1", "XGB_c1"], tasks=["iris-0a1b", "wine-1"]).problems == ()


def test_odd_things_in_the_tree_are_listed(paths):
    write(paths, ITEMS[0])
    link = paths.data / "KNN_c1" / "iris-0a1b" / "1_0"
    link.symlink_to(paths.data / "KNN_c1" / "iris-0a1b" / "0_0")
    state = check(paths)
    assert state.done == {ITEMS[0]}
    assert [problem.code for problem in state.problems] == ["link"]


@pytest.mark.parametrize("place", ["KNN_c1", "KNN_c1/iris-0a1b", "KNN_c1/iris-0a1b/0_1/results.pkl"])
def test_a_link_in_the_place_of_a_wanted_result_is_refused(paths, tmp_path, place):
    """Set-up would call its items missing for ever, since a run follows the link and skips them."""
    elsewhere = RunPaths(tmp_path / "elsewhere", "demo")
    write(elsewhere, ITEMS[1])
    link = paths.data / place
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere.data / place)
    with pytest.raises(Failure) as caught:
        check(paths)
    assert caught.value.exit == Exit.REFUSED
    (problem,) = caught.value.problems
    assert problem.where == str(link)
    assert problem.fix == "put what it points to in its place, or remove it; then run setup again"
    assert link.is_symlink()


def test_many_files_are_looked_at_in_several_processes(paths, decoded, monkeypatch):
    """Results, damage, memory and progress are the same as of one process."""
    monkeypatch.setattr(cache_check, "_FILES_BETWEEN_REPORTS", 4)
    monkeypatch.setattr(forks, "processors", lambda: 3)
    items = [Item("KNN_c1", "iris", repeat, fold, "iris-0a1b") for repeat in range(10) for fold in range(3)]
    for item in items:
        write(paths, item)
    cut = write(paths, items[17], relabelled(items[17])[:-9])
    other = write(paths, items[5], relabelled(items[6]))
    told = []
    state = check_cache(
        paths,
        items,
        experiments=["KNN_c1"],
        tasks=["iris-0a1b"],
        report=lambda done, total: told.append((done, total)),
    )
    assert decoded == []
    assert state.damaged == {items[5], items[17]}
    assert state.done == set(items) - state.damaged
    assert [problem.where for problem in state.problems] == [str(other), str(cut)]
    assert not cut.exists()
    assert not other.exists()
    assert told == [(done, 30) for done in range(0, 30, 4)]
    assert len(json.loads(paths.checked_results.read_text())) == 28
