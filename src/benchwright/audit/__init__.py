"""The audit of agentic evals: facts from all sources, and the verdict that follows. Nothing here writes anywhere."""

from benchwright.audit.facts import EvalFacts, JobFacts, RowFacts, TraceRepo, TrialFacts
from benchwright.audit.rules import judge
from benchwright.audit.verdict import SETTLED, Action, Check, Checks, Judgement, RowAdvice, Verdict

__all__ = [
    "SETTLED",
    "Action",
    "Check",
    "Checks",
    "EvalFacts",
    "JobFacts",
    "Judgement",
    "RowAdvice",
    "RowFacts",
    "TraceRepo",
    "TrialFacts",
    "Verdict",
    "judge",
]
