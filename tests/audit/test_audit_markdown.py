"""The Markdown report, read back by a parser of Markdown: everything is there, and names are nothing but names."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_cases import FINE, NASTY, OWN, SCRIPT, audited, nasty, of_job, unknown, with_errors

from benchwright.audit import RowFacts
from benchwright.audit.report_figures import error_classes, readings
from benchwright.audit.report_markdown import report_markdown
from benchwright.audit.report_words import visible
from benchwright.rehearsal.harbor_jobs import grow_job


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def said(token: Token) -> str:
    """What a reader sees of a line."""
    return "".join(child.content for child in token.children or ())


def tables(tokens: list[Token]) -> dict[str, list[list[str]]]:
    """The cells of each table, by the heading that it stands under."""
    found: dict[str, list[list[str]]] = {}
    heading, row = "", None
    for before, token in itertools.pairwise(tokens):
        if before.type == "heading_open":
            heading = said(token)
        if token.type == "table_open":
            found[heading] = []
        if token.type == "tr_open":
            row = []
            found[heading].append(row)
        if token.type == "inline" and before.type in ("td_open", "th_open"):
            row.append(said(token))
    return found


def commands(tokens: list[Token]) -> list[str]:
    return [token.content.removesuffix("\n") for token in tokens if token.type == "fence"]


def test_a_report_says_everything_about_an_eval() -> None:
    (one,) = audited(with_errors("eval-bad", DaytonaError=31, AgentTimeoutError=9))
    tokens = parsed(report_markdown([one]))
    found = tables(tokens)

    assert found["Audit of 1 eval"][1] == [
        *("1", "eval-bad", "org/model", "bench", "✅", "⚠️", "✅", "❌", "260/40/300", one.judgement.verdict)
    ]
    checks = {name: detail for name, _, detail in found["Checks"][1:]}
    assert checks == {name: check.detail for name, check in one.judgement.checks.named()}
    assert [row[:4] for row in found["Error classes"][1:]] == [
        ["DaytonaError", "counted", "0", "31"],
        ["AgentTimeoutError", "benign", "0", "9"],
    ]
    assert found["Trials"][7:9] == [
        ["with an error that counts", "31/300 (10.3 %), too many"],
        ["the same by the aggregate", "?"],
    ]
    assert found["Score"][1:] == [
        ["as stored", "—"],
        ["over attempted trials", "0.3000"],
        ["over valid trials", "0.3462"],
        ["over planned trials", "0.3000"],
    ]
    (row,) = one.judgement.rows
    assert found["Rows in the database"][1] == [
        *("r1", "us", "Finished", f"{row.advice}: {row.why}", "—", "—"),
        *("0.3000", "2026-08-30T00:00:00+00:00", "org/traces"),
    ]


def test_commands_stand_whole_and_the_first_one_is_recommended() -> None:
    (one,) = audited(msgspec.structs.replace(FINE, folder="/jobs/a b\n```\nc", rows=()))
    text = report_markdown([one])

    assert commands(parsed(text)) == [action.command for action in one.judgement.actions]
    assert "'/jobs/a b\n```\nc'" in commands(parsed(text))[0]
    assert text.count("**Recommended:**") == 1


def test_what_is_not_known_is_listed_with_the_way_to_learn_it() -> None:
    text = report_markdown(audited(unknown("eval-dark")))

    assert text.partition("### Not known\n\n")[2].splitlines() == [
        "- whether the job has ended: sacct is not here. "
        "To learn it, audit where sacct and squeue answer; for Iris, name the jobs table with --iris-jobs FILE.",
        "- what the Hub holds of it: nothing was gathered. "
        "To learn it, set BENCHWRIGHT_TRACE_ORGS to where traces are uploaded, HF_TOKEN if repositories are private, "
        "and audit without --no-hub.",
        "- what the database holds of it: DATABASE_URL not set. "
        "To learn it, set BENCHWRIGHT_OWNERS, and DATABASE_URL, or SUPABASE_URL and a key; "
        "where both are set, choose with --db.",
    ]


def test_names_are_shown_letter_by_letter_and_are_nothing_else() -> None:
    harmful = nasty()
    twin = msgspec.structs.replace(harmful, **dict.fromkeys(("run_tag", "model", "benchmark"), "x"))
    text = report_markdown(audited(harmful))
    tokens = parsed(text)
    found = tables(tokens)
    shown = visible(NASTY)

    assert found["Audit of 1 eval"][1][1:4] == [f"{SCRIPT}{shown}", shown, shown]
    assert found["Error classes"][1][0] == shown
    assert [found["Rows in the database"][1][place] for place in (0, 1, 2, 8)] == [shown] * 4
    assert found["Trace repositories"][1][0] == shown
    notes = [said(token) for token in tokens if token.type == "inline"]
    assert shown in notes
    for lines in found.values():
        assert {len(line) for line in lines} == {len(lines[0])}
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special", "code_inline", "strong_open", "strong_close"}
    assert [one.tag for one in tokens if one.type == "heading_open"] == [
        one.tag for one in parsed(report_markdown(audited(twin))) if one.type == "heading_open"
    ]
    assert "\u202e" not in text


def test_rows_say_what_they_are_filed_under_and_what_is_odd_about_them() -> None:
    issues = frozenset({"numeric-model", "dict-metrics"})
    odd = RowFacts(id="r2", owner="us", of_run="no", status="Finished", model="1774950145766573", issues=issues)
    text = report_markdown(audited(msgspec.structs.replace(FINE, rows=(OWN, odd))))

    rows = {row[0]: row for row in tables(parsed(text))["Rows in the database"][1:]}
    assert (rows["r2"][4], rows["r2"][5]) == ("1774950145766573 on ?", "dict-metrics, numeric-model")


def test_of_thousands_of_rows_those_with_something_to_do_are_listed() -> None:
    others = tuple(RowFacts(id=f"a{at}", owner="them", of_run="no", status="Finished") for at in range(5000))
    text = report_markdown(audited(msgspec.structs.replace(FINE, rows=(*others, OWN))))

    listed = tables(parsed(text))["Rows in the database"][1:]
    assert (len(listed), listed[0][0]) == (60, "r1")
    assert "4,941 rows more: see `--json`." in text


def test_two_evals_of_one_run_are_told_apart_by_their_agents() -> None:
    other = msgspec.structs.replace(FINE, agent="agent-2")
    tokens = parsed(report_markdown(audited(FINE, other)))

    assert [row[1] for row in tables(tokens)["Audit of 2 evals"][1:]] == ["eval-fine (agent-1)", "eval-fine (agent-2)"]


def test_texts_of_any_length_are_cut_and_commands_are_not() -> None:
    (one,) = audited(msgspec.structs.replace(FINE, model="m" * 100_000, rows=(), notes=("n" * 100_000,)))
    text = report_markdown([one])

    assert commands(parsed(text)) == [action.command for action in one.judgement.actions if action.command]
    assert len(text) < 4_000 + len(one.judgement.actions[0].command)


def test_the_same_facts_give_the_same_bytes(tmp_path) -> None:
    grow_job(tmp_path / "eval-job", ["pass", "no-sandbox", "timeout", "nan", "cut-off", "unfinished"] * 2)
    evals = [of_job(tmp_path / "eval-job")[0], nasty(), unknown("eval-dark"), FINE]
    texts = set()
    for seed in range(3):
        random.Random(seed).shuffle(evals)
        texts.add(report_markdown(audited(*evals)))

    assert len(texts) == 1


def test_the_folders_own_figures_say_more_of_errors_and_of_the_score(tmp_path) -> None:
    grow_job(tmp_path / "eval-job", ["pass", "fail", "no-sandbox", "timeout", "unheard-of", "unfinished"])
    facts, _ = of_job(tmp_path / "eval-job")
    found = tables(parsed(report_markdown(audited(facts))))

    assert [row[:2] + row[5:] for row in found["Error classes"][1:]] == [
        [
            "BrandNewError",
            "counted, not in the taxonomy",
            "unknown",
            facts.figures["error_counts"]["BrandNewError"]["repair"],
        ],
        ["DaytonaError", "counted", "nothing about the score (MAR)", "resume, to be complete; never take 0 for it"],
        [
            "AgentTimeoutError",
            "benign",
            "a likely 0 (MNAR)",
            facts.figures["error_counts"]["AgentTimeoutError"]["repair"],
        ],
    ]
    assert found["Score"][1:] == [
        ["as stored", "0.2000"],
        ["over attempted trials", "0.2000"],
        ["over valid trials", "0.5000"],
        ["over planned trials", "0.1667"],
        ["likely: a missing reward taken for 0 where it hides one", "0.3333"],
        ["left open by trials without a reward", "0.1667 to 0.6667"],
    ]


def test_the_reading_that_the_stored_score_is_of_is_told(tmp_path) -> None:
    grow_job(tmp_path / "eval-job", ["pass", "fail", "fail", "fail", "timeout", "timeout", "cut-off", "cut-off"])
    facts, _ = of_job(tmp_path / "eval-job")
    tokens = parsed(report_markdown(audited(facts)))

    assert ["over completed trials (without damaged results)", "0.1667"] in tables(tokens)["Score"]
    over = "completed trials (without damaged results)"
    assert f"The stored score is the one over {over}." in map(said, tokens)

    facts.figures["scores"] |= {"valid_with_surplus": 0.5, "stored_is": ["attempted", "planned", "valid_with_surplus"]}
    tokens = parsed(report_markdown(audited(facts)))

    assert ["over valid trials (with surplus ones)", "0.5000"] in tables(tokens)["Score"]
    over = "attempted trials, planned trials and valid trials (with surplus ones)"
    assert f"The stored score is the one over {over}." in map(said, tokens)


@pytest.mark.parametrize(
    "figures", [{}, {"scores": 1, "error_counts": {}}, {"scores": {"low": "x"}, "error_counts": {}}]
)
def test_figures_of_another_form_are_as_good_as_absent(figures) -> None:
    facts = with_errors("eval-bad", DaytonaError=31)
    other = msgspec.structs.replace(facts, figures=figures)

    assert error_classes(other) == error_classes(facts)
    assert readings(other) == readings(facts)
    assert report_markdown(audited(other)) == report_markdown(audited(facts))


def test_nothing_to_audit_is_a_report_too() -> None:
    assert report_markdown([]) == "# Audit of 0 evals\n\n0 evals: nothing to audit\n"
