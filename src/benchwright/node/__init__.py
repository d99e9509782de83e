"""What runs on a compute or head node beside the fit: the bundle runner, the fork server, the event log.

Standard library only and Python 3.9 syntax, since the node's own Python may be old; the fit's imports happen in the
fork server, under the job's Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.node.bundle import Bundle
    from benchwright.node.events import Event, EventLog, RunState, read_events, state_of
    from benchwright.node.job_file import Item, JobFile, JobFileError, read_job_file
    from benchwright.node.results import set_aside
    from benchwright.node.runner import RunTotals, run_bundles
    from benchwright.node.scratch import passing_scratch, remove_abandoned
    from benchwright.node.server import ServerUnusable

_HOMES = {
    "Bundle": "bundle",
    "Event": "events",
    "EventLog": "events",
    "RunState": "events",
    "read_events": "events",
    "state_of": "events",
    "Item": "job_file",
    "JobFile": "job_file",
    "JobFileError": "job_file",
    "read_job_file": "job_file",
    "set_aside": "results",
    "RunTotals": "runner",
    "run_bundles": "runner",
    "passing_scratch": "scratch",
    "remove_abandoned": "scratch",
    "ServerUnusable": "server",
}
__all__ = [
    "Bundle",
    "Event",
    "EventLog",
    "Item",
    "JobFile",
    "JobFileError",
    "RunState",
    "RunTotals",
    "ServerUnusable",
    "passing_scratch",
    "read_events",
    "read_job_file",
    "remove_abandoned",
    "run_bundles",
    "set_aside",
    "state_of",
]


def __getattr__(name: str) -> Any:
    # Whoever forks wants a process to end with its parent, and nothing of the runner.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
