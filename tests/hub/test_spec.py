"""Specs: what is read from them, and every problem with its line."""

from __future__ import annotations

import json
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from benchwright.contract import Exit, Failure
from benchwright.hub.entries import WRITABLE
from benchwright.hub.spec import Spec, Unit, on_board
from benchwright.hub.spec_file import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
CARD = {"url": "https://huggingface.co/nova-ai/nova-7b", "name": "Model Card"}


def result(**more):
    told = {"dataset": "bench-org/logic-1k", "task_id": "logic_%_ok", "value_text": "62.70", "source": CARD}
    return {name: value for name, value in {**told, **more}.items() if value is not None}


@pytest.fixture
def write(tmp_path):
    def write(*results, text=None, **repo):
        path = tmp_path / "spec.json"
        told = {"version": 1, "repos": [{"repo": "nova-ai/nova-7b", **repo, "results": list(results)}]}
        path.write_text(json.dumps(told, indent=1) if text is None else text, "utf-8")
        return path

    return write


def problems(path):
    with pytest.raises(Failure) as told:
        Spec.load(path)
    assert told.value.exit is Exit.USAGE
    return [str(one).replace(str(path), "spec.json") for one in told.value.problems]


def test_the_skill_has_the_schema_that_is_shipped():
    linked = ROOT / ".agents/skills/port-evals-to-hub/references/spec.schema.json"
    assert linked.read_text() == SCHEMA.read_text()
    Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))


def test_everything_that_a_spec_may_say(write, tmp_path):
    full = result(
        value_text="0.6270",
        unit={"source": "fraction", "board": "percent"},
        unit_checked=True,
        source={**CARD, "file": "pages/a.html"},
        notes="no tools, 89/89 tasks",
        date="2026-03-02",
        filename="logic.yaml",
        row=46,
        answers={"tools": "without"},
        lead="0.627",
        checkpoint="nova-ai/nova-beta",
    )
    path = write(
        full, result(task_id="other", origin="the card"), origin="Table 6", answers={"tools": "?", "mark": "x"}
    )
    spec = Spec.load(path)
    one, other = spec.results
    assert (one.value, one.board_text, one.value_text, one.printed) == (
        Decimal("62.70"),
        "62.70",
        "0.6270",
        Decimal("0.627"),
    )
    assert (one.origin, other.origin, one.source.file) == ("Table 6", "the card", tmp_path / "pages/a.html")
    assert (dict(one.answers), one.row, one.filename, one.date) == (
        {"tools": "without", "mark": "x"},
        46,
        "logic.yaml",
        "2026-03-02",
    )
    assert (one.checkpoint, other.checkpoint) == ("nova-ai/nova-beta", None)
    assert (one.unit, one.unit_checked, other.unit_checked) == (Unit("fraction", "percent"), True, False)
    assert one.place == f"{path}:12: repos[0].results[0]"
    assert [repo.repo for repo in spec.repos] == ["nova-ai/nova-7b"]


def test_every_problem_is_told_at_once_with_its_line(write):
    text = """{"version": 2, "extra": [],
 "repos": [
  {"repo": "nova-ai", "results": [
    {"dataset": "a/b", "task_id": "t", "value_text": "62.7%", "unit": {"source": "ratio"},
     "source": {"url": "file:///etc/passwd"}},
    {"dataset": "a/b", "value_text": 62.7, "row": 0, "filename": "../x.yaml",
     "source": {"url": "https://x.org/", "name": "two\\nlines"}}]},
  {"repo": "nova-ai/nova-8b", "results": []}]}"""
    expected = 'the number in the digits of the source, such as "62.70" or "1,234.5", without its unit'
    line = "a text of one line"
    names = "about, repos, version"
    told = [one.partition("\n    fix: ") for one in problems(write(text=text))]
    fixes = {"take it out, or correct it": 1, "write it": 3, "correct it there": 10}
    assert Counter(fix for _, _, fix in told) == fixes
    assert [found for found, _, _ in told] == [
        f"spec.json:1: extra: a name that is unknown here, expected one of {names}",
        "spec.json:1: version: 2, expected 1, the version of this form",
        'spec.json:3: repos[0].repo: "nova-ai", expected an id on the Hub, OWNER/NAME',
        f'spec.json:4: repos[0].results[0].value_text: "62.7%", expected {expected}',
        'spec.json:4: repos[0].results[0].unit.board: missing, expected "percent", "fraction" or "other"',
        'spec.json:4: repos[0].results[0].unit.source: "ratio", expected "percent", "fraction" or "other"',
        "spec.json:5: repos[0].results[0].source.name: missing,"
        ' expected what the Hub shows, such as "Model Card" or "Paper (Table 4)"',
        'spec.json:5: repos[0].results[0].source.url: "file:///etc/passwd",'
        " expected an address that a reviewer can open, http(s)://, without a login in it",
        "spec.json:6: repos[0].results[1].task_id: missing, expected the id of a task in the dataset's eval.yaml",
        f"spec.json:6: repos[0].results[1].value_text: 62.7, expected {expected}",
        f'spec.json:7: repos[0].results[1].source.name: "two\\nlines", expected {line}',
        'spec.json:6: repos[0].results[1].filename: "../x.yaml",'
        " expected the name of the file in .eval_results/, NAME.yaml",
        "spec.json:6: repos[0].results[1].row: 0, expected the row of the candidate list",
        "spec.json:8: repos[1].results: [], expected a list of results",
    ]


def test_each_name_that_is_missing_is_told_once(write):
    told = [one.partition(", expected")[0] for one in problems(write({"dataset": "bench-org/logic-1k"}))]
    place = "repos[0].results[0]"
    assert [one.partition(": ")[2] for one in told] == [
        f"{place}.task_id: missing",
        f"{place}.value_text: missing",
        f"{place}.source: missing",
    ]


def test_what_no_schema_can_say_is_told_at_once_too(write):
    path = write(
        result(),
        result(dataset="Bench-Org/logic-1k", value_text="58"),
        result(task_id="a", unit={"source": "percent", "board": "other"}),
        result(task_id="b", date="March"),
        result(task_id="c", source={**CARD, "file": "file://elsewhere/a.html"}),
        result(task_id="e", source={"url": "https://[x/", "name": "x"}),
    )
    told, there = [one.partition(": ")[2] for one in problems(path)], "\n    fix: correct it there"
    assert told == [
        "repos[0].results[2].unit: no way from percent to other, expected percent and fraction, or the same unit twice"
        + there,
        "repos[0].results[3].date: 'March', expected the day of the evaluation, YYYY-MM-DD" + there,
        "repos[0].results[4].source.file: 'file://elsewhere/a.html',"
        " expected a path, or file:// and one on this machine" + there,
        "repos[0].results[5].source.url: 'https://[x/', expected an address that a reviewer can open" + there,
        "repos[0].results[1]: a second value for the same board: spec.json:7: repos[0].results[0], expected one\n"
        "    fix: remove one of them",
    ]


def test_what_the_schema_says_hides_nothing_else(write):
    path = write(
        result(value_text=62.7),
        result(dataset="Bench-Org/logic-1k", date="March"),
        result(task_id="a", notes="", unit={"source": "percent", "board": "other"}),
        result(task_id="b", extra=1, source={"url": "https://[x/", "name": ""}),
        result(task_id="c", date=2026, unit={"source": "ratio", "board": "other"}),
        "no result",
    )
    told = {one.partition("repos[0].")[2].partition(": ")[0] for one in problems(path)}
    assert told == {
        "results[0].value_text",
        "results[1]",
        "results[1].date",
        "results[2].notes",
        "results[2].unit",
        "results[3].extra",
        "results[3].source.name",
        "results[3].source.url",
        "results[4].date",
        "results[4].unit.source",
        "results[5]",
    }


@pytest.mark.parametrize("text", ['{"repos": 1}', '{"repos": [1, {"results": {}}]}', '{"repos": [{"results": [[]]}]}'])
def test_what_is_no_list_of_results_is_told_as_such(write, text):
    assert problems(write(text=text))


def test_a_model_is_there_once(tmp_path):
    repos = [{"repo": name, "results": [result()]} for name in ("nova-ai/nova-7b", "Nova-AI/Nova-7B")]
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"version": 1, "repos": repos}))
    assert problems(path) == [
        "spec.json:1: repos[1]: the model is there twice: spec.json:1: repos[0], expected one\n"
        "    fix: remove one of them"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            '{"version": 1, "version": 1, "repos": []}',
            "spec.json:1: version: the name is there twice, expected each name once",
        ),
        ("[]", "spec.json:1: [], expected an object with version and repos"),
        ("{", "spec.json: not JSON: Expecting property name"),
        ("", "spec.json: not JSON: Expecting value"),
        ('{"version": NaN}', "spec.json: not JSON: NaN is no number"),
        ("[" * 100_000, "spec.json: not JSON: maximum recursion depth"),
    ],
)
def test_what_is_no_spec(write, text, found):
    assert problems(write(text=text))[0].startswith(found)


def test_files_that_cannot_be_read(tmp_path):
    assert "cannot be read (no such file or directory), expected a spec" in problems(tmp_path / "none.json")[0]
    (tmp_path / "a.json").write_bytes(b"\xff{")
    assert "not UTF-8: invalid start byte" in problems(tmp_path / "a.json")[0]


def test_a_large_spec_is_read_soon(write):
    many = [result(task_id=f"task {number}") for number in range(3000)]
    start = time.process_time()
    assert len(Spec.load(write(*many)).results) == 3000
    assert time.process_time() - start < 15


@pytest.mark.parametrize(
    "text", ["1e5", "NaN", "62,7", "1,23", "007", "", "-", ".", "62.", "+1", "62.7 ", "62.7\n", "٦٢", "1" * 30]
)
def test_what_is_no_number_as_a_source_prints_it(write, text):
    assert "value_text" in problems(write(result(value_text=text)))[0]


@pytest.mark.parametrize(
    ("printed", "unit", "written"),
    [
        ("0.627", ("fraction", "percent"), "62.7"),
        ("0.6270", ("fraction", "percent"), "62.70"),
        ("0.5", ("fraction", "percent"), "50"),
        (".627", ("fraction", "percent"), "62.7"),
        ("90.6", ("percent", "fraction"), "0.906"),
        ("90.60", ("percent", "fraction"), "0.9060"),
        ("7", ("percent", "fraction"), "0.07"),
        ("100", ("percent", "fraction"), "1.00"),
        ("62.7", ("percent", "percent"), "62.7"),
        ("1,234.50", None, "1234.50"),
        (".5", None, "0.5"),
        ("-3.0", None, "-3.0"),
        ("44.90", None, "44.90"),
    ],
)
def test_digits_stay_as_they_are_printed(printed, unit, written):
    assert on_board(printed, Unit(*unit) if unit else None) == written


@given(
    st.from_regex(r"\A-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?\Z"),
    st.sampled_from([("fraction", "percent"), ("percent", "fraction"), None]),
)
def test_any_number_is_converted_exactly_and_can_be_written(printed, unit):
    written = on_board(printed, Unit(*unit) if unit else None)
    assert WRITABLE.fullmatch(written)
    factor = {None: Decimal(1), ("fraction", "percent"): Decimal(100), ("percent", "fraction"): Decimal("0.01")}[unit]
    assert Decimal(written) == Decimal(printed) * factor
