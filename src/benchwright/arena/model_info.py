"""What the registry knows of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchwright.arena.metadata import MethodMetadata


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A registered model, without its class.

    ``name`` is the registry's method name ("LightGBM"), ``key`` the model's folder ("lightgbm"), and ``ag_name`` what
    AutoGluon, and so the names of its experiments, call it ("TA-TabM" for "TabM"). ``problem_types`` are those the
    model can fit. ``pip_extra`` are requirements beyond the base installation. ``reads_num_gpus`` says that the model
    falls back to the CPU by itself when it is given no GPU. ``superseded`` says that a newer entry has taken its place
    and that the two cannot be installed together.
    """

    name: str
    key: str
    display_name: str
    ag_name: str
    compute: Literal["cpu", "gpu"]
    problem_types: tuple[str, ...]
    has_search_space: bool
    pip_extra: tuple[str, ...]
    prefetches_weights: bool
    estimates_memory: bool
    reads_num_gpus: bool
    superseded: bool
    metadata: MethodMetadata
