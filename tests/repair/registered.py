"""Registered rows to repair, of several users, and repairs of them as the script does them, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from push_runs import no_progress

from benchwright.contract import Outcome
from benchwright.evaldb import Patience
from benchwright.repair.registration.command import Registration
from benchwright.repair.registration.options import RepairOptions
from benchwright.slurm import Clients
from eval_databases import EvalRows

ONCE = Patience(attempts=1, connect_timeout=2, answer_timeout=5)
NOW = datetime(2026, 12, 20, 12, tzinfo=UTC)
SERVED, SERVED_TOO = "1774950145766573", "1774950145766999"
REAL = "laion/real-model-8B"
HASH = "377118ff" * 5
BENCHMARK = "terminal_bench_2"
GOOD = {"n_completed_trials": 300, "evals": {"k": {"n_trials": 300, "exception_stats": {}, "reward_stats": {}}}}
PARTIAL = {"n_completed_trials": 100, "evals": {"k": {"n_trials": 100, "exception_stats": {}, "reward_stats": {}}}}


class Queue(Clients):
    """A scheduler that knows of no job, but for those in ``live``."""

    def __init__(self, *live: str) -> None:
        object.__setattr__(self, "live", live)

    def call(self, program: str, *arguments: str, **more: str) -> str:
        return "".join(f"{id}|{id}|RUNNING|x\n" for id in self.live) if program == "squeue" else ""


@dataclass
class Repairer:
    """Repairs as a user whose names are ``owners``, over one backend. ``url`` is another way to the same Postgres."""

    rows: EvalRows
    backend: str
    folder: Path
    owners: str = "ada,lovelace"
    clients: Clients = Queue()  # noqa: RUF009
    url: str | None = None
    hub: str = "http://127.0.0.1:1"

    @property
    def settings(self) -> dict[str, str]:
        settings = self.rows.settings(self.backend, key=self.rows.standin.service_key)
        if self.url is not None and self.backend == "postgres":
            settings["DATABASE_URL"] = self.url
        return settings | {
            "BENCHWRIGHT_OWNERS": self.owners,
            "HF_ENDPOINT": self.hub,
            "HF_TOKEN": "a-token-of-the-stand-in",
        }

    def run(self, action: str, **options: Any) -> Outcome:
        asked = RepairOptions(action=action, undo_dir=self.folder, **{"apply": True, **options})
        registration = Registration(
            options=asked,
            settings=self.settings,
            now=NOW,
            talk=lambda text: None,
            progress=no_progress,
            clients=self.clients,
            patience=ONCE,
        )
        return registration.outcome()

    def undo_files(self) -> list[Path]:
        return sorted(self.folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))


@dataclass
class Bench:
    """Rows of ada's and bob's: a score under a number, one under a hash, good ones, partial ones, and stale ones."""

    rows: EvalRows

    def __post_init__(self) -> None:
        rows = self.rows
        self.served = rows.model(SERVED, created_by="hf-uploader")
        self.real = rows.model(REAL)
        self.hash = rows.benchmark(HASH)
        self.benchmark = rows.benchmark(BENCHMARK)
        self.task = rows.task("t")
        rows.rows["sandbox_benchmark_tasks"] = [
            {"benchmark_id": self.hash, "benchmark_name": HASH, "benchmark_version_hash": HASH, "task_checksum": "t"}
        ]

    def job(self, model: str | None = None, benchmark: str | None = None, trials: int = 2, **row: Any) -> str:
        """A finished and good job, of ada's and under the right names unless said otherwise, with trials and usage."""
        made = {"stats": GOOD, "created_at": "2026-12-01T12:00:00Z", "slurm_job_id": "17"} | row
        model = model or self.real
        job = self.rows.job(model, benchmark or self.benchmark, **made)
        for number in range(trials):
            trial = self.rows.trial(job, self.task)
            self.rows.rows["sandbox_trials"][-1]["trial_name"] = f"{row.get('job_name', job[-4:])}__{number}"
            self.usage(trial, model, n_input_tokens=10 + number, n_output_tokens=1)
        return job

    def usage(self, trial: str, model: str, **counts: int) -> None:
        row = {"trial_id": trial, "model_id": model, "model_provider": "hosted_vllm", "n_input_tokens": None}
        made = {"n_output_tokens": None, "created_at": "2026-12-01T13:00:00Z"}
        self.rows.rows.setdefault("sandbox_trial_model_usage", []).append(row | made | counts)

    def load(self) -> None:
        self.rows.load()
