"""The exercise of the skill's rehearsal page, as it is written there, from the search to a sweep after newcomers."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.rehearsal.hub import HubEmulator
from benchwright.rehearsal.hub.sample import OWNER, PORTER, add_newcomers, fill

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / ".agents" / "skills" / "port-evals-to-hub" / "references" / "rehearsal.md"
BLOCKS = re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(), re.M | re.S)
SPEC = "workspace/practice.rows-1-15.spec.json"


class Terminal:
    """A folder with a space in its name, and the environment that the emulator asks for."""

    def __init__(self, folder: Path, hub: HubEmulator) -> None:
        self.folder, self.hub = folder, hub
        (folder / "workspace").mkdir(parents=True)

    def token(self, user):
        tokens = self.hub.state.accounts.tokens.items()
        return next(token for token, (name, rights) in tokens if name == user and rights.role == "write")

    def run(self, line, user=PORTER):
        """The exit code and the output of a line of the page."""
        program, *words = shlex.split(line)
        program = sys.executable if program == ".venv/bin/python" else str(Path(sys.executable).with_name("hf"))
        words = [str(ROOT / word) if word.startswith((".agents/", "src/")) else word for word in words]
        own = {"HF_ENDPOINT": self.hub.url, "HF_HOME": str(self.folder / "client"), "HF_TOKEN": self.token(user)}
        own |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
        done = subprocess.run(
            [program, *words], cwd=self.folder, env=os.environ | own, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def terminal(tmp_path):
    with HubEmulator(tmp_path / "state") as hub:
        fill(hub)
        yield Terminal(tmp_path / "a checkout", hub)


def judged(path: Path) -> None:
    """What a person makes of the draft."""
    spec = json.loads(path.read_text())
    out = {"nova-ai/nova-mystery", "guarded-lab/guarded-7b"}
    spec["repos"] = [repo for repo in spec["repos"] if repo["repo"] not in out]
    for result in (one for repo in spec["repos"] for one in repo["results"]):
        if result["value_text"] == "9.36":
            result |= {"notes": "no tools", "answers": {"tools": "the sentence has the score with tools apart"}}
        if result["value_text"] == "44.9":
            result |= {"value_text": "44.90", "unit_checked": True}
    path.write_text(json.dumps(spec))


def test_the_exercise_goes_as_the_page_says(terminal):
    find, draft, check, dry, apply, sweep = BLOCKS[1].splitlines()
    comment, close = BLOCKS[2].splitlines()
    sweep_and_apply = BLOCKS[3].splitlines()[1]
    code, said = terminal.run(find)
    assert (code, "8 candidates to be seen" in said) == (0, True), said
    code, said = terminal.run(draft)
    assert (code, "8 results of 6 models to verify, 7 skipped" in said) == (0, True), said
    assert terminal.run(check)[0] == 3
    judged(terminal.folder / SPEC)
    code, said = terminal.run(check)
    assert (code, "open_eval_prs.py" in said) == (0, True), said
    before = len(terminal.hub.seen)
    code, said = terminal.run(dry)
    assert (code, "4 models: 4 to open" in said) == (0, True), said
    assert {one.request.method for one in terminal.hub.seen[before:]} <= {"GET", "HEAD"}
    code, said = terminal.run(apply)
    assert (code, "4 models: 4 opened" in said) == (0, True), said
    code, said = terminal.run(sweep)
    assert (code, "4 pull requests: 4 visible" in said) == (0, True), said
    for line in (comment, close):
        code, said = terminal.run(line, OWNER)
        assert code == 0, said
    add_newcomers(terminal.hub, 20)
    code, said = terminal.run(sweep)
    told = "4 pull requests: 1 closed_by_owner, 1 commented, 1 drifted, 1 invisible"
    assert (code, told in said) == (0, True), said
    code, said = terminal.run(sweep_and_apply)
    told = "4 pull requests: 1 closed, 1 closed_by_owner, 1 commented, 1 visible"
    assert (code, told in said) == (0, True), said
    add_newcomers(terminal.hub, 60)
    code, said = terminal.run(sweep)
    assert (code, "to do: drop CLIQuest 2.0 (38.75)" in said) == (0, True), said
    assert terminal.hub.unknown == []
