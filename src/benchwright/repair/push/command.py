"""A push: the audit of one run, its refusals, its traces, the plan of its row, the writes and their proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

from benchwright.audit.facts import RowFacts
from benchwright.audit.gather import Gathered, ShowProgress
from benchwright.audit.gather_rows import NOT_ALL_VISIBLE, SEES_ALL, Judging, find_rows, row_facts
from benchwright.audit.refusals import refusals
from benchwright.audit.registration import lacks
from benchwright.audit.rows import own, scored
from benchwright.audit.run import Leg, Run
from benchwright.audit.scheduler import NOT_ASKED
from benchwright.audit.trace_names import repo_of_link, trace_orgs
from benchwright.contract import Exit, Failure, Outcome, Problem, some, usage_error
from benchwright.evaldb import EvalDatabase, configured, open_database, open_writer
from benchwright.harbor import resolve_job_folder
from benchwright.harbor.benchmarks import Benchmarks
from benchwright.objects import settings_from_environment
from benchwright.repair.own_row import Owners
from benchwright.repair.push.identity import Identity, identity_of, the_leg, trials_of
from benchwright.repair.push.iris_copy import copied_down
from benchwright.repair.push.job import job_values
from benchwright.repair.push.known import Known, read_known
from benchwright.repair.push.names import check_known, version_hash
from benchwright.repair.push.options import PushOptions, Talk, audited
from benchwright.repair.push.plan import NamedBy, Push, PushPlan, plan_push
from benchwright.repair.push.report import applied_outcome, dry_outcome, refused_outcome
from benchwright.repair.push.traces import TraceUploader, check_uploaded, is_there, repo_of_run
from benchwright.repair.push.trials import read_trial_rows
from benchwright.repair.push.verify import verify
from benchwright.repair.registration.trace_link import DATASETS
from benchwright.repair.traces.upload import open_hub

_NOT_CONFIGURED = frozenset({"no-credentials", "no-owners", "missing-package"})
"""Why nothing is known of a database that nobody named; a plan can be made all the same, though not carried out."""
UPLOADER_VARIABLE = "UPLOAD_USERNAME"
"""Holds the user name that new rows get, where one has several."""
_SOMEBODY = "USERNAME"


def push(
    options: PushOptions, uploader: TraceUploader, *, now: datetime, talk: Talk, progress: ShowProgress
) -> Outcome:
    """Audit a run, and register it if the audit lets it: with ``apply`` for good, else as a plan.

    Raises:
        Failure: the run's names could not be told (exit 2), or are none that may be registered (5); the row, a trial or
            the traces are somebody else's or contested (5); what was written is not what is there (1); credentials are
            missing (3); the database, the Hub or the bucket does not answer (4).
    """
    options.asked.check(options.tag)
    found = audited(options, options.hint(), now=now, talk=talk, progress=progress)
    leg = the_leg(found.legs, options.asked)
    settings = settings_from_environment()
    offline = _is_offline(leg, found, options, settings)
    refused = [problem for problem in refusals(leg.facts) if not (offline and problem.code == "rows-unknown")]
    if refused:
        if leg.facts.why_unknown("rows").startswith(NOT_ALL_VISIBLE):  # to an audit that may be no trouble
            problem = Problem("no-permission", "database", NOT_ALL_VISIBLE, "a key that may", SEES_ALL)
            found.troubles.add(Failure(problem, exit=Exit.ENVIRONMENT))
        return refused_outcome(leg, refused, found.troubles, applies=options.apply, now=now)
    pushing = _Pushing(options, leg, identity_of(leg, options.asked), settings, offline, now, talk)
    with pushing.folders(progress) as folders:
        if not options.apply:
            return pushing.dry(folders, uploader, found)
        return pushing.applied(folders, uploader)


def _is_offline(leg: Leg, found: Gathered, options: PushOptions, settings: Mapping[str, str]) -> bool:
    """Whether a plan is to be made without a database, because none was named."""
    told = {problem.code for problem in found.troubles.problems}
    named = options.database is not None or configured(settings)
    return not options.apply and leg.facts.rows is None and bool(told & _NOT_CONFIGURED) and not named


@dataclass(frozen=True, slots=True)
class _Pushing:
    """One run on its way into the database."""

    options: PushOptions
    leg: Leg
    identity: Identity
    settings: Mapping[str, str]
    offline: bool
    now: datetime
    talk: Talk

    @contextmanager
    def folders(self, progress: ShowProgress) -> Iterator[tuple[Path, ...]]:
        """The run's folder, or those of its shards; that of a bucket is brought down for as long as this takes."""
        iris = self.options.iris
        if iris is None:
            yield resolve_job_folder(Path(self.options.place)).folders
            return
        assert self.leg.facts.folder is not None  # its trials were read there
        with (
            progress("copying down") as show,
            copied_down(self.leg.facts.folder, iris.name, traces=not self.options.skip_hf, progress=show) as folder,
        ):
            yield (folder,)

    def dry(self, folders: tuple[Path, ...], uploader: TraceUploader, found: Gathered) -> Outcome:
        """The plan, and what it would upload before."""
        remarks: list[Problem] = []
        with self._database() as database:
            link = self._link_to_be(remarks)
            uploads = self._repo_to_fill(link, folders)
            if uploads:
                link = uploader.upload(folders[0], uploads, apply=False)
            plan = self._plan(self._push(folders), link, database)
        remarks += [problem for problem in found.troubles.problems if self.offline and problem.code in _NOT_CONFIGURED]
        return dry_outcome(self.leg, plan, uploads, database.place if database else None, remarks)

    def applied(self, folders: tuple[Path, ...], uploader: TraceUploader) -> Outcome:
        """The traces uploaded and proved, the plan written, and what was written read back."""
        with self._database() as database, closing(open_writer(self.options.database, self.settings)) as writer:
            assert database is not None  # or the rows would be unknown
            wanted, link = self._push(folders), self._link_to_be([])
            plan = self._plan(wanted, link, database)  # what it refuses is refused before anything is public
            uploaded = self._uploaded(link, folders, uploader)
            plan = self._plan(wanted, uploaded, database) if uploaded else plan  # an upload may take long
            for table, number in plan.counts().items():
                self.talk(f"{table}: {number:,}")
            done = writer.write(plan.writes) if plan.writes else ()
            written = [one for one in done if one.write != plan.claim]
            proof = verify(plan, database)
            return applied_outcome(self.leg, plan, written, proof, database.place, uploaded=uploaded)

    @contextmanager
    def _database(self) -> Iterator[EvalDatabase | None]:
        if self.offline:
            yield None
            return
        with open_database(self.options.database, self.settings) as database:
            yield database

    def _own_row(self) -> RowFacts | None:
        """The row of this run that is ours, the one that is finished before others.

        Raises:
            Failure: several may be meant (code ``rows-unclear``, exit 5).
        """
        rows = own(self.leg.facts)
        finished = [row for row in rows if row.status == "Finished"]
        by_id = [row for id in self.leg.run.row_ids for row in rows if row.id.lower() == id]
        several = finished or by_id[:1] or rows
        if len(several) > 1:
            found = f"rows {some(row.id for row in several)} are all of this run"
            problem = Problem(
                "rows-unclear",
                self.leg.facts.run_tag,
                found,
                "one row, named by row_id in a manifest",
                "--manifest FILE with the columns job_dir and row_id",
            )
            raise Failure(problem, exit=Exit.REFUSED)
        return several[0] if several else None

    def _push(self, folders: tuple[Path, ...]) -> Push:
        """What is to be pushed, as the folder has it, without a link to the traces."""
        leg, row = self.leg, self._own_row()
        assert leg.facts.trials is not None and leg.facts.trials.planned is not None  # the gates
        assert leg.run.job is not None
        config = leg.run.job.config
        row_id = row.id if row else self._new_id()
        trials = trials_of(leg)
        return Push(
            tag=leg.facts.run_tag,
            row_id=row_id,
            audited=row,
            owner=self._owner(row),
            identity=self.identity,
            version=version_hash(self.identity.benchmark, (*config.datasets, *config.tasks)),
            values=job_values(leg, folders[0], trials, leg.facts.trials.planned),
            trials=tuple(read_trial_rows(folders, trials, row_id)),
            lacks=lacks(row, leg.facts.trials) if row and row.status == "Finished" else None,
            forced=self.options.forced,
            trial_names=leg.run.trial_names,
            named_by=_named_by(leg.run, row_id),
        )

    def _plan(self, push: Push, link: str | None, database: EvalDatabase | None) -> PushPlan:
        """The plan of a push that links its traces, as the database is now."""
        if database is not None:
            push = replace(push, others=self._others(database))
        others = [row.id for row in push.others]
        known = read_known(database, push.row_id, push.trials, others) if database else Known()
        there = known.row["hf_traces_link"] if known.row else None
        if there and link and repo_of_link(there) == repo_of_link(link):
            link = there
        plan = plan_push(replace(push, values={**push.values, "hf_traces_link": link}), known)
        if database is not None and any(change.write.table == "benchmarks" for change in plan.changes):
            check_known(push.identity.benchmark, known.benchmarks, Benchmarks.load(self.options.benchmarks))
        return plan

    def _others(self, database: EvalDatabase) -> tuple[RowFacts, ...]:
        """Other runs' rows with a score for the model and the benchmark, as the database is now."""
        (found,) = find_rows(database, [self.leg.run])
        if isinstance(found, Failure):
            raise found
        assert self.leg.facts.trials is not None  # the gates
        by = Judging(self.leg.facts.job, NOT_ASKED, self.leg.facts.trials.benign, self.now)
        rows = row_facts(found, self.leg, by)
        return () if isinstance(rows, str) else tuple(scored(self.leg.learned(rows=rows).facts))

    def _new_id(self) -> str:
        """The id of a row to be made: the run's own, or the one that a person gave it; of several evals, one for each.

        Raises:
            Failure: the run has none (code ``no-run-id``, exit 2).
        """
        tag = self.leg.facts.run_tag
        if self.leg.key is not None and self.leg.key in self.leg.run.eval_ids:
            return self.leg.run.eval_ids[self.leg.key]
        id = self.leg.run.hint.row_id or self.leg.run.result_id
        try:
            return str(UUID(id or ""))
        except ValueError:
            fix = f"give it one in a manifest: row_id {uuid5(NAMESPACE_URL, f'benchwright:run:{tag}')}"
            found = f"its id is {id!a}" if id else "its result names no id, or its parts name several"
            raise usage_error(tag, found, "the id of a run", fix, code="no-run-id") from None

    def _owner(self, row: RowFacts | None) -> str:
        """Whose the row is, or the user name that a new one gets.

        Raises:
            Failure: the name that was given is none of one's own (exit 5), or several may be meant (exit 2).
        """
        said = self.options.username or self.settings.get(UPLOADER_VARIABLE)
        if self.offline:
            return said or _SOMEBODY
        names = Owners.of(self.settings, said).names
        if row is not None:
            return row.owner
        if len(names) > 1:
            fix = f"--username NAME, or export {UPLOADER_VARIABLE}=NAME"
            raise usage_error("--username", f"you have several names: {some(sorted(names), 9)}", "one of them", fix)
        return next(iter(names))

    def _link_to_be(self, remarks: list[Problem]) -> str | None:
        """The link that the row is to have, as far as it can be told without an upload.

        A repo that is named and not uploaded to must hold the traces already.
        """
        options, row = self.options, self._own_row()
        linked = repo_of_link(row.link) if row and row.link else None
        if not options.skip_hf:
            asked = self.leg.run.hint.traces
            return DATASETS + repo_of_run(self.leg.facts, linked, asked, trace_orgs(self.settings))
        repo = self.leg.run.hint.traces if options.hf_repo else None
        if repo is None:
            return row.link if row else None
        try:
            check_uploaded(open_hub(self.settings, writes=False), self.leg.run, repo)
        except Failure as failure:
            if options.apply or failure.exit is Exit.REFUSED:
                raise
            remarks += failure.problems
        return DATASETS + repo

    def _uploaded(self, link: str | None, folders: tuple[Path, ...], uploader: TraceUploader) -> str | None:
        """The link to the run's traces if they were uploaded now, None if they are there or are none of this push's.

        Raises:
            Failure: what is there does not turn out to be the run's traces (exit 5), or as ``TraceUploader.upload``.
        """
        repo = self._repo_to_fill(link, folders)
        if repo is None:
            return None
        self.talk(f"uploading the traces to {repo}")
        link = uploader.upload(folders[0], repo, apply=True)
        check_uploaded(open_hub(self.settings, writes=False), self.leg.run, repo)
        return link

    def _repo_to_fill(self, link: str | None, folders: tuple[Path, ...]) -> str | None:
        """The repo that the traces are to be uploaded to, None where they are there or are none of this push's."""
        repo = repo_of_link(link) if link else None
        if repo is None or self.options.skip_hf:
            return None
        hub = open_hub(self.settings, writes=False)
        there = not self.options.replace_traces and is_there(self.leg.facts, repo, folders[0], hub)
        return None if there else repo


def _named_by(run: Run, row_id: str) -> NamedBy:
    """What says that a row is a run's."""
    if row_id in ((run.result_id or "").lower(), *run.eval_ids.values()):
        return "itself"
    return "manifest" if row_id == (run.hint.row_id or "").lower() else "launch"
