"""Names of a method's family: in its configs after processing, and of its rows in an arena's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import family_of


def family_names(recorded: Mapping[str, Any], metadata: MethodMetadata) -> dict[str, Any]:
    """What a config's ``method_metadata`` says of its family after processing.

    The family takes the model key of the metadata and its suffix; the key that the result recorded stays in ``ag_key``.
    """
    suffix = metadata.name_suffix or ""
    names: dict[str, Any] = {"name_prefix": f"{metadata.method}{suffix}"}
    recorded_type = recorded.get("model_type")
    if metadata.model_key or suffix:
        names["ag_key"] = family_of(recorded)
        names["model_type"] = f"{metadata.model_key or recorded_type}{suffix}"
    return names


def variant(config_type: str, subtype: str) -> str:
    """The label of a family's row: ``GBM (default)``, ``GBM (tuned)``, ``GBM (tuned + ensemble)``."""
    return f"{config_type} ({_VARIANTS[subtype]})"


_VARIANTS = {"default": "default", "tuned": "tuned", "tuned_ensemble": "tuned + ensemble"}
