"""The Hub, read: GET requests alone, asked again where that may help, and each answer kept for the run.

Answers are taken as they come: the client's own classes drop fields that are needed here, such as ``pullRequest`` and
``lower_is_better``. Numbers with a fraction are ``Decimal``, with the digits that the Hub sent.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha1
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.refusals import refusal, unavailable

Kind = Literal["model", "dataset"]
Word = str | int | bool | Sequence[str] | None
"""A value of a query; a sequence is the same word several times, None none."""

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_ENDPOINT = re.compile(r"https?://[^\s/@?#\[\]]+(?:/[^\s?#]*)?")
_NOTHING_LEFT = re.compile(r"\br=0\s*;\s*t=(\d+)")
"""In the header ``RateLimit``, with the seconds to the next window: https://huggingface.co/docs/hub/rate-limits."""
_GIT_ID = re.compile(r'(?:W/)?"?([0-9a-f]{40})"?')
_REPO = re.compile(r"/(?:api/)?(?:(models|datasets)/)?([^/?]+/[^/?]+)(?=[/?]|$)")
BUDGET = 20_000
"""Requests of a run: more than 2,000 candidates take, and the Hub allows anybody with an account in two hours."""
_MOST_BYTES = 2**27
"""Of one answer."""


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
class Answer:
    """What a request was answered with. ``after`` is the query of the next page, None on the last one."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    after: tuple[tuple[str, str], ...] | None = None


class Hub:
    """The Hub at ``endpoint``, by default the one that ``HF_ENDPOINT`` names for the client. Safe for many threads.

    ``token`` None is the one that the client finds, False is none. ``budget`` bounds the requests of this object in
    all; ``requests`` counts them, each attempt, by repo (``org/name``, ``datasets/org/name``) or else by path. Whatever
    answer comes is kept, so that a question is asked once; `forget` drops what is known of a repo.

    Raises:
        Failure: the endpoint or the token is none that a request could carry (exit 3).
    """

    def __init__(
        self,
        endpoint: str | None = None,
        token: str | Literal[False] | None = None,
        patience: HubPatience | None = None,
        *,
        budget: int | None = None,
    ) -> None:
        from huggingface_hub import constants, get_token
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self.token = None if token is False else token or get_token()
        problems = []
        if not _ENDPOINT.fullmatch(self.endpoint):
            problems.append(Problem("bad-setting", "HF_ENDPOINT", self.endpoint, "http(s)://HOST[:PORT]", "correct it"))
        if self.token and not (self.token.isascii() and self.token.isprintable()):
            found = f"a value of {len(self.token)} characters that is none"
            problems.append(Problem("bad-setting", "HF_TOKEN", found, "a token of the Hub", "set it again"))
        if problems:
            raise Failure(problems, exit=Exit.ENVIRONMENT)
        self.requests: Counter[str] = Counter()
        self._headers = build_hf_headers(token=self.token or False)
        self._patience = patience or HubPatience()
        self._budget = budget
        self._lost: Failure | None = None
        self._lock = threading.Lock()
        self._known: dict[str, Answer] = {}

    @classmethod
    def of(cls, settings: Mapping[str, str], patience: HubPatience | None = None) -> Hub:
        """The Hub that ``HF_ENDPOINT`` and ``HF_TOKEN`` of some settings name, else the one that the client finds.

        It is that of one run of a script, whose requests `BUDGET` bounds.
        """
        return cls(settings.get("HF_ENDPOINT"), settings.get("HF_TOKEN"), patience, budget=BUDGET)

    @property
    def lost(self) -> Failure | None:
        """Why it is not asked for anything any more: it does not answer, or no more questions are allowed."""
        return self._lost

    def json(self, path: str, *, cached: bool = True, **query: Word) -> Any:
        """What an API path answers; `api_path` makes one. ``cached`` False asks again, and keeps nothing.

        Raises:
            NotFound, Gated, Disabled, Forbidden: the Hub says so.
            Failure: it does not answer (exit 4), or says nothing that is known (exit 3).
        """
        return self._read(_with_query(path, query), _decoded, cached=cached)[1]

    def pages(self, path: str, *, cached: bool = True, **query: Word) -> Iterator[Any]:
        """The items of a list, page after page, as ``Link`` headers name them.

        Raises:
            NotFound, Gated, Disabled, Forbidden, Failure: as `json` does; an answer that is no list (exit 4).
        """
        target: str | None = _with_query(path, query)
        while target is not None:
            answer, items = self._read(target, _decoded, cached=cached)
            if not isinstance(items, list):
                raise unavailable(where_of(path), "an answer that is no list")
            yield from items
            # The path stays ours: an answer does not say where to go.
            target = None if answer.after is None else f"{path}?{urlencode(answer.after)}"

    def text(self, repo: str, path: str, revision: str = "main", kind: Kind = "model", *, cached: bool = True) -> str:
        """The text of a file, with U+FFFD for what is not UTF-8.

        One that is not what its git id says has come in part, and is asked for again.

        Raises:
            NotFound, Gated, Disabled, Forbidden, Failure: as `json` does.
        """
        place = f"/{'datasets/' if kind == 'dataset' else ''}{quote(repo)}/resolve/{quote(revision, safe='')}"
        text: str = self._read(f"{place}/{quote(path)}", _text, cached=cached)[1]
        return text

    def get(self, target: str, headers: Mapping[str, str] | None = None, *, where: str | None = None) -> Answer:
        """An answer to a path with its query, after as much waiting as it takes; one that says no is an answer too.

        Raises:
            Failure: the Hub does not answer (exit 4), or may not be asked (exit 3).
        """
        return self._asked(target, headers or {}, where or where_of(target), lambda answer: None)[0]

    def forget(self, repo: str) -> None:
        """Drop what is known of a model or a dataset, because it has changed."""
        with self._lock:
            for target in [one for one in self._known if where_of(one).removeprefix("datasets/") == repo]:
                del self._known[target]

    def _read(self, target: str, read: Callable[[Answer], Any], *, cached: bool) -> tuple[Answer, Any]:
        """A good answer, and what is read from it."""
        answer, value = self._known.get(target) if cached else None, None
        if answer is None:
            answer, value = self._asked(target, {}, where_of(target), read)
            with self._lock:
                self._known.pop(target, None)
                if cached:
                    self._known[target] = answer
        elif answer.status == 200:
            value = read(answer)
        if answer.status != 200:
            raise refusal(
                answer.status, answer.headers, where_of(target), self.endpoint, with_token=self.token is not None
            )
        return answer, value

    def _asked(
        self, target: str, headers: Mapping[str, str], where: str, read: Callable[[Answer], Any]
    ) -> tuple[Answer, Any]:
        """An answer, and what is read from it if it is a good one."""
        import tenacity

        if self._lost is not None:
            raise self._lost
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Passing),
            stop=tenacity.stop_after_attempt(self._patience.attempts),
            wait=self._wait,
            reraise=True,
        )

        def once() -> tuple[Answer, Any]:
            answer = self._once(target, headers, where)
            return answer, read(answer) if answer.status == 200 else None

        try:
            return retrying(once)
        except _Passing as passing:
            failure = unavailable(where, str(passing))
            if passing.everywhere:
                with self._lock:
                    self._lost = self._lost or failure
            raise failure from None

    def _once(self, target: str, headers: Mapping[str, str], where: str) -> Answer:
        from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]
        from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

        self._count(where)
        all_headers = {**self._headers, **headers}
        url, timeout = self.endpoint + target, self._patience.timeout
        content = bytearray()
        try:
            with get_session().stream("GET", url, headers=all_headers, timeout=timeout) as answer:
                if "Range" not in headers or answer.status_code != 200:  # else all, where a part was asked for
                    for chunk in answer.iter_bytes():
                        content += chunk
                        if len(content) > _MOST_BYTES:
                            fix = "leave it out: no result is in a file of that size"
                            raise Failure(Problem("too-large", where, f"more than {_MOST_BYTES:,} bytes", "less", fix))
        except OfflineModeIsEnabled:
            fix = "unset HF_HUB_OFFLINE"
            problem = Problem("hub-offline", self.endpoint, "HF_HUB_OFFLINE is set", "a Hub that may be asked", fix)
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None
        except HTTPError as error:
            raise _Passing(f"{type(error).__name__}: {error}", everywhere=True) from None
        status = answer.status_code
        if status in _PASSING:
            raise _Passing(f"HTTP {status}", wait=named_wait(answer.headers), everywhere=status == 429)
        link = answer.links.get("next", {}).get("url")
        after = tuple(parse_qsl(urlsplit(link).query, keep_blank_values=True)) if link else None
        return Answer(status, answer.headers, bytes(content), after)

    def _count(self, where: str) -> None:
        with self._lock:
            if self._budget is not None and self.requests.total() >= self._budget:
                found = f"this run has sent {self._budget:,} requests to the Hub, and may send no more"
                fix = "run it again; where it begins anew and ends here again, give it fewer models at a time"
                self._lost = Failure(Problem("budget-spent", where, found, "a smaller run", fix), exit=Exit.REMOTE)
                raise self._lost
            self.requests[where] += 1

    def _wait(self, state: Any) -> float:
        """The time that the Hub named, or one that doubles."""
        error = state.outcome.exception() if state.outcome else None
        named = error.wait if isinstance(error, _Passing) else None
        own = self._patience.first_wait * 2 ** (state.attempt_number - 1)
        return float(min(own if named is None else named, self._patience.longest_wait))


class _Passing(Exception):
    """An answer that may be another one later. ``everywhere`` says that other requests fare no better."""

    def __init__(self, text: str, *, wait: float | None = None, everywhere: bool = False) -> None:
        self.wait = wait
        self.everywhere = everywhere
        super().__init__(text)


def api_path(kind: Kind, repo: str, *parts: str) -> str:
    """The API's path of a repo, and of what is below it; each part is one segment, whatever is in it."""
    return "/".join([f"/api/{kind}s/{quote(repo)}", *(quote(part, safe="") for part in parts)])


def where_of(target: str) -> str:
    """The repo that a path is about, ``datasets/`` before that of a dataset; without one the path itself."""
    match = _REPO.match(target)
    if match is None or (target.startswith("/api/") and match[1] is None):
        return unquote(urlsplit(target).path)
    return unquote(f"datasets/{match[2]}" if match[1] == "datasets" else match[2])


def _with_query(path: str, query: Mapping[str, Word]) -> str:
    words = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
        if value is not None
    }
    return f"{path}?{urlencode(words, doseq=True)}" if words else path


def _decoded(answer: Answer) -> Any:
    try:
        return json.loads(answer.content, parse_float=Decimal)
    except ValueError:
        raise _Passing("an answer that is no JSON") from None


def _text(answer: Answer) -> str:
    named = _GIT_ID.fullmatch(answer.headers.get("ETag", ""))
    if named and named[1] != git_id(answer.content):
        raise _Passing("a file that is not the one of its git id")
    return answer.content.decode("utf-8", "replace")


def git_id(content: bytes) -> str:
    """The id that git, and so the Hub's listings, give a file with this content."""
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def named_wait(headers: Mapping[str, str]) -> float | None:
    """How long the Hub asks to wait, in seconds; None where it does not."""
    left = _NOTHING_LEFT.search(headers.get("RateLimit", ""))
    after = left[1] if left else headers.get("Retry-After", "")
    return float(after) + 1 if after.isdecimal() else None
