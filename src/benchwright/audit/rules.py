"""From facts to a verdict: a pure function, whose rules are asked in order until one decides.

What cannot be told is never taken for good: every way to ``OK`` leads past all four checks. Nothing is recommended that
could harm a live job, a row of somebody else, or a row whose own statistics are good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from benchwright.audit import commands, gates
from benchwright.audit.checks import checks_of
from benchwright.audit.evidence import Proof, proof_of_zero
from benchwright.audit.facts import EvalFacts, RowFacts, TraceRepo, TrialFacts
from benchwright.audit.rows import advice, contest, foreign_row, in_order, lack, matching, own_rows, serves
from benchwright.audit.verdict import Action, Decision, Judgement, Verdict
from benchwright.contract import counted, some

_NUMERIC_MODEL, _HASH_BENCHMARK, _RUN_DIR_BENCHMARK = "numeric-model", "hash-benchmark", "run-dir-benchmark"


def judge(facts: EvalFacts, *, now: datetime) -> Judgement:
    """The verdict on an eval, its four checks, and what to do.

    Args:
        facts: what is known.
        now: an aware time; rows are stale or not by it.
    """
    facts = in_order(facts)
    decision = next(found for rule in _RULES if (found := rule(facts)) is not None)
    checks = checks_of(facts)
    if decision.verdict == "OK":  # whatever rule is changed or forgotten, a check that does not pass is no OK
        lacking = [name for name, check in checks.named() if check.status in ("fail", "unknown")]
        if lacking:
            decision = Decision("STOP", f"nothing decides, and {some(lacking)} did not pass")
    return Judgement(
        verdict=decision.verdict,
        why=decision.why,
        checks=checks,
        actions=decision.actions,
        rows=advice(facts, decision.verdict, now=now),
        notes=facts.notes,
    )


def _exempt(facts: EvalFacts) -> Decision | None:
    if facts.measurement:
        return Decision("EXEMPT", "a measurement run, which is not audited")
    return None


def _live(facts: EvalFacts) -> Decision | None:
    table = ", with a new jobs table" if facts.buckets else ""
    wait = (Action(f"look again when it has ended{table}", commands.again(facts)),)
    if facts.job is not None and facts.job.phase == "live":
        return Decision("WAIT", f"the job is {facts.job.state or 'live'}: touch nothing", wait)
    if facts.moving:
        return Decision("WAIT", "its files changed while they were read: something still writes them", wait)
    for row in facts.rows or ():
        if row.of_run != "no" and row.live:
            return Decision("WAIT", f"the job of row {row.id} is live: touch nothing", wait)
    return None


def _job_unknown(facts: EvalFacts) -> Decision | None:
    if facts.job is None:
        why = f"whether the job is live is unknown ({facts.why_unknown('job')}): nothing may be done to it"
        return Decision("STOP", why)
    return None


def _contaminated(facts: EvalFacts) -> Decision | None:
    """A TPU leg served without a prefix cache: its timeouts say nothing of the model."""
    trials = facts.trials
    if facts.kind != "iris-tpu" or trials is None or not gates.is_contaminated(trials):
        return None
    share = 100 * trials.errors["AgentTimeoutError"] / trials.attempted
    cache = {None: "cached tokens are unknown", 0: "no token came from the prefix cache"}.get(
        trials.cached_tokens, "though some tokens came from the prefix cache"
    )
    why = f"{share:.0f} % of the trials timed out on a TPU leg, {cache}: its score says nothing of the model"
    drop = _taken_off(facts, "take the void score off the board")
    return Decision("VOID", why, (Action("fire it again under the same name", commands.launch(facts)), *drop))


def _trials_unknown(facts: EvalFacts) -> Decision | None:
    if facts.trials is None:
        return Decision("STOP", f"its trials are unknown ({facts.why_unknown('trials')})")
    return None


def _nothing_ran(facts: EvalFacts) -> Decision | None:
    trials = _trials(facts)
    broken = proof_of_zero(trials) is Proof.BROKEN
    if trials.attempted and not broken:
        return None
    good = _good_row(matching(facts))
    if good is not None and not broken:
        why = f"row {good.id} is complete, and the folder is not: has it been cleaned up, or is it another run's?"
        return Decision("STOP", why)
    foreign = foreign_row(facts)
    if foreign is not None:
        return Decision("STOP", f"row {foreign.id} of {foreign.owner} is of this run: ask them")
    verdict: Verdict = "RERUN" if broken or (facts.job and facts.job.phase == "completed") else "RELAUNCH"
    why = "its trials never reached the model: its score says nothing" if broken else "no trial left a result"
    first = Action("launch it again", commands.launch(facts))
    looks = [Action(gotcha) for gotcha in commands.LAUNCH_GOTCHAS] if verdict == "RELAUNCH" else []
    drop = _taken_off(facts, "take the score that says nothing off the board")
    return Decision(verdict, why, (first, *drop, *looks))


def _plan_unknown(facts: EvalFacts) -> Decision | None:
    if _trials(facts).planned is None:
        why = "how many trials were planned is unknown: name the benchmark, or its size in the benchmarks file"
        return Decision("STOP", why)
    return None


def _gate(facts: EvalFacts) -> Decision | None:
    trials = _trials(facts)
    if not gates.fails(trials):
        return None
    why = "; ".join(gates.broken_gates(trials))
    resume = Action("run again what has no reward, and keep the rest", commands.resume(facts))
    if facts.rows is None:
        return Decision("RESUME", f"{why}; whether a row of it is registered is unknown", (resume,))
    contested = contest(facts)
    if contested is not None:
        return Decision("STOP", f"{why}; {contested}")
    own = [row for row in own_rows(facts) if row.id not in facts.grandfathered]
    spared = [row.id for row in own_rows(facts) if row.id in facts.grandfathered]
    if spared:
        why += f"; row {some(spared)} is spared by a logged decision"
    finished = [row for row in own if row.status == "Finished"]
    partial = finished or own
    if len(partial) > 1:
        return Decision("STOP", f"{why}; which of rows {some(row.id for row in partial)} is the partial one is unclear")
    for row in finished:
        if row.fails is not True:
            says = "says that it is complete" if row.fails is False else "has no statistics to compare with"
            return Decision("STOP", f"{why}; but row {row.id} {says}: has the folder been cleaned up?")
    if not partial:
        return Decision("RESUME", why, (resume,))
    if partial[0].live is not False:
        return Decision("STOP", f"{why}; but whether the job of row {partial[0].id} is live is unknown")
    drop = Action("take the partial row off the board", commands.deregister(facts, partial[0]))
    return Decision("DEREGISTER+RESUME", why, (drop, resume))


def _aggregate_alone(facts: EvalFacts) -> Decision | None:
    if not _trials(facts).whole:
        return Decision("STOP", "an aggregate alone was read: no trial is proved")
    return None


def _rejected(facts: EvalFacts) -> Decision | None:
    """An exception of a name for which the profile takes no eval."""
    names = _trials(facts).rejecting
    if names:
        why = f"{some(sorted(names))} is in no class of the taxonomy, for which {facts.profile or 'the profile'}"
        return Decision("STOP", f"{why} rejects an eval: read exception.txt of one of them, and say what it means")
    return None


def _plan_doubtful(facts: EvalFacts) -> Decision | None:
    """A run that covers what it planned, which is less than its benchmark has: other scores are of more tasks."""
    trials = _trials(facts)
    if trials.expected is None or 10 * trials.covered >= 9 * trials.expected:
        return None
    why = f"the run planned {trials.planned:,} trials, and {trials.expected:,} were to be expected"
    return Decision("STOP", f"{why}: which is right is for you to say, in the manifest or in the benchmarks file")


def _worth_a_resume(facts: EvalFacts) -> Decision | None:
    trials = _trials(facts)
    if not gates.is_untrustworthy(trials):
        return None
    contested = contest(facts)
    if contested is not None:
        return Decision("STOP", contested)
    hidden = gates.hidden_zeros(trials)
    without = counted((trials.planned or 0) - trials.valid, "planned trial")
    why = f"the gates pass, but {without} have no reward"
    if hidden:
        why += f", {hidden:,} of them for a reason that hides a 0 or a real pass"
    actions = [Action("run again what has no reward, and keep row and rest", commands.resume(facts))]
    if facts.rows is not None and not own_rows(facts):
        actions.append(Action("or register it as it is", commands.push(facts, traces=True)))
    return Decision("RESUME", why, tuple(actions))


def _zero_unproved(facts: EvalFacts) -> Decision | None:
    if proof_of_zero(_trials(facts)) is Proof.OPEN:
        why = "the score is 0, and nothing recorded proves that the trials reached the model: see the server's log"
        return Decision("STOP", why)
    return None


def _rows_unknown(facts: EvalFacts) -> Decision | None:
    if facts.rows is None:
        return Decision("STOP", f"what the database holds of it is unknown ({facts.why_unknown('rows')})")
    contested = contest(facts, foreign=False)
    return None if contested is None else Decision("STOP", contested)


def _not_registered(facts: EvalFacts) -> Decision | None:
    if matching(facts):
        return None
    served = next((row for row in facts.rows or () if serves(facts, row)), None)
    if served is not None:
        why = f"row {served.id} of {served.owner} serves this model and benchmark: which run counts is for you to say"
        return Decision("STOP", why)
    if facts.model is None or facts.benchmark is None:
        lacking = " and ".join(name for name in ("model", "benchmark") if getattr(facts, name) is None)
        return Decision("STOP", f"complete, and not in the database; but its {lacking} could not be told: name it")
    if facts.traces is None:
        return Decision("STOP", f"what the Hub holds of it is unknown ({facts.why_unknown('traces')})")
    filled = _filled(facts.traces)
    repo = filled[0].name if filled else None
    command = commands.push(facts, traces=not filled, repo=repo)
    return Decision("UPLOAD", "complete, and not in the database", (Action("register it", command),))


def _names(facts: EvalFacts) -> Decision | None:
    for row in own_rows(facts):
        if _NUMERIC_MODEL in row.issues:
            if facts.model is None:
                return Decision("STOP", f"row {row.id} names the model {row.model}; what it really is is unknown")
            fix = commands.repair("fix-model", row, "--model-name", facts.model)
            return Decision("FIX_MODEL", f"row {row.id} names the model {row.model}", (Action("name it", fix),))
        if row.issues & {_HASH_BENCHMARK, _RUN_DIR_BENCHMARK}:
            if facts.benchmark is None:
                return Decision("STOP", f"row {row.id} names the benchmark {row.benchmark}; which it is is unknown")
            fix = commands.repair("fix-benchmark", row, "--benchmark-name", facts.benchmark)
            said = Action(
                "say the benchmark's name whenever this run is pushed again", f"--benchmark-name {facts.benchmark}"
            )
            own = Action("name it; the benchmark itself goes only when no row of anyone points at it", fix)
            return Decision("FIX_BENCH", f"row {row.id} names the benchmark {row.benchmark}", (own, said))
    return None


def _filed_elsewhere(facts: EvalFacts) -> Decision | None:
    """A row that is this run's by its id, and another model's or benchmark's by its name."""
    for row in matching(facts):
        wrong = [name for name in ("model", "benchmark") if f"other-{name}" in row.issues]
        if wrong:
            filed = " and ".join(f"the {name} {getattr(row, name)}" for name in wrong)
            right = " and ".join(str(getattr(facts, name)) for name in wrong)
            return Decision("STOP", f"row {row.id} has {filed}, the run {right}: which is right is for you to say")
    return None


def _row_incomplete(facts: EvalFacts) -> Decision | None:
    """A row of this run that does not show what the run came to."""
    trials = _trials(facts)
    for row in matching(facts):
        lacks = lack(row, trials)
        if lacks is None:
            continue
        if row.owner not in facts.owners:
            return Decision("STOP", f"row {row.id} of {row.owner} {lacks}: tell them")
        command = commands.push(facts, traces=row.link is None, repo=row.link, renew=True)
        return Decision("UPLOAD", f"row {row.id} {lacks}", (Action("write the row once more", command),))
    return None


def _traces(facts: EvalFacts) -> Decision | None:
    if facts.traces is None:
        return Decision("STOP", f"what the Hub holds of it is unknown ({facts.why_unknown('traces')})")
    for row in matching(facts):
        found = _traces_of(facts, row)
        if found is None:
            continue
        if found.verdict != "STOP" and row.owner not in facts.owners:
            return Decision("STOP", f"row {row.id} of {row.owner}: {found.why}: tell them")
        return found
    return None


def _fine(facts: EvalFacts) -> Decision | None:
    return Decision("OK", gates.matrix(_trials(facts)))


_RULES: tuple[Callable[[EvalFacts], Decision | None], ...] = (
    _exempt,
    _live,
    _job_unknown,
    _contaminated,
    _trials_unknown,
    _nothing_ran,
    _plan_unknown,
    _gate,
    _aggregate_alone,
    _rejected,
    _plan_doubtful,
    _worth_a_resume,
    _zero_unproved,
    _rows_unknown,
    _not_registered,
    _names,
    _filed_elsewhere,
    _row_incomplete,
    _traces,
    _fine,
)


def _trials(facts: EvalFacts) -> TrialFacts:
    assert facts.trials is not None  # the rules behind _trials_unknown
    return facts.trials


def _taken_off(facts: EvalFacts, why: str) -> list[Action]:
    """The de-registration of this run's finished rows that are ours, for a score that no gate ever saw fail."""
    rows = [row for row in own_rows(facts) if row.status == "Finished" and row.live is False]
    return [Action(why, commands.deregister(facts, row)) for row in rows if row.id not in facts.grandfathered]


def _good_row(rows: Iterable[RowFacts]) -> RowFacts | None:
    return next((row for row in rows if row.status == "Finished" and row.fails is False), None)


def _filled(repos: Iterable[TraceRepo]) -> list[TraceRepo]:
    """Repos with this run's traces, the one with most of them first."""
    found = [repo for repo in repos if repo.state == "filled" and repo.of_this_run]
    return sorted(found, key=lambda repo: (-repo.shared, repo.name))


def _traces_of(facts: EvalFacts, row: RowFacts) -> Decision | None:
    repos = facts.traces or ()
    upload = Action("upload them and link them", commands.push(facts, traces=True, repo=row.link, renew=True))
    if row.link is not None:
        linked = next((repo for repo in repos if repo.name == row.link), None)
        if linked is None:
            return Decision("STOP", f"{row.link}, which row {row.id} links, was not looked at")
        if linked.state != "filled":
            return Decision("UPLOAD", f"{row.link}, which row {row.id} links, is {linked.state}", (upload,))
        if linked.of_this_run is None:
            return Decision("STOP", f"whose traces {row.link} holds is unknown")
        if not linked.of_this_run:
            return Decision("STOP", f"{row.link}, which row {row.id} links, holds another run's traces")
        return None
    filled = _filled(repos)
    if filled:
        fix = commands.link(facts, row, filled[0].name)
        return Decision("LINK", f"{filled[0].name} has the traces, and row {row.id} no link", (Action("link it", fix),))
    if any(repo.state == "filled" and repo.of_this_run is None for repo in repos):
        return Decision("STOP", "a repo that may hold its traces could not be looked into")
    return Decision("UPLOAD", f"row {row.id} links no traces, and no repo holds them", (upload,))
