"""Signals that ask a run to stop, as a state to look at and a handle to wait on."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass

_STOPPING = (signal.SIGINT, signal.SIGTERM)


@dataclass
class StopRequest:
    """``number`` is the first stopping signal that came; ``handle`` becomes readable with it and stays so."""

    handle: int
    number: int | None = None


@contextlib.contextmanager
def stop_signals() -> Iterator[StopRequest]:
    """Take SIGINT and SIGTERM as requests while the context lasts.

    Outside the main thread Python allows no handlers, and the request never comes.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    request = StopRequest(reading)

    def note(number: int, _frame: object) -> None:
        request.number = request.number or number
        with contextlib.suppress(BlockingIOError):
            os.write(writing, b".")

    in_main_thread = threading.current_thread() is threading.main_thread()
    previous = {number: signal.signal(number, note) for number in _STOPPING} if in_main_thread else {}
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
