"""The evaluation database, over Postgres or Supabase: rows of every owner are read, and single rows written."""

from benchwright.evaldb.database import EvalDatabase, Reference
from benchwright.evaldb.names import is_hash, is_numeric_model, is_run_name, model_key, served_since
from benchwright.evaldb.opening import BACKENDS, Backend, configured, open_database, open_writer
from benchwright.evaldb.owners import OWNERS_VARIABLE, owners_from
from benchwright.evaldb.row_health import STALE_AFTER, Pair, RowRemark, duplicates, row_health
from benchwright.evaldb.rows import AgentRow, BenchmarkRow, JobRow, ModelRow
from benchwright.evaldb.run_rows import FoundRow, RunNames
from benchwright.evaldb.shapes import Metrics, metrics_of, stats_of
from benchwright.evaldb.source import Patience, Record, RowSource
from benchwright.evaldb.writes import Call, Insert, RowWriter, Update, Write, Written

__all__ = [
    "BACKENDS",
    "OWNERS_VARIABLE",
    "STALE_AFTER",
    "AgentRow",
    "Backend",
    "BenchmarkRow",
    "Call",
    "EvalDatabase",
    "FoundRow",
    "Insert",
    "JobRow",
    "Metrics",
    "ModelRow",
    "Pair",
    "Patience",
    "Record",
    "Reference",
    "RowRemark",
    "RowSource",
    "RowWriter",
    "RunNames",
    "Update",
    "Write",
    "Written",
    "configured",
    "duplicates",
    "is_hash",
    "is_numeric_model",
    "is_run_name",
    "metrics_of",
    "model_key",
    "open_database",
    "open_writer",
    "owners_from",
    "row_health",
    "served_since",
    "stats_of",
]
