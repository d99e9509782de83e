"""An emulated Hub for each test, and who reads it."""

from __future__ import annotations

import pytest

from benchwright.hub.boards import Boards
from benchwright.hub.client import Hub, HubPatience
from benchwright.rehearsal.hub.sample import card, eval_file, results_file
from hub_emulators import emulated_hub

SOON = HubPatience(attempts=3, first_wait=0.01, longest_wait=0.05, timeout=5)


@pytest.fixture
def emulator(tmp_path, monkeypatch):
    """The emulator, which keeps all in memory."""
    monkeypatch.setattr("benchwright.rehearsal.hub.state.write_bytes", lambda path, content: None)
    with emulated_hub(tmp_path, monkeypatch) as hub:
        yield hub


@pytest.fixture
def open_hub(emulator):
    """Opens the Hub for somebody who has no rights in any organisation, or with the token given."""
    token = emulator.token("porter")
    return lambda token=token, **more: Hub(emulator.url, token, more.pop("patience", SOON), **more)


@pytest.fixture
def hub(open_hub):
    return open_hub()


@pytest.fixture
def boards(hub):
    return Boards(hub)


@pytest.fixture
def asked(emulator):
    """The paths that were asked for since the last call, all of them read."""

    def since() -> list[str]:
        seen, emulator.seen[:] = [one.request for one in emulator.seen], []
        assert {request.method for request in seen} <= {"GET"}
        return [request.target for request in seen]

    return since


@pytest.fixture
def logic(emulator):
    """A benchmark with the tasks ``logic`` and ``hard``, of which in the latter less is better."""
    files = {"eval.yaml": eval_file("Logic-1k", "logic", "hard")}
    return emulator.add_dataset("bench-org/logic-1k", files, official=True, lower=["hard"])


@pytest.fixture
def result():
    """A file with a result of that benchmark."""
    return lambda value, task="logic", **more: results_file("bench-org/logic-1k", task, value, **more)


@pytest.fixture
def peers(emulator, result):
    """Adds a model for each value, of so many thousand millions of parameters, built on ``base``."""

    def add(values, task="logic", *, size=7, base=None, lab="peer-lab"):
        with emulator.at_once():
            for number, value in enumerate(values):
                files = {".eval_results/logic.yaml": result(value, task)}
                if base:
                    files["README.md"] = card("Peer", base_model=base)
                emulator.add_model(f"{lab}/peer-{number:03}", files, parameters={"BF16": int(size * 1e9)})

    return add
