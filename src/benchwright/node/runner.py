"""The bundle runner: every item in a forked process of its own, and the rules of what happens when one fails."""

from __future__ import annotations

import itertools
import os
import select
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.node.bundle import Bundle, BundleState
from benchwright.node.events import OnEvent
from benchwright.node.job_file import Item, JobFileError
from benchwright.node.results import is_complete, set_aside, sweep
from benchwright.node.server import ForkServer, ServerLost, ServerUnusable
from benchwright.node.stopping import StopRequest, stop_signals

_SECONDS_TO_STOP = 30.0
_SECONDS_FOR_OUR_SIGNAL = 1.0
_ENDED_BY_STOPPING = {128 + signal.SIGTERM, 128 + signal.SIGINT}
_OF_THE_SERVER = ("python", "entry", "preload")
_NOT_MEASURED = {"wall_s": None, "peak_rss": None}
"""What is measured of an item, of one that was not."""


@dataclass(frozen=True)
class RunTotals:
    """What became of a run's items; ``signal`` is the one that stopped it, ``None`` for a run that went to its end."""

    ok: int
    failed: int
    skipped: int
    left: int
    signal: int | None

    @property
    def exit(self) -> int:
        """The exit code: 0, 1 when an item failed, 128 + n when signal n stopped the run."""
        return 128 + self.signal if self.signal else int(self.failed > 0)


@dataclass
class _Running:
    """An item at work; ``before`` identifies the result that was there, ``part`` is its own log beside the bundle's."""

    state: BundleState
    item: Item
    result: Path
    before: tuple[int, int, int] | None
    part: Path | None
    error: str | None = None


def run_bundles(
    bundles: Sequence[Bundle], on_event: OnEvent, *, parallel: int = 1, server_log: Path | None = None
) -> RunTotals:
    """Run every item of ``bundles`` that has no complete result, ``parallel`` side by side, under one fork server.

    A failed item does not stop its bundle; three in a row do, and the other bundles go on. SIGINT and SIGTERM end the
    running items whole, keep what is finished and return. With ``parallel`` above 1 each item writes a log of its own,
    which is appended to the bundle's when it ends. ``server_log`` takes what the imports print.

    Raises:
        ServerUnusable: no item can run, for want of the Python or of an import.
        JobFileError: the bundles ask for different Pythons or entries.
    """
    return _Run(bundles, on_event, parallel, server_log).run()


class _Run:
    def __init__(self, bundles: Sequence[Bundle], on_event: OnEvent, parallel: int, server_log: Path | None) -> None:
        wanted = {tuple(bundle.defaults.get(name) for name in _OF_THE_SERVER) for bundle in bundles}
        if len(wanted) > 1:
            raise JobFileError(f"{', '.join(_OF_THE_SERVER)} differ within one run: {sorted(map(str, wanted))}")
        self._states = [BundleState(bundle) for bundle in bundles]
        self._on_event = on_event
        self._parallel = min(parallel, max(1, sum(len(bundle.items) for bundle in bundles)))
        self._server_log = server_log
        self._server: ForkServer | None = None
        self._running: dict[int, _Running] = {}
        self._ids = itertools.count(1)
        self._stop = StopRequest(-1)

    def run(self) -> RunTotals:
        with stop_signals() as self._stop:
            self._on_event(
                {
                    "event": "run-started",
                    "total": sum(len(state.bundle.items) for state in self._states),
                    "parallel": self._parallel,
                    "pid": os.getpid(),
                    "host": socket.gethostname(),
                }
            )
            try:
                self._run_all()
            finally:
                self._end()
        return self._totals()

    def _run_all(self) -> None:
        while True:
            self._fill()
            if self._stop.number or not self._running:
                break
            self._hear(self._stop.handle)
        if not self._server or not self._server.ready:
            return
        for running in self._running:
            self._server.kill(running)
        latest = time.monotonic() + _SECONDS_TO_STOP
        while self._running and time.monotonic() < latest:
            self._hear()

    def _end(self) -> None:
        """Close the server, the books of every bundle and the run's. Nothing runs any more afterwards."""
        if self._server:
            self._server.close()
        for running in self._running.values():
            self._note_stopped(running)
        for state in self._states:
            if not state.ended and (state.begun or not state.bundle.items):
                self._end_bundle(state)
        totals = self._totals()
        self._on_event({"event": "run-ended", **_counts(totals), "signal": totals.signal})

    def _totals(self) -> RunTotals:
        states = self._states
        return RunTotals(
            ok=sum(state.ok for state in states),
            failed=sum(state.failed for state in states),
            skipped=sum(state.skipped for state in states),
            left=sum(state.left for state in states),
            signal=self._stop.number,
        )

    def _fill(self) -> None:
        """Start items until ``parallel`` are at work, in order."""
        for state in self._states:
            while state.waiting and len(self._running) < self._parallel and not self._stop.number:
                self._start(state, state.waiting.popleft())

    def _start(self, state: BundleState, item: Item) -> None:
        defaults = state.bundle.defaults
        result = item.result(defaults["output_dir"])
        state.begun = True
        state.running += 1
        if not defaults.get("ignore_cache"):
            try:
                skipped = is_complete(result)
            except OSError as error:  # it may be whole, and another's: nobody knows, so nothing is moved
                reason = f"{result} cannot be read ({error.strerror})"
                self._begin(state, item)
                state.say(f"##### {reason}")
                self._note_failure(state, item, reason, {"exit": 1, "signal": None, **_NOT_MEASURED})
                self._item_left(state)
                return
            if skipped:
                state.skipped += 1
                state.say(f"##### item skipped, its result is there: {item.label()}")
                self._emit("item-skipped", state, item)
                self._item_left(state)
                return
            self._put_aside(state, result)
        sweep(result)
        number = self._begin(state, item)
        self._submit(_Running(state, item, result, _identity(result), self._part(state, number)))

    def _begin(self, state: BundleState, item: Item) -> int:
        """Say that an item is started; its place in the bundle, from 1."""
        number = len(state.bundle.items) - len(state.waiting)
        state.say(f"##### item {number}/{len(state.bundle.items)} started: {item.label()}")
        self._emit("item-started", state, item)
        return number

    def _put_aside(self, state: BundleState, result: Path) -> None:
        """Move what is in a result's place and is none out of the way."""
        try:
            if result.exists():
                state.say(f"##### a damaged result was moved to {set_aside(result)}")
        except OSError as error:
            state.say(f"##### a damaged result cannot be moved out of the way ({error.strerror}): {result}")

    def _part(self, state: BundleState, number: int) -> Path | None:
        log = state.bundle.log
        return log.with_name(f"{log.stem}.item_{number}{log.suffix}") if log and self._parallel > 1 else None

    def _submit(self, running: _Running) -> None:
        bundle = running.state.bundle
        log = running.part or bundle.log
        number = next(self._ids)
        self._running[number] = running
        self._server_at_work().submit(
            {
                "id": number,
                "item": {**running.item.coordinates(), "task_key": running.item.task_key},
                "defaults": dict(bundle.defaults),
                "log": str(log.absolute()) if log else None,
                "ray_logs": str(bundle.ray_logs.absolute()) if bundle.ray_logs else None,
            }
        )

    def _server_at_work(self) -> ForkServer:
        if self._server is None:
            defaults = self._states[0].bundle.defaults
            self._server = ForkServer(defaults["python"], defaults["entry"], defaults.get("preload"), self._server_log)
        return self._server

    def _hear(self, also: int | None = None) -> None:
        """Wait for the server and act on what it says."""
        try:
            messages = self._server_at_work().poll(also)
        except ServerLost as lost:
            self._lose_server(lost)
            return
        except ServerUnusable as unusable:
            if not self._is_stopping(unusable.exit):
                raise
            return
        for message in messages:
            if message["event"] == "error":
                self._running[message["id"]].error = message["error"]
            elif message["event"] == "ended":
                self._note_end(self._running.pop(message["id"]), message)

    def _lose_server(self, lost: ServerLost) -> None:
        """The server is gone: what ran under it has failed, and the next item gets a new one."""
        self._server_at_work().close()
        self._server = None
        running, self._running = self._running, {}
        for one in running.values():
            one.error = one.error or f"{lost} while this item ran"
            self._note_end(one, {"exit": lost.exit, "signal": None, **_NOT_MEASURED})

    def _note_end(self, running: _Running, message: dict[str, Any]) -> None:
        state, item = running.state, running.item
        if running.part:
            state.take(running.part)
        if message["exit"] == 0 and _was_written(running):
            state.note_success()
            self._emit("item-done", state, item, **{name: message[name] for name in _NOT_MEASURED})
        elif self._is_stopping(message["exit"]):
            self._note_stopped(running)
            return
        else:
            sweep(running.result)
            reason = _reason(running, message)
            if running.error is None or message["wall_s"] is None:
                state.say(f"##### {reason}")
            self._note_failure(
                state, item, reason, {name: message[name] for name in ("exit", "signal", *_NOT_MEASURED)}
            )
        self._item_left(state)

    def _note_failure(self, state: BundleState, item: Item, reason: str, ending: dict[str, Any]) -> None:
        state.say(f"##### item FAILED (exit {ending['exit']}): {item.label()}")
        log = str(state.bundle.log) if state.bundle.log else None
        self._emit("item-failed", state, item, reason=reason, **ending, log=log)
        state.note_failure()

    def _is_stopping(self, exit: int | None) -> bool:
        """Whether the run has been asked to stop, when something of it ended with ``exit``.

        A scheduler signals all processes of a task at once, and ours may be the last to notice.
        """
        if not self._stop.number and exit in _ENDED_BY_STOPPING:
            select.select([self._stop.handle], [], [], _SECONDS_FOR_OUR_SIGNAL)
        return self._stop.number is not None

    def _note_stopped(self, running: _Running) -> None:
        """An item that the runner itself ended, or that could not run: neither done nor failed."""
        sweep(running.result)
        how = f"stopped by {_signal_name(self._stop.number)}" if self._stop.number else "not run"
        running.state.say(f"##### item {how}: {running.item.label()}")
        self._emit("item-stopped", running.state, running.item)

    def _item_left(self, state: BundleState) -> None:
        state.running -= 1
        if not state.running and not state.waiting:
            self._end_bundle(state)

    def _end_bundle(self, state: BundleState) -> None:
        state.say_summary()
        self._on_event({"event": "bundle-ended", "bundle": state.bundle.number, **_counts(state)})

    def _emit(self, event: str, state: BundleState, item: Item, **more: Any) -> None:
        self._on_event({"event": event, "bundle": state.bundle.number, **item.coordinates(), **more})


def _counts(counted: RunTotals | BundleState) -> dict[str, int]:
    return {"ok": counted.ok, "failed": counted.failed, "skipped": counted.skipped, "left": counted.left}


def _identity(path: Path) -> tuple[int, int, int] | None:
    """What tells one version of a file from the next."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _was_written(running: _Running) -> bool:
    try:
        return _identity(running.result) != running.before and is_complete(running.result)
    except OSError:
        return False


def _reason(running: _Running, message: dict[str, Any]) -> str:
    """Why an item failed, in one line."""
    if running.error:
        return running.error
    if message["signal"]:
        hint = " (the kernel does this when memory runs out)" if message["signal"] == signal.SIGKILL else ""
        return f"killed by {_signal_name(message['signal'])}{hint}"
    if message["exit"] == 0:
        return f"ended without a complete result at {running.result}"
    return f"ended with exit code {message['exit']}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"
