"""The nouns of an arena: methods, models, splits, subsets, work items. Pure data, importable in milliseconds."""

from benchwright.arena.collection import MethodCollection
from benchwright.arena.item import Item
from benchwright.arena.metadata import MethodMetadata
from benchwright.arena.model_info import ModelInfo
from benchwright.arena.names import did_you_mean
from benchwright.arena.spec import ArenaSource, ArenaSpec, Resources
from benchwright.arena.split import Split, Traits
from benchwright.arena.subsets import SHORTCUTS, Expression, subset_label, subset_names
from benchwright.arena.task_set import TaskSet, select_splits
from benchwright.arena.task_subset import TaskSubset

__all__ = [
    "SHORTCUTS",
    "ArenaSource",
    "ArenaSpec",
    "Expression",
    "Item",
    "MethodCollection",
    "MethodMetadata",
    "ModelInfo",
    "Resources",
    "Split",
    "TaskSet",
    "TaskSubset",
    "Traits",
    "did_you_mean",
    "select_splits",
    "subset_label",
    "subset_names",
]
