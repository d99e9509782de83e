"""``scripts/audit_warmup.py``: what results record of their warm-ups and timed sections, counted by model."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GENUINE = ROOT / "tests" / "data" / "tabarena_raw" / "data"
METHOD = "LightGBM_c1_default_BAG_L1"
OK = {"status": "ok", "duration_s": 0.2, "error": None}
NOTHING = {"fit": [], "predict": []}
FAILED = {"status": "failed", "duration_s": 0.1, "error": "RuntimeError: no such kernel"}


@pytest.fixture
def results(tmp_path):
    """The genuine results of one model, three splits, which record nothing."""
    data = tmp_path / "data"
    task = next((GENUINE / METHOD).glob("*wine*"))
    shutil.copytree(task, data / METHOD / task.name)
    return data


def record(data, **records):
    """Add the runner's records to a result, in the order of the splits."""
    for path in sorted(data.glob("*/*/*/results.pkl")):
        content = pickle.loads(gzip.decompress(path.read_bytes()))
        if "warmup_report" not in content["experiment_metadata"]:
            break
    else:
        raise AssertionError("every result has its records")
    content["experiment_metadata"] |= records
    path.write_bytes(gzip.compress(pickle.dumps(content, protocol=4)))
    return path


def audit(data, *options):
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "audit_warmup.py"), "--results", str(data), *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done


def answer(data):
    done = audit(data, "--json")
    said = json.loads(done.stdout)
    assert said["exit"] == done.returncode
    return said


def count(data):
    return len(list(data.glob("*/*/*/results.pkl")))


def test_results_without_records_are_said_and_no_finding(results):
    said, number = answer(results), count(results)
    assert said["exit"] == 0
    assert said["summary"] == (
        f"{number} results: 0 warm-ups failed, 0 models import in timed sections; "
        f"{number} record none or not all of it, as the public runner's do"
    )
    assert said["data"]["models"]["LightGBM"]["unrecorded"] == number
    assert said["problems"] == []


def test_a_clean_run_leaves_with_zero(results):
    for _ in range(count(results)):
        record(results, warmup_report=OK, timing_audit=NOTHING)
    done, number = audit(results), count(results)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{number} results: 0 warm-ups failed, 0 models import in timed sections",
        f"LightGBM: {number} results, {number} warmed up",
    ]


def test_failed_warm_ups_and_late_imports_are_findings_with_a_file_each(results):
    first = record(results, warmup_report=FAILED, timing_audit={"fit": ["late_a", "late_b"], "predict": []})
    record(results, warmup_report=OK, timing_audit={"fit": ["late_b"], "predict": ["late_c"]})
    said, number = answer(results), count(results)
    assert said["exit"] == 1
    assert [(one["code"], one["where"]) for one in said["problems"]] == [
        ("warmup-failed", "LightGBM"),
        ("import-in-fit", "LightGBM"),
        ("import-in-predict", "LightGBM"),
    ]
    assert said["problems"][0]["found"] == (
        f"1 of {number} warm-ups failed: RuntimeError: no such kernel; e.g. {first}"
    )
    assert said["problems"][1]["found"] == (
        f"packages imported inside the timed fit: late_b (2), late_a (1); e.g. {first}"
    )
    model = said["data"]["models"]["LightGBM"]
    assert model["imports"] == {"fit": {"late_b": 2, "late_a": 1}, "predict": {"late_c": 1}}
    assert (model["warmed"], model["failed"], model["unrecorded"]) == (1, 1, number - 2)


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ({"warmup_report": "fine", "timing_audit": NOTHING}, "warmup_report is 'fine' with status None"),
        (
            {"warmup_report": {"status": "so-so"}, "timing_audit": NOTHING},
            "warmup_report is a value of type dict with status 'so-so'",
        ),
        (
            {"warmup_report": OK, "timing_audit": {"fit": [1], "predict": []}},
            "timing_audit is a value of type dict without lists of packages for fit and predict",
        ),
    ],
)
def test_records_of_another_shape_are_a_finding_and_break_nothing(results, records, found):
    path = record(results, **records)
    said = answer(results)
    assert said["exit"] == 1
    assert [(one["code"], one["where"], one["found"]) for one in said["problems"]] == [("bad-record", str(path), found)]


def test_a_file_that_is_no_result_is_named(results):
    path = sorted(results.glob("*/*/*/results.pkl"))[0]
    path.write_bytes(path.read_bytes()[:200])
    said = answer(results)
    assert said["exit"] == 1
    assert [one["where"] for one in said["problems"]] == [str(path)]


def test_no_folder_is_wrong_usage_and_an_empty_one_has_no_results(tmp_path):
    assert answer(tmp_path / "nowhere")["exit"] == 2
    said = answer(tmp_path)
    assert (said["exit"], said["problems"][0]["code"]) == (1, "no-results")
