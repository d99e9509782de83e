"""Many splits at a time: the same bytes, nothing left of a process that is killed, memory that stays bounded."""

import functools
import signal
import socket
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from artifact_samples import build, contents, files_of, metadata_of
from processing_samples import DATASETS

from benchwright.contract import Exit, Failure
from benchwright.processing import artifact_split, build_artifact, workers
from benchwright.processing.ray_workers import on_ray
from benchwright.processing.workers import BUDGET, affordable, heaviest_first
from benchwright.raw import RawFile
from waiting import children_of, wait_for_ends

GBM = "LightGBM"


def test_any_number_of_jobs_gives_the_same_bytes(tmp_path):
    first = contents(build("LinearModel", tmp_path / "one").folder)
    assert contents(build("LinearModel", tmp_path / "four", jobs=4).folder) == first
    assert contents(build("LinearModel", tmp_path / "all", jobs=None).folder) == first


def test_progress_counts_splits(tmp_path):
    calls = []
    build(
        "RandomForest", tmp_path, jobs=2, progress=lambda done, total, *, failed=0, note="": calls.append((done, total))
    )
    assert calls == [(done, 9) for done in range(1, 10)]


BUILD = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from artifact_samples import build
from benchwright.processing import artifact_split

load = artifact_split.load_file
def slow(place, version):
    import time
    time.sleep(0.2)
    return load(place, version)
artifact_split.load_file = slow
build("LightGBM", Path(sys.argv[2]), jobs=2)
"""


def test_a_build_that_is_killed_takes_its_workers_along_and_leaves_the_artifact_whole(tmp_path):
    before = contents(build("LightGBM", tmp_path, trajectories=False).folder)
    command = [sys.executable, "-c", BUILD, str(Path(__file__).parent), str(tmp_path)]
    process = subprocess.Popen(command)
    staging = tmp_path / ".benchwright" / "staging"
    while not (workers := children_of(process.pid)) or not list(staging.glob("*/raw")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    wait_for_ends(workers)
    folder = tmp_path / "artifacts" / "local-2026-11-29" / "methods" / GBM
    assert contents(folder) == before
    assert len(list(staging.iterdir())) == 1
    again = contents(build("LightGBM", tmp_path).folder)
    assert again == contents(build("LightGBM", tmp_path / "undisturbed").folder)
    assert list(staging.iterdir()) == []


def test_predictions_of_one_result_are_held_at_a_time(monkeypatch, tmp_path):
    held = []
    load_file = artifact_split.load_file

    def load(place, version):
        assert sum(reference() is not None for reference in held) <= 2  # the split's first, and the one just worked on
        loaded = load_file(place, version)
        held.append(weakref.ref(loaded.result.predictions.test_per_child[0]))
        return loaded

    monkeypatch.setattr(artifact_split, "load_file", load)
    build("LinearModel", tmp_path, trajectories=False)
    assert len(held) == 27


def raw_files(count, size):
    file = files_of(GBM)[0]
    return [RawFile(*file[:5], size, *file[6:]) for _ in range(count)]


def test_as_many_splits_at_a_time_as_fit_into_memory(monkeypatch):
    small = affordable([raw_files(6, 7_000)] * 9)
    assert 5 < small < 40
    assert affordable([raw_files(6, 7_000)] * 9 + [raw_files(200, 4_000_000)]) < small
    assert affordable([raw_files(1, BUDGET)] * 2) == 1
    assert affordable([]) == 1
    monkeypatch.setattr(workers, "BUDGET", 2 * BUDGET)
    assert affordable([raw_files(6, 7_000)] * 9) > 2 * small


def test_files_that_cannot_be_read_say_nothing_of_memory_or_work(tmp_path):
    (tmp_path / "0_0").mkdir()
    (tmp_path / "0_0" / "results.pkl").write_bytes(b"")
    unit = [RawFile(str(tmp_path), "M", "task", 0, 0, 0, 0, 0)]
    assert affordable([unit]) == 1
    assert heaviest_first([unit]) == [0]


def test_the_splits_with_most_work_come_first():
    def unit(dataset, *sizes):
        (file,) = (each for each in files_of("RandomForest") if (each.task_key, each.fold) == (dataset, 0))
        return [file._replace(size=size) for size in sizes]

    breast, diabetes, wine = DATASETS  # AUC, RMSE, log loss
    units = [unit(diabetes, 30, 30), unit(breast, 10, 10), unit(wine, 100), unit(wine, 50, 40), unit(breast, 20, 10)]
    assert heaviest_first(units) == [4, 2, 3, 1, 0]


def test_a_cluster_that_does_not_answer(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("RAY_ADDRESS", f"ray://127.0.0.1:{port}")
    with pytest.raises(Failure) as caught:
        list(on_ray(abs, range(3), processes=2))
    assert caught.value.exit == Exit.REMOTE
    assert str(caught.value.problems[0]) == (
        f"RAY_ADDRESS=ray://127.0.0.1:{port}: no answer: [Errno 111] Connection refused, expected a Ray cluster\n"
        "    fix: start the cluster, correct RAY_ADDRESS, or use --backend local"
    )


def test_a_ray_that_does_not_come_up(monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    # Else it finds the Ray of a test that runs at the same time on this machine.
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(set))
    with pytest.raises(Failure) as caught:
        list(on_ray(abs, range(3), processes=2))
    assert caught.value.exit == Exit.REMOTE
    assert str(caught.value.problems[0]) == (
        "RAY_ADDRESS=auto: did not come up: ConnectionError: Could not find any running Ray instance. Please specify "
        "the one to connect to by setting `--address` flag or `RAY_ADDRESS` environment variable., expected a Ray "
        "cluster\n    fix: run this again, correct RAY_ADDRESS, or use --backend local"
    )
    monkeypatch.delenv("RAY_ADDRESS")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path / ("too-long" * 12)))
    with pytest.raises(Failure) as caught:
        list(on_ray(abs, range(3), processes=2))
    (problem,) = caught.value.problems
    assert (caught.value.exit, problem.code, problem.where) == (Exit.REMOTE, "ray-unreachable", "ray")
    assert problem.found.startswith("did not come up: OSError: validate_socket_filename failed")
    assert problem.fix == "run this again, or use --backend local"


def started(call, attempts=3):
    """What a call of Ray returns, which gives itself 30 seconds to start: a busy machine may need another attempt."""
    try:
        return call()
    except Failure as failure:
        if attempts == 1 or "timed out during startup" not in failure.problems[0].found:
            raise
        return started(call, attempts - 1)


@pytest.mark.slow
def test_the_workers_of_ray_write_into_the_named_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("TABARENA_CACHE", str(tmp_path / "another"))
    (tmp_path / "an environment").symlink_to(sys.prefix)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "an environment" / "bin" / "python"))
    where = {"cache_root": tmp_path / "ray", "jobs": 2, "backend": "ray"}
    built = started(lambda: build_artifact(files_of("LinearModel"), metadata_of("LinearModel"), **where))
    here = build("LinearModel", tmp_path / "local", task_rows=None)
    assert contents(built.folder) == contents(here.folder)
    assert not (tmp_path / "another").exists()
    with pytest.raises(Failure) as caught:
        started(lambda: list(on_ray(signal.raise_signal, [signal.SIGKILL], processes=1)))
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.REMOTE, "worker-killed")
