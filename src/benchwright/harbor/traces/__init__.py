"""Traces of a job as a dataset: the conversations of its trials, in Parquet files with a declared schema and a card."""

from benchwright.harbor.traces.counts import LeftOut
from benchwright.harbor.traces.plan import PROVENANCE, TraceDataset, TraceOptions, TracePlan, plan_traces
from benchwright.harbor.traces.shards import TraceFile
from benchwright.harbor.traces.trajectories import Episodes

__all__ = [
    "PROVENANCE",
    "Episodes",
    "LeftOut",
    "TraceDataset",
    "TraceFile",
    "TraceOptions",
    "TracePlan",
    "plan_traces",
]
