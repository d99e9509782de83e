"""Datasets of traces on the Hub, looked at: which files there are, how many rows, and of which trials. All are GETs."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from benchwright.contract import Exit, Failure, Problem, redact
from benchwright.hub.client import Answer, Hub, HubPatience, api_path
from benchwright.hub.refusals import unavailable

_TRIAL = "trial_name"
_MOST_SHARDS = 64
"""Files whose footers are read; the rows of a repo with more are not counted."""
_MOST_BYTES = 2**27
"""What is read of one file at most: its footer and one column of it."""
_NO_REPO, _NO_FILES = "RepoNotFound", ("RevisionNotFound", "EntryNotFound")


@dataclass(frozen=True, slots=True)
class FoundTraces:
    """What a repo holds: ``trials`` are those of its first file with rows, None where they have no column."""

    state: Literal["filled", "empty", "absent"]
    rows: int | None = None
    trials: frozenset[str] | None = None


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

    def look(self, repo: str) -> FoundTraces:
        """What a dataset, ``ORG/NAME``, holds: by its Parquet files, their footers, and one column of the first.

        Raises:
            Failure: whether it exists is not told, or not to this token (exit 3); the Hub does not answer (exit 4);
                what it holds cannot be read (exit 1).
        """
        files = self._files(repo)
        if files is None:
            return FoundTraces("absent")
        rows, trials, first = 0, None, True
        for path, size in files[:_MOST_SHARDS]:
            here, names = self._read(repo, path, size, names=first)
            rows += here
            if here and first:
                trials, first = names, False
        if not rows and len(files) <= _MOST_SHARDS:
            return FoundTraces("empty", rows=0)
        return FoundTraces("filled", rows if len(files) <= _MOST_SHARDS else None, trials)

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

    def _read(self, repo: str, path: str, size: int, *, names: bool) -> tuple[int, frozenset[str] | None]:
        """The rows of a Parquet file, and the trials that they name."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(_Remote(self, repo, path, size), pre_buffer=False)
            rows = file.metadata.num_rows
            if not names or not rows or _TRIAL not in file.schema_arrow.names:
                return rows, None
            column = file.read(columns=[_TRIAL], use_threads=False).column(0)
            return rows, frozenset(str(value) for value in column.unique().to_pylist() if value is not None)
        except (pa.ArrowException, OSError) as error:
            said = " ".join(str(error).split())[:200]
            problem = Problem("traces-unreadable", repo, f"{path}: {said}", "a Parquet file")
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
            problem = Problem("hub-answer", repo, found, "an answer of the Hub's", f"is {self._hub.endpoint} the Hub?")
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
