"""What ``check_sources.py`` answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchwright.contract import Exit, Outcome, counted
from benchwright.hub.sources.check import SourceCheck, as_data
from benchwright.hub.sources.find import Place
from benchwright.hub.sources.questions import Question

_MOST_PLACES = 6


def report(checks: Sequence[SourceCheck]) -> Outcome:
    """The outcome of a spec's checks: every place, warning and question, and the worst of their exit codes."""
    states = Counter(check.state for check in checks)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    asked = sum(len(check.open_questions) for check in checks)
    summary = f"{counted(len(checks), 'result')}: {told}; {counted(asked, 'question')} for a person"
    return Outcome(
        summary,
        {"results": [as_data(check) for check in checks]},
        ["\n".join(_lines(check)) for check in checks],
        [problem for check in checks for problem in (*check.blocks, *check.warnings)],
        exit=max((check.exit for check in checks), default=Exit.DONE),
    )


def _lines(check: SourceCheck) -> Iterator[str]:
    result = check.result
    written = f", on the board {result.board_text}" if result.board_text != result.value_text else ""
    yield f"{result.repo}  {result.dataset} ({result.task_id})  {result.value_text}{written}: {check.state}"
    digest = f", SHA-256 {check.digest[:12]}" if check.digest else ""
    yield f"    source: {result.source.url}{digest}"
    yield from (f"    {_told(place)}" for place in check.places[:_MOST_PLACES])
    if len(check.places) > _MOST_PLACES:
        yield f"    and {len(check.places) - _MOST_PLACES} more places"
    if check.state in ("absent", "image-only"):
        yield from (f"    close: {one.printed}, {one.why}, in {one.document}: {one.quote}" for one in check.misses)
    yield from (f"    asks: {_asked(one, result.answers.get(one.code))}" for one in check.questions)
    yield f"    origin: {result.origin}" if result.origin else f"    origin, proposed: {check.origin_proposal}"


def _told(place: Place) -> str:
    named = [
        f"row {place.row}" if place.row else "",
        f"column {place.column}" if place.column else "",
        f"under {place.group}" if place.group else "",
        place.caption or place.heading,
        place.label,
    ]
    where = "; ".join(one for one in named if one)
    return f"{place.printed} in {place.document}, {place.kind}{f' ({where})' if where else ''}: {place.quote}"


def _asked(question: Question, answer: str | None) -> str:
    quotes = "".join(f'\n        "{quote}"' for quote in question.quotes)
    return f"{question.code}: {question.text}{f' Answered: {answer}' if answer else ''}{quotes}"
