"""An emulator for each test, and the real client of it."""

from __future__ import annotations

import httpx
import pytest
from huggingface_hub import HfApi

from benchwright.rehearsal.hub.sample import eval_file, results_file
from hub_emulators import emulated_hub


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The emulator, which keeps its state in files."""
    with emulated_hub(tmp_path, monkeypatch) as hub:
        yield hub


@pytest.fixture
def client(hub):
    """A client with the token given, or without one."""
    return lambda token=False: HfApi(endpoint=hub.url, token=token)


@pytest.fixture
def api(hub, client):
    """The client of somebody who has no rights in any organisation."""
    return client(hub.token("porter"))


@pytest.fixture
def owner(hub, client):
    """The client of somebody who may write to ``nova-ai``."""
    hub.add_organisation("nova-ai", {"keeper": "admin"})
    return client(hub.token("keeper"))


@pytest.fixture(scope="session")
def plain():
    with httpx.Client(trust_env=False) as plain:
        yield plain


@pytest.fixture
def ask(hub, plain):
    """A plain request."""

    def send(path, method="GET", token=None, **more):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return plain.request(method, hub.url + path, headers=headers | more.pop("headers", {}), **more)

    return send


@pytest.fixture
def logic(hub):
    """A benchmark with two tasks, ``logic`` and ``hard``."""
    return hub.add_dataset("bench-org/logic-1k", {"eval.yaml": eval_file("Logic-1k", "logic", "hard")}, official=True)


@pytest.fixture
def result():
    """A file with a result of that benchmark."""
    return lambda value, task="logic", **more: results_file("bench-org/logic-1k", task, value, **more)
