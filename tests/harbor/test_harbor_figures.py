"""The figures: gates as integers, the score in every reading, what the missing trials leave open."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.harbor import Aggregate, EvalStats, JobConfig, Kind, Planned, Rewards, Tally, Taxonomy, figures
from benchwright.harbor.job import Job, packed

TAXONOMY = Taxonomy.load()
SEVEN = TAXONOMY.profile("seven")


def job_of(kinds, *, rewards=(), evals=None, stats=None, aggregate="ok", agents=()):
    tally = Tally(
        kinds=tuple((Kind(*kind) if isinstance(kind, tuple) else Kind(kind), number) for kind, number in kinds.items()),
        reward_sum=float(sum(rewards)),
        lowest=min(rewards, default=None),
        highest=max(rewards, default=None),
    )
    return Job(
        name="job",
        folders=("/job",),
        config=JobConfig(state="ok", agents=agents),
        aggregate=Aggregate(state=aggregate, evals={} if stats is None else stats),
        locked={},
        meta={},
        whole=tally,
        evals=evals or {"a__b": tally},
        remarks=(),
        live=False,
        written=datetime(2026, 9, 1, tzinfo=UTC),
        packed_trials=packed(()),
    )


def of(kinds, planned=300, profile=SEVEN, **more):
    return figures(job_of(kinds, **more), profile, Planned(planned, "expected"))


@pytest.mark.parametrize(
    ("invalid", "attempted", "fails"),
    [(30, 300, False), (31, 300, True), (27, 267, True), (26, 267, False), (0, 0, False), (1, 10, False), (1, 9, True)],
)
def test_the_error_fraction_is_compared_in_integers(invalid, attempted, fails):
    found = of({("unscored", "DaytonaError"): invalid, "valid": attempted - invalid})
    assert (found.invalid, found.attempted, found.errs_too_much) == (invalid, attempted, fails)
    assert found.error_fraction == (Fraction(invalid, attempted) if attempted else None)
    assert found.facts()["error_fraction"]["fails"] is fails


@pytest.mark.parametrize(
    ("kinds", "planned", "covered", "fails"),
    [
        ({"valid": 270}, 300, 270, False),
        ({"valid": 269}, 300, 269, True),
        ({"valid": 240, ("unscored", "AgentTimeoutError"): 30}, 300, 270, False),
        ({"valid": 269, "unscored": 31}, 300, 269, True),
        ({"valid": 269, "corrupt": 31}, 300, 269, True),
        ({"valid": 269, "missing": 31}, 300, 269, True),
        ({"valid": 269, ("unscored", "AgentTimeoutError", True): 31}, 300, 269, True),
        ({"valid": 300}, None, 300, True),
    ],
)
def test_what_says_nothing_of_its_end_is_not_covered(kinds, planned, covered, fails):
    found = of(kinds, planned)
    assert (found.covered, found.covers_too_little) == (covered, fails)


def test_a_scored_trial_with_an_exception_that_counts_is_valid_and_invalid():
    found = of({("valid", "ApiRateLimitError"): 2, ("valid", "AgentTimeoutError"): 3, "valid": 5}, 10)
    assert (found.valid, found.invalid, found.unscored_benign) == (10, 2, 0)
    assert found.errors["ApiRateLimitError"].scored == 2


def test_counts_of_a_mixed_job():
    found = of(
        {
            "valid": 4,
            ("unscored", "AgentTimeoutError"): 2,
            ("unscored", "DaytonaError"): 1,
            ("unscored", "NeverSeenError"): 1,
            "unscored": 1,
            "corrupt": 1,
            "missing": 1,
        },
        12,
        rewards=(1.0, 1.0, 1.0, 0.0),
    )
    told = found.facts()
    names = (
        "planned",
        "attempted",
        "valid",
        "unscored",
        "unscored_benign",
        "silent",
        "corrupt",
        "missing",
        "unfinished",
    )
    assert [told[name] for name in names] == [12, 10, 4, 5, 2, 1, 1, 2, 1]
    assert (told["invalid"], told["covered"], told["drift"]) == (2, 8, ["NeverSeenError"])
    assert told["error_fraction"] == {"exact": "2/10", "value": 0.2, "fails": True}
    assert told["coverage"] == {"exact": "8/12", "value": 8 / 12, "fails": True}
    assert told["valid_fraction"] == {"exact": "4/12", "value": 4 / 12, "fails": None}


def test_the_score_in_every_reading_and_what_is_open():
    kinds = {"valid": 10, ("unscored", "AgentTimeoutError"): 5, ("unscored", "DaytonaError"): 3, "corrupt": 2}
    stats = {"a__b": EvalStats(score=4 / 20, exceptions={"DaytonaError": 3, "AgentTimeoutError": 5})}
    found = of(kinds, 25, rewards=[1.0] * 4 + [0.0] * 6, stats=stats)
    scores = found.scores
    assert (scores.attempted, scores.valid, scores.planned) == (0.2, 0.4, 0.16)
    assert (scores.stored, scores.stored_is) == (0.2, ("attempted",))
    assert scores.likely == pytest.approx(4 / 15)  # a timeout is a 0, the sandbox's failures are left out
    assert scores.bias == pytest.approx(0.2 - 4 / 15)
    assert (scores.low, scores.high) == (4 / 25, (4 + 3 + 2 + 5) / 25)
    assert found.invalid_in_aggregate == found.invalid == 3


def test_what_is_over_completed_or_surplus_trials_is_there_where_it_may_be_another_mean():
    plain = of({"valid": 4, "unscored": 1}, 5, rewards=[1.0, 1.0, 0.0, 0.0]).scores
    assert (plain.completed, plain.completed_with_surplus, plain.valid_with_surplus) == (None, None, None)
    damaged = of({"valid": 4, "unscored": 1, "corrupt": 3}, 8, rewards=[1.0, 1.0, 0.0, 0.0]).scores
    assert (damaged.attempted, damaged.completed, damaged.completed_with_surplus) == (2 / 8, 2 / 5, None)


def test_surplus_rewards_of_any_size_give_a_number():
    most = sys.float_info.max
    rewards = Rewards(
        valid=1, unscored=0, corrupt=0, planned=1, total=most, surplus_valid=1, surplus_unscored=2, surplus_total=most
    )
    means = rewards.means()
    assert means["valid_with_surplus"] == most
    assert means["completed_with_surplus"] == pytest.approx(most / 2)


def test_rewards_beyond_0_and_1_widen_what_is_open():
    scores = of({"valid": 2}, 4, rewards=[-1.0, 3.0]).scores
    assert (scores.low, scores.high) == ((2 - 2) / 4, (2 + 6) / 4)


@pytest.mark.parametrize(("stored", "is_"), [(0.5004, ["attempted", "valid", "planned"]), (0.5006, [])])
def test_a_stored_score_may_have_some_digits_less(stored, is_):
    found = of({"valid": 2}, 2, rewards=[1.0, 0.0], stats={"a__b": EvalStats(score=stored)})
    assert found.facts()["scores"]["stored_is"] == is_


def test_without_an_aggregate_nothing_is_stored_nor_counted_by_it():
    found = of({"valid": 2}, 2, rewards=[1.0, 0.0], aggregate="corrupt")
    assert (found.scores.stored, found.invalid_in_aggregate) == (None, None)


def test_a_difference_between_trials_and_aggregate_shows():
    stats = {"a__b": EvalStats(exceptions={"TrialNotScoredError": 4, "AgentTimeoutError": 9})}
    found = of({"valid": 2, ("unscored", "TrialNotScoredError"): 3}, 5, stats=stats)
    assert (found.invalid, found.invalid_in_aggregate) == (3, 4)


def test_profiles_count_differently_and_say_their_name():
    kinds = {"valid": 8, ("valid", "NonZeroAgentExitCodeError"): 2, ("unscored", "BadRequestError"): 1}
    counted = {name: of(kinds, 11, TAXONOMY.profile(name)) for name in TAXONOMY.profiles}
    assert {name: one.invalid for name, one in counted.items()} == {"seven": 0, "five": 2, "harbor": 3, "four-class": 3}
    assert [one.facts()["profile"] for one in counted.values()] == list(counted)


def test_an_eval_of_an_old_version_is_found_under_its_old_key():
    one = Tally(kinds=((Kind("valid"), 1),))
    stats = {"x__org-m__d": EvalStats(score=0.25), "x__n__d": EvalStats(score=0.5)}
    job = job_of({"valid": 2}, evals={"x__org/m__d": one, "x__n__d": one}, stats=stats)
    found = figures(job, SEVEN, Planned(2, "expected")).by_eval
    assert {key: each.scores.stored for key, each in found.items()} == {"x__org/m__d": 0.25, "x__n__d": 0.5}
    assert {each.planned.total for each in found.values()} == {None}


COUNTS = st.integers(0, 400)


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.integers(1, 900), st.data())
def test_the_figures_hold_together(valid, benign, counted, silent, corrupt, planned, data):
    passed = data.draw(st.integers(0, valid))
    kinds = {
        "valid": valid,
        ("unscored", "AgentTimeoutError"): benign,
        ("unscored", "DaytonaError"): counted,
        "unscored": silent,
        "corrupt": corrupt,
    }
    found = of(kinds, planned, rewards=[1.0] * passed + [0.0] * (valid - passed))
    assert found.attempted == valid + benign + counted + silent + corrupt
    assert found.covered == found.attempted - silent - corrupt
    assert found.errs_too_much == (found.attempted > 0 and found.error_fraction > Fraction(1, 10))
    assert found.covers_too_little == (found.coverage < Fraction(9, 10))
    scores = found.scores
    assert scores.low <= scores.high
    assert scores.low == scores.planned == passed / planned
    if found.attempted <= planned:
        assert scores.high <= 1
        assert scores.likely is None or scores.likely <= 1
    if found.attempted:
        assert scores.attempted <= (scores.valid or 0)
