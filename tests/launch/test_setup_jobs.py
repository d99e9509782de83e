"""Set-up on the mini arena with the real registry: what is approved, written, replaced and left alone."""

from __future__ import annotations

import dataclasses
import json
import os
import venv
from importlib import metadata

import pytest
from launch_results import relabelled

from benchwright import bridge
from benchwright.arena import TaskSubset
from benchwright.bridge import open_arena
from benchwright.contract import Exit, Failure
from benchwright.files import FileLock
from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, run_local, setup_jobs
from benchwright.launch import setup as setup_of_jobs
from benchwright.node import read_job_file
from waiting import PATIENCE

TWO = list(open_arena("mini").spec.tasks.datasets[:2])


def plan(workspace, *jobs, **changes):
    facts = {
        "benchmark_name": "demo",
        "arena": "mini",
        "model_jobs": jobs or [ModelJob(("KNN", 0), name="cpu")],
        "path_setup": PathSetup(workspace),
        "scheduler_setup": LocalSetup(bundle_size=2),
        "task_subset": TaskSubset(dataset_names=TWO),
    }
    return BenchmarkPlan(**facts | changes)


def fake_result(paths, item):
    """A whole result of the item, without a fit."""
    path = paths.result(item.experiment, item.task_key, item.repeat, item.fold)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(relabelled(item))
    return path


def items_of(report):
    return [item for path in report.job_files for bundle in read_job_file(path).bundles for item in bundle]


def setup_files(a_plan):
    return sorted(path.name for path in a_plan.paths.setup.iterdir() if not path.name.startswith("."))


def test_everything_is_missing_at_first(tmp_path):
    a_plan = plan(tmp_path)
    report = setup_jobs(a_plan)
    assert report.lines == (
        "0 of 6 items have their result already",
        "Approved 6 (experiment, dataset, fold, repeat) items -> 3 array tasks (max 2 items/task).",
    )
    assert {(item.dataset, item.repeat, item.fold) for item in items_of(report)} == {
        (dataset, 0, fold) for dataset in TWO for fold in range(3)
    }
    label = f"cpu-{report.identity}"
    assert setup_files(a_plan) == [f"job_batch_demo_{label}", "plans", f"slurm_run_data_demo_{label}.json"]
    outcome = report.outcome("python run_knn.py")
    assert (outcome.exit, list(outcome.next)) == (Exit.DONE, ["python run_knn.py run"])
    json.dumps(outcome.envelope("run_knn"))


def test_the_public_launchers_class_reads_the_job_batch(tmp_path):
    from tabarena.benchmark.experiment import JobBatch

    report = setup_jobs(plan(tmp_path))
    job_file = read_job_file(report.job_files[0])
    batch = JobBatch.load(job_file.defaults["job_batch_dir"])
    theirs = {(job.experiment.name, *job.task.as_triple()) for job in batch.jobs}
    assert theirs == {(item.experiment, item.dataset, item.fold, item.repeat) for item in items_of(report)}


def test_the_record_holds_what_is_needed_to_tell_later_what_ran(tmp_path):
    report = setup_jobs(plan(tmp_path))
    record = json.loads(report.record.read_text())
    assert record["identity"] == report.identity == report.record.stem
    assert record["plan"]["model_jobs"][0]["models"] == [["KNN", 0]]
    assert record["versions"]["tabarena"] == "0.1.0"
    assert record["git"] is None or len(record["git"]["head"]) == 40
    assert (record["approved"], record["total"], record["validation_protocol"]) == (6, 6, "8x1")
    assert record["experiments"] == ["KNeighbors_c1_default_BAG_L1"]


def test_the_record_has_the_versions_of_a_models_own_packages(tmp_path, monkeypatch):
    model = dataclasses.replace(bridge.model_info("KNN"), pip_extra=("hypothesis>=6", "not_there>=1"))
    monkeypatch.setattr(bridge, "model_info", lambda name: model)
    versions = json.loads(setup_jobs(plan(tmp_path)).record.read_text())["versions"]
    assert versions["hypothesis"] == metadata.version("hypothesis")
    assert "not_there" not in versions
    assert list(versions)[:3] == ["python", "benchwright", "tabarena"]


def test_xgboost_is_one_package_whatever_its_distribution_is_called(tmp_path, monkeypatch):
    model = dataclasses.replace(bridge.model_info("KNN"), pip_extra=("xgboost-cpu>=2",))
    monkeypatch.setattr(bridge, "model_info", lambda name: model)
    versions = json.loads(setup_jobs(plan(tmp_path)).record.read_text())["versions"]
    assert [name for name in versions if name.startswith("xgboost")] == ["xgboost-cpu"]
    assert versions["xgboost-cpu"] == metadata.version("xgboost-cpu")


def test_set_ups_that_approved_items_outlast_the_record(tmp_path):
    a_plan = plan(tmp_path)
    items = items_of(setup_jobs(a_plan))
    for done in (items[:4], items[4:]):
        for item in done:
            fake_result(a_plan.paths, item)
        report = setup_jobs(a_plan)
    record = json.loads(report.record.read_text())
    approvals = json.loads(a_plan.paths.approvals(report.identity).read_text())
    assert (record["approved"], [one["approved"] for one in approvals]) == (0, [6, 2])
    assert all(one["git"] == record["git"] and one["set_up_at"] <= record["set_up_at"] for one in approvals)


def test_what_is_done_is_not_approved_again(tmp_path):
    a_plan = plan(tmp_path)
    items = items_of(setup_jobs(a_plan))
    for item in items[:4]:
        fake_result(a_plan.paths, item)
    report = setup_jobs(a_plan)
    assert report.lines[-1] == (
        "Approved 2 (experiment, dataset, fold, repeat) items -> 1 array tasks (max 2 items/task)."
    )
    assert items_of(report) == items[4:]


def test_when_nothing_is_missing_its_job_files_go(tmp_path, monkeypatch):
    monkeypatch.setattr("benchwright.launch.cache_check._SECONDS_FOR_READING", PATIENCE)  # to read all of them in
    a_plan = plan(tmp_path)
    for item in items_of(setup_jobs(a_plan)):
        fake_result(a_plan.paths, item)
    report = setup_jobs(a_plan)
    assert report.lines == (
        "6 of 6 items have their result already",
        "Nothing is missing: there is nothing to launch.",
    )
    assert setup_files(a_plan) == ["checked_results.json", "plans"]
    assert list(report.outcome("python run_knn.py").next) == ["python run_knn.py eval"]
    assert run_local(a_plan).outcome().summary == "Nothing is missing: there was nothing to run."


def test_a_truncated_result_is_reported_set_aside_and_approved_again(tmp_path):
    a_plan = plan(tmp_path)
    items = items_of(setup_jobs(a_plan))
    paths = [fake_result(a_plan.paths, item) for item in items]
    paths[2].write_bytes(paths[2].read_bytes()[:-20])
    report = setup_jobs(a_plan)
    assert items_of(report) == [items[2]]
    (problem,) = report.problems
    assert (problem.code, problem.where) == ("damaged-result", str(paths[2]))
    assert paths[2].with_name("results.pkl.damaged").exists()
    assert report.outcome().exit == Exit.DONE


def test_ignore_cache_approves_everything_again(tmp_path):
    a_plan = plan(tmp_path)
    for item in items_of(setup_jobs(a_plan)):
        fake_result(a_plan.paths, item)
    again = dataclasses.replace(a_plan, model_jobs=[ModelJob(("KNN", 0), name="cpu", ignore_cache=True)])
    report = setup_jobs(again)
    assert report.approved == 6
    assert read_job_file(report.job_files[0]).defaults["ignore_cache"] is True


def test_two_plans_of_one_benchmark_leave_each_others_files_alone(tmp_path):
    first, second = plan(tmp_path), plan(tmp_path, ModelJob(("LinearModel", 0), name="cpu"))
    before = setup_jobs(first)
    written = {path: path.read_bytes() for path in before.job_files}
    after = setup_jobs(second)
    assert not set(before.job_files) & set(after.job_files)
    assert {path: path.read_bytes() for path in before.job_files} == written
    assert after.problems == ()
    for item in items_of(before):
        fake_result(first.paths, item)
    assert setup_jobs(second).problems == (), "results of the first plan are no strangers to the second"


def test_the_same_plan_replaces_its_own_files_however_it_is_cut(tmp_path):
    a_plan = plan(tmp_path, scheduler_setup=LocalSetup(bundle_size=2, bundle_size_per_dataset={TWO[0]: 1}))
    assert len(setup_jobs(a_plan).job_files) == 2
    report = setup_jobs(plan(tmp_path))
    assert [name for name in setup_files(a_plan) if name.endswith(".json")] == [path.name for path in report.job_files]


def test_the_results_of_another_benchmark_are_said_to_be(tmp_path):
    a_plan = plan(tmp_path)
    item = dataclasses.replace(items_of(setup_jobs(a_plan))[0], experiment="XGBoost_c1_default_BAG_L1")
    fake_result(a_plan.paths, item)
    report = setup_jobs(a_plan)
    (problem,) = report.problems
    assert problem.code == "foreign-results"
    assert problem.found == (f"1 results that no plan of 'demo' knows: XGBoost_c1_default_BAG_L1/{item.task_key}")
    assert report.approved == 6


def test_a_second_setup_is_refused_and_told_of_the_first(tmp_path):
    a_plan = plan(tmp_path)
    with FileLock(a_plan.paths.setup_lock, "setup of demo"), pytest.raises(Failure) as caught:
        setup_jobs(a_plan)
    assert caught.value.exit == Exit.REFUSED
    assert caught.value.problems[0].found.startswith(f"setup of demo (process {os.getpid()} on ")


def test_a_setup_under_a_run_is_refused(tmp_path):
    a_plan = plan(tmp_path)
    with FileLock(a_plan.paths.setup / ".run.lock", "run of demo"), pytest.raises(Failure) as caught:
        setup_jobs(a_plan)
    assert caught.value.exit == Exit.REFUSED
    assert caught.value.problems[0].found.startswith("run of demo ")


def test_a_setup_that_was_killed_halfway_is_no_setup_and_can_be_repeated(tmp_path, monkeypatch):
    a_plan = plan(tmp_path)
    setup_jobs(a_plan)

    def killed(*_args, **_kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(setup_of_jobs, "write_job_file", killed)
        with pytest.raises(KeyboardInterrupt):
            setup_jobs(a_plan)
    with pytest.raises(Failure) as caught:
        run_local(a_plan)
    assert caught.value.problems[0].found == "no finished set-up of this plan"
    assert setup_jobs(a_plan).approved == 6


def test_everything_that_does_not_fit_is_said_at_once(tmp_path):
    wrong = plan(
        tmp_path,
        ModelJob([("KNNN", 0), ("LightGMB", "all")], name="cpu"),
        scheduler_setup=LocalSetup(bundle_size_per_dataset={TWO[0] + "x": 1}),
        task_subset=TaskSubset(dataset_names=["nothing"]),
    )
    with pytest.raises(Failure) as caught:
        setup_jobs(wrong)
    assert caught.value.exit == Exit.USAGE
    said = "\n".join(map(str, caught.value.problems))
    assert "no model is called 'KNNN'\n    fix: did you mean 'KNN'" in said
    assert "no model is called 'LightGMB'\n    fix: did you mean 'LightGBM'" in said
    assert "'nothing' is not among the 9 datasets here" in said
    assert f"bundle_size_per_dataset['{TWO[0]}x']: no such dataset\n    fix: did you mean '{TWO[0]}'?" in said
    assert len(caught.value.problems) == 4


def test_one_item_in_two_groups_is_refused(tmp_path):
    jobs = [ModelJob(("KNN", 0), name="a"), ModelJob(("KNN", 0), name="b", resources={"time_limit": 5})]
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path, *jobs))
    (problem,) = caught.value.problems
    assert (problem.where, problem.found) == (
        "model jobs a and b",
        "6 items are in both, of KNeighbors_c1_default_BAG_L1",
    )


def test_a_scope_without_splits_is_refused(tmp_path):
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path, task_subset=TaskSubset(split_indices=["r7f7"])))
    assert caught.value.problems[0].found == "no split of mini is within the scope"


def test_a_python_that_does_not_run_is_exit_3(tmp_path):
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path, path_setup=PathSetup(tmp_path, "/nowhere/python")))
    assert caught.value.exit == Exit.ENVIRONMENT
    assert str(caught.value.problems[0]) == (
        "python_path: /nowhere/python: cannot fit: No such file or directory, expected the Python that fits\n"
        "    fix: correct PYTHON_PATH, for one of this checkout's own: make setup, then .venv/bin/python; "
        "then run setup again"
    )


def test_a_python_without_what_a_fit_needs_is_refused_before_anything_is_written(tmp_path):
    bare = tmp_path / "bare" / "bin" / "python"
    venv.create(tmp_path / "bare", with_pip=False)
    a_plan = plan(tmp_path, path_setup=PathSetup(tmp_path, str(bare)))
    with pytest.raises(Failure) as caught:
        setup_jobs(a_plan)
    assert caught.value.exit == Exit.ENVIRONMENT
    assert caught.value.problems[0].found == "cannot fit: lacks benchwright, tabarena, autogluon.tabular"
    assert not a_plan.paths.plans.exists()


@pytest.mark.parametrize("place", ["", "output", "output/demo/data", "setup_out", "slurm_out/demo", "task_cache"])
@pytest.mark.parametrize("step", [setup_jobs, run_local])
def test_a_file_in_a_folders_place_is_named(tmp_path, place, step):
    workspace = tmp_path / "w"
    file = workspace / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine")
    with pytest.raises(Failure) as caught:
        step(plan(workspace))
    assert caught.value.exit == Exit.ENVIRONMENT
    assert str(caught.value) == (
        f"{file}: no folder, expected one, for what this run writes\n"
        "    fix: move it away, or give the run script another WORKSPACE"
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_places_where_no_folder_can_be_are_named_once_each(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.write_text("no folder")
    monkeypatch.setenv("HOME", str(home))
    workspace = tmp_path / ("x" * 300)
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(workspace))
    assert [(problem.where, problem.found) for problem in caught.value.problems][-1] == (str(home), "no folder")
    assert caught.value.problems[0].found == "no possible folder (File name too long)"


def test_a_damaged_record_is_named_and_its_plans_files_are_left_alone(tmp_path):
    other = setup_jobs(plan(tmp_path, ModelJob(("LinearModel", 0), name="cpu")))
    fake_result(plan(tmp_path).paths, items_of(other)[0])
    other.record.write_text("{")
    report = setup_jobs(plan(tmp_path))
    assert report.approved == 6
    (problem,) = report.problems
    assert str(problem) == (
        f"{other.record}: damaged, expected the record that a set-up wrote\n"
        "    fix: run setup of the plan that it is of, or remove it"
    )
    assert other.record.read_text() == "{"
    assert all(path.exists() for path in other.job_files)
    assert setup_jobs(plan(tmp_path, ModelJob(("LinearModel", 0), name="cpu"))).problems == ()


def test_progress_names_the_stages(tmp_path):
    told = []
    setup_jobs(plan(tmp_path), progress=lambda done, total, *, failed=0, note="": told.append((done, total, note)))
    assert told[0] == (0, 5, "checking the plan")
    assert told[-1] == (5, 5, "")
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


@pytest.mark.slow
def test_a_set_up_run_fits_for_real_and_the_next_setup_finds_nothing_missing(tmp_path):
    a_plan = plan(tmp_path, task_subset=TaskSubset(subset="lite", dataset_names=TWO))
    setup_jobs(a_plan)
    report = run_local(a_plan)
    assert (report.ok, report.failed, report.left) == (2, 0, 0)
    again = setup_jobs(a_plan)
    assert (again.approved, again.cached, again.problems) == (0, 2, ())
