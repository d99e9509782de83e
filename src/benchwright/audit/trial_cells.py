"""The trials of an eval as a report draws them: a cell for each attempt at a task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import msgspec

from benchwright.audit.facts import EvalFacts
from benchwright.harbor import Job, Trial, TrialState


class TrialCell(msgspec.Struct, frozen=True, gc=False):
    """One attempt at a task, the first one being 1.

    ``why`` explains the state and is empty where there is nothing to say. ``folder`` is the trial's own: an absolute
    path or an address in a bucket, empty where it has none.
    """

    task: str
    attempt: int
    state: TrialState
    reward: float | None = None
    why: str = ""
    folder: str = ""


TrialsOf = Callable[[EvalFacts], Sequence[TrialCell] | None]
"""Finds the trials of an eval; None where they were not read one by one."""


def trial_cells(job: Job, key: str | None = None) -> list[TrialCell]:
    """The cells of a job, or of that one of its evals which Harbor keeps under ``key``, by task and attempt.

    Nothing in a trial tells which attempt it is, so that they are counted in the order in which they began. Surplus
    trials have no cell. An attempt that the job's configuration plans, and that has no folder, is missing; of a task
    that has no folder at all nothing is known here.
    """
    where = {PurePosixPath(folder).name: folder for folder in job.folders}
    evals = defaultdict(list)
    for trial in job.trials:
        if not trial.surplus and key in (None, trial.key):
            evals[trial.task, trial.key].append(trial)
    several = len({key for _, key in evals}) > 1
    cells = []
    for (task, own_key), trials in sorted(evals.items()):
        name = f"{task} ({own_key})" if several else task
        for attempt, trial in enumerate(sorted(trials, key=_age), start=1):
            folder = _folder(job, where, trial.folder)
            cells.append(TrialCell(name, attempt, trial.state, trial.reward, trial.why, folder))
        lacking = range(len(trials) + 1, (job.config.attempts or 0) + 1)
        cells += [TrialCell(name, attempt, "missing", why="no folder") for attempt in lacking]
    return cells


def _age(trial: Trial) -> tuple[bool, float, str]:
    began = trial.started
    return began is None, began.timestamp() if began else 0.0, trial.folder


def _folder(job: Job, where: dict[str, str], name: str) -> str:
    """Where a trial is: in the job's folder, or in that of the shard which its name begins with, if only one can be."""
    shard, _, rest = name.partition("/")
    if not rest:
        return f"{job.folders[0]}/{name}"
    return f"{where[shard]}/{rest}" if len(where) == len(job.folders) else ""
