"""A change of our own open pull request: a commit on top of the one that was looked at, then its body and its title."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchwright.contract import Exit, Failure, Problem, counted
from benchwright.hub.model_repo import ModelRepo, model_repo
from benchwright.hub.opening.drafting import Draft
from benchwright.hub.opening.ours import OwnPull, own_pull
from benchwright.hub.opening.plan import Planner, RepoPlan, check_model
from benchwright.hub.opening.recording import record_of
from benchwright.hub.opening.words import TITLE
from benchwright.hub.pull_requests import Thread, thread
from benchwright.hub.refusals import NotFound
from benchwright.hub.registry import Record
from benchwright.hub.spec import RepoSpec
from benchwright.hub.writing import Writer


@dataclass(frozen=True)
class Amendment:
    """What to change in a pull request.

    ``files`` are the texts of those that change, None: it is deleted. ``title`` and ``body`` say whether these change.
    ``plan`` is refused where its draft does not belong there.
    """

    plan: RepoPlan
    own: OwnPull
    files: Mapping[str, str | None] = field(default_factory=dict)
    title: bool = False
    body: bool = False

    @property
    def leaves_files(self) -> bool:
        """Whether files stay that are neither the draft's nor deleted: such as main has, too."""
        assert self.plan.draft is not None
        there = {path for path, text in self.own.files.items() if text is not None}
        return not there <= {*self.plan.draft.files, *self.files}

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes in words."""
        words = [f"{'delete' if text is None else 'write'} {path}" for path, text in self.files.items()]
        return (*words, *(["write its body"] if self.body else []), *(["change its title"] if self.title else []))


def plan_amendment(planner: Planner, spec: RepoSpec, num: int) -> Amendment:
    """What makes a pull request of ours say what a spec says of its model.

    Raises:
        Failure: it is not there, not open, not ours, or others have changed it; or that is not told.
    """
    model = model_repo(planner.hub, spec.repo)
    check_model(model, spec)
    own, told = _ours(planner, model, spec, num)
    plan = planner.drafted(RepoPlan(spec, "new", model=model), model, own)
    if plan.draft is None:
        return Amendment(plan, own)
    draft = plan.draft
    files: dict[str, str | None] = {path: text for path, text in draft.files.items() if own.files.get(path) != text}
    # What main has is not ours to delete: there main has moved on.
    gone = [path for path, text in own.files.items() if text is not None and path not in draft.files]
    files |= dict.fromkeys(path for path in gone if path not in model.result_files)
    assert own.body is not None
    # A title that somebody else has chosen stays.
    retitled = any(one.type == "title-change" and one.author != own.pull.author for one in told.events)
    return Amendment(plan, own, files, own.pull.title != draft.title and not retitled, own.body.text != draft.body)


def amend(planner: Planner, writer: Writer, amendment: Amendment) -> Record:
    """Carry out an amendment, and write its record into the planner's registry, which is locked.

    Killed in between, it goes on where it was: what is changed already is no change any more.

    Raises:
        WriteStale: somebody has committed meanwhile. WriteLost: run it again, which looks first.
        Failure: the Hub refuses it.
    """
    draft, own, registry = amendment.plan.draft, amendment.own, planner.lookout.registry
    assert isinstance(draft, Draft)
    assert own.body is not None
    assert own.head is not None
    repo, num = draft.model.id, own.pull.num
    records = planner.lookout.records(draft.model, amendment.plan.spec, own.digits)
    known = next((one for one in records if one.num == num), None)
    before = known or record_of(planner.hub.endpoint, repo, own)
    if known is not None and known.spec_hash == draft.digits and not amendment.steps:
        return known
    note = "; ".join(amendment.steps)
    registry.put(before.noting("amending", note))
    head = own.head
    if amendment.files:
        names = ", ".join(one.name for one in draft.results)
        title = f"Change the evaluation results for {names}"[:200]
        head = writer.amend(repo, num, amendment.files, title=title, parent=head).oid
    if amendment.body:
        writer.edit_comment(repo, num, own.body.id, draft.body)
    if amendment.title:
        writer.rename(repo, num, draft.title)
    record = replace(
        before,
        repo=repo,
        state="open",
        spec_hash=draft.digits,
        title=draft.title,
        results=draft.recorded,
        head=None if amendment.leaves_files else head,
    )
    record = record.noting("amending", note).noting("amended")
    registry.put(record, instead_of=before)
    return record


def _ours(planner: Planner, model: ModelRepo, spec: RepoSpec, num: int) -> tuple[OwnPull, Thread]:
    """The pull request of that number, which nobody but us has made and changed."""
    try:
        told = thread(planner.hub, model.id, num)
    except NotFound as missing:
        found = f"{model.id} has no pull request {num} ({missing.problems[0].found})"
        fix = f"look at the numbers of {model.id}'s pull requests"
        raise Failure(Problem("no-pull-request", spec.place, found, "the number of an open one", fix)) from None
    pull, author = told.pull_request, planner.lookout.author
    if not pull.live:
        fix = "leave it; open_eval_prs.py without --amend says whether another may be opened"
        raise Failure(Problem("not-open", spec.place, f"pull request {num} is {pull.status}", "an open one", fix))
    own = own_pull(planner.hub, model, told, cached=False)
    mine = pull.author == author if author is not None else pull.title.startswith(TITLE)
    if not mine or own.digits is None or not own.commits:
        found = f"pull request {num} by {pull.author} is not ours: {_lacks(own, mine=mine)}"
        fix = "leave it: what was opened otherwise is its author's"
        raise Failure(Problem("not-ours", spec.place, found, "one of ours", fix), exit=Exit.REFUSED)
    others = [one for one in own.commits if one.author != pull.author]
    edited = own.body is not None and own.body.edited and own.body.editor not in (None, pull.author)
    if others or edited:
        what = counted(len(others), "commit") if others else "a body"
        found = f"pull request {num} has {what} of others"
        raise Failure(Problem("changed-by-others", spec.place, found, "ours alone", "ask them"), exit=Exit.REFUSED)
    return own, told


def _lacks(own: OwnPull, *, mine: bool) -> str:
    if not mine:
        return "somebody else opened it"
    return "its body has no marker" if own.digits is None else "it has no commit"
