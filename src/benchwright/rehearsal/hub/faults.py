"""What can go wrong on the way to a Hub and back, and which requests it happens to."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from benchwright.rehearsal.hub.wire import Request

Kind = Literal["cut", "half", "short", "error", "slow"]


@dataclass(frozen=True)
class Fault:
    """A fault of one request.

    ``cut``: the line breaks without an answer. ``half``: it breaks in the middle of the answer. ``short``: half of the
    answer comes as if it were all of it, so that JSON is truncated. ``error``: ``status`` instead of the answer.
    ``slow``: the answer only comes late. ``takes_effect`` says whether the Hub did what it was asked to; with ``half``,
    ``short`` and ``slow`` it always did. ``delay`` (seconds) comes before the answer, or before the line breaks.
    """

    kind: Kind
    takes_effect: bool = False
    status: int = 502
    delay: float = 0

    @property
    def done(self) -> bool:
        """Whether the Hub did what it was asked to."""
        return self.takes_effect or self.kind in {"half", "short", "slow"}


EVERY_FAULT = (
    Fault("cut"),
    Fault("cut", takes_effect=True),
    Fault("half"),
    Fault("short"),
    Fault("error", status=500),
    Fault("error", status=500, takes_effect=True),
    Fault("error", status=502),
)


class RandomFaults:
    """A fault for a share of all requests, each picked among ``faults`` by a generator that ``seed`` starts."""

    def __init__(self, seed: int, share: float, faults: Sequence[Fault] = EVERY_FAULT) -> None:
        self._random = random.Random(seed)
        self._share = share
        self._faults = tuple(faults)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Fault | None:
        """The fault of a request."""
        with self._lock:
            return self._random.choice(self._faults) if self._random.random() < self._share else None


@dataclass
class FaultRule:
    """A fault for requests of a method whose path fits a pattern, ``times`` times, after the first ``skip`` of them."""

    fault: Fault
    method: str = "*"
    path: str = "*"
    times: int = 1
    skip: int = 0

    def takes(self, request: Request) -> bool:
        """Whether the fault is this request's. A request that fits is counted."""
        if not (fnmatchcase(request.method, self.method) and fnmatchcase(request.path, self.path)) or self.times == 0:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class RuledFaults:
    """The fault of the first rule that takes a request."""

    def __init__(self, rules: Sequence[FaultRule]) -> None:
        self._rules = tuple(rules)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Fault | None:
        """The fault of a request."""
        with self._lock:
            return next((rule.fault for rule in self._rules if rule.takes(request)), None)


def faults_from(text: str) -> RandomFaults | RuledFaults:
    """Faults as a command line names them: ``SEED:SHARE``, or a file with a JSON list of rules.

    A rule is an object with ``kind`` and what else of ``Fault`` and ``FaultRule`` differs from their defaults.

    Raises:
        ValueError: it is neither, or a rule has an unknown word or kind.
        OSError: there is no such file.
    """
    seed, _, share = text.partition(":")
    if seed.isdecimal() and share:
        return RandomFaults(int(seed), float(share))
    told = json.loads(Path(text).read_text())
    if not isinstance(told, list):
        raise ValueError(f"{text} is no list of rules")  # noqa: TRY004
    return RuledFaults([_rule(one) for one in told])


def _rule(told: dict[str, Any]) -> FaultRule:
    of_rule = {name: told[name] for name in ("method", "path", "times", "skip") if name in told}
    of_fault = {name: value for name, value in told.items() if name not in of_rule}
    try:
        fault = Fault(**of_fault)
    except TypeError as error:
        raise ValueError(f"in a rule: {error}") from None
    if fault.kind not in get_args(Kind):
        raise ValueError(f"in a rule: the kind {fault.kind!r}, not one of {', '.join(get_args(Kind))}")
    return FaultRule(fault, **of_rule)
