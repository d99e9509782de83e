"""What ``--set`` takes."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.publish import Change, parse_changes


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("suite=a b", Change("suite", "a b")),
        ("reference_url=https://x/?a=b", Change("reference_url", "https://x/?a=b")),
        ("can_hpo=True", Change("can_hpo", True)),
        ("can_hpo=none", Change("can_hpo", None, to_default=True)),
        ("is_bag=none", Change("is_bag", False, to_default=True)),
        ("tags=with-llm,,closed-source-api", Change("tags", ("closed-source-api", "with-llm"))),
        ("tags=", Change("tags", ())),
        ('cache_kwargs={"bucket": "b"}', Change("cache_kwargs", {"bucket": "b"})),
        ("cache_kwargs=none", Change("cache_kwargs", {}, to_default=True)),
        ("method='none'", Change("method", "none")),
        ("date=2030-01-01", Change("date", "2030-01-01")),
    ],
)
def test_a_text_becomes_the_fields_value(text, change):
    assert parse_changes([text]) == (change,)


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("suite", "--set suite", "no value"),
        ("sute=a", "--set sute", "not a field of a method"),
        ("cache_root=/x", "--set cache_root", "a path of one machine"),
        ("verified=none", "--set verified", "'none'"),
        ("verified=yes", "--set verified", "'yes'"),
        ("method=none", "--set method", "'none'"),
        ("cache_kwargs={'a': 1}", "--set cache_kwargs", "\"{'a': 1}\""),
        ('cache_kwargs={"a": 1, "a": 2}', "--set cache_kwargs", """'{"a": 1, "a": 2}'"""),
        ('cache_kwargs={"a": NaN}', "--set cache_kwargs", """'{"a": NaN}'"""),
        ("suite=a\nb", "--set suite", r"'a\nb'"),
        ("suite='a' + 'b'", "--set suite", '''"'a' + 'b'"'''),
    ],
)
def test_anything_else_is_wrong_usage(text, where, found):
    with pytest.raises(Failure) as caught:
        parse_changes([text])
    assert caught.value.exit == Exit.USAGE
    (problem,) = caught.value.problems
    assert (problem.where, problem.found) == (where, found)


def test_all_problems_come_at_once_a_field_given_twice_among_them():
    with pytest.raises(Failure) as caught:
        parse_changes(["suite=a", "suite=b", "dat=1", "verified=maybe"])
    assert [problem.found for problem in caught.value.problems] == ["given twice", "not a field of a method", "'maybe'"]
    assert caught.value.problems[1].fix == "did you mean 'date'?"
