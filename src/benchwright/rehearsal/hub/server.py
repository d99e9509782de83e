"""The emulator's HTTP servers: the Hub's, and that of its storage of large files, which is another host there too."""

from __future__ import annotations

import json
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.rehearsal.hub.faults import Fault
from benchwright.rehearsal.hub.limits import RateLimits
from benchwright.rehearsal.hub.routing import Router
from benchwright.rehearsal.hub.state import HubState
from benchwright.rehearsal.hub.wire import Answer, Refusal, Request, UnknownToEmulator, refused
from benchwright.rehearsal.line_server import LineHandler, LineServer

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Seen:
    """A request and how it went: the status it was answered with (0: not at all), and the fault it had."""

    request: Request
    status: int
    fault: Fault | None = None


class Desk:
    """Where requests are taken in: who asks, the log, faults, rate limits, and the router.

    ``seen`` is the log, which ``log`` has as JSON Lines; ``unknown`` are the names of what was asked for in vain.
    """

    def __init__(self, state: HubState, router: Router, limits: RateLimits, log: Path) -> None:
        self.state, self.router, self.limits = state, router, limits
        self.fault: Callable[[Request], Fault | None] | None = None
        self.seen: list[Seen] = []
        self.unknown: list[str] = []
        self._log = log
        self._lock = threading.Lock()

    def take(self, request: Request) -> tuple[Answer | None, Fault | None]:
        """The answer to a request, None where the line is to break, and the fault that it has."""
        fault = self.fault(request) if self.fault is not None else None
        answer: Answer | None = None
        if fault is None or fault.done:
            answer = self._answer(request)
        if fault is not None:
            time.sleep(fault.delay)
            if fault.kind == "error":
                answer = refused(fault.status, "Internal Error - We're working hard to fix this as soon as possible!")
            elif fault.kind == "cut":
                answer = None
        self._note(Seen(request, 0 if answer is None else answer.status, fault))
        return answer, fault

    def _answer(self, request: Request) -> Answer:
        with self._lock:
            headers, too_many = self.limits.take(request)
        if too_many is not None:
            return too_many.with_headers(*headers)
        try:
            if request.user is None and request.headers.get("authorization"):
                raise Refusal(refused(401, "Invalid credentials in Authorization header"))
            answer = self.router.answer(self.state, request)
        except Refusal as refusal:
            answer = refusal.answer
        except ConnectionError:
            raise
        except UnknownToEmulator as error:
            self.unknown.append(str(error))
            answer = refused(501, f"the emulator does not know {error}")
        except Exception as error:  # noqa: BLE001 - a bug in the emulator is said, and does not pass for the Hub's
            traceback.print_exception(error)
            self.unknown.append(f"a bug at {request.method} {request.target}: {error!r}")
            answer = refused(500, f"a bug in the emulator: {error!r}")
        return answer.with_headers(*headers)

    def _note(self, seen: Seen) -> None:
        told = {
            "time": self.state.now(),
            "method": seen.request.method,
            "target": seen.request.target,
            "user": seen.request.user,
            "status": seen.status,
        }
        if seen.fault is not None:
            told |= {"fault": seen.fault.kind, "took_effect": seen.fault.done}
        with self._lock:
            self.seen.append(seen)
            with self._log.open("a") as file:
                file.write(json.dumps(told) + "\n")


class HubServer(LineServer):
    """A server of the emulator's, for a context."""

    def __init__(self, desk: Desk, port: int) -> None:
        super().__init__(_Handler, port)
        self.desk = desk


class _Handler(LineHandler):
    server: HubServer

    def do_GET(self) -> None:
        desk = self.server.desk
        headers = {name.lower(): value for name, value in self.headers.items()}
        chunks = self._body(headers)
        token = headers.get("authorization", "").removeprefix("Bearer ").strip()
        user, rights = desk.state.accounts.tokens.get(token, (None, None))
        streamed = self.command == "PUT"
        body = b"" if streamed else b"".join(chunks)
        request = Request(self.command, self.path, user, headers, body, rights, (lambda: chunks) if streamed else None)
        answer, fault = desk.take(request)
        for _ in chunks:  # what a refusal left unread
            pass
        if answer is None:
            self.break_off()
        else:
            self._send(answer, fault)

    do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _body(self, headers: dict[str, str]) -> Iterator[bytes]:
        if "chunked" not in headers.get("transfer-encoding", ""):
            left = int(headers.get("content-length") or 0)
            while left > 0 and (chunk := self.rfile.read(min(left, _CHUNK))):
                left -= len(chunk)
                yield chunk
            if left > 0:
                raise ConnectionResetError("the client left in the middle of a body")
            return
        while line := self.rfile.readline():
            size = int(line.split(b";")[0], 16)
            yield self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return
        raise ConnectionResetError("the client left in the middle of a body")

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        short = fault is not None and fault.kind == "short"
        half = fault is not None and fault.kind == "half"
        length = answer.length // 2 if short else answer.length
        self.send_response(answer.status)
        for name, value in (*answer.headers, ("Content-Length", str(length))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._send_body(answer, length // 2 if half else length)
        if half:
            self.break_off()

    def _send_body(self, answer: Answer, length: int) -> None:
        if answer.file is None:
            self.wfile.write(answer.body[:length])
            return
        with answer.file.open("rb") as file:
            file.seek(answer.span[0])
            while length > 0 and (chunk := file.read(min(length, _CHUNK))):
                self.wfile.write(chunk)
                length -= len(chunk)
