"""The command on real runs: an entry for what new_benchmark.py wrote, dry by default, and once."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.arena.benchmark_log import BenchmarkLog
from benchwright.cli import Shell, run_script
from run_scripts import free_names
from scripts_in_process import SCRIPTS, Script, load

SCRIPT = SCRIPTS / "log_run.py"
DRY = "DRY RUN: nothing written"
BARE_PYTHON = [getattr(sys, "_base_executable", sys.executable), "-S", "-E"]
RUN_SCRIPT = '''"""Benchmark A."""

from launcher import Plan

BENCHMARK_NAME = "{name}"
WORKSPACE = "{workspace}"


def setup():
    Plan(BENCHMARK_NAME, path=WORKSPACE).setup_jobs()
'''
OLD = "# Runs\n\n---\n\n## 2029-12-31 — older\n\n- text\n"


def run_script_of(folder: Path, name: str = "demo") -> Path:
    """A run script, with a result in its workspace."""
    path = folder / f"run_{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RUN_SCRIPT.format(name=name, workspace=folder))
    result = folder / "output" / name / "data" / "A_c1" / "iris" / "0_0" / "results.pkl"
    result.parent.mkdir(parents=True)
    result.write_bytes(b"")
    os.utime(result, (1_893_456_000, 1_893_456_000))
    return path


def filled(capsys, folder: Path, model: str, *words: str) -> Path:
    """The golden template, filled for one model on the mini arena."""
    places = ("--arena", "mini", "--workspace", folder / "w s", "--script-dir", folder / "scripts")
    code, _ = Script.named("new_benchmark", capsys, *places).run(model, *words)
    assert code == 0
    return folder / "scripts" / f"run_{model.lower()}.py"


def take(capsys, script: Path, *words: str) -> None:
    """A step of a run script."""
    module = load(script)
    code = run_script(module.build_parser(), module.main, list(words))
    assert code == 0, capsys.readouterr().out
    capsys.readouterr()


def plan_in(entry: str) -> str:
    """The Python of an entry."""
    (plan,) = re.findall(r"^```python\n(.*?)^```$", entry, re.M | re.S)
    return plan


def bullet(entry: str, name: str) -> str:
    """A bullet's text on one line."""
    (text,) = re.findall(rf"^- \*\*{re.escape(name)}:\*\* (.*\n(?:  .*\n)*)", entry, re.M)
    return " ".join(text.split())


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a log.md"
    path.write_text(OLD)
    return path


@pytest.fixture
def answer(capsys):
    """The envelope of a call in this process."""
    return Script.named("log_run", capsys).answer


def test_a_dry_run_shows_the_entry_and_the_command_that_writes_it(log, tmp_path):
    run_script_of(tmp_path / "w s")
    words = ["--run-script", "w s/run_demo.py", "--log", log.name, "--note", "it's new", "--fix", "more memory"]
    done = subprocess.run([*BARE_PYTHON, str(SCRIPT), *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == f"{DRY}; {log}:5: entry of demo to be written"
    assert lines[-1] == DRY
    assert "- **Notes:** it's new" in lines
    assert f'Plan("demo", path="{tmp_path}/w s").setup_jobs()' in lines
    assert log.read_text() == OLD

    command = lines[lines.index("next:") + 1].strip()
    written = subprocess.run(shlex.split(command), cwd="/", capture_output=True, text=True, check=True)
    assert written.stdout.splitlines()[0] == f"{log}:5: entry of demo written"
    assert DRY not in written.stdout
    entry = "\n".join(lines[1 : lines.index("```", 2) + 1])
    assert log.read_text() == OLD.replace("## 2029", f"{entry}\n\n---\n\n## 2029")


def test_a_second_call_changes_nothing_and_says_where_the_entry_is(log, tmp_path, answer):
    words = ("--run-script", run_script_of(tmp_path), "--log", log)
    outcomes = [answer(*words, *more) for more in ([], ["--apply"], ["--apply"], [])]
    assert [(one["exit"], one["data"]["applied"], one["data"]["written"]) for one in outcomes] == [
        (0, False, False), (0, True, True), (0, True, False), (0, False, False),
    ]  # fmt: skip
    assert outcomes[2]["summary"] == f"{log}:5: demo has its entry already"
    assert outcomes[3]["summary"] == f"{DRY}; {log}:5: demo has its entry already"
    assert (outcomes[3]["data"]["entry"], outcomes[3]["next"]) == (None, [])
    assert [heading.benchmark for heading in BenchmarkLog(log.read_bytes(), "").headings] == ["demo", "older"]


def test_an_entry_is_completed_after_its_diff_was_shown(log, tmp_path, answer):
    words = ("--run-script", run_script_of(tmp_path), "--log", log)
    answer(*words, "--apply")
    before = log.read_text()
    shown = answer(*words, "--suite", "runs-2030")
    assert shown["summary"] == f"{DRY}; {log}:5: entry of demo to be completed: Artifacts"
    assert (shown["data"]["entry"], shown["data"]["completes"]) == (None, ["Artifacts"])
    assert shown["data"]["diff"].splitlines()[:2] == ["--- a/a log.md", "+++ b/a log.md"]
    assert "+- **Artifacts:** suite `runs-2030`" in shown["data"]["diff"].splitlines()
    assert log.read_text() == before
    (command,) = shown["next"]
    written = subprocess.run(shlex.split(command), cwd="/", capture_output=True, text=True, check=True)
    assert written.stdout.splitlines()[0] == f"{log}:5: entry of demo completed: Artifacts"
    assert log.read_text() == before.replace("\n\n```python", "\n- **Artifacts:** suite `runs-2030`\n\n```python")
    assert answer(*words, "--suite", "runs-2030", "--apply")["data"]["written"] is False


def test_the_json_holds_the_entry_and_how_the_commit_is_known(log, tmp_path, answer):
    envelope = answer("--run-script", run_script_of(tmp_path), "--log", log)
    data = envelope["data"]
    assert data["entry"].startswith("## 2030-01-01 — demo\n")
    assert (data["benchmark"], data["line"], data["git"]["sha"], data["set_ups"]) == ("demo", 5, None, [])
    assert data["git"]["how"] == f"no plan record, and {tmp_path.name} has no reflog"
    assert [problem["code"] for problem in envelope["problems"]] == ["unknown-commit"]


def test_what_is_wrong_comes_at_once(tmp_path, answer):
    envelope = answer("--run-script", tmp_path / "run_x.py", "--log", tmp_path, "--date", "today")
    assert envelope["exit"] == 2
    assert [(problem["where"], problem["found"]) for problem in envelope["problems"]] == [
        ("--date", "'today'"),
        (str(tmp_path / "run_x.py"), "no such file or directory"),
        (str(tmp_path), "is a directory"),
    ]


def test_the_filled_template_has_an_entry_whose_plan_stands_alone(log, tmp_path, answer, capsys):
    script = filled(capsys, tmp_path, "XGBoost", "--name", "xgb_1", "--configs", "25")
    entry = answer("--run-script", script, "--log", log, "--date", "2030-01-31")["data"]["entry"]
    assert entry.startswith("## 2030-01-31 — xgb_1\n\n- **Model(s):** XGBoost (default config and 25 random)\n")
    assert bullet(entry, "Purpose") == "Benchmark XGBoost on Mini arena."
    assert bullet(entry, "Notes") == "none"
    plan = plan_in(entry)
    compile(plan, "plan", "exec")
    assert free_names(plan) == set()
    assert all(
        name not in plan for name in ("BENCHMARK_NAME", "WORKSPACE", "PYTHON_PATH", "MODEL", "NUM_CONFIGS", "ARENA")
    )
    assert 'benchmark_name="xgb_1"' in plan
    assert f'workspace=Path("{tmp_path}/w s")' in plan


def test_a_models_own_notes_come_with_the_template(log, tmp_path, answer, capsys):
    script = filled(capsys, tmp_path, "EBM", "--configs", "0")
    entry = answer("--run-script", script, "--log", log, "--date", "2030-01-31")["data"]["entry"]
    assert bullet(entry, "Notes").startswith("Beyond the base installation it needs ")


@pytest.mark.slow
def test_a_real_run_is_logged(log, tmp_path, answer, capsys):
    scope = ("--configs", "0", "--subset", "lite", "--subset", "regression")
    script = filled(capsys, tmp_path, "KNN", "--name", "knn_1", *scope)
    take(capsys, script, "setup")
    take(capsys, script, "run", "--parallel", "2")
    take(capsys, script, "setup")  # as everyone does, to see that nothing is missing
    entry = answer("--run-script", script, "--log", log, "--apply")["data"]["entry"]
    assert entry in log.read_text()
    assert bullet(entry, "Model(s)") == "KNeighbors (default config) on mini; 1 config, 3 tasks, 3 items"
    assert bullet(entry, "Infrastructure").endswith(", 2 items side by side")
    assert bullet(entry, "Arguments") == (
        "parallel `1`, scheduler `local`, by the plan record; not recorded: accelerators, step, store"
    )
    assert bullet(entry, "Results") == "3 of 3 items have a result file"
    assert bullet(entry, "Failures") == "none in the event logs"
    assert re.fullmatch(r"0:0\d:\d\d from the first event or result, .*", bullet(entry, "Wall time"))
    assert "tabarena 0.1.0" in bullet(entry, "Packages")
    said = r"by the record of set-up [0-9a-f]{8}, .{23}; (with|no) local changes\)$|names no checkout"
    assert re.search(said, bullet(entry, "Git SHA"))
    assert bullet(entry, "Validation protocol") == "`8x1`, as the arena `mini` requires by the plan record"

    names = {"__name__": "the_plan_of_the_log", "__file__": str(script)}
    exec(compile(plan_in(entry), "plan", "exec"), names)
    args = argparse.Namespace(step="setup", scheduler="local", parallel=1, store="", accelerators="", handoff=None)
    outcome = names["setup"](args, Shell(args))
    assert (outcome.data["cached"], outcome.data["total"]) == (3, 3)
