"""The figures that reports show of an eval: its error classes and its score in every reading.

The folder's own figures say more than the rules need, and are taken where they are there. They may come from a file
that somebody wrote, so that their form is checked, and of another form they are as good as absent.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.audit import gates
from benchwright.audit.facts import EvalFacts, TrialFacts

MEANINGS = {
    "MNAR": "a likely 0 (MNAR)",
    "MAR": "nothing about the score (MAR)",
    "MCAR": "nothing about the score (MCAR)",
    "unknown": "unknown",
}
"""What a missing reward says of the score, by the kind of missingness."""
OVER = {
    "attempted": "attempted trials",
    "valid": "valid trials",
    "planned": "planned trials",
    "completed": "completed trials (without damaged results)",
    "completed_with_surplus": "completed trials (with surplus ones)",
    "valid_with_surplus": "valid trials (with surplus ones)",
}
"""What a mean is over, by the name of its reading; the last three are there only where they may differ from others."""


class ErrorClass(msgspec.Struct, frozen=True):
    """How many trials of an eval recorded an exception: with a reward, without, or in a step alone."""

    scored: int = 0
    unscored: int = 0
    in_step: int = 0
    benign: bool = False
    undecided: bool = False
    known: bool = True
    missing: str = "unknown"
    repair: str = ""

    @property
    def trials(self) -> int:
        """Trials that it ended."""
        return self.scored + self.unscored

    @property
    def says(self) -> str:
        """How it counts."""
        counts = "benign" if self.benign else "counted"
        remarks = [] if self.known else ["not in the taxonomy"]
        remarks += ["undecided"] if self.undecided else []
        return ", ".join((counts, *remarks))


class Readings(msgspec.Struct, frozen=True):
    """A score in every reading; ``low`` to ``high`` is what the trials without a reward leave open."""

    stored: float | None = None
    attempted: float | None = None
    valid: float | None = None
    planned: float | None = None
    completed: float | None = None
    completed_with_surplus: float | None = None
    valid_with_surplus: float | None = None
    likely: float | None = None
    low: float | None = None
    high: float | None = None
    stored_is: tuple[str, ...] = ()

    def known(self) -> list[float]:
        """Every value that there is, but those of ``completed`` and surplus trials, which no chart draws."""
        values = (self.stored, self.attempted, self.valid, self.planned, self.likely, self.low, self.high)
        return [value for value in values if value is not None]


class FolderFigures(msgspec.Struct, frozen=True):
    """What a report shows of the figures of a folder's own reading."""

    scores: Readings
    error_counts: dict[str, ErrorClass]
    invalid_in_aggregate: int | None = None
    unfinished: int = 0
    surplus: int = 0
    planned_by: str = ""
    plan_disagreements: tuple[str, ...] = ()


def folder_figures(facts: EvalFacts) -> FolderFigures | None:
    """The figures of the folder's own reading; None where there are none of this form."""
    try:
        return msgspec.convert(facts.figures, FolderFigures)
    except msgspec.ValidationError:
        return None


def error_classes(facts: EvalFacts) -> list[tuple[str, ErrorClass]]:
    """The classes of exceptions: counted ones before benign ones, and of each kind the most frequent first."""
    figures = folder_figures(facts)
    found = figures.error_counts if figures else _classes(facts.trials) if facts.trials else {}
    return sorted(found.items(), key=lambda item: (item[1].benign, -item[1].trials, item[0]))


def readings(facts: EvalFacts) -> Readings | None:
    """The score in every reading; what missing trials leave open is known from the folder's own figures alone."""
    figures = folder_figures(facts)
    if figures is not None:
        return figures.scores
    if facts.trials is None:
        return None
    scores: dict[str, Any] = gates.scores(facts.trials)
    return Readings(**{name.removeprefix("over_"): score for name, score in scores.items()})


def _classes(trials: TrialFacts) -> dict[str, ErrorClass]:
    return {
        name: ErrorClass(
            scored=number - trials.unscored.get(name, 0),
            unscored=trials.unscored.get(name, 0),
            benign=name in trials.benign,
            missing="MNAR" if name in trials.informative else "unknown",
        )
        for name, number in trials.errors.items()
    }
