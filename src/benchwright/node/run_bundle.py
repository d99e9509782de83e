"""Run one bundle of a job file: ``python -m benchwright.node.run_bundle JOB.json INDEX [--logs DIR]``.

Prints what happens and the items' output; ends with ``##### bundle summary: ok=N failed=M``. Exit codes: 0 every item
has its result, 1 an item failed, 2 wrong usage or an unusable job file, 3 no item can run here, 143 or 130 after
SIGTERM or SIGINT. With ``--logs``, events go to ``DIR/events_<INDEX>.jsonl`` and the Ray logs of failed items to
``DIR/ray_logs/task_<INDEX>/``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchwright.node.bundle import Bundle
from benchwright.node.events import Event, EventLog
from benchwright.node.job_file import JobFile, JobFileError, read_job_file
from benchwright.node.runner import RunTotals, run_bundles
from benchwright.node.server import ServerUnusable

_USAGE = 2
_ENVIRONMENT = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bundle; the exit code."""
    parser = argparse.ArgumentParser(prog="benchwright.node.run_bundle", description="Run one bundle of a job file.")
    parser.add_argument("job_file", type=Path, help="the job JSON that set-up wrote")
    parser.add_argument("index", type=int, help="which of its bundles, from 0")
    parser.add_argument("--logs", type=Path, help="folder for the event log and for the Ray logs of failed items")
    options = parser.parse_args(argv)
    return exit_of(lambda: run_one(read_job_file(options.job_file, options.index), options.index, options.logs))


def run_one(job_file: JobFile, index: int, logs: Path | None) -> RunTotals:
    """Run the bundle ``index`` of a job file.

    Raises:
        JobFileError: it has no such bundle.
        ServerUnusable: no item can run here.
    """
    if not 0 <= index < len(job_file.bundles):
        raise JobFileError(f"{job_file.path}: no bundle {index}, it has {len(job_file.bundles)}, from 0")
    bundle = Bundle(
        index,
        job_file.bundles[index],
        job_file.defaults,
        ray_logs=logs / "ray_logs" / f"task_{index}" if logs else None,
    )
    return run_bundles([bundle], EventLog(logs / f"events_{index}.jsonl") if logs else _nowhere)


def exit_of(run: Callable[[], RunTotals]) -> int:
    """The exit code of a run; what keeps it from starting is said on standard error."""
    try:
        return run().exit
    except JobFileError as error:
        sys.stderr.write(f"{error}\n")
        return _USAGE
    except ServerUnusable as unusable:
        sys.stderr.write(f"##### no item can run: {unusable}\n")
        return _ENVIRONMENT


def _nowhere(_event: Event) -> None:
    """Without a folder for logs nobody listens."""


if __name__ == "__main__":
    sys.exit(main())
