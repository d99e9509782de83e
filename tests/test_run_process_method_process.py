"""The command that processes a run's method: what it writes, and what fails it."""

from __future__ import annotations

import shlex
import socket
import sys
from pathlib import Path

import pytest

from benchwright.arena import MethodMetadata
from benchwright.processing.sidecar import read_sidecar
from declared_methods import checkout_in, codes, declared
from raw_trees import CONFIG, PROTOCOLS, RAW, add_result, recorded
from scripts_in_process import SCRIPTS, Script

SCRIPT = SCRIPTS / "run_process_method.py"


@pytest.fixture
def checkout(tmp_path):
    """A checkout that declares methods as ``demo.info``."""
    return checkout_in(tmp_path)


@pytest.fixture
def run(capsys):
    """The human answer of a call in this process: its exit code and its lines."""
    return Script.named("run_process_method", capsys).run


@pytest.fixture
def answer(capsys):
    """The envelope of a call in this process."""
    return Script.named("run_process_method", capsys).answer


@pytest.fixture
def process(answer, checkout, tmp_path):
    """Process what is declared under a name, into a cache of the test's own."""

    def call(path, name, *words):
        return answer(path, *declared(checkout, name), "--process", "--cache-root", tmp_path / "cache", *words)

    return call


def test_a_single_config_is_processed_and_recorded_as_the_default(process, tmp_path, checkout):
    envelope = process(RAW, "forest", "--expect-validation-protocol", "tabarena")
    folder = tmp_path / "cache" / "artifacts" / "a-run" / "methods" / "RandomForest"
    assert (envelope["exit"], envelope["summary"]) == (0, f"RandomForest: 9 results processed into {folder}")
    artifact = envelope["data"]["artifact"]
    assert (artifact["folder"], artifact["findings"]) == (str(folder), [])
    assert [each["method"] for each in envelope["data"]["methods"]] == ["RandomForest"]
    assert MethodMetadata.from_yaml(folder).config_default == "RandomForest_c1_default_BAG_L1"
    assert (folder / "results" / "model_results.parquet").is_file()
    upload = [
        sys.executable,
        str(SCRIPT.with_name("run_upload_results.py")),
        *("--cache-root", str(tmp_path / "cache")),
        *map(str, declared(checkout, "forest")),
    ]
    assert envelope["next"] == [shlex.join(upload)]


def test_processing_prints_its_outcome_alone_when_asked(run, checkout, tmp_path):
    code, lines = run(
        *(RAW, *declared(checkout, "demo"), "--process", "--no-inspect", "--cache-root", tmp_path, "--no-cache-raw")
    )
    folder = tmp_path / "artifacts" / "a-run" / "methods" / "DemoLogisticSystem"
    assert (code, lines[0], lines[1]) == (0, f"DemoLogisticSystem: 9 results processed into {folder}", "next:")
    assert not (folder / "raw").exists()


def test_without_raw_copies_the_next_command_leaves_them_out(process, capsys, tmp_path, checkout):
    (upload,) = process(RAW, "forest", "--no-cache-raw")["next"]
    folder = tmp_path / "cache" / "artifacts" / "a-run" / "methods" / "RandomForest"
    assert not MethodMetadata.from_yaml(folder).has_raw
    words = [*shlex.split(upload)[2:], "--store", f"local:{tmp_path / 'hosted'}"]
    upload_results = Script.named("run_upload_results", capsys)
    envelope = upload_results.answer(*words)
    assert (envelope["exit"], codes(envelope)) == (0, ["no-date", "verified", "other-store", "no-raw"])
    words.remove("--no-upload-raw")
    (problem,) = upload_results.answer(*words)["problems"]
    assert (problem["code"], problem["where"], problem["found"]) == (
        "artifact-incomplete", str(folder / "raw"), "not there"
    )  # fmt: skip
    cached = upload_results.answer(
        "--from-cache", "RandomForest", "a-run", "--cache-root", tmp_path / "cache", *words[-2:]
    )
    assert cached["exit"] == 0


def test_tuned_results_are_processed_with_trajectories_unless_asked_otherwise(process, tmp_path):
    for number in (1, 2):
        for config in (CONFIG, f"LightGBM_r{number}_default_BAG_L1"):
            add_result(tmp_path / "data", config, split=number)
    results = tmp_path / "cache" / "artifacts" / "a-run" / "methods" / "LightGBM" / "results"
    for option, written in (("--no-cache-hpo-trajectories", False), ("--cache-hpo-trajectories", True)):
        envelope = process(tmp_path / "data", "gbm", option)
        assert envelope["exit"] == 0
        assert (results / "hpo_trajectories.parquet").exists() == written
        told = [each for each in envelope["problems"] if each["code"] == "no-trajectories"]
        (following,) = envelope["next"]
        if written:
            assert (told, "run_upload_results.py" in following) == ([], True)
        else:
            assert [(each["where"], each["found"], each["fix"]) for each in told] == [
                (
                    "LightGBM: results/hpo_trajectories.parquet",
                    "left out; without them a tuned method cannot be uploaded",
                    following,
                )
            ]
            assert "run_process_method.py" in following and "trajectories" not in following


def test_nothing_is_written_unless_all_checks_pass(process, tmp_path):
    envelope = process(RAW, "wrong")
    assert (envelope["exit"], envelope["data"]["artifact"]) == (1, None)
    assert envelope["summary"].endswith("declares: suite, compute, ag_key, can_hpo; nothing written")
    assert not (tmp_path / "cache").exists()
    assert process(PROTOCOLS / "knn", "knn", "--expect-validation-protocol", "beyondarena")["exit"] == 0
    (tmp_path / "cache").rename(tmp_path / "first")
    add_result(tmp_path / "new", CONFIG, change=recorded("8x1"))
    for options in ((), ("--ignore-metadata-mismatch", "--expect-validation-protocol", "beyondarena")):
        assert process(tmp_path / "new", "one", *options)["exit"] == 1
    assert not (tmp_path / "cache").exists()


def test_a_record_that_the_results_contradict_is_a_finding(process, tmp_path):
    add_result(tmp_path / "data", CONFIG, change=recorded("4x2"))
    envelope = process(tmp_path / "data", "one", "--accept-mismatch", "validation_protocol")
    assert envelope["exit"] == 0
    (finding,) = envelope["data"]["artifact"]["findings"]
    found = "1 of 1 results record another protocol than they show: 1 record 4x2 and show 8x1"
    assert (finding["code"], finding["severity"], finding["found"]) == ("protocol-disputed", "warn", found)
    sidecar = read_sidecar(Path(envelope["data"]["artifact"]["folder"]))
    assert (sidecar.validation_protocol, [one.code for one in sidecar.findings]) == ("8x1", ["protocol-disputed"])


def test_two_files_for_one_result_refuse(process, tmp_path):
    for key in ("a", "b"):
        add_result(tmp_path / "data", CONFIG, key=key)
    envelope = process(tmp_path / "data", "one")
    assert envelope["exit"] == 1
    assert "duplicate-result" in codes(envelope)
    assert not (tmp_path / "cache").exists()


def test_the_only_raw_results_are_not_thrown_away(process, tmp_path):
    assert process(RAW, "forest")["exit"] == 0
    artifact = tmp_path / "cache" / "artifacts" / "a-run" / "methods" / "RandomForest"
    for path in (artifact, artifact / "raw"):
        assert process(path, "forest", "--no-cache-raw")["exit"] == 5
    assert len(list(artifact.rglob("results.pkl"))) == 9
    assert process(artifact, "forest")["exit"] == 0
    assert len(list(artifact.rglob("results.pkl"))) == 9


# Defects 3 and 8 of the peer: it drops local tasks, and asks the network for ids that it does not know.
@pytest.mark.parametrize("key", ["999999999", "a-task-0123456789ab"])
def test_results_of_any_task_are_processed_without_a_network(process, tmp_path, monkeypatch, key):
    connect = socket.socket.connect

    def local_only(self, address):
        assert self.family == socket.AF_UNIX, f"{address} is asked"
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)
    add_result(tmp_path / "data", CONFIG, key=key)
    envelope = process(tmp_path / "data", "one", "--jobs", "1")
    assert (envelope["exit"], envelope["data"]["methods"][0]["inferred"]["n_results"]) == (0, 1)
