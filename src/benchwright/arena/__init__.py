"""The nouns of an arena: methods, models, splits, subsets, work items. Pure data, importable in milliseconds."""

from benchwright.arena.collection import MethodCollection
from benchwright.arena.item import Item
from benchwright.arena.metadata import MethodMetadata, default_cache_root
from benchwright.arena.model_info import ModelInfo
from benchwright.arena.spec import ArenaSource, ArenaSpec, Resources
from benchwright.arena.split import ProblemType, Split, Traits
from benchwright.arena.subsets import SHORTCUTS, Expression, subset_label, subset_names
from benchwright.arena.task_set import TaskSet, select_splits
from benchwright.arena.task_subset import TaskSubset
from benchwright.contract import did_you_mean

__all__ = [
    "SHORTCUTS",
    "ArenaSource",
    "ArenaSpec",
    "Expression",
    "Item",
    "MethodCollection",
    "MethodMetadata",
    "ModelInfo",
    "ProblemType",
    "Resources",
    "Split",
    "TaskSet",
    "TaskSubset",
    "Traits",
    "default_cache_root",
    "did_you_mean",
    "select_splits",
    "subset_label",
    "subset_names",
]
