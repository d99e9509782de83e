"""SLURM: calls of its client programs, and the parsing of what they print.

Standard library only and Python 3.9 syntax, and nothing else of this package is imported: a head node's own Python runs
it.
"""

from benchwright.slurm.accounting import AttemptRow, parse_attempts, read_attempts
from benchwright.slurm.array_ids import MOST_TASKS, JobId, array_id, brief_id, compact, expand, parse_id
from benchwright.slurm.clients import CallError, Clients, Trouble
from benchwright.slurm.jobs import (
    JobAccount,
    QueuedJob,
    is_job_id,
    parse_accounts,
    parse_whole_queue,
    read_accounts,
    read_whole_queue,
)
from benchwright.slurm.limits import Limits, Partition, parse_limits, read_limits
from benchwright.slurm.queue import QueueRow, parse_queue, read_queue
from benchwright.slurm.states import Phase, State, parse_state
from benchwright.slurm.times import parse_length, parse_time

__all__ = [
    "MOST_TASKS",
    "AttemptRow",
    "CallError",
    "Clients",
    "JobAccount",
    "JobId",
    "Limits",
    "Partition",
    "Phase",
    "QueueRow",
    "QueuedJob",
    "State",
    "Trouble",
    "array_id",
    "brief_id",
    "compact",
    "expand",
    "is_job_id",
    "parse_accounts",
    "parse_attempts",
    "parse_id",
    "parse_length",
    "parse_limits",
    "parse_queue",
    "parse_state",
    "parse_time",
    "parse_whole_queue",
    "read_accounts",
    "read_attempts",
    "read_limits",
    "read_queue",
    "read_whole_queue",
]
