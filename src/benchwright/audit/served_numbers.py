"""The numbers that a server gave the model of a run: a new one each time it was started, for the same model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from benchwright.evaldb import is_numeric_model, model_key
from benchwright.harbor import Job


def numbers_of_one(job: Job) -> dict[str, str]:
    """The number that stands for each of several: by Harbor's keys, those of the other numbers too.

    Trials of one agent on one dataset have several numbers where the run was resumed, and its model served again. They
    are one model's, unless the configuration plans more than one of them. The one that it plans stands for all, else
    the latest.
    """
    groups: dict[tuple[str | None, str | None], dict[str, str]] = defaultdict(dict)
    for trial in job.trials if len(job.evals) > 1 else ():
        if trial.key in job.evals and trial.model and is_numeric_model(trial.model):
            groups[trial.agent, trial.source][trial.key] = trial.model
    planned = {model_key(choice.model or "").rpartition("/")[2] for choice in job.config.agents}
    found: dict[str, str] = {}
    for numbers in groups.values():
        chosen = sorted(planned & set(numbers.values()))
        if len(set(numbers.values())) > 1 and len(chosen) < 2:
            stands = chosen[0] if chosen else max(numbers.values(), key=lambda number: (len(number), number))
            found |= dict.fromkeys(numbers, stands)
    return found


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
