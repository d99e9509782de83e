"""The mini arena's own registry: declarations that can be edited, and runs that do not disturb its leaderboard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.mini import REFERENCE_CONFIGS, source
from benchwright.mini.arena import PROTOCOL, SUITE
from benchwright.mini.methods import methods_superseded, mini_method_metadata_collection

ROOT = Path(__file__).resolve().parents[2]
READ = """
import json
from benchwright.mini import methods, source
lists = (source().reference_methods(), methods.mini_method_metadata_collection, methods.methods_superseded)
print(json.dumps([methods.__file__, *[[[entry.method, entry.suite] for entry in some] for some in lists]]))
"""
SNIPPET = """
{name}_method_metadata = MethodMetadata.config(
    method="{method}",
    suite="mini-2031-01-02",
    ag_key="{ag_key}",
    config_default="{method}_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=True,
)
"""


@pytest.fixture
def checkout(tmp_path):
    """A copy of this repository's source and settings."""
    copy = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", copy / "src", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def run(script: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / script), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def read(checkout: Path) -> list:
    """What the copy's own code says: where it is, its reference methods, its two lists."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    done = subprocess.run([sys.executable, "-c", READ], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_references_are_the_five_as_they_were_run():
    methods = source().reference_methods()
    assert tuple(methods) == tuple(mini_method_metadata_collection)
    assert methods_superseded == []
    keys = {"RandomForest": "RF", "ExtraTrees": "XT", "LightGBM": "GBM", "LinearModel": "LR", "KNeighbors": "TA-KNN"}
    assert {method.method: method.ag_key for method in methods} == keys
    for method in methods:
        assert (method.suite, method.validation_protocol, method.verified) == (SUITE, PROTOCOL, True)
        assert method.config_default == f"{method.method}_c1_default_BAG_L1"
        assert method.can_hpo == (REFERENCE_CONFIGS[method.method] > 0)
        assert method.is_bag == (method.method != "KNeighbors")
        assert (method.method_type, method.compute, method.cache_type) == ("config", "cpu", "local")


def test_a_declaration_can_be_edited(checkout):
    before = (checkout / "src/benchwright/mini/info.py").read_text()
    words = ("benchwright.mini.info:lightgbm_method_metadata", "--set", "date=2031-01-02", "--apply")
    done = run("set_method_info.py", *words, cwd=checkout)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "src/benchwright/mini/info.py: date set"
    after = (checkout / "src/benchwright/mini/info.py").read_text()
    assert after.replace('    date="2031-01-02",\n', "") == before


def test_a_run_of_ones_own_and_a_rerun_leave_the_leaderboard_as_it_is(checkout):
    file = checkout / "src/benchwright/mini/methods.py"
    before = file.read_text()
    with (checkout / "src/benchwright/mini/info.py").open("a") as info:
        info.write(SNIPPET.format(name="xgboost", method="XGBoost", ag_key="XGB"))
        info.write(SNIPPET.format(name="lightgbm_new", method="LightGBM", ag_key="GBM"))
    own = ("benchwright.mini.info:xgboost_method_metadata", "--arena", "mini")
    rerun = ("benchwright.mini.info:lightgbm_new_method_metadata", "--arena", "mini", "--replaces",
             "benchwright.mini.info:lightgbm_method_metadata")  # fmt: skip
    for words in (own, rerun):
        assert run("register_method.py", *words, "--apply", cwd=checkout).returncode == 0
    ruff = [sys.executable, "-m", "ruff"]
    for check in (["check"], ["format", "--check"]):
        done = subprocess.run([*ruff, *check, "--no-cache", str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout

    references = {(method.method, method.suite) for method in source().reference_methods()}
    path, kept, live, superseded = read(checkout)
    assert path == str(file)
    assert set(map(tuple, kept)) == references
    new = {("XGBoost", "mini-2031-01-02"), ("LightGBM", "mini-2031-01-02")}
    assert set(map(tuple, live)) == references - {("LightGBM", SUITE)} | new
    assert superseded == [["LightGBM", SUITE]]

    for words in (own, rerun):
        assert run("register_method.py", *words, "--rollback", "--apply", cwd=checkout).returncode == 0
    assert file.read_text() == before
