"""What may stand in the database of a run's JSON, and what of it may not."""

from __future__ import annotations

import json
import math

import pytest

from benchwright.repair.push.storable import LONGEST, Storable


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"api_key": "abcdefghij", "max_tokens": 17}, {"api_key": "[hidden]", "max_tokens": 17}),
        ({"env": {"DAYTONA_API_KEY": "x"}}, {"env": {"DAYTONA_API_KEY": "[hidden]"}}),
        ({"tokens": ["one", "two"]}, {"tokens": ["[hidden]", "[hidden]"]}),
        ({"api_key": "", "api_key_name": "OPENAI_API_KEY"}, {"api_key": "", "api_key_name": "OPENAI_API_KEY"}),
        ("/data/evals/trace_jobs/run", "<path>"),
        ('File "/home/ada/run.py", line 3', 'File "<path>", line 3'),
        ({"api_base": "http://node17:18000/v1"}, {"api_base": "http://<host>/v1"}),
        ({"api_base": "https://xyz.a.tunnel.example.com/v1"}, {"api_base": "https://<host>/v1"}),
        ("see https://github.com/org/repo", "see https://github.com/org/repo"),
        ("at http://10.0.0.7:8000/v1", "at http://<host>/v1"),
        ("at http://[::1]:8000/v1", "at http://<host>/v1"),
        ("at http://head.cluster:8000", "at http://<host>"),
        ("half \ud83d and \0", "half \ufffd and \ufffd"),
        ({"key\0": 1}, {"key\ufffd": 1}),
        ([math.nan, math.inf, -math.inf, 1.5, True, None], ["NaN", "Infinity", "-Infinity", 1.5, True, None]),
    ],
)
def test_values(value, stored):
    assert Storable()(value) == stored
    json.dumps(Storable()(value), allow_nan=False).encode()


def test_secrets_of_the_environment(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "a-token-that-is-mine")
    assert Storable()("it said a-token-that-is-mine") == "it said [hidden]"


def test_of_what_is_too_long_the_start_stays():
    assert Storable()({"message": "x" * (LONGEST + 1)})["message"] == "x" * LONGEST + "... (1,048,577 characters)"
    assert Storable()("x" * LONGEST) == "x" * LONGEST
