"""The writer of a sweep: what the plan says of one pull request, and then a look at what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.boards import Boards
from benchwright.hub.declared import canonical_dataset
from benchwright.hub.entries import Entry, parse_entries, write_entries
from benchwright.hub.registry import Record, RecordedResult, State
from benchwright.hub.sweep.classes import SweptPull, classify
from benchwright.hub.sweep.facts import PullFacts
from benchwright.hub.sweep.gather import gather
from benchwright.hub.sweep.plan import Steps, plan
from benchwright.hub.writing import WriteLost, Writer

Note = Callable[[SweptPull], None]
"""Keeps how a pull request is, before anything of it is changed; where it cannot it raises ``Failure``."""


def carry_out(boards: Boards, record: Record, writer: Writer, holder: str, note: Note) -> tuple[SweptPull, SweptPull]:
    """Look at a pull request anew, ``note`` it, do what is to be done by then (its `plan`), and look again.

    Returns how it was before that, and how it is in the end. Where a request's answer was lost, the last look tells
    whether it took effect.

    Raises:
        Failure: a request failed, or something is left to do (code ``not-applied``): the next sweep goes on from there.
    """
    before = classify(gather(boards, record, again=True))
    steps = plan(before)
    if not steps:
        return before, before
    if before.facts.author != holder:
        found = f"opened by {before.facts.author}, and the token is {holder}'s"
        fix = "set HF_TOKEN to one of theirs, or hand over: --handoff"
        raise Failure(Problem("not-ours", before.facts.label, found, "a token of its author", fix), exit=Exit.REFUSED)
    note(before)
    lost: WriteLost | None = None
    try:
        _write(writer, before.facts, steps)
    except WriteLost as failure:
        lost = failure
    swept = classify(gather(boards, record, again=True))
    if left := plan(swept):
        fix = "run this again; if it says the same, leave it to a person"
        words = "; ".join(left.words)
        raise lost or Failure(Problem("not-applied", swept.facts.label, words, "nothing left to do", fix))
    return before, swept


def _write(writer: Writer, facts: PullFacts, steps: Steps) -> None:
    """The steps in an order that lets a later sweep go on from any of them: the files first, since the rest follows."""
    repo, num = facts.repo, facts.num
    if steps.farewell is not None:
        writer.close(repo, num, steps.farewell)
        return
    if steps.drops:
        files = dict(_without(writer, facts, steps.drops))
        names = ", ".join(one.name for one in facts.results if one.result in steps.drops)
        writer.amend(repo, num, files, title=f"Remove the results for {names}", parent=str(facts.head))
    if steps.body is not None:
        writer.edit_comment(repo, num, facts.body_id, steps.body)
    if steps.title is not None:
        writer.rename(repo, num, steps.title)


def _without(writer: Writer, facts: PullFacts, drops: Sequence[RecordedResult]) -> Iterator[tuple[str, str | None]]:
    """The files that results are dropped from, with what else is in them; None: nothing is.

    Raises:
        Failure: a file cannot be read; or what else is in it could not be written as it is (code ``file-not-ours``,
            exit 5).
    """
    hub, revision = writer.hub, f"refs/pr/{facts.num}"
    for filename in dict.fromkeys(one.filename for one in drops):
        text = hub.text(facts.repo, filename, revision, cached=False)
        entries = [one for one in parse_entries(text) if isinstance(one, Entry)]
        gone = {(canonical_dataset(hub, one.dataset), one.task_id) for one in drops if one.filename == filename}
        kept = [one for one in entries if (canonical_dataset(hub, one.dataset), one.task) not in gone]
        if kept and write_entries(entries) != text:
            where, fix = f"{facts.label}: {filename}", "take the entry out by hand"
            problem = Problem("file-not-ours", where, "it is not as a script wrote it", "the form of ours", fix)
            raise Failure(problem, exit=Exit.REFUSED)
        yield filename, write_entries(kept) if kept else None


def recorded(swept: SweptPull) -> Record:
    """What the registry says of a pull request from now on.

    What was dropped stays registered until its link and its name are gone from the pull request, too. The head counts
    as known where all files were found to be as registered.
    """
    facts, record = swept.facts, swept.facts.record
    gone = [one.result for one in facts.results if one.file == "gone"]
    if plan(swept) or swept.hands_off or len(gone) == len(facts.results):
        gone = []
    links = {one.result: one.link for one in facts.results if one.link and one.link != one.result.link}
    kept = [one for one in facts.results if one.result not in gone]
    state: State = "merged" if facts.status == "merged" else "closed" if facts.status == "closed" else "open"
    looked_at = state == "open" and not facts.by_others
    as_registered = looked_at and facts.as_registered and {one.file for one in kept} <= {"ours", "on_main"}
    new = replace(
        record,
        state=state,
        title=facts.title,
        author=facts.author,
        head=facts.head if as_registered else record.head,
        results=tuple(replace(one.result, link=links.get(one.result, one.result.link)) for one in kept),
    )
    if state != record.state:
        new = new.noting(state if state == "open" else swept.kind, swept.why)
    for one in gone:
        new = new.noting("dropped", f"{one.dataset}, {one.task_id}: {one.value_text}")
    for link in links.values():
        new = new.noting("repointed", link)
    return new
