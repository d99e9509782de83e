"""What a method's results say of the fields that declare it; what they do not say is unknown, never a match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchwright.arena.config_names import default_config, numbered
from benchwright.raw.coverage import Coverage, coverage
from benchwright.raw.facts import ResultFacts
from benchwright.raw.finding import RawFile
from benchwright.raw.methods import RawMethod
from benchwright.raw.protocols import Protocols, protocols


@dataclass(frozen=True, slots=True)
class Inferred:
    """The fields that the results of one method imply, and the values that they rest on, sorted and each once.

    ``method`` is the prefix of all config names. ``method_type``, ``ag_key``, ``compute`` and ``config_default`` (the
    raw name) are None where the results do not settle them; the notes say what ``compute`` and ``config_default`` rest
    on. ``gpu_seen`` is that torch saw a GPU in any result, None where none says. ``can_hpo`` is that more than one
    config was run, ``is_bag`` that any result has several children. ``last_day`` is the day the last run began, in UTC.
    """

    method: str
    results: int
    method_types: tuple[str, ...]
    model_types: tuple[str, ...]
    ag_keys: tuple[str, ...]
    name_prefixes: tuple[str, ...]
    problem_types: tuple[str, ...]
    metrics: tuple[str, ...]
    num_gpus: tuple[float, ...]
    frameworks: tuple[str, ...]
    compute: str | None
    compute_note: str
    gpu_seen: bool | None
    config_default: str | None
    config_default_note: str
    can_hpo: bool
    is_bag: bool
    protocols: Protocols
    coverage: Coverage
    last_day: str | None

    @property
    def method_type(self) -> str | None:
        """``config`` or ``baseline``; None where there are results of both."""
        return _only(self.method_types)

    @property
    def ag_key(self) -> str | None:
        """AutoGluon's key of the model; None where the results record none, or several."""
        return _only(self.ag_keys)

    @property
    def several_of_a_system(self) -> bool:
        """Whether there is more than one config of what has none: a baseline, a system, an outer fit."""
        return self.can_hpo and self.method_type == "baseline"

    def to_dict(self) -> dict[str, Any]:
        """The fields and what they rest on, as plain values."""
        return {
            "method": self.method,
            "method_type": self.method_type,
            "method_types": list(self.method_types),
            "model_types": list(self.model_types),
            "ag_key": self.ag_key,
            "ag_keys": list(self.ag_keys),
            "name_prefixes": list(self.name_prefixes),
            "problem_types": list(self.problem_types),
            "metrics": list(self.metrics),
            "num_gpus": list(self.num_gpus),
            "compute": self.compute,
            "compute_note": self.compute_note,
            "is_bag": self.is_bag,
            "n_results": self.results,
            "n_frameworks": len(self.frameworks),
            "can_hpo": self.can_hpo,
            "config_default": self.config_default,
            "config_default_note": self.config_default_note,
            "validation_protocol": self.protocols.key,
            "n_datasets": self.coverage.datasets,
            "n_tasks": len(self.coverage.splits),
            "n_folds": self.coverage.folds,
            "last_day": self.last_day,
        }


def infer(method: RawMethod, tree: Iterable[RawFile] | None = None) -> Inferred:
    """The fields that a method's results imply; ``tree`` are all files it lies among, which tell what it lacks.

    Raises:
        ValueError: the method has no usable result.
    """
    results = method.results
    if not results:
        raise ValueError(f"{method.name} has no usable result")
    frameworks = _values(result.framework for result in results)
    method_types = _values(result.kind for result in results)
    compute, compute_note = _compute(results)
    default, default_note = _default(frameworks)
    started = [result.started for result in results if result.started is not None]
    return Inferred(
        method=method.name,
        results=len(results),
        method_types=method_types,
        model_types=_values(result.model_type for result in results),
        ag_keys=_values(result.ag_key for result in results),
        name_prefixes=_values(result.name_prefix for result in results),
        problem_types=_values(result.problem_type for result in results),
        metrics=_values(result.metric for result in results),
        num_gpus=_values(result.num_gpus for result in results),
        frameworks=frameworks,
        compute=compute,
        compute_note=compute_note,
        gpu_seen=_any(result.gpu_seen for result in results),
        config_default=default,
        config_default_note=default_note,
        can_hpo=len(frameworks) > 1,
        is_bag=any(result.protocol.children > 1 for result in results),
        protocols=protocols(result.protocol for result in results),
        coverage=coverage(results, method.files if tree is None else tree),
        last_day=datetime.fromtimestamp(max(started), UTC).date().isoformat() if started else None,
    )


def _compute(results: Sequence[ResultFacts]) -> tuple[str | None, str]:
    """The device and what says so.

    A config records the GPUs that its fit was given. A baseline records none of that, and only memory that torch
    allocated on a GPU proves one: that torch saw no GPU is a hint, since a system may do without torch, or fit in other
    processes.
    """
    given = [result.num_gpus for result in results if result.num_gpus is not None]
    if given and max(given) > 0:
        return "gpu", f"num_gpus up to {max(given):g}"
    if given:
        return "cpu", f"num_gpus 0 in {_share(given, results)}"
    used, seen, unseen = (
        [result for result in results if result.gpu_used],
        [result for result in results if result.gpu_seen],
        [result for result in results if result.gpu_seen is False],
    )
    if used:
        return "gpu", f"GPU memory was allocated in {_share(used, results)}"
    if seen:
        return None, f"not inferable: torch saw a GPU in {_share(seen, results)} and allocated nothing on it"
    if unseen:
        return None, f"not inferable: no num_gpus is recorded; torch saw no GPU in {_share(unseen, results)}"
    return None, "not inferable: neither num_gpus nor GPU memory is recorded"


def _default(frameworks: Sequence[str]) -> tuple[str | None, str]:
    """The default config's raw name and the rule behind it."""
    if len(frameworks) == 1:
        return frameworks[0], "the only config"
    if numbered(frameworks, "c1"):
        return default_config(frameworks), "by the _c1 rule"
    return None, "no config is called _c1"


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def _values(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted({value for value in values if value is not None}))


def _only(values: Sequence[str]) -> str | None:
    return values[0] if len(values) == 1 else None


def _share(part: Sequence[Any], whole: Sequence[Any]) -> str:
    if len(part) < len(whole):
        return f"{len(part)} of {len(whole)} results"
    return "the one result" if len(whole) == 1 else f"all {len(whole)} results"
