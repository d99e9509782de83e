"""Names of configs: the part that stands for the method, what becomes of it, and which config is the default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from benchwright.arena.metadata import MethodMetadata

_CONFIG_TOKEN = re.compile(r"_[cr][0-9]+(?=_|$)", re.ASCII)


def prefix_of(framework: str, method_metadata: Mapping[str, Any]) -> str:
    """The part of a raw name that stands for the method: ``LightGBM`` of ``LightGBM_c1_default_BAG_L1``.

    A config's result records it as ``name_prefix``, which must be the name's first token or tokens. Elsewhere it is
    what precedes the config's number, or else the whole name.
    """
    recorded = method_metadata.get("name_prefix")
    if isinstance(recorded, str) and recorded and f"{framework}_".startswith(f"{recorded}_"):
        return recorded
    number = _CONFIG_TOKEN.search(framework)
    return framework[: number.start()] if number else framework


def family_of(method_metadata: Mapping[str, Any]) -> str | None:
    """The key of a config's family: its ``ag_key``, or where there is none its ``model_type``."""
    for key in ("ag_key", "model_type"):
        value = method_metadata.get(key)
        if isinstance(value, str) and value:
            return str(value)
    return None


def processed_name(framework: str, prefix: str, metadata: MethodMetadata) -> str:
    """The name in processed tables.

    A config keeps what follows its prefix, which becomes the method's name and the method's suffix; a baseline takes
    the method's name, or the one that its metadata sets.
    """
    if metadata.method_type == "config":
        return f"{metadata.method}{metadata.name_suffix or ''}{framework.removeprefix(prefix)}"
    return metadata.name or metadata.method


def default_config(configs: Iterable[str]) -> str:
    """The default among a method's configs: the first manual one (``c1``), else the first random one, else the first.

    Of several ``c1``, one whose name ends there wins, then the shortest rest of the name, then the alphabet.

    Raises:
        ValueError: there are no configs.
    """
    names = sorted(configs)
    manual = numbered(names, "c1")
    if not manual:
        return min(numbered(names, "r1") or names)
    ending = [name for name in manual if name.endswith("_c1")]
    if ending:
        return ending[0]
    return min(manual, key=lambda name: (len(name.rsplit("_c1_", maxsplit=1)[-1]), name))


def numbered(names: Iterable[str], number: str) -> list[str]:
    """The names of configs that carry this number: ``c1`` is in ``M_c1`` and ``M_c1_BAG_L1``, not in ``M_c10``."""
    return [name for name in names if f"_{number}_" in name or name.endswith(f"_{number}")]
