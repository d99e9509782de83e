"""Cited sources read into pages, each once a run: model cards at their commit, papers, other pages, saved copies."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.client import Hub, HubPatience
from benchwright.hub.model_repo import model_repo, normalise_url
from benchwright.hub.refusals import NotFound
from benchwright.hub.sources.fetch import Content, fetch, read_file
from benchwright.hub.sources.markdown import read_markdown, read_plain
from benchwright.hub.sources.markup import read_markup
from benchwright.hub.sources.page import Page
from benchwright.hub.sources.snapshots import Snapshots
from benchwright.hub.spec import CitedSource

_CARD = "README.md"
_ARXIV = re.compile(
    r"https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/((?:[a-z-]+/)?[0-9.]+[0-9](?:v[0-9]+)?)(?:\.pdf)?/?", re.I
)
_READERS: dict[str, Callable[[str], Page]] = {
    "text/html": read_markup,
    "application/xhtml+xml": read_markup,
    "text/markdown": read_markdown,
    "text/plain": read_plain,
}


@dataclass(frozen=True)
class Document:
    """A page that was read: what it is called (``the model card``), where it is, the SHA-256 of its bytes.

    ``was`` is the digest that it had when it was last kept, where that differs. ``text`` is its text as it came.
    """

    name: str
    address: str
    digest: str
    page: Page = field(repr=False)
    was: str | None = None
    revision: str | None = None
    text: str = field(default="", repr=False)


@dataclass(frozen=True)
class Reading:
    """What a cited source came to: its documents, or why there are none. ``card_of`` is the model whose card it is.

    ``lacking`` are parts that are not there although the source has others, such as arXiv's HTML of a paper.
    """

    documents: tuple[Document, ...] = ()
    failure: Failure | None = None
    card_of: str | None = None
    copy: Path | None = None
    lacking: tuple[Problem, ...] = ()


class Sources:
    """Reads sources, each once, and keeps a snapshot of each. Safe for many threads.

    ``snapshots`` None keeps none. The Hub is asked for cards alone; nothing that the web is asked for carries a token.
    """

    def __init__(self, hub: Hub, snapshots: Snapshots | None = None, patience: HubPatience | None = None) -> None:
        self.hub = hub
        self._snapshots = snapshots
        self._patience = patience or HubPatience(longest_wait=30.0)
        self._read: dict[object, Reading] = {}
        self._lock = threading.Lock()

    def read(self, source: CitedSource) -> Reading:
        """What a source says; a saved copy in the page's place, where there is one."""
        if source.file is not None:
            copy = source.file
            return self._once(copy, lambda: Reading((self._document(read_file(copy), "the saved page"),), copy=copy))
        repo = normalise_url(source.url)
        if repo is not None and (file := _file_of(source.url)) is not None:
            return self._once((repo.lower(), *file), lambda: self._card(repo, *file))
        paper = _ARXIV.fullmatch(source.url.partition("?")[0].partition("#")[0])
        if paper is not None:
            return self._once(paper[1], lambda: self._paper(source.url, paper[1]))
        return self._once(source.url, lambda: Reading((self._document(fetch(source.url, self._patience), "the page"),)))

    def card(self, repo: str) -> Reading:
        """A model's card."""
        return self._once((repo.lower(), _CARD, None), lambda: self._card(repo, _CARD, None))

    def _once(self, key: object, read: Callable[[], Reading]) -> Reading:
        with self._lock:  # one at a time: pages are few, and their parsing has one processor anyway
            if key not in self._read:
                try:
                    self._read[key] = read()
                except Failure as failure:
                    self._read[key] = Reading(failure=failure)
            return self._read[key]

    def _card(self, repo: str, file: str, revision: str | None) -> Reading:
        model = model_repo(self.hub, repo)
        commit = revision or model.sha
        address = f"{self.hub.endpoint}/{model.id}/blob/{commit}/{file}"
        try:
            text = self.hub.text(model.id, file, commit)
        except NotFound as missing:
            if missing.kind == "repo":
                raise
            fix = "cite a file that is there, or another page of the authors"
            raise Failure(
                Problem("source-missing", address, "no such file", "a card, or the file cited", fix)
            ) from None
        media = "text/html" if file.lower().endswith((".html", ".htm")) else "text/markdown"
        content = Content(address, address, media, text.encode(), "utf-8")
        document = self._document(content, "the model card" if file == _CARD else file, commit)
        return Reading((document,), card_of=model.id)

    def _paper(self, cited: str, paper: str) -> Reading:
        """The abstract of a paper, and arXiv's HTML of it, where there is one: numbers are in its tables."""
        base = f"{urlsplit(cited).scheme}://arxiv.org"
        abstract = self._document(fetch(f"{base}/abs/{paper}", self._patience), "the abstract")
        try:
            whole = fetch(f"{base}/html/{paper}", self._patience)
        except Failure as failure:
            if failure.exit is Exit.REMOTE:
                raise
            fix = "save a page of the paper that has the number, and name the file as source.file"
            problem = Problem(
                "no-paper-html", f"{base}/html/{paper}", failure.problems[0].found, "the paper as HTML", fix
            )
            return Reading((abstract,), lacking=(problem,))
        return Reading((abstract, self._document(whole, "the paper")))

    def _document(self, content: Content, name: str, revision: str | None = None) -> Document:
        read, text = _reader(content), content.text()
        was = None
        if self._snapshots is not None:
            # A card's snapshots belong together, whatever the commit.
            address = content.address.replace(f"/blob/{revision}/", "/blob/main/")
            was = self._snapshots.keep(address, content.data, content.media, revision)
        try:
            page = read(text)
        except Failure as failure:
            problems = [
                Problem(one.code, content.address, one.found, one.expected, one.fix) for one in failure.problems
            ]
            raise Failure(problems) from None
        return Document(name, content.address, sha256(content.data).hexdigest(), page, was, revision, text)


def _reader(content: Content) -> Callable[[str], Page]:
    """What reads a content.

    Raises:
        Failure: nothing does: it is a PDF, an image, an archive (code ``source-unreadable``).
    """
    head = content.data[:512].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return read_markup
    read = _READERS.get(content.media, read_plain if content.media.startswith("text/") else None)
    pdf = content.data.startswith(b"%PDF-")
    if read is None or pdf or "\0" in content.text()[:1024]:
        found = "a PDF" if pdf else f"{content.media}, not a text"
        fix = "save its text, or its page as HTML, and name the file as source.file"
        raise Failure(Problem("source-unreadable", content.address, found, "HTML, Markdown or text", fix))
    return read


def _file_of(url: str) -> tuple[str, str | None] | None:
    """The file of a model that its address is about, and its revision where it is not main; None for other pages."""
    parts = unquote(urlsplit(url).path).strip("/").split("/")[2:]
    if not parts or parts[0] == "tree":
        return _CARD, None
    if parts[0] in ("blob", "raw", "resolve") and len(parts) > 2:
        return "/".join(parts[2:]), None if parts[1] == "main" else parts[1]
    return None
