"""The closing block and the table: the places, intervals and marks that people report."""

import pandas as pd
import pytest

from benchwright.arena import MethodMetadata
from benchwright.leaderboard.comparison import assemble, compare
from benchwright.leaderboard.evaluation import Evaluation, SkippedSubset, SubsetEvaluation
from benchwright.leaderboard.position import positions
from benchwright.leaderboard.table import format_leaderboard

SUITE = "local-2026-11-29"
SYSTEM = ("DemoLogisticSystem", SUITE)
BOOSTER = ("LightGBM", SUITE)


@pytest.fixture(scope="module")
def evaluation(published_input, arena, tmp_path_factory) -> Evaluation:
    """Two of the published methods taken for the run's, over four subsets, one of them empty."""
    is_new = published_input["ta_name"].isin([SYSTEM[0], BOOSTER[0]])
    display = {("RandomForest", SUITE): "RandomForest", ("LinearModel", SUITE): "Linear"}
    new = {SYSTEM: "Demo", BOOSTER: "LightGBM"}
    field = assemble(published_input[~is_new], published_input[is_new], display, new)
    done = [
        compare(field, arena.tasks.select(names), arena, label="_".join(names) or "full", n_bootstraps=200)
        for names in ([], ["multiclass"], ["regression"], ["medium"])
    ]
    return Evaluation(
        benchmark_name="demo_30112026",
        arena=arena.title,
        output_dir=tmp_path_factory.mktemp("out"),
        subsets=tuple(s for s in done if isinstance(s, SubsetEvaluation)),
        skipped=tuple(s for s in done if isinstance(s, SkippedSubset)),
        metadata={
            SYSTEM: MethodMetadata.system(method=SYSTEM[0], suite=SUITE, verified=False),
            BOOSTER: MethodMetadata.config(method=BOOSTER[0], suite=SUITE, ag_key="GBM", compute="gpu"),
        },
        new=(SYSTEM, BOOSTER),
        problems=(),
        files=(),
    )


def test_the_block_to_the_letter(evaluation):
    assert evaluation.position_block() == [
        "Position of this run's methods",
        "full (3 datasets, 9 splits; too few datasets for a steady Elo)",
        "  Demo                         1 of 8  Elo 1256 (+1229/-47)  33.33% imputed (3 of 9 splits)",
        "  LightGBM (default)           5 of 8  Elo 1033 (+112/-1130)  11.11% imputed (1 of 9 splits)",
        "  LightGBM (tuned)             6 of 8  Elo 1006 (+171/-1327)  22.22% imputed (2 of 9 splits)",
        "  LightGBM (tuned + ensemble)  8 of 8  Elo 972 (+142/-1294)  11.11% imputed (1 of 9 splits)",
        "multiclass (1 dataset, 3 splits; too few datasets for a steady Elo)",
        "  Demo                         3 of 8  Elo 3853 (a single dataset gives no interval)",
        "  LightGBM (default)           5 of 8  Elo 1450 (a single dataset gives no interval)  "
        "33.33% imputed (1 of 3 splits)",
        "  LightGBM (tuned + ensemble)  6 of 8  Elo 1225 (a single dataset gives no interval)  "
        "33.33% imputed (1 of 3 splits)",
        "  LightGBM (tuned)             6 of 8  Elo 1225 (a single dataset gives no interval)  "
        "33.33% imputed (1 of 3 splits)",
        "regression (1 dataset, 3 splits; too few datasets for a steady Elo)",
        "  LightGBM (default)           5 of 7  Elo 638 (a single dataset gives no interval)",
        "  LightGBM (tuned)             6 of 7  Elo 594 (a single dataset gives no interval)  "
        "33.33% imputed (1 of 3 splits)",
        "  LightGBM (tuned + ensemble)  7 of 7  Elo 572 (a single dataset gives no interval)",
        "  Demo: no result of its own here",
        "medium: skipped, no split of the arena is in it",
    ]


def test_the_data_form_holds_the_same(evaluation):
    data = evaluation.to_dict()

    full = data["subsets"][0]
    assert (full["subset"], full["datasets"], full["splits"], full["methods"]) == ("full", 3, 9, 8)
    assert full["positions"][0] == {
        "label": "Demo",
        "place": 1,
        "of": 8,
        "elo": 1256.3,
        "elo_plus": 1229.0,
        "elo_minus": 47.2,
        "imputed_share": pytest.approx(1 / 3),
        "imputed_splits": 3,
        "n_splits": 9,
    }
    assert data["subsets"][1]["positions"][0]["elo_plus"] is None
    assert data["subsets"][2]["absent"] == ["Demo"]
    assert data["skipped"] == [{"subset": "medium", "reason": "no split of the arena is in it"}]


def board(*rows: tuple[str, float, float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    names = [name for name, _, _ in rows]
    table = pd.DataFrame(
        {"method": names, "elo": [r[1] for r in rows], "elo+": 1.0, "elo-": 2.0, "imputed": [r[2] for r in rows]},
        index=names,
    )
    results = pd.DataFrame(
        [(name, dataset, share == 1) for name, _, share in rows for dataset in ("a", "b")],
        columns=["method", "dataset", "imputed"],
    )
    return table, results


def test_methods_of_equal_elo_share_the_better_place():
    places = positions(*board(("a", 1000.0, 0), ("b", 1100.0, 0), ("c", 1000.0, 0)), ["a", "b", "c"])

    assert [(p.label, p.place, p.of) for p in places] == [("b", 1, 3), ("a", 2, 3), ("c", 2, 3)]


def test_methods_without_a_result_of_their_own_have_no_place_and_take_none():
    places = positions(*board(("a", 1000.0, 0), ("ghost", 1100.0, 1)), ["a", "ghost"])

    assert [(p.label, p.place, p.of) for p in places] == [("a", 1, 1)]


def test_the_table_in_plain_text(evaluation):
    table = evaluation.leaderboard_table("full")

    assert [" ".join(line.split()) for line in (table[0], table[1], table[5], table[-1])] == [
        "# Model Elo Elo 95% CI Score Rank Harmonic Rank Improvability (%) Median Train Time (s/1K) "
        "Median Predict Time (s/1K) Verified Imputed (%) Imputed Hardware",
        "* 1 Demo [33.33% IMPUTED] 1256 +1229/-47 0.587 2.89 1.72 18.743 1.05 0.100 no 33.33 yes CPU",
        "* 5 LightGBM (default) [11.11% IMPUTED] 1033 +112/-1130 0.000 5.17 4.36 36.688 14.38 0.644 yes 11.11 yes GPU",
        "* this run",
    ]
    column = table[0].index("Elo") + len("Elo")
    assert [line[column - 4 : column] for line in table[1:-1]] == [
        "1256",
        "1215",
        "1149",
        "1143",
        "1033",
        "1006",
        "1000",
        " 972",
    ]


def test_the_table_in_markdown_has_the_runs_rows_in_bold(evaluation):
    columns = {"#": "#", "Model": "Model", "Elo": "Elo", "Elo 95% CI": "95% CI", "Improvability (%)": "Impro%"}
    table = evaluation.leaderboard_table("full", columns=columns, markdown=True)

    assert table[:3] == [
        "| # | Model | Elo | 95% CI | Impro% |",
        "| ---: | :--- | ---: | :--- | ---: |",
        "| **1** | **Demo [33.33% IMPUTED]** | **1256** | **+1229/-47** | **18.743** |",
    ]
    assert table[3].startswith("| 2 | Linear (tuned + ensemble) | 1215 | ")


def test_a_table_without_intervals_says_so(evaluation):
    table = evaluation.leaderboard_table("multiclass", markdown=True)

    assert table[2].startswith("| 1 | Linear (tuned + ensemble) | ")
    assert all(" none " in line.replace("*", " ") for line in table[2:])


def test_a_long_table_is_cut_to_its_top_and_the_runs_rows(evaluation):
    full = evaluation.subsets[0].leaderboard

    table = format_leaderboard(full, {}, new=[BOOSTER], top=2)

    assert [line.split()[0] for line in table] == ["#", "1", "2", "*", "*", "*", "*"]


def test_a_method_that_is_imputed_throughout_is_not_shown(evaluation):
    full = evaluation.subsets[0].leaderboard.copy()
    full.loc[full["method"] == "Linear (tuned)", "imputed"] = 1.0

    table = format_leaderboard(full, {})

    assert len(table) == 8
    assert not any("Linear (tuned) " in line for line in table)
