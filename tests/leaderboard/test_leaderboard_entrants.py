"""Entrants: what charts show of a leaderboard, in one look."""

import pytest

from benchwright.leaderboard.entrants import entrants, pareto_front
from benchwright.leaderboard.style import shortened, shortened_apart


def test_entrants_are_the_leaderboards_rows_best_elo_first(evaluation):
    board = evaluation.subsets[0]

    field = entrants(board, evaluation.metadata, evaluation.new)

    assert [entrant.elo for entrant in field] == sorted(board.leaderboard["elo"], reverse=True)
    own = [entrant for entrant in field if entrant.new]
    assert {(e.method, e.family, e.source) for e in own} == {("LightGBM", "Tree-based", evaluation.new[0])}
    assert {e.variant for e in own} == {"default", "tuned", "tuned + ensemble"}
    row = board.leaderboard.loc[own[0].name]
    assert (own[0].label, own[0].improvability) == (row["method"], pytest.approx(100 * row["improvability"]))
    assert own[0].time_infer == row["median_time_infer_s_per_1K"]


def test_the_front_is_who_nobody_beats():
    assert pareto_front([(2.0, 5.0), (1.0, 1.0), (3.0, 5.0), (2.0, 4.0), (4.0, 6.0), (1.0, 1.0)]) == [1, 0, 4]
    assert pareto_front([]) == []


def test_a_long_name_is_cut_in_its_middle():
    assert shortened("a" * 32) == "a" * 32
    assert shortened("begin" + "x" * 50 + "end", 12) == "beginx…xxend"


def test_names_that_would_look_the_same_keep_what_tells_them_apart():
    names = ["a" * 25 + middle + "b" * 30 for middle in ("1", "2", "22")]

    cut = shortened_apart([*names, names[0], "short"])

    assert set(cut) == {*names, "short"}
    assert len(set(cut.values())) == 4
    assert all(len(short) <= len(name) for name, short in cut.items())
    assert cut["short"] == "short"
