"""Results that are lost: they fail the inspection and the processing alike, unless their loss is accepted."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shlex
import shutil

import numpy as np
import pytest

from benchwright.processing import read_sidecar
from declared_methods import checkout_in, codes, declared
from raw_trees import CONFIG, RAW, TASKS, add_result
from scripts_in_process import Script

BREAST, WINE = TASKS["binary"], TASKS["multiclass"]


@pytest.fixture
def checkout(tmp_path):
    """A checkout that declares methods as ``demo.info``."""
    return checkout_in(tmp_path)


@pytest.fixture
def answer(capsys, checkout, tmp_path):
    """The envelope of a call for the results in ``tmp_path / "data"``, with a cache of the test's own."""
    words = (tmp_path / "data", *declared(checkout, "one"), "--cache-root", tmp_path / "cache")
    return Script.named("run_process_method", capsys, *words).answer


@pytest.fixture
def data(tmp_path):
    """Three splits of two datasets each, by their paths."""
    tree = tmp_path / "data"
    return [
        [add_result(tree, CONFIG, task=task, split=split) for split in range(3)] for task in ("binary", "multiclass")
    ]


def no_numbers(value):
    value["simulation_artifacts"]["pred_proba_dict_test"][CONFIG][0] = np.nan


def spoil(paths, tmp_path):
    """Two files of garbage and one without numbers, which is all that there is of a dataset."""
    for path in paths[:2]:
        path.write_bytes(b"garbage")
    add_result(tmp_path / "data", CONFIG, task="multiclass", split=2, change=no_numbers)


def test_both_fail_for_what_is_lost_and_the_rest_is_processed(answer, data, tmp_path):
    assert answer()["exit"] == answer("--process")["exit"] == 0
    spoil(data[1], tmp_path)
    (tmp_path / "data" / "elsewhere").symlink_to(RAW)
    inspected = answer()
    lost = {"dataset-lost", "link", "not-a-pickle", "not-finite"}
    assert (inspected["exit"], lost <= set(codes(inspected))) == (1, True)
    envelope = answer("--process", "--replace")
    assert (envelope["exit"], envelope["next"]) == (1, [])
    folder = tmp_path / "cache" / "artifacts" / "a-run" / "methods" / "LightGBM"
    assert envelope["summary"] == (f"LightGBM: 3 results processed into {folder}; results are lost, and not accepted")
    first = envelope["problems"][0]
    assert (first["code"], first["where"], first["found"], first["expected"]) == (
        "findings-not-accepted",
        "LightGBM: findings",
        "results are lost: 1 dataset-lost, 1 link, 2 not-a-pickle, 1 not-finite",
        "all of them, or that their loss is accepted",
    )
    findings = envelope["data"]["artifact"]["findings"]
    errors = [(each["code"], each["dataset"], each["found"]) for each in findings if each["severity"] == "error"]
    assert errors == [
        ("dataset-lost", WINE, "no result in 3 files"),
        ("link", None, "elsewhere: a link to <path>, not followed"),
        ("not-a-pickle", WINE, "0_0/results.pkl: not a pickle (its first byte is none of a pickle's)"),
        ("not-a-pickle", WINE, "0_1/results.pkl: not a pickle (its first byte is none of a pickle's)"),
        ("not-finite", WINE, findings[4]["found"]),
    ]
    assert [(each["split"], each["found"][:3]) for each in findings if each["code"] == "not-a-pickle"] == [
        (0, "0_0"),
        (1, "0_1"),
    ]
    assert str(tmp_path) not in (folder / "provenance.json").read_text()


def test_a_loss_is_accepted_code_by_code_and_recorded(answer, data, capsys, tmp_path):
    spoil(data[1], tmp_path)
    failed = answer("--process", "--accept-finding", "not-a-pickle")
    assert (failed["exit"], failed["problems"][0]["found"]) == (1, "results are lost: 1 dataset-lost, 1 not-finite")
    _, _, *words = shlex.split(failed["problems"][0]["fix"].partition("word: ")[2])
    assert words[-2:] == ["--accept-finding", "not-finite"]
    alone = Script.named("run_process_method", capsys).answer
    done = alone(*words)
    assert (done["exit"], codes(done).count("findings-not-accepted"), len(done["next"])) == (0, 0, 1)
    told = [problem["found"] for problem in done["problems"] if problem["code"] == "dataset-lost"]
    assert told == ["no result in 3 files (accepted)"]
    folder = done["data"]["artifact"]["folder"]
    assert {(each.code, each.accepted) for each in read_sidecar(folder).findings if each.severity == "error"} == {
        (code, True) for code in ("dataset-lost", "not-a-pickle", "not-finite")
    }
    inspected = alone(*[word for word in words if word != "--process"])
    assert inspected["exit"] == 0
    (process,) = inspected["next"]
    assert shlex.split(process).count("--accept-finding") == 3


def test_what_cannot_be_accepted(answer, data, tmp_path):
    marker = tmp_path / "marker"

    class Touch:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    data[1][0].write_bytes(gzip.compress(pickle.dumps(Touch(), 4)))
    refused = answer("--process", "--accept-finding", "dangerous-pickle")
    assert (refused["exit"], "dangerous-pickle" in codes(refused)) == (1, True)
    assert not marker.exists()
    assert not (tmp_path / "cache").exists()


def test_names_that_meet_where_case_does_not_count_refuse_both(answer, data, tmp_path):
    add_result(tmp_path / "data", CONFIG, task="regression", dataset=BREAST.upper(), key="another")
    for words in ((), ("--process",)):
        envelope = answer(*words)
        (problem,) = [each for each in envelope["problems"] if each["code"] == "name-collision"]
        assert (envelope["exit"], problem["where"]) == (1, "datasets")
        assert problem["found"] == f"{BREAST.upper()!r} and {BREAST!r}, which are one name on some systems"
    assert not (tmp_path / "cache").exists()


def test_a_warning_fails_nothing(answer, data, tmp_path):
    add_result(tmp_path / "data", CONFIG, task="multiclass", change=lambda value: value.update(time_infer_s=-1.0))
    envelope = answer("--process")
    severities = {each["code"]: each["severity"] for each in envelope["data"]["artifact"]["findings"]}
    assert (envelope["exit"], severities["negative-time"]) == (0, "warn")


def test_the_upload_of_what_lost_results_is_refused_until_the_loss_is_accepted(answer, data, capsys, tmp_path):
    spoil(data[1], tmp_path)
    assert answer("--process")["exit"] == 1
    words = ("--from-cache", "LightGBM", "a-run", "--cache-root", tmp_path / "cache", "--store", f"local:{tmp_path}/s")
    upload = Script.named("run_upload_results", capsys, *words).answer
    refused = upload("--apply")
    assert (refused["exit"], refused["problems"]) == (
        1,
        [
            {
                "code": "findings-not-accepted",
                "where": "provenance.json",
                "found": "results are lost: 1 dataset-lost, 2 not-a-pickle, 1 not-finite",
                "expected": "all of them, or that their loss is accepted",
                "fix": "mend the results and process again; or accept the loss, at their owner's word: "
                "scripts/run_process_method.py PATH --method-metadata MODULE:ATTR --process "
                "--accept-finding dataset-lost --accept-finding not-a-pickle --accept-finding not-finite",
            }
        ],
    )
    assert not (tmp_path / "s").exists()
    every = [word for code in ("dataset-lost", "not-a-pickle", "not-finite") for word in ("--accept-finding", code)]
    assert answer("--process", *every)["exit"] == 0
    uploaded = upload("--apply")
    assert uploaded["exit"] == 0
    told = {problem["code"]: problem["found"] for problem in uploaded["problems"]}
    assert told["quality-findings"] == "processing noted 4 of severity error (accepted)"


def test_a_batch_stops_a_method_that_lost_results_before_its_upload(data, capsys, checkout, tmp_path):
    spoil(data[1], tmp_path)
    method = {"data": str(tmp_path / "data"), "method_metadata": "demo.info:one", "repo": str(checkout)}
    manifest = tmp_path / "batch.json"
    words = (manifest, "--apply", "--cache-root", tmp_path / "cache")

    def run(**more):
        manifest.write_text(json.dumps({"methods": [method], "store": f"local:{tmp_path}/s", **more}))
        return Script.named("publish_batch", capsys, *words).run()

    code, lines = run()
    assert code == 1
    assert next(line for line in lines if line.startswith("FAILED")) == (
        "FAILED LightGBM at process (exit 1): findings: results are lost: 1 dataset-lost, 2 not-a-pickle, "
        "1 not-finite, expected all of them, or that their loss is accepted (and 5 more)"
    )
    assert not (tmp_path / "s").exists()
    code, lines = run(accept_finding=["dataset-lost", "not-a-pickle", "not-finite"])
    assert (code, any(line.startswith("DONE LightGBM: 3 results processed; ") for line in lines)) == (0, True)


def emptied(paths):
    """The folder of the task of these results, without any of them."""
    for path in paths:
        path.unlink()
    return paths[0].parents[1]


def lost_in(envelope, code):
    return [(each["where"], each["found"]) for each in envelope["problems"] if each["code"] == code]


@pytest.mark.parametrize("left", ["splits", "half", "nothing"])
def test_a_dataset_without_any_result_file_is_lost(answer, data, tmp_path, left):
    task = emptied(data[1])
    found = "no result in 3 folders of splits"
    if left == "half":
        (task / "0_1" / "results.pkl.tmp").write_bytes(b"half")
    elif left == "nothing":
        shutil.rmtree(task)
        task.mkdir()
        found = "an empty folder"
    inspected = answer()
    assert (inspected["exit"], lost_in(inspected, "dataset-lost")) == (1, [(f"LightGBM: {WINE}", found)])
    envelope = answer("--process")
    assert (envelope["exit"], envelope["next"]) == (1, [])
    assert envelope["problems"][0]["found"] == "results are lost: 1 dataset-lost"
    assert lost_in(envelope, "dataset-lost") == [(WINE, found)]
    assert answer("--accept-finding", "dataset-lost")["exit"] == 0
    assert answer("--process", "--accept-finding", "dataset-lost")["exit"] == 0


def test_a_dataset_that_another_config_has_is_not_lost(answer, data, tmp_path):
    other = add_result(tmp_path / "data", CONFIG.replace("_c1_default", "_r1"), task="multiclass")
    emptied(data[1])
    inspected = answer("--accept-mismatch", "can_hpo", "--ignore-metadata-mismatch")
    assert (other.exists(), lost_in(inspected, "dataset-lost")) == (True, [])
    assert lost_in(inspected, "split-empty") == [
        ("LightGBM", f"3 folders of splits without results.pkl: {CONFIG}/{WINE}/0_0, "
        f"{CONFIG}/{WINE}/0_1, {CONFIG}/{WINE}/0_2")
    ]  # fmt: skip


def test_a_split_without_its_file_is_named_and_fails_nothing(answer, data):
    data[1][1].unlink()
    found = f"1 folder of a split without results.pkl: {CONFIG}/{WINE}/0_1"
    inspected = answer()
    assert (inspected["exit"], lost_in(inspected, "split-empty")) == (0, [("LightGBM", found)])
    envelope = answer("--process")
    (finding,) = [each for each in envelope["data"]["artifact"]["findings"] if each["code"] == "split-empty"]
    assert (envelope["exit"], finding["severity"], finding["found"]) == (0, "warn", found)


def test_what_is_empty_of_another_method_is_not_this_ones(answer, data, tmp_path):
    other = add_result(tmp_path / "data", "XGBoost_c1_default_BAG_L1", task="binary")
    emptied([add_result(tmp_path / "data", "XGBoost_c1_default_BAG_L1", task="multiclass")])
    assert (other.exists(), answer("--process")["exit"]) == (True, 0)
    (tmp_path / "data" / "CatBoost_c1_BAG_L1" / WINE).mkdir(parents=True)
    assert answer("--process")["exit"] == 0


@pytest.mark.parametrize("there", [True, False])
def test_a_dataset_behind_a_link_is_lost(answer, data, tmp_path, there):
    task = data[1][0].parents[1]
    away = tmp_path / "away"
    task.rename(away)
    if not there:
        shutil.rmtree(away)
    task.symlink_to(away)
    for words in ((), ("--process",)):
        envelope = answer(*words)
        assert (envelope["exit"], len(lost_in(envelope, "link"))) == (1, 1)
