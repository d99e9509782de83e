"""The fork server: pays the imports of a fit once, then forks a process for each item.

``python -m benchwright.node.fork_server --entry MODULE:FUNCTION [--preload MODULE:FUNCTION] --replies FD``

Started by ``benchwright.node.server`` under the job's own Python; ``benchwright.node.wire`` describes the messages. It
imports and forks, and never fits, predicts or touches CUDA: after one fit in the server, the next forked fit hangs.
It ends, with everything it started, when its standard input does.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import selectors
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.node.item_process import Entry, ItemRequest, start_item
from benchwright.node.processes import adopt_orphans, children, die_with_parent, end_strangers
from benchwright.node.scratch import new_scratch, remove_abandoned
from benchwright.node.wire import Lines, describe, send

_UNUSABLE = 3


@dataclass(frozen=True)
class _Running:
    """An item at work; ``started`` is on the monotonic clock."""

    id: int
    started: float


class _Server:
    def __init__(self, entry: Entry, requests: int, replies: int, scratch: Path) -> None:
        self._entry = entry
        self._requests = Lines(requests)
        self._replies = replies
        self._scratch = scratch
        self._running: dict[int, _Running] = {}
        self._stopped_by: int | None = None
        self._of_the_imports = children()

    def serve(self) -> int:
        """Answer requests until their pipe ends or a signal comes; the exit code."""
        woken, wake = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._note_signal)
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests.handle, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            while self._stopped_by is None:
                ready = {key.fd for key, _ in selector.select()}
                if woken in ready:
                    with contextlib.suppress(BlockingIOError):
                        os.read(woken, 4096)
                if self._requests.handle in ready:
                    messages = self._requests.read()
                    if messages is None:
                        break
                    for message in messages:
                        self._answer(message)
                self._reap()
        self._end_all()
        return 0 if self._stopped_by is None else 128 + self._stopped_by

    def _note_signal(self, number: int, _frame: object) -> None:
        self._stopped_by = number

    def _answer(self, message: dict[str, Any]) -> None:
        if "kill" in message:
            for supervisor, running in self._running.items():
                if running.id == message["kill"]:
                    os.kill(supervisor, signal.SIGTERM)
            return
        request = ItemRequest(**message)
        started = time.monotonic()
        supervisor = start_item(self._entry, request, self._scratch / str(request.id), self._replies)
        self._running[supervisor] = _Running(request.id, started)

    def _reap(self) -> None:
        for supervisor in list(self._running):
            ended, status, usage = os.wait4(supervisor, os.WNOHANG)
            if not ended:
                continue
            running = self._running.pop(supervisor)
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            if number == signal.SIGKILL:
                # A supervisor that was killed itself left its item's processes behind, and they came here.
                end_strangers(self._of_the_imports | self._running.keys())
            send(
                self._replies,
                {
                    "event": "ended",
                    "id": running.id,
                    "exit": 128 + number if number else os.WEXITSTATUS(status),
                    "signal": number,
                    "wall_s": round(time.monotonic() - running.started, 3),
                    # Linux counts in KiB, macOS in bytes.
                    "peak_rss": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
                },
            )

    def _end_all(self) -> None:
        for supervisor in self._running:
            os.kill(supervisor, signal.SIGTERM)
        for supervisor in self._running:
            os.waitpid(supervisor, 0)


def _named(name: str) -> Callable[..., Any]:
    """The function that ``module:function`` names."""
    module, _, function = name.partition(":")
    found = getattr(importlib.import_module(module), function)
    if not callable(found):
        raise TypeError(f"{name} is not a function")
    return found  # type: ignore[no-any-return]


def _import_all(entry: str, preload: str | None) -> Entry:
    found = _named(entry)
    if preload:
        _named(preload)()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Import, report, serve; the exit code (3 when the imports fail)."""
    parser = argparse.ArgumentParser(prog="benchwright.node.fork_server")
    parser.add_argument("--entry", required=True)
    parser.add_argument("--preload")
    parser.add_argument("--replies", type=int, required=True)
    options = parser.parse_args(argv)
    os.set_inheritable(options.replies, False)
    # The items must not read requests: they get an empty standard input.
    requests = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    die_with_parent(signal.SIGTERM)
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        entry = _import_all(options.entry, options.preload)
    except BaseException as error:  # noqa: BLE001 - an import may raise anything, SystemExit too; each is reported
        traceback.print_exc()
        send(options.replies, {"event": "unusable", "error": describe(error)})
        return _UNUSABLE
    remove_abandoned()
    scratch = new_scratch()
    try:
        send(options.replies, {"event": "ready"})
        return _Server(entry, requests, options.replies, scratch).serve()
    except BrokenPipeError:
        return 1  # whoever asked is gone
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
