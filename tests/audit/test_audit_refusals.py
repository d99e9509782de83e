"""What keeps a score out of the database: the hard gates alone, all of them at once, and in step with the rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_audit_rules import CASES, JOB, NOW, TIMEOUT, case, damaged, repo, row, trials, without

from benchwright.audit import judge
from benchwright.audit.refusals import UNKNOWN, refusals

GOES_ON = ("OK", "UPLOAD", "LINK", "RESUME")


def codes(facts):
    return [problem.code for problem in refusals(facts)]


def test_thirty_of_300_pass_though_a_resume_is_advised():
    facts = case(trials=without("VerificationNotCompletedError", 30), rows=[])
    assert judge(facts, now=NOW).verdict == "RESUME"
    assert refusals(facts) == ()


def test_everything_that_is_wrong_is_told_at_once():
    facts = case(
        job=TIMEOUT,
        trials=without("DaytonaError", 31, planned=400),
        rows=[row(owner="them"), row(id="r2", score=0.1, issues=["numeric-model"], model="1774950145766573")],
    )
    assert [(problem.code, problem.found, problem.expected) for problem in refusals(facts)] == [
        ("coverage", "300 of 400 planned trials say how they ended", "at least 90 %"),
        ("error-fraction", "31 of 300 trials have errors that count, 10.3 %", "at most 10 %"),
        ("not-yours", "row r1 of this run is them's", "a row of yours, or none"),
        ("numeric-model", "row r2 names the model 1774950145766573", "org/m"),
    ]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (case(measurement=True), [("measurement-run", "a measurement run, which is not registered")]),
        (case(job=None, unknown={"job": "sacct is not here"}),
         [("job-unknown", "whether its job is live is unknown (sacct is not here)")]),
        (case(job={"phase": "live", "state": "RUNNING"}), [("job-live", "its job is RUNNING")]),
        (case(moving=True), [("job-live", "its files changed while they were read")]),
        (case(rows=[row(live=True)]), [("job-live", "the job of row r1 is live")]),
        (case(trials=None), [("trials-unknown", "its trials are unknown (nothing was gathered)")]),
        (case(trials=trials(0, reward_sum=0.0), rows=[]), [("no-trials", "no trial left a result")]),
        (case(trials=trials(planned=None)), [("plan-unknown", "how many trials were planned is unknown")]),
        (case(trials=trials(whole=False)), [("aggregate-alone", "an aggregate alone was read: no trial is proved")]),
        (case(trials=trials(rejecting=["BrandNewError"])),
         [("unknown-error-class", "BrandNewError is in no class of the taxonomy")]),
        (case(trials=trials(expected=400)),
         [("plan-doubtful", "the run planned 300 trials, and 400 were to be expected")]),
        (case(kind="iris-tpu", trials=trials(errors={"AgentTimeoutError": 240})),
         [("contaminated", "80 % of the trials timed out on a TPU leg: its score says nothing of the model")]),
        (case(trials=trials(reward_sum=0.0, requests=0, tokens=None), rows=[]),
         [("zero-unproved", "the score is 0, and its trials never reached the model")]),
        (case(trials=trials(reward_sum=0.0, requests=None, tokens=None), rows=[]),
         [("zero-unproved", "the score is 0, and nothing recorded proves that the trials reached the model")]),
        (case(rows=None, unknown={"rows": "DATABASE_URL not set"}),
         [("rows-unknown", "what the database holds of it is unknown (DATABASE_URL not set)")]),
        (case(rows=[row(of_run="maybe")]),
         [("rows-unclear", "rows r1 may be of this run, and nothing says so for sure")]),
        (case(rows=[row(), row(id="r2")]),
         [("rows-unclear", "rows r1, r2 are all of this run: which one stays is for you to say")]),
        (case(rows=[row(of_run="no", owner="them")]),
         [("pair-served", "row r1 of them serves this agent, model and benchmark with 0.3000")]),
        *((case(rows=[row(**open_), row(id="r2", of_run="no", owner="them")]),
           [("pair-served", "row r2 of them serves this agent, model and benchmark with 0.3000")])
          for open_ in ({"status": "Started", "score": None}, {"status": "Pending"}, {"score": None})),
        (case(rows=[row(), row(id="r2", of_run="no", owner="them")]), []),
        (case(rows=[row(status="Started"), row(id="r2", of_run="no", owner="them", fails=True)]), []),
        (case(rows=[row(status="Started"), row(id="r2", of_run="no", owner="them", score=None)]), []),
        (case(agent="terminus-2", rows=[row(status="Started"), row(id="r2", of_run="no", agent="openhands")]), []),
        (case(trials=trials(stored_score=0.9)),
         [("score-disputed", "the aggregate stores the score 0.9000, and its trials make 0.3000")]),
        (case(trials=trials(reward_sum=-1e308, stored_score=1e308)),
         [("score-disputed", "the aggregate stores the score 1e+308, and its trials make -3.333e+305")]),
        (case(trials=damaged(stored_score=90 / 297)), []),
        (case(trials=trials(stored_score=102 / 312, surplus_valid=12, surplus_sum=12.0)), []),
        (case(trials=trials(stored_score=105 / 312, surplus_valid=12, surplus_sum=12.0)),
         [("score-disputed", "the aggregate stores the score 0.3365, and its trials make 0.3000")]),
        (case(trials=trials(stored_score=91 / 300, surplus_valid=3, surplus_sum=2.0)),
         [("score-disputed", "the aggregate stores the score 0.3033, and its trials make 0.3000")]),
        (case(trials=trials(312, reward_sum=93.6)),
         [("plan-doubtful", "312 trials left a result that counts, and 300 were planned")]),
        (case(rows=[row(live=None)]), [("job-unknown", "whether the job of row r1 is live is unknown")]),
        (case(rows=[row(issues=["dangling-id"])]),
         [("dangling-id", "row r1 has the id of an agent, model or benchmark that there is not")]),
        (case(rows=[row(issues=["other-benchmark"])]), [("other-benchmark", "row r1 has the benchmark bench")]),
    ],
)  # fmt: skip
def test_each_gate_by_itself(facts, found):
    assert [(problem.code, problem.found) for problem in refusals(facts)] == found
    assert all(problem.fix for problem in refusals(facts))


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused_is_in_step_with_the_verdict(name):
    facts, verdict = CASES[name]
    refused = codes(facts)
    if verdict == "OK":  # of a row of somebody else too
        assert set(refused) <= {"not-yours"}
    elif verdict in ("UPLOAD", "LINK"):
        assert refused == []
    elif verdict != "RESUME":
        unnamed = facts.model is None or facts.benchmark is None
        traces = judge(facts, now=NOW).checks.traces.status in ("fail", "unknown")  # a push makes sure of them itself
        assert refused or unnamed or traces


def test_a_served_pair_says_what_is_to_be_done():
    (problem,) = refusals(case(rows=[row(status="Started"), row(id="r2", of_run="no", owner="them")]))
    assert problem.expected == "a pair without a score"
    assert problem.fix == "leave this run without a score, or have a person say which of the two counts"


@settings(max_examples=200, deadline=None)
@given(
    valid=st.integers(0, 320),
    errors=st.integers(0, 60),
    planned=st.sampled_from([None, 267, 300]),
    owner=st.sampled_from(["us", "them"]),
    of_run=st.sampled_from(["yes", "no", "maybe"]),
    status=st.sampled_from(["Finished", "Started", "Pending"]),
    reward_sum=st.sampled_from([0.0, 90.0]),
    job=st.sampled_from([JOB, TIMEOUT, None, {"phase": "live"}]),
)
def test_what_is_not_refused_the_audit_lets_through(valid, errors, planned, owner, of_run, status, reward_sum, job):
    found = trials(valid, planned=planned, reward_sum=reward_sum if valid else 0.0)
    found |= {"errors": {"DaytonaError": errors}, "unscored": {"DaytonaError": errors}} if errors else {}
    facts = case(
        trials=found,
        job=job,
        rows=[row(owner=owner, of_run=of_run, status=status, live=False)],
        traces=[repo()],
    )
    verdict = judge(facts, now=NOW).verdict
    if codes(facts):
        assert verdict not in ("UPLOAD", "LINK")
        assert verdict != "OK" or codes(facts) == ["not-yours"]
    else:
        assert verdict in GOES_ON
    assert UNKNOWN.isdisjoint(codes(facts)) or job is None
