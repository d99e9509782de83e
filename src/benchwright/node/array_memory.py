"""What a watcher remembers across restarts, in a small file beside the logs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.slurm import compact, expand

_VERSION = 1


@dataclass(frozen=True)
class Memory:
    """``told`` maps failed tasks to the attempt that was reported, ``ended`` tasks to the state the queue showed.

    ``results`` is the last count that was whole, ``moved_at`` when it last changed or nothing ran (since the epoch);
    ``seen`` that the job was ever known. Of a queue in a bucket the tasks are its bundles, and ``signs`` is what showed
    life there at the last look.
    """

    told: Mapping[int, str] = field(default_factory=dict)
    ended: Mapping[int, str] = field(default_factory=dict)
    results: int = 0
    moved_at: float | None = None
    seen: bool = False
    signs: str = ""

    def still_since(self, at: float, *, moved: bool) -> float:
        """Since when nothing has moved, as of ``at``. A time to come is that of a clock that was set back since."""
        return at if moved or self.moved_at is None or not self.moved_at <= at else self.moved_at


def memory_path(log_dir: Path, job: int) -> Path:
    """The file of one array's watchers."""
    return log_dir / f".slurm_progress_{job}.json"


def read_memory(path: Path) -> Memory:
    """The stored memory; a file that is missing or damaged costs a repetition and no more."""
    try:
        content = json.loads(path.read_bytes())
        return Memory(
            told=_unpack(content["told"]),
            ended=_unpack(content["ended"]),
            results=int(content["results"]),
            moved_at=None if content["moved_at"] is None else float(content["moved_at"]),
            seen=bool(content["seen"]),
            signs=str(content.get("signs", "")),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return Memory()


def write_memory(path: Path, memory: Memory) -> None:
    """Store the memory in one step.

    Raises:
        OSError: the folder cannot be written.
    """
    content = {
        "version": _VERSION,
        "told": _pack(memory.told),
        "ended": _pack(memory.ended),
        "results": memory.results,
        "moved_at": memory.moved_at,
        "seen": memory.seen,
        "signs": memory.signs,
    }
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(content), encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def keep_memory(path: Path, memory: Memory) -> None:
    """Store the memory, with the failures that another watcher has named meanwhile.

    Raises:
        OSError: the folder cannot be written.
    """
    write_memory(path, replace(memory, told={**read_memory(path).told, **memory.told}))


def _pack(texts: Mapping[int, str]) -> dict[str, str]:
    """Tasks by text, as ranges: an array of thousands has few different ones."""
    by_text: dict[str, list[int]] = {}
    for index, text in texts.items():
        by_text.setdefault(text, []).append(index)
    return {text: compact(indices) for text, indices in by_text.items()}


def _unpack(packed: Mapping[str, Any]) -> dict[int, str]:
    return {index: text for text, indices in packed.items() for index in expand(indices) or ()}
