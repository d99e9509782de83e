"""Facts about the traces: which repos on the Hub may hold a run's, and whether they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchwright.audit.facts import RowFacts, TraceRepo
from benchwright.audit.run import Run
from benchwright.audit.trace_hub import FoundTraces, TraceHub
from benchwright.audit.trace_names import ORGS_VARIABLE, candidates
from benchwright.contract import Exit, Failure, Problem, Progress, some

_AT_ONCE = 8
NO_ORGS = Failure(
    Problem(
        "no-trace-orgs",
        ORGS_VARIABLE,
        "not set",
        "the organisations that traces are uploaded to",
        f"export {ORGS_VARIABLE}=ORG,ORG",
    ),
    exit=Exit.ENVIRONMENT,
)
"""Without them a run whose row links no traces has none that are known, which is not the same as none."""

Looks = Mapping[str, FoundTraces | Failure]
"""What each repo turned out to hold."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The repos that a run's traces may be in: those that are ``linked``, by its rows or by a person, and by name."""

    linked: tuple[str, ...]
    named: tuple[str, ...]


def wanted(run: Run, rows: Iterable[RowFacts] | None, orgs: Sequence[str]) -> Wanted:
    """Where to look for a run's traces."""
    links = [row.link for row in rows or () if row.link and row.of_run != "no" and row.link.count("/") == 1]
    linked = tuple(dict.fromkeys(link for link in (*links, run.hint.traces) if link))
    return Wanted(linked, tuple(repo for repo in candidates((run.tag,), orgs) if repo not in linked))


def look_into(hub: TraceHub, repos: Iterable[str], progress: Progress) -> Looks:
    """What repos hold, each asked for once."""

    def look(repo: str) -> FoundTraces | Failure:
        try:
            return hub.look(repo)
        except Failure as failure:
            return failure

    ordered = sorted(set(repos))
    found: dict[str, FoundTraces | Failure] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for repo, answer in zip(ordered, pool.map(look, ordered), strict=True):
            found[repo] = answer
            progress(len(found), len(ordered), note=repo)
    return found


def trace_facts(run: Run, repos: Wanted, looks: Looks, orgs: Sequence[str]) -> tuple[tuple[TraceRepo, ...], str]:
    """The facts of the repos that could be looked into, and why there may be others, empty where there are none.

    A repo that could not be looked into is none of the facts.
    """
    known, lost = [], []
    for repo in (*repos.linked, *repos.named):
        answer = looks[repo]
        if isinstance(answer, Failure):
            lost.append("; ".join(f"{problem.where}: {problem.found}" for problem in answer.problems))
        else:
            known.append(repo_facts(run.trial_names, repo, answer))
    if not orgs:
        lost += [f"{problem.where}: {problem.found}" for problem in NO_ORGS.problems]
    return tuple(known), some(lost, 2)


def is_enough(known: Sequence[TraceRepo], linked: Sequence[str]) -> bool:
    """Whether what is known tells where the traces are, whatever the other repos hold."""
    return any(repo.name in linked or (repo.state == "filled" and repo.of_this_run) for repo in known)


def repo_facts(trial_names: frozenset[str], repo: str, found: FoundTraces) -> TraceRepo:
    """The facts of a repo for the run whose trials have these names."""
    names = found.trials if found.trials is not None and trial_names else frozenset[str]()
    return TraceRepo(
        name=repo,
        state=found.state,
        rows=found.rows,
        shared=len(names & trial_names),
        compared=len(names),
    )
