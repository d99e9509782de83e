"""Inputs of the tests: the three large sets from fixed seeds, genuine results, and results made of them."""

import dataclasses
from pathlib import Path

import numpy as np

from benchwright.processing import ResultTables
from benchwright.processing.assembly import assemble
from benchwright.processing.split import SplitWork
from benchwright.raw import load_result

DATA = Path(__file__).parents[1] / "data"
RAW = DATA / "tabarena_raw" / "data"
METHODS = DATA / "tabarena_cache" / "artifacts" / "local-2026-11-29" / "methods"
DATASETS = ("local_breast_cancer-498b8450f429", "local_diabetes-a3d1e20e7ed9", "local_wine-0ae0b9dbb2cc")
CANDIDATES = 201


def large_set(metric):
    """Labels and predictions (201, n[, K]) on validation and test rows: a shared signal, and noise."""
    rng = np.random.default_rng(0)
    make, validation_rows, test_rows = {
        "roc_auc": (_binary, 3333, 1667),
        "log_loss": (_three_classes, 2949, 1475),
        "rmse": (_regression, 4331, 2166),
    }[metric]
    labels, predictions = make(rng, validation_rows + test_rows)
    return (
        (labels[:validation_rows], predictions[:, :validation_rows]),
        (labels[validation_rows:], predictions[:, validation_rows:]),
    )


def _binary(rng, rows):
    labels = (rng.random(rows) < 0.14).astype(np.int8)
    signal = 1.6 * (labels - 0.5) + rng.normal(0, 1.0, rows) - 1.2
    predictions = []
    for _ in range(CANDIDATES):
        slope = 0.8 + 0.4 * rng.random()
        spread = 0.15 + 0.35 * rng.random()
        predictions.append(1 / (1 + np.exp(-(slope * signal + rng.normal(0, spread, rows)))))
    return labels, np.stack(predictions).astype(np.float32)


def _three_classes(rng, rows):
    labels = rng.integers(0, 3, rows).astype(np.int8)
    signal = rng.normal(0, 1.2, (rows, 3))
    signal[np.arange(rows), labels] += 1.2
    predictions = []
    for _ in range(CANDIDATES):
        slope = 0.8 + 0.4 * rng.random()
        spread = 0.1 + 0.3 * rng.random()
        odds = np.exp(slope * signal + rng.normal(0, spread, (rows, 3)))
        predictions.append(odds / odds.sum(1, keepdims=True))
    return labels, np.stack(predictions).astype(np.float32)


def _regression(rng, rows):
    labels = rng.lognormal(12, 0.5, rows)
    signal = labels * np.exp(rng.normal(0, 0.2, rows))
    predictions = []
    for _ in range(CANDIDATES):
        spread = 0.03 + 0.08 * rng.random()
        predictions.append(signal * np.exp(rng.normal(0, spread, rows)))
    return labels, np.stack(predictions).astype(np.float32)


def pass_orders(count, sizes=(1, 2, 5, 10, 25, 50, 100, 150), seeds=20):
    """The candidates of every pass by (size, seed): the first one, then a permutation of the rest, cut to the size."""
    rest = np.arange(1, count)
    return {
        (size, seed): np.concatenate([[0], np.random.default_rng(seed).permuted(rest)])[:size]
        for size in sorted({size for size in sizes if size <= count} | {count})
        for seed in ([0] if size in (1, count) else range(seeds))
    }


def genuine_files(method):
    """The result files of a method of the genuine run."""
    return sorted(RAW.glob(f"{method}_*/*/*/results.pkl"))


def genuine_results(method):
    return [load_result(path) for path in genuine_files(method)]


def process(results, metadata):
    """The tables of results that are loaded already, worked on as `process_files` works on a split's files."""
    splits = {}
    for result in results:
        work = splits.setdefault((result.dataset, result.split), SplitWork(tune=metadata.can_hpo))
        work.add(result)
    whole = assemble([work.finish() for work in splits.values()], metadata, tune=metadata.can_hpo)
    findings = tuple(finding.problem() for finding in whole.findings)
    return ResultTables(whole.model_results, whole.hpo_results, findings)


def changed(result, **changes):
    """A result with other fields; ``predictions`` may be a dict of changes to the predictions."""
    if isinstance(changes.get("predictions"), dict):
        changes["predictions"] = dataclasses.replace(result.predictions, **changes["predictions"])
    return dataclasses.replace(result, **changes)
