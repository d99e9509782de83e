import argparse
import json
import logging
import math
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from tabarena.models.knn.model import KNNNewModel

from benchwright.bridge import SmokeReport, model_infos, models, smoke_fit
from benchwright.bridge.smoke_overrides import IN_CHECKOUT, SmokeOverride, read_override, smoke_override
from benchwright.cli import ScriptParser, run_script
from benchwright.contract import Exit, Failure

OVERRIDES_OF_A_CHECKOUT = """
from dataclasses import dataclass, field

raise SystemExit("this file is read, never run")

@dataclass(frozen=True)
class ModelSmokeTest:
    hyperparameters: dict = field(default_factory=dict)
    problem_types: tuple[str, ...] | None = None
    verify_single_prediction_equivalent_to_multi: bool = True

SMOKE_OVERRIDES: dict[str, ModelSmokeTest] = {
    "KNeighbors": ModelSmokeTest({"n_neighbors": 1}, ("regression",)),
    "TabSwift": ModelSmokeTest(verify_single_prediction_equivalent_to_multi=False),
    "LightGBM": {"num_leaves": 2},
    "TabM": ModelSmokeTest({"n_epochs": EPOCHS}),
    "LinearModel": ModelSmokeTest(patience=3),
    "XGBoost": ModelSmokeTest(**ANYTHING),
}
"""


class Regression(KNNNewModel):
    """Fitted on one problem type, so that a test takes half a second."""

    ag_key = "SMOKY"
    ag_name = "Smoky"
    _supported_problem_types = ["regression"]  # noqa: RUF012


class Pretrained(Regression):
    """Sees through a booster that its weights file holds."""

    weights = Path("absent.txt")

    def _preprocess(self, X, **kwargs):
        import lightgbm
        import numpy as np
        from huggingface_hub.errors import LocalEntryNotFoundError

        if not self.weights.exists():
            raise LocalEntryNotFoundError(f"no file {self.weights.name} in the cache")
        X = super()._preprocess(X, **kwargs)
        booster = lightgbm.Booster(model_file=self.weights)
        padded = np.zeros((len(X), booster.num_feature()))
        padded[:, : X.shape[1]] = X
        return np.hstack([X, booster.predict(padded, pred_leaf=True)])


class Raises(Regression):
    error: Exception = ZeroDivisionError("no rows left")

    def _fit(self, **kwargs):
        print("so far so good")
        raise self.error


class RaisesOnClasses(KNNNewModel):
    ag_key = "CLASSY"
    ag_name = "Classy"

    def _fit(self, **kwargs):
        if self.problem_type != "regression":
            raise ZeroDivisionError("no classes left")
        super()._fit(**kwargs)


class Interrupted(Regression):
    def _fit(self, **kwargs):
        signal.raise_signal(signal.SIGINT)


class WarnsOnTheRootLogger(Regression):
    def _fit(self, **kwargs):
        logging.warning("a library's careless warning")
        super()._fit(**kwargs)


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """The current and the temporary folder, both empty, and empty again after the test."""
    folders = (tmp_path / "here", tmp_path / "temporary")
    for folder in folders:
        folder.mkdir()
    monkeypatch.chdir(folders[0])
    monkeypatch.setattr(tempfile, "tempdir", str(folders[1]))
    yield
    assert Path.cwd() == folders[0]
    assert [path for folder in folders for path in folder.iterdir()] == []


@pytest.fixture
def register():
    """Put models into ``tabarena``'s registry for the time of a test."""
    from tabarena.models import ModelInfo, get_model_registry, register_model_info
    from tabarena.models._method_metadata import MethodMetadata
    from tabarena.models.knn.hpo import gen_knn

    names = []

    def add(model_cls, *, compute="cpu", **fields):
        name = f"Smoky-{model_cls.__name__}"
        metadata = MethodMetadata.config(
            method=name, suite="tests", ag_key="SMOKY", config_default="Smoky_c1", compute=compute, is_bag=False,
            display_name=name, date="2026-01-01",
        )  # fmt: skip
        register_model_info(ModelInfo(model_cls=model_cls, search_space=gen_knn, method_metadata=metadata, **fields))
        models._registry.cache_clear()
        names.append(name)
        return name

    yield add
    for name in names:
        del get_model_registry()[name]
    models._registry.cache_clear()


def checkout(folder: Path, text: str = OVERRIDES_OF_A_CHECKOUT) -> Path:
    file = folder / IN_CHECKOUT
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return folder


def failure_of(*args, **kwargs) -> Failure:
    with pytest.raises(Failure) as raised:
        smoke_fit(*args, **kwargs)
    return raised.value


def test_a_model_is_fitted_on_each_of_its_problem_types_and_the_last_line_says_so(capfd):
    calls = []

    def call(_args: argparse.Namespace, _shell: object):
        return smoke_fit("KNN", progress=lambda done, total, **_: calls.append((done, total))).outcome()

    assert run_script(ScriptParser(description="smoke"), call, []) == Exit.DONE
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("KNeighbors fits the toy data in ")
    assert lines[0].endswith(" s on the CPU: binary, multiclass, regression")
    assert lines[-1] == "SMOKE OK"
    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_settings_that_json_cannot_hold_are_told_as_text():
    report = SmokeReport("KNeighbors", 1.25, "gpu", ("binary",), {"p": math.inf, "n": 2, "to": Path}, ("a note",))
    outcome = report.outcome()
    assert outcome.data["hyperparameters"] == {"p": "inf", "n": 2, "to": "<class 'pathlib.Path'>"}
    assert json.loads(json.dumps(outcome.data, allow_nan=False))["seconds"] == 1.25
    assert list(outcome.details) == ["set for it: p='inf', n=2, to=\"<class 'pathlib.Path'>\"", "note: a note"]


def test_a_model_for_gpus_gets_its_weights_and_is_fitted_on_the_cpu(register, tmp_path, monkeypatch):
    monkeypatch.setattr("benchwright.bridge.smoke.import_module", no_torch)
    monkeypatch.setattr(Pretrained, "weights", tmp_path / "cache" / "booster.txt")
    name = register(Pretrained, compute="gpu", prefetch_weights=train_booster)
    report = smoke_fit(name, extra_hyperparameters={"n_neighbors": 2})
    assert Pretrained.weights.stat().st_size > 1000
    assert (report.model, report.device, report.problem_types) == (name, "cpu", ("regression",))
    assert report.hyperparameters == {"n_neighbors": 2}
    assert report.notes == (
        f"weights of {name} are in the cache",
        "there is no CUDA device here, so a model made for GPUs was fitted on the CPU",
    )


def train_booster():
    """Put a small model into the cache: LightGBM's, of the data that scikit-learn ships."""
    import lightgbm
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    Pretrained.weights.parent.mkdir()
    booster = lightgbm.train({"num_leaves": 7, "verbosity": -1}, lightgbm.Dataset(X, y), num_boost_round=5)
    booster.save_model(Pretrained.weights)


def no_torch(name):
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_weights_that_a_fit_misses_are_a_fault_of_this_machine(register):
    failure = failure_of(register(Pretrained))
    assert failure.exit == Exit.ENVIRONMENT
    (problem,) = failure.problems
    assert (problem.code, problem.where) == ("weights-missing", "model Smoky-Pretrained")
    assert problem.found.startswith("huggingface_hub.errors.LocalEntryNotFoundError: no file")
    assert problem.fix == "connect (and log in, for gated weights) and run this again"


def test_weights_that_cannot_be_fetched_stop_before_the_fit(register, no_network, capfd):
    def fetch():
        from huggingface_hub import hf_hub_download

        hf_hub_download("benchwright/nothing", "weights.bin", cache_dir=no_network / "hub")

    failure = failure_of(register(Raises, prefetch_weights=fetch))
    assert failure.exit == Exit.ENVIRONMENT
    assert [(problem.code, problem.where) for problem in failure.problems] == [
        ("weights-missing", "weights of Smoky-Raises")
    ]
    assert "so far so good" not in capfd.readouterr().err


def test_a_missing_package_is_named_with_its_install_command():
    failure, python = failure_of("TabM"), shlex.quote(sys.executable)
    assert failure.exit == Exit.ENVIRONMENT
    assert str(failure) == (
        "model TabM: No module named 'torch', expected its libraries\n"
        f"    fix: {python} scripts/run_venv.py --python {python} --install TabM --apply"
    )


def test_a_missing_package_without_requirements_is_named_by_its_module():
    failure = failure_of("TorchMLP")
    assert failure.exit == Exit.ENVIRONMENT
    assert str(failure) == (
        "model NeuralNetTorch: Unable to import dependency torch, expected its libraries\n"
        "    fix: install what has the module torch (mostly: pip install torch)"
    )


def test_a_fault_of_the_wrapper_shows_its_line_once_for_all_problem_types(register, capfd):
    failure = failure_of(register(RaisesOnClasses))
    assert failure.exit == Exit.NO
    (problem,) = failure.problems
    assert problem.code == "fit-failed"
    assert problem.where == "model Smoky-RaisesOnClasses on toy data (binary, multiclass)"
    line = RaisesOnClasses._fit.__code__.co_firstlineno + 2
    assert problem.found == f"ZeroDivisionError: no classes left (at {__file__}:{line}, _fit)"
    assert problem.fix == "mend the model's wrapper (the whole traceback is on stderr), then run the smoke fit again"
    out, err = capfd.readouterr()
    assert out == ""
    assert 'raise ZeroDivisionError("no classes left")' in err


def test_what_a_wrapper_prints_goes_to_stderr(register, capfd):
    failure_of(register(Raises))
    out, err = capfd.readouterr()
    assert out == ""
    assert "so far so good" in err


@pytest.mark.parametrize(
    ("error", "code", "fix"),
    [
        (
            RuntimeError("Found no NVIDIA driver on your system."),
            "device",
            'set SMOKE_EXTRA_HYPERPARAMETERS = {"device": "cpu"} in the run script and run the smoke fit again, '
            "or run it on a machine with a GPU",
        ),
        (MemoryError(), "not-enough-memory", "free some, or run the smoke fit on a machine with more"),
    ],
)
def test_what_this_machine_lacks_is_told_from_a_fault_of_the_wrapper(register, monkeypatch, error, code, fix):
    monkeypatch.setattr("benchwright.bridge.smoke.import_module", no_torch)
    monkeypatch.setattr(Raises, "error", error)
    failure = failure_of(register(Raises, compute="gpu"))
    assert failure.exit == Exit.ENVIRONMENT
    assert [(problem.code, problem.fix) for problem in failure.problems] == [(code, fix)]


def test_a_device_that_a_library_looks_for_in_vain_is_told(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    failure = failure_of("CatBoost", extra_hyperparameters={"task_type": "GPU"})
    assert failure.exit == Exit.ENVIRONMENT
    assert [problem.code for problem in failure.problems] == ["device"]


def test_a_model_that_may_need_to_be_told_the_device_says_so(register, monkeypatch):
    monkeypatch.setattr("benchwright.bridge.smoke.import_module", no_torch)
    (problem,) = failure_of(register(Raises, compute="gpu")).problems
    assert problem.fix.endswith(
        '; it does not read num_gpus, so without a GPU it may need SMOKE_EXTRA_HYPERPARAMETERS = {"device": "cpu"} '
        "in the run script"
    )


def test_a_setting_that_the_model_does_not_take_is_to_be_taken_out(register):
    (problem,) = failure_of(register(Regression), extra_hyperparameters={"device": "cpu"}).problems
    assert problem.found.startswith("TypeError: KNeighborsRegressor")
    assert problem.fix == "take device out of SMOKE_EXTRA_HYPERPARAMETERS in the run script"


def test_ctrl_c_leaves_nothing_behind(register):
    with pytest.raises(KeyboardInterrupt):
        smoke_fit(register(Interrupted))


def test_a_library_that_warns_on_the_root_logger_is_no_fault(register, monkeypatch):
    # Under pytest the root logger has handlers; in a script it has none, and the first warning adds one.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    assert smoke_fit(register(WarnsOnTheRootLogger)).problem_types == ("regression",)
    assert logging.getLogger().handlers == []


def test_a_superseded_model_is_refused_with_the_reason():
    failure = failure_of("TabDPT_GPU")
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "model TabDPT_GPU: a newer entry of the registry has replaced it, and the two cannot be installed together "
        "(it needs tabdpt<1.2), expected a model that is not superseded\n    fix: take the newer model"
    )


def test_an_unknown_model_is_refused_with_close_names():
    failure = failure_of("XGBost")
    assert failure.exit == Exit.USAGE
    assert "did you mean 'XGBoost'?" in str(failure)


@pytest.mark.parametrize("extra", [["device"], "cpu", None, {1: "cpu"}])
def test_settings_that_are_no_dict_are_refused(extra):
    failure = failure_of("KNN", extra_hyperparameters=extra)
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        f'SMOKE_EXTRA_HYPERPARAMETERS: {extra!r}, expected a dict of hyperparameters such as {{"device": "cpu"}}\n'
        "    fix: correct it in the run script"
    )


def test_the_shipped_settings_are_for_models_of_the_registry():
    types = {info.name: info.problem_types for info in model_infos()}
    changed = {name: smoke_override(name)[0] for name in types if smoke_override(name)[0] != SmokeOverride()}
    assert len(changed) == 21  # all that the file has
    assert changed["TabM"].hyperparameters == {"n_epochs": 10, "tabm_k": 2, "n_bins": 8, "num_emb_type": "none"}
    assert changed["TabPFN-3"].hyperparameters == {"n_estimators": 1, "device": "cpu"}
    assert changed["Nori"].problem_types == ("regression",)
    assert not changed["TabSwift"].verify_single_prediction_equivalent_to_multi
    assert all(set(one.problem_types or ()) <= set(types[name]) for name, one in changed.items())


def test_a_checkouts_own_settings_win(tmp_path):
    report = smoke_fit("KNN", checkout=checkout(tmp_path / "tabarena"), extra_hyperparameters={"p": 1})
    assert report.problem_types == ("regression",)
    assert report.hyperparameters == {"n_neighbors": 1, "p": 1}
    assert report.notes == (f"smoke settings of {tmp_path / 'tabarena' / IN_CHECKOUT}",)


def test_a_checkouts_entries_are_read_without_being_run(tmp_path):
    file = checkout(tmp_path) / IN_CHECKOUT
    assert read_override(file, "TabSwift") == SmokeOverride(verify_single_prediction_equivalent_to_multi=False)
    assert read_override(file, "LightGBM") == SmokeOverride({"num_leaves": 2})
    assert read_override(file, "CatBoost") == SmokeOverride()


@pytest.mark.parametrize(
    ("model", "text", "reason"),
    [
        ("TabM", OVERRIDES_OF_A_CHECKOUT, "line 16: the entry of TabM is not literal"),
        ("LinearModel", OVERRIDES_OF_A_CHECKOUT, "line 17: the entry of LinearModel is not literal"),
        ("XGBoost", OVERRIDES_OF_A_CHECKOUT, "line 18: the entry of XGBoost is not literal"),
        ("TabM", "SMOKE_OVERRIDES = load()", "line 1: SMOKE_OVERRIDES is not written out"),
        ("TabM", "SMOKE_OVERRIDES = {**OTHERS}", "line 1: SMOKE_OVERRIDES is not written out"),
        ("TabM", "", "it has no SMOKE_OVERRIDES"),
        ("TabM", "SMOKE_OVERRIDES = {", "line 1: '{' was never closed"),
    ],
)
def test_settings_that_are_not_literal_fall_back_to_the_shipped_ones_and_say_so(tmp_path, model, text, reason):
    override, notes = smoke_override(model, checkout(tmp_path, text))
    assert override == smoke_override(model)[0]
    file = tmp_path / IN_CHECKOUT
    assert notes == (f"{file} cannot be read without running it ({reason}): the shipped smoke settings are used",)


def test_the_checkout_that_tabarena_is_imported_from_is_found(tmp_path, monkeypatch):
    import tabarena

    package = checkout(tmp_path) / "packages" / "tabarena" / "src" / "tabarena" / "__init__.py"
    monkeypatch.setattr(tabarena, "__file__", os.fspath(package))
    assert smoke_override("LightGBM")[0].hyperparameters == {"num_leaves": 2}
    monkeypatch.setattr(tabarena, "__file__", os.fspath(tmp_path / "venv" / "site-packages" / "tabarena" / "x.py"))
    assert smoke_override("LightGBM") == (SmokeOverride(), ())


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    failure = failure_of("KNN", checkout=tmp_path)
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        f"checkout: there is no {tmp_path / IN_CHECKOUT}, expected a TabArena checkout, which has {IN_CHECKOUT}\n"
        "    fix: give the top folder of the checkout"
    )


def test_settings_without_a_problem_type_of_the_model_are_refused(tmp_path):
    text = 'SMOKE_OVERRIDES = {"KNeighbors": Smoke(problem_types=("quantile",))}'
    failure = failure_of("KNN", checkout=checkout(tmp_path, text))
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "model KNeighbors: its smoke settings have quantile, expected one of binary, multiclass, regression\n"
        "    fix: correct problem_types in its smoke settings"
    )
