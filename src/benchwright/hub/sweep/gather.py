"""Facts of registered pull requests, read from the Hub."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from benchwright.contract import Failure, Problem
from benchwright.hub.boards import Boards
from benchwright.hub.client import Hub
from benchwright.hub.declared import canonical_dataset
from benchwright.hub.entries import Entry, parse_entries
from benchwright.hub.model_repo import ModelRepo, model_repo
from benchwright.hub.opening.body import addresses, board_key
from benchwright.hub.opening.words import marker_in
from benchwright.hub.pull_requests import Event, PullRequest, Thread, files_below, thread
from benchwright.hub.registry import Record, RecordedResult
from benchwright.hub.sweep.facts import Comment, FileState, PullFacts, ResultFacts
from benchwright.hub.sweep.sight import Untold, sight


def gather(boards: Boards, record: Record, *, again: bool = False) -> PullFacts:
    """What is known of a registered pull request: two requests and its boards, three more where its head has moved.

    One or two more are for files that it has beside the registered ones. ``again`` asks the Hub anew for all but the
    boards, and reads the files whatever the head is.

    Raises:
        Failure: the model or the pull request is not told, or it is not the registered one.
    """
    hub = boards.hub
    model = model_repo(hub, record.repo, cached=not again)
    assert record.num is not None
    told = thread(hub, model.id, record.num)
    body = _checked_body(record, told)
    pull = told.pull_request
    author = str(pull.author)
    head = told.commits[-1].oid if told.commits else None
    files: dict[RecordedResult, FileState] = dict.fromkeys(record.results, "ours")
    unregistered, left_over = list[str](), list[str]()
    if pull.live:
        if again or head is None or head != record.head:
            files, beside = _files(boards, model, pull, record)
            unregistered, left_over = _beside(hub, model, pull, beside)
        for one in record.results:
            if files[one] == "ours" and one.filename in model.result_files:
                files[one] = "on_main"
    links = addresses(body.text)
    results = [
        ResultFacts(one, one.dataset, files[one], links.get(board_key(one.dataset, one.task_id)))
        for one in record.results
    ]
    change = told.status_change
    return PullFacts(
        record=record,
        repo=model.id,
        num=pull.num,
        status=pull.status,
        title=pull.title,
        body=body.text,
        body_id=body.id,
        head=head,
        results=tuple(_result(boards, pull, one, model) for one in results),
        author=author,
        closed_by=change.author if change else None,
        by_others=tuple(_by_others(told, author)),
        comments=tuple(_unanswered(told, author)),
        unregistered=tuple(unregistered),
        left_over=tuple(left_over),
    )


def _checked_body(record: Record, told: Thread) -> Event:
    """The body of a pull request that is the registered one, and by whom it should be."""
    where, body, author = f"{record.repo}#{record.num}", told.body, told.pull_request.author
    fix = "look at it; to write the registry anew: open_eval_prs.py --rebuild"
    if author is None or (record.author is not None and author != record.author):
        found, wanted = f"its author is {author or 'a user who is gone'}", f"{record.author or 'a user'}"
        raise Failure(Problem("not-ours", where, found, f"{wanted}, as the registry has it", fix))
    unmarked = body is None or (marker_in(body.text) != record.spec_hash and body.editor in (None, author))
    if body is None or unmarked:
        raise Failure(Problem("not-ours", where, "its body lacks the marker", "the registered pull request", fix))
    return body


def _by_others(told: Thread, author: str) -> Iterator[str]:
    """What others did to a pull request that may still be merged; and that it was opened again, whoever did it.

    No script opens one again: a person has, and knows why.
    """
    body, closed = told.body, False
    if body is not None and body.editor not in (None, author):
        yield f"{body.editor} edited the body"
    for one in told.events:
        who = one.author or "a user who is gone"
        again = one.type == "status-change" and one.text == "open" and closed
        closed = closed or (one.type == "status-change" and one.text == "closed")
        if one.author == author and not again:
            continue
        if one.type == "commit":
            yield f"{who} committed {one.text!r}"
        elif one.type == "title-change":
            yield f"{who} changed the title"
        elif one.type == "status-change":
            yield f"{who} made it {one.text}"


def _unanswered(told: Thread, author: str) -> list[Comment]:
    """What others wrote since the author's last comment, of which the body is the first."""
    since: list[Comment] = []
    for one in told.comments:
        since = [] if one.author == author else [*since, Comment(one.author, one.created, one.text)]
    return since


def _files(
    boards: Boards, model: ModelRepo, pull: PullRequest, record: Record
) -> tuple[dict[RecordedResult, FileState], Mapping[str, str]]:
    """What the pull request's files say of each registered result, and the files with others, with their git ids.

    Of a registered file that main has, too, nothing is previewed, whatever else it holds.
    """
    there = files_below(boards.hub, model.id, pull.ref, cached=False)
    read = {
        name: parse_entries(boards.hub.text(model.id, name, pull.ref, cached=False))
        for name in dict.fromkeys(one.filename for one in record.results)
        if name in there
    }
    held = {
        name: [
            ((canonical_dataset(boards.hub, one.dataset).lower(), one.task), one.value)
            for one in entries
            if isinstance(one, Entry)
        ]
        for name, entries in read.items()
    }
    wanted = {one: (canonical_dataset(boards.hub, one.dataset).lower(), one.task_id) for one in record.results}
    states: dict[RecordedResult, FileState] = {}
    for one, board in wanted.items():
        of_board = [value for key, value in held.get(one.filename, ()) if key == board]
        broken = len(held.get(one.filename, ())) < len(read.get(one.filename, ()))
        if broken or of_board not in ([], [Decimal(one.value_text)]):
            states[one] = "other"
        else:
            states[one] = "ours" if of_board else "gone"
    known = {(one.filename, board) for one, board in wanted.items()}
    here = [(name, key) for name, entries in held.items() for key, _ in entries]
    beside = {name for name in there if name not in held}
    beside |= {name for name, key in here if (name, key) not in known and name not in model.result_files}
    return states, {name: there[name] for name in sorted(beside)}


def _beside(hub: Hub, model: ModelRepo, pull: PullRequest, beside: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Of files beside the registered ones those that the pull request changes, and those that only main has deleted.

    What differs from main is one of these, or main has changed it since; the difference tells. Without one, and
    wherever it names a file, the pull request counts as changing it.
    """
    main = files_below(hub, model.id, model.sha) if beside.keys() & set(model.result_files) else {}
    differ = [name for name, oid in beside.items() if main.get(name) != oid]
    difference = thread(hub, model.id, pull.num, diff=True).diff if differ else None
    changed = [name for name in differ if not difference or name in difference]
    return changed, [name for name in differ if name not in changed and name not in main]


def _result(boards: Boards, pull: PullRequest, facts: ResultFacts, model: ModelRepo) -> ResultFacts:
    """A result with its benchmark's name, looked for on its board where a row of it may be there."""
    one = facts.result
    try:
        facts = replace(facts, name=boards.benchmark(one.dataset).name)
    except Failure as failure:
        return replace(facts, sight=Untold.of(failure))
    if pull.status == "closed" or facts.file != "ours":
        return facts
    seen = sight(
        lambda view: boards.board(one.dataset, one.task_id, view),
        model,
        Decimal(one.value_text),
        pull.num if pull.live else "any",
        facts.linked,
    )
    return replace(facts, sight=seen)
