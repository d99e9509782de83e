"""The real scripts, given what the operating system refuses and values that no file can hold: told, and never a bug."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchwright.contract import Problem
from published_artifacts import SUITE, recorded
from raw_trees import CONFIG, add_result
from scripts_in_process import Script

pytestmark = pytest.mark.usefixtures("no_credentials")
INFO = """
x = MethodMetadata.config(
    method="LightGBM", suite="s", ag_key="GBM", config_default="LightGBM_c1_default_BAG_L1", is_bag=True,
    can_hpo=False, date="2026-11-29", verified=False, validation_protocol="8x1",
)
"""
RUN_SCRIPT = """'''Benchmark A.'''
from launcher import Plan
BENCHMARK_NAME = "demo"
WORKSPACE = "{workspace}"
def setup():
    Plan(BENCHMARK_NAME, path=WORKSPACE).setup_jobs()
"""
RANDOM_FOREST = "benchwright.mini.info:randomforest_method_metadata"
FOLDER_NEEDED = "expected a folder at every step of it\n    fix: move the file away, or name another path"
IN_THE_WAY = "file exists, expected a folder, or nothing, there\n    fix: move it away, or name another path"
TOO_LONG = "file name too long, expected at most 255 bytes a name and 4,095 a path\n    fix: name a shorter path"
LOOP = (
    "too many levels of symbolic links, expected a link that ends somewhere\n"
    "    fix: mend the link, or name another path"
)
CORRECT = "fix: correct it in the command, or in the file that it comes from"
NO_HOME = f"a path that begins with ~: no such user's home, expected an existing home\n    {CORRECT}"
SHEET = "expected a file that can be\n    fix: name another with --handoff"


@dataclass(frozen=True)
class Places:
    """Paths that are refused, and what the scripts need besides them."""

    root: Path

    @property
    def file(self):
        return self.root / "file"

    @property
    def folder(self):
        return self.root / "folder"

    @property
    def loop(self):
        return self.root / "loop"

    @property
    def long(self):
        return self.root / ("n" * 300)

    @property
    def process(self):
        add_result(self.root / "run", CONFIG)
        return [self.root / "run", "--process", "--method-metadata", "models.info:x", "--repo", self.root / "checkout"]

    @property
    def upload(self):
        recorded(self.root / "cache")
        store = f"local:{self.root}/store"
        return ["--from-cache", "LinearModel", SUITE, "--cache-root", self.root / "cache", "--store", store]

    @property
    def log(self):
        script, workspace = self.root / "run_demo.py", self.root / "workspace"
        script.write_text(RUN_SCRIPT.format(workspace=workspace))
        (self.root / "log.md").write_text("# Runs\n")
        result = workspace / "output" / "demo" / "data" / "A_c1" / "iris" / "0_0" / "results.pkl"
        result.parent.mkdir(parents=True)
        result.write_bytes(b"")
        return ["--run-script", script, "--log", self.root / "log.md"]

    def batch(self, **values):
        manifest = self.root / "batch.yaml"
        method = {"data": str(self.folder), "method_metadata": RANDOM_FOREST, "store": f"local:{self.root}/store"}
        manifest.write_text(json.dumps({"methods": [method | values]}))
        return [manifest]


@pytest.fixture
def places(tmp_path):
    places = Places(tmp_path)
    places.file.write_text("")
    places.folder.mkdir()
    places.loop.symlink_to("loop")
    (tmp_path / "checkout" / "models").mkdir(parents=True)
    (tmp_path / "checkout" / "models" / "info.py").write_text(INFO)
    return places


def told(capsys, script, words):
    """The exit code and the problems of a script's call, which has no traceback."""
    script = Script.named(script, capsys)
    code, lines = script.run(*words, "--json")
    envelope = json.loads(lines[-1])
    assert envelope["exit"] == code
    return code, envelope["problems"]


def line(problem):
    """A problem of an envelope as people read it."""
    return str(Problem(**problem))


@pytest.mark.parametrize(
    ("script", "words", "exit", "code", "expected"),
    [
        ("run_process_method", lambda p: [*p.process, "--cache-root", p.file],
         3, "not-a-folder", "{p.file}/.benchwright/locks: not a directory, " + FOLDER_NEEDED),
        ("run_process_method", lambda p: [*p.process, "--cache-root", p.long],
         3, "name-too-long", "{p.long}/.benchwright/locks: " + TOO_LONG),
        ("run_process_method", lambda p: [p.long], 3, "name-too-long", "{p.long}: " + TOO_LONG),
        ("run_upload_results", lambda p: ["--method-metadata", "models.info:x", "--repo", p.long],
         3, "name-too-long", "{p.long}: " + TOO_LONG),
        ("run_upload_results", lambda p: [*p.upload, "--handoff", p.folder],
         3, "sheet-not-written", "{p.folder}: cannot be written (is a directory), " + SHEET),
        ("run_upload_results", lambda p: [*p.upload, "--handoff", p.long],
         3, "sheet-not-written", "{p.long}: cannot be written (file name too long), " + SHEET),
        ("run_upload_results", lambda p: [*p.upload, "--handoff", p.file / "x"],
         3, "sheet-not-written", "{p.file}/x: cannot be written (file exists), " + SHEET),
        ("run_upload_results", lambda p: [*p.upload, "--store", "local:~no-such-user/x"], 2, "no-home", NO_HOME),
        ("fetch_method", lambda p: ["A", "s", "--store", "local:~no-such-user/x"], 2, "no-home", NO_HOME),
        ("publish_batch", lambda p: [*p.batch(), "--logs", p.file], 3, "in-the-way", "{p.file}: " + IN_THE_WAY),
        ("publish_batch", lambda p: [*p.batch(), "--logs", p.file / "x"],
         3, "not-a-folder", "{p.file}/x: not a directory, " + FOLDER_NEEDED),
        ("publish_batch", lambda p: [*p.batch(), "--logs", p.long], 3, "name-too-long", "{p.long}: " + TOO_LONG),
        ("publish_batch", lambda p: p.batch(data=str(p.long)), 3, "name-too-long", "{p.long}: " + TOO_LONG),
        ("publish_batch", lambda p: p.batch(data="~no-such-user/x"), 2, "no-home", NO_HOME),
        ("publish_batch", lambda p: p.batch(method="a\0b"),
         2, "nul-character", f"a text: a NUL character in it, expected text without\n    {CORRECT}"),
        ("publish_batch", lambda p: p.batch(method="a\ud800b"),
         2, "not-utf-8", rf"'a\ud800b': not UTF-8, expected text that is" f"\n    {CORRECT}"),
        ("log_run", lambda p: [*p.log, "--workspace", p.long],
         3, "name-too-long", "{p.long}/setup_out/demo/plans: " + TOO_LONG),
        ("set_method_info", lambda p: ["models.info:x", "--set", "suite=t", "--repo", p.long],
         3, "name-too-long", "{p.long}: " + TOO_LONG),
        ("register_method", lambda p: ["models.info:x", "--arena", "mini", "--repo", p.long],
         3, "name-too-long", "{p.long}: " + TOO_LONG),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_to_the_letter(script, words, exit, code, expected, places, capsys):
    got, problems = told(capsys, script, words(places))
    assert (got, [(problem["code"], line(problem)) for problem in problems]) == (
        exit,
        [(code, expected.format(p=places))],
    )


def test_a_link_to_itself_is_told(places, capsys):
    code, (problem,) = told(capsys, "run_process_method", [*places.process, "--cache-root", places.loop])
    assert (code, problem["code"]) == (3, "link-loop")
    assert problem["where"].startswith(f"{places.loop}/")
    assert line(problem | {"where": "it"}) == f"it: {LOOP}"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("run_process_method", ["run"]),
        ("fetch_method", ["A", "s", "--store", "local:x"]),
        ("set_method_info", ["models.info:x", "--set", "suite=t"]),
        ("register_method", ["models.info:x", "--arena", "mini"]),
    ],
)
def test_a_current_folder_that_is_gone_is_told(script, words, places, capsys, monkeypatch):
    monkeypatch.chdir(places.folder)
    shutil.rmtree(places.folder)
    code, (problem,) = told(capsys, script, words)
    assert (code, problem["code"]) == (3, "not-found")
    assert line(problem) == (
        "the current folder: no such file or directory, expected an existing path\n"
        "    fix: change into a folder that is there"
    )


def test_a_note_that_is_not_utf_8_is_told_and_the_log_left_alone(places, capsys):
    words = places.log
    code, (problem,) = told(capsys, "log_run", [*words, "--note", "a\udcffb", "--apply"])
    assert (code, problem["code"]) == (2, "not-utf-8")
    assert r"** a\udcffb\n" in problem["where"]
    assert (places.root / "log.md").read_text() == "# Runs\n"


def test_a_number_that_json_lacks_is_shown(places, capsys):
    def unknown(value):
        value["method_metadata"]["num_gpus"] = float("nan")

    add_result(places.root / "run", CONFIG, change=unknown)
    code, lines = Script.named("run_process_method", capsys).run(places.root / "run", "--json")
    (method,) = json.loads(lines[-1])["data"]["methods"]
    assert (code, method["inferred"]["num_gpus"]) == (0, ["NaN"])


def test_a_checkout_whose_name_is_not_utf_8_is_shown(places, capsys):
    checkout = Path(os.fsdecode(os.fsencode(places.root) + b"/b\xff"))
    (places.root / "checkout").rename(checkout)
    script = Script.named("set_method_info", capsys, "models.info:x", "--set", "date=2026-11-30", "--repo", checkout)
    code, lines = script.run("--json")
    envelope = json.loads(lines[-1])
    assert (code, "\udcff" in envelope["next"][0]) == (0, True)
    code, lines = script.run("--out", places.root / "report.txt")
    assert (code, "b\\udcff" in lines[-2]) == (0, True)
    assert "b\\udcff" in (places.root / "report.txt").read_text()
