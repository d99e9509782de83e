"""A result against its sources: where the number is printed, what is odd about it, what a person has to answer.

Nothing here decides that a result is right. It says what a reviewer would find, and what keeps the result from being
posted until somebody has looked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from benchwright.contract import Exit, Failure, Problem, counted
from benchwright.hub.client import Hub
from benchwright.hub.model_repo import RepoMissing, model_repo
from benchwright.hub.sources.find import Miss, Place, find
from benchwright.hub.sources.naming import are_named, benchmark_names
from benchwright.hub.sources.origin import is_finished, names_figure_or_control, propose
from benchwright.hub.sources.questions import Evidence, Question, is_about, is_of, questions_of
from benchwright.hub.sources.reading import Document, Reading, Sources
from benchwright.hub.spec import Result, Spec

State = Literal["found", "several", "absent", "image-only", "unreachable"]
_KINDS = ("table", "text", "image", "hidden")


@dataclass(frozen=True)
class SourceCheck:
    """What the sources say of one result.

    ``places`` print the number, the likeliest first; ``misses`` are numbers that come close to it. ``documents``
    were read for it. ``failure`` are the problems of a source that cannot be read, and of weights that are not the
    model's, with ``failure_exit``. ``warnings`` are for a person to know; `blocks` keeps the result from being posted.
    """

    result: Result
    state: State
    places: tuple[Place, ...] = ()
    misses: tuple[Miss, ...] = ()
    questions: tuple[Question, ...] = ()
    warnings: tuple[Problem, ...] = ()
    origin_proposal: str = ""
    documents: tuple[Document, ...] = ()
    failure: tuple[Problem, ...] = field(default=(), repr=False)
    failure_exit: Exit = Exit.DONE

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the first document."""
        return self.documents[0].digest if self.documents else None

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """The questions that the spec does not answer."""
        return tuple(one for one in self.questions if one.code not in self.result.answers)

    @property
    def blocks(self) -> tuple[Problem, ...]:
        """What has to be settled before the result may be posted."""
        where, origin = self.result.place, self.result.origin
        problems = list(self.failure)
        if self.state in ("absent", "image-only") and not names_figure_or_control(origin):
            found = f"{self.result.value_text} is {_WORDS[self.state]} of {self.result.source.url}"
            expected = "an origin that names the figure and bar, or the control that reveals it"
            problems.append(Problem("value-not-found", where, found, expected, self._nearest()))
        if not is_finished(origin):
            fix = "look at the source, and write what stands there"
            problems.append(Problem("origin-unfinished", where, f"origin: {origin}", "its <...> filled in", fix))
        for one in self.open_questions:
            fix = f'a person answers in the spec: "answers": {{"{one.code}": "..."}}; or take the result out'
            problems.append(Problem("open-question", where, f"{one.code}: {one.text}", _quoted(one), fix))
        return tuple(problems)

    @property
    def exit(self) -> Exit:
        """0: nothing stands in the way; or else 1, and what a source's failure says."""
        return max(self.failure_exit, Exit.NO if self.blocks else Exit.DONE)

    def _nearest(self) -> str:
        near = [f"{one.printed} ({one.why}: {one.quote})" for one in self.misses[:3]]
        near += [f"{one.printed} in {one.label}" for one in self.places if one.kind == "hidden"][:1]
        images = sum(one.page.images for one in self.documents)
        near += [f"{counted(images, 'image')} that may show it"] if images else []
        return f"what comes close: {'; '.join(near)}" if near else "look at the page: does it print the number at all?"


_WORDS = {"absent": "not in the text", "image-only": "only in an image"}


def check_spec(spec: Spec, sources: Sources) -> tuple[SourceCheck, ...]:
    """The check of each result of a spec, in its order; each source is read once."""
    return tuple(check_result(result, sources) for result in spec.results)


def check_result(result: Result, sources: Sources) -> SourceCheck:
    """A result against its cited source, and against the model's card, whose digits win."""
    check = _check(result, sources)
    lost = _other_checkpoint(result, sources.hub)
    if lost is None:
        return check
    return replace(check, failure=(*check.failure, *lost.problems), failure_exit=max(check.failure_exit, lost.exit))


def _check(result: Result, sources: Sources) -> SourceCheck:
    reading, card = sources.read(result.source), sources.card(result.repo)
    if reading.failure is not None:
        return SourceCheck(
            result,
            "unreachable",
            origin_proposal=propose(None, result.source.name, result.unit),
            failure=_failed(result, reading.failure),
            failure_exit=reading.failure.exit,
        )
    places, misses = _find(reading, result)
    named = benchmark_names(result.dataset, result.task_id)
    ranked = sorted(places, key=lambda one: (-_likeliness(one, named, result.repo), _KINDS.index(one.kind)))
    visible = [one for one in ranked if one.kind in ("table", "text")]
    ordered = tuple(sorted(ranked, key=lambda one: one.kind == "hidden"))
    state = _state(visible, ordered)
    in_card = _find(card, result) if card.failure is None and not _same(reading, card) else ([], [])
    evidence = Evidence(result, reading, card, ordered, (*misses, *in_card[1]), named)
    check = SourceCheck(
        result,
        state,
        ordered,
        tuple(misses),
        questions_of(evidence),
        origin_proposal=propose(ordered[0] if ordered else None, result.source.name, result.unit),
        documents=reading.documents,
    )
    lost = card.failure
    if lost is not None and lost.exit is Exit.REMOTE:  # whether the card has more digits is unknown
        check = replace(check, failure=_failed(result, lost), failure_exit=lost.exit)
    return replace(check, warnings=tuple(_warnings(check, reading, card, in_card[0], named)))


def _other_checkpoint(result: Result, hub: Hub) -> Failure | None:
    """Why the evaluated weights are not those of the model, which may have another name by now; None where they are."""
    told = result.checkpoint or result.repo
    if told.lower() == result.repo.lower():
        return None
    try:
        if model_repo(hub, told).id == model_repo(hub, result.repo).id:
            return None
    except RepoMissing:
        pass  # no name of this model at any rate
    except Failure as failure:
        return Failure(_failed(result, failure), exit=failure.exit)
    found = f"the weights of {told} were evaluated"
    return Failure(Problem("other-checkpoint", result.place, found, f"those of {result.repo}", "take the result out"))


def _failed(result: Result, failure: Failure) -> tuple[Problem, ...]:
    return tuple(replace(one, where=result.place, found=f"{one.where}: {one.found}") for one in failure.problems)


def _find(reading: Reading, result: Result) -> tuple[list[Place], list[Miss]]:
    places: list[Place] = []
    misses: list[Miss] = []
    for document in reading.documents:
        found, close = find(document.page, result.printed, result.value_text, document.name)
        places, misses = places + found, misses + close
    return places, misses


def _same(reading: Reading, card: Reading) -> bool:
    return {one.digest for one in card.documents} <= {one.digest for one in reading.documents}


def _likeliness(place: Place, named: tuple[str, ...], repo: str) -> int:
    return 4 * is_about(named, repo, place) + 2 * is_of(repo, place) + place.exact


def _state(visible: list[Place], places: tuple[Place, ...]) -> State:
    if visible:
        return "several" if len(visible) > 1 else "found"
    return "image-only" if any(one.kind == "image" for one in places) else "absent"


def _warnings(
    check: SourceCheck, reading: Reading, card: Reading, in_card: list[Place], named: tuple[str, ...]
) -> list[Problem]:
    result, where = check.result, check.result.place
    told = [Problem(one.code, where, f"{one.where}: {one.found}", one.expected, one.fix) for one in reading.lacking]
    if check.state == "several":
        count = sum(one.kind in ("table", "text") for one in check.places)
        fix = f"origin: {check.origin_proposal}"
        told.append(
            Problem(
                "several-places",
                where,
                f"{result.value_text} is there {count} times",
                "an origin that names the place",
                fix,
            )
        )
    if check.state in ("absent", "image-only") and names_figure_or_control(result.origin):
        fix = "look there yourself, once more"
        told.append(
            Problem(
                "value-not-found",
                where,
                f"{result.value_text} is {_WORDS[check.state]}",
                f"to be seen: {result.origin}",
                fix,
            )
        )
    told += [
        Problem("source-changed", where, f"{one.address} has changed since it was last checked", "", "look again")
        for one in reading.documents
        if one.was is not None
    ]
    if reading.copy is not None:
        found = f"checked in {reading.copy.name}, saved from {result.source.url} by somebody"
        told.append(Problem("saved-copy", where, found, "the same on the page", "compare the copy with the live page"))
    if any(one.kind != "hidden" and are_named(named, one.words) for one in in_card):
        fix = "cite the card"
        told.append(
            Problem(
                "card-has-it",
                where,
                f"the model card prints {result.value_text} too",
                "the most direct source: the card",
                fix,
            )
        )
    if card.failure is not None and card.failure.exit is not Exit.REMOTE:
        found = f"the model card cannot be read: {card.failure.problems[0].found}"
        told.append(Problem("card-unread", where, found, "", "look whether it prints the number with more digits"))
    return told


def _quoted(question: Question) -> str:
    shown = "; ".join(f'"{quote}"' for quote in question.quotes[:3])
    more = f" and {len(question.quotes) - 3} more" if len(question.quotes) > 3 else ""
    return f"an answer; the source says {shown}{more}" if shown else "an answer"


def as_data(check: SourceCheck) -> Mapping[str, Any]:
    """A check as JSON has it."""
    result = check.result
    return {
        "repo": result.repo,
        "dataset": result.dataset,
        "task_id": result.task_id,
        "value_text": result.value_text,
        "board_text": result.board_text,
        "row": result.row,
        "source": result.source.url,
        "state": check.state,
        "digest": check.digest,
        "documents": [
            {"name": one.name, "address": one.address, "sha256": one.digest, "revision": one.revision}
            for one in check.documents
        ],
        "places": [_place(one) for one in check.places],
        "misses": [
            {"printed": one.printed, "why": one.why, "document": one.document, "quote": one.quote}
            for one in check.misses
        ],
        "questions": [
            {"code": one.code, "text": one.text, "quotes": one.quotes, "answer": result.answers.get(one.code)}
            for one in check.questions
        ],
        "origin": result.origin,
        "origin_proposal": check.origin_proposal,
        "blocks": [one.to_dict() for one in check.blocks],
        "warnings": [one.to_dict() for one in check.warnings],
    }


def _place(place: Place) -> Mapping[str, Any]:
    names = ("document", "kind", "printed", "quote", "row", "column", "group", "caption", "heading", "label", "control")
    told = {name: getattr(place, name) for name in names if getattr(place, name)}
    return {**told, "marks": place.marks, "exact": place.exact}
