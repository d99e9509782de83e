"""An audited eval: its facts, its verdict, and both as the data that every report is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from benchwright.audit import gates
from benchwright.audit.facts import EvalFacts
from benchwright.audit.rules import judge
from benchwright.audit.verdict import SETTLED, Judgement, Verdict
from benchwright.contract import counted

_URGENCY: tuple[Verdict, ...] = (
    "STOP",
    "DEREGISTER+RESUME",
    "VOID",
    "RERUN",
    "RELAUNCH",
    "RESUME",
    "FIX_MODEL",
    "FIX_BENCH",
    "UPLOAD",
    "LINK",
    "WAIT",
    "OK",
    "EXEMPT",
)
"""In which order verdicts are shown: what a person must decide first, then what misleads the board."""


@dataclass(frozen=True)
class Audited:
    """One eval with its verdict."""

    facts: EvalFacts
    judgement: Judgement

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do."""
        return self.judgement.verdict in SETTLED

    @property
    def matrix(self) -> str:
        """Valid, errored and expected trials as ``288/12/300``; ``?`` where it is not known."""
        trials = self.facts.trials
        if trials is None:
            return "?/?/?"
        planned = "?" if trials.planned is None else str(trials.planned)
        return f"{trials.valid}/{trials.attempted - trials.valid}/{planned}"

    def to_dict(self) -> dict[str, Any]:
        """The eval as the data that ``--json`` prints."""
        facts, judgement = self.facts, self.judgement
        known = {row.id: msgspec.to_builtins(row, order="sorted") for row in facts.rows or ()}
        return {
            "run_tag": facts.run_tag,
            "kind": facts.kind,
            "folder": facts.folder,
            "agent": facts.agent,
            "model": facts.model,
            "benchmark": facts.benchmark,
            "profile": facts.profile,
            **_figures(facts),
            "checks": {
                name: {"status": check.status, "detail": check.detail} for name, check in judgement.checks.named()
            },
            "verdict": judgement.verdict,
            "why": judgement.why,
            "actions": [{"why": action.why, "command": action.command} for action in judgement.actions],
            "rows": [known[row.id] | msgspec.to_builtins(row) for row in judgement.rows],
            "notes": list(judgement.notes),
        }


def audit(facts: Iterable[EvalFacts], *, now: datetime) -> list[Audited]:
    """The verdicts on several evals, the most urgent first, whatever order the facts come in."""
    audited = [Audited(one, judge(one, now=now)) for one in facts]
    return sorted(audited, key=_place)


def summary(audited: Sequence[Audited]) -> str:
    """How many evals have which verdict."""
    counts = Counter(one.judgement.verdict for one in audited)
    verdicts = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in _URGENCY if counts[verdict])
    profiles = sorted({one.facts.profile for one in audited if one.facts.profile})
    judged = f" (error classes by profile {', '.join(profiles)})" if profiles else ""
    return f"{counted(len(audited), 'eval')}: {verdicts or 'nothing to audit'}{judged}"


def _place(one: Audited) -> tuple[int, tuple[str, ...]]:
    facts = one.facts
    names = (facts.run_tag, facts.folder or "", facts.agent or "", facts.model or "")
    return _URGENCY.index(one.judgement.verdict), names


def _figures(facts: EvalFacts) -> dict[str, Any]:
    """The figures that the verdict rests on; those of the folder's own reading are shown beside them."""
    trials = facts.trials
    names = ("planned", "attempted", "valid", "unscored", "corrupt", "missing", "invalid", "error_fraction", "coverage")
    if trials is None:
        return dict.fromkeys(names) | {"scores": {}, "error_counts": {}, "figures": None}
    return {
        "planned": trials.planned,
        "attempted": trials.attempted,
        "valid": trials.valid,
        "unscored": trials.without_reward,
        "corrupt": trials.corrupt,
        "missing": trials.missing,
        "invalid": trials.invalid,
        "error_fraction": trials.invalid / trials.attempted if trials.attempted else None,
        "coverage": trials.covered / trials.planned if trials.planned else None,
        "scores": gates.scores(trials),
        "error_counts": dict(sorted(trials.errors.items())),
        "figures": facts.figures,
    }
