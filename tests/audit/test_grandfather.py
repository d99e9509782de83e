"""The log of decisions: which rows it spares, and every line of it that is none."""

from __future__ import annotations

import pytest

from benchwright.audit.grandfather import read_grandfathered
from benchwright.contract import Exit, Failure

FORM = "ROW_ID YYYY-MM-DD REASON, a line for each row"
FIX = "correct the line, or put a # before it"


def test_rows_are_spared_by_lines_with_a_day_and_a_reason(tmp_path):
    log = tmp_path / "log"
    log.write_text("# on record\n\nR1 2026-02-28 ada: pushed before the gate\n  r2 2024-02-29 because\n")
    assert read_grandfathered(log) == {"r1", "r2"}


@pytest.mark.parametrize(
    "day", ["2026-13-45", "2026-02-30", "2025-02-29", "2026-00-10", "2026-10-00", "0000-01-01", "2026-04-31"]
)
def test_a_day_that_no_calendar_has_is_told_with_its_line(tmp_path, day):
    log = tmp_path / "log"
    log.write_text(f"r1 2026-09-02 good\nr2 {day} pushed before the gate\nr3 because\n")
    with pytest.raises(Failure) as caught:
        read_grandfathered(log)
    assert caught.value.exit is Exit.USAGE
    assert [problem.to_dict() for problem in caught.value.problems] == [
        {
            "code": "grandfather",
            "where": f"{log}: line 2",
            "found": f"no calendar has {day}",
            "expected": "a day",
            "fix": FIX,
        },
        {"code": "grandfather", "where": f"{log}: line 3", "found": "'r3 because'", "expected": FORM, "fix": FIX},
    ]
