"""Entries of result files: read from whatever a file holds, written so that every reader takes them alike."""

from __future__ import annotations

from decimal import Decimal

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from hypothesis import given
from hypothesis import strategies as st

from benchwright.hub.entries import BadEntry, Entry, parse_entries, write_entries
from benchwright.rehearsal.hub.results import problem_of

FULL = Entry(
    "bench-org/cliquest-2",
    "fixit_%_resolved",
    Decimal("44.90"),
    "44.90",
    "2026-03-02",
    "https://huggingface.co/nova-ai/nova-7b",
    "Paper (Table 4)",
    'Harness X 0.4, "89/89" tasks: no web',
)
TEXT = """\
- dataset:
    id: bench-org/cliquest-2
    task_id: fixit_%_resolved
  value: 44.90
  date: "2026-03-02"
  source:
    url: https://huggingface.co/nova-ai/nova-7b
    name: Paper (Table 4)
  notes: "Harness X 0.4, \\"89/89\\" tasks: no web"
"""


def entry(*lines: str) -> str:
    return "\n".join(["- dataset:", "    id: bench-org/logic-1k", "    task_id: logic", *lines]) + "\n"


def test_a_file_is_written_in_the_sources_digits_and_read_back():
    assert write_entries([FULL]) == TEXT
    assert parse_entries(TEXT) == [FULL]
    minimal = Entry("bench-org/logic-1k", "logic", Decimal("61.25"), "61.25")
    assert write_entries([minimal]) == entry("  value: 61.25")
    assert write_entries([FULL, minimal]) == TEXT + entry("  value: 61.25")


@pytest.mark.parametrize("text", ["", "44.", ".5", "1e3", "1,234.5", "62.7%", "010", "+5", "nan", "4 4", "٤"])
def test_digits_that_readers_may_take_differently_are_not_written(text):
    with pytest.raises(ValueError, match="is no number to write"):
        write_entries([Entry("a/b", "c", Decimal(0), text)])


@given(
    st.lists(
        st.builds(
            lambda task, digits, texts: Entry("bench-org/b", task, Decimal(digits), digits, *texts),
            st.text(min_size=1),
            st.from_regex(r"-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,4})?", fullmatch=True),
            st.tuples(*[st.text(min_size=1)] * 4),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_texts_there_are_every_reader_takes_them_alike(entries):
    text = write_entries(entries)
    assert text == write_entries(entries)
    assert text.endswith("\n")
    assert parse_entries(text) == entries
    told = yaml.safe_load(text)
    assert problem_of(told) is None
    assert [(one["dataset"]["task_id"], one["notes"], one["date"]) for one in told] == [
        (one.task, one.notes, one.date) for one in entries
    ]
    assert [float(one["value"]) for one in told] == [float(one.value_text) for one in entries]


def test_the_hubs_client_reads_what_is_written():
    told = [{"filename": "f.yaml", "verified": False, "data": one} for one in yaml.safe_load(TEXT)]
    (parsed,) = parse_eval_result_entries(told)
    assert (parsed.dataset_id, parsed.task_id, parsed.value) == ("bench-org/cliquest-2", "fixit_%_resolved", 44.9)


@pytest.mark.parametrize(
    ("value", "digits"),
    [("61", "61"), ("44.90", "44.90"), ("-3.5", "-3.5"), ("1e3", "1e3"), (".5", ".5"), ("9.360  # typo?", "9.360")],
)
def test_numbers_are_read_as_they_stand(value, digits):
    (found,) = parse_entries(entry(f"  value: {value}"))
    assert (found.value_text, found.value) == (digits, Decimal(digits))


def test_dates_are_read_quoted_or_not():
    for date in ("2026-03-02", '"2026-03-02"', "2026-03-02T10:00:00Z"):
        (found,) = parse_entries(entry("  value: 1", f"  date: {date}"))
        assert found.date == date.strip('"')


@pytest.mark.parametrize(
    ("lines", "reason", "value"),
    [
        (["  value: '62.7'"], "no value", "62.7"),
        (["  value: true"], "no value", None),
        (["  value: .nan"], "no value", None),
        (["  value: 1_000"], "no value", None),
        (["  value: [1]"], "no value", None),
        ([], "no value", None),
        (["  value: 50", "  source:", "    url: null"], "source.url is no text", "50"),
        (["  value: 50", "  source:", "    name: Card"], "source has no url", "50"),
        (["  value: 50", "  source: a card"], "source is no mapping", "50"),
        (["  value: 50", "  notes: 7"], "notes is no text", "50"),
    ],
)
def test_an_entry_that_the_hub_refuses_still_says_what_it_declares(lines, reason, value):
    assert parse_entries(entry(*lines)) == [BadEntry(reason, "bench-org/logic-1k", "logic", value)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("# nothing\n", []),
        ("- 5\n", [BadEntry("an entry that is no mapping")]),
        ("- value: 5\n", [BadEntry("no dataset.id; no dataset.task_id", value_text="5")]),
        (
            "- dataset:\n    id: a/b\n  value: 5\n",
            [BadEntry("no dataset.task_id", "a/b", None, "5")],
        ),
        ("just words", [BadEntry("no list of entries")]),
        ("dataset:\n  id: a/b\n  task_id: c\n", [BadEntry("no list of entries", "a/b", "c")]),
        ("- &a {<<: *a, value: 5}", [BadEntry("no dataset.id; no dataset.task_id", value_text="5")]),
    ],
)
def test_files_of_another_form_are_read_as_far_as_they_go(text, found):
    assert parse_entries(text) == found


def test_a_file_that_is_no_yaml_says_which_benchmarks_it_mentions():
    text = (
        '- dataset:\n    id: a/b\n    task_id: "x_%"\n  value: 5\n'
        '- dataset: {"id": c/d, task_id: MathArena/aime, value: 6\n'
        "- dataset:\n\tid: 'e/f'\n"
    )
    found = parse_entries(text)
    assert [(one.dataset, one.task) for one in found] == [("a/b", "x_%"), ("c/d", "MathArena/aime"), ("e/f", None)]
    assert all(one.reason.startswith("no YAML: ") for one in found)
    assert [(one.dataset, one.task) for one in parse_entries("\t- [")] == [(None, None)]
    assert parse_entries("[" * 1000)[0].reason.startswith("no YAML: ")
    long = "# long\n" * 30_000 + TEXT
    assert parse_entries(long) == [BadEntry("more than 200,000 characters", FULL.dataset, FULL.task)]
