"""The verdicts: cases of which each is a few lines of JSON, and what holds for all of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.audit import SETTLED, EvalFacts, Judgement, RowFacts, judge
from benchwright.audit.facts import Given
from benchwright.audit.gates import is_score_of

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


def damaged(**more: Any) -> dict[str, Any]:
    """300 trials of which 288 have a reward, 9 ended without one, and the results of 3 cannot be read."""
    return trials(288, corrupt=3, errors={"DaytonaError": 9}, unscored={"DaytonaError": 9}, **more)


def row(**more: Any) -> dict[str, Any]:
    score = more.pop("score", 0.3)
    own = {"id": "r1", "owner": "us", "status": "Finished", "of_run": "yes", "live": False, "link": "org/run-traces"}
    return {
        **own,
        "score": score,
        "fails": False,
        "created": "2026-08-30T00:00:00Z",
        "model": "org/m",
        "benchmark": "bench",
        **more,
    }


def repo(name: str = "org/run-traces", state: str = "filled", shared: int = 300) -> dict[str, Any]:
    held = {"rows": shared, "shared": shared, "compared": 300} if state == "filled" else {}
    return {"name": name, "state": state, **held}


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
    "a zero of one class of errors, and nothing is counted": (
        case(
            trials=trials(reward_sum=0.0, errors={"NonZeroAgentExitCodeError": 290}, tokens=None, requests=None),
            rows=[row(score=0.0)],
        ),
        "RERUN",
    ),
    "a zero of one class of errors, and requests flowed": (
        case(trials=trials(reward_sum=0.0, errors={"NonZeroAgentExitCodeError": 290}), rows=[row(score=0.0)]),
        "STOP",
    ),
    "a zero of about no request": (
        case(trials=trials(reward_sum=0.0, requests=3, tokens=900), rows=[row(score=0.0)]),
        "STOP",
    ),
    "a wall behind agents that were at work": (
        case(
            trials=without("VerifierTimeoutError", 300, reward_sum=0.0, worked=300, tokens=10**6, requests=3000),
            rows=[row(score=0.0, fails=True)],
        ),
        "DEREGISTER+RESUME",
    ),
    "a zero that no request explains, and a row with another score": (
        case(trials=trials(reward_sum=0.0, requests=0, tokens=None), rows=[row()]),
        "STOP",
    ),
    "a zero that no request explains, in someone else's row": (
        case(trials=trials(reward_sum=0.0, requests=0, tokens=None), rows=[row(score=0.0, owner="them")]),
        "STOP",
    ),
    "17 no score and no trial": (case(trials=trials(0, reward_sum=0.0), rows=[row(score=None, fails=True)]), "RERUN"),
    "no trial, and the job failed": (case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=[]), "RELAUNCH"),
    "no trial, and a row whose score nothing explains": (
        case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=[row(fails=None)]),
        "STOP",
    ),
    "no trial, and a row with a score of 0": (
        case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=[row(fails=None, score=0.0)]),
        "STOP",
    ),
    "no trial, and a row that waits": (
        case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=[row(status="Pending", score=None, fails=None)]),
        "RELAUNCH",
    ),
    "no trial, and nobody knows of rows": (case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=None), "RELAUNCH"),
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
    "a number for a model, in someone else's row": (case(rows=[row(owner="them", issues=["numeric-model"])]), "STOP"),
    "a hash for a benchmark, in someone else's row": (
        case(rows=[row(owner="them", issues=["hash-benchmark"])]),
        "STOP",
    ),
    "an id of nothing": (case(rows=[row(issues=["dangling-id"])]), "STOP"),
    "31 an old row of the run itself that waits beside a good one": (
        case(rows=[row(id="r0", status="Pending", score=None, fails=None, link=None), row()]),
        "OK",
    ),
    "31 an old pending row beside a good one": (
        case(rows=[row(id="r0", status="Pending", score=None, fails=None, of_run="maybe", link=None), row()]),
        "OK",
    ),
    "34 an old row whose job is live": (
        case(job=TIMEOUT, rows=[row(status="Started", live=True, created="2026-08-31T23:00:00Z")]),
        "WAIT",
    ),
    "a copy of another folder": (case(copy_of="jobs/other", trials=trials(240), rows=[row(fails=True)]), "STOP"),
    "a copy of another folder, and it runs": (case(copy_of="jobs/other", moving=True), "WAIT"),
    "35 a measurement": (case(measurement=True, trials=without("DaytonaError", 90)), "EXEMPT"),
    "a zero of timeouts alone, and requests flowed": (
        case(trials=trials(reward_sum=0.0, errors={"AgentTimeoutError": 300}), rows=[row(score=0.0)]),
        "STOP",
    ),
    "39 timeouts of a TPU leg": (
        case(kind="iris-tpu", trials=trials(errors={"AgentTimeoutError": 246}, cached_tokens=0)),
        "VOID",
    ),
    "39 and its row has another score": (
        case(kind="iris-tpu", trials=trials(errors={"AgentTimeoutError": 246}), rows=[row(score=0.5)]),
        "STOP",
    ),
    "39 and its row is someone else's": (
        case(kind="iris-tpu", trials=trials(errors={"AgentTimeoutError": 246}), rows=[row(owner="them")]),
        "STOP",
    ),
    "seven in ten timeouts of a TPU leg": (
        case(kind="iris-tpu", trials=trials(errors={"AgentTimeoutError": 239})),
        "OK",
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
    "a partial row of the run, and one that bears its name": (
        case(trials=trials(240), rows=[row(fails=True), row(id="r2", of_run="maybe")]),
        "STOP",
    ),
    "a partial row of the run, and a good one of another": (
        case(trials=trials(240), rows=[row(fails=True), row(id="r2", of_run="no")]),
        "DEREGISTER+RESUME",
    ),
    "a partial row of the run, and a newer one that may be a resume under way": (
        case(
            trials=trials(240),
            rows=[row(fails=True), row(id="r2", of_run="maybe", status="Started", live=None, score=None)],
        ),
        "STOP",
    ),
    "a good row, and a partial one that bears its name": (
        case(rows=[row(), row(id="r2", of_run="maybe", fails=True)]),
        "STOP",
    ),
    "a row of which nobody knows whether its job lives": (
        case(rows=[row(status="Started", score=None, fails=None, live=None)]),
        "STOP",
    ),
    "an aggregate with another score than its trials": (
        case(trials=trials(stored_score=0.9), rows=[row(score=0.9)]),
        "STOP",
    ),
    "the mean of Harbor where three results are damaged": (
        case(trials=damaged(stored_score=90 / 297), rows=[row(score=90 / 297)]),
        "OK",
    ),
    "a damaged result, and no row": (case(trials=damaged(stored_score=90 / 297), rows=[]), "UPLOAD"),
    "damaged results, and a score that no reading makes": (
        case(trials=damaged(stored_score=93 / 297), rows=[row(score=0.3)]),
        "STOP",
    ),
    "the mean of Harbor with zombies in it": (
        case(trials=trials(stored_score=102 / 312, surplus_valid=12, surplus_sum=12.0), rows=[row()]),
        "OK",
    ),
    "a row that counts zombies": (
        case(trials=trials(stored_score=102 / 312, surplus_valid=12, surplus_sum=12.0), rows=[row(score=102 / 312)]),
        "UPLOAD",
    ),
    "a mean that is off by a trial, and zombies that come close to it": (
        case(trials=trials(stored_score=91 / 300, surplus_valid=3, surplus_sum=2.0), rows=[row()]),
        "STOP",
    ),
    "damaged results, and a score that comes close to their mean": (
        case(trials=damaged(stored_score=90 / 297 + 1e-4), rows=[row()]),
        "STOP",
    ),
    "more results than were planned": (case(trials=trials(312, reward_sum=93.6)), "STOP"),
    "zombies that its mean does not explain": (
        case(trials=trials(stored_score=105 / 312, surplus_valid=12, surplus_sum=12.0)),
        "STOP",
    ),
    "a row that counts zombies of which there are none": (case(rows=[row(score=102 / 312)]), "UPLOAD"),
    "a plan of nothing": (case(trials=trials(5, planned=0), rows=[row(score=18.0)]), "STOP"),
    "50 errors that count, and every trial scored": (
        case(trials=trials(errors={"ApiRateLimitError": 31}), rows=[row(fails=True)]),
        "DEREGISTER+RESUME",
    ),
    "50 before the new name": (case(trials=without("AgentTimeoutError", 40), rows=[row(score=0.3)]), "RESUME"),
    "50 by the new name": (
        case(trials=without("VerificationNotCompletedError", 40), rows=[row(score=0.3, fails=True)]),
        "DEREGISTER+RESUME",
    ),
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
    "a partial row by its id, and of another model by its name": (
        case(trials=trials(240), rows=[row(fails=True, model="org/x", issues=["other-model"])]),
        "STOP",
    ),
    "a void row by its id, and of another benchmark by its name": (
        case(
            kind="iris-tpu",
            trials=trials(errors={"AgentTimeoutError": 246}),
            rows=[row(benchmark="b", issues=["other-benchmark"])],
        ),
        "STOP",
    ),
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


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("31")])
def test_a_stale_row_of_ours_is_dropped_and_the_good_one_kept(name: str) -> None:
    found = judge(CASES[name][0], now=NOW)
    assert [(one.id, one.advice) for one in found.rows] == [("r0", "drop"), ("r1", "keep")]
    (drop,) = found.actions
    assert drop.command == ".venv/bin/python scripts/database/repair_registration.py drop-stale --row r0"


@pytest.mark.parametrize("status", ["Failed", "finished", "Done", ""])
def test_a_row_of_another_word_waits_for_nothing(status: str) -> None:
    rows = [row(), row(id="r0", of_run="no", status=status, score=None, created="2026-08-01T00:00:00Z")]
    assert {one.id: one.advice for one in judge(case(rows=rows), now=NOW).rows} == {"r0": "leave", "r1": "keep"}


def test_a_row_that_is_to_be_written_is_not_dropped() -> None:
    waiting = row(status="Started", score=None, fails=None, created="2026-08-01T00:00:00Z")
    found = judge(case(rows=[waiting]), now=NOW)
    assert (found.verdict, [one.advice for one in found.rows]) == ("UPLOAD", ["keep"])
    anew = judge(case(job=TIMEOUT, trials=trials(0, reward_sum=0.0), rows=[waiting]), now=NOW)
    assert (anew.verdict, [one.advice for one in anew.rows]) == ("RELAUNCH", ["drop"])


def test_nothing_is_dropped_while_nothing_is_to_be_touched() -> None:
    old = row(id="r0", of_run="no", status="Pending", score=None, created="2026-08-01T00:00:00Z")
    for more, verdict in (({"job": {"phase": "live"}}, "WAIT"), ({"traces": None}, "STOP")):
        found = judge(case(rows=[row(), old], **more), now=NOW)
        assert (found.verdict, {one.advice for one in found.rows}) == (verdict, {"leave"})


def test_what_is_run_again_says_that_another_run_may_have_replaced_it() -> None:
    facts, _ = CASES["a partial row of the run, and a good one of another"]
    found = judge(facts, now=NOW)
    assert found.why == (
        "240 of 300 planned trials say how they ended, below 90 %; "
        "row r2 of another run of us shows a score of the same: run this only if it is to count"
    )
    assert "r2" not in " ".join(action.command for action in found.actions)


RETURNED = (
    "39 timeouts of a TPU leg",
    "a zero that no request explains",
    "a zero of one class of errors, and nothing is counted",
)


@pytest.mark.parametrize("name", RETURNED)
def test_a_score_that_says_nothing_goes_and_its_trials_are_not_kept(name: str) -> None:
    found = judge(CASES[name][0], now=NOW)
    assert [one.advice for one in found.rows] == ["deregister"]
    assert found.actions[-1].command.endswith("repair_registration.py deregister --row r1 --job-dir jobs/run")
    assert "keeps" in found.actions[0].why
    assert found.checks.score.status == "fail"
    if found.verdict == "VOID":
        launch = ".venv/bin/python scripts/iris/relaunch_eval.py run-rf"
        assert found.actions[0].command == launch
        assert "prints its region" in found.actions[1].why


def test_an_iris_job_is_pushed_from_its_bucket() -> None:
    name = "41 killed, and every gate passes"
    facts = msgspec.structs.replace(CASES[name][0], folder="gs://models/ot-agent/run/run", run_tag="run")
    given = Given(iris_jobs="/lists/jobs.csv")
    facts = msgspec.structs.replace(facts, buckets=("gs://models/ot-agent",), given=given)
    (action,) = judge(facts, now=NOW).actions
    assert action.why == "register it"
    assert action.command == (
        ".venv/bin/python scripts/database/manual_db_eval_push.py --job-dir gs://models/ot-agent/run/run "
        "--model-name org/m --benchmark-name bench --iris-jobs /lists/jobs.csv"
    )
    quoted = msgspec.structs.replace(facts, kind="iris-gpu", folder="s3://results/it's/run")
    assert "--job-dir 's3://results/it'\"'\"'s/run' " in judge(quoted, now=NOW).actions[0].command


def test_what_the_run_does_not_tell_is_said_as_its_row_has_it() -> None:
    known = row(link=None, model="org/m", benchmark="bench")
    (action,) = judge(case(model=None, benchmark=None, rows=[known], traces=[]), now=NOW).actions
    assert action.command == (
        ".venv/bin/python scripts/database/manual_db_eval_push.py --job-dir jobs/run "
        "--model-name org/m --benchmark-name bench"
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a zero without a record", "nothing recorded proves that the trials reached the model"),
        ("a zero of about no request", "nothing recorded proves that the trials reached the model"),
        (
            "a zero of timeouts alone, and requests flowed",
            "300 of 300 trials ended in AgentTimeoutError, for which the model or what served it may be the reason",
        ),
    ],
)
def test_why_a_zero_is_not_proved(name: str, why: str) -> None:
    found = judge(CASES[name][0], now=NOW)
    assert found.why == f"the score is 0, and {why}: see the server's log"
    assert (found.checks.score.status, found.checks.score.detail) == ("unknown", f"0.0000 over 300 attempted: {why}")


def test_a_leg_near_the_limit_of_timeouts_is_told() -> None:
    found = judge(CASES["seven in ten timeouts of a TPU leg"][0], now=NOW)
    assert found.checks.trials.status == "warn"
    assert found.checks.trials.detail.endswith("80 % timed out, more than the 68 % of a leg with a prefix cache")


def test_traces_of_a_few_trials_are_told() -> None:
    few = {"name": "org/run-traces", "state": "filled", "rows": 9, "shared": 9, "compared": 9}
    found = judge(case(traces=[few]), now=NOW)
    assert (found.verdict, found.checks.traces.status) == ("OK", "warn")
    assert found.checks.traces.detail == "org/run-traces: 9 rows"
    (again,) = found.actions
    assert again.why == (
        "org/run-traces has 9 rows for 300 valid trials: upload the traces once more, unless the other trials left no "
        "trajectory"
    )
    words = "--job-dir jobs/run --hf-repo org/run-traces --model-name org/m --benchmark-name bench"
    assert again.command == f".venv/bin/python scripts/database/manual_db_eval_push.py {words}"
    assert judge(case(rows=[row(owner="them")], traces=[few]), now=NOW).actions == ()


def test_a_link_is_given_the_manifest_that_names_the_row() -> None:
    given = Given(manifest="/lists/runs.csv", jobs_root="/jobs", profile="five")
    found = judge(msgspec.structs.replace(case(rows=[row(link=None)]), given=given), now=NOW)
    assert found.verdict == "LINK"
    assert found.actions[0].command.endswith(" --job-dir jobs/run --manifest /lists/runs.csv --jobs-root /jobs")


def test_traces_from_before_a_resume_go_up_anew() -> None:
    found = judge(case(traces=[repo(shared=280)]), now=NOW)
    assert (found.verdict, found.why) == ("UPLOAD", "org/run-traces has traces of 20 trials from before a resume")
    assert (found.checks.traces.status, found.checks.traces.detail) == (
        "fail",
        "org/run-traces: 280 of its 300 trials are there still",
    )
    words = "--hf-repo org/run-traces --model-name org/m --benchmark-name bench --forced-update"
    assert found.actions[0].command.endswith(words)


@pytest.mark.parametrize(("shared", "flag"), [(280, ""), (300, "--skip-hf ")])
def test_a_row_that_is_written_once_more_takes_its_traces_along_where_they_are_behind(shared: int, flag: str) -> None:
    held = {"name": "org/run-traces", "state": "filled", "rows": shared, "shared": shared, "compared": shared}
    found = judge(case(rows=[row(score=0.2)], traces=[held]), now=NOW)
    assert found.verdict == "UPLOAD"
    assert found.actions[0].command.endswith(f"--benchmark-name bench {flag}--forced-update")


def test_a_folder_that_has_lost_trials_does_not_replace_their_traces() -> None:
    left = judge(case(trials=trials(280), traces=[repo(shared=280)]), now=NOW)
    assert left.checks.traces.status == "pass"


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
    status=st.sampled_from(["Pending", "Started", "Finished", "Finished", "Failed", "Running"]),
    of_run=st.sampled_from(["yes", "no", "maybe"]),
    live=st.sampled_from([True, False, None]),
    score=st.sampled_from([None, 0.0, 0.3, 0.4]),
    fails=st.sampled_from([True, False, None]),
    link=st.sampled_from([None, "org/run-traces"]),
    created=st.sampled_from([None, NOW, NOW - timedelta(hours=13)]),
    issues=st.frozensets(
        st.sampled_from(["numeric-model", "hash-benchmark", "dict-metrics", "other-model", "dangling-id"]), max_size=1
    ),
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
    off, dropped = _going(found)
    commands = [action.command for action in found.actions]
    assert off == {one.id for one in rows if any(f"deregister --row {one.id}" in command for command in commands)}
    assert dropped == {one.id for one in rows if any(f"drop-stale --row {one.id}" in command for command in commands)}
    assert not (off or dropped) or found.verdict not in ("WAIT", "STOP", "EXEMPT")
    assert len(off) < 2 or found.verdict in ("RERUN", "RELAUNCH", "VOID")
    for one in rows:
        if one.id in off | dropped:
            assert (one.owner, one.live) == ("us", False)
            assert one.id not in facts.grandfathered
        if one.id in off:
            assert one.of_run == "yes"
            assert not one.issues & {"other-model", "dangling-id"} or one.status != "Finished"
            assert None not in (facts.job, facts.trials)
            same = one.score is not None and is_score_of(one.score, facts.trials)
            assert one.fails or one.status != "Finished" or (same and found.verdict in ("RERUN", "VOID"))
        if one.id in dropped:
            assert one.status in ("Pending", "Started", "Running")
    if found.verdict == "OK":
        assert all(check.status in ("pass", "warn") for _, check in found.checks.named())


def _going(found: Judgement) -> tuple[set[str], set[str]]:
    """The rows that are to be taken off the board, and those that are to be dropped."""
    return tuple({one.id for one in found.rows if one.advice == word} for word in ("deregister", "drop"))


UNKNOWN = {"live": None, "fails": None, "of_run": "maybe", "created": None}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(FACTS, st.data())
def test_what_is_less_known_takes_no_further_row_off_and_makes_nothing_good(facts: EvalFacts, data: Any) -> None:
    before = judge(facts, now=NOW)
    lost = data.draw(st.sampled_from([*PARTS, *UNKNOWN]))
    if lost in PARTS:
        less = msgspec.structs.replace(facts, **{lost: None})
    else:
        which = data.draw(st.sampled_from(["a", "b", "c", "d"]))
        rows = [msgspec.structs.replace(one, **{lost: UNKNOWN[lost]}) if one.id == which else one for one in facts.rows]
        less = msgspec.structs.replace(facts, rows=tuple(rows))
    after = judge(less, now=NOW)
    assert _going(after)[0] <= _going(before)[0]
    if lost in PARTS:
        assert after.verdict != "OK"
