"""Who a run is: one agent and one model on one benchmark, by all of its trials and by what its launch recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.audit.model_names import plain_model
from benchwright.audit.run import Leg
from benchwright.contract import Exit, Failure, Problem, counted, some, usage_error
from benchwright.evaldb import is_hash, is_numeric_model, is_run_name, model_key
from benchwright.evaldb.source import is_storable
from benchwright.harbor import Trial, dataset_name

_ALIKE = "no option tells them apart: run each as a job of its own, and push that"
_FLAGS = {"agent": "--agent-name", "model": "--model-name", "benchmark": "--benchmark-name"}


@dataclass(frozen=True, slots=True)
class Asked:
    """The names that were given on the command line."""

    agent: str | None = None
    model: str | None = None
    benchmark: str | None = None

    def check(self, tag: str) -> None:
        """Whether they are names that a row may be filed under.

        Raises:
            Failure: a text that no database holds, or a model's name that is none (exit 2); the number that a server
                gave the model, a dataset's hash, or the name of a run (exit 5); every problem.
        """
        given = {noun: name for noun in _FLAGS if (name := getattr(self, noun)) is not None}
        wrong = [
            Problem("usage", _FLAGS[noun], f"{name!a}, {why}", "a name", f"{_FLAGS[noun]} NAME")
            for noun, name in given.items()
            if (why := _unusable(name))
        ]
        numeric = self.model is not None and is_numeric_model(self.model)
        if self.model is not None and not wrong and not numeric and plain_model(self.model) is None:
            wrong.append(
                Problem("usage", _FLAGS["model"], f"{self.model!a}", "NAME or ORG/NAME", "--model-name ORG/NAME")
            )
        if wrong:
            raise Failure(wrong, exit=Exit.USAGE)
        self.check_meant(tag, [self.model] if self.model else [])

    def check_meant(self, tag: str, models: Sequence[str] = ()) -> None:
        """Whether somebody meant to give these names; ``models`` are those whose run ``tag`` is.

        Raises:
            Failure: the number that a server gave the model, a dataset's hash, or the name of a run (exit 5); every
                problem.
        """
        if refused := [*_misnamed(self.model, self.benchmark, tag, tuple(models))]:
            raise Failure(refused, exit=Exit.REFUSED)


def _unusable(name: str) -> str:
    """Why no row may be filed under a text, empty where one may."""
    if not name.strip() or not is_storable(name):
        return "which no database holds"
    return "with blanks around it" if name != name.strip() else ""


NO_NAMES = Asked()


@dataclass(frozen=True, slots=True)
class Identity:
    """The names that a run is filed under."""

    agent: str
    model: str
    benchmark: str


def the_leg(legs: Sequence[Leg], asked: Asked) -> Leg:
    """The eval that is meant of a run's: the only one, or the one of the agent and the model that were named.

    Raises:
        Failure: several may be meant (code ``several-evals``, exit 2).
    """
    if len(legs) == 1:
        return legs[0]
    found = list(legs)
    if asked.agent is not None:
        found = [leg for leg in found if leg.facts.agent == asked.agent] or found
    if asked.model is not None:
        key = model_key(asked.model)
        found = [leg for leg in found if leg.facts.model and model_key(leg.facts.model) == key] or found
    if len(found) == 1:
        return found[0]
    evals = some((f"{leg.facts.agent} with {_model_of(leg)}" for leg in legs), 6)
    pairs = Counter((leg.facts.agent, leg.facts.model) for leg in found)
    raise usage_error(
        legs[0].facts.run_tag,
        f"{counted(len(legs), 'eval')} in one folder: {evals}",
        "one agent and one model",
        "name the one that is meant: --agent-name, --model-name" if 1 in pairs.values() else _ALIKE,
        code="several-evals",
    )


def _model_of(leg: Leg) -> str | None:
    """What an eval's model is called, if only by the server."""
    return leg.facts.model or next((trial.model for trial in trials_of(leg) if trial.model), None)


def identity_of(leg: Leg, asked: Asked) -> Identity:
    """The names of an eval: as they were given, else as its launch and all of its trials say.

    Raises:
        Failure: one could not be told, or two are (code ``name-unknown``, exit 2); one is a server's number, a
            dataset's hash or the name of a run (exit 5); every problem.
    """
    facts = leg.facts
    names = {"agent": asked.agent or facts.agent, "model": facts.model, "benchmark": facts.benchmark}
    unknown = [
        Problem("name-unknown", _FLAGS[noun], _told(leg, noun), f"the {noun}'s name", f"name it: {_FLAGS[noun]} NAME")
        for noun, name in names.items()
        if not name or not is_storable(name)
    ]
    if not unknown and asked.model is None and (others := _other_models(leg)):
        found = f"its launch says {facts.model}, its trials {some(others)}"
        unknown = [Problem("name-unknown", _FLAGS["model"], found, "one model", "name it: --model-name NAME")]
    if unknown:
        raise Failure(unknown, exit=Exit.USAGE)
    identity = Identity(names["agent"] or "", names["model"] or "", names["benchmark"] or "")
    known_as = (identity.model, *leg.run.models)
    if refused := [*_misnamed(identity.model, identity.benchmark, facts.run_tag, known_as)]:
        raise Failure(refused, exit=Exit.REFUSED)
    return identity


def trials_of(leg: Leg) -> list[Trial]:
    """The trials that an eval's score is of."""
    assert leg.run.job is not None  # nothing is written of a run that could not be read
    return [trial for trial in leg.run.job.trials if not trial.surplus and leg.key in (None, trial.key)]


def _misnamed(model: str | None, benchmark: str | None, tag: str, models: tuple[str, ...]) -> list[Problem]:
    """What may never be registered, whoever asks for it."""
    found = []
    if model is not None and is_numeric_model(model):
        said = f"{model}, the number that a server gave the model"
        found.append(
            Problem(
                "numeric-model", _FLAGS["model"], said, "the model's name, such as ORG/NAME", "--model-name ORG/NAME"
            )
        )
    if benchmark is not None and is_hash(benchmark):
        said = f"{benchmark}, the version hash of a dataset"
        found.append(
            Problem("hash-benchmark", _FLAGS["benchmark"], said, "the benchmark's name", "--benchmark-name NAME")
        )
    elif benchmark is not None and is_run_name(benchmark, models=models, run_names=(tag,)):
        said = f"{benchmark}, the name of a run"
        found.append(
            Problem("run-dir-benchmark", _FLAGS["benchmark"], said, "the benchmark's name", "--benchmark-name NAME")
        )
    return found


def _other_models(leg: Leg) -> list[str]:
    """Models with an organisation that something of a run names, and that are not the one that it is taken for.

    A name without one may be whatever the server was told to call the model.
    """
    assert leg.facts.model is not None  # it was told
    named = {plain for name in leg.run.models if (plain := plain_model(name)) is not None and "/" in plain}
    right = model_key(leg.facts.model)
    return sorted(name for name in named if model_key(name) != right) if leg.key is None else []


def _told(leg: Leg, noun: str) -> str:
    """What a run says of a name that could not be told from it, or that no database holds."""
    name = getattr(leg.facts, noun)
    if name:
        return f"{name!a}, which no database holds"
    return {"agent": _of_agent, "model": _of_model, "benchmark": _of_benchmark}[noun](leg)


def _of_agent(leg: Leg) -> str:
    return "no trial and no configuration names the agent"


def _of_model(leg: Leg) -> str:
    names = [name for name in leg.run.models if name]
    return f"no record of its launch names the model; its trials say {some(names)}" if names else "nothing names it"


def _of_benchmark(leg: Leg) -> str:
    job = leg.run.job
    datasets = sorted({dataset_name(one) or Path(one).name for one in job.config.datasets}) if job else []
    return f"its datasets are of no benchmark that is known: {some(datasets)}" if datasets else "it names no dataset"
