"""What a model has already: a pull request of ours, the same benchmarks declared, or pull requests with them, done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchwright.contract import Exit, Failure, Problem, some
from benchwright.hub.benchmarks import Benchmark
from benchwright.hub.client import Hub
from benchwright.hub.declared import MAIN, Declaration, Declared, declared_before
from benchwright.hub.entries import Entry
from benchwright.hub.model_repo import ModelRepo, RepoMissing, model_repo
from benchwright.hub.opening.ours import OwnPull, own_pull_requests
from benchwright.hub.opening.words import spec_hash
from benchwright.hub.pull_requests import PullRequest, pull_requests
from benchwright.hub.refusals import Disabled
from benchwright.hub.registry import Record, Registry
from benchwright.hub.spec import RepoSpec, Result

CLOSED = "closed-pull-request"
"""Under this code a spec answers that a pull request of somebody else's is no obstacle, and why.

It was closed, or it was merged and its owner has taken the result out since.
"""


@dataclass(frozen=True)
class Present:
    """A pull request of ours that is there: by its ``record``, or as it was ``found`` on the Hub."""

    pull: PullRequest
    record: Record | None = None
    found: OwnPull | None = None


@dataclass(frozen=True)
class Lookout:
    """Looks for pull requests of ours. ``author`` is who we are, None where nobody knows."""

    hub: Hub
    registry: Registry
    author: str | None

    def find(
        self, model: ModelRepo, spec: RepoSpec, seen: Sequence[PullRequest], entries: Collection[Entry]
    ) -> Present | None:
        """The pull request with these results, None where a new one may be opened. ``seen`` are all of the model's.

        Raises:
            Failure: it was closed, or is another one by now; there are two; or another one of ours is open, and a model
                has one at a time (exit 1, 5). That is not told (exit 4).
        """
        digits = spec_hash(entries)
        by_num = {one.num: one for one in seen}
        records = [(one, by_num.get(one.num)) for one in self.records(model, spec, digits) if one.num is not None]
        records.sort(key=lambda both: both[1] is None or not both[1].live)  # one that is open first
        for record, pull in records:
            if record.spec_hash == digits:
                self._check_alone(record, spec, seen)
                return self._as_recorded(record, pull, spec)
            if pull is not None and pull.live:
                raise _another(spec, pull)
        found = own_pull_requests(self.hub, model, seen, self.author)
        matches = [one for one in found if one.is_for(digits, entries)]
        if len(matches) > 1:
            raise _several(spec, [one.pull.num for one in matches])
        if matches:
            return Present(matches[0].pull, found=matches[0])
        if found:
            raise _another(spec, found[0].pull, differs=found[0].digits == digits, known=self.author is not None)
        return None

    def records(self, model: ModelRepo, spec: RepoSpec, digits: str | None) -> tuple[Record, ...]:
        """The records of a model: by its name and the spec's, and by names that it had those with these digits.

        Raises:
            Failure: whose a name is by now is not told (exit 4).
        """
        known = list(dict.fromkeys(one for repo in (model.id, spec.repo) for one in self.registry.of(repo)))
        others = [one for one in self.registry.records if one.spec_hash == digits and one not in known]
        return (*known, *(one for one in others if self._is(one.repo, model)))

    def _is(self, repo: str, model: ModelRepo) -> bool:
        try:
            return model_repo(self.hub, repo).id == model.id
        except (RepoMissing, Disabled):
            return False

    def _as_recorded(self, record: Record, pull: PullRequest | None, spec: RepoSpec) -> Present:
        if pull is None or pull.author not in (record.author, self.author):
            gone = "is not there any more" if pull is None else f"is by {pull.author} now"
            found = f"pull request {record.num} of {record.repo}, our own, {gone}: is this another model?"
            fix = f"look at it; to write the registry anew: {self.registry.rebuild}"
            raise Failure(Problem("pull-request-gone", spec.place, found, "ours", fix), exit=Exit.REFUSED)
        if pull.status == "closed":
            found = f"pull request {pull.num} of {record.repo}, our own, was closed"
            raise Failure(Problem("closed", spec.place, found, "no other one", "leave the model out"))
        return Present(pull, record)

    def _check_alone(self, record: Record, spec: RepoSpec, seen: Sequence[PullRequest]) -> None:
        """Refuse a second one of ours with the title of a record: two machines have opened one each, at once."""
        twins = [one.num for one in seen if one.live and one.title == record.title and one.author == record.author]
        if len(twins) > 1:
            raise _several(spec, twins)

    def find_now(self, model: ModelRepo, entries: Collection[Entry]) -> OwnPull | None:
        """The pull request with these results as the Hub has it this moment; of several the first.

        Raises:
            Failure: that is not told (exit 4).
        """
        seen = pull_requests(self.hub, model.id, cached=False)
        found = own_pull_requests(self.hub, model, seen, self.author, cached=False)
        digits = spec_hash(entries)
        matches = [one for one in found if one.is_for(digits, entries)]
        return min(matches, key=lambda one: one.pull.num, default=None)


def _several(spec: RepoSpec, numbers: Sequence[int]) -> Failure:
    found = f"pull requests {some(map(str, sorted(numbers)), 9)} of {spec.repo} are the same"
    return Failure(Problem("two-pull-requests", spec.place, found, "one", "close all but one of them"))


def _another(spec: RepoSpec, pull: PullRequest, *, differs: bool = False, known: bool = True) -> Failure:
    whose = "of ours" if known else f"by {pull.author} has a marker like ours, and"
    found = f"pull request {pull.num} {whose} is open{', and was changed' if differs else ' with other results'}"
    fix = f"put all results of the model into one spec, and change that one: --amend {pull.num}"
    return Failure(Problem("own-pull-request", spec.place, found, "one at a time", fix))


def check_declared(found: Declared, results: Sequence[tuple[Result, Benchmark]], *, but: int | None = None) -> None:
    """Refuse results for boards that the model has, or may have, a result for, except in pull request ``but``.

    Raises:
        Failure: there are such (code ``declared``).
    """
    problems = []
    for result, benchmark in results:
        made = [one for one in found.of(benchmark, result.task_id) if one.origin != f"pr {but}"]
        problems += [_declared(result, benchmark, one) for one in made]
    if problems:
        raise Failure(problems)


def _declared(result: Result, benchmark: Benchmark, one: Declaration) -> Problem:
    board = f"{benchmark.dataset}, {result.task_id}"
    place = f"{one.filename} on main" if one.origin == MAIN else f"{one.filename} in {one.origin} by {one.author}"
    if one.broken is not None and one.value_text is None:
        found = f"{place} may declare {board}: {one.broken}"
        return Problem("declared", result.place, found, "nothing there yet", "look at it, and leave the result out")
    differs = "" if one.value_text == result.board_text else f", which is not {result.board_text}"
    found = f"{place} declares {board} with {one.value_text}{differs}"
    return Problem("declared", result.place, found, "nothing there yet", "leave the result out")


def check_done(hub: Hub, model: ModelRepo, results: Sequence[tuple[Result, Benchmark]], author: str | None) -> None:
    """Refuse results that a pull request had, or may have had, which is done, and main has not: a person decides.

    It was closed, so that somebody has said no; or it was merged, and its owner has taken the result out since.

    Raises:
        Failure: there are such (codes ``closed``, ``taken-out``); or they are not told.
    """
    found = declared_before(hub, model)
    problems = []
    for result, benchmark in results:
        for one in found.of(benchmark, result.task_id):
            own = author is not None and one.author == author
            if own or CLOSED not in result.answers:
                problems.append(_done(result, benchmark, one, own=own))
    if problems:
        raise Failure(problems)


def _done(result: Result, benchmark: Benchmark, one: Declaration, *, own: bool) -> Problem:
    had = "may have had" if one.broken is not None and one.value_text is None else f"had {one.value_text} for"
    found = f"{one.origin}{' of ours' if own else ''} {had} {benchmark.dataset}, {result.task_id}, and was {one.status}"
    if one.status == "merged":
        code, found = "taken-out", f"{found}: its owner has taken it out since"
    else:
        code, found = "closed", found + (f" by {one.closed_by}" if one.closed_by else "")
    fix = (
        "leave the result out" if own else f'leave the result out, or say in "answers" under "{CLOSED}" why it is right'
    )
    return Problem(code, result.place, found, "a person who decides", fix)
