"""The whole way with a checkout of the public ``tabarena``, by the commands that its maintainers are given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from benchwright.files import read_json
from object_servers import KEY_ID, SECRET
from raw_trees import CONFIG, RAW, add_result, recorded

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
WHEEL = Path(sysconfig.get_path("purelib")) / "tabarena"
NEW = "tabarena.models.new.info:new_method_metadata"
OLD = "tabarena.models.lightgbm.info:lightgbm_method_metadata"
SUITE = "tabarena-2026-11-29"
INFO = """\
from __future__ import annotations

from tabarena.models._method_metadata import MethodMetadata

new_method_metadata = MethodMetadata.config(
    method="LightGBM",
    ag_key="GBM",  # as the model's class says
    config_default="LightGBM_c1_BAG_L1",
    can_hpo={can_hpo},
    is_bag=True,
)
"""
READ_BY_TABARENA = """
import sys
from tabarena.models._method_metadata import MethodMetadata
metadata = MethodMetadata.from_yaml(method="LightGBM", suite=sys.argv[2], cache_root=sys.argv[1])
print(len(metadata.load_hpo_results()), len(metadata.load_model_results()), metadata.verified)
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the public registry and a model that is new to it."""

    def make(**fields):
        source = tmp_path / "checkout" / "packages" / "tabarena" / "src" / "tabarena"
        for package in ("models", "contexts"):
            shutil.copytree(WHEEL / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
        (source / "__init__.py").touch()
        (source / "models" / "new").mkdir()
        (source / "models" / "new" / "info.py").write_text(INFO.format(**fields))
        return tmp_path / "checkout"

    return make


def answer(script, *words, environment=None):
    command = [sys.executable, str(SCRIPTS / script), *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout)


def codes(envelope):
    return [problem["code"] for problem in envelope["problems"]]


def registry(checkout):
    path = checkout / "packages" / "tabarena" / "src" / "tabarena" / "contexts" / "tabarena" / "methods.py"
    return path.read_text().split("methods_superseded: list")


def test_a_recorded_protocol_that_cannot_be_declared_stops_nothing(checkout, tmp_path):
    repository = checkout(can_hpo=False)
    declared = ("--method-metadata", NEW, "--repo", repository)
    cache = ("--cache-root", tmp_path / "cache")
    edited = answer(
        "set_method_info.py",
        NEW,
        "--set",
        f"suite={SUITE}",
        "--set",
        f"config_default={CONFIG}",
        *declared[2:],
        "--apply",
    )
    assert edited["ok"], edited["problems"]
    for split in range(2):
        add_result(tmp_path / "data", CONFIG, split=split, change=recorded("8x1"))
    processed = answer("run_process_method.py", tmp_path / "data", *declared, *cache, "--process")
    assert processed["ok"], processed["problems"]
    said = next(problem for problem in processed["problems"] if problem["code"] == "not-declared")
    assert said["found"] == "not declared (the results record it; the class it is declared with has no such field)"
    folder = Path(processed["data"]["artifact"]["folder"])
    assert read_json(folder / "provenance.json")["validation_protocol"] == "8x1"
    uploaded = answer("run_upload_results.py", *declared, *cache, "--store", f"local:{tmp_path / 'store'}", "--apply")
    assert uploaded["ok"], uploaded["problems"]
    assert not [code for code in codes(uploaded) if "protocol" in code]


@pytest.mark.slow
def test_the_commands_of_a_maintainer_end_registered_uploaded_and_verified(checkout, seaweed, tmp_path):
    """Inspect, correct, process, dry run, upload, verify, register, fetch: on genuine results and a real S3 server."""
    repository = checkout(can_hpo=True)
    declared = ("--method-metadata", NEW, "--repo", repository)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("R2_", "AWS_"))}
    environment["TABARENA_CACHE"] = str(tmp_path / "cache")
    r2 = {"R2_ACCESS_KEY_ID": KEY_ID, "R2_SECRET_ACCESS_KEY": SECRET, "R2_ENDPOINT_URL": seaweed.url}
    expected = ("--expect-validation-protocol", "tabarena")

    inspected = answer("run_process_method.py", RAW, *declared, *expected, environment=environment)
    assert (inspected["exit"], codes(inspected)[:2]) == (1, ["metadata-mismatch", "metadata-mismatch"])
    rows = {row["field"]: row for row in inspected["data"]["methods"][0]["comparison"]}
    assert rows["config_default"]["inferred"] == CONFIG
    fields = (
        f"suite={SUITE}",
        f"config_default={CONFIG}",
        "date=2026-11-29",
        "verified=false",
        "cache_type=r2",
        f'cache_kwargs={{"bucket": "{seaweed.bucket}", "prefix": "{tmp_path.name}/cache"}}',
    )
    changes = [word for field in fields for word in ("--set", field)]
    assert answer("set_method_info.py", NEW, *changes, *declared[2:], "--apply")["ok"]

    processed = answer("run_process_method.py", RAW, *declared, "--process", *expected, environment=environment)
    assert processed["ok"], processed["problems"]
    dry = answer("run_upload_results.py", *declared, environment=environment)
    assert (dry["ok"], dry["data"]["applied"], dry["summary"][:7]) == (True, False, "DRY RUN")
    lacking = answer("run_upload_results.py", *declared, "--no-dry-run", environment=environment)
    assert (lacking["exit"], codes(lacking)) == (3, ["no-credentials"])
    uploaded = answer("run_upload_results.py", *declared, "--no-dry-run", environment=environment | r2)
    assert uploaded["ok"], uploaded["problems"]
    verified = answer("run_upload_results.py", *declared, "--verify-only", environment=environment | r2)
    assert (verified["ok"], len(verified["data"]["verification"]["objects"])) == (True, 8)

    refused = answer("register_method.py", NEW, *declared[2:], "--arena", "tabarena", "--apply")
    assert codes(refused) == ["method-live"]
    swapped = answer("register_method.py", NEW, *declared[2:], "--arena", "tabarena", "--replaces", OLD, "--apply")
    assert swapped["ok"], swapped["problems"]
    live, superseded = registry(repository)
    assert "from tabarena.models.new.info import new_method_metadata\n" in live
    assert "        new_method_metadata,\n" in live
    assert "    lightgbm_method_metadata,\n" in superseded

    store = f"r2://{seaweed.bucket}/{tmp_path.name}/cache"
    words = ("LightGBM", SUITE, "--store", store, "--cache-root", tmp_path / "colleague")
    assert answer("fetch_method.py", *words, environment=environment | r2)["ok"]
    command = [sys.executable, "-c", READ_BY_TABARENA, str(tmp_path / "colleague"), SUITE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["27", "54", "False"]
