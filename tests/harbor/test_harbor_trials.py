"""One trial's result.json: every shape that Harbor's versions wrote, and what Python can write besides."""

from __future__ import annotations

import json
import math
import time
from datetime import UTC, datetime

import msgspec
import pytest
from harbor_files import DATA, result
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.trial import NoTrial, read_trial


def read(**fields):
    return read_trial("task-1__abcdefg", json.dumps(result(**fields)).encode())


@pytest.mark.parametrize(
    ("rewards", "state", "reward", "why"),
    [
        ({"reward": 1.0}, "valid", 1.0, ""),
        ({"reward": 0}, "valid", 0.0, ""),
        ({"reward": True}, "valid", 1.0, ""),
        ({"reward": -0.5}, "valid", -0.5, ""),
        ({"accuracy": 0.25}, "valid", 0.25, "scored under 'accuracy'"),
        ({"reward": 0.5, "style": 1.0}, "valid", 0.5, ""),
        ({"reward": "1.0"}, "unscored", None, "reward is '1.0'"),
        ({"reward": None}, "unscored", None, "reward is empty"),
        ({"reward": [1.0]}, "unscored", None, "reward is [1.0]"),
        ({"reward": math.nan}, "unscored", None, "reward is NaN"),
        ({"reward": -math.inf}, "unscored", None, "reward is -Infinity"),
        ({"accuracy": math.nan}, "unscored", None, "accuracy is NaN"),
        ({"a": 1.0, "b": 0.0}, "unscored", None, "rewards a, b, none of which is called 'reward'"),
        ({}, "unscored", None, "empty rewards"),
        (None, "unscored", None, "no rewards"),
        ([1.0], "unscored", None, "rewards that are no mapping"),
        ({"reward": 2**70}, "valid", 2.0**70, ""),
        ({"reward": 10**400}, "unscored", None, "reward is too large a number"),
        ({"reward": [10**400]}, "unscored", None, f"reward is [1{'0' * 38}"),
    ],
)
def test_a_trial_is_valid_where_its_rewards_hold_a_finite_number(rewards, state, reward, why):
    trial = read(verifier_result={"rewards": rewards})
    assert (trial.state, trial.reward, trial.why) == (state, reward, why)


@pytest.mark.parametrize(
    ("fields", "state", "why"),
    [
        ({"exception": "AgentTimeoutError", "reward": 0.0}, "valid", "AgentTimeoutError, scored all the same"),
        ({"exception": "ApiRateLimitError", "reward": 1.0}, "valid", "ApiRateLimitError, scored all the same"),
        ({"exception": "DaytonaError", "reward": None}, "unscored", "DaytonaError, no rewards"),
        ({"exception_info": {}, "reward": None}, "unscored", "unnamed, no rewards"),
        ({"reward": None}, "unscored", "no rewards"),
    ],
)
def test_an_exception_takes_nothing_from_a_reward(fields, state, why):
    trial = read(**fields)
    assert (trial.state, trial.why) == (state, why)


def test_steps_are_summed_up_and_their_exceptions_kept_apart():
    steps = [
        {
            "step_name": name,
            "agent_result": {"n_input_tokens": 10, "n_output_tokens": None, "metadata": {"n_episodes": 2}},
            "exception_info": exception and {"exception_type": exception},
            "agent_execution": {"started_at": "2026-09-01T10:00:00Z", "finished_at": "2026-09-01T10:00:30Z"},
        }
        for name, exception in (("build", None), ("run", "AgentTimeoutError"))
    ]
    trial = read(reward=None, step_results=steps)
    assert (trial.state, trial.exception, trial.step_exceptions) == ("unscored", None, ("AgentTimeoutError",))
    assert trial.why == "AgentTimeoutError in a step, no rewards"
    assert (trial.agent_seconds, trial.tokens_in, trial.tokens_out, trial.requests) == (60.0, 20, None, 4)


@pytest.mark.parametrize(
    ("version", "own", "exception"),
    [
        ({}, None, None),
        ({"schema_version": 1}, None, "DaytonaError"),
        ({"schema_version": 1}, "CancelledError", "CancelledError"),
    ],
)
def test_from_0_26_on_the_exception_that_ended_a_step_is_the_trials(version, own, exception):
    steps = [{"exception_info": {"exception_type": name}} for name in ("AgentTimeoutError", "DaytonaError")]
    trial = read(reward=None, exception=own, step_results=steps, **version)
    assert (trial.exception, trial.step_exceptions) == (exception, ("AgentTimeoutError", "DaytonaError"))


@pytest.mark.parametrize(
    "tokens", [2**70, 10**400, -1, True, math.nan, math.inf, "7", [7], 0.5], ids=lambda value: repr(value)[:12]
)
def test_what_is_no_count_of_tokens_is_none(tokens):
    counted = read(agent_result={"n_input_tokens": tokens, "n_output_tokens": 7.0})
    assert (counted.tokens_in, counted.tokens_out) == (None, 7)


@pytest.mark.parametrize(
    ("metadata", "requests"),
    [
        ({"n_episodes": 3, "api_request_times_msec": [1.5, 2.5, 3.5, 4.5]}, 3),
        ({"n_episodes": 1, "api_request_times_msec": []}, 0),  # the episode began, and nothing was ever answered
        ({"api_request_times_msec": [1.5, 2.5]}, 2),
        ({"n_episodes": 7}, 7),
        ({}, None),
        (None, None),
    ],
)
def test_requests_are_those_that_were_answered(metadata, requests):
    assert read(agent_result={"n_input_tokens": 5, "metadata": metadata}).requests == requests


@pytest.fixture
def in_tokyo(monkeypatch):
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_times_are_aware_whether_written_with_a_zone_or_without():
    assert read(started_at="2026-09-01T10:00:00Z").started == datetime(2026, 9, 1, 10, tzinfo=UTC)
    local = read(started_at="2026-09-01T10:00:00.123456").started
    assert local == datetime(2026, 9, 1, 1, 0, 0, 123456, tzinfo=UTC)
    assert read(started_at="yesterday").started is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"id": "1", "task_na', "cut off"),
        (b'{"task_name": "x"} {', "trailing characters (byte 20)"),
        (b"\x00\x01", "invalid character (byte 0)"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (b'{"status": "fine"}', "no result of a trial: it names no task"),
        (
            b'{"task_name": "x", "verifier_result": []}',
            "Expected `object | null`, got `array` - at `$.verifier_result`",
        ),
        (b'{"task_name": "x", "notes": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_result_says_why(content, why):
    with pytest.raises(NoTrial) as caught:
        read_trial("x", content)
    assert str(caught.value) == why
    assert caught.value.job is False


def test_a_result_of_a_job_is_told_from_that_of_a_trial():
    aggregate = next(DATA.glob("*killed9*/result.json")).read_bytes()
    with pytest.raises(NoTrial) as caught:
        read_trial("x", aggregate)
    assert caught.value.job is True


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=60)
@given(noise=JSON, reward=st.none() | st.booleans() | st.floats() | st.text(max_size=4), cut=st.integers(0, 3))
def test_whatever_python_can_write_is_read_as_python_reads_it(noise, reward, cut):
    content = result(reward=None, verifier_result={"rewards": {"reward": reward}})
    content["config"]["noise"] = content["noise"] = noise
    text = json.dumps(content, ensure_ascii=True)
    text = text[: len(text) - cut]
    try:
        expected = json.loads(text)["verifier_result"]["rewards"]["reward"]
    except ValueError:
        with pytest.raises(NoTrial):
            read_trial("x", text.encode())
        return
    trial = read_trial("x", text.encode())
    finite = isinstance(expected, int | float) and math.isfinite(expected)
    assert trial.state == ("valid" if finite else "unscored")
    assert trial.reward == (float(expected) if finite else None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'{"a": "\ud83d\ude00"}', {"a": "😀"}),
        (rb'{"a": "\ud83d", "b": NaN}', {"a": "�", "b": "NaN"}),
        (rb'{"a": "\\ud83d\ude00"}', {"a": "\\ud83d�"}),
        (rb'{"a": "NaN \" NaN", "b": [-Infinity]}', {"a": 'NaN " NaN', "b": ["-Infinity"]}),
    ],
)
def test_half_characters_and_nan_do_not_make_a_text_unreadable(text, value):
    assert decode(text, msgspec.json.Decoder()) == value


@pytest.mark.parametrize("end", ["", "\\", "\\u12"])
@pytest.mark.parametrize("start", ['{"a": "', '{"b": NaN, "a": "', r'{"b": "\ud83d", "a": "'])
def test_a_text_that_is_cut_off_among_quotes_takes_no_longer_than_others(start, end):
    """Such as a result whose last field holds what was said to the model."""
    text = (start + r"he said \"no\" and \u00e9 " * 20_000 + end).encode()
    begin = time.process_time()
    with pytest.raises(NotJson):
        decode(text, msgspec.json.Decoder())
    assert time.process_time() - begin < 2


def test_a_damaged_text_stays_damaged_when_it_has_nan_too():
    with pytest.raises(NotJson, match="cut off"):
        decode(b'{"a": NaN, "b": [1, ', msgspec.json.Decoder())
