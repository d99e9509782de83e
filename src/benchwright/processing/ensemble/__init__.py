"""Greedy ensembles with the public pipeline's exact arithmetic."""

from benchwright.processing.ensemble.rows import MetricRows
from benchwright.processing.ensemble.selection import METRICS, EnsembleSelection, Selection, metric_rows

__all__ = ["METRICS", "EnsembleSelection", "MetricRows", "Selection", "metric_rows"]
