"""The Hub's stand-in, and nothing of whoever runs the tests."""

from __future__ import annotations

import os

import pytest

from hub_standin import HubStandIn
from object_servers import stopped_at_end


@pytest.fixture(scope="session")
def hub_server():
    with stopped_at_end(HubStandIn()) as server:
        yield server


@pytest.fixture
def hub(hub_server):
    hub_server.empty()
    yield hub_server
    hub_server.empty()


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """No setting but the test's own; ``tmp_path`` is the current folder and the home."""
    for name in list(os.environ):
        if name.startswith(("SUPABASE_", "BENCHWRIGHT_", "HF_", "XDG_", "SLURM_")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.chdir(tmp_path)
    return monkeypatch
