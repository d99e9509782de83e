"""What a result has to say of its own making, which the public runner does not write.

Records that join ``experiment_metadata``: ``validation_protocol``, ``warmup_report``, ``timing_audit``, and ``runner``,
which says whether the fit ran in a process whose imports were made and frozen beforehand: on small data the garbage
collector then takes seconds less of the timed fit than under the public runner. The runner's class is extended under
its own name, so ``experiment_cls`` reads as it does in any other result.
"""

from __future__ import annotations

import gc
import math
import sys
import traceback
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, cast

import numpy as np
from tabarena.benchmark.exec_models.autogluon import AGModelWrapper, AGSingleWrapper
from tabarena.benchmark.experiment.experiment_runner import ExperimentRunner

from benchwright import __version__
from benchwright.bridge.published import DYNAMIC_PROTOCOL

TIMED_SECTIONS = {"fit": ("fit",), "predict": ("predict", "predict_proba")}
"""The sections whose wall time goes into a result, and the methods that make them up."""


class RecordingRunner(ExperimentRunner):  # type: ignore[misc]
    """Adds the records, and lets no result through whose error is not a number."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.warmup_report: dict[str, Any] = {"status": "none", "duration_s": None, "error": None}
        self.timing_audit: dict[str, list[str]] = {section: [] for section in TIMED_SECTIONS}

    def init_method(self) -> Any:
        """The method, with its timed sections watched for imports."""
        method = super().init_method()
        for section, names in TIMED_SECTIONS.items():
            for name in names:
                setattr(method, name, self._audited(getattr(method, name), section))
        return method

    def run_warmup(self) -> float | None:
        """Run the method's warm-up outside all timing; a failure is recorded and printed, and the fit goes on cold.

        Returns the seconds it took, None when there was nothing to warm or it failed, as the public runner does.
        """
        warm_up = self.model.warmup_fn if self.warmup else None
        if warm_up is None:
            return None
        start = perf_counter()
        try:
            warm_up()
        except Exception as error:  # noqa: BLE001 - a warm-up is any model's own code, and it must not cost the fit
            traceback.print_exc()  # before the line that says it is over: triage takes it for no cause of what follows
            sys.stderr.write(f"##### warm-up of {self.method} failed, the fit goes on cold\n")
            self.warmup_report = {
                "status": "failed",
                "duration_s": perf_counter() - start,
                "error": f"{type(error).__name__}: {error}",
            }
            return None
        self.warmup_report = {"status": "ok", "duration_s": perf_counter() - start, "error": None}
        return cast(float, self.warmup_report["duration_s"])

    def run(self) -> dict[str, Any]:
        """Fit, evaluate and record one split.

        Raises:
            ValueError: the test or validation error is not a finite number.
            Exception: whatever the fit raised.
        """
        out: dict[str, Any] = super().run()
        for key in out.keys() & {"metric_error", "metric_error_val"}:
            if out[key] is None or not math.isfinite(out[key]):
                raise ValueError(f"{self.method}: {key} is {out[key]}, expected a finite number")
        out["experiment_metadata"] |= {
            "validation_protocol": effective_protocol(self.model, out),
            "warmup_report": self.warmup_report,
            "timing_audit": self.timing_audit,
            "runner": {
                "name": "benchwright",
                "version": __version__,
                "preloaded_and_frozen": gc.get_freeze_count() > 0,
            },
        }
        return out

    def _audited(self, call: Callable[..., Any], section: str) -> Callable[..., Any]:
        """``call``, with the packages that it imports added to the section's record."""

        def watched(*args: Any, **kwargs: Any) -> Any:
            before = set(sys.modules)
            try:
                return call(*args, **kwargs)
            finally:
                self.timing_audit[section] = sorted(
                    {*self.timing_audit[section], *_packages(set(sys.modules) - before)}
                )

        return watched


def recording_runner(base: type[ExperimentRunner]) -> type[ExperimentRunner]:
    """``base`` with the records added, under the same name."""
    return type(base.__name__, (RecordingRunner, base), {"__module__": base.__module__})


def effective_protocol(method: Any, out: Mapping[str, Any]) -> str | None:
    """The inner validation protocol that a result was really made with, as a key.

    ``8x1`` is 8 folds once, counted from the children's validation rows: what was requested is recorded elsewhere, and
    need not be what was done. One child that covers all rows (``use_child_oof``) has no folds, so the request stands.
    Children that are no folds times repeats are ``custom:<children>``. A method that follows the benchmark's dynamic
    rule (fewer and repeated folds on tiny data) has that rule's key whatever a single task made of it. Without
    children: ``holdout:<share>``, ``outer`` (fitted on all rows), ``system`` (validates by itself), or None where
    the predictions were not kept.
    """
    if isinstance(method, AGModelWrapper):
        return "outer"
    if not isinstance(method, AGSingleWrapper):
        return "system"
    artifacts = out["simulation_artifacts"]
    if artifacts is None:
        return None
    rows = len(artifacts["y_val"])
    if "bag_info" not in artifacts:
        trained = out["method_metadata"]["fit_metadata"]["num_samples"]
        return f"holdout:{rows / (rows + trained):.2g}"
    if method.use_task_specific_validation:
        return DYNAMIC_PROTOCOL
    children = artifacts["bag_info"]["val_idx_per_child"]
    requested = method.fit_kwargs_extra
    if len(children) == 1:
        return f"{requested['num_bag_folds']}x{requested.get('num_bag_sets') or 1}"
    covered = np.bincount(np.concatenate(children), minlength=rows)
    repeats = int(covered[0])
    if not repeats or len(children) % repeats or (covered != repeats).any():
        return f"custom:{len(children)}"
    return f"{len(children) // repeats}x{repeats}"


def _packages(modules: set[str]) -> set[str]:
    """The top-level packages among modules, without the standard library."""
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
