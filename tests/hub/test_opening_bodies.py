"""Bodies that are changed: links led elsewhere, lines and origins taken out, every other word as it was."""

from __future__ import annotations

import time

import pytest
from ported_pulls import LOGIC

from benchwright.hub.links import view_link
from benchwright.hub.opening.body import addresses, relinked
from benchwright.hub.opening.words import Told, body_for
from benchwright.hub.views import DEFAULT, View

LINK = "https://huggingface.co/datasets/bench-org/fixit?eval_result=nova-ai/nova&leaderboard_task_id=fixit_%25_resolved"
KEY = ("bench-org/fixit", "fixit_%_resolved")


@pytest.mark.parametrize(
    ("view", "line"),
    [
        (View("32B", False), f"- **[Fixit]({LINK}&leaderboard_max_params=32B&leaderboard_base_model=false)**"),
        (View(), f"- **[Fixit]({LINK})**"),
        (None, None),
    ],
)
def test_links_are_changed_and_every_other_word_stays(view, line):
    """A percent sign in a task's id stays encoded once; a line ending stays what it was."""
    first = f"Links:\r\n\n- **[Fixit]({LINK}&leaderboard_max_params=1B)**\n"
    rest = "- see https://huggingface.co/docs/hub/eval-results, or `x`  \n<!-- port-evals:0123456789ab -->"
    body = first + rest
    assert relinked(body, {KEY: view}) == "Links:\r\n\n" + (f"{line}\n" if line else "") + rest
    assert relinked(body, {("bench-org/other", "x"): None}) == body


def body_of(*told):
    """A body with a link to a task for each name and origin, and the keys of its boards."""
    links = [(LOGIC, f"task-{number}") for number, _ in enumerate(told)]
    words = [Told(name, view_link(*key, DEFAULT), origin) for key, (name, origin) in zip(links, told, strict=True)]
    return body_for(words, "0" * 12), links


CARD = 'the model card ("On CLIQuest it scores 38.75% for A, and C.")'


@pytest.mark.parametrize("gone", [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (0, 1, 2), (1, 2, 3), ()])
def test_the_sentence_of_origins_loses_what_is_dropped(gone):
    """What is left is the body of the others alone, but for its links."""
    told = [("A", CARD), ("CLIQuest 2.0", "Table 6 (_A_ and B)."), ("B*", CARD), ("C", "the blog")]
    body, keys = body_of(*told)
    left = [one for number, one in enumerate(told) if number not in gone]
    sentence = next(line for line in body_of(*left)[0].splitlines() if line.startswith("These results"))
    changed = relinked(body.replace("\n", "\r\n"), {keys[number]: None for number in gone})
    assert f"\r\n{sentence}\r\n" in changed
    assert changed.count("- **[") == len(left) and changed.endswith("\r\n<!-- port-evals:000000000000 -->")


@pytest.mark.parametrize(
    "told",
    [
        [("A", "the card"), ("B", "the card")],  # one origin, which names nothing
        [("A", "x for A and y"), ("B", "z")],  # reads in two ways
    ],
)
def test_a_sentence_of_origins_that_may_mean_something_else_stays(told):
    body, keys = body_of(*told)
    line = next(line for line in body.splitlines() if line.startswith("These results"))
    assert line in relinked(body, {keys[0]: None}).splitlines()
    by_hand = body.replace("These results were", "They were")
    assert "They were" in relinked(by_hand, {keys[0]: None})


def test_of_many_results_with_one_name_the_right_one_loses_its_origin():
    """Each could be any of the others': what cannot be read to the end is not tried."""
    told = [("A", f"Table {number}") for number in range(24)]
    body, keys = body_of(*told)
    started = time.process_time()
    changed = relinked(body, {keys[20]: None})
    assert time.process_time() - started < 5
    assert body_of(*told[:20], *told[21:])[0].splitlines()[-5] in changed.splitlines()


def test_a_sentence_that_would_take_long_to_read_stays():
    """Written over by hand, it reads in no way, and each origin has the name, too."""
    body, keys = body_of(*(("A", f"Table {number} for A") for number in range(24)))
    body = body.replace(" and ", ", ")
    started = time.process_time()
    changed = relinked(body, {keys[0]: None})
    assert time.process_time() - started < 5
    assert body.splitlines()[-5] in changed.splitlines()


def test_a_line_with_two_boards_stays_until_both_are_gone():
    other = "https://huggingface.co/datasets/bench-org/logic-1k?leaderboard_task_id=logic"
    body = f"[Fixit]({LINK}) and [Logic]({other})\n"
    assert relinked(body, {KEY: None}) == body
    assert relinked(body, {KEY: None, (LOGIC, "logic"): None}) == ""


def test_a_board_that_the_origin_writes_of_is_no_link_of_ours():
    told = Told("Fixit", f"{LINK}&leaderboard_max_params=1B", f"{LINK}, the row of Nova, [shown]({LINK})")
    body = body_for([told], "0" * 12)
    assert addresses(body) == {KEY: f"{LINK}&leaderboard_max_params=1B"}
    assert relinked(body, {KEY: None}) == body.replace(f"- **[Fixit]({LINK}&leaderboard_max_params=1B)**\n", "")
    assert relinked(body, {KEY: DEFAULT}) == body.replace("&leaderboard_max_params=1B", "")
