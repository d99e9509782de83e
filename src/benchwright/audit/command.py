"""The audit as one command: from its options and the settings to the sources, and from verdicts to what is told."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from benchwright.audit.facts import EvalFacts
from benchwright.audit.facts_file import read_facts
from benchwright.audit.gather import Gathered, ShowProgress, Sources, gather
from benchwright.audit.gather_folder import FolderRules
from benchwright.audit.gather_iris import IrisSource
from benchwright.audit.grandfather import read_grandfathered
from benchwright.audit.iris_jobs import EVALS, iris_table
from benchwright.audit.iris_results import Buckets
from benchwright.audit.manifest import NO_HINT, Entry
from benchwright.audit.options import Asked, AuditOptions, check_outputs
from benchwright.audit.record import Audited, summary
from benchwright.audit.report_text import table
from benchwright.audit.trace_hub import TraceHub
from benchwright.audit.trace_names import trace_orgs
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit, Failure, Failures, Outcome, Problem, counted, usage_error
from benchwright.evaldb import EvalDatabase, open_database, owners_from
from benchwright.harbor import Benchmarks, Profile, ScanCache, Taxonomy, resolve_job_folder
from benchwright.objects.credentials import settings_from_environment


def facts_in_file(options: AuditOptions) -> list[EvalFacts]:
    """The facts of ``--facts``, with the rows that ``--grandfather`` spares.

    Raises:
        Failure: the file is none of facts, or of another profile than ``--profile``, there is no such profile, the log
            is none, or a file is to be written into the folder of one of the evals; every problem (exit 2).
    """
    assert options.facts is not None
    failures = Failures()
    facts: list[EvalFacts] = []
    spared: frozenset[str] = frozenset()
    with failures.collected():
        facts = read_facts(options.facts, Taxonomy.load(), options.profile)
    with failures.collected():
        spared = read_grandfathered(options.grandfather) if options.grandfather else spared
    with failures.collected():
        check_outputs(options.outputs, (Path(one.folder) for one in facts if one.folder and "://" not in one.folder))
    failures.settle()
    return [_sparing(one, spared) for one in facts]


def _sparing(facts: EvalFacts, spared: frozenset[str]) -> EvalFacts:
    """Facts with more rows that a logged decision spares."""
    own = {row.id for row in facts.rows or () if row.id.lower() in spared}
    return msgspec.structs.replace(facts, grandfathered=facts.grandfathered | own)


def gathered(options: AuditOptions, *, now: datetime, talk: Callable[[str], None], progress: ShowProgress) -> Gathered:
    """All facts about the runs that are asked for.

    Raises:
        Failure: an option, a file that one names or a folder is wrong, or a file is to be written into one of the jobs;
            every problem (exit 2).
    """
    failures = Failures()
    asked = Asked()
    profile: Profile | None = None
    benchmarks: Benchmarks | None = None
    spared: frozenset[str] = frozenset()
    with failures.collected():
        profile = Taxonomy.load().profile(options.profile)
    with failures.collected():
        benchmarks = Benchmarks.load(options.benchmarks)
    with failures.collected():
        spared = read_grandfathered(options.grandfather) if options.grandfather else spared
    with failures.collected():
        asked = Asked.by(options)
    with failures.collected():
        check_outputs(options.outputs, _job_folders(asked.entries) if options.outputs else ())
    iris: IrisSource | None = None
    with failures.collected():
        iris = _iris(options, [entry for entry in asked.entries if entry.remote])
    failures.settle()
    entries = [entry for entry in asked.entries if not entry.remote]
    assert profile is not None and benchmarks is not None
    settings = settings_from_environment()
    database, owners = _database(options, settings)
    sources = Sources(
        folders=FolderRules(profile, benchmarks, _cache(options)),
        iris=iris,
        database=database,
        owners=owners,
        slurm=options.slurm,
        hub=_hub(options, settings),
        trace_orgs=trace_orgs(settings),
        grandfathered=spared,
        since=options.since,
        given=options.given,
    )
    buckets = f" and {counted(len(iris.buckets.readers), 'bucket')}" if iris else ""
    talk(f"reading {counted(len(entries), 'job folder')}{buckets}")
    try:
        found = gather(entries, sources, now=now, progress=progress)
        for remark in asked.remarks:
            found.troubles.tell(remark)
        return found
    finally:
        if isinstance(database, EvalDatabase):
            database.close()


def _job_folders(entries: Iterable[Entry]) -> Iterator[Path]:
    """The folders that the results of runs are in; none of what is no job, which is told where it is read."""
    for entry in entries:
        if not entry.remote:
            with contextlib.suppress(Failure):
                yield from (entry.place or resolve_job_folder(entry.path)).folders


_NO_HUB = "the Hub was not asked (--no-hub)"
_NO_DATABASE = "the database was not asked (--db none)"


def outcome(audited: Sequence[Audited], troubles: Troubles | None) -> Outcome:
    """What the script has to say: the table, every eval as data, and the sources that did not answer."""
    settled = all(one.settled for one in audited)
    told = troubles.exit if troubles is not None else None
    return Outcome(
        summary=summary(audited),
        data={"evals": [one.to_dict() for one in audited]},
        details=table(audited),
        problems=troubles.problems if troubles is not None else (),
        exit=told or (Exit.DONE if settled else Exit.NO),
    )


def _iris(options: AuditOptions, told: Sequence[Entry]) -> IrisSource | None:
    """Iris's buckets with its table of jobs, and what the manifest says of its jobs."""
    if not options.iris:
        if told:
            raise usage_error(
                str(options.manifest),
                f"{told[0].remote} is in a bucket",
                "its bucket, with --iris",
                "name its bucket with --iris",
            )
        return None
    hints = {entry.path.name: entry.hint for entry in told}
    if options.iris_job:
        hints[options.iris_job] = options.hint.over(hints.get(options.iris_job, NO_HINT))
    return IrisSource(
        buckets=Buckets.at(options.iris),
        table=iris_table(options.iris_jobs, os.environ),
        tags=(glob.escape(options.iris_job),) if options.iris_job else EVALS,
        since=options.since,
        hints=hints,
    )


def _cache(options: AuditOptions) -> ScanCache | None:
    if not options.remember:
        return None
    return ScanCache(options.cache.absolute()) if options.cache else ScanCache.default()


def _hub(options: AuditOptions, settings: Mapping[str, str]) -> TraceHub | Failure | str:
    if not options.hub:
        return _NO_HUB
    try:
        return TraceHub(settings.get("HF_ENDPOINT"), settings.get("HF_TOKEN"))
    except Failure as failure:
        return failure


def _database(
    options: AuditOptions, settings: Mapping[str, str]
) -> tuple[EvalDatabase | Failure | str, frozenset[str]]:
    """The database with the user names that are one's own, without which no row of it can be judged."""
    if options.database == "none":
        return _NO_DATABASE, frozenset()
    problems: list[Problem] = []
    opened: EvalDatabase | None = None
    owners: frozenset[str] = frozenset()
    try:
        opened = open_database(options.database, settings)
    except Failure as failure:
        if failure.exit is Exit.USAGE:
            raise
        problems += failure.problems
    except ModuleNotFoundError as error:
        missing = f"{error.name} is not installed"
        fix = "make setup in the checkout, then use its .venv/bin/python; or go without: --db none"
        problems.append(Problem("missing-package", "database", missing, "benchwright[db]", fix))
    try:
        owners = owners_from(settings)
    except Failure as failure:
        problems += failure.problems
    if opened is None or problems:
        return Failure(problems, exit=Exit.ENVIRONMENT), frozenset()
    return opened, owners
