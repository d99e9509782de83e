"""The nouns of a watch over an array: what is asked, what a poll found, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from benchwright.node.array_memory import Memory
from benchwright.node.array_results import ResultCount
from benchwright.node.array_view import ArrayView, Standing, Task
from benchwright.slurm import AttemptRow, CallError, QueueRow, Trouble

ALL_THERE, NOT_ALL_THERE, NO_SLURM = 0, 2, 3
"""Exit codes: every task done and every result there; any other end; no SLURM on this machine."""


@dataclass(frozen=True)
class Request:
    """What is watched. Times are in seconds; ``expected`` is the number of results of the whole run."""

    job: int
    tasks: int
    user: str
    results_dir: Path | None = None
    expected: int | None = None
    log_dir: Path | None = None
    interval: float = 900.0
    patience: float = 3600.0
    once: bool = False

    def log(self, task: int) -> Path | None:
        """Where a task writes."""
        return None if self.log_dir is None else self.log_dir / f"slurm-{self.job}_{task}.out"


@dataclass(frozen=True)
class Poll:
    """What one poll found at ``at``, seconds since the epoch. ``clock`` is the same moment on the monotonic clock.

    Waits are measured by the latter, since machines set their clocks. ``missing`` are the places of the array's results
    that are not there, by task, of ``own`` in all; None where its items are not known, and ``no_items`` says why.
    """

    at: float
    clock: float
    queue: Sequence[QueueRow] | CallError
    attempts: Sequence[AttemptRow] | CallError
    results: ResultCount | None = None
    missing: Mapping[int, Sequence[str]] | None = None
    own: int = 0
    no_items: str = ""
    logs_there: bool = True

    @property
    def queue_error(self) -> CallError | None:
        """Why the queue is not known. A controller that does not know the job has answered: nothing of it is active."""
        if isinstance(self.queue, CallError) and self.queue.trouble is not Trouble.UNKNOWN_JOB:
            return self.queue
        return None

    @property
    def queue_rows(self) -> Sequence[QueueRow] | None:
        """The queue's rows; None where it is not known."""
        if isinstance(self.queue, CallError):
            return None if self.queue_error else ()
        return self.queue

    @property
    def accounts_error(self) -> CallError | None:
        """Why the accounts are not known."""
        return self.attempts if isinstance(self.attempts, CallError) else None

    @property
    def account_rows(self) -> Sequence[AttemptRow] | None:
        """The attempts; None where they are not known."""
        return None if isinstance(self.attempts, CallError) else self.attempts

    @property
    def accounts_never(self) -> bool:
        """Whether it is no use to wait for the accounts."""
        error = self.accounts_error
        return error is not None and error.trouble in (Trouble.ACCOUNTING_OFF, Trouble.NO_CLIENT)


@dataclass(frozen=True)
class Verdict:
    """The end of a watch. ``missing`` are places of results that the array should have written."""

    word: str
    exit: int
    text: str
    missing: tuple[str, ...] = ()


class Unclear(Enum):
    """What has to become clear before there is a verdict."""

    OWNER = "whose job it is"
    JOB = "whether there is such a job"
    QUEUE = "what waits and runs"
    ACCOUNTS = "how tasks ended"
    RESULTS = "which results there are"
    GAPS = "whether missing results are on their way"


@dataclass(frozen=True)
class Doubt:
    """Something unclear: since when on the monotonic clock, at how many polls, and which results lack."""

    kind: Unclear
    text: str
    since: float
    polls: int = 1
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class NewFailure:
    """A failed attempt that nobody was told of; no log of one that never began."""

    index: int
    task: Task
    log: Path | None


@dataclass(frozen=True)
class Report:
    """One poll's news. ``notes`` are said as long as they hold, ``remarks`` once."""

    view: ArrayView
    poll: Poll
    memory: Memory
    failures: tuple[NewFailure, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    doubt: Doubt | None = None
    verdict: Verdict | None = None

    @property
    def uncounted(self) -> bool:
        """Whether the counts would say nothing: the array was not seen, or is someone else's."""
        return not self.view.known or (self.doubt is not None and self.doubt.kind is Unclear.OWNER)

    @property
    def exit(self) -> int:
        """What a single look leaves with."""
        if self.verdict is not None:
            return self.verdict.exit
        return NOT_ALL_THERE if self.uncounted or self.view.count(Standing.FAILED) else ALL_THERE
