"""The compiled inner loops: the errors of all candidates of one greedy step.

Every function bounds each candidate cheaply, then scores in the public pipeline's exact arithmetic those alone that
could still win or tie. The others get infinity. ``compiled.run`` imports this module and says where numba keeps what
it compiled; all kernels live in this one file, since numba looks at no other when it asks whether its cache is stale.

``candidates`` are (m, n) float32, ``order`` (k,) int64 names the rows of it that take part, and ``step`` is a
``rows.Step``. Errors are (k,) float64 in the order of ``order``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., Any])

BUCKETS = 4096
"""Buckets of the histogram that bounds an AUC: enough that few candidates are rescored, few enough for the L1 cache."""
CROWDED = 4
"""Pairs within buckets, per row, from which on sorting everything is quicker than looking into the buckets."""
FACTORS = 16
"""Probabilities multiplied before one logarithm: each is at least 1e-15, so that the product stays above 1e-240."""


def _compiled(*, reassociate: bool = False) -> Callable[[_Function], _Function]:
    """Compile a function on its first call; ``reassociate`` lets sums and products be reordered into vector lanes."""
    fastmath: Any = {"reassoc", "nsz"} if reassociate else False

    def decorate(function: _Function) -> _Function:
        try:
            compiled: _Function = numba.njit(cache=True, fastmath=fastmath)(function)
        except RuntimeError:  # no folder of this user can be written: compile for this process alone
            compiled = numba.njit(fastmath=fastmath)(function)
        return compiled

    return decorate


# --- AUC ----------------------------------------------------------------------------------------------------------
# Scores are integers: the 23 mantissa bits of the mix, as the public pipeline ranks them. The rows of the smaller class
# come first; each of them asks how many rows of the larger class rank below it, a tie counting half. These are the
# pairs ranked right where the smaller class is the positive one, and those ranked wrong where it is not.


@_compiled()
def _level(mix: float) -> np.int32:
    """The rank key of a mix: its float32 value in steps of 2**-23, within [0, 1)."""
    inside = min(max(np.float32(mix), np.float32(0.0)), np.float32(1.0))
    return min(np.int32(np.rint(inside * np.float32(8388608.0))), np.int32(8388607))


@_compiled()
def _bucket_grid(step: Any, lowest: Any, highest: Any) -> tuple[np.int32, np.uint32]:
    """First level and width (as a shift) of the buckets that hold every mix of this step.

    All operations are monotone, so that the extremes of the parts give the extremes of the mix.
    """
    first = _level(step.weighted.min() + np.float64(step.share * lowest))
    last = _level(step.weighted.max() + np.float64(step.share * highest))
    shift = np.uint32(0)
    while np.uint32(last - first) >> shift >= BUCKETS:
        shift += np.uint32(1)
    return first, shift


@_compiled()
def _rank(candidate: Any, step: Any, grid: Any, levels: Any, buckets: Any) -> None:
    """The level and the bucket of every row of a mix."""
    weighted, share = step.weighted, step.share
    first, shift = grid
    for row in range(weighted.size):
        level = _level(weighted[row] + np.float64(share * candidate[row]))
        levels[row] = level
        buckets[row] = np.uint32(level - first) >> shift


@_compiled()
def _bound_pairs(buckets: Any, smaller: int, below: Any) -> tuple[np.int64, np.int64]:
    """At least and at most how many pairs have the row of the larger class below.

    Fills ``below`` (BUCKETS + 1,) with the number of rows of the larger class in lower buckets.
    """
    for bucket in range(below.size):
        below[bucket] = 0
    for row in range(smaller, buckets.size):
        below[buckets[row]] += np.int32(1)
    _starts(below)
    least = np.int64(0)
    most = np.int64(0)
    for row in range(smaller):
        least += below[buckets[row]]
        most += below[buckets[row] + np.uint32(1)]
    return least, most


@_compiled()
def _twice_pairs_in_buckets(levels: Any, buckets: Any, smaller: int, below: Any, placed: Any) -> np.int64:
    """Twice the pairs with the larger class below, plus the tied ones: each row looks into its own bucket only."""
    slots = np.empty(below.size, np.int32)
    for bucket in range(below.size):
        slots[bucket] = below[bucket]
    for row in range(smaller, levels.size):
        slot = slots[buckets[row]]
        slots[buckets[row]] = slot + np.int32(1)
        placed[slot] = levels[row]
    pairs = np.int64(0)
    for row in range(smaller):
        level = levels[row]
        start = below[buckets[row]]
        pairs += 2 * start
        for slot in range(start, below[buckets[row] + np.uint32(1)]):
            pairs += (placed[slot] < level) + (placed[slot] <= level)
    return pairs


@_compiled()
def _twice_pairs_by_sorting(levels: Any, smaller: int, by_low_bits: Any, ranked: Any) -> np.int64:
    """The same by a two-pass radix sort of all levels, for buckets that are too full to look into."""
    low = np.zeros(4096, np.int32)
    high = np.zeros(2048, np.int32)
    for row in range(levels.size):
        low[levels[row] & 4095] += np.int32(1)
        high[levels[row] >> 12] += np.int32(1)
    _starts(low)
    _starts(high)
    for row in range(levels.size):
        slot = low[levels[row] & 4095]
        low[levels[row] & 4095] = slot + np.int32(1)
        by_low_bits[slot] = levels[row] << 1 | (1 if row < smaller else 0)
    for row in range(levels.size):
        entry = by_low_bits[row]
        slot = high[entry >> 13]
        high[entry >> 13] = slot + np.int32(1)
        ranked[slot] = entry
    return _twice_pairs_of_ranked(ranked)


@_compiled()
def _starts(counts: Any) -> None:
    """Turn counts into the slot where each bin starts, in place."""
    total = np.int32(0)
    for bin in range(counts.size):
        here = counts[bin]
        counts[bin] = total
        total += here


@_compiled()
def _twice_pairs_of_ranked(entries: Any) -> np.int64:
    """The same for ascending entries ``level << 1 | of the smaller class``."""
    pairs = np.int64(0)
    larger_below = np.int64(0)
    row = 0
    while row < entries.size:
        level = entries[row] >> 1
        tied_smaller = np.int64(0)
        tied_larger = np.int64(0)
        while row < entries.size and entries[row] >> 1 == level:
            if entries[row] & 1:
                tied_smaller += 1
            else:
                tied_larger += 1
            row += 1
        pairs += tied_smaller * (2 * larger_below + tied_larger)
        larger_below += tied_larger
    return pairs


@_compiled()
def auc_errors(candidates: Any, order: Any, step: Any, classes: Any, extremes: Any) -> Any:
    """One minus the AUC of each candidate's mix.

    ``classes`` says how many rows, the first ones, are of the smaller class, and whether that is the positive one;
    ``extremes`` are the lowest and the highest value in ``candidates``.
    """
    smaller, smaller_is_positive = classes
    rows = step.weighted.size
    pairs = np.float64(smaller) * np.float64(rows - smaller)
    grid = _bucket_grid(step, extremes[0], extremes[1])
    levels, placed, ranked = np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int32)
    buckets, below = np.empty(rows, np.uint32), np.empty(BUCKETS + 1, np.int32)
    errors = np.full(order.size, np.inf)
    best = 0.0
    for position in range(order.size):
        _rank(candidates[order[position]], step, grid, levels, buckets)
        least, most = _bound_pairs(buckets, smaller, below)
        if (most if smaller_is_positive else pairs - least) < best - step.close * pairs:
            continue
        if most - least <= CROWDED * rows:
            counted = 0.5 * _twice_pairs_in_buckets(levels, buckets, smaller, below, placed)
        else:
            counted = 0.5 * _twice_pairs_by_sorting(levels, smaller, placed, ranked)
        won = counted if smaller_is_positive else pairs - counted
        errors[position] = 1.0 - won / pairs
        best = max(best, won)
    return errors


# --- log loss -----------------------------------------------------------------------------------------------------
# Predictions are probabilities of the true class in [1e-15, 1].


@_compiled(reassociate=True)
def _mean_log_in_blocks(values: Any) -> Any:
    """The mean logarithm of positive values, one logarithm for sixteen of them."""
    total = 0.0
    whole = values.size - values.size % FACTORS
    for start in range(0, whole, FACTORS):
        product = 1.0
        for row in range(start, start + FACTORS):
            product *= values[row]
        total += math.log(product)
    for row in range(whole, values.size):
        total += math.log(values[row])
    return total / values.size


@_compiled()
def _mean_log(values: Any) -> Any:
    """The mean logarithm, value by value: right to the last digits where the mean is close to zero, too."""
    total = 0.0
    for row in range(values.size):
        total += math.log(values[row])
    return total / values.size


@_compiled(reassociate=True)
def _mean_product(candidate: Any, factors: Any) -> Any:
    total = 0.0
    for row in range(factors.size):
        total += np.float64(candidate[row]) * factors[row]
    return total / factors.size


@_compiled()
def log_loss_errors(candidates: Any, order: Any, step: Any, mean: Any, to_last_digit: bool) -> Any:
    """The log loss of each candidate's mix; ``mean`` (n,) is the running mean itself.

    The bound is the tangent of the convex loss at the running mean E: the mix moves from E towards candidate p by
    share, so that its loss is at least loss(E) - share * (mean(p / E) - 1).
    """
    loss = -_mean_log_in_blocks(mean)
    inverse = 1.0 / mean
    bounds = np.empty(order.size)
    for position in range(order.size):
        bounds[position] = loss - step.share * (_mean_product(candidates[order[position]], inverse) - 1.0)
    mix = np.empty(mean.size)
    errors = np.full(order.size, np.inf)
    best = np.inf
    for _ in range(order.size):
        position = int(bounds.argmin())
        if bounds[position] > best + step.close:
            break
        candidate = candidates[order[position]]
        for row in range(mean.size):
            mix[row] = step.weighted[row] + np.float64(step.share * candidate[row])
        errors[position] = -_mean_log(mix) if to_last_digit else -_mean_log_in_blocks(mix)
        best = min(best, errors[position])
        bounds[position] = np.inf
    return errors
