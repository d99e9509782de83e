"""Figures: every method named and readable, the run's own unmistakable, whatever the input."""

import math
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from unittest import mock

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.entrants import entrants
from benchwright.leaderboard.evaluation import SubsetEvaluation
from benchwright.leaderboard.figures import write_figures
from benchwright.leaderboard.figures.canvas import Setting, drawing, save, wrapped
from benchwright.leaderboard.figures.pareto import pareto
from benchwright.leaderboard.figures.placement import Wish, place_names
from benchwright.leaderboard.figures.tuning_impact import tuning_impact
from benchwright.leaderboard.figures.winrate_matrix import winrate_matrix
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.style import NEW_COLOUR

PARETO = [
    f"pareto_front_{quality}_vs_time_{kind}" for quality in ("elo", "improvability") for kind in ("train", "infer")
]
FIGURES = ["tuning-impact-elo", "tuning-impact-elo-horizontal", "winrate_matrix", *PARETO]
KEYS = {
    "LightGBM": "GBM",
    "CatBoost": "CAT",
    "XGBoost": "XGB",
    "ExtraTrees": "XT",
    "RandomForest": "RF",
    "TabM": "TABM",
    "RealMLP": "REALMLP",
    "TabPFN-v2.6": "TABPFN",
    "LinearModel": "LR",
    "KNeighbors": "KNN",
}
TEN = list(KEYS)
VARIANTS = ("default", "tuned", "tuned + ensemble")


def subset(names: Sequence[str], *, new: int = 1, datasets: int = 20, **values: object) -> SubsetEvaluation:
    """A leaderboard: each third method has a default alone, the others all variants; ``values`` replaces columns."""
    random = np.random.default_rng(7)
    rows = []
    for at, name in enumerate(names):
        elo, train, infer = 1300 - 500 * at / len(names), 10 ** random.uniform(-1, 2), 10 ** random.uniform(-2, 1)
        for step, variant in enumerate(VARIANTS if at % 3 else VARIANTS[:1]):
            rows.append(
                {
                    "method": f"{name} ({variant})",
                    "method_subtype": variant.replace(" + ", "_"),
                    "ta_name": f"m{at}",
                    "ta_suite": "run" if at == new else "reference",
                    "elo": elo + step * random.uniform(-10, 60),
                    "elo+": random.uniform(20, 120),
                    "elo-": random.uniform(20, 120),
                    "improvability": 0.05 + 0.02 * at - 0.005 * step,
                    "improvability+": 0.01,
                    "improvability-": 0.01,
                    "median_time_train_s_per_1K": train * (40 if step else 1),
                    "median_time_infer_s_per_1K": infer * (1, 1.05, 8)[step],
                    "imputed": 0.0,
                }
            )
    board = pd.DataFrame(rows).assign(**values)
    board.index = [f"{row.method} @ {row.ta_suite}" for row in board.itertuples()]
    elo = board["elo"].to_numpy()
    winrates = 1 / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400))
    np.fill_diagonal(winrates, np.nan)
    matrix = pd.DataFrame(winrates, index=board.index, columns=board.index)
    return SubsetEvaluation(
        "full", board, pd.DataFrame(), matrix, dict(board["method"]), datasets, 3 * datasets, (), ()
    )


def metadata(board: SubsetEvaluation) -> dict[Source, MethodMetadata]:
    found = {}
    for row in board.leaderboard.itertuples():
        key = KEYS.get(row.method.rpartition(" (")[0], "FOO")
        found[row.ta_name, row.ta_suite] = MethodMetadata.config(method=row.ta_name, suite=row.ta_suite, ag_key=key)
    return found


def new_in(board: SubsetEvaluation) -> set[Source]:
    return {source for source in metadata(board) if source[1] == "run"}


def write(folder: Path, board: SubsetEvaluation, **options: object) -> list[Path]:
    return write_figures(folder, board, metadata(board), new_in(board), arena="Mini arena", **options)


def draw(name: str, board: SubsetEvaluation, *, focus_new: bool = True) -> Figure:
    field = entrants(board, metadata(board), new_in(board))
    setting = Setting("Mini arena", board.label, board.n_datasets, board.n_splits)
    if name.startswith("tuning"):
        return tuning_impact(field, setting, horizontal=name.endswith("horizontal"))
    if name == "winrate_matrix":
        return winrate_matrix(field, board.winrates, board.leaderboard, setting)
    quality, _, kind = name.removeprefix("pareto_front_").partition("_vs_time_")
    return pareto(field, setting, quality=quality, time=kind, focus_new=focus_new)


def drawn(figure: Figure) -> list[Text]:
    """The texts that a figure really draws: ticks beyond an axis' end are not."""
    seen: list[Text] = []
    original = Text.draw

    def record(text: Text, renderer: object) -> None:
        if text.get_visible() and text.get_text():
            seen.append(text)
        original(text, renderer)

    with mock.patch.object(Text, "draw", record):
        figure.draw_without_rendering()
    return seen


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in drawn(figure))


def boxed(figure: Figure) -> list[str]:
    """The texts in a box of the run's colour."""
    patches = {text.get_text(): text.get_bbox_patch() for text in drawn(figure)}
    return sorted(text for text, box in patches.items() if box and to_hex(box.get_edgecolor()) == NEW_COLOUR.lower())


def overlap(a: Bbox, b: Bbox) -> bool:
    """Whether two texts share more than the hair's breadth by which letters are rounded."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


def unreadable(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other, and texts that leave the canvas."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn(figure)]
    covered = [(a, b) for (a, box), (b, other) in combinations(boxes, 2) if overlap(box, other)]
    width, height = figure.bbox.size
    cut = [(a, "cut") for a, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > width + 1 or box.y1 > height + 1]
    return covered + cut


@pytest.fixture(autouse=True)
def look():
    with drawing():
        yield


def test_the_complete_set_of_ten_methods_is_written_in_time(tmp_path):
    start = time.process_time()

    files = write(tmp_path, subset(TEN))

    assert time.process_time() - start < 10
    assert files == [tmp_path / f"{name}.{kind}" for name in FIGURES for kind in ("pdf", "png")]
    assert sorted(files) == sorted(tmp_path.iterdir())
    for path in files:
        assert path.read_bytes().startswith(b"%PDF" if path.suffix == ".pdf" else b"\x89PNG")


def test_genuine_results_are_drawn_readably(evaluation):
    for board in evaluation.subsets:
        field = entrants(board, evaluation.metadata, evaluation.new)
        setting = Setting(evaluation.arena, board.label, board.n_datasets, board.n_splits)
        for figure in (
            tuning_impact(field, setting, horizontal=True),
            winrate_matrix(field, board.winrates, board.leaderboard, setting),
            pareto(field, setting, quality="elo", time="infer", focus_new=True),
        ):
            assert unreadable(figure) == []
            assert f"the local arena · {board.label} · " in words(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_of_ten_methods_every_name_is_there_and_none_covers_another(name):
    figure = draw(name, subset(TEN))

    assert unreadable(figure) == []
    said = words(figure)
    assert [method for method in TEN if method not in said] == []
    assert "Mini arena · full · 20 datasets, 60 splits" in said
    assert "No room" not in said
    if name in PARETO:
        shown = [text.get_text() for text in drawn(figure)]
        variants = [
            f"{method} ({v})"
            for at, method in enumerate(TEN)
            for v in ("default", "tuned", "T+E")[: 3 if at % 3 else 1]
        ]
        assert [label for label in variants if shown.count(label) != 1] == []


@pytest.mark.parametrize("name", ["tuning-impact-elo", "tuning-impact-elo-horizontal", "winrate_matrix"])
def test_sixty_methods_stay_readable(name):
    names = [f"{TEN[at % 10]}-{at}" for at in range(60)]

    figure = draw(name, subset(names))

    assert unreadable(figure) == []
    said = words(figure)
    assert [method for method in names if method not in said] == []


def test_names_that_find_no_room_among_140_points_are_told_below():
    board = subset([f"{TEN[at % 10]}-{at}" for at in range(60)], median_time_train_s_per_1K=1.0)

    figure = draw("pareto_front_elo_vs_time_train", board)

    assert unreadable(figure) == []
    said = words(figure)
    assert "No room for the name of:" in said
    labels = [label.replace("tuned + ensemble", "T+E") for label in board.leaderboard["method"]]
    assert [label for label in labels if label not in said] == []


@pytest.mark.parametrize("name", PARETO)
def test_the_runs_own_are_boxed_off_the_front_only_in_focus(name):
    own = ["CatBoost (T+E)", "CatBoost (default)", "CatBoost (tuned)"]
    worst = subset(TEN)
    rows = worst.leaderboard["ta_suite"] == "run"
    worst.leaderboard.loc[
        rows, ["elo", "improvability", "median_time_train_s_per_1K", "median_time_infer_s_per_1K"]
    ] = [[400 + step, 0.5 - step / 1000, 9000.0, 9000.0] for step in range(3)]

    assert boxed(draw(name, worst)) == own
    plain = draw(name, worst, focus_new=False)
    assert boxed(plain) == []
    assert [to_hex(text.get_color()) for text in drawn(plain) if text.get_text() == own[0]] == [NEW_COLOUR.lower()]


@pytest.mark.parametrize("name", FIGURES[:3])
def test_the_runs_own_name_stands_out(name):
    own = [text for text in drawn(draw(name, subset(TEN))) if text.get_text().startswith("CatBoost")]

    assert own
    assert all(text.get_fontweight() == "bold" and to_hex(text.get_color()) == NEW_COLOUR.lower() for text in own)


@pytest.mark.parametrize(("name", "axis"), [("tuning-impact-elo", 0), ("tuning-impact-elo-horizontal", 1)])
def test_no_two_variants_share_a_place(name, axis):
    board = subset(TEN, elo=1000.0)

    figure = draw(name, board)

    axes = figure.axes[0]
    marks = [line for line in axes.lines if line.get_marker() in {"o", "s", "D"}]
    places = sorted(
        line.get_window_extent().intervalx.mean() if axis == 0 else line.get_window_extent().intervaly.mean()
        for line in marks
    )
    assert len(places) == len(board.leaderboard)
    assert min(np.diff(places)) > 0.08 * figure.dpi


def test_an_interval_of_thousands_ends_in_an_arrow_and_leaves_the_points_apart():
    board = subset(TEN, **{"elo+": 5000.0, "elo-": 120.0})

    figure = draw("tuning-impact-elo-horizontal", board)

    low, high = figure.axes[0].get_xlim()
    assert high - low < 4 * (board.leaderboard["elo"].max() - board.leaderboard["elo"].min())
    arrows = [line for line in figure.axes[0].lines if line.get_marker() == ">"]
    assert len(arrows) == len(board.leaderboard)
    assert not [line for line in figure.axes[0].lines if line.get_marker() == "<"]
    assert "An arrow marks one that goes on beyond the axis; the widest spans 5,120 Elo." in words(figure)


def test_one_dataset_has_no_intervals_and_says_why():
    figure = draw("tuning-impact-elo", subset(TEN, datasets=1))

    assert all(len(line.get_xdata()) == 1 for line in figure.axes[0].lines)
    assert "No intervals: a single dataset leaves nothing to resample." in words(figure)
    assert "1 dataset, 3 splits" in words(figure)


def test_the_diagonal_is_blank_and_numbers_are_percent():
    board = subset(TEN[:2])

    figure = draw("winrate_matrix", board)

    name, other = "LightGBM (default) @ reference", "CatBoost (tuned + ensemble) @ run"
    numbers = sorted(text.get_text() for text in figure.axes[0].texts)
    assert numbers == sorted(f"{100 * board.winrates.loc[a, b]:.0f}" for a, b in ((name, other), (other, name)))


HOSTILE = [
    "cost $5 and $6",
    "under_score_%d",
    "Ünïcödé-βδ",
    "x^2 \\frac{1}{2}",
    "{brace}",
    "模型",
    "A" * 25 + "-one-" + "B" * 30,
    "A" * 25 + "-two-" + "B" * 30,
]
BAD = {
    "one method": subset(["LightGBM"], new=0),
    "two methods": subset(["LightGBM", "XGBoost"]),
    "equal scores": subset(TEN[:4], elo=1000.0, improvability=0.0),
    "one dataset": subset(TEN[:4], datasets=1),
    "infinite times": subset(TEN[:4], median_time_train_s_per_1K=math.inf, median_time_infer_s_per_1K=math.inf),
    "missing times": subset(TEN[:4], median_time_train_s_per_1K=math.nan, median_time_infer_s_per_1K=math.nan),
    "hostile names": subset(HOSTILE),
    "equal labels": subset(["LightGBM", "LightGBM", "XGBoost"]),
    "everything imputed": subset(TEN[:4], imputed=1.0),
    "some imputed": subset(TEN[:4], imputed=0.25),
    "nothing of this run": subset(TEN[:4], new=-1),
}


@pytest.mark.parametrize("name", [*FIGURES[:3], PARETO[-1]])
@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_drawn_readably(kind, name):
    figure = draw(name, BAD[kind])

    assert unreadable(figure) == []


def test_hostile_names_are_shown_letter_by_letter():
    for name in FIGURES:
        said = words(draw(name, BAD["hostile names"]))
        assert [text for text in HOSTILE[:6] if text not in said] == []
        assert "A-on…B" in said
        assert "A-tw…B" in said


@pytest.mark.parametrize(("name", "times"), [("train", "training"), ("infer", "inference")])
def test_without_any_time_the_figure_says_so(name, times):
    for kind in ("infinite times", "missing times"):
        said = words(draw(f"pareto_front_elo_vs_time_{name}", BAD[kind]))

        assert f"Nothing to show: no method has a positive, finite {times} time." in said
        assert "Not shown, no time: " in said
        assert "CatBoost (T+E)" in said


def test_who_has_no_time_or_is_imputed_is_told_below():
    board = subset(TEN[:3], imputed=[0.0, 0.25, 0, 0, 0, 0, 0])
    board.leaderboard.loc["LightGBM (default) @ reference", "median_time_train_s_per_1K"] = 0.0

    said = words(draw("pareto_front_elo_vs_time_train", board))

    assert "Not shown, no time: LightGBM (default)." in said
    assert "With imputed results: CatBoost (default) 25.0%." in said
    assert "Not shown" not in words(draw("pareto_front_elo_vs_time_infer", board))


def test_where_nobody_has_results_every_figure_says_so():
    for name in FIGURES:
        assert "Nothing to show" in words(draw(name, BAD["everything imputed"]))
    assert "a win rate needs two methods" in words(draw("winrate_matrix", BAD["one method"]))


def test_better_is_up_and_the_front_is_a_step_line():
    board = subset(TEN[:2])
    elo, improvability = draw(PARETO[0], board).axes[0], draw(PARETO[2], board).axes[0]

    assert elo.get_ylim()[0] < elo.get_ylim()[1]
    assert improvability.get_ylim()[0] > improvability.get_ylim()[1]
    for axes in (elo, improvability):
        assert axes.get_xscale() == "log"
        (front,) = (line for line in axes.lines if len(line.get_xdata()) > 2)
        steps = np.diff(np.column_stack(front.get_data()), axis=0)
        assert ((steps == 0).sum(axis=1) >= 1).all()
        assert (steps >= 0).all()


def test_files_are_the_same_each_time_whatever_the_users_settings(tmp_path):
    board = subset(TEN[:2])
    before = write(tmp_path / "a", board, formats=["png"])

    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "axes.facecolor": "black"}):
        settings = dict(matplotlib.rcParams)
        after = write(tmp_path / "b", board, formats=["png"])
        assert dict(matplotlib.rcParams) == settings

    for name in ("tuning-impact-elo", "winrate_matrix"):
        before += save(draw(name, board), tmp_path / "a", name, ["pdf", "svg"])
        after += save(draw(name, board), tmp_path / "b", name, ["pdf", "svg"])
    assert [a.name for a, b in zip(before, after, strict=True) if a.read_bytes() != b.read_bytes()] == []
    assert b"/Type3" not in (tmp_path / "a" / "winrate_matrix.pdf").read_bytes()


def test_without_formats_nothing_is_written(tmp_path):
    assert write(tmp_path, subset(TEN[:2]), formats=()) == []
    assert list(tmp_path.iterdir()) == []


def test_names_avoid_points_and_each_other_and_a_needed_one_always_gets_in():
    bounds = (0.0, 0.0, 3.0, 2.0)
    wish = Wish(1.5, 1.0, 0.8, 0.1, needed=False)
    point = (1.45, 0.95, 1.55, 1.05)

    places = place_names([wish] * 6, bounds, [point], [])
    boxes = [Bbox.from_extents(place.box) for place in places]
    assert places[0].leader is None
    assert places[-1].leader is not None
    assert not [1 for a, b in combinations(boxes, 2) if a.overlaps(b)]

    full = [(0.0, 0.0, 3.0, 2.0)]
    assert place_names([wish], bounds, full, []) == [None]
    (forced,) = place_names([Wish(1.5, 1.0, 0.8, 0.1, needed=True)], bounds, full, [])
    assert forced.box[0] > 1.5
    assert place_names([Wish(1.5, 1.0, 5.0, 0.1, needed=True)], bounds, [], []) == [None]


def test_text_is_wrapped_at_spaces_and_a_long_word_inside():
    lines = wrapped("a few words and " + "x" * 60, 9, 2.0)

    assert lines[0].startswith("a few words and")
    assert "".join(lines).replace(" ", "") == "afewwordsand" + "x" * 60
    assert wrapped("", 9, 2.0) == []
