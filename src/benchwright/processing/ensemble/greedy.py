"""Greedy ensemble selection with replacement (Caruana et al., 2004), in the order of operations of AutoGluon's."""

from __future__ import annotations

import numpy as np

from benchwright.processing.ensemble.rows import Float32, Float64, Indices, Scorer

_DECIMALS = 6
_ROUND_ABOVE = 1e-4
_TIE = 1e-12


def grow(
    scorer: Scorer, candidates: Float32, order: Indices, size: int, seed: int
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Positions in ``order`` of the members in the order of their choice, and the error after each.

    ``candidates`` (m, n) are reduced predictions, ``order`` (k,) the rows of it that take part. The running mean and
    the mixes round like the original's: products of a float32 prediction with a weight are float32, sums float64.
    The result ends at the first member with which the error is lowest.
    """
    ties = np.random.RandomState(seed)
    mean = np.zeros(candidates.shape[1])
    counts = np.zeros(len(order), np.int64)
    chosen: list[int] = []
    trajectory: list[float] = []
    rounded = False
    for step in range(size):
        if step == 0:
            errors = scorer.alone[order]
        else:
            mean *= (step - 1) / step
            mean += candidates[order[chosen[-1]]] / np.float32(step)
            errors = scorer.errors(order, mean, counts, rounded=rounded)
        if rounded:
            errors = np.round(errors, _DECIMALS)
        best = _pick(errors, counts, ties)
        error = float(errors[best])
        if step == 0 and error > _ROUND_ABOVE:
            rounded = True
            error = float(np.round(error, _DECIMALS))
        chosen.append(best)
        trajectory.append(error)
        counts[best] += 1
        if len(order) == 1 or (scorer.never_negative and error <= 0):
            break
    length = int(np.argmin(trajectory)) + 1
    return tuple(chosen[:length]), tuple(trajectory[:length])


def _pick(errors: Float64, counts: Indices, ties: np.random.RandomState) -> int:
    """The position with the lowest error; among equals members come first, then chance decides."""
    lowest = errors.min()
    equal = np.flatnonzero(np.abs(errors - lowest) <= _TIE * abs(lowest))
    if len(equal) > 1:
        members = equal[counts[equal] > 0]
        equal = members if len(members) else equal
    return int(equal[0] if len(equal) == 1 else ties.choice(equal))
