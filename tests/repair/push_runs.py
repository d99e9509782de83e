"""Runs to push: the script with every source configured, an uploader onto the Hub's stand-in, and what the rows say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from audit_runs import BENCHMARKS, ORG, AuditedRun
from benchwright.contract import Failure, Outcome
from benchwright.repair.push.command import push
from benchwright.repair.push.identity import Asked
from benchwright.repair.push.options import PushOptions
from eval_databases import EvalRows
from hub_standin import TOKEN, HubStandIn

NOW = datetime(2026, 9, 10, 12, tzinfo=UTC)


@contextmanager
def no_progress(label: str) -> Iterator[Any]:
    yield lambda done, total, *, failed=0, note="": None


@dataclass
class StandInUploader:
    """Uploads to the Hub's stand-in, as far as that knows an upload: the trials are there afterwards."""

    hub: HubStandIn
    trials: Sequence[str]
    calls: list[tuple[str, bool]] = field(default_factory=list)
    fails: Failure | None = None

    def upload(self, folder: Path, repo: str, *, apply: bool) -> str:
        self.calls.append((repo, apply))
        if apply:
            if self.fails is not None:
                raise self.fails
            self.hub.add(repo, list(self.trials))
        return f"https://huggingface.co/datasets/{repo}"


@dataclass
class Pusher:
    """Pushes a run, with everything configured."""

    rows: EvalRows
    hub: HubStandIn
    settings: Any
    root: Path
    backend: str
    uploader: StandInUploader | None = None

    def __post_init__(self) -> None:
        (self.root / "benchmarks.yaml").write_text(BENCHMARKS)
        for name, value in self.rows.settings(self.backend, key=self.rows.standin.service_key).items():
            self.settings.setenv(name, value)
        self.settings.setenv("BENCHWRIGHT_OWNERS", "ada")
        self.settings.setenv("BENCHWRIGHT_TRACE_ORGS", ORG)
        self.settings.setenv("HF_ENDPOINT", self.hub.url)
        self.settings.setenv("HF_TOKEN", TOKEN)

    def with_a_scheduler(self) -> None:
        """SLURM's clients, which answer, and have forgotten every job."""
        folder = self.root / "slurm"
        folder.mkdir()
        for name in ("squeue", "sacct"):
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
        self.settings.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def push(self, run: AuditedRun | Path | str, **options: Any) -> Outcome:
        """The outcome of a push; a failure as the outcome that the script makes of it."""
        place = str(run.folder if isinstance(run, AuditedRun) else run)
        trials = sorted(run.truth.states) if isinstance(run, AuditedRun) else []
        uploader = self.uploader or StandInUploader(self.hub, trials)
        names = {name: options.pop(name, None) for name in ("agent", "model", "benchmark")}
        more = {"apply": True, "skip_hf": True, "benchmarks": self.root / "benchmarks.yaml"} | options
        asked = PushOptions(place=place, asked=Asked(**names), **more)
        try:
            return push(asked, uploader, now=NOW, talk=lambda text: None, progress=no_progress)
        except Failure as failure:
            return Outcome.of_failure(failure)

    def table(self, name: str) -> list[dict[str, Any]]:
        with psycopg.connect(self.rows.server.url, row_factory=dict_row) as connection:
            return connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()

    def count(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self.rows.everything().items()}


def said(outcome: Outcome) -> list[tuple[str, str]]:
    """What an outcome's problems are, by code and text."""
    return [(problem.code, problem.found) for problem in outcome.problems]
