import subprocess
import sys
from collections import Counter
from itertools import product

import pytest

from benchwright.mini import REFERENCE_CONFIGS, TASKS, source

VARIANTS = {
    "RF (default)",
    "XT (default)",
    "LR (default)",
    "KNN (default)",
    "GBM (default)",
    "GBM (tuned)",
    "GBM (tuned + ensemble)",
}


@pytest.fixture(scope="module")
def rows():
    return source().reference_results().to_pylist()


def test_spec_describes_the_tasks_without_making_them():
    spec = source().spec
    assert spec.tasks.datasets == tuple(task.key for task in TASKS)
    assert len(spec.tasks) == 27
    for split in spec.tasks:
        (task,) = (task for task in TASKS if task.key == split.dataset)
        train, test = task.folds()[split.fold]
        assert (split.train_rows, split.test_rows) == (len(train), len(test))
        assert (split.tid, split.problem_type, split.metric) == (task.tid, task.problem_type, task.metric)
        assert (split.n_features, split.n_classes) == (len(task.features), task.classes)
        assert split.categorical_share == len(task.categorical) / len(task.features)


def test_spec_needs_neither_pandas_nor_scikit_learn():
    code = (
        "import sys; from benchwright.mini import source; len(source().spec.tasks); source().reference_methods();"
        "print({'pandas', 'sklearn', 'pyarrow', 'tabarena'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"


@pytest.mark.parametrize(
    ("expression", "datasets"), [("lite", 9), ("binary", 3), (["classification", "high_cats"], 1), ("numerical", 5)]
)
def test_subsets_select_from_it(expression, datasets):
    assert len(source().spec.tasks.select(expression).datasets) == datasets


def test_a_task_is_found_by_its_short_name():
    tasks = source().spec.tasks.select({"dataset_names": ["mini_wine_cultivar"]})
    assert {split.dataset for split in tasks} == {"mini_wine_cultivar-0cf62914af14"}


def test_reference_methods_are_those_of_the_results(rows):
    methods = {method.method: method for method in source().reference_methods()}
    assert set(methods) == set(REFERENCE_CONFIGS) == {row["ta_name"] for row in rows}
    assert {row["ta_suite"] for row in rows} == {method.suite for method in methods.values()}
    assert {row["config_type"] for row in rows} == {method.config_type for method in methods.values()}
    assert [method.method for method in methods.values() if method.can_hpo] == ["LightGBM"]


def test_every_variant_has_every_split_once(rows):
    splits = [(split.dataset, split.split) for split in source().spec.tasks]
    found = Counter((row["method"], row["dataset"], row["fold"]) for row in rows)
    assert found == Counter((method, *split) for method, split in product(VARIANTS, splits))


def test_reference_rows_are_whole(rows):
    kinds = {split.dataset: (split.problem_type, split.metric) for split in source().spec.tasks}
    for row in rows:
        assert (row["problem_type"], row["metric"]) == kinds[row["dataset"]]
        assert row["metric_error"] > 0
        assert row["metric_error_val"] > 0
        assert row["time_train_s"] > 0
        assert row["time_infer_s"] > 0
        assert row["imputed"] is False


def test_calibration_and_fallback_are_among_the_references(rows):
    spec = source().spec
    assert {spec.calibration_method, spec.fillna_method} <= {row["method"] for row in rows}


def test_no_method_wins_everywhere_and_none_is_perfect(rows):
    best: dict[tuple[str, int], dict] = {}
    for row in rows:
        split = row["dataset"], row["fold"]
        if split not in best or row["metric_error"] < best[split]["metric_error"]:
            best[split] = row
    winners = Counter(row["config_type"] for row in best.values())
    assert len(winners) >= 3
    for dataset in source().spec.tasks.datasets:
        errors = {round(row["metric_error"], 6) for row in rows if row["dataset"] == dataset}
        assert len(errors) > 9
