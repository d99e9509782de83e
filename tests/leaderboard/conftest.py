"""The golden data as frames."""

import pandas as pd
import pyarrow as pa
import pytest
from leaderboard_data import GOLDEN, local_arena
from leaderboard_runs import Workspace, evaluate, workspace

from benchwright.arena import ArenaSpec
from benchwright.leaderboard import EvalMethod, Evaluation
from benchwright.leaderboard.frame import results_frame


@pytest.fixture(scope="session")
def golden_results() -> pd.DataFrame:
    return pd.read_csv(GOLDEN / "results.csv")


@pytest.fixture(scope="session")
def published_input() -> pd.DataFrame:
    """Four methods' published tables, eight variants, with holes in three of them."""
    table = pa.Table.from_pandas(pd.read_csv(GOLDEN / "reporter" / "input.csv"))
    return results_frame([table], where="input.csv")


@pytest.fixture(scope="session")
def arena() -> ArenaSpec:
    return local_arena()


@pytest.fixture(scope="session")
def booster(tmp_path_factory) -> Workspace:
    """A run of LightGBM, its genuine results."""
    return workspace(tmp_path_factory.mktemp("booster"), "LightGBM_")


@pytest.fixture(scope="session")
def evaluation(booster) -> Evaluation:
    return evaluate(booster, EvalMethod("LightGBM"))
