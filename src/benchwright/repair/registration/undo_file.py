"""The undo file of a repair: its plan with every row that it changes or deletes, written before the first write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from benchwright.contract import Exit, Failure, Problem, said, some, usage_error
from benchwright.evaldb import Call, Insert, Record, Update, Write, Written
from benchwright.evaldb.write_steps import named
from benchwright.evaldb.writes import OWNED
from benchwright.files import read_json, write_json
from benchwright.repair.push.names import made_id

_FORM = 1
_MOST_BYTES = 2**30
_DELETED = {
    "delete_job": (
        ("sandbox_jobs", "job"),
        ("sandbox_trials", "trials"),
        ("sandbox_trial_model_usage", "usage"),
    ),
    "drop_model": (("models", "model"),),
    "drop_benchmark": (("benchmarks", "benchmark"), ("sandbox_benchmark_tasks", "tasks")),
}
"""The rows that a function deletes, by the argument that has them: what is referred to comes first."""
_ARGUMENTS = {
    "change_usage": {"row_owner", "target", "seen", "wanted"},
    "delete_job": {"row_owner", "job", "trials", "usage"},
    "drop_model": {"model"},
    "drop_benchmark": {"benchmark", "tasks"},
}
"""The functions that repairs call, and what each is given."""
_JOBS = "sandbox_jobs"
_USER = OWNED[_JOBS]
_TASKS = "sandbox_benchmark_tasks"
_MADE: Mapping[str, Callable[[Record, Sequence[Record]], Call]] = {
    "models": lambda record, tasks: Call("drop_model", {"model": record}),
    "benchmarks": lambda record, tasks: Call("drop_benchmark", {"benchmark": record, "tasks": list(tasks)}),
}
"""What drops a row that a repair makes, with the tasks of a benchmark."""
State = Literal["writing", "written", "left", "undoing", "undone"]
"""``writing`` until all of the plan is done; ``left`` where somebody else's write, or another wish, took its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One repair of one row: ``what`` is its subcommand, ``subject`` the row's id, ``owner`` whose it is.

    ``wanted`` is what the row is to point at, the id of a model or benchmark or a link; empty where that was not named.
    ``changes`` are what it does and ``remarks`` what it leaves, in words. Without a ``plan`` nothing is to be done.
    """

    what: str
    subject: str
    owner: str
    place: str
    plan: tuple[Write, ...]
    wanted: str = ""
    changes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def undo(self) -> tuple[Write, ...]:
        """The plan that takes this one back."""
        tasks = [one.record for one in self.plan if isinstance(one, Insert) and one.table == _TASKS]
        return tuple(one for write in reversed(self.plan) for one in inverse(write, tasks))

    @property
    def users(self) -> frozenset[str]:
        """Whose rows it is of, by all that it says: a file may have been edited since, or be somebody else's."""
        return frozenset([self.owner, *(str(user) for write in self.plan for user in _users(write))])

    def with_rows(self, written: Sequence[Written]) -> Repair:
        """The same, with what it made as the database has it, filled columns too: as such it can be dropped."""
        rows = {named(one.write): one.after for one in written if isinstance(one.write, Insert)}
        plan = [
            replace(write, record=rows.get(named(write)) or write.record) if isinstance(write, Insert) else write
            for write in self.plan
        ]
        return replace(self, plan=tuple(plan))

    @property
    def taken_back(self) -> Repair:
        """The same, in the words of its undoing."""
        return replace(self, changes=tuple(f"taken back: {change}" for change in self.changes), remarks=())


@dataclass(frozen=True, slots=True)
class UndoFile:
    """A repair in a file, and how far it came."""

    path: Path
    repair: Repair
    state: State

    def become(self, state: State) -> UndoFile:
        """The same in another state, on disk when this returns."""
        changed = replace(self, state=state)
        changed.write()
        return changed

    def write(self) -> None:
        """Write it, and have it on the disk before anything else is written anywhere.

        Raises:
            Failure: it cannot be written (code ``undo-not-written``, exit 3), and then nothing may be.
        """
        repair = self.repair
        content = {
            "form": _FORM,
            "state": self.state,
            "what": repair.what,
            "subject": repair.subject,
            "owner": repair.owner,
            "place": repair.place,
            "wanted": repair.wanted,
            "changes": list(repair.changes),
            "plan": [_as_json(write) for write in repair.plan],
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_json(self.path, content, indent=1)
        except OSError as error:
            found = f"cannot be written ({said(error)})"
            fix = "name another folder with --undo-dir"
            problem = Problem("undo-not-written", str(self.path), found, "a file that can be", fix)
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None

    def check_own(self, names: Collection[str]) -> None:
        """Whether all that is written, or taken back, is of rows of these users.

        Raises:
            Failure: something is somebody else's (code ``not-yours``, exit 5).
        """
        others = sorted(self.repair.users - set(names))
        if others:
            found = f"it is of a row of {some(others)}'s"
            fix = "leave it, and tell its owner"
            problem = Problem("not-yours", str(self.path), found, "a row of yours", fix)
            raise Failure(problem, exit=Exit.REFUSED)


def read_undo(path: Path) -> UndoFile:
    """An undo file.

    Raises:
        Failure: there is none, or it is none of ours (code ``no-undo-file``, exit 2).
    """
    try:
        content = read_json(path, limit=_MOST_BYTES)
        if content["form"] != _FORM or content["state"] not in get_args(State):
            raise ValueError
        repair = Repair(
            what=str(content["what"]),
            subject=str(content["subject"]),
            owner=str(content["owner"]),
            place=str(content["place"]),
            plan=tuple(_planned(_write(one)) for one in content["plan"]),
            wanted=str(content.get("wanted", "")),
            changes=tuple(content["changes"]),
        )
    except OSError as error:
        raise usage_error(
            str(path), said(error), "an undo file", code="no-undo-file", fix="name the file that the repair printed"
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise usage_error(
            str(path),
            "no undo file of this version",
            "an undo file",
            code="no-undo-file",
            fix="name the file that the repair printed, and undo it with the version that wrote it",
        ) from None
    return UndoFile(path, repair, content["state"])


def inverse(write: Write, tasks: Sequence[Record]) -> Iterator[Write]:
    """The writes that take one back. What somebody changed meanwhile is contested when they are written.

    ``tasks`` are those of a benchmark that was made, which go with it. What somebody refers to meanwhile is kept.
    """
    if isinstance(write, Insert):
        if write.table != _TASKS:
            yield _MADE[write.table](write.record, tasks)
    elif isinstance(write, Update):
        before = {column: write.read[column] for column in write.values}
        yield Update(write.table, write.key, write.owner, read=write.values, values=before)
    else:
        yield from _inverse(write.function, write.arguments)


def _inverse(function: str, arguments: Mapping[str, Any]) -> Iterator[Write]:
    if function == "change_usage":
        yield Call(function, {**arguments, "seen": arguments["wanted"], "wanted": arguments["seen"]})
        return
    for table, name in _DELETED[function]:
        rows = arguments[name]
        yield from (Insert(table, row) for row in (rows if isinstance(rows, list) else [rows]))


def _users(write: Write) -> Iterator[Any]:
    """Whose rows a write that a repair plans is of, by its owner and by the rows that it holds."""
    if isinstance(write, Update):
        yield write.owner
        records = [write.read, write.values]
    elif isinstance(write, Call):
        yield from (write.arguments[name] for name in ("row_owner",) if name in write.arguments)
        records = [write.arguments[name] for name in ("job",) if name in write.arguments]
    else:
        records = []
    yield from (record[_USER] for record in records if _USER in record)


def _planned(write: Write) -> Write:
    """A write that a file holds, if it is one that repairs plan: no other is done, or taken back.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it is not.
    """
    tuple(inverse(write, ()))  # it can be taken back
    if isinstance(write, Insert):
        known = write.table == _TASKS or write.record["id"] == made_id(write.table, write.record["name"])
    elif isinstance(write, Update):
        known = write.table == _JOBS
    else:
        known = write.arguments.keys() == _ARGUMENTS[write.function]
        if write.function == "delete_job":  # what is put back below a row is put back below this one alone
            job, trials, usage = (write.arguments[name] for name in ("job", "trials", "usage"))
            ids = {trial["id"] for trial in trials}
            known &= _USER in job and all(trial["job_id"] == job["id"] for trial in trials)
            known &= all(one["trial_id"] in ids for one in usage)
    if not known:
        raise ValueError
    return write


def _as_json(write: Write) -> dict[str, Any]:
    if isinstance(write, Insert):
        return {"insert": write.table, "record": write.record}
    if isinstance(write, Call):
        return {"call": write.function, "arguments": dict(write.arguments)}
    parts = {"key": dict(write.key), "owner": write.owner, "read": dict(write.read), "values": dict(write.values)}
    return {"update": write.table, **parts}


def _write(content: Mapping[str, Any]) -> Write:
    parts = dict(content)
    if "insert" in parts:
        return Insert(parts.pop("insert"), **parts)
    return Call(parts.pop("call"), **parts) if "call" in parts else Update(parts.pop("update"), **parts)
