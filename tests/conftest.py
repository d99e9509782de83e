"""What every test relies on: the whole environment. Without it the run stops with the command that makes it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

COMPONENTS = (
    "tabarena", "autogluon.tabular", "lightgbm", "xgboost", "catboost", "bencheval", "numba", "pandas", "ConfigSpace"
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    missing = [name for name in COMPONENTS if find_spec(name.partition(".")[0]) is None]
    if missing:
        pytest.exit(f"not installed: {', '.join(missing)}; run: make setup-dev", returncode=3)
