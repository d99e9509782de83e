"""Batches of pull requests on an emulated Hub: a lab with models, specs of their results, and runs that open them."""

from __future__ import annotations

import json

from benchwright.hub.boards import Boards
from benchwright.hub.opening.apply import LostAnswers, Opener
from benchwright.hub.opening.plan import Evidence, Planner
from benchwright.hub.opening.rights import holder_of
from benchwright.hub.registry import Registry
from benchwright.hub.spec import Spec
from benchwright.hub.writing import Writer
from benchwright.rehearsal.hub.faults import FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card

BILLION = 10**9
LAB = "lab-00/model"
RESULTS = ".eval_results/logic-1k.yaml"


def result_of(value="61.25", task="logic", dataset="bench-org/logic-1k", **more):
    """A result of a spec."""
    source = {"url": "https://huggingface.co/nova-ai/nova-7b", "name": "Model Card"}
    return {"dataset": dataset, "task_id": task, "value_text": value, "source": source, **more}


def spec_of(folder, repos):
    """The spec of models, each with its results, or with the value of the one that it has."""
    told = [
        {"repo": repo, "origin": "the model card", "results": [result_of(held)] if isinstance(held, str) else held}
        for repo, held in repos.items()
    ]
    path = folder / "spec.json"
    path.write_text(json.dumps({"version": 1, "repos": told}))
    return Spec.load(path)


def add_model(emulator, repo, value="61.25", **flags):
    """A model whose card tells its result."""
    flags = {"parameters": {"BF16": 7 * BILLION}, **flags}
    return emulator.add_model(repo, {"README.md": card(repo, f"On Logic-1k it scores {value}.")}, **flags)


def believed(result):
    """Evidence for whatever is in the spec."""
    return Evidence(result.origin or "the model card")


class Run:
    """A run of its own: another session, another registry read from the same file."""

    def __init__(self, hub, registry, evidence=believed):
        self.hub, self.registry, self.evidence = hub, registry, evidence

    def plan(self, spec, author=None):
        """The plans, without knowing who we are."""
        planner = Planner(Boards(self.hub), Registry.load(self.registry), self.evidence, author)
        return planner.plans(spec)

    def apply(self, spec, sleep=lambda seconds: None, **more):
        """Open what is planned; returns what came of it by the model in the spec."""
        with Registry.locked(self.registry, "a test") as registry:
            holder = holder_of(self.hub)
            holder.check(one.repo for one in spec.repos)
            planner = Planner(Boards(self.hub), registry, self.evidence, holder.name)
            opener = Opener(planner, Writer(self.hub), lost=LostAnswers(2, 0), sleep=sleep, **more)
            return {one.plan.spec.repo: one for one in opener.carry_out(planner.plans(spec))}


def writes(emulator):
    """The requests that may change something, in their order."""
    return [one.request for one in emulator.seen if one.request.method not in ("GET", "HEAD")]


def pulls_of(emulator, repo, author="porter"):
    """The pull requests of a model by somebody."""
    return [one for one in emulator.repo(repo).discussions if one.is_pull_request and one.author == author]


def registered(registry):
    """The state and the number of each model's pull request as a registry has them."""
    return {one.repo: (one.state, one.num) for one in Registry.load(registry).records}


def fault_at_commits(emulator, fault, **more):
    """Have the requests go wrong that commit."""
    emulator.fault = RuledFaults([FaultRule(fault, path="/api/models/*/commit/*", **more)])
