"""One trial of a job: what its ``result.json`` says of it, or that there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.moment import moment, seconds
from benchwright.harbor.number import count, finite

TrialState = Literal["valid", "unscored", "corrupt", "missing"]
"""It has a finite reward; it ended without one; its result cannot be read; it has no result."""

REWARD = "reward"
"""The key of a verifier's rewards that a score is made of."""


class Trial(msgspec.Struct, frozen=True, gc=False, array_like=True, kw_only=True):
    """A trial as its folder shows it. A struct and not a dataclass, since 6,300 of them are remembered in one look.

    ``folder`` is its name in the job's folder, ``why`` what explains its state. ``reward`` is the value of
    ``reward_key`` among ``rewards``. ``exception`` is the class that the trial counts under, ``step_exceptions`` those
    that steps of it recorded. ``agent_seconds`` is how long its agent was at work, tokens and ``requests`` to the model
    are counts; None is not recorded. ``model`` is without the provider. ``id`` names the trial's run, ``job_id`` the
    job that it was run by. ``surplus`` marks what exceeds the slots of the plan (see ``slots``).
    """

    folder: str
    task: str
    state: TrialState
    why: str = ""
    reward: float | None = None
    reward_key: str | None = None
    rewards: dict[str, float | None] = {}
    exception: str | None = None
    step_exceptions: tuple[str, ...] = ()
    started: datetime | None = None
    finished: datetime | None = None
    agent_seconds: float | None = None
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    requests: int | None = None
    agent: str | None = None
    model: str | None = None
    source: str | None = None
    checksum: str | None = None
    id: str | None = None
    job_id: str | None = None
    surplus: bool = False

    @property
    def attempted(self) -> bool:
        """Whether it left a result, readable or not."""
        return self.state != "missing"

    @property
    def readable(self) -> bool:
        """Whether it left a result that can be read, with a reward or without."""
        return self.state in ("valid", "unscored")

    @property
    def key(self) -> str:
        """The key of Harbor's ``stats.evals`` that it counts in, in the spelling of versions from 0.6 on."""
        return eval_key(self.agent, self.model, self.source)


def eval_key(agent: str | None, model: str | None, source: str | None) -> str:
    """How Harbor names an agent, a model and a dataset as one, such as ``terminus-2__gpt-5__terminal-bench``."""
    return "__".join(part for part in (agent or "unknown", model, source or "adhoc") if part)


class _Verified(msgspec.Struct, gc=False):
    rewards: Any = None


class _Exception(msgspec.Struct, gc=False):
    exception_type: str | None = None


class _Span(msgspec.Struct, gc=False):
    started_at: Any = None
    finished_at: Any = None


class _Metadata(msgspec.Struct, gc=False):
    api_request_times_msec: msgspec.Raw = msgspec.Raw()
    n_episodes: Any = None

    @property
    def requests(self) -> int | None:
        """How often the model answered: once an episode, but never where no request was timed.

        An agent counts its first episode before it asks, so that the episodes alone prove no answer.
        """
        times = bytes(self.api_request_times_msec)
        timed = times.startswith(b"[")
        if timed and not times.strip(b"[] \t\r\n"):
            return 0
        episodes = count(self.n_episodes)
        return times.count(b",") + 1 if episodes is None and timed else episodes


class _AgentResult(msgspec.Struct, gc=False):
    n_input_tokens: Any = None
    n_cache_tokens: Any = None
    n_output_tokens: Any = None
    metadata: _Metadata | None = None


class _Step(msgspec.Struct, gc=False):
    agent_result: _AgentResult | None = None
    exception_info: _Exception | None = None
    agent_execution: _Span | None = None


class _Model(msgspec.Struct, gc=False):
    name: str | None = None


class _Agent(msgspec.Struct, gc=False):
    name: str | None = None
    model_info: _Model | None = None


class _Config(msgspec.Struct, gc=False):
    job_id: str | None = None


class _Result(msgspec.Struct, gc=False):
    """The fields of Harbor's TrialResult that count, and one of a JobResult's, which a nested copy of a job has."""

    id: str | None = None
    task_name: str | None = None
    task_checksum: str | None = None
    source: str | None = None
    config: _Config | None = None
    agent_info: _Agent | None = None
    agent_result: _AgentResult | None = None
    verifier_result: _Verified | None = None
    exception_info: _Exception | None = None
    started_at: Any = None
    finished_at: Any = None
    agent_execution: _Span | None = None
    step_results: list[_Step] | None = None
    schema_version: Any = None
    n_total_trials: Any = None


_Work = tuple[float | None, int | None, int | None, int | None, int | None]
_RESULT = msgspec.json.Decoder(_Result)


class NoTrial(ValueError):
    """The file is no result of a trial; ``job`` says whether it is a whole job's."""

    def __init__(self, text: str, *, job: bool = False) -> None:
        self.job = job
        super().__init__(text)


def read_trial(folder: str, data: bytes) -> Trial:
    """The trial that the content of ``<folder>/result.json`` describes, valid or unscored.

    It is valid where its rewards hold a finite number: under ``reward``, or under their only key. ``true`` counts as 1,
    as it does for Harbor. An exception beside a reward takes nothing from it. What only a step recorded is the trial's
    exception as far as Harbor counts it: from 0.26 on, the first version to number the schema of its results.

    Raises:
        NoTrial: the content cannot be read, or is something else.
    """
    try:
        result = decode(data, _RESULT)
    except NotJson as error:
        raise NoTrial(str(error)) from None
    if not result.task_name:
        raise NoTrial("no result of a trial: it names no task", job=result.n_total_trials is not None)
    rewards = result.verifier_result.rewards if result.verifier_result else None
    reward, key, lack = reward_of(rewards)
    exception = _name(result.exception_info)
    steps = result.step_results or ()
    step_exceptions = tuple(name for step in steps if (name := _name(step.exception_info)))
    if exception is None and step_exceptions and result.schema_version is not None:
        exception = step_exceptions[-1]  # the one that ended the trial, if any did
    work = _work(result) if result.agent_result or not steps else _sum(map(_work, steps))
    agent = result.agent_info
    return Trial(
        folder=folder,
        task=result.task_name,
        state="unscored" if reward is None else "valid",
        why=_why(reward, key, lack, exception, step_exceptions),
        reward=reward,
        reward_key=key,
        rewards={name: finite(value) for name, value in rewards.items()} if isinstance(rewards, dict) else {},
        exception=exception,
        step_exceptions=step_exceptions,
        started=moment(result.started_at),
        finished=moment(result.finished_at),
        agent_seconds=work[0],
        tokens_in=work[1],
        tokens_cached=work[2],
        tokens_out=work[3],
        requests=work[4],
        agent=agent.name if agent else None,
        model=agent.model_info.name if agent and agent.model_info else None,
        source=result.source,
        checksum=result.task_checksum,
        id=result.id,
        job_id=result.config.job_id if result.config else None,
    )


def reward_of(rewards: Any) -> tuple[float | None, str | None, str]:
    """The number that a verifier's rewards amount to and its key, or what they lack to amount to one."""
    if rewards is None:
        return None, None, "no rewards"
    if not isinstance(rewards, Mapping):
        return None, None, "rewards that are no mapping"
    if not rewards:
        return None, None, "empty rewards"
    if REWARD not in rewards and len(rewards) > 1:
        return None, None, f"rewards {', '.join(sorted(rewards))}, none of which is called {REWARD!r}"
    key = REWARD if REWARD in rewards else next(iter(rewards))
    reward = finite(rewards[key])
    return reward, key, "" if reward is not None else f"{key} is {_shown(rewards[key])}"


def _shown(value: Any) -> str:
    """What stands where a reward belongs."""
    if value is None:
        return "empty"
    if isinstance(value, int | float):
        return "too large a number"
    return value if value in ("NaN", "Infinity", "-Infinity") else f"{value!r:.40}"


def _why(reward: float | None, key: str | None, lack: str, exception: str | None, steps: tuple[str, ...]) -> str:
    ended = exception or (f"{steps[0]} in a step" if steps else None)
    if reward is None:
        return f"{ended}, {lack}" if ended else lack
    scored = "" if key == REWARD else f"scored under {key!r}"
    return ", ".join(part for part in (ended and f"{ended}, scored all the same", scored) if part)


def _name(exception: _Exception | None) -> str | None:
    return (exception.exception_type or "unnamed") if exception else None


def _work(part: _Result | _Step) -> _Work:
    """Seconds of the agent, its tokens in, cached and out, and requests, as a trial or a step of it records them."""
    span, context = part.agent_execution, part.agent_result
    spent = seconds(span.started_at, span.finished_at) if span else None
    if context is None:
        return spent, None, None, None, None
    return (
        spent,
        count(context.n_input_tokens),
        count(context.n_cache_tokens),
        count(context.n_output_tokens),
        context.metadata.requests if context.metadata else None,
    )


def _sum(parts: Iterable[_Work]) -> Sequence[Any]:
    """The sums of what several steps record; what none of them does stays None."""
    known = [[value for value in column if value is not None] for column in zip(*parts, strict=True)]
    return [sum(column) if column else None for column in known]
