"""The repairs of registered rows as one command: from its options and the settings to what was done, or would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from benchwright.audit.command import gathered
from benchwright.audit.gather import ShowProgress
from benchwright.audit.grandfather import read_grandfathered
from benchwright.audit.manifest import NO_HINT, Hint
from benchwright.audit.options import Asked, AuditOptions
from benchwright.audit.rows import WAITING
from benchwright.audit.trace_hub import TraceHub
from benchwright.contract import DRY_RUN, Exit, Failure, Outcome, Problem
from benchwright.evaldb import EvalDatabase, Patience, RowWriter, configured, open_database, open_writer
from benchwright.harbor.benchmarks import Benchmarks
from benchwright.repair.own_row import Owners, OwnRow, check_at_rest, liveness, row_id
from benchwright.repair.registration.carry_out import Done, begun, carry_out, preview, take_back, undo_folder
from benchwright.repair.registration.names import drop_orphan_benchmark, fix_benchmark, fix_model, subject_of
from benchwright.repair.registration.options import RepairOptions
from benchwright.repair.registration.removal import reason_by_audit, reason_by_row, removal, why_not_stale
from benchwright.repair.registration.report import planned, told, undoing
from benchwright.repair.registration.trace_link import link_traces
from benchwright.repair.registration.undo_file import Repair, read_undo
from benchwright.slurm import Clients

Planned = tuple[str, Callable[[], Repair]]
"""What is repaired, and how that is planned, by what the database has then."""


@dataclass(frozen=True, kw_only=True)
class Registration:
    """What repairs are done with."""

    options: RepairOptions
    settings: Mapping[str, str]
    now: datetime
    talk: Callable[[str], None]
    progress: ShowProgress
    clients: Clients = field(default_factory=Clients)
    patience: Patience | None = None

    def outcome(self) -> Outcome:
        """Do what is asked for, or with a dry run say what would be done.

        Raises:
            Failure: as the parts do; see the exit codes of ``references/script-contract.md``.
        """
        self.options.check()
        if not self.options.apply and self.options.database is None and not configured(self.settings):
            summary = f"no database is configured, so what {self.options.action} would change is unknown"
            fix = "set DATABASE_URL, or SUPABASE_URL and a key"
            problem = Problem("no-credentials", "database", "none is configured", "DATABASE_URL or SUPABASE_URL", fix)
            return Outcome(f"{DRY_RUN}; {summary}", {"applied": False}, problems=[problem], closing=(DRY_RUN,))
        owners = Owners.of(self.settings, self.options.username)
        if self.options.action == "undo":
            return self._undone(owners)
        with open_database(self.options.database, self.settings, self.patience) as database:
            wanted, remarks, unasked = self._wanted(database, owners)
            if not self.options.apply:
                known = partial(preview, self.options.action, database=database, folder=self._folder)
                return planned([known(subject, plan) for subject, plan in wanted], remarks, unasked)
            writer = open_writer(self.options.database, self.settings, self.patience)
            try:
                done, failures = self._applied(wanted, owners, database, writer)
                return told(done, remarks, [*failures, *unasked])
            finally:
                writer.close()

    def _applied(
        self, wanted: Sequence[Planned], owners: Owners, database: EvalDatabase, writer: RowWriter
    ) -> tuple[list[Done], list[Failure]]:
        written = partial(
            carry_out, self.options.action, owners=owners.names, database=database, writer=writer, folder=self._folder
        )
        done: list[Done] = []
        failures: list[Failure] = []
        for subject, plan in wanted:
            try:
                done.append(written(subject, plan))
            except Failure as failure:
                failures.append(failure)
        if failures and not done:
            problems = [problem for failure in failures for problem in failure.problems]
            raise Failure(problems, exit=max(failure.exit for failure in failures))
        return done, failures

    @property
    def _folder(self) -> Path:
        return self.options.undo_dir or undo_folder(self.settings)

    def _wanted(self, database: EvalDatabase, owners: Owners) -> tuple[list[Planned], list[str], Sequence[Failure]]:
        """What is to be repaired, each with how it is planned; what of it stays, in words; and who did not answer."""
        options = self.options
        if options.action == "drop-stale":
            return self._stale(database, owners)
        if options.action == "drop-orphan-benchmark":
            name = str(options.benchmark_name)
            owner = min(owners.names)
            return [(subject_of(name), lambda: drop_orphan_benchmark(database, name, owner))], [], ()
        id = row_id(str(options.row))
        plans: Mapping[str, Callable[[EvalDatabase, Owners, str], Repair]] = {
            "fix-model": self._fix_model,
            "fix-benchmark": self._fix_benchmark,
            "link-traces": self._link_traces,
            "deregister": self._deregister,
        }
        return [(id, partial(plans[options.action], database, owners, id))], [], ()

    def _fix_model(self, database: EvalDatabase, owners: Owners, id: str) -> Repair:
        return fix_model(database, self._at_rest(database, owners, id), str(self.options.model_name))

    def _fix_benchmark(self, database: EvalDatabase, owners: Owners, id: str) -> Repair:
        known = Benchmarks.load(self.options.benchmarks)
        return fix_benchmark(database, self._at_rest(database, owners, id), str(self.options.benchmark_name), known)

    def _link_traces(self, database: EvalDatabase, owners: Owners, id: str) -> Repair:
        own = self._at_rest(database, owners, id)
        hub = TraceHub(self.settings.get("HF_ENDPOINT"), self.settings.get("HF_TOKEN"))
        return link_traces(database, own, str(self.options.link), hub, job_dir=self.options.job_dir, hint=self._hint())

    def _hint(self) -> Hint:
        """What the manifest says of the run in ``--job-dir``."""
        options = self.options
        if options.job_dir is None or options.manifest is None:
            return NO_HINT
        run = AuditOptions(
            job_dirs=(options.job_dir,), manifest=options.manifest, jobs_root=options.jobs_root, all_listed=True
        )
        return Asked.by(run).entries[0].hint

    def _at_rest(self, database: EvalDatabase, owners: Owners, id: str) -> OwnRow:
        own = owners.row(database, id)
        check_at_rest(own.row, liveness([own.row], self.clients, self.now).of[id])
        return own

    def _deregister(self, database: EvalDatabase, owners: Owners, id: str) -> Repair:
        """A row off the board. It is read before it is judged: what changes after that is contested when it is written.

        The audit of its run, where that is named, looks at the job and at the log of decisions by itself.
        """
        options = self.options
        own = owners.row(database, id)
        if options.grandfather and id in read_grandfathered(options.grandfather):
            expected = f"a row that is not in {options.grandfather}"
            problem = Problem(
                "spared",
                f"row {id}",
                "a logged decision spares it",
                expected,
                f"leave it, or have its line taken out of {options.grandfather}",
            )
            raise Failure(problem, exit=Exit.REFUSED)
        if options.job_dir is None and not options.iris:
            check_at_rest(own.row, liveness([own.row], self.clients, self.now).of[id], deletes=True)
            return removal(database, own, options.action, reason_by_row(own.row))
        audit = AuditOptions(
            job_dirs=(options.job_dir,) if options.job_dir else (),
            iris=options.iris,
            iris_job=options.iris_job,
            iris_jobs=options.iris_jobs,
            manifest=options.manifest,
            all_listed=True,
            jobs_root=options.jobs_root,
            profile=options.profile,
            slurm=options.slurm,
            benchmarks=options.benchmarks,
            grandfather=options.grandfather,
            database=options.database,
            hub=False,  # where its traces are has no part in it
        )
        found = gathered(audit, now=self.now, talk=self.talk, progress=self.progress)
        return removal(database, own, options.action, reason_by_audit(own.row, found.facts, self.now))

    def _stale(self, database: EvalDatabase, owners: Owners) -> tuple[list[Planned], list[str], Sequence[Failure]]:
        """The row that is named, or all that are stale, and those that are gone and whose removal was interrupted."""
        if self.options.row:
            id = row_id(self.options.row)
            return [(id, partial(self._stale_row, database, owners, id))], [], ()
        rows = owners.rows(database)
        open_ = [own for own in rows if own.row.job_status in WAITING]
        live = liveness([own.row for own in open_], self.clients, self.now)
        stays = {own.row.id: why_not_stale(own.row, live.of[own.row.id], self.now) for own in open_}
        stale = [id for id, why in stays.items() if why is None]
        there = {own.row.id for own in rows}
        stale += [id for id in begun(self._folder, self.options.action, database.place) if id not in there]
        remarks = [f"row {id} stays: {why}" for id, why in stays.items() if why is not None]
        return [(id, partial(self._stale_row, database, owners, id)) for id in stale], remarks, live.failures

    def _stale_row(self, database: EvalDatabase, owners: Owners, id: str) -> Repair:
        own = owners.row(database, id)
        live = liveness([own.row], self.clients, self.now)
        why = why_not_stale(own.row, live.of[id], self.now)
        if why is not None:
            problem = Problem("not-stale", f"row {id}", why, "a row that waits for nothing", "leave it")
            unasked = [problem for failure in live.failures for problem in failure.problems]
            exit = max((failure.exit for failure in live.failures), default=Exit.REFUSED)
            raise Failure([problem, *unasked], exit=exit)
        return removal(database, own, self.options.action, "stale, and its job is not live")

    def _undone(self, owners: Owners) -> Outcome:
        assert self.options.file is not None
        file = read_undo(self.options.file)
        file.check_own(owners.names)
        if not self.options.apply:
            return undoing(file)
        writer = open_writer(self.options.database, self.settings, self.patience)
        try:
            return told([take_back(file, writer)], (), ())
        finally:
            writer.close()
