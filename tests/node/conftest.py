"""The fixture of the node's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from node_run import Run


@pytest.fixture
def run(tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.delenv("TABARENA_MODEL_ARTIFACTS_BASE_PATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    run = Run(tmp_path)
    monkeypatch.setenv("TEST_JOURNAL", str(run.journal))
    return run
