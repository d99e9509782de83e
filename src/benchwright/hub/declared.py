"""What a model declares already: on main, and in every pull request that may still be merged, in broken files too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from benchwright.contract import Problem
from benchwright.hub.benchmarks import Benchmark, official_benchmarks
from benchwright.hub.client import Hub, api_path
from benchwright.hub.entries import BadEntry, Entry, parse_entries
from benchwright.hub.model_repo import RESULTS_FOLDER, ModelRepo, discussions_open, model_repo
from benchwright.hub.pull_requests import PullRequest, differences, files_below, pull_requests, thread
from benchwright.hub.refusals import Disabled, Forbidden, Gated, NotFound

_ENDINGS = (".yaml", ".yml")
MAIN = "main"
_FORMAT_PUBLISHED = "2025-12"
"""The month in which the Hub published the format: a pull request that is older is taken to have no results.

The page of the format was added on 2025-12-12: https://github.com/huggingface/hub-docs/pull/2109.
"""
_OF_RESULTS = re.compile(r"eval|result|benchmark|score|leaderboard", re.IGNORECASE)
_DATASET = re.compile(r"[\w.-]+(?:/[\w.-]+)?", re.ASCII)
_GONE: list[tuple[str, list[Entry | BadEntry]]] = [(RESULTS_FOLDER, [BadEntry("the pull request's files are gone")])]


@dataclass(frozen=True)
class Declaration:
    """A result that a file declares.

    ``origin`` is ``main`` or ``pr N``; ``author`` and ``status`` are those of the pull request. ``broken`` says why the
    Hub does not take the entry: what it declares is not known for certain. ``closed_by`` is who closed it, of one that
    was not merged.
    """

    origin: str
    filename: str
    value_text: str | None
    notes: str | None = None
    author: str | None = None
    status: str | None = None
    broken: str | None = None
    closed_by: str | None = None


@dataclass(frozen=True)
class Declared(Mapping[tuple[str, str], tuple[Declaration, ...]]):
    """Declarations by (dataset, task); `of` also finds those that do not name their task rightly.

    ``problems`` are the files that are broken. ``unread`` are those of which nothing is known: with any, a benchmark
    that is not found may be declared all the same, and `of` says so by a declaration that is ``broken``.
    """

    by_task: Mapping[tuple[str, str], tuple[Declaration, ...]]
    any_task: Mapping[str, tuple[Declaration, ...]] = field(default_factory=dict)
    unread: tuple[Declaration, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __getitem__(self, key: tuple[str, str]) -> tuple[Declaration, ...]:
        return self.by_task[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.by_task)

    def __len__(self) -> int:
        return len(self.by_task)

    @property
    def paths(self) -> frozenset[str]:
        """The files that declare anything."""
        made = [*self.by_task.values(), *self.any_task.values(), self.unread]
        return frozenset(one.filename for several in made for one in several)

    def of(self, benchmark: Benchmark, task: str) -> tuple[Declaration, ...]:
        """Every declaration that is, or may be, of this task; empty: it is declared nowhere.

        One that gives the benchmark a task it does not have may mean any of its tasks.
        """
        found = [
            one
            for (dataset, its_task), made in self.by_task.items()
            if dataset == benchmark.dataset and (its_task == task or its_task not in benchmark.tasks)
            for one in made
        ]
        return (*found, *self.any_task.get(benchmark.dataset, ()), *self.unread)


def declared(hub: Hub, repo: str | ModelRepo, *, cached: bool = True) -> Declared:
    """What a model declares on main and in all open pull requests, drafts included.

    Datasets are under their present ids. A file that cannot be read or parsed does not count as declaring nothing.
    Requests: the model's own, the list of pull requests, and of each open one the list of its files, with results or
    not, and those that differ from main's; main's files where ``evalResults`` does not have them. No answer of the Hub
    lists the files of several pull requests, and ``evalResults`` leaves out edits and drafts.

    Raises:
        RepoMissing, Disabled: there is nothing to look at.
        Failure: something is not told (exit 4 or 3): what is declared is then unknown.
    """
    model = model_repo(hub, repo, cached=cached) if isinstance(repo, str) else repo
    found = _Found(hub, model)
    for filename in model.result_files:
        if filename.endswith(_ENDINGS):
            found.add(_on_main(hub, model, filename), filename)
    for pull in _pulls(hub, model, cached=cached):
        if pull.live:
            for filename, entries in _in_pull_request(hub, model, pull, cached=cached):
                found.add(entries, filename, pull)
    return found.result()


def declared_before(hub: Hub, repo: str | ModelRepo, *, cached: bool = True) -> Declared:
    """What pull requests that are done declared, in files that main has not so.

    Of one that was closed somebody has said no to it; of one that was merged its owner has taken it out since, where
    main does not declare it elsewhere. Those that were opened before the format was published (`_FORMAT_PUBLISHED`) are
    not looked into, nor such whose files are gone, unless their title speaks of results. Each of the others takes one
    request, and up to three more where it has results or its ref is gone.

    Raises:
        RepoMissing, Disabled, Failure: as `declared` does.
    """
    model = model_repo(hub, repo, cached=cached) if isinstance(repo, str) else repo
    found = _Found(hub, model)
    for pull in _pulls(hub, model, cached=cached):
        if pull.live or pull.created < _FORMAT_PUBLISHED:
            continue
        read = list(_in_pull_request(hub, model, pull, cached=cached))
        if read == _GONE and not _OF_RESULTS.search(pull.title):
            continue
        closing = thread(hub, model.id, pull.num, cached=cached).status_change if read and not pull.merged else None
        for filename, entries in read:
            found.add(entries, filename, pull, closing.author if closing else None)
    return found.result()


class _Found:
    """Declarations as they are found."""

    def __init__(self, hub: Hub, model: ModelRepo) -> None:
        self._hub, self._model = hub, model
        self._by_task: dict[tuple[str, str], list[Declaration]] = {}
        self._any_task: dict[str, list[Declaration]] = {}
        self._unread: list[Declaration] = []
        self._problems: list[Problem] = []

    def add(
        self,
        entries: Iterable[Entry | BadEntry],
        filename: str,
        pull: PullRequest | None = None,
        closed_by: str | None = None,
    ) -> None:
        """Add what a file declares."""
        origin = MAIN if pull is None else f"pr {pull.num}"
        author, status = (None, None) if pull is None else (pull.author, pull.status)
        for one in entries:
            broken = one.reason if isinstance(one, BadEntry) else None
            notes = None if isinstance(one, BadEntry) else one.notes
            made = Declaration(origin, filename, one.value_text, notes, author, status, broken, closed_by)
            if broken is not None:
                where = f"{self._model.id}: {filename} ({origin})"
                fix = "tell its owners; what it may declare counts as declared"
                self._problems.append(Problem("broken-results", where, broken, "entries in the Hub's format", fix))
            if one.dataset is None:
                self._unread.append(made)
            elif one.task is None:
                self._any_task.setdefault(canonical_dataset(self._hub, one.dataset), []).append(made)
            else:
                self._by_task.setdefault((canonical_dataset(self._hub, one.dataset), one.task), []).append(made)

    def result(self) -> Declared:
        return Declared(
            {key: tuple(made) for key, made in self._by_task.items()},
            {key: tuple(made) for key, made in self._any_task.items()},
            tuple(self._unread),
            tuple(self._problems),
        )


def canonical_dataset(hub: Hub, dataset: str) -> str:
    """The present id of a dataset; the id itself where there is no such dataset.

    Raises:
        Failure: that is not told.
    """
    official = {one.lower(): one for one in official_benchmarks(hub)}
    if (known := official.get(dataset.lower())) is not None or not _DATASET.fullmatch(dataset):
        return known or dataset
    try:
        return str(hub.json(api_path("dataset", dataset))["id"])
    except (NotFound, Disabled):
        return dataset


def _pulls(hub: Hub, model: ModelRepo, *, cached: bool) -> tuple[PullRequest, ...]:
    """All pull requests of a model; none where it takes none."""
    try:
        return pull_requests(hub, model.id, cached=cached)
    except Forbidden as refused:
        if refused.no_discussions or not discussions_open(hub, model.id):
            return ()
        raise


def _on_main(hub: Hub, model: ModelRepo, filename: str) -> list[Entry | BadEntry]:
    """The entries of a file on main; what the Hub itself tells takes no request."""
    return told_entries(model, filename, None) or _in_file(hub, model, filename, model.sha, None, cached=True)


def _in_pull_request(
    hub: Hub, model: ModelRepo, pull: PullRequest, *, cached: bool
) -> Iterator[tuple[str, list[Entry | BadEntry]]]:
    """The result files of a pull request that main has not so, and their entries."""
    main = files_below(hub, model.id, model.sha) if model.result_files else {}
    revision = pull.ref
    try:
        there = files_below(hub, model.id, revision, cached=cached)
    except NotFound as missing:
        if missing.kind != "revision":
            raise
        told = thread(hub, model.id, pull.num, diff=True, cached=cached)
        if told.merge_commit is None:
            yield from _in_difference(told.diff)
            return
        revision = told.merge_commit  # of an edited file a difference shows a part
        there = files_below(hub, model.id, revision, cached=cached)
    for one in differences(main, there):
        if one.oid is not None and one.path.endswith(_ENDINGS):
            yield one.path, _in_file(hub, model, one.path, revision, pull.num, cached=cached)


def _in_file(
    hub: Hub, model: ModelRepo, filename: str, revision: str, num: int | None, *, cached: bool
) -> list[Entry | BadEntry]:
    """The entries of a file; of one behind a gate those that the Hub itself tells."""
    try:
        return parse_entries(hub.text(model.id, filename, revision, cached=cached))
    except Gated:
        return told_entries(model, filename, num) or [BadEntry("behind a gate that this token does not pass")]


def told_entries(model: ModelRepo, filename: str, num: int | None) -> list[Entry | BadEntry]:
    """A file's entries as ``evalResults`` has them; none where it lacks the file, or calls it an error."""
    name = filename.removeprefix(f"{RESULTS_FOLDER}/")
    items = [
        one
        for one in model.eval_results
        if str(one.get("filename")).removeprefix(f"{RESULTS_FOLDER}/") == name and one.get("pullRequest") == num
    ]
    try:
        return [_entry(one["data"]) for one in items]
    except (KeyError, TypeError, ArithmeticError):
        return []


def _entry(data: Mapping[str, Any]) -> Entry:
    place, source, value = data["dataset"], data.get("source") or {}, data["value"]
    text = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return Entry(
        str(place["id"]),
        str(place["task_id"]),
        Decimal(text),
        text,
        data.get("date"),
        source.get("url"),
        source.get("name"),
        data.get("notes"),
    )


def _in_difference(diff: str | None) -> Iterator[tuple[str, list[Entry | BadEntry]]]:
    """The entries of result files as a difference in git's format shows them: of a new file all."""
    if diff is None:
        yield from _GONE
        return
    for filename, text in files_in_difference(diff).items():
        yield filename, parse_entries(text)


def files_in_difference(diff: str) -> Mapping[str, str]:
    """The texts of result files as far as a difference in git's format shows them: of a new file all."""
    files: dict[str, str] = {}
    filename, lines = "", list[str]()
    for line in [*diff.splitlines(), "diff --git"]:
        if line.startswith("diff --git"):
            if filename.startswith(f"{RESULTS_FOLDER}/") and filename.endswith(_ENDINGS) and lines:
                files[filename] = "\n".join(lines)
            filename, lines = "", []
        elif line.startswith("+++ b/") and not filename:
            filename = line.removeprefix("+++ b/")
        elif filename and line[:1] in ("+", " "):
            lines.append(line[1:])
    return files
