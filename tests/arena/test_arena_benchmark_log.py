"""The log's format: which lines are entries, and where a new one goes, to the byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.arena.benchmark_log import BenchmarkLog, entry_heading
from benchwright.contract import Exit, Failure

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Runs

## Conventions

- Newest first. The template is closed by one fence too many, as such pages are:

```markdown
## YYYY-MM-DD — <benchmark_name>

```python
<plan>
```
```

"""
OLDER = """## 2030-02-01 — knn_01022030 (a second part)

- **Purpose:** one

```python
plan()
```

---

## 2030-01-31 \N{EN DASH} knn_01022030

text

## 2030-01-30 - `xgboost_30012030`: again

## 2030-01-29 -- realmlp.gpu-1

### 2030-01-28 — no_entry
 ## 2030-01-27 — no_entry
## On 2030-01-26 — no_entry
"""
NEW = f"{entry_heading('2030-03-01', 'catboost_1')}\n\n- **Purpose:** two, é\n\n```python\nplan()\n```\n"


def log(text: str) -> BenchmarkLog:
    return BenchmarkLog(text.encode(), "LOG.md")


def test_entries_are_the_dated_headings_in_their_order():
    found = [(heading.date, heading.benchmark) for heading in log(HEAD + OLDER).headings]
    assert found == [
        ("2030-02-01", "knn_01022030"),
        ("2030-01-31", "knn_01022030"),
        ("2030-01-30", "xgboost_30012030"),
        ("2030-01-29", "realmlp.gpu-1"),
    ]


def test_a_heading_knows_its_line_and_its_byte():
    text = "# Läufe\n\n" + OLDER
    for heading in log(text).headings:
        assert text.splitlines()[heading.line - 1].startswith(f"## {heading.date}")
        assert text.encode()[heading.start :].startswith(f"## {heading.date}".encode())


@pytest.mark.parametrize(
    ("benchmark", "line"),
    [("knn_01022030", 1), ("xgboost_30012030", 15), ("realmlp.gpu-1", 17), ("knn_0102203", None), ("no_entry", None)],
)
def test_an_entry_is_found_by_its_whole_name(benchmark, line):
    found = log(OLDER).find(benchmark)
    assert (found and found.line) == line


def test_a_new_entry_goes_above_the_others():
    assert log(HEAD + OLDER).with_entry(NEW).decode() == f"{HEAD}{NEW}\n{OLDER}"


def test_a_rule_between_head_and_entries_stands_between_the_new_entry_and_the_next():
    assert log(f"{HEAD}---\n\n{OLDER}").with_entry(NEW).decode() == f"{HEAD}---\n\n{NEW}\n---\n\n{OLDER}"


@pytest.mark.parametrize(
    ("before", "gap"),
    [("", ""), ("\n\n", ""), ("# Runs", "\n\n"), ("# Runs\n", "\n"), ("# Runs\n\n---\n\n", "")],
)
def test_the_first_entry_of_a_log_goes_to_its_end(before, gap):
    assert log(before).with_entry(NEW).decode() == f"{before}{gap}{NEW}"


def test_a_log_with_crlf_keeps_it_in_the_new_entry_too():
    text = f"{HEAD}---\n\n{OLDER}"
    after = log(text.replace("\n", "\r\n")).with_entry(NEW)
    assert after.decode() == f"{HEAD}---\n\n{NEW}\n---\n\n{OLDER}".replace("\n", "\r\n")
    assert BenchmarkLog(after, "LOG.md").headings[1].benchmark == "knn_01022030"
    assert log("# Runs\r\n").with_entry(NEW).decode() == "# Runs\r\n\r\n" + NEW.replace("\n", "\r\n")


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=30)
ENTRIES = st.lists(st.tuples(st.dates().map(str), NAMES, st.lists(LINES, max_size=4)), max_size=4)


@given(st.lists(LINES, max_size=6), ENTRIES, st.sampled_from(["\n", "\r\n"]), NAMES)
def test_whatever_the_log_holds_stays_to_the_byte(preamble, entries, end, name):
    lines = list(preamble)
    for date, benchmark, body in entries:
        lines += [entry_heading(date, benchmark), *body]
    before = BenchmarkLog(end.join(lines).encode(), "LOG.md")
    new = f"{entry_heading('2030-03-01', name)}\n\n- text\n"
    after = BenchmarkLog(before.with_entry(new), "LOG.md")
    assert after.content.startswith(before.content[: before.top])
    assert after.content.endswith(before.content[before.top :])
    added = after.content[before.top : len(after.content) - (len(before.content) - before.top)]
    own_end = "\r\n" if re.match(rb"[^\n]*\r\n", before.content) else "\n"
    assert added.decode().removesuffix(f"---{own_end}{own_end}").strip() == new.replace("\n", own_end).strip()
    assert after.headings[0].benchmark == name
    assert [(one.date, one.benchmark) for one in after.headings[1:]] == [
        (one.date, one.benchmark) for one in before.headings
    ]


def test_a_log_in_another_encoding_is_refused():
    with pytest.raises(Failure) as caught:
        BenchmarkLog("# L\xe4ufe".encode("latin-1"), "LOG.md")
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == "LOG.md: not UTF-8 (byte 3), expected a benchmark log\n    fix: save it as UTF-8"


def test_an_entry_that_would_read_as_two_is_refused():
    with pytest.raises(Failure) as caught:
        log(HEAD).with_entry(NEW.replace("plan()", "## 2029-12-31 and a comment"))
    assert caught.value.exit == Exit.REFUSED
    assert str(caught.value) == (
        "the new entry: a line that would read as the heading of another entry: '## 2029-12-31 and a comment', "
        "expected one heading\n    fix: change that line of the run script"
    )


def test_an_entry_has_a_heading():
    with pytest.raises(ValueError, match="an entry starts with its heading"):
        log(HEAD).with_entry("text\n")


def test_our_own_log_can_be_added_to():
    ours = BenchmarkLog((ROOT / "BENCHMARK_LOG.md").read_bytes(), "BENCHMARK_LOG.md")
    assert ours.find("catboost_1") is None
    after = ours.with_entry(NEW)
    assert BenchmarkLog(after, "BENCHMARK_LOG.md").headings[0].benchmark == "catboost_1"
    assert after.startswith(ours.content[: ours.top])
    assert after.endswith(ours.content[ours.top :])
