"""Leads from model cards: what their legacy metadata and their tables say of the model itself, and what is doubtful."""

from __future__ import annotations

import pytest

from benchwright.hub.candidates.cards import index_leads, table_leads
from benchwright.hub.candidates.mapping import BoardMapping
from benchwright.hub.model_repo import ModelRepo
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card
from candidate_lists import Lists

REPO = ModelRepo(
    id="nova-ai/Nova-7B-Instruct", sha="0" * 40, author="nova-ai", kind="org", last_modified="2026-02-03T01:02:03Z"
)
INDEX = """---
license: mit
model-index:
- name: Nova
  results:
  - task: {type: text-generation}
    dataset: {name: Logic 1k (test), type: bench-org/logic-1k, config: main}
    metrics:
    - {type: acc, name: Weird Accuracy, value: 44.90}
    - {type: time, value: 12}
    - {type: f1, value: 3}
    - {type: acc, value: [1]}
  - dataset: {name: Logic-1k, type: own}
    metrics: [{type: accuracy, value: 0.60}]
    source: {name: Open Board, url: https://board.example.org}
  - dataset: {name: Else, type: else}
    metrics: [{type: accuracy, value: 1}]
---
# Nova
"""


@pytest.fixture
def mapping(tmp_path):
    return BoardMapping.load(Lists(tmp_path).mapping)


@pytest.fixture
def tables(mapping):
    return lambda text: [(one.hub_task, one.value_text, one.doubt) for one in table_leads(REPO, text, mapping)]


def test_the_metadata_of_a_card_keep_their_digits(mapping):
    leads = list(index_leads(REPO, INDEX, mapping))
    assert [(one.metric, one.value_text, one.doubt) for one in leads] == [
        ("acc", "44.90", ""),
        ("time", "12", ""),
        ("f1", "3", ""),
        ("accuracy", "0.60", "measured by Open Board: is that the model's authors?"),
    ]
    assert [one.metric for one in leads if mapping.rules_of(one)] == ["acc", "time", "accuracy"]
    assert leads[0].url == REPO.id
    assert leads[0].published == "2026-02-03"
    assert leads[0].source_url == "https://huggingface.co/nova-ai/Nova-7B-Instruct"
    assert (leads[0].id, leads[0].remark) == ("model-index 1.1", "the card's result metadata")
    assert leads[3].source_url == "https://board.example.org"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no metadata",
        "---\n: : :\n\t- {\n---\n",
        "---\n- a\n---\n",
        "---\nmodel-index: 3\n---\n",
        "---\nmodel-index: [3, {results: x}, {results: [7, {metrics: [{value: 1}], dataset: 4}]}]\n---\n",
        "---\na: &a [x]\nmodel-index: *b\n---\n",
        "---\nmodel-index: &m [*m]\n---\n",
        "---\n" + "[" * 5000 + "\n---\n",
    ],
)
def test_metadata_that_are_none_have_no_results(mapping, text):
    assert list(index_leads(REPO, text, mapping)) == []


def test_tables_are_read_either_way_round(tables):
    down = (
        "| benchmark | Nova 7B Instruct | Other 7B |\n|---|---|---|\n| Logic-1k | **61.25** | 58.1 |\n| Own | 1 | 2 |\n"
    )
    across = "| model | Logic 1K | Own |\n|---|---|---|\n| Nova-7B-Instruct (ours) | 61.25 | 1 |\n| Other | 2 | 3 |\n"
    several = "the benchmark has several boards"
    for text in (down, across):
        assert tables(text) == [("logic", "61.25", several), ("hard", "61.25", several)]


@pytest.mark.parametrize(
    ("heading", "cells", "found"),
    [
        ("| | Score |", "| Quiz | 61.2 |", [("61.2", "")]),
        ("| | Nova 7B Instruct |", "| Quiz (with tools) | 61.2 |", [("61.2", "it stands for 'Quiz (with tools)'")]),
        ("| | Nova 7B Instruct |", "| Quiz | 61.2† |", [("61.2", "it is printed as '61.2†'")]),
        ("| | Nova 7B | Other |", "| Quiz | 61.2 | 60 |", [("61.2", "'Nova 7B' may be another model")]),
        ("| | Other | Another |", "| Quiz | 61.2 | 60 |", []),
        ("| | Nova 7B Instruct |", "| Quiz | n/a |", []),
        ("| | Nova 7B Instruct | Other |", "| Quizzes | 61.2 | 3 |", []),
    ],
)
def test_a_number_of_a_table_says_what_is_doubtful_about_it(mapping, heading, cells, found):
    text = f"{heading}\n|{'---|' * heading.strip('|').count('|')}---|\n{cells}\n"
    assert [(one.value_text, one.doubt) for one in table_leads(REPO, text, mapping)] == found


def test_a_search_of_an_organisation_s_cards(tmp_path, emulator, logic, peers, asked):
    peers([70, 60, 50, 40])
    for name in ("nova-7b", "nova-gone", "nova-closed", "nova-bare"):
        emulator.add_model(f"nova-ai/{name}", parameters={"BF16": 7 * 10**9})
    emulator.commit(emulator.repo("nova-ai/nova-7b"), {"README.md": INDEX})
    emulator.commit(
        emulator.repo("nova-ai/nova-gone"), {"README.md": card("Gone", "| | Score |\n|---|---|\n| Quiz | 61 |")}
    )
    emulator.commit(emulator.repo("nova-ai/nova-closed"), {"README.md": INDEX})
    emulator.change(emulator.repo("nova-ai/nova-closed"), gated="manual")
    outcome, rows = Lists(tmp_path).search(source="cards", org="nova-ai")
    assert [(row["repo"], row["board_value_guess"], row["status"], row["reason"]) for row in rows] == [
        ("nova-ai/nova-7b", "44.90", "candidate", ""),
        ("nova-ai/nova-7b", "12", "candidate", ""),
        ("nova-ai/nova-7b", "60", "needs_human", "measured by Open Board: is that the model's authors?"),
        ("nova-ai/nova-gone", "", "needs_human", "there is no dataset bench-org/quiz"),
    ]
    told = [(one.code, one.where) for one in outcome.problems]
    assert told[:2] == [("no-card", "nova-ai/nova-bare"), ("gated", "nova-ai/nova-closed")]
    assert (rows[0]["notes"], rows[0]["corrections"]) == ("the card's result metadata", "")


def test_cards_that_were_read_are_not_read_again(tmp_path, emulator, logic, asked):
    for name in ("a", "b", "c"):
        emulator.add_model(f"nova-ai/{name}", {"README.md": INDEX}, parameters={"BF16": 10**9})
    models = tmp_path / "models.txt"
    models.write_text("nova-ai/a\nhttps://huggingface.co/nova-ai/b\nnova-ai/c\n")
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path="/nova-ai/b/resolve/*", times=99)])
    lists = Lists(tmp_path)
    with pytest.raises(Exception, match="HTTP 500"):
        lists.search(source="cards", models=models)
    emulator.fault = None
    asked()
    _, rows = lists.search(source="cards", models=models)
    assert len(rows) == 9
    assert not [one for one in asked() if "/nova-ai/a/resolve/" in one]
