"""What a spec amounts to: for each model the pull request to open, the one that is there, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from benchwright.contract import Exit, Failure, Failures, Problem
from benchwright.hub.benchmarks import Benchmark
from benchwright.hub.boards import Boards
from benchwright.hub.declared import Declared, declared
from benchwright.hub.model_repo import ModelRepo, discussions_open, model_repo
from benchwright.hub.opening.beside import Lookout, Present, check_declared, check_done
from benchwright.hub.opening.crowd import among_each_other
from benchwright.hub.opening.drafting import Draft, draft
from benchwright.hub.opening.ours import OwnPull
from benchwright.hub.opening.placing import Placed, Rivals, benchmark_of, place
from benchwright.hub.opening.result_files import entry_of
from benchwright.hub.pull_requests import PullRequest, pull_requests
from benchwright.hub.refusals import Forbidden
from benchwright.hub.registry import Registry
from benchwright.hub.spec import RepoSpec, Result, Spec


@dataclass(frozen=True)
class Evidence:
    """What the source of a result says of it.

    ``origin`` is the wording for the body; ``problems`` keep the result from being posted, ``exit`` says of what kind
    they are; ``remarks`` are worth a look.
    """

    origin: str
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()
    exit: Exit = Exit.NO


@dataclass(frozen=True)
class RepoPlan:
    """What to do about a model.

    ``new``: open ``draft``. ``present``: it is there. ``refused``: nothing, for the reasons in ``problems``; ``exit``
    says of what kind they are. ``seen`` are the pull requests that the plan was made by.
    """

    spec: RepoSpec
    state: Literal["new", "present", "refused"]
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Problem, ...] = ()
    exit: Exit = Exit.DONE
    model: ModelRepo | None = None
    draft: Draft | None = None
    present: Present | None = None
    seen: tuple[PullRequest, ...] = field(default=(), repr=False)


class Planner:
    """Plans pull requests. ``author`` is who we are, None where nobody knows: then ours are told by their titles."""

    def __init__(
        self, boards: Boards, registry: Registry, evidence: Callable[[Result], Evidence], author: str | None = None
    ) -> None:
        self.boards, self.hub = boards, boards.hub
        self.lookout = Lookout(boards.hub, registry, author)
        self._evidence = evidence

    def of(self, author: str) -> Planner:
        """The planner of somebody who is known."""
        return Planner(self.boards, self.lookout.registry, self._evidence, author)

    def plans(self, spec: Spec, done: Callable[[int, str], None] = lambda number, repo: None) -> tuple[RepoPlan, ...]:
        """The plans of a spec, in its order; of two names for one model neither is planned for."""
        plans: list[RepoPlan] = []
        for number, repo in enumerate(spec.repos):
            done(number, repo.repo)
            plans.append(self.plan(repo))
        by_model: dict[str, list[int]] = {}
        for number, plan in enumerate(plans):
            if plan.model is not None:
                by_model.setdefault(plan.model.id, []).append(number)
        for model, numbers in by_model.items():
            for number in numbers if len(numbers) > 1 else ():
                found = f"{plans[number].spec.repo} is {model}, which is there twice"
                problem = Problem("twice", plans[number].spec.place, found, "one", "remove one of them")
                plans[number] = RepoPlan(plans[number].spec, "refused", (problem,), exit=Exit.USAGE)
        drafts = {number: plan.draft for number, plan in enumerate(plans) if plan.draft is not None}
        for number, rivals in among_each_other(self.boards, drafts).items():
            plan = replace(plans[number], draft=None)
            plans[number] = self.drafted(plan, drafts[number].model, rivals=rivals)
        return tuple(plans)

    def plan(self, spec: RepoSpec) -> RepoPlan:
        """The plan for a model; whatever is in the way of it is in the plan."""
        model = None
        try:
            model = model_repo(self.hub, spec.repo)
            check_model(model, spec)
            seen = self.pulls(model, spec)
        except Failure as failure:
            return RepoPlan(spec, "refused", located(spec, failure), exit=failure.exit, model=model)
        plan = RepoPlan(spec, "new", model=model, seen=seen)
        try:
            known = self._known(spec)
        except Failure:  # told with all others below
            return self.drafted(plan, model)
        try:
            present = self.lookout.find(model, spec, seen, [entry_of(*one) for one in known])
        except Failure as failure:
            return replace(plan, state="refused", problems=located(spec, failure), exit=failure.exit)
        if present is not None:
            return replace(plan, state="present", present=present)
        return self.drafted(plan, model)

    def drafted(
        self, plan: RepoPlan, model: ModelRepo, amending: OwnPull | None = None, *, rivals: Rivals | None = None
    ) -> RepoPlan:
        """A plan with its draft, or with every reason against it; ``amending`` is the pull request that it changes."""
        spec, failures, found = plan.spec, Failures(), None
        remarks, placed, origins = list(_about(model, spec)), list[Placed](), list[str]()
        with failures.collected():
            known = self._known(spec)
            found = declared(self.hub, model)
            remarks += found.problems
            check_declared(found, known, but=amending.pull.num if amending else None)
        for result in spec.results:
            with failures.collected():
                placed.append(place(self.boards, model, result, rivals or {}))
            with failures.collected():
                evidence = self._evidence(result)
                origins.append(evidence.origin)
                remarks += evidence.remarks
                if evidence.problems:
                    raise Failure(evidence.problems, exit=evidence.exit)
        try:
            failures.settle()
            assert found is not None
            there = amending.paths if amending else {}
            new = [one for one in known if (one[1].dataset, one[0].task_id) not in there]
            if new:
                check_done(self.hub, model, new, self.lookout.author)
            made = self._draft(placed, origins, model, found, amending)
        except Failure as failure:
            problems = located(spec, failure)
            return replace(plan, state="refused", problems=problems, remarks=tuple(remarks), exit=failure.exit)
        return replace(plan, draft=made, remarks=tuple(remarks))

    def pulls(self, model: ModelRepo, spec: RepoSpec) -> tuple[PullRequest, ...]:
        """The pull requests of a model.

        Raises:
            Failure: it takes none (code ``discussions-disabled``), or they are not told.
        """
        try:
            return pull_requests(self.hub, model.id)
        except Forbidden:
            if discussions_open(self.hub, model.id):
                raise
            found = f"{model.id} takes no pull requests: its discussions are disabled"
            problem = Problem("discussions-disabled", spec.place, found, "a model that does", "leave the model out")
            raise Failure(problem) from None

    def _known(self, spec: RepoSpec) -> list[tuple[Result, Benchmark]]:
        """The results with their benchmarks, of which each task is there once."""
        failures, known = Failures(), []
        for result in spec.results:
            with failures.collected():
                known.append((result, benchmark_of(self.boards, result)))
        failures.settle()
        first: dict[tuple[str, str], Result] = {}
        for result, benchmark in known:
            other = first.setdefault((benchmark.dataset, result.task_id), result)
            if other is not result:
                found = f"a second value for {benchmark.dataset}, {result.task_id}: {other.place}"
                raise Failure(Problem("twice", result.place, found, "one", "remove one of them"), exit=Exit.USAGE)
        return known

    def _draft(
        self,
        placed: Sequence[Placed],
        origins: Sequence[str],
        model: ModelRepo,
        found: Declared,
        amending: OwnPull | None,
    ) -> Draft:
        kept = amending.paths if amending else {}
        taken = {*model.result_files, *found.paths} - set(amending.files if amending else ())
        return draft(model, placed, origins, endpoint=self.hub.endpoint, taken=taken, kept=kept)


def check_model(model: ModelRepo, spec: RepoSpec) -> None:
    """Refuse a model whose results no leaderboard shows.

    Raises:
        Failure: its owner is a person (code ``personal-account``), or it is private or disabled.
    """
    if model.kind == "user":
        found = f"{model.author} is a person: nothing of theirs is on a leaderboard"
        problem = Problem("personal-account", spec.place, found, "an organisation", "leave the model out")
    elif model.private or model.disabled:
        found = f"{model.id} is {'private' if model.private else 'disabled'}"
        problem = Problem("repo-missing", spec.place, found, "a model that everybody sees", "leave the model out")
    else:
        return
    raise Failure(problem)


def _about(model: ModelRepo, spec: RepoSpec) -> Iterator[Problem]:
    """What a person should know of a model."""
    yield from model.metadata_problems()
    if model.id.lower() != spec.repo.lower():
        yield Problem("renamed", spec.place, f"{spec.repo} is {model.id} now", "", "correct the spec")
    if model.gated:
        found = "its files are behind a gate: a reviewer may not see its card"
        yield Problem("gated", model.id, found, "", "cite a public page if there is one")


def located(spec: RepoSpec, failure: Failure) -> tuple[Problem, ...]:
    """The problems of a failure, each once, with the model's place in the spec where they do not have one."""
    prefix = f"{spec.place.partition(':')[0]}:"
    return tuple(
        one if one.where.startswith(prefix) else replace(one, where=spec.place, found=f"{one.where}: {one.found}")
        for one in dict.fromkeys(failure.problems)
    )
