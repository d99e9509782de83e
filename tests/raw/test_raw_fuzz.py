"""Damaged files of any kind: always a result or listed problems, never an error, a crash or a hang."""

from __future__ import annotations

import gzip
import pickle
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.contract import Failure
from benchwright.raw import check_file, decode_fully, effective_protocol, load_result
from benchwright.raw.labels import labels_checksum

FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def outcome(path: Path) -> str:
    """How a file ends: as a result, or as problems of it. Anything else fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_file(path)
        decode_fully(path)
        try:
            result = load_result(path)
        except Failure as failure:
            assert failure.problems
            assert all(problem.where == str(path) and problem.code for problem in failure.problems)
            assert str(failure).isprintable() or "\n" in str(failure)
            return "problems"
        assert (result.predictions is None) == (result.kind == "baseline")
        effective_protocol(result)
        if result.predictions is not None:
            labels_checksum(result.predictions)
        pickle.dumps(result)
        return "result"


@pytest.fixture(scope="module")
def plain(genuine) -> dict[str, bytes]:
    return {name: gzip.decompress(genuine(name).read_bytes()) for name in ("binary", "multiclass", "system", "knn")}


NAMES = st.sampled_from(["binary", "multiclass", "system", "knn"])


@FUZZ
@given(data=st.data())
def test_changed_bytes_of_a_plain_pickle(plain, tmp_path, data) -> None:
    content = bytearray(plain[data.draw(NAMES)])
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[place] = data.draw(st.integers(0, 255))
    (tmp_path / "results.pkl").write_bytes(content)
    outcome(tmp_path / "results.pkl")


@FUZZ
@given(data=st.data())
def test_changed_opcodes(plain, tmp_path, data) -> None:
    """Bytes that are opcodes take the place of bytes that are opcodes: what survives the scan most often."""
    content = bytearray(plain[data.draw(NAMES)])
    known = b"()0125BCGJKMNR]\x85\x86\x87\x88\x89\x8a\x8c\x8e\x8f\x90\x91\x92\x93\x94\x95abehjqrstu}\x81"
    for place in data.draw(st.lists(st.integers(11, len(content) - 2), min_size=1, max_size=6)):
        content[place] = data.draw(st.sampled_from(known))
    (tmp_path / "results.pkl").write_bytes(content)
    outcome(tmp_path / "results.pkl")


@FUZZ
@given(data=st.data())
def test_changed_bytes_of_a_gzip_file(genuine, tmp_path, data) -> None:
    whole = genuine(data.draw(NAMES)).read_bytes()
    content = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path / "results.pkl"
    path.write_bytes(content)
    ending = outcome(path)
    # Gzip's header holds a time and a system that no reader needs; everything after it is covered by the CRC.
    assert ending == "problems" or gzip.decompress(content) == gzip.decompress(whole)


@FUZZ
@given(data=st.data())
def test_cut_or_extended_files(plain, genuine, tmp_path, data) -> None:
    name = data.draw(NAMES)
    whole = data.draw(st.sampled_from([plain[name], genuine(name).read_bytes()]))
    cut = data.draw(st.integers(0, len(whole) - 1))
    tail = data.draw(st.binary(max_size=30))
    path = tmp_path / "results.pkl"
    path.write_bytes(whole[:cut] + tail)
    if whole != whole[:cut] + tail:
        assert outcome(path) == "problems"


@FUZZ
@given(content=st.binary(max_size=200), head=st.sampled_from([b"", b"\x80\x04", b"\x80\x02", b"\x1f\x8b\x08\x00"]))
def test_noise(tmp_path, content, head) -> None:
    (tmp_path / "results.pkl").write_bytes(head + content)
    assert outcome(tmp_path / "results.pkl") == "problems"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers()
values = st.recursive(
    leaves | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    | st.tuples(inner, inner),
    max_leaves=6,
)  # fmt: skip
PATHS = [
    "framework",
    "metric",
    "metric_error",
    "metric_error_val",
    "problem_type",
    "time_train_s",
    "task_metadata",
    "task_metadata.tid",
    "task_metadata.name",
    "task_metadata.split_idx",
    "memory_usage",
    "memory_usage.peak_mem_cpu",
    "experiment_metadata",
    "experiment_metadata.method_cls",
    "experiment_metadata.validation_protocol",
    "method_metadata",
    "method_metadata.model_type",
    "method_metadata.info",
    "method_metadata.info.bagged_info",
    "method_metadata.fit_kwargs_extra",
    "method_metadata.fit_kwargs_extra.num_bag_folds",
    "method_metadata.num_gpus",
    "simulation_artifacts",
    "simulation_artifacts.pred_proba_dict_val",
    "simulation_artifacts.y_val",
    "simulation_artifacts.y_val_idx",
    "simulation_artifacts.num_classes",
    "simulation_artifacts.label",
    "simulation_artifacts.ordered_class_labels",
    "simulation_artifacts.bag_info",
    "simulation_artifacts.bag_info.val_idx_per_child",
    "simulation_artifacts.eval_metric",
]


@FUZZ
@given(place=st.sampled_from(PATHS), value=values)
def test_any_value_in_any_place(content, written, place, value) -> None:
    changed = content("binary")
    inner = changed
    *outer, last = place.split(".")
    for key in outer:
        inner = inner[key]
    inner[last] = value
    path = written(changed, compress=False)
    if outcome(path) == "result":
        assert (load_result(path).kind == "config") == (changed["simulation_artifacts"] is not None)
