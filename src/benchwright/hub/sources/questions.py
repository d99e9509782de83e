"""What a person has to answer before a number is posted: each question with the words of the source that raise it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchwright.hub.sources.find import FINER, Miss, Place
from benchwright.hub.sources.naming import are_named, is_exactly, model_names, sibling
from benchwright.hub.sources.others import other_model
from benchwright.hub.sources.page import shown
from benchwright.hub.sources.reading import Reading
from benchwright.hub.sources.signs import Sign, kinds, legends, signs_in, signs_of, trained_on
from benchwright.hub.sources.variants import header_names, is_only, other_benchmark, parts, whole_names
from benchwright.hub.spec import Result

_MOST_QUOTES = 8
_DAGGERS = "†‡"


@dataclass(frozen=True)
class Question:
    """A question: its code, under which the spec answers it, and the words that raise it, the nearest ones first."""

    code: str
    text: str
    quotes: tuple[str, ...] = ()

    @property
    def quote(self) -> str:
        """The first of the words."""
        return self.quotes[0] if self.quotes else ""


@dataclass(frozen=True)
class Evidence:
    """What is known of a result: what its source and its model's card came to, and what they print.

    ``places`` are those of the source, the likeliest first, ``misses`` what comes close there and in the card;
    ``named`` are the names of the benchmark.
    """

    result: Result
    reading: Reading
    card: Reading
    places: tuple[Place, ...]
    misses: tuple[Miss, ...]
    named: tuple[str, ...]

    @property
    def seen(self) -> tuple[Place, ...]:
        """The places that a reader sees."""
        return tuple(one for one in self.places if one.kind != "hidden")

    @property
    def likeliest(self) -> tuple[Place, ...]:
        """The places that name as much of benchmark and model as the first one does."""
        seen = self.seen
        return tuple(one for one in seen if self._names(one) == self._names(seen[0]))

    @property
    def from_own_card(self) -> bool:
        """Whether the source is the model's own card."""
        return self.reading.card_of is not None and self.reading.card_of == self.card.card_of

    def _names(self, place: Place) -> tuple[bool, bool]:
        return is_about(self.named, self.result.repo, place), is_of(self.result.repo, place)


def is_about(named: tuple[str, ...], repo: str, place: Place) -> bool:
    """Whether a place names a benchmark, and not only another whose name has it."""
    return are_named(named, place.words) and not other_benchmark(named, repo, place)


def is_of(repo: str, place: Place) -> bool:
    """Whether a place names a model by its whole name, and not only another whose name begins with it."""
    return are_named(model_names(repo)[:1], place.words) and not _other_model(repo, place)


def questions_of(evidence: Evidence) -> tuple[Question, ...]:
    """All questions that a result raises."""
    about = (_about_authors, _about_place, _about_digits, _about_signs)
    return tuple(question for ask in about for question in ask(evidence))


def _about_authors(evidence: Evidence) -> Iterator[Question]:
    """Whether the source is by the model's authors, as its own card is; a card links to papers of benchmarks too."""
    result, reading = evidence.result, evidence.reading
    if evidence.from_own_card:
        return
    if reading.card_of is not None:
        text = f"the source is the card of {reading.card_of}: do its authors answer for {result.repo}?"
    elif any(_address(result.source.url) in document.text.lower() for document in evidence.card.documents):
        text = "the model's card links to the source: is it by the model's authors, or the benchmark's?"
    else:
        text = "the model's card does not link to the source: is it by the model's authors?"
    yield Question("authors", text)


def _address(url: str) -> str:
    """What a link to the same page has in it, too: the number of a paper, or host and path."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if (parts.hostname or "").endswith("arxiv.org"):
        return path.rpartition("/")[2].lower().removesuffix(".pdf").partition("v")[0]
    return f"{(parts.hostname or '').removeprefix('www.')}{path}".lower()


def _about_place(evidence: Evidence) -> Iterator[Question]:
    """Whether the number is in the row of this model, and in the column of this benchmark."""
    if evidence.likeliest:
        place = evidence.likeliest[0]
        cells = [] if place.table is None else [shown(cell.text) for _, _, cell in place.table.cells()]
        doubt = _not_benchmark(evidence, place, cells)
        if doubt:
            yield Question("benchmark", doubt, (place.quote,))
        doubt = _not_model(evidence, place, cells)
        if doubt:
            yield Question("model", doubt, (place.quote,))


def _not_benchmark(evidence: Evidence, place: Place, cells: list[str]) -> str:
    """Why to doubt that a number is the benchmark's; "" for no reason."""
    named, repo = evidence.named, evidence.result.repo
    whole = whole_names(named)
    other = other_benchmark(named, repo, place)
    if other:
        return f"the number is that of {other}: is it the score of {named[0]}?"
    if cells and not are_named(whole, f"{place.headers}\n{place.quote}"):
        elsewhere = next((one for one in cells if header_names(named, repo, one)), "")
        if elsewhere:
            return f"the table has {elsewhere} elsewhere: is this number that one's?"
    if other is None:
        return f"nothing near the number names {named[0]}: is it that one's?"
    alone = next((one for one in cells if is_only(named, one)), "")
    if alone and not any(is_only(named, one) for one in parts(place)) and are_named(whole, place.headers):
        return f"the table has {alone} by itself elsewhere: is this number that one's?"
    return ""


def _not_model(evidence: Evidence, place: Place, cells: list[str]) -> str:
    """Why to doubt that a number is the model's; "" for no reason."""
    repo = evidence.result.repo
    names, elsewhere = _named_in(cells, repo)
    other = _other_model(repo, place, names)
    if other is None and not elsewhere:
        doubt = other_model(repo, evidence.likeliest, evidence.named)
        if doubt:
            return doubt
        other = sibling(repo, place.caption, names)
    if other:
        return f"the number is that of {other}: is it the model in this repo?"
    if other is None:
        if elsewhere:
            return f"the table has {elsewhere} elsewhere: is this number the model's?"
        return "" if evidence.from_own_card else f"nothing at the number names {names[0]}: is it that one's?"
    alone = next((one for one in cells if is_exactly(repo, one)), "")
    if alone and not any(is_exactly(repo, one) for one in parts(place)):
        return f"the table has {alone} by itself elsewhere: is this number the model's?"
    return ""


def _other_model(repo: str, place: Place, names: Sequence[str] = ()) -> str | None:
    """What the headers of a place, or its sentence, call another model; see `sibling`."""
    if place.kind == "table":
        return sibling(repo, place.headers, names, header=True)
    return sibling(repo, place.headers, names, number=place.printed)


def _named_in(cells: list[str], repo: str) -> tuple[tuple[str, ...], str]:
    """The names that a table calls a model by, and the first cell that does; its own name goes before a shorter one."""
    full = model_names(repo)[:1]
    for names in (full, model_names(repo)):
        found = next((one for one in cells if are_named(names, one)), "")
        if found:
            return names, found
    return (full if cells else model_names(repo)), ""


def _about_digits(evidence: Evidence) -> Iterator[Question]:
    seen = evidence.seen
    if seen and not any(one.exact for one in seen):
        text = f"the source prints {seen[0].printed}, the spec {evidence.result.value_text}: which digits?"
        yield Question("digits", text, (seen[0].quote,))
    unit = evidence.result.unit
    if unit is not None and unit.source == "fraction" and any(one.percent for one in seen):
        quotes = _few(one.quote for one in seen if one.percent)
        yield Question(
            "unit", "the source prints a percent sign, the spec says that it gives a fraction: which is it?", quotes
        )
    finer = [one for one in evidence.misses if one.why == FINER and are_named(evidence.named, one.words)]
    if finer:
        text = (
            f"{finer[0].document} prints {finer[0].printed}: more digits win, the card's first; is it the same score?"
        )
        yield Question("precision", text, _few(one.quote for one in finer))
    about = [one.quote for one in seen if one.about]
    if about:
        yield Question("about", "the source says that the number is not exact: may it be posted?", _few(about))


def _about_signs(evidence: Evidence) -> Iterator[Question]:
    """What the words around the places, and anywhere in the sources, give reason to ask."""
    documents = evidence.reading.documents
    marks = {mark for place in evidence.likeliest for mark in place.marks}
    asides = {mark for place in evidence.likeliest for mark in place.asides} - marks
    near = tuple(dict.fromkeys(text for place in evidence.likeliest for text in place.near))
    everything = [text for document in documents for text in document.page.texts()]
    notes = {mark: _few(legends(near, mark) or legends(everything, mark)) for mark in sorted(marks | asides)}
    notes = {mark: said for mark, said in notes.items() if said or mark in marks}
    quotes: defaultdict[str, list[str]] = defaultdict(list)
    explained = (sign for said in notes.values() for sign in signs_in(said))
    around = (sign for sign in signs_in(near) if _is_about(sign, notes, evidence.likeliest))
    beside = signs_in(dict.fromkeys(text for place in evidence.likeliest for text in place.beside))
    elsewhere = (sign for document in documents for sign in signs_of(document.page))
    far = (
        *(sign for sign in beside if sign.reach != "nearby" and not sign.marks),
        *(sign for sign in elsewhere if sign.reach == "anywhere" or _speaks_of(sign, evidence.named[:1])),
    )
    for sign in (*explained, *around, *far, *trained_on(everything, evidence.named[0])):
        if not sign.tells(evidence.result.printed):
            quotes[sign.code].append(sign.quote)
    for mark, said in notes.items():
        if not said and set(mark) & set(_DAGGERS):
            quotes["third-party"].append(f"{mark} at the number, and no note that says what it means")
    for kind in kinds():
        if quotes[kind.code]:
            yield Question(kind.code, kind.ask, _few(quotes[kind.code]))
    if notes:
        told = tuple(f"{mark}: {' '.join(said) or 'no note says what it means'}" for mark, said in notes.items())
        yield Question("mark", "a note is marked at the number: does it change what the number is?", told)


def _is_about(sign: Sign, notes: Mapping[str, object], places: Iterable[Place]) -> bool:
    """Whether a sign near a number is about it, and no note of other numbers."""
    own = any(sign.quote in place.quote or place.quote in sign.quote for place in places)
    return own or not sign.marks or not notes.keys().isdisjoint(sign.marks)


def _speaks_of(sign: Sign, named: tuple[str, ...]) -> bool:
    """Whether a sign far from a number may be about it all the same."""
    return not sign.marks and (sign.about_results or are_named(named, sign.quote))


def _few(quotes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(quotes))[:_MOST_QUOTES]
