"""Metrics, statistics and standard errors, from trials alone, against what others make of the same trials."""

from __future__ import annotations

import math
import random
import statistics
import sys

import msgspec
import pytest

from benchwright.audit.row_gates import row_fails
from benchwright.evaldb import metrics_of
from benchwright.harbor import Taxonomy, Trial, read_job
from benchwright.rehearsal.harbor_jobs import KINDS, JobShape, grow_job
from benchwright.repair.push.score import metrics_of_trials, standard_error, stats_of_trials

BENIGN = Taxonomy.load().profile().benign


def tried(task, *rewards, **more):
    return [
        Trial(folder=f"{task}__{number:07}", task=task, reward=reward, reward_key="reward",
              state="unscored" if reward is None else "valid",
              rewards={} if reward is None else {"reward": reward}, **more)
        for number, reward in enumerate(rewards)
    ]  # fmt: skip


def leaderboards(tasks):
    """The leaderboard's own: sqrt(sum of p(1-p)/(k-1)) / n over tasks of k >= 2 tries, for rewards of 0 and 1."""
    several = [rewards for rewards in tasks if len(rewards) > 1]
    spread = [statistics.fmean(rewards) * (1 - statistics.fmean(rewards)) / (len(rewards) - 1) for rewards in several]
    return math.sqrt(sum(spread)) / len(several)


@pytest.mark.parametrize("seed", range(5))
def test_for_zeros_and_ones_the_error_is_the_leaderboards(seed):
    rng = random.Random(seed)
    tasks = [[float(rng.random() < 0.4) for _ in range(rng.choice([1, 3, 3, 4]))] for _ in range(20)]
    trials = [trial for number, rewards in enumerate(tasks) for trial in tried(f"t{number}", *rewards)]
    rng.shuffle(trials)
    assert standard_error(trials) == pytest.approx(leaderboards(tasks), rel=1e-12)


def test_partial_rewards_have_their_own_variance():
    trials = [*tried("a", 0.25, 0.75), *tried("b", 0.5, 0.5)]
    assert standard_error(trials) == pytest.approx(math.sqrt(0.125 / 2) / 2)


def test_rewards_as_large_as_there_are_have_a_mean_and_an_error():
    largest = sys.float_info.max
    assert metrics_of_trials(tried("a", largest, largest, largest)) == [
        {"name": "accuracy", "value": largest},
        {"name": "accuracy_stderr", "value": 0.0},
    ]
    trials = [*tried("a", 1e308, 0.0), *tried("b", 1e308, 1e308)]
    accuracy, error = metrics_of_trials(trials)
    assert accuracy["value"] == pytest.approx(0.75e308)
    assert error["value"] == pytest.approx(0.25e308)
    assert metrics_of_trials(tried("a", largest, -largest))[1]["value"] == pytest.approx(largest)
    several = [
        msgspec.structs.replace(trial, rewards={"reward": 1.0, "points": 1e308}) for trial in tried("a", 1.0, 1.0, 1.0)
    ]
    assert metrics_of_trials(several)[-1] == {"name": "rewards.points", "value": 1e308}
    (stats,) = stats_of_trials(tried("a", 1e308, 1e308))["evals"].values()
    assert stats["metrics"] == [{"mean": 1e308}]


def test_a_task_that_was_tried_once_says_nothing():
    assert standard_error(tried("a", 1.0)) is None
    assert standard_error([*tried("a", 1.0), *tried("b", 0.0, 1.0)]) == pytest.approx(0.5)


def test_an_attempt_without_a_reward_counts_as_0_in_mean_and_error():
    trials = tried("a", 1.0, None, 0.0)
    (accuracy, error) = metrics_of_trials(trials)
    assert accuracy == {"name": "accuracy", "value": pytest.approx(1 / 3)}
    assert error["value"] == standard_error(tried("a", 1.0, 0.0, 0.0))


def test_tasks_whose_folders_begin_alike_are_not_one(tmp_path):
    """Folders of tasks with long names share 32 characters: by folder, two tasks would be one of six tries."""
    grow_job(tmp_path / "job", ["pass"] * 15 + ["fail"] * 15, JobShape())
    trials = read_job(tmp_path / "job").trials
    long = [trial for trial in trials if trial.task.startswith("a-task-with-a-very-long-name")]
    assert len({trial.folder.rpartition("__")[0] for trial in long}) == 1
    assert standard_error(long) == 0.0


def test_every_reward_is_kept(tmp_path):
    grow_job(tmp_path / "job", ["several-keys", "several-keys", "pass", "no-such-key"], JobShape(attempts=2))
    trials = read_job(tmp_path / "job").trials
    found = {one["name"]: one["value"] for one in metrics_of_trials(trials)}
    assert found["accuracy"] == pytest.approx(1.5 / 4)
    assert (found["rewards.style"], found["rewards.accuracy"]) == (pytest.approx(3 / 4), pytest.approx(1 / 4))
    assert metrics_of(metrics_of_trials(trials)).accuracy == found["accuracy"]
    assert (metrics_of(metrics_of_trials(trials)).accuracies, metrics_of(metrics_of_trials(trials)).stderrs) == (1, 1)
    (one,) = stats_of_trials(trials)["evals"].values()
    assert one["n_trials"] == 4
    style = one["reward_stats"]["style"]["1.0"]
    assert len(style) == 3
    assert sorted({*style, *(name for names in one["reward_stats"]["reward"].values() for name in names)}) == sorted(
        trial.folder for trial in trials
    )


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.state in ("valid", "unscored")])
def test_the_statistics_say_what_the_gates_do(tmp_path, kind):
    """Ten trials of a kind among ninety: what is stored with the row must fail the gates where the trials do."""
    grow_job(tmp_path / "job", ["pass"] * 89 + [kind] * 11, JobShape(attempts=1))
    trials = read_job(tmp_path / "job").trials
    stats = stats_of_trials(trials)
    assert msgspec.json.decode(msgspec.json.encode(stats)) == stats
    exception = KINDS[kind].exception or KINDS[kind].step_exception
    counts = exception is not None and exception not in BENIGN
    silent = KINDS[kind].state == "unscored" and exception is None and kind != "no-such-key"
    assert row_fails(stats, 100, BENIGN) is (counts or silent)
    assert stats["n_trials"] == stats["n_completed_trials"] == 100
