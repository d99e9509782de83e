"""One task of an array, as ``slurm_task.sh`` starts it: ``python -m benchwright.node.slurm_task JOB.json``.

Runs the bundle that SLURM_ARRAY_TASK_ID names and ends like ``benchwright.node.run_bundle``. Its lines and the items'
output are the task's own log; events and the Ray logs of failed items go to ``<slurm_log_dir>/<array job>/``. Caches of
compilers, temporary files and fitted models go to scratch folders on this node, which are gone when the task ends; what
a lost task left is removed by the next one. A SIGTERM, which SLURM sends before it preempts, requeues or cancels, drops
the item at work whole; the next attempt skips what is finished.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchwright.node.item_process import ARTIFACTS_VARIABLE, LONGEST_RAY_FOLDER
from benchwright.node.job_file import JobFile, JobFileError, read_job_file
from benchwright.node.run_bundle import exit_of, run_one
from benchwright.node.runner import RunTotals
from benchwright.node.scratch import new_scratch, remove_abandoned
from benchwright.node.server import ServerUnusable

_CACHES = {"NUMBA_CACHE_DIR": "numba", "TRITON_CACHE_DIR": "triton", "CUDA_CACHE_PATH": "cuda"}
_SHORT = Path("/tmp")
_BELOW_SCRATCH = len("/bw-12345678/999")
"""The fork server's folder below a task's, and the item's below that."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the task's bundle; the exit code."""
    parser = argparse.ArgumentParser(prog="benchwright.node.slurm_task", description="Run one task of a SLURM array.")
    parser.add_argument("job_file", type=Path, help="the job JSON that set-up wrote")
    options = parser.parse_args(argv)
    return exit_of(lambda: _run(options.job_file))


def _run(path: Path) -> RunTotals:
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}", "") for name in ("JOB_ID", "TASK_ID"))
    if not (array.isdigit() and task.isdigit()):
        raise JobFileError(f"{path}: SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID say of no task to run")
    job_file = read_job_file(path, int(task))
    logs = _log_folder(job_file, array, task)
    with _node_folders():
        return run_one(job_file, int(task), logs)


def _log_folder(job_file: JobFile, array: str, task: str) -> Path | None:
    """The folder of the array's logs, made if need be, with the task's own log in it.

    Before 23.02 SLURM makes no folders, so that the log is beside this one; a link then stands for it.
    """
    folder = job_file.defaults.get("slurm_log_dir")
    if not folder:
        return None
    logs = Path(folder, array)
    log = f"slurm-{array}_{task}.out"
    with contextlib.suppress(OSError):
        logs.mkdir(parents=True, exist_ok=True)
        if (logs.parent / log).exists():
            (logs / log).symlink_to(Path(os.pardir, log))
    return logs


@contextlib.contextmanager
def _node_folders() -> Iterator[None]:
    """Scratch folders of this task, in the environment of all it starts; gone afterwards, also after a SIGTERM."""
    folders: list[Path] = []
    signal.signal(signal.SIGTERM, _leave)
    try:
        try:
            _make(folders)
        except OSError as error:
            raise ServerUnusable(f"no scratch folder can be made: {error.filename}: {error.strerror}") from None
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _make(folders: list[Path]) -> None:
    """Make the folders, add each to ``folders``, and put them into the environment.

    Fitted models go where TABARENA_MODEL_ARTIFACTS_BASE_PATH says, into a folder of this task's own there; Ray's files
    where their names are short enough for the kernel.
    """
    remove_abandoned()
    scratch = new_scratch()
    folders.append(scratch)
    os.environ["TMPDIR"] = str(scratch)
    os.environ.update({variable: str(scratch / name) for variable, name in _CACHES.items()})
    if os.environ.get(ARTIFACTS_VARIABLE):
        base = Path(os.environ[ARTIFACTS_VARIABLE])
        base.mkdir(parents=True, exist_ok=True)
        remove_abandoned(base)
        folders.append(new_scratch(base))
        os.environ[ARTIFACTS_VARIABLE] = str(folders[-1])
    os.environ.pop("RAY_TMPDIR", None)  # sessions of several tasks in one folder take each other for their own
    if len(str(scratch)) + _BELOW_SCRATCH > LONGEST_RAY_FOLDER:
        remove_abandoned(_SHORT)
        folders.append(new_scratch(_SHORT))
        os.environ["RAY_TMPDIR"] = str(folders[-1])


def _leave(number: int, _frame: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
