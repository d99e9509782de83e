"""What the model of a run is really called: a server's own name for it may be a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from benchwright.contract import Failure
from benchwright.evaldb import is_numeric_model
from benchwright.files import read_bytes

_MOST_BYTES = 2**24
_MOST_ABOVE = 6
"""How many folders above a run's own its record is looked for in."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")


class _EvalConfig(msgspec.Struct):
    model_hf_name: str | None = None


def model_in_eval_config(tag: str, folders: Iterable[Path]) -> str | None:
    """The model that the run's own record names, ``experiments/<tag>/configs/<tag>_eval_config.json``; None without.

    The record is looked for from the current folder, and from each folder above the run's.
    """
    for path in dict.fromkeys(_records(tag, folders)):
        try:
            config = msgspec.json.decode(read_bytes(path, limit=_MOST_BYTES), type=_EvalConfig)
        except (OSError, Failure, msgspec.DecodeError, UnicodeDecodeError):
            continue
        if config.model_hf_name and (name := plain_model(config.model_hf_name)):
            return name
    return None


def plain_model(name: str | None) -> str | None:
    """A model's name without the prefix of what served it; None where it is a number, a path, or nothing.

    ``openai/`` is an organisation too: it counts as a prefix only before another one.
    """
    if not name or is_numeric_model(name):
        return None
    name = name.strip()
    while True:
        rest = name.removeprefix("hosted_vllm/")
        if rest.startswith("openai/") and "/" in (inner := rest.removeprefix("openai/")):
            rest = inner
        if rest == name:
            return name if _NAME.fullmatch(name) else None
        name = rest


def _records(tag: str, folders: Iterable[Path]) -> Sequence[Path]:
    if "/" in tag or tag in ("", ".", ".."):
        return []
    file = f"configs/{tag}_eval_config.json"
    paths = [Path("experiments", tag, file)]
    for folder in folders:
        for above in folder.parents[:_MOST_ABOVE]:
            if above.name == tag:
                paths.append(above / file)
            paths.append(above / "experiments" / tag / file)
    return paths
