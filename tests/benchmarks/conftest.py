"""The modules of the benchmarks' folder, which is no package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def modules(request, monkeypatch):
    """Those that the test names in ``MODULES``, as the folder's command imports them, and forgotten afterwards."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "benchmarks")
    yield {name: __import__(name) for name in request.module.MODULES}
    for name in request.module.MODULES:
        sys.modules.pop(name)
