"""Small job folders, written field by field."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from benchwright.harbor import Job, Taxonomy, figures, plan_of

DATA = Path(__file__).parents[1] / "data" / "harbor_jobs"
OLD = 1_760_000_000
"""A time long ago, so that a file counts as settled."""


def figures_of(job: Job) -> dict[str, Any]:
    """A job's figures under the default profile, with what its own files say of the plan."""
    return figures(job, Taxonomy.load().profile(), plan_of(job)).facts()


def states(job: Job) -> dict[str, str]:
    """The states of the trials that count, by their folders."""
    return {one.folder: one.state for one in job.trials if not one.surplus}


def result(task: str = "task-1", reward: Any = 1.0, exception: str | None = None, **fields: Any) -> dict[str, Any]:
    """The fields of a trial's result that are always there."""
    return {
        "task_name": task,
        "trial_name": "x",
        "task_checksum": "c" * 64,
        "source": "bench",
        "config": {"job_id": "job-1"},
        "agent_info": {"name": "oracle", "version": "1", "model_info": None},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": exception and {"exception_type": exception},
        "started_at": "2026-09-01T10:00:00Z",
        "finished_at": "2026-09-01T10:05:00Z",
    } | fields


def write(path: Path, content: Any) -> Path:
    """A settled file of bytes, of a text, or of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    for place in (path, path.parent, path.parent.parent):
        os.utime(place, (OLD, OLD))
    return path


def trial(job: Path, name: str, content: Any = None, **fields: Any) -> Path:
    """A trial's folder with a result, which is ``content`` or one with some fields."""
    return write(job / name / "result.json", result(**fields) if content is None else content).parent


def job_files(job: Path, planned: int, *, attempts: int = 1, completed: int | None = None, **stats: Any) -> None:
    """The job's own files."""
    write(job / "config.json", {"n_attempts": attempts, "agents": [{"name": "oracle"}], "datasets": [{"path": "/b"}]})
    counts = {"n_completed_trials": planned if completed is None else completed, "evals": {}}
    aggregate = {
        "id": "job-1",
        "n_total_trials": planned,
        "finished_at": "2026-09-01T12:00:00",
        "stats": counts | stats,
    }
    write(job / "result.json", aggregate)


class Racing:
    """A folder in which something happens before each read of a result."""

    def __init__(self, folder, happens):
        self.folder, self.happens = folder, happens

    def __getattr__(self, name):
        return getattr(self.folder, name)

    def read(self, path, most=2**30):
        if path.endswith("/result.json"):
            self.happens(path)
        return self.folder.read(path, most)
