"""Inferred against declared: what matches, what fails, what is unknown, and what may be accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchwright.arena import MethodMetadata
from benchwright.arena.acceptable import FIELDS
from benchwright.contract import Exit, Failure
from benchwright.raw import find_results, inspect, read_methods
from benchwright.raw.comparison import check_accepted, compare, disputed, unofficial
from benchwright.raw.inference import infer
from benchwright.raw.protocol import BEYONDARENA_KEY
from raw_trees import CONFIG, PROTOCOLS, RAW, SYSTEM, add_result, recorded, with_memory, with_method

GBM = MethodMetadata.config(
    method="LightGBM",
    suite="a-run",
    ag_key="GBM",
    config_default="LightGBM_c1_default_BAG_L1",
    is_bag=True,
    validation_protocol="8x1",
)
FOREST = MethodMetadata.config(method="RandomForest", suite="a-run", ag_key="RF", can_hpo=False, is_bag=True)
DEMO = MethodMetadata.system(method="DemoLogisticSystem", suite="a-run")


@pytest.fixture(scope="module")
def genuine():
    return {name: infer(method) for name, method in read_methods(find_results(RAW).files).items()}


def inferred(root):
    (method,) = read_methods(find_results(root).files).values()
    return infer(method)


def rows(inferred, metadata, **options):
    return {row.field: row for row in compare(inferred, metadata, **options)}


def said(row):
    return row.match, row.severity


def told(row):
    """The row as a problem, in words, without what mends it."""
    return str(row.problem("m:x", "mend it")).removesuffix("\n    fix: mend it")


def test_all_fields_of_a_config_in_order(genuine):
    compared = compare(genuine["LightGBM"], GBM)
    assert [(row.field, row.inferred, row.provided, *said(row)) for row in compared] == [
        ("method", "LightGBM", "LightGBM", "yes", "warn"),
        ("method_type", "config", "config", "yes", "error"),
        ("compute", "cpu", "cpu", "yes", "error"),
        ("ag_key", "GBM", "GBM", "yes", "error"),
        ("model_key", "GBM", "GBM", "yes", "context"),
        ("config_default", CONFIG, CONFIG, "yes", "error"),
        ("can_hpo", True, True, "yes", "error"),
        ("is_bag", True, True, "yes", "error"),
        ("validation_protocol", "8x1", "8x1", "yes", "error"),
    ]
    assert not any(row.fails for row in compared)


def test_all_fields_of_a_system(genuine):
    compared = compare(genuine["DemoLogisticSystem"], DEMO)
    assert [(row.field, row.inferred, row.provided, *said(row)) for row in compared] == [
        ("method", "DemoLogisticSystem", "DemoLogisticSystem", "yes", "warn"),
        ("method_type", "baseline", "baseline", "yes", "error"),
        ("compute", None, "cpu", "?", "context"),
        ("name", None, None, "?", "context"),
        ("validation_protocol", "system", "system", "yes", "error"),
    ]


@pytest.mark.parametrize(
    ("changes", "field", "found"),
    [
        ({"ag_key": "XGB"}, "ag_key", "'XGB' (the model_type of the results), expected 'GBM'"),
        ({"compute": "gpu"}, "compute", "'gpu' (num_gpus 0 in all 54 results), expected 'cpu'"),
        ({"can_hpo": False}, "can_hpo", "False (6 configs), expected True"),
        ({"is_bag": False}, "is_bag", "False (by the children of the results), expected True"),
        (
            {"config_default": "LightGBM_r1_default_BAG_L1"},
            "config_default",
            f"'LightGBM_r1_default_BAG_L1' (by the _c1 rule), expected '{CONFIG}'",
        ),
    ],
)
def test_a_difference_fails_until_it_is_accepted(genuine, changes, field, found):
    metadata = replace(GBM, **changes)
    row = rows(genuine["LightGBM"], metadata)[field]
    assert row.fails
    assert told(row) == f"m:x: {field}: {found}"
    assert not rows(genuine["LightGBM"], metadata, accept=[field])[field].fails
    assert not rows(genuine["LightGBM"], metadata, accept_all=True)[field].fails
    other = next(name for name in FIELDS if name != field)
    assert rows(genuine["LightGBM"], metadata, accept=[other])[field].fails


# Processing takes results of one type alone, and an upload has nothing left to compare such a protocol with.
@pytest.mark.parametrize("options", [{}, {"accept": ["method_type", "validation_protocol"]}, {"accept_all": True}])
def test_a_type_and_a_protocol_that_are_not_the_results_are_never_accepted(genuine, options):
    row = rows(genuine["LightGBM"], replace(DEMO, method="LightGBM"), **options)["method_type"]
    assert (row.inferred, row.provided, *said(row), row.fails) == ("config", "baseline", "NO", "error", True)
    row = rows(genuine["LightGBM"], replace(GBM, validation_protocol="5x5"), **options)["validation_protocol"]
    assert (str(row.problem("m:x", "mend it")), row.fails, row.correction) == (
        "m:x: validation_protocol: '5x5' (54 of 54 results contradict it), expected '8x1'\n    fix: mend it",
        True,
        "validation_protocol=8x1",
    )


def test_an_accepted_difference_stays_in_sight(genuine):
    row = rows(genuine["LightGBM"], replace(GBM, can_hpo=False), accept=["can_hpo"])["can_hpo"]
    assert (*said(row), row.accepted) == ("NO", "error", True)
    assert told(row) == "m:x: can_hpo: False (6 configs, accepted), expected True"


# Defect 1 of the peer: of an HPO method it infers no default, which passes for a match, and processing dies of it.
def test_tuned_methods_must_declare_a_default_that_exists(genuine):
    found = genuine["LightGBM"]
    for options in ({}, {"accept": ["config_default"]}, {"accept_all": True}):
        undeclared = rows(found, replace(GBM, config_default=None), **options)["config_default"]
        assert (*said(undeclared), undeclared.inferred, undeclared.fails) == ("not declared", "error", CONFIG, True)
    assert told(undeclared) == (
        "m:x: config_default: not declared (6 configs, by the _c1 rule; trajectories start from the default), "
        f"expected '{CONFIG}'"
    )
    missing = replace(GBM, config_default="LightGBM_c1_BAG_L1")
    for options in ({}, {"accept": ["config_default"]}, {"accept_all": True}):
        row = rows(found, missing, **options)["config_default"]
        assert (*said(row), row.fails) == ("NO", "error", True)
    assert row.reason.startswith("there is no such config in the results, did you mean 'LightGBM_c1_default_BAG_L1'")


def test_a_declared_default_stands_where_no_config_is_called_c1(tmp_path):
    for number in (1, 2):
        add_result(tmp_path, f"LightGBM_r{number}_default_BAG_L1")
    found = inferred(tmp_path)
    row = rows(found, replace(GBM, config_default="LightGBM_r2_default_BAG_L1"))["config_default"]
    assert (said(row), row.fails) == (("?", "context"), False)
    row = rows(found, replace(GBM, config_default=None))["config_default"]
    assert (*said(row), row.inferred, row.correction) == ("not declared", "error", None, None)


def test_a_single_config_may_leave_its_default_undeclared(genuine):
    row = rows(genuine["RandomForest"], FOREST)["config_default"]
    assert (*said(row), row.fails) == ("not declared", "context", False)
    assert row.inferred == "RandomForest_c1_default_BAG_L1"
    wrong = rows(genuine["RandomForest"], replace(FOREST, config_default="RandomForest_c1_BAG_L1"))["config_default"]
    assert (*said(wrong), wrong.fails) == ("NO", "error", True)


def test_the_default_is_compared_by_the_name_it_has_once_processed(tmp_path):
    for number in (1, 2):
        add_result(tmp_path, f"TA-Net_c{number}_default_BAG_L1")
    renamed = replace(GBM, method="Net", name_suffix="_x", config_default="Net_x_c1_default_BAG_L1")
    compared = rows(inferred(tmp_path), renamed)
    assert said(compared["config_default"]) == ("yes", "error")
    assert (*said(compared["method"]), compared["method"].fails) == ("NO", "warn", False)
    assert compared["method"].reason == "the runner's name with its TA-"
    raw = replace(renamed, config_default="TA-Net_c1_default_BAG_L1")
    assert rows(inferred(tmp_path), raw)["config_default"].fails


# Defect 15 of the peer: KNeighbors is declared as KNN, and its class has come to report TA-KNN.
def test_a_key_that_got_the_runners_prefix_only_warns():
    knn = MethodMetadata.config(method="KNeighbors", suite="a-run", ag_key="KNN", can_hpo=False)
    compared = rows(inferred(PROTOCOLS / "knn"), knn)
    assert (*said(compared["ag_key"]), compared["ag_key"].fails) == ("NO", "warn", False)
    assert said(compared["model_key"]) == ("NO", "context")
    assert said(compared["is_bag"]) == ("yes", "error")
    assert rows(inferred(PROTOCOLS / "knn"), replace(knn, ag_key="XT"))["ag_key"].fails


def test_results_of_several_models_match_no_key(tmp_path):
    add_result(tmp_path, CONFIG)
    add_result(tmp_path, "LightGBM_r1_default_BAG_L1", change=with_method(model_type="XGB"))
    row = rows(inferred(tmp_path), GBM)["ag_key"]
    assert (row.inferred, row.fails, row.correction) == ("GBM and XGB", True, None)


# Defect 2 of the peer: it takes every system for one that ran without a GPU, and fails those declared otherwise.
def test_a_systems_gpu_is_proved_by_its_memory_or_left_to_the_declaration(tmp_path):
    gpu = replace(DEMO, compute="gpu")
    allocated = with_memory(gpu_tracking_enabled=True, peak_mem_gpu=10_000)
    add_result(tmp_path / "used", SYSTEM, source=RAW / SYSTEM, change=allocated)
    assert said(rows(inferred(tmp_path / "used"), gpu)["compute"]) == ("yes", "error")
    assert rows(inferred(tmp_path / "used"), DEMO)["compute"].fails
    add_result(tmp_path / "seen", SYSTEM, source=RAW / SYSTEM, change=with_memory(gpu_tracking_enabled=True))
    assert said(rows(inferred(tmp_path / "seen"), gpu)["compute"]) == ("?", "context")
    against = rows(inferred(tmp_path / "seen"), DEMO)["compute"]
    assert (*said(against), against.fails, against.provided) == ("?", "warn", False, "cpu")
    add_result(tmp_path / "unseen", SYSTEM, source=RAW / SYSTEM)
    assert said(rows(inferred(tmp_path / "unseen"), DEMO)["compute"]) == ("?", "context")
    hint = rows(inferred(tmp_path / "unseen"), gpu)["compute"]
    assert (*said(hint), hint.fails) == ("?", "warn", False)
    doubt = hint.problem("m:x", "mend it")
    assert (doubt.code, str(doubt)) == (
        "metadata-doubtful",
        "m:x: compute: 'gpu' (not inferable: no num_gpus is recorded; torch saw no GPU in the one result)"
        "\n    fix: mend it",
    )


@pytest.mark.parametrize(
    ("memory", "severity", "told"),
    [
        (None, "warn", "neither num_gpus nor GPU memory is recorded"),
        ({}, "warn", "no num_gpus is recorded; torch saw no GPU in the one result"),
        ({"gpu_tracking_enabled": True}, "error", "torch saw a GPU in the one result and allocated nothing on it"),
    ],
    ids=["nothing known", "no GPU seen", "a GPU seen"],
)
def test_the_device_that_nobody_declared_is_no_silent_cpu(tmp_path, memory, severity, told):
    change = (lambda value: value.pop("memory_usage")) if memory is None else with_memory(**memory)
    add_result(tmp_path, SYSTEM, source=RAW / SYSTEM, change=change)
    found = inferred(tmp_path)
    row = rows(found, DEMO, compute_declared=False)["compute"]
    assert (row.inferred, row.provided, *said(row), row.fails) == (
        None, None, "not declared", severity, severity == "error"
    )  # fmt: skip
    problem = row.problem("m:x")
    assert (problem.code, problem.found, problem.fix) == (
        "not-declared",
        f"not declared (not inferable: {told}; cpu would be published)",
        "declare it as it was: the results do not tell",
    )
    accepted = rows(found, DEMO, compute_declared=False, accept=["compute"])["compute"]
    assert (accepted.fails, accepted.noted) == (False, True)
    assert not rows(found, DEMO)["compute"].noted or "saw a GPU" in told


def test_a_device_that_is_recorded_need_not_be_declared(genuine):
    assert said(rows(genuine["LightGBM"], GBM, compute_declared=False)["compute"]) == ("yes", "error")


# Defect 17 of the peer: the outer fits of a model keep no predictions, and count as a baseline.
def test_outer_fits_say_why_they_are_no_configs():
    found = inferred(PROTOCOLS / "outer")
    row = rows(found, replace(GBM, can_hpo=False, config_default=None))["method_type"]
    assert told(row) == (
        "m:x: method_type: 'config' (outer fits keep no predictions: declare a baseline, or run it with validation), "
        "expected 'baseline'"
    )


# Defect 18 of the peer: its method row warns for every system, whose configs lose their suffix.
def test_a_systems_config_suffix_is_no_difference(genuine):
    assert said(rows(genuine["DemoLogisticSystem"], DEMO)["method"]) == ("yes", "warn")
    renamed = rows(genuine["DemoLogisticSystem"], replace(DEMO, method="Demo"))["method"]
    assert (*said(renamed), renamed.fails) == ("NO", "warn", False)


def test_a_method_is_not_its_own_suite(genuine):
    for options in ({}, {"accept": ["suite"]}, {"accept_all": True}):
        row = rows(genuine["LightGBM"], replace(GBM, suite="LightGBM"), **options)["suite"]
        assert (*said(row), row.fails) == ("NO", "error", True)
    assert told(row) == "m:x: suite: 'LightGBM' (the suite is the method's name, as when it is not set)"
    assert "suite" not in rows(genuine["LightGBM"], GBM)


def protocol_row(root, declared):
    return rows(inferred(root), replace(GBM, can_hpo=False, validation_protocol=declared))["validation_protocol"]


def test_a_recorded_protocol_must_be_declared(tmp_path):
    add_result(tmp_path, CONFIG, change=recorded("8x1"))
    undeclared = protocol_row(tmp_path, None)
    assert (*said(undeclared), undeclared.fails) == ("not declared", "error", True)
    assert (undeclared.reason, undeclared.correction) == ("the results record it", "validation_protocol=8x1")
    assert said(protocol_row(tmp_path, "8x1")) == ("yes", "error")
    assert protocol_row(tmp_path, "5x5").fails
    assert protocol_row(tmp_path, BEYONDARENA_KEY).fails


def test_a_recorded_protocol_that_cannot_be_declared_is_a_warning(tmp_path):
    add_result(tmp_path, CONFIG, change=recorded("8x1"))
    metadata = replace(GBM, can_hpo=False, validation_protocol=None)
    row = next(row for row in compare(inferred(tmp_path), metadata, protocol_declarable=False) if row.inferred == "8x1")
    assert (*said(row), row.fails) == ("not declared", "warn", False)
    assert row.reason == "the results record it; the class it is declared with has no such field"


def test_a_record_that_the_children_contradict_cannot_be_declared(tmp_path):
    add_result(tmp_path, CONFIG, change=recorded("5x5"))
    assert protocol_row(tmp_path, "5x5").fails
    dispute = "1 of 1 results record another protocol than they show: 1 record 5x5 and show 8x1"
    row = protocol_row(tmp_path, "8x1")
    assert (*said(row), row.reason) == ("yes", "error", dispute)
    undeclared = protocol_row(tmp_path, None)
    assert (*said(undeclared), undeclared.fails, undeclared.reason) == ("not declared", "error", True, dispute)
    metadata = replace(GBM, can_hpo=False, validation_protocol=None)
    row = next(row for row in compare(inferred(tmp_path), metadata, protocol_declarable=False) if row.inferred == "8x1")
    assert (row.fails, row.reason) == (False, f"{dispute}; the class it is declared with has no such field")


def test_what_disputed_results_record_and_show_is_counted(tmp_path):
    for split, key in enumerate(["8x1", "holdout:0.2", "4x2", "4x2"]):
        add_result(tmp_path, CONFIG, split=split, change=recorded(key))
    add_result(tmp_path, CONFIG, task="regression", change=recorded("outer"))
    shown = inferred(tmp_path).protocols
    assert (shown.key, shown.results, shown.disputed) == ("8x1", 5, 4)
    (problem,) = disputed(shown, "LightGBM")
    assert str(problem) == (
        "LightGBM: 4 of 5 results record another protocol than they show: 2 record 4x2 and show 8x1, "
        "1 record holdout:0.2 and show 8x1, 1 record outer and show 8x1, expected a record that the results bear out\n"
        "    fix: what they show counts; ask what wrote the record before they are called official results"
    )


def test_an_unrecorded_protocol_may_stay_undeclared_but_not_be_contradicted(tmp_path):
    add_result(tmp_path, CONFIG)
    undeclared = protocol_row(tmp_path, None)
    assert (*said(undeclared), undeclared.fails, undeclared.inferred) == ("not declared", "warn", False, "8x1")
    assert undeclared.reason == "not recorded, but this is what the results show"
    assert said(protocol_row(tmp_path, "8x1")) == ("yes", "error")
    assert protocol_row(tmp_path, "holdout:0.2").fails


def test_results_that_say_nothing_contradict_nothing(tmp_path):
    add_result(tmp_path, SYSTEM, source=RAW / SYSTEM, change=lambda value: value.pop("experiment_metadata"))
    for declared in (None, "system", "8x1"):
        row = rows(inferred(tmp_path), replace(DEMO, validation_protocol=declared))["validation_protocol"]
        assert (*said(row), row.reason) == ("?", "context", "the results do not say")


@pytest.mark.parametrize("record", [False, True])
def test_mixed_protocols_match_nothing(tmp_path, record):
    add_result(tmp_path, CONFIG, change=recorded("8x1") if record else None)
    add_result(
        tmp_path,
        "LightGBM_c1_BAG_L1",
        source=PROTOCOLS / "beyond" / "data" / "LightGBM_c1_BAG_L1",
        change=recorded(BEYONDARENA_KEY) if record else None,
    )
    row = protocol_row(tmp_path, None)
    assert set(row.inferred.split("; ")) == {"1 x 8x1", f"1 x {BEYONDARENA_KEY}"}
    assert (row.match, row.fails, row.correction) == ("not declared", record, None)
    for declared in ("8x1", BEYONDARENA_KEY):
        assert protocol_row(tmp_path, declared).fails


@pytest.mark.parametrize(
    ("run", "key"),
    [("holdout", "holdout:0.2"), ("outer", "outer"), ("knn", "8x1"), ("beyond", BEYONDARENA_KEY)],
)
def test_protocols_of_genuine_runs_may_be_declared(run, key):
    assert said(protocol_row(PROTOCOLS / run, key)) == ("yes", "error")


OTHER_SPELLING = "8x1|<=500:5x5|groups:logo|time:holdout"


def test_a_record_in_a_spelling_that_is_not_known_is_declared_as_it_is(tmp_path):
    source = PROTOCOLS / "beyond" / "data" / "LightGBM_c1_BAG_L1"
    add_result(tmp_path, "LightGBM_c1_BAG_L1", source=source, change=recorded(OTHER_SPELLING))
    row = protocol_row(tmp_path, OTHER_SPELLING)
    assert (*said(row), row.reason) == ("yes", "error", "recorded")
    assert protocol_row(tmp_path, None).correction == f"validation_protocol={OTHER_SPELLING}"
    assert protocol_row(tmp_path, BEYONDARENA_KEY).fails
    shown = inferred(tmp_path).protocols
    assert [list(unofficial(shown, arena, "x")) == [] for arena in ("beyondarena", "tabarena")] == [True, False]


def test_a_key_that_is_not_known_is_doubtful_where_nothing_is_recorded(tmp_path):
    add_result(tmp_path, CONFIG)
    row = protocol_row(tmp_path, OTHER_SPELLING)
    assert (*said(row), row.fails) == ("?", "warn", False)
    assert row.reason == "a key of no form that is known here, and the results record none"


def test_a_key_that_is_not_known_is_doubtful_where_other_results_do_not_record_it(tmp_path):
    add_result(tmp_path, CONFIG, change=recorded(OTHER_SPELLING))
    add_result(tmp_path, CONFIG, split=1)
    row = protocol_row(tmp_path, OTHER_SPELLING)
    assert (*said(row), row.fails) == ("?", "warn", False)
    assert row.reason == "a key of no form that is known here, and not all results record it"
    undeclared = protocol_row(tmp_path, None)
    assert (*said(undeclared), undeclared.fails, undeclared.correction) == ("not declared", "error", True, None)
    assert protocol_row(tmp_path, "8x1").fails


def test_a_record_of_no_known_form_is_of_no_arena_whose_rule_the_children_break(tmp_path):
    add_result(tmp_path, CONFIG, change=recorded(OTHER_SPELLING))
    shown = inferred(tmp_path).protocols
    for arena in ("beyondarena", "tabarena"):
        (problem,) = unofficial(shown, arena, "x")
        assert problem.found.endswith(f"(1 of {OTHER_SPELLING})")


@pytest.mark.parametrize(
    ("run", "arenas"),
    [
        (RAW, {"tabarena"}),
        (PROTOCOLS / "knn", {"tabarena", "beyondarena"}),
        (PROTOCOLS / "beyond", {"beyondarena"}),
        (PROTOCOLS / "autogluon", {"tabarena", "beyondarena"}),
        (PROTOCOLS / "holdout", set()),
        (PROTOCOLS / "outer", set()),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)
def test_official_protocols(run, arenas):
    method = list(read_methods(find_results(run).files).values())[-1]
    shown = infer(method).protocols
    assert {arena for arena in ("tabarena", "beyondarena") if not list(unofficial(shown, arena, "x"))} == arenas


def test_an_expectation_is_no_matter_of_acceptance():
    (method,) = read_methods(find_results(PROTOCOLS / "holdout").files).values()
    inspection = inspect(method, replace(GBM, can_hpo=False), accept_all=True, expected="tabarena")
    assert inspection.refused
    (problem,) = inspection.unofficial
    assert str(problem) == (
        "LightGBM: 3 of 3 results are not shown to be validated as tabarena does (3 of holdout:0.2), expected 8x1\n"
        "    fix: these results cannot be uploaded as official ones; run the method under the arena's protocol"
    )


def test_corrections_are_what_the_editing_command_takes(genuine):
    wrong = replace(GBM, suite="LightGBM", compute="gpu", can_hpo=False, method_type="config", is_bag=False)
    assert [row.correction for row in compare(genuine["LightGBM"], wrong) if row.fails] == [
        None,
        "compute=cpu",
        "can_hpo=true",
        "is_bag=true",
    ]


def test_unknown_fields_cannot_be_accepted():
    check_accepted(FIELDS)
    with pytest.raises(Failure) as caught:
        check_accepted(["can_hpo", "config_defaults", "suite", "method_type"])
    assert caught.value.exit == Exit.USAGE
    unknown, never, not_taken = caught.value.problems
    assert not_taken.found == "'method_type' is not compared, or cannot be accepted"
    assert str(unknown) == (
        "--accept-mismatch: 'config_defaults' is not compared, or cannot be accepted\n"
        "    fix: did you mean 'config_default'?"
    )
    assert never.found == "'suite' is not compared, or cannot be accepted"
