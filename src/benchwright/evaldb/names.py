"""Names that are right, and names that a registration got wrong."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

_NUMERIC = re.compile(r"\d{12,}")
_HASH = re.compile(r"[0-9a-f]{32,64}", re.IGNORECASE)
_TIMESTAMP = re.compile(r"[-_]\d{8}[-_]\d{6}$|[-_]\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d$")
_SHORTEST_MODEL = 5
"""A model's name of fewer characters may be in a benchmark's name by chance."""


@functools.lru_cache(maxsize=4096)
def model_key(name: str) -> str:
    """What is left of a model's name without the serving prefix; equal for rows that are one model.

    ``hosted_vllm/`` is never part of a name. ``openai/`` is an organisation too: it counts as a prefix only before an
    organisation or a number. Case is ignored, as the Hub does.
    """
    key = name.strip().casefold()
    while True:
        rest = key.removeprefix("hosted_vllm/")
        if key.startswith("openai/") and ("/" in (inner := key.removeprefix("openai/")) or _NUMERIC.fullmatch(inner)):
            rest = inner
        if rest == key or not rest:
            return key
        key = rest


def is_numeric_model(name: str) -> bool:
    """Whether a model's name is the number under which vLLM served it, and not the model's name."""
    return _NUMERIC.fullmatch(model_key(name)) is not None


def served_since(name: str) -> datetime | None:
    """When a model with a numeric name was launched: the number counts microseconds since 1970. None for others."""
    if not is_numeric_model(name):
        return None
    try:
        return datetime.fromtimestamp(int(model_key(name)) / 1e6, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def is_hash(name: str) -> bool:
    """Whether a benchmark's name is the version hash of a dataset: 32 to 64 hexadecimal digits."""
    return _HASH.fullmatch(name) is not None


def is_run_name(name: str, *, models: Iterable[str] = (), run_names: Collection[str] = ()) -> bool:
    """Whether a benchmark's name is that of a run's folder.

    It is where it equals one of ``run_names``, has the name of one of the run's ``models`` after its beginning, ends in
    a run's time, or starts with ``eval-`` as the folders of runs do.
    """
    if name in run_names or name.startswith("eval-") or _TIMESTAMP.search(name):
        return True
    tails = (_flat(model_key(model).rpartition("/")[2]) for model in models)
    return any(len(tail) >= _SHORTEST_MODEL and tail in _flat(name)[1:] for tail in tails)


def _flat(name: str) -> str:
    """A name as it is in a folder's name, whatever stood for its special characters."""
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
