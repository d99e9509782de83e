"""What reports for people say alike: names that cannot do harm, shares, and how to learn what is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from benchwright.audit.facts import EvalFacts, Kind, RowFacts, Source
from benchwright.audit.verdict import RowAdvice, Status

LONGEST = 400
"""Letters of a text that is no command."""
MOST_ROWS = 60
"""Rows of an eval that are listed: a pair may have thousands."""

STATUS_WORDS: dict[Status, str] = {
    "pass": "passes",
    "warn": "look",
    "fail": "fails",
    "unknown": "unknown",
    "skip": "skipped",
}
KINDS: dict[Kind, str] = {"slurm": "SLURM", "iris-tpu": "Iris, TPU", "iris-gpu": "Iris, GPU", "local": "this machine"}
_SOURCES: dict[Source, str] = {
    "job": "whether the job has ended",
    "trials": "what its trials say",
    "traces": "what the Hub holds of it",
    "rows": "what the database holds of it",
}
_ACCESS: dict[Source, str] = {
    "job": "audit where sacct and squeue answer; for Iris, name the jobs table with --iris-jobs FILE",
    "trials": "name the folder that Harbor wrote the trials to; for Iris, name the bucket with --iris BUCKET",
    "traces": "set BENCHWRIGHT_TRACE_ORGS to where traces are uploaded, HF_TOKEN if repositories are private, "
    "and audit without --no-hub",
    "rows": "set BENCHWRIGHT_OWNERS, and DATABASE_URL, or SUPABASE_URL and a key; where both are set, choose with --db",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of the facts that was not learned: ``what`` it would tell, ``why`` not, and how to give ``access``."""

    what: str
    why: str
    access: str


def gaps(facts: EvalFacts) -> list[Gap]:
    """What was not learned of an eval; of a measurement nothing needs to be."""
    if facts.measurement:
        return []
    lacking = [source for source in _SOURCES if getattr(facts, source) is None]
    return [Gap(_SOURCES[source], facts.why_unknown(source), _ACCESS[source]) for source in lacking]


def titles(evals: Iterable[EvalFacts]) -> list[str]:
    """What each eval is called: its run's tag, with the agent where the run has several evals."""
    evals = list(evals)
    tags = Counter(facts.run_tag for facts in evals)
    return [
        f"{facts.run_tag} ({facts.agent})" if facts.agent and tags[facts.run_tag] > 1 else facts.run_tag
        for facts in evals
    ]


def listed_rows(facts: EvalFacts, advice: Iterable[RowAdvice]) -> tuple[list[tuple[RowAdvice, RowFacts]], int]:
    """The rows of every owner that have room, each with its facts, and how many have none.

    Those with something to do come first, then this run's.
    """
    known = {row.id: row for row in facts.rows or ()}
    rows = [(row, known[row.id]) for row in advice]
    rows.sort(key=lambda pair: (pair[0].advice == "leave", pair[1].of_run == "no"))
    return rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)


def filed_under(row: RowFacts) -> str:
    """The model and the benchmark of a row, by its own names."""
    return " on ".join(name or "?" for name in (row.model, row.benchmark)) if row.model or row.benchmark else "—"


def visible(text: str, most: int | None = None) -> str:
    """A text from outside on one line: what does not print comes as its escape, what exceeds ``most`` letters is cut.

    So no name can begin a line, turn the direction of what follows, or be more than a file can hold.
    """
    if not text.isprintable():
        text = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return text if most is None or len(text) <= most else f"{text[: most - 1]}…"


def sentence(text: str) -> str:
    """A text with its full stop."""
    return text if text.endswith(("?", "!", ".")) else f"{text}."


def pasted(command: str) -> str:
    """A command to copy, whose line breaks are kept: a quoted name may hold one."""
    return "\n".join(map(visible, command.split("\n")))


def share(part: int, whole: int | None) -> str:
    """A share with the figures behind it, ``31/300 (10.3 %)``; ``?`` is what is not known."""
    if not whole:
        return f"{part:,}/{'?' if whole is None else 0}"
    return f"{part:,}/{whole:,} ({100 * part / whole:.1f} %)"
