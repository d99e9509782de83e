"""The report in Markdown, and the families that charts colour by."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from leaderboard_data import LocalArena, local_arena
from leaderboard_runs import evaluate

from benchwright.arena import MethodMetadata
from benchwright.contract import Problem
from benchwright.leaderboard import EvalMethod
from benchwright.leaderboard.families import FAMILIES, family_of
from benchwright.leaderboard.report import report_markdown


def drawn(evaluation, *names):
    return [evaluation.folder(subset) / name for subset in evaluation.subsets for name in names]


def test_the_report_goes_from_the_place_to_what_is_behind_it(evaluation):
    files = drawn(evaluation, "pareto_front_elo_vs_time_infer.png", "winrate_matrix.pdf", "leaderboard.html")

    report = report_markdown(evaluation, files)

    headings = [line for line in report.splitlines() if line.startswith("#")]
    assert headings == [
        "# LightGBM on the local arena",
        "## Where it landed",
        "## Leaderboard full",
        "## Figures and pages",
        "## What the numbers hide",
    ]
    best = evaluation.subsets[0].positions[0]
    place = f"LightGBM (default), {best.place} of 7, Elo {best.elo:.0f} ("
    assert f"- **full** (3 datasets, 9 splits; too few datasets for a steady Elo): {place}" in report
    assert "- **medium**: skipped, no split of the arena is in it" in report
    assert report.count("| **LightGBM (") == 3
    assert "![Elo against inference time](subsets/full/pareto_front_elo_vs_time_infer.png)" in report
    assert report.count("![") == 1
    assert (
        "  - [subsets/regression/winrate_matrix.pdf](subsets/regression/winrate_matrix.pdf): who beats whom" in report
    )
    assert "  - [subsets/full/leaderboard.html](subsets/full/leaderboard.html): the table, to sort and filter" in report


def test_each_row_of_the_run_is_named_between_its_neighbours(evaluation):
    board = evaluation.subsets[0].leaderboard.sort_values("elo", ascending=False)
    others = board[board["ta_suite"] != evaluation.new[0][1]]

    lines = [line for line in report_markdown(evaluation, []).splitlines() if " stands between " in line]

    assert len(lines) == 3
    for line in lines:
        label = line.partition("**")[2].partition("**")[0]
        elo = board.loc[board["method"] == label, "elo"].iloc[0]
        above, below = others[others["elo"] >= elo], others[others["elo"] < elo]
        expected = (
            f"{above['method'].iloc[-1]} ({above['elo'].iloc[-1] - elo:.0f} Elo above)" if len(above) else "the top"
        )
        assert expected in line
        expected = (
            f"{below['method'].iloc[0]} ({elo - below['elo'].iloc[0]:.0f} Elo below)" if len(below) else "the bottom"
        )
        assert expected in line


def test_what_the_numbers_hide_is_listed_and_cannot_break_the_markup(evaluation):
    hiding = replace(evaluation, problems=(Problem("odd", "a|b", "<b> *three* [files]"),))

    assert "- a\\|b: \\<b\\> \\*three\\* \\[files\\]" in report_markdown(hiding, [])


def test_small_subsets_are_called_unsteady_where_their_place_is(evaluation):
    report = report_markdown(evaluation, [])

    assert "- **regression** (1 dataset, 3 splits; too few datasets for a steady Elo): LightGBM" in report
    assert "- LightGBM: its tuned rows choose from 6 configs; other methods may have more." in report


def test_a_rehearsal_and_a_part_are_called_so(booster, tmp_path):
    spec = dataclasses.replace(local_arena(), name="mini")

    lite = evaluate(
        booster, EvalMethod("LightGBM"), arena=LocalArena(spec), task_subset=["lite"], figure_output_dir=tmp_path
    )

    assert lite.notes[:2] == (
        "the local arena is a rehearsal: its small tasks are no evidence about a model.",
        "The run is on a part of the local arena: 3 of 9 splits.",
    )


def test_an_evaluation_without_a_leaderboard_still_says_why(evaluation):
    report = report_markdown(replace(evaluation, subsets=()), [])

    assert "skipped, no split of the arena is in it" in report
    assert "## Leaderboard" not in report


@pytest.mark.parametrize(
    ("key", "family"),
    [
        ("GBM", "Tree-based"),
        ("XGB [Rerun]", "Tree-based"),
        ("TA-TabICLv2", "Foundation Model"),
        ("TABPFN-V2.6", "Foundation Model"),
        ("TA-TABM", "Neural Network"),
        ("LR", "Baseline"),
        ("LRX", "Other"),
        ("SOMETHING", "Other"),
    ],
)
def test_a_model_key_tells_the_family(key, family):
    assert family_of(MethodMetadata.config(method="m", suite="s", ag_key=key)) == family


def test_systems_say_so_themselves_and_strangers_are_other():
    assert family_of(MethodMetadata.system(method="CatBoost", suite="s")) == "System"
    assert family_of(None) == FAMILIES[-1]
