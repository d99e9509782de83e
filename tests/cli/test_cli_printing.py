"""An outcome as text: one JSON object and one report, whatever values it has and whatever stdout can show."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.cli import Handoff, ScriptParser, run_script
from benchwright.cli.printing import as_file, as_json, report
from benchwright.contract import Exit, Outcome, Problem

NAN, INF = float("nan"), float("inf")
SURROGATE = "b\udcff"


def run(outcome, capsys, *words):
    code = run_script(ScriptParser(prog="check.py", description="Check."), lambda args, shell: outcome, words)
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ([NAN, INF, -INF, 1.5, -0.0], ["NaN", "Infinity", "-Infinity", 1.5, -0.0]),
        ([np.float64("nan"), np.float32("inf"), np.longdouble(0.5), np.float16(0.5)], ["NaN", "Infinity", 0.5, 0.5]),
        ([np.int64(3), np.uint8(3), np.bool_(True), np.str_("a")], [3, 3, True, "a"]),
        (np.array([[1.0, NAN], [2.0, INF]]), [[1.0, "NaN"], [2.0, "Infinity"]]),
        (np.array(["a", None, Path("b")], dtype=object), ["a", None, "b"]),
        ([np.complex64(1j), np.clongdouble(1j)], ["1j", "1j"]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({None, "a", 1}, [1, None, "a"]),
        ((1, (2,)), [1, [2]]),
        ({1: 2, None: 3, Path("a"): {NAN: NAN}}, {"1": 2, "None": 3, "a": {"nan": "NaN"}}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Exit.NO, 1),
        ([True, None, 10**30], [True, None, 10**30]),
        (fractions.Fraction(1, 4), 0.25),
        (decimal.Decimal("NaN"), "NaN"),
        (datetime.date(2026, 11, 29), "2026-11-29"),
        (datetime.datetime(2026, 11, 29, 8, 30, tzinfo=datetime.UTC), "2026-11-29 08:30:00+00:00"),
        ([b"a", Path("a/b"), int, range(2)], ["b'a'", "a/b", "<class 'int'>", "range(0, 2)"]),
    ],
)
def test_every_value_has_a_form(value, plain):
    assert json.loads(as_json({"value": value}), parse_constant=pytest.fail) == {"value": plain}


def test_secrets_hide_in_no_value(monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "the-secret-value")
    secret = "the-secret-value"
    values = [{secret: {secret}}, np.array([secret]), Path(secret), b"the-secret-value", np.str_(secret)]
    assert as_json(values) == '[{"[hidden]": ["[hidden]"]}, ["[hidden]"], "[hidden]", "b\'[hidden]\'", "[hidden]"]'


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252", "utf-16", None])
@given(text=st.text(st.characters(exclude_categories=()), max_size=20))
def test_every_text_is_the_same_when_it_is_read(encoding, text):
    printed = as_json([text, {text: 1}], encoding=encoding).encode(encoding or "utf-8")
    read = json.loads(printed.decode(encoding or "utf-8"))
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # two halves are one, as in JSON
    assert read == [paired, {paired: 1}]


def test_characters_are_escaped_only_where_they_must_be():
    assert as_json("éł") == '"éł"'
    assert as_json("éł", encoding="ascii") == r'"\u00e9\u0142"'
    assert as_json("é", encoding="latin-1") == '"é"'
    assert as_json(["é", SURROGATE]) == r'["\u00e9", "b\udcff"]'
    assert as_file(f"é {SURROGATE}") == "é b\\udcff".encode()


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_reports_and_sheets_are_utf_8(suffix, tmp_path, capsys):
    file = tmp_path / f"report{suffix}"
    outcome = Outcome(f"é {SURROGATE}", {"n": NAN}, details=[SURROGATE], problems=[Problem("x", SURROGATE, "broken")])
    code, out, _ = run(outcome, capsys, "--out", str(file))
    text = file.read_bytes().decode()
    assert code == 0
    assert out.splitlines()[0] == "é b\\udcff"
    if suffix == ".json":
        envelope = json.loads(text)
        assert (envelope["summary"], envelope["data"]) == (f"é {SURROGATE}", {"n": "NaN"})
        assert envelope["problems"][0]["where"] == SURROGATE
    else:
        assert text == out == "é b\\udcff\nb\\udcff\n  - b\\udcff: broken\n"


def test_a_sheet_may_name_a_file_that_is_not_utf_8(tmp_path, capsys):
    file = tmp_path / "sheet.md"
    parser = ScriptParser(prog="check.py", description="Check.", handoff=True)

    def call(args, shell):
        shell.hand_off(Handoff(SURROGATE, "é", [SURROGATE], []))
        return Outcome("fine")

    assert run_script(parser, call, ["--handoff", str(file)]) == 0
    assert file.read_bytes().decode().startswith("# b\\udcff\n\né\n\n## Run, in this order\n\n```bash\nb\\udcff\n")
    file.unlink()
    file.mkdir()
    assert run_script(parser, call, ["--handoff", str(file), "--json"]) == 3
    (problem,) = json.loads(capsys.readouterr().out.splitlines()[-1])["problems"]
    assert problem == {
        "code": "sheet-not-written",
        "where": str(file),
        "found": "cannot be written (is a directory)",
        "expected": "a file that can be",
        "fix": "name another with --handoff",
    }


def test_a_watchers_lines_hold_any_value(capsys):
    def call(args, shell):
        shell.tell("a line", {"n": NAN, "name": SURROGATE, "size": np.int64(1)})
        return Outcome("fine")

    parser = ScriptParser(prog="check.py", description="Check.")
    assert run_script(parser, call, ["--json"]) == 0
    first, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"n": "NaN", "name": SURROGATE, "size": 1}
    assert last["summary"] == "fine"


def test_talk_is_heard_whatever_it_says(capsys):
    def call(args, shell):
        shell.talk(SURROGATE)
        return Outcome("fine")

    run_script(ScriptParser(prog="check.py", description="Check."), call, [])
    assert capsys.readouterr() == ("fine\n", "b\\udcff\n")


class Hostile:
    def __str__(self):
        raise SystemError("no text")


def ring():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Hostile(), "SystemError: no text"),
        (ring(), "RecursionError: maximum recursion depth exceeded"),
        (10**5000, "ValueError: Exceeds the limit (4300 digits) for integer string conversion"),
    ],
    ids=["no text", "a ring", "a large number"],
)
def test_what_cannot_be_printed_is_a_bug_in_one_object(value, found, tmp_path, capsys):
    file = tmp_path / "report.json"
    code, out, err = run(Outcome("fine", {"value": value}), capsys, "--json", "--out", str(file))
    envelope = json.loads(out)
    assert code == envelope["exit"] == 70
    assert envelope["summary"].startswith(found)
    assert json.loads(file.read_text()) == envelope
    assert err.startswith("Traceback (most recent call last):\n")


def test_the_report_is_for_people():
    assert report(Outcome("two", details=["a\nb"], next=["make"], closing=["end"])) == "two\na\nb\nnext:\n    make\nend"
