"""Ranks over time: a CSV that later sweeps add to, and the page of rank lines in a real browser, offline."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page

from benchwright.contract import Failure
from benchwright.hub.sweep.rank_history import RankPoint, read_history, write_history
from benchwright.hub.sweep.rank_page import rank_boards, rank_page
from benchwright.hub.views import View
from waiting import wait_until
from web_pages import Visitor, overlaps, resize

SCRIPT = "<script>alert(1)</script>"
DRAWN_ANEW = "document.querySelector('.ranks svg').viewBox.baseVal.width < window.innerWidth"
WIDE, SMALL = View(None, False), View("32B")


def point(day: str, repo: str = "nova-ai/nova-27b", **more) -> RankPoint:
    told = {"dataset": "bench-org/logic-1k", "task": "logic", "benchmark": "Logic-1k", "value": "62.50"}
    told |= {"kind": "visible", "rank": 12, "view": View(), "widest": 31} | more
    return RankPoint(day, repo, told.pop("num", 3), **told)


def test_points_come_back_as_they_were(tmp_path):
    path = tmp_path / "ranks.csv"
    told = [
        point("2026-03-01", value='6,2."5', benchmark="Logic, 1k\n"),
        point("2026-03-01", "nova-ai/other", rank=None, view=None, widest=None, kind="invisible"),
        point("2026-03-02", view=SMALL),
        point("2026-03-02", "nova-ai/other", view=WIDE),
    ]
    assert read_history(path) == []
    assert write_history(path, [], reversed(told)) == told == read_history(path)
    assert path.read_text().splitlines()[0] == (
        "day,repo,num,dataset,task,benchmark,value,class,rank,max_params,base_only,rank_of_all"
    )


def test_a_later_sweep_of_the_day_takes_the_points_place(tmp_path):
    path = tmp_path / "ranks.csv"
    known = write_history(path, [], [point("2026-03-01"), point("2026-03-02", rank=48)])
    assert write_history(path, known, [point("2026-03-02", rank=50)]) == [known[0], point("2026-03-02", rank=50)]


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        ("day,repo\n", 1, "other columns"),
        ("", 0, "other columns"),
        ("{header}\n2026-03-01,nova-ai/nova,3\n", 2, "a line that no sweep writes"),
        ("{header}\n2026-13-01,a/b,3,c/d,t,T,1,visible,1,all,yes,1\n", 2, "a line that no sweep writes"),
        ("{header}\n2026-03-01,a/b,3,c/d,t,T,1,visible,1,2B,yes,1\n", 2, "a line that no sweep writes"),
        ("{header}\n2026-03-01,a/b,3,c/d,t,T,1,visible,1,all,maybe,1\n", 2, "a line that no sweep writes"),
        ("{header}\n2026-03-01,a/b,3,c/d,t,T,1,visible,1,all,yes,1,more\n", 2, "a line that no sweep writes"),
    ],
)
def test_another_file_is_refused(tmp_path, content, line, found):
    path = tmp_path / "ranks.csv"
    write_history(path, [], [])
    header = path.read_text().strip()
    path.write_text(content.format(header=header))
    with pytest.raises(Failure) as caught:
        read_history(path)
    (problem,) = caught.value.problems
    assert (caught.value.exit, problem.where, problem.found) == (2, f"{path}:{line}", found)


def test_boards_and_lines_stand_in_order():
    told = [
        point("2026-03-01", "nova-ai/gone", rank=None, view=None),
        point("2026-03-01", "nova-ai/best", rank=2),
        point("2026-03-01", rank=9),
        point("2026-03-02", rank=5),
        point("2026-03-01", benchmark="A Bench", dataset="bench-org/a", task="a"),
    ]
    first, second = rank_boards(told)
    assert (first.name, second.name) == ("A Bench", "Logic-1k")
    assert [line.last.repo for line in second.lines] == ["nova-ai/best", "nova-ai/nova-27b", "nova-ai/gone"]
    assert [line.rise for line in second.lines] == [0, 4, None]
    assert second.lines[1].pull_request == "https://huggingface.co/nova-ai/nova-27b/discussions/3"
    assert rank_page(told) == rank_page(list(reversed(told)))


def made_points() -> list[RankPoint]:
    """Two boards over five weeks: drifts, changes of the view, falls, arrivals, and names that do harm."""
    told = []
    names = ["nova-27b", "nova-7b", "shell-27b", SCRIPT, "w" * 90, *(f"model-{number}" for number in range(9))]
    for at, name in enumerate(names):
        for week in range(at % 3, 6):
            day = (date(2026, 3, 2) + timedelta(weeks=week)).isoformat()
            rank = 3 + 4 * at % 40 + week * (at % 4)
            hidden = {"rank": None, "view": None, "kind": "invisible"} if (at, week) == (1, 4) else {}
            told.append(
                point(day, f"nova-ai/{name}", **({"rank": rank, "view": View() if week < 3 else SMALL} | hidden))
            )
    told += [
        point("2026-03-02", f"nova-ai/{name}", benchmark=SCRIPT, dataset="bench-org/quest", task="a_%_b")
        for name in "ab"
    ]
    return told


@pytest.fixture(scope="module")
def visitor(browser, tmp_path_factory) -> Visitor:
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "ranks.html").write_text(rank_page(made_points()))
    (folder / "empty.html").write_text(rank_page([]))
    return Visitor(browser, folder)


def line_of(page: Page, board: str, name: str):
    row = page.locator(f"#{board} tbody tr", has_text=name)
    return page.locator(f"#{board} g.line[data-line='{row.get_attribute('data-line')}']")


def test_every_result_has_a_line_and_a_row(visitor):
    with visitor.visit("ranks.html") as page:
        boards = page.locator("section").evaluate_all("(all) => all.map((one) => one.id)")
        assert boards == ["board-1", "board-2"]
        assert [page.locator(f"#{board} g.line").count() for board in boards] == [2, 14]
        assert [page.locator(f"#{board} tbody tr").count() for board in boards] == [2, 14]
        line = line_of(page, "board-2", "nova-7b")
        assert (line.locator("circle").count(), line.locator("path.cross").count()) == (4, 1)
        assert line_of(page, "board-2", "shell-27b").locator("circle.ring").count() == 1
        tops = (
            line_of(page, "board-2", "nova-27b")
            .locator("circle")
            .evaluate_all("(all) => all.map((one) => one.cy.baseVal.value)")
        )
        assert len(set(tops)) == 1
        link = page.locator("#board-1 h2 a").get_attribute("href")
        assert link == (
            "https://huggingface.co/datasets/bench-org/quest?leaderboard_task_id=a_%25_b&leaderboard_base_model=false"
        )
        assert page.locator("#board-1 h2 a").inner_text() == SCRIPT
        assert overlaps(page, ".ranks text.end", "tbody tr", "header > *", "main > *", "nav a") == []


def test_a_row_shows_its_line_and_a_point_tells_of_itself(visitor):
    with visitor.visit("ranks.html") as page:
        row = page.locator("#board-2 tbody tr", has_text="shell-27b")
        row.hover()
        assert line_of(page, "board-2", "shell-27b").get_attribute("class").endswith("chosen")
        assert page.locator("#board-2 .said").inner_text().startswith("nova-ai/shell-27b, 62.50, 2026-04-06: number ")
        point = line_of(page, "board-2", "nova-7b").locator("path.cross").bounding_box()
        page.mouse.move(point["x"] + 4, point["y"] + 4)
        assert (
            page.locator("#board-2 .said").inner_text() == "nova-ai/nova-7b, 62.50, 2026-03-30: in no view's first 50"
        )
        page.mouse.move(5, 5)
        assert page.locator("g.line.chosen").count() == 0


def test_headings_sort(visitor):
    with visitor.visit("ranks.html") as page:
        page.get_by_role("button", name="Model").nth(1).click()
        names = page.locator("#board-2 tbody th a").all_inner_texts()
        assert names[0] == f"nova-ai/{SCRIPT}#3" and names[1] == "nova-ai/model-0#3"


@pytest.mark.parametrize("width", [320, 400, 900])
def test_other_screens(visitor, width):
    with visitor.visit("ranks.html") as page:
        resize(page, width)
        wait_until(lambda: page.evaluate(DRAWN_ANEW))
        assert page.locator("text.end").count() == (16 if width > 640 else 0)
        assert overlaps(page, ".ranks text.end", "tbody tr", "main > *", "nav a") == []


def test_a_page_without_points_says_so(visitor):
    with visitor.open(Path(visitor.folder / "empty.html")) as page:
        assert page.locator(".missing").inner_text() == "No sweep has seen a result on a board yet."
