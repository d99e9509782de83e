"""A subset's pages open from disk in a real browser, offline, and answer what is clicked."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.comparison import assemble, compare
from benchwright.leaderboard.entrants import entrants, pareto_front
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.pages import write_pages
from benchwright.leaderboard.pages.duels import duel_data
from benchwright.pages import embedded
from waiting import PATIENCE
from web_pages import Visitor, resize

BOARD, INFERENCE, TRAINING, WINRATES = PAGES = (
    "leaderboard.html",
    "pareto_front_explorer.html",
    "pareto_front_explorer_time_train.html",
    "winrate_explorer.html",
)
TITLES = {BOARD: "Leaderboard", INFERENCE: "Inference time", WINRATES: "Win rates"}
SCRIPT = "<script>alert(1)</script>"
QUOTED = "\"quoted\" & 'single' </script><!--<b>$x$ %{y}"
LONG = "L" * 60
KEYS = {SCRIPT: "XGB", QUOTED: "CAT", LONG: "TABM", "KNN": "KNN", "Unheard": "UNHEARD"}
VARIANTS = {"default": ("default", 1), "tuned": ("tuned", 30), "tuned_ensemble": ("tuned + ensemble", 40)}
OWN = (KEYS[SCRIPT], "run")
METADATA = {
    (key, "run"): MethodMetadata(
        method=key, suite="run", method_type="config", ag_key=key, model_key=key, display_name=name, compute="gpu"
    )
    for name, key in KEYS.items()
}


def made_results(published: pd.DataFrame) -> pd.DataFrame:
    """The published results, and those of made-up methods with names that do harm: RandomForest's, made worse."""
    forest = published[published["method"] == "RF (default)"]
    chance = np.random.default_rng(1)
    parts = [published]
    for at, (name, key) in enumerate(KEYS.items()):
        for subtype, (variant, slower) in VARIANTS.items():
            own = forest.assign(method=f"{key} ({variant})", method_subtype=subtype, config_type=key)
            own = own.assign(ta_name=key, ta_suite="run")
            own["metric_error"] *= np.exp(0.2 * chance.normal(size=len(own)) + 0.1 * at)
            own["time_train_s"] *= slower * 2.0**at
            own["time_infer_s"] *= 0.0 if name == "KNN" else slower / 3.0**at
            parts.append(own.head(5) if name == "Unheard" else own)
    return pd.concat(parts, ignore_index=True)


def rated(results: pd.DataFrame, arena, expression) -> SubsetEvaluation:
    own = (results["ta_name"] == OWN[0]) & (results["ta_suite"] == OWN[1])
    names = {source: method.display_name for source, method in METADATA.items()}
    field = assemble(results[~own], results[own], names, {OWN: SCRIPT})
    subset = compare(field, arena.tasks.select(expression), arena, label="some", n_bootstraps=20)
    assert isinstance(subset, SubsetEvaluation)
    return subset


def written(subset: SubsetEvaluation, folder: Path) -> Path:
    write_pages(folder, subset, METADATA, (OWN,), arena="Arena <1> & more")
    return folder


@pytest.fixture(scope="module")
def subset(published_input, arena) -> SubsetEvaluation:
    return rated(made_results(published_input), arena, [])


@pytest.fixture(scope="module")
def folder(subset, tmp_path_factory) -> Path:
    return written(subset, tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def visitor(browser, folder) -> Visitor:
    return Visitor(browser, folder)


def texts(found: Locator) -> list[str]:
    return [text.strip() for text in found.all_text_contents()]


def choose(page: Page, name: str, value: str) -> None:
    page.locator(f'label:has(input[name="{name}"][value="{value}"])').click()


def column(page: Page, heading: str) -> list[str]:
    at = [text.strip() for text in page.locator("#board thead th").all_text_contents()].index(heading) + 1
    return texts(page.locator(f"#board tbody tr > :nth-child({at})"))


def labels(page: Page, state: str = "") -> list[str]:
    return page.locator(f"#board tbody tr{state}").evaluate_all("rows => rows.map((row) => row.dataset.label)")


def own_labels(page: Page) -> list[str]:
    """The boxed labels of the run's methods in a chart, those that can be seen."""
    boxed = page.locator("#chart .annotation:visible", has=page.locator('rect[style*="stroke-width: 1.5px"]'))
    return [text for text in texts(boxed) if text.startswith("<script")]


def on_front(page: Page) -> set[str]:
    yes = page.locator("#points tbody tr:visible").filter(has=page.locator("td:nth-child(2)", has_text="yes"))
    return {text.removesuffix("this run").strip() for text in texts(yes.locator("th"))}


def test_the_pages_are_self_contained_files(subset, tmp_path):
    paths = write_pages(tmp_path / "new" / "some", subset, METADATA, (OWN,), arena="arena")

    assert [path.name for path in paths] == list(PAGES)
    assert sorted(path.name for path in (tmp_path / "new" / "some").iterdir()) == sorted(PAGES)
    for path in paths:
        page = path.read_text()
        assert "src=" not in page.split("plotly.js v")[0]
        assert ("plotly.js v" in page) == (path.name != BOARD)
        assert "http:" not in page.split("plotly.js v")[0]
        assert "https:" not in page.split("plotly.js v")[0]


def test_no_text_in_the_data_can_end_its_script_element():
    text = embedded({"name": "</script><!-- \u2028"})

    assert "<" not in text
    assert json.loads(text) == {"name": "</script><!-- \u2028"}


def test_the_data_has_no_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded([float("nan")])


@pytest.mark.parametrize("name", [BOARD, INFERENCE, WINRATES])
def test_a_page_fits_wide_and_narrow_screens(visitor, name):
    with visitor.visit(name) as page:
        for width in (1400, 400):
            resize(page, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("header").inner_text().startswith("Arena <1> & more · some")
            assert texts(page.locator("nav a[aria-current]")) == [TITLES[name]]
            assert page.locator(".landed li").count() == 3
            if name == INFERENCE:
                assert len(own_labels(page)) == 3
                box = page.locator("#chart .main-svg").first.bounding_box()
                assert box["x"] + box["width"] <= width


def test_the_links_lead_to_the_pages_and_tables_beside(folder):
    ours = [(folder / name).read_text().split("plotly.js v")[0] for name in PAGES]
    linked = {link for page in ours for link in re.findall(r'<a href="([^"]*)"', page)}

    assert linked == {*PAGES, "tabarena_leaderboard.csv", "results_per_split.csv", "winrate_matrix.csv"}


def test_the_table_sorts_by_click_and_by_key(visitor, subset):
    ranked = [entrant.label for entrant in entrants(subset, METADATA, (OWN,))]
    with visitor.visit(BOARD) as page:
        assert labels(page) == ranked
        elo = page.locator("#board thead th", has_text="Elo").first
        elo.get_by_role("button").click()
        assert elo.get_attribute("aria-sort") == "descending"
        elo.get_by_role("button").press("Enter")
        assert elo.get_attribute("aria-sort") == "ascending"
        numbers = [float(text) for text in column(page, "Elo")]
        assert numbers == sorted(numbers)
        model = page.locator("#board thead th", has_text="Model")
        model.get_by_role("button").press("Space")
        assert model.get_attribute("aria-sort") == "ascending"
        assert elo.get_attribute("aria-sort") is None
        assert all(label.startswith("Unheard") for label in labels(page)[-3:])


def test_missing_cells_sort_last_whichever_way(visitor, subset, tmp_path):
    board = subset.leaderboard.copy()
    board.iloc[2, board.columns.get_loc("median_time_train_s_per_1K")] = np.inf
    with visitor.open(written(dataclasses.replace(subset, leaderboard=board), tmp_path) / BOARD) as page:
        button = page.get_by_role("button", name="Train (s/1K)")
        for _ in range(2):
            button.click()
            assert column(page, "Train (s/1K)").index("—") == len(board) - 1


def test_the_runs_rows_stand_out_and_imputed_ones_say_so(visitor):
    with visitor.visit(BOARD) as page:
        own = page.locator("#board tr.new")
        assert own.evaluate_all("rows => rows.map((row) => row.dataset.label.split(' (')[0])") == [SCRIPT] * 3
        assert own.first.evaluate("row => getComputedStyle(row.cells[2]).fontWeight") == "700"
        unheard = page.locator("#board tbody tr", has_text="Unheard (default)")
        assert unheard.locator(".badge").inner_text() == "44.44% imputed"


def test_the_table_filters_by_name_and_family(visitor):
    with visitor.visit(BOARD) as page:
        page.fill("#search", "HEARD")
        assert labels(page, ":visible") and all("Unheard" in label for label in labels(page, ":visible"))
        assert page.locator("#status").inner_text() == f"3 of {len(labels(page))} rows"
        page.fill("#search", "no such method")
        assert page.locator("#nothing").is_visible()
        page.fill("#search", "")
        choose(page, "family", "new")
        assert not any(SCRIPT in label for label in labels(page, ":visible"))


@pytest.mark.parametrize(("name", "time"), [(INFERENCE, "time_infer"), (TRAINING, "time_train")])
def test_the_front_is_that_of_the_points_shown(visitor, subset, name, time):
    timed = [entrant for entrant in entrants(subset, METADATA, (OWN,)) if getattr(entrant, time) is not None]

    def front(shown: list, quality: str, better: int) -> set[str]:
        found = pareto_front([(getattr(entrant, time), better * getattr(entrant, quality)) for entrant in shown])
        return {shown[at].label for at in found}

    with visitor.visit(name) as page:
        assert on_front(page) == front(timed, "elo", 1)
        choose(page, "measure", "improvability")
        assert on_front(page) == front(timed, "improvability", -1)
        choose(page, "variant", "tuned + ensemble")
        choose(page, "family", "Tree-based")
        left = [e for e in timed if e.variant != "tuned + ensemble" and (e.new or e.family != "Tree-based")]
        assert 0 < len(left) < len(timed)
        assert on_front(page) == front(left, "improvability", -1)
        assert page.locator("#status").inner_text().startswith(f"{len(left)} of {len(timed)} points shown.")


def test_the_runs_methods_keep_their_labels_whatever_is_searched(visitor):
    with visitor.visit(TRAINING) as page:
        for search in ("", "knn", "no such method"):
            page.fill("#search", search)
            assert len(own_labels(page)) == 3
        page.fill("#search", "knn (tuned)")
        assert texts(page.locator("#points tr.match th")) == ["KNN (tuned)"]
        assert "KNN (tuned)" in texts(page.locator("#chart .annotation-text"))


def test_hovering_tells_everything(visitor, subset):
    own = next(entrant for entrant in entrants(subset, METADATA, (OWN,)) if entrant.new)
    with visitor.visit(TRAINING) as page:
        mark = page.locator("#chart .trace.scatter").last.locator(".points path").first
        mark.scroll_into_view_if_needed()
        at = mark.bounding_box()
        page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
        hover = page.locator("#chart .hovertext")
        hover.wait_for()
        told = hover.text_content()
    assert told.startswith(own.label)
    for fact in (
        f"Elo: {own.elo:.0f} (+",
        "Improvability: ",
        "Training: ",
        "Inference: ",
        "Imputed: none",
        "Hardware: GPU",
    ):
        assert fact in told


def test_what_is_not_shown_is_named_and_an_empty_chart_says_so(visitor):
    with visitor.visit(INFERENCE) as page:
        note = page.locator(".notes li", has_text="Not shown").inner_text()
        assert {name in note for name in ("KNN (default)", "KNN (tuned)", "KNN (tuned + ensemble)")} == {True}
        buttons = page.locator(".modebar-btn").evaluate_all("buttons => buttons.map((b) => b.dataset.title)")
        for family in page.locator('input[name="family"]:checked').evaluate_all("boxes => boxes.map((b) => b.value)"):
            choose(page, "family", family)
        assert page.locator("#nothing").is_visible()
    # Nothing among them that sends the chart away.
    assert buttons == ["Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]


def test_a_method_is_chosen_to_see_its_duels(visitor, subset):
    winrates = subset.winrates
    with visitor.visit(WINRATES) as page:
        assert page.locator("#method option:checked").inner_text() == f"{SCRIPT} (T+E) (this run)"
        page.select_option("#method", label="KNN (T+E)")
        rates = [float(text.rstrip("%")) for text in texts(page.locator(".duel .rate"))]
        assert rates == sorted(rates, reverse=True)
        expected = 100 * winrates.loc["KNN (tuned + ensemble)", f"XGB (tuned + ensemble) @ {OWN[1]}"]
        own = page.locator(".duel.new")
        assert float(own.locator(".rate").inner_text().rstrip("%")) == pytest.approx(expected, abs=0.5)
        assert own.get_attribute("title").startswith(f"KNN (T+E) beats {SCRIPT} (T+E) on ")
        own.press("Enter")
        assert page.locator("#method option:checked").inner_text() == f"{SCRIPT} (T+E) (this run)"


def test_a_row_of_the_heat_map_is_chosen_and_its_cells_read_as_sentences(visitor):
    with visitor.visit(WINRATES) as page:
        map_ = page.locator("#map .nsewdrag").bounding_box()
        count = page.locator("#method option").count()
        page.mouse.move(map_["x"] + map_["width"] * 1.5 / count, map_["y"] + map_["height"] * 0.5 / count)
        page.locator("#map .hovertext").wait_for()
        told = page.locator("#map .hovertext").text_content()
        page.mouse.down()
        page.mouse.up()
        expect(page.locator("#method")).to_have_value("0", timeout=1000 * PATIENCE)
        page.select_option("#method", label=f"{SCRIPT} (T+E) (this run)")
        first, second = (text.removesuffix(" (this run)") for text in texts(page.locator("#method option"))[:2])
    assert told.startswith(first)
    assert f"beats {second}" in told.replace("\n", "")
    assert told.endswith("% of splits")


def test_one_dataset_gives_no_intervals_and_the_pages_say_so(visitor, published_input, arena, tmp_path):
    folder = written(rated(made_results(published_input), arena, ["regression"]), tmp_path)

    for name in (BOARD, TRAINING):
        with visitor.open(folder / name) as page:
            assert "A single dataset leaves nothing to resample" in page.locator("footer").inner_text()
            assert "1 dataset, 3 splits; too few datasets" in page.locator("header").inner_text()
            table = page.locator("table").inner_text()
            assert "none" in table if name == BOARD else "(no interval)" in table


def test_methods_of_equal_scores_share_their_place(visitor, published_input, arena, tmp_path):
    forest = published_input[published_input["method"] == "RF (default)"]
    twin = forest.assign(method="RF2 (default)", config_type="RF2", ta_name="Twin", ta_suite="run")
    subset = rated(pd.concat([forest, twin]), arena, [])

    with visitor.open(written(subset, tmp_path) / BOARD) as page:
        assert column(page, "#") == ["1", "1"]
    assert duel_data(subset, entrants(subset, METADATA, ()))["rates"] == [[None, 50.0], [50.0, None]]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_entrants_have_nobody_to_beat(visitor, subset, tmp_path, count):
    names = list(subset.leaderboard.index[:count])
    few = dataclasses.replace(
        subset, leaderboard=subset.leaderboard.loc[names], winrates=subset.winrates.loc[names, names], positions=()
    )
    folder = written(few, tmp_path)

    for name in (BOARD, INFERENCE, WINRATES):
        with visitor.open(folder / name) as page:
            said = page.locator("main").inner_text()
            assert ("One entrant alone" if count else "No method has a result of its own here") in said
            if name == WINRATES:
                assert "Fewer than two methods stand here" in said
