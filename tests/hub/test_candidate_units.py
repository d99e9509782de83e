"""A lead's value in its board's unit: converted where something says so, mended where the board shows it, or asked."""

from __future__ import annotations

from decimal import Decimal

import pytest

from benchwright.hub.boards import Scale
from benchwright.hub.candidates.units import propose

PERCENT = Scale("percent", Decimal(30), Decimal(72))
FRACTION = Scale("fraction", Decimal("0.41"), Decimal("0.906"))
OTHER = Scale("other", Decimal(100), Decimal(3000))
UNTOLD = Scale(None)


@pytest.mark.parametrize(
    ("text", "scale", "more", "proposed"),
    [
        ("62.7", PERCENT, {}, "62.7"),
        ("62.70 %", PERCENT, {}, "62.70"),
        ("44.90", PERCENT, {}, "44.90"),
        ("62.7 ± 0.4", PERCENT, {}, "62.7"),
        ("1,234.5", OTHER, {}, "1234.5"),
        ("\u22120.5", Scale("other", Decimal(-3), Decimal(3)), {}, "-0.5"),
        ("90.6%", FRACTION, {}, "0.906"),
        ("90.6", FRACTION, {"unit": "percent"}, "0.906"),
        ("0.627", PERCENT, {"unit": "fraction"}, "62.7"),
        ("0.6270", PERCENT, {"convert": "x100"}, "62.70"),
        ("62.7", UNTOLD, {}, "62.7"),
    ],
)
def test_a_value_in_the_board_s_unit_keeps_its_digits(text, scale, more, proposed):
    found = propose(text, scale, **more)
    assert (found.text, found.mistaken, found.doubt) == (proposed, None, None)


@pytest.mark.parametrize(
    ("text", "scale", "more", "proposed", "mistaken"),
    [
        ("0.627", PERCENT, {}, "62.7", "has 0.627 where the board is in percent: 62.7"),
        ("0.627", PERCENT, {"unit": "percent"}, "62.7", "has 0.627 where the board is in percent: 62.7"),
        (
            "0.004",
            Scale("percent", Decimal("0.4"), Decimal(80)),
            {},
            "0.4",
            "has 0.004 where the board is in percent: 0.4",
        ),
        ("90.6", FRACTION, {}, "0.906", "has 90.6 where the board is in fractions: 0.906"),
        ("62.7", PERCENT, {"convert": "x100"}, "62.7", "has 62.7 where the board is in percent: 62.7"),
    ],
)
def test_a_value_that_fits_in_the_other_unit_alone_is_said_to_be_mistaken(text, scale, more, proposed, mistaken):
    found = propose(text, scale, **more)
    assert (found.text, found.mistaken, found.doubt) == (proposed, mistaken, None)


@pytest.mark.parametrize(
    ("text", "scale", "doubt"),
    [
        ("SOTA", PERCENT, "'SOTA' is no plain number"),
        ("", PERCENT, "'' is no plain number"),
        ("61/89", PERCENT, "'61/89' is no plain number"),
        ("9" * 5000, PERCENT, f"'{'9' * 60}' is no plain number"),
        ("180", PERCENT, "180 is outside of the board's scale, 30 to 72"),
        ("90600", FRACTION, "90600 is outside of the board's scale, 0.41 to 0.906"),
        ("9", OTHER, "9 is outside of the board's scale, 100 to 3000"),
        ("0.9", Scale("percent", Decimal("0.4"), Decimal(60)), "0.9 may be a fraction, or percent"),
        ("0.627", UNTOLD, "0.627 may be a fraction, or percent"),
    ],
)
def test_what_the_board_does_not_tell_is_for_a_person(text, scale, doubt):
    assert propose(text, scale).doubt == doubt
