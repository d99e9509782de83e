"""A batch: rows of a list as a spec to fill in, and a report of the rest; numbers never come to mean other rows."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.candidates.batch import draft, rows_in
from benchwright.hub.candidates.rows import Row, read_rows, rows_text
from benchwright.hub.spec import Spec
from benchwright.rehearsal.hub.sample import card
from candidate_lists import Lists, result, script
from scripts_in_process import Script

VIEW = "all sizes, base models only"


def candidate(number, model="nova-ai/nova-7b", **more):
    told = {
        "repo": f"https://huggingface.co/{model}",
        "repo_canonical": model,
        "hub_dataset": f"bench-org/b-{number}",
        "hub_task": "a_%_b/c",
        "hub_name": f"B {number}",
        "pwc_result_id": str(number),
        "pwc_value_text": "61.250",
        "board_value_guess": "61.250",
        "predicted_rank": "3",
        "predicted_view": VIEW,
    }
    return Row(row=number, status="candidate", **{**told, **more})


@pytest.fixture
def out(tmp_path):
    path = tmp_path / "out.csv"
    rows = [
        candidate(1),
        candidate(2),
        candidate(
            3,
            "other-lab/x",
            source_url="https://arxiv.org/abs/2601.00001",
            notes="gated: who reviews may not see its card",
        ),
        candidate(4, predicted_rank="", predicted_view="", reason="in the top 50 of no view"),
        Row(row=5, status="personal_account", reason="a | is *a* person", repo="me/x", hub_dataset="bench-org/b-5"),
        candidate(
            6,
            "late-lab/y",
            metadata_problems="no count",
            corrections="Papers With Code has 0.61 where the board is in percent: 61",
        ),
        candidate(7, "late-lab/y", corrections="the card has 0.6"),
        candidate(8),
    ]
    path.write_text(rows_text(rows))
    return path


def refusal(out, wanted):
    with pytest.raises(Failure) as failure:
        draft(out, wanted)
    (problem,) = failure.value.problems
    return failure.value.exit, problem.code, problem.found


def test_a_draft_is_a_valid_spec_of_the_candidates(out):
    outcome = draft(out, "1-5")
    assert outcome.exit == 0
    spec = Spec.load(out.with_name("out.rows-1-5.spec.json"))
    assert [(repo.repo, [one.row for one in repo.results]) for repo in spec.repos] == [
        ("nova-ai/nova-7b", [1, 2]),
        ("other-lab/x", [3]),
    ]
    first, _, gated = spec.results
    assert (first.dataset, first.task_id, first.value_text) == ("bench-org/b-1", "a_%_b/c", "61.250")
    assert (first.source.url, first.source.name) == ("https://huggingface.co/nova-ai/nova-7b", "Model Card")
    assert (gated.source.url, gated.source.name) == ("https://arxiv.org/abs/2601.00001", "Paper")
    assert first.origin is None and first.notes is None
    told = json.loads(spec.path.read_text())
    assert told["about"].startswith("Rows 1-5 of out.csv. A draft.")
    assert told["repos"][0]["results"][0]["lead"] == f"result 1: 61.250; predicted number 3, {VIEW}"


def test_the_report_tells_every_row(out):
    outcome = draft(out, "4-7")
    assert outcome.summary == "rows 4-7: 2 results of 1 model to verify, 2 skipped; stopped at row 7 of 8; next: row 8"
    assert outcome.data["skipped"] == [
        {
            "row": 4,
            "model": "nova-ai/nova-7b",
            "benchmark": "B 4",
            "status": "candidate",
            "reason": "in the top 50 of no view",
        },
        {
            "row": 5,
            "model": "me/x",
            "benchmark": "bench-org/b-5",
            "status": "personal_account",
            "reason": "a | is *a* person",
        },
    ]
    assert (
        out.with_name("out.rows-4-7.md").read_text()
        == """\
# Rows 4-7 of out.csv

## To verify

In out.rows-4-7.spec.json:

| row | model | benchmark | value to verify | predicted rank and view |
| --- | --- | --- | --- | --- |
| 6 | late-lab/y | B 6 | 61.250 | 3, all sizes, base models only |
| 7 | late-lab/y | B 7 | 61.250 | 3, all sizes, base models only |

## Skipped

| row | model | benchmark | status | reason |
| --- | --- | --- | --- | --- |
| 4 | nova-ai/nova-7b | B 4 | candidate | in the top 50 of no view |
| 5 | me/x | bench-org/b-5 | personal_account | a \\| is \\*a\\* person |

## Corrections for Papers With Code

- row 6: Papers With Code has 0.61 where the board is in percent: 61

## Metadata problems of models

- late-lab/y: no count

## Candidates of these models outside of the batch

None.

## Where the batch stopped

At row 7 of 8; next: row 8.
"""
    )


def test_the_end_of_the_list_is_said(out):
    assert draft(out, "8").data["stopped"] == "row 8 of 8; that is the end of the list"


def test_candidates_of_a_model_outside_of_the_batch_are_told(out):
    outcome = draft(out, "1-3")
    (problem,) = outcome.problems
    assert str(problem) == (
        "nova-ai/nova-7b: candidates outside of the batch: row 8, expected one pull request a model\n"
        "    fix: take them in: --rows 1-3,8"
    )
    assert draft(out, "1-3,8").problems == []


def test_without_candidates_there_is_no_spec(out):
    outcome = draft(out, "4-5")
    assert outcome.data["spec"] is None
    assert outcome.summary == (
        "rows 4-5: nothing to verify, 2 skipped (1 in the top 50 of no view, 1 personal_account);"
        " stopped at row 5 of 8; next: rows 6-7"
    )
    assert not out.with_name("out.rows-4-5.spec.json").exists()
    assert "## To verify\n\nNone.\n" in out.with_name("out.rows-4-5.md").read_text()


def test_one_row_is_a_row(out):
    outcome = draft(out, "4")
    assert outcome.summary == (
        "row 4: nothing to verify, 1 skipped (1 in the top 50 of no view); stopped at row 4 of 8; next: row 5"
    )
    assert out.with_name("out.rows-4.md").read_text().startswith("# Row 4 of out.csv\n")
    assert draft(out, "1").summary.startswith("row 1: 1 result of 1 model to verify, 0 skipped; stopped at row 1 of 8")
    told = json.loads(out.with_name("out.rows-1.spec.json").read_text())
    assert told["about"].startswith("Row 1 of out.csv. A draft.")


def test_a_spec_with_work_in_it_stays(out):
    draft(out, "1-2")
    draft(out, "1-2")
    spec = out.with_name("out.rows-1-2.spec.json")
    worked_on = spec.read_text().replace('"row": 1', '"row": 1, "notes": "89/89 tasks"')
    spec.write_text(worked_on)
    assert refusal(out, "1-2") == (Exit.REFUSED, "in-the-way", "there already, and not this draft")
    assert spec.read_text() == worked_on
    spec.write_text("{")
    assert refusal(out, "1-2")[1] == "in-the-way"


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [rows[0], *rows[2:]],
        lambda rows: [*rows, candidate(9)],
        lambda rows: [*rows[:-1], candidate(8, "other-lab/z")],
        lambda rows: [candidate(1, pwc_value_text="61.25"), *rows[1:]],
        lambda rows: [
            candidate(2, pwc_result_id="1", hub_dataset="bench-org/b-1"),
            candidate(1, hub_dataset="bench-org/b-2"),
            *rows[2:],
        ],
    ],
)
def test_a_list_that_was_made_anew_is_refused(out, change):
    draft(out, "1-2")
    draft(out, "3")
    out.write_text(rows_text(change(read_rows(out))))
    found = "not the list of the earlier batches (1-2, 3): it was made anew, or edited"
    assert refusal(out, "4-5") == (Exit.REFUSED, "regenerated", found)
    assert not out.with_name("out.rows-4-5.md").exists()


def test_statuses_and_the_order_of_lines_may_change(out):
    draft(out, "1-2")
    rows = read_rows(out)
    changed = [replace(row, status="needs_human", notes="asked") for row in reversed(rows[3:])]
    out.write_text(rows_text([*changed, *rows[:3]]))
    assert draft(out, "3").data["rows"] == [3]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [("46-48", [46, 47, 48]), ("46\u201348", [46, 47, 48]), ("7", [7]), ("9, 3 - 4,3", [3, 4, 9])],
)
def test_rows_are_named_as_people_name_them(wanted, numbers):
    assert rows_in(wanted) == numbers


@pytest.mark.parametrize("wanted", ["", "a", "5-", "-5", "5-3", "1-2-3", "1,,2", "0-999999999", "\u0661"])
def test_what_names_no_rows(out, wanted):
    exit, code, _ = refusal(out, wanted)
    assert (exit, code) == (Exit.USAGE, "usage")


def test_rows_that_there_are_not(out):
    assert refusal(out, "7-10,12") == (Exit.USAGE, "no-such-row", "no row 9-10,12")


def test_a_file_that_is_no_list(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("row,status\n1,candidate\n")
    assert refusal(path, "1")[:2] == (Exit.USAGE, "candidates")
    assert refusal(tmp_path / "none.csv", "1") == (Exit.USAGE, "candidates", "no such file or directory")


def test_every_bad_row_of_a_list_is_told(out):
    text = out.read_text().replace("2,candidate", "1,candidate").replace("3,candidate", "x,candidate")
    out.write_text(text.replace("5,personal_account", "5,fine"))
    with pytest.raises(Failure) as failure:
        draft(out, "1")
    assert [(one.where.rpartition("/")[2], one.found) for one in failure.value.problems] == [
        ("out.csv: line 3: row", "'1'"),
        ("out.csv: line 4: row", "'x'"),
        ("out.csv: line 6: status", "'fine'"),
    ]


def test_from_a_search_to_a_draft_by_the_scripts(tmp_path, emulator, logic, peers, capsys):
    peers([70, 60, 50])
    emulator.add_model("nova-ai/nova-7b", {"README.md": card("Nova")}, parameters={"BF16": 10**9})
    lists = Lists(tmp_path)
    lists.search(result("nova-ai/nova-7b", "0.627"), name="a list.csv")
    source = tmp_path / "in-a list.csv"
    find = Script(script("find_candidates"), capsys)
    answer = find.answer(tmp_path / "b.csv", "--source", "csv", "--models", source, "--mapping", lists.mapping)
    assert answer["data"]["statuses"]["candidate"] == 1
    (following,) = answer["next"]
    assert following.endswith(f"draft_spec.py {tmp_path}/b.csv --rows 1")
    answer = Script(script("draft_spec"), capsys).answer(tmp_path / "a list.csv", "--rows", "1")
    assert answer["data"]["rows"] == [1]
    assert answer["next"][0].endswith("check_sources.py '" + str(tmp_path / "a list.rows-1.spec.json") + "'")
    assert [one.value_text for one in Spec.load(answer["data"]["spec"]).results] == ["62.7"]
