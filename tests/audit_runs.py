"""Runs to audit: folders as Harbor leaves them, their rows, their traces, and the sources that tell of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchwright.rehearsal.harbor_jobs import JobShape, Truth, grow_job
from benchwright.slurm import Clients
from eval_databases import EvalRows
from hub_standin import HubStandIn

NOW = datetime(2026, 9, 10, 12, tzinfo=UTC)
"""Nine days after the runs, which are of the first of the month."""
SERVED = "1774950145766573"
"""What the server of the model called it: a number."""
MODEL = "laion/real-model-8B"
BENCHMARK = "small_bench"
BENCHMARKS = f"{BENCHMARK}: {{tasks: 4, aliases: [small]}}\n"
"""What ``--benchmarks`` needs to say."""
GOOD = ("pass", "fail", "timeout-scored") * 4
"""Twelve trials, all of them valid: four tasks."""
ORG = "traces-org"
SHAPE = JobShape(source=BENCHMARK)


class Asked(Clients):
    """Clients that note what they are asked, and know of no job."""

    def __init__(self):
        object.__setattr__(self, "calls", [])

    def call(self, program, *arguments, **more):
        self.calls.append((program, *arguments))
        return ""


@dataclass
class AuditedRun:
    """A run of ``kinds`` of trials (see ``rehearsal.harbor_jobs``), whose launch left its record."""

    root: Path
    tag: str = "small_bench_real-model-8B_20260901"
    kinds: Sequence[str] = GOOD
    shape: JobShape = SHAPE
    row_id: str | None = None
    slurm_id: str | None = None
    model: str | None = MODEL
    seed: int = 0
    truth: Truth = field(init=False)

    def __post_init__(self) -> None:
        self.truth = grow_job(self.folder, self.kinds, self.shape, seed=self.seed)
        meta = {"SLURM_JOB_ID": self.slurm_id, "DB_JOB_ID": self.row_id, "BENCHMARK_NAME": BENCHMARK}
        if self.slurm_id or self.row_id:
            lines = [f"{name}={value}\n" for name, value in meta.items() if value]
            (self.folder / "meta.env").write_text("".join(lines))
        if self.model:
            config = self.root / "experiments" / self.tag / "configs" / f"{self.tag}_eval_config.json"
            config.parent.mkdir(parents=True)
            config.write_text(json.dumps({"model_hf_name": self.model}))
        settle(self.folder)

    @property
    def folder(self) -> Path:
        return self.root / "trace_jobs" / self.tag

    @property
    def aggregate(self) -> dict[str, Any]:
        return json.loads((self.folder / "result.json").read_text())

    @property
    def score(self) -> float:
        return next(iter(self.aggregate["stats"]["evals"].values()))["metrics"][0]["mean"]

    def row(self, rows: EvalRows, **more: Any) -> str:
        """The row that an upload of the run makes, with its model and benchmark; its id."""
        model, benchmark = more.pop("model", MODEL), more.pop("benchmark", BENCHMARK)
        model = _known(rows, "models", model) or rows.model(model)
        benchmark = _known(rows, "benchmarks", benchmark) or rows.benchmark(benchmark)
        made = {
            "job_name": self.tag,
            "created_at": "2026-09-01T22:00:00Z",
            "n_trials": len(self.kinds),
            "metrics": [{"name": "accuracy", "value": self.score}],
            "stats": self.aggregate["stats"],
            "hf_traces_link": f"https://huggingface.co/datasets/{ORG}/{self.tag}-traces",
            "slurm_job_id": self.slurm_id,
        }
        return rows.job(model, benchmark, **made | more)

    def upload(self, hub: HubStandIn, repo: str | None = None) -> None:
        """Its traces, on the Hub."""
        hub.add(repo or f"{ORG}/{self.tag}-traces", sorted(self.truth.states))


def _known(rows: EvalRows, table: str, name: str) -> str | None:
    return next((row["id"] for row in rows.rows.get(table, []) if row["name"] == name), None)


def settle(folder: Path) -> None:
    """Let every file be as old as the run."""
    written = datetime(2026, 9, 1, 19, tzinfo=UTC).timestamp()
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (written, written))


def snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """All that a reader might have changed: bytes, modes, times (not of access), inodes."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        facts = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path)] = (facts.st_ino, facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, content)
    return found
