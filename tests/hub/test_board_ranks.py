"""Ranks: predicted at worst, and seen; and the views that show them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.contract import Failure
from benchwright.hub.boards import Board, BoardRow, Boards
from benchwright.hub.links import ViewLink, read_link, view_link
from benchwright.hub.model_repo import model_repo
from benchwright.hub.ranks import Prediction, predicted_rank, predicted_view, ranks_everywhere, visible_view
from benchwright.hub.views import DEFAULT, VIEWS, WIDEST, View
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card

LOGIC = "bench-org/logic-1k"
values = st.integers(-50, 50).map(lambda n: Decimal(n) / 10)


def board_of(pairs, lower: bool | None) -> Board:
    rows = tuple(BoardRow(n, model, "org", value, "f") for n, (model, value) in enumerate(pairs, 1))
    return Board(LOGIC, "logic", WIDEST, rows, lower)


@given(st.lists(values, max_size=30), values, st.booleans(), st.one_of(st.none(), values))
def test_a_newcomer_stands_behind_its_equals_and_does_not_count_itself(others, value, lower, own):
    pairs = [(f"lab/m{n}", one) for n, one in enumerate(others)] + ([("Nova-AI/new", own)] if own is not None else [])
    board = board_of(pairs, lower)
    line = sorted([*others, value], reverse=not lower)
    last = len(line) - 1 - line[::-1].index(value)
    assert predicted_rank(board, value, "nova-ai/new") == last + 1
    worst = max(predicted_rank(board_of(pairs, way), value, "nova-ai/new") for way in (True, False))
    assert predicted_rank(board_of(pairs, None), value, "nova-ai/new") == worst


@pytest.mark.parametrize(
    ("rows", "value", "lower", "rank"),
    [
        (["7.03", "8", "9"], "6.05", True, 1),
        (["7.03", "6", "5"], "6.05", False, 2),
        (["44.90", "44.9"], "44.9", False, 3),
        ([], "5", None, 1),
        (["4", "4"], "5", None, 3),
    ],
)
def test_cases(rows, value, lower, rank):
    board = board_of([(f"lab/m{n}", Decimal(one)) for n, one in enumerate(rows)], lower)
    assert predicted_rank(board, Decimal(value), "nova-ai/new") == rank


@pytest.fixture
def model(emulator, hub):
    """Adds a model of so many thousand millions of parameters, built on ``base``, and reads it."""

    def add(name="nova-ai/nova-7b", size=7, base=None):
        files = {"README.md": card("Nova", **({"base_model": base} if base else {}))}
        emulator.add_model(name, files, parameters=None if size is None else {"BF16": int(size * 1e9)})
        return model_repo(hub, name)

    return add


def predict(boards, value, repo) -> tuple[View, int] | None:
    found = predicted_view(boards, LOGIC, "logic", Decimal(value), repo)
    return (found.view, found.rank) if found else None


def test_the_broadest_view_is_taken(boards, logic, peers, model, asked):
    peers(range(1, 50))
    repo = model()
    asked()
    assert predict(boards, "0.5", repo) == (DEFAULT, 50)
    assert len([target for target in asked() if "leaderboard" in target]) == 1
    assert predict(boards, "49", repo) == (DEFAULT, 2)


def test_a_result_outside_the_first_fifty_is_seen_among_models_of_its_size(boards, logic, peers, model):
    peers(range(10, 70), size=100)
    peers(range(5), size=7, lab="small-lab")
    assert predict(boards, "5.5", model()) == (View("32B"), 1)


def test_a_model_without_a_count_is_in_no_view_of_a_size(boards, logic, peers, model):
    peers(range(10, 70), size=100)
    assert predict(boards, "5.5", model(size=None)) is None


def test_a_wrong_count_puts_a_model_into_the_wrong_view(boards, logic, peers, model):
    peers(range(10, 70), size=100)
    peers(range(10, 70), size=2, lab="small-lab")
    assert predict(boards, "5.5", model("nova-ai/tmax-27b", size=0.0026)) == (View("1B"), 1)


@pytest.mark.parametrize("base", ["other-lab/base", "nova-ai/nova-7b"])
def test_a_model_with_a_base_is_in_views_without_the_toggle_alone(boards, logic, peers, model, base):
    peers(range(10, 21))
    assert predict(boards, "15.5", model(base=base)) == (WIDEST, 6)


def test_a_persons_model_is_nowhere(emulator, boards, logic, model):
    emulator.add_user("visitor")
    assert predict(boards, "99", model("visitor/own")) is None


def test_an_unknown_task_or_view_is_no_rank(emulator, boards, logic, model):
    repo = model()
    with pytest.raises(Failure):
        predicted_view(boards, LOGIC, "logic_overall", Decimal(5), repo)
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path="*/leaderboard", times=9)])
    with pytest.raises(Failure):
        predict(boards, "5", repo)


def test_an_unknown_direction_is_said(boards, logic, peers, model):
    peers([5])
    found = predicted_view(boards, LOGIC, "logic", Decimal(6), model())
    assert found == Prediction(DEFAULT, 2, None)


def test_a_prediction_among_equals_is_the_rank_that_comes(emulator, boards, logic, peers, model, result):
    peers([50] * 20 + [60, 40])
    predicted = predicted_view(boards, LOGIC, "logic", Decimal(50), model())
    files = {".eval_results/logic.yaml": result("50.0")}
    pull = emulator.open_pull_request(emulator.repo("nova-ai/nova-7b"), files, author="porter", title="Add")
    seen = visible_view(Boards(boards.hub), LOGIC, "logic", "nova-ai/nova-7b", Decimal("50"), pull_request=pull.num)
    assert (seen.view, seen.rank) == (predicted.view, predicted.rank) == (DEFAULT, 22)


class TestVisible:
    @pytest.fixture(autouse=True)
    def board(self, emulator, boards, logic, peers, result):
        peers(range(10, 70), size=100)
        self.repo = emulator.add_model("nova-ai/nova-7b", {"README.md": "x"}, parameters={"BF16": 7 * 10**9})
        files = {".eval_results/logic.yaml": result("5.50")}
        emulator.open_pull_request(self.repo, files, author="porter", title="Add")
        self.boards = boards

    def seen(self, value, **more):
        found = visible_view(self.boards, LOGIC, "logic", "nova-ai/nova-7b", Decimal(value), **more)
        return (found.view, found.rank) if found else None

    def test_this_value_from_there_is_seen_and_nothing_else(self):
        assert self.seen("5.5") == self.seen("5.5", pull_request=1) == (View("32B"), 1)
        assert self.seen("5.5", pull_request="main") is None
        assert self.seen("5.5", pull_request=2) is None
        assert self.seen("5.51") is None

    def test_none_is_proved_in_every_view(self, asked):
        asked()
        assert self.seen("5.51") is None
        assert len([target for target in asked() if "leaderboard" in target]) == 16

    def test_a_view_that_is_not_told_is_no_proof(self, emulator):
        emulator.fault = RuledFaults([FaultRule(Fault("error", status=502), path="*/leaderboard", skip=9, times=9)])
        with pytest.raises(Failure):
            self.seen("5.51")

    def test_a_merged_result_is_on_main(self, emulator):
        emulator.merge_pull_request(self.repo, 1)
        assert self.seen("5.5", pull_request="main") == (View("32B"), 1)
        assert self.seen("5.5", pull_request=1) is None

    def test_an_edit_of_a_file_on_main_shows_what_main_has(self, emulator, result):
        emulator.merge_pull_request(self.repo, 1)
        files = {".eval_results/logic.yaml": result("95")}
        emulator.open_pull_request(self.repo, files, author="porter", title="Correct")
        assert self.seen("95") is None
        assert self.seen("5.5") == (View("32B"), 1)

    def test_every_view_tells_its_own_rank(self):
        ranks = {
            one.view: one.row.rank if one.row else None
            for one in ranks_everywhere(self.boards, LOGIC, "logic", "nova-ai/nova-7b")
        }
        assert list(ranks) == list(VIEWS)
        assert (ranks[DEFAULT], ranks[View("128B")], ranks[View("12B", False)]) == (61, 61, 1)
        assert (ranks[View("6B")], ranks[View("1B", False)]) == (None, None)


@pytest.mark.parametrize(
    ("task", "view", "model", "query"),
    [
        ("logic", DEFAULT, None, "leaderboard_task_id=logic"),
        (
            "fixit_%_resolved",
            View("32B", False),
            "nova-ai/nova-7b",
            "eval_result=nova-ai/nova-7b&leaderboard_task_id=fixit_%25_resolved&leaderboard_max_params=32B"
            "&leaderboard_base_model=false",
        ),
        ("sum-arena/sums 2026&x=1", WIDEST, "a/b", None),
        ("50%41", View("1B"), "a/b", None),
    ],
)
def test_links_are_encoded_once_and_read_back(task, view, model, query):
    link = view_link("bench-org/logic-1k", task, view, model)
    assert link.startswith("https://huggingface.co/datasets/bench-org/logic-1k?")
    assert query is None or link.partition("?")[2] == query
    assert read_link(link) == ViewLink("bench-org/logic-1k", task, view, model)


@pytest.mark.parametrize(
    "url",
    [
        "https://huggingface.co/datasets/bench-org/logic-1k",
        "https://huggingface.co/datasets/bench-org/logic-1k?leaderboard_task_id=a&leaderboard_max_params=9B",
        "https://huggingface.co/bench-org/logic-1k?leaderboard_task_id=a",
        "https://huggingface.co/docs/hub/eval-results",
    ],
)
def test_other_addresses_are_no_views(url):
    assert read_link(url) is None
