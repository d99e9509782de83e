"""The object in a result file becomes a `Result`: current and old layouts, every key checked, all problems gathered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from benchwright.contract import Failure, Problem
from benchwright.raw.fields import AGAIN, Fields, show, too_large
from benchwright.raw.metrics import metric_error
from benchwright.raw.predictions import Aligned, align_predictions
from benchwright.raw.recorded_errors import check_errors
from benchwright.raw.result import ProblemType, Result
from benchwright.raw.stand_in import StandIn

METRIC_ALIASES = {"root_mean_squared_error": "rmse"}
_RESULT_CLASSES = ("BaselineResult", "ConfigResult", "AGBagResult")
_ESSENTIAL = {"framework", "metric_error", "task_metadata"}
_SPLIT_FOLDER = re.compile(r"([0-9]+)_([0-9]+)", re.ASCII)


def align(loaded: Any, path: Path) -> Result:
    """The result in a loaded file.

    A dict of artifacts makes it a ``config``, unless it has none; then it is a ``baseline``. Files of all layouts since
    the benchmark's first are read, the aligned copies of its artifact cache too.

    Raises:
        Failure: with every problem of the file.
    """
    problems: list[Problem] = []
    source = unwrap(loaded)
    if source is None:
        raise Failure(Problem("not-a-result", str(path), f"holds {show(loaded)}", "a result's dict", AGAIN))
    if not _ESSENTIAL & source.keys():
        raise Failure(Problem("not-a-result", str(path), "holds a dict of something else", "a result's dict", AGAIN))
    top = Fields(source, str(path), problems)
    task = _task(top)
    problem_type = _problem_type(top)
    framework = top.name("framework")
    metric = _metric(top.text("metric"))
    sim_source = source.get("simulation_artifacts")
    aligned = None
    if sim_source is not None and problem_type is not None:
        aligned = _aligned(_artifacts(top, task), framework, metric, problem_type)
    method_metadata = top.mapping("method_metadata")
    if sim_source is not None and source.get("method_metadata") is None:
        method_metadata = {"model_type": framework, "model_hyperparameters": {}, "name_prefix": framework}
    numbers = {key: top.number(key) for key in ("metric_error", "time_train_s", "time_infer_s")}
    error_val = _metric_error_val(top, metric, aligned, needed=sim_source is not None)
    if aligned is not None and aligned.scored and error_val is not None:
        check_errors(top, metric, (error_val, numbers["metric_error"]), aligned)
    experiment_metadata = top.mapping("experiment_metadata")
    memory_usage = top.mapping("memory_usage")
    _check_size(top, method_metadata, experiment_metadata, memory_usage)
    if problems:
        raise Failure(problems)
    return Result(
        path=path,
        framework=framework,
        dataset=task.dataset,
        tid=task.tid,
        repeat=task.repeat,
        fold=task.fold,
        split=task.split,
        problem_type=cast(ProblemType, problem_type),
        metric=metric,
        metric_error_val=error_val,
        kind="baseline" if aligned is None else "config",
        method_metadata=method_metadata,
        experiment_metadata=experiment_metadata,
        memory_usage=memory_usage,
        predictions=None if aligned is None else aligned.predictions,
        warnings=_warnings(path, framework, task, numbers, aligned),
        not_close={} if aligned is None else aligned.not_close,
        **numbers,
    )


@dataclass(frozen=True, slots=True)
class _Task:
    """Where a result belongs: ``task_metadata``, or the top-level keys that preceded it."""

    dataset: str
    tid: int
    repeat: int
    fold: int
    split: int


def _task(top: Fields) -> _Task:
    if not top.has("task_metadata") and top.has("dataset"):
        fold = top.count("fold")
        return _Task(top.name("dataset"), top.count("tid"), 0, fold, fold)
    before = len(top.problems)
    task = top.inside("task_metadata", top.mapping("task_metadata", needed=True))
    if len(top.problems) > before:
        return _Task("", 0, 0, 0, 0)
    counts = {key: task.count(key) for key in ("tid", "repeat", "fold", "split_idx")}
    return _Task(task.name("name"), counts["tid"], counts["repeat"], counts["fold"], counts["split_idx"])


def unwrap(loaded: Any) -> Mapping[Any, Any] | None:
    """The dict of a result; the first files held an object around it."""
    if isinstance(loaded, StandIn) and loaded.origin.rpartition(".")[2] in _RESULT_CLASSES:
        loaded = loaded.state.get("result") if isinstance(loaded.state, dict) else None
    return loaded if isinstance(loaded, dict) and not isinstance(loaded, StandIn) else None


def _problem_type(top: Fields) -> ProblemType | None:
    value = top.text("problem_type")
    if value in get_args(ProblemType):
        return cast(ProblemType, value)
    if value:
        top.note("unknown-problem-type", f"problem_type is {show(value)}", " or ".join(get_args(ProblemType)))
    return None


def _metric(name: str) -> str:
    return METRIC_ALIASES.get(name, name)


def _artifacts(top: Fields, task: _Task) -> Fields:
    """``simulation_artifacts``; the old layout has them inside ``{dataset: {split: ...}}``."""
    source: Mapping[Any, Any] = top.mapping("simulation_artifacts")
    if not source and isinstance(top.source["simulation_artifacts"], dict):
        top.note("missing-key", "simulation_artifacts is empty", "predictions, or None")
    if task.dataset and list(source) == [task.dataset]:
        splits = top.inside("simulation_artifacts", source).mapping(task.dataset, needed=True)
        source = splits.get(task.split, {})
        if not isinstance(source, dict) or not source:
            top.note(
                "contradiction", f"simulation_artifacts of split {show(next(iter(splits), None))}", f"{task.split}"
            )
            source = {}
    return top.inside("simulation_artifacts", source)


def _aligned(sim: Fields, framework: str, metric: str, problem_type: ProblemType) -> Aligned | None:
    """What the artifacts give; None where there are none, or where anything is wrong with them."""
    if not sim.source:
        return None
    _check_agreement(sim, metric, problem_type)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found and told
        return align_predictions(sim, framework, problem_type)


def _check_agreement(sim: Fields, metric: str, problem_type: str) -> None:
    """The artifacts repeat metric and problem type; they must say the same."""
    for key in ("metric", "eval_metric"):
        if sim.has(key) and _metric(sim.text(key)) != metric:
            sim.note("contradiction", f"{sim.prefix}{key} is {show(sim.source[key])}", f"{metric}, as at the top")
    for key in ("problem_type", "problem_type_transform"):
        if sim.has(key) and sim.text(key) != problem_type:
            sim.note("contradiction", f"{sim.prefix}{key} is {show(sim.source[key])}", f"{problem_type}, as at the top")


def _metric_error_val(top: Fields, metric: str, aligned: Aligned | None, *, needed: bool) -> float | None:
    """The recorded validation error; where a result with predictions lacks it, the error of the stored ones."""
    recorded = top.has("metric_error_val")
    if recorded and (needed or top.source["metric_error_val"] is not None):
        return top.number("metric_error_val")
    if not needed or aligned is None:
        return None
    error = metric_error(metric, aligned.predictions.y_val, aligned.stored_val)
    if error is None:
        top.note("missing-key", f"no metric_error_val, and {metric} is not computed here", "a number")
    return error


def _check_size(top: Fields, *mappings: Mapping[Any, Any]) -> None:
    """What later steps print or write as JSON must be small; ``info`` is only ever looked into."""
    reason = too_large(value for mapping in mappings for key, value in mapping.items() if key != "info")
    if reason:
        top.note("too-complex", f"{reason} in its metadata", "metadata that can be written out")


def _warnings(
    path: Path, framework: str, task: _Task, numbers: Mapping[str, float], aligned: Aligned | None
) -> tuple[str, ...]:
    found = []
    for part, share in ({} if aligned is None else aligned.not_close).items():
        found.append(
            f"Not close {part}: {task.dataset}, {task.split}, {framework}: {share:.3%} of the stored predictions are "
            f"not close to the mean of the children, which is used instead"
        )
    found.extend(f"{key} is negative: {value}" for key, value in numbers.items() if value < 0)
    parts = path.parts
    folder = _SPLIT_FOLDER.fullmatch(parts[-2]) if len(parts) > 4 else None
    if folder and (int(folder[1]), int(folder[2])) != (task.repeat, task.fold):
        found.append(f"lies in folder {parts[-2]} but is repeat {task.repeat}, fold {task.fold}")
    if folder and parts[-4] != framework:
        found.append(f"lies in folder {parts[-4]} but is of {framework}")
    return tuple(found)
