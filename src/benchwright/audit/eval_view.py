"""An eval as the page shows it: texts that are ready, and what its table sorts by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchwright.audit import gates
from benchwright.audit.facts import EvalFacts, TrialFacts
from benchwright.audit.record import Audited
from benchwright.audit.report_figures import MEANINGS, error_classes
from benchwright.audit.report_words import (
    KINDS,
    LONGEST,
    Gap,
    filed_under,
    gaps,
    listed_rows,
    pasted,
    sentence,
    share,
    visible,
)
from benchwright.audit.verdict import Status, Verdict
from benchwright.harbor.number import as_score

Tone = Literal["settled", "wait", "work", "wrong", "stop"]
_TONES: dict[Verdict, Tone] = {
    "OK": "settled",
    "EXEMPT": "settled",
    "WAIT": "wait",
    "RERUN": "wrong",
    "VOID": "wrong",
    "DEREGISTER+RESUME": "wrong",
    "STOP": "stop",
}
_MOST = 60
"""Classes or notes of an eval that are shown."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure in the table of evals, the number it sorts by (None last), and whether a gate fails by it."""

    text: str
    sort: float | None
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """How a check came out."""

    name: str
    status: Status
    detail: str


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do, and its command if it has one."""

    why: str
    command: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A table of an eval: headings and rows, of which ``more`` have no room."""

    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    more: int


@dataclass(frozen=True)
class EvalView:
    """All that the page says of one eval but its trials; ``label`` is what the filter looks in."""

    id: str
    tag: str
    label: str
    about: str
    place: str
    verdict: Verdict
    tone: Tone
    why: str
    checks: list[Mark]
    figures: list[Cell]
    steps: list[Step]
    errors: Listing
    rows: Listing
    notes: list[str]
    gaps: list[Gap]


FIGURES = (
    ("Valid", "Trials with a reward, of the planned ones"),
    ("Errored", "Trials with a result and no reward"),
    ("Expected", "Planned trials"),
    ("Score", "Sum of the rewards over attempted trials"),
    ("Errors (%)", "Trials with an exception that counts, of the attempted ones; above 10 fails"),
    ("Covered (%)", "Trials that say how they ended, of the planned ones; below 90 fails"),
)
"""The columns of ``EvalView.figures``, and what each says."""


def view_of(one: Audited, place: int, title: str) -> EvalView:
    """The view of the eval that is shown as number ``place`` and called ``title``."""
    facts, judgement = one.facts, one.judgement
    names = [_short(name) for name in (facts.model, facts.benchmark, facts.agent) if name is not None]
    return EvalView(
        id=f"eval-{place}",
        tag=_short(title),
        label=" ".join((_short(facts.run_tag), *names)),
        about=" · ".join(names) or "model and benchmark unknown",
        place=", ".join((KINDS[facts.kind], *([_short(facts.folder)] if facts.folder else []))),
        verdict=judgement.verdict,
        tone=_TONES.get(judgement.verdict, "work"),
        why=sentence(_short(judgement.why)),
        checks=[Mark(name, check.status, _short(check.detail)) for name, check in judgement.checks.named()],
        figures=_figures(facts.trials),
        steps=[Step(_short(action.why), pasted(action.command)) for action in judgement.actions],
        errors=_errors(facts),
        rows=_rows(one),
        notes=[_short(note) for note in judgement.notes[:_MOST]],
        gaps=[Gap(gap.what, _short(gap.why), gap.access) for gap in gaps(facts)],
    )


def _figures(trials: TrialFacts | None) -> list[Cell]:
    if trials is None:
        return [Cell("?", None) for _ in FIGURES]
    score = trials.reward_sum / trials.attempted if trials.attempted else None
    errored = trials.attempted - trials.valid
    return [
        Cell(f"{trials.valid:,}", trials.valid / trials.planned if trials.planned else None),
        Cell(f"{errored:,}", errored),
        Cell("?" if trials.planned is None else f"{trials.planned:,}", trials.planned),
        Cell(as_score(score), score),
        _percent(trials.invalid, trials.attempted, gates.errs_too_much(trials)),
        _percent(trials.covered, trials.planned, gates.covers_too_little(trials)),
    ]


def _percent(part: int, whole: int | None, fails: bool) -> Cell:
    percent = 100 * part / whole if whole else None
    return Cell("?", None) if percent is None else Cell(f"{percent:.1f}", percent, fails)


def _errors(facts: EvalFacts) -> Listing:
    attempted = facts.trials.attempted if facts.trials else None
    classes = error_classes(facts)
    rows: list[tuple[str, ...]] = [
        (
            _short(name),
            error.says,
            share(error.trials, attempted),
            f"{error.unscored:,}",
            MEANINGS.get(error.missing, _short(error.missing)),
            _short(error.repair) or "—",
        )
        for name, error in classes[:_MOST]
    ]
    headings = ("class", "counts as", "trials", "without a reward", "a missing reward says", "repair")
    return Listing(headings, rows, len(classes) - len(rows))


def _rows(one: Audited) -> Listing:
    listed, more = listed_rows(one.facts, one.judgement.rows)
    rows = []
    for row, facts in listed:
        created = facts.created or facts.submitted
        when = created.isoformat(sep=" ", timespec="minutes") if created else "—"
        odd = ", ".join(sorted(facts.issues)) or "—"
        advised = (row.id, row.owner, row.status, row.advice, row.why)
        texts = (*advised, filed_under(facts), odd, as_score(facts.score), when, facts.link or "—")
        rows.append(tuple(map(_short, texts)))
    headings = ("row", "owner", "status", "advice", "why", "filed under", "odd about it", "score", "created", "traces")
    return Listing(headings, rows, more)


def _short(text: str) -> str:
    return visible(text, LONGEST)
