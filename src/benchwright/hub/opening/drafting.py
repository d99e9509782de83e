"""The draft of a pull request: files, title and body for results that belong on their boards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from benchwright.contract import Failure, Problem
from benchwright.hub.entries import Entry, write_entries
from benchwright.hub.links import view_link
from benchwright.hub.model_repo import ModelRepo
from benchwright.hub.opening.placing import Placed
from benchwright.hub.opening.result_files import entry_of, grouped, paths_for
from benchwright.hub.opening.words import LONGEST_BODY, Told, body_for, check_seen, spec_hash, title_for
from benchwright.hub.registry import Record, RecordedResult


@dataclass(frozen=True)
class DraftResult:
    """A result with its file, its entry, and the link to the view that is going to show it."""

    placed: Placed
    path: str
    entry: Entry
    link: str

    @property
    def name(self) -> str:
        """The benchmark's name, with the task where that is not its default one."""
        benchmark, task = self.placed.benchmark, self.entry.task
        return benchmark.name if task == benchmark.tasks[0] else f"{benchmark.name} ({task})"


@dataclass(frozen=True)
class Draft:
    """A pull request as it would be opened on top of the commit ``model.sha``; ``files`` are texts by path.

    ``digits`` are those of the marker.
    """

    model: ModelRepo
    digits: str
    title: str
    body: str = field(repr=False)
    results: tuple[DraftResult, ...]
    files: Mapping[str, str] = field(repr=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its results."""
        return tuple(one.entry for one in self.results)

    @property
    def recorded(self) -> tuple[RecordedResult, ...]:
        """Its results as the registry keeps them."""
        return tuple(
            RecordedResult(one.entry.dataset, one.entry.task, one.path, one.entry.value_text, one.link)
            for one in self.results
        )

    def intent(self) -> Record:
        """What the registry says before anybody has been asked."""
        return Record(self.model.id, self.digits, "intent", self.title, self.recorded)


def draft(
    model: ModelRepo,
    placed: Sequence[Placed],
    origins: Sequence[str],
    *,
    endpoint: str,
    taken: Collection[str],
    kept: Mapping[tuple[str, str], str],
) -> Draft:
    """The draft for results, each with the origin that the body tells.

    ``taken`` are paths that others have; ``kept`` are those that the results of (dataset, task) have already in the
    pull request that is changed.

    Raises:
        Failure: the spec gives a file a name that is taken, the body is too long, a text has unseen characters.
    """
    entries = [entry_of(one.result, one.benchmark) for one in placed]
    paths = paths_for([(one.result, one.benchmark) for one in placed], taken, kept)
    links = [
        view_link(entry.dataset, entry.task, one.prediction.view, model.id, endpoint=endpoint)
        for entry, one in zip(entries, placed, strict=True)
    ]
    results = tuple(map(DraftResult, placed, paths, entries, links))
    for one, entry, origin in zip(placed, entries, origins, strict=True):
        for text in (one.benchmark.name, origin, entry.source_name, entry.notes):
            check_seen(text or "", one.result.place)
    digits = spec_hash(entries)
    told = [Told(one.name, one.link, origin) for one, origin in zip(results, origins, strict=True)]
    body = body_for(told, digits)
    if len(body) > LONGEST_BODY:
        expected = f"at most {LONGEST_BODY:,}, which is what the Hub takes"
        raise Failure(
            Problem("body-too-long", model.id, f"a body of {len(body):,} characters", expected, "write shorter origins")
        )
    files = {path: write_entries(held) for path, held in grouped(paths, entries).items()}
    return Draft(model, digits, title_for([one.placed.benchmark.name for one in results]), body, results, files)
