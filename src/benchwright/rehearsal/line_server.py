"""The HTTP server of a stand-in, in threads of this process, which knows every line that a client has to it."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class LineServer(ThreadingHTTPServer):
    """A server at ``url``, at any free port where none is named. At its end every line is broken off."""

    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: type[LineHandler], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.lines: set[socket.socket] = set()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def start(self) -> None:
        """Serve, in a thread."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """End, and break off every line."""
        self.shutdown()
        self.server_close()
        for line in list(self.lines):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, unless it is a client that hung up in the middle of an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LineHandler(BaseHTTPRequestHandler):
    """One line of a client, over which it may send several requests."""

    server: LineServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self) -> None:
        """Note the line."""
        super().setup()
        self.server.lines.add(self.connection)

    def finish(self) -> None:
        """Forget the line."""
        self.server.lines.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: a stand-in has its own log."""

    def break_off(self) -> None:
        """End the line, after what was sent already."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
