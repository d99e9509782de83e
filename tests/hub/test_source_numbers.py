"""Numbers in texts: each as a whole, and what only looks like one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.hub.sources.numbers import numbers_in
from benchwright.hub.sources.page import plain, shown


def values(text: str) -> list[str]:
    """The numbers that stand for themselves."""
    return [str(one.value) for one in numbers_in(plain(text)) if not one.odd]


def odd(text: str) -> list[tuple[str, str]]:
    return [(one.text, one.odd) for one in numbers_in(plain(text)) if one.odd]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("9.36 and 19.365", ["9.36", "19.365"]),
        ("It is 62.7.", ["62.7"]),
        ("62.70 %", ["62.70"]),
        ("62.7%, 62.7\u00a0%, 62.7\\%", ["62.7", "62.7", "62.7"]),
        ("1,234.5 and 1,234,567", ["1234.5", "1234567"]),
        ("1\u202f234.5, 1\u00a0234.5, 1\u2009234.5, 1'234.5", ["1234.5"] * 4),
        ("58.3\u00a062.7", ["58.3", "62.7"]),
        ("0.5,0.6,62.7", ["0.5", "0.6", "62.7"]),
        ("**62.7** __62.7__ |62.7| [62.7] $62.7$", ["62.7"] * 5),
        ("\\mathbf{62.7} $62.7^{\\dagger}$ $62.7_{\\pm 0.4}$", ["62.7"] * 3),
        ("62.7±0.4, 62.7 ± 0.4, 62.7 +/- 0.4", ["62.7"] * 3),
        ("\u221262.7, (-62.7), \u201162.7", ["-62.7"] * 3),
        ("60.1\u201362.7 and 60.1-62.7", ["60.1", "62.7", "60.1", "62.7"]),
        ("\U0001d7d4\U0001d7d0.\U0001d7d5 \uff16\uff12.\uff17 \u0666\u0662.\u0667", ["62.7"] * 3),
        ("62\u200b.\u00ad7", ["62.7"]),
        (".627 of all", ["0.627"]),
        ("516s, 516 s, 62.7pts", ["516", "516", "62.7"]),
        ("58.3/62.7", ["58.3", "62.7"]),
        ("62.7² and 62.7†", ["62.7", "62.7"]),
        ("from 55.1 to 62.7", ["55.1", "62.7"]),
        ("Nova and Peer reach (62.7, 58.1)", ["62.7", "58.1"]),
        ("70.1 [62.7, 58.1]", ["70.1", "62.7", "58.1"]),
        ("https://nova.example/a 62.7", ["62.7"]),
        ("a latency of 62.7 seconds", ["62.7"]),
        ("$62.7^{+0.4}_{-0.3}$", ["62.7"]),
        ("Nova has 62.7% accuracy higher than all", ["62.7"]),
        ("62.7^{\\dagger} 62.7$^{1}$ 62.7\\textsuperscript{a}", ["62.7"] * 3),
    ],
)
def test_numbers_are_found_as_a_whole(text, found):
    assert values(text) == found


@pytest.mark.parametrize(
    ("text", "number", "why"),
    [
        ("62,7", "62,7", "a decimal comma"),
        ("62.7B", "62.7", "part of a name, or with another unit"),
        ("v62.7", "62.7", "part of a name, or with another unit"),
        ("GPT-4", "4", "part of a name, or with another unit"),
        ("5-shot", "5", "part of a name, or with another unit"),
        ("pass@62", "62", "part of a name, or with another unit"),
        ("62.7ms", "62.7", "part of a name, or with another unit"),
        ("3.2\u00d7 faster", "3.2", "part of a name, or with another unit"),
        ("+62.7", "62.7", "a difference"),
        ("62.7 pp", "62.7", "a difference"),
        ("62.7 percentage points", "62.7", "a difference"),
        ("50±0.4", "0.4", "the margin of another number"),
        ("10^5", "10", "the base of a power"),
        ("x²", "2", "raised or lowered"),
        ("a-2026", "2026", "part of a name, or with another unit"),
        ("60.1 [57.5, 62.7]", "62.7", "a bound of another number"),
        ("60.1 [57.5, 62.7]", "57.5", "a bound of another number"),
        ("60.1% (95% CI 57.5\u201362.7)", "62.7", "a bound of another number"),
        ("60.1 (95 % CI: [57.5, 62.7])", "62.7", "a bound of another number"),
        ("improves by 62.7 points", "62.7", "a difference"),
        ("by more than 62.7%", "62.7", "a difference"),
        ("a gain of 62.7 points", "62.7", "a difference"),
        ("62.7% relative improvement", "62.7", "a difference"),
        ("62.7 points higher", "62.7", "a difference"),
        ("62.7% absolute better", "62.7", "a difference"),
        ("62.7% accuracy gain", "62.7", "a difference"),
        ("60 (\u219162.7)", "62.7", "a difference"),
        ("\u0394 62.7", "62.7", "a difference"),
        ("it took 62.7 seconds", "62.7", "a time"),
        ("within about 62.7 s", "62.7", "a time"),
        ("see https://nova.example/62.7/logic", "62.7", "part of an address"),
        ("see www.nova.example/logic?at=62.7", "62.7", "part of an address"),
        ("$60_{0.4}$", "0.4", "raised or lowered"),
        ("$60^{+0.4}_{-0.3}$", "-0.3", "raised or lowered"),
    ],
)
def test_what_only_looks_like_a_value_says_why(text, number, why):
    assert (number, why) in odd(text)
    assert number not in values(text)


@pytest.mark.parametrize("text", ["2026-03-02", "12:30:59", "02/03/2026", "12:30"])
def test_dates_and_times_are_no_values(text):
    assert values(text) == []


@pytest.mark.parametrize("text", ["1.62.7", "62.7.1", "10.5.2026"])
def test_versions_hold_no_numbers(text):
    assert list(numbers_in(text)) == []


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("62.7†", "†"),
        ("62.7 %*", "*"),
        ("**62.7**", ""),
        ("*62.7*", ""),
        ("62.7²", "2"),
        ("62.7 [1]", "1"),
        ("62.7^*", "*"),
        ("$62.7^{\\ddagger}$", "‡"),
        ("**62.7**†", "†"),
        ("62.7", ""),
        ("62.7 \u2020", "†"),
        ("62.7 % †", "†"),
        ("62.7 (†)", "†"),
        ("62.7 *", "*"),
        ("62.7 * 2", ""),
        ("62.7 * and more", ""),
        ("62.7 ± 0.4†", "†"),
        ("62.7 (±0.4)*", "*"),
        ("62.7 [61.0, 64.4] †", "†"),
        ("62.7 (+1.2)†", "†"),
        ("62.7 / 100†", "†"),
        ("62.7†‡", "†‡"),
        ("62.7†,‡", "†,‡"),
        ("$62.7_{\\pm 0.4}^{\\dagger}$", "†"),
        ("62.7$^\\dagger$", "†"),
        ("62.7$^{1}$", "1"),
        ("62.7\\tnote{a}", "a"),
        ("62.7ᵃ", "a"),
        ("62.7⁺", "+"),
        ("62.7[^1]", "1"),
        ("62.7[^note-2]", "note-2"),
        ("62.7★", "★"),
        ("62.7%.¹", "1"),
        ("62.7.\n† a note", ""),
        ("62.7 §5", ""),
        ("62.7\n†", "†"),
    ],
)
def test_marks_of_notes_are_told_from_emphasis(text, marks):
    assert next(numbers_in(plain(text))).marks == marks


@pytest.mark.parametrize("text", ["~62.7", "≈ 62.7", "about 62.7", ">62.7", "up to 62.7", "$\\approx 62.7$"])
def test_what_is_not_exact_says_so(text):
    assert next(numbers_in(plain(text))).about


@given(st.decimals(min_value=0, max_value=9999, places=2), st.text(alphabet="0123456789.", min_size=1, max_size=3))
def test_a_number_is_never_found_within_a_longer_run_of_digits(number, more):
    written = f"{number:f}"
    for text in (f"{more.strip('.') or '1'}{written}", f"{written}{more.strip('.') or '1'}"):
        whole = Decimal(text) if text.count(".") < 2 else None
        assert [one.value for one in numbers_in(text)] in ([whole], [])


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text):
    told = plain(text)
    assert plain(told) == told or "\ue000" in told
    shown(told)
    for one in numbers_in(told):
        assert one.text and told[one.begin : one.end].lstrip("-\u2013") == one.text
