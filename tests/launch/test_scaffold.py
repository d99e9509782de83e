from __future__ import annotations

import ast
import datetime
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.arena import MethodMetadata, ModelInfo
from benchwright.bridge import open_arena
from benchwright.contract import Exit, Failure
from benchwright.launch.scaffold import choose, fill, markers, parse_configs, require_filled

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = (ROOT / ".agents/skills/benchmark-model/references/run_benchmark_template.py").read_text()
SPEC = open_arena("mini").spec


def info(**changes) -> ModelInfo:
    facts = {
        "name": "XGBoost",
        "key": "xgboost",
        "display_name": "XGBoost",
        "ag_name": "XGBoost",
        "compute": "cpu",
        "problem_types": ("binary", "multiclass", "regression"),
        "has_search_space": True,
        "pip_extra": (),
        "prefetches_weights": False,
        "estimates_memory": True,
        "reads_num_gpus": False,
        "superseded": False,
        "metadata": MethodMetadata.config(method="XGBoost", ag_key="XGB", config_default="XGBoost_c1_BAG_L1"),
    }
    return ModelInfo(**(facts | changes))


def choices(model=None, **options):
    options = {"workspace": Path("/w s"), "python_path": "/p", "today": datetime.date(2026, 6, 26)} | options
    return choose(info() if model is None else model, SPEC, **options)


def identities(source: str) -> dict:
    """The literal assignments at the top of a run script."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                if isinstance(node.value, ast.Call) and node.value.args:
                    found[node.targets[0].id] = ast.literal_eval(node.value.args[0])
    return found


def test_the_defaults_are_the_benchmark_protocol():
    filled = identities(fill(TEMPLATE, choices()))
    assert filled == {
        "BENCHMARK_NAME": "xgboost_26062026",
        "MODEL": "XGBoost",
        "NUM_CONFIGS": "all",
        "ARENA": "mini",
        "SUBSET": [],
        "EVAL_SUBSETS": [[], ["binary"], ["multiclass"], ["regression"]],
        "JOB_NAME": "cpu",
        "RESOURCES": {},
        "RESULT_SUFFIX": "",
        "WORKSPACE": "/w s",
        "PYTHON_PATH": "/p",
    }


def test_a_filled_script_has_no_marker_and_no_guidance():
    source = fill(TEMPLATE, choices())
    assert markers(source) == []
    assert "# EDIT" not in source
    compile(source, "run_xgboost.py", "exec")


@pytest.mark.parametrize("compute", ["cpu", "gpu"])
def test_a_filled_script_passes_the_projects_own_lint(compute):
    chosen = choices(info(compute=compute), fake_memory_for_estimates=96 if compute == "gpu" else None)
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "tmp_scripts/run_xgboost.py", "-"]
        done = subprocess.run(ruff, cwd=ROOT, input=fill(TEMPLATE, chosen), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_regression_model_is_run_and_evaluated_on_regression():
    filled = identities(fill(TEMPLATE, choices(info(problem_types=("regression",)), subset=["lite"])))
    assert (filled["SUBSET"], filled["EVAL_SUBSETS"]) == (["lite", "regression"], [["regression"]])


def test_a_classification_model_is_run_on_both_kinds():
    filled = identities(fill(TEMPLATE, choices(info(problem_types=("binary", "multiclass")))))
    assert (filled["SUBSET"], filled["EVAL_SUBSETS"]) == (["binary|multiclass"], [["binary|multiclass"]])


def test_a_model_that_the_arena_has_results_of_is_a_rerun():
    assert choices(hosted=["XGBoost", "LightGBM"]).result_suffix == " [Rerun]"


def test_a_model_without_search_space_runs_its_default():
    assert choices(info(has_search_space=False)).num_configs == 0


def test_a_gpu_model_needs_its_cards_memory():
    with pytest.raises(Failure) as caught:
        choices(info(compute="gpu", name="TabM"))
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        "--fake-memory-for-estimates: nothing given, and TabM is a GPU model, expected the card's memory in GB, "
        "so that parallel folds are planned by it and not by the machine's RAM"
    )
    chosen = choices(info(compute="gpu"), fake_memory_for_estimates=96)
    assert (chosen.job_name, chosen.resources) == ("gpu", {"num_gpus": 1, "fake_memory_for_estimates": 96})


def test_a_cpu_model_must_not_have_it():
    with pytest.raises(Failure, match="which runs on the CPU"):
        choices(fake_memory_for_estimates=96)


def test_all_wrong_values_are_named_at_once():
    with pytest.raises(Failure) as caught:
        choices(info(compute="gpu", has_search_space=False), configs=5)
    assert [problem.code for problem in caught.value.problems] == ["no-search-space", "no-gpu-memory"]


@pytest.mark.parametrize("name", ["../evil", "a b"])
def test_a_name_that_is_no_file_name_is_refused(name):
    with pytest.raises(Failure, match="letters, digits"):
        choices(name=name)


def test_an_unknown_subset_is_refused():
    with pytest.raises(Failure) as caught:
        choices(subset=["lit"])
    assert caught.value.exit == Exit.USAGE
    assert "lite" in str(caught.value)


@pytest.mark.parametrize(("text", "value"), [("all", "all"), ("0", 0), ("25", 25)])
def test_configs_are_all_or_a_number(text, value):
    assert parse_configs(text) == value


@pytest.mark.parametrize("text", ["-1", "1.5", "ALL", ""])
def test_other_configs_are_refused(text):
    with pytest.raises(Failure, match="all, 0 or a number"):
        parse_configs(text)


def test_an_unfilled_template_names_every_line(tmp_path):
    script = tmp_path / "run_x.py"
    script.write_text(fill(TEMPLATE, choices()).replace('"XGBoost"', '"<model>"').replace('"mini"', '"<arena>"'))
    with pytest.raises(Failure) as caught:
        require_filled(script)
    assert caught.value.exit == Exit.USAGE
    lines = script.read_text().splitlines()
    model, arena = (lines.index(f'{name} = "<{name.lower()}>"') + 1 for name in ("MODEL", "ARENA"))
    assert str(caught.value).splitlines()[0] == f"{script}:{model}: the marker <model> is not filled, expected a value"
    assert caught.value.problems[1].where == f"{script}:{arena}"
