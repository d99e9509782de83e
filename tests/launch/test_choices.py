"""The defaults of a benchmark, taken for real models of the registry."""

from __future__ import annotations

import datetime
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchwright.bridge import model_info, model_infos
from benchwright.contract import Exit, Failure
from benchwright.launch import BenchmarkPlan, ModelJob, PathSetup, setup_jobs
from benchwright.launch.cards import Cards, cards_here
from benchwright.launch.choices import Request, choose, script_key
from benchwright.launch.partitions import SHIPPED, read_partitions
from benchwright.launch.remarks import plan_notes, remarks
from benchwright.launch.run_scope import parse_configs

DAY = datetime.date(2026, 6, 26)
NO_MEMORY = (
    "--fake-memory-for-estimates: nothing given, and TabM is a GPU model, expected the card's memory in GB, "
    "so that parallel folds are planned by it and not by the machine's RAM\n    fix: "
)
WITH_CARD = "gpurtxpro6000flex (96 GB) or gpurtxpro6000spotinteractive (96 GB)"


def chosen(model="XGBoost", cards=None, **wishes):
    wishes = {"workspace": Path("/w s"), "python_path": sys.executable, "arena": "mini"} | wishes
    return choose(Request(model, **wishes), cards=cards or Cards(), today=DAY)


def refused(model, cards=None, **wishes) -> Failure:
    with pytest.raises(Failure) as caught:
        chosen(model, cards, **wishes)
    assert caught.value.exit == Exit.USAGE
    return caught.value


def codes(model, cards=None, partition=None, **wishes) -> list[str]:
    """The remarks on a plan, without those on what is installed here."""
    info, cards = model_info(model), cards or Cards()
    made = chosen(model, cards, partition=partition.name if partition else None, **wishes)
    found = remarks(info, made, infos=model_infos(), partition=partition, cards=cards)
    return [problem.code for problem in found if problem.code != "packages-missing"]


def test_the_defaults_are_the_benchmark_protocol():
    made = choose(Request("XGBoost", Path("/w s")), cards=Cards(), today=DAY)
    assert made.to_dict() == {
        "model": "XGBoost",
        "key": "xgboost",
        "benchmark_name": "xgboost_26062026",
        "arena": "tabarena",
        "num_configs": "all",
        "subset": [],
        "eval_subsets": [[], ["binary"], ["multiclass"], ["regression"]],
        "compute": "cpu",
        "resources": {},
        "scheduler": "slurm",
        "partition": None,
        "bundle_size": 2,
        "exclusive_node": False,
        "store": "",
        "accelerators": "",
        "smoke_extra_hyperparameters": {},
        "result_suffix": " [Rerun]",
        "workspace": "/w s",
        "python_path": sys.executable,
    }
    assert made.why.keys() == made.to_dict().keys()
    assert made.why["num_configs"] == "its search space, 200 random ones"


def test_the_mini_arena_runs_on_this_machine():
    assert (chosen().scheduler, chosen(scheduler="slurm").scheduler) == ("local", "slurm")


def test_models_that_share_a_folder_do_not_share_a_name():
    keys = {info.name: script_key(info, model_infos()) for info in model_infos()}
    assert len(set(keys.values())) == len(keys)
    assert (keys["RealMLP"], keys["RealMLP_GPU"], keys["ModernNCA_GPU"]) == ("realmlp", "realmlpgpu", "modernncagpu")
    assert keys["ExtraTrees"] == "extra_trees"
    assert chosen("ExtraTrees").benchmark_name == "extratrees_26062026"


def test_a_regression_model_is_run_and_evaluated_on_regression():
    made = chosen("Nori", subset=["lite"], fake_memory_for_estimates=24)
    assert (made.subset, made.eval_subsets) == (("lite", "regression"), (("regression",),))
    assert made.why["subset"] == "given; it fits regression alone"


def test_a_classification_model_is_evaluated_on_both_kinds():
    made = chosen("OrionMSP", fake_memory_for_estimates=24)
    assert made.subset == ("binary|multiclass",)
    assert made.eval_subsets == (("binary|multiclass",), ("binary",), ("multiclass",))


def test_a_scope_of_one_problem_type_has_one_leaderboard():
    assert chosen(subset=["binary"]).eval_subsets == (("binary",),)


def test_a_model_without_search_space_runs_its_default():
    assert chosen("Nori", fake_memory_for_estimates=24).num_configs == 0
    assert str(refused("Nori", configs="5", fake_memory_for_estimates=24)) == (
        "--configs: 5 for Nori, which has no search space, expected 0\n    fix: leave --configs out"
    )


def test_a_small_search_space_is_run_whole():
    made = chosen("PerpetualBooster")
    assert (made.num_configs, made.why["num_configs"]) == (5, "its search space has no more; all would be 200")
    assert chosen("PerpetualBooster", configs="5").num_configs == 5
    assert str(refused("PerpetualBooster", configs="6")) == (
        "--configs: 6 for PerpetualBooster: 6 random configs, more than its search space has, expected at most 5\n"
        "    fix: --configs 5, or leave it out to take as many"
    )


def test_a_number_that_was_edited_into_the_script_is_refused_by_setup(tmp_path):
    plan = BenchmarkPlan("b", "mini", [ModelJob(("PerpetualBooster", 6))], PathSetup(tmp_path))
    with pytest.raises(Failure) as caught:
        setup_jobs(plan)
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        "configs of PerpetualBooster: 6, more than its search space has, expected at most 5\n"
        "    fix: put ('PerpetualBooster', 5) into the job's models in the run script"
    )


@pytest.mark.parametrize(("text", "value"), [("all", "all"), ("0", 0), ("25", 25)])
def test_configs_are_all_or_a_number(text, value):
    assert parse_configs(text) == value


@pytest.mark.parametrize("text", ["-1", "1.5", "ALL", "", "nan", "٣", "10001", "9" * 5000])
def test_other_configs_are_refused(text):
    with pytest.raises(Failure, match="all, 0 or a number up to 10,000"):
        parse_configs(text)


def test_a_known_partition_supplies_the_cards_memory():
    made = chosen("TabM", scheduler="slurm", partition="gpurtxpro6000spotinteractive")
    assert made.resources == {"num_gpus": 1, "fake_memory_for_estimates": 96}
    assert made.why["resources"] == (
        "a GPU model; the memory of gpurtxpro6000spotinteractive's RTX PRO 6000 on spot capacity"
    )
    assert made.exclusive_node


def test_a_given_memory_wins():
    made = chosen("TabM", scheduler="slurm", partition="gpurtxpro6000flex", fake_memory_for_estimates=80)
    assert made.resources["fake_memory_for_estimates"] == 80


def test_a_local_run_takes_the_smallest_card_here():
    made = chosen("TabM", Cards(2, 23))
    assert made.resources == {"num_gpus": 1, "fake_memory_for_estimates": 23}
    assert made.why["resources"] == "a GPU model; the memory of the smallest card here, by nvidia-smi"


@pytest.mark.parametrize("scheduler", ["skypilot", "skypilot-pool"])
def test_skypilot_runs_on_the_public_presets_card_unless_another_is_named(scheduler):
    made = chosen("TabM", scheduler=scheduler, store="gs://bucket/runs/")
    assert (made.scheduler, made.accelerators, made.store) == (scheduler, "RTXPRO6000:1", "gs://bucket/runs")
    assert made.resources == {"num_gpus": 1, "fake_memory_for_estimates": 96}
    assert (made.why["accelerators"], made.why["resources"]) == (
        "default", "a GPU model; the memory of RTXPRO6000",
    )  # fmt: skip
    assert chosen("TabM", scheduler=scheduler, accelerators="A100:1").resources["fake_memory_for_estimates"] == 40
    own = chosen("TabM", scheduler=scheduler, accelerators="L4:1", fake_memory_for_estimates=24)
    assert (own.accelerators, own.resources["fake_memory_for_estimates"]) == ("L4:1", 24)
    assert chosen(scheduler=scheduler).accelerators == ""


def test_what_skypilot_cannot_take_is_refused_at_once():
    with pytest.raises(Failure) as caught:
        chosen("TabM", scheduler="skypilot", partition="p", accelerators="L4", store="local:here")
    assert [(one.where, one.found) for one in caught.value.problems] == [
        ("store", "local:here"),
        ("--accelerators", "'L4'"),
        ("--partition", "'p' for a run on SkyPilot, which has no partitions"),
        ("--accelerators", "no memory is on record for 'L4', and TabM is a GPU model"),
    ]
    with pytest.raises(
        Failure, match=r"L4:1 for KNeighbors, which runs on the CPU, expected none\n    fix: leave --accel"
    ):
        chosen("KNN", scheduler="skypilot", accelerators="L4:1")


def test_without_skypilots_client_or_bucket_that_is_said(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert codes("KNN", scheduler="skypilot") == ["no-sky-client"]
    info, made = model_info("KNN"), chosen("KNN", scheduler="skypilot")
    assert plan_notes(info, made, Cards()) == [
        "setup prints what follows it: the commands that launch the fits, that watch them, that evaluate",
        "setup and eval need SkyPilot's bucket: --store, or BENCHWRIGHT_STORE in the environment",
    ]


def test_the_memory_has_no_default():
    on_cluster = f"--fake-memory-for-estimates GB, or --partition {WITH_CARD}"
    assert str(refused("TabM", scheduler="slurm")) == NO_MEMORY + on_cluster
    here = "--fake-memory-for-estimates GB; this machine cannot say it, "
    assert str(refused("TabM")) == f"{NO_MEMORY}{here}no CUDA card here"
    assert str(refused("TabM", Cards(1))) == f"{NO_MEMORY}{here}cards cut into slices here"


def test_an_unknown_partition_says_which_are_known():
    assert str(refused("TabM", scheduler="slurm", partition="a100")) == (
        f"--partition: no card is on record for 'a100', and TabM is a GPU model, expected {WITH_CARD}\n"
        "    fix: --fake-memory-for-estimates GB, or put it into a file for --partitions or BENCHWRIGHT_PARTITIONS, "
        f"of the form of {SHIPPED}"
    )
    assert chosen("TabM", scheduler="slurm", partition="a100", fake_memory_for_estimates=40).partition == "a100"


def test_a_partition_without_cards_is_none_for_a_gpu_model():
    failure = refused("TabM", scheduler="slurm", partition="cpun416mtspotinteractive")
    assert [problem.code for problem in failure.problems] == ["no-gpu-memory"]


def test_a_cpu_model_has_no_gpu_memory():
    assert str(refused("XGBoost", fake_memory_for_estimates=96)) == (
        "--fake-memory-for-estimates: 96 for XGBoost, which runs on the CPU, "
        "expected nothing: a CPU model's estimate is held against the machine's RAM\n"
        "    fix: leave --fake-memory-for-estimates out"
    )


def test_all_wrong_values_are_named_at_once(tmp_path):
    failure = refused(
        "XGBost",
        configs="x",
        subset=["lit"],
        name="../evil",
        partition="a b",
        partitions=tmp_path / "none.yaml",
        fake_memory_for_estimates=0,
        python_path="/p\udc80",
    )
    assert [problem.where for problem in failure.problems] == [
        "model",
        str(tmp_path / "none.yaml"),
        "--configs",
        "subset 'lit'",
        "benchmark_name",
        "--python-path",
        "--fake-memory-for-estimates",
        "--partition",
        "--partition",
    ]


def test_a_scope_without_tasks_is_refused():
    failure = refused("Nori", subset=["binary"], fake_memory_for_estimates=8)
    assert str(failure) == (
        "--subset: binary with regression is nothing of Mini arena, expected a scope with tasks\n"
        "    fix: leave a --subset out: all that are given must hold"
    )


def test_a_wrong_file_of_partitions_stops_a_plan_that_is_right_otherwise(tmp_path):
    assert "none.yaml" in str(refused("XGBoost", partitions=tmp_path / "none.yaml"))


@pytest.mark.parametrize("name", ["", "../evil", "a b", "x" * 129])
def test_a_name_that_is_no_file_name_is_refused(name):
    assert "letters, digits" in str(refused("XGBoost", name=name))


def test_a_model_that_the_arena_has_results_of_is_a_rerun():
    assert (chosen("KNN").result_suffix, chosen("XGBoost").result_suffix) == (" [Rerun]", "")
    assert chosen("KNN").why["model"] == "the registry's name of 'KNN'"


def test_what_to_judge_before_launching_is_said(monkeypatch):
    flex = read_partitions()["gpurtxpro6000flex"]
    on_cluster = {"arena": "tabarena", "scheduler": "slurm"}
    here = {"arena": "tabarena", "scheduler": "local"}
    assert codes("XGBoost") == []
    assert codes("XGBoost", partition=flex, **on_cluster) == ["gpu-partition-for-cpu"]
    assert codes("TabM", partition=flex, **on_cluster) == []
    assert codes("TabM", Cards(1, 24), **here) == []
    assert codes("TabM", Cards(1, 24), fake_memory_for_estimates=25, **here) == ["more-than-the-card"]
    assert codes("TabM", fake_memory_for_estimates=24, **here) == ["no-gpu-here"]
    assert codes("TabSwift", Cards(1, 24), **here) == ["no-memory-estimate"]
    assert codes("TabSwift", Cards(1, 24)) == [], "the mini arena fits folds one after another"
    assert codes("TabDPT_GPU", Cards(1, 24), **here) == ["superseded"]
    monkeypatch.setenv("PATH", "")
    assert codes("TabM", partition=flex, **on_cluster) == ["not-a-head-node"]


def test_the_successor_of_a_superseded_model_is_named():
    made = chosen("TabDPT_GPU", Cards(1, 24))
    (problem, *_) = remarks(model_info("TabDPT_GPU"), made, infos=model_infos(), partition=None, cards=Cards(1, 24))
    assert problem.fix == "benchmark TabDPT-Turbo; this one takes an environment of its own"


def test_a_package_that_is_missing_has_the_command_that_installs_it():
    made = chosen("ExplainableBM")
    (problem,) = remarks(model_info("ExplainableBM"), made, infos=(), partition=None, cards=Cards())
    assert (problem.code, problem.fix) == ("packages-missing", "scripts/run_venv.py --install ExplainableBM")
    assert "interpret" in problem.found


def test_a_python_that_does_not_run_is_said():
    made = chosen(python_path="/nowhere/python")
    (problem,) = remarks(model_info("XGBoost"), made, infos=(), partition=None, cards=Cards())
    assert (problem.code, problem.where) == ("no-python", "python_path: /nowhere/python")


def test_a_wrapper_that_does_not_look_for_gpus_is_told_where_there_is_none(monkeypatch):
    blind = replace(model_info("TabM"), reads_num_gpus=False)  # no model of this registry is
    monkeypatch.setattr("benchwright.bridge.model_info", lambda _: blind)
    assert chosen("TabM", fake_memory_for_estimates=24).smoke_extra_hyperparameters == {"device": "cpu"}
    assert chosen("TabM", Cards(1, 24)).smoke_extra_hyperparameters == {}


def test_weights_and_a_missing_gpu_are_noted():
    made = chosen("TabICLv2", fake_memory_for_estimates=24)
    assert plan_notes(model_info("TabICLv2"), made, Cards()) == [
        "setup fetches the model's weights on this machine before any item runs",
        "no CUDA device is here: the smoke fit runs on the CPU",
    ]


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """A driver's tool that prints what a test wants: no machine of ours has several cards."""

    def says(output: str, code: int = 0) -> Cards:
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit {code}\n")
        tool.chmod(0o755)
        return cards_here()

    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return says


@pytest.mark.parametrize(
    ("output", "cards"),
    [
        ("143771, Disabled", Cards(1, 140)),
        ("97887, [N/A]\n24564, [N/A]", Cards(2, 23)),
        ("143771, Enabled", Cards(1, None)),
        ("[N/A], [N/A]", Cards(1, None)),
        ("", Cards(0, None)),
    ],
    ids=["one", "the smallest", "slices", "unknown", "none"],
)
def test_the_cards_here_are_read_from_the_driver(nvidia_smi, output, cards):
    assert nvidia_smi(output) == cards


def test_a_driver_that_fails_has_no_cards(nvidia_smi):
    assert nvidia_smi("143771, Disabled", code=9) == Cards()


def test_hidden_cards_are_none(nvidia_smi, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert nvidia_smi("143771, Disabled") == Cards()
