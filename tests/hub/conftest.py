"""An emulated Hub for each test, who reads it, who opens pull requests on it and who sweeps them."""

from __future__ import annotations

import pytest
from opening_runs import Run, add_model, spec_of
from ported_pulls import OWNER, PORTER, SWEEP, B, Ported
from source_site import serving

from benchwright.hub.boards import Boards
from benchwright.hub.client import Hub, HubPatience
from benchwright.rehearsal.hub.sample import card, eval_file, results_file
from hub_emulators import emulated_hub
from scripts_in_process import Script, load

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


@pytest.fixture
def ported(emulator, logic, tmp_path):
    """A registry with pull requests; the benchmarks are ``logic`` and ``cliquest-2``, the models' owner is known."""
    emulator.add_dataset("bench-org/cliquest-2", {"eval.yaml": eval_file("CLIQuest 2.0", "quest")}, official=True)
    emulator.add_organisation("nova-ai", {OWNER: "admin"})
    emulator.add_user(PORTER)
    return Ported(emulator, tmp_path)


@pytest.fixture
def nova(emulator):
    """A model of 27 thousand millions of parameters."""
    return emulator.add_model("nova-ai/nova-27b", {"README.md": card("Nova")}, parameters={"BF16": 27 * B})


@pytest.fixture
def sweeper(emulator, ported, capsys, monkeypatch):
    """``sweep_eval_prs.py``, with a token of who opened the pull requests, and soon tired of asking."""
    monkeypatch.setenv("HF_TOKEN", emulator.token(PORTER))
    monkeypatch.setattr(HubPatience.__init__, "__defaults__", (2, 0.01, 0.05, 5.0))
    return Script(load(SWEEP), capsys, ("--registry", ported.path))


@pytest.fixture
def written(emulator):
    """What has been sent to the emulator since the last call that is no GET: method and path."""

    def since() -> list[str]:
        seen, emulator.seen[:] = [one.request for one in emulator.seen], []
        return [f"{one.method} {one.path}" for one in seen if one.method not in ("GET", "HEAD")]

    return since


@pytest.fixture
def registry(tmp_path):
    """The file of a registry, which is not there yet."""
    return tmp_path / "reports" / "registry.json"


@pytest.fixture
def new_run(open_hub, registry, monkeypatch):
    """Makes runs, each with a session of its own. The client waits for nothing."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    return lambda **more: Run(open_hub(**more), registry)


@pytest.fixture
def lab(emulator, logic, peers):
    """Makes so many models, each of a lab of its own, and returns what a spec says of them."""
    peers([80, 70, 60, 50, 40, 35])

    def make(count):
        with emulator.at_once():
            for number in range(count):
                add_model(emulator, f"lab-{number:02}/model", f"{60 + number / 4:.2f}")
        return {f"lab-{number:02}/model": f"{60 + number / 4:.2f}" for number in range(count)}

    return make


@pytest.fixture
def one(lab, tmp_path):
    """The spec of one model."""
    return spec_of(tmp_path, lab(1))


@pytest.fixture(scope="module")
def served():
    """A site with sources of results."""
    with serving() as site:
        yield site


@pytest.fixture
def site(served):
    """The same, with no page yet."""
    served.answers.clear()
    served.seen.clear()
    return served
