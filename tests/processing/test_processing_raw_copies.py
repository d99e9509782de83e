"""Raw copies: the same result under its processed name, in plain values, with nothing of the machine it came from."""

import gzip
import io
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from artifact_samples import metadata_of
from processing_samples import DATA, RAW

from benchwright.arena import MethodMetadata
from benchwright.arena.machine_paths import without_paths, without_paths_in_bytes
from benchwright.contract import Failure, Redaction
from benchwright.processing.gzip_stream import gzipped
from benchwright.processing.hiding import Hiding, redaction
from benchwright.processing.plain import Plain, json_ready
from benchwright.processing.raw_copy import Hidings, plain_source, raw_copy
from benchwright.raw.loading import load_file
from benchwright.raw.stand_in import stand_in

WINE = "local_wine-0ae0b9dbb2cc"
GBM = RAW / "LightGBM_c1_default_BAG_L1" / WINE / "0_0" / "results.pkl"
BEYOND = DATA / "tabarena_raw_protocols/beyond/data/LightGBM_c1_BAG_L1" / WINE / "0_0" / "results.pkl"
SYSTEM = RAW / "DemoLogisticSystem_c1_default" / WINE / "0_0" / "results.pkl"
NUMPY_ALONE = {"numpy._core.multiarray._reconstruct", "numpy._core.multiarray.scalar", "numpy.dtype", "numpy.ndarray"}


def copy_of(path, name, metadata, tmp_path):
    """A copy, written where its own folder would be, and loaded again."""
    target = tmp_path / name / path.parts[-3] / path.parts[-2] / "results.pkl"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(copied(load_file(path), name, metadata))
    return target


def copied(file, name, metadata):
    """The raw copy of a file."""
    return raw_copy(file, plain_source(file, Hidings.of(redaction())), name, metadata)


def plain_of(value, *, hide_paths=True):
    """The value, made plain."""
    return Plain(Hiding(Redaction({}), paths=hide_paths))(value)


class Recording(pickle.Unpickler):
    """Loads a file for real, noting what it names."""

    def __init__(self, path):
        super().__init__(io.BytesIO(gzip.decompress(path.read_bytes())))
        self.names = set()

    def find_class(self, module, name):
        self.names.add(f"{module}.{name}")
        return super().find_class(module, name)


def names_in(path):
    """The globals that a result file names."""
    recording = Recording(path)
    recording.load()
    return recording.names


def same(mine, theirs):
    """Whether two loaded values are equal, arrays included."""
    if isinstance(mine, np.ndarray):
        return np.array_equal(mine, theirs) and mine.dtype == theirs.dtype
    if isinstance(mine, dict):
        return mine.keys() == theirs.keys() and all(same(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list | tuple):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    return mine == theirs


def test_a_copy_is_the_same_result(tmp_path):
    original = load_file(GBM).result
    copy = load_file(copy_of(GBM, original.framework, metadata_of("LightGBM"), tmp_path)).result
    for name in ("framework", "dataset", "tid", "split", "metric_error", "metric_error_val", "time_train_s"):
        assert getattr(copy, name) == getattr(original, name)
    for name in ("val", "test", "y_val", "y_test", "y_val_index", "y_test_index", "test_per_child"):
        assert same(getattr(copy.predictions, name), getattr(original.predictions, name))
    assert copy.warnings == original.warnings == ()


def test_a_copy_of_plain_values_needs_nothing_but_numpy(tmp_path):
    for path in (GBM, BEYOND):
        copy = copy_of(path, path.parts[-4], metadata_of("LightGBM"), tmp_path)
        assert any(name.startswith("autogluon.") for name in names_in(path))
        assert names_in(copy) <= NUMPY_ALONE
    code = f"import gzip, pickle; print(pickle.loads(gzip.open({str(copy)!r}).read())['framework'])"
    blocked = f"import sys; sys.modules.update(autogluon=None, tabarena=None, benchwright=None)\n{code}"
    said = subprocess.run([sys.executable, "-c", blocked], check=True, capture_output=True, text=True)
    assert said.stdout == "LightGBM_c1_BAG_L1\n"


def test_what_stood_in_for_objects_is_told(tmp_path):
    copy = pickle.loads(gzip.decompress(copy_of(BEYOND, "X_c1", metadata_of("LightGBM"), tmp_path).read_bytes()))
    info = copy["method_metadata"]["info"]
    assert type(info["ag_args_fit"]) is dict
    assert info["ag_args_fit"]["max_memory_usage_ratio"] == 1.0
    user = copy["method_metadata"]["hyperparameters"]["ag_args_fit"]["model_specific_feature_generator_kwargs"]
    ((generator, options),) = user["feature_generators"][0]
    module = "tabarena.benchmark.preprocessing.model_specific_default_preprocessing"
    assert generator == f"{module}.ModelSpecificFeatureGenerator"
    first = options["generators"][0][0]
    assert first["class"] == "autogluon.features.generators.identity.IdentityFeatureGenerator"
    assert first["state"]["passthrough_stage"] == "first"


def test_paths_are_hidden_and_names_of_columns_are_not(tmp_path):
    copy = pickle.loads(gzip.decompress(copy_of(GBM, "X_c1", metadata_of("LightGBM"), tmp_path).read_bytes()))
    assert copy["method_metadata"]["init_kwargs_extra"]["default_base_path"] == "<path>"
    assert "od280/od315_of_diluted_wines" in copy["method_metadata"]["info"]["features"]


def test_names_after_processing(tmp_path):
    renamed = MethodMetadata.config(method="Boost", suite="s", ag_key="GBM", model_key="BOOST", name_suffix="_v2")
    path = copy_of(GBM, "Boost_v2_c1_default_BAG_L1", renamed, tmp_path)
    copy = pickle.loads(gzip.decompress(path.read_bytes()))
    assert copy["framework"] == "Boost_v2_c1_default_BAG_L1"
    assert list(copy["simulation_artifacts"]["pred_proba_dict_val"]) == ["Boost_v2_c1_default_BAG_L1"]
    method = copy["method_metadata"]
    assert (method["name_prefix"], method["model_type"], method["ag_key"]) == ("Boost_v2", "BOOST_v2", "GBM")
    assert load_file(path).result.framework == "Boost_v2_c1_default_BAG_L1"


def test_a_copy_of_a_copy_is_the_copy(tmp_path):
    for path, method in ((GBM, "LightGBM"), (BEYOND, "LightGBM"), (SYSTEM, "DemoLogisticSystem")):
        name = method if method.startswith("Demo") else path.parts[-4]
        first = copy_of(path, name, metadata_of(method), tmp_path)
        loaded = load_file(first)
        assert copied(loaded, name, metadata_of(method)) == loaded.content


def test_what_only_the_stream_of_a_file_holds_is_not_copied(tmp_path):
    system = metadata_of("DemoLogisticSystem")
    content = copied(load_file(SYSTEM), "DemoLogisticSystem", system)
    stream = gzip.decompress(content)
    text = b"/home/someone/x"
    dropped = pickle.SHORT_BINUNICODE + bytes([len(text)]) + text + pickle.POP
    path = tmp_path / "results.pkl"
    path.write_bytes(gzipped(stream[:2] + dropped + stream[2:]))
    assert copied(load_file(path), "DemoLogisticSystem", system) == content


def test_a_file_that_somebody_else_packed_is_packed_anew(tmp_path):
    """A gzip header may hold a time and a file's name."""
    system = metadata_of("DemoLogisticSystem")
    content = copied(load_file(SYSTEM), "DemoLogisticSystem", system)
    path = tmp_path / "results.pkl"
    with gzip.GzipFile("/home/someone/results.pkl", "wb", fileobj=path.open("wb"), mtime=1_700_000_000) as file:
        file.write(gzip.decompress(content))
    assert b"someone" in path.read_bytes() or b"results" in path.read_bytes()
    assert copied(load_file(path), "DemoLogisticSystem", system) == content


def test_copies_do_not_depend_on_the_order_of_sets(tmp_path):
    result = pickle.loads(pickle.dumps(pickle.loads(gzip.decompress(SYSTEM.read_bytes()))))
    result["experiment_metadata"]["used"] = {f"feature {number}" for number in range(20)}
    path = tmp_path / "results.pkl"
    path.write_bytes(gzip.compress(pickle.dumps(result)))
    code = f"""
import hashlib, sys
sys.path.insert(0, {str(DATA.parent / "processing")!r})
from artifact_samples import metadata_of
from benchwright.contract import Redaction
from benchwright.processing.raw_copy import Hidings, plain_source, raw_copy
from benchwright.raw.loading import load_file
file = load_file({str(path)!r})
copy = raw_copy(file, plain_source(file, Hidings.of(Redaction())), "Demo", metadata_of("DemoLogisticSystem"))
print(hashlib.sha256(copy).hexdigest())
"""
    said = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONHASHSEED": str(seed)}
        ).stdout
        for seed in (1, 2)
    }
    assert len(said) == 1


def test_the_first_layout_becomes_todays(tmp_path):
    result = pickle.loads(gzip.decompress(copy_of(GBM, "M_c1", metadata_of("LightGBM"), tmp_path).read_bytes()))
    task = result["task_metadata"]
    result["simulation_artifacts"] = {task["name"]: {task["split_idx"]: result["simulation_artifacts"]}}
    path = tmp_path / "old.pkl"
    path.write_bytes(gzip.compress(pickle.dumps(result)))
    copy = pickle.loads(gzip.decompress(copied(load_file(path), "M_c1", metadata_of("LightGBM"))))
    assert "pred_proba_dict_val" in copy["simulation_artifacts"]


def test_values_that_nobody_should_walk_are_refused(tmp_path):
    result = pickle.loads(gzip.decompress(copy_of(GBM, "M_c1", metadata_of("LightGBM"), tmp_path).read_bytes()))
    nested = []
    for _ in range(150):
        nested = [nested]
    result["method_metadata"]["info"]["nested"] = nested
    path = tmp_path / "deep.pkl"
    path.write_bytes(gzip.compress(pickle.dumps(result)))
    with pytest.raises(Failure) as caught:
        copied(load_file(path), "M_c1", metadata_of("LightGBM"))
    assert str(caught.value) == (
        f"{path}: values nested more than 100 deep, expected plain metadata\n"
        "    fix: have the model record plainer metadata, and run this item again"
    )


def test_containers_that_hold_themselves_or_are_held_twice_stay_so():
    shared = ["x"]
    loop = {"shared": shared, "again": shared}
    loop["self"] = loop
    plain = plain_of(loop)
    assert plain["self"] is plain
    assert plain["shared"] is plain["again"] == ["x"]
    doubled = ["x"]
    for _ in range(60):
        doubled = [doubled, doubled]
    once = plain_of(doubled)
    assert once[0] is once[1]


def test_what_becomes_of_odd_values():
    made = stand_in("some.Parameters")({"depth": 3})
    made["rounds"] = 5
    bare = stand_in("some.Thing")()
    plain = Plain(Hiding(Redaction({}), paths=True))
    assert plain(made) == {"depth": 3, "rounds": 5}
    assert plain(bare) == {"class": "some.Thing"}
    assert plain(stand_in("some.Class")) == "some.Class"
    assert plain({"b", "a"}) == ["a", "b"]
    assert plain({frozenset({"b", "a"}): 1}) == {"a value of type frozenset": 1}
    assert plain({"/home/a/b": 1, "/home/c/d": 2}) == {"<path>": 1, "<path>'": 2}
    for kind in (object, str):
        assert plain(np.array(["/home/a/b", "c"], dtype=kind)).tolist() == ["<path>", "c"]
    assert plain(np.str_("/home/a/b")) == "<path>"
    assert plain_of(np.array(["/home/a/b"]), hide_paths=False).tolist() == ["/home/a/b"]
    assert not plain.secret


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("/data/bench/ag", "<path>"),
        ("/scratch", "<path>"),
        ("/home/some one/models", "<path>"),
        ("file:///home/someone/x.csv", "<path>"),
        ("C:\\Users\\someone\\models", "<path>"),
        ("\\\\server\\share\\models", "<path>"),
        ("UserTask|1|wine|/data/bench/task_cache", "UserTask|1|wine|<path>"),
        ('File "/home/someone/fit.py", line 3', 'File "<path>", line 3'),
        ("saved to /tmp/ag/models/", "saved to <path>"),
        ("//home//some//models", "<path>"),
        ("from //home//some//models on", "from <path> on"),
        ("~some/models", "<path>"),
        ("in ~/models and ~some/models/x", "in <path> and <path>"),
        ("opened /home/some one/models of", "opened <path> of"),
        ("opened '/home/some one/my models' of", "opened '<path>' of"),
        ('opened "/home/some one/my models" of', 'opened "<path>" of'),
        ("opened C:\\Users\\some one\\models of", "opened <path> of"),
        ("from /home/some/x in 3 s at 5 it/s", "from <path> in 3 s at 5 it/s"),
        ("y ~ a/b, y ~1/2, // a comment", "y ~ a/b, y ~1/2, // a comment"),
        ("od280/od315_of_diluted_wines", "od280/od315_of_diluted_wines"),
        ("https://data.example.org/cache/artifacts", "https://data.example.org/cache/artifacts"),
        ("s3://bucket/prefix/key", "s3://bucket/prefix/key"),
        ("1/2, and/or, m/s", "1/2, and/or, m/s"),
        ("models/LightGBM/T1", "models/LightGBM/T1"),
        ("/", "/"),
        ("a / b", "a / b"),
        ("\\d+", "\\d+"),
    ],
)
def test_absolute_paths_in_texts(text, hidden):
    assert without_paths(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        *("/a" + "/" * 200_000 + "\nb", "/a" * 100_000 + "\n/", "/" + "a" * 200_000 + " b", "x /a/b" + " c" * 100_000),
        *("/" * 200_000, "x " + "/" * 200_000, "x '/" * 50_000, "x ~" + "a" * 200_000, "x ~a/" + "/~a" * 70_000),
    ],
)
def test_texts_made_to_take_long(text):
    before = time.process_time()
    without_paths(text)
    without_paths_in_bytes(text)
    assert time.process_time() - before < 0.2


def test_json_of_plain_values():
    value = {"a": (1, np.float32(0.5)), 3: np.array([1, 2]), ("x",): {1.5: None}, "b": b"x"}
    assert json_ready(value) == {"a": [1, 0.5], 3: [1, 2], "('x',)": {1.5: None}, "b": "b'x'"}
    odd = {"missing": np.float32("nan"), float("inf"): [float("-inf"), float("nan")]}
    assert json_ready(odd) == {"missing": "nan", "inf": ["-inf", "nan"]}


@pytest.mark.parametrize(
    "content",
    [b"", b"x", b"text " * 20_000, np.random.default_rng(0).bytes(300_000), b"text " * 9_000 + bytes(range(256)) * 400],
    ids=["empty", "a byte", "text", "noise", "both"],
)
def test_packing(content):
    packed = gzipped(content)
    assert gzip.decompress(packed) == content
    assert packed == gzipped(content)
    assert packed[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    assert len(packed) <= len(content) + len(content) // 1000 + 64


def test_predictions_are_stored_and_the_rest_shrinks():
    noise, text = np.random.default_rng(0).random(50_000, np.float32).tobytes(), b"hyperparameters " * 4_000
    packed = gzipped(noise + text)
    assert len(noise) < len(packed) < len(noise) + len(text) // 10
