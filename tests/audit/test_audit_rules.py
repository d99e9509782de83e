"""The verdicts: cases of which each is a few lines of JSON, and what holds for all of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.audit import SETTLED, EvalFacts, RowFacts, judge

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
BENIGN = [
    "AgentTimeoutError",
    "BadRequestError",
    "ContextLengthExceededError",
    "NonZeroAgentExitCodeError",
    "SummarizationTimeout",
    "SummarizationTimeoutError",
    "VerifierRuntimeError",
]
INFORMATIVE = ["AgentTimeoutError", "BadRequestError", "ContextLengthExceededError", "VerificationNotCompletedError"]


def trials(valid: int = 300, *, planned: int | None = 300, reward_sum: float = 90.0, **more: Any) -> dict[str, Any]:
    worked = {"worked": valid, "tokens": 1000 * valid, "requests": 10 * valid}
    nonzero = valid if reward_sum else 0
    figures = {"planned": planned, "valid": valid, "reward_sum": reward_sum, "nonzero": nonzero}
    return {**figures, "benign": BENIGN, "informative": INFORMATIVE, **worked, **more}


def without(name: str, number: int, **more: Any) -> dict[str, Any]:
    """300 trials of which some ended with an exception and no reward."""
    return trials(300 - number, errors={name: number}, unscored={name: number}, **more)


def row(**more: Any) -> dict[str, Any]:
    score = more.pop("score", 0.3)
    own = {"id": "r1", "owner": "us", "score": score, "fails": False, "link": "org/run-traces"}
    return {**own, "created": "2026-08-30T00:00:00Z", "model": "org/m", "benchmark": "bench", **more}


def repo(name: str = "org/run-traces", state: str = "filled", shared: int = 300) -> dict[str, Any]:
    return {"name": name, "state": state, "rows": shared, "shared": shared, "compared": 300 if state == "filled" else 0}


JOB = {"phase": "completed", "state": "COMPLETED", "told_by": "sacct"}
TIMEOUT = {"phase": "ended", "state": "TIMEOUT", "told_by": "sacct", "submit": "sbatch eval.sbatch"}
KILLED = {"phase": "ended", "state": "6 KILLED", "told_by": "the jobs table"}


def case(**more: Any) -> EvalFacts:
    whole = {
        "run_tag": "run",
        "folder": "jobs/run",
        "model": "org/m",
        "benchmark": "bench",
        "owners": ["us", "us-too"],
        "job": JOB,
        "trials": trials(),
        "rows": [row()],
        "traces": [repo()],
    }
    return msgspec.json.decode(json.dumps(whole | more), type=EvalFacts)


CASES: dict[str, tuple[EvalFacts, str]] = {
    "nothing is wrong": (case(), "OK"),
    "01 a timeout scored 0": (case(trials=trials(errors={"AgentTimeoutError": 1})), "OK"),
    "02 a timeout scored 1": (case(trials=trials(errors={"AgentTimeoutError": 1}, reward_sum=90.0)), "OK"),
    "04 thirty of 300 unverified": (case(trials=without("VerificationNotCompletedError", 30)), "RESUME"),
    "05 thirty-one infrastructure errors, registered": (
        case(trials=without("DaytonaError", 31), rows=[row(fails=True)]),
        "DEREGISTER+RESUME",
    ),
    "thirty of 300 pass the gate": (case(trials=without("DaytonaError", 30)), "OK"),
    "27 of 267 fail it": (
        case(
            trials=trials(240, planned=267, errors={"DaytonaError": 27}, unscored={"DaytonaError": 27}),
            rows=[row(fails=True)],
        ),
        "DEREGISTER+RESUME",
    ),
    "07 twelve invalid": (case(trials=without("DaytonaError", 12)), "OK"),
    "08 benign and scored": (
        case(trials=trials(errors={"ContextLengthExceededError": 60, "AgentTimeoutError": 40})),
        "OK",
    ),
    "10 a fifth never started": (case(job=TIMEOUT, trials=trials(240), rows=[], traces=[]), "RESUME"),
    "11 and registered": (case(job=TIMEOUT, trials=trials(240), rows=[row(fails=True)]), "DEREGISTER+RESUME"),
    "11 and its row lingers": (
        case(job=TIMEOUT, trials=trials(240), rows=[row(status="Started", score=None, fails=None)]),
        "DEREGISTER+RESUME",
    ),
    "12 and registered by someone else": (
        case(job=TIMEOUT, trials=trials(240), rows=[row(owner="them", fails=True)]),
        "STOP",
    ),
    "14 files for all, 15 percent errors": (case(trials=without("DaytonaError", 45), rows=[]), "RESUME"),
    "16 a real zero": (case(trials=trials(reward_sum=0.0), rows=[row(score=0.0)]), "OK"),
    "a zero that no request explains": (
        case(trials=trials(reward_sum=0.0, requests=0, tokens=None), rows=[row(score=0.0)]),
        "RERUN",
    ),
    "a zero without a record": (
        case(trials=trials(reward_sum=0.0, requests=None, tokens=None), rows=[row(score=0.0)]),
        "STOP",
    ),
    "a zero of one class of errors": (
        case(trials=trials(reward_sum=0.0, errors={"NonZeroAgentExitCodeError": 290}), rows=[row(score=0.0)]),
        "RERUN",
    ),
    "17 no score and no trial": (case(trials=trials(0, reward_sum=0.0), rows=[row(score=None, fails=True)]), "RERUN"),
    "no trial, and the job failed": (case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=[]), "RELAUNCH"),
    "18 it runs": (
        case(job={"phase": "live", "state": "RUNNING"}, trials=trials(100), rows=[row(status="Started", live=True)]),
        "WAIT",
    ),
    "its files still change": (case(job=TIMEOUT, trials=trials(100), moving=True), "WAIT"),
    "21 no traces anywhere": (case(rows=[row(link=None)], traces=[repo(state="absent")]), "UPLOAD"),
    "22 traces that nobody linked": (case(rows=[row(link=None)], traces=[repo("laion/run-traces")]), "LINK"),
    "23 a link to nothing": (case(traces=[repo(state="absent")]), "UPLOAD"),
    "23 a link to an empty repo": (case(traces=[repo(state="empty")]), "UPLOAD"),
    "a link to another run's traces": (case(traces=[repo(shared=3)]), "STOP"),
    "an unlinked repo of another run": (case(rows=[row(link=None)], traces=[repo(shared=3)]), "UPLOAD"),
    "26 a hash for a benchmark": (
        case(rows=[row(benchmark="377118ff" * 5, issues=["hash-benchmark"])]),
        "FIX_BENCH",
    ),
    "27 and someone else points at it": (
        case(
            rows=[
                row(benchmark="377118ff" * 5, issues=["hash-benchmark"]),
                row(id="r2", owner="them", of_run="no", status="Started", live=None, issues=["hash-benchmark"]),
            ]
        ),
        "FIX_BENCH",
    ),
    "28 the run's folder for a benchmark": (case(rows=[row(issues=["run-dir-benchmark"])]), "FIX_BENCH"),
    "a number for a model": (case(rows=[row(model="1774950145766573", issues=["numeric-model"])]), "FIX_MODEL"),
    "a number for a model, and nobody knows which": (
        case(model=None, rows=[row(model="1774950145766573", issues=["numeric-model"])]),
        "STOP",
    ),
    "31 an old pending row beside a good one": (
        case(rows=[row(id="r0", status="Pending", score=None, fails=None, of_run="maybe", link=None), row()]),
        "OK",
    ),
    "34 an old row whose job is live": (
        case(job=TIMEOUT, rows=[row(status="Started", live=True, created="2026-08-31T23:00:00Z")]),
        "WAIT",
    ),
    "35 a measurement": (case(measurement=True, trials=without("DaytonaError", 90)), "EXEMPT"),
    "39 timeouts of a TPU leg": (
        case(kind="iris-tpu", trials=trials(errors={"AgentTimeoutError": 246}, cached_tokens=0)),
        "VOID",
    ),
    "timeouts of a GPU leg": (case(kind="iris-gpu", trials=trials(errors={"AgentTimeoutError": 246})), "OK"),
    "41 killed, and every gate passes": (
        case(kind="iris-tpu", job=KILLED, trials=without("DaytonaError", 9), rows=[], traces=[]),
        "UPLOAD",
    ),
    "41 killed, and too little is covered": (
        case(kind="iris-tpu", job=KILLED, trials=trials(260), rows=[], traces=[]),
        "RESUME",
    ),
    "47 metrics that the board cannot read": (case(rows=[row(score=None, issues=["dict-metrics"])]), "UPLOAD"),
    "a row from before the resume": (case(rows=[row(score=0.25, fails=True)]), "UPLOAD"),
    "a row with another score": (case(rows=[row(score=0.4)]), "UPLOAD"),
    "a row with another score, of someone else": (case(rows=[row(score=0.4, owner="them")]), "STOP"),
    "someone else's, and fine": (case(rows=[row(owner="them")]), "OK"),
    "not registered": (case(rows=[], traces=[]), "UPLOAD"),
    "not registered, and another run is": (case(rows=[row(of_run="no", owner="them")]), "STOP"),
    "rows that bear its name alone": (case(rows=[row(of_run="maybe")]), "STOP"),
    "two finished rows of one run": (case(rows=[row(), row(id="r2")]), "STOP"),
    "a folder that was cleaned up": (case(trials=trials(0, reward_sum=0.0), rows=[row()]), "STOP"),
    "a folder that was half cleaned up": (case(trials=trials(150), rows=[row()]), "STOP"),
    "a partial row that a decision spares": (
        case(trials=without("DaytonaError", 31), rows=[row(fails=True)], grandfathered=["r1"]),
        "RESUME",
    ),
    "fifty files that nobody can read": (case(trials=trials(250, corrupt=50), rows=[]), "RESUME"),
    "trials without a word": (case(trials=trials(250, silent=50), rows=[]), "RESUME"),
    "an aggregate alone": (case(trials=trials(whole=False)), "STOP"),
    "an aggregate alone with a score of 0": (
        case(trials=trials(whole=False, reward_sum=0.0, worked=None, tokens=None, requests=None)),
        "STOP",
    ),
    "an aggregate alone that errs too much": (
        case(trials=without("DaytonaError", 31, whole=False), rows=[row(fails=True)]),
        "DEREGISTER+RESUME",
    ),
    "a zero of which nobody knows whether agents worked": (
        case(trials=trials(reward_sum=0.0, worked=None), rows=[row(score=0.0)]),
        "STOP",
    ),
    "an error that the profile takes no eval with": (
        case(trials=without("BrandNewError", 1, rejecting=["BrandNewError"])),
        "STOP",
    ),
    "half of the benchmark": (case(trials=trials(150, planned=150, expected=300), rows=[row()]), "STOP"),
    "nine tenths of the benchmark": (
        case(trials=trials(270, planned=270, expected=300), rows=[row(score=1 / 3)]),
        "OK",
    ),
    "a row of another model": (case(rows=[row(model="org/x", issues=["other-model"])]), "STOP"),
    "a row of another benchmark": (case(rows=[row(benchmark="b", issues=["other-benchmark"])]), "STOP"),
    "not registered, and of a model that nobody knows": (case(rows=[], traces=[], model=None), "STOP"),
    "not registered, and of a benchmark that nobody knows": (case(rows=[], traces=[], benchmark=None), "STOP"),
    "no plan": (case(trials=trials(planned=None)), "STOP"),
    "a job that nobody knows": (case(job=None), "STOP"),
    "trials that nobody can read": (case(trials=None), "STOP"),
    "rows that nobody can read": (case(rows=None), "STOP"),
    "traces that nobody can see": (case(traces=None), "STOP"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_verdict(name: str) -> None:
    facts, verdict = CASES[name]
    found = judge(facts, now=NOW)
    assert found.verdict == verdict, found.why


@pytest.mark.parametrize("name", CASES)
def test_only_own_rows_that_may_go_are_named_in_a_command(name: str) -> None:
    facts, _ = CASES[name]
    found = judge(facts, now=NOW)
    own = {one.id for one in facts.rows or () if one.owner in facts.owners and one.live is False}
    commands = " ".join(action.command for action in found.actions)
    named = {one.id for one in facts.rows or () if f"--row {one.id} " in f"{commands} "}
    assert named <= own
    assert {one.id for one in found.rows if one.advice in ("deregister", "drop")} <= own


def test_a_stale_row_of_ours_is_dropped_and_the_good_one_kept() -> None:
    facts, _ = CASES["31 an old pending row beside a good one"]
    assert [(one.id, one.advice) for one in judge(facts, now=NOW).rows] == [("r0", "drop"), ("r1", "keep")]


def test_a_row_of_twelve_hours_is_not_stale_yet() -> None:
    pending = row(id="r0", status="Pending", of_run="no", created=(NOW - timedelta(hours=12)).isoformat())
    assert [one.advice for one in judge(case(rows=[row(), pending]), now=NOW).rows] == ["keep", "leave"]


PARTS = ("job", "trials", "traces", "rows")


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_known_makes_nothing_good(name: str) -> None:
    facts, verdict = CASES[name]
    for lost in range(1, 2 ** len(PARTS)):
        gone = {part: None for place, part in enumerate(PARTS) if lost >> place & 1}
        found = judge(msgspec.structs.replace(facts, **gone), now=NOW)
        assert found.verdict not in SETTLED or verdict == "EXEMPT"


ROWS = st.builds(
    RowFacts,
    id=st.sampled_from(["a", "b", "c", "d"]),
    owner=st.sampled_from(["us", "them"]),
    status=st.sampled_from(["Pending", "Started", "Finished", "Failed", "Running"]),
    of_run=st.sampled_from(["yes", "no", "maybe"]),
    live=st.sampled_from([True, False, None]),
    score=st.sampled_from([None, 0.0, 0.3, 0.4]),
    fails=st.sampled_from([True, False, None]),
    link=st.sampled_from([None, "org/run-traces"]),
    created=st.sampled_from([None, NOW, NOW - timedelta(hours=13)]),
    issues=st.frozensets(st.sampled_from(["numeric-model", "hash-benchmark", "dict-metrics"]), max_size=1),
)
FACTS = st.builds(
    lambda base, rows, **more: msgspec.structs.replace(base, rows=tuple(rows), **more),
    st.sampled_from([facts for facts, _ in CASES.values()]),
    st.lists(ROWS, max_size=4, unique_by=lambda one: one.id),
    grandfathered=st.frozensets(st.sampled_from(["a", "b"])),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(FACTS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing_and_no_good_or_foreign_row_goes(facts: EvalFacts, random: Any) -> None:
    rows = list(facts.rows or ())
    random.shuffle(rows)
    found = judge(facts, now=NOW)
    assert judge(msgspec.structs.replace(facts, rows=tuple(rows)), now=NOW) == found
    by_id = {one.id: one for one in rows}
    going = {one.id for one in found.rows if one.advice in ("deregister", "drop")}
    going |= {one.id for one in rows for action in found.actions if f"deregister --row {one.id}" in action.command}
    for one in (by_id[id] for id in going):
        assert one.owner == "us"
        assert one.live is False
        assert one.status != "Finished" or one.fails is not False or found.verdict in ("RERUN", "VOID")
        assert one.id not in facts.grandfathered
    if found.verdict == "OK":
        assert all(check.status in ("pass", "warn") for _, check in found.checks.named())
