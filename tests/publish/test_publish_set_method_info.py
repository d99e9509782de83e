"""The command: dry by default, the same answer twice, and every problem at once."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
from info_files import checkout

from declared_methods import register
from scripts_in_process import SCRIPTS, Script

SCRIPT = SCRIPTS / "set_method_info.py"
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
    return Script.named("set_method_info", capsys).answer


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


def test_values_that_no_method_may_have_come_with_those_that_cannot_be_read(target, answer):
    words = ("--set", "date=2026-13-29", "--set", "verified=maybe", "--set", "sute=s", "--repo", str(target.repository))
    envelope = answer("models.info:x_metadata", *words)
    assert envelope["exit"] == 2
    assert [problem["where"] for problem in envelope["problems"]] == [
        "--set verified",
        "--set sute",
        "MethodMetadata 'A': date",
    ]


@pytest.mark.parametrize("suite", ["../x", "a/b", "..", ".benchwright", "a\\b", "x" * 201])
def test_a_suite_that_no_folder_can_be_called_by_is_refused(target, answer, suite):
    words = ("models.info:x_metadata", "--set", f"suite={suite}", "--apply", "--repo", str(target.repository))
    envelope = answer(*words)
    (problem,) = envelope["problems"]
    assert (envelope["exit"], problem["code"], problem["where"]) == (2, "metadata-value", "MethodMetadata 'A': suite")
    assert problem["expected"] == "a name that can name a folder"
    assert target.path.read_text() == SOURCE


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("display_name=/home/somebody/x", "a path of one machine"),
        ("reference_url=https://example.org/x?api_key=somebodyssecret", "a text with a secret"),
        ('cache_kwargs={"bucket": "b", "prefix": "p", "api_key": "somebodyssecret"}', "a text with a secret"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--apply"]])
def test_what_nobody_may_read_is_refused_and_not_told(target, answer, change, found, more):
    envelope = answer("models.info:x_metadata", "--set", change, "--repo", str(target.repository), *more)
    (problem,) = envelope["problems"]
    field = change.partition("=")[0]
    assert (envelope["exit"], problem["where"], problem["found"]) == (2, f"MethodMetadata 'A': {field}", found)
    assert envelope["next"] == [] and "somebody" not in str(envelope)
    assert target.path.read_text() == SOURCE


def test_a_secret_that_is_taken_out_is_not_told(tmp_path, answer):
    call = "MethodMetadata(method='A', cache_kwargs={'bucket': 'results', 'prefix': 'p', 'api_key': 'somebodyssecret'})"
    target = checkout(tmp_path, f"x_metadata = {call}\n", attribute="x_metadata")
    change = 'cache_kwargs={"bucket": "results", "prefix": "p"}'
    envelope = answer("models.info:x_metadata", "--set", change, "--repo", str(target.repository), "--apply")
    assert envelope["exit"] == 0 and "somebody" not in str(envelope)
    assert "somebody" not in target.path.read_text()


def test_another_suite_needs_force_and_the_next_command_has_it(target, answer):
    words = ("models.info:x_metadata", "--repo", str(target.repository), "--set")
    answer(*words, "suite=run-1", "--apply")
    before = target.path.read_text()
    refused = answer(*words, "suite=run-2", "--apply")
    assert (refused["exit"], refused["summary"]) == (5, "declared as 'run-1'")
    assert refused["problems"][0]["code"] == "suite-declared"
    assert target.path.read_text() == before
    (command,) = answer(*words, "suite=run-2", "--force")["next"]
    subprocess.run(shlex.split(command), cwd="/", capture_output=True, check=True)
    assert target.path.read_text() == before.replace("run-1", "run-2")


@pytest.mark.parametrize("place", ["live", "superseded", "earlier"])
def test_the_declaration_of_a_registered_run_keeps_what_its_results_decided(tmp_path, answer, place):
    results = '    config_default="A_c2",\n    validation_protocol="4x2",\n'
    call = f'    method="A",\n    suite="run-1",\n{results}    verified=False,\n'
    source = f"x_metadata = MethodMetadata.config(\n{call})\n"
    target = checkout(tmp_path, source, attribute="x_metadata")
    register(tmp_path, "tabarena", "models.info:x_metadata", place=place)
    words = ("models.info:x_metadata", "--repo", str(tmp_path), "--apply")
    refused = answer(*words, "--set", "config_default=A_c1", "--set", "validation_protocol=8x1")
    (problem,) = refused["problems"]
    assert (refused["exit"], problem["code"]) == (5, "run-registered")
    assert (problem["where"], problem["found"], problem["fix"]) == (
        "models.info:x_metadata: config_default, validation_protocol",
        "declared for suite 'run-1', registered in tabarena",
        "declare the new run beside it, under another name, and register it with --replaces; "
        "to change this one nevertheless: --force",
    )
    assert target.path.read_text() == source
    assert answer(*words, "--set", "verified=true", "--set", "display_name=A!", "--set", "can_hpo=true")["exit"] == 0
    assert answer(*words, "--set", "config_default=A_c1", "--force")["exit"] == 0
    assert 'config_default="A_c1"' in target.path.read_text()


def test_what_a_registered_run_does_not_declare_is_filled_in(tmp_path, answer):
    source = 'x_metadata = MethodMetadata.config(\n    method="A",\n    suite="run-1",\n    verified=False,\n)\n'
    target = checkout(tmp_path, source, attribute="x_metadata")
    register(tmp_path, "tabarena", "models.info:x_metadata")
    words = ("models.info:x_metadata", "--repo", str(tmp_path), "--apply")
    assert answer(*words, "--set", "validation_protocol=8x1")["exit"] == 0
    assert 'validation_protocol="8x1"' in target.path.read_text()
    refused = answer(*words, "--set", "validation_protocol=4x2", "--set", "config_default=A_c1")
    assert refused["problems"][0]["where"] == "models.info:x_metadata: validation_protocol"


HOSTED = """\
x_metadata = MethodMetadata.config(
    method="A",
    suite="run-1",
    cache_type="r2",
    cache_kwargs={"bucket": "results", "prefix": "p"},
)
"""


def test_a_registered_run_stays_where_it_is_and_as_verified_as_it_is(tmp_path, answer):
    target = checkout(tmp_path, HOSTED, attribute="x_metadata")
    register(tmp_path, "tabarena", "models.info:x_metadata")
    words = ("models.info:x_metadata", "--repo", str(tmp_path), "--apply")
    elsewhere = 'cache_kwargs={"bucket": "others", "prefix": "p"}'
    for sets, fields in (
        (("cache_type=local", "cache_kwargs=none"), "cache_type, cache_kwargs"),
        (("cache_type=s3",), "cache_type"),
        ((elsewhere,), "cache_kwargs"),
    ):
        refused = answer(*words, *(word for one in sets for word in ("--set", one)))
        (problem,) = refused["problems"]
        assert (refused["exit"], problem["code"]) == (5, "run-registered")
        assert problem["where"] == f"models.info:x_metadata: {fields}"
    assert target.path.read_text() == HOSTED
    assert answer(*words, "--set", "display_name=A!")["exit"] == 0
    assert target.path.read_text() == HOSTED.replace("},\n", '},\n    display_name="A!",\n')
    assert answer(*words, "--set", elsewhere, "--force")["exit"] == 0
    assert '"bucket": "others"' in target.path.read_text()
    assert answer(*words, "--set", "verified=false")["exit"] == 0
    assert "verified=False" in target.path.read_text()


@pytest.mark.parametrize(
    ("bucket", "prefix", "code"),
    [("results", "/cache/../x", "bad-key"), ("results", "a//b", "bad-key"), ("no bucket", "p", "bad-store")],
)
def test_a_place_that_no_store_can_have_is_refused(target, answer, bucket, prefix, code):
    place = f'cache_kwargs={{"bucket": "{bucket}", "prefix": "{prefix}"}}'
    words = ("models.info:x_metadata", "--set", "cache_type=r2", "--repo", str(target.repository), "--apply")
    refused = answer(*words, "--set", place)
    assert (refused["exit"], [problem["code"] for problem in refused["problems"]]) == (2, [code])
    assert target.path.read_text() == SOURCE
    assert answer(*words, "--set", 'cache_kwargs={"bucket": "bucket", "prefix": "/cache/"}')["exit"] == 0


@pytest.mark.parametrize("local", ["", '    cache_type="local",\n'])
def test_a_registered_run_without_a_place_is_given_one(tmp_path, answer, local):
    source = f'x_metadata = MethodMetadata.config(\n    method="A",\n    suite="run-1",\n{local})\n'
    target = checkout(tmp_path, source, attribute="x_metadata")
    register(tmp_path, "tabarena", "models.info:x_metadata")
    place = ("--set", "cache_type=r2", "--set", 'cache_kwargs={"bucket": "results", "prefix": "p"}')
    assert answer("models.info:x_metadata", "--repo", str(tmp_path), "--apply", *place)["exit"] == 0
    assert 'cache_kwargs={"bucket": "results", "prefix": "p"}' in target.path.read_text()


def test_a_refusal_outweighs_wrong_usage(tmp_path):
    done = run("tabarena.models.nori.info:nori_method_metadata", "--set", "date=x", "--set", "sute=s", cwd=tmp_path)
    assert done.returncode == 5
    assert "part of an installed package (site-packages)" in done.stdout
