"""What is known of a cluster's partitions: shipped as data, and added to by a file of the user's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchwright.arena import did_you_mean
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import read_bytes

SHIPPED = Path(__file__).with_name("partitions.yaml")
VARIABLE = "BENCHWRIGHT_PARTITIONS"
_FORM = f"correct it; the top of {SHIPPED} shows the form"
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Partition:
    """One partition; None is not known. ``gpu_memory`` is that of one card in GB, ``memory`` that of a node in GB.

    ``bundle_size`` is the number of items a task, ``exclusive_node`` whether a task has its node for itself.
    """

    name: str
    card: str | None = None
    gpu_memory: int | None = None
    cpus: int | None = None
    memory: int | None = None
    bundle_size: int | None = None
    exclusive_node: bool = False


def read_partitions(own: Path | None = None) -> Mapping[str, Partition]:
    """The known partitions by name; those of ``own``, or of the file that BENCHWRIGHT_PARTITIONS names, win.

    The format is described at the top of ``partitions.yaml``.

    Raises:
        Failure: the user's file cannot be read, or is not of that format; every problem of it (exit 2).
    """
    if own is None and os.environ.get(VARIABLE):
        own = Path(os.environ[VARIABLE])
    return {**_read(SHIPPED), **({} if own is None else _read(own.expanduser()))}


def _read(file: Path) -> dict[str, Partition]:
    import yaml

    try:
        content = yaml.safe_load(read_bytes(file, limit=_MOST_BYTES))
    except OSError as error:
        found, fix = f"cannot be read ({error.strerror})", f"name another by --partitions or {VARIABLE}"
        raise usage_error(str(file), found, "a file of partitions", fix) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise usage_error(str(file), " ".join(str(error).split()), "YAML", _FORM) from None
    if not isinstance(content, dict):
        expected = "a mapping of partitions to what is known of them"
        raise usage_error(str(file), type(content).__name__, expected, _FORM)
    problems = [problem for name, facts in content.items() for problem in _problems(f"{file}: {name}", name, facts)]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return {
        name: Partition(name, **{field: value for field, value in (facts or {}).items() if value is not None})
        for name, facts in content.items()
    }


def _problems(where: str, name: Any, facts: Any) -> Iterator[Problem]:
    """What is wrong with the entry of one partition."""
    if not isinstance(name, str):
        yield Problem("usage", where, f"a name that YAML reads as {type(name).__name__}", "text", "put it into quotes")
    if facts is None:
        return
    if not isinstance(facts, dict):
        yield Problem("usage", where, repr(facts), "a mapping such as {gpu_memory: 80}", _FORM)
        return
    known = [entry.name for entry in fields(Partition) if entry.name != "name"]
    for field, value in facts.items():
        if field not in known:
            yield Problem("usage", f"{where}: {field}", "no such field", "", did_you_mean(str(field), known))
        elif value is not None and not _fits(field, value):
            expected = _EXPECTED.get(field, "a whole number above 0")
            fix = "correct it, or leave it out where it is not known"
            yield Problem("usage", f"{where}: {field}", repr(value), expected, fix)


_EXPECTED = {"card": "text", "exclusive_node": "true or false"}


def _fits(field: str, value: object) -> bool:
    if field == "card":
        return isinstance(value, str)
    if field == "exclusive_node":
        return isinstance(value, bool)
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
