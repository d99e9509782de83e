"""Real fits of mini items, forked from one process that only imported."""

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchwright import __version__
from benchwright.bridge import open_arena, plan_grid
from benchwright.bridge.cache import is_whole_pickle
from benchwright.raw import effective_protocol, load_result
from benchwright.raw.protocol import BEYONDARENA_KEY

HERE = Path(__file__).parent
WINE = "mini_wine_cultivar-0cf62914af14"


class Bench:
    """A folder for batches and results, and a list of items to run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = folder / "scratch"
        self.base.mkdir()
        self.requests: dict[str, dict] = {}
        self.replies: dict[str, dict] = {}

    def batch(self, name: str, models, **options) -> Path:
        scope = {"dataset_names": [WINE], "split_indices": "lite"}
        return plan_grid(open_arena("mini"), models=models, subset=scope, options=options).save(self.folder / name)

    def custom(self, name: str, model: str) -> Path:
        """A batch whose one experiment fits a class of bench_models."""
        folder = self.batch(name, [("KNN", 0)])
        (path,) = (folder / "items" / "experiments").iterdir()
        experiment = yaml.safe_load(path.read_text()) | {"name": name, "model_cls": f"bench_models.{model}"}
        path.with_name(f"{name}.yaml").write_text(yaml.safe_dump(experiment))
        return folder

    def ask(self, name: str, batch: Path, experiment: str, *, output: str = "out", **request) -> None:
        item = {"experiment": experiment, "dataset": WINE, "repeat": 0, "fold": 0, "task_key": WINE}
        defaults = {"job_batch_dir": str(batch), "output_dir": str(self.folder / output)}
        self.requests[name] = {
            "item": item,
            "defaults": defaults | request.pop("defaults", {}),
            "log": str(self.folder / f"{name}.log"),
            **request,
        }

    def run(self) -> None:
        paths = self.folder / "requests.json", self.folder / "replies.json"
        paths[0].write_text(json.dumps(list(self.requests.values())))
        environment = os.environ | {
            "TABARENA_MODEL_ARTIFACTS_BASE_PATH": str(self.base),
            "PYTHONPATH": os.pathsep.join([str(HERE), str(self.folder / "late")]),
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "BENCH_GO": str(self.folder / "go"),
        }
        command = [sys.executable, HERE / "bench_driver.py", *paths]
        subprocess.run(command, cwd=self.folder, env=environment, check=True, timeout=200)
        answer = json.loads(paths[1].read_text())
        self.threads = answer["threads"]
        self.replies = dict(zip(self.requests, answer["replies"], strict=True))

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def result_path(self, name: str) -> Path:
        request = self.requests[name]
        output = Path(request["defaults"]["output_dir"])
        return output / "data" / request["item"]["experiment"] / WINE / "0_0" / "results.pkl"

    def result(self, name: str) -> dict:
        assert self.replies[name]["exit"] == 0, self.log(name)
        return pickle.loads(gzip.decompress(self.result_path(name).read_bytes()))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Every item of this file, run once in one driver."""
    bench = Bench(tmp_path_factory.mktemp("bench"))
    for package in ("bench_late_fit", "bench_late_predict"):
        (bench.folder / "late" / package).mkdir(parents=True)
        (bench.folder / "late" / package / "__init__.py").touch()
    plain = bench.batch("plain", [("LightGBM", 0), ("KNN", 0)])
    light, knn = "LightGBM_c1_default_BAG_L1", "KNeighbors_c1_default_BAG_L1"
    bench.ask("light", plain, light)
    bench.ask("knn", plain, knn)
    bench.ask("again", plain, knn, output="done")
    bench.ask("broken", plain, knn, output="broken")
    bench.ask("forced", plain, knn, output="forced", defaults={"ignore_cache": True, "num_cpus": 2, "memory_limit": 6})
    for output in ("done", "broken", "forced"):
        path = bench.folder / output / "data" / knn / WINE / "0_0" / "results.pkl"
        path.parent.mkdir(parents=True)
        whole = gzip.compress(pickle.dumps({"framework": "old"}))
        path.write_bytes(whole[:-5] if output == "broken" else whole)
    bench.ask(
        "holdout",
        bench.batch("holdout", [("LinearModel", 0)], holdout_experiments=True),
        "LinearModel_c1_default_HOLDOUT",
    )
    bench.ask("outer", bench.batch("outer", [("KNN", 0)], outer_experiments=True), "KNeighbors_c1_default")
    dynamic = bench.batch("dynamic", [("LinearModel", 0)], dynamic_tabarena_validation_protocol=True)
    bench.ask("dynamic", dynamic, "LinearModel_c1_default_BAG_L1")
    bench.ask("late", bench.custom("Late", "ImportsLate"), "Late")
    bench.ask("nan", bench.custom("Nothing", "SaysNothing"), "Nothing")
    hangs = bench.custom("Hangs", "Hangs")
    bench.ask("killed", hangs, "Hangs", kill_when=[str(bench.base), "benchwright-*/ag-*/*"])
    bench.ask("resumed", hangs, "Hangs", env={"BENCH_GO": str(HERE)})
    bench.ask("absent", plain, "Absent_c1")
    shared = {"setup_ray_for_slurm_shared_resources_environment": True, "offline_weights": True}
    bench.ask("offline", bench.custom("Hub", "AsksTheHub"), "Hub", defaults=shared)
    bench.run()
    return bench


def test_a_result_has_the_public_runners_form(bench):
    from tabarena.benchmark.result import BaselineResult

    result = bench.result("light")
    assert result["framework"] == "LightGBM_c1_default_BAG_L1"
    assert result["task_metadata"] == {
        "tid": 2980191130,
        "name": WINE,
        "fold": 0,
        "repeat": 0,
        "sample": 0,
        "split_idx": 0,
    }
    assert (result["problem_type"], result["metric"]) == ("multiclass", "log_loss")
    assert 0.2 < result["metric_error"] < 1
    assert result["experiment_metadata"]["experiment_cls"] == "OOFExperimentRunner"
    assert result["experiment_metadata"]["method_cls"] == "AGSingleBagWrapper"
    assert type(BaselineResult.from_dict(result)).__name__ == "AGBagResult"


@pytest.mark.parametrize(
    ("name", "key"),
    [("light", "8x1"), ("knn", "8x1"), ("holdout", "holdout:0.2"), ("outer", "outer"), ("dynamic", BEYONDARENA_KEY)],
)
def test_the_protocol_recorded_is_the_one_that_the_children_show(bench, name, key):
    result = bench.result(name)
    assert result["experiment_metadata"].pop("validation_protocol") == key
    without = bench.folder / "without_record" / name / WINE / "0_0" / "results.pkl"
    without.parent.mkdir(parents=True, exist_ok=True)
    without.write_bytes(pickle.dumps(result))
    assert effective_protocol(load_result(without)).key == key
    assert effective_protocol(load_result(bench.result_path(name))).key == key


def test_dynamic_validation_of_tiny_data_is_five_times_five(bench):
    assert len(bench.result("dynamic")["simulation_artifacts"]["bag_info"]["val_idx_per_child"]) == 25


@pytest.mark.parametrize("name", ["light", "knn", "holdout", "outer", "dynamic"])
def test_nothing_is_imported_in_a_timed_section_of_a_registered_model(bench, name):
    records = bench.result(name)["experiment_metadata"]
    assert records["timing_audit"] == {"fit": [], "predict": []}


def test_a_result_says_that_its_process_had_its_imports_frozen(bench):
    records = bench.result("light")["experiment_metadata"]
    assert records["runner"] == {"name": "benchwright", "version": __version__, "preloaded_and_frozen": True}


def test_warm_up_is_reported(bench):
    report = bench.result("light")["experiment_metadata"]["warmup_report"]
    assert report["status"] == "ok"
    assert report["error"] is None
    assert report["duration_s"] == bench.result("light")["experiment_metadata"]["time_warmup_s"]


def test_a_failed_warm_up_is_recorded_and_the_fit_goes_on(bench):
    records = bench.result("late")["experiment_metadata"]
    assert records["warmup_report"]["status"] == "failed"
    assert records["warmup_report"]["error"] == "RuntimeError: no such kernel"
    assert records["time_warmup_s"] is None
    log = bench.log("late")
    assert "RuntimeError: no such kernel" in log.partition("\n##### warm-up of Late failed, the fit goes on cold\n")[0]


def test_late_imports_are_named_with_their_section(bench):
    assert bench.result("late")["experiment_metadata"]["timing_audit"] == {
        "fit": ["bench_late_fit"],
        "predict": ["bench_late_predict"],
    }


def test_the_jobs_resources_are_the_fits(bench):
    requested = bench.result("forced")["method_metadata"]["fit_kwargs_extra"]
    assert (requested["num_cpus"], requested["memory_limit"]) == (2, 6)
    assert bench.result("knn")["method_metadata"]["fit_kwargs_extra"]["num_cpus"] == 1


def test_a_whole_result_is_left_alone(bench):
    assert bench.result("again") == {"framework": "old"}
    assert bench.log("again").startswith("cache hit: experiment=KNeighbors_c1_default_BAG_L1 dataset=mini_wine")


@pytest.mark.parametrize("name", ["broken", "forced"])
def test_a_truncated_or_unwanted_result_is_replaced(bench, name):
    assert bench.result(name)["framework"] == "KNeighbors_c1_default_BAG_L1"


def test_a_prediction_that_is_no_number_leaves_no_result(bench):
    assert bench.replies["nan"]["exit"] == 1
    assert not bench.result_path("nan").exists()


def test_a_killed_item_leaves_no_result_and_runs_again(bench):
    assert bench.replies["killed"]["exit"] == -9
    assert bench.result("resumed")["framework"] == "Hangs"


def test_an_absent_experiment_is_named(bench):
    assert bench.replies["absent"]["exit"] == 1
    assert "no experiment 'Absent_c1', expected a job batch that holds it" in bench.log("absent")


def test_weights_that_were_not_fetched_fail_at_once_without_the_hub(bench):
    assert bench.replies["offline"]["exit"] == 1
    assert "offline mode is enabled" in bench.log("offline")
    assert bench.replies["offline"]["wall_s"] < 20, "no retry, and no Ray for folds that are fitted one by one"


def test_nothing_of_a_fit_is_left_behind(bench):
    assert list(bench.base.iterdir()) == []
    assert not (bench.folder / "AutogluonModels").exists()
    results = [path for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert {path.name for path in results} <= {"results.pkl", "model_failures.csv"}


def test_forking_starts_no_thread_in_the_process_that_forks(bench):
    before, after = bench.threads
    assert after <= before


def test_items_cost_little_beside_their_fit(bench):
    result = bench.result("knn")
    own = bench.replies["knn"]["wall_s"] - result["experiment_metadata"]["total_duration"]
    assert own < 2  # 0.15 on a quiet machine; the imports alone, which items share, take longer


def test_logs_are_free_of_advice(bench):
    for name in bench.requests:
        assert "Failed to import torch" not in bench.log(name)
        assert "No presets specified" not in bench.log(name)
    assert "Fitting model: LightGBM_c1_default_BAG_L1" in bench.log("light")


@pytest.mark.parametrize("packed", [True, False])
def test_whole_pickles_are_told_from_parts_of_them(tmp_path, packed):
    path = tmp_path / "results.pkl"
    whole = pickle.dumps({"values": list(range(1000))}, protocol=4)
    whole = gzip.compress(whole) if packed else whole
    path.write_bytes(whole)
    assert is_whole_pickle(path)
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert not is_whole_pickle(path), length
    assert not is_whole_pickle(tmp_path / "absent.pkl")
