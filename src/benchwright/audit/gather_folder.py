"""Facts from job folders: what the trials of a run amount to, and what the run calls itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchwright.audit.facts import EvalFacts, TrialFacts
from benchwright.audit.facts_file import informative, rejecting
from benchwright.audit.manifest import Entry, Hint
from benchwright.audit.model_names import model_in_eval_config, plain_model
from benchwright.audit.run import Leg, Run
from benchwright.audit.run_kinds import is_measurement
from benchwright.audit.served_numbers import model_of_number, numbers_of, under_one_number
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit, Failure, Problem, counted, some
from benchwright.evaldb import is_numeric_model
from benchwright.harbor import (
    Benchmark,
    Benchmarks,
    Figures,
    Job,
    JobPlace,
    Profile,
    ScanCache,
    benchmark_of,
    dataset_name,
    dataset_of,
    figures,
    plan_of,
    read_jobs,
    resolve_job_folder,
)
from benchwright.harbor.scan import as_text

_MOST_NAMED = 20
"""Runs that are left out which a message names."""


@dataclass(frozen=True, slots=True)
class FolderRules:
    """What folders are read by: which errors count, which benchmarks there are, and where a look is remembered."""

    profile: Profile
    benchmarks: Benchmarks
    cache: ScanCache | None = None


def read_legs(
    entries: Sequence[Entry], rules: FolderRules, troubles: Troubles, *, since: datetime | None = None
) -> list[Leg]:
    """The evals of some runs, with the facts that their folders have. One that cannot be read is an eval all the same.

    Of the runs that were found and not named, those without a sign from ``since`` on are left out, and told.

    Raises:
        Failure: paths that are no job folders, all of them (exit 2).
    """
    found = _places(entries)
    jobs = iter(read_jobs([place for place, _, why, _ in found if why is None], cache=rules.cache))
    legs: list[Leg] = []
    left: list[str] = []
    for place, hint, lost, named in found:
        job = next(jobs) if lost is None else lost
        if isinstance(job, Failure):
            if job.exit is Exit.USAGE and lost is None and all(folder.is_dir() for folder in place.folders):
                raise job
            if job.exit is not Exit.USAGE:
                troubles.add(job)
            legs.append(_unread(place, hint, job, rules))
        else:
            own = legs_of(place, hint, job, rules)
            sign = own[0].run.last_sign
            if not named and since is not None and sign is not None and sign < since:
                left.append(own[0].run.tag)
            else:
                legs += own
    tell_left(left, troubles)
    return legs


def tell_left(tags: Sequence[str], troubles: Troubles) -> None:
    """Tell of runs that ``--since`` leaves out."""
    if tags:
        found = f"{counted(len(tags), 'run')} left out: {some(tags, _MOST_NAMED)}"
        look = "to have one audited all the same, name it"
        troubles.tell(Problem("left-out", "--since", found, "", look))


def _places(entries: Sequence[Entry]) -> list[tuple[JobPlace, Hint, Failure | None, bool]]:
    """Where each run is, or why that is not known, and whether it was named; each once, however often it was."""
    found: dict[tuple[Path, ...], tuple[JobPlace, Hint, Failure | None, bool]] = {}
    wrong: list[Failure] = []
    for entry in entries:
        lost: Failure | None = None
        try:
            place = entry.place or resolve_job_folder(entry.path)
        except Failure as failure:
            if failure.exit is Exit.USAGE and (entry.path.exists() or not entry.listed):
                wrong.append(failure)
            lost, place = failure, JobPlace(entry.path.name, (entry.path.absolute(),))
        found.setdefault(place.folders, (place, entry.hint, lost, entry.place is None))
    if wrong:
        raise Failure([problem for failure in wrong for problem in failure.problems], exit=Exit.USAGE)
    return list(found.values())


def _unread(place: JobPlace, hint: Hint, failure: Failure, rules: FolderRules) -> Leg:
    tag = as_text(place.name)
    benchmark = rules.benchmarks.resolve(hint.benchmark) if hint.benchmark else rules.benchmarks.in_run_tag(tag)
    model = plain_model(hint.model) or model_in_eval_config(tag, place.folders)
    name = benchmark.name if benchmark else hint.benchmark
    run = Run(tag=tag, hint=hint, models=_known(hint.model, model), benchmarks=_called([benchmark], hint.benchmark))
    facts = EvalFacts(
        run_tag=tag,
        kind="slurm" if run.launched_by_slurm else "local",
        folder=as_text(str(place.folders[0])),
        agent=hint.agent,
        model=model,
        benchmark=name,
        measurement=_measures(run, model, name, None),
        profile=rules.profile.name,
    )
    why = some((f"{problem.where}: {problem.found}" for problem in failure.problems), 2)
    return Leg(run=run, facts=facts).lacking("trials", why)


def legs_of(place: JobPlace, hint: Hint, job: Job, rules: FolderRules) -> list[Leg]:
    """The evals of a run that was read, one for each agent, model and dataset of it, with the facts of its folder.

    Several numbers that one model was served under are one model, where nothing speaks against it.
    """
    tag = as_text(place.name)
    recorded = _known(*(_runner(job, key)[1] for key in job.evals))
    numbers = sorted(set(numbers_of(job).values()))
    job = under_one_number(job)
    benchmark = rules.benchmarks.resolve(hint.benchmark) if hint.benchmark else benchmark_of(job, rules.benchmarks)
    name = benchmark.name if benchmark else hint.benchmark
    planned = plan_of(job, benchmark, expected=hint.trials)
    told = {} if hint.benchmark else {key: rules.benchmarks.resolve(dataset_of(job, key)) for key in job.evals}
    each = {key: told.get(key) or benchmark for key in job.evals}
    sizes = {key: _size(one, job) for key, one in each.items() if one is not None}
    whole = figures(job, rules.profile, planned, sizes)
    own = plain_model(hint.model) or model_in_eval_config(tag, place.folders) or plain_model(job.meta.get("MODEL"))
    served = {key: _runner(job, key) for key in job.evals} or {"": _configured(job)}
    said = (hint.model, own, job.meta.get("MODEL"), *(model for _, model in served.values()), *recorded)
    configured = (choice.model for choice in job.config.agents)
    spelt = (job.meta.get("BENCHMARK_NAME"), *_spellings([*job.config.datasets, job.meta.get("REPO_ID", "")]))
    run = Run(
        tag=tag,
        job=job,
        hint=hint,
        models=_known(*said, *configured),
        benchmarks=_called((benchmark, *each.values()), hint.benchmark, *spelt),
    )
    called = {key: one.name for key, one in each.items() if one is not None}
    notes = _notes(job, whole, rules.profile, name or some(sorted(set(called.values()))) or None)
    several = len(job.evals) > 1 and bool(whole.by_eval)
    notes += (f"its folder holds {len(job.evals)} evals, and a row shows one of them",) if several else ()
    if len(numbers) > 1:
        taken = "which are taken for one" if len(set(numbers_of(job).values())) == 1 else _NOT_ONE
        notes += (f"its trials name the model by several numbers, {some(numbers, 6)}, {taken}",)
    models = _models(job, served, own)
    legs = []
    for key, (agent, model) in served.items() if several else [next(iter(served.items()))]:
        one = whole.by_eval[key] if several else whole
        filed = called.get(key, name) if several else name
        right = models[model]
        facts = EvalFacts(
            run_tag=tag,
            kind="slurm" if run.launched_by_slurm else "local",
            folder=as_text(job.folders[0]),
            agent=agent if several else hint.agent or agent,
            model=right,
            benchmark=filed,
            measurement=_measures(run, right, filed, agent),
            moving=job.live,
            profile=rules.profile.name,
            trials=_trial_facts(place, job, one, rules.profile, sizes.get(key) if several else planned.by_benchmark),
            figures=one.facts(),
            notes=notes,
        )
        sole = [other for other, _ in served.values()].count(agent) == 1
        leg = Leg(run=run, facts=facts, key=key if several else None, sole=sole)
        legs.append(leg.lacking("trials", _UNCOUNTED) if facts.trials is None else leg)
    return legs


_NOT_ONE = (
    "and nothing shows that it is one model: if it is, let config.json plan it alone, and keep no trial beyond the "
    "attempts of a task in the folder; if there are several, give each a folder of its own"
)
_UNCOUNTED = "an aggregate alone was read, and it does not say how many trials ended"


def _spellings(datasets: Iterable[str]) -> Iterator[str]:
    """The names that a benchmark may have been filed under: those of its datasets, with and without an organisation."""
    for one in filter(None, datasets):
        name = dataset_name(one) or ""
        yield from (Path(one).name, name, name.rpartition("/")[2])


def _size(benchmark: Benchmark, job: Job) -> int:
    """How many trials a benchmark makes of one agent and model."""
    return benchmark.tasks * (job.config.attempts or benchmark.repeats)


def _trial_facts(place: JobPlace, job: Job, one: Figures, profile: Profile, size: int | None) -> TrialFacts | None:
    """The figures as the rules read them; None where an aggregate is all there is, and does not count its trials.

    ``size`` is how many trials the benchmark makes of it.
    """
    stats = job.aggregate
    if not job.present and stats.ok:
        if stats.completed:
            return _of_aggregate(job, one, profile)
        if stats.completed is None or any(each.rewarded or each.exceptions for each in stats.evals.values()):
            return None
    evidence = one.tally.evidence
    errors = {name: count.scored + count.unscored for name, count in one.errors.items()}
    tokens = [count for count in (evidence.tokens_in, evidence.tokens_out) if count is not None]
    return TrialFacts(
        planned=one.planned.total,
        expected=_expected(place, one, size),
        valid=one.valid,
        nonzero=one.valid - one.tally.zeros,
        silent=one.silent,
        corrupt=one.corrupt,
        errors={name: number for name, number in errors.items() if number},
        unscored={name: count.unscored for name, count in one.errors.items() if count.unscored},
        benign=profile.benign,
        informative=informative(profile),
        rejecting=rejecting(profile, one.errors),
        invalid_in_aggregate=one.invalid_in_aggregate,
        reward_sum=one.tally.reward_sum,
        stored_score=one.scores.stored,
        surplus_valid=one.tally.surplus_valid,
        surplus_unscored=one.tally.surplus_unscored,
        surplus_sum=one.tally.surplus_sum,
        worked=evidence.worked,
        tokens=sum(tokens) if tokens else None,
        cached_tokens=evidence.tokens_cached,
        requests=evidence.requests,
    )


def _expected(place: JobPlace, one: Figures, size: int | None) -> int | None:
    """How many trials there should be, where that is more or less than the run itself planned; None where it is not.

    What a person says of the number settles it. Shards that are not there planned as many as those that are.
    """
    total = one.planned.total
    if total is None or one.planned.source == "expected":
        return None
    parts = len(place.folders) + len(place.lacking)
    known = [size] if size else []
    known += [total * parts // len(place.folders)] if place.lacking else []
    return max(known) if known and max(known) != total else None


def _of_aggregate(job: Job, one: Figures, profile: Profile) -> TrialFacts:
    """What an aggregate says of trials that are not there: at best, so that what fails by it fails for sure."""
    stats = job.aggregate.evals.values()
    errors: dict[str, int] = {}
    for each in stats:
        for name, number in each.exceptions.items():
            errors[name] = errors.get(name, 0) + number
    rewarded = sum(each.rewarded or 0 for each in stats)
    attempted = max(job.aggregate.completed or 0, rewarded, sum(errors.values()))
    left = attempted - rewarded
    unscored = {}
    for name in sorted(errors):
        unscored[name] = min(left, errors[name])
        left -= unscored[name]
    stored = one.scores.stored
    return TrialFacts(
        planned=one.planned.total,
        valid=rewarded,
        nonzero=min(rewarded, 1 if stored else 0),
        silent=left,
        errors=errors,
        unscored={name: number for name, number in unscored.items() if number},
        benign=profile.benign,
        informative=informative(profile),
        rejecting=rejecting(profile, errors),
        invalid_in_aggregate=one.invalid_in_aggregate,
        reward_sum=(stored or 0.0) * attempted,
        stored_score=stored,
        cached_tokens=job.aggregate.tokens_cached,
        whole=False,
    )


def _notes(job: Job, whole: Figures, profile: Profile, benchmark: str | None) -> tuple[str, ...]:
    notes = [remark.text for remark in job.remarks]
    notes += [
        f"{name} is in no class of the taxonomy, and counts by profile {profile.name}"
        for name in whole.drift
        if name not in profile.benign
    ]
    if whole.planned.disagreements:
        told = "; ".join(whole.planned.disagreements)
        notes.append(f"{whole.planned.total} trials are planned by the {whole.planned.source}, but {told}")
    if benchmark is None:
        named = some(sorted({dataset_name(one) or Path(one).name for one in job.config.datasets})) or "nothing"
        notes.append(f"its benchmark could not be told: its configuration names {named}")
    if whole.invalid_in_aggregate is not None and whole.invalid_in_aggregate != whole.invalid:
        told = f"{whole.invalid_in_aggregate} by the aggregate, {whole.invalid} by the trials, which count"
        notes.append(f"errors that count: {told}")
    return tuple(as_text(note) for note in notes)


def _runner(job: Job, key: str) -> tuple[str | None, str | None]:
    """The agent and the model that trials of one of Harbor's keys record."""
    return next((trial.agent, trial.model) for trial in job.trials if trial.key == key)


def _configured(job: Job) -> tuple[str | None, str | None]:
    """The agent and the model of a run without trials."""
    choice = next(iter(job.config.agents), None)
    return (choice.name or None, choice.model) if choice else (None, None)


def _models(
    job: Job, served: Mapping[str, tuple[str | None, str | None]], own: str | None
) -> dict[str | None, str | None]:
    """What each of the models that trials record is called, where ``own`` is what the run says of its model."""
    found = {model: plain_model(_spelt_out(job, model)) for _, model in served.values()}
    if len(found) == 1:
        return {model: own or name for model, name in found.items()}
    under_number = model_of_number(own, found, found.values())
    return {model: under_number if model and is_numeric_model(model) else name for model, name in found.items()}


def _spelt_out(job: Job, model: str | None) -> str | None:
    """A model as the configuration spells it: of ``ORG/NAME`` a trial keeps the name, and takes ORG for a provider."""
    named = (choice.model for choice in job.config.agents if choice.model)
    configured = {one for one in named if one.partition("/")[2] == model}
    return configured.pop() if len(configured) == 1 else model


def _known(*names: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(as_text(name) for name in names if name))


def _called(benchmarks: Iterable[Benchmark | None], *names: str | None) -> tuple[str, ...]:
    own = [name for one in benchmarks if one for name in (one.name, *one.aliases, *one.datasets)]
    return _known(*own, *names)


def _measures(run: Run, *names: str | None) -> bool:
    """Whether it is a measurement run: a person says so, or else its tag, apart from the names that are in it.

    Without the model's name nobody can tell which words of the tag are the model's.
    """
    if run.hint.measurement is not None:
        return run.hint.measurement
    model, *others = names
    return model is not None and is_measurement(run.tag, [model, *filter(None, others), *run.models, *run.benchmarks])
