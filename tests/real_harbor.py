"""Real Harbor, in the environment that ``make setup-dev`` installs it in, on tasks that take no time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
HARBOR = ROOT / ".venv" / "harbor" / "bin" / "harbor"
_TASK = """version = "1.0"
[verifier]
timeout_sec = 120.0
[agent]
timeout_sec = {seconds}
[environment]
cpus = 1
memory_mb = 64
"""
_REWARD = 'if [ -e "$SANDBOX/app/answer" ]; then echo 1; else echo 0; fi > "$SANDBOX/logs/verifier/reward.txt"\n'
_ANSWER = 'touch "$SANDBOX/app/answer"\n'
TASKS: dict[str, tuple[str, str, float]] = {
    "right": (_ANSWER, _REWARD, 120.0),
    "wrong": ("true\n", _REWARD, 120.0),
    "late": (f"{_ANSWER}sleep 300\n", _REWARD, 2.0),
    "shaky": (_ANSWER, f'[ -e "$BENCH_STATE/mended" ] || exit 1\n{_REWARD}', 120.0),
}
"""Name: what the agent does, what the verifier does, and the seconds that the agent has.

``late`` runs out of time and is scored all the same. ``shaky`` gets no reward as long as nobody has mended it.
"""


class Bench:
    """Tasks in a folder, and jobs on them in another."""

    def __init__(self, root: Path, tasks: Path | None = None) -> None:
        if not HARBOR.exists():
            pytest.fail(f"{HARBOR} is not there; install it with: make setup-dev")
        self.root = root
        self.state = root / "state"
        self.state.mkdir(parents=True)
        self.tasks = tasks or root / "tasks"
        if tasks is None:
            for name, (solve, verify, seconds) in TASKS.items():
                _task(self.tasks / name, solve, verify, seconds)

    def copied_to(self, root: Path) -> Bench:
        """A bench of the same tasks, for jobs elsewhere; what is mended on one is not on the other."""
        return Bench(root, self.tasks)

    def mend(self) -> None:
        """Let what had no reward get one."""
        (self.state / "mended").touch()

    def run(self, name: str = "job", attempts: int = 2, **config: Any) -> Path:
        """Run a job; its folder."""
        settings = {
            "jobs_dir": str(self.root / "jobs"),
            "job_name": name,
            "n_attempts": attempts,
            "n_concurrent_trials": 8,
            "quiet": True,
            "agents": [{"name": "oracle"}],
            "environment": {"import_path": "harbor_sandbox:FolderSandbox"},
            "datasets": [{"path": str(self.tasks)}],
        }
        file = self.root / f"{name}.json"
        file.write_text(json.dumps(settings | config))
        self.harbor("run", "--config", file, "--yes")
        return self.root / "jobs" / name

    def harbor(self, *words: str | Path) -> str:
        """What ``harbor WORDS`` prints."""
        done = subprocess.run(
            [HARBOR, *words], cwd=self.root, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        """The variables that Harbor runs with: the tasks' state, the sandbox's module, and Harbor on the path."""
        path = f"{HARBOR.parent}{os.pathsep}{os.environ['PATH']}"
        own = {
            "PYTHONPATH": str(ROOT / "tests"),
            "BENCH_STATE": str(self.state),
            "HARBOR_TELEMETRY": "off",
            "HOME": str(self.root),
            "PATH": path,
        }
        return {**os.environ, **own}


def _task(folder: Path, solve: str, verify: str, seconds: float) -> None:
    files = {
        "task.toml": _TASK.format(seconds=seconds),
        "instruction.md": "Leave an answer.\n",
        "environment/Dockerfile": "FROM scratch\n",
        "solution/solve.sh": f"#!/bin/bash\n{solve}",
        "tests/test.sh": f"#!/bin/bash\n{verify}",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
