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
from raw_trees import CONFIG, PROTOCOLS, RAW, SYSTEM, add_result, recorded, with_memory
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
    accepted, finding = envelope["data"]["artifact"]["findings"]
    assert accepted["code"] == "declared-otherwise"
    found = "1 of 1 results record another protocol than they show: 1 record 4x2 and show 8x1"
    assert (finding["code"], finding["severity"], finding["found"]) == ("protocol-disputed", "warn", found)
    sidecar = read_sidecar(Path(envelope["data"]["artifact"]["folder"]))
    assert (sidecar.validation_protocol, sidecar.findings[1].code) == ("8x1", "protocol-disputed")
    assert codes(envelope).count("protocol-disputed") == 1


@pytest.fixture
def upload(capsys, tmp_path):
    """The dry run of an upload to a folder."""

    def call(*words):
        store = ("--cache-root", tmp_path / "cache", "--store", f"local:{tmp_path / 'hosted'}")
        return Script.named("run_upload_results", capsys).answer(*words, *store)

    return call


def told_of_declaration(envelope):
    return [
        (each["where"], each["found"], each["expected"])
        for each in envelope["problems"]
        if each["code"] == "declared-otherwise"
    ]


def test_what_was_accepted_of_a_declaration_stays_with_the_artifact(process, upload, tmp_path, checkout):
    source = checkout / "src" / "demo" / "info.py"
    source.write_text(source.read_text().replace('ag_key="RF"', 'ag_key="XT"'))
    envelope = process(RAW, "forest", "--accept-mismatch", "ag_key")
    assert (envelope["exit"], codes(envelope)) == (0, ["metadata-mismatch"])
    (finding,) = read_sidecar(Path(envelope["data"]["artifact"]["folder"])).findings
    found = "ag_key: 'XT' (the model_type of the results, accepted)"
    assert (finding.code, finding.severity, finding.found, finding.expected) == (
        "declared-otherwise", "warn", found, "'RF'"
    )  # fmt: skip
    for words in (declared(checkout, "forest"), ("--from-cache", "RandomForest", "a-run")):
        assert told_of_declaration(upload(*words)) == [("all results", found, "'RF'")]


def test_the_device_that_nobody_declared_stays_with_the_artifact(process, upload, tmp_path, checkout):
    envelope = process(RAW, "open_demo")
    assert (envelope["exit"], codes(envelope)) == (0, ["not-declared"])
    note = "not inferable: no num_gpus is recorded; torch saw no GPU in all 9 results; cpu would be published"
    assert told_of_declaration(upload(*declared(checkout, "open_demo"))) == [
        ("all results", f"compute: not declared ({note})", "")
    ]
    assert process(RAW, "demo", "--replace")["data"]["artifact"]["findings"] == []


def test_a_gpu_that_was_seen_keeps_an_undeclared_system_from_being_processed(process, answer, checkout, tmp_path):
    add_result(tmp_path / "data", SYSTEM, source=RAW / SYSTEM, change=with_memory(gpu_tracking_enabled=True))
    refused = process(tmp_path / "data", "open_demo")
    assert (refused["exit"], codes(refused)) == (1, ["not-declared"])
    assert not (tmp_path / "cache").exists()
    assert process(tmp_path / "data", "open_demo", "--accept-mismatch", "compute")["exit"] == 0
    doubtful = process(tmp_path / "data", "demo")
    assert (doubtful["exit"], codes(doubtful)) == (0, ["metadata-doubtful"])


# Accepted, its protocol could neither be compared nor corrected by the time it goes up.
def test_a_protocol_that_the_results_contradict_is_processed_by_no_option(process, checkout, tmp_path):
    source = checkout / "src" / "demo" / "info.py"
    source.write_text(source.read_text().replace('"8x1"', '"5x5"'))
    for words in ((), ("--accept-mismatch", "validation_protocol"), ("--ignore-metadata-mismatch",)):
        refused = process(RAW, "forest", *words)
        assert (refused["exit"], codes(refused)) == (1, ["metadata-mismatch"])
        assert "validation_protocol=8x1" in refused["next"][0]
    assert not (tmp_path / "cache").exists()


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


def test_a_cache_below_the_results_is_refused_before_anything_is_written(answer, checkout, tmp_path, monkeypatch):
    run = tmp_path / "run"
    add_result(run / "data", CONFIG)
    words = (run, *declared(checkout, "one"), "--process")
    inside = run / "data" / "a cache"
    refused = answer(*words, "--cache-root", inside)
    (problem,) = refused["problems"]
    assert (refused["exit"], problem["where"], problem["found"], problem["expected"], problem["fix"]) == (
        2,
        "--cache-root",
        f"{inside} lies below {run}, where the artifact's copies would be results the next time",
        "a cache elsewhere",
        "name another with --cache-root DIR",
    )
    monkeypatch.setenv("TABARENA_CACHE", str(run / "data"))
    assert answer(*words)["exit"] == 2
    (tmp_path / "link").symlink_to(run / "data")
    assert answer(*words, "--cache-root", tmp_path / "link" / "cache")["exit"] == 2
    assert sorted(path.name for path in (run / "data").iterdir()) == [CONFIG]


@pytest.mark.parametrize("place", ["run/cache", "run/data/.cache/tabarena"])
def test_a_cache_that_no_search_goes_through_may_lie_below_the_run(answer, checkout, tmp_path, place):
    add_result(tmp_path / "run" / "data", CONFIG)
    words = (tmp_path / "run", *declared(checkout, "one"), "--process", "--cache-root", tmp_path / place)
    assert [answer(*words)["exit"] for _ in range(2)] == [0, 0]


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
