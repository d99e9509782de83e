"""What SLURM says of jobs, asked once for all: which wait or run, and how the others ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from benchwright.contract import Exit, Failure, Problem
from benchwright.slurm import (
    CallError,
    Clients,
    JobAccount,
    Phase,
    QueuedJob,
    Trouble,
    read_accounts,
    read_whole_queue,
)

_ALIVE = (Phase.WAITING, Phase.RUNNING)
_ENDED = (Phase.DONE, Phase.FAILED)
_NOT_HERE = (Trouble.NO_CLIENT, Trouble.NO_CLUSTER, Trouble.NOT_PERMITTED, Trouble.REFUSED)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a job is: ``live``, ``ended``, or ``unknown``, with the word for its state and who said it.

    Times are those of the accounts, None where those do not have the job or it has not come so far.
    """

    phase: Literal["live", "ended", "unknown"]
    state: str = ""
    told_by: str = ""
    done: bool = False
    submitted: datetime | None = None
    began: datetime | None = None
    ended: datetime | None = None
    account: JobAccount | None = None


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The answers of one ``squeue`` and one ``sacct``. ``silent`` is why the queue is not known, empty where it is."""

    queue: tuple[QueuedJob, ...] = ()
    accounts: tuple[JobAccount, ...] = ()
    silent: str = ""
    asked: bool = True

    @property
    def answers(self) -> bool:
        """Whether the queue is known, without which no job is known not to be live."""
        return not self.silent

    def named(self, name: str) -> QueuedJob | None:
        """A job that bears a name, and waits or runs."""
        return next((job for job in self.queue if job.name == name and job.state.phase in _ALIVE), None)

    def standing(self, id: str) -> Standing:
        """Where the job with an id is. The queue is right about what is alive, the accounts about how it ended."""
        queued = [job.state for job in self.queue if job.is_called(id)]
        alive = next((state for state in queued if state.phase in _ALIVE), None)
        account = next((account for account in self.accounts if id in account.ids), None)
        times = (_time(account.submit), _time(account.start), _time(account.end)) if account else (None, None, None)

        def tell(phase: Literal["live", "ended", "unknown"], state: object = "", by: str = "") -> Standing:
            done = str(state) == "COMPLETED"
            return Standing(phase, str(state), by, done, *times, account)

        if alive is not None:
            return tell("live", alive, "squeue")
        if account is not None and account.state.phase in _ALIVE:
            return tell("live", account.state, "sacct")
        if not self.answers:
            return tell("unknown")
        if account is not None and account.state.phase in _ENDED:
            return tell("ended", account.state, "sacct")
        ended = next((state for state in queued if state.phase in _ENDED), None)
        if account is None and ended is not None:
            return tell("ended", ended, "squeue")
        return tell("unknown")


NOT_ASKED = Scheduler(silent="SLURM was not asked", asked=False)


def ask(clients: Clients, ids: Iterable[str]) -> tuple[Scheduler, list[Failure]]:
    """Ask for the queue and for some jobs, in this order: what ends in between has ended by the accounts too.

    A cluster without accounts is no failure: the queue alone tells then.
    """
    queue = read_whole_queue(clients)
    accounts = read_accounts(clients, ids)
    failures = [
        _failure(answer)
        for answer in (queue, accounts)
        if isinstance(answer, CallError) and answer.trouble is not Trouble.ACCOUNTING_OFF
    ]
    silent = ""
    if isinstance(queue, CallError):
        silent = str(queue)
    elif isinstance(accounts, CallError) and accounts.trouble is not Trouble.ACCOUNTING_OFF:
        silent = str(accounts)
    scheduler = Scheduler(
        queue=() if isinstance(queue, CallError) else queue,
        accounts=() if isinstance(accounts, CallError) else accounts,
        silent=silent,
    )
    return scheduler, failures


def _failure(error: CallError) -> Failure:
    if error.trouble in _NOT_HERE:
        fix = "run this where SLURM's clients are, or go without: --no-slurm"
        return Failure(Problem("no-scheduler", error.program, error.message, "an answer", fix), exit=Exit.ENVIRONMENT)
    problem = Problem("scheduler-unavailable", error.program, error.message, "an answer", "run this again later")
    return Failure(problem, exit=Exit.REMOTE)


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
