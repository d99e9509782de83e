"""What all rows of a trial have in common: who ran which task in which run, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.scan import RESULT
from benchwright.harbor.traces.trial_files import TrialFiles
from benchwright.harbor.traces.unexported import Unexported
from benchwright.harbor.trial import REWARD, Trial


@dataclass(frozen=True, slots=True)
class Labels:
    """The columns that Harbor's exporter fills from a trial's result, by its names, and two that it lacks.

    ``result`` is the class of the exception, or else the reward as Harbor writes it. ``reward`` and ``exception`` say
    both where there are both; each is None where there is none.
    """

    agent: str
    model: str
    model_provider: str
    date: str
    task: str
    run_id: str
    trial_name: str
    result: str | None
    reward: float | None
    exception: str | None


class _Model(msgspec.Struct, gc=False):
    name: str | None = None
    provider: str | None = None


class _Agent(msgspec.Struct, gc=False):
    name: str | None = None
    model_name: str | None = None
    provider: str | None = None
    model_info: _Model | None = None


class _Config(msgspec.Struct, gc=False):
    agent: _Agent | None = None
    job_id: str | None = None
    job_name: str | None = None


class _Result(msgspec.Struct, gc=False):
    trial_name: str | None = None
    started_at: Any = None
    config: _Config = msgspec.field(default_factory=_Config)
    agent_info: _Agent = msgspec.field(default_factory=_Agent)


_DECODER = msgspec.json.Decoder(_Result)


def labels_of(trial: Trial, files: TrialFiles) -> Labels:
    """The labels of a trial's rows.

    Raises:
        Unexported: its result cannot be read any more.
        Failure: as ``TrialFiles`` does.
    """
    data = files.read(RESULT)
    if data is None:
        raise Unexported("its result went away")
    try:
        result = decode(data, _DECODER)
    except NotJson as error:
        raise Unexported(f"its result cannot be read: {error}") from None
    configured, recorded = result.config.agent or _Agent(), result.agent_info
    model = recorded.model_info or _Model()
    scored = str(trial.reward) if trial.reward is not None and trial.reward_key == REWARD else None
    return Labels(
        agent=configured.name or recorded.name or "unknown-agent",
        model=model.name or configured.model_name or recorded.model_name or "unknown-model",
        model_provider=model.provider or configured.provider or recorded.provider or "unknown-provider",
        date=result.started_at if isinstance(result.started_at, str) else "",
        task=trial.task,
        run_id=result.config.job_id or result.config.job_name or result.trial_name or "unknown-run",
        trial_name=result.trial_name or trial.folder.rpartition("/")[2],
        result=trial.exception or scored,
        reward=trial.reward,
        exception=trial.exception,
    )
