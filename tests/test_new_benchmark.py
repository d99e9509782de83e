"""The first command a user types, and the run script that it writes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.cli import run_script
from scripts_in_process import load

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "new_benchmark.py"


def words_for(folder: Path, words: tuple[str, ...]) -> list[str]:
    return [*words, "--workspace", str(folder / "w s"), "--script-dir", str(folder / "scripts here")]


def new_benchmark(capsys, folder: Path, *words: str) -> tuple[int, str]:
    """The command's exit code and stdout, without a process of its own."""
    module = load(SCRIPT)
    code = run_script(module.build_parser(), module.new_benchmark, words_for(folder, words))
    return code, capsys.readouterr().out


def take(capsys, script: Path, *words: str) -> tuple[int, dict]:
    """One step of a run script."""
    module = load(script)
    code = run_script(module.build_parser(), module.main, [*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new")
    words = ("KNN", "--arena", "mini", "--name", "knn_1", "--json", "--handoff", str(folder / "sheet.md"))
    command = [sys.executable, str(SCRIPT), *words_for(folder, words)]
    return folder, subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_prints_the_plan_it_took_and_why(made):
    folder, done = made
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["ok"], answer["problems"]) == (0, True, [])
    plan, why = answer["data"]["plan"], answer["data"]["why"]
    assert (plan["model"], plan["key"], plan["num_configs"], plan["arena"]) == ("KNeighbors", "knn", "all", "mini")
    assert plan["workspace"] == str(folder / "w s")
    assert why["scheduler"] == "the mini arena runs here"
    assert why.keys() == plan.keys()
    assert answer["data"]["items"] == 27 * 201


def test_the_commands_it_names_run_from_a_path_with_spaces(made):
    _, done = made
    commands = json.loads(done.stdout)["next"]
    assert [command.rpartition(" ")[2] for command in commands] == ["smoke", "setup", "run", "eval"]
    shown = subprocess.run(f"{commands[0]} --help", shell=True, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "Benchmark KNeighbors on Mini arena." in shown.stdout


def test_the_hand_off_sheet_holds_the_same_commands(made):
    folder, done = made
    sheet = (folder / "sheet.md").read_text()
    assert sheet.startswith("# Benchmark KNeighbors on Mini arena\n")
    assert all(command in sheet.splitlines() for command in json.loads(done.stdout)["next"])
    assert "- fits: 5,427" in sheet


def test_a_run_script_that_differs_is_kept_unless_forced(made, capsys):
    folder, _ = made
    script = folder / "scripts here" / "run_knn.py"
    before = script.read_text()
    again = ("KNN", "--arena", "mini", "--name")
    assert new_benchmark(capsys, folder, *again, "knn_2") == (
        5,
        f"{script}: a different run script, expected none\n    fix: add --force to replace it\n",
    )
    assert script.read_text() == before
    assert new_benchmark(capsys, folder, *again, "knn_1")[0] == 0
    assert new_benchmark(capsys, folder, *again, "knn_2", "--force")[0] == 0
    assert 'BENCHMARK_NAME = "knn_2"' in script.read_text()


def test_people_read_each_value_with_its_reason(capsys, tmp_path):
    code, out = new_benchmark(capsys, tmp_path, "TabM", "--partition", "gpurtxpro6000flex")
    assert code == 0
    assert out.startswith(f"wrote {tmp_path}/scripts here/run_tabm.py: 164,016 fits, each one config on one split\n")
    reason = "(a GPU model; the memory of gpurtxpro6000flex's RTX PRO 6000)"
    assert f'  resources                    {{"num_gpus": 1, "fake_memory_for_estimates": 96}} {reason}\n' in out
    assert '  arena                        "tabarena" (default)\n' in out
    assert len(out.splitlines()) <= 40


def test_a_plan_for_a_cluster_is_made_anywhere_and_set_up_on_its_head_node(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    sheet = tmp_path / "sheet.md"
    code, out = new_benchmark(capsys, tmp_path, "CatBoost", "--json", "--handoff", str(sheet))
    answer = json.loads(out)
    assert code == 0
    assert [problem["code"] for problem in answer["problems"]] == ["not-a-head-node"]
    assert [command.rpartition(" ")[2] for command in answer["next"]] == ["smoke", "setup"], "eval comes after a launch"
    follows = "setup prints what follows it: the commands that launch the fits, that watch them, that evaluate"
    assert follows in answer["data"]["notes"]
    assert f"- {follows}\n" in sheet.read_text()
    assert "- sbatch takes every command that setup printed; slurm_progress.sh says DONE" in sheet.read_text()
    code, answer = take(capsys, tmp_path / "scripts here" / "run_catboost.py", "setup")
    assert (code, answer["problems"][0]["code"]) == (3, "not-a-head-node")
    assert answer["problems"][0]["fix"].startswith("run setup on the head node; or setup --scheduler local; or ")


def test_a_gpu_model_without_its_cards_memory_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    code, out = new_benchmark(capsys, tmp_path, "TabM", "--scheduler", "local", "--json")
    assert (code, [problem["code"] for problem in json.loads(out)["problems"]]) == (2, ["no-gpu-memory"])
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_model_is_refused_with_close_names(capsys, tmp_path):
    assert new_benchmark(capsys, tmp_path, "XGBost", "--arena", "mini") == (
        2,
        "model: no model is called 'XGBost'\n    fix: did you mean 'XGBoost'?\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_everything_wrong_is_said_at_once(capsys, tmp_path):
    wrong = ("XGBost", "--configs", "many", "--subset", "lit", "--name", "a/b", "--json")
    code, out = new_benchmark(capsys, tmp_path, *wrong)
    where = [problem["where"] for problem in json.loads(out)["problems"]]
    assert (code, where) == (2, ["model", "--configs", "subset 'lit'", "benchmark_name"])


def test_the_template_itself_is_no_script(capsys):
    module = load(SCRIPT)
    for step in ("smoke", "setup", "run", "eval"):
        code, answer = take(capsys, module.TEMPLATE, step)
        assert (code, {problem["code"] for problem in answer["problems"]}) == (2, {"unfilled-marker"})


@pytest.mark.slow
def test_a_filled_script_goes_from_setup_to_the_report(capsys, tmp_path):
    scope = ("--configs", "0", "--subset", "lite", "--subset", "regression")
    assert new_benchmark(capsys, tmp_path, "KNN", "--arena", "mini", "--name", "knn", *scope)[0] == 0
    script = tmp_path / "scripts here" / "run_knn.py"
    sheet = tmp_path / "sheet.md"
    assert take(capsys, script, "eval", "--handoff", str(sheet))[0] == 2
    code, answer = take(capsys, script, "setup", "--handoff", str(sheet))
    assert (code, answer["data"]["approved"]) == (0, 3)
    command = shlex.join([sys.executable, str(script)])
    steps = "\n".join(f"{command} {step}" for step in ("run", "eval"))
    assert f"## Run, in this order\n\n```bash\n{steps}" in sheet.read_text()
    assert answer["next"] == [f"{command} run"]
    code, answer = take(capsys, script, "run", "--parallel", "2")
    assert (code, answer["data"]["ok"], answer["data"]["left"]) == (0, 3, 0)
    code, answer = take(capsys, script, "eval")
    assert code == 0
    output = script.parent / "eval_output" / "knn"
    assert "KNN [Rerun]" in (output / "report.md").read_text()
    figures = {
        path.suffix for path in (output / "subsets" / "lite_regression").glob("pareto_front_elo_vs_time_train.*")
    }
    assert figures == {".pdf", ".png"}


def test_smoke_ends_with_the_next_step(capsys, tmp_path):
    assert new_benchmark(capsys, tmp_path, "KNN", "--arena", "mini")[0] == 0
    script = tmp_path / "scripts here" / "run_knn.py"
    code, answer = take(capsys, script, "smoke")
    assert (code, answer["data"]["model"]) == (0, "KNeighbors")
    assert answer["next"] == [shlex.join([sys.executable, str(script), "setup"])]
