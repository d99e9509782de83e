"""The methods registered on the mini arena, which ``scripts/register_method.py --arena mini`` edits.

The reference results that are shipped with the arena belong to the five of suite ``mini-arena-1``, whichever of the two
lists they are in.
"""

from __future__ import annotations

from benchwright.arena import MethodCollection, MethodMetadata
from benchwright.mini.info import (
    extratrees_method_metadata,
    kneighbors_method_metadata,
    lightgbm_method_metadata,
    linearmodel_method_metadata,
    randomforest_method_metadata,
)

mini_method_metadata_collection = MethodCollection(
    [
        # Models (CPU and GPU)
        randomforest_method_metadata,
        extratrees_method_metadata,
        lightgbm_method_metadata,
        linearmodel_method_metadata,
        kneighbors_method_metadata,
        # Systems
    ]
)

# What a rerun has replaced above; named here so that its hosted artifacts stay reachable.
methods_superseded: list[MethodMetadata] = []
