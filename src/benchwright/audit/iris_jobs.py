"""The table of Iris jobs: which evals were launched, and whether each waits, runs or has ended."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from benchwright.audit.facts import JobFacts, Phase
from benchwright.contract import Exit, Failure, Problem, said, some, usage_error
from benchwright.files import read_bytes

IrisKind = Literal["iris-tpu", "iris-gpu"]
EVALS = ("*eval-*",)
"""What the launcher calls the jobs that are evals."""
NO_TABLE = "no table of Iris jobs was given (--iris-jobs FILE)"
COMMAND_VARIABLE = "BENCHWRIGHT_IRIS_JOBS"
"""Holds the command that prints the table of jobs, in words as for a shell."""

_MOST_BYTES = 2**26
_FORM = "CSV with a heading, of which job_id and state are columns"
_STATES: Mapping[str, tuple[str, Phase]] = {
    "1": ("PENDING", "live"),
    "2": ("BUILDING", "live"),
    "3": ("RUNNING", "live"),
    "4": ("COMPLETED", "completed"),
    "5": ("FAILED", "ended"),
    "6": ("KILLED", "ended"),
    "7": ("WORKER_FAILED", "ended"),
    "8": ("UNSCHEDULABLE", "ended"),
}
"""The states of jobs by their numbers, as Iris's own table has them; 0 says nothing."""
_KINDS: Mapping[str, IrisKind] = {"tpu": "iris-tpu", "gpu": "iris-gpu"}
_KIND_COLUMNS = ("kind", "device_type")
_TIME_COLUMNS = ("created_at", "submitted_at", "submitted_at_ms")
_ATTEMPT = re.compile(r":[0-9]+\Z")
_STAMP = re.compile(r"(?<![0-9])([0-9]{8})(?:[-_T]?([0-9]{6}))?(?![0-9])")
_EPOCH = re.compile(r"[0-9]{10}|[0-9]{13}|[0-9]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IrisJob:
    """A job that ran an eval; ``name`` is that of its folder too.

    ``phase`` is None where ``state`` is no word of Iris's, which is empty where no table was asked. ``kind`` is None
    where the table does not say what it ran on. ``began`` is when it was launched, by its own columns and by the time
    in its id, which is taken to be UTC; None where neither says.
    """

    id: str
    name: str
    state: str
    phase: Phase | None
    kind: IrisKind | None = None
    began: datetime | None = None

    @classmethod
    def unlisted(cls, name: str) -> IrisJob:
        """A job of which only the name is known, no table having been asked."""
        return cls(id=name, name=name, state="", phase=None, began=max(_times_in(name), default=None))

    def facts(self, untold: str = NO_TABLE) -> JobFacts | str:
        """What is known of the job, or why nothing is: ``untold`` says why there is no table that has it."""
        if not self.state:
            return untold
        if self.phase is None:
            return f"the jobs table has {self.id} in state {self.state}, which says nothing"
        return JobFacts(phase=self.phase, state=self.state, id=self.id, told_by="the jobs table")


def iris_table(file: Path | None, environment: Mapping[str, str]) -> list[IrisJob] | Failure | None:
    """The jobs in a file, else those that the command prints which ``BENCHWRIGHT_IRIS_JOBS`` holds; None without both.

    The command comes from the environment alone and no ``.env``: what lies about in a folder is not run. One that does
    not answer leaves the jobs unknown, with its failure.

    Raises:
        Failure: what is there is no such table, or the variable no command; as ``read_iris_jobs`` (exit 2).
    """
    if file is not None:
        return read_iris_jobs(file)
    try:
        words = shlex.split(environment.get(COMMAND_VARIABLE, ""))
    except ValueError as error:
        raise usage_error(
            COMMAND_VARIABLE,
            str(error).lower(),
            "a command's words",
            code="iris-jobs",
            fix=f"export {COMMAND_VARIABLE}=... in words as for a shell",
        ) from None
    try:
        return ask_iris_jobs(words) if words else None
    except Failure as failure:
        if failure.exit is Exit.USAGE:
            raise
        return failure


def read_iris_jobs(path: Path) -> list[IrisJob]:
    """The jobs in a file, as ``iris query ... -f csv`` prints them.

    Raises:
        Failure: it cannot be read or is of another form; every problem of it (code ``iris-jobs``, exit 2).
    """
    try:
        content = read_bytes(path, limit=_MOST_BYTES)
    except OSError as error:
        raise usage_error(
            str(path), said(error), _FORM, code="iris-jobs", fix="name a table that can be read: --iris-jobs FILE"
        ) from None
    return parse_iris_jobs(content, str(path))


def ask_iris_jobs(words: Sequence[str], *, seconds: float = 120.0) -> list[IrisJob]:
    """The jobs that a command prints, which is run as it stands, without a shell and with nothing to read.

    Raises:
        Failure: there is no such program (exit 3), it fails or takes longer than ``seconds`` (exit 4), or what it
            prints is no such table (exit 2).
    """
    where = " ".join(words[:2])
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise _no_answer(where, f"no answer within {seconds:g} s") from None
    except OSError as error:
        fix = "install it, or give its output in a file with --iris-jobs"
        problem = Problem("iris-jobs", where, said(error), "a program that prints the jobs", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise _no_answer(where, lines[-1][:300] if lines else f"exit {done.returncode} without a word")
    return parse_iris_jobs(done.stdout, f"what {where} prints")


def parse_iris_jobs(content: bytes, where: str) -> list[IrisJob]:
    """The jobs of a table in its order, without their parts: those have one more name in their id.

    Besides ``job_id`` and ``state`` (a number or its word) it may say ``kind`` or ``device_type`` (tpu or gpu), and
    ``created_at`` or ``submitted_at`` (ISO, or since 1970 in s, ms or us). Other columns are passed over.

    Raises:
        Failure: it is no such table; every problem of it (code ``iris-jobs``, exit 2).
    """
    jobs: list[IrisJob] = []
    problems: list[Problem] = []
    line = 1
    try:
        table = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True, restval="")
        columns = [column.strip().casefold() for column in table.fieldnames or ()]
        if lacking := [name for name in ("job_id", "state") if name not in columns]:
            raise usage_error(
                f"{where}: heading",
                f"no {' and no '.join(lacking)}",
                _FORM,
                code="iris-jobs",
                fix="save the table with its heading",
            )
        table.fieldnames = columns
        for cells in table:
            line = table.line_num
            values = {name: value.strip() for name, value in cells.items() if isinstance(value, str)}
            if not values["job_id"].strip("/"):
                problems.append(
                    Problem(
                        "iris-jobs",
                        f"{where}: line {line}: job_id",
                        "missing",
                        "the id of a job",
                        "save the table once more, with its ids",
                    )
                )
                continue
            parts = _ATTEMPT.sub("", values["job_id"]).strip("/").split("/")
            if len(parts) <= 2:
                jobs.append(_job(values, parts[-1]))
    except (csv.Error, UnicodeDecodeError) as error:
        problems.append(
            Problem("iris-jobs", f"{where}: line {line}", str(error), _FORM, "save the table once more, as CSV")
        )
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return jobs


def chosen(jobs: Iterable[IrisJob], *, tags: Sequence[str] = EVALS, since: datetime | None = None) -> list[IrisJob]:
    """The jobs whose name fits one of ``tags`` and that were launched since, one of each name, by name.

    A job that does not say when it was launched is among them. Of several launches under one name, a resume being one,
    the last one counts, but one that is live before all; where it is unclear which is the last, nothing is known of it.
    """
    named: dict[str, list[IrisJob]] = {}
    for job in jobs:
        if any(fnmatchcase(job.name, tag) for tag in tags):
            named.setdefault(job.name, []).append(job)
    last = (_last(launches) for _, launches in sorted(named.items()))
    return [job for job in last if since is None or job.began is None or job.began >= since]


def _job(values: Mapping[str, str], name: str) -> IrisJob:
    state, phase = _state(values["state"])
    kinds = (_KINDS.get(values.get(column, "").casefold()) for column in _KIND_COLUMNS)
    times = [*map(_moment, filter(None, map(values.get, _TIME_COLUMNS))), *_times_in(name)]
    return IrisJob(
        id=values["job_id"],
        name=name,
        state=state,
        phase=phase,
        kind=next(filter(None, kinds), None),
        began=max(filter(None, times), default=None),
    )


def _state(text: str) -> tuple[str, Phase | None]:
    word = text.upper().removeprefix("JOB_STATE_").replace("SUCCEEDED", "COMPLETED")
    by_word = {state: (state, phase) for state, phase in _STATES.values()}
    return _STATES.get(text) or by_word.get(word) or (text or "none", None)


def _last(launches: Sequence[IrisJob]) -> IrisJob:
    """The launch of a name that counts."""
    live = next((job for job in launches if job.phase == "live"), None)
    times = [job.began.timestamp() if job.began else 0.0 for job in launches]
    last = launches[times.index(max(times))]
    if live is not None or len({job.state for job in launches}) == 1 or (all(times) and times.count(max(times)) == 1):
        return live or last
    states = some(sorted({job.state for job in launches}))
    return replace(last, state=f"{states} by its several launches", phase=None)


def _times_in(name: str) -> Iterator[datetime]:
    """The times that a job's name ends with or has in it: ``20260901-120000``, ``20260901``, or since 1970."""
    for day, time in _STAMP.findall(name):
        with contextlib.suppress(ValueError):
            yield datetime.strptime(day + time, "%Y%m%d%H%M%S" if time else "%Y%m%d").replace(tzinfo=UTC)
    for digits in re.findall(r"[0-9]+", name):
        if found := _since_1970(digits):
            yield found


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _since_1970(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _since_1970(digits: str) -> datetime | None:
    """A number of seconds, milliseconds or microseconds, by how many digits it has."""
    if not _EPOCH.fullmatch(digits):
        return None
    return datetime.fromtimestamp(int(digits) / 10.0 ** (len(digits) - 10), UTC)


def _no_answer(where: str, found: str) -> Failure:
    return Failure(Problem("iris-jobs", where, found, "the table of jobs", "run this again"), exit=Exit.REMOTE)
