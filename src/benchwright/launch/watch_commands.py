"""The commands that watch what was launched, for whoever launched it and for whoever comes back to it."""

from __future__ import annotations

import shlex
from pathlib import Path

from benchwright.files import RunPaths

JOB_ID = "JOB_ID"
"""Stands for the id that ``sbatch`` says."""


def watch_array(
    python: str, paths: RunPaths, tasks: int | str, expected: int, *, job: int | str = JOB_ID, user: str = ""
) -> str:
    """The command that watches an array on SLURM; ``expected`` results are in the run's tree in the end.

    ``user`` is whose array it is, where that is not who watches.
    """
    return shlex.join(
        [
            *(python, "-P", "-m", "benchwright.node.slurm_progress", str(job), str(tasks)),
            *("--results-dir", str(paths.data), "--expected-results", str(expected)),
            *("--log-dir", f"{paths.logs}/{job}"),
            *(("--user", user) if user else ()),
        ]
    )


def watch_launch(python: str, queue: str, bundles: int, launch: str, logs: Path) -> str:
    """The command that watches a launch on SkyPilot; ``logs`` is the run's folder of logs."""
    words = (python, "-P", "-m", "benchwright.launch.sky_progress", queue, str(bundles))
    return shlex.join([*words, "--launch", launch, "--log-dir", str(logs / launch)])
