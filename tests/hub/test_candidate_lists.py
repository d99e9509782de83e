"""A list of candidates: its order, its numbers, files that it is made from, and searches that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.candidates.rows import read_rows
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card
from candidate_lists import SCRIPTS, Lists, read_csv, result, script, write_csv
from scripts_in_process import Script
from waiting import wait_until


@pytest.fixture
def lists(tmp_path, emulator, logic, peers):
    peers([70, 65, 60, 55, 50])
    return Lists(tmp_path)


@pytest.fixture
def models(emulator):
    def add(*names):
        with emulator.at_once():
            for name in names:
                emulator.add_model(name, {"README.md": card(name)}, parameters={"BF16": 7_000_000_000})
        return names

    return add


def refusal(call, *words, **more):
    with pytest.raises(Failure) as failure:
        call(*words, **more)
    return failure.value


def told(failure):
    return [(one.code, one.where.rpartition("/")[2], one.found) for one in failure.problems]


def test_candidates_come_first_then_major_labs_then_the_newest(lists, emulator, models):
    models("small-lab/new", "small-lab/old", "Qwen/old", "Qwen/new")
    emulator.add_user("somebody")
    models("somebody/newest")
    _, rows = lists.search(
        result("somebody/newest", published="2026-09-09"),
        result("small-lab/old", published="2025-01-01"),
        result("small-lab/new", published="2026-05-05"),
        result("small-lab/undated"),
        result("Qwen/old", published="2024-01-01"),
        result("Qwen/new", published="2026-01-01"),
        result("Qwen/new", "70", metric="time"),
    )
    assert [(row["row"], row["repo"], row["major"]) for row in rows] == [
        ("1", "Qwen/new", "yes"),
        ("2", "Qwen/new", "yes"),
        ("3", "Qwen/old", "yes"),
        ("4", "small-lab/new", ""),
        ("5", "small-lab/old", ""),
        ("6", "somebody/newest", ""),
        ("7", "small-lab/undated", ""),
    ]
    assert lists.shown[-1] == (6, 6, 0)


def test_rows_keep_their_numbers_when_unknowns_are_asked_again(lists, emulator, models, asked):
    models("a-lab/a", "b-lab/b", "c-lab/c")
    results = [
        result(name, published=f"2026-01-0{9 - number}")
        for number, name in enumerate(("a-lab/a", "b-lab/b", "c-lab/c"))
    ]
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path="/api/models/a-lab/a", times=99)])
    outcome, before = lists.search(*results)
    assert outcome.exit is Exit.REMOTE
    assert [(row["repo"], row["status"]) for row in before] == [
        ("b-lab/b", "candidate"),
        ("c-lab/c", "candidate"),
        ("a-lab/a", "unknown"),
    ]
    emulator.fault = None
    asked()
    outcome, after = lists.search(*results)
    assert outcome.exit is Exit.DONE
    assert [(row["row"], row["repo"], row["status"]) for row in after] == [
        ("1", "b-lab/b", "candidate"),
        ("2", "c-lab/c", "candidate"),
        ("3", "a-lab/a", "candidate"),
    ]
    assert not [one for one in asked() if "b-lab" in one or "c-lab" in one]


def test_a_hub_that_is_gone_numbers_nothing_and_loses_nothing(lists, emulator, models, asked):
    models("a-lab/a", "b-lab/b", "c-lab/c")
    results = [result(name) for name in ("a-lab/a", "b-lab/b", "c-lab/c")]
    emulator.fault = RuledFaults([FaultRule(Fault("cut"), path="/api/models/b-lab/b", times=99)])
    failure = refusal(lists.search, *results)
    assert (failure.exit, failure.problems[0].code) == (Exit.REMOTE, "hub-unavailable")
    assert not (lists.folder / "out.csv").exists()
    emulator.fault = None
    asked()
    _, rows = lists.search(*results)
    assert [row["status"] for row in rows] == ["candidate"] * 3
    assert not [one for one in asked() if "a-lab" in one]


def test_a_limit_of_the_hub_is_waited_for(lists, emulator, models):
    models("a-lab/a")
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=429), times=1, skip=skip) for skip in (0, 2, 3)])
    assert lists.statuses(result("a-lab/a")) == [("candidate", "")]


def killed_at(command, environment, journal, lines):
    """Run a command until its journal has so many lines, and kill it."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(
        lambda: process.poll() is not None or (journal.exists() and journal.read_bytes().count(b"\n") >= lines),
        pause=0.005,
    )
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode


def test_a_search_that_is_killed_goes_on(lists, emulator, models, tmp_path):
    names = models(*(f"lab-{number % 3}/model-{number:02}" for number in range(24)))
    source = write_csv(
        tmp_path / "in.csv", *(result(name, published=f"2026-02-{number + 1:02}") for number, name in enumerate(names))
    )
    out = tmp_path / "killed.csv"
    environment = {**os.environ, "HF_ENDPOINT": emulator.url, "HF_TOKEN_PATH": str(tmp_path / "none")}
    words = [str(out), "--source", "csv", "--models", str(source), "--mapping", str(lists.mapping)]
    command = [sys.executable, str(SCRIPTS / "find_candidates.py"), *words]
    journal = tmp_path / "killed.csv.journal"
    emulator.fault = lambda request: Fault("slow", delay=0.01)
    assert killed_at(command, environment, journal, 11) == -signal.SIGKILL
    assert not out.exists()
    with journal.open("ab") as file:
        file.write(b'["finding", "torn in the mid')
    known = {
        json.loads(text)[1].split("\t")[0]
        for text in journal.read_text().splitlines()
        if text.startswith('["finding", "lab') and text.endswith("]")
    }
    emulator.seen.clear()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(known) >= 8
    asked = [seen.request.target for seen in emulator.seen]
    assert not [one for one in asked if any(name in one for name in known)]
    emulator.fault = None
    _, rows = lists.search(name="whole.csv", source="csv", models=source)
    assert read_csv(out) == rows
    assert [row["row"] for row in rows] == [str(number) for number in range(1, 25)]
    assert "next:" in done.stdout and "draft_spec.py" in done.stdout


def test_two_thousand_results_are_within_the_limits(lists, emulator, models, asked):
    """Of 200 models with 2,000 results each is asked for once, each owner and board too, and nothing more."""
    for person in range(5):
        emulator.add_user(f"person-{person}")
    owners = [*(f"person-{number}" for number in range(5)), *(f"lab-{number}" for number in range(5))]
    names = models(*(f"{owner}/model-{number}" for owner in owners for number in range(20)))
    results = [
        result(name, f"{50 + number}", metric=metric)
        for name in names
        for number in range(5)
        for metric in ("accuracy", "time")
    ]
    outcome, rows = lists.search(*results)
    assert len(rows) == 2000
    assert (
        outcome.data["statuses"] | {"personal_account": 1000, "needs_human": 1000, "unknown": 0}
        == (outcome.data["statuses"])
    )
    requests = asked()
    about_models = [one for one in requests if "/model-" in one]
    assert len(about_models) == len(set(about_models)) == 100 + 2 * 100
    assert len(requests) - len(about_models) <= 3 * 10 + 2 + 2 * 16 + 1
    assert len(lists.shown) == 200 + 1


def test_one_organisation_and_listed_models_alone(lists, models):
    models("a-lab/a", "a-lab/b", "b-lab/b")
    results = [result(name) for name in ("https://huggingface.co/a-lab/a", "a-lab/b", "b-lab/b")]
    _, rows = lists.search(*results, org="A-Lab")
    assert [row["repo_canonical"] for row in rows] == ["a-lab/a", "a-lab/b"]


@pytest.mark.parametrize("source", ["csv", "cards"])
def test_an_organisation_that_is_not_there_is_no_empty_list(lists, models, source):
    models("a-lab/a")
    results = [result("a-lab/a")] if source == "csv" else []
    failure = refusal(lists.search, *results, org="a-lag", **({} if results else {"source": source}))
    assert (failure.exit, told(failure)) == (Exit.USAGE, [("usage", "--org", "nobody on the Hub is called a-lag")])
    assert not (lists.folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"source": "csv"}, [("usage", "--models", "missing")]),
        ({"source": "cards"}, [("usage", "--org", "missing")]),
        ({"source": "csv", "name": "out.txt"}, [("usage", "--models", "missing"), ("usage", "OUT.csv", "out.txt")]),
    ],
)
def test_options_that_do_not_go_together(lists, options, found):
    failure = refusal(lists.search, **options)
    assert (failure.exit, told(failure)) == (Exit.USAGE, found)


def test_another_search_is_refused_under_the_same_name(lists, models):
    models("a-lab/a")
    lists.search(result("a-lab/a"))
    failure = refusal(lists.search, result("a-lab/a"), org="a-lab")
    assert failure.exit is Exit.USAGE
    assert told(failure) == [("other-search", "out.csv.journal", "of another search: org None")]


def test_a_list_that_was_edited_is_left_alone(lists, models):
    models("a-lab/a")
    lists.search(result("a-lab/a"))
    out = lists.folder / "out.csv"
    text = out.read_text().replace("candidate", "needs_human")
    out.write_text(text)
    failure = refusal(lists.search, result("a-lab/a"))
    assert (failure.exit, told(failure)) == (
        Exit.REFUSED,
        [("not-as-written", "out.csv", "edited, or not written by this search")],
    )
    assert out.read_text() == text
    (lists.folder / "own.csv").write_text("mine\n")
    failure = refusal(lists.search, result("a-lab/a"), name="own.csv")
    assert told(failure) == [("not-as-written", "own.csv", "a file without the journal of its search")]


@pytest.mark.parametrize("damage", [b"\x00\x01\n", b'["finding", "x", {}]\n', b"[1]\n", b"{}\n"])
def test_a_damaged_journal_is_refused(lists, damage):
    (lists.folder / "out.csv.journal").write_bytes(damage)
    failure = refusal(lists.search, result("a-lab/a"))
    assert (failure.exit, failure.problems[0].code) == (Exit.REFUSED, "journal")


def test_two_searches_at_once(lists, models):
    from benchwright.files import FileLock

    with FileLock(lists.folder / ".out.csv.lock", "the search for out.csv"):
        assert refusal(lists.search, result("a-lab/a")).exit is Exit.REFUSED


def test_cells_of_others_are_no_formulas(lists, models):
    models("a-lab/a")
    title = '=HYPERLINK("http://x")\r\nsecond\x00\u202eline'
    _, (row,) = lists.search(result("a-lab/a", paper_title="=1+1", source_url="@x"))
    assert (row["paper_title"], row["source_url"]) == ("'=1+1", "'@x")
    _, (row,) = lists.search(result("a-lab/a", value="-0.5", paper_title=title.replace("\0", "")), name="b.csv")
    assert (row["paper_title"], row["pwc_value_text"]) == ('\'=HYPERLINK("http://x") second line', "-0.5")
    (read,) = read_rows(lists.folder / "b.csv")
    assert read.paper_title == '=HYPERLINK("http://x") second line'


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "no hf_model_url, no value_text"),
        (b"hf_model_url,value_text,value_text\n", "'value_text' twice"),
        (b"\xff\xfeh\x00", "not UTF-8 at byte 0"),
        (b"hf_model_url,value_text\na\0,b\n", "a NUL character in it"),
        (b'hf_model_url,value_text\n"a"b,c\n', "',' expected after '\"'"),
        (b"hf_model_url,value_text\n" + b"x" * 200_000 + b",1\n", "field larger than field limit (131072)"),
    ],
)
def test_files_that_are_no_csv_of_results(lists, content, found):
    path = lists.folder / "hostile.csv"
    path.write_bytes(content)
    failure = refusal(lists.search, source="csv", models=path)
    assert (failure.exit, [one.found for one in failure.problems]) == (Exit.USAGE, [found])


def test_every_bad_line_of_a_csv_is_told(lists):
    path = lists.folder / "bad.csv"
    path.write_text(
        "hf_model_url,value_text,dataset_slug,metric_name\n,1,logic-1k,accuracy\na/b,,logic-1k,\nx\na/b,1,l,m,more\n"
        + ",,,\n" * 60
    )
    failure = refusal(lists.search, source="csv", models=path)
    assert told(failure)[:4] == [
        ("csv", "bad.csv: line 2: hf_model_url", "missing"),
        ("csv", "bad.csv: line 3: value_text", "missing"),
        ("csv", "bad.csv: line 3: metric_name", "missing"),
        ("csv", "bad.csv: line 4", "more cells, or fewer, than the heading has"),
    ]
    assert told(failure)[-1] == ("csv", "further lines", "195 more problems")


def test_bad_lines_of_a_list_of_models_are_told(lists, tmp_path):
    path = tmp_path / "models.txt"
    path.write_text("a-lab/a  # first\n\nhttps://huggingface.co/datasets/a/b\nnothing\n")
    failure = refusal(lists.search, source="cards", models=path)
    assert (failure.exit, told(failure)) == (
        Exit.USAGE,
        [
            ("models", "models.txt: line 3", "'https://huggingface.co/datasets/a/b'"),
            ("models", "models.txt: line 4", "'nothing'"),
        ],
    )


def test_results_that_no_line_takes_and_benchmarks_without_one_are_told(lists, emulator, models):
    from benchwright.rehearsal.hub.sample import eval_file

    emulator.add_dataset("bench-org/new", {"eval.yaml": eval_file("New", "a")}, official=True)
    models("a-lab/a")
    outcome, rows = lists.search(
        result("a-lab/a", metric="f1"), result("a-lab/a", metric="f1", value="2"), result("a-lab/a", slug="own")
    )
    assert rows == []
    assert [(one.code, one.found) for one in outcome.problems] == [
        ("unmapped-benchmark", "official benchmarks without a line: bench-org/new"),
        ("unmapped-metric", "results that no line takes: logic-1k: f1 (2 results), own: accuracy (1 result)"),
    ]


def test_the_script_says_what_the_default_source_lacks(tmp_path, capsys, monkeypatch, emulator):
    monkeypatch.delenv("PWC_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    find = Script(script("find_candidates"), capsys)
    answer = find.answer(tmp_path / "out.csv")
    assert answer["exit"] == 3
    assert answer["problems"] == [
        {
            "code": "no-credentials",
            "where": "PWC_DATABASE_URL",
            "found": "PWC_DATABASE_URL not set",
            "expected": "a Postgres database with the view hub_port_candidates_v1",
            "fix": "set PWC_DATABASE_URL, its address, in the environment or in a .env file; "
            "or search without it: --source api",
        }
    ]
    assert not (tmp_path / "out.csv").exists()
    (tmp_path / ".env").write_text("PWC_DATABASE_URL=postgresql://me@/pwc?host=/nowhere\n")
    answer = find.answer(tmp_path / "out.csv")
    assert (answer["exit"], answer["problems"][0]["code"]) == (4, "database-unavailable")
    source = write_csv(tmp_path / "in.csv", result("a-lab/a"))
    answer = find.answer(tmp_path / "out.csv", "--source", "csv", "--models", source)
    assert (answer["exit"], answer["summary"]) == (0, "0 rows in out.csv: none; 0 candidates to be seen")


def test_a_list_of_official_benchmarks_that_does_not_come_costs_no_list(lists, emulator, models):
    models("a-lab/a")
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path="/api/datasets", times=99)])
    outcome, rows = lists.search(result("a-lab/a"))
    assert [row["status"] for row in rows] == ["candidate"]
    assert [one.code for one in outcome.problems] == ["hub-unavailable"]


def test_a_search_that_is_killed_before_its_list_is_written_writes_it(lists, emulator, models):
    models("a-lab/a")
    fault = FaultRule(Fault("error", status=500), path="/api/models/a-lab/a", times=99)
    emulator.fault = RuledFaults([fault])
    lists.search(result("a-lab/a"))
    out = lists.folder / "out.csv"
    before = out.read_bytes()
    emulator.fault = None
    _, after = lists.search(result("a-lab/a"))
    for left in (before, None):
        out.write_bytes(left) if left else out.unlink()
        assert lists.search(result("a-lab/a"))[1] == after
