"""From processed results to published ones: the metadata a method is declared with, in the source that declares it."""

from benchwright.publish.changes import Change, parse_changes
from benchwright.publish.declarations import Declaration, read_declaration
from benchwright.publish.info_edit import InfoEdit, apply_edit, plan_edit
from benchwright.publish.targets import Target, find_target

__all__ = [
    "Change",
    "Declaration",
    "InfoEdit",
    "Target",
    "apply_edit",
    "find_target",
    "parse_changes",
    "plan_edit",
    "read_declaration",
]
