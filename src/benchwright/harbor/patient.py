"""One small piece of work for each of many files: one after another where that is fast, at once where it is not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")
_FIRST = 4
_PIECES = 32
_WAITED = 0.0003
_AHEAD = 2048
AT_ONCE = 32
"""On a cluster's file system a file is milliseconds away, whoever asks for how many at the same time."""


def mapped(work: Callable[[Sequence[_Item]], list[_Made]], items: Sequence[_Item], at_once: int) -> list[_Made]:
    """What ``work`` makes of some of the items at a time, in their order.

    Where the files are at hand, threads cost more than they bring: Python hands its lock over at every call of the
    system. So work goes on in turn, 4 items and then 32 at a time, until some of them waited for as long as 32 do that
    take 0.3 ms each beyond what they compute; the rest then goes to ``at_once`` threads, one by one.
    """
    made: list[_Made] = []
    done, size = 0, _FIRST  # a bucket is so far away that four of its files show it
    while done < len(items):
        wall, busy = time.perf_counter(), time.thread_time()
        made += work(items[done : done + size])
        waited = (time.perf_counter() - wall) - (time.thread_time() - busy)
        done, size = done + size, _PIECES
        if waited > _PIECES * _WAITED and at_once > 1:
            return made + _at_once(work, items[done:], at_once)
    return made


def _at_once(work: Callable[[Sequence[_Item]], list[_Made]], items: Sequence[_Item], threads: int) -> list[_Made]:
    from concurrent.futures import ThreadPoolExecutor

    made: list[_Made] = []
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(items), _AHEAD):  # each item that is handed out in advance takes a kilobyte
            for some in pool.map(lambda item: work([item]), items[start : start + _AHEAD]):
                made += some
    return made
