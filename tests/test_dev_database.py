"""The script dev_database: a database up, filled and down again by one word each."""

from __future__ import annotations

import json

import psycopg
import pytest

from eval_databases import folder_for_all
from scripts_in_process import Script


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
    assert script.answer("load", file)["problems"][0]["code"] == "row-refused"
    assert script.answer("down")["data"] == {"folder": str(folder), "stopped": True}
    assert script.answer("down")["data"] == {"folder": str(folder), "stopped": False}


def test_what_does_not_run_is_told_how_to(script):
    folder = script.always[1]
    for words in (("url",), ("load", "rows.json")):
        answer = script.answer(*words)
        assert answer["exit"] == 3
        (problem,) = answer["problems"]
        assert (problem["code"], problem["found"]) == ("not-running", "no database runs there")
        assert problem["fix"].endswith(f"scripts/database/dev_database.py up --folder {folder}")


@pytest.mark.parametrize(
    ("words", "found"), [(("load",), "missing"), (("up", "rows.json"), "rows.json"), (("url", "x"), "x")]
)
def test_a_file_is_for_load_alone(script, words, found):
    answer = script.answer(*words)
    assert answer["exit"] == 2
    assert (answer["problems"][0]["where"], answer["problems"][0]["found"]) == ("FILE", found)
