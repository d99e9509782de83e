"""What keeps Harbor from resuming a job, told before it says so with a traceback: configurations that do not agree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from benchwright.contract import HIDDEN, Problem, counted, names_a_secret
from benchwright.harbor.job_config import read_lock
from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.progress import REJECTED
from benchwright.harbor.remark import named
from benchwright.harbor.resume import ResumePlan
from benchwright.harbor.scan import CONFIG, LOCK, META
from benchwright.harbor.tree import Folder, Odd

_SHARED = (
    "timeout_multiplier",
    "agent_timeout_multiplier",
    "verifier_timeout_multiplier",
    "agent_setup_timeout_multiplier",
    "environment_build_timeout_multiplier",
    "install_only",
    "environment",
    "verifier",
    "user_agent",
    "artifacts",
    "extra_instruction_paths",
    "extra_instructions",
)
"""What a job's configuration hands down to those of its trials; Harbor compares all of it."""
_ADDRESSES = ("api_base", "base_url")
_SETTINGS = msgspec.json.Decoder(dict[str, Any])
_DEFAULT_AGENT: Mapping[str, Any] = {"name": "oracle"}
_ABSENT = object()

Difference = tuple[str, Any, Any]
"""The path of a setting, its value in the trial, and in the job."""


def read_settings(folder: Path, file: str = CONFIG) -> dict[str, Any] | str:
    """A configuration as it stands in a folder, or why it cannot be read."""
    with Folder(folder) as tree:
        try:
            content = tree.read(file)
        except Odd as odd:
            return str(odd)
    if content is None or content.data is None:
        return f"no {file}"
    try:
        return decode(content.data, _SETTINGS)
    except NotJson as error:
        return str(error)


def agents_of(settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The agents of a job's configuration; Harbor's default where it names none."""
    agents = settings.get("agents")
    found = [agent for agent in agents if isinstance(agent, Mapping)] if isinstance(agents, list) else []
    return found or [_DEFAULT_AGENT]


def addresses(settings: Mapping[str, Any]) -> list[str]:
    """Where the agents of a job find its model, by the job's configuration."""
    found = []
    for agent in agents_of(settings):
        kwargs = agent.get("kwargs")
        for place in (agent, kwargs if isinstance(kwargs, Mapping) else {}):
            found += [place[name] for name in _ADDRESSES if isinstance(place.get(name), str) and place[name]]
    return list(dict.fromkeys(found))


def conflicts(plan: ResumePlan) -> Iterator[Problem]:
    """Why Harbor would refuse to go on with the valid trials, or would run all of them again."""
    folder = plan.folder
    settings = read_settings(folder)
    if isinstance(settings, str):
        fix = "restore it; without it Harbor resumes nothing"
        yield Problem("no-job-config", str(folder / CONFIG), settings, "the job's configuration", fix)
        return
    unread: list[str] = []
    differences: dict[Difference, list[str]] = {}
    for name in sorted(plan.kept):
        own = read_settings(folder / name)
        if isinstance(own, str):
            unread.append(name)
            continue
        for path, here, there in _differences(own, settings):
            differences.setdefault((path, _shown(path, here), _shown(path, there)), []).append(name)
    if unread:
        found = f"{len(unread)} without a config.json that can be read: {named(unread)}"
        fix = "restore it, or move those trials away by hand: they will be run again"
        yield Problem("no-trial-config", str(folder), found, "one in each valid trial", fix)
    for (path, here, there), names in differences.items():
        yield _conflict(path, here, there, names)
    yield from _plans(plan)


def _conflict(path: str, here: str, there: str, names: Sequence[str]) -> Problem:
    found = f"{here} in {len(names)} of its trials ({named(names)})"
    expected = f"{there}, as in the job's config.json"
    if path.rpartition(".")[2] in _ADDRESSES and _without_port(here) == _without_port(there):
        fix = "write the same port into the config.json of the job and of every valid trial, as its launch script does"
        return Problem("port-conflict", path, found, expected, fix)
    fix = "resume it with the settings that it was launched with; these trials were run with others"
    return Problem("config-conflict", path, found, expected, fix)


def _plans(plan: ResumePlan) -> Iterator[Problem]:
    """What the job's own files say of its size, where they do not agree."""
    with Folder(plan.folder) as tree:
        try:
            content = tree.read(LOCK)
        except Odd:
            content = None
    locked = sum(read_lock(content.data).values()) if content and content.data else 0
    planned = plan.job.aggregate.planned
    if locked and planned is not None and locked != planned:
        fix = "find out which of them is of another launch; Harbor compares the lock with what it would run"
        yield Problem(
            "plan-conflict", str(plan.folder / LOCK), f"{locked} trials", f"{planned}, as in result.json", fix
        )


def refusals(plan: ResumePlan, *, prepared: int, most: int) -> Iterator[Problem]:
    """Why nobody is to resume a job: someone said so, or it was resumed often enough.

    ``prepared`` is how often it was made ready before, ``most`` how often a job may be resumed.
    """
    folder = plan.folder
    if (folder / REJECTED).exists():
        fix = "ask whoever put it there; it goes only by hand"
        yield Problem("rejected", str(folder / REJECTED), "is there", "nobody who forbids to resume this job", fix)
    told = plan.job.meta.get("RESUME_COUNT", "")
    count = max(int(told) if re.fullmatch(r"[0-9]{1,6}", told) else 0, prepared)
    if count >= most:
        fix = f"look at what keeps failing first; to go on all the same: --max-resume-count {count + 1}"
        found = "resumed once" if count == 1 else f"resumed {count} times"
        yield Problem("resume-limit", str(folder / META), found, f"fewer than {counted(most, 'resume')}", fix)


def _differences(trial: Mapping[str, Any], job: Mapping[str, Any]) -> Iterator[Difference]:
    """Where a trial was not run as its job says. Newer versions write no defaults: what is not in the job is one."""
    for key in _SHARED:
        if key in job:
            yield from _within(key, trial.get(key, _ABSENT), job[key])
    own = trial.get("agent")
    own = own if isinstance(own, Mapping) and own else _DEFAULT_AGENT
    each = [list(_within("agent", own, agent)) for agent in agents_of(job)]
    if all(each):
        yield from min(each, key=len)


def _within(path: str, here: Any, there: Any) -> Iterator[Difference]:
    if isinstance(there, Mapping) and (here is _ABSENT or isinstance(here, Mapping)):
        inner = here if isinstance(here, Mapping) else {}
        for key, value in there.items():
            yield from _within(f"{path}.{key}", inner.get(key, _ABSENT), value)
    elif here is _ABSENT and not there:  # an older version wrote its defaults into one of the two
        return
    elif here != there:
        yield path, here, there


def _shown(path: str, value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    return HIDDEN if names_a_secret(path) else f"{value!r:.80}"


def _without_port(text: str) -> tuple[str, ...] | str:
    try:
        address = urlsplit(text.strip("'"))
        return address.scheme, address.hostname or "", address.path.rstrip("/")
    except ValueError:
        return text
