"""The one writer that opens pull requests: intent, commit, outcome; and never the same one twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.model_repo import ModelRepo
from benchwright.hub.opening.beside import Present
from benchwright.hub.opening.drafting import Draft
from benchwright.hub.opening.ours import OwnPull
from benchwright.hub.opening.plan import Planner, RepoPlan, located
from benchwright.hub.opening.recording import address_of, record_of, state_of
from benchwright.hub.pull_requests import heads
from benchwright.hub.registry import Record
from benchwright.hub.writing import NothingToWrite, WriteLimited, WriteLost, Writer, WriteRefused, WriteStale, Written

State = Literal["opened", "adopted", "there", "refused", "failed", "lost", "untried"]
"""``adopted``: it was there, and the registry did not know. ``lost``: nobody knows whether it was opened."""


@dataclass(frozen=True)
class LostAnswers:
    """How often to look for a pull request whose answer was lost, and the time between, in seconds."""

    looks: int = 3
    pause: float = 2.0


@dataclass(frozen=True)
class Opened:
    """What came of the plan for a model; ``record`` is there where a pull request is."""

    plan: RepoPlan
    state: State
    record: Record | None = None
    problems: tuple[Problem, ...] = ()
    exit: Exit = Exit.DONE


class Opener:
    """Opens what plans say. The planner's registry is locked, and its author is who holds the writer's token.

    Requests to plan and to open one, beyond those of boards and of sources elsewhere: seven a model (itself, its owner,
    its pull requests, its card, its refs, two of the commit); and those for its pull requests, one for each without
    results (`declared`, `declared_before`).
    """

    def __init__(
        self,
        planner: Planner,
        writer: Writer,
        *,
        lost: LostAnswers | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._planner, self._writer, self._registry = planner, writer, planner.lookout.registry
        self._lost, self._sleep = lost or LostAnswers(), sleep

    def carry_out(self, plans: Sequence[RepoPlan]) -> Iterator[Opened]:
        """Do what each plan says, one after another. Once the Hub takes no more, nothing else is tried."""
        limit: Failure | None = None
        for plan in plans:
            if plan.state == "refused":
                yield Opened(plan, "refused", problems=plan.problems, exit=plan.exit)
            elif plan.state == "present":
                yield self._adopt(plan)
            elif limit is not None:
                yield Opened(plan, "untried", problems=located(plan.spec, limit), exit=limit.exit)
            else:
                try:
                    yield self._open(plan)
                except WriteLimited as failure:
                    limit = failure
                    yield Opened(plan, "untried", problems=located(plan.spec, failure), exit=failure.exit)

    def _adopt(self, plan: RepoPlan) -> Opened:
        present, model = plan.present, plan.model
        assert isinstance(present, Present)
        assert isinstance(model, ModelRepo)
        record = present.record
        if record is not None:
            now = replace(record, repo=model.id, state=state_of(present.pull))
            if now != record:  # renamed meanwhile, merged, opened again
                now = now.noting(now.state, "" if now.repo == record.repo else f"{record.repo} is {now.repo} now")
                self._registry.put(now, instead_of=record)
            return Opened(plan, "there", now)
        assert present.found is not None
        return Opened(plan, "adopted", self._register(model, plan, present.found))

    def _open(self, plan: RepoPlan) -> Opened:
        draft = plan.draft
        assert isinstance(draft, Draft)
        try:
            self._check_unchanged(plan, draft)
        except Failure as failure:
            return Opened(plan, "untried", problems=located(plan.spec, failure), exit=failure.exit)
        intent = self._intent(draft)
        words = {"title": draft.title, "body": draft.body, "parent": draft.model.sha}
        try:
            written = self._writer.open_pull_request(draft.model.id, draft.files, **words)
        except WriteLost as failure:
            return self._looked_for(plan, draft, intent, failure)
        except WriteLimited:
            self._registry.put(replace(intent, state="failed").noting("failed", "rate limit"))
            raise
        except (WriteRefused, WriteStale, NothingToWrite) as failure:
            self._registry.put(replace(intent, state="failed").noting("failed", failure.problems[0].found))
            return Opened(plan, "failed", problems=located(plan.spec, failure), exit=failure.exit)
        record = self._opened(intent, draft, written)
        self._registry.put(record)
        return Opened(plan, "opened", record)

    def _check_unchanged(self, plan: RepoPlan, draft: Draft) -> None:
        """Refuse to go on where main has moved, or the model has more pull requests, since the plan was made."""
        now = heads(self._planner.hub, draft.model.id)
        pulls = {ref for ref in now if ref.startswith("refs/pr/")}
        if now.get("refs/heads/main") != draft.model.sha:
            found = f"{draft.model.id} has other files on main than a moment ago"
        elif pulls - {one.ref for one in plan.seen}:
            found = f"{draft.model.id} has other pull requests than a moment ago"
        else:
            return
        raise Failure(Problem("changed", plan.spec.place, found, "the same", "run this again"), exit=Exit.REMOTE)

    def _intent(self, draft: Draft) -> Record:
        """The record of what is about to be tried, behind what was tried before."""
        intent = draft.intent()
        before = next((one for one in self._registry.of(intent.repo) if one.key == intent.key), None)
        intent = replace(intent, author=self._planner.lookout.author, history=before.history if before else ())
        intent = intent.noting("intent")
        self._registry.put(intent)
        return intent

    def _opened(self, intent: Record, draft: Draft, written: Written) -> Record:
        assert written.num is not None
        url = address_of(self._planner.hub.endpoint, draft.model.id, written.num)
        return replace(intent, state="open", num=written.num, url=url, head=written.oid).noting("opened")

    def _looked_for(self, plan: RepoPlan, draft: Draft, intent: Record, lost: WriteLost) -> Opened:
        """What became of a commit without an answer: the Hub is looked at, and nothing is sent again."""
        try:
            for look in range(self._lost.looks):
                if look:
                    self._sleep(self._lost.pause)
                found = self._planner.lookout.find_now(draft.model, draft.entries)
                if found is not None:
                    return Opened(plan, "opened", self._register(draft.model, plan, found))
        except Failure as failure:
            lost = WriteLost(lost.problems[0].where, f"{lost.problems[0].found}; {failure.problems[0].found}")
        self._registry.put(intent.noting("answer lost", lost.problems[0].found))
        return Opened(plan, "lost", problems=located(plan.spec, lost), exit=lost.exit)

    def _register(self, model: ModelRepo, plan: RepoPlan, found: OwnPull) -> Record:
        """Write the record of a pull request that was found on the Hub."""
        record = record_of(self._planner.hub.endpoint, model.id, found)
        before = [one for repo in (model.id, plan.spec.repo) for one in self._registry.of(repo) if one.num is None]
        same = next((one for one in before if one.spec_hash == record.spec_hash), None)
        record = replace(record, history=same.history if same else ()).noting("adopted")
        self._registry.put(record, instead_of=same)
        return record
