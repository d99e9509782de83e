"""A way to Postgres on which the line can be cut: before a client's message gets there, or its answer back."""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

_PORT = 5432


@dataclass
class CutLine:
    """Passes on what clients and the server at ``data`` say, over a socket in ``folder``.

    ``sent`` counts the messages of clients; the one of number ``cut_at`` does not reach the server, or, ``after``, its
    answer does not come back.
    """

    data: Path
    folder: Path
    cut_at: int | None = None
    after: bool = False
    sent: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self.folder / f".s.PGSQL.{_PORT}"))
        self._door.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self, role: str = "postgres") -> str:
        return f"postgresql://{role}@/postgres?host={quote(str(self.folder), safe='')}"

    def cut(self, at: int | None, *, after: bool = False) -> None:
        """Cut at the message of this number from now on, once."""
        with self._lock:
            self.sent, self.cut_at, self.after = 0, at, after

    def stop(self) -> None:
        self._door.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.data / f".s.PGSQL.{_PORT}"))
                silent = threading.Event()
                for pair in ((client, server, silent, True), (server, client, silent, False)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, silent: threading.Event, of_client: bool) -> None:
        with contextlib.suppress(OSError):
            while said := source.recv(1 << 20):
                if of_client and self._is_cut():
                    if not self.after:
                        break
                    silent.set()  # the answer is swallowed, and the line then closed from the other side
                if not of_client and silent.is_set():
                    break
                sink.sendall(said)
        for line in (source, sink):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _is_cut(self) -> bool:
        with self._lock:
            self.sent += 1
            return self.sent == self.cut_at
