"""What a batch of resumes has to say."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator

from benchwright.contract import DRY_RUN, Exit, Outcome, Problem, counted
from benchwright.repair.resume.batch import Batch
from benchwright.repair.resume.chunks import Chunk, ChunkState

_SUBMITTED = "Submitted batch job"
_MOST_OF_A_LOG = 2**22


def batch_outcome(batch: Batch, *, applied: bool, again: str) -> Outcome:
    """The outcome of a batch; ``again`` is the command that fires what a dry run shows."""
    chunks = batch.chunks.chunks
    states = {one.number: one.state for one in chunks}
    models = sum(len(one.models) for one in chunks)
    told = ", ".join(f"{number} {state}" for state, number in Counter(states.values()).items())
    summary = f"{counted(len(chunks), 'chunk')} of {counted(models, 'model')}: {told or 'nothing to resume'}"
    held = applied and bool(batch.problems)
    problems = [*batch.problems, *(found for one in chunks for found in _problems(one, states[one.number]))]
    exit = max([batch.exit, *(_EXITS.get(state, Exit.DONE) for state in states.values())])
    details = [line for one in chunks for line in _lines(one, states[one.number])]
    details += [f"  at its limit, left out: {model}" for model in batch.options.candidates.at_limit]
    details += [
        f"  not directly comparable with runs of one leg: the retry policy has changed: {one}" for one in batch.changes
    ]
    details += [f"  {note}" for note in batch.notes]
    data = {
        "applied": applied and not held,
        "folder": batch.chunks.folder,
        "chunks": [_data(one, states[one.number]) for one in chunks],
        "at_limit": list(batch.options.candidates.at_limit),
        "comparable": not batch.changes,
        "changes": list(batch.changes),
        "notes": list(batch.notes),
    }
    if applied:
        return Outcome(f"nothing was fired; {summary}" if held else summary, data, details, problems, exit=exit)
    next = [again] if "waiting" in states.values() and not batch.problems else []
    return Outcome(f"{DRY_RUN}; {summary}", data, details, problems, next, closing=(DRY_RUN,), exit=exit)


_EXITS: dict[ChunkState, Exit] = {"failed": Exit.NO, "firing": Exit.REFUSED, "unknown": Exit.REFUSED}


def _problems(chunk: Chunk, state: ChunkState) -> Iterator[Problem]:
    where = f"chunk {chunk.number}"
    once_more = f"read {chunk.file('log')}; once more, if nothing of it was submitted: --again {chunk.number}"
    if state == "failed":
        yield Problem("launcher-failed", where, f"its launcher left with {chunk.code}", "0", once_more)
    elif state == "unknown":
        yield Problem("end-unknown", where, "it was begun, and nobody knows how it ended", "an end", once_more)
    elif state == "firing":
        fix = "wait for its launcher to end, then run this again"
        yield Problem("being-fired", where, "its launcher is at work", "one at a time", fix)


def _lines(chunk: Chunk, state: ChunkState) -> Iterator[str]:
    yield f"  chunk {chunk.number}: {state}; {', '.join(chunk.models)}"
    if state == "waiting":
        yield f"    {shlex.join(map(str, chunk.words))}"
    for job in _submitted(chunk):
        yield f"    {job}"


def _submitted(chunk: Chunk) -> list[str]:
    """The jobs that the launcher says it submitted."""
    try:
        with chunk.file("log").open("rb") as log:
            text = log.read(_MOST_OF_A_LOG).decode(errors="replace")
    except FileNotFoundError:
        return []
    return [line.strip() for line in text.splitlines() if _SUBMITTED in line]


def _data(chunk: Chunk, state: ChunkState) -> dict[str, object]:
    return {
        "number": chunk.number,
        "models": list(chunk.models),
        "state": state,
        "code": chunk.code,
        "command": [str(word) for word in chunk.words],
        "submitted": _submitted(chunk),
        "log": chunk.file("log"),
    }
