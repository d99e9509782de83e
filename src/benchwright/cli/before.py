"""A Ctrl-C while a script still loads, before its call is under `run_script`: one line in place of a traceback."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import TracebackType

_otherwise = sys.excepthook


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        _otherwise(kind, error, trace)
        return
    with contextlib.suppress(OSError):
        os.write(2, b"stopped by Ctrl-C\n")
    os._exit(128 + signal.SIGINT)


sys.excepthook = _end
