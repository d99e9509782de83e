"""GPUs as SkyPilot names them, ``CARD:N``, and the memory of the cards that TabArena's maintainers run on."""

from __future__ import annotations

import re

DEFAULT = "RTXPRO6000:1"
"""The card of the public preset's GPU partition."""
_FORM = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*):([1-9][0-9]*)")
_MEMORY = {"A100": 40, "A100-80GB": 80, "H100": 80, "RTXPRO6000": 96}
"""GB of one card, by the names of SkyPilot's catalogues."""


def is_accelerators(text: str) -> bool:
    """Whether a text names a card and how many."""
    return _FORM.fullmatch(text) is not None


def card_memory(accelerators: str) -> int | None:
    """The memory of one card in GB; None where it is not on record."""
    return _MEMORY.get(accelerators.partition(":")[0])


def known_cards() -> str:
    """The cards on record, for people."""
    return " or ".join(f"{card}:1 ({memory} GB)" for card, memory in _MEMORY.items())
