import dataclasses
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from benchwright.contract import Exit, Failure
from benchwright.mini import FOLDS, TABLE, TARGET, TASKS, catalogue, table, verify, write_table
from benchwright.mini.stable_random import StableRandom

ALL = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def test_there_are_three_tasks_of_each_problem_type():
    assert Counter(task.problem_type for task in TASKS) == {"binary": 3, "multiclass": 3, "regression": 3}
    assert len({task.name for task in TASKS}) == len({task.tid for task in TASKS}) == 9


@ALL
def test_tasks_are_small(task):
    assert 150 <= task.rows <= 600
    assert len(task.features) <= 16


def test_some_tasks_have_gaps_and_some_categories():
    frames = [task.frame() for task in TASKS]
    assert sum(frame.isna().any(axis=None) for frame in frames) >= 3
    assert sum(bool(task.categorical) for task in TASKS) >= 3
    assert not any(frame[TARGET].isna().any() for frame in frames)


@ALL
def test_frame_has_a_categorical_dtype_for_names_and_floats_for_the_rest(task):
    frame = task.frame()
    assert list(frame.columns)[-1] == TARGET or TARGET in frame
    for name in frame.columns:
        kind = frame[name].dtype
        assert kind == "category" if task.columns[name].dtype == object else kind == np.float64


@ALL
def test_every_row_is_tested_once_and_trained_on_otherwise(task):
    folds = task.folds()
    assert len(folds) == FOLDS
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == list(range(task.rows))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(task.rows))


@pytest.mark.parametrize("task", [task for task in TASKS if task.classes], ids=lambda task: task.name)
def test_each_fold_holds_a_third_of_each_class(task):
    target = task.columns[TARGET]
    for label, count in Counter(target).items():
        for _, test in task.folds():
            assert abs(np.sum(target[test] == label) - count / FOLDS) < 1


def test_identifiers_are_those_of_the_runners_own_local_tasks():
    from tabarena.benchmark.task.user_task import UserTask

    for task in TASKS:
        handle = UserTask(task_name=task.name)
        assert (handle.slug, handle.task_id) == (task.key, task.tid)


def test_shipped_table_is_what_the_tasks_make(tmp_path):
    write_table(tmp_path / "tasks.csv")
    assert (tmp_path / "tasks.csv").read_text() == TABLE.read_text()


def test_tasks_are_the_same_in_another_process():
    code = "from benchwright.mini import TASKS; print(*(task.digest() for task in TASKS))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == [task.digest() for task in TASKS]


def test_one_changed_value_or_gap_changes_the_digest():
    task = TASKS[1]
    changes = []
    for name, value in (("income", 1.0), ("income", np.nan), ("purpose", "home"), ("purpose", None)):
        columns = {key: values.copy() for key, values in task.columns.items()}
        columns[name][3] = value
        changes.append(dataclasses.replace(task, build=lambda columns=columns: columns).digest())
    changes.append(dataclasses.replace(task, seed=task.seed + 1).digest())
    assert len({task.digest(), *changes}) == 6


def test_a_task_that_comes_out_differently_is_named(monkeypatch):
    first = TASKS[0]
    changed = dataclasses.replace(first, seed=1)
    monkeypatch.setattr(table, "TASKS", (changed, *TASKS[1:]))
    assert verify([TASKS[1].key]) == (TASKS[1],)
    with pytest.raises(Failure) as raised:
        verify(task.key for task in TASKS)
    assert raised.value.exit == Exit.ENVIRONMENT
    assert str(raised.value) == (
        f"mini task mini_breast_mass: made here it has the digest {changed.digest()[:12]}, expected "
        f"{first.digest()[:12]}, that of the reference results: the installed scikit-learn or NumPy makes other data\n"
        "    fix: make setup installs the locked versions; scripts/build_mini_reference.py makes references of your own"
    )


def test_random_numbers_are_the_generators_raw_words():
    words = np.random.PCG64(7).random_raw(3)
    assert list(StableRandom(7).uniform(3)) == [int(word >> np.uint64(11)) / 2**53 for word in words]


def test_random_numbers_have_the_shapes_they_claim():
    random = StableRandom(11)
    normal = random.normal(20_000)
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03
    picked = Counter(random.pick(20_000, (3, 1)).tolist())
    assert picked[0] / 20_000 == pytest.approx(0.75, abs=0.02)
    assert sorted(random.order(50)) == list(range(50))
    assert random.chance(20_000, 0.1).mean() == pytest.approx(0.1, abs=0.01)


def test_catalogue_is_what_the_package_offers():
    assert catalogue.TASKS is TASKS
