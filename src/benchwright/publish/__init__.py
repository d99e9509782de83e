"""From processed results to published ones: the metadata a method is declared with, in the source that declares it."""

from benchwright.publish.changes import Change, parse_changes
from benchwright.publish.declarations import Declaration, read_declaration
from benchwright.publish.info_edit import InfoEdit, plan_edit
from benchwright.publish.method_reference import can_declare, load_method
from benchwright.publish.registration import ARENAS, Registration, plan_registration, plan_rollback
from benchwright.publish.source_edit import apply_edit
from benchwright.publish.targets import Target, find_target

__all__ = [
    "ARENAS",
    "Change",
    "Declaration",
    "InfoEdit",
    "Registration",
    "Target",
    "apply_edit",
    "can_declare",
    "find_target",
    "load_method",
    "parse_changes",
    "plan_edit",
    "plan_registration",
    "plan_rollback",
    "read_declaration",
]
