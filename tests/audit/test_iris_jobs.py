"""The table of Iris jobs: every state, launches of one name, times in ids, and what is no such table."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest

from benchwright.audit.facts import JobFacts
from benchwright.audit.iris_jobs import ask_iris_jobs, chosen, iris_table, parse_iris_jobs, read_iris_jobs
from benchwright.contract import Exit, Failure


def table(*rows, heading="job_id,state"):
    return parse_iris_jobs("\n".join((heading, *rows)).encode(), "table")


@pytest.mark.parametrize(
    ("state", "phase", "word"),
    [
        ("1", "live", "PENDING"),
        ("2", "live", "BUILDING"),
        ("3", "live", "RUNNING"),
        ("4", "completed", "COMPLETED"),
        ("5", "ended", "FAILED"),
        ("6", "ended", "KILLED"),
        ("7", "ended", "WORKER_FAILED"),
        ("8", "ended", "UNSCHEDULABLE"),
        ("running", "live", "RUNNING"),
        ("JOB_STATE_SUCCEEDED", "completed", "COMPLETED"),
    ],
)
def test_a_state_by_its_number_or_word(state, phase, word):
    (job,) = table(f"/me/eval-x,{state}")
    assert job.facts() == JobFacts(phase=phase, state=word, id="/me/eval-x", told_by="the jobs table")


@pytest.mark.parametrize(("state", "shown"), [("0", "0"), ("9", "9"), ("", "none"), ("odd", "odd")])
def test_a_state_that_says_nothing(state, shown):
    (job,) = table(f"/me/eval-x,{state}")
    assert job.facts() == f"the jobs table has /me/eval-x in state {shown}, which says nothing"


def test_parts_of_jobs_are_no_jobs_and_names_are_the_last_part():
    jobs = table("/me/eval-x:2,4", "/me/eval-x/0,5", "/me/eval-x/worker/1:3,3", "eval-y,6")
    assert [(job.name, job.phase) for job in jobs] == [("eval-x", "completed"), ("eval-y", "ended")]


@pytest.mark.parametrize(
    ("name", "began"),
    [
        ("eval-tb2-model-20260901-120000", datetime(2026, 9, 1, 12, tzinfo=UTC)),
        ("eval-tb2-model-20260901_120000-a1b2c3", datetime(2026, 9, 1, 12, tzinfo=UTC)),
        ("eval-tb2-20260901T120000", datetime(2026, 9, 1, 12, tzinfo=UTC)),
        ("eval-tb2-model-20250101-20260901", datetime(2026, 9, 1, tzinfo=UTC)),
        ("eval-tb2-1788264000", datetime(2026, 9, 1, 12, tzinfo=UTC)),
        ("eval-tb2-1788264000000", datetime(2026, 9, 1, 12, tzinfo=UTC)),
        ("eval-tb2-1788264000000000", datetime(2026, 9, 1, 12, tzinfo=UTC)),
        ("eval-tb2-99999999-model-8B", None),
        ("eval-tb2-120000", None),
    ],
)
def test_when_a_job_was_launched_by_its_name(name, began):
    assert table(f"/me/{name},4")[0].began == began


def test_a_column_says_later_than_the_name():
    heading = "job_id,state,submitted_at_ms,Kind"
    (job,) = table("/me/eval-x-20260901-120000,4,1788350400000,TPU", heading=heading)
    assert (job.began, job.kind) == (datetime(2026, 9, 2, 12, tzinfo=UTC), "iris-tpu")
    (job,) = table("/me/eval-x,4,2026-09-02T12:00:00,gpu", heading="job_id,state,created_at,device_type")
    assert (job.began, job.kind) == (datetime(2026, 9, 2, 12, tzinfo=UTC), "iris-gpu")


def test_which_jobs_are_chosen():
    jobs = table("/me/train-1,3", "/me/eval-old-20260531,4", "/me/eval-new-20260701,5", "/me/eval-undated,6")
    since = datetime(2026, 6, 3, tzinfo=UTC)
    assert [job.name for job in chosen(jobs)] == ["eval-new-20260701", "eval-old-20260531", "eval-undated"]
    assert [job.name for job in chosen(jobs, since=since)] == ["eval-new-20260701", "eval-undated"]
    assert [job.name for job in chosen(jobs, tags=("train-?", "*-old-*"))] == ["eval-old-20260531", "train-1"]


@pytest.mark.parametrize(
    ("rows", "phase"),
    [
        (("/me/eval-x,6,100", "/me/eval-x,4,200"), "completed"),
        (("/me/eval-x,4,200", "/me/eval-x,6,100"), "completed"),
        (("/me/eval-x,3,100", "/me/eval-x,4,200"), "live"),
        (("/me/eval-x,6,", "/me/eval-x,6,"), "ended"),
        (("/me/eval-x,6,", "/me/eval-x,4,"), None),
        (("/me/eval-x,6,200", "/you/eval-x,4,200"), None),
        (("/me/eval-x,6,", "/me/eval-x,4,200"), None),
    ],
)
def test_of_several_launches_the_last_counts_and_a_live_one_before_all(rows, phase):
    dated = [row.replace(",100", ",2026-09-01").replace(",200", ",2026-09-02") for row in rows]
    (job,) = chosen(table(*dated, heading="job_id,state,created_at"))
    assert job.phase == phase
    if phase is None:
        assert job.facts() == (
            f"the jobs table has {job.id} in state COMPLETED, KILLED by its several launches, which says nothing"
        )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "table: heading: no job_id and no state, expected {}"),
        (b"id,state\n1,2\n", "table: heading: no job_id, expected {}"),
        (b"job_id,state\n,4\n/,3\n", "table: line 2: job_id: missing, expected the id of a job"),
        (b'job_id,state\n"x,4\n', "table: line 1: unexpected end of data, expected {}"),
        (b"job_id,state\n\xff,4\n", "table: line 1: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_what_is_no_table(content, said):
    with pytest.raises(Failure) as caught:
        parse_iris_jobs(content, "table")
    form = "CSV with a heading, of which job_id and state are columns"
    assert str(caught.value).startswith(said.format(form)) and caught.value.exit is Exit.USAGE


def test_all_bad_lines_are_told_at_once():
    with pytest.raises(Failure) as caught:
        table(",4", "/me/eval-x,4", ",5")
    assert [problem.where for problem in caught.value.problems] == ["table: line 2: job_id", "table: line 4: job_id"]


def test_a_file_and_the_environments_command(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("\ufeffjob_id,state\r\n/me/eval-x,4\r\n")
    command = f"{sys.executable} -c \"print('job_id,state\\n/me/eval-y,6')\""
    assert [job.name for job in iris_table(file, {"BENCHWRIGHT_IRIS_JOBS": command})] == ["eval-x"]
    assert [job.name for job in iris_table(None, {"BENCHWRIGHT_IRIS_JOBS": command})] == ["eval-y"]
    assert iris_table(None, {}) is None
    with pytest.raises(Failure) as caught:
        iris_table(None, {"BENCHWRIGHT_IRIS_JOBS": "iris 'x"})
    assert str(caught.value) == (
        "BENCHWRIGHT_IRIS_JOBS: no closing quotation, expected a command's words\n"
        "    fix: export BENCHWRIGHT_IRIS_JOBS=... in words as for a shell"
    )
    with pytest.raises(Failure) as caught:
        read_iris_jobs(tmp_path / "none.csv")
    assert caught.value.problems[0].found == "no such file or directory"


@pytest.mark.parametrize(
    ("code", "exit", "found"),
    [
        ("import sys; sys.exit('not\\nlogged in')", Exit.REMOTE, "logged in"),
        ("raise SystemExit(7)", Exit.REMOTE, "exit 7 without a word"),
        ("import time; time.sleep(60)", Exit.REMOTE, "no answer within 0.5 s"),
        ("print('I0101 connecting')", Exit.USAGE, "no job_id and no state"),
        ("print(input())", Exit.REMOTE, "EOFError: EOF when reading a line"),
    ],
)
def test_a_command_that_does_not_answer(code, exit, found):
    with pytest.raises(Failure) as caught:
        ask_iris_jobs([sys.executable, "-c", code], seconds=0.5 if "sleep" in code else 30)
    assert (caught.value.exit, caught.value.problems[0].found) == (exit, found)


def test_a_command_that_is_not_there_and_one_with_a_shells_words(tmp_path):
    with pytest.raises(Failure) as caught:
        ask_iris_jobs([str(tmp_path / "iris"), "query"])
    assert (caught.value.exit, caught.value.problems[0].found) == (Exit.ENVIRONMENT, "no such file or directory")
    print_words = "import sys; print('job_id,state'); print(sys.argv[1] + ',4')"
    (job,) = ask_iris_jobs([sys.executable, "-c", print_words, "$(touch x);eval-x"])
    assert job.name == "$(touch x);eval-x"
