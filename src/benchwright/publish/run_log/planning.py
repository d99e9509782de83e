"""The entry planned from the run script and from what the run left, and the log with it on top."""

from __future__ import annotations

import datetime
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.arena.benchmark_log import LOG_NAME, BenchmarkLog, LogHeading
from benchwright.contract import Failure, Failures, Problem, is_day, redact, said, usage_error
from benchwright.files import RunPaths, read_bytes
from benchwright.files.checkout import checkout_around
from benchwright.publish.method_reference import load_method
from benchwright.publish.run_log.arguments import arguments_text
from benchwright.publish.run_log.completing import completed
from benchwright.publish.run_log.entry import RunFacts, entry_text
from benchwright.publish.run_log.head import Head, head_at_setup, read_reflog
from benchwright.publish.run_log.plan_text import standalone_plan
from benchwright.publish.run_log.protocol import protocol_text
from benchwright.publish.run_log.ran import other_method
from benchwright.publish.run_log.records import SetUp, read_set_ups
from benchwright.publish.run_log.script import RunScript, identities, read_script
from benchwright.publish.run_log.settings import settings_of_plans, settings_of_text
from benchwright.publish.run_log.traces import Traces, read_traces
from benchwright.publish.source_edit import replace_unchanged, unified_diff
from benchwright.publish.targets import refuse_unwritable

_LARGEST_LOG = 64 * 2**20
_PLACES = (LOG_NAME, f"packages/tabflow_slurm/{LOG_NAME}")
"""Where a checkout keeps its log: ours, and the one of a TabArena checkout."""


@dataclass(frozen=True)
class LogRequest:
    """Whose entry to write and where. None leaves it to the script, its checkout and its workspace.

    ``repository`` is the checkout whose HEAD counts and that ``reference`` (``MODULE:ATTR``) is looked up in;
    ``notes`` and ``fixes`` are added to what the script says, ``purpose`` takes the place of its first paragraph.
    ``suite`` is what the run was processed to; a suite that is only declared may be of an earlier run.
    ``cache_root`` is the cache whose artifact tells the validation protocol that nothing declares.
    """

    script: Path
    log: Path | None = None
    repository: Path | None = None
    workspace: Path | None = None
    reference: str | None = None
    suite: str | None = None
    purpose: str | None = None
    notes: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    date: str | None = None
    cache_root: Path | None = None


@dataclass(frozen=True)
class LogPlan:
    """A planned entry: the log's bytes as they were read and as they will be.

    ``line`` is where the entry stands, or will. An ``entry`` that is None is there already; ``completes`` names the
    bullets that it lacks or that are open in it.
    """

    log: Path
    benchmark: str
    line: int
    before: bytes
    after: bytes
    entry: str | None = None
    completes: tuple[str, ...] = ()
    head: Head | None = None
    set_ups: tuple[SetUp, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def changes_file(self) -> bool:
        """Whether the log lacks the entry, or something in it."""
        return self.before != self.after

    def diff(self) -> list[str]:
        """The unified diff of the log, without line ends."""
        return unified_diff(self.before.decode(), self.after.decode(), self.log.name)

    def to_dict(self) -> dict[str, Any]:
        """The plan in the JSON envelope's form."""
        return {
            "log": str(self.log),
            "benchmark": self.benchmark,
            "line": self.line,
            "entry": self.entry,
            "completes": list(self.completes),
            "diff": "\n".join(self.diff()),
            "git": self.head.to_dict() if self.head else None,
            "set_ups": [one.to_dict() for one in self.set_ups],
        }


@dataclass(frozen=True)
class _Inputs:
    """What a request names, read."""

    script: RunScript
    paths: RunPaths
    log: BenchmarkLog
    log_name: Path
    checkout: Path
    metadata: MethodMetadata | None

    @property
    def log_path(self) -> Path:
        """The file behind the log's name, which may be a link."""
        return self.log_name.resolve()


def plan_log_entry(request: LogRequest) -> LogPlan:
    """The entry of a run, and the log with it on top, or with what its entry lacks.

    An entry of the benchmark that is there gets no more than the bullets that it lacks or that wait for something to
    say, and not even these where its plan is another one. Then, and where it lacks nothing, there is nothing to do.

    Raises:
        Failure: script, log, metadata or options are wrong (exit 2, every problem), nothing of the run is there and
            no date is given (exit 2), the metadata is that of another method or the artifact's sidecar damaged
            (exit 1); the log is read-only (exit 3), or a link out of its repository, or the plan cannot be taken out of
            the script (exit 5).
        OSError: the run's folders cannot be read.
    """
    inputs = _inputs(request)
    benchmark = inputs.paths.benchmark
    there = inputs.log.find(benchmark)
    content = inputs.log.content
    if there is not None and not _is_of_this_plan(inputs, there):
        return LogPlan(inputs.log_path, benchmark, there.line, content, content)
    if there is None:
        _refuse_unwritable(inputs.log_name)
    set_ups, damaged = read_set_ups(inputs.paths)
    traces = read_traces(inputs.paths)
    head = head_at_setup(set_ups, traces, read_reflog(inputs.checkout), inputs.checkout)
    date = request.date or (there.date if there else _date(inputs.paths, head, traces))
    entry = redact(entry_text(_facts(request, inputs, set_ups, traces, head, date=date)))
    if there is not None:
        text, names = completed(inputs.log.text_of(there), entry)
        if names:
            _refuse_unwritable(inputs.log_name)
        after = inputs.log.with_text(there, text) if names else content
        return LogPlan(inputs.log_path, benchmark, there.line, content, after, None, names, head, set_ups, damaged)
    after = inputs.log.with_entry(entry)
    line, problems = _heading(after, benchmark).line, (*damaged, *_remarks(head, inputs.checkout))
    return LogPlan(inputs.log_path, benchmark, line, content, after, entry, (), head, set_ups, problems)


def apply_log_entry(plan: LogPlan) -> bool:
    """Write a planned entry; whether there was anything to write. The entries of other runs stay to the byte.

    Raises:
        Failure: the log is no longer what the plan was made from (exit 5).
        OSError: it cannot be written.
    """
    if plan.changes_file:
        replace_unchanged(plan.log, plan.before, plan.after)
    return plan.changes_file


def _inputs(request: LogRequest) -> _Inputs:
    """Everything a request names; all that is wrong with it at once."""
    failures = Failures()
    checkout = (request.repository or checkout_around(request.script.absolute().parent)).absolute()
    log_name = (request.log or _log_of(checkout)).absolute()
    with failures.collected():
        _require_date(request.date)
    with failures.collected():
        script = read_script(request.script)
        with failures.collected():
            _ = script.setup
        benchmark, place = identities(script, request.workspace)
        paths = RunPaths(Path(place), benchmark)
    with failures.collected():
        log = _read_log(log_name.resolve())
    with failures.collected():
        metadata = _metadata(request)
    failures.settle()
    return _Inputs(script, paths, log, log_name, checkout, metadata)


def _metadata(request: LogRequest) -> MethodMetadata | None:
    """The method that the request's reference declares, whose suite is the one that is given, if any."""
    if not request.reference:
        return None
    metadata = load_method(request.reference, request.repository)
    if request.suite and _suite(metadata) not in (None, request.suite):
        found = f"{request.suite}, and {request.reference} declares {metadata.suite}"
        raise usage_error("--suite", found, "one suite", "leave --suite out, or correct the metadata", code="suite")
    return metadata


def _log_of(checkout: Path) -> Path:
    places = [checkout / name for name in _PLACES]
    return next((place for place in places if place.exists()), places[0])


def _read_log(path: Path) -> BenchmarkLog:
    try:
        return BenchmarkLog(read_bytes(path, limit=_LARGEST_LOG), str(path))
    except OSError as error:
        fix = "name it with --log FILE; a new log starts as an empty file"
        raise usage_error(str(path), said(error), "a benchmark log", fix, code="no-log") from None


def _refuse_unwritable(log: Path) -> None:
    """Refuse a log that is not its own checkout's file, or that may not be written."""
    fix = f"name the file itself: --log {shlex.quote(str(log.resolve()))}"
    refuse_unwritable(log, checkout_around(log.parent).resolve(), elsewhere=fix)


def _require_date(text: str | None) -> None:
    if text is not None and not is_day(text):
        raise usage_error(
            "--date", repr(text), "a date, YYYY-MM-DD", "write it so, or leave --date out for that of set-up"
        )


def _is_of_this_plan(inputs: _Inputs, there: LogHeading) -> bool:
    """Whether an entry holds the plan of this run script, which makes it this run's. One by hand may not."""
    try:
        plan = redact(standalone_plan(inputs.script)).rstrip("\n")
    except Failure:
        return False
    return f"\n{plan}\n" in inputs.log.text_of(there).replace("\r\n", "\n")


def _facts(
    request: LogRequest, inputs: _Inputs, set_ups: tuple[SetUp, ...], traces: Traces, head: Head, *, date: str
) -> RunFacts:
    plan = standalone_plan(inputs.script)
    settings = settings_of_plans([one.plan for one in set_ups]) if set_ups else settings_of_text(plan)
    if inputs.metadata and (problem := other_method(request.reference or "", inputs.metadata, settings, set_ups)):
        raise Failure(problem)
    paragraphs = inputs.script.paragraphs
    return RunFacts(
        date=date,
        benchmark=inputs.paths.benchmark,
        settings=settings,
        set_ups=set_ups,
        head=head,
        traces=traces,
        protocol=protocol_text(set_ups, inputs.metadata, request.reference or "", request.suite, request.cache_root),
        suite=request.suite,
        declared_suite=_suite(inputs.metadata),
        reference=request.reference or "",
        purpose=request.purpose or (paragraphs[0] if paragraphs else ""),
        notes=(*paragraphs[1:], *request.notes),
        fixes=request.fixes,
        plan=plan,
        arguments=arguments_text(inputs.script.setup, set_ups),
    )


def _suite(metadata: MethodMetadata | None) -> str | None:
    """A method's suite, where its metadata declares one: the default is the method's own name."""
    return metadata.suite if metadata and metadata.suite != metadata.method else None


def _date(paths: RunPaths, head: Head, traces: Traces) -> str:
    """The day the run was set up, in UTC, or began where only a later set-up is known."""
    moments = [moment for moment in (head.at, traces.first and traces.first[0]) if moment is not None]
    if not moments:
        found = f"nothing of {paths.benchmark}: no plan record, job file, log or result"
        fix = "name it with --workspace DIR, or give the run's date with --date YYYY-MM-DD"
        raise usage_error(str(paths.workspace), found, "the workspace of the run", fix, code="no-run")
    return datetime.datetime.fromtimestamp(min(moments), datetime.UTC).date().isoformat()


def _remarks(head: Head, checkout: Path) -> tuple[Problem, ...]:
    if head.sha is not None:
        return ()
    fix = "name the run's checkout with --repo DIR, or write the commit into the entry if you know it"
    return (Problem("unknown-commit", str(checkout), head.how, "the commit that was HEAD at set-up", fix),)


def _heading(content: bytes, benchmark: str) -> LogHeading:
    heading = BenchmarkLog(content, "").find(benchmark)
    assert heading is not None
    return heading
