"""Leaderboards as they are read: each view once, directions, scales, and what is never taken for an empty board."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.boards import Board, BoardRow, Scale, direction
from benchwright.hub.ranks import predicted_rank
from benchwright.hub.views import DEFAULT, VIEWS, WIDEST, View
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import eval_file, results_file

LOGIC = "bench-org/logic-1k"


def board_of(values, lower=None) -> Board:
    rows = tuple(BoardRow(n, f"lab/m{n}", "org", Decimal(str(value)), "f") for n, value in enumerate(values, 1))
    return Board(LOGIC, "logic", WIDEST, rows, lower)


def test_there_are_sixteen_views_the_broadest_first():
    sizes = [None, "500B", "128B", "32B", "12B", "6B", "3B", "1B"]
    assert [(view.max_params, view.base_only) for view in VIEWS] == [(s, b) for s in sizes for b in (True, False)]
    assert (DEFAULT.query, WIDEST.query) == ({}, {"base_model": "false"})
    assert View("32B", False).query == {"max_params": "32B", "base_model": "false"}
    assert (str(DEFAULT), str(View("32B", False))) == ("all sizes, base models only", "up to 32B, all models")
    assert [view.breadth for view in VIEWS] == list(range(16))


@pytest.mark.parametrize(
    ("view", "parameters", "has_base", "shown"),
    [
        (DEFAULT, None, False, True),
        (DEFAULT, 7 * 10**9, True, False),
        (WIDEST, None, True, True),
        (View("32B"), None, False, False),
        (View("32B"), 32 * 10**9, False, True),
        (View("32B"), 32 * 10**9 + 1, False, False),
        (View("32B", False), 10**9, True, True),
        (View("1B", False), 2_600_000, True, True),
    ],
)
def test_a_view_shows_models_of_its_size_and_kind(view, parameters, has_base, shown):
    assert view.shows(parameters, has_base=has_base) is shown


def test_rows_say_whose_they_are_and_where_from(emulator, boards, logic, result):
    files = {".eval_results/logic.yaml": result("61.25", notes="no tools", url="https://example.org/paper")}
    emulator.add_model("nova-ai/nova-7b", files, parameters={"BF16": 7_600_000_000})
    other = emulator.add_model("nova-ai/nova-8b", {"README.md": "x"})
    emulator.open_pull_request(other, {".eval_results/logic.yaml": result(60)}, author="porter", title="Add")
    first, second = boards.board(LOGIC, "logic", DEFAULT).rows
    assert first == BoardRow(
        1,
        "nova-ai/nova-7b",
        "org",
        Decimal("61.25"),
        ".eval_results/logic.yaml",
        notes="no tools",
        parameters=7_600_000_000,
        source_url="https://example.org/paper",
    )
    assert (second.pull_request, second.parameters) == (1, None)


@pytest.mark.parametrize("verified_key", [True, False])
def test_a_row_need_not_say_that_it_is_not_verified(emulator, boards, logic, peers, verified_key):
    emulator.settings.verified_key = verified_key
    peers([1])
    assert [row.verified for row in boards.board(LOGIC, "logic").rows] == [False]


def test_each_view_is_asked_for_once_whoever_asks(emulator, boards, logic, peers, asked):
    peers([60, 50])
    threads = [threading.Thread(target=boards.board, args=(LOGIC, "logic", view)) for view in VIEWS * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    targets = [target for target in asked() if "leaderboard" in target]
    assert len(targets) == len(set(targets)) == 16
    boards.forget(LOGIC, "logic")
    boards.board(LOGIC, "logic")
    assert len([target for target in asked() if "leaderboard" in target]) == 1


def test_an_unknown_task_is_refused_and_its_board_is_not_asked_for(boards, logic, asked):
    with pytest.raises(Failure) as refused:
        boards.board(LOGIC, "logic_overall")
    assert (refused.value.exit, refused.value.problems[0].code) == (Exit.USAGE, "unknown-task")
    assert not [target for target in asked() if "leaderboard" in target]


def test_a_dataset_without_leaderboards_is_refused(emulator, boards):
    emulator.add_dataset("bench-org/almost", {"eval.yaml": eval_file("Almost", "almost")})
    with pytest.raises(Failure) as refused:
        boards.board("bench-org/almost", "almost")
    assert refused.value.problems[0].code == "not-official"


@pytest.mark.parametrize("task", ["fixit_%_resolved", "sum-arena/sums_2026", "50%41 & more", "größe"])
def test_ids_of_tasks_come_through_as_they_are(emulator, boards, task):
    emulator.add_dataset("bench-org/odd", {"eval.yaml": eval_file("Odd", "first", task)}, official=True)
    files = {".eval_results/odd.yaml": results_file("bench-org/odd", f"'{task}'", 5)}
    emulator.add_model("nova-ai/nova-7b", files)
    assert [row.model for row in boards.board("bench-org/odd", task).rows] == ["nova-ai/nova-7b"]
    assert boards.board("bench-org/odd", "first").rows == ()


def test_a_view_that_is_not_told_is_no_empty_board(emulator, boards, logic):
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path="*/leaderboard", times=3)])
    for _ in range(2):  # it is as unknown to the next who asks
        with pytest.raises(Failure) as failure:
            boards.board(LOGIC, "logic")
        assert failure.value.exit is Exit.REMOTE
    boards.forget(LOGIC, "logic")
    assert boards.board(LOGIC, "logic").rows == ()


def test_the_direction_is_the_tasks_also_in_views_that_do_not_show_it(emulator, boards, logic, peers):
    peers([5, 6, 7], "hard", size=100)
    peers([60, 50], "logic", size=100, lab="other-lab")
    small = View("1B", False)
    assert boards.board(LOGIC, "hard", small).rows == ()
    assert boards.board(LOGIC, "hard", small).lower_is_better is True
    assert boards.board(LOGIC, "logic", small).lower_is_better is False


@pytest.mark.parametrize(
    ("values", "said", "lower"),
    [
        ([], None, None),
        ([5], None, None),
        ([5, 5], None, None),
        ([5], True, True),
        ([5], False, False),
        ([7, 6, 6, 5], None, False),
        ([5, 6, 6, 7], None, True),
        ([5, 7, 6], None, None),
        ([5, 7, 5], None, None),
        ([7, 6], True, None),  # what the rows say and their order do not agree
        ([7, 6], False, False),
    ],
)
def test_directions_are_told_or_shown_or_unknown(values, said, lower):
    assert direction(board_of(values).rows, set() if said is None else {said}) is lower


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([], None),
        ([0], None),
        ([0.906, 0.7], "fraction"),
        ([72, 45, 30], "percent"),
        ([44.9, 0.4], "percent"),
        ([3000.5, 90], "other"),
        ([-5, 4], "other"),
        ([5, 0.4, 0.3], None),
    ],
)
def test_a_boards_unit_is_learned_from_its_values(values, unit):
    assert board_of(values).scale().unit == unit


@pytest.mark.parametrize(
    ("scale", "value", "fits"),
    [
        (Scale("percent", Decimal(30), Decimal(72)), "0.627", False),
        (Scale("percent", Decimal(30), Decimal(72)), "62.7", True),
        (Scale("percent", Decimal(30), Decimal(72)), "9.36", True),
        (Scale("percent", Decimal(30), Decimal(72)), "102", False),
        (Scale("percent", Decimal(30), Decimal(72)), "1", None),
        (Scale("percent", Decimal(30), Decimal(72)), "1.1", True),
        (Scale("percent", Decimal("0.4"), Decimal(72)), "0.5", None),
        (Scale("percent", Decimal(0), Decimal(72)), "0", True),
        (Scale("percent", Decimal("0.4"), Decimal(72)), "0.1", False),
        (Scale("fraction", Decimal("0.5"), Decimal("0.906")), "90.6", False),
        (Scale("fraction", Decimal("0.5"), Decimal("0.906")), "0.906", True),
        (Scale("other", Decimal(500), Decimal(3000)), "516", True),
        (Scale("other", Decimal(500), Decimal(3000)), "0.5", False),
        (Scale(None), "5", None),
    ],
)
def test_values_of_another_unit_do_not_fit(scale, value, fits):
    assert scale.fits(Decimal(value)) is fits


def test_tens_of_thousands_of_rows_are_read_and_ranked_at_once(emulator, boards, logic, monkeypatch):
    count = 40_000
    author = {"_id": "0", "name": "lab", "type": "org", "fullname": "Lab", "avatarUrl": "/a.svg"}
    told = [
        {"rank": n, "modelId": f"lab/m{n}", "author": author, "value": round(90 - n / 1000, 3), "filename": "f.yaml"}
        for n in range(1, count + 1)
    ]
    monkeypatch.setattr("benchwright.rehearsal.hub.boards.rows", lambda *_: told)
    begin = time.thread_time()
    board = boards.board(LOGIC, "logic")
    read = time.thread_time() - begin
    assert (len(board.rows), board.lower_is_better, board.rows[0].value) == (count, False, Decimal("89.999"))
    assert read < 2
    begin = time.thread_time()
    for n in range(2000):
        assert predicted_rank(board, Decimal("60.0005"), f"lab/m{n + 1}") == 29_999
    assert time.thread_time() - begin < 1


@pytest.mark.parametrize(
    ("told", "where"),
    [
        ([{"rank": 1}], "datasets/bench-org/logic-1k: logic, all sizes, all models"),
        (
            [{"rank": 1, "modelId": "a/b", "author": {}, "value": "5", "filename": "f"}],
            "datasets/bench-org/logic-1k: logic, all sizes, all models",
        ),
        ({"a": 1}, "datasets/bench-org/logic-1k"),
    ],
)
def test_rows_that_are_none_make_the_board_unknown(boards, logic, monkeypatch, told, where):
    monkeypatch.setattr("benchwright.rehearsal.hub.boards.rows", lambda *_: told)
    with pytest.raises(Failure) as failure:
        boards.board(LOGIC, "logic")
    (problem,) = failure.value.problems
    assert (failure.value.exit, problem.code, problem.where) == (Exit.REMOTE, "hub-unavailable", where)
