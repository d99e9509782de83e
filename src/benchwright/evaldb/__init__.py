"""The evaluation database, read: rows of every owner, over Postgres or Supabase, and nothing that writes."""

from benchwright.evaldb.database import EvalDatabase, FoundRow, Reference, RunNames
from benchwright.evaldb.names import is_hash, is_numeric_model, is_run_name, model_key, served_since
from benchwright.evaldb.opening import BACKENDS, Backend, configured, open_database
from benchwright.evaldb.owners import OWNERS_VARIABLE, owners_from
from benchwright.evaldb.row_health import STALE_AFTER, Pair, RowRemark, duplicates, row_health
from benchwright.evaldb.rows import AgentRow, BenchmarkRow, JobRow, ModelRow
from benchwright.evaldb.shapes import Metrics, metrics_of, stats_of
from benchwright.evaldb.source import Patience, RowSource

__all__ = [
    "BACKENDS",
    "OWNERS_VARIABLE",
    "STALE_AFTER",
    "AgentRow",
    "Backend",
    "BenchmarkRow",
    "EvalDatabase",
    "FoundRow",
    "JobRow",
    "Metrics",
    "ModelRow",
    "Pair",
    "Patience",
    "Reference",
    "RowRemark",
    "RowSource",
    "RunNames",
    "configured",
    "duplicates",
    "is_hash",
    "is_numeric_model",
    "is_run_name",
    "metrics_of",
    "model_key",
    "open_database",
    "owners_from",
    "row_health",
    "served_since",
    "stats_of",
]
