"""The sidecar: what an artifact was made from and should hold, the same bytes for the same results."""

import hashlib
import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from artifact_samples import build, contents, copied, files_of, metadata_of
from processing_samples import DATA, DATASETS

from benchwright import __version__
from benchwright.contract import Failure
from benchwright.files import digest
from benchwright.processing import Finding, Sidecar, build_artifact, read_sidecar
from benchwright.processing.sidecar import Inputs
from benchwright.raw import find_results
from raw_trees import RAW, add_result, recorded

FOREST = "RandomForest_c1_default_BAG_L1"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build("RandomForest", tmp_path_factory.mktemp("cache"))


def test_every_file_but_itself_with_size_and_digest(built):
    files = contents(built.folder)
    said = read_sidecar(built.folder).files
    assert said.keys() == files.keys() - {"provenance.json"}
    for name, facts in said.items():
        assert (facts.size, facts.sha256) == (len(files[name]), hashlib.sha256(files[name]).hexdigest())


def test_what_it_was_made_from(built):
    sidecar = read_sidecar(built.folder)
    files = files_of("RandomForest")
    splits = {f"{file.task_key}/{file.repeat}_{file.fold}": file for file in files}  # one config, one file a split
    digests = {
        place: hashlib.sha256(f"{file.method} {digest(file.path)}\n".encode()).hexdigest()
        for place, file in splits.items()
    }
    lines = "".join(f"{place} {digests[place]}\n" for place in sorted(digests))
    assert (sidecar.inputs.files, sidecar.inputs.size) == (9, sum(file.size for file in files))
    assert sidecar.inputs.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert sidecar.counts == {"results": 9, "configs": 1, "datasets": 3, "splits": 9} == built.counts
    assert (sidecar.method, sidecar.suite) == ("RandomForest", "local-2026-11-29")
    assert sidecar.versions == {
        "benchwright": __version__,
        "python": sys.version.split()[0],
        **{package: version(package) for package in ("numpy", "pyarrow", "numba")},
    }


def test_a_protocol_that_is_neither_declared_nor_recorded_is_shown_but_not_claimed(built):
    sidecar = read_sidecar(built.folder)
    assert sidecar.validation_protocol is None
    assert sidecar.protocols == {"8 children, 8 folds x 1 repeat": 9}


def test_a_recorded_protocol_needs_no_declaration(tmp_path):
    add_result(tmp_path / "data", FOREST, source=RAW / FOREST, change=recorded("8x1"))
    built = build("RandomForest", tmp_path / "cache", source=tmp_path / "data")
    assert read_sidecar(built.folder).validation_protocol == "8x1"


@pytest.mark.parametrize(
    ("folder", "config", "declared", "key", "shown"),
    [
        ("knn", "KNeighbors_c1_default_BAG_L1", "8x1", "8x1", "8x1 requested; 1 child via use_child_oof"),
        (
            "beyond",
            "LightGBM_c1_BAG_L1",
            "dynamic:8x1,5x5<=500",
            "dynamic:8x1,5x5<=500",
            "25 children, 5 folds x 5 repeats",
        ),
        ("beyond", "LightGBM_c1_BAG_L1", None, None, "25 children, 5 folds x 5 repeats"),
        ("beyond", "LightGBM_c1_BAG_L1", "8x1", None, "25 children, 5 folds x 5 repeats"),
        ("holdout", "LightGBM_c1_default_HOLDOUT", "holdout:0.2", "holdout:0.2", "no children"),
    ],
)
def test_protocols_of_other_runs(tmp_path, folder, config, declared, key, shown):
    files = find_results(DATA / "tabarena_raw_protocols" / folder / "data").files
    method = config.partition("_")[0]
    metadata = metadata_of(
        "LightGBM",
        method=method,
        ag_key=None,
        model_key=None,
        can_hpo=False,
        config_default=config,
        validation_protocol=declared,
    )
    built = build_artifact([file for file in files if file.method == config], metadata, cache_root=tmp_path, jobs=1)
    sidecar = read_sidecar(built.folder)
    assert sidecar.validation_protocol == key
    assert any(line.startswith(shown) for line in sidecar.protocols)


def test_results_without_children(tmp_path):
    declared = metadata_of("DemoLogisticSystem", validation_protocol="system")
    built = build_artifact(files_of("DemoLogisticSystem"), declared, cache_root=tmp_path, jobs=1)
    assert read_sidecar(built.folder).validation_protocol == "system"
    outer = find_results(DATA / "tabarena_raw_protocols/outer/data").files
    metadata = metadata_of(
        "DemoLogisticSystem", method="LightGBM", method_class="model", tags=(), validation_protocol="outer"
    )
    built = build_artifact(outer, metadata, cache_root=tmp_path, jobs=1)
    assert read_sidecar(built.folder).validation_protocol == "outer"


def test_the_inputs_digest_tells_results_apart_wherever_they_lie(built, tmp_path):
    source = copied(tmp_path / "elsewhere", FOREST)
    same = build("RandomForest", tmp_path / "cache", source=source)
    assert contents(same.folder) == contents(built.folder)
    shutil.rmtree(source / FOREST / DATASETS[0] / "0_0")
    other = build("RandomForest", tmp_path / "cache", source=source, replace_present=True)
    assert read_sidecar(other.folder).inputs.sha256 != read_sidecar(built.folder).inputs.sha256


def test_written_and_read_again(tmp_path):
    finding = Finding("splits-missing", "warn", "wine", 3, "M_c1", "no results", "all", "run them")
    sidecar = Sidecar(
        method="M",
        suite="s",
        validation_protocol=None,
        protocols={"not recorded": 1},
        counts={"results": 1},
        versions={"python": "3"},
        inputs=Inputs(0, 0, hashlib.sha256(b"").hexdigest()),
        files={},
        findings=(finding,),
    )
    (tmp_path / "provenance.json").write_text(sidecar.to_json())
    assert read_sidecar(tmp_path) == sidecar
    assert str(finding.problem()) == "wine, split 3, M_c1: no results, expected all\n    fix: run them"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "no-sidecar"),
        (b"{", "not-json"),
        (b"[]", "bad-sidecar"),
        (b"{}", "bad-sidecar"),
        (b'{"format": 99}', "bad-sidecar"),
    ],
)
def test_what_is_no_sidecar(tmp_path, content, code):
    path = Path(tmp_path) / "provenance.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Failure) as caught:
        read_sidecar(tmp_path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == (code, str(path))
    if code == "bad-sidecar":
        assert str(problem) == (
            f"{path}: other content, expected a sidecar of format 1\n    fix: process the results again"
        )


def test_a_sidecar_with_a_field_of_another_kind_is_refused(built, tmp_path):
    values = json.loads((built.folder / "provenance.json").read_text())
    for field, wrong in (("files", []), ("inputs", {"files": 1}), ("findings", [{"code": "x"}]), ("protocols", None)):
        (tmp_path / "provenance.json").write_text(json.dumps({**values, field: wrong}))
        with pytest.raises(Failure) as caught:
            read_sidecar(tmp_path)
        assert caught.value.problems[0].code == "bad-sidecar"
