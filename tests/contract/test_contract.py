from __future__ import annotations

import json
import pickle

import pytest

from benchwright import __version__
from benchwright.contract import (
    Exit,
    Failure,
    Failures,
    Outcome,
    Problem,
    Redaction,
    as_markdown,
    counted,
    is_day,
    named,
    redact,
    said,
    some,
    usage_error,
)

MISMATCH = Problem("mismatch", "metadata.yaml", "compute cpu", "gpu", "set compute: gpu")


def test_a_problem_says_what_was_found_what_was_expected_and_how_to_mend_it():
    assert str(MISMATCH) == "metadata.yaml: compute cpu, expected gpu\n    fix: set compute: gpu"
    assert str(Problem("empty", "results.pkl", "0 bytes")) == "results.pkl: 0 bytes"


def test_a_failure_carries_all_problems_and_its_exit_code():
    failure = Failure([MISMATCH, MISMATCH], exit=Exit.REFUSED, next=["make setup"])
    assert len(failure.problems) == 2
    assert str(failure) == f"{MISMATCH}\n{MISMATCH}"
    outcome = Outcome.of_failure(failure)
    assert (outcome.summary, outcome.exit, outcome.next) == ("2 problems", Exit.REFUSED, ("make setup",))


def test_a_failure_comes_back_whole_from_a_worker_process():
    failure = Failure([MISMATCH], exit=Exit.REFUSED, next=["make setup"])
    again = pickle.loads(pickle.dumps(failure))
    assert (again.problems, again.exit, again.next, str(again)) == ((MISMATCH,), 5, ("make setup",), str(failure))


def test_failures_of_several_steps_are_told_at_once_with_the_highest_exit_code():
    failures = Failures()
    failures.settle()
    done = []
    for exit in (Exit.USAGE, Exit.REFUSED, Exit.NO):
        with failures.collected():
            done.append(exit)
            raise Failure([MISMATCH], exit=exit)
    with failures.collected():
        done.append("the last")
    with pytest.raises(Failure) as caught:
        failures.settle()
    assert (caught.value.exit, caught.value.problems) == (Exit.REFUSED, (MISMATCH,) * 3)
    assert done == [Exit.USAGE, Exit.REFUSED, Exit.NO, "the last"]


def test_only_failures_are_collected():
    with pytest.raises(ZeroDivisionError), Failures().collected():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a", "b", "c"], "a, b, c"), (map(str, range(1004)), "0, 1, 2 and 1,001 more")],
)
def test_a_few_of_many_names(names, text):
    assert some(names) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b __c__ *d* [e](f) <g> h|i", r"a_b \_\_c\_\_ \*d\* \[e\](f) \<g\> h\|i"),
        ("`j` ~k~ &l; $m$ \\n", r"\`j\` \~k\~ \&l; \$m\$ \\n"),
        ("# a", r"\# a"),
        ("- a - b", r"\- a - b"),
        ("12. a", r"12\. a"),
        ("12.5 a", "12.5 a"),
    ],
)
def test_a_text_as_markdown_shows_it(text, shown):
    assert as_markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "day"),
    [("2026-02-28", True), ("2026-02-30", False), ("20260228", False), ("2026-W09-6", False), ("", False)],
)
def test_days(text, day):
    assert is_day(text) is day


def test_numbers_of_things():
    assert [counted(number, "split") for number in (0, 1, 2, 27_000)] == [
        "0 splits", "1 split", "2 splits", "27,000 splits"
    ]  # fmt: skip


def test_what_the_system_says_of_a_refusal():
    assert said(FileNotFoundError(2, "No such file or directory", "/x")) == "no such file or directory"
    assert said(OSError("Not one of the system's")) == "not one of the system's"
    assert said(OSError(5, ValueError("An object"))) == "an object"


def test_an_exception_in_words():
    class Odd(Exception):
        def __str__(self):
            raise SystemExit

    assert named(ZeroDivisionError("division by zero")) == "ZeroDivisionError: division by zero"
    assert [named(error) for error in (SystemExit(), Odd())] == ["SystemExit", "Odd"]


def test_the_envelope_is_the_contract():
    envelope = Outcome("checked", {"n": 1}, problems=[MISMATCH], next=["x"], exit=Exit.NO).envelope("check.py")
    assert envelope == {
        "script": "check.py",
        "version": __version__,
        "ok": False,
        "exit": 1,
        "summary": "checked",
        "data": {"n": 1},
        "problems": [
            {
                "code": "mismatch",
                "where": "metadata.yaml",
                "found": "compute cpu",
                "expected": "gpu",
                "fix": "set compute: gpu",
            }
        ],
        "next": ["x"],
    }
    json.dumps(envelope)


def test_wrong_usage_leaves_with_two():
    assert usage_error("--model", "'Xgbost'", "a model of the registry", "XGBoost?").exit == 2


def test_secrets_of_the_environment_never_show():
    env = {"HF_TOKEN": "value-of-a-token", "DB_PASSWORD": "longer-value-of-a-token", "HOME": "/home/someone"}
    text = "token value-of-a-token, longer-value-of-a-token in /home/someone"
    assert redact(text, env) == "token [hidden], [hidden] in /home/someone"


def test_short_values_are_left_alone():
    assert redact("a bad idea", {"API_KEY": "a"}) == "a bad idea"


def test_credentials_in_addresses_never_show():
    assert redact("postgresql://user:pa55@host:5432/db", {}) == "postgresql://[hidden]@host:5432/db"
    assert redact("https://example.org/a:b@c", {}) == "https://example.org/a:b@c"
    assert redact("redis://:pa55@host:6379 and ftp://u:p@55@h/x", {}) == (
        "redis://[hidden]@host:6379 and ftp://[hidden]@h/x"
    )


def test_known_token_shapes_never_show():
    assert redact("using hf_" + "a" * 30, {}) == "using [hidden]"
    for start in ("AKIA", "ASIA"):
        assert redact(f"é{start}{'A7' * 8}.", {}) == "é[hidden]."
        assert redact(f"{start}{'A7' * 9}", {}) == f"{start}{'A7' * 9}"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("run --api-key {} --x", "run --api-key [hidden] --x"),
        ("run --token={} --x", "run --token=[hidden] --x"),
        ("run --token env:{}/ --x", "run --token [hidden] --x"),
        ("run --secret {} --x", "run --secret [hidden] --x"),
        ("run --secret A_VARIABLE={} --x", "run --secret [hidden] --x"),
        ("run --secret HF_TOKEN={} --x", "run --secret [hidden] --x"),
        ("run --secret A_VARIABLE-{} --token ANOTHER_VARIABLE", "run --secret [hidden] --token [hidden]"),
        ("export SOME_API_KEY={}; run", "export SOME_API_KEY=[hidden]; run"),
        ("api_key='{} {}', n=3", "api_key=[hidden], n=3"),
        ('{{"apiKey": "{}", "n": 3}}', '{{"apiKey": [hidden], "n": 3}}'),
        ("{{'password': b'{}'}}", "{{'password': [hidden]}}"),
        ("api_key: {}", "api_key: [hidden]"),
        ("Authorization: Bearer {}", "Authorization: Bearer [hidden]"),
        ("'Authorization': 'Basic {}'", "'Authorization': 'Basic [hidden]'"),
        ("with Bearer {}", "with Bearer [hidden]"),
        ("https://example.org/x?a=1&key={}&b=2#c", "https://example.org/x?a=1&key=[hidden]&b=2#c"),
        ("https://example.org/x?X-Amz-Signature={}", "https://example.org/x?X-Amz-Signature=[hidden]"),
        ("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\nmore", "[hidden]\nmore"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\n{}", "[hidden]"),
        ("an AIza{}, xoxb-{} and gsk_{}.", "an [hidden], [hidden] and [hidden]"),
    ],
)
def test_what_follows_the_name_of_a_secret_never_shows(text, hidden):
    shown = redact(text.format(*["q7Q7" * 6] * 3), {})
    assert shown == hidden.format()
    assert redact(shown, {}) == shown


@pytest.mark.parametrize(
    "text",
    [
        "AWS_SECRET_ACCESS_KEY not set; credentials: r2: R2_ACCOUNT_ID not set",
        "R2_SECRET_ACCESS_KEY: a value of 6 characters that is none",
        "HF_TOKEN=$HF_TOKEN run --token-file x --password <PASSWORD>",
        "run --token env:A_VARIABLE_WITH_IT --x 'then --api-key env:ANOTHER_VARIABLE'",
        "sky jobs launch --secret HF_TOKEN --secret AWS_ACCESS_KEY_ID --secret AWS_ENDPOINT_URL_S3 'job.yaml'",
        'run --token "${A_VARIABLE_WITH_IT:?}" --api-key="${ANOTHER_VARIABLE:?}"',
        'run --secrets A_TOKEN="${A_VARIABLE:?}",B_TOKEN="${B_VARIABLE:?}" --x',
        """run --kw '["token='"${A_VARIABLE_WITH_IT:?}"'"]' --x""",
        "run --secrets ./of/my.env --secret=../of/my.env --token ~/of/a-token",
        "n_tokens=123456789, max_tokens: 1234567890, token=3.14159265",
        "pad_token=[PAD_OF_ALL], model_key=something-long, key=something-long",
        "secret == something_else",
        "https://example.org/x?id=123456789&name=something",
    ],
)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text, {}) == text


def test_many_texts_are_hidden_with_one_look_at_the_environment():
    text = "nothing of it in here, however long it is"
    assert Redaction({})(text) is text
    hide = Redaction({"HF_TOKEN": "value-of-a-token", "DB_PASSWORD": "default"}, least=12)
    assert hide("default value-of-a-token") == "default [hidden]"
    assert (hide.shortest, Redaction({"HF_TOKEN": "q" * 12}).shortest, Redaction({}).shortest) == (14, 12, 14)
