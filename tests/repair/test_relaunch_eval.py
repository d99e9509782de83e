"""The script relaunch_eval: the command of a launch under the same name, and the region that a launch says."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from scripts_in_process import Script

JOB = "eval-small-bench-20260901-120000"


@pytest.fixture
def script(capsys, settings):
    return Script.named("iris/relaunch_eval", capsys)


def test_the_command_has_name_retries_and_path(script, settings, tmp_path):
    settings.chdir(tmp_path)
    settings.setenv("BENCHWRIGHT_IRIS_REGION", "us-east5")
    settings.setenv("BENCHWRIGHT_IRIS_LAUNCH", "'/opt/my env/bin/python' eval/cloud/launch_eval_iris.py")
    settings.setenv("BENCHWRIGHT_IRIS_BIN", "/opt/iris/bin")
    answer = script.answer(JOB, "--launch-words", "--preset tb2 --model 'org/a model'")
    launch, check = answer["next"]
    assert launch == (
        "PATH=/opt/iris/bin:\"$PATH\" '/opt/my env/bin/python' eval/cloud/launch_eval_iris.py --preset tb2"
        f" --model 'org/a model' --job_name {JOB} --max-retries 2 2>&1 | tee {tmp_path}/{JOB}.launch.log"
    )
    assert shlex.split(check)[-3:] == ["us-east5", "--launch-log", f"{tmp_path}/{JOB}.launch.log"]
    assert (answer["exit"], answer["data"]["region"], answer["data"]["notes"]) == (0, "us-east5", [])


def test_both_commands_mean_one_log_wherever_the_launch_is_run(script, settings, tmp_path):
    checkout = tmp_path / "the checkout"
    (checkout / "eval").mkdir(parents=True)
    settings.chdir(tmp_path)
    settings.setenv("BENCHWRIGHT_IRIS_LAUNCH", "echo 'Region pin: found -> us-east5'")
    launch, check = script.answer(JOB, "--region", "us-east5")["next"]
    subprocess.run(["bash", "-c", launch], cwd=checkout, check=True, capture_output=True)
    done = subprocess.run(["bash", "-c", check], cwd=checkout, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"{JOB} is pinned to us-east5")


def test_without_iris_on_the_path_nothing_is_pinned_and_that_is_said(script):
    code, lines = script.run(JOB, "--region", "us-east5")
    assert (code, lines[:2]) == (
        0,
        [
            f"{JOB}: the launch once more, for us-east5",
            "BENCHWRIGHT_IRIS_BIN is not set: the region is pinned only where iris is on the path already",
        ],
    )


def test_a_secret_is_named_and_the_shell_puts_it_in(script, settings, tmp_path):
    settings.chdir(tmp_path)
    settings.setenv("BENCHWRIGHT_IRIS_LAUNCH", "printf '%s|'")
    settings.setenv("JUDGE_API_KEY", "what-only-the-variable-holds")
    words = "--api-key env:JUDGE_API_KEY --judge-token=env:JUDGE_API_KEY --note 'env: none'"
    launch, _ = script.answer(JOB, "--region", "us-east5", "--launch-words", words)["next"]
    shown = '--api-key "${JUDGE_API_KEY:?}" --judge-token="${JUDGE_API_KEY:?}" --note \'env: none\' --job_name'
    assert shown in launch
    said = subprocess.run(["bash", "-c", launch], check=True, capture_output=True, text=True).stdout.split("|")
    value = "what-only-the-variable-holds"
    assert said[:6] == ["--api-key", value, f"--judge-token={value}", "--note", "env: none", "--job_name"]


@pytest.mark.parametrize(
    "words",
    [
        "--x --api-key=env:KEY",
        "--agent-env A=env:KEY,B=env:KEY",
        '--x \'{"api_key": "env:KEY"}\'',
        "--secrets A_TOKEN=env:KEY,B_TOKEN=env:KEY",
        "--kw '[\"token=env:KEY\"]'",
    ],
)
def test_a_value_reaches_the_launch_whole_wherever_it_is_named(script, settings, tmp_path, words):
    settings.chdir(tmp_path)
    settings.setenv("BENCHWRIGHT_IRIS_LAUNCH", "printf '%s|'")
    settings.setenv("KEY", "two words, a *")
    launch, _ = script.answer(JOB, "--region", "us-east5", "--launch-words", words)["next"]
    said = subprocess.run(["bash", "-c", launch], check=True, capture_output=True, text=True).stdout.split("|")
    told = [word.replace("env:KEY", "two words, a *") for word in shlex.split(words)]
    assert said[: len(told) + 1] == [*told, "--job_name"]


def test_a_variable_that_is_not_set_stops_the_launch(script, settings, tmp_path):
    """Without a value ``--api-key`` would take the next word for it."""
    settings.chdir(tmp_path)
    settings.setenv("BENCHWRIGHT_IRIS_LAUNCH", "printf '%s|'")
    settings.delenv("JUDGE_API_KEY", raising=False)
    launch, _ = script.answer(JOB, "--region", "us-east5", "--launch-words", "--api-key env:JUDGE_API_KEY")["next"]
    done = subprocess.run(["bash", "-c", launch], check=False, capture_output=True, text=True)
    assert (done.stdout, "JUDGE_API_KEY" in done.stderr + (tmp_path / f"{JOB}.launch.log").read_text()) == ("", True)


def test_the_path_of_a_file_of_secrets_is_none(script, settings, tmp_path):
    settings.chdir(tmp_path)
    words = "--secrets ./my.env --secrets_env=../of/my.env"
    launch, _ = script.answer(JOB, "--region", "us-east5", "--launch-words", words)["next"]
    assert words in launch


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("--api-key not-a-key-of-anyone", "not-a-key-of-anyone"),
        ("--preset tb2 --api-key=not-a-key-of-anyone", "not-a-key-of-anyone"),
        ("--x what-only-the-variable-holds", "what-only-the-variable-holds"),
        ("--api-key '$JUDGE_API_KEY'", "$JUDGE_API_KEY"),
        ("--secrets A_TOKEN=env:KEY,not-a-key-of-anyone", "not-a-key-of-anyone"),
        ("--secrets A_TOKEN=env:KEY,B_TOKEN=not-a-key-of-anyone", "not-a-key-of-anyone"),
        ('--kw \'["token=env:KEY","password=not-a-key-of-anyone"]\'', "not-a-key-of-anyone"),
        ("--secrets /of/anyone/my.env", "/of/anyone/my.env"),
    ],
)
def test_a_secret_that_is_written_down_is_asked_for_by_its_variable(script, settings, words, value):
    """The command would be printed without it, and could not be run as it stands."""
    settings.setenv("JUDGE_API_KEY", "what-only-the-variable-holds")
    answer = script.answer(JOB, "--region", "us-east5", "--launch-words", words)
    (problem,) = answer["problems"]
    assert (answer["exit"], problem["code"], problem["where"]) == (2, "literal-secret", "--launch-words")
    assert problem["found"] == "what reads like a secret itself, for every process list and shell history to show"
    fix = "put env:NAME in its place, for $NAME too, or ./FILE where it is a file"
    assert (problem["expected"], problem["fix"]) == ("env:NAME, the variable that has it", fix)
    assert (answer["next"], value in str(answer)) == ([], False)


@pytest.mark.parametrize("arrow", ["\N{RIGHTWARDS ARROW}", "->"])
def test_the_region_that_a_launch_says(script, tmp_path, arrow):
    log = tmp_path / "launch.log"
    log.write_text(f"hello\nRegion pin: discovered {arrow} us-east5\nlaunched\n")
    assert script.answer(JOB, "--region", "us-east5", "--launch-log", log)["exit"] == 0
    other = script.answer(JOB, "--region", "eu-west4", "--launch-log", log)
    assert (other["exit"], other["problems"][0]["code"]) == (1, "other-region")
    assert (other["problems"][0]["found"], other["problems"][0]["expected"]) == ("pinned to us-east5", "eu-west4")
    log.write_text(f"\x1b[32mRegion pin:\x1b[0m \x1b[1mdiscovered {arrow} \x1b[38;5;2mus-east5\x1b[0m\n")
    assert script.answer(JOB, "--region", "us-east5", "--launch-log", log)["exit"] == 0
    assert script.answer(JOB, "--region", "eu-west4", "--launch-log", log)["exit"] == 1
    log.write_text("launched\n")
    none = script.answer(JOB, "--region", "us-east5", "--launch-log", log)
    assert (none["exit"], none["problems"][0]["found"]) == (5, "no line 'Region pin: ... -> REGION'")


def test_everything_that_is_wrong_is_told_at_once(script, settings):
    settings.setenv("BENCHWRIGHT_IRIS_LAUNCH", "python 'half")
    answer = script.answer("a/b", "--launch-words", "--max-retries=5 --x")
    assert answer["exit"] == 2
    assert [(problem["where"], problem["found"]) for problem in answer["problems"]] == [
        ("JOB", "'a/b'"),
        ("--region", "missing"),
        ("BENCHWRIGHT_IRIS_LAUNCH", "no closing quotation"),
        ("--launch-words", "--max-retries=5 given once more"),
    ]
    answer = script.answer(JOB, "--region", "us east5; rm -rf /")
    assert answer["problems"][0]["expected"] == "a region such as us-east5"
    assert script.answer(JOB, "--region", "us-east5", "--launch-log", "gone.log")["exit"] == 2
