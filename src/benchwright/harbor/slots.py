"""Which slot of the plan a trial takes: nothing in a trial tells its attempt, only how many of a task there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

import msgspec

from benchwright.contract import counted
from benchwright.harbor.job_config import JobConfig
from benchwright.harbor.remark import Remark, named
from benchwright.harbor.trial import Trial

_NAME_LENGTH = 32
"""Of a task's name in the name of a trial's folder: longer names may share it."""
SURPLUS_CODES = frozenset({"attempts-unknown", "copied-trials", "surplus-trials"})
"""The remarks of ``with_surplus``."""
_Runner = tuple[str | None, str | None, str | None]
"""Agent, model without the provider, and dataset."""


def folder_prefix(task: str) -> str:
    """What the folders of a task's trials begin with, before ``__`` and seven letters and digits."""
    return task.rpartition("/")[2][:_NAME_LENGTH].rstrip("_-")


def with_owners(trials: Sequence[Trial]) -> list[Trial]:
    """The trials, those without a readable result under the names of the task, agent, model and dataset they belong to.

    A trial's own configuration spells them differently, and may be gone. Where only the folder's name is left and
    several tasks begin with it, the one with the fewest trials takes it.
    """
    readable = [trial for trial in trials if trial.readable]
    if len(readable) == len(trials):
        return list(trials)
    tasks = Counter(trial.task for trial in readable)
    by_last, by_prefix = defaultdict(set), defaultdict(set)
    for task in tasks:
        by_last[task.rpartition("/")[2]].add(task)
        by_prefix[folder_prefix(task)].add(task)
    runners = {(trial.agent, trial.model, trial.source) for trial in readable}
    settled = []
    for trial in trials:
        owned = trial
        if not trial.readable:
            meant = {trial.task} & tasks.keys() or by_last.get(trial.task.rpartition("/")[2], set())
            if trial.task == (prefix := trial.folder.rpartition("__")[0]):  # no configuration names the task
                meant = meant or by_prefix.get(prefix, set())
            task = min(meant, key=lambda name: (tasks[name], name), default=trial.task)
            tasks[task] += 1
            agent, model, source = _runner(trial, runners)
            owned = msgspec.structs.replace(trial, task=task, agent=agent, model=model, source=source)
        settled.append(owned)
    return settled


def _runner(trial: Trial, runners: set[_Runner]) -> _Runner:
    """The agent, model and dataset that a trial's configuration means, among those that results name."""
    own = (trial.agent, trial.model, trial.source)
    for known in (
        {runner for runner in runners if runner == own},
        {runner for runner in runners if runner[0] == trial.agent and _same_model(trial.model, runner[1])},
        {runner for runner in runners if runner[0] == trial.agent},
        runners,
    ):
        if len(known) == 1:
            return next(iter(known))
    return trial.agent, (trial.model or "").partition("/")[2] or trial.model, trial.source


def _same_model(configured: str | None, recorded: str | None) -> bool:
    """Whether a model with its provider is the recorded one, which is without."""
    return configured == recorded or (configured or "").partition("/")[2] == recorded


def with_surplus(trials: Sequence[Trial], config: JobConfig, job_id: str | None) -> tuple[list[Trial], list[Remark]]:
    """The trials, those that exceed the attempts of their task marked as surplus, and what there is to say of it.

    Those that are marked already stay so, and take no slot. Of too many the newest finished ones count, before any
    without a result, and a job's own before those of another job. A second copy of the same trial never counts beside
    the first. Where no configuration says how many attempts there are, the number that most tasks have is taken for it.
    """
    slots = defaultdict(list)
    for trial in trials:
        if not trial.surplus:
            slots[trial.agent, trial.model, trial.source, trial.task].append(trial)
    attempts = config.attempts
    remarks = []
    if attempts is None and slots:
        sizes = Counter(map(len, slots.values()))
        attempts = max(sizes, key=lambda size: (sizes[size], size))
        text = f"no configuration says how many attempts a task has: {attempts}, as most tasks do, is taken for it"
        remarks.append(Remark("attempts-unknown", "warn", text))
    agents = _agents(trials, config)
    dropped, copies = set(), set()
    for (agent, model, _, _), group in slots.items():
        ids = {trial.id or trial.folder for trial in group}
        most = (attempts or 1) * agents[agent, model]
        if len(group) <= most and len(ids) == len(group):
            continue
        kept = []
        for trial in sorted(group, key=lambda trial: _rank(trial, job_id)):
            if (trial.id or trial.folder) in ids:
                ids.remove(trial.id or trial.folder)
                kept.append(trial)
            else:
                copies.add(trial.folder)
        dropped |= {trial.folder for trial in kept[most:]}
    if copies:
        remarks.append(copied(copies))
    if dropped:
        text = f"{counted(len(dropped), 'trial')} beyond the {attempts} attempts of a task, and not counted"
        remarks.append(Remark("surplus-trials", "context", f"{text}: {named(sorted(dropped))}"))
    out = dropped | copies
    if not out:
        return list(trials), remarks
    return [msgspec.structs.replace(one, surplus=True) if one.folder in out else one for one in trials], remarks


def copied(folders: Collection[str]) -> Remark:
    """What is said of the folders of trials that are there already."""
    what = "1 trial that is" if len(folders) == 1 else f"{len(folders):,} trials that are"
    return Remark("copied-trials", "warn", f"{what} there already, and not counted again: {named(sorted(folders))}")


def _rank(trial: Trial, job_id: str | None) -> tuple[bool, int, float, str]:
    """What is first is kept first."""
    foreign = bool(job_id and trial.job_id and trial.job_id != job_id)
    readable = 0 if trial.readable else 1 if trial.state == "corrupt" else 2
    newest = -trial.finished.timestamp() if trial.finished else 0.0
    return foreign, readable, newest, trial.folder


def _agents(trials: Iterable[Trial], config: JobConfig) -> Counter[tuple[str | None, str | None]]:
    """How many of the job's agents record the same agent and model, with other settings: at least one."""
    seen = {(trial.agent, trial.model) for trial in trials}
    found: Counter[tuple[str | None, str | None]] = Counter()
    others = list(config.agents)
    for agent, model in seen:
        same = [choice for choice in config.agents if choice.name == agent and _same_model(choice.model, model)]
        found[agent, model] = len(same)
        others = [choice for choice in others if choice not in same]
    nameless = [runner for runner in seen if not found[runner]]  # agents by import path bear a name of their own
    for runner in nameless:
        found[runner] = max(1, len(others) // len(nameless)) if runner[0] else max(1, len(config.agents))
    return found
