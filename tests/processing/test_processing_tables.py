"""Result tables: the public pipeline's own on its own data, and what it would say of them."""

import dataclasses
import errno
import subprocess
import sys

import pandas as pd
import pyarrow.parquet as pq
import pytest
from processing_samples import METHODS, genuine_files, genuine_results, process

from benchwright.arena import MethodMetadata
from benchwright.processing import process_files, schemas, write_tables

ALL_METHODS = ["LightGBM", "LinearModel", "RandomForest", "DemoLogisticSystem"]


def metadata_of(method):
    return MethodMetadata.from_yaml(METHODS / method)


@pytest.fixture(scope="module", params=ALL_METHODS)
def processed(request, tmp_path_factory):
    """A method, its metadata and the folder with its tables, written by us."""
    metadata = metadata_of(request.param)
    folder = tmp_path_factory.mktemp("artifact with space") / request.param
    tables = process_files(genuine_files(request.param), metadata)
    assert tables.findings == ()
    written = write_tables(folder, tables, metadata)
    return request.param, folder, written


def test_files_equal_the_public_ones(processed):
    method, folder, written = processed
    assert [path.relative_to(folder).as_posix() for path in written] == [
        "results/model_results.parquet",
        *(["results/hpo_results.parquet"] if method != "DemoLogisticSystem" else []),
        "metadata.yaml",
    ]
    for path in written[:-1]:
        theirs = METHODS / method / "results" / path.name
        assert pq.read_schema(path).remove_metadata() == pq.read_schema(theirs).remove_metadata()
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(theirs), rtol=0, atol=1e-9)
    assert written[-1].read_text() == (METHODS / method / "metadata.yaml").read_text()


def test_the_real_tabarena_reads_them(processed):
    from tabarena.models._method_metadata import MethodMetadata as Real

    method, folder, _ = processed
    ours, theirs = Real.from_yaml(path=folder), Real.from_yaml(path=METHODS / method)
    assert ours.to_info_dict() == theirs.to_info_dict()
    ours = dataclasses.replace(ours, artifact_dir=folder)
    theirs = dataclasses.replace(theirs, artifact_dir=METHODS / method)
    pd.testing.assert_frame_equal(ours.load_model_results(), theirs.load_model_results(), rtol=0, atol=1e-9)
    pd.testing.assert_frame_equal(ours.load_results(), theirs.load_results(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["LightGBM", "DemoLogisticSystem"])
def test_a_stream_of_results_gives_the_same_tables(method):
    metadata = metadata_of(method)
    of_files = process_files(genuine_files(method), metadata)
    of_stream = process(reversed(genuine_results(method)), metadata)
    assert of_stream == of_files


def test_worker_processes_give_the_same_tables():
    metadata = metadata_of("LinearModel")
    calls = []

    def progress(done, total, *, failed=0, note=""):
        calls.append((done, total, failed))

    alone = process_files(genuine_files("LinearModel"), metadata)
    assert process_files(genuine_files("LinearModel"), metadata, jobs=2, progress=progress) == alone
    assert calls == [(done, 9, 0) for done in range(1, 10)]


def test_without_tuning_there_are_default_rows_alone():
    metadata = dataclasses.replace(metadata_of("LightGBM"), can_hpo=False)
    tables = process_files(genuine_files("LightGBM"), metadata)
    assert tables.model_results.num_rows == 54
    assert tables.hpo_results.schema == schemas.HPO_RESULTS_DEFAULT
    assert tables.hpo_results.num_rows == 9
    assert set(tables.hpo_results["method_subtype"].to_pylist()) == {"default"}


def test_a_renamed_method_keeps_the_numbers_of_its_configs():
    metadata = MethodMetadata.config(
        method="Boost",
        suite="other",
        ag_key="GBM",
        name_suffix="_v2",
        config_default="Boost_v2_c1_default_BAG_L1",
    )
    tables = process_files(genuine_files("LightGBM"), metadata)
    assert tables.findings == ()
    assert tables.model_results["method"][:2].to_pylist() == [
        "Boost_v2_c1_default_BAG_L1",
        "Boost_v2_r1_default_BAG_L1",
    ]
    assert tables.hpo_results["method"][:3].to_pylist() == [
        "GBM_v2 (default)",
        "GBM_v2 (tuned)",
        "GBM_v2 (tuned + ensemble)",
    ]
    assert set(tables.hpo_results["config_type"].to_pylist()) == {"GBM_v2"}
    assert set(tables.hpo_results["ta_suite"].to_pylist()) == {"other"}


def test_a_baseline_takes_the_name_its_metadata_sets():
    metadata = MethodMetadata.system(method="DemoLogisticSystem", suite="s", name="Demo (4h)")
    tables = process_files(genuine_files("DemoLogisticSystem"), metadata)
    assert tables.hpo_results is None
    assert set(tables.model_results["method"].to_pylist()) == {"Demo (4h)"}
    assert set(tables.model_results["ta_name"].to_pylist()) == {"DemoLogisticSystem"}


def test_writing_again_leaves_no_table_of_an_earlier_kind(tmp_path):
    system, model = metadata_of("DemoLogisticSystem"), metadata_of("RandomForest")
    write_tables(tmp_path, process_files(genuine_files("RandomForest"), model), model)
    write_tables(tmp_path, process_files(genuine_files("DemoLogisticSystem"), system), system)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["metadata.yaml", "model_results.parquet"]


def test_a_full_disk_leaves_no_marker_and_no_half_file(tmp_path, monkeypatch):
    metadata = metadata_of("RandomForest")
    tables = process_files(genuine_files("RandomForest"), metadata)
    write_tables(tmp_path, tables, metadata)
    before = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    write = pq.write_table

    def full_at_the_second(table, file, **options):
        if table is tables.hpo_results:
            file.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        write(table, file, **options)

    monkeypatch.setattr(pq, "write_table", full_at_the_second)
    with pytest.raises(OSError, match="No space left"):
        write_tables(tmp_path, tables, metadata)
    assert not (tmp_path / "metadata.yaml").exists()
    assert {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()} == before


def test_numba_and_pandas_stay_away_while_no_ensemble_is_fitted():
    code = f"""
import sys
import benchwright.processing as processing
from benchwright.arena import MethodMetadata
assert not {{"pyarrow", "numba", "pandas"}} & set(sys.modules), "on import"
from pathlib import Path
files = [Path(path) for path in {list(map(str, genuine_files("RandomForest")))!r}]
tables = processing.process_files(files, MethodMetadata.from_yaml({str(METHODS / "RandomForest")!r}))
assert tables.model_results.num_rows == 9
assert not {{"numba", "pandas", "tabarena"}} & set(sys.modules), "on processing"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
