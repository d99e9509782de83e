"""Random numbers that stay the same across NumPy versions and machines.

NumPy promises a stable stream for its bit generators, not for ``Generator``'s distributions. So everything here comes
from the raw 64-bit words of PCG64: uniforms from the upper 53 bits, and the rest from uniforms by comparisons and sums
of a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_TERMS = 12


class StableRandom:
    """A stream of draws fixed by ``seed``; every draw takes the next words of the stream."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def uniform(self, n: int) -> NDArray[np.float64]:
        """``n`` numbers in [0, 1): the upper 53 bits of each word, divided by 2**53."""
        words: NDArray[np.uint64] = self._bits.random_raw(n)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, n: int) -> NDArray[np.float64]:
        """``n`` nearly normal numbers, mean 0 and variance 1: the sum of twelve uniforms less six (Irwin-Hall)."""
        total = np.zeros(n)
        for _ in range(_TERMS):
            total += self.uniform(n)
        return total - _TERMS / 2

    def pick(self, n: int, weights: Sequence[float]) -> NDArray[np.int64]:
        """``n`` indices below ``len(weights)``, each drawn with its weight's share."""
        edges = np.cumsum(np.asarray(weights, dtype=np.float64))
        return np.searchsorted(edges / edges[-1], self.uniform(n), side="right").astype(np.int64)

    def chance(self, n: int, probability: float) -> NDArray[np.bool_]:
        """``n`` flags, each true with ``probability``."""
        return self.uniform(n) < probability

    def order(self, n: int) -> NDArray[np.int64]:
        """A permutation of ``range(n)``: the order of ``n`` uniforms."""
        return np.argsort(self.uniform(n), kind="stable").astype(np.int64)
