"""The table for a terminal: columns that stay columns, and names that are nothing but names."""

from __future__ import annotations

import msgspec
from report_cases import FINE, NASTY, OWN, audited, nasty, unknown, with_errors
from rich.cells import cell_len

from benchwright.audit.report_text import table
from benchwright.audit.report_words import visible


def test_a_row_an_eval_with_the_one_thing_to_do_under_it() -> None:
    partial = (msgspec.structs.replace(OWN, fails=True),)
    evals = audited(msgspec.structs.replace(with_errors("eval-bad", DaytonaError=31), rows=partial), FINE)
    bad = evals[0].judgement

    assert table(evals) == [
        "verdict            finished  score  traces  trials  valid/errored/expected  eval",
        "DEREGISTER+RESUME  ✅        ⚠️     ✅      ❌      269/31/300              eval-bad\n"
        f"    {bad.why}\n"
        f"    → {bad.actions[0].command}",
        "OK                 ✅        ✅     ✅      ✅      300/0/300               eval-fine",
    ]


def test_names_of_any_length_move_no_column() -> None:
    evals = audited(*(msgspec.structs.replace(FINE, run_tag=tag) for tag in ("x", "y" * 255)), unknown("eval-dark"))
    heading, *rows = (line.splitlines()[0] for line in table(evals))

    for row, one in zip(rows, evals, strict=True):
        before = row.removesuffix(one.facts.run_tag)
        assert cell_len(before) == cell_len(heading.removesuffix("eval"))


def test_two_evals_of_one_run_are_told_apart_by_their_agents() -> None:
    rows = table(audited(FINE, msgspec.structs.replace(FINE, agent="agent-2")))[1:]

    assert [row.splitlines()[0].partition("eval-fine")[2] for row in rows] == [" (agent-1)", " (agent-2)"]


def test_nothing_from_outside_steers_the_terminal() -> None:
    steering = msgspec.structs.replace(nasty(), run_tag=f"\x1b]0;owned\x07{NASTY}")
    text = "\n".join(table(audited(steering)))

    assert not {*text} & {"\x1b", "\x07", "\r", "\u202e"}
    assert visible(steering.run_tag) in text
