"""The golden template, filled for real models of the registry."""

from __future__ import annotations

import ast
import datetime
import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchwright.bridge import model_info, model_infos
from benchwright.contract import Exit, Failure
from benchwright.launch.cards import Cards
from benchwright.launch.choices import Request, choose
from benchwright.launch.remarks import script_notes
from benchwright.launch.scaffold import fill, markers, require_filled, write_run_script

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = (ROOT / ".agents/skills/benchmark-model/references/run_benchmark_template.py").read_text()
DAY = datetime.date(2026, 6, 26)


def choices(model="XGBoost", **wishes):
    wishes = {"workspace": Path("/w s"), "python_path": "/p", "arena": "tabarena", "scheduler": "local"} | wishes
    if model_info(model).compute == "gpu":
        wishes.setdefault("fake_memory_for_estimates", 96)
    return choose(Request(model, **wishes), cards=Cards(), today=DAY)


def filled(model="XGBoost", **wishes) -> str:
    chosen = choices(model, **wishes)
    notes = script_notes(model_info(chosen.model), chosen)
    return fill(TEMPLATE, chosen, title="TabArena-v0.1", notes=notes)


def identities(source: str) -> dict:
    """The literal assignments at the top of a run script."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def loaded(source: str, folder: Path):
    script = folder / "run_x.py"
    script.write_text(source)
    spec = importlib.util.spec_from_file_location("filled_run_script", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def body_of(source: str, function: str) -> str:
    (found,) = [node for node in ast.parse(source).body if getattr(node, "name", "") == function]
    return ast.unparse(found)


def test_the_identities_are_at_the_top_once():
    assert identities(filled()) == {
        "BENCHMARK_NAME": "xgboost_26062026",
        "WORKSPACE": "/w s",
        "PYTHON_PATH": "/p",
        "ARENA": "tabarena",
        "MODEL": "XGBoost",
        "NUM_CONFIGS": "all",
        "SMOKE_EXTRA_HYPERPARAMETERS": {},
        "SUBSET": [],
        "EVAL_SUBSETS": [[], ["binary"], ["multiclass"], ["regression"]],
        "RESULT_SUFFIX": " [Rerun]",
        "SCHEDULER": "local",
        "STORE": "",
        "ACCELERATORS": "",
    }


def test_a_cpu_models_script_has_no_resources_and_its_partition():
    setup = body_of(filled(scheduler="slurm", partition="cpun416mtspotinteractive"), "setup")
    assert "SlurmSetup(cpu_partition='cpun416mtspotinteractive', exclusive_node=True, bundle_size=2)" in setup
    assert "ModelJob(models=(MODEL, NUM_CONFIGS), name='cpu')" in setup


def test_a_gpu_models_script_has_its_cards_memory():
    setup = body_of(filled("TabM", fake_memory_for_estimates=40), "setup")
    assert "SlurmSetup(bundle_size=5)" in setup
    resources = "resources={'num_gpus': 1, 'fake_memory_for_estimates': 40}"
    assert f"ModelJob(models=(MODEL, NUM_CONFIGS), name='gpu', {resources})" in setup


def test_the_body_of_setup_is_the_whole_plan():
    """It is what the benchmark log records: nothing but literals, the identities and the command line."""
    (setup,) = [node for node in ast.parse(filled("TabM")).body if getattr(node, "name", "") == "setup"]
    (plan,) = [
        node.value for node in setup.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "plan"
    ]
    known = set(identities(filled("TabM"))) | {"args", "schedulers", "Path"}
    imported = {alias.name for node in setup.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {node.id for node in ast.walk(plan) if isinstance(node, ast.Name)} <= known | imported


def test_the_evaluation_writes_both_formats_and_boxes_the_new_model():
    evaluation = body_of(filled(), "evaluate")
    assert "figure_file_type=('pdf', 'png')" in evaluation
    assert "pareto_focus_new_methods=True" in evaluation


def test_the_docstring_says_what_holds_for_the_model():
    docstring = ast.get_docstring(ast.parse(filled("TabSTAR")))
    assert docstring.startswith("Benchmark TabSTAR on TabArena-v0.1.\n")
    for note in (
        "planned by fake_memory_for_estimates",
        "eight folds run side by side",
        "setup step fetches its weights",
        "needs tabstar.",
    ):
        assert note in " ".join(docstring.split())
    assert "It fits regression alone." in " ".join(ast.get_docstring(ast.parse(filled("Nori"))).split())


def test_the_docstring_of_a_plain_model_has_no_gap():
    assert "landed\n\nThe identities below" in filled()


def test_a_filled_script_has_no_marker_and_no_guidance():
    source = filled("TabM")
    assert markers(source) == []
    assert "EDIT" not in source


@pytest.mark.parametrize("model", ["XGBoost", "TabM", "Nori", "TabICLv2"], ids=["cpu", "gpu", "regression", "weights"])
def test_a_filled_script_can_be_imported(model, tmp_path):
    module = loaded(filled(model), tmp_path)
    assert module.build_parser().parse_args(["setup"]).scheduler == "local"
    assert list(module.STEPS) == ["smoke", "setup", "run", "eval"]


def test_every_models_script_passes_the_projects_own_lint(tmp_path):
    too_long_for_a_line = Path("/".join(["", *["a folder of its own"] * 6]))
    for info in model_infos():
        source = filled(info.name, workspace=too_long_for_a_line, subset=["lite"])
        (tmp_path / f"run_{info.name}.py").write_text(source)
    # As pyproject.toml has it for tmp_scripts/, which this folder is not.
    allowed = ["--config", 'lint.per-file-ignores={"*"=["PLC0415", "T20", "E402"]}']
    settings = ["--no-cache", "--config", str(ROOT / "pyproject.toml"), *allowed]
    for command in (["check"], ["format", "--check"]):
        words = [sys.executable, "-m", "ruff", *command, *settings, str(tmp_path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_marker_that_nobody_knows_is_a_mistake_of_the_template():
    with pytest.raises(ValueError, match="colour"):
        fill(TEMPLATE + 'X = "<colour>"\n', choices(), title="x")


def test_an_unfilled_template_names_every_line(tmp_path):
    script = tmp_path / "run_x.py"
    script.write_text(filled().replace('"XGBoost"', '"<model>"').replace("TabArena-v0.1.", "<title>."))
    with pytest.raises(Failure) as caught:
        require_filled(script)
    assert caught.value.exit == Exit.USAGE
    line = script.read_text().splitlines().index('MODEL = "<model>"') + 1
    assert str(caught.value) == (
        f"{script}:1: the marker <title> is not filled, expected a value\n"
        "    fix: scripts/new_benchmark.py MODEL fills every marker, or write the value there\n"
        f"{script}:{line}: the marker <model> is not filled, expected a value\n"
        "    fix: scripts/new_benchmark.py MODEL fills every marker, or write the value there"
    )


def test_the_template_itself_is_refused(tmp_path):
    script = tmp_path / "run_x.py"
    script.write_text(TEMPLATE)
    with pytest.raises(Failure) as caught:
        require_filled(script)
    names = {problem.found for problem in caught.value.problems}
    assert {"the marker <workspace> is not filled", "the marker <notes> is not filled"} <= names


def test_no_value_breaks_the_script():
    odd = replace(choices(), workspace='/it\'s "odd"  # EDIT', python_path="/p\\y")
    found = identities(fill(TEMPLATE, odd, title="x"))
    assert (found["WORKSPACE"], found["PYTHON_PATH"]) == ('/it\'s "odd"  # EDIT', "/p\\y")


def test_a_script_that_differs_is_kept(tmp_path):
    script = tmp_path / "new" / "run_x.py"
    write_run_script(script, "a\n")
    write_run_script(script, "a\n")
    with pytest.raises(Failure) as caught:
        write_run_script(script, "b\n")
    assert (caught.value.exit, script.read_text()) == (Exit.REFUSED, "a\n")
    write_run_script(script, "b\n", force=True)
    assert script.read_text() == "b\n"


@pytest.mark.parametrize("place", ["a file/run_x.py", "a folder"])
def test_a_place_that_cannot_hold_a_script_is_wrong_usage(tmp_path, place):
    (tmp_path / "a file").write_text("")
    (tmp_path / "a folder").mkdir()
    with pytest.raises(Failure, match="--script-dir") as caught:
        write_run_script(tmp_path / place, "a\n", force=True)
    assert caught.value.exit == Exit.USAGE
