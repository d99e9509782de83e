"""One look at the trial folders of a job: each read once, from memory where it has not changed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from benchwright.contract import Failure
from benchwright.harbor.job_config import TrialPlan, read_trial_config
from benchwright.harbor.patient import mapped
from benchwright.harbor.tree import ABSENT, MOST_BYTES, Content, Odd, Stamp, Tree, is_young
from benchwright.harbor.trial import NoTrial, Trial, TrialState, read_trial

RESULT, CONFIG, META, LOCK = "result.json", "config.json", "meta.env", "lock.json"
TRIAL_NAME = re.compile(r".*__[0-9A-Za-z]{7}", re.DOTALL)
"""What Harbor calls a trial: the start of the task's name, if any of it is left, and seven letters and digits."""
_LARGE = 2**20
"""Bytes from which results are read one at a time, so that threads do not hold several with all their tokens."""

Known = Mapping[str, tuple[Stamp, Trial]]
"""What an earlier look read of each folder, and the stamp of what it read."""


class Seen(NamedTuple):
    """What a folder turned out to be. ``changing`` says that its result was written while it was read."""

    name: str
    kind: Literal["trial", "large", "job", "other", "gone", "refused"]
    trial: Trial | None = None
    stamp: Stamp = ABSENT
    changing: bool = False
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of a job's folders ``names``, with the stamp of each folder's result.

    ``jobs`` are folders that are jobs themselves, ``others`` those that are no trials, ``gone`` those that went away
    between the listing and the look, ``changing`` those whose result was being written.
    """

    names: Sequence[str]
    stamps: dict[str, Stamp]
    trials: list[Trial]
    jobs: list[str]
    others: list[str]
    gone: list[str]
    changing: list[str]


def look_at(tree: Tree, names: Sequence[str], known: Known, at_once: int) -> Trials:
    """Read the results of some folders that are not ``known``, in ``at_once`` threads where the files are far away.

    Raises:
        Failure: every result that may not be read (exit 3), or that does not come for the moment (exit 4).
    """
    unknown = [name for name in names if name not in known]
    looks = mapped(lambda some: [_look(tree, name, _LARGE) for name in some], unknown, at_once)
    looks = [_look(tree, seen.name, MOST_BYTES) if seen.kind == "large" else seen for seen in looks]
    refusals = [seen.failure for seen in looks if seen.failure]
    if refusals:
        problems = [problem for failure in refusals for problem in failure.problems]
        raise Failure(problems, exit=max(failure.exit for failure in refusals))
    return Trials(
        names,
        stamps={seen.name: seen.stamp for seen in looks} | {name: stamp for name, (stamp, _) in known.items()},
        trials=[trial for _, trial in known.values()] + [seen.trial for seen in looks if seen.trial],
        jobs=[seen.name for seen in looks if seen.kind == "job"],
        others=[seen.name for seen in looks if seen.kind == "other"],
        gone=[seen.name for seen in looks if seen.kind == "gone"],
        changing=[seen.name for seen in looks if seen.changing],
    )


def _look(tree: Tree, name: str, most: int) -> Seen:
    try:
        content = tree.read(f"{name}/{RESULT}", most)
        if content is None:
            return _without_result(tree, name)
        if content.data is None:
            return Seen(name, "large")
        try:
            return Seen(name, "trial", read_trial(as_text(name), content.data), content.stamp)
        except NoTrial as error:
            return _look_again(tree, name, content, error)
    except Odd as odd:
        return Seen(name, "trial", _unread(tree, name, "corrupt", str(odd)))
    except Failure as failure:
        return Seen(name, "refused", failure=failure)


def _look_again(tree: Tree, name: str, first: Content, error: NoTrial) -> Seen:
    """A second look at a result that cannot be read: it may be in the middle of being written, if it is young."""
    content = tree.read(f"{name}/{RESULT}")
    if content is None:
        return Seen(name, "gone")
    changing = content != first or is_young(content.stamp, time.time_ns())
    if content != first and content.data is not None:
        try:
            return Seen(name, "trial", read_trial(as_text(name), content.data), content.stamp, changing=True)
        except NoTrial as again:
            error = again
    if error.job:
        return Seen(name, "job", stamp=content.stamp)
    if not TRIAL_NAME.fullmatch(name) and _plan(tree, name) is None:
        return Seen(name, "other", stamp=content.stamp)
    return Seen(name, "trial", _unread(tree, name, "corrupt", str(error)), content.stamp, changing)


def _without_result(tree: Tree, name: str) -> Seen:
    if TRIAL_NAME.fullmatch(name) or _plan(tree, name):
        if tree.exists(name):
            return Seen(name, "trial", _unread(tree, name, "missing", "no result"))
        return Seen(name, "gone")
    return Seen(name, "other")


def as_text(name: str) -> str:
    """A file's name in a form that can be written anywhere: a byte that is no UTF-8 comes as its number."""
    return name if name.isascii() else os.fsencode(name).decode(errors="backslashreplace")


def real_names(folder: Path) -> dict[str, str]:
    """The names in a folder that are shown in another form, by that form."""
    names = (path.name for path in folder.iterdir())
    return {shown: name for name in names if (shown := as_text(name)) != name}


def _unread(tree: Tree, name: str, state: TrialState, why: str) -> Trial:
    """A trial without a readable result, with what its own configuration says of it."""
    plan = _plan(tree, name) or TrialPlan()
    return Trial(
        folder=as_text(name),
        task=plan.task or as_text(name).rpartition("__")[0] or as_text(name),
        state=state,
        why=why,
        agent=plan.agent,
        model=plan.model,
        source=plan.source,
        job_id=plan.job_id,
    )


def _plan(tree: Tree, name: str) -> TrialPlan | None:
    try:
        content = tree.read(f"{name}/{CONFIG}")
    except Odd:
        return None
    return read_trial_config(content.data) if content and content.data is not None else None
