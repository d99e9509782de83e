"""Result files are a method's by its exact name, and its metadata says what was run."""

from pathlib import Path

import pytest

from benchwright.leaderboard.run_methods import EvalMethod, RunMethod, experiment_owner
from benchwright.raw import RawFile


def raw_file(experiment: str) -> RawFile:
    return RawFile(f"data/{experiment}/task", experiment, "task", 0, 0, 1, 1, 1)


def run_method(ag_name: str, suffix: str | None = None) -> RunMethod:
    return RunMethod(EvalMethod(ag_name, result_suffix=suffix), ag_name, None, None, ag_name, "suite")


@pytest.mark.parametrize(
    ("experiment", "owner"),
    [
        ("LightGBM_c1_default_BAG_L1", "LightGBM"),
        ("LightGBM_r31_default_BAG_L1", "LightGBM"),
        ("TA-TabICLv2_c1_BAG_L1", "TA-TabICLv2"),
        ("TA-RealTabPFN-v2.5_c1_default_HOLDOUT", "TA-RealTabPFN-v2.5"),
        ("NN_TORCH_c1", "NN_TORCH"),
        ("AutoGluon_demo", "AutoGluon_demo"),
        ("AutoGluon_v2_core", "AutoGluon_v2_core"),
    ],
)
def test_the_owner_of_an_experiment(experiment, owner):
    assert experiment_owner(experiment) == owner


def test_a_method_does_not_take_what_begins_like_it():
    files = [raw_file(f"{name}_c1_default_BAG_L1") for name in ("TA-TabICL", "TA-TabICLv2", "TA-TabDPT-Turbo")]

    assert run_method("TA-TabICL").own(files) == files[:1]
    assert run_method("TA-TabDPT").own(files) == []


def test_a_name_without_a_config_number_is_taken_whole():
    files = [raw_file("AutoGluon_demo"), raw_file("AutoGluon_demo_c1")]

    assert run_method("AutoGluon_demo").own(files) == files
    assert run_method("AutoGluon").own(files) == []


def test_the_artifact_folder_carries_the_suffix():
    folder = run_method("XGBoost", " [Rerun]").artifact_folder(Path("/out"))

    assert folder == Path("/out/artifacts/suite/methods/XGBoost [Rerun]")
