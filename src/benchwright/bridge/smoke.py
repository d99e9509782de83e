"""The smoke fit: one registered model, fitted on AutoGluon's toy data by AutoGluon's own helper, before a cluster is.

It is what TabArena's registry test does for one model (``tests/tabarena/models/test_all_models.py``), except that a
model made for GPUs is not skipped where there is none: it is fitted on the CPU. The helper makes the toy data itself,
so nothing is downloaded but the weights that a model may have.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from benchwright.arena import ModelInfo
from benchwright.bridge.models import registered
from benchwright.bridge.smoke_failures import explained
from benchwright.bridge.smoke_overrides import SmokeOverride, smoke_override
from benchwright.bridge.weights import hub_as_reachable, prefetch_weights
from benchwright.contract import Exit, Failure, Outcome, Problem, Progress, redact, usage_error


@dataclass(frozen=True, slots=True)
class SmokeReport:
    """A smoke fit that went well.

    ``seconds`` is the wall time of the whole, imports and weights too. ``device`` is where the fits ran.
    ``problem_types`` are those that were fitted, ``hyperparameters`` what was set for the model.
    """

    model: str
    seconds: float
    device: Literal["cpu", "gpu"]
    problem_types: tuple[str, ...]
    hyperparameters: Mapping[str, object]
    notes: tuple[str, ...] = ()

    def outcome(self) -> Outcome:
        """The report as a script says it; the last line is ``SMOKE OK``."""
        settings = {name: _plain(value) for name, value in self.hyperparameters.items()}
        said = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return Outcome(
            summary=f"{self.model} fits the toy data in {self.seconds:.1f} s on the {self.device.upper()}: "
            + ", ".join(self.problem_types),
            data={
                "model": self.model,
                "seconds": round(self.seconds, 3),
                "device": self.device,
                "problem_types": list(self.problem_types),
                "hyperparameters": settings,
                "notes": list(self.notes),
            },
            details=[*([f"set for it: {said}"] if said else []), *(f"note: {note}" for note in self.notes)],
            closing=("SMOKE OK",),
        )


def smoke_fit(
    model: str,
    *,
    extra_hyperparameters: Mapping[str, object] = {},
    checkout: Path | None = None,
    progress: Progress | None = None,
) -> SmokeReport:
    """Fit, refit, bag and predict with one model on the toy data of each problem type that it has.

    ``extra_hyperparameters`` are set last, over the model's smoke settings (``smoke_override``; ``checkout`` is a
    TabArena checkout whose settings win). Weights are fetched first. All that the fits write goes into a folder that is
    removed however they end, and what they print goes to stderr. The current directory is that folder meanwhile.

    Raises:
        Failure: no such model, one that the registry has replaced, or settings that are none (exit 2); a package,
            weights, memory or a GPU that this machine lacks (exit 3); a fit failed (exit 1), with a problem for each
            problem type, and the tracebacks on stderr.
    """
    start = perf_counter()
    info, entry = registered(model)
    if info.superseded:
        raise Failure(_superseded(info), exit=Exit.USAGE)
    override, notes = smoke_override(info.name, checkout)
    extra = _checked(extra_hyperparameters)
    settings = {**override.hyperparameters, **extra}
    problem_types = _problem_types(info, override)
    cuda = _has_cuda()
    device: Literal["cpu", "gpu"] = "gpu" if info.compute == "gpu" and cuda and not _is_cpu(settings) else "cpu"
    with hub_as_reachable() if info.prefetches_weights else contextlib.nullcontext():
        notes += tuple(prefetch_weights([info.name]))
        _Fits(info, entry.model_cls, override, settings, extra, cuda).run(problem_types, progress)
    if info.compute == "gpu" and not cuda:
        notes += ("there is no CUDA device here, so a model made for GPUs was fitted on the CPU",)
    return SmokeReport(info.name, perf_counter() - start, device, problem_types, settings, notes)


@dataclass(frozen=True, slots=True)
class _Fits:
    """The helper's fits of one model."""

    info: ModelInfo
    model_cls: Any
    override: SmokeOverride
    settings: Mapping[str, object]
    extra: Mapping[str, object]
    cuda: bool

    def run(self, problem_types: tuple[str, ...], progress: Progress | None) -> None:
        """Fit each problem type; the first is bagged too, as the helper does when it is given all at once."""
        failed: dict[Problem, list[str]] = {}  # the same fault in several problem types is one problem
        total, failures = len(problem_types), 0
        for done, problem_type in enumerate(problem_types):
            if progress is not None:
                progress(done - failures, total, failed=failures, note=f"{self.info.name}: {problem_type}")
            try:
                with _scratch_folder(), contextlib.redirect_stdout(sys.stderr), _root_handler():
                    self._verify(problem_type, bag="first" if done == 0 else False)
            except Exception as error:  # a wrapper is anyone's code, and raises what it likes
                with contextlib.suppress(OSError, ValueError):  # nobody may be reading
                    sys.stderr.write(redact("".join(traceback.format_exception(error))))
                problem, exit_code = self._explained(error)
                if exit_code != Exit.NO:  # the other problem types would fail for the same reason
                    raise Failure(problem, exit=exit_code) from error
                failed.setdefault(problem, []).append(problem_type)
                failures += 1
        if progress is not None:
            progress(total - failures, total, failed=failures)
        if failed:
            raise Failure(
                replace(problem, where=f"{problem.where} on toy data ({', '.join(kinds)})")
                for problem, kinds in failed.items()
            )

    def _explained(self, error: Exception) -> tuple[Problem, Exit]:
        return explained(error, self.info, self.model_cls, self.settings, self.extra, cuda=self.cuda)

    def _verify(self, problem_type: str, *, bag: str | bool) -> None:
        from autogluon.tabular.testing import FitHelper

        FitHelper.verify_model(
            model_cls=self.model_cls,
            model_hyperparameters=dict(self.settings),
            problem_types=[problem_type],
            bag=bag,
            verify_single_prediction_equivalent_to_multi=self.override.verify_single_prediction_equivalent_to_multi,
            use_larger_toy_datasets=self.override.use_larger_toy_datasets,
        )


@contextlib.contextmanager
def _scratch_folder() -> Iterator[None]:
    """Work in a new folder, and remove it: the helper writes its predictors into the current directory."""
    with (
        tempfile.TemporaryDirectory(prefix="benchwright-smoke-", ignore_cleanup_errors=True) as folder,
        contextlib.chdir(folder),
    ):
        yield


@contextlib.contextmanager
def _root_handler() -> Iterator[None]:
    """Give the root logger a handler, as it has under pytest, where the helper is at home.

    The helper fails a model under which that logger gains one, and any library's first ``logging.warning`` adds one
    where there is none (importing torch does). Python's own last resort is what would print the messages anyway.
    """
    root = logging.getLogger()
    if root.handlers or logging.lastResort is None:
        yield
        return
    root.addHandler(logging.lastResort)
    try:
        yield
    finally:
        root.removeHandler(logging.lastResort)


def _superseded(info: ModelInfo) -> Problem:
    needs = f" (it needs {' '.join(info.pip_extra)})" if info.pip_extra else ""
    found = f"a newer entry of the registry has replaced it, and the two cannot be installed together{needs}"
    return Problem("superseded", f"model {info.name}", found, "a model that is not superseded", "take the newer model")


def _checked(extra: Mapping[str, object]) -> Mapping[str, object]:
    if isinstance(extra, Mapping) and all(isinstance(name, str) for name in extra):
        return extra
    expected, fix = 'a dict of hyperparameters such as {"device": "cpu"}', "correct it in the run script"
    raise usage_error("SMOKE_EXTRA_HYPERPARAMETERS", repr(extra), expected, fix)


def _problem_types(info: ModelInfo, override: SmokeOverride) -> tuple[str, ...]:
    wanted = info.problem_types if override.problem_types is None else override.problem_types
    types = tuple(kind for kind in info.problem_types if kind in wanted)
    if not types:
        found = f"its smoke settings have {', '.join(wanted) or 'no problem type'}"
        expected = f"one of {', '.join(info.problem_types) or 'binary, multiclass, regression'}"
        fix = "correct problem_types in its smoke settings"
        raise Failure(Problem("no-problem-type", f"model {info.name}", found, expected, fix), exit=Exit.USAGE)
    return types


def _has_cuda() -> bool:
    try:
        return bool(import_module("torch").cuda.is_available())
    except (ImportError, OSError):  # OSError: a torch whose libraries do not load, which the fits will then say
        return False


def _is_cpu(settings: Mapping[str, object]) -> bool:
    return str(settings.get("device", "")).startswith("cpu")


def _plain(value: object) -> object:
    """A value as JSON can hold it: itself, or its text."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return repr(value)
    return value
