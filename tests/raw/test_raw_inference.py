"""What results say of the method that made them, and what they do not say."""

from __future__ import annotations

import gzip
import os
import pickle

import pytest

from benchwright.contract import Problem
from benchwright.raw import find_results, inspect, read_methods
from benchwright.raw.coverage import Split
from benchwright.raw.facts import read_facts
from benchwright.raw.inference import infer
from benchwright.raw.inspection_text import block
from benchwright.raw.protocol import BEYONDARENA_KEY, Protocol
from benchwright.raw.protocols import protocols
from benchwright.raw.tree import inspect_tree
from raw_trees import CONFIG, PROTOCOLS, RAW, SYSTEM, add_result, recorded, with_memory, with_method


def only(root):
    """The one method below ``root``, inspected."""
    (method,) = read_methods(find_results(root).files).values()
    return inspect(method)


@pytest.fixture(scope="module")
def genuine():
    """The inferred fields of every method in the genuine run."""
    return {name: infer(method) for name, method in read_methods(find_results(RAW).files).items()}


# The peer's own report on the same files, but for three fields: it finds no default among several configs, calls a
# system by the name of its config, and takes every system for one that ran without a GPU.
@pytest.mark.parametrize("name", ["LightGBM", "LinearModel", "RandomForest", "DemoLogisticSystem"])
def test_the_peer_infers_the_same(genuine, name):
    from tabarena.tools.process_local_raw_data import RawMethod, _infer_from_raw

    files = [file.path for file in find_results(RAW).files if file.method.startswith(f"{name}_")]
    peer = _infer_from_raw(RawMethod(path_raw=RAW), engine="sequential", file_paths=files)
    ours = genuine[name]
    assert ours.results == peer["n_results"]
    assert list(ours.method_types) == peer["method_types"]
    assert list(ours.model_types) == peer["model_types"]
    assert list(ours.ag_keys) == peer["ag_keys"]
    assert list(ours.name_prefixes) == peer["name_prefixes"]
    assert list(ours.problem_types) == peer["problem_types"]
    assert list(ours.metrics) == peer["metrics"]
    assert list(ours.frameworks) == peer["frameworks"]
    assert ours.is_bag == peer["is_bag_any"]
    assert ours.can_hpo == peer["inferred_can_hpo"]
    assert ours.method_type == peer["inferred_method_type"]
    assert ours.ag_key == peer["inferred_ag_key"]
    assert ours.coverage.datasets == peer["n_datasets"]
    assert len(ours.coverage.splits) == peer["n_tasks"]
    assert ours.coverage.folds == peer["n_folds"]
    assert ours.coverage.to_dict()["configs"] == peer["config_task_counts"].to_dict()
    if name == "DemoLogisticSystem":
        assert (ours.compute, peer["inferred_compute"]) == (None, "cpu")
        assert (ours.method, peer["inferred_method"]) == (name, f"{name}_c1_default")
    else:
        assert list(ours.num_gpus) == peer["num_gpus_vals"]
        assert ours.compute == peer["inferred_compute"]
        assert ours.method == peer["inferred_method"]
    if not ours.can_hpo:
        assert ours.config_default == peer["inferred_config_default"]


def test_the_default_of_several_configs(genuine):
    assert genuine["LightGBM"].config_default == "LightGBM_c1_default_BAG_L1"
    assert genuine["LightGBM"].config_default_note == "by the _c1 rule"


def test_no_default_is_made_up_where_no_config_is_called_c1(tmp_path):
    for number in (1, 2):
        add_result(tmp_path, f"LightGBM_r{number}_default_BAG_L1")
    inferred = only(tmp_path).inferred
    assert (inferred.config_default, inferred.config_default_note) == (None, "no config is called _c1")


def test_the_day_of_the_run_is_in_utc(genuine):
    assert genuine["LightGBM"].last_day == "2026-11-29"


@pytest.mark.parametrize(
    ("gpus", "compute", "note"),
    [
        ((0, 0), "cpu", "num_gpus 0 in all 2 results"),
        ((0, 1), "gpu", "num_gpus up to 1"),
        ((0.5, 0.5), "gpu", "num_gpus up to 0.5"),
        ((0, None), "cpu", "num_gpus 0 in 1 of 2 results"),
        ((None, None), None, "not inferable: no num_gpus is recorded; torch saw no GPU in all 2 results"),
    ],
)
def test_compute_of_configs(tmp_path, gpus, compute, note):
    for split, count in enumerate(gpus):
        add_result(tmp_path, CONFIG, split=split, change=with_method(num_gpus=count))
    inferred = only(tmp_path).inferred
    assert (inferred.compute, inferred.compute_note) == (compute, note)


@pytest.mark.parametrize(
    ("memory", "compute", "note"),
    [
        (
            [{"gpu_tracking_enabled": True, "peak_mem_gpu": 5_000}, {}],
            "gpu",
            "GPU memory was allocated in 1 of 2 results",
        ),
        (
            [{"gpu_tracking_enabled": True, "peak_mem_gpu": 0}] * 2,
            None,
            "not inferable: torch saw a GPU in all 2 results and allocated nothing on it",
        ),
        (
            [{}, {}],
            None,
            "not inferable: no num_gpus is recorded; torch saw no GPU in all 2 results",
        ),
        (
            [{"gpu_tracking_enabled": None}] * 2,
            None,
            "not inferable: neither num_gpus nor GPU memory is recorded",
        ),
    ],
)
def test_compute_of_systems_is_proved_or_unknown(tmp_path, memory, compute, note):
    for split, fields in enumerate(memory):
        add_result(tmp_path, SYSTEM, source=RAW / SYSTEM, split=split, change=with_memory(**fields))
    inferred = only(tmp_path).inferred
    assert (inferred.compute, inferred.compute_note) == (compute, note)


PROTOCOL_OF = {
    "beyond": (
        BEYONDARENA_KEY,
        "25 children, 5 folds x 5 repeats on 118 rows, at most 500: the dynamic rule (8x1 requested); "
        "elsewhere up to 160 rows",
    ),
    "holdout": (
        "holdout:0.2",
        "no children, 24 validation rows beside 94 training rows; elsewhere up to 32 rows",
    ),
    "outer": ("outer", "AGModelWrapper fits on all training rows"),
    "knn": ("8x1", "8x1 requested; 1 child via use_child_oof"),
    "autogluon": ("system", "AGWrapper validates by itself"),
}


@pytest.mark.parametrize("name", PROTOCOL_OF)
def test_protocols_of_genuine_runs(name):
    shown = only(PROTOCOLS / name).inferred.protocols
    key, text = PROTOCOL_OF[name]
    assert (shown.key, shown.mixed, shown.recorded) == (key, False, False)
    assert shown.histogram() == [(text, key, 3)]
    assert shown.lines() == [f"     3  {text}"]


def bag(key, *, rows=1_000, requested="8x1", recorded=None, shape=None):
    folds, repeats = shape or ((5, 5) if key == BEYONDARENA_KEY else map(int, key.split("x")))
    text = f"{folds * repeats} children"
    return Protocol(key, text, folds * repeats, (folds, repeats), rows, requested, recorded)


def test_the_dynamic_rule_covers_the_8x1_of_its_larger_tasks():
    both = protocols([bag("8x1")] * 3 + [bag(BEYONDARENA_KEY, rows=300)])
    assert (both.key, both.mixed) == (BEYONDARENA_KEY, False)
    assert both.contradicting("8x1") == 1


def test_tiny_tasks_of_8x1_are_not_of_the_dynamic_rule():
    both = protocols([bag("8x1", rows=300), bag(BEYONDARENA_KEY, rows=300)])
    assert (both.key, both.mixed) == (None, True)
    assert [both.contradicting(key) for key in (BEYONDARENA_KEY, "8x1")] == [1, 1]


def test_holdouts_of_tiny_tasks_miss_their_fraction_by_a_row():
    each = [Protocol(f"holdout:{fraction}", f"{fraction}", rows=40) for fraction in (0.2, 0.2, 0.21)]
    assert protocols(each).key == "holdout:0.2"
    assert protocols([*each, Protocol("holdout:0.33", "a third", rows=60)]).mixed


def test_protocols_that_differ_are_mixed_and_silent_ones_say_nothing():
    mixed = protocols([bag("8x1"), bag("5x2"), bag("5x2"), Protocol(None, "says nothing")])
    assert (mixed.key, mixed.mixed, mixed.silent()) == (None, True, 1)
    assert [(key, count) for _, key, count in mixed.histogram()] == [("5x2", 2), ("8x1", 1), (None, 1)]
    silent = protocols([Protocol(None, "says nothing")])
    assert (silent.key, silent.mixed) == (None, False)


def test_a_recorded_protocol_is_taken_at_its_word():
    written = protocols([bag("8x1", recorded="8x1")])
    assert (written.recorded, written.contradicting("8x1"), written.contradicting(BEYONDARENA_KEY)) == (True, 0, 1)
    # Children alone cannot tell: on 1,000 rows both rules make eight.
    assert protocols([bag("8x1")]).contradicting(BEYONDARENA_KEY) == 0


def test_a_key_of_no_known_form_speaks_for_the_results_that_record_it_alone():
    one = [bag("other", shape=(8, 1), recorded="other")]
    assert (protocols(one).key, protocols(one).mixed) == ("other", False)
    assert protocols([*one, Protocol(None, "says nothing")]).key == "other"
    for more in ([bag("8x1")], [bag("8x1"), Protocol("holdout:0.2", "no children")]):
        assert (protocols(one + more).key, protocols(one + more).mixed) == (None, True)


def test_a_histogram_stays_short():
    many = protocols(bag(f"{folds}x1") for folds in range(2, 12) for _ in range(folds))
    assert many.lines()[0] == "    11  11 children"
    assert many.lines()[-1] == "    14  in 4 other ways"


def test_official_protocols():
    assert [protocols([bag("8x1")]).unlike(arena) for arena in ("tabarena", "beyondarena")] == [0, 0]
    assert [protocols([bag("8x1", rows=9)]).unlike(arena) for arena in ("tabarena", "beyondarena")] == [0, 1]
    assert protocols([Protocol("system", "validates by itself")]).unlike("tabarena") == 0
    assert protocols([Protocol("system", "validates by itself"), bag("8x1")]).unlike("tabarena") == 1
    assert protocols([Protocol(None, "says nothing")]).unlike("tabarena") == 1


def test_coverage_names_what_a_config_lacks(tmp_path):
    for split in (0, 1):
        add_result(tmp_path, CONFIG, split=split)
    add_result(tmp_path, "LightGBM_r1_default_BAG_L1", split=1)
    covered = only(tmp_path).inferred.coverage
    name = covered.splits[0][0]
    assert covered.missing == {"LightGBM_r1_default_BAG_L1": [(name, 0, 0)]}
    assert covered.to_dict() == {
        "splits": 2,
        "lost": [],
        "configs": {CONFIG: 2, "LightGBM_r1_default_BAG_L1": 1},
        "missing": {"LightGBM_r1_default_BAG_L1": [f"{name} 0_0"]},
    }
    assert covered.lines() == [
        f"{CONFIG}  2 of 2",
        f"LightGBM_r1_default_BAG_L1  1 of 2, without {name} 0_0",
    ]


def test_coverage_of_many_configs_names_the_incomplete_ones(tmp_path):
    for number in range(1, 12):
        for split in range(6 if number == 1 else 1):
            add_result(tmp_path, f"LightGBM_r{number}_BAG_L1", split=split, task="binary")
    covered = only(tmp_path).inferred.coverage
    name = covered.splits[0][0]
    lines = covered.lines()
    assert lines[0] == "1 config on all 6 splits"
    missing = ", ".join(f"{name} 0_{split}" for split in range(1, 5))
    assert lines[1] == f"LightGBM_r10_BAG_L1  1 of 6, without {missing} and 1 more"
    assert (len(lines), lines[-1]) == (10, "and 2 more that lack splits")


def test_splits_that_no_config_has_are_missed(tmp_path):
    paths = {
        (task, split): add_result(tmp_path, CONFIG, task=task, split=split, dataset=task, key=task)
        for task in ("binary", "multiclass")
        for split in range(3)
    }
    assert only(tmp_path).incomplete is None
    paths["multiclass", 1].unlink()
    paths["binary", 2].write_bytes(b"cut off")
    inspection = only(tmp_path)
    extent = "2 datasets, 4 of 6 splits (dataset x fold); missing: binary 0_2, multiclass 0_1"
    assert str(inspection.incomplete).startswith(f"LightGBM: {extent}, expected results on every split\n    fix: ")
    assert inspection.incomplete.code == "splits-missing"
    assert f"  coverage      {extent}" in block(inspection)
    assert f"    {CONFIG}  4 of 6, without binary 0_2, multiclass 0_1" in block(inspection)
    assert inspection.inferred.coverage.to_dict()["lost"] == ["binary 0_2", "multiclass 0_1"]
    assert not inspection.refused


def test_other_methods_of_the_tree_tell_of_splits_that_one_lost(tmp_path):
    for split in range(2):
        add_result(tmp_path, "Other_c1", split=split)
    add_result(tmp_path, CONFIG)
    (mine, _) = inspect_tree(find_results(tmp_path)).judged
    assert mine.inferred.coverage.lost == [Split(mine.inferred.coverage.splits[0].dataset, 0, 1)]


def test_datasets_may_be_repeated_more_or_less_often(tmp_path):
    def second(value):
        value["task_metadata"].update(repeat=1, fold=0, split_idx=1)

    for task in ("binary", "multiclass"):
        add_result(tmp_path, CONFIG, task=task)
    path = add_result(tmp_path, CONFIG, split=1, change=second)
    path.parent.rename(path.parent.with_name("1_0"))
    inspection = only(tmp_path)
    assert (inspection.incomplete, len(inspection.inferred.coverage.splits)) == (None, 3)


def test_a_split_far_off_does_not_ask_for_all_before_it(tmp_path):
    add_result(tmp_path, CONFIG)
    add_result(tmp_path, CONFIG, split=999_999_999).write_bytes(b"")
    assert [str(split)[-11:] for split in only(tmp_path).inferred.coverage.lost] == ["0_999999999"]


def test_what_cannot_be_read_is_told_and_the_rest_counted(tmp_path):
    add_result(tmp_path, CONFIG)
    broken = add_result(tmp_path, CONFIG, split=1)
    broken.write_bytes(broken.read_bytes()[:-100])
    inspection = only(tmp_path)
    assert (inspection.inferred.results, inspection.refused) == (1, False)
    (problem,) = inspection.unusable
    assert (problem.code, problem.where) == ("truncated", str(broken))
    assert block(inspection)[0] == "LightGBM: 1 result, and 1 file that cannot be used"


def test_a_dangerous_file_refuses_the_method(tmp_path):
    add_result(tmp_path, CONFIG)
    path = add_result(tmp_path, CONFIG, split=1)
    marker = tmp_path / "marker"

    class Touch:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    path.write_bytes(gzip.compress(pickle.dumps(Touch(), 4)))
    inspection = only(tmp_path)
    assert ([problem.code for problem in inspection.unusable], inspection.refused) == (["dangerous-pickle"], True)
    assert not marker.exists()


def test_a_result_in_another_folder_is_unusable(tmp_path):
    add_result(tmp_path, CONFIG)
    stray = tmp_path / CONFIG / "elsewhere" / "0_1" / "results.pkl"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(next(tmp_path.rglob("results.pkl")).read_bytes())
    (each,) = read_facts(find_results(tmp_path).files)[1]
    assert each.problems == (
        Problem(
            "misplaced-result",
            str(stray),
            f"a result of {CONFIG}, repeat 0, fold 0",
            f"one of {CONFIG}, 0_1, as its folders say",
            "move it to its own folder, or run this item again: its set-up moves the file aside",
        ),
    )


def test_two_files_for_one_result(tmp_path):
    first = add_result(tmp_path, CONFIG, key="a")
    second = add_result(tmp_path, CONFIG, key="b")
    inspection = only(tmp_path)
    (problem,) = inspection.inconsistent
    name = inspection.inferred.coverage.splits[0][0]
    assert (problem.code, problem.where) == ("duplicate-result", str(second))
    assert problem.found == f"{CONFIG} on {name}, split 0, is also in {first}"
    assert inspection.refused


def test_labels_of_another_task(tmp_path):
    for number in range(1, 4):
        add_result(tmp_path, f"LightGBM_r{number}_BAG_L1", dataset="one")

    def swap(value):
        value["simulation_artifacts"]["y_val"] = 1 - value["simulation_artifacts"]["y_val"]
        value["metric_error_val"] = 1 - value["metric_error_val"]

    odd = add_result(tmp_path, "LightGBM_r2_BAG_L1", dataset="one", change=swap)
    (problem,) = only(tmp_path).inconsistent
    assert (problem.code, problem.where) == ("rows-differ", str(odd))
    assert problem.found == "validation or test rows or labels of its own on one, split 0"


def test_two_metrics_on_one_dataset(tmp_path):
    for number in range(1, 4):
        add_result(tmp_path, f"LightGBM_r{number}_BAG_L1", dataset="one", split=number)
    odd = add_result(tmp_path, CONFIG, dataset="one", task="regression")
    (problem,) = only(tmp_path).inconsistent
    assert (problem.code, problem.where) == ("metric-differs", str(odd))
    assert (problem.found, problem.expected) == (
        "rmse (regression) on one",
        "roc_auc (binary), as most results there",
    )


def test_two_configs_of_a_system(tmp_path):
    for number in (1, 2):
        add_result(tmp_path, f"DemoLogisticSystem_c{number}_default", source=RAW / SYSTEM)
    inspection = only(tmp_path)
    (problem,) = inspection.inconsistent
    assert str(problem) == (
        "DemoLogisticSystem: 2 configs without predictions (DemoLogisticSystem_c1_default, "
        "DemoLogisticSystem_c2_default): a baseline or a system takes its method's name, so each would overwrite the "
        "one before, expected one config\n"
        f"    fix: process each as a method of its own, from its own folder: {tmp_path / SYSTEM}"
    )
    assert inspection.refused


def test_results_with_and_without_predictions(tmp_path):
    add_result(tmp_path, CONFIG)
    add_result(tmp_path, "LightGBM_c1_default", source=PROTOCOLS / "outer" / "data" / "LightGBM_c1_default", split=1)
    inspection = only(tmp_path)
    assert inspection.inferred.method_type is None
    (problem,) = inspection.inconsistent
    assert (problem.code, problem.where) == ("mixed-types", "LightGBM")
    assert problem.found == "1 results with predictions (a config's) and 1 without (a baseline's)"


def test_warnings_of_results_fail_nothing(tmp_path):
    add_result(tmp_path, CONFIG, change=lambda value: value.update(time_infer_s=-1.0))
    inspection = only(tmp_path)
    (problem,) = inspection.doubtful
    assert (problem.code, problem.found) == ("doubtful-result", "time_infer_s is negative: -1.0")
    assert (inspection.refused, inspection.against) == (False, ())


@pytest.mark.parametrize("dataset", ["363612", "a-slug-0123456789ab"])
def test_keys_of_published_and_of_local_tasks_are_alike(tmp_path, monkeypatch, dataset):
    import socket

    def refuse(*_, **__):
        raise AssertionError("no network is needed")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    add_result(tmp_path, CONFIG, key=dataset, change=recorded("8x1"))
    inspection = only(tmp_path)
    assert (inspection.refused, inspection.against, inspection.inferred.protocols.recorded) == (False, (), True)


def test_many_files_are_read_in_processes_and_in_order(tmp_path):
    for number in range(1, 41):
        add_result(tmp_path, f"Sys{number}_c1_default", source=RAW / SYSTEM)
    files = find_results(tmp_path).files
    told = []
    facts, unusable = read_facts(files, lambda done, total, **_: told.append((done, total)))
    assert [each.file for each in facts] == files
    assert not unusable
    assert told == [(done, 40) for done in range(1, 41)]
    assert len({id(each.protocol) for each in facts}) == 1


def test_texts_of_a_result_do_not_reach_the_terminal_raw(tmp_path):
    def paint(value):
        value["method_metadata"]["model_type"] = "\x1b[31mGBM"
        value["experiment_metadata"]["validation_protocol"] = "8x1\n" * 1_000

    add_result(tmp_path, CONFIG, change=paint)
    inspection = only(tmp_path)
    assert inspection.inferred.ag_key == "'\\x1b[31mGBM'"
    assert all(line.isprintable() and len(line) < 400 for line in "\n".join(block(inspection)).splitlines())
