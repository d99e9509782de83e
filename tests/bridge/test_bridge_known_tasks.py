"""What is known of the tasks of results: an arena's table, a run's own, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.bridge import task_rows

ROW = "tabarena_task_name,task_id_str,repeat,fold\n"


@pytest.fixture
def run(tmp_path):
    """A workspace whose run was set up in two groups that share a split."""
    for group, folds in (("cpu", "01"), ("gpu", "12")):
        batch = tmp_path / "setup_out" / "mine" / f"job_batch_mine_{group}"
        batch.mkdir(parents=True)
        (batch / "task_metadata.csv").write_text(ROW + "".join(f"own,UserTask|7|own,0,{fold}\n" for fold in folds))
    return tmp_path / "output" / "mine"


def test_tasks_of_a_published_arena_come_with_its_whole_table(tmp_path):
    assert len(task_rows(tmp_path, {"churn", "wine_quality"})) == 816
    assert {row["tabarena_task_name"] for row in task_rows(tmp_path, {"churn"})} >= {"churn", "wine_quality"}


@pytest.mark.parametrize("below", ["", "data"])
def test_tasks_of_ones_own_come_from_the_run_each_split_once(run, below):
    rows = task_rows(run / below, {"own"})
    assert [(row["tabarena_task_name"], row["fold"]) for row in rows] == [("own", "0"), ("own", "1"), ("own", "2")]


@pytest.mark.parametrize("folder", ["elsewhere/mine", "output/other", "output/-"])
def test_otherwise_nothing_is_known(run, folder):
    assert task_rows(run.parents[1] / Path(folder), {"own"}) == []


def test_a_published_table_counts_only_where_it_has_every_dataset(run):
    assert {row["tabarena_task_name"] for row in task_rows(run, {"churn", "own"})} == {"own"}
