"""Finding result files in trees of every shape."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchwright import forks
from benchwright.contract import Exit, Failure
from benchwright.raw import find_results, finding

METHOD = "LightGBM_c1_default_BAG_L1"


def add(root: Path, method: str = METHOD, task: str = "363612", split: str = "0_0", content: bytes = b"x") -> Path:
    path = root / method / task / split / "results.pkl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def problems(found) -> list[tuple[str, str]]:
    return [(problem.code, Path(problem.where).name) for problem in found.problems]


def test_genuine_tree_is_found_whole_and_sorted(genuine) -> None:
    root = genuine("binary").parents[4]
    found = find_results(root)
    assert found.problems == []
    assert len(found.files) == 99
    assert [file.path for file in found.files] == sorted(root.rglob("results.pkl"))


def test_a_walk_in_several_processes_finds_the_same(genuine, tmp_path, monkeypatch) -> None:
    root = genuine("binary").parents[4]
    alone = find_results(root)
    monkeypatch.setattr(finding, "_SECONDS_BEFORE_FORKS", 0)
    monkeypatch.setattr(forks, "processors", lambda: 3)
    assert find_results(root) == alone
    (tmp_path / "a").mkdir()
    for name in "bcd":
        (tmp_path / name / "task").mkdir(parents=True)
        (tmp_path / name / "task" / "0_0").symlink_to(tmp_path)
    assert [problem.code for problem in find_results(tmp_path).problems] == ["link"] * 3 + ["no-results"]


@pytest.mark.parametrize("depth", [4, 3, 2, 1], ids=["run", "data", "method", "task"])
def test_any_folder_of_a_run_may_be_named(genuine, depth) -> None:
    path = genuine("binary")
    found = find_results(path.parents[depth])
    assert path in [file.path for file in found.files]
    assert {(file.method, file.task_key) for file in found.files} >= {(METHOD, "local_breast_cancer-498b8450f429")}


def test_a_method_called_data_does_not_hide_the_others(tmp_path) -> None:
    paths = [add(tmp_path / "data", method=method) for method in ("data", METHOD)]
    for root in (tmp_path, tmp_path / "data"):
        assert {file.path for file in find_results(root).files} == set(paths)


def test_relative_folder_gives_the_same_names(tmp_path, monkeypatch) -> None:
    add(tmp_path)
    monkeypatch.chdir(tmp_path / METHOD)
    (file,) = find_results(".").files
    assert (file.method, file.task_key, file.repeat, file.fold) == (METHOD, "363612", 0, 0)


def test_records_say_whether_a_file_is_still_the_same(tmp_path) -> None:
    path = add(tmp_path, content=b"12345")
    (file,) = find_results(tmp_path).files
    status = path.stat()
    assert (file.size, file.mtime_ns, file.inode) == (5, status.st_mtime_ns, status.st_ino)


def test_splits_sort_by_number_and_names_with_spaces_are_kept(tmp_path) -> None:
    for split in ("10_0", "2_0", "0_2", "0_10"):
        add(tmp_path, method="My Model (v2)", split=split)
    found = find_results(tmp_path)
    assert [(file.repeat, file.fold) for file in found.files] == [(0, 2), (0, 10), (2, 0), (10, 0)]
    assert found.problems == []


def test_split_without_a_result_is_not_done_yet_and_no_problem(tmp_path) -> None:
    add(tmp_path)
    (tmp_path / METHOD / "363612" / "0_1").mkdir()
    (tmp_path / METHOD / "363612" / "0_1" / "model_failures.csv").write_text("x")
    found = find_results(tmp_path)
    assert (len(found.files), found.problems) == (1, [])


def test_odd_names_are_listed_beside_the_good(tmp_path) -> None:
    add(tmp_path)
    add(tmp_path, split="00_1")
    add(tmp_path, split="first")
    add(tmp_path, method="bad\nname")
    add(tmp_path, method=os.fsdecode(b"caf\xe9"))
    add(tmp_path, method=".hidden")
    found = find_results(tmp_path)
    assert len(found.files) == 1
    assert [problem.code for problem in found.problems] == ["odd-name"] * 4
    assert all(problem.where.isprintable() for problem in found.problems)


def test_links_are_listed_and_never_followed(tmp_path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    target = add(elsewhere)
    add(run)
    (run / "loop").symlink_to(run)
    (run / "log.txt").symlink_to(target)
    (run / "broken").symlink_to(run / "nowhere")
    (run / "outside").symlink_to(elsewhere)
    (run / METHOD / "363612" / "0_1").symlink_to(target.parent)
    link = run / METHOD / "363612" / "0_2" / "results.pkl"
    link.parent.mkdir()
    link.symlink_to(target)
    found = find_results(run)
    assert len(found.files) == 1
    assert problems(found) == [
        ("link", "0_1"),
        ("not-a-file", "results.pkl"),
        ("link", "broken"),
        ("link", "loop"),
        ("link", "outside"),
    ]
    assert found.problems[2].found == f"a link to {run / 'nowhere'}, which is not there"
    assert str(found.problems[4]) == (
        f"{run}/outside: a link to {elsewhere}, not followed, expected a folder or file of this tree\n"
        "    fix: copy what it points to here, or name that folder itself"
    )


def test_root_may_be_a_link(tmp_path) -> None:
    add(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    assert len(find_results(tmp_path / "link").files) == 1


def test_pipes_and_folders_in_a_results_place_are_listed(tmp_path) -> None:
    add(tmp_path)
    for split in ("0_1", "0_2"):
        (tmp_path / METHOD / "363612" / split).mkdir()
    os.mkfifo(tmp_path / METHOD / "363612" / "0_1" / "results.pkl")
    (tmp_path / METHOD / "363612" / "0_2" / "results.pkl").mkdir()
    found = find_results(tmp_path)
    assert len(found.files) == 1
    assert [problem.code for problem in found.problems] == ["not-a-file", "not-a-file"]


def test_missing_folder_is_wrong_usage(tmp_path) -> None:
    with pytest.raises(Failure) as failure:
        find_results(tmp_path / "nowhere")
    assert failure.value.exit == Exit.USAGE
    assert (
        str(failure.value)
        == f"{tmp_path}/nowhere: no such folder, expected a run's folder or its data folder\n    fix: correct the path"
    )


def test_tree_without_results_is_one_problem(tmp_path) -> None:
    (tmp_path / "data" / METHOD).mkdir(parents=True)
    found = find_results(tmp_path)
    assert found.files == []
    assert [str(problem) for problem in found.problems] == [
        f"{tmp_path}/data: no results.pkl in <method>/<task>/<repeat>_<fold> folders, expected the results of a run\n"
        "    fix: name the run's output folder or its data folder"
    ]


@pytest.fixture
def closed_folder(open_folder):
    add(open_folder)
    (open_folder / "closed").mkdir(mode=0)
    return open_folder


def test_unreadable_folder_is_listed(closed_folder, as_nobody) -> None:
    assert problems(find_results(closed_folder)) == [("unreadable", "closed")]


def test_folders_without_a_result_are_listed_where_tasks_lie(tmp_path) -> None:
    add(tmp_path / "data")
    config = tmp_path / "data" / METHOD
    for folder in ("a/0_0", "a/1_0", "b", "c/logs"):
        (config / folder).mkdir(parents=True)
    (config / "a" / "1_0" / "results.pkl.tmp").write_bytes(b"half")
    (tmp_path / "data" / "nothing").mkdir()
    for root in (tmp_path, tmp_path / "data"):
        empty = find_results(root).empty
        assert [each.place for each in empty] == [f"{METHOD}/a/0_0", f"{METHOD}/a/1_0", f"{METHOD}/b/"]
    assert find_results(config).empty == empty
