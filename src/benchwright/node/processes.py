"""What item processes need from the kernel: children that die with their parent, and process trees that end whole.

Linux offers both through ``prctl``; elsewhere the calls do nothing and process groups alone are relied on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import time
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SECONDS_BETWEEN_ROUNDS = 0.005


def _prctl(option: int, value: int) -> None:
    # A machine without prctl is a supported one.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent(number: int, parent: int | None = None) -> None:
    """Have the kernel send this process the signal ``number`` when the thread that started it ends.

    With ``parent``, the signal is raised at once when that process is gone already.
    """
    _prctl(_PR_SET_PDEATHSIG, number)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, daemons included."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_group(leader: int) -> None:
    """Kill what is left of a process group, if anything is."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill_leader(leader: int) -> None:
    """Kill a child that leads a group, or is about to, and its group."""
    kill_group(leader)
    with contextlib.suppress(ProcessLookupError):
        os.kill(leader, signal.SIGKILL)


def end_children() -> None:
    """Kill and reap every child of this process, and those that come to it as orphans meanwhile."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for child in children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(_SECONDS_BETWEEN_ROUNDS)


def end_strangers(spared: Collection[int]) -> None:
    """Kill and reap every child of this process but the ``spared``, and those that come to it as orphans meanwhile."""
    while strangers := children().difference(spared):
        for child in strangers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        time.sleep(_SECONDS_BETWEEN_ROUNDS)


def children() -> set[int]:
    """The process ids of this process's children; none where there is no ``/proc``."""
    return set(_children_of(os.getpid()))


def _children_of(parent: int) -> list[int]:
    """The process ids whose parent is ``parent``, from ``/proc``; empty where there is none."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # "pid (name) state parent ...": the name may hold spaces and brackets.
            if int(stat.read_bytes().rpartition(b")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def exit_like(status: int) -> NoReturn:
    """End this process the way ``status``, a wait status, says that another one ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # The other process has dumped its core, if that was wanted; a second one would only take its place.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))
