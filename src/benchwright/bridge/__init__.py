"""The only importer of ``tabarena`` and AutoGluon: models, arenas, grids of experiments, and the fit of one item.

Its own modules are imported on first use, since several of them import those packages, which takes seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchwright.bridge.arenas import open_arena
    from benchwright.bridge.grid import Grid, count_configs, plan_grid
    from benchwright.bridge.known_tasks import task_rows
    from benchwright.bridge.materialise import materialise_tasks
    from benchwright.bridge.models import model_info, model_infos
    from benchwright.bridge.published import PublishedArena
    from benchwright.bridge.smoke import SmokeReport, smoke_fit
    from benchwright.bridge.weights import prefetch_weights

_HOMES = {
    "open_arena": "arenas",
    "Grid": "grid",
    "count_configs": "grid",
    "plan_grid": "grid",
    "task_rows": "known_tasks",
    "materialise_tasks": "materialise",
    "model_info": "models",
    "model_infos": "models",
    "PublishedArena": "published",
    "SmokeReport": "smoke",
    "smoke_fit": "smoke",
    "prefetch_weights": "weights",
}

__all__ = [
    "Grid",
    "PublishedArena",
    "SmokeReport",
    "count_configs",
    "materialise_tasks",
    "model_info",
    "model_infos",
    "open_arena",
    "plan_grid",
    "prefetch_weights",
    "smoke_fit",
    "task_rows",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
