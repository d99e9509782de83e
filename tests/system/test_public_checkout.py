"""The whole way with a checkout of the public ``tabarena``, whose metadata cannot name a validation protocol."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from benchwright.files import read_json
from raw_trees import CONFIG, add_result, recorded

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
WHEEL = Path(sysconfig.get_path("purelib")) / "tabarena"
INFO = """\
from __future__ import annotations

from tabarena.models._method_metadata import MethodMetadata

new_method_metadata = MethodMetadata.config(
    method="LightGBM",
    suite="a-run-2026-11-30",
    ag_key="GBM",
    can_hpo=False,
    is_bag=True,
)
"""


def answer(script, *words):
    command = [sys.executable, str(SCRIPTS / script), *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.count("Traceback") == 0, done.stderr
    return json.loads(done.stdout)


def test_a_recorded_protocol_that_cannot_be_declared_stops_nothing(tmp_path):
    source = tmp_path / "checkout" / "packages" / "tabarena" / "src" / "tabarena"
    shutil.copytree(WHEEL / "models", source / "models", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(WHEEL / "contexts", source / "contexts", ignore=shutil.ignore_patterns("__pycache__"))
    (source / "__init__.py").touch()
    (source / "models" / "new").mkdir()
    (source / "models" / "new" / "info.py").write_text(INFO)
    for split in range(2):
        add_result(tmp_path / "data", CONFIG, split=split, change=recorded("8x1"))
    method = ("--method-metadata", "tabarena.models.new.info:new_method_metadata", "--repo", tmp_path / "checkout")
    cache = ("--cache-root", tmp_path / "cache")

    processed = answer("run_process_method.py", tmp_path / "data", *method, *cache, "--process")
    assert processed["ok"], processed["problems"]
    (warning,) = processed["problems"]
    assert (warning["code"], warning["found"]) == (
        "not-declared",
        "not declared (the results record it; the class it is declared with has no such field)",
    )
    folder = Path(processed["data"]["artifact"]["folder"])
    assert read_json(folder / "provenance.json")["validation_protocol"] == "8x1"

    uploaded = answer("run_upload_results.py", *method, *cache, "--store", f"local:{tmp_path / 'store'}", "--apply")
    assert uploaded["ok"], uploaded["problems"]
    assert [problem["code"] for problem in uploaded["problems"] if "protocol" in problem["code"]] == []

    words = (*method[1:], "--arena", "tabarena", "--apply")
    refused = answer("register_method.py", *words)
    assert [problem["code"] for problem in refused["problems"]] == ["method-live"]
    swapped = answer(
        "register_method.py", *words, "--replaces", "tabarena.models.lightgbm.info:lightgbm_method_metadata"
    )
    assert swapped["ok"], swapped["problems"]
    live, superseded = (source / "contexts" / "tabarena" / "methods.py").read_text().split("methods_superseded: list")
    assert "from tabarena.models.new.info import new_method_metadata\n" in live
    assert "        new_method_metadata,\n" in live
    assert "    lightgbm_method_metadata,\n" in superseded
