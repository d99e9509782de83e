"""The validation protocols of a method's results: a histogram, the key that is true of all, what contradicts one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.arena.official import OFFICIAL_PROTOCOLS
from benchwright.contract import some
from benchwright.raw.protocol import HOLDOUT_KEY, SYSTEM_KEY, Protocol, is_known

_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Protocols:
    """How many results were validated how."""

    counts: Mapping[Protocol, int]

    @property
    def results(self) -> int:
        """How many results there are."""
        return sum(self.counts.values())

    @property
    def key(self) -> str | None:
        """The key that is true of every result that says anything; None where none does, or no single key is.

        The results of BeyondArena's rule on larger tasks are those of 8 x 1, so the rule wins where both are met. A key
        of no known form is not contradicted by what is shown, so it counts only where no other key is met.
        """
        met = Counter[str]()
        for protocol, count in self.counts.items():
            if protocol.key is not None:
                met[protocol.key] += count
        candidates = [key for key, _ in met.most_common() if is_known(key) or len(met) == 1]
        return next((key for key in candidates if not self.contradicting(key)), None)

    @property
    def mixed(self) -> bool:
        """Whether results say different things that no one key is true of."""
        return self.key is None and any(protocol.key is not None for protocol in self.counts)

    @property
    def recorded(self) -> bool:
        """Whether any result records its protocol: a run made since there is such a record."""
        return any(protocol.recorded is not None for protocol in self.counts)

    @property
    def disputed(self) -> int:
        """How many results show another protocol than they record."""
        return sum(count for protocol, count in self.counts.items() if protocol.disputed)

    def dispute(self) -> str:
        """What the disputed results record and what they show, the most common first."""
        met = Counter[str]()
        for protocol, count in self.counts.items():
            if protocol.disputed:
                met[f"record {protocol.recorded} and show {protocol.key}"] += count
        claims = some(f"{count} {claim}" for claim, count in met.most_common())
        return f"{self.disputed} of {self.results} results record another protocol than they show: {claims}"

    def source(self) -> str:
        """What the key rests on."""
        if self.disputed:
            return f"shown by the results, but {self.disputed} of {self.results} record another"
        return "as the results record" if self.recorded else "not recorded, but shown by the results"

    def contradicting(self, declared: str) -> int:
        """How many results say that the declared key is not true of them."""
        return sum(count for protocol, count in self.counts.items() if _contradicts(protocol, declared))

    def silent(self) -> int:
        """How many results say nothing."""
        return sum(count for protocol, count in self.counts.items() if protocol.key is None)

    def unlike(self, arena: str) -> int:
        """How many results are not shown to have the official protocol of ``arena``, one of `OFFICIAL_PROTOCOLS`."""
        if all(protocol.key == SYSTEM_KEY for protocol in self.counts):
            return 0
        official = OFFICIAL_PROTOCOLS[arena]
        return sum(count for protocol, count in self.counts.items() if not _shows(protocol, official)) + self.silent()

    def histogram(self) -> list[tuple[str, str | None, int]]:
        """What results show, their key, and how many do, most first; results that differ in row counts go together."""
        groups: dict[tuple[Any, ...], list[Protocol]] = defaultdict(list)
        for protocol in self.counts:
            groups[_kind(protocol)].append(protocol)
        bars = [(_shown(group), group[0].key, sum(self.counts[each] for each in group)) for group in groups.values()]
        return sorted(bars, key=lambda bar: (-bar[2], bar[0]))

    def lines(self) -> list[str]:
        """The histogram as lines, the most common first, at most six."""
        bars = self.histogram()
        lines = [f"{count:>6}  {shown}" for shown, _, count in bars[:_MOST_LINES]]
        if len(bars) > _MOST_LINES:
            lines.append(f"{sum(bar[2] for bar in bars[_MOST_LINES:]):>6}  in {len(bars) - _MOST_LINES} other ways")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The key, whether it is recorded, how many results dispute that, and the histogram, as plain values."""
        return {
            "key": self.key,
            "mixed": self.mixed,
            "recorded": self.recorded,
            "disputed": self.disputed,
            "histogram": [{"shows": shown, "key": key, "results": count} for shown, key, count in self.histogram()],
        }


def protocols(each: Iterable[Protocol]) -> Protocols:
    """The protocols of a method's results."""
    return Protocols(dict(Counter(each)))


def _contradicts(protocol: Protocol, declared: str) -> bool:
    if protocol.recorded is not None and protocol.recorded == protocol.key and not _is_holdout(protocol):
        # What the run wrote down is its protocol; the children of another one might look the same.
        return protocol.recorded != declared
    return protocol.agrees_with(declared) is False


def _shows(protocol: Protocol, official: str) -> bool:
    """Whether nothing is against a result being an arena's.

    A record in another spelling is never TabArena's. It may be BeyondArena's, on which the children decide.
    """
    if protocol.key is not None and not is_known(protocol.key):
        return protocol.agrees_with(official) is True
    return not _contradicts(protocol, official)


def _is_holdout(protocol: Protocol) -> bool:
    return protocol.key is not None and protocol.key.startswith(HOLDOUT_KEY)


def _kind(protocol: Protocol) -> tuple[Any, ...]:
    """What tells protocols apart when their row counts do not matter."""
    if _is_holdout(protocol):
        return protocol.key, protocol.recorded
    if protocol.children > 1:
        return protocol.children, protocol.shape, protocol.requested, protocol.recorded, protocol.key
    return protocol.explanation, protocol.key


def _shown(group: list[Protocol]) -> str:
    """What a group shows: the one explanation of all, or that of the smallest task with the rows of the largest."""
    smallest, *_, largest = sorted([*group, *group], key=lambda protocol: protocol.rows)
    if all(protocol.explanation == smallest.explanation for protocol in group):
        return smallest.explanation
    return f"{smallest.explanation}; elsewhere up to {largest.rows} rows"
