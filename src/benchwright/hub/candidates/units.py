"""Units: what a lead's value would be on its board, by what is said of its unit and by the board's own values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from benchwright.hub.boards import Scale
from benchwright.hub.candidates.mapping import Conversion
from benchwright.hub.sources.page import plain

NUMBER = re.compile(
    r"([-+]?(?:\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.\d+)?)\s*(%?)(?:\s*(?:±|\+/-|\+-)\s*\d*\.?\d+\s*%?)?", re.ASCII
)
"""A number as sources print it, with a percent sign, and how exact it is."""
_LONGEST = 60
_SHIFTS: dict[Conversion, int] = {"none": 0, "x100": 2, "/100": -2}
_WORDS = {shift: word for word, shift in _SHIFTS.items()}
_BY_UNIT = {("fraction", "percent"): 2, ("percent", "fraction"): -2}
"""Of the decimal point, from the unit of the source to that of the board."""


@dataclass(frozen=True)
class Proposal:
    """A value in the board's unit. ``text`` has the source's digits, with the point moved; None: there is no number.

    ``mistaken`` says that the source's value is not in the unit that it is said to be in. ``doubt`` is what a person
    has to decide, ``note`` what one should know.
    """

    text: str | None
    conversion: Conversion = "none"
    mistaken: str | None = None
    doubt: str | None = None
    note: str | None = None

    @property
    def value(self) -> Decimal | None:
        """The number."""
        return None if self.text is None else Decimal(self.text)


def propose(value_text: str, scale: Scale, *, convert: Conversion = "none", unit: str = "") -> Proposal:
    """The value that a board of this scale would have for a text such as ``62.7``, ``62.70 %`` or ``0.627``.

    ``convert`` is what the mapping says, ``unit`` what the source says of its values: percent, fraction, or whatever.
    A value that then does not look like one of the board's, and does in the other unit, is proposed in that.
    """
    match = NUMBER.fullmatch(plain(value_text)) if len(value_text) < _LONGEST else None
    if match is None:
        return Proposal(None, doubt=f"{value_text[:_LONGEST]!r} is no plain number")
    number = Decimal(match[1].replace(",", ""))
    told = "percent" if match[2] else unit.strip().lower()
    shift = _SHIFTS[convert] or _BY_UNIT.get((told, scale.unit or ""), 0)
    value, fits = number.scaleb(shift), scale.fits(number.scaleb(shift))
    if fits is False:
        return _in_other_unit(value_text, number, shift, scale)
    doubt = note = None
    if scale.unit is None:
        note = "the board's values do not tell its unit"
    if scale.is_ambiguous(value) and not match[2]:
        doubt = f"{_digits(value)} may be a fraction, or percent"
    return Proposal(_digits(value), _WORDS[shift], doubt=doubt, note=note)


def _in_other_unit(value_text: str, number: Decimal, shift: int, scale: Scale) -> Proposal:
    away = {"percent": 2, "fraction": -2}.get(scale.unit or "", 0)
    fitting = [
        other for other in dict.fromkeys((0, away)) if other != shift and scale.fits(number.scaleb(other)) is not False
    ]
    if len(fitting) == 1:
        text = _digits(number.scaleb(fitting[0]))
        unit = "percent" if scale.unit == "percent" else "fractions"
        return Proposal(text, _WORDS[fitting[0]], f"has {value_text} where the board is in {unit}: {text}")
    doubt = f"{_digits(number.scaleb(shift))} is outside of the board's scale, {scale.low} to {scale.high}"
    return Proposal(_digits(number.scaleb(shift)), _WORDS[shift], doubt=doubt)


def _digits(number: Decimal) -> str:
    return f"{number:f}"
