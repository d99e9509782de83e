"""The row that a repair is of: as it is stored, one's own, and whether its job is live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from benchwright.audit.gather_rows import Judging, is_live
from benchwright.audit.scheduler import ask
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.evaldb import EvalDatabase, JobRow, Record, owners_from
from benchwright.evaldb.rows import ENDED
from benchwright.slurm import Clients, is_job_id


@dataclass(frozen=True, slots=True)
class OwnRow:
    """A row of one's own: all its columns, which a write compares with, and the same as the facts that decide."""

    record: Record
    row: JobRow


@dataclass(frozen=True, slots=True)
class Owners:
    """The user names whose rows may be touched."""

    names: frozenset[str]

    @classmethod
    def of(cls, settings: Mapping[str, str], username: str | None) -> Owners:
        """Those that the settings name, or of them the one that is meant.

        Raises:
            Failure: none are named (exit 3); ``username`` is none of them (code ``not-yours``, exit 5).
        """
        names = owners_from(settings)
        if username is not None and username not in names:
            found = f"{username} is none of your user names"
            problem = Problem(
                "not-yours",
                "--username",
                found,
                "one that BENCHWRIGHT_OWNERS names",
                "export BENCHWRIGHT_OWNERS=NAME,NAME if it is yours",
            )
            raise Failure(problem, exit=Exit.REFUSED)
        return cls(names if username is None else frozenset({username}))

    def row(self, database: EvalDatabase, id: str) -> OwnRow:
        """A row of one's own, by its id.

        Raises:
            Failure: there is no such row (code ``no-such-row``, exit 1); it is somebody else's (``not-yours``, exit 5);
                or as ``EvalDatabase.records``.
        """
        found = own_rows(database, database.records("sandbox_jobs", "id", [id]))
        if not found:
            raise Failure(
                Problem(
                    "no-such-row",
                    f"row {id}",
                    f"{database.place} has no such row",
                    "a row",
                    "audit the run: it may have gone, or be in another database (--db)",
                )
            )
        if found[0].row.username not in self.names:
            fix = "leave it, and tell its owner; --handoff FILE.md writes the command down for them"
            problem = Problem("not-yours", f"row {id}", f"it is {found[0].row.username}'s", "a row of yours", fix)
            raise Failure(problem, exit=Exit.REFUSED)
        return found[0]

    def rows(self, database: EvalDatabase) -> list[OwnRow]:
        """All rows of one's own, oldest first."""
        found = own_rows(database, database.records("sandbox_jobs", "username", sorted(self.names)))
        return sorted(found, key=lambda one: (str(one.record["created_at"]), one.row.id))


def row_id(text: str) -> str:
    """The id of a row that a text is.

    Raises:
        Failure: it is none (exit 2).
    """
    try:
        return str(UUID(text))
    except ValueError:
        raise usage_error(
            "--row",
            f"{text!r} is no id",
            "the id of a row of sandbox_jobs",
            "the audit's rows have it: scripts/eval/audit_evals.py JOB_DIR --json",
        ) from None


def own_rows(database: EvalDatabase, records: Sequence[Record]) -> list[OwnRow]:
    """Rows of jobs with the names that their ids stand for."""
    models = {row.id: row.name for row in database.models()}
    benchmarks = {row.id: row.name for row in database.benchmarks()}
    agents = {row.id: row.name for row in database.agents()}
    return [
        OwnRow(
            record,
            JobRow.of(
                record,
                agent=agents.get(record["agent_id"]),
                model=models.get(record["model_id"]),
                benchmark=benchmarks.get(record["benchmark_id"]),
            ),
        )
        for record in records
    ]


@dataclass(frozen=True, slots=True)
class Liveness:
    """Whether the job of each row waits or runs, by the row's id, None where nobody can say; ``failures`` are why."""

    of: Mapping[str, bool | None]
    failures: tuple[Failure, ...] = ()


def liveness(rows: Sequence[JobRow], clients: Clients, now: datetime) -> Liveness:
    """Ask the scheduler for the jobs of rows."""
    ids = [row.slurm_job_id for row in rows if row.slurm_job_id and is_job_id(row.slurm_job_id)]
    scheduler, failures = ask(clients, ids)
    by = Judging(None, scheduler, frozenset(), now)
    live = {row.id: is_live(row, "no", by) for row in rows}
    return Liveness(live, tuple(map(_without_option, failures)) if None in live.values() else ())


def check_at_rest(row: JobRow, live: bool | None, *, deletes: bool = False) -> None:
    """Go on where nothing is at work on a row.

    Of one that has ended, a change of names does no harm to a resume that nobody knows of; a deletion would.

    Raises:
        Failure: its job is live, or that is unknown (codes ``live``, ``unknown-live``, exit 5).
    """
    if live:
        problem = Problem(
            "live", f"row {row.id}", "its job waits or runs", "a job that has ended", "wait for it to end"
        )
        raise Failure(problem, exit=Exit.REFUSED)
    if live is None and (deletes or row.job_status not in ENDED):
        job = f"job {row.slurm_job_id}" if row.slurm_job_id else "a job that the row does not name"
        fixes = ["run this where SLURM's clients know the job"] if row.slurm_job_id else []
        fixes += ["say where the run is: --job-dir DIR"] if deletes else []
        fix = ", or ".join(fixes) or "wait for its run to end: a row without a sign for 7 days has none"
        problem = Problem("unknown-live", f"row {row.id}", f"whether {job} is live is unknown", "one that is not", fix)
        raise Failure(problem, exit=Exit.REFUSED)


def _without_option(failure: Failure) -> Failure:
    """The failure of a scheduler as a repair tells it, which cannot go without."""
    fix = "run this where SLURM's clients are"
    problems = [replace(one, fix=fix) if one.code == "no-scheduler" else one for one in failure.problems]
    return Failure(problems, exit=failure.exit)
