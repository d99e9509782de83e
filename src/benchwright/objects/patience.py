"""How long a store's answer is waited for, and how often a failed request is sent again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """The bound on one request. Times are in seconds.

    A request is sent at most ``attempts`` times. Between two attempts lies ``first_wait``, doubled each time up to
    ``longest_wait``, plus up to ``first_wait`` by chance so that many clients do not come back at once. With the
    defaults that is under 20 s of waiting, besides ``attempts`` times the time-outs where a server hangs.
    """

    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 8.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
