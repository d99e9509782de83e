"""What people read: display name, override, suffix and variant, and a warning where two methods read the same."""

import pandas as pd
import pytest

from benchwright.contract import Exit, Failure
from benchwright.leaderboard.labels import equal_labels, method_label, row_labels

RUN = ("XGBoost", "xgboost_30112026")
HOSTED = ("XGBoost", "arena-2026")
SYSTEM = ("AutoGluon_v16", "arena-2026")


def rows(*entries: tuple[str, str, str | None, str, tuple[str | None, str | None]]) -> pd.DataFrame:
    columns = ["method", "variant", "config_type", "method_type", "ta_name", "ta_suite"]
    return pd.DataFrame([(*entry[:4], *entry[4]) for entry in entries], columns=columns)


def test_a_method_is_labelled_by_its_display_name():
    assert method_label("Xiaomi-TabLDM", None, None) == "Xiaomi-TabLDM"


def test_an_override_takes_the_display_names_place_and_a_suffix_follows():
    assert method_label("XGBoost", "XGBoost 3", " [Rerun]") == "XGBoost 3 [Rerun]"


@pytest.mark.parametrize("text", ["", "  ", "a/b", "a\nb", "a\x1b[1m", "x" * 81])
def test_a_suffix_that_cells_and_folders_cannot_hold_is_wrong_usage(text):
    with pytest.raises(Failure) as caught:
        method_label("XGBoost", None, text)

    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        f"result_suffix: {text!r}, expected 1 to 80 printable characters, none of them '/'\n"
        "    fix: change result_suffix"
    )


def test_variants_read_as_the_label_and_the_variant():
    labels = row_labels(
        rows(
            ("GBM (default)", "GBM (default)", "GBM", "config", ("LightGBM", "s")),
            ("GBM (tuned + ensemble) (4h)", "GBM (tuned + ensemble) (4h)", "GBM", "hpo", ("LightGBM", "s")),
            ("XGB (default) @ r", "XGB (default)", "XGB", "config", RUN),
            ("AG @ r", "AG", None, "baseline", SYSTEM),
            ("LightGBM_c1_BAG_L1", "LightGBM_c1_BAG_L1", "GBM", "config", ("LightGBM", "s")),
            ("Unknown (default)", "Unknown (default)", "Unknown", "config", (None, None)),
        ),
        {("LightGBM", "s"): "LightGBM", RUN: "XGBoost", SYSTEM: "AutoGluon 1.6"},
    )

    assert labels == {
        "GBM (default)": "LightGBM (default)",
        "GBM (tuned + ensemble) (4h)": "LightGBM (tuned + ensemble) (4h)",
        "XGB (default) @ r": "XGBoost (default)",
        "AG @ r": "AutoGluon 1.6",
        "LightGBM_c1_BAG_L1": "LightGBM_c1_BAG_L1",
        "Unknown (default)": "Unknown (default)",
    }


def test_equal_labels_are_a_warning_once_a_method():
    labels = {"XGB (default)": "XGBoost (default)", "XGB (tuned)": "XGBoost (tuned)", "RF (default)": "RF (default)"}
    sources = {"XGB (default)": HOSTED, "XGB (tuned)": HOSTED, "RF (default)": ("RandomForest", "arena-2026")}
    labels |= {"XGB (default) @ r": "XGBoost (default)", "XGB (tuned) @ r": "XGBoost (tuned)"}
    sources |= {"XGB (default) @ r": RUN, "XGB (tuned) @ r": RUN}

    (problem,) = equal_labels(labels, sources, {RUN: "XGBoost"})

    assert problem.code == "equal-labels"
    assert str(problem) == (
        "XGBoost (default): the label of this run's XGBoost and of XGBoost in suite arena-2026, "
        "expected a label of its own for each method\n"
        "    fix: EvalMethod('XGBoost', result_suffix=\" [Rerun]\")"
    )


def test_reference_methods_of_equal_label_are_not_the_runs_business():
    labels = {"a": "TabPFN", "b": "TabPFN"}
    sources = {"a": ("TabPFN", "s1"), "b": ("TabPFN", "s2")}

    assert equal_labels(labels, sources, {RUN: "XGBoost"}) == []
