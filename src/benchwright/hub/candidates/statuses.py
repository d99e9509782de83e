"""What the Hub says of a lead: whether a pull request would be right, needless or impossible, or is to be decided."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from benchwright.contract import Exit, Failure
from benchwright.hub.benchmarks import Benchmark
from benchwright.hub.blocked import blocked_boards
from benchwright.hub.boards import Board, BoardRow, Boards
from benchwright.hub.candidates.leads import line
from benchwright.hub.candidates.mapping import Mapped, Rule, folded
from benchwright.hub.candidates.units import Proposal, propose
from benchwright.hub.client import Hub
from benchwright.hub.declared import MAIN, Declaration, Declared, declared, declared_before
from benchwright.hub.model_repo import ModelRepo, RepoMissing, discussions_open, model_repo, normalise_url
from benchwright.hub.ranks import predicted_view
from benchwright.hub.refusals import Disabled, Gated, NotFound
from benchwright.hub.views import SHOWN

Status = Literal[
    "candidate",
    "on_board",
    "already_declared",
    "declared_elsewhere",
    "closed_by_owner",
    "personal_account",
    "discussions_disabled",
    "repo_missing",
    "needs_human",
    "unknown",
]
STATUSES: tuple[Status, ...] = Status.__args__  # type: ignore[attr-defined]
"""The order in which they are told; only ``candidate`` leads to a pull request."""

GATED = "gated: who reviews may not see its card"
"""The first note of a model behind a gate."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is known of a lead.

    ``value`` has the digits that its board would get, ``mistaken`` is what its source has wrong. ``repo`` is the
    model's present id, ``metadata`` are the problems of its repo. ``rank`` and ``view`` are where the result would be
    seen, at worst; a candidate without them would be seen nowhere. ``exit`` is what an unknown amounts to, else 0.
    """

    status: Status
    reason: str = ""
    repo: str = ""
    owner: str = ""
    dataset: str = ""
    task: str = ""
    name: str = ""
    value: str = ""
    conversion: str = ""
    rank: int | None = None
    view: str = ""
    mistaken: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    exit: int = 0

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Finding:
        """The finding that was noted as JSON."""
        values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in told.items()}
        return cls(**values)


@dataclass(frozen=True)
class _Verdict:
    status: Status
    reason: str


def look_up(boards: Boards, url: str, leads: Sequence[Mapped]) -> list[Finding]:
    """What the Hub says of the leads of one model, in their order. What it does not tell is ``unknown``."""
    try:
        found = _model(boards.hub, url)
    except Failure as failure:
        return [_unknown(Finding(status="unknown"), failure) for _ in leads]
    if isinstance(found, _Verdict):
        mistaken = (f"has the model at {line(url)}: {found.reason}",)
        return [Finding(status=found.status, reason=found.reason, mistaken=mistaken) for _ in leads]
    return [_Look(boards, found, url).at(one) for one in leads]


class _Look:
    """A look at one model."""

    def __init__(self, boards: Boards, repo: ModelRepo, url: str) -> None:
        self._boards, self._repo = boards, repo
        mistaken: tuple[str, ...] = ()
        if (told := normalise_url(url)) and told.lower() != repo.id.lower():
            mistaken = (f"has {told} for the model that is now {repo.id}",)
        self._start = Finding(
            status="unknown",
            repo=repo.id,
            owner=repo.kind,
            mistaken=mistaken,
            metadata=tuple(line(problem.found) for problem in repo.metadata_problems()),
            notes=(GATED,) if repo.gated else (),
        )

    def at(self, one: Mapped) -> Finding:
        """What is known of a lead."""
        if self._repo.kind == "user":
            reason = f"{self._repo.author} is a person: nothing of theirs is on a leaderboard"
            return replace(self._start, status="personal_account", reason=reason, dataset=one.rule.dataset)
        known = replace(self._start, dataset=one.rule.dataset, task=one.rule.task or "")
        try:
            aim = _aim(self._boards, one.rule)
            if isinstance(aim, _Verdict):
                return replace(known, status=aim.status, reason=aim.reason)
            benchmark, task = aim
            known = replace(known, dataset=benchmark.dataset, task=task, name=benchmark.name)
            return self._on_board(known, benchmark, self._boards.board(benchmark.dataset, task), one)
        except Failure as failure:
            return _unknown(known, failure)

    def _on_board(self, known: Finding, benchmark: Benchmark, board: Board, one: Mapped) -> Finding:
        proposal = propose(one.lead.value_text, board.scale(), convert=one.rule.convert, unit=one.lead.unit)
        notes = (proposal.note, one.lead.harness and f"harness: {one.lead.harness}", one.lead.remark)
        known = replace(
            known,
            value=proposal.text or "",
            conversion=proposal.conversion,
            mistaken=(*known.mistaken, *([proposal.mistaken] if proposal.mistaken else [])),
            notes=(*known.notes, *(note for note in notes if note)),
        )
        row = board.row_of(self._repo.id)
        if row is not None and _shows(row, proposal.value):
            return replace(known, status="on_board", reason=f"number {row.rank} ({_place(row)})")
        known = replace(known, metadata=(*known.metadata, *self._broken_files))
        verdict = (
            _declared_already(row, proposal, self._declared.of(benchmark, board.task))
            or _twin(self._repo, board, proposal)
            or self._takes_pull_requests()
            or self._done(benchmark, board.task)
            or _doubted(one.lead.doubt or proposal.doubt)
        )
        if verdict:
            return replace(known, status=verdict.status, reason=verdict.reason)
        assert proposal.value is not None
        seen = predicted_view(self._boards, board.dataset, board.task, proposal.value, self._repo)
        if seen is None:
            return replace(known, status="candidate", reason=f"in the top {SHOWN} of no view")
        return replace(known, status="candidate", rank=seen.rank, view=str(seen.view))

    @functools.cached_property
    def _declared(self) -> Declared:
        return declared(self._boards.hub, self._repo)

    @functools.cached_property
    def _said_no_to(self) -> Declared:
        return declared_before(self._boards.hub, self._repo)

    @property
    def _broken_files(self) -> tuple[str, ...]:
        return tuple(line(f"{one.where}: {one.found}") for one in self._declared.problems)

    def _takes_pull_requests(self) -> _Verdict | None:
        if discussions_open(self._boards.hub, self._repo.id):
            return None
        return _Verdict("discussions_disabled", "it takes no pull requests")

    def _done(self, benchmark: Benchmark, task: str) -> _Verdict | None:
        """What pull requests that are done say: somebody has said no to the result, or it was taken back, or out."""
        verdict = None
        for one in self._said_no_to.of(benchmark, task):
            what = f"{one.origin} with {one.value_text or 'a value unknown'}"
            if one.broken is not None and one.value_text is None:
                verdict = _Verdict("needs_human", f"{what} was {one.status}, and cannot be read: {one.broken}")
            elif one.status == "merged":
                verdict = _Verdict("needs_human", f"{what} was merged: its owner has taken it out since")
            elif one.closed_by is not None and one.closed_by != one.author:
                return _Verdict("closed_by_owner", f"{what} was closed by the owner")
            else:
                by = "by its own author" if one.closed_by else "by somebody who is gone"
                verdict = _Verdict("needs_human", f"{what} was closed {by}")
        return verdict


def _model(hub: Hub, url: str) -> ModelRepo | _Verdict:
    """The model at an address, or why there is none to send anything to."""
    id_ = normalise_url(url)
    if id_ is None:
        return _Verdict("repo_missing", f"{url!r} is no model's address")
    try:
        repo = model_repo(hub, id_)
    except RepoMissing:
        return _Verdict("repo_missing", f"{id_} is deleted or private")
    except Disabled:
        return _Verdict("repo_missing", f"{id_} is disabled")
    if repo.private or repo.disabled:
        return _Verdict("repo_missing", f"{repo.id} is {'private' if repo.private else 'disabled'}")
    return repo


def _aim(boards: Boards, rule: Rule) -> tuple[Benchmark, str] | _Verdict:
    """The benchmark and its task that a rule means, or why there is no such board."""
    if blocked := _blocked(rule.dataset):
        return blocked
    try:
        benchmark = boards.benchmark(rule.dataset)
    except NotFound as missing:
        what = f"{rule.dataset} has no eval.yaml" if missing.kind == "file" else f"there is no dataset {rule.dataset}"
        return _Verdict("needs_human", what)
    if blocked := _blocked(benchmark.dataset):
        return blocked
    if not benchmark.official:
        return _Verdict("needs_human", f"{benchmark.dataset} is not official: it has no leaderboard")
    if rule.task is None and len(benchmark.tasks) == 1:
        return benchmark, benchmark.tasks[0]
    if rule.task not in benchmark.tasks:
        what = f"no task {rule.task!r}" if rule.task else "several tasks"
        return _Verdict("needs_human", f"{benchmark.dataset} has {what}; its tasks: {', '.join(benchmark.tasks)}")
    return benchmark, rule.task


def _blocked(dataset: str) -> _Verdict | None:
    reason = blocked_boards().get(dataset.lower())
    return _Verdict("needs_human", f"{dataset} is blocked: {reason}") if reason else None


def _declared_already(row: BoardRow | None, proposal: Proposal, declaring: Sequence[Declaration]) -> _Verdict | None:
    """Whether the model declares another result for the board, or the same one where the board does not show it."""
    certain = [one for one in declaring if one.broken is None or one.value_text is not None]
    if certain:
        told = "; ".join(dict.fromkeys(map(_told, certain)))
        differs = proposal.value is not None and all(_differs(one, proposal.value) for one in certain)
        return _Verdict("already_declared", f"{told}{', which is another value' if differs else ''}")
    if row is not None:
        return _Verdict("already_declared", f"on the board with {row.value} ({_place(row)})")
    if declaring:
        one = declaring[0]
        return _Verdict("needs_human", f"it may be declared: {one.filename} ({one.origin}) cannot be read")
    return None


def _doubted(doubt: str | None) -> _Verdict | None:
    return _Verdict("needs_human", doubt) if doubt else None


def _twin(repo: ModelRepo, board: Board, proposal: Proposal) -> _Verdict | None:
    """Whether a model of the same kin shows this very value: then it may be that checkpoint's."""
    for row in board.rows:
        if _shows(row, proposal.value) and row.model.lower() != repo.id.lower() and _is_kin(repo, row.model):
            return _Verdict("declared_elsewhere", f"{row.model} is on the board with this value ({_place(row)})")
    return None


def _is_kin(repo: ModelRepo, other: str) -> bool:
    """Whether another model is the base of one, or its owner's with a name like ``x-7b-fp8`` beside ``x-7b``."""
    if other.lower() in map(str.lower, repo.bases):
        return True
    owner, _, name = other.lower().partition("/")
    own = repo.id.lower().partition("/")[2]
    names = (folded(name), folded(own))
    return owner == repo.author.lower() and (names[0].startswith(names[1]) or names[1].startswith(names[0]))


def _shows(row: BoardRow, value: Decimal | None) -> bool:
    return value is not None and float(row.value) == float(value)


def _differs(one: Declaration, value: Decimal) -> bool:
    try:
        return one.value_text is not None and float(one.value_text) != float(value)
    except ValueError:
        return True


def _place(row: BoardRow) -> str:
    return MAIN if row.pull_request is None else f"pr {row.pull_request}"


def _told(one: Declaration) -> str:
    broken = ", in a file that the Hub does not take" if one.broken else ""
    return f"{one.value_text or 'a value unknown'} in {one.origin} ({one.filename}{broken})"


def _unknown(known: Finding, failure: Failure) -> Finding:
    reason = "; ".join(f"{one.where}: {one.found}" for one in failure.problems)
    asked = f" ({failure.problems[0].fix})" if isinstance(failure, Gated) else ""
    exit = failure.exit if failure.exit in (Exit.ENVIRONMENT, Exit.REMOTE) else Exit.REMOTE
    return replace(known, status="unknown", reason=line(reason + asked), exit=int(exit))
