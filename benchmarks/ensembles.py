"""The 142 ensembles that a split's tuning curve takes at 201 configs: greedy selection, by ours and by the peer.

One process each, over three generated sets; errors and weights have to agree. The peer's side is its evaluator alone,
without the store of predictions around it; its fast metrics are compiled with g++ on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from measure import Bench, Row, Side, answer, same_answer

CONFIGS = 201
SIZES = (1, 2, 5, 10, 25, 50, 100, 150, CONFIGS)
ORDERS_A_SIZE = 20
MEMBERS = 40
SETS = {"roc_auc": (3333, 1667), "log_loss": (2949, 1475), "rmse": (4331, 2166)}
"""Validation and test rows of the set of each metric."""
_BAR_RATIO = 5.0

Split = tuple[Any, Any, Any, Any]
"""Labels (n,) and predictions (configs, n[, classes]) of the validation rows, and of the test rows."""


def measure(bench: Bench) -> list[Row]:
    """The passes over each set, and the whole command with its imports."""
    amount = "quick" if bench.quick else "full"
    for side in ("ours", "peer"):
        bench.run("ensembles", side, "quick")  # compiles, once a machine
    ours, peer = [], []
    for _ in range(1 if bench.quick else 3):
        ours.append(bench.run("ensembles", "ours", amount))
        peer.append(bench.run("ensembles", "peer", amount))
        for metric in SETS:
            same_answer(f"ensembles: {metric}", ours[-1].answer[metric][1], peer[-1].answer[metric][1])
    rows = [
        Row(
            f"ensembles: {len(passes)} of {metric}",
            *(Side(tuple(one.answer[metric][0] for one in side)) for side in (ours, peer)),
            least_ratio=None if bench.quick else _BAR_RATIO,
        )
        for metric, (_, passes) in ours[0].answer.items()
    ]
    return [*rows, Row("ensembles: whole command", Side.of(ours), Side.of(peer))]


def _run(fit: Callable[[str, Split, list[Any]], list[Any]], amount: str) -> dict[str, tuple[float, list[Any]]]:
    """Seconds, and the errors and weights of every pass, by metric; making the sets is not counted."""
    results = {}
    for metric in SETS:
        split, orders = make_split(metric), make_orders(1 if amount == "quick" else ORDERS_A_SIZE)
        start = perf_counter()
        passes = fit(metric, split, orders)
        results[metric] = (perf_counter() - start, passes)
    return results


def fit_ours(metric: str, split: Split, orders: list[Any]) -> list[Any]:
    """Every pass by our kernels."""
    import numpy as np

    from benchwright.processing.ensemble import EnsembleSelection, metric_rows

    labels, predictions, test_labels, test_predictions = split
    test = metric_rows(metric, test_labels)
    candidates = np.array([test.reduce(prediction) for prediction in test_predictions])
    selections = EnsembleSelection.of(metric, labels, list(predictions)).passes(orders, size=MEMBERS)
    return [[one.error_val, one.error_test(test, candidates), one.weights.tolist()] for one in selections]


def fit_peer(metric: str, split: Split, orders: list[Any]) -> list[Any]:
    """Every pass by the peer's evaluator, with its fast metrics."""
    from tabarena.metrics._fast_log_loss import fast_log_loss
    from tabarena.simulation.ensemble import GreedyEnsembler
    from tabarena.simulation.ensemble_selection_config_scorer import TaskEvaluator, get_fast_rmse, get_fast_roc_auc

    kinds = {
        "roc_auc": (get_fast_roc_auc, "binary"),
        "log_loss": (lambda: fast_log_loss, "multiclass"),
        "rmse": (get_fast_rmse, "regression"),
    }
    make_scorer, problem_type = kinds[metric]
    scorer = make_scorer()
    evaluator = TaskEvaluator(
        ensembler_cls=GreedyEnsembler,
        ensembler_kwargs={"ensemble_size": MEMBERS},
        eval_metric=scorer,
        fit_eval_metric=scorer,
        problem_type=problem_type,
    )
    labels, predictions, test_labels, test_predictions = split
    passes = []
    for order in orders:
        rows = {"pred_train": predictions[order], "y_train": labels, "pred_val": predictions[order], "y_val": labels}
        test = {"pred_test": test_predictions[order], "y_test": test_labels}
        found, _ = evaluator.run(**rows, **test, return_metric_error_val=True)
        errors = [float(found[name]) for name in ("metric_error_val", "metric_error")]
        passes.append([*errors, found["ensemble_weights"].tolist()])
    return passes


def make_orders(count: int) -> list[Any]:
    """The candidates of each pass: the default config, then the others as they were drawn, cut to the pass's size."""
    import numpy as np

    others = np.arange(1, CONFIGS)
    return [
        np.concatenate([[0], np.random.default_rng(seed).permuted(others)])[:size]
        for size in SIZES
        for seed in range(1 if size in (1, CONFIGS) else count)
    ]


def make_split(metric: str, seed: int = 0, configs: int = CONFIGS) -> Split:
    """A split with that metric. Configs share their errors, as one model's do; otherwise ensembles are too easy."""
    import numpy as np

    rng, (val, test) = np.random.default_rng(seed), SETS[metric]
    rows, numbers = val + test, range(configs)
    if metric == "rmse":
        labels = rng.lognormal(12, 0.5, rows)
        signal = labels * np.exp(rng.normal(0, 0.2, rows))
        made = [signal * np.exp(rng.normal(0, 0.03 + 0.08 * rng.random(), rows)) for _ in numbers]
    elif metric == "log_loss":
        labels = rng.integers(0, 3, rows).astype(np.int8)
        signal = rng.normal(0, 1.2, (rows, 3))
        signal[np.arange(rows), labels] += 1.2
        slopes_and_noise = (
            (0.8 + 0.4 * rng.random(), rng.normal(0, 0.1 + 0.3 * rng.random(), (rows, 3))) for _ in numbers
        )
        odds = [np.exp(slope * signal + noise) for slope, noise in slopes_and_noise]
        made = [one / one.sum(1, keepdims=True) for one in odds]
    else:
        labels = (rng.random(rows) < 0.14).astype(np.int8)
        signal = 1.6 * (labels - 0.5) + rng.normal(0, 1.0, rows) - 1.2
        slopes_and_noise = (
            (0.8 + 0.4 * rng.random(), rng.normal(0, 0.15 + 0.35 * rng.random(), rows)) for _ in numbers
        )
        made = [1 / (1 + np.exp(-(slope * signal + noise))) for slope, noise in slopes_and_noise]
    predictions = np.stack(made).astype(np.float32)
    return labels[:val], predictions[:, :val], labels[val:], predictions[:, val:]


if __name__ == "__main__":
    answer(ours=lambda amount: _run(fit_ours, amount), peer=lambda amount: _run(fit_peer, amount))
