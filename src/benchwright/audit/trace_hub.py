"""Datasets of traces on the Hub, looked at: which files there are, how many rows, and of which trials. All are GETs."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, urlsplit

import tenacity

from benchwright.contract import Exit, Failure, Problem, redact
from benchwright.harbor.trace_footer import NAMES

_TRIAL, _RUN = "trial_name", "run_id"
_MOST_SHARDS = 64
"""Files whose footers are read; the rows of a repo with more are not counted."""
_MOST_BYTES = 2**27
"""What is read of one file at most: its footer and one column of it."""
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_ENDPOINT = re.compile(r"https?://[^\s/@?#\[\]]+(?:/[^\s?#]*)?")
_NO_REPO, _NO_FILES = "RepoNotFound", ("RevisionNotFound", "EntryNotFound")


@dataclass(frozen=True, slots=True)
class HubPatience:
    """The bound on one request. Times are in seconds.

    It is sent at most ``attempts`` times; between two lies the time that the Hub names, up to ``longest_wait``, or else
    one that begins with ``first_wait`` and doubles. ``timeout`` bounds each answer.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 330.0  # the Hub counts requests in windows of five minutes
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class FoundTraces:
    """What a repo holds: ``trials`` are those of its first file with rows, None where they have no column.

    Where all of it was looked at, they are those of every file, and ``runs`` the ids of the jobs that rows name; None
    where a file has no such column.
    """

    state: Literal["filled", "empty", "absent"]
    rows: int | None = None
    trials: frozenset[str] | None = None
    runs: frozenset[str] | None = None


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
        from huggingface_hub import constants, get_token
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        token = token or get_token()
        problems = []
        if not _ENDPOINT.fullmatch(self.endpoint):
            problems.append(Problem("bad-setting", "HF_ENDPOINT", self.endpoint, "http(s)://HOST[:PORT]", "correct it"))
        if token and not (token.isascii() and token.isprintable()):
            found = f"a value of {len(token)} characters that is none"
            problems.append(Problem("bad-setting", "HF_TOKEN", found, "a token of the Hub", "set it again"))
        if problems:
            raise Failure(problems, exit=Exit.ENVIRONMENT)
        self.token = token or None
        self._headers = build_hf_headers(token=token or False)
        self._patience = patience or HubPatience()
        self._lost: Failure | None = None
        self._lock = threading.Lock()

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
        rows, lacking = 0, set[str]()
        names: dict[str, frozenset[str]] = {}
        for path, size in files[:most]:
            wanted = (_TRIAL, _RUN) if whole else () if names else (_TRIAL,)
            here, found = self._read(repo, path, size, wanted)
            rows += here
            lacking |= {column for column in wanted if whole and here and column not in found}
            names |= {column: names.get(column, frozenset()) | values for column, values in found.items()}
        if not rows and len(files) <= most:
            return FoundTraces("empty", rows=0)
        told = {column: values for column, values in names.items() if column not in lacking}
        return FoundTraces("filled", rows if len(files) <= most else None, told.get(_TRIAL), told.get(_RUN))

    def files(self, repo: str) -> HubFiles | None:
        """The files of a dataset as they are now, None where there is no such repo.

        Raises:
            Failure: as ``look`` does.
        """
        answer = self._get(f"{self.endpoint}/api/datasets/{quote(repo)}", where=repo, query={"blobs": "true"})
        if answer.status_code == 404 and answer.headers.get("X-Error-Code") == _NO_REPO:
            return None
        self._check(repo, answer)
        try:
            told = answer.json()
            digests = {
                str(one["rfilename"]): str(one["lfs"]["sha256"] if one.get("lfs") else one["blobId"])
                for one in told["siblings"]
            }
            return HubFiles(str(told["sha"]), digests)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise _unavailable(repo, "an answer that is no description of a dataset") from None

    def _files(self, repo: str) -> list[tuple[str, int]] | None:
        """The Parquet files of a repo by path, with their sizes; None where there is no such repo."""
        url = f"{self.endpoint}/api/datasets/{quote(repo)}/tree/main"
        query: dict[str, str] | None = {"recursive": "true"}
        found = []
        while query is not None:
            answer = self._get(url, where=repo, query=query)
            if answer.status_code == 404 and (code := answer.headers.get("X-Error-Code")):
                if code == _NO_REPO:
                    return None
                if code in _NO_FILES:
                    return []
            self._check(repo, answer)
            found += _entries(repo, answer)
            after = answer.links.get("next", {}).get("url")
            query = dict(parse_qsl(urlsplit(after).query)) if after else None  # never a place that an answer names
        return sorted(found)

    def _read(
        self, repo: str, path: str, size: int, columns: Iterable[str]
    ) -> tuple[int, Mapping[str, frozenset[str]]]:
        """The rows of a Parquet file, and the different values of those of the columns that it has."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(_Remote(self, repo, path, size), pre_buffer=False)
            rows = file.metadata.num_rows
            told = _told(file.metadata.metadata or {})
            if told is not None:
                return rows, {column: told[column] for column in columns}
            here = [column for column in columns if rows and column in file.schema_arrow.names]
            table = file.read(columns=here, use_threads=False) if here else None
            return rows, {column: _different(table.column(column)) for column in here} if table is not None else {}
        except (pa.ArrowException, OSError) as error:
            said = " ".join(str(error).split())[:200]
            problem = Problem("traces-unreadable", repo, f"{path}: {said}", "a Parquet file")
            raise Failure(problem) from None

    def read_range(self, repo: str, path: str, start: int, size: int) -> bytes:
        """Some bytes of a file."""
        url = f"{self.endpoint}/datasets/{quote(repo)}/resolve/main/{quote(path)}"
        answer = self._get(url, where=repo, headers={"Range": f"bytes={start}-{start + size - 1}"})
        self._check(repo, answer)
        if answer.status_code != 206:
            raise _unavailable(repo, f"{path}: all of it, where a part was asked for")
        content = bytes(answer.content)
        if len(content) != size:
            raise _unavailable(repo, f"{path}: {len(content):,} bytes, where {size:,} were asked for")
        return content

    def _get(
        self,
        url: str,
        *,
        where: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """An answer, after as much waiting as it takes; one that says no is an answer too."""
        if self._lost is not None:
            raise self._lost
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Passing),
            stop=tenacity.stop_after_attempt(self._patience.attempts),
            wait=self._wait,
            reraise=True,
        )
        try:
            return retrying(self._once, url, query, headers or {})
        except _Passing as passing:
            failure = _unavailable(where, str(passing))
            if passing.everywhere:
                with self._lock:
                    self._lost = self._lost or failure
            raise failure from None

    def _once(self, url: str, query: Mapping[str, str] | None, headers: Mapping[str, str]) -> Any:
        from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]
        from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

        all_headers = {**self._headers, **headers}
        try:
            with get_session().stream(
                "GET", url, params=query, headers=all_headers, timeout=self._patience.timeout
            ) as answer:
                if not headers or answer.status_code != 200:  # a whole file where a part was asked for is left unread
                    answer.read()
        except OfflineModeIsEnabled:
            fix = "unset HF_HUB_OFFLINE, or go without: --no-hub"
            problem = Problem("hub-offline", self.endpoint, "HF_HUB_OFFLINE is set", "a Hub that may be asked", fix)
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None
        except HTTPError as error:
            raise _Passing(f"{type(error).__name__}: {error}", everywhere=True) from None
        if answer.status_code in _PASSING:
            wait = _named_wait(answer.headers)
            raise _Passing(f"HTTP {answer.status_code}", wait=wait, everywhere=answer.status_code == 429)
        return answer

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """The time that the Hub named, or one that doubles."""
        error = state.outcome.exception() if state.outcome else None
        named = error.wait if isinstance(error, _Passing) else None
        own = self._patience.first_wait * 2 ** (state.attempt_number - 1)
        return min(own if named is None else named, self._patience.longest_wait)

    def _check(self, repo: str, answer: Any) -> None:
        status = answer.status_code
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


class _Passing(Exception):
    """An answer that may be another one later. ``everywhere`` says that other requests fare no better."""

    def __init__(self, text: str, *, wait: float | None = None, everywhere: bool = False) -> None:
        self.wait = wait
        self.everywhere = everywhere
        super().__init__(text)


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


def _entries(repo: str, answer: Any) -> list[tuple[str, int]]:
    try:
        entries = answer.json()
        return [
            (str(entry["path"]), int(entry["size"]))
            for entry in entries
            if entry["type"] == "file" and str(entry["path"]).endswith(".parquet")
        ]
    except (ValueError, TypeError, KeyError):
        raise _unavailable(repo, "an answer that is no listing of files") from None


def _told(footer: Mapping[bytes, bytes]) -> dict[str, frozenset[str]] | None:
    """What a file of our own says of its names in its footer; None where it says nothing, or nothing to rely on."""
    try:
        told = json.loads(footer[NAMES.encode()])
        return {column: frozenset(map(str, told[column])) for column in (_TRIAL, _RUN)}
    except (KeyError, TypeError, ValueError):
        return None


def _different(column: Any) -> frozenset[str]:
    return frozenset(str(value) for value in column.unique().to_pylist() if value is not None)


def _named_wait(headers: Any) -> float | None:
    """How long the Hub asks to wait, in seconds; None where it does not."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds) + 1
    after = headers.get("Retry-After", "")
    return float(after) + 1 if after.isdecimal() else None


def _unavailable(where: str, found: str) -> Failure:
    return Failure(
        Problem("hub-unavailable", where, redact(found), "an answer", "run this again later"), exit=Exit.REMOTE
    )
