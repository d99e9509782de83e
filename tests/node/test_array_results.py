"""The results tree as a watcher counts it, the items of an array, and what is remembered beside the logs."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import threading
import time

import pytest

from benchwright.node import array_results
from benchwright.node.array_items import find_items, setup_folder
from benchwright.node.array_memory import Memory, keep_memory, memory_path, read_memory, write_memory
from benchwright.node.array_results import ResultTree
from benchwright.node.results import is_complete, seems_complete

RESULT = gzip.compress(pickle.dumps({"predictions": os.urandom(5000)}, protocol=4))
LONG = 10.0
SUBMITTED = "2026-11-30T09:00:00"
BEFORE = time.mktime(time.strptime(SUBMITTED, "%Y-%m-%dT%H:%M:%S")) - 100


@pytest.fixture
def data(tmp_path):
    root = tmp_path / "output" / "bench" / "data"
    for place in ("a/t/0_0", "a/t/0_1", "a/t/1_0", "b/t/0_0"):
        add(root, place)
    return root


def add(root, place, content=RESULT):
    folder = root / place
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.pkl").write_bytes(content)


def counts(tree):
    found = tree.look(LONG)
    assert found.whole_tree
    return found.complete, found.damaged


def test_whole_results_are_counted_and_new_ones_found(data):
    tree = ResultTree(data)
    assert counts(tree) == (4, 0)
    add(data, "c/u/0_0")
    assert counts(tree) == (5, 0)
    assert tree.has("c/u/0_0")
    assert not tree.has("c/u/0_1")


def test_what_is_no_result_is_not_counted(data):
    add(data, "a/t/notes")
    (data / "a" / "t" / "2_0").mkdir()
    (data / "a" / "t" / "2_0" / ".results.pkl.1.tmp").write_bytes(RESULT)
    (data / "a" / "list.txt").write_text("")
    (data / "linked").symlink_to(data / "b")
    assert counts(ResultTree(data)) == (4, 0)


@pytest.mark.parametrize(
    "content", [b"", RESULT[:-100], RESULT[:12], b"no pickle at all, but long enough to be one"], ids=range(4)
)
def test_a_cut_result_is_damaged_until_it_is_whole(data, content):
    add(data, "b/t/0_1", content)
    tree = ResultTree(data)
    assert counts(tree) == (4, 1)
    add(data, "b/t/0_1")
    assert counts(tree) == (5, 0)


def test_own_results_are_read_in_full(data):
    broken = bytearray(RESULT)
    broken[len(broken) // 2] ^= 1
    add(data, "b/t/0_1", bytes(broken))
    tree = ResultTree(data)
    assert counts(tree) == (5, 0)
    tree.claim({"b/t/0_1", "b/t/0_0"})
    assert counts(tree) == (4, 1)


def test_an_own_result_that_is_lost_again_is_noticed(data):
    tree = ResultTree(data)
    tree.claim({"a/t/0_0", "b/t/0_0"})
    assert counts(tree) == (4, 0)
    (data / "b/t/0_0/results.pkl").unlink()
    assert counts(tree) == (4, 0)
    assert tree.look(LONG, own_again=True).complete == 3
    assert not tree.has("b/t/0_0")


def test_a_tree_that_is_not_there_is_empty(tmp_path):
    found = ResultTree(tmp_path / "data").look(LONG)
    assert (found.complete, found.whole_tree, found.there) == (0, True, False)


def test_a_slow_file_system_costs_a_partial_count_and_is_gone_on_with(data, monkeypatch):
    answer = threading.Event()
    monkeypatch.setattr(array_results, "seems_complete", lambda path: "b" not in path.parts or answer.wait(LONG))
    tree = ResultTree(data)
    start = time.perf_counter()
    found = tree.look(0.2)
    assert time.perf_counter() - start < LONG / 2
    assert (found.complete, found.whole_tree) == (3, False)
    assert not tree.look(0.1).whole_tree
    answer.set()
    assert counts(tree) == (4, 0)


def test_a_folder_that_may_not_be_read_makes_the_count_partial(data, monkeypatch):
    real = os.scandir

    def scandir(folder):
        if folder.name == "b":
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    found = ResultTree(data).look(LONG)
    assert (found.complete, found.whole_tree) == (3, False)


def test_results_that_may_not_be_looked_at_make_the_count_partial(data, monkeypatch):
    """Root may look at everything: the kernel's refusal is stood in for."""
    real_stat = os.stat

    def stat(path, **how):
        if str(path) == f"{data}/b/t/0_0/results.pkl":
            raise PermissionError(13, "Permission denied", str(path))
        return real_stat(path, **how)

    monkeypatch.setattr(os, "stat", stat)
    found = ResultTree(data).look(LONG)
    assert (found.complete, found.damaged, found.whole_tree) == (3, 0, False)
    monkeypatch.setattr(os, "stat", real_stat)
    real_open = os.open

    def open_(path, *flags):
        return stat(path) if "b" in path.parts else real_open(path, *flags)

    monkeypatch.setattr(os, "open", open_)
    found = ResultTree(data).look(LONG)
    assert (found.complete, found.damaged, found.whole_tree) == (3, 0, False)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_walk_that_dies_has_not_seen_the_whole_tree(data, monkeypatch):
    tree = ResultTree(data)
    assert counts(tree) == (4, 0)
    add(data, "c/u/0_0")
    monkeypatch.setattr(array_results, "seems_complete", lambda path: 1 / 0)
    assert not tree.look(LONG).whole_tree


def test_a_pipe_is_no_result_and_not_waited_for(data):
    (data / "b" / "t" / "0_1").mkdir()
    os.mkfifo(data / "b" / "t" / "0_1" / "results.pkl")
    assert counts(ResultTree(data)) == (4, 0)


@pytest.mark.parametrize("length", [*range(0, 60, 7), *range(60, len(RESULT), 499), len(RESULT) - 1])
def test_the_look_at_the_ends_finds_a_cut(tmp_path, length):
    path = tmp_path / "results.pkl"
    path.write_bytes(RESULT[:length])
    assert not seems_complete(path)
    path.write_bytes(RESULT)
    assert seems_complete(path)


@pytest.mark.parametrize("content", [pickle.dumps({"a": 1}, protocol=4), gzip.compress(pickle.dumps(b"0" * 99_999))])
def test_other_whole_results_are_read_in_full(tmp_path, content):
    path = tmp_path / "results.pkl"
    path.write_bytes(content)
    assert seems_complete(path) == is_complete(path) is True
    assert not seems_complete(tmp_path)
    assert not seems_complete(tmp_path / "nothing")


def test_results_that_are_known_are_not_opened_again(data, monkeypatch):
    tree = ResultTree(data)
    assert counts(tree) == (4, 0)
    opened = []
    monkeypatch.setattr(array_results, "seems_complete", lambda path: opened.append(path) or True)
    add(data, "c/u/0_0")
    assert counts(tree) == (5, 0)
    assert opened == [data / "c/u/0_0/results.pkl"]


# Items


def job_file(folder, name, *bundles, written=BEFORE):
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        {"items": [{"experiment": one, "dataset": "my data", "repeat": 0, "fold": fold, "task_key": "my_data-1"}]}
        for fold, one in enumerate(bundles)
    ]
    path = folder / f"slurm_run_data_bench_{name}.json"
    path.write_text(json.dumps({"defaults": {"python": "python3", "output_dir": "/o", "entry": "m:f"}, "jobs": jobs}))
    os.utime(path, (written, written))
    return path


def find(folder, tasks=2, *, given=None, command="", submitted=SUBMITTED, or_more=False):
    return find_items(folder, given=given, command=command, tasks=tasks, submitted=submitted, or_more=or_more)


def test_the_jobs_own_command_names_the_file(tmp_path):
    folder = tmp_path / "with a space"
    job_file(folder, "cpu", "a", "b")
    path = job_file(folder, "gpu", "c", "d")
    found = find(folder, command=f"/w/submit script.sh /another name/of it/{path.name}")
    assert found.job_file == path
    assert found.places == {0: ("c/my_data-1/0_0",), 1: ("d/my_data-1/0_1",)}
    assert found.items["d/my_data-1/0_1"].label() == "experiment=d dataset=my data repeat=0 fold=1"


def test_without_a_command_the_only_file_of_that_length_is_taken(tmp_path):
    path = job_file(tmp_path, "cpu", "a", "b")
    job_file(tmp_path, "gpu", "a", "b", "c")
    (tmp_path / "slurm_run_data_bench_torn.json").write_text("{")
    assert find(tmp_path).job_file == path
    job_file(tmp_path, "other", "x", "y")
    assert find(tmp_path) == "2 job files have 2 bundles: name it with --job-file"
    assert find(tmp_path, 9) == "no job file has 9 bundles: name it with --job-file"
    assert find(tmp_path, given=path).job_file == path


def test_an_array_whose_length_is_not_known_has_the_only_file_that_is_long_enough(tmp_path):
    job_file(tmp_path, "cpu", "a", "b")
    path = job_file(tmp_path, "gpu", "a", "b", "c")
    assert find(tmp_path, 3, or_more=True).job_file == find(tmp_path, 1, given=path, or_more=True).job_file == path
    assert find(tmp_path, 2, or_more=True) == "2 job files have 2 bundles or more"
    assert find(tmp_path, 4, or_more=True) == "no job file has 4 bundles or more"
    assert find(tmp_path, command=f"/s.sh {path}", or_more=True).places.keys() == {0, 1, 2}


def test_what_does_not_fit_the_array_is_refused(tmp_path):
    path = job_file(tmp_path, "cpu", "a", "b")
    assert find(tmp_path, 3, given=path) == f"{path} has 2 bundles, and 3 tasks are watched"
    later = job_file(tmp_path, "cpu", "a", "b", written=BEFORE + 200)
    said = f"{later} was written after the array was submitted"
    assert find(tmp_path) == find(tmp_path, command=f"/s.sh {later}") == said
    assert find(tmp_path, submitted="").job_file == later
    assert find(tmp_path, given=tmp_path / "no.json").startswith(f"{tmp_path / 'no.json'}: cannot be read")


def test_no_set_up_folder_is_no_job_file(tmp_path):
    assert find(None) == find(tmp_path) == "no job file is known"


def test_the_set_up_folder_is_beside_results_and_logs(tmp_path):
    setup = tmp_path / "setup_out" / "bench"
    assert setup_folder(tmp_path / "output" / "bench" / "data", None) == setup
    assert setup_folder(None, tmp_path / "slurm_out" / "bench" / "7") == setup
    assert setup_folder(tmp_path / "elsewhere" / "bench" / "data", tmp_path) is None


# Memory


def test_memory_survives_and_stays_small(tmp_path):
    told = {**dict.fromkeys(range(5000), "2026-11-30T09:00:00"), 7000: "2026-11-30T10:00:00"}
    memory = Memory(told, {0: "COMPLETED", 1: "CANCELLED by 0"}, 14, 12.5, seen=True, signs="9f3a")
    path = memory_path(tmp_path, 4)
    write_memory(path, memory)
    assert read_memory(path) == memory
    assert path.stat().st_size < 400
    assert [file.name for file in tmp_path.iterdir()] == [".slurm_progress_4.json"]


def test_what_another_watcher_has_told_is_kept(tmp_path):
    path = memory_path(tmp_path, 4)
    keep_memory(path, Memory({0: "a", 1: "a"}, results=1))
    keep_memory(path, Memory({1: "b", 2: ""}, results=2))
    assert read_memory(path) == Memory({0: "a", 1: "b", 2: ""}, results=2)


KEPT = '{"told": {}, "ended": {}, "results": %s, "moved_at": %s, "seen": true}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b"\0" * 99,
        b"[" * 100_000,
        b'{"told": 3}',
        *((KEPT % pair).encode() for pair in [('"x"', "1"), ("1e999", "1"), ("NaN", "1"), ("1", '"x"')]),
    ],
    ids=range(10),
)
def test_a_damaged_memory_is_an_empty_one(tmp_path, content):
    path = memory_path(tmp_path, 4)
    path.write_bytes(content)
    assert read_memory(path) == Memory()
