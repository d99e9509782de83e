"""From processed results to published ones: the metadata a method is declared with, in the source that declares it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.publish.changes import Change, parse_changes, read_changes
    from benchwright.publish.declarations import Declaration, read_declaration
    from benchwright.publish.info_edit import InfoEdit, plan_edit
    from benchwright.publish.method_reference import load_declared, load_method
    from benchwright.publish.registration import ARENAS, Registration, plan_registration, plan_rollback, registered_in
    from benchwright.publish.source_edit import apply_edit
    from benchwright.publish.targets import Target, find_target

_HOMES = {
    "Change": "changes",
    "parse_changes": "changes",
    "read_changes": "changes",
    "Declaration": "declarations",
    "read_declaration": "declarations",
    "InfoEdit": "info_edit",
    "plan_edit": "info_edit",
    "load_declared": "method_reference",
    "load_method": "method_reference",
    "ARENAS": "registration",
    "Registration": "registration",
    "plan_registration": "registration",
    "plan_rollback": "registration",
    "registered_in": "registration",
    "apply_edit": "source_edit",
    "Target": "targets",
    "find_target": "targets",
}
__all__ = [
    "ARENAS",
    "Change",
    "Declaration",
    "InfoEdit",
    "Registration",
    "Target",
    "apply_edit",
    "find_target",
    "load_declared",
    "load_method",
    "parse_changes",
    "plan_edit",
    "plan_registration",
    "plan_rollback",
    "read_changes",
    "read_declaration",
    "registered_in",
]


def __getattr__(name: str) -> Any:
    # An upload edits no source; what does is imported when it is first used.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
