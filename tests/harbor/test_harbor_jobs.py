"""Whole job folders: genuine ones, generated ones with their truth, and everything that folders can have wrong."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from harbor_files import DATA, OLD, Racing, figures_of, job_files, states, trial, write

from benchwright.contract import Exit, Failure
from benchwright.harbor import (
    Folder,
    JobPlace,
    ScanCache,
    plan_of,
    read_job,
    read_jobs,
    read_tree,
    resolve_job_folder,
)
from benchwright.harbor.tree import Listing
from benchwright.rehearsal.harbor_jobs import EXTRAS, JobShape, Version, grow_job
from benchwright.rehearsal.trial_kinds import KINDS

VERSIONS = get_args(Version)
MIXES = int(os.environ.get("BENCHWRIGHT_MIXES", "40"))


def codes(job):
    return [remark.code for remark in job.remarks]


@pytest.mark.parametrize(
    ("name", "planned", "valid", "unscored", "corrupt", "unfinished", "surplus", "invalid", "stored_is"),
    [
        ("eval-tiny_bench-oracle-20260901_120000", 18, 9, 9, 0, 0, 0, 6, ["attempted", "planned"]),
        ("eval-tiny_bench-killed9-20260901_124000", 12, 3, 4, 0, 3, 0, 3, ["attempted"]),
        ("eval-infra_bench-nop-20260901_122000", 16, 8, 8, 0, 0, 0, 8, []),
        ("eval-odd_bench-oracle-20260901_123000", 16, 6, 10, 0, 0, 0, 6, []),
        ("eval-tiny_bench-sigint-20260901_125000", 12, 6, 6, 0, 0, 1, 4, ["attempted", "planned"]),
    ],
)
def test_genuine_folders(name, planned, valid, unscored, corrupt, unfinished, surplus, invalid, stored_is):
    job = read_job(DATA / name)
    found = figures_of(job)
    assert (found["planned"], found["valid"], found["unscored"], found["corrupt"]) == (
        planned,
        valid,
        unscored,
        corrupt,
    )
    assert (found["unfinished"], found["surplus"]) == (unfinished, surplus)
    assert found["invalid"] == found["invalid_in_aggregate"] == invalid
    assert found["scores"]["stored_is"] == stored_is
    assert job.live is False


def test_a_damaged_result_beside_its_rerun_is_surplus_and_told():
    job = read_job(DATA / "eval-tiny_bench-sigint-20260901_125000")
    (extra,) = [one for one in job.trials if one.surplus]
    assert (extra.state, extra.task) == ("corrupt", "write-answer")
    assert [str(remark.text) for remark in job.remarks] == [
        f"1 trial beyond the 2 attempts of a task, and not counted: {extra.folder}"
    ]


def test_two_agents_are_two_evals_of_one_job():
    job = read_job(DATA / "eval-infra_bench-nop-20260901_122000")
    found = figures_of(job)["by_eval"]
    assert list(found) == ["nop__infra_bench", "oracle__infra_bench"]
    assert [one["planned"] for one in found.values()] == [8, 8]
    assert [one["scores"]["stored"] for one in found.values()] == [0.0, 0.5]
    assert [one["invalid_in_aggregate"] for one in found.values()] == [4, 4]


@pytest.mark.parametrize("seed", range(MIXES))
def test_a_random_mix_agrees_with_its_truth_to_the_trial(tmp_path, seed):
    rng = random.Random(seed)
    attempts = rng.randint(1, 5)
    pool = rng.sample(list(KINDS), rng.randint(1, len(KINDS)))
    kinds = [rng.choice(pool) for _ in range(attempts * rng.randint(0, 8) + rng.randint(0, 1))]
    shape = JobShape(attempts, rng.choice(VERSIONS), model=rng.choice(["177495", "org/model", "m__x"]))
    shape = replace(shape, finished=rng.random() < 0.8)
    extras = rng.choices(EXTRAS, k=rng.randint(0, 3))
    truth = grow_job(tmp_path / "job", kinds, shape, extras=extras, seed=seed)
    job = read_job(tmp_path / "job")
    found = figures_of(job)
    assert {name: found[name] for name in truth.facts()} == truth.facts()
    assert states(job) == truth.states
    assert sorted(one.folder for one in job.trials if one.surplus) == sorted(truth.surplus)
    assert found["invalid_in_aggregate"] == truth.facts()["invalid"]
    assert job.whole.reward_sum == pytest.approx(truth.reward_sum, abs=1e-12)
    counts = found["error_counts"].items()
    assert {name: one["unscored"] for name, one in counts if one["scored"] or one["unscored"]} == truth.unscored_errors


def stored_as(job, score):
    """A job whose aggregate stores a score."""
    result = json.loads((job / "result.json").read_text())
    (one,) = result["stats"]["evals"].values()
    one["metrics"] = [{"mean": score}]
    write(job / "result.json", result)


@pytest.mark.parametrize(("version", "reading"), [("0.25", "completed"), ("0.26", "valid")])
def test_a_score_that_harbor_stores_beside_a_damaged_result_is_one_of_the_readings(tmp_path, version, reading):
    kinds = ["pass"] * 9 + ["fail"] * 18 + ["no-sandbox"] * 1 + ["cut-off"] * 2
    grow_job(tmp_path / "job", kinds, JobShape(3, version))
    scores = figures_of(read_job(tmp_path / "job"))["scores"]
    assert scores["stored"] == {"completed": 9 / 28, "valid": 9 / 27}[reading]
    assert (scores["completed"], scores["stored_is"]) == (9 / 28, [reading])


@pytest.mark.parametrize(
    ("stored", "reading"),
    [
        (9 / 29, ["attempted"]),
        ((9 + 2) / (29 + 2), ["completed_with_surplus"]),
        ((9 + 2) / (27 + 2), ["valid_with_surplus"]),
        ((9 + 2) / 30, []),
    ],
)
def test_a_score_that_counts_trials_beyond_the_plan_is_one_of_the_readings(tmp_path, stored, reading):
    kinds = ["pass"] * 9 + ["fail"] * 18 + ["no-sandbox"] * 2 + ["unfinished"]
    grow_job(tmp_path / "job", kinds, JobShape(3), extras=("zombie", "corrupt-rerun", "zombie"))
    stored_as(tmp_path / "job", stored)
    job = read_job(tmp_path / "job")
    assert (job.whole.surplus, job.whole.surplus_valid, job.whole.surplus_sum) == (3, 2, 2.0)
    scores = figures_of(job)["scores"]
    assert (scores["completed"], scores["stored_is"]) == (None, reading)


def test_a_score_that_counts_copies_is_none_of_the_readings(tmp_path):
    grow_job(tmp_path / "job", ["pass"] * 2 + ["fail"] * 10, JobShape(1), extras=("copy", "copy"))
    stored_as(tmp_path / "job", (2 + 2) / (12 + 2))
    job = read_job(tmp_path / "job")
    assert (job.whole.surplus, job.whole.surplus_valid, job.whole.surplus_sum) == (2, 0, 0.0)
    assert figures_of(job)["scores"]["stored_is"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_every_way_to_end_in_the_form_of_every_version(tmp_path, version):
    truth = grow_job(tmp_path / "job", list(KINDS), JobShape(1, version, model="org/model"))
    job = read_job(tmp_path / "job")
    assert states(job) == truth.states
    assert list(job.evals) == ["terminus-2__org/model__terminal_bench_2"]
    assert figures_of(job)["by_eval"] == {}
    assert plan_of(job).source == "aggregate"
    assert all(one.started.tzinfo for one in job.trials if one.started)


def test_only_depth_one_counts_and_only_trials_do(tmp_path):
    job = tmp_path / "job"
    trial(job, "task-1__aaaaaaa")
    trial(job, "task-1__aaaaaaa/agent/deeper__aaaaaaa")
    trial(job, ".sources/8a6e__bbbbbbb")
    write(job / "notes" / "todo.txt", "")
    write(job / "logs" / "result.json", {"status": "fine"})
    write(job / "empty__ccccccc" / "trial.log", "")
    write(job / "job" / "result.json", {"n_total_trials": 3, "stats": {}})
    write(job / "result_with_std_error.json", {"n_total_trials": 1, "stats": {}})
    job_files(job, 2, completed=1)
    found = read_job(job)
    assert states(found) == {"task-1__aaaaaaa": "valid", "empty__ccccccc": "missing"}
    assert {remark.code: remark.text for remark in found.remarks} == {
        "nested-job": "jobs inside the job's folder are not counted in it: job",
        "other-folders": "folders that are no trials, and that a resume of the job would delete: logs, notes",
        "finished-short": "finished by its own account, with 1 of 2 trials completed",
    }


def test_what_stands_in_for_a_result_is_no_trap(tmp_path):
    job, elsewhere = tmp_path / "job", tmp_path / "elsewhere"
    trial(elsewhere, "linked__aaaaaaa", task="linked")
    trial(job, "task-1__aaaaaaa")
    (job / "linked__aaaaaaa").symlink_to(elsewhere / "linked__aaaaaaa")
    (job / "gone__aaaaaaa").symlink_to(elsewhere / "gone__aaaaaaa")
    (job / "round__aaaaaaa").symlink_to("round__aaaaaaa")
    (job / "up").symlink_to(job)
    for name in ("folder__aaaaaaa", "pipe__aaaaaaa", "loop__aaaaaaa"):
        (job / name).mkdir()
    (job / "folder__aaaaaaa" / "result.json").mkdir()
    os.mkfifo(job / "pipe__aaaaaaa" / "result.json")
    (job / "loop__aaaaaaa" / "result.json").symlink_to("result.json")
    found = {one.folder: (one.state, one.why) for one in read_job(job).trials}
    assert found == {
        "task-1__aaaaaaa": ("valid", ""),
        "linked__aaaaaaa": ("valid", ""),
        "folder__aaaaaaa": ("corrupt", "no regular file"),
        "pipe__aaaaaaa": ("corrupt", "no regular file"),
        "loop__aaaaaaa": ("corrupt", "a link that leads nowhere"),
    }


def test_names_with_quotes_newlines_and_bytes_that_are_no_text(tmp_path):
    job = tmp_path / "job"
    names = ['it\'s "a" task__aaaaaaa', "two\nlines__aaaaaaa", os.fsdecode(b"\xff\xfe__aaaaaaa")]
    for name in names:
        trial(job, name, b"{")
    found = read_job(job)
    assert sorted(states(found)) == sorted([*names[:2], "\\xff\\xfe__aaaaaaa"])
    assert codes(found) == ["attempts-unknown", "aggregate-missing", "config-missing"]


def test_of_too_many_the_newest_finished_count_and_those_of_another_job_last(tmp_path):
    job = tmp_path / "job"
    for number, hour in enumerate((10, 14, 12), start=1):
        trial(job, f"task-1__aaaaaa{number}", finished_at=f"2026-09-01T{hour}:00:00Z", id=str(number))
    trial(job, "task-1__foreign", finished_at="2026-09-01T20:00:00Z", id="9", config={"job_id": "job-2"})
    job_files(job, 2, attempts=2)
    found = read_job(job)
    assert list(states(found)) == ["task-1__aaaaaa2", "task-1__aaaaaa3"]
    assert [remark.text for remark in found.remarks if remark.code == "foreign-trials"] == [
        "1 trial of another job than the aggregate's: task-1__foreign"
    ]


def test_numbers_that_nothing_can_hold_are_no_trap(tmp_path):
    job = tmp_path / "job"
    trial(job, "huge__aaaaaaa", task="huge", reward=10**400, id="1")
    trial(job, "many__aaaaaaa", task="many", reward=2**70, agent_result={"n_input_tokens": 2**70}, id="2")
    for number in range(2):
        trial(job, f"most-{number}__aaaaaaa", task=f"most-{number}", reward=1e308, id=f"3{number}")
    job_files(job, 10**30, attempts=10**30, evals={"oracle__bench": {"metrics": [{"mean": 10**400}]}})
    for _ in range(2):
        found = read_job(job, cache=ScanCache(tmp_path / "cache"))
        assert (found.whole.count("valid"), found.whole.count("unscored")) == (3, 1)
        assert found.whole.reward_sum == sys.float_info.max
        assert (found.aggregate.planned, found.config.attempts, found.whole.evidence.tokens_in) == (None, None, None)
        assert figures_of(found)["scores"]["stored"] is None


def test_a_task_of_whose_name_nothing_is_left_has_trials_too(tmp_path):
    job = tmp_path / "job"
    trial(job, "__aaaaaaa", task="__")
    (job / "__bbbbbbb").mkdir()
    (job / "__x").mkdir()
    assert states(read_job(resolve_job_folder(job))) == {"__aaaaaaa": "valid", "__bbbbbbb": "missing"}


def test_a_trial_of_which_nothing_says_whose_it_is_makes_no_eval(tmp_path):
    job = tmp_path / "job"
    for agent in ("nop", "oracle"):
        trial(job, f"task-1__{agent:a<7}", agent_info={"name": agent}, id=agent)
    for name in ("task-2__aaaaaaa", "task-2__bbbbbbb"):
        write(job / name / "result.json", "{")
    job_files(job, 4)
    write(job / "config.json", {"agents": [{"name": "nop"}, {"name": "oracle"}]})
    found = figures_of(read_job(job))
    assert (found["valid"], found["corrupt"], found["surplus"]) == (2, 2, 0)
    assert {key: (one["planned"], one["attempted"]) for key, one in found["by_eval"].items()} == {
        "nop__bench": (2, 1),
        "oracle__bench": (2, 1),
    }
    for agent in ("nop", "oracle"):
        shutil.rmtree(job / f"task-1__{agent:a<7}")
    assert list(read_job(job).evals) == ["unknown__adhoc"]


def test_a_copy_of_a_trial_never_counts_twice(tmp_path):
    job = tmp_path / "job"
    for name in ("task-1__aaaaaaa", "task-1__bbbbbbb"):
        trial(job, name, id="one-and-the-same")
    job_files(job, 2, attempts=2)
    assert states(read_job(job)) == {"task-1__aaaaaaa": "valid"}


def test_agents_that_differ_in_their_settings_alone_have_a_slot_each(tmp_path):
    job = tmp_path / "job"
    for number in range(4):
        trial(job, f"task-1__aaaaaa{number}", id=str(number))
    job_files(job, 4, attempts=2)
    config = {"n_attempts": 2, "agents": [{"name": "oracle"}, {"name": "oracle", "kwargs": {"a": 1}}]}
    write(job / "config.json", config)
    assert figures_of(read_job(job))["surplus"] == 0
    write(job / "config.json", config | {"agents": [{"import_path": "my:Agent"}, {"import_path": "my:Agent"}]})
    assert figures_of(read_job(job))["surplus"] == 0


def test_without_a_configuration_most_tasks_say_how_many_attempts_there_are(tmp_path):
    job = tmp_path / "job"
    for task, number in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)):
        finished = f"2026-09-01T1{number}:00:00Z"
        trial(job, f"task-{task}__aaaaaa{number}", task=f"task-{task}", finished_at=finished, id=f"{task}{number}")
    found = read_job(job)
    assert [one.folder for one in found.trials if one.surplus] == ["task-3__aaaaaa1"]
    assert found.remarks[0].text == (
        "no configuration says how many attempts a task has: 2, as most tasks do, is taken for it"
    )


@pytest.mark.parametrize(
    ("aggregate", "codes_found"),
    [
        ("", ["aggregate-corrupt"]),
        ('{"stats": ', ["aggregate-corrupt"]),
        ('{"task_name": "x", "stats": {}}', ["aggregate-corrupt"]),
        (None, ["aggregate-missing"]),
        ({"n_total_trials": 3, "stats": {"n_completed_trials": 1}}, []),
        ({"n_total_trials": 3, "finished_at": "2026-09-01T12:00:00", "stats": {"n_trials": 1}}, ["finished-short"]),
        ({"n_total_trials": 1, "stats": {"n_completed_trials": 1}}, ["stuck-at-full"]),
        ({"n_total_trials": 0, "stats": {"n_trials": 1}}, ["over-complete", "stuck-at-full"]),
        ({"n_total_trials": 3, "stats": {"n_completed_trials": 2}}, ["counts-differ"]),
        ({"stats": {"evals": {"a__b": {"exception_stats": {"E": "x"}}}}}, ["malformed-exceptions", "unseen-evals"]),
    ],
)
def test_the_aggregate_is_kept_apart_and_what_is_odd_about_it_told(tmp_path, aggregate, codes_found):
    job = tmp_path / "job"
    trial(job, "task-1__aaaaaaa")
    job_files(job, 1)
    if aggregate is None:
        (job / "result.json").unlink()
    else:
        write(job / "result.json", aggregate)
    found = read_job(job)
    assert codes(found) == codes_found
    assert figures_of(found)["valid"] == 1


def test_an_aggregate_alone_proves_no_trial(tmp_path):
    job = tmp_path / "job"
    job_files(job, 300)
    found = read_job(job)
    assert figures_of(found)["attempted"] == 0
    assert [remark.text for remark in found.remarks if remark.code == "only-aggregate"] == [
        "there is the aggregate alone: nothing is known of the trials"
    ]


@pytest.mark.parametrize(
    ("error", "exit", "code"), [(13, Exit.ENVIRONMENT, "unreadable"), (5, Exit.REMOTE, "unreachable")]
)
def test_what_may_not_or_cannot_be_read_is_no_state_of_a_trial(tmp_path, monkeypatch, error, exit, code):
    job = tmp_path / "job"
    for name in ("a__aaaaaaa", "b__aaaaaaa", "c__aaaaaaa"):
        trial(job, name)
    opened = os.open

    def refuse(path, *args, **kwargs):
        if str(path).startswith(("a__", "c__")):
            raise OSError(error, os.strerror(error), path)
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Failure) as caught:
        read_job(job)
    assert caught.value.exit is exit
    assert [(one.code, one.where) for one in caught.value.problems] == [
        (code, f"{job}/{name}/result.json") for name in ("a__aaaaaaa", "c__aaaaaaa")
    ]


@pytest.fixture
def open_path():
    """A folder that anyone may look into, as below pytest's own no one else may."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_someone_without_permission_is_told_of_each_result(open_path):
    job = open_path / "job"
    trial(job, "a__aaaaaaa")
    (trial(job, "b__aaaaaaa") / "result.json").chmod(0o000)
    program = f"""
import os
from pathlib import Path
from benchwright.contract import Failure
from benchwright.harbor import read_job
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    read_job(Path({str(job)!r}))
except Failure as failure:
    print(failure.exit, *failure.problems)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"3 {job}/b__aaaaaaa/result.json: permission denied, expected permission to read\n"
        "    fix: ask its owner for permission to read, or run this as someone who has it\n"
    )


def test_reading_leaves_every_byte_and_time_alone(tmp_path):
    grow_job(tmp_path / "job", ["pass", "cut-off", "unfinished"], JobShape(1))
    os.utime(tmp_path / "job", (1, 1))

    def look():
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(tmp_path.rglob("*"))}

    before = look()
    read_job(tmp_path / "job")
    assert look() == before


@pytest.mark.parametrize("seed", range(12))
def test_what_comes_out_does_not_depend_on_the_order_of_the_files(tmp_path, seed):
    rng = random.Random(seed)
    attempts = rng.randint(1, 3)
    kinds = [rng.choice([*KINDS, "pass", "pass"]) for _ in range(attempts * 8)]
    grow_job(tmp_path / "job", kinds, JobShape(attempts), extras=rng.choices(EXTRAS, k=4), seed=seed)
    if rng.random() < 0.5:
        (tmp_path / "job" / "config.json").unlink()

    class Shuffled(Racing):
        def listing(self):
            folders = list(self.folder.listing().folders)
            self.happens.shuffle(folders)
            return Listing(tuple(folders), frozenset())

        def read(self, path, most=2**30):
            return self.folder.read(path, most)

    looks = []
    for _ in range(6):
        with Folder(tmp_path / "job") as folder:
            job = read_tree(Shuffled(folder, rng), "job")
            looks.append((figures_of(job), job.trials, job.remarks))
    assert looks == looks[:1] * 6


def test_many_jobs_are_read_in_their_order_and_one_that_cannot_be_is_its_failure(tmp_path):
    places = []
    for number in range(12):
        job = tmp_path / f"job-{number:02d}"
        grow_job(job, ["pass"] * number, JobShape(1), seed=number)
        places.append(JobPlace(job.name, (job,)))
    shutil.rmtree(tmp_path / "job-07")
    for path in tmp_path.rglob("*"):
        os.utime(path, (OLD, OLD))
    cache = ScanCache(tmp_path / "cache")
    for again in (None, cache, cache):
        found = read_jobs(places, cache=again)
        assert isinstance(found[7], Failure)
        assert [one.whole.count("valid") for one in found if not isinstance(one, Failure)] == [*range(7), *range(8, 12)]
    shutil.rmtree(tmp_path / "job-03" / read_job(places[3]).trials[0].folder)
    assert read_jobs(places, cache=cache)[3].whole.count("valid") == 2


def test_few_jobs_are_read_without_forks_and_so_are_all_beside_threads(monkeypatch):
    def refuse():
        raise AssertionError("forked")

    monkeypatch.setattr(os, "fork", refuse)
    place = JobPlace("job", (DATA / "eval-tiny_bench-oracle-20260901_120000",))
    assert len(read_jobs([place] * 4)) == 4
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert len(read_jobs([place] * 9)) == 9
    finally:
        done.set()
        thread.join()
