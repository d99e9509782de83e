"""The registry of pull requests: one file that knows each from the moment before it was opened.

A record is written as an intent before the request that opens a pull request, and completed after the answer. So a run
that was killed in between leaves a trace, and the next one looks at the Hub before it opens anything. The file is
replaced as a whole under a lock. One that is cut, or was edited by hand, is refused: what it says can be read from the
Hub again (`benchwright.hub.opening.rebuild`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from benchwright.contract import Exit, Failure, Problem, said, some, usage_error
from benchwright.files import FileLock, read_bytes, write_json
from benchwright.hub.links import ViewLink, read_link

DEFAULT = Path("reports/hf-eval-results-prs.json")
"""Below the folder that a script is run in."""
SNAPSHOTS = DEFAULT.with_name("hf-eval-results-sources")
"""Beside it: what the cited pages said when they were checked."""
_VERSION = 1
_MOST_BYTES = 2**28

State = Literal["intent", "open", "failed", "closed", "merged"]
"""``intent``: it may have been opened, nobody knows yet. ``failed``: the Hub refused it. The others are the Hub's."""


@dataclass(frozen=True)
class RecordedResult:
    """A result in a pull request: ``value_text`` as in the file ``filename``, ``link`` the one in the body."""

    dataset: str
    task_id: str
    filename: str
    value_text: str
    link: str

    @property
    def shown(self) -> ViewLink | None:
        """What the link opens; None where it is none of ours."""
        return read_link(self.link)


@dataclass(frozen=True)
class Happening:
    """Something that was done or seen: ``at`` in UTC, a word, and what else there is to say."""

    at: str
    what: str
    note: str = ""


@dataclass(frozen=True)
class Record:
    """A pull request of ours.

    ``repo`` is the model's name when it was written, ``spec_hash`` the digits of the marker in the body. ``num``,
    ``url``, ``author``, ``head`` (the newest commit) and ``opened`` are the Hub's, None until it has answered.
    ``history`` is what was done and seen, the oldest first.
    """

    repo: str
    spec_hash: str
    state: State
    title: str
    results: tuple[RecordedResult, ...] = ()
    num: int | None = None
    url: str | None = None
    author: str | None = None
    head: str | None = None
    opened: str | None = None
    history: tuple[Happening, ...] = field(default=(), repr=False)

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others, before it has a number."""
        return self.repo.lower(), self.spec_hash

    def noting(self, what: str, note: str = "") -> Record:
        """The record with one more happening, now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return replace(self, history=(*self.history, Happening(now, what, note)))


@dataclass(frozen=True)
class _Content:
    version: int
    sha256: str
    records: tuple[Record, ...]


class Registry:
    """The records of a file, in the order in which they were begun. `load` reads one, `locked` may change it."""

    def __init__(self, path: Path, records: Sequence[Record] = (), *, rebuild: str | None = None) -> None:
        self.path = path
        self.rebuild = rebuild or _rebuild(path)
        self._records = list(records)

    @classmethod
    def load(cls, path: Path | str, *, rebuild: str | None = None) -> Registry:
        """The registry in a file; an empty one where there is none.

        ``rebuild`` is the command that writes it anew from the Hub, as far as the caller knows it, for messages.

        Raises:
            Failure: it is damaged or was edited by hand (code ``registry-damaged``, exit 5), or not readable (3).
        """
        path = Path(path)
        try:
            content = read_bytes(path, limit=_MOST_BYTES)
        except FileNotFoundError:
            return cls(path, rebuild=rebuild)
        except OSError as error:
            problem = Problem(
                "registry-unreadable",
                str(path),
                f"cannot be read ({said(error)})",
                "a file that can be",
                "mend the rights of the file, or name another with --registry",
            )
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None
        return cls(path, _records(path, content, rebuild or _rebuild(path)), rebuild=rebuild)

    @classmethod
    @contextlib.contextmanager
    def locked(
        cls, path: Path | str, purpose: str, *, fresh: bool = False, rebuild: str | None = None
    ) -> Iterator[Registry]:
        """The registry for one who changes it, and nobody else meanwhile; ``purpose`` says what for.

        ``fresh`` begins an empty one, which replaces whatever is there at the first change.

        Raises:
            Failure: somebody else is at work (code ``locked``, exit 5); as `load` does.
        """
        path = Path(path)
        if not path.name:
            raise usage_error("--registry", f"{path} is a folder", "a file", "name a file in it")
        try:
            lock = FileLock(path.with_name(f"{path.name}.lock"), purpose).__enter__()
        except OSError as error:
            where = str(path.parent)
            problem = Problem(
                "registry-unwritable",
                where,
                f"cannot be written ({said(error)})",
                "a folder that can be",
                "mend the rights of the folder, or name another file with --registry",
            )
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None
        with contextlib.ExitStack() as stack:
            stack.push(lock)
            yield cls(path) if fresh else cls.load(path, rebuild=rebuild)

    @property
    def records(self) -> tuple[Record, ...]:
        """All of them."""
        return tuple(self._records)

    def of(self, repo: str) -> tuple[Record, ...]:
        """Those of a model, by the name that they were written under."""
        return tuple(one for one in self._records if one.repo.lower() == repo.lower())

    def check_hub(self, endpoint: str) -> None:
        """Refuse to go on with the pull requests of another Hub (`check_addresses`)."""
        check_addresses(self.path, (one.url for one in self._records if one.url), endpoint)

    def put(self, record: Record, *, instead_of: Record | None = None) -> None:
        """Write a record in the place of that with its key and number, or of ``instead_of``, or behind all others.

        One with its key that has no number is of the same pull request. One with another number is of another, such as
        one that was opened at once on another machine.

        Raises:
            OSError: the file cannot be written; it is as it was.
        """
        wanted = instead_of or record
        same = [one for one in self._records if one.key == wanted.key and one.num in (None, wanted.num)]
        old = max(same, key=lambda one: one.num is not None, default=None)
        records = list(self._records)
        place = next((number for number, one in enumerate(records) if one is old), len(records))
        records[place : place + 1] = [record]
        if record.num is not None:
            records = [one for one in records if one is record or one.num is not None or one.key != record.key]
        self.write(records)

    def write(self, records: Sequence[Record]) -> None:
        """Write all records, in the place of those that there are.

        Raises:
            OSError: the file cannot be written; it is as it was.
        """
        told = [asdict(one) for one in records]
        write_json(self.path, {"version": _VERSION, "sha256": _digest(told), "records": told}, indent=1)
        self._records = list(records)


def check_addresses(registry: Path, addresses: Iterable[str], endpoint: str) -> None:
    """Refuse to go on with pull requests of another Hub, such as those of a rehearsal.

    Raises:
        Failure: there are such (code ``other-hub``, exit 5).
    """
    others = [one for one in addresses if not one.startswith(f"{endpoint}/")]
    if others:
        found = f"pull requests of another Hub: {some(others)}"
        fix = "set HF_ENDPOINT to that Hub, or name another registry with --registry"
        raise Failure(Problem("other-hub", str(registry), found, f"those of {endpoint}", fix), exit=Exit.REFUSED)


def _rebuild(path: Path) -> str:
    return f"open_eval_prs.py --registry {shlex.quote(str(path))} --rebuild"


def _records(path: Path, content: bytes, rebuild: str) -> tuple[Record, ...]:
    import msgspec

    try:
        told = json.loads(content)
        read = msgspec.convert(told, _Content)
        if read.version != _VERSION:
            raise ValueError(f"version {read.version}, not {_VERSION}")
        if read.sha256 != _digest(told["records"]):
            raise ValueError("its digest is another one: it was edited by hand")
    except (ValueError, RecursionError) as error:  # msgspec's own are ValueErrors
        raise _damaged(path, str(error), rebuild) from None
    lacking = [one for one in read.records if one.state in ("open", "closed", "merged") and one.num is None]
    if lacking:
        raise _damaged(path, f"{lacking[0].repo} is {lacking[0].state}, and has no number", rebuild)
    return read.records


def _digest(records: object) -> str:
    text = json.dumps(records, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _damaged(path: Path, found: str, rebuild: str) -> Failure:
    fix = f"put the file back as it was, or write it anew from the Hub: {rebuild}"
    problem = Problem("registry-damaged", str(path), found, "a registry that was written here", fix)
    return Failure(problem, exit=Exit.REFUSED)
