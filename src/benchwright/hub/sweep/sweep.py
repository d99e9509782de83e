"""A sweep of all registered pull requests, one after the other; with a writer, what the plan says is done."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchwright.contract import Exit, Failure, Problem, Progress
from benchwright.hub.boards import Boards
from benchwright.hub.registry import Record, Registry
from benchwright.hub.sweep.apply import Note, carry_out, recorded
from benchwright.hub.sweep.classes import SweptPull, classify
from benchwright.hub.sweep.gather import gather
from benchwright.hub.sweep.plan import NOTHING, Steps, plan
from benchwright.hub.writing import WriteLimited, Writer


@dataclass(frozen=True)
class Swept:
    """A registered pull request after the sweep.

    ``pull`` None: nothing is known of it. ``steps`` are what it needs, ``taken`` what was done, ``before`` how it was
    until then. ``problems`` are what went wrong, and ``exit`` what that amounts to.
    """

    record: Record
    pull: SweptPull | None = None
    steps: Steps = NOTHING
    taken: Steps = NOTHING
    before: SweptPull | None = None
    problems: tuple[Problem, ...] = ()
    exit: Exit = Exit.DONE

    @property
    def kind(self) -> str:
        """Its class."""
        return self.pull.kind if self.pull else "unknown"


def sweep(
    boards: Boards,
    registry: Registry,
    progress: Progress,
    *,
    writer: Writer | None = None,
    holder: str = "",
    note: Note = lambda pull: None,
) -> list[Swept]:
    """Look at every registered pull request that may be there.

    ``writer`` does what the plan says, with the token of ``holder``, and the registry is brought up to date after each;
    without one nothing is written anywhere. ``note`` is told of each one that is about to be written to. Once the Hub
    takes no more, nothing more is sent.

    Raises:
        OSError: the registry cannot be written.
    """
    found: list[Swept] = []
    records = [one for one in registry.records if one.state != "failed"]
    for record in records:
        progress(len(found), len(records), note=record.repo)
        swept = _look(boards, record)
        if writer is not None and swept.steps:
            swept, limited = _carry_out(boards, swept, writer, holder, note)
            writer = None if limited else writer
        if writer is not None and swept.pull is not None and (new := recorded(swept.pull)) != record:
            registry.put(new)
        found.append(swept)
    progress(len(records), len(records))
    return found


def _look(boards: Boards, record: Record) -> Swept:
    if record.num is None:
        fix = "open_eval_prs.py with its spec finds out"
        problem = Problem("not-opened", record.repo, "nobody knows whether it was opened", "a number", fix)
        return Swept(record, problems=(problem,), exit=Exit.REFUSED)
    try:
        return _swept(record, classify(gather(boards, record)))
    except Failure as failure:
        return Swept(record, problems=failure.problems, exit=failure.exit)


def _carry_out(boards: Boards, swept: Swept, writer: Writer, holder: str, note: Note) -> tuple[Swept, bool]:
    """A pull request after its steps; and whether the Hub takes no more."""
    try:
        before, pull = carry_out(boards, swept.record, writer, holder, note)
    except Failure as failure:
        failed = replace(swept, problems=failure.problems, exit=failure.exit)
        return failed, isinstance(failure, WriteLimited)
    return replace(_swept(swept.record, pull), before=before, taken=plan(before)), False


def _swept(record: Record, pull: SweptPull) -> Swept:
    unknown = [one for one in pull.results if one.kind == "unknown"] if pull.kind == "unknown" else []
    told = [(f"{pull.facts.label}: {one.facts.name}", one.why) for one in unknown]
    if pull.kind == "unknown" and not unknown:
        told = [(pull.facts.label, pull.why)]
    fix = "nothing was done to it: look at it, and sweep again later"
    problems = [Problem("unknown", where, why, "", fix) for where, why in told]
    exit = max((one.exit for one in unknown), default=Exit.NO if problems else Exit.DONE)
    return Swept(record, pull, plan(pull), problems=tuple(problems), exit=exit)
