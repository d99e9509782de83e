"""The script dev_database: a database up, filled and down again by one word each."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from eval_databases import folder_for_all
from scripts_in_process import SCRIPTS, Script, load

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def script(capsys, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://never-used.invalid/x")
    with folder_for_all() as folder:
        one = Script.named("database/dev_database", capsys, "--folder", folder / "db")
        yield one
        one.run("down")


def test_up_load_url_down(script, tmp_path):
    folder = script.always[1]
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"benchmarks": [{"name": "b"}, {"name": "c"}], "agents": []}))
    up = script.answer("up")
    assert (up["exit"], up["data"]["started"], up["data"]["tables_made"]) == (0, True, True)
    assert up["next"] == [f"export DATABASE_URL='{up['data']['url']}'"]
    assert script.run("url") == (0, [up["data"]["url"]])
    assert script.run("up")[1][0] == f"was running: {folder}"
    assert script.run("load", file) == (0, ["rows put in: 2 of benchmarks"])
    with psycopg.connect(up["data"]["url"]) as connection:
        assert connection.execute("SELECT count(*) FROM benchmarks").fetchone() == (2,)
    (refused,) = script.answer("load", file)["problems"]
    assert (refused["code"], refused["fix"]) == (
        "row-refused",
        "correct the file; rows that are there already stay as they are: leave them out",
    )
    assert script.answer("down")["data"] == {"folder": str(folder), "stopped": True}
    assert script.answer("down")["data"] == {"folder": str(folder), "stopped": False}


def test_rows_to_begin_with_are_of_the_genuine_runs(script, capsys, monkeypatch, tmp_path):
    jobs = ROOT / "tests" / "data" / "harbor_jobs"
    rows = ROOT / ".agents" / "skills" / "eval-agentic-cleanup" / "assets" / "rehearsal_rows.json"
    for row in json.loads(rows.read_text())["sandbox_jobs"]:
        aggregate = json.loads((jobs / row["job_name"] / "result.json").read_text())
        assert (row["id"], row["stats"]) == (aggregate["id"], aggregate["stats"])
    monkeypatch.setenv("DATABASE_URL", script.answer("up")["data"]["url"])
    monkeypatch.setenv("BENCHWRIGHT_OWNERS", "ada")
    assert script.run("load", rows)[0] == 0
    audit = Script.named("eval/audit_evals", capsys, "--jobs-root", jobs, "--no-hub", "--no-cache", "--no-slurm")
    evals = {one["run_tag"]: one for one in audit.answer()["data"]["evals"]}
    own, other = evals["eval-tiny_bench-oracle-20260901_120000"], evals["eval-tiny_bench-sigint-20260901_125000"]
    assert (own["verdict"], other["verdict"]) == ("DEREGISTER+RESUME", "STOP")
    assert [row["issues"] for row in own["rows"]] == [["numeric-model"]]
    assert "grace" in other["why"]


def test_what_does_not_run_is_told_how_to(script):
    folder = script.always[1]
    for words in (("url",), ("load", "rows.json")):
        answer = script.answer(*words)
        assert answer["exit"] == 3
        (problem,) = answer["problems"]
        assert (problem["code"], problem["found"]) == ("not-running", "no database runs there")
        assert problem["fix"].endswith(f"scripts/database/dev_database.py up --folder {folder}")


def test_the_file_may_come_before_the_options_and_after_them():
    parser = load(SCRIPTS / "database" / "dev_database.py").build_parser()
    words = [("load", "rows.json"), ("--folder", "db")]
    for order in (("load", *words[1], "rows.json"), (*words[0], *words[1]), (*words[1], *words[0])):
        args = parser.parse_args(order)
        assert (args.action, str(args.file), str(args.folder)) == ("load", "rows.json", "db")


@pytest.mark.parametrize(
    ("words", "found"), [(("load",), "missing"), (("up", "rows.json"), "rows.json"), (("url", "x"), "x")]
)
def test_a_file_is_for_load_alone(script, words, found):
    answer = script.answer(*words)
    assert answer["exit"] == 2
    assert (answer["problems"][0]["where"], answer["problems"][0]["found"]) == ("FILE", found)
