"""A run's pools on SkyPilot. Each costs until it is taken down, whether anything works on it or not."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchwright.contract import Exit, Failure, Outcome
from benchwright.files import RunPaths, read_json, write_json
from benchwright.launch.bucket_queue import BucketQueue, launches
from benchwright.objects import ObjectStore

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


def remember_pools(store: ObjectStore, paths: RunPaths) -> None:
    """Note which launches of the run in a bucket have a pool, those that other workspaces have staged among them.

    Raises:
        Failure: as the store does.
    """
    found = []
    for launch in launches(store):
        try:
            facts = BucketQueue(store, launch).facts()
        except Failure as failure:
            if failure.exit != Exit.NO:
                raise
            continue  # a damaged record: `refuse_undrained` tells of it
        if facts.get("pool"):
            found.append(launch)
    write_json(_memory(paths), found)


def pools_down(paths: RunPaths) -> list[str]:
    """The commands that end the pools of all launches that are known here, whatever became of these.

    Those are the ones that set-up has staged, and what `remember_pools` found last. Nobody here knows which pools are
    down already; to end one of them again does no harm.
    """
    staged = {path.parent.name for path in paths.setup.glob(f"sky/*/{POOL_NAME}")}
    return [pool_down(pool_of(launch)) for launch in sorted(staged.union(_remembered(_memory(paths))))]


def _memory(paths: RunPaths) -> Path:
    return paths.setup / "sky" / "pools.json"


def _remembered(memory: Path) -> list[str]:
    """The launches of the last note; none where there is no such note, or a damaged one."""
    with contextlib.suppress(Failure, OSError):
        content = read_json(memory)
        return [name for name in content if isinstance(name, str)] if isinstance(content, list) else []
    return []


def costs(downs: Sequence[str]) -> tuple[str, ...]:
    """What to say of pools, for people; nothing where there are none."""
    return ("\n    ".join(["A pool costs until it is down. When the benchmark is finished:", *downs]),) if downs else ()


def with_pools_down(outcome: Outcome, paths: RunPaths) -> Outcome:
    """An outcome that also names what ends the run's pools, in ``data`` and before its closing lines."""
    downs = pools_down(paths)
    return replace(outcome, data={**outcome.data, "pools_down": downs}, closing=[*costs(downs), *outcome.closing])
