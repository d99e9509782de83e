"""The numbers that a server gave the model of a run: a new one each time it was started, for the same model."""

from __future__ import annotations

from collections.abc import Iterable

from benchwright.evaldb import is_numeric_model, model_key
from benchwright.harbor import Job, with_models


def under_one_number(job: Job) -> Job:
    """The job with the trials of all its numbers under one of them, where they are sure to be one model's.

    A run has several where it was resumed, or cut into shards, and its model served again. They are one model's where
    the configuration plans one model for all of its agents, and no slot has a readable result too many: a resume keeps
    those that there are, so that a slot done twice is another model's. Shards are one run, by their name, and each has
    slots of its own. The number that is planned stands for all, else the latest.
    """
    numbers = numbers_of(job)
    planned = {model_key(choice.model or "") for choice in job.config.agents}
    if len(set(numbers.values())) < 2 or job.config.attempts is None or len(planned) != 1 or "" in planned:
        return job
    own = planned.pop().rpartition("/")[2]
    latest = max(numbers.values(), key=lambda number: (len(number), number))
    one = with_models(job, dict.fromkeys(numbers, own if own in numbers.values() else latest))
    return job if one.whole.surplus_valid + one.whole.surplus_unscored else one


def numbers_of(job: Job) -> dict[str, str]:
    """The numbers that trials name as their model, by Harbor's keys of these trials."""
    named = {trial.key: trial.model for trial in job.trials if trial.key in job.evals}
    return {key: model for key, model in named.items() if model and is_numeric_model(model)}


def model_of_number(own: str | None, served: Iterable[str | None], named: Iterable[str | None]) -> str | None:
    """The model that was served under a number in a run of several models: ``own``, which its launch or a person names.

    ``served`` are the models as the trials record them, ``named`` what they are called. None where ``own`` is the name
    of another of them, or where several were served under numbers.
    """
    if own is None or len({model for model in served if model and is_numeric_model(model)}) != 1:
        return None
    others = {_last(name) for name in named if name}
    return None if _last(own) in others else own


def _last(name: str) -> str:
    """A name without its organisation, which a trial may not record."""
    return model_key(name).rpartition("/")[2]
