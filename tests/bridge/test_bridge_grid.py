import json

import pytest
import yaml

from benchwright.arena import Resources, TaskSubset
from benchwright.bridge import open_arena, plan_grid
from benchwright.bridge.batch import load_experiment, load_task
from benchwright.contract import Exit, Failure


@pytest.fixture(scope="module")
def mini():
    return open_arena("mini")


@pytest.fixture(scope="module")
def grid(mini):
    return plan_grid(mini, models=[("LightGBM", 2), ("KNN", 0)], subset=["lite", "multiclass"])


def test_items_are_ordered_by_dataset_split_and_experiment(mini, grid):
    experiments = [
        "LightGBM_c1_default_BAG_L1",
        "LightGBM_r1_default_BAG_L1",
        "LightGBM_r2_default_BAG_L1",
        "KNeighbors_c1_default_BAG_L1",
    ]
    datasets = mini.spec.tasks.select("multiclass").datasets
    assert [(item.dataset, item.experiment) for item in grid.items] == [(d, e) for d in datasets for e in experiments]
    assert {(item.repeat, item.fold) for item in grid.items} == {(0, 0)}
    assert all(item.task_key == item.dataset for item in grid.items)


def test_resources_and_options_are_baked_into_the_experiments(mini):
    grid = plan_grid(
        mini,
        models=[("XGBoost", 0)],
        resources=Resources(time_limit=77.0, num_cpus=3, num_gpus=0, memory_limit=5.0),
        options={"verbosity": 0, "time_limit_with_preprocessing": True},
    )
    experiment = grid.jobs[0].experiment.to_yaml_dict()
    assert experiment["time_limit"] == 77.0
    assert experiment["time_limit_with_preprocessing"] is True
    assert experiment["method_kwargs"]["fit_kwargs"] == {"num_cpus": 3, "num_gpus": 0, "memory_limit": 5.0}
    assert experiment["method_kwargs"]["init_kwargs"]["verbosity"] == 0
    assert experiment["model_hyperparameters"]["ag_args_ensemble"]["fold_fitting_strategy"] == "sequential_local"


def test_mini_fits_folds_in_sequence_on_one_core_unless_told_otherwise(mini):
    own = plan_grid(mini, models=[("XGBoost", 0)]).jobs[0].experiment.to_yaml_dict()
    assert own["method_kwargs"]["fit_kwargs"]["num_cpus"] == 1
    assert own["model_hyperparameters"]["ag_args_ensemble"]["fold_fitting_strategy"] == "sequential_local"
    told = plan_grid(mini, models=[("XGBoost", 0)], options={"sequential_local_fold_fitting": False})
    assert "fold_fitting_strategy" not in told.jobs[0].experiment.to_yaml_dict()["model_hyperparameters"].get(
        "ag_args_ensemble", {}
    )


def test_seeds_differ_between_configs_and_folds(grid):
    seeds = [job.experiment.to_yaml_dict()["model_hyperparameters"]["ag_args_ensemble"] for job in grid.jobs[:3]]
    assert [seed["model_random_seed"] for seed in seeds] == [0, 8, 16]
    assert all(seed["vary_seed_across_folds"] for seed in seeds)


def test_fitted_models_go_where_the_variable_says(mini, monkeypatch, tmp_path):
    monkeypatch.setenv("TABARENA_MODEL_ARTIFACTS_BASE_PATH", str(tmp_path))
    experiment = plan_grid(mini, models=[("XGBoost", 0)]).jobs[0].experiment
    assert experiment.method_kwargs["init_kwargs"]["default_base_path"] == str(tmp_path)


def test_every_wrong_model_and_option_is_named_at_once(mini):
    with pytest.raises(Failure) as raised:
        plan_grid(mini, models=[("XGBost", 0), ("LightGBM", -2), ("KNN", "some")], options={"verbosty": 1})
    assert raised.value.exit == Exit.USAGE
    assert [str(problem) for problem in raised.value.problems] == [
        "experiment option 'verbosty': no such option\n    fix: did you mean 'verbosity' or 'model_verbosity'?",
        "model: no model is called 'XGBost'\n    fix: did you mean 'XGBoost'?",
        "configs of LightGBM: -2, expected all, 0 or a positive number\n"
        "    fix: put ('LightGBM', 'all') or another number into the models",
        "configs of KNN: 'some', expected all, 0 or a positive number\n"
        "    fix: put ('KNN', 'all') or another number into the models",
    ]


def test_a_grid_is_narrowed_in_its_order(grid):
    some = [grid.items[5], grid.items[1]]
    assert grid.only(some).items == (grid.items[1], grid.items[5])
    assert grid.drop(some).items == tuple(item for item in grid.items if item not in some)
    assert [job.experiment.name for job in grid.only(some).jobs] == [grid.items[1].experiment, grid.items[5].experiment]


def test_nothing_is_printed_while_planning(mini, capsys):
    plan_grid(mini, models=[("LightGBM", 0)])
    assert capsys.readouterr() == ("", "")


def test_saved_batch_is_read_by_the_public_runner(grid, tmp_path):
    from tabarena.benchmark.experiment import JobBatch

    folder = grid.only(grid.items[:6]).save(tmp_path / "batch of mine")
    batch = JobBatch.load(folder)
    loaded = [(job.experiment.name, *job.task.as_triple()) for job in batch.jobs]
    assert loaded == [(item.experiment, item.dataset, item.fold, item.repeat) for item in grid.items[:6]]
    by_name = {experiment.name: experiment for experiment in batch.experiments}
    for job in grid.jobs[:6]:
        assert by_name[job.experiment.name].to_yaml_dict() == job.experiment.to_yaml_dict()


def test_the_public_runner_finds_the_data_of_a_saved_batch(grid, tmp_path):
    from tabarena.benchmark.experiment import JobBatch
    from tabarena.benchmark.task.spec import task_spec_from_task_id_str

    batch = JobBatch.load(grid.save(tmp_path / "batch"))
    for metadata in batch.task_metadata:
        task = task_spec_from_task_id_str(metadata.task_id_str).load()
        assert (task.problem_type, task.eval_metric) == ("multiclass", "log_loss")
        assert task.get_split_dimensions() == (1, 3, 1)


def test_pieces_of_a_batch_are_the_batchs_own(grid, tmp_path):
    folder = grid.save(tmp_path / "batch")
    everything = yaml.safe_load((folder / "experiments.yaml").read_text())["methods"]
    pieces = [yaml.safe_load(path.read_text()) for path in sorted((folder / "items" / "experiments").iterdir())]
    assert sorted(pieces, key=lambda piece: piece["name"]) == sorted(everything, key=lambda one: one["name"])
    assert (
        load_experiment(folder, "LightGBM_r2_default_BAG_L1").to_yaml_dict() == grid.jobs[2].experiment.to_yaml_dict()
    )
    jobs = json.loads((folder / "jobs.json").read_text())["jobs"]
    assert len(jobs) == len(grid.items)


def test_a_moved_batch_finds_its_data_where_it_is_now(grid, tmp_path):
    grid.save(tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "after")
    key = grid.items[0].task_key
    spec = load_task(tmp_path / "after", key)
    assert spec.task_path == tmp_path / "after" / "items" / "data" / f"{key}.pkl"
    assert spec.load().problem_type == "multiclass"


def test_a_batch_replaces_the_one_before_it_and_nothing_else(grid, tmp_path):
    folder = grid.save(tmp_path / "batch")
    (folder / "notes.txt").write_text("mine")
    grid.only(grid.items[-1:]).save(folder)
    assert [path.name for path in (folder / "items" / "experiments").iterdir()] == ["KNeighbors_c1_default_BAG_L1.yaml"]
    assert len(list((folder / "items" / "data").iterdir())) == 1
    assert (folder / "notes.txt").read_text() == "mine"


def test_what_a_batch_does_not_hold_is_named(grid, tmp_path):
    folder = grid.save(tmp_path / "batch")
    with pytest.raises(Failure) as raised:
        load_experiment(folder, "Absent_c1")
    assert raised.value.exit == Exit.ENVIRONMENT
    assert str(raised.value) == (
        f"{folder}: no experiment 'Absent_c1', expected a job batch that holds it\n    fix: run setup again"
    )
    with pytest.raises(Failure, match="no task 'absent-000'"):
        load_task(folder, "absent-000")


@pytest.mark.parametrize("name", ["", "..", "a/b", "n" * 300])
@pytest.mark.parametrize("load", [load_experiment, load_task])
def test_a_name_that_cannot_be_a_files_is_refused(tmp_path, name, load):
    with pytest.raises(Failure, match="a name that can be a folder's, at most 250 bytes") as raised:
        load(tmp_path, name)
    assert raised.value.exit == Exit.USAGE


def test_a_path_that_cannot_stand_in_a_task_id_is_refused(grid, tmp_path):
    with pytest.raises(Failure) as raised:
        grid.save(tmp_path / "a|b")
    assert raised.value.exit == Exit.USAGE
    assert "a path without '|', which separates the parts of a task id" in str(raised.value)


def test_tabarena_is_planned_without_a_network(no_network):
    grid = plan_grid(open_arena("tabarena"), models=[("XGBoost", "all"), ("LightGBM", 0)], subset="lite")
    assert len(grid.items) == 51 * (201 + 1)
    first = grid.items[0]
    assert (first.experiment, first.dataset, first.task_key) == (
        "XGBoost_c1_default_BAG_L1",
        "airfoil_self_noise",
        "363612",
    )
    experiment = grid.jobs[0].experiment.to_yaml_dict()
    assert experiment["method_kwargs"]["fit_kwargs"] == {"num_cpus": 8, "num_gpus": 0, "memory_limit": 32.0}
    assert experiment["time_limit"] == 3600.0


def test_tabarenas_batch_names_the_cache_of_its_data(no_network, tmp_path):
    scope = TaskSubset(dataset_names=["anneal"], split_indices="lite")
    grid = plan_grid(open_arena("tabarena"), models=[("XGBoost", 0)], subset=scope)
    folder = grid.save(tmp_path / "batch", tmp_path / "cache")
    assert json.loads((folder / "cache_config.json").read_text())["openml"] == str(tmp_path / "cache")
    spec = load_task(folder, "363614")
    assert (spec.task_id, spec.task_metadata.eval_metric) == (363614, "log_loss")


def test_beyondarena_is_planned_with_its_own_bundle(no_network):
    grid = plan_grid(open_arena("beyondarena"), models=[("LightGBM", "all")], subset=["core", "lite"])
    assert len(grid.items) == 142 * 26
    experiment = grid.jobs[0].experiment
    assert experiment.name == "LightGBM_c1_BAG_L1"
    assert experiment.dynamic_tabarena_validation_protocol
    assert experiment.preprocessing_pipeline == "tabarena_default"


def test_a_models_limits_exclude_splits_and_say_so(no_network):
    grid = plan_grid(open_arena("tabarena"), models=[("TabICL", 0)])
    assert len(grid.items) == 576
    assert grid.notes == ("Model constraints filtered 240/816 job(s); 576 remain.",)
