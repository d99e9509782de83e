"""What inspection keeps of a result: a handful of facts. The file is read as processing will read it, then dropped."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchwright.arena.config_names import family_of, prefix_of
from benchwright.contract import Failure, Problem, Progress
from benchwright.forks import in_order
from benchwright.raw.fields import number_in, text_in
from benchwright.raw.finding import RawFile, misplaced
from benchwright.raw.labels import labels_checksum
from benchwright.raw.loading import load_result
from benchwright.raw.protocol import Protocol, effective_protocol

_CHUNK = 16
"""Files a process reads at a time: enough to pay for sending them, few enough for a progress that moves."""
_AS_THEY_ARE = ("framework", "dataset", "tid", "split", "kind", "problem_type", "metric")
_SAID = ("key", "explanation", "recorded")
_LONGEST = 300
_LAST_SECOND = 2**32


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """The facts of one result that declare a method.

    ``prefix`` is the part of ``framework`` that stands for the method. ``kind`` is ``config`` or ``baseline``.
    ``num_gpus`` is what the fit was given, None where that is not recorded, as in every baseline. ``gpu_seen`` says
    whether a GPU was visible to torch there, ``gpu_used`` whether memory of it was allocated; None where nothing was
    recorded. ``labels`` is that of `labels_checksum`. ``started`` is the start of the run in seconds since 1970.
    ``warnings`` are those of `Result`.
    """

    file: RawFile
    framework: str
    prefix: str
    dataset: str
    tid: int
    split: int
    kind: str
    problem_type: str
    metric: str
    model_type: str | None
    ag_key: str | None
    name_prefix: str | None
    num_gpus: float | None
    gpu_seen: bool | None
    gpu_used: bool | None
    protocol: Protocol
    labels: str | None
    started: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnusableFile:
    """A file of the tree that gives no result, and why."""

    file: RawFile
    problems: tuple[Problem, ...]


def read_facts(
    files: Sequence[RawFile], progress: Progress | None = None
) -> tuple[list[ResultFacts], list[UnusableFile]]:
    """The facts of the results in ``files``, in their order, and the files that cannot be used.

    Files are read in parallel and memory holds their facts alone. Unusable is what cannot be loaded, and a result in
    the folder of another config or split: whoever picks results by their folders would take it for that one.
    ``progress`` counts files.
    """
    facts: list[ResultFacts] = []
    unusable: list[UnusableFile] = []
    seen: dict[Any, Any] = {}  # processes send equal objects anew with every chunk
    for file, outcome in zip(files, in_order(_read, files, chunk=_CHUNK), strict=True):
        if isinstance(outcome, dict):
            for name, value in outcome.items():
                if isinstance(value, str | Protocol):
                    outcome[name] = seen.setdefault(value, value)
            facts.append(ResultFacts(file=file, **outcome))
        else:
            unusable.append(UnusableFile(file, outcome))
        if progress is not None:
            progress(len(facts), len(files), failed=len(unusable))
    return facts, unusable


def _read(file: RawFile) -> dict[str, Any] | tuple[Problem, ...]:
    """The facts of one file as plain values, which pass between processes faster, or its problems."""
    try:
        result = load_result(file.place)
    except Failure as failure:
        return failure.problems
    if stray := misplaced(result, file.method, file.split_name):
        return (stray,)
    protocol = effective_protocol(result)
    said: dict[str, Any] = {name: _printable(getattr(protocol, name)) for name in _SAID}
    method, memory = result.method_metadata, result.memory_usage
    peak = number_in(memory, "peak_mem_gpu")
    seen = memory.get("gpu_tracking_enabled")
    return {name: getattr(result, name) for name in _AS_THEY_ARE} | {
        "prefix": prefix_of(result.framework, method),
        "model_type": _printable(text_in(method, "model_type")),
        "ag_key": _printable(family_of(method)),
        "name_prefix": _printable(text_in(method, "name_prefix")),
        "num_gpus": number_in(method, "num_gpus"),
        "gpu_seen": seen if isinstance(seen, bool) else None,
        "gpu_used": None if peak is None else peak > 0,
        "protocol": _once(replace(protocol, **said)),
        "labels": None if result.predictions is None else labels_checksum(result.predictions),
        "started": _second(number_in(result.experiment_metadata, "time_start")),
        "warnings": tuple(result.warnings),
    }


@functools.lru_cache(maxsize=64)
def _once(protocol: Protocol) -> Protocol:
    """The same object for all that are equal, which is sent once with a chunk of files."""
    return protocol


def _printable(text: str | None) -> str | None:
    """A text of a result as a terminal may show it."""
    if text is None or (text.isprintable() and len(text) <= _LONGEST):
        return text
    return ascii(text)[:_LONGEST]


def _second(value: float | None) -> float | None:
    return value if value is not None and 0 < value < _LAST_SECOND else None
