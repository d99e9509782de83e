"""Grouping, validation and identity of plans, without the registry."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from benchwright.arena import TaskSubset
from benchwright.contract import Exit, Failure
from benchwright.launch import (
    BenchmarkPlan,
    LocalSetup,
    ModelJob,
    PathSetup,
    ResourcesSetup,
    SchedulerSetup,
    group_jobs,
    identity_of,
)

IN_PLAN = "correct it in the plan of the run script, then take the step again"
MODEL = 'a registered name, or (name, "all" or a number of random configs)'


def plan(*jobs, **changes):
    return BenchmarkPlan(
        **{"benchmark_name": "demo", "arena": "mini", "model_jobs": jobs, "path_setup": PathSetup("/somewhere")}
        | changes
    )


def identity(a_plan):
    return identity_of(a_plan, group_jobs(a_plan))


def refused(a_plan):
    with pytest.raises(Failure) as caught:
        group_jobs(a_plan)
    assert caught.value.exit == Exit.USAGE
    return [
        f"{problem.where} | {problem.found} | {problem.expected} | {problem.fix}" for problem in caught.value.problems
    ]


def test_jobs_that_agree_share_a_group():
    groups = group_jobs(
        plan(
            ModelJob("LightGBM", name="cpu"),
            ModelJob(("XGBoost", 3)),
            ModelJob(["Linear", ("KNN", 0)], name="fast", scheduler={"bundle_size": 9}),
        )
    )
    assert [(group.name, group.models) for group in groups] == [
        ("cpu", ("LightGBM", ("XGBoost", 3))),
        ("fast", ("Linear", ("KNN", 0))),
    ]
    assert groups[1].scheduler == LocalSetup(bundle_size=9)


def test_a_group_without_a_name_is_numbered():
    groups = group_jobs(plan(ModelJob("LightGBM", name="cpu"), ModelJob("KNN", ignore_cache=True)))
    assert [group.name for group in groups] == ["cpu", "group1"]


@pytest.mark.parametrize(
    ("models", "choices"),
    [
        ("KNN", ("KNN",)),
        (("KNN", 2), (("KNN", 2),)),
        (("KNN", "all"), (("KNN", "all"),)),
        (("KNN", "Linear"), ("KNN", "Linear")),
        ([("KNN", "all"), "Linear"], (("KNN", "all"), "Linear")),
    ],
)
def test_models_may_be_given_bare(models, choices):
    assert ModelJob(models).choices == choices


def test_overrides_replace_single_fields_and_filters():
    (group,) = group_jobs(
        plan(
            ModelJob("TabM", resources={"num_gpus": 1, "fake_memory_for_estimates": 96}, tasks="binary"),
            resources_setup=ResourcesSetup(time_limit=60),
            task_subset=TaskSubset(subset="lite", problem_types=["binary"]),
        )
    )
    assert group.resources == ResourcesSetup(time_limit=60, num_gpus=1, fake_memory_for_estimates=96)
    assert group.subset == TaskSubset(subset="binary", problem_types=["binary"])


def test_every_problem_is_named_at_once():
    problems = refused(
        plan(
            ModelJob(("KNN", -1), resources={"num_cpu": 2}),
            ModelJob([], scheduler={"parallel": 2}),
            ModelJob("KNN", scheduler={"bundle_size": 0}),
            ModelJob([5, {}], name="a b", resources={"time_limit": float("inf"), "num_gpus": True}),
            resources_setup=ResourcesSetup(memory_limit=0),
            scheduler_setup=LocalSetup(parallel=0, bundle_size_per_dataset={"iris": 1.5}),
            benchmark_name="a/b",
        )
    )
    assert problems == [
        "benchmark_name | 'a/b' | letters, digits, '.', '_' and '-', at most 128 characters | "
        "give it so, by --name or as BENCHMARK_NAME in the run script",
        f"resources_setup: memory_limit | 0 | a number above 0 | {IN_PLAN}",
        f"scheduler_setup: bundle_size_per_dataset['iris'] | 1.5 | a whole number of at least 1 | {IN_PLAN}",
        f"scheduler_setup: parallel | 0 | a whole number of at least 1 | {IN_PLAN}",
        f"model_jobs[0].models | ('KNN', -1) | {MODEL} | {IN_PLAN}",
        "model_jobs[0].resources: num_cpu | no such field |  | did you mean 'num_cpus' or 'num_gpus'?",
        f"model_jobs[1].models | none | {MODEL} | name one, or take this job out of the plan",
        "model_jobs[1].scheduler: parallel | no such field |  | one of bundle_size, bundle_size_per_dataset, "
        "large_dataset_n_features, large_dataset_n_samples",
        f"model_jobs[2].scheduler: bundle_size | 0 | a whole number of at least 1 | {IN_PLAN}",
        f"model_jobs[3].models | 5 | {MODEL} | {IN_PLAN}",
        f"model_jobs[3].models | {{}} | {MODEL} | {IN_PLAN}",
        f"model_jobs[3].resources: time_limit | inf | a number above 0 | {IN_PLAN}",
        f"model_jobs[3].resources: num_gpus | True | a whole number of at least 0 | {IN_PLAN}",
        "model_jobs | 'a b' | a name of letters, digits, '.', '_' and '-', at most 64 | "
        "rename this ModelJob in the run script",
    ]


def test_a_plan_without_jobs_is_refused():
    assert refused(plan()) == [
        'model_jobs | none | at least one ModelJob | put ModelJob(("NAME", "all")) into model_jobs of the run script, '
        "with the model's name"
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"arena": None},
            "arena | None | the name of an arena, or an opened one | mini, tabarena or beyondarena as the plan's arena",
        ),
        (
            {"path_setup": PathSetup("/w", python_path=None)},
            "python_path | None | the path of a Python, an absolute one where the current folder is gone | "
            "give the run script a whole path as PYTHON_PATH",
        ),
        (
            {"path_setup": PathSetup(7)},
            "workspace | '7': no path | a folder's path, in UTF-8 | "
            "give another, by --workspace or as WORKSPACE in the run script",
        ),
        (
            {"benchmark_name": None},
            "benchmark_name | None | letters, digits, '.', '_' and '-', at most 128 characters | "
            "give it so, by --name or as BENCHMARK_NAME in the run script",
        ),
        (
            {"model_jobs": [ModelJob("KNN", resources="fast")]},
            f"model_jobs[0].resources | 'fast' | a mapping of fields to their values | {IN_PLAN}",
        ),
        (
            {"model_jobs": [ModelJob("KNN", scheduler=None)]},
            f"model_jobs[0].scheduler | None | a mapping of fields to their values | {IN_PLAN}",
        ),
        (
            {"model_jobs": [ModelJob("KNN", name=["a"])]},
            "model_jobs | \"['a']\" | a name of letters, digits, '.', '_' and '-', at most 64 | "
            "rename this ModelJob in the run script",
        ),
        (
            {"model_jobs": [ModelJob(("KNN", 99_999_999))]},
            f"model_jobs[0].models | ('KNN', 99999999) | at most 10,000 configs of a model | {IN_PLAN}",
        ),
    ],
)
def test_a_value_of_a_wrong_type_or_size_is_named(changes, said):
    assert refused(plan(ModelJob("KNN"), **changes)) == [said]


def test_a_wrong_scope_says_whose_it_is():
    (problem,) = refused(plan(ModelJob("KNN", tasks={"subsets": "lite"})))
    assert problem.startswith("model_jobs[0].tasks: task subset: subsets | not a filter")


def test_names_within_a_group_must_agree():
    assert refused(plan(ModelJob("KNN", name="a"), ModelJob("Linear", name="b"))) == [
        "model_jobs | jobs that differ in nothing but their models are named 'a' and 'b' | one name for them | "
        "name them alike in the run script, or put their models into one ModelJob"
    ]


def test_two_groups_need_two_names():
    assert refused(plan(ModelJob("KNN", name="a"), ModelJob("Linear", name="a", ignore_cache=True))) == [
        "model_jobs | jobs named 'a' differ in resources, scheduler, tasks, experiment or ignore_cache"
        " | a name of its own for each kind | rename all but one kind of these jobs in the run script"
    ]


def test_options_must_be_plain_data():
    (problem,) = refused(plan(ModelJob("KNN", experiment={"verbosity": object})))
    assert problem.endswith("is not JSON serializable | plain numbers, texts, lists and mappings of them | " + IN_PLAN)


BASE = plan(ModelJob(("KNN", 0), name="cpu"))


@pytest.mark.parametrize(
    "same",
    [
        dataclasses.replace(BASE, path_setup=PathSetup("/elsewhere", "/other/python")),
        dataclasses.replace(BASE, scheduler_setup=LocalSetup(parallel=2, bundle_size=1)),
        dataclasses.replace(BASE, scheduler_setup=SchedulerSetup()),
        dataclasses.replace(BASE, model_jobs=[ModelJob([("KNN", 0)], name="other", ignore_cache=True)]),
        dataclasses.replace(BASE, benchmark_name="another", prefetch_model_weights=False),
    ],
)
def test_how_and_where_a_plan_runs_does_not_change_its_identity(same):
    assert identity(same) == identity(BASE)


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(BASE, arena="tabarena"),
        dataclasses.replace(BASE, task_subset="lite"),
        dataclasses.replace(BASE, resources_setup=ResourcesSetup(time_limit=5)),
        dataclasses.replace(BASE, model_jobs=[ModelJob(("KNN", 1))]),
        dataclasses.replace(BASE, model_jobs=[ModelJob(("KNN", 0), experiment={"verbosity": 2})]),
    ],
)
def test_what_a_plan_runs_does(other):
    assert identity(other) != identity(BASE)


def test_running_a_part_again_does_not_change_the_identity():
    jobs = [ModelJob("KNN"), ModelJob("Linear")]
    again = [ModelJob("KNN"), ModelJob("Linear", ignore_cache=True)]
    assert identity(plan(*jobs)) == identity(plan(*again))


def test_the_order_of_jobs_does_not_matter():
    jobs = [ModelJob("KNN", name="a"), ModelJob("Linear", name="b", resources={"num_cpus": 1})]
    assert identity(plan(*jobs)) == identity(plan(*reversed(jobs)))


def test_the_python_is_a_command_that_works_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")
    assert PathSetup(tmp_path).python == sys.executable
    assert PathSetup(tmp_path, "venv/bin/python").python == str(tmp_path / "venv/bin/python")
    assert PathSetup(tmp_path, "~/venv/bin/python").python == "/home/someone/venv/bin/python"
    assert PathSetup(tmp_path, "python3").python == "python3"
