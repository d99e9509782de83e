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

BUCKETS_A_ROW = 4
"""Buckets for each row of the smaller class: most hold one row at most, and adding them up stays cheap."""
FEWEST_BUCKETS, MOST_BUCKETS = 2**10, 2**16
"""Few rows of one class among many of the other need some precision, and a core's caches have to hold the table."""
END = 2**17
"""Levels from 0 and from 1 (one in 64) within which the scale of the buckets turns from logarithmic to linear."""
CROWDED = 32
"""Pairs of rows in a bucket, for each row, from which on the rows are sorted by their digits and not by insertion."""
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
# Scores are integers: the 23 mantissa bits of the mix, as the public pipeline ranks them, mirrored where the negative
# class is the smaller one. So a pair is lost when the row of the larger class has the higher level, and half lost when
# they tie. The rows of the smaller class come first: they are put into buckets, in which the others look up how many
# are below.

_TOP = np.int32(2**23 - 1)
_ONE_ROW = np.uint64(2**24)
_LEVEL = np.uint64(2**24 - 1)
"""An entry of the table of buckets counts rows in its upper bits and holds a level in its 24 lower ones."""
_LACK = np.int32(2**24 - 1)
"""That level is stored as what it lacks of this: adding a higher level, and no other, carries one to the rows."""


@_compiled()
def _level(mix: float) -> np.int32:
    """The rank key of a mix: its float32 value in steps of 2**-23, within [0, 1)."""
    inside = min(max(np.float32(mix), np.float32(0.0)), np.float32(1.0))
    return min(np.int32(np.rint(inside * np.float32(2**23))), _TOP)


@_compiled()
def _place(level: np.int32) -> np.int32:
    """Where a level lies on a scale like that of log odds, which tells apart the many probabilities near 0 and 1.

    The bits of a positive float32, read as an integer, approximate its logarithm by straight pieces and never fall when
    it grows. The sums are exact in float32. So equal levels share a place, and a higher level's place is no lower.
    """
    for_it = np.float32(np.int32(level + np.int32(END))).view(np.int32)
    against = np.float32(np.int32(_TOP - level + np.int32(END))).view(np.int32)
    return np.int32(for_it - against)


@_compiled()
def _grid(step: Any, extremes: Any, mirror: np.int32, count: int) -> tuple[np.int32, np.int32, np.float32]:
    """How to mirror levels, their lowest place, and the buckets for each place: ``count`` hold every mix of this step.

    All operations are monotone, so that the extremes of the parts give the extremes of the mix. Half a bucket is kept
    free for the rounding of the products with that width.
    """
    one = _place(_level(step.weighted.min() + np.float64(step.share * extremes[0])) ^ mirror)
    other = _place(_level(step.weighted.max() + np.float64(step.share * extremes[1])) ^ mirror)
    places = np.float32(max(one, other) - min(one, other)) + np.float32(1.0)
    return mirror, min(one, other), np.float32(count - 0.5) / places


@_compiled()
def _rank(candidate: Any, step: Any, grid: Any, levels: Any, buckets: Any) -> None:
    """The level and the bucket of every row of a mix; one loop each, so that both run in vector lanes."""
    weighted, share = step.weighted, step.share
    mirror, lowest, width = grid
    for row in range(weighted.size):
        levels[row] = _level(weighted[row] + np.float64(share * candidate[row])) ^ mirror
    for row in range(weighted.size):
        buckets[row] = np.uint32(np.int32(np.float32(np.int32(_place(levels[row]) - lowest)) * width))


@_compiled()
def _fill(levels: Any, buckets: Any, table: Any) -> None:
    """Fill ``table`` (buckets + 1,) with the number of rows in lower buckets and the lowest level in each bucket."""
    table[:] = np.uint64(_LACK - _TOP)
    for row in range(levels.size):
        entry = table[buckets[row]]
        level = max(entry & _LEVEL, np.uint64(_LACK - levels[row]))
        table[buckets[row]] = (entry & ~_LEVEL) + _ONE_ROW + level
    below = np.uint64(0)
    for bucket in range(table.size):
        entry = table[bucket]
        table[bucket] = below + (entry & _LEVEL)
        below += entry & ~_LEVEL


@_compiled()
def _least_lost(levels: Any, buckets: Any, table: Any) -> np.uint64:
    """At least how many pairs are lost: of its own bucket, each row heeds the lowest level alone.

    That takes one look-up a row, and no branch, which could not be foretold.
    """
    lost = np.uint64(0)
    for row in range(levels.size):
        lost += (table[buckets[row]] + np.uint64(levels[row])) // _ONE_ROW
    return lost


@_compiled()
def _twice_lost(levels: Any, buckets: Any, table: Any, ranked: Any) -> np.uint64:
    """Twice the lost pairs, given the sorted levels of the smaller class: each row looks into its own bucket."""
    twice = np.uint64(0)
    for row in range(levels.size):
        level = levels[row]
        start, end = table[buckets[row]] // _ONE_ROW, table[buckets[row] + np.uint32(1)] // _ONE_ROW
        if start == end or ranked[start] > level:
            twice += start + start
        elif ranked[end - np.uint64(1)] < level:
            twice += end + end
        elif ranked[start] == ranked[end - np.uint64(1)]:
            twice += start + end
        else:
            below = _count_below(ranked, start, end, level)
            twice += below + _count_below(ranked, below, end, level + np.int32(1))
    return twice


@_compiled()
def _count_below(ranked: Any, start: np.uint64, end: np.uint64, level: np.int32) -> np.uint64:
    """How many are below a level, given that those before ``start`` are and those from ``end`` on are not."""
    while start < end:
        middle = (start + end) >> np.uint64(1)
        if ranked[middle] < level:
            start = middle + np.uint64(1)
        else:
            end = middle
    return start


@_compiled()
def _sort(levels: Any, buckets: Any, table: Any, ranked: Any) -> None:
    """Sort levels into ``ranked``: bucket by bucket, unless some are so full that insertion would take long."""
    slots = table // _ONE_ROW
    crowding = np.uint64(0)
    for bucket in range(slots.size - 1):
        size = slots[bucket + 1] - slots[bucket]
        crowding += size * size
    if crowding > np.uint64(CROWDED * levels.size):
        by_low_bits = np.empty_like(levels)
        _place_by_digit(levels, np.int32(0), by_low_bits)
        _place_by_digit(by_low_bits, np.int32(12), ranked)
        return
    for row in range(levels.size):
        ranked[slots[buckets[row]]] = levels[row]
        slots[buckets[row]] += np.uint64(1)
    _sort_by_insertion(ranked)


@_compiled()
def _sort_by_insertion(ranked: Any) -> None:
    for row in range(1, ranked.size):
        level = ranked[row]
        place = row
        while place > 0 and ranked[place - 1] > level:
            ranked[place] = ranked[place - 1]
            place -= 1
        ranked[place] = level


@_compiled()
def _place_by_digit(levels: Any, shift: np.int32, placed: Any) -> None:
    """One pass of a radix sort: by twelve bits, otherwise in the given order."""
    slots = np.zeros(4096, np.uint32)
    for row in range(levels.size):
        slots[levels[row] >> shift & 4095] += np.uint32(1)
    before = np.uint32(0)
    for digit in range(slots.size):
        here = slots[digit]
        slots[digit] = before
        before += here
    for row in range(levels.size):
        digit = levels[row] >> shift & 4095
        placed[slots[digit]] = levels[row]
        slots[digit] += np.uint32(1)


@_compiled()
def auc_errors(candidates: Any, order: Any, step: Any, classes: Any, extremes: Any) -> Any:
    """One minus the AUC of each candidate's mix.

    ``classes`` says how many rows, the first ones, are of the smaller class, and whether that is the positive one;
    ``extremes`` are the lowest and the highest value in ``candidates``.
    """
    smaller, smaller_is_positive = classes
    rows = step.weighted.size
    count = min(max(BUCKETS_A_ROW * smaller, FEWEST_BUCKETS), MOST_BUCKETS)
    grid = _grid(step, extremes, np.int32(0) if smaller_is_positive else _TOP, count)
    levels, buckets = np.empty(rows, np.int32), np.empty(rows, np.uint32)
    table = np.empty(count + 1, np.uint64)
    bounds = np.empty(order.size)
    for position in range(order.size):
        _rank(candidates[order[position]], step, grid, levels, buckets)
        _fill(levels[:smaller], buckets[:smaller], table)
        bounds[position] = _least_lost(levels[smaller:], buckets[smaller:], table)
    ranked = np.empty(smaller, np.int32)
    pairs = np.float64(smaller) * np.float64(rows - smaller)
    errors = np.full(order.size, np.inf)
    most_lost = pairs
    for _ in range(order.size):
        position = int(bounds.argmin())
        if bounds[position] > most_lost:
            break
        _rank(candidates[order[position]], step, grid, levels, buckets)
        _fill(levels[:smaller], buckets[:smaller], table)
        _sort(levels[:smaller], buckets[:smaller], table, ranked)
        lost = 0.5 * _twice_lost(levels[smaller:], buckets[smaller:], table, ranked)
        errors[position] = 1.0 - (pairs - lost) / pairs
        most_lost = min(most_lost, lost + step.close * pairs)
        bounds[position] = np.inf
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
