"""One item in a process of its own, and the supervisor that ends everything the item started.

The fork server forks a supervisor, the supervisor forks the item. The supervisor adopts what the item leaves behind
(worker pools, daemons), kills it when the item has ended, saves Ray's logs of a failure, removes the scratch folder and
then ends the way the item did, so that the server sees one exit status. It survives a ``SIGKILL`` of the server long
enough to do the same.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from benchwright.node.processes import adopt_orphans, die_with_parent, end_children, exit_like, kill_group, kill_leader
from benchwright.node.scratch import remove_if_empty
from benchwright.node.wire import describe, send

Entry = Callable[[dict[str, Any], dict[str, Any]], Any]
ARTIFACTS_VARIABLE = "TABARENA_MODEL_ARTIFACTS_BASE_PATH"
_HANDLED = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}
_SUPERVISOR_BROKE = 70
LONGEST_RAY_FOLDER = 36
"""Ray puts sockets up to 70 characters below its temporary folder, and the kernel takes 107."""


@dataclass(frozen=True)
class ItemRequest:
    """What the server is asked to run: ``log`` takes the item's output, ``ray_logs`` the Ray logs of a failure."""

    id: int
    item: dict[str, Any]
    defaults: dict[str, Any]
    log: str | None = None
    ray_logs: str | None = None


def start_item(entry: Entry, request: ItemRequest, scratch: Path, replies: int) -> int:
    """Fork the supervisor of an item and return its process id; the caller reaps it."""
    server = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
    supervisor = os.fork()
    if supervisor:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return supervisor
    try:
        _supervise(entry, request, scratch, replies, server)
    except BaseException as error:  # noqa: BLE001 - the server's own code must never run on in this process
        _report(error, request, replies)
    os._exit(_SUPERVISOR_BROKE)


def _supervise(entry: Entry, request: ItemRequest, scratch: Path, replies: int, server: int) -> NoReturn:
    """Run the item, clear up after it and end like it. Signals are blocked on entry."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    scratch.mkdir()
    supervisor = os.getpid()
    item = os.fork()
    if not item:
        code = 1
        try:
            code = _run(entry, request, scratch, replies, supervisor)
        except BaseException as error:  # noqa: BLE001 - an unwritable log, say; the supervisor's code must not run here
            _report(error, request, replies)
        os._exit(code)

    stopped = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal stopped
        stopped = True
        kill_leader(item)

    signal.signal(signal.SIGTERM, stop)
    die_with_parent(signal.SIGTERM, server)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
    ended = 0
    while ended != item:
        ended, status = os.wait()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    kill_group(item)
    end_children()
    if status and not stopped and request.ray_logs:
        _save_ray_logs(item, request, scratch, Path(request.ray_logs))
    shutil.rmtree(scratch, ignore_errors=True)
    if os.getppid() != server:
        remove_if_empty(scratch.parent)
    # An item that was stopped must not look like one that ran out of memory.
    exit_like(signal.SIGTERM if stopped and status else status)


def _run(entry: Entry, request: ItemRequest, scratch: Path, replies: int, supervisor: int) -> int:
    """The item itself, in its own session: the exit code it ends with."""
    os.setsid()
    die_with_parent(signal.SIGKILL, supervisor)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
    if request.log:
        log = os.open(request.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
    os.chdir(scratch)
    os.environ.setdefault(ARTIFACTS_VARIABLE, str(scratch))
    if len(str(scratch)) <= LONGEST_RAY_FOLDER:
        os.environ.setdefault("RAY_TMPDIR", str(scratch))
    code = 0
    try:
        entry(request.item, request.defaults)
    except BaseException as error:  # noqa: BLE001 - whatever the fit raises is this item's failure
        code = _exit_code(error)
        if code:
            _report(error, request, replies)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code


def _exit_code(error: BaseException) -> int:
    """What the interpreter would end with."""
    if not isinstance(error, SystemExit):
        return 1
    return error.code & 0xFF if isinstance(error.code, int) else int(error.code is not None)


def _report(error: BaseException, request: ItemRequest, replies: int) -> None:
    """Print the traceback to the log, and tell the runner what was raised."""
    with contextlib.suppress(OSError):
        send(replies, {"event": "error", "id": request.id, "error": describe(error)})
    traceback.print_exception(type(error), error, error.__traceback__)


def _save_ray_logs(item: int, request: ItemRequest, scratch: Path, target: Path) -> None:
    """Copy the logs of the Ray sessions that the item started, if any; what cannot be copied is left out."""
    for session in _ray_sessions(item, request, scratch):
        with contextlib.suppress(OSError, shutil.Error):
            # Sockets and the like are no logs, and would stop the copy.
            shutil.copytree(session / "logs", target / session.name, ignore=_not_plain, dirs_exist_ok=True)


def _ray_sessions(item: int, request: ItemRequest, scratch: Path) -> Iterator[Path]:
    """Ray names a session after its driver's process id: ``<temporary folder>/session_<date>_<time>_<us>_<pid>``."""
    given = request.defaults.get("ray_temp_dir")
    bases = [Path(str(given))] if given else []
    bases += [Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray", scratch, *scratch.glob("*/")]
    seen = set()
    for base in bases:
        for session in base.glob(f"session_*_{item}"):
            if session.name not in seen and (session / "logs").is_dir():
                seen.add(session.name)
                yield session


def _not_plain(folder: str, names: list[str]) -> list[str]:
    paths = [Path(folder) / name for name in names]
    return [path.name for path in paths if path.is_symlink() or not (path.is_file() or path.is_dir())]
