"""A task of an array as SLURM starts it: the submit script, its folders on the node, its logs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.node import read_events
from benchwright.node.scratch import new_scratch
from waiting import PATIENCE, wait_for_ends

SUBMIT_SCRIPT = Path(__file__).resolve().parents[2] / "src" / "benchwright" / "node" / "slurm_task.sh"


@pytest.fixture
def submitted(run, monkeypatch):
    """Starts the copy of the submit script that a node gets, as a task of array 7."""
    monkeypatch.delenv("RAY_TMPDIR", raising=False)

    def start(job_file, task=0, **environment):
        copy = run.folder / "slurm_script"
        shutil.copy(SUBMIT_SCRIPT, copy)
        copy.chmod(0o700)
        task_of_array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": str(task)}
        return subprocess.Popen(
            [str(copy), str(job_file)],
            env=dict(os.environ, **task_of_array, **environment),
            cwd=run.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def folders(run):
    """What the item "folders" noted."""
    return dict(line.split(" ", 1) for line in run.journalled() if line.split()[0].isupper())


def test_a_task_runs_its_own_bundle_and_ends_like_it(run, submitted):
    job_file = run.job_file(["write-a"], ["fail-b", "write-c"], slurm_log_dir=str(run.folder / "slurm out"))
    process = submitted(job_file, task=1)
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors.splitlines()[-1]) == (1, "second line")
    assert "##### item FAILED (exit 1): experiment=fail-b dataset=my data repeat=0 fold=0\n" in output
    assert output.endswith("##### bundle summary: ok=1 failed=1\n")
    assert not run.result("write-a", 0).exists()
    events = read_events(run.folder / "slurm out" / "7" / "events_1.jsonl")
    assert events[-1]["event"] == "run-ended"
    assert run.scratch() == []


def test_an_attempt_after_another_skips_what_is_there(run, submitted):
    job_file = run.job_file(["write-a", "write-b"])
    submitted(job_file).communicate(timeout=PATIENCE)
    run.result("write-b", 1).unlink()
    output, _ = submitted(job_file, SLURM_RESTART_COUNT="1").communicate(timeout=PATIENCE)
    assert "##### item skipped, its result is there: experiment=write-a" in output
    assert len(run.journalled("run write-b")) == 2


def test_caches_and_models_are_on_the_node_and_gone_afterwards(run, submitted):
    shared = dict.fromkeys(("NUMBA_CACHE_DIR", "TRITON_CACHE_DIR", "RAY_TMPDIR"), str(run.folder / "shared"))
    process = submitted(run.job_file(["folders-a"]), **shared)
    assert process.wait(PATIENCE) == 0
    noted = folders(run)
    scratch = Path(noted["TMPDIR"])
    assert scratch.parent == run.folder / "tmp"
    caches = {"NUMBA_CACHE_DIR": "numba", "TRITON_CACHE_DIR": "triton", "CUDA_CACHE_PATH": "cuda"}
    assert {name: noted[name] for name in caches} == {name: str(scratch / folder) for name, folder in caches.items()}
    (artifacts,) = run.journalled("artifacts")
    assert Path(artifacts.split(" ", 1)[1]).is_relative_to(scratch)
    ray = Path(noted["RAY_TMPDIR"])
    assert ray.parent == Path("/tmp"), "pytest's folders are too long for the sockets that Ray makes"
    assert not ray.exists()
    assert run.scratch() == []


def test_a_given_place_for_models_holds_a_folder_of_the_tasks_own(run, submitted):
    base = run.folder / "fast disk"
    process = submitted(run.job_file(["folders-a"]), TABARENA_MODEL_ARTIFACTS_BASE_PATH=str(base))
    assert process.wait(PATIENCE) == 0
    (artifacts,) = run.journalled("artifacts")
    assert Path(artifacts.split(" ", 1)[1]).parent == base
    assert list(base.iterdir()) == []


def test_folders_are_gone_after_a_preemption_and_after_a_failure(run, submitted):
    base = run.folder / "fast disk"
    job_file = run.job_file(["write-a", "fail-b", "hang-c"], slurm_log_dir=str(run.folder / "logs"))
    process = submitted(job_file, TABARENA_MODEL_ARTIFACTS_BASE_PATH=str(base))
    pids = run.wait_for("pids").split()[1:]
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert output.endswith("##### bundle summary: ok=1 failed=1\n")
    wait_for_ends(pids)
    assert (run.scratch(), list(base.iterdir())) == ([], [])


def test_what_a_lost_task_left_on_the_node_is_removed_by_the_next_one(run, submitted, monkeypatch):
    base = run.folder / "fast disk"
    base.mkdir()
    owner = os.fork()
    if not owner:
        for folder in (None, base):
            (new_scratch(folder) / "a model").write_text("large")
        os._exit(0)
    os.waitpid(owner, 0)
    process = submitted(run.job_file(["write-a"]), TABARENA_MODEL_ARTIFACTS_BASE_PATH=str(base))
    assert process.wait(PATIENCE) == 0
    assert (run.scratch(), list(base.iterdir())) == ([], [])


def test_the_ray_logs_of_a_failed_item_go_to_the_arrays_folder(run, submitted):
    ray = run.folder / "ray files"
    logs = run.folder / "slurm_out"
    job_file = run.job_file(["write-z"], ["ray-a"], slurm_log_dir=str(logs), ray_temp_dir=str(ray))
    submitted(job_file, task=1).communicate(timeout=PATIENCE)
    (log,) = (logs / "7" / "ray_logs" / "task_1").rglob("*.err")
    assert log.read_text() == "worker died"


def test_a_log_that_slurm_put_beside_the_arrays_folder_is_found_in_it(run, submitted):
    logs = run.folder / "slurm_out"
    logs.mkdir()
    log = logs / "slurm-7_0.out"
    log.write_text("as SLURM before 23.02 does\n")
    for _ in range(2):
        assert submitted(run.job_file(["write-a"], slurm_log_dir=str(logs))).wait(PATIENCE) == 0
    assert (logs / "7" / "slurm-7_0.out").read_text() == log.read_text()
    assert (logs / "7" / "slurm-7_0.out").readlink() == Path("../slurm-7_0.out")


def test_a_log_in_the_arrays_folder_needs_no_link(run, submitted):
    logs = run.folder / "slurm_out"
    assert submitted(run.job_file(["write-a"], slurm_log_dir=str(logs))).wait(PATIENCE) == 0
    assert [path.name for path in (logs / "7").iterdir()] == ["events_0.jsonl"]


@pytest.mark.parametrize(
    ("content", "python"),
    [(None, ""), ("{}", ""), ('{"defaults": {"python": "/nowhere/python", "output_dir": "o"}}', "/nowhere/python")],
)
def test_a_python_that_is_not_on_the_node_is_exit_3_with_one_line(run, submitted, content, python):
    job_file = run.folder / "jobs.json"
    if content is not None:
        job_file.write_text(content)
    process = submitted(job_file)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    host = os.uname().nodename
    assert errors.splitlines()[-1] == f"##### no item can run: '{python}', of {job_file}, is no program on {host}"


@pytest.mark.parametrize("form", ["{}", ":{}", "{}:", "::{}::", ":/nowhere::{}"])
def test_modules_where_the_array_was_launched_are_not_taken_for_the_librarys(run, submitted, form):
    (run.folder / "json.py").write_text("raise RuntimeError('not mine')")
    (run.folder / "benchwright").mkdir()
    path = form.format(Path(__file__).parent)
    assert submitted(run.job_file(["write-a"]), PYTHONPATH=path).wait(PATIENCE) == 0


def test_a_task_that_the_job_file_does_not_have_is_exit_2(run, submitted):
    process = submitted(run.job_file(["write-a"]), task=5)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert errors.endswith("no bundle 5, it has 1, from 0\n")


def test_outside_of_an_array_there_is_no_task(run):
    job_file = run.job_file(["write-a"])
    command = [sys.executable, "-m", "benchwright.node.slurm_task", str(job_file)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr == f"{job_file}: SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID say of no task to run\n"


def test_a_place_for_models_that_cannot_be_made_is_exit_3(run, submitted):
    (run.folder / "a file").touch()
    base = run.folder / "a file" / "models"
    process = submitted(run.job_file(["write-a"]), TABARENA_MODEL_ARTIFACTS_BASE_PATH=str(base))
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert errors == f"##### no item can run: no scratch folder can be made: {base}: Not a directory\n"
    assert run.scratch() == []
