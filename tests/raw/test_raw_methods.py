"""The methods in a tree are told apart by exact names, and one is chosen without doubt or not at all."""

from __future__ import annotations

import pytest

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.raw import find_results, method_declared, method_named, read_declared, read_methods
from raw_trees import RAW, SYSTEM, add_result, with_method

ALIKE = ("TabICL", "TA-TabICL", "TabICLv2", "TabICL-Turbo", "TabICL_GPU")


@pytest.fixture
def alike(tmp_path):
    """The results of methods whose names begin alike."""
    for name in ALIKE:
        add_result(tmp_path, f"{name}_c1_default_BAG_L1")
    return find_results(tmp_path).files


def one_problem(call, *values, **options):
    with pytest.raises(Failure) as caught:
        call(*values, **options)
    (problem,) = caught.value.problems
    assert caught.value.exit == Exit.USAGE
    return problem


def test_genuine_methods():
    methods = read_methods(find_results(RAW).files)
    assert {name: len(method.results) for name, method in methods.items()} == {
        "DemoLogisticSystem": 9,
        "LightGBM": 54,
        "LinearModel": 27,
        "RandomForest": 9,
    }
    assert sorted(file for method in methods.values() for file in method.files) == find_results(RAW).files


def test_names_that_begin_alike_are_several_methods(alike):
    methods = read_methods(alike)
    assert list(methods) == sorted(ALIKE)
    assert all(len(method.results) == 1 for method in methods.values())


@pytest.mark.parametrize("name", ALIKE)
def test_one_method_by_its_exact_name(alike, name):
    methods = read_methods(alike, only=[name])
    assert list(methods) == [name]
    assert {result.framework for result in methods[name].results} == {f"{name}_c1_default_BAG_L1"}


def test_other_methods_are_not_even_read(alike, tmp_path):
    for path in tmp_path.glob("TabICLv2*/*/*/results.pkl"):
        path.write_bytes(b"damaged")
    assert not read_methods(alike, only=["TabICL"])["TabICL"].unusable
    assert read_methods(alike)["TabICLv2"].unusable


def test_a_recorded_prefix_wins_over_the_look_of_the_name(tmp_path):
    for config in ("Net_wide_BAG_L1", "Net_deep_BAG_L1", "Net_r1_BAG_L1"):
        add_result(tmp_path, config, change=with_method(name_prefix="Net"))
    methods = read_methods(find_results(tmp_path).files)
    assert {name: len(method.results) for name, method in methods.items()} == {"Net": 3}


def test_an_unusable_file_goes_with_its_config_or_by_its_folder(tmp_path):
    add_result(tmp_path, "Net_wide_BAG_L1", change=with_method(name_prefix="Net"))
    for config in ("Net_wide_BAG_L1", "Other_c1_BAG_L1"):
        add_result(tmp_path, config, split=1, change=with_method(name_prefix="Net")).write_bytes(b"")
    methods = read_methods(find_results(tmp_path).files)
    assert {name: (len(method.results), len(method.unusable)) for name, method in methods.items()} == {
        "Net": (1, 1),
        "Other": (0, 1),
    }


def test_a_name_without_results(alike):
    problem = one_problem(method_named, "TabICLv3", {}, alike)
    assert (problem.code, str(problem)) == (
        "unknown-method",
        "--method: no results of 'TabICLv3'\n    fix: did you mean 'TabICLv2' or 'TabICL' or 'TA-TabICL'?",
    )


def test_a_declared_method_is_found_by_its_name_first_then_behind_the_runners_prefix(alike):
    declared = MethodMetadata.config(method="TabICL", ag_key="TABICL")
    assert read_declared(alike, declared).name == "TabICL"
    assert method_declared(declared, read_methods(alike)).name == "TabICL"
    without = [file for file in alike if not file.method.startswith("TabICL_c1")]
    assert read_declared(without, declared).name == "TA-TabICL"
    assert method_declared(declared, read_methods(without)).name == "TA-TabICL"


def test_of_several_none_is_taken_for_its_key(tmp_path):
    add_result(tmp_path, "LightGBM_c1_default_BAG_L1")
    add_result(tmp_path, "Forest_c1_default_BAG_L1", change=with_method(model_type="RF"))
    files = find_results(tmp_path).files
    problem = one_problem(read_declared, files, MethodMetadata.config(method="RandomForest", ag_key="RF"))
    assert (problem.code, str(problem)) == (
        "ambiguous-method",
        "method 'RandomForest': the results of Forest, LightGBM, expected results named RandomForest_c1..., or a choice"
        "\n    fix: --method Forest, the only one of ag_key 'RF'",
    )


def test_a_method_that_is_alone_is_the_one(tmp_path):
    add_result(tmp_path, SYSTEM, source=RAW / SYSTEM)
    files = find_results(tmp_path).files
    assert read_declared(files, MethodMetadata.system(method="Renamed")).name == "DemoLogisticSystem"


@pytest.mark.parametrize("name", ["TabICLv2", "TA-TabICLv2", "TabICL-Turbo", "TabICL_GPU"])
def test_a_method_that_is_alone_is_not_one_whose_name_only_begins_like_its_own(tmp_path, name):
    add_result(tmp_path, f"{name}_c1_default_BAG_L1")
    files = find_results(tmp_path).files
    problem = one_problem(read_declared, files, MethodMetadata.config(method="TabICL", ag_key="GBM"))
    assert (problem.code, str(problem)) == (
        "ambiguous-method",
        f"method 'TabICL': the results of {name}, expected results named TabICL_c1..., or a choice"
        f"\n    fix: --method {name}, the only one of ag_key 'GBM'",
    )
    declared = MethodMetadata.config(method=f"{name}_GPU", ag_key="GBM")
    assert read_declared(files, declared).name == name


def test_no_method_is_chosen_in_doubt(alike):
    twin = one_problem(read_declared, alike, MethodMetadata.config(method="Tab", ag_key="GBM"))
    assert (twin.code, str(twin)) == (
        "ambiguous-method",
        "method 'Tab': the results of TA-TabICL, TabICL, TabICL-Turbo, TabICL_GPU, TabICLv2, "
        "expected results named Tab_c1..., or a choice\n    fix: --method NAME",
    )
    system = one_problem(read_declared, alike, MethodMetadata.system(method="Tab"))
    assert system.found == "the results of TA-TabICL, TabICL, TabICL-Turbo, TabICL_GPU, TabICLv2"
