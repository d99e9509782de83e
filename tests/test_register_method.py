"""The command: dry by default, the same answer twice, every problem at once, and the way back."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import benchwright.mini
from benchwright.publish import ARENAS
from scripts_in_process import SCRIPTS, Script, load

SCRIPT = SCRIPTS / "register_method.py"
DRY = "DRY RUN: nothing written"
NEW, OLD = "benchwright.mini.info:new_metadata", "benchwright.mini.info:old_metadata"
INFO = """from benchwright.arena import MethodMetadata

old_metadata = MethodMetadata.config(method="A", suite="one")
new_metadata = MethodMetadata.config(method="A", suite="two", cache_kwargs={"bucket": "b", "prefix": "p"})
other_metadata = MethodMetadata.config(method="B", suite="two")
"""
METHODS = """from benchwright.arena import MethodCollection
from benchwright.mini.info import old_metadata

mini_method_metadata_collection = MethodCollection(
    [
        # Models (CPU)
        old_metadata,
        # Systems
    ]
)
methods_superseded = []
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a mini arena of one method."""
    folder = tmp_path / "a checkout" / "src" / "benchwright" / "mini"
    folder.mkdir(parents=True)
    (folder / "info.py").write_text(INFO)
    (folder / "methods.py").write_text(METHODS)
    return tmp_path / "a checkout"


@pytest.fixture
def methods(checkout):
    return checkout / "src" / "benchwright" / "mini" / "methods.py"


@pytest.fixture
def answer(capsys, checkout):
    """The envelope of a call in this process, on the checkout."""
    return Script.named("register_method", capsys, "--arena", "mini", "--repo", checkout).answer


def run(*words, cwd="/"):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_arenas_of_the_command_are_those_there_are():
    (arena,) = (action for action in load(SCRIPT).build_parser()._actions if action.dest == "arena")
    assert list(arena.choices) == list(ARENAS)


def test_a_dry_run_shows_the_diff_and_the_command_that_writes(checkout, methods):
    done = run(sys.executable, str(SCRIPT), NEW, "--arena", "mini", "--replaces", OLD, cwd=checkout)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    label = "src/benchwright/mini/methods.py"
    assert lines[:3] == [
        f"{DRY}; {label}: new_metadata to be swapped in for {OLD}",
        "the entry resolves to downloadable artifacts only once the real upload has run",
        "the mini leaderboard keeps the reference results that are shipped with it; "
        f"{OLD} stays reachable through methods_superseded",
    ]
    assert lines[-1] == DRY
    assert methods.read_text() == METHODS

    written = run(*shlex.split(lines[lines.index("next:") + 1]))
    assert written.returncode == 0
    first, undo = written.stdout.splitlines()[:2]
    assert first == f"{label}: new_metadata swapped in for {OLD}"
    assert DRY not in written.stdout
    assert methods.read_text() == METHODS.replace("        old_", "        new_").replace(
        "import old_metadata", "import new_metadata, old_metadata"
    ).replace("[]", "[\n    old_metadata,\n]")

    undone = run(*shlex.split(undo.removeprefix("to undo this: ")))
    assert undone.stdout.splitlines()[0] == f"{label}: new_metadata taken out, {OLD} put back"
    assert methods.read_text() == METHODS


def test_the_data_say_what_is_done(answer, methods):
    planned = answer("benchwright.mini.info:other_metadata")
    assert planned["summary"] == (
        f"{DRY}; src/benchwright/mini/methods.py: other_metadata to be entered below 'Models (CPU)'"
    )
    data = planned["data"]
    assert "+from benchwright.mini.info import old_metadata, other_metadata\n" in data.pop("diff")
    assert data == {
        "arena": "mini",
        "method": "benchwright.mini.info:other_metadata",
        "file": str(methods),
        "group": "Models (CPU)",
        "import": "from benchwright.mini.info import other_metadata",
        "entry": "other_metadata",
        "replaced": None,
        "rollback": False,
        "unread": [],
        "caveats": [
            "the entry resolves to downloadable artifacts only once the real upload has run; "
            "benchwright.mini.info:other_metadata still has cache_type 'local', which is no remote store"
        ],
        "applied": False,
        "written": False,
    }


@pytest.mark.parametrize(
    ("declared", "group"),
    [
        ('config(method="New", suite="s")', "Models (CPU and GPU)"),
        ('config(method="New", suite="s", compute="gpu")', "Models (CPU and GPU)"),
        ('system(method="New", suite="s", compute="gpu")', "Systems"),
    ],
)
def test_the_mini_arena_has_a_place_for_every_kind_of_method(answer, methods, declared, group):
    own = Path(benchwright.mini.__file__).parent
    methods.write_bytes((own / "methods.py").read_bytes())
    info = (own / "info.py").read_text()
    methods.with_name("info.py").write_text(f"{info}\n\nnew_metadata = MethodMetadata.{declared}\n")
    planned = answer(NEW)
    assert (planned["exit"], planned["data"]["group"]) == (0, group)


def test_a_second_call_changes_nothing_and_says_so(answer):
    words = (NEW, "--replaces", OLD)
    outcomes = [answer(*words, *more) for more in (["--apply"], ["--apply"], [])]
    assert [(one["data"]["applied"], one["data"]["written"]) for one in outcomes] == [
        (True, True), (True, False), (False, False),
    ]  # fmt: skip
    already = f"{NEW} is registered already in src/benchwright/mini/methods.py: nothing to change"
    assert [one["summary"] for one in outcomes[1:]] == [already, f"{DRY}; {already}"]
    assert (outcomes[2]["data"]["diff"], outcomes[2]["next"]) == ("", [])


def test_a_rollback_is_dry_too_until_it_is_applied(answer, methods):
    answer(NEW, "--replaces", OLD, "--apply")
    registered = methods.read_text()
    outcomes = [answer(NEW, "--rollback", *more) for more in ([], ["--apply"], ["--apply"])]
    assert [(one["data"]["applied"], one["data"]["written"]) for one in outcomes] == [
        (False, False), (True, True), (True, False),
    ]  # fmt: skip
    assert outcomes[0]["next"][0].endswith(f"--repo '{methods.parents[3]}' --rollback --apply")
    assert outcomes[0]["data"]["replaced"] == OLD
    assert outcomes[2]["summary"] == f"{NEW} is not registered in src/benchwright/mini/methods.py: nothing to change"
    assert registered != methods.read_text() == METHODS


def test_a_rerun_without_what_it_replaces_is_no(answer, methods):
    envelope = answer(NEW, "--apply")
    assert envelope["exit"] == 1
    assert envelope["problems"][0]["fix"] == f"for a rerun that takes its place, add --replaces {OLD}"
    assert methods.read_text() == METHODS


def test_every_problem_of_the_command_line_comes_at_once(answer):
    envelope = answer("benchwright.mini.infos:x", "--replaces", "nothing")
    assert envelope["exit"] == 2
    assert [problem["code"] for problem in envelope["problems"]] == ["module", "reference"]


def test_an_installed_collection_is_refused(tmp_path):
    done = run(sys.executable, str(SCRIPT), "tabarena.models.nori.info:nori_method_metadata", "--arena", "tabarena",
               cwd=tmp_path)  # fmt: skip
    assert done.returncode == 5
    assert "part of an installed package (site-packages)" in done.stdout
    assert "--repo DIR" in done.stdout


def test_an_unknown_arena_is_wrong_usage(capsys):
    with pytest.raises(SystemExit) as caught:
        Script.named("register_method", capsys).answer(NEW, "--arena", "minis")
    assert caught.value.code == 2
    assert json.loads(capsys.readouterr().out)["problems"][0]["code"] == "usage"
