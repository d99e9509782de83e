"""The command: dry by default, the same answer twice, and whole files whatever kills it."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from info_files import checkout

from benchwright.cli import run_script
from benchwright.publish import apply_edit, parse_changes, plan_edit

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "set_method_info.py"
SOURCE = "# kept\nx_metadata = MethodMetadata(\n    method='A',  # kept too\n)\n"
DRY = "DRY RUN: nothing written"


def run(*words, cwd):
    return subprocess.run([sys.executable, str(SCRIPT), *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def target(tmp_path):
    return checkout(tmp_path / "a checkout", SOURCE, attribute="x_metadata")


def test_a_dry_run_shows_the_diff_and_the_command_that_writes(target, tmp_path):
    words = ("models.info:x_metadata", "--set", "suite=tabarena 'x'", "--repo", str(target.repository))
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{DRY}; src/models/info.py: suite, verified to be set"
    assert lines[-1] == DRY
    assert """+    suite="tabarena 'x'",""" in lines
    assert "+    verified=False," in lines
    assert target.path.read_text() == SOURCE

    command = lines[lines.index("next:") + 1].strip()
    written = subprocess.run(shlex.split(command), cwd="/", capture_output=True, text=True, check=False)
    assert written.returncode == 0
    assert written.stdout.splitlines()[0] == "src/models/info.py: suite, verified set"
    assert DRY not in written.stdout
    assert target.path.read_text() == SOURCE.replace(
        "too\n", """too\n    suite="tabarena 'x'",\n    verified=False,\n"""
    )


@pytest.fixture
def answer(capsys):
    """The envelope of a call in this process."""
    spec = importlib.util.spec_from_file_location("set_method_info", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def call(*words):
        code = run_script(script.build_parser(), script.set_method_info, [*words, "--json"])
        envelope = json.loads(capsys.readouterr().out)
        assert envelope["exit"] == code
        return envelope

    return call


def test_a_second_call_changes_nothing_and_says_so(target, answer):
    words = ("models.info:x_metadata", "--set", "suite=s", "--set", "verified=true", "--repo", str(target.repository))
    outcomes = [answer(*words, *more) for more in ([], ["--apply"], ["--apply"], [])]
    assert [(one["data"]["applied"], one["data"]["written"]) for one in outcomes] == [
        (False, False), (True, True), (True, False), (False, False),
    ]  # fmt: skip
    assert outcomes[0]["data"]["fields"] == [
        {"field": "suite", "old": None, "new": "'s'"},
        {"field": "verified", "old": None, "new": "True"},
    ]
    assert outcomes[2]["summary"] == "models.info:x_metadata says so already: nothing to change"
    assert outcomes[3]["summary"] == f"{DRY}; models.info:x_metadata says so already: nothing to change"
    assert (outcomes[3]["data"]["diff"], outcomes[3]["next"]) == ("", [])


def test_every_problem_of_the_command_line_comes_at_once(target, answer):
    words = ("--set", "sute=s", "--set", "date=1", "--set", "date=2", "--repo", str(target.repository))
    envelope = answer("models.inf:x", *words)
    assert envelope["exit"] == 2
    assert [problem["code"] for problem in envelope["problems"]] == ["metadata-unknown-field", "usage", "module"]


def test_a_wrong_value_and_a_declaration_that_cannot_be_edited_come_together(tmp_path, answer):
    checkout(tmp_path, "x = make()\n")
    envelope = answer("models.info:x", "--set", "verified=maybe", "--repo", str(tmp_path))
    assert [problem["code"] for problem in envelope["problems"]] == ["metadata-type", "not-editable"]
    assert envelope["exit"] == 5


def test_a_refusal_outweighs_wrong_usage(tmp_path):
    done = run("tabarena.models.nori.info:nori_method_metadata", "--set", "date=x", "--set", "sute=s", cwd=tmp_path)
    assert done.returncode == 5
    assert "part of an installed package (site-packages)" in done.stdout


def test_what_another_process_changes_meanwhile_is_not_lost(tmp_path):
    names = [f"x{number}" for number in range(4)]
    source = "".join(f"{name} = MethodMetadata(method='{name}')\n" for name in names)
    places = [checkout(tmp_path, source, attribute=name) for name in names]
    words = ["--set", "suite=s", "--set", "verified=true", "--repo", str(tmp_path), "--apply"]
    commands = [[sys.executable, str(SCRIPT), f"models.info:{name}", *words] for name in names]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    exits = dict(zip(names, (process.wait() for process in processes), strict=True))
    assert set(exits.values()) <= {0, 5}
    for place in places:
        done = exits[place.attribute] == 0
        assert plan_edit(place, parse_changes(["suite=s", "verified=true"])).changes_file is not done


@pytest.mark.parametrize("call", ["fdopen", "fchmod", "fsync", "replace"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path, call, moment):
    target = checkout(tmp_path, SOURCE, attribute="x_metadata")
    edit = plan_edit(target, parse_changes(["suite=s"]))
    child = os.fork()
    if child == 0:
        real = getattr(os, call)

        def killed(*args, **kwargs):
            if moment == "after":
                real(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, call, killed)
        apply_edit(edit)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    replaced = (call, moment) == ("replace", "after")
    assert target.path.read_bytes() == (edit.after if replaced else edit.before)
    assert apply_edit(plan_edit(target, parse_changes(["suite=s"]))) is not replaced
    assert target.path.read_bytes() == edit.after
    assert [path.name for path in target.path.parent.iterdir()] == ["info.py"]
