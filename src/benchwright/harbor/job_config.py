"""What was to be run: a job's ``config.json`` and ``meta.env``, and the ``config.json`` of a trial without a result."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import Any, Literal

import msgspec

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.number import count
from benchwright.harbor.trial import eval_key

_AGENT = "oracle"
"""What Harbor takes where the configuration names no agent, which newer versions leave out when it is this one."""


class AgentChoice(msgspec.Struct, frozen=True):
    """An agent that a job runs: its name (or import path), and its model with the provider."""

    name: str
    model: str | None = None


class JobConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A job's configuration, ``ok`` or else ``missing`` or ``corrupt``, with the reason in ``why``.

    ``attempts`` is how often each agent tries each task, None where no configuration says so. ``datasets`` are the
    paths of the datasets, or their names, with ``@version`` where one was chosen. ``tasks`` are the names or paths of
    tasks that were listed one by one.
    """

    state: Literal["ok", "missing", "corrupt"]
    why: str = ""
    attempts: int | None = None
    agents: tuple[AgentChoice, ...] = ()
    datasets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is one to read."""
        return self.state == "ok"


NO_CONFIG = JobConfig(state="missing", why="no config.json")


class TrialPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial was to do, from its own configuration: enough to say whose slot it takes."""

    task: str | None = None
    source: str | None = None
    agent: str | None = None
    model: str | None = None
    job_id: str | None = None


class _Agent(msgspec.Struct):
    name: Any = None
    import_path: Any = None
    model_name: Any = None


class _Place(msgspec.Struct):
    name: Any = None
    path: Any = None
    source: Any = None
    version: Any = None
    ref: Any = None


class _JobConfig(msgspec.Struct):
    n_attempts: Any = None
    agents: list[_Agent] | None = None
    datasets: list[_Place] | None = None
    tasks: list[_Place] | None = None
    trial_name: Any = None


class _TrialConfig(msgspec.Struct):
    task: _Place | None = None
    agent: _Agent | None = None
    job_id: Any = None


class _LockedTrial(msgspec.Struct):
    task: _Place | None = None
    agent: _Agent | None = None


class _Lock(msgspec.Struct):
    trials: list[_LockedTrial] | None = None


_JOB_CONFIG = msgspec.json.Decoder(_JobConfig)
_TRIAL_CONFIG = msgspec.json.Decoder(_TrialConfig)
_LOCK = msgspec.json.Decoder(_Lock)


def read_job_config(data: bytes) -> JobConfig:
    """The configuration that a job's ``config.json`` holds; newer versions leave out what is Harbor's default."""
    try:
        config = decode(data, _JOB_CONFIG)
    except NotJson as error:
        return JobConfig(state="corrupt", why=str(error))
    if config.trial_name is not None:
        return JobConfig(state="corrupt", why="the configuration of a trial")
    return JobConfig(
        state="ok",
        attempts=1 if config.n_attempts is None else count(config.n_attempts) or None,
        agents=tuple(map(_choice, config.agents or [_Agent(_AGENT)])),
        datasets=tuple(filter(None, map(_called, config.datasets or []))),
        tasks=tuple(filter(None, (_text(task.name) or _text(task.path) for task in config.tasks or []))),
    )


def read_trial_config(data: bytes) -> TrialPlan | None:
    """What a trial's ``config.json`` says of it, None where it cannot be read or is another program's."""
    try:
        config = decode(data, _TRIAL_CONFIG)
    except NotJson:
        return None
    if config.task is None:
        return None
    agent = _choice(config.agent or _Agent())
    name = _text(config.task.name) or (_text(config.task.path) or "").rstrip("/").rpartition("/")[2]
    return TrialPlan(
        task=name or None,
        source=_text(config.task.source),
        agent=agent.name or None,
        model=agent.model,
        job_id=_text(config.job_id),
    )


def read_lock(data: bytes) -> dict[str, int]:
    """How many trials a job's ``lock.json`` lists for each key of Harbor's; none where it cannot be read."""
    try:
        lock = decode(data, _LOCK)
    except NotJson:
        return {}
    return dict(Counter(map(_locked_key, lock.trials or ())))


def _locked_key(trial: _LockedTrial) -> str:
    agent = _choice(trial.agent or _Agent())
    model = (agent.model or "").partition("/")[2] or agent.model
    return eval_key(agent.name or None, model, _text(trial.task.source) if trial.task else None)


def read_meta(data: bytes) -> dict[str, str]:
    """The variables that ``meta.env`` sets: ``NAME=VALUE`` lines, quoted as for a shell or not."""
    found = {}
    for line in data.decode(errors="replace").splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and name.isidentifier():
            found[name] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    try:
        return "".join(shlex.split(value, comments=False)) if value[:1] in {"'", '"'} else value.strip()
    except ValueError:
        return value.strip()


def _called(dataset: _Place) -> str | None:
    name, version = _text(dataset.name), _text(dataset.version) or _text(dataset.ref)
    return f"{name}@{version}" if name and version and "@" not in name else name or _text(dataset.path)


def _choice(agent: _Agent) -> AgentChoice:
    return AgentChoice(_text(agent.name) or _text(agent.import_path) or "", _text(agent.model_name))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
