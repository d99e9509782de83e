"""What reports for people say alike: names that cannot do harm, shares, and how to learn what is unknown."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.audit.facts import EvalFacts, Kind, Source
from benchwright.audit.verdict import Status

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
    "traces": "set HF_TOKEN to a token that may read the trace repositories, and audit with --hub",
    "rows": "set DATABASE_URL, or SUPABASE_URL and a key; where both are set, choose with --db",
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


def number(value: float | None) -> str:
    """A score to four digits behind the point, or that there is none."""
    if value is None:
        return "—"
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"
