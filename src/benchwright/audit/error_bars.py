"""The classes of exceptions of each eval as a stacked bar, those that count first, against the gate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchwright.audit.record import Audited
from benchwright.audit.report_figures import ErrorClass, error_classes
from benchwright.audit.report_words import LONGEST, titles, visible
from benchwright.contract import counted

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito's, told apart with any kind of colour vision."""
_OTHER = "#8A929B"
_GATE = 0.1
_SHORTEST = 0.2
"""Of the attempted trials: what the whole width stands for at least."""
_NUMBERED = 9.0
"""Percent of the width from which a part has room for its number."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: trials of a class, its width in percent, and whether it has room for its number."""

    title: str
    trials: int
    width: float
    colour: str
    benign: bool
    numbered: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """An eval's bar; ``id`` is that of its view."""

    id: str
    tag: str
    label: str
    parts: list[Part]
    counted: int
    benign: int
    attempted: int


@dataclass(frozen=True, slots=True)
class Legend:
    """A colour of the bars: a class by its name, and how many trials of all evals have it."""

    name: str
    colour: str
    benign: bool
    trials: int


@dataclass(frozen=True)
class ErrorBars:
    """The bars of the evals that recorded exceptions, ``without`` of them did not.

    ``gate`` is where a tenth of the attempted trials is, in percent of the width, ``most`` what the whole width is, in
    whole tens of percent of the attempted trials.
    """

    bars: list[Bar]
    legend: list[Legend]
    without: int
    gate: float
    most: int


class _Eval(NamedTuple):
    id: str
    tag: str
    attempted: int
    classes: list[tuple[str, ErrorClass]]

    @property
    def share(self) -> float:
        """How much of the attempted trials an exception ended."""
        return sum(error.trials for _, error in self.classes) / self.attempted


def error_bars(audited: Sequence[Audited]) -> ErrorBars:
    """The bars of some evals, in their order; the seven most frequent classes have colours of their own."""
    evals = []
    names_of_evals = titles(one.facts for one in audited)
    for place, (one, title) in enumerate(zip(audited, names_of_evals, strict=True), start=1):
        attempted = one.facts.trials.attempted if one.facts.trials else 0
        classes = [(name, error) for name, error in error_classes(one.facts) if error.trials]
        if attempted:
            evals.append(_Eval(f"eval-{place}", visible(title, LONGEST), attempted, classes))
    totals: Counter[str] = Counter()
    for one_eval in evals:
        totals.update({name: error.trials for name, error in one_eval.classes})
    benign = {name for one_eval in evals for name, error in one_eval.classes if error.benign}
    names = sorted(totals, key=lambda name: (-totals[name], name))
    colours = dict(zip(names, _COLOURS, strict=False))
    legend = [Legend(visible(name, 80), colour, name in benign, totals[name]) for name, colour in colours.items()]
    others = names[len(colours) :]
    if others:
        legend.append(Legend(counted(len(others), "other name"), _OTHER, False, sum(totals[name] for name in others)))
    most = max([_SHORTEST, *(math.ceil(round(10 * one_eval.share, 9)) / 10 for one_eval in evals)])
    bars = [_bar(one_eval, colours, most) for one_eval in evals if one_eval.classes]
    return ErrorBars(bars, legend, len(evals) - len(bars), round(100 * _GATE / most, 3), round(100 * most))


def _bar(one: _Eval, colours: Mapping[str, str], most: float) -> Bar:
    parts = []
    for name, error in one.classes:
        width = 100 * error.trials / one.attempted / most
        title = f"{error.trials:,} {visible(name, 80)}, {error.says}"
        colour = colours.get(name, _OTHER)
        parts.append(Part(title, error.trials, round(width, 3), colour, error.benign, width >= _NUMBERED))
    benign = sum(error.trials for _, error in one.classes if error.benign)
    counts = sum(error.trials for _, error in one.classes) - benign
    label = "; ".join(part.title for part in parts)
    return Bar(one.id, one.tag, label, parts, counts, benign, one.attempted)
