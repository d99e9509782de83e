"""Leads: results that a source elsewhere has, as it tells them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Source = Literal["db", "api", "cards", "csv"]
SOURCES: tuple[Source, ...] = ("db", "api", "cards", "csv")
"""What ``--source`` may say."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


@dataclass(frozen=True, kw_only=True)
class Lead:
    """A result. ``id`` is its source's, ``url`` the model's address or id as it is told there.

    ``value_text`` are its digits, with what stands around them. ``benchmark`` has the names that the source gives the
    benchmark, ``hub_dataset`` and ``hub_task`` the board where the source says it itself. ``published`` is a day,
    ``remark`` what to know before relying on it, ``doubt`` what a person has to decide first.
    """

    id: str
    url: str
    value_text: str
    benchmark: tuple[str, ...] = ()
    metric: str = ""
    pwc_task: str = ""
    unit: str = ""
    hub_dataset: str = ""
    hub_task: str = ""
    model_name: str = ""
    harness: str = ""
    evaluated_on: str = ""
    published: str = ""
    paper_title: str = ""
    source_url: str = ""
    remark: str = ""
    doubt: str = ""

    @classmethod
    def noted(cls, told: Mapping[str, Any]) -> Lead:
        """The lead that was noted as JSON."""
        return cls(**{**told, "benchmark": tuple(told["benchmark"])})


_TEXTS = frozenset(one.name for one in fields(Lead)) - {"benchmark"}


def lead_of(told: Mapping[str, Any], *benchmark: Any) -> Lead:
    """A lead from texts of somebody else's; what is no field of a lead is left out."""
    return Lead(
        benchmark=tuple(name for name in map(line, benchmark) if name),
        **{name: line(value) for name, value in told.items() if name in _TEXTS},
    )


def paper_address(arxiv_id: Any) -> str:
    """The address of a paper's abstract; empty without an id."""
    return f"https://arxiv.org/abs/{line(arxiv_id)}" if line(arxiv_id) else ""


def line(value: Any) -> str:
    """A value as a text of one line, without characters that no line shows; empty for None."""
    return "" if value is None else " ".join(_CONTROL.sub(" ", str(value)).split())
