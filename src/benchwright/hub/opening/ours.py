"""Pull requests of ours, found on the Hub: by their author, by the marker in their body, by what their files hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchwright.hub.client import Hub
from benchwright.hub.declared import told_entries
from benchwright.hub.entries import Entry, parse_entries, write_entries
from benchwright.hub.model_repo import ModelRepo, model_repo
from benchwright.hub.opening.words import TITLE, marker_in
from benchwright.hub.pull_requests import Event, PullRequest, Thread, differences, files_below, thread
from benchwright.hub.refusals import Gated

_ENDING = ".yaml"


@dataclass(frozen=True)
class OwnPull:
    """A pull request by ``author``, or whose title is one of ours where nobody knows who we are.

    ``digits`` are those of the marker in its body, None: it has none. ``files`` are those below ``.eval_results/`` that
    main has not so, with their texts, None: deleted. Other files than ``.yaml`` ones are not read, and have an empty
    text; of a model whose files are ``gated`` the texts are made from what the Hub tells of them. ``body`` is the first
    comment.
    """

    pull: PullRequest
    digits: str | None
    files: Mapping[str, str | None] = field(repr=False)
    body: Event | None = field(repr=False)
    commits: tuple[Event, ...] = field(repr=False)
    gated: bool = False

    @property
    def head(self) -> str | None:
        """The newest commit."""
        return self.commits[-1].oid if self.commits else None

    def is_for(self, digits: str, entries: Iterable[Entry]) -> bool:
        """Whether it has the marker and each of these results, just so.

        The results will do where somebody took the marker out, and the marker behind a gate.
        """
        if self.gated:
            return self.digits == digits
        found = {entry for text in self.files.values() for entry in parse_entries(text or "")}
        return self.digits in (digits, None) and found.issuperset(entries)

    @property
    def paths(self) -> Mapping[tuple[str, str], str]:
        """The file that declares a result, by (dataset, task)."""
        held = {path: parse_entries(text) for path, text in self.files.items() if text}
        return {
            (one.dataset, one.task): path for path, found in held.items() for one in found if isinstance(one, Entry)
        }


def own_pull_requests(
    hub: Hub, model: ModelRepo, pulls: Iterable[PullRequest], author: str | None, *, cached: bool = True
) -> tuple[OwnPull, ...]:
    """Those of ``pulls`` that are open and ours: with a marker, or with result files of the author's.

    Where nobody knows who we are, a title is not enough: others use the same words.

    Requests: one for each open one by the author, and those that `declared` makes for its files.

    Raises:
        Failure: they are not told.
    """
    found = []
    for pull in pulls:
        mine = pull.author == author if author is not None else pull.title.startswith(TITLE)
        if pull.live and mine:
            told = thread(hub, model.id, pull.num, cached=cached)
            own = own_pull(hub, model, told, cached=cached)
            if own.digits is not None or (author is not None and any(own.files.values())):
                found.append(own)
    return tuple(found)


def own_pull(hub: Hub, model: ModelRepo, told: Thread, *, cached: bool = True) -> OwnPull:
    """A pull request with its result files.

    Raises:
        Failure: they are not told.
    """
    pull, digits = told.pull_request, marker_in(told.body.text) if told.body else None
    main = files_below(hub, model.id, model.sha) if model.result_files else {}
    changed = differences(main, files_below(hub, model.id, pull.ref, cached=cached))
    files = {one.path: None if one.oid is None else "" for one in changed}
    read = [path for path, text in files.items() if text is not None and path.endswith(_ENDING)]
    try:
        for path in read:
            files[path] = hub.text(model.id, path, pull.ref, cached=cached)
    except Gated:
        now = model_repo(hub, model.id, cached=False)
        told_of = {path: told_entries(now, path, pull.num) for path in read}
        files |= {path: write_entries(one for one in held if isinstance(one, Entry)) for path, held in told_of.items()}
        return OwnPull(pull, digits, files, told.body, told.commits, gated=True)
    return OwnPull(pull, digits, files, told.body, told.commits)
