"""Trajectories: subsets drawn as the public pipeline draws them, with its outcomes."""

import numpy as np
import pandas as pd
import pytest
from artifact_samples import build, copied, files_of, metadata_of
from processing_samples import DATASETS, METHODS, pass_orders

from benchwright.processing import build_artifact
from benchwright.processing.trajectories import Pass, TrajectoryPlan, orders, passes

BREAST, DIABETES, WINE = DATASETS
CONFIGS = [f"LightGBM_{number}_default_BAG_L1" for number in ("c1", "r1", "r2", "r3", "r4", "r5")]
C1, R1 = CONFIGS[:2]


@pytest.mark.parametrize(("count", "number"), [(201, 142), (6, 42), (3, 22), (2, 2), (1, 1), (150, 122)])
def test_how_many_passes_there_are(count, number):
    assert len(passes(count)) == number
    assert len(set(passes(count))) == number


def test_where_a_seed_makes_no_difference_there_is_one():
    assert [each for each in passes(6) if each.n_configs in (1, 6)] == [Pass(1, 0), Pass(6, 0)]
    assert [each.seed for each in passes(6) if each.n_configs == 5] == list(range(20))


@pytest.mark.parametrize("count", [1, 2, 6, 201])
def test_the_default_comes_first_and_the_rest_as_numpy_permutes_it(count):
    expected = pass_orders(count)
    assert [(each.n_configs, each.seed) for each in passes(count)] == list(expected)
    for order, theirs in zip(orders(count, 0), expected.values(), strict=True):
        assert order.tolist() == theirs.tolist()


def test_a_default_in_the_middle():
    for each, order in zip(passes(5), orders(5, 3), strict=True):
        rest = np.random.default_rng(each.seed).permuted([0, 1, 2, 4])
        assert order.tolist() == [3, *rest.tolist()][: each.n_configs]


def test_which_config_is_the_default():
    plan = TrajectoryPlan(tuple(CONFIGS), metadata_of("LightGBM"))
    assert plan.default("LightGBM") == 0
    assert TrajectoryPlan(tuple(CONFIGS), metadata_of("LightGBM", config_default=R1)).default("LightGBM") == 1
    assert TrajectoryPlan(tuple(CONFIGS), metadata_of("LightGBM", config_default="other")).default("LightGBM") is None
    assert TrajectoryPlan((C1,), metadata_of("LightGBM", config_default=None)).default("LightGBM") == 0


def frame_of(folder):
    return pd.read_parquet(folder / "results" / "hpo_trajectories.parquet")


def test_a_split_without_the_default_has_fewer_passes(tmp_path):
    """Configs are passed over where they have no result; without any, there is no row to impute from."""
    files = [
        file for file in files_of("LightGBM") if not (file.method == C1 and file.task_key == WINE and file.fold == 1)
    ]
    built = build_artifact(files, metadata_of("LightGBM"), cache_root=tmp_path, jobs=1)
    ours, whole = frame_of(built.folder), frame_of(METHODS / "LightGBM")
    there = (ours["dataset"] == WINE) & (ours["fold"] == 1)
    assert set(ours[there]["n_configs"]) == {2, 5, 6}
    assert len(whole) - len(ours) == 1
    elsewhere = (whole["dataset"] != WINE) | (whole["fold"] != 1)
    pd.testing.assert_frame_equal(
        ours[~there].reset_index(drop=True), whole[elsewhere].reset_index(drop=True), rtol=0, atol=1e-9
    )
    lone = ours[there & (ours["n_configs"] == 2)]
    results = pd.read_parquet(built.folder / "results" / "model_results.parquet").set_index(["dataset", "fold"])
    times = results.loc[(WINE, 1)]["time_train_s"].tolist()
    assert all(time in times for time in lone["time_train_s"])
    assert [finding.code for finding in built.findings] == ["configs-missing", "imputation-needed"]


def test_a_config_without_any_usable_result_is_none_of_the_methods(tmp_path):
    """How subsets are drawn depends on the number of configs, and so must not count what cannot be read."""
    source = copied(tmp_path / "run", *CONFIGS)
    for file in (source / R1).rglob("results.pkl"):
        file.write_bytes(b"")
    built = build("LightGBM", tmp_path / "cache", source=source)
    for folder in (source / R1).iterdir():
        folder.rename(source / f"gone-{folder.name}")
    (source / R1).rmdir()
    fresh = build("LightGBM", tmp_path / "fresh", source=source)
    assert frame_of(built.folder)["n_configs"].max() == 5
    pd.testing.assert_frame_equal(frame_of(built.folder), frame_of(fresh.folder), rtol=0, atol=0)
    assert [finding.code for finding in built.findings] == ["empty-file"] * 9
