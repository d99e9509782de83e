"""A sweep of all registered pull requests, one after the other; with a writer, what the plan says is done."""

from __future__ import annotations

from collections.abc import Iterator
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
    problems = list(_problems(pull)) if pull.kind == "unknown" else []
    exit = max([Exit.NO, *(one.exit for one in pull.results)]) if problems else Exit.DONE
    return Swept(record, pull, plan(pull), problems=tuple(problems), exit=exit)


def _problems(pull: SweptPull) -> Iterator[Problem]:
    """What keeps a pull request from being known, and who finds out: a later sweep, or a person."""
    facts, unknown = pull.facts, [one for one in pull.results if one.kind == "unknown"]
    amend = f"open_eval_prs.py with a spec of all results that it is to have, and --amend {facts.num}"
    later = "nothing was done to it: look at it, and sweep again later"
    for one in unknown:
        fix = f"nothing was done to it: {amend}, or --rebuild" if one.facts.file == "other" else later
        yield Problem("unknown", f"{facts.label}: {one.facts.name}", one.why, "", fix)
    if facts.unregistered:
        fix = f"nothing was done to it: {amend}; or --rebuild, which registers what results its .yaml files have"
        yield Problem("unregistered-files", facts.label, pull.why, "", fix)
    elif facts.left_over:
        fix = f"boards may still show it by this pull request. {amend}, takes it out; or close it by hand"
        yield Problem("left-over-files", facts.label, pull.why, "", fix)
    elif not unknown:
        yield Problem("unknown", facts.label, pull.why, "", later)
