"""The rules about a run that passes its gates: is it registered, under the right names, with its score and traces?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from benchwright.audit import commands, gates
from benchwright.audit.facts import EvalFacts, RowFacts, TraceRepo, TrialFacts
from benchwright.audit.rows import contested, filed_elsewhere, matching, served_beside, standing
from benchwright.audit.verdict import Action, Decision
from benchwright.contract import counted
from benchwright.evaldb import is_hash, is_numeric_model
from benchwright.evaldb.rows import FINISHED
from benchwright.harbor.number import as_score

_NUMERIC_MODEL, _MISNAMED = "numeric-model", frozenset({"hash-benchmark", "run-dir-benchmark"})
_UNREADABLE_SCORE = frozenset({"dict-metrics", "no-score", "doubled-stderr"})
"""What is wrong with a row that writing the row once more mends."""


def _rows_unknown(facts: EvalFacts) -> Decision | None:
    if facts.rows is None:
        return Decision("STOP", f"what the database holds of it is unknown ({facts.why_unknown('rows')})")
    disputed = contested(facts)
    return None if disputed is None else Decision("STOP", disputed)


def _not_registered(facts: EvalFacts) -> Decision | None:
    if matching(facts):
        return None
    served = _pair_served(facts)
    if served is not None:
        return served
    if facts.model is None or facts.benchmark is None:
        lacking = " and ".join(name for name in ("model", "benchmark") if getattr(facts, name) is None)
        told = f"its {lacking} could not be told: a manifest has to say"
        return Decision("STOP", f"complete, and not in the database; but {told}")
    if facts.traces is None:
        return Decision("STOP", f"what the Hub holds of it is unknown ({facts.why_unknown('traces')})")
    filled = _filled(facts.traces)
    repo = filled[0].name if filled else None
    action = commands.push(facts, "register it", traces=not filled, repo=repo)
    return Decision("UPLOAD", "complete, and not in the database", (action,))


def _misnamed(facts: EvalFacts) -> Decision | None:
    """A row under the number that a server gave the model, or a hash or a folder for a benchmark."""
    for row in standing(facts):
        found = _misnaming(facts, row)
        if found is not None and row.owner not in facts.owners:
            return Decision("STOP", f"row {row.id} of {row.owner}: {found.why}: tell them")
        if found is not None:
            return found
    return None


def _misnaming(facts: EvalFacts, row: RowFacts) -> Decision | None:
    if _NUMERIC_MODEL in row.issues or (row.model and is_numeric_model(row.model)):
        if facts.model is None:
            return Decision("STOP", f"row {row.id} names the model {row.model}; what it really is is unknown")
        fix = commands.repair(facts, "fix-model", row, "--model-name", facts.model)
        return Decision("FIX_MODEL", f"row {row.id} names the model {row.model}", (Action("name it", fix),))
    if row.issues & _MISNAMED or (row.benchmark and is_hash(row.benchmark)):
        if facts.benchmark is None:
            return Decision("STOP", f"row {row.id} names the benchmark {row.benchmark}; which it is is unknown")
        fix = commands.repair(facts, "fix-benchmark", row, "--benchmark-name", facts.benchmark)
        said = Action(f"say --benchmark-name {facts.benchmark} whenever this run is pushed again")
        named = Action("name it; the benchmark itself goes only when no row of anyone points at it", fix)
        return Decision("FIX_BENCH", f"row {row.id} names the benchmark {row.benchmark}", (named, said))
    return None


def _filed_elsewhere(facts: EvalFacts) -> Decision | None:
    """Nothing is made of a row whose id and whose names say different things."""
    found = filed_elsewhere(facts)
    return None if found is None else Decision("STOP", found)


def _pair_served(facts: EvalFacts) -> Decision | None:
    """A score of this run beside that of another one: a board shows one of them, and nobody has said which."""
    served = served_beside(facts)
    return None if served is None else Decision("STOP", f"{served}: which run counts is for you to say")


def _row_incomplete(facts: EvalFacts) -> Decision | None:
    """A row of this run that does not show what the run came to."""
    assert facts.trials is not None  # the rules before these
    for row in standing(facts):
        lacking = lacks(row, facts.trials)
        if lacking is None:
            continue
        if row.owner not in facts.owners:
            return Decision("STOP", f"row {row.id} of {row.owner} {lacking}: tell them")
        linked = _linked(facts, row)
        has_all = linked is not None and linked.shared >= facts.trials.valid
        action = _push(facts, row, "write the row once more", traces=not has_all, renew=True)
        return Decision("UPLOAD", f"row {row.id} {lacking}", (action,))
    return None


def _traces(facts: EvalFacts) -> Decision | None:
    if facts.traces is None:
        return Decision("STOP", f"what the Hub holds of it is unknown ({facts.why_unknown('traces')})")
    for row in standing(facts):
        found = _traces_of(facts, row)
        if found is None:
            continue
        if found.verdict != "STOP" and row.owner not in facts.owners:
            return Decision("STOP", f"row {row.id} of {row.owner}: {found.why}: tell them")
        return found
    return None


RULES: tuple[Callable[[EvalFacts], Decision | None], ...] = (
    _rows_unknown,
    _not_registered,
    _misnamed,
    _filed_elsewhere,
    _pair_served,
    _row_incomplete,
    _traces,
)
"""In the order in which they are asked."""


def lacks(row: RowFacts, trials: TrialFacts) -> str | None:
    """What a row does not show of a run that passes."""
    if row.status != FINISHED:
        return f"is {row.status}"
    if row.issues & _UNREADABLE_SCORE or row.score is None:
        return "has no score that the board can read"
    if row.fails:
        return "has the figures of an earlier, partial state of this run"
    if not gates.is_score_of(row.score, trials):
        return f"shows {as_score(row.score)}, which is no score of this run"
    return None


def _push(facts: EvalFacts, row: RowFacts, why: str, *, traces: bool, renew: bool = False) -> Action:
    """The push of a run that has a row, which may say what the run does not; ``renew`` writes over it."""
    named = replace(facts, model=facts.model or row.model, benchmark=facts.benchmark or row.benchmark)
    return commands.push(named, why, traces=traces, repo=row.link, renew=renew)


def _filled(repos: Iterable[TraceRepo]) -> list[TraceRepo]:
    """Repos with this run's traces, the one with most of them first."""
    found = [repo for repo in repos if repo.state == "filled" and repo.of_this_run]
    return sorted(found, key=lambda repo: (-repo.shared, repo.name))


def _linked(facts: EvalFacts, row: RowFacts) -> TraceRepo | None:
    """The repo that a row links, where it was looked at."""
    return next((repo for repo in facts.traces or () if repo.name == row.link), None)


def _traces_of(facts: EvalFacts, row: RowFacts) -> Decision | None:
    assert facts.trials is not None  # the rules before these
    repos = facts.traces or ()
    upload = (_push(facts, row, "upload them and link them", traces=True),)
    if row.link is not None:
        linked = _linked(facts, row)
        if linked is None:
            return Decision("STOP", f"{row.link}, which row {row.id} links, was not looked at")
        if linked.state != "filled":
            return Decision("UPLOAD", f"{row.link}, which row {row.id} links, is {linked.state}", upload)
        if linked.of_this_run is None:
            return Decision("STOP", f"whose traces {row.link} holds is unknown")
        if not linked.of_this_run:
            return Decision("STOP", f"{row.link}, which row {row.id} links, holds another run's traces")
        if linked.is_from_before(facts.trials.valid):
            gone = counted(linked.compared - linked.shared, "trial")
            anew = (_push(facts, row, "upload them and link them", traces=True, renew=True),)  # its trials went, too
            return Decision("UPLOAD", f"{row.link} has traces of {gone} from before a resume", anew)
        return None
    filled = _filled(repos)
    if filled:
        fix = commands.link(facts, row, filled[0].name)
        return Decision("LINK", f"{filled[0].name} has the traces, and row {row.id} no link", (Action("link it", fix),))
    if any(repo.state == "filled" and repo.of_this_run is None for repo in repos):
        return Decision("STOP", "a repo that may hold its traces could not be looked into")
    return Decision("UPLOAD", f"row {row.id} links no traces, and no repo holds them", upload)


def more_traces(facts: EvalFacts) -> tuple[Action, ...]:
    """What is left to do about a repo with traces of a few trials, which may be all that there are."""
    valid = facts.trials.valid if facts.trials is not None else 0
    for row in standing(facts):
        linked = _linked(facts, row)
        if linked is not None and linked.is_sparse(valid) and row.owner in facts.owners:
            held = f"{linked.name} has {counted(linked.rows or 0, 'row')} for {valid:,} valid trials"
            why = f"{held}: upload the traces once more, unless the other trials left no trajectory"
            return (_push(facts, row, why, traces=True),)
    return ()
