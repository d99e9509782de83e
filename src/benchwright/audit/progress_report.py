"""What the scripts on the progress of jobs have to say: a line a job, its data, and the commands that resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from benchwright.audit import commands
from benchwright.audit.facts import EvalFacts
from benchwright.audit.iris_results import kind_at
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit, Outcome, counted, printable
from benchwright.harbor.progress import Progress

_LIVE = (
    "of jobs that may be live none is to be resumed, which deletes the folders of trials that run: "
    "--iris-jobs FILE says it of Iris's, scripts/eval/audit_evals.py asks SLURM"
)


def progress_outcome(found: Sequence[Progress], troubles: Troubles) -> Outcome:
    """How far jobs are: exit 0 where every job has every planned trial."""
    done = all(one.status in ("DONE", "DONE_WITH_ERRORS") for one in found)
    return _outcome(found, found, troubles, done)


def resume_outcome(found: Sequence[Progress], troubles: Troubles, *, needs_alone: bool = False) -> Outcome:
    """Which jobs are to be resumed, those first: exit 0 where none is. Only jobs known to be dead have a command."""
    ordered = sorted(found, key=lambda one: not one.needs_resume)
    shown = [one for one in ordered if one.needs_resume or not needs_alone]
    settled = all(one.status in ("DONE", "PARTIAL_OK", "IN_FLIGHT", "REJECTED") for one in found)
    needing = [one for one in ordered if one.needs_resume]
    next = [_resume(one) for one in needing if one.live is False]
    closing = [_LIVE] if len(next) < len(needing) else []
    return replace(_outcome(found, shown, troubles, settled), next=next, closing=closing)


def _outcome(found: Sequence[Progress], shown: Sequence[Progress], troubles: Troubles, good: bool) -> Outcome:
    told = ", ".join(f"{number:,} {status}" for status, number in sorted(Counter(one.status for one in found).items()))
    return Outcome(
        summary=f"{counted(len(found), 'job')}: {told}" if found else "no job to look at",
        data={"jobs": [one.to_dict() for one in shown]},
        details=[_line(one) for one in shown],
        problems=troubles.problems,
        exit=troubles.exit or (Exit.DONE if good else Exit.NO),
    )


def _line(one: Progress) -> str:
    """A job in one line."""
    done, planned = ("?" if number is None else f"{number:,}" for number in (one.done, one.planned))
    words = [f"{done} of {planned} done"]
    words += [f"{one.valid:,} valid"] if one.valid is not None else []
    words += [f"{one.corrupt:,} corrupt"] if one.corrupt else []
    words += [f"{one.invalid:,} with errors that count"] if one.invalid else []
    words += [f"score {one.score:.4f}"] if one.score is not None else []
    words += [] if one.whole else ["by the aggregate alone"]
    return f"{one.status:<16} {printable(one.name)}  {', '.join(words)}" + (f" ({one.why})" if one.why else "")


def _resume(one: Progress) -> str:
    kind = kind_at(one.where) if "://" in one.where else "local"
    return commands.resume_command(EvalFacts(run_tag=one.name, kind=kind, folder=one.where))
