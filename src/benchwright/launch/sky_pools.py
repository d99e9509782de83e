"""A run's pools on SkyPilot. Each costs until it is taken down, whether anything works on it or not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchwright.contract import Outcome
from benchwright.files import RunPaths

POOL_NAME = "pool.yaml"
"""The task file that makes a launch's pool."""


def launch_folder(paths: RunPaths, launch: str) -> Path:
    """Where the task files of a launch are on this machine."""
    return paths.setup / "sky" / launch


def pool_of(launch: str) -> str:
    """The pool of a launch."""
    return f"{launch}-pool"


def pool_down(pool: str) -> str:
    """The command that ends a pool."""
    return shlex.join(["sky", "jobs", "pool", "down", "-y", pool])


def pools_down(paths: RunPaths) -> list[str]:
    """The commands that end the pools of all launches that set-up has staged, whatever became of these.

    Nobody here knows which pools are down already; to end one of them again does no harm.
    """
    return [pool_down(pool_of(path.parent.name)) for path in sorted(paths.setup.glob(f"sky/*/{POOL_NAME}"))]


def costs(downs: Sequence[str]) -> tuple[str, ...]:
    """What to say of pools, for people; nothing where there are none."""
    return ("\n    ".join(["A pool costs until it is down. When the benchmark is finished:", *downs]),) if downs else ()


def with_pools_down(outcome: Outcome, paths: RunPaths) -> Outcome:
    """An outcome that also names what ends the run's pools, in ``data`` and before its closing lines."""
    downs = pools_down(paths)
    return replace(outcome, data={**outcome.data, "pools_down": downs}, closing=[*costs(downs), *outcome.closing])
