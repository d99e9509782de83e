"""Pages from the web and from files: GET requests without any login, bounded in size, time and steps."""

from __future__ import annotations

import codecs
import re
import threading
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from benchwright import __version__
from benchwright.contract import Exit, Failure, Problem, named, redact, said
from benchwright.files import open_regular
from benchwright.hub.client import HubPatience

MOST_BYTES = 16 * 2**20
"""Of one page, unpacked."""
_MOST_STEPS = 5
_LONGEST = 120.0
"""Seconds for one page with all its steps, however slowly they come."""
_PIECE = 2**16
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": f"benchwright/{__version__}",
    "Accept": "text/html, text/markdown, text/plain, */*;q=0.1",
    "Accept-Encoding": "identity",
}
_SAVE_IT = "save the page, and name the file as source.file"
_MEDIA_OF_SUFFIX = {".html": "text/html", ".htm": "text/html", ".xhtml": "text/html", ".md": "text/markdown"}
_CHARSET = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s{0,9}=\s{0,9}["']?([\w-]{1,40})""", re.I)
_CODECS = re.compile(
    r"ascii|utf-8|iso8859-\d+|cp125\d|koi8-[ru]|mac-roman|shift_jis|cp932|euc_(?:jp|kr)|gb(?:k|2312|18030)|big5"
)
"""Encodings of pages, as Python names them: others are no encodings of texts, or take endless time."""


@dataclass(frozen=True)
class Content:
    """What is at an address: where it led to, and its type, such as ``text/html``."""

    address: str
    final: str
    media: str
    data: bytes
    charset: str | None = None

    def text(self) -> str:
        """The text, with U+FFFD for what its encoding does not have: that of a BOM, of the server, or of the page."""
        for mark, name in (
            (codecs.BOM_UTF8, "utf-8-sig"),
            (codecs.BOM_UTF16_LE, "utf-16"),
            (codecs.BOM_UTF16_BE, "utf-16"),
        ):
            if self.data.startswith(mark):
                return self.data.decode(name, "replace")
        told = _CHARSET.search(self.data[:4096])
        for declared in (self.charset, told[1].decode() if told else None):
            if (codec := _codec(declared)) is not None:
                return self.data.decode(codec, "replace")
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return self.data.decode("cp1252", "replace")


def fetch(address: str, patience: HubPatience) -> Content:
    """A page of the web, asked for again where that may help.

    Raises:
        Failure: there is none (exit 1), it is too large or leads elsewhere than to the web (exit 1), or it does not
            come (exit 4).
    """
    import tenacity

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(_Passing),
        stop=tenacity.stop_after_attempt(patience.attempts),
        wait=tenacity.wait_exponential(patience.first_wait, patience.longest_wait, min=patience.first_wait),
        reraise=True,
    )
    try:
        return retrying(lambda: _within(_LONGEST, partial(_fetch_once, address, patience.timeout)))
    except _Passing as passing:
        problem = Problem(
            "source-unavailable", address, redact(str(passing)), "a page", f"run this again, or {_SAVE_IT}"
        )
        raise Failure(problem, exit=Exit.REMOTE) from None


def read_file(path: Path) -> Content:
    """A saved copy of a page.

    Raises:
        Failure: it cannot be read, or is too large (exit 1).
    """
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        fix = "save the page again, and name that file as source.file"
        raise Failure(
            Problem("source-missing", str(path), f"cannot be read ({said(error)})", "a saved page", fix)
        ) from None
    if len(data) > MOST_BYTES:
        raise _too_large(str(path))
    media = _MEDIA_OF_SUFFIX.get(path.suffix.lower()) or (
        "text/html" if data[:512].lstrip()[:1] == b"<" else "text/plain"
    )
    return Content(str(path), str(path), media, data)


class _Passing(Exception):
    """A request that may go well later."""


def _fetch_once(address: str, timeout: float) -> Content:
    place = address
    for _ in range(_MOST_STEPS + 1):
        with closing(_answer(place, timeout)) as answer:
            if answer.status == 200:
                data = _body(answer, address)
                return Content(
                    address, place, answer.headers.get_content_type(), data, answer.headers.get_content_charset()
                )
            if answer.status in _PASSING:
                raise _Passing(f"HTTP {answer.status}")
            if answer.status not in _MOVED or not answer.headers.get("Location"):
                raise _no_page(address, answer.status)
            place = _next_step(place, answer.headers["Location"], address)
    raise Failure(Problem("source-refused", address, f"more than {_MOST_STEPS} redirections", "a page", _SAVE_IT))


def _answer(address: str, timeout: float) -> HTTPResponse:
    """The answer to one request. Nothing but HTTP is opened, and no step is taken on its own."""
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (request.ProxyHandler(), request.HTTPHandler(), request.HTTPSHandler()):
        opener.add_handler(handler)
    asked = quote(address.partition("#")[0], safe="!$%&'()*+,/:;=?@[]~")
    try:
        answer: HTTPResponse = opener.open(request.Request(asked, headers=_HEADERS), timeout=timeout)
    except (OSError, HTTPException) as error:
        raise _Passing(named(error)) from None
    return answer


def _next_step(place: str, location: str, address: str) -> str:
    try:
        step = urljoin(place, location)
        parts = urlsplit(step)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable, step = False, location
    if not usable:
        raise Failure(Problem("source-refused", address, f"it leads to {step[:200]!r}", "a page of the web", _SAVE_IT))
    return step


def _body(answer: HTTPResponse, address: str) -> bytes:
    packed = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if packed not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise Failure(Problem("source-unreadable", address, f"packed with {packed[:40]!r}", "a plain page", _SAVE_IT))
    unpacker: Any = None if packed in ("", "identity") else zlib.decompressobj(wbits=47)  # gzip's head or zlib's
    data = bytearray()
    try:
        while piece := answer.read(_PIECE):
            data += piece if unpacker is None else unpacker.decompress(piece, MOST_BYTES + 1 - len(data))
            if len(data) > MOST_BYTES:
                raise _too_large(address)
    except (OSError, HTTPException, zlib.error) as error:
        raise _Passing(named(error)) from None
    if (unpacker is not None and not unpacker.eof) or answer.length:
        raise _Passing("the page came in part")
    return bytes(data)


def _no_page(address: str, status: int) -> Failure:
    code = "source-missing" if status in (404, 410) else "source-refused"
    return Failure(Problem(code, address, f"HTTP {status}", "a page", f"correct the address, or {_SAVE_IT}"))


def _too_large(address: str) -> Failure:
    found = f"more than {MOST_BYTES:,} bytes"
    fix = "save the part that matters, and name the file as source.file"
    return Failure(Problem("source-too-large", address, found, "less", fix))


def _within(seconds: float, call: Callable[[], Content]) -> Content:
    """What a call returns, if it does so in time.

    Its thread is left behind otherwise: no timeout ends a look-up of a name, or an answer that comes a byte at a time.
    """
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:  # noqa: BLE001  raised again below
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise _Passing(f"no whole page within {seconds:.0f} seconds")
    content, error = outcome[0]
    if error is not None:
        raise error
    return content  # type: ignore[no-any-return]


def _codec(name: str | None) -> str | None:
    try:
        found = str(codecs.lookup(name).name) if name else ""
    except (LookupError, ValueError):
        return None
    # What calls itself Latin-1 is read as browsers do: there are daggers among the characters that it lacks.
    return {"ascii": "cp1252", "iso8859-1": "cp1252"}.get(found, found) if _CODECS.fullmatch(found) else None
