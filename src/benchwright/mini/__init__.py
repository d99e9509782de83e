"""The embedded mini arena: nine small tasks with reference results, whole on any machine without a network."""

from benchwright.mini.arena import REFERENCE_CONFIGS, RESULTS, MiniSource, source
from benchwright.mini.catalogue import TASKS
from benchwright.mini.table import TABLE, task_set, verify, write_table
from benchwright.mini.task import FOLDS, TARGET, MiniTask

__all__ = [
    "FOLDS",
    "REFERENCE_CONFIGS",
    "RESULTS",
    "TABLE",
    "TARGET",
    "TASKS",
    "MiniSource",
    "MiniTask",
    "source",
    "task_set",
    "verify",
    "write_table",
]
