"""What has to leave a job's folder before Harbor resumes it: what it would run again, and what it would delete.

``harbor job resume`` deletes every folder without a ``result.json``, whoever made it, and every trial whose exception
is in its filter, rewarded or not. It keeps a result that it cannot read, runs that trial again beside it, and refuses
to start where more trials are left than were planned (``harbor.job.Job._maybe_init_existing_job`` and
``_init_remaining_trial_configs`` of 0.25.0).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from benchwright.harbor.job import Job
from benchwright.harbor.scan import RESULT, as_text
from benchwright.harbor.slots import with_surplus
from benchwright.harbor.tree import unreadable
from benchwright.harbor.trial import Trial

MoveKind = Literal["unscored", "corrupt", "missing", "surplus", "foreign"]
"""Trials without a reward, with a result that cannot be read, without one, or beyond the plan; what is no trial."""


@dataclass(frozen=True, slots=True)
class Move:
    """A folder that has to leave: its name as the file system has it, why, and the exception that the trial had."""

    name: str
    kind: MoveKind
    why: str
    error: str | None = None


@dataclass(frozen=True)
class ResumePlan:
    """What leaves a job's folder, sorted by name, and the valid trials that stay, by the names of their folders."""

    folder: Path
    job: Job
    moves: tuple[Move, ...]
    kept: Mapping[str, Trial]

    def of_kind(self, *kinds: MoveKind) -> list[Move]:
        """The moves of some kinds."""
        return [move for move in self.moves if move.kind in kinds]


def plan_resume(folder: Path, job: Job) -> ResumePlan:
    """What leaves the folder of a job, which was read from this folder alone.

    Exactly the trials without a reward leave, those of an ``AgentTimeoutError`` with one stay. Of too many valid trials
    of a task the newest stay, as they do in the figures.

    Raises:
        Failure: the folder may not be listed (exit 3), or does not answer (exit 4).
    """
    trials = {trial.folder: trial for trial in job.trials}
    valid = [msgspec.structs.replace(one, surplus=False) for one in job.trials if one.state == "valid"]
    slots, _ = with_surplus(valid, job.config, job.aggregate.id)
    surplus = {one.folder for one in slots if one.surplus}
    moves, kept = [], {}
    for name in _subfolders(folder):
        trial = trials.get(as_text(name))
        if trial is None:
            if not (folder / name / RESULT).exists():
                moves.append(Move(name, "foreign", "no trial, and Harbor deletes what has no result.json"))
        elif trial.state != "valid":
            moves.append(Move(name, trial.state, trial.why, trial.exception))
        elif trial.folder in surplus:
            moves.append(Move(name, "surplus", "beyond the attempts of its task", trial.exception))
        else:
            kept[name] = trial
    return ResumePlan(folder, job, tuple(sorted(moves, key=lambda move: move.name)), kept)


def _subfolders(folder: Path) -> list[str]:
    """The names of all folders in a folder, hidden ones too: Harbor's resume makes no difference."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError as error:
        raise unreadable(str(folder), error) from None


def outside(moves: Iterable[Move], filter: Collection[str]) -> Counter[str]:
    """The exceptions of trials to be run again that a filter leaves as they are, with how many have each."""
    return Counter(move.error for move in moves if move.kind == "unscored" and move.error and move.error not in filter)


def endangered(kept: Iterable[Trial], filter: Collection[str]) -> list[Trial]:
    """The valid trials that a resume with a filter would delete, for the exception that they recorded all the same."""
    return [trial for trial in kept if trial.exception in filter]
