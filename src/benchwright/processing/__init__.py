"""Results of one method become the public pipeline's tables: tuning and ensembles simulated, numbers equal to 1e-9."""

from benchwright.processing.pipeline import process, process_files
from benchwright.processing.store import write_tables
from benchwright.processing.tables import ResultTables

__all__ = ["ResultTables", "process", "process_files", "write_tables"]
