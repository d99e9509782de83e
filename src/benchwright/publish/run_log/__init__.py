"""A run's entry in the benchmark log: what is known of the run, its plan as Python, and the place in the log."""

from benchwright.publish.run_log.planning import LogPlan, LogRequest, apply_log_entry, plan_log_entry

__all__ = ["LogPlan", "LogRequest", "apply_log_entry", "plan_log_entry"]
