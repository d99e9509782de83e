"""The watcher's command line, and a poll of an array too large for a test's cluster: SLURM's clients stood in for."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from waiting import PATIENCE, work_of_children

ROOT = Path(__file__).resolve().parents[2]
NO_SECONDS = "is no number of seconds above 0, of a year at most"
SCRIPT = ROOT / ".agents/skills/benchmark-model/references/slurm_progress.sh"


def call(*words, script=SCRIPT, cwd="/", **environment):
    return subprocess.run(
        [str(script), *map(str, words)],
        cwd=cwd, env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def stand_ins(tmp_path):
    """``squeue`` and ``sacct`` that print a file each, and note their calls."""
    folder = tmp_path / "clients"
    folder.mkdir()
    for name in ("squeue", "sacct"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho {name} >>"{folder}/calls"\ncat "{folder}/{name}.txt"\n')
        program.chmod(0o755)
        (folder / f"{name}.txt").write_text("")
    return folder


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "the following arguments are required: job_id, tasks"),
        (["4"], "the following arguments are required: tasks"),
        (["x", "2"], "argument job_id: 'x' is no whole number"),
        (["4_1", "2"], "argument job_id: '4_1' is no whole number"),
        (["0", "2"], "argument job_id: 0 is no job's id"),
        ([str(2**32), "2"], f"argument job_id: {2**32} is no job's id"),
        (["4", "0"], "argument tasks: an array has 1 to 4,000,001 tasks"),
        (["4", "4000002"], "argument tasks: an array has 1 to 4,000,001 tasks"),
        (["4", "-3"], "argument tasks: '-3' is no whole number"),
        (["4", "2", "--interval", "0"], f"argument --interval: '0' {NO_SECONDS}"),
        (["4", "2", "--interval", "nan"], f"argument --interval: 'nan' {NO_SECONDS}"),
        (["4", "2", "--patience", "1e300"], f"argument --patience: '1e300' {NO_SECONDS}"),
        (["4", "2", "--log-dir", ""], "argument --log-dir: an empty path: is a variable not set?"),
        (["4", "2", "--expected-results", "9"], "--expected-results needs --results-dir"),
        (["4", "2", "--results", "/"], "unrecognized arguments: --results /"),
    ],
)
def test_wrong_usage_is_64(words, complaint):
    done = call(*words)
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.splitlines()[-1] == f"slurm_progress.sh: {complaint}"


def test_help_answers_at_once_from_anywhere(tmp_path):
    spaced = tmp_path / "a checkout with spaces"
    spaced.symlink_to(ROOT)
    skill = ".claude/skills/benchmark-model/references/slurm_progress.sh"
    seconds = []
    for _ in range(5):
        start = work_of_children()
        done = call("--help", script=spaced / skill, cwd=tmp_path)
        seconds.append(work_of_children() - start)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: slurm_progress.sh [-h] ")
    assert min(seconds) < 0.3


def test_modules_of_the_current_folder_are_not_taken_for_pythons(tmp_path, stand_ins):
    for name in ("json", "queue", "benchwright", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(99)")
    done = call(4, 2, "--once", cwd=tmp_path, PATH=f"{stand_ins}:/usr/bin:/bin")
    assert done.returncode == 2
    assert "neither the queue nor the accounts know it (no row of it)" in done.stdout


def test_a_python_that_is_too_old_gives_way_to_the_checkouts(tmp_path, stand_ins):
    old = tmp_path / "old"
    old.mkdir()
    (old / "python3").write_text("#!/bin/sh\necho Python 3.6.8\nexit 1\n")
    (old / "python3").chmod(0o755)
    done = call("--help", PATH=f"{old}:/usr/bin:/bin")
    assert (done.returncode, done.stdout[:6]) == (0, "usage:")
    references = tmp_path / ".agents" / "skills" / "benchmark-model" / "references"
    references.mkdir(parents=True)
    copy = references / SCRIPT.name
    copy.write_bytes(SCRIPT.read_bytes())
    copy.chmod(0o755)
    done = call("--help", script=copy, PATH=f"{old}:/usr/bin:/bin")
    assert done.returncode == 3
    assert done.stderr == "slurm_progress.sh: Python 3.9 or newer is needed, and python3 is: Python 3.6.8\n"


def test_without_slurm_the_machine_is_named(tmp_path):
    for name in ("python3", "readlink", "dirname"):
        (tmp_path / name).symlink_to(Path("/usr/bin", name))
    done = call(4, 2, PATH=str(tmp_path))
    missing = "squeue: not installed on this machine, or not on the PATH; run this on the cluster's head node"
    assert (done.returncode, done.stdout, done.stderr) == (3, f"NO SLURM job 4: {missing}\n", "")


def test_ten_thousand_tasks_take_two_calls_and_under_a_second(stand_ins, tmp_path):
    command = "/shared/workspace/submit.sh /shared/workspace/setup_out/demo/slurm_run_data_demo_cpu.json"
    start, submit = "2026-11-30T09:10:00", "2026-11-30T09:00:00"
    running = [f"77_{n}|RUNNING|None|me|{start}|{submit}|n1|{command}" for n in range(9000, 9500)]
    waiting = f"77_[9500-9999%500]|PENDING|JobArrayTaskLimit|me|N/A|{submit}||{command}"
    (stand_ins / "squeue.txt").write_text("\n".join([*running, waiting]))
    ended = [
        f"77_{n}|{'FAILED|1:0' if n % 100 == 0 else 'COMPLETED|0:0'}|me|{submit}|{start}|n{n % 300}"
        for n in range(9000)
    ]
    lost = [f"77_{n}|NODE_FAIL|0:0|me|2026-11-30T08:00:00|{submit}|n2" for n in range(0, 9000, 7)]
    booked = [f"77_{n}|RUNNING|0:0|me|{submit}|{start}|n1" for n in range(9000, 9500)]
    (stand_ins / "sacct.txt").write_text("\n".join([*lost, *ended, *booked]))
    begin = work_of_children()
    done = call(77, 10_000, "--user", "me", "--once", "--json", PATH=f"{stand_ins}:/usr/bin:/bin")
    seconds = work_of_children() - begin
    *failures, progress = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 2
    assert len(failures) == 90
    counts = {name: progress[name] for name in ("done", "failed", "running", "queued", "requeued", "unknown")}
    assert counts == {"done": 8910, "failed": 90, "running": 500, "queued": 500, "requeued": 0, "unknown": 0}
    assert (stand_ins / "calls").read_text().split() == ["sacct", "squeue"]
    assert seconds < 1


ARRAY = """\
#!/usr/bin/python3 -I
# An array of 60 tasks that begin and end within six seconds, every third badly; the accounts are 0.3 s late.
import pathlib, random, sys, time

program = pathlib.Path(sys.argv[0])
now = time.time() - (program.parent / "begun").stat().st_mtime - 0.3 * (program.name == "sacct")
chance = random.Random(5)
for task in range(60):
    begin = 5 * chance.random()
    end = begin + chance.random()
    last = "FAILED" if task % 3 == 0 else "COMPLETED"
    state = "PENDING" if now < begin else "RUNNING" if now < end else last
    submit, start = "2026-11-30T09:00:00", "2026-11-30T09:10:00"
    if program.name == "sacct":
        print(f"4_{task}|{state}|{int(state == 'FAILED')}:0|me|{submit}|{start}|n1")
    elif now < end + 0.5:
        print(f"4_{task}|{state}|None|me|{start}|{submit}|n1|/submit.sh /jobs.json")
"""


def test_watchers_that_are_killed_at_random_name_every_failure_and_repeat_none(tmp_path):
    for name in ("squeue", "sacct"):
        (tmp_path / name).write_text(ARRAY)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "begun").touch()
    chance, said, kills = random.Random(1), "", 0
    while "DONE job 4: " not in said:
        watcher = subprocess.Popen(
            [str(SCRIPT), "4", "60", "--user", "me", "--log-dir", str(tmp_path), "--interval", "0.1"],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        with contextlib.suppress(subprocess.TimeoutExpired):
            watcher.wait(chance.uniform(0.1, 0.9 + 0.1 * kills))  # at last on the busiest machine, too
        watcher.kill()
        said += watcher.communicate()[0]
        kills += watcher.returncode < 0
    named = [int(line.partition("_")[2].partition(":")[0]) for line in said.splitlines() if line.startswith("FAILED")]
    assert kills > 2
    assert set(named) == set(range(0, 60, 3))
    assert len(named) <= len(set(named)) + kills, "only a kill between a line and its note repeats it"
    assert "Traceback" not in said
    done = call(4, 60, "--user", "me", "--log-dir", tmp_path, "--once", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert (done.returncode, done.stdout.count("FAILED 4_")) == (2, 0)


def test_what_is_printed_of_a_relative_path_holds_in_any_folder(stand_ins, tmp_path):
    submit, start = "2026-11-30T09:00:00", "2026-11-30T09:10:00"
    (stand_ins / "sacct.txt").write_text(f"4_0|FAILED|1:0|me|{submit}|{start}|n1\n")
    (stand_ins / "squeue.txt").write_text(f"4_0|FAILED|None|me|{start}|{submit}|n1|/submit.sh /jobs.json\n")
    logs = tmp_path / "my logs"
    logs.mkdir()
    (logs / "slurm-4_0.out").touch()
    done = call(4, 1, "--user", "me", "--log-dir", "my logs", cwd=tmp_path, PATH=f"{stand_ins}:/usr/bin:/bin")
    failure, verdict, then = done.stdout.splitlines()
    assert failure.endswith(f", log {logs}/slurm-4_0.out")
    assert verdict.startswith("DONE job 4: 1 tasks, 0 done, 1 failed")
    python, script = ROOT / ".venv/bin/python", ROOT / "scripts/triage_run.py"
    assert then == f"  next: {python} {script} --log-dir '{logs}' --job-id 4"


def test_a_relative_path_below_a_folder_that_is_gone_is_wrong_usage(tmp_path):
    gone = f'mkdir "{tmp_path}/gone"; cd "{tmp_path}/gone"; rmdir "{tmp_path}/gone"; exec "{SCRIPT}" 4 2 --log-dir logs'
    done = call("-c", gone, script="/bin/sh")
    assert done.returncode == 64
    assert done.stderr.splitlines()[-1] == (
        "slurm_progress.sh: argument --log-dir: 'logs', and the current folder is gone: give a whole path"
    )


def test_lines_in_doubt_are_not_repeated_before_the_interval_is_over(stand_ins):
    watcher = subprocess.Popen(
        [str(SCRIPT), "4", "2", "--interval", "1", "--patience", "3"],
        env={"PATH": f"{stand_ins}:/usr/bin:/bin"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    said, _ = watcher.communicate(timeout=PATIENCE)
    assert watcher.returncode == 2
    *waiting, last = said.splitlines()
    assert last.startswith(
        "UNKNOWN job 4: neither the queue nor the accounts know it (no row of it); given up after 3 s"
    )
    assert 2 <= len(waiting) <= 4


def test_a_reader_that_leaves_ends_the_watch(stand_ins):
    reading, writing = os.pipe()
    watcher = subprocess.Popen(
        [str(SCRIPT), "4", "2", "--interval", "0.2"],
        env={"PATH": f"{stand_ins}:/usr/bin:/bin"}, stdout=writing, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writing)
    os.close(reading)
    _, complaints = watcher.communicate(timeout=PATIENCE)
    assert (watcher.returncode, complaints) == (141, "")
