"""Small job folders with traces: of a rehearsal's trials, and what the agents of some of them left behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchwright.contract import Exit, Failure
from benchwright.harbor import JobPlace, resolve_job_folder
from benchwright.harbor.traces import TraceDataset, TraceOptions, plan_traces
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job

SHAPE = JobShape(attempts=1, source="own-bench", model="org/model-8B")
USER = {"source": "user", "message": "Do it."}


def said(message: Any, answer: Any = None, **more: Any) -> dict[str, Any]:
    """A step of the agent, and what the environment answered."""
    step = {"source": "agent", "message": message, **more}
    return step if answer is None else step | {"observation": {"results": [{"content": answer}]}}


def trajectory(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A trajectory of these steps."""
    agent = {"name": "terminus-2", "model_name": "served/4711"}
    return {"schema_version": "ATIF-v1.8", "agent": agent, "steps": list(steps), **more}


TALK = trajectory(USER, said("One.", "1"), said("Two.", "2"))


class TraceJob:
    """A job of one trial of each of some kinds, in their order; ``trials`` are the folders."""

    def __init__(self, folder: Path, kinds: Sequence[str], shape: JobShape = SHAPE, **more: Any) -> None:
        self.folder = folder
        grow_job(folder, kinds, shape, **more)
        self.trials = sorted(path for path in folder.iterdir() if path.is_dir())

    def put(self, trial: int, content: Any = TALK, name: str = "agent/trajectory.json") -> Path:
        """A file of a trial: bytes as they are, texts in UTF-8, anything else as JSON."""
        path = self.trials[trial] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def name(self, trial: int) -> str:
        """What a trial is called."""
        return self.trials[trial].name

    @property
    def place(self) -> JobPlace:
        """Where it is."""
        return resolve_job_folder(self.folder)

    def dataset(self, to: Path | None = None, **options: Any) -> TraceDataset:
        """The dataset of its traces, in a folder beside it."""
        return plan_traces(self.place, TraceOptions(**options)).write(to or self.folder.with_name("dataset"))

    def rows(self, **options: Any) -> list[dict[str, Any]]:
        """The rows of that."""
        return rows_of(self.dataset(**options))


def rows_of(dataset: TraceDataset) -> list[dict[str, Any]]:
    """All rows, in their order."""
    files = sorted((dataset.folder / "data").iterdir())
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def talk(row: dict[str, Any]) -> list[tuple[str, str]]:
    """The conversation of a row."""
    return [(turn["role"], turn["content"]) for turn in row["conversations"]]


def three_trials(folder: Path) -> TraceJob:
    """A job of which two trials left a trajectory."""
    job = TraceJob(folder, ["pass", "fail", "timeout-scored"])
    for trial in range(2):
        job.put(trial)
    return job


def refusal(call: Callable[[], object]) -> tuple[Exit, str, str]:
    """How a call fails, by its one problem."""
    with pytest.raises(Failure) as failure:
        call()
    (problem,) = failure.value.problems
    return failure.value.exit, problem.code, problem.found
