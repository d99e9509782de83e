"""A site of pages to cite: a real server, which also misbehaves."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


def page(body: str | bytes, media: str = "text/html; charset=utf-8", **headers: str) -> Answer:
    """A whole page."""
    data = body.encode() if isinstance(body, str) else body

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in {"Content-Type": media, "Content-Length": str(len(data)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def status(code: int, **headers: str) -> Answer:
    """An answer without a page."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content-Length": "0", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()

    return answer


def moved(location: str) -> Answer:
    """A redirection."""
    return status(302, Location=location)


def endless(handler: BaseHTTPRequestHandler) -> None:
    """A page of 100 MB and more, told to be without end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    handler.close_connection = True
    for _ in range(1600):
        handler.wfile.write(b"<p>62.7 is here</p>" * 3450)


def torn(handler: BaseHTTPRequestHandler) -> None:
    """A page that ends in the middle."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"<p>62.7")
    handler.close_connection = True


def dropped(handler: BaseHTTPRequestHandler) -> None:
    """No answer at all."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


@dataclass
class Site:
    """Answers by path, one after the other where there are several; ``seen`` are all requests with their headers."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def add(self, path: str, *answers: Answer | str) -> str:
        """Have a path answered, the last answer ever after; returns its address."""
        self.answers[path] = [page(one) if isinstance(one, str) else one for one in answers]
        return self.url + path

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        self.seen.append((handler.path, dict(handler.headers)))
        answers = self.answers.get(handler.path, [status(404)])
        (answers.pop(0) if len(answers) > 1 else answers[0])(handler)


@contextlib.contextmanager
def serving() -> Iterator[Site]:
    """The site, while the context lasts."""
    site = Site("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with contextlib.suppress(OSError):  # the client has had enough
                site.answer(self)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
