"""Cards: the metadata at the head of a README."""

from __future__ import annotations

import re
from typing import Any

import yaml

from benchwright.rehearsal.hub.records import Repo

_HEAD = re.compile(r"---\r?\n(.*?)^---\s*$", re.DOTALL | re.MULTILINE)


def metadata_of(readme: str) -> dict[str, Any]:
    """The metadata between the lines of dashes.

    Raises:
        yaml.YAMLError: they are no YAML.
    """
    match = _HEAD.match(readme)
    told = yaml.safe_load(match[1]) if match else None
    return told if isinstance(told, dict) else {}


def card(repo: Repo) -> dict[str, Any]:
    """The metadata of a repo's README; none where it cannot be read."""
    entry = repo.main.files.get("README.md")
    try:
        return metadata_of(repo.blobs[entry.oid].decode()) if entry else {}
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}


def base_models(repo: Repo) -> list[str]:
    """The models that a model's card names as its base, the model itself too if the card does."""
    told = card(repo).get("base_model") or []
    return [told] if isinstance(told, str) else [str(one) for one in told]
