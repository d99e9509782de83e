"""The rows of trials: what each result file says beyond its score, and what of that a row of the database holds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid5

import msgspec

from benchwright.contract import Exit, Failure, Problem
from benchwright.evaldb import Record
from benchwright.harbor import Folder, Trial
from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.moment import moment
from benchwright.harbor.scan import RESULT, real_names
from benchwright.harbor.tree import Odd
from benchwright.repair.push.storable import Storable

AGENT_TIMEOUT, VERIFIER_TIMEOUT = 3600, 600
"""Seconds that stand for the limits of a task of which only the checksum is known, as in its other rows."""
_NO_PROVIDER = "unknown"
_MOST_TOKENS = 2**31 - 1
"""Of the column's type."""
_SPANS = ("environment_setup", "agent_setup", "agent_execution", "verifier")


_Kind = TypeVar("_Kind", bound=msgspec.Struct)


class _Span(msgspec.Struct):
    started_at: Any = None
    finished_at: Any = None


class _TaskId(msgspec.Struct):
    path: Any = None
    git_url: Any = None
    git_commit_id: Any = None
    org: Any = None
    name: Any = None


class _Model(msgspec.Struct):
    provider: Any = None


class _Agent(msgspec.Struct):
    model_info: _Model | None = None


class _Result(msgspec.Struct):
    """The fields of Harbor's TrialResult that a row takes and that ``harbor.Trial`` does not keep.

    Those that do not count for a trial hold anything: for what is odd about them no reward is lost.
    """

    id: Any = None
    task_id: Any = None
    config: Any = None
    agent_info: _Agent | None = None
    exception_info: Any = None
    environment_setup: Any = None
    agent_setup: Any = None
    agent_execution: Any = None
    verifier: Any = None


_DECODER = msgspec.json.Decoder(_Result)


@dataclass(frozen=True, slots=True)
class TrialRows:
    """A trial as the database has it: its task, itself, and what its model used (None where no token was counted).

    They lack what only the plan knows: the job's id, the model's, and where the traces are.
    """

    trial: Trial
    task: Record
    row: Record
    usage: Record | None


def read_trial_rows(folders: Iterable[Path], trials: Iterable[Trial], job_id: str) -> Iterator[TrialRows]:
    """The rows of the trials that have a readable result, each read once more, one at a time.

    ``folders`` are the job's, several where it was cut into shards. A trial's id is its result's own, so that writing
    it again writes nothing twice.

    Raises:
        Failure: a result is not what it was a moment ago (code ``trial-changed``, exit 5), or names no task that it
            was of (code ``no-checksum``, exit 1).
    """
    storable = Storable()
    with contextlib.ExitStack() as opened:
        trees = {path.name: (opened.enter_context(Folder(path)), real_names(path)) for path in folders}
        alone = next(iter(trees.values())) if len(trees) == 1 else None
        for trial in trials:
            if trial.state not in ("valid", "unscored"):
                continue
            shard, _, name = trial.folder.rpartition("/")
            tree, names = alone or trees[shard]
            yield _rows(trial, _read(tree, trial, names.get(name, name)), job_id, storable)


def _read(tree: Folder, trial: Trial, name: str) -> _Result:
    why = "it is not there any more"
    try:
        content = tree.read(f"{name}/{RESULT}")
        if content is not None and content.data is not None:
            result = decode(content.data, _DECODER)
            if result.id == trial.id:
                return result
            why = "it is another trial's now"
    except (Odd, NotJson) as error:
        why = str(error)
    problem = Problem("trial-changed", trial.folder, why, "the result that was audited", "run this again")
    raise Failure(problem, exit=Exit.REFUSED)


def _rows(trial: Trial, result: _Result, job_id: str, storable: Storable) -> TrialRows:
    if not trial.checksum:
        found, fix = (
            "its result names no task_checksum",
            "restore it, or move the trial away by hand and resume the run",
        )
        problem = Problem("no-checksum", trial.folder, found, "the checksum of its task", fix)
        raise Failure(problem)
    name = storable.text(trial.folder.rpartition("/")[2])
    id = _id(trial, job_id)
    row: Record = {
        "id": id,
        "trial_name": name,
        "task_checksum": storable.text(trial.checksum),
        "reward": trial.reward,
        "started_at": time_text(trial.started),
        "ended_at": time_text(trial.finished),
        "config": storable(result.config if isinstance(result.config, Mapping) else {}),
        "exception_info": storable(result.exception_info) if isinstance(result.exception_info, Mapping) else None,
    }
    for span in _SPANS:
        times = _part(getattr(result, span), _Span)
        row |= {
            f"{span}_started_at": time_text(moment(times.started_at)),
            f"{span}_ended_at": time_text(moment(times.finished_at)),
        }
    task = _task(trial, _part(result.task_id, _TaskId), storable)
    return TrialRows(trial, task, row, _usage(id, trial, result, storable))


def _part(value: Any, kind: type[_Kind]) -> _Kind:
    """A part of a result, without any field where it is none."""
    return msgspec.convert(value, kind) if isinstance(value, Mapping) else kind()


def _id(trial: Trial, job_id: str) -> str:
    """The trial's own id; one that follows from its job and name where it has none, or none that is an id."""
    try:
        return str(UUID(trial.id or ""))
    except ValueError:
        return str(uuid5(UUID(job_id), trial.folder))


def _task(trial: Trial, place: _TaskId, storable: Storable) -> Record:
    """The task's row. Of its path only what is the same on every machine is kept."""
    path = place.path if isinstance(place.path, str) else ""
    package = "/".join(part for part in (place.org, place.name) if isinstance(part, str))
    if not place.git_url:
        path = path.rstrip("/").rpartition("/")[2]
    return {
        "checksum": storable.text(trial.checksum or ""),
        "source": storable.text(trial.source) if trial.source else None,
        "name": storable.text(trial.task),
        "agent_timeout_sec": AGENT_TIMEOUT,
        "verifier_timeout_sec": VERIFIER_TIMEOUT,
        "git_url": storable.text(place.git_url) if isinstance(place.git_url, str) else None,
        "git_commit_id": storable.text(place.git_commit_id) if isinstance(place.git_commit_id, str) else None,
        "path": storable.text(path.lstrip("/") or package or trial.task),
    }


def _usage(id: str, trial: Trial, result: _Result, storable: Storable) -> Record | None:
    if trial.tokens_in is None and trial.tokens_out is None:
        return None
    model = result.agent_info.model_info if result.agent_info else None
    provider = model.provider if model and isinstance(model.provider, str) and model.provider else _NO_PROVIDER
    return {
        "trial_id": id,
        "model_provider": storable.text(provider),
        "n_input_tokens": _tokens(trial.tokens_in),
        "n_output_tokens": _tokens(trial.tokens_out),
    }


def _tokens(count: int | None) -> int | None:
    return count if count is not None and 0 <= count <= _MOST_TOKENS else None


def time_text(time: datetime | None) -> str | None:
    """A time as the database is told it, in UTC."""
    return time.astimezone(UTC).isoformat() if time else None
