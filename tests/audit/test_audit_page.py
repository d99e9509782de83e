"""The audit's page opens from disk in a real browser, offline, and shows what the facts and the folders say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Locator, Page
from report_cases import FINE, NASTY, SCRIPT, audited, nasty, of_job, unknown, with_errors

from benchwright.audit.error_bars import error_bars
from benchwright.audit.report_html import report_html
from benchwright.audit.report_words import visible
from benchwright.audit.score_marks import score_chart
from benchwright.audit.trial_cells import TrialCell, trial_cells
from benchwright.rehearsal.harbor_jobs import KINDS, grow_job
from web_pages import Visitor, overlaps, resize

DATA = Path(__file__).parents[1] / "data" / "harbor_jobs"
ALL = "eval-all-kinds-of-trials-20260901_120000"
PARTS = (
    *("nav a", ".choice", ".legend li", "#board thead th button", "#board tbody tr:first-child > *", ".ticks span"),
    *(
        ".bar-row",
        ".bar-row > *",
        "#details > *",
        "summary > *",
        ".halves > *",
        ".checks div",
        ".task",
        ".task > *",
        ".cell",
    ),
    *("details > *", "tbody tr", ".tools > *", "main > *", "header > *"),
)
"""What must not lie on its neighbour."""


class Reported:
    """The page of many evals, and what it was made of."""

    def __init__(self, folder: Path) -> None:
        kinds = list(KINDS)
        self.truth = grow_job(folder / "jobs" / ALL, kinds[: len(kinds) // 3 * 3])
        folders = [folder / "jobs" / ALL, *sorted(DATA.iterdir())]
        found = [of_job(path) for path in folders]
        jobs = {facts.run_tag: job for facts, job in found}
        errors = {"DaytonaError": 31, "AgentTimeoutError": 60}
        others = [nasty(), unknown("eval-dark"), with_errors("eval-bad", **errors), FINE]
        self.evals = audited(*(facts for facts, _ in found), *others)
        self.folder = folder / "reports"
        self.folder.mkdir()
        self.trials_of = lambda facts: trial_cells(jobs[facts.run_tag]) if facts.run_tag in jobs else None
        (self.folder / "audit.html").write_text(self.page())

    def page(self) -> str:
        return report_html(self.evals, trials_of=self.trials_of, at=self.folder)


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> Reported:
    return Reported(tmp_path_factory.mktemp("audit"))


@pytest.fixture(scope="module")
def visitor(browser, reported) -> Visitor:
    return Visitor(browser, reported.folder)


def written(folder: Path, page: str) -> Path:
    path = folder / "page.html"
    path.write_text(page)
    return path


def texts(found: Locator) -> list[str]:
    return [" ".join(text.split()) for text in found.all_text_contents()]


def opened(page: Page, tag: str) -> Locator:
    """An eval's details, opened by its link in the table."""
    row = page.locator("#board tbody tr").filter(has=page.get_by_text(tag, exact=True))
    page.evaluate("(id) => { location.hash = id; }", f"#{row.get_attribute('data-eval')}")
    details = page.locator(f"#{row.get_attribute('data-eval')}[open]")
    details.wait_for()
    return details


def test_the_page_is_one_file_and_the_same_one_each_time(reported) -> None:
    page = reported.page()

    assert page == (reported.folder / "audit.html").read_text()
    assert not re.search(r"https?:|\bsrc=|@import|url\(", page)


def test_a_page_fits_wide_and_narrow_screens_by_day_and_by_night(visitor) -> None:
    with visitor.visit("audit.html") as page:
        for tag in (ALL, "eval-dark", f"{SCRIPT}{visible(NASTY)}"):
            opened(page, tag)
        for width in (1400, 400):
            resize(page, width)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert overlaps(page, *PARTS) == []
        grounds = set()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(grounds) == 2


def test_the_table_shows_every_eval_with_its_marks_and_figures(visitor, reported) -> None:
    with visitor.visit("audit.html") as page:
        assert texts(page.locator("#board tbody th a")) == [visible(one.facts.run_tag) for one in reported.evals]
        bad = page.locator("#board tbody tr", has_text="eval-bad")
        cells = texts(bad.locator("td"))
        one = next(one for one in reported.evals if one.facts.run_tag == "eval-bad")
        assert cells[0] == one.judgement.verdict
        assert cells[1:5] == ["passes", "look", "passes", "fails"]
        assert cells[5:] == ["209", "91", "300", "0.3000", "10.3 fails", "100.0"]
        details = opened(page, "eval-bad")
        assert texts(details.locator(".checks dd")) == [
            f"{word}: {check.detail}" for word, (_, check) in zip(cells[1:5], one.judgement.checks.named(), strict=True)
        ]


def test_the_table_sorts_and_the_filter_goes_through_the_whole_page(visitor, reported) -> None:
    with visitor.visit("audit.html") as page:
        page.get_by_role("button", name="Score").first.click()
        assert page.locator("#board tbody tr").first.locator("td").nth(2).inner_text().strip() == "fails"
        page.get_by_role("button", name="Verdict").click()
        page.fill("#search", "EVAL-BAD")
        for part in ("#board tbody tr", ".bar-row[data-eval]", "#scores tbody tr", "#details > details"):
            assert page.locator(f"{part}:visible").count() == 1
        assert page.locator("#status").inner_text() == f"1 of {len(reported.evals)} evals"
        page.fill("#search", "")
        page.locator('label:has(input[value="OK"])').click()
        assert "eval-fine" not in texts(page.locator("#board tbody tr:visible th a"))
        page.fill("#search", "eval-fine")
        assert page.locator("#nothing").is_visible()


def test_the_heat_map_has_a_cell_for_each_trial_and_links_to_its_folder(visitor, reported) -> None:
    with visitor.visit("audit.html") as page:
        details = opened(page, ALL)
        cells = details.locator(".tasks a.cell")
        links = cells.evaluate_all("cells => cells.map((cell) => decodeURIComponent(cell.href))")
        looks = cells.evaluate_all("cells => cells.map((cell) => cell.className)")
        state = {
            Path(link.removeprefix("file://")): next(
                (name for name in look.split() if name not in ("cell", "told")), "valid"
            )
            for link, look in zip(links, looks, strict=True)
        }
        assert {path.name: state for path, state in state.items()} == reported.truth.states
        assert all(path.is_dir() for path in state)
        signs = Counter(texts(cells))
        assert signs["✕"] == reported.truth.count("corrupt")
        assert signs["∅"] == reported.truth.count("unscored")
        assert signs["·"] == reported.truth.count("missing")
        assert {"1", "0", ".38", "-.25", "2.5", ".25"} <= signs.keys()
        failed = details.locator('.cell[data-says*="DaytonaError"]').first
        failed.focus()
        assert details.locator(".told-of").inner_text() == failed.get_attribute("aria-label")
        assert re.search(
            r", attempt \d: unscored: DaytonaError, no rewards \(.*__\w{7}\)$", failed.get_attribute("aria-label")
        )


def test_tasks_can_be_ordered_by_what_they_lost(visitor) -> None:
    with visitor.visit("audit.html") as page:
        details = opened(page, ALL)
        by_name = texts(details.locator(".task > :first-child"))
        assert by_name == sorted(by_name)
        lost = {}
        for order in ("lost", "reward"):
            details.get_by_label("Order of the tasks").select_option(order)
            rows = details.locator(".task")
            lost[order] = rows.evaluate_all(
                "rows => rows.map((row) => row.querySelectorAll('.unscored, .corrupt, .missing').length)"
            )
        assert lost["lost"] == sorted(lost["lost"], reverse=True)
        assert lost["reward"][0] == lost["reward"][1] == 3


def test_names_that_do_harm_are_shown_as_names(visitor) -> None:
    with visitor.visit("audit.html") as page:
        details = opened(page, f"{SCRIPT}{visible(NASTY)}")
        rows = texts(details.locator("tbody tr td:first-child"))
        assert [" ".join(visible(NASTY).split())] * 2 == rows
        assert details.locator("li", has_text="</script>").count() == 1


def test_two_evals_of_one_run_are_told_apart_in_every_part(visitor, tmp_path: Path) -> None:
    several = [
        msgspec.structs.replace(with_errors("eval-two", DaytonaError=9), agent=name) for name in ("nop", "oracle")
    ]
    with visitor.open(written(tmp_path, report_html(audited(*several)))) as page:
        for part in ("#board tbody th a", ".bar-row[data-eval] a", "#scores tbody th a", "#details summary strong"):
            assert texts(page.locator(part)) == ["eval-two (nop)", "eval-two (oracle)"]


def test_bars_put_what_counts_before_what_is_benign(visitor) -> None:
    bars = error_bars(audited(with_errors("eval-bad", DaytonaError=30, AgentTimeoutError=60), FINE))
    (bar,) = bars.bars

    assert [(part.title, part.width, part.benign) for part in bar.parts] == [
        ("30 DaytonaError, counted", 33.333, False),
        ("60 AgentTimeoutError, benign", 66.667, True),
    ]
    assert (bars.gate, bars.most, bars.without) == (33.333, 30, 1)
    assert (bar.counted, bar.benign, bar.attempted) == (30, 60, 300)
    many = error_bars(audited(with_errors("eval-many", **{f"Odd{at}Error": 1 for at in range(9)})))
    assert [one.name for one in many.legend][-2:] == ["Odd6Error", "2 other names"]
    assert (many.most, error_bars(audited(with_errors("eval-most", DaytonaError=92))).most) == (20, 40)
    with visitor.visit("audit.html") as page:
        row = page.locator(".bar-row", has_text="eval-bad")
        assert (
            row.locator(".bar").get_attribute("aria-label") == "31 DaytonaError, counted; 60 AgentTimeoutError, benign"
        )
        assert texts(row.locator(".quiet")) == ["31 counted, 60 benign of 300"]


def test_scores_are_drawn_with_the_interval_that_is_open(tmp_path: Path) -> None:
    grow_job(tmp_path / "eval-job", ["pass", "fail", "no-sandbox", "timeout", "unheard-of", "unfinished"])
    chart = score_chart(
        audited(of_job(tmp_path / "eval-job")[0], with_errors("eval-bad", DaytonaError=30), unknown("dark"))
    )
    (own,) = (row for row in chart.rows if row.tag == "eval-job")

    assert (chart.low, chart.high) == (0.1, 0.7)
    assert [(value.name, value.text, value.at) for value in own.values] == [
        ("stored", "0.2000", 16.67),
        ("attempted", "0.2000", 16.67),
        ("valid", "0.5000", 66.67),
        ("planned", "0.1667", 11.11),
        ("likely", "0.3333", 38.89),
    ]
    assert (own.low, own.high, own.open) == (11.11, 94.44, "0.1667 to 0.6667")
    assert {(row.open, row.low) for row in chart.rows if row is not own} == {("not known", None)}
    assert score_chart(audited(msgspec.structs.replace(FINE, trials=None))).rows == []


def test_without_folders_the_page_says_that_it_has_no_heat_maps(visitor, tmp_path: Path) -> None:
    with visitor.open(written(tmp_path, report_html(audited(FINE)))) as page:
        assert "made from a file of facts, and no folder was read" in page.locator("#details").inner_text()
        assert page.locator(".heat").count() == 0
        assert page.locator("#details > details[open]").count() == 1  # the only one
    with visitor.open(written(tmp_path, report_html(audited(FINE), trials_of=lambda facts: None))) as page:
        assert "Its trials were not read one by one" in page.locator("#details").inner_text()


def test_a_page_of_nothing_says_so(visitor, tmp_path: Path) -> None:
    with visitor.open(written(tmp_path, report_html([]))) as page:
        assert "There was nothing to audit." in page.locator("main").inner_text()


def test_a_hundred_thousand_trials_stay_in_bounds(visitor, tmp_path: Path) -> None:
    cells = [
        TrialCell(f"astropy__astropy-{task}", at, "valid", float(task % 3 == 0), folder=f"/jobs/r/{task}__ab{at}")
        for task in range(34_000)
        for at in (1, 2, 3)
    ]
    page = report_html(audited(FINE), trials_of=lambda facts: cells, at=tmp_path)

    assert len(page) < 4_000_000 and "found no room" not in page
    with visitor.open(written(tmp_path, page)) as shown:
        assert shown.locator(".task").count() == 400
        shown.get_by_role("button", name="Show 400 more of 33600 tasks").click()
        assert shown.locator(".task").count() == 800
    short = report_html(audited(FINE), trials_of=lambda facts: cells[:300], at=tmp_path, most_bytes=4_000)
    assert len(short) < 60_000
    with visitor.open(written(tmp_path, short)) as shown:
        drawn = shown.locator(".task").count()
        assert f"{100 - drawn} tasks found no room on this page" in shown.locator(".heat").inner_text()
