"""What ``open_eval_prs.py`` says: each pull request before it is opened, and where its results stand afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.contract import DRY_RUN, Exit, Outcome, Problem, counted
from benchwright.hub.opening.amend import Amendment
from benchwright.hub.opening.apply import Opened
from benchwright.hub.opening.drafting import Draft
from benchwright.hub.opening.live import Stand
from benchwright.hub.opening.plan import RepoPlan
from benchwright.hub.opening.rebuild import Rebuilt
from benchwright.hub.registry import Record
from benchwright.hub.views import SHOWN
from benchwright.hub.writing import to_apply

TABLE = ("| pull request | benchmark | value | live rank | view |", "|---|---|---|---|---|")
_STATES = {"new": "to open", "present": "there already", "refused": "refused"}
_ENDS = {
    "opened": "opened",
    "adopted": "adopted",
    "there": "there already",
    "refused": "refused",
    "failed": "not taken by the Hub",
    "lost": "without an answer",
    "untried": "not tried",
}


def planned(plans: Sequence[RepoPlan], next: Sequence[str]) -> Outcome:
    """The outcome of a dry run; ``next`` are the commands that open what is planned."""
    return Outcome(
        f"{DRY_RUN}; {_counts(_STATES, [plan.state for plan in plans])}",
        {"applied": False, "repos": [_told(plan) for plan in plans]},
        [line for plan in plans for line in _shown(plan)],
        _problems(plans),
        next=next if any(_is_to_do(plan) for plan in plans) else (),
        next_title=to_apply("open them"),
        closing=(DRY_RUN,),
        exit=max((plan.exit for plan in plans), default=Exit.DONE),
    )


def applied(opened: Sequence[Opened], stands: Sequence[Stand], again: str, sweep: str) -> Outcome:
    """The outcome of a run that opened what was planned; ``again`` and ``sweep`` are the commands that may follow.

    It is ``applied`` where a pull request is there, or may be; where all were refused, nothing was written.
    """
    problems = [problem for one in opened for problem in one.problems]
    problems += [remark for one in opened for remark in one.plan.remarks]
    problems += unseen(stands)
    lines = [f"{one.plan.spec.repo}: {_ENDS[one.state]}{f', {one.record.url}' if one.record else ''}" for one in opened]
    data = {
        "applied": any(one.state not in ("refused", "failed", "untried") for one in opened),
        "repos": [
            _told(one.plan) | {"outcome": one.state, **({"record": _record(one.record)} if one.record else {})}
            for one in opened
        ],
        "results": [_stand(one) for one in stands],
    }
    exit = max((one.exit for one in opened), default=Exit.DONE)
    rerun = any(one.exit == Exit.REMOTE for one in opened)
    return Outcome(
        _counts(_ENDS, [one.state for one in opened]),
        data,
        [*([*table(stands), ""] if stands else []), *lines],
        problems,
        next=([again] if rerun else []) + ([sweep] if any(one.record for one in opened) else []),
        exit=exit,
    )


def amended(
    amendment: Amendment, record: Record | None, stands: Sequence[Stand], next: Sequence[str], *, dry: bool
) -> Outcome:
    """The outcome of ``--amend``; ``record`` None: it was a dry run, or refused."""
    plan, num = amendment.plan, amendment.own.pull.num
    label = f"pull request {num} of {plan.spec.repo}"
    if plan.draft is None:
        summary = f"{label} stays as it is: {counted(len(plan.problems), 'problem')}"
    elif not amendment.steps:
        summary = f"{label} says it already"
    else:
        summary = f"{label}: {'; '.join(amendment.steps)}"
    data = {"applied": record is not None, "num": num, "steps": amendment.steps, "repos": [_told(plan)]}
    return Outcome(
        f"{DRY_RUN}; {summary}" if dry else summary,
        data | {"results": [_stand(one) for one in stands]},
        _shown(plan) if record is None else table(stands),
        [*plan.problems, *plan.remarks, *unseen(stands)],
        next=next if plan.draft is not None and (amendment.steps or not dry) else (),
        next_title=to_apply("change it") if dry else "next:",
        closing=(DRY_RUN,) if dry else (),
        exit=plan.exit,
    )


def rebuilt(found: Rebuilt, path: str, aside: str | None, again: str) -> Outcome:
    """The outcome of ``--rebuild``; ``again`` is the command that does what the Hub kept from it."""
    records = [_record(one) for one in found.records]
    lines = [f"  {one.url}: {one.state}, {counted(len(one.results), 'result')}" for one in found.records]
    kept = [f"what was there before: {aside}"] if aside else []
    summary = f"{path}: {counted(len(records), 'pull request')} found on the Hub"
    if not found.whole:
        summary = f"{path} stays as it is: the Hub did not tell all, {counted(len(records), 'pull request')} so far"
    data = {"records": records, "before": aside, "written": found.whole}
    next = [] if found.whole else [again]
    return Outcome(summary, data, [*lines, *kept], found.problems, next=next, exit=found.exit)


def table(stands: Iterable[Stand]) -> list[str]:
    """The table of results: where each is seen by now, in Markdown."""
    lines = [*TABLE]
    for one in stands:
        seen = one.sighting
        rank, view = (str(seen.rank), str(seen.view)) if seen else ("unknown" if one.unknown else "not seen", "")
        lines.append(f"| {one.record.url} | {one.name} | {one.result.value_text} | {rank} | {view} |")
    return lines


def unseen(stands: Iterable[Stand]) -> list[Problem]:
    """A problem for each result that nobody sees by now."""
    problems = []
    for one in stands:
        where = f"{one.record.url}: {one.name}"
        if one.refused is not None:
            fix = f"correct the spec, and change it: --amend {one.record.num}"
            problems.append(Problem("file-refused", where, f"{one.result.filename}: {one.refused}", "", fix))
        elif one.unknown is not None:
            problems.append(Problem("rank-unknown", where, one.unknown, "", "look again later: sweep_eval_prs.py"))
        elif one.sighting is None:
            found = f"{one.result.value_text} is in the top {SHOWN} of no view so far"
            problems.append(Problem("not-seen", where, found, "", "look again later: sweep_eval_prs.py"))
    return problems


def _counts(words: dict[str, str], states: Sequence[str]) -> str:
    counts = Counter(states)
    parts = [f"{counts[state]} {word}" for state, word in words.items() if counts[state]]
    return f"{counted(len(states), 'model')}: {', '.join(parts)}"


def _problems(plans: Iterable[RepoPlan]) -> list[Problem]:
    return [problem for plan in plans for problem in (*plan.problems, *plan.remarks)]


def _is_to_do(plan: RepoPlan) -> bool:
    """Whether there is one to open or to adopt."""
    return plan.state == "new" or (plan.present is not None and plan.present.record is None)


def _shown(plan: RepoPlan) -> list[str]:
    """A plan as a person reads it: the pull request as it would look, shown as a whole or not at all."""
    if plan.present is not None:
        pull, known = plan.present.pull, "in the registry" if plan.present.record else "to be adopted"
        return [f"{plan.spec.repo}: pull request {pull.num} is there, {pull.status}, {known}"]
    if plan.draft is None:
        return [f"{plan.spec.repo}: refused, {counted(len(plan.problems), 'problem')}"]
    return ["\n".join([f"{plan.draft.model.id}:", *(f"    {line}" for line in _lines(plan.draft))])]


def _lines(draft: Draft) -> list[str]:
    lines = [f"title: {draft.title}"]
    for one in draft.results:
        seen = one.placed.prediction
        lines.append(f"{one.name}: {one.entry.value_text} would be number {seen.rank} at worst: {seen.view}")
    for path, text in draft.files.items():
        lines += [f"{path}:", *(f"    {line}" for line in text.splitlines())]
    return [*lines, "body:", *(f"    {line}".rstrip() for line in draft.body.splitlines())]


def _told(plan: RepoPlan) -> dict[str, Any]:
    """A plan as data."""
    told: dict[str, Any] = {"repo": plan.spec.repo, "state": plan.state}
    told["rows"] = [result.row for result in plan.spec.results if result.row is not None]
    told["problems"] = [problem.to_dict() for problem in plan.problems]
    told["remarks"] = [problem.to_dict() for problem in plan.remarks]
    if plan.present is not None:
        told |= {"num": plan.present.pull.num, "status": plan.present.pull.status}
    if plan.draft is not None:
        told |= {"model": plan.draft.model.id, "title": plan.draft.title, "body": plan.draft.body}
        told["files"] = dict(plan.draft.files)
        told["results"] = [
            {
                "dataset": one.entry.dataset,
                "task_id": one.entry.task,
                "benchmark": one.name,
                "value_text": one.entry.value_text,
                "row": one.placed.result.row,
                "rank": one.placed.prediction.rank,
                "view": str(one.placed.prediction.view),
                "link": one.link,
            }
            for one in plan.draft.results
        ]
    return told


def _record(record: Record) -> dict[str, Any]:
    return {"repo": record.repo, "num": record.num, "url": record.url, "state": record.state, "head": record.head}


def _stand(stand: Stand) -> dict[str, Any]:
    seen = stand.sighting
    return {
        "repo": stand.record.repo,
        "num": stand.record.num,
        "url": stand.record.url,
        "benchmark": stand.name,
        "dataset": stand.result.dataset,
        "task_id": stand.result.task_id,
        "value_text": stand.result.value_text,
        "rank": seen.rank if seen else None,
        "view": str(seen.view) if seen else None,
    }
