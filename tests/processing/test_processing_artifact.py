"""The artifact folder: the public pipeline's tables from the same results, built whole or not at all."""

import dataclasses
import gzip
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from artifact_samples import ALL_METHODS, SUITE, build, contents, copied, files_of, metadata_of
from processing_samples import DATASETS, METHODS, RAW

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.processing import artifact, artifact_files, build_artifact
from benchwright.processing.staging import artifact_lock, check_file_system, staging_folder
from benchwright.raw import find_results
from raw_trees import add_result

C1, R1, R2 = (f"LightGBM_{number}_default_BAG_L1" for number in ("c1", "r1", "r2"))
BREAST, DIABETES, WINE = DATASETS
TABLES = ["results/model_results", "results/hpo_results", "results/hpo_trajectories", "processed/configs"]
TABLES += ["processed/baselines", "processed/task_metadata"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache with the artifacts of all genuine methods."""
    root = tmp_path_factory.mktemp("cache with space")
    for method in ALL_METHODS:
        build(method, root)
    return root


def folder_of(root, method):
    return root / "artifacts" / SUITE / "methods" / method


@pytest.mark.parametrize("method", ALL_METHODS)
def test_it_holds_what_the_public_pipeline_writes(cache, method):
    theirs = set(contents(METHODS / method))
    ours = {name for name in contents(folder_of(cache, method)) if not name.startswith("raw/")}
    assert ours == theirs | {"provenance.json"}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", ALL_METHODS)
def test_tables_equal_the_public_ones(cache, method, table):
    theirs = METHODS / method / f"{table}.parquet"
    ours = folder_of(cache, method) / f"{table}.parquet"
    assert ours.exists() == theirs.exists()
    if not theirs.exists():
        return
    assert pq.read_schema(ours).remove_metadata() == pq.read_schema(theirs).remove_metadata()
    expected = pd.read_parquet(theirs)
    if table.endswith("task_metadata"):  # theirs names the maintainer's folder
        expected["task_id_str"] = [text.rpartition("|")[0] for text in expected["task_id_str"]]
    pd.testing.assert_frame_equal(pd.read_parquet(ours), expected, rtol=0, atol=1e-9)


def test_the_metadata_is_the_public_one(cache):
    for method in ALL_METHODS:
        expected = (METHODS / method / "metadata.yaml").read_bytes()
        assert (folder_of(cache, method) / "metadata.yaml").read_bytes() == expected


def test_what_is_said_of_it(tmp_path):
    built = build("LinearModel", tmp_path)
    assert built.folder == folder_of(tmp_path, "LinearModel")
    assert built.counts == {"results": 27, "configs": 3, "datasets": 3, "splits": 9}
    assert built.findings == ()
    assert built.metadata == metadata_of("LinearModel")


def test_a_lone_config_is_recorded_as_the_default(tmp_path):
    built = build("RandomForest", tmp_path, metadata=metadata_of("RandomForest", config_default=None))
    assert built.metadata.config_default == "RandomForest_c1_default_BAG_L1"
    assert contents(built.folder)["metadata.yaml"] == (METHODS / "RandomForest" / "metadata.yaml").read_bytes()
    trajectories = pd.read_parquet(built.folder / "results" / "hpo_trajectories.parquet")
    assert set(trajectories["n_configs"]) == {1}


def test_several_configs_need_a_declared_default(tmp_path):
    with pytest.raises(Failure) as caught:
        build("LightGBM", tmp_path, metadata=metadata_of("LightGBM", config_default=None))
    assert [str(problem) for problem in caught.value.problems] == [
        "LightGBM: config_default: none declared, with 6 configs, expected a config's name\n"
        f"    fix: declare '{C1}', the first config by its name, or another of them"
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_default_that_cannot_be_there_is_refused_before_any_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(artifact, "work_on_split", None)
    with pytest.raises(Failure) as caught:
        build("LightGBM", tmp_path, metadata=metadata_of("LightGBM", config_default="LightGBM_c1_BAG_L1"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("missing-default", "LightGBM: config_default")
    assert problem.found == "'LightGBM_c1_BAG_L1', of which there is no result"
    assert C1 in problem.fix


def test_a_default_whose_only_results_are_damaged_refuses_the_run(tmp_path):
    source = copied(tmp_path / "run", C1, R1)
    for file in source.rglob(f"{C1}/*/*/results.pkl"):
        file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(Failure) as caught:
        build("LightGBM", tmp_path / "cache", source=source)
    codes = [problem.code for problem in caught.value.problems]
    assert codes == ["missing-default", *["truncated"] * 9]
    assert not (tmp_path / "cache" / "artifacts").exists()


def test_a_system_with_two_configs_is_refused(tmp_path):
    source = copied(tmp_path / "run", "DemoLogisticSystem_c1_default")
    shutil.copytree(source / "DemoLogisticSystem_c1_default", source / "DemoLogisticSystem_c2_default")
    for path in (source / "DemoLogisticSystem_c2_default").rglob("results.pkl"):
        content = gzip.decompress(path.read_bytes()).replace(b"DemoLogisticSystem_c1", b"DemoLogisticSystem_c2")
        path.write_bytes(gzip.compress(content))
    with pytest.raises(Failure) as caught:
        build("DemoLogisticSystem", tmp_path / "cache", source=source)
    assert {problem.code for problem in caught.value.problems} == {"duplicate-result"}
    assert len(caught.value.problems) == 9
    assert not (tmp_path / "cache" / "artifacts").exists()


def test_processing_again_gives_the_same_bytes(cache, tmp_path):
    first = contents(folder_of(cache, "LightGBM"))
    build("LightGBM", tmp_path, jobs=2)
    assert contents(folder_of(tmp_path, "LightGBM")) == first
    build("LightGBM", tmp_path)
    assert contents(folder_of(tmp_path, "LightGBM")) == first


def test_raw_copies_give_the_same_artifact(cache, tmp_path):
    whole = folder_of(cache, "LightGBM")
    build("LightGBM", tmp_path, source=whole / "raw")
    again = contents(folder_of(tmp_path, "LightGBM"))
    expected = contents(whole)
    assert {name for name in expected if again[name] != expected[name]} == {"provenance.json"}
    sidecar, before = (json.loads(content["provenance.json"]) for content in (again, expected))
    assert sidecar.pop("inputs") != before.pop("inputs")
    assert sidecar == before


def test_the_table_of_tasks_is_made_once_however_many_splits_there_are(tmp_path, monkeypatch):
    """Defect 5 of the peer: it makes its table of 816 splits anew for every split that it works on."""
    made = Counter()
    for module, name in ((artifact, "TaskTable"), (artifact_files, "task_metadata")):
        original = getattr(module, name)

        def counted(*words, original=original, name=name):
            made[name] += 1
            return original(*words)

        monkeypatch.setattr(module, name, counted)
    assert build("RandomForest", tmp_path).counts["splits"] == 9
    assert made == {"TaskTable": 1, "task_metadata": 1}


def test_a_build_removes_what_killed_builds_left_of_its_own_suite_alone(tmp_path):
    metadata = metadata_of("RandomForest", suite="run-2026")
    builds = tmp_path / ".benchwright" / "staging"
    own, other = (builds / f"RandomForest__{suite}-0123abcd" for suite in ("run-2026", "run-2026-06-30"))
    for folder in (own, other):
        folder.mkdir(parents=True)
    with staging_folder(dataclasses.replace(metadata, cache_root=tmp_path)):
        assert (own.exists(), other.exists()) == (False, True)


def test_another_run_of_the_same_suite_does_not_take_the_place_unasked(tmp_path):
    """Its results have the same places; those of the first may be nowhere else."""
    first = build("RandomForest", tmp_path / "cache")
    before = contents(first.folder)
    config = "RandomForest_c1_default_BAG_L1"
    source = copied(tmp_path / "rerun", config)
    add_result(source, config, source=RAW / config, change=lambda value: value.update(time_train_s=99.0))
    with pytest.raises(Failure, match="1 of its 9 raw results are not in the new artifact"):
        build("RandomForest", tmp_path / "cache", source=source)
    assert contents(first.folder) == before
    build("RandomForest", tmp_path / "cache", source=source, replace_present=True)
    assert contents(first.folder) != before


def test_a_task_that_is_gone_leaves_nothing_behind(tmp_path):
    source = copied(tmp_path / "run", C1, R1)
    build("LightGBM", tmp_path / "cache", source=source)
    for folder in source.glob(f"*/{WINE}"):
        shutil.rmtree(folder)
    shutil.rmtree(source / R1 / DIABETES / "0_1")
    built = build("LightGBM", tmp_path / "cache", source=source, replace_present=True)
    names = contents(built.folder)
    assert not [name for name in names if WINE in name]
    assert f"raw/{C1}/{DIABETES}/0_1/results.pkl" in names
    assert f"raw/{R1}/{DIABETES}/0_1/results.pkl" not in names
    fresh = build("LightGBM", tmp_path / "fresh", source=source)
    assert contents(fresh.folder) == names


def readable(path):
    """What a file says, out of its packing."""
    if path.suffix == ".pkl":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".parquet":
        return repr(pq.read_table(path).to_pydict()).encode()
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(archive.namelist()[0])
    return path.read_bytes()


def test_no_path_of_the_machine_is_in_it(cache):
    assert b"/data/bench/ag" in readable(files_of("LightGBM")[0].path)
    for method in ALL_METHODS:
        for name in contents(folder_of(cache, method)):
            said = readable(folder_of(cache, method) / name)
            assert not [path for path in (b"/data/", str(cache).encode(), str(RAW).encode()) if path in said], name


def test_raw_results_are_not_thrown_away(tmp_path):
    built = build("RandomForest", tmp_path)
    before = contents(built.folder)
    with pytest.raises(Failure) as caught:
        build("RandomForest", tmp_path, cache_raw=False)
    assert caught.value.exit == Exit.REFUSED
    (problem,) = caught.value.problems
    first = "raw/RandomForest_c1_default_BAG_L1/local_breast_cancer-498b8450f429/0_"
    assert str(problem) == (
        f"{built.folder}: 9 of its 9 raw results are not in the new artifact: "
        f"{first}0/results.pkl, {first}1/results.pkl, {first}2/results.pkl and 6 more, "
        "expected the same results, or more of them\n"
        "    fix: give another run another suite; or --replace, where they are kept elsewhere or not wanted"
    )
    assert contents(built.folder) == before
    build("RandomForest", tmp_path, cache_raw=False, replace_present=True)
    assert not (built.folder / "raw").exists()
    build("RandomForest", tmp_path)
    shutil.rmtree(built.folder / "raw")
    build("RandomForest", tmp_path, cache_raw=False)
    after = contents(built.folder)
    assert {name for name in before if name not in after} == {name for name in before if name.startswith("raw/")}


def test_without_trajectories(tmp_path):
    build("LightGBM", tmp_path)
    built = build("LightGBM", tmp_path, trajectories=False)
    assert sorted(path.name for path in (built.folder / "results").iterdir()) == [
        "hpo_results.parquet",
        "model_results.parquet",
    ]


def test_two_builds_of_one_method_do_not_meet(tmp_path):
    ready = tmp_path / "ready"
    code = f"""
import sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from artifact_samples import metadata_of
from benchwright.processing.staging import staging_folder
import dataclasses
metadata = dataclasses.replace(metadata_of("RandomForest"), cache_root=Path({str(tmp_path)!r}))
with staging_folder(metadata):
    Path({str(ready)!r}).touch()
    time.sleep(60)
"""
    other = subprocess.Popen([sys.executable, "-c", code])
    try:
        while not ready.exists():
            assert other.poll() is None
            time.sleep(0.01)
        with pytest.raises(Failure) as caught:
            build("RandomForest", tmp_path)
        assert (caught.value.exit, caught.value.problems[0].code) == (Exit.REFUSED, "locked")
        assert "processing of RandomForest (local-2026-11-29) (process" in caught.value.problems[0].found
    finally:
        other.kill()
        other.wait()
    (left,) = (tmp_path / ".benchwright" / "staging").iterdir()
    built = build("RandomForest", tmp_path)
    assert not left.exists()
    assert list((tmp_path / ".benchwright" / "staging").iterdir()) == []
    assert built.folder.is_dir()


def test_whether_raw_results_would_be_lost_is_asked_once_nobody_else_builds(tmp_path):
    metadata = build("RandomForest", tmp_path).metadata
    lock = artifact_lock(dataclasses.replace(metadata, cache_root=tmp_path), "processing")
    with lock, pytest.raises(Failure) as caught:
        build("RandomForest", tmp_path, cache_raw=False)
    assert caught.value.problems[0].code == "locked"


@pytest.fixture
def other_disk(tmp_path):
    """A folder on another file system than ``tmp_path``: one in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        assert Path(folder).stat().st_dev != tmp_path.stat().st_dev
        yield Path(folder)


def test_artifacts_may_be_on_another_disk_than_the_cache(tmp_path, other_disk):
    (tmp_path / "artifacts").symlink_to(other_disk / "artifacts")
    expected = contents(build("RandomForest", tmp_path / "plain").folder)
    for _ in range(2):
        assert contents(build("RandomForest", tmp_path).folder) == expected
    assert list((other_disk / ".benchwright" / "staging").iterdir()) == []


def test_a_place_that_no_folder_can_be_moved_to_is_refused(tmp_path, other_disk):
    metadata = dataclasses.replace(metadata_of("RandomForest"), cache_root=tmp_path)
    check_file_system(tmp_path, metadata)
    with pytest.raises(Failure) as caught:
        check_file_system(other_disk, metadata)
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.ENVIRONMENT, "other-file-system")
    assert str(caught.value) == (
        f"{metadata.path}: on another file system than {other_disk}, which could not be moved there whole, "
        "expected a cache on one file system\n"
        "    fix: mount or link the whole cache there, or name a folder on that disk with --cache-root"
    )


def test_a_failure_leaves_the_earlier_artifact_and_no_traces(tmp_path, monkeypatch):
    built = build("RandomForest", tmp_path)
    before = contents(built.folder)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artifact, "write_store", full)
    with pytest.raises(OSError, match="No space left"):
        build("RandomForest", tmp_path, task_rows=[])
    assert contents(built.folder) == before
    assert list((tmp_path / ".benchwright" / "staging").iterdir()) == []


def test_the_folder_may_be_given(tmp_path):
    target = tmp_path / "elsewhere" / "forest"
    metadata = dataclasses.replace(metadata_of("RandomForest"), artifact_dir=target)
    built = build_artifact(files_of("RandomForest"), metadata, jobs=1)
    assert built.folder == target
    assert (target / "metadata.yaml").is_file()
    assert (tmp_path / "elsewhere" / ".benchwright").is_dir()


def test_a_renamed_method_has_its_own_names_everywhere(tmp_path):
    renamed = MethodMetadata.config(
        method="Boost",
        suite="other",
        ag_key="GBM",
        model_key="BOOST",
        name_suffix="_v2",
        config_default="Boost_v2_c1_default_BAG_L1",
    )
    built = build("LightGBM", tmp_path, metadata=renamed)
    names = contents(built.folder)
    assert f"raw/Boost_v2_c1_default_BAG_L1/{WINE}/0_0/results.pkl" in names
    configs = json.loads(names["processed/configs_hyperparameters.json"])
    first = configs["Boost_v2_c1_default_BAG_L1"]
    assert {key: first[key] for key in ("model_type", "ag_key", "name_prefix")} == {
        "model_type": "BOOST_v2",
        "ag_key": "GBM",
        "name_prefix": "Boost_v2",
    }
    again = build("LightGBM", tmp_path / "again", source=RAW, metadata=renamed)
    assert contents(again.folder) == names

    copies = find_results(built.folder / "raw").files
    twice = build_artifact(copies, renamed, cache_root=tmp_path / "twice", jobs=1)
    for name in ("results/hpo_trajectories.parquet", "processed/configs_hyperparameters.json"):
        assert contents(twice.folder)[name] == names[name]
    assert {name for name in contents(twice.folder) if name.startswith("raw/")} == {
        name for name in names if name.startswith("raw/")
    }


def test_openml_and_local_tasks_keep_their_keys_and_nobody_is_asked_about_them(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    source = tmp_path / "run"
    for task, number in ((WINE, "363704"), (BREAST, "363623")):
        shutil.copytree(RAW / C1 / task, source / C1 / number)
    single = metadata_of("LightGBM", can_hpo=False)
    built = build("LightGBM", tmp_path / "cache", source=source, metadata=single, task_rows=None)
    assert f"raw/{C1}/363704/0_0/results.pkl" in contents(built.folder)
    assert f"raw/{C1}/{WINE}/0_0/results.pkl" in contents(folder_of(cache, "LightGBM"))


def test_numba_and_pandas_stay_away_where_one_config_was_run(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
import benchwright.processing.sidecar, benchwright.processing.layout
assert "numpy" not in sys.modules, "for the sidecar"
from artifact_samples import build
for method in ("RandomForest", "DemoLogisticSystem"):
    assert build(method, Path({str(tmp_path)!r})).counts["results"] == 9
assert not {{"numba", "pandas", "tabarena", "ray"}} & set(sys.modules), "on processing"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("root", ["raw", "artifact", "cache", "link"])
def test_an_artifact_never_destroys_what_it_is_made_of(tmp_path, root):
    built = build("RandomForest", tmp_path / "cache")
    before = contents(built.folder)
    (tmp_path / "link").symlink_to(built.folder / "raw")
    places = {"raw": built.folder / "raw", "artifact": built.folder, "cache": tmp_path / "cache"}
    source = places.get(root, tmp_path / "link")
    for method in ({}, {"name_suffix": "_v2", "config_default": "RandomForest_v2_c1_default_BAG_L1"}):
        metadata = metadata_of("RandomForest", **method)
        with pytest.raises(Failure) as caught:
            build("RandomForest", tmp_path / "cache", source=source, metadata=metadata,
                  cache_raw=bool(method), replace_present=True)  # fmt: skip
        assert caught.value.exit == Exit.REFUSED
        (problem,) = caught.value.problems
        first = "raw/RandomForest_c1_default_BAG_L1/local_breast_cancer-498b8450f429/0_"
        assert str(problem) == (
            f"{built.folder}: 9 of the 9 results to be processed lie in the artifact that would be replaced, and are "
            f"not kept there as they are: {first}0/results.pkl, {first}1/results.pkl, {first}2/results.pkl and "
            "6 more, expected results that are kept elsewhere\n"
            "    fix: copy them out of the cache and name the copy, or keep them with --cache-raw under the same names"
        )
        assert contents(built.folder) == before
    again = build("RandomForest", tmp_path / "cache", source=source, replace_present=True)
    assert {name: content for name, content in contents(again.folder).items() if name.startswith("raw/")} == {
        name: content for name, content in before.items() if name.startswith("raw/")
    }
