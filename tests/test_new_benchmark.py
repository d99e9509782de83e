"""The first command a user types, as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "new_benchmark.py"


def new_benchmark(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    places = ["--workspace", str(folder / "w s"), "--script-dir", str(folder / "scripts here")]
    command = [sys.executable, str(SCRIPT), *words, "--arena", "mini", *places]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new")
    return folder, new_benchmark(folder, "KNN", "--name", "knn_1", "--json", "--handoff", str(folder / "sheet.md"))


def test_it_prints_the_plan_it_took(made):
    folder, done = made
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["ok"], answer["problems"]) == (0, True, [])
    plan = answer["data"]["plan"]
    assert (plan["model"], plan["key"], plan["num_configs"], plan["arena"]) == ("KNeighbors", "knn", "all", "mini")
    assert plan["workspace"] == str(folder / "w s")


def test_the_commands_it_names_run_from_a_path_with_spaces(made):
    _, done = made
    for command in json.loads(done.stdout)["next"]:
        shown = subprocess.run(f"{command} --help", shell=True, capture_output=True, text=True, check=False)
        assert shown.returncode == 0, shown.stderr


def test_the_hand_off_sheet_holds_the_same_commands(made):
    folder, done = made
    sheet = (folder / "sheet.md").read_text()
    assert sheet.startswith("# Benchmark KNeighbors on mini\n")
    assert all(command in sheet.splitlines() for command in json.loads(done.stdout)["next"])


def test_a_run_script_that_differs_is_kept_unless_forced(made):
    folder, _ = made
    script = folder / "scripts here" / "run_knn.py"
    before = script.read_text()
    refused = new_benchmark(folder, "KNN", "--name", "knn_2")
    assert (refused.returncode, script.read_text()) == (5, before)
    assert refused.stdout == f"{script}: a different run script, expected none\n    fix: add --force to replace it\n"
    assert new_benchmark(folder, "KNN", "--name", "knn_1").returncode == 0
    assert new_benchmark(folder, "KNN", "--name", "knn_2", "--force").returncode == 0
    assert 'BENCHMARK_NAME = "knn_2"' in script.read_text()


def test_an_unknown_model_is_refused_with_close_names(tmp_path):
    done = new_benchmark(tmp_path, "XGBost")
    assert done.returncode == 2
    assert done.stdout == "model: no model is called 'XGBost'\n    fix: did you mean 'XGBoost'?\n"
    assert list(tmp_path.iterdir()) == []
