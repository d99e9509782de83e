"""Ensembles: the public pipeline's own selections, ties and roundings included."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
from ensemble_reference import auc_keys, reduced, reference_errors, reference_selection
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from processing_samples import DATA, DATASETS, METHODS, genuine_results, large_set, pass_orders

from benchwright.contract import Failure
from benchwright.processing.ensemble import EnsembleSelection, metric_rows

INPUT_SUMS = {"roc_auc": 134139.30861694273, "log_loss": 592749.0000136457, "rmse": 164061802204.7881}


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "rmse"])
def test_large_sets_give_the_public_selections(metric):
    (labels, predictions), (test_labels, test_predictions) = large_set(metric)
    assert predictions.astype(np.float64).sum() == pytest.approx(INPUT_SUMS[metric], rel=1e-14)
    ensembles = EnsembleSelection.of(metric, labels, list(predictions))
    test = metric_rows(metric, test_labels)
    test_candidates = np.array([test.reduce(prediction) for prediction in test_predictions])
    orders = pass_orders(len(predictions))
    with open(DATA / "ensemble_golden_large" / f"{metric}.csv") as file:
        golden = list(csv.DictReader(file))
    assert [(int(row["n_configs"]), int(row["seed"])) for row in golden] == list(orders)
    for row, selection in zip(golden, ensembles.passes(orders.values(), size=40), strict=True):
        assert " ".join(map(str, selection.indices)) == row["selected_indices"]
        assert len(selection.trajectory) == int(row["trajectory_len"])
        assert selection.trajectory[-1] == pytest.approx(float(row["trajectory_last"]), abs=1e-9)
        assert selection.error_val == pytest.approx(float(row["metric_error_val"]), abs=1e-9)
        assert selection.error_test(test, test_candidates) == pytest.approx(float(row["metric_error"]), abs=1e-9)


@pytest.mark.parametrize("size", [1, 40])
def test_genuine_results_give_the_public_weights(size):
    results = genuine_results("LightGBM")
    with open(DATA / "ensemble_golden" / f"lightgbm_ens{size}_weights.csv") as file:
        weights = list(csv.DictReader(file))
    with open(DATA / "ensemble_golden" / f"lightgbm_ens{size}.csv") as file:
        errors = list(csv.DictReader(file))
    assert len(weights) == 9
    for weight_row, error_row in zip(weights, errors, strict=True):
        split = _of_split(results, weight_row["dataset"], int(weight_row["fold"]))
        selection, error = _ensemble(split, size)
        assert selection.weights.tolist() == [float(weight_row[result.framework]) for result in split]
        assert selection.error_val == pytest.approx(float(error_row["metric_error_val"]), abs=1e-9)
        assert error == pytest.approx(float(error_row["metric_error"]), abs=1e-9)


@pytest.mark.parametrize("method", ["LightGBM", "LinearModel", "RandomForest"])
def test_genuine_results_give_the_public_trajectories(method):
    results = genuine_results(method)
    rows = pq.read_table(METHODS / method / "results" / "hpo_trajectories.parquet").to_pylist()
    golden = {(row["dataset"], row["fold"], row["n_configs"], row["seed"]): row for row in rows}
    seen = 0
    for dataset in DATASETS:
        for fold in range(3):
            split = _of_split(results, dataset, fold)
            ensembles, test, test_candidates = _prepared(split)
            orders = pass_orders(len(split))
            for (count, seed), selection in zip(orders, ensembles.passes(orders.values()), strict=True):
                row = golden[dataset, fold, count, seed]
                assert selection.error_val == pytest.approx(row["metric_error_val"], abs=1e-9)
                assert selection.error_test(test, test_candidates) == pytest.approx(row["metric_error"], abs=1e-9)
                assert sum(split[member].time_infer_s for member in selection.members) == row["time_infer_s"]
                seen += 1
    assert seen == len(rows)


def _of_split(results, dataset, fold):
    return sorted(
        (result for result in results if (result.dataset, result.split) == (dataset, fold)),
        key=lambda result: result.framework,
    )


def _prepared(split):
    first = split[0]
    test = metric_rows(first.metric, first.predictions.y_test)
    ensembles = EnsembleSelection.of(
        first.metric, first.predictions.y_val, [result.predictions.val for result in split]
    )
    return ensembles, test, np.array([test.reduce(result.predictions.test) for result in split])


def _ensemble(split, size):
    ensembles, test, test_candidates = _prepared(split)
    selection = ensembles.select(size=size)
    return selection, selection.error_test(test, test_candidates)


# --- small inputs of every awkward kind, against the plain reference ------------------------------------------------


@st.composite
def problems(draw, metric, values):
    """Labels and candidates, with equal, constant and perfect ones among them."""
    rows = draw(st.integers(2, 24))
    if metric == "rmse":
        labels = np.array(draw(st.lists(values, min_size=rows, max_size=rows)))
    else:
        labels = np.array(draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows)), dtype=np.int8)
        assume(0 < labels.sum() < rows)
    kinds = draw(st.lists(st.sampled_from(["free", "free", "constant", "perfect", "again"]), min_size=1, max_size=7))
    predictions = []
    for kind in kinds:
        if kind == "again" and predictions:
            predictions.append(draw(st.sampled_from(predictions)))
        elif kind == "perfect":
            predictions.append(labels.astype(np.float32))
        elif kind == "constant":
            predictions.append(np.full(rows, draw(values), np.float32))
        else:
            predictions.append(np.array(draw(st.lists(values, min_size=rows, max_size=rows)), np.float32))
    return labels, predictions


COARSE = st.integers(0, 8).map(lambda eighths: eighths / 8)
PROBABILITIES = st.floats(0, 1, width=32)
TARGETS = st.floats(-1e6, 1e6, width=32)


def assert_as_reference(metric, labels, predictions, size, seed=0):
    indices, trajectory, weights = reference_selection(metric, labels, predictions, size, seed)
    selection = EnsembleSelection.of(metric, labels, predictions).select(size=size, seed=seed)
    assert list(selection.indices) == indices
    np.testing.assert_allclose(selection.trajectory, trajectory, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(selection.weights, weights, rtol=1e-15)
    mix = sum(
        weight * reduced(metric, labels, prediction).astype(np.float64)
        for weight, prediction in zip(selection.weights, predictions, strict=True)
    )
    assert selection.error_val == pytest.approx(reference_errors(metric, labels, mix), rel=1e-9, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(["roc_auc", "log_loss", "rmse"]), st.integers(1, 12), st.integers(0, 3))
def test_coarse_values_tie_and_break_ties_as_in_the_reference(data, metric, size, seed):
    labels, predictions = data.draw(problems(metric, COARSE))
    assert_as_reference(metric, labels, predictions, size, seed)


@settings(max_examples=80, deadline=None)
@given(problems("roc_auc", PROBABILITIES), st.integers(1, 40))
@example((np.array([0, 1]), [np.array([0.5, 0.5], np.float32)]), 40)
@example((np.array([0, 1, 1]), [np.array([-3.0, 7.0, 2e38], np.float32)] * 2), 3)
def test_auc_selections_equal_the_reference(problem, size):
    assert_as_reference("roc_auc", *problem, size)


@settings(max_examples=80, deadline=None)
@given(problems("log_loss", PROBABILITIES), st.integers(1, 40))
@example((np.array([0, 1, 1], np.int8), [np.array([0, 1, 1], np.float32), np.array([0, 1, 0.9999], np.float32)]), 9)
def test_log_loss_selections_equal_the_reference(problem, size):
    assert_as_reference("log_loss", *problem, size)


@settings(max_examples=80, deadline=None)
@given(problems("rmse", TARGETS), st.integers(1, 40))
def test_rmse_selections_equal_the_reference(problem, size):
    assert_as_reference("rmse", *problem, size)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("levels", [3, 2000])
def test_auc_of_few_or_many_values_and_any_balance_equals_the_reference(share, levels):
    rng = np.random.default_rng(1)
    labels = (rng.random(400) < share).astype(np.int8)
    predictions = [
        (np.clip(rng.normal(0.3 + 0.2 * labels, 0.2), 0, 1) * levels).round().astype(np.float32) / np.float32(levels)
        for _ in range(12)
    ]
    assert_as_reference("roc_auc", labels, predictions, 15)


def test_auc_of_scores_that_nearly_all_share_a_bucket_equals_the_reference():
    rng = np.random.default_rng(6)
    labels = (np.arange(240) < 80).astype(np.int8)
    predictions = [(0.5 + 5e-4 * (rng.random(240) + 0.3 * labels)).astype(np.float32) for _ in range(6)]
    predictions[0][[0, -1]] = 0.0, 1.0
    assert_as_reference("roc_auc", labels, predictions, 20)


def test_multiclass_log_loss_equals_the_reference():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 4, 100).astype(np.int8)
    predictions = list(rng.dirichlet(np.ones(4), (9, 100)).astype(np.float32))
    assert_as_reference("log_loss", labels, predictions, 25)


def test_large_targets_equal_the_reference():
    rng = np.random.default_rng(3)
    labels = rng.normal(1e9, 1e3, 200)
    predictions = list((labels + rng.normal(0, 1e3, (9, 200))).astype(np.float32))
    assert_as_reference("rmse", labels, predictions, 25)


def near_ties(metric):
    """Labels and candidates whose errors, alone or mixed with the first one, differ in the seventh decimal."""
    rng = np.random.default_rng(5)
    if metric != "roc_auc":
        labels = rng.normal(0, 1e-2, 300) if metric == "rmse" else rng.integers(0, 2, 300)
        residual = rng.normal(0, 5e-3, 300) if metric == "rmse" else 0.5 * (rng.random(300) - labels)
        more = 2e-5 if metric == "rmse" else 1e-6
        return labels, [(labels + residual * (1 + each * more)).astype(np.float32) for each in (0, 1, 2, 400, 500)]
    # Two rows of one class on each of 2,000 levels, so that every bucket of a mix holds one level at most. A negative
    # row that moves up by three levels is one and a half higher in the mix: past two positives, it loses two pairs of
    # 4,000,000.
    level_is_positive = rng.permutation(2000) < 1000
    labels = np.repeat(level_is_positive, 2).astype(np.int8)
    levels = np.repeat(np.arange(2000), 2)
    below_positives = 2 * np.flatnonzero(~level_is_positive[:-1] & level_is_positive[1:])
    predictions = []
    for moved in (0, 1, 2, 400, 500):
        moving = np.isin(np.arange(4000), below_positives[:moved])
        predictions.append(((levels + 3 * moving) / 2048).astype(np.float32))
    return labels, predictions


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "rmse"])
def test_every_candidate_that_could_tie_is_scored_exactly(metric):
    labels, predictions = near_ties(metric)
    rows = metric_rows(metric, labels)
    candidates = np.array([rows.reduce(prediction) for prediction in predictions])
    mean = candidates[0].astype(np.float64)
    exact = np.array([reference_errors(metric, labels, (mean + each.astype(np.float64)) / 2) for each in candidates])
    could_tie = exact <= exact.min() + 1.05e-6
    assert could_tie.tolist() == [True, True, True, False, False]
    assert len(set(exact)) == 5
    counts = np.array([1, 0, 0, 0, 0])
    errors = rows.scorer(candidates).errors(np.arange(5), mean, counts, rounded=True)
    np.testing.assert_allclose(errors[could_tie], exact[could_tie], rtol=1e-9)
    assert (errors[~could_tie] > exact.min() + 1e-6).all()


def test_first_errors_that_differ_by_rounding_alone_tie():
    """The same probabilities in another order of rows: sums that differ in the last digit are equal."""
    rng = np.random.default_rng(7)
    labels = np.ones(300, np.int8)
    values = rng.random(300).astype(np.float32)
    predictions = [rng.permutation(values) for _ in range(9)]
    errors = {reference_errors("log_loss", labels, prediction.astype(np.float64)) for prediction in predictions}
    assert len(errors) > 1
    for seed in range(4):
        assert_as_reference("log_loss", labels, predictions, 1, seed)


def test_the_real_ensemble_selection_makes_the_same_choices():
    from autogluon.core.metrics import make_scorer
    from autogluon.core.models.greedy_ensemble.ensemble_selection import EnsembleSelection as Real

    rng = np.random.default_rng(4)
    for metric in ("roc_auc", "log_loss", "rmse"):
        labels = rng.normal(size=90) if metric == "rmse" else rng.integers(0, 2, 90)
        base = rng.random((6, 90)) if metric == "rmse" else np.clip(0.3 * labels + rng.random((6, 90)) * 0.6, 0, 1)
        predictions = [*base.astype(np.float32), base[2].astype(np.float32), np.full(90, 0.5, np.float32)]
        rows = metric_rows(metric, labels)
        reduced_predictions = [rows.reduce(prediction) for prediction in predictions]

        def score(y, mix, metric=metric):
            return reference_errors(metric, y, mix)

        scorer = make_scorer(metric, score, optimum=0, greater_is_better=False, needs_proba=metric != "rmse")
        real = Real(ensemble_size=40, problem_type="regression" if metric == "rmse" else "binary", metric=scorer)
        real.fit(predictions=reduced_predictions, labels=labels)
        selection = EnsembleSelection.of(metric, labels, predictions).select(size=40)
        assert list(selection.indices) == list(map(int, real.indices_))
        assert selection.weights.tolist() == real.weights_.tolist()
        np.testing.assert_allclose(selection.trajectory, real.trajectory_, rtol=1e-12)


def test_an_order_names_the_candidates_and_their_rank_among_ties():
    labels = np.array([0, 1, 0, 1])
    predictions = [np.array(scores, np.float32) for scores in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1])]
    selection = EnsembleSelection.of("roc_auc", labels, predictions).select([2, 1], size=5)
    assert (selection.indices, selection.trajectory) == ((1,), (0.0,))
    assert selection.members.tolist() == [1]
    assert selection.weights.tolist() == [0.0, 1.0]


def test_auc_ranks_on_23_bits():
    close = np.array([0.25, 0.25 + 2.0**-25], np.float32)
    rows = metric_rows("roc_auc", np.array([0, 1]))
    assert close[0] < close[1]
    assert auc_keys(close)[0] == auc_keys(close)[1]
    assert rows.error(close) == 0.5


@pytest.mark.parametrize(
    ("metric", "labels", "predictions", "code", "found"),
    [
        ("accuracy", [0, 1], [[0, 1]], "unsupported-metric", "a metric without ensembles"),
        ("roc_auc", [1, 1], [[0, 1]], "not-scorable", "2 labels of a single class"),
        ("roc_auc", [0, 1], [[0, 1, 1]], "not-scorable", "predictions of shape (3,), 0 of them not finite"),
        ("roc_auc", [0, 1], [[[0, 1], [1, 0]]], "not-scorable", "predictions of shape (2, 2)"),
        ("rmse", [0.0, 1.0], [[np.nan, 1]], "not-scorable", "predictions of shape (2,), 1 of them not finite"),
        ("rmse", [0.0, np.inf], [[0, 1]], "not-scorable", "labels of shape (2,), 1 of them not finite"),
        ("rmse", [], [[]], "not-scorable", "labels of shape (0,), 0 of them not finite"),
        ("log_loss", [0, 2], [[0, 1]], "not-scorable", "predictions of 2 classes, class code 2"),
        ("log_loss", [0, -1], [[0, 1]], "not-scorable", "labels of type int64, lowest -1"),
        ("log_loss", [0, 1], [], "not-scorable", "candidates of shape (0,)"),
    ],
)
def test_what_cannot_be_scored_is_refused(metric, labels, predictions, code, found):
    with pytest.raises(Failure) as caught:
        EnsembleSelection.of(metric, np.array(labels), [np.array(each, np.float32) for each in predictions])
    (problem,) = caught.value.problems
    assert (problem.code, problem.where, problem.found) == (code, metric, found)
