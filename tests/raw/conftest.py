"""Genuine results of the benchmark's own runner, and files made from them."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"
_BAGGED = "tabarena_raw/data/LightGBM_c1_default_BAG_L1/local_{}/0_0/results.pkl"
_OTHER = "tabarena_raw_protocols/{}/data/{}/local_wine-0ae0b9dbb2cc/0_0/results.pkl"
GENUINE = {
    "binary": _BAGGED.format("breast_cancer-498b8450f429"),
    "multiclass": _BAGGED.format("wine-0ae0b9dbb2cc"),
    "regression": _BAGGED.format("diabetes-a3d1e20e7ed9"),
    "system": "tabarena_raw/data/DemoLogisticSystem_c1_default/local_wine-0ae0b9dbb2cc/0_0/results.pkl",
    "holdout": _OTHER.format("holdout", "LightGBM_c1_default_HOLDOUT"),
    "knn": _OTHER.format("knn", "KNeighbors_c1_default_BAG_L1"),
    "beyond": _OTHER.format("beyond", "LightGBM_c1_BAG_L1"),
    "outer": _OTHER.format("outer", "LightGBM_c1_default"),
    "autogluon": _OTHER.format("autogluon", "AutoGluon_demo"),
}


@pytest.fixture(scope="session")
def genuine() -> Callable[[str], Path]:
    """The path of a genuine result by what is special about it."""
    return lambda name: DATA / GENUINE[name]


@pytest.fixture(scope="session")
def genuine_files() -> list[Path]:
    return sorted(DATA.glob("tabarena_raw*/**/results.pkl"))


@pytest.fixture
def content(genuine) -> Callable[[str], dict[str, Any]]:
    """The dict in a genuine result, to be changed and written again."""
    from benchwright.raw.safe_pickle import loads
    from raw_trees import plain

    return lambda name: plain(loads(gzip.decompress(genuine(name).read_bytes())))


@pytest.fixture
def written(tmp_path) -> Callable[..., Path]:
    """Write an object as a result file (gzip, as the runner does, unless told otherwise)."""

    def write(value: Any, *, compress: bool = True, protocol: int = 4, name: str = "results.pkl") -> Path:
        path = tmp_path / name
        data = value if isinstance(value, bytes) else pickle.dumps(value, protocol)
        path.write_bytes(gzip.compress(data) if compress else data)
        return path

    return write
