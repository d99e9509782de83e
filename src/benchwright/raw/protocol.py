"""The inner validation protocol a result was really made with: read from its children, not from what was requested.

The runner writes down a request of 8 folds even where the split policy makes 5 x 5 of it, or where a model makes do
with one child. What the children predict cannot be wrong about itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchwright.arena.official import OFFICIAL_PROTOCOLS
from benchwright.raw.children import all_rows
from benchwright.raw.result import Predictions, Result

TABARENA_KEY = OFFICIAL_PROTOCOLS["tabarena"]
BEYONDARENA_KEY = OFFICIAL_PROTOCOLS["beyondarena"]
TINY_ROWS = 500
"""The most rows or groups that the protocol of BeyondArena makes 5 x 5 of."""
SYSTEM_KEY = "system"
OUTER_KEY = "outer"
HOLDOUT_KEY = "holdout"
_NAMED = (BEYONDARENA_KEY, SYSTEM_KEY, OUTER_KEY, HOLDOUT_KEY)
_COUNTED = re.compile(r"([1-9][0-9]*x[1-9][0-9]*|custom:[1-9][0-9]*)\Z")
_RECORD = "validation_protocol"
_SAME_FRACTION = 0.011
"""Stratified holdouts of small tasks miss the fraction that was asked for by a row or two."""
_OUTER_CLASS = "AGModelWrapper"
_VALIDATING_CLASSES = ("AGSingleBagWrapper", "AGSingleWrapper")


@dataclass(frozen=True, slots=True)
class Protocol:
    """How one result was validated.

    ``key`` is ``<folds>x<repeats>``, the dynamic key of BeyondArena, ``custom:<children>`` for children that are no
    folds times repeats, ``holdout:<fraction>`` (plain ``holdout`` where the fraction cannot be told), ``outer``,
    ``system``, or None where the file does not say. ``explanation`` is one line on what the key rests on. ``rows`` are
    the validation rows. ``requested`` and ``recorded`` are what the run asked for and what it wrote down, if anything.
    """

    key: str | None
    explanation: str
    children: int = 0
    shape: tuple[int, int] | None = None
    rows: int = 0
    requested: str | None = None
    recorded: str | None = None

    @property
    def disputed(self) -> bool:
        """Whether the run wrote down another protocol than the result shows."""
        return self.recorded is not None and self.recorded != self.key

    def agrees_with(self, declared: str) -> bool | None:
        """Whether a declared key can be true of this result; None where the result, or the key, does not say."""
        if self.key is None or not is_known(declared):
            return None
        if declared == BEYONDARENA_KEY and self.children and self.key != BEYONDARENA_KEY:
            # Tasks with groups or a time axis get fewer folds, so only what the rule excludes is a contradiction.
            excluded = self.rows <= TINY_ROWS and self.shape == (8, 1)
            return self.requested in (None, TABARENA_KEY) and not excluded
        if self.key == HOLDOUT_KEY and _fraction(declared) is not None:
            return None
        mine, other = _fraction(self.key), _fraction(declared)
        if mine is not None and other is not None:
            return abs(mine - other) <= _SAME_FRACTION
        return self.key == declared


def is_known(key: str) -> bool:
    """Whether a key is of a form that is known here. What another program means by any other is unknown."""
    return key in _NAMED or _COUNTED.match(key) is not None or _fraction(key) is not None


def infer_validation_protocol(result: Result) -> str | None:
    """The key of `effective_protocol`."""
    return effective_protocol(result).key


def effective_protocol(result: Result) -> Protocol:
    """The protocol that a result's children show.

    A record of the run names the protocol where the children can agree with it, or its key is of no known form. Where
    they cannot, their key stays, the explanation says what the record claims, and the protocol is ``disputed``.
    """
    shown = _of_config(result, result.predictions) if result.predictions is not None else _of_baseline(result)
    record = result.experiment_metadata.get(_RECORD)
    recorded = record.get("key") if isinstance(record, Mapping) else record
    if not isinstance(recorded, str):
        return shown
    if shown.agrees_with(recorded) is False:
        return replace(shown, recorded=recorded, explanation=f"records {recorded}, but {shown.explanation}")
    return replace(shown, key=recorded, recorded=recorded, explanation=f"records {recorded}; {shown.explanation}")


def _of_config(result: Result, predictions: Predictions) -> Protocol:
    if predictions.is_bagged:
        return _of_children(result, predictions)
    planned = _mapping(_mapping(result.method_metadata, "info"), "bagged_info").get("_k_per_n_repeat")
    if isinstance(planned, list) and planned and all(_count(folds) == _count(planned[0]) > 0 for folds in planned):
        key = f"{planned[0]}x{len(planned)}"
        rows = len(predictions.y_val)
        return Protocol(key, f"{key} by the bag's own record (children not kept)", sum(planned), rows=rows)
    return _of_holdout(result, predictions)


def _of_children(result: Result, predictions: Predictions) -> Protocol:
    """The protocol of a bag, from how often its children cover each validation row."""
    children = len(predictions.val_rows_per_child)
    rows = len(predictions.y_val)
    requested = _requested(result)
    aside = f" ({requested} requested)" if requested else ""
    if children == 1:
        said = f"{requested} requested; 1 child via use_child_oof" if requested else "1 child, no request recorded"
        return Protocol(requested, said, 1, rows=rows, requested=requested)
    covered = np.bincount(all_rows(predictions.val_rows_per_child), minlength=rows)
    repeats = int(covered[0])
    if children % repeats or (covered != repeats).any():
        said = f"{children} children that cover {covered.min()} to {covered.max()} times each row{aside}"
        return Protocol(f"custom:{children}", said, children, rows=rows, requested=requested)
    folds = children // repeats
    key = f"{folds}x{repeats}"
    said = f"{children} children, {folds} folds x {repeats} {'repeat' if repeats == 1 else 'repeats'}"
    if key == "5x5" and requested == TABARENA_KEY and rows <= TINY_ROWS:
        said += f" on {rows} rows, at most {TINY_ROWS}: the dynamic rule ({requested} requested)"
        return Protocol(BEYONDARENA_KEY, said, children, (folds, repeats), rows, requested)
    return Protocol(key, said if key == requested else said + aside, children, (folds, repeats), rows, requested)


def _of_holdout(result: Result, predictions: Predictions) -> Protocol:
    rows = len(predictions.y_val)
    trained = _count(_mapping(result.method_metadata, "fit_metadata").get("num_samples"))
    if not trained:
        return Protocol(HOLDOUT_KEY, f"no children, {rows} validation rows", rows=rows)
    key = f"{HOLDOUT_KEY}:{rows / (rows + trained):.2g}"
    return Protocol(key, f"no children, {rows} validation rows beside {trained} training rows", rows=rows)


def _of_baseline(result: Result) -> Protocol:
    ran = result.experiment_metadata.get("method_cls")
    if not isinstance(ran, str):
        return Protocol(None, "records neither children nor what ran it")
    if ran == _OUTER_CLASS:
        return Protocol(OUTER_KEY, f"{ran} fits on all training rows")
    if ran in _VALIDATING_CLASSES:
        return Protocol(None, f"{ran}, whose predictions were not kept")
    return Protocol(SYSTEM_KEY, f"{ran} validates by itself")


def _requested(result: Result) -> str | None:
    asked = _mapping(result.method_metadata, "fit_kwargs_extra")
    folds = _count(asked.get("num_bag_folds"))
    return f"{folds}x{_count(asked.get('num_bag_sets')) or 1}" if folds else None


def _fraction(key: str) -> float | None:
    kind, _, fraction = key.partition(":")
    if kind != HOLDOUT_KEY or not fraction:
        return None
    try:
        return float(fraction)
    except ValueError:
        return None


def _mapping(source: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = source.get(key)
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | np.integer) and 0 < value < 2**31 else 0
