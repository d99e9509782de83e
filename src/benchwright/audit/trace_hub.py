"""Datasets of traces on the Hub, looked at: which files there are, how many rows, and of which trials. All are GETs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from benchwright.contract import Exit, Failure, Problem, redact
from benchwright.harbor.trace_footer import NAMES
from benchwright.hub.client import Answer, Hub, HubPatience, api_path
from benchwright.hub.refusals import unavailable

_TRIAL, _RUN = "trial_name", "run_id"
_MOST_SHARDS = 64
"""Files whose footers are read; the rows of a repo with more are not counted."""
_MOST_BYTES = 2**27
"""What is read of one file at most: its footer and one column of it."""
_NO_REPO, _NO_FILES = "RepoNotFound", ("RevisionNotFound", "EntryNotFound")


@dataclass(frozen=True, slots=True)
class FoundTraces:
    """What a repo holds: ``trials`` are those of its first file with rows, None where they have no column.

    Where all of it was looked at, they are those of every file, ``runs`` the ids of the jobs that rows name, None where
    a file has no such column, and ``columns`` are those that any file with rows has.
    """

    state: Literal["filled", "empty", "absent"]
    rows: int | None = None
    trials: frozenset[str] | None = None
    runs: frozenset[str] | None = None
    columns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a repo at a commit, ``revision``: of each the SHA-256, or the id that git gives a small one."""

    revision: str
    digests: Mapping[str, str]


class TraceHub:
    """The Hub at ``endpoint``, by default the one that ``HF_ENDPOINT`` names for the client. Safe for many threads.

    Without a ``token`` it tells no repo that is missing from one that is private: then neither is known.

    Raises:
        Failure: the endpoint or the token is none that a request could carry (exit 3).
    """

    def __init__(
        self, endpoint: str | None = None, token: str | None = None, patience: HubPatience | None = None
    ) -> None:
        self._hub = Hub(endpoint, token, patience)
        self.endpoint, self.token = self._hub.endpoint, self._hub.token

    def look(self, repo: str, *, whole: bool = False) -> FoundTraces:
        """What a dataset, ``ORG/NAME``, holds: by its Parquet files, their footers, and one column of the first.

        The ``whole`` of it takes the columns with names of every file, however many there are.

        Raises:
            Failure: whether it exists is not told, or not to this token (exit 3); the Hub does not answer (exit 4);
                what it holds cannot be read (exit 1).
        """
        files = self._files(repo)
        if files is None:
            return FoundTraces("absent")
        most = len(files) if whole else _MOST_SHARDS
        rows, lacking, columns = 0, set[str](), set[str]()
        names: dict[str, frozenset[str]] = {}
        for path, size in files[:most]:
            wanted = (_TRIAL, _RUN) if whole else () if names else (_TRIAL,)
            here, found, own = self._read(repo, path, size, wanted)
            rows += here
            columns |= own if whole and here else set()
            lacking |= {column for column in wanted if whole and here and column not in found}
            names |= {column: names.get(column, frozenset()) | values for column, values in found.items()}
        if not rows and len(files) <= most:
            return FoundTraces("empty", rows=0)
        told = {column: values for column, values in names.items() if column not in lacking}
        count = rows if len(files) <= most else None
        return FoundTraces("filled", count, told.get(_TRIAL), told.get(_RUN), frozenset(columns))

    def files(self, repo: str) -> HubFiles | None:
        """The files of a dataset as they are now, None where there is no such repo.

        Raises:
            Failure: as ``look`` does.
        """
        answer = self._hub.get(f"{api_path('dataset', repo)}?blobs=true", where=repo)
        if answer.status == 404 and answer.headers.get("X-Error-Code") == _NO_REPO:
            return None
        self._check(repo, answer)
        try:
            told = json.loads(answer.content)
            digests = {
                str(one["rfilename"]): str(one["lfs"]["sha256"] if one.get("lfs") else one["blobId"])
                for one in told["siblings"]
            }
            return HubFiles(str(told["sha"]), digests)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise unavailable(repo, "an answer that is no description of a dataset") from None

    def _files(self, repo: str) -> list[tuple[str, int]] | None:
        """The Parquet files of a repo by path, with their sizes; None where there is no such repo."""
        path = api_path("dataset", repo, "tree", "main")
        query: tuple[tuple[str, str], ...] | None = (("recursive", "true"),)
        found = []
        while query is not None:
            answer = self._hub.get(f"{path}?{urlencode(query)}", where=repo)
            if answer.status == 404 and (code := answer.headers.get("X-Error-Code")):
                if code == _NO_REPO:
                    return None
                if code in _NO_FILES:
                    return []
            self._check(repo, answer)
            found += _entries(repo, answer)
            query = answer.after
        return sorted(found)

    def _read(
        self, repo: str, path: str, size: int, columns: Iterable[str]
    ) -> tuple[int, Mapping[str, frozenset[str]], set[str]]:
        """The rows of a Parquet file, the different values of those of the columns that it has, and what it has."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(_Remote(self, repo, path, size), pre_buffer=False)
            rows, there = file.metadata.num_rows, set(file.schema_arrow.names)
            told = _told(file.metadata.metadata or {})
            if told is not None:
                return rows, {column: told[column] for column in columns}, there
            here = [column for column in columns if rows and column in there]
            table = file.read(columns=here, use_threads=False) if here else None
            return rows, {column: _different(table.column(column)) for column in here} if table else {}, there
        except (pa.ArrowException, OSError) as error:
            said = " ".join(str(error).split())[:200]
            problem = Problem(
                "traces-unreadable",
                repo,
                f"{path}: {said}",
                "a Parquet file",
                "look at the file on the Hub, and upload the traces again",
            )
            raise Failure(problem) from None

    def read_range(self, repo: str, path: str, start: int, size: int) -> bytes:
        """Some bytes of a file."""
        target = f"/datasets/{quote(repo)}/resolve/main/{quote(path)}"
        answer = self._hub.get(target, {"Range": f"bytes={start}-{start + size - 1}"}, where=repo)
        self._check(repo, answer)
        if answer.status != 206:
            raise unavailable(repo, f"{path}: all of it, where a part was asked for")
        if len(answer.content) != size:
            raise unavailable(repo, f"{path}: {len(answer.content):,} bytes, where {size:,} were asked for")
        return answer.content

    def _check(self, repo: str, answer: Answer) -> None:
        status = answer.status
        if status in (200, 206):
            return
        said = redact(answer.headers.get("X-Error-Message") or answer.headers.get("X-Error-Code") or "")
        found = f"HTTP {status}{f', {said}' if said else ''}"
        if status in (401, 403):
            fix = (
                "set HF_TOKEN to a token that may read it: without one the Hub tells no missing repo from a private one"
            )
            problem = Problem("hub-refused", repo, found, "a repo that may be read, or none", fix)
        else:
            problem = Problem("hub-answer", repo, found, "an answer of the Hub's", f"is {self.endpoint} the Hub?")
        raise Failure(problem, exit=Exit.ENVIRONMENT)


class _Remote(io.RawIOBase):
    """A file of a repo, of which only what is asked for is fetched, and not more than ``_MOST_BYTES`` in all."""

    def __init__(self, hub: TraceHub, repo: str, path: str, size: int) -> None:
        super().__init__()
        self._hub, self._repo, self._path, self._size = hub, repo, path, size
        self._at = self._read = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._at)
        size = left if size < 0 else min(size, left)
        if not size:
            return b""
        self._read += size
        if self._read > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES:,} bytes to read of it")
        content = self._hub.read_range(self._repo, self._path, self._at, size)
        self._at += size
        return content


def _entries(repo: str, answer: Answer) -> list[tuple[str, int]]:
    try:
        entries = json.loads(answer.content)
        return [
            (str(entry["path"]), int(entry["size"]))
            for entry in entries
            if entry["type"] == "file" and str(entry["path"]).endswith(".parquet")
        ]
    except (ValueError, TypeError, KeyError):
        raise unavailable(repo, "an answer that is no listing of files") from None


def _told(footer: Mapping[bytes, bytes]) -> dict[str, frozenset[str]] | None:
    """What a file of our own says of its names in its footer; None where it says nothing, or nothing to rely on."""
    try:
        told = json.loads(footer[NAMES.encode()])
        return {column: frozenset(map(str, told[column])) for column in (_TRIAL, _RUN)}
    except (KeyError, TypeError, ValueError):
        return None


def _different(column: Any) -> frozenset[str]:
    return frozenset(str(value) for value in column.unique().to_pylist() if value is not None)
