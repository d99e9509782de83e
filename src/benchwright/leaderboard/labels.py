"""The names that people read: a method's display name, its suffix, and the variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchwright.contract import Problem, usage_error

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 80
Source = tuple[str, str]
"""Where rows come from: the method's artifact name and its suite."""


def method_label(display_name: str, override: str | None, suffix: str | None) -> str:
    """The label of one of the run's methods: the registry's display name or its override, and the result suffix.

    Raises:
        Failure: override or suffix is empty, too long, or has a line break, a slash or another control character,
            which table cells and folder names cannot hold (exit 2).
    """
    for field, text in (("display_name_override", override), ("result_suffix", suffix)):
        if text is not None and (not text.strip() or len(text) > _LONGEST or "/" in text or not text.isprintable()):
            raise usage_error(
                field, repr(text), f"1 to {_LONGEST} printable characters, none of them '/'", f"change {field}"
            )
    return (override if override is not None else display_name) + (suffix or "")


def row_labels(rows: pd.DataFrame, display: Mapping[Source, str]) -> dict[str, str]:
    """The label of each row's method, by the method's name in the frame.

    ``rows`` has one row per method: ``method``, ``variant`` (the name in the result tables), ``config_type``,
    ``method_type``, ``ta_name`` and ``ta_suite``. A family's variants are its label and the variant, "LightGBM
    (tuned)"; a baseline or portfolio is its label. A method that ``display`` does not know, and a single config,
    keep their name in the tables.
    """
    labels = {}
    for row in rows.itertuples():
        label = display.get((row.ta_name, row.ta_suite))
        family = row.config_type if isinstance(row.config_type, str) else None
        if label is None:
            labels[row.method] = row.variant
        elif family is not None and row.variant.startswith(f"{family} ("):
            labels[row.method] = label + row.variant.removeprefix(family)
        else:
            labels[row.method] = label if row.method_type in {"baseline", "portfolio"} else row.variant
    return labels


def equal_labels(labels: Mapping[str, str], sources: Mapping[str, Source], new: Mapping[Source, str]) -> list[Problem]:
    """A warning for each method of the run whose rows carry the label of another method's rows.

    ``labels`` and ``sources`` are by the methods' names in the frame; ``new`` maps the run's methods to the names of
    their ``EvalMethod``.
    """
    owners: dict[str, list[Source]] = {}
    for method, label in labels.items():
        owners.setdefault(label, []).append(sources[method])
    clashes: dict[tuple[Source, Source], str] = {}
    for label, holders in owners.items():
        for source in holders:
            for other in holders:
                if source in new and other != source and (other, source) not in clashes:
                    clashes.setdefault((source, other), label)
    return [
        Problem(
            "equal-labels",
            label,
            f"the label of this run's {source[0]} and of {other[0]} in suite {other[1]}",
            "a label of its own for each method",
            f'EvalMethod({new[source]!r}, result_suffix=" [Rerun]")',
        )
        for (source, other), label in clashes.items()
    ]
