"""A whole run through a bucket, as a maintainer takes it: planned, set up, fitted by workers, brought back, logged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from benchwright.cli import run_script
from benchwright.launch.bucket_queue import BucketQueue
from benchwright.objects import open_store
from benchwright.raw import find_results, load_result
from object_servers import settings
from scripts_in_process import Script, load

ROOT = Path(__file__).resolve().parents[2]
SCOPE = ("--configs", "0", "--subset", "lite", "--subset", "regression")


@pytest.fixture
def bucket(google, no_credentials, monkeypatch, tmp_path):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", google.url)
    monkeypatch.setenv("PATH", f"/usr/bin{os.pathsep}/bin")
    (tmp_path / "log.md").write_text("# Runs\n\n---\n")
    return f"gs://results/{uuid.uuid4()}"


def planned(capsys, folder: Path, *words: str) -> Path:
    """The run script of KNN on three splits of the mini arena."""
    places = ("--arena", "mini", "--workspace", folder / "w s", "--script-dir", folder, "--name", "demo")
    made = Script.named("new_benchmark", capsys, *places).answer("KNN", *SCOPE, *words)
    assert made["exit"] == 0, made
    return folder / "run_knn.py"


def take(capsys, script: Path, *words: str) -> dict:
    """A step of a run script; its answer."""
    module = load(script)
    code = run_script(module.build_parser(), module.main, [*words, "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["exit"] == code
    return answer


def worker(launch: dict, folder: Path) -> subprocess.Popen:
    uri, _, name = launch["queue"].rpartition("/queue/")
    command = [sys.executable, "-m", "benchwright.launch.bucket_worker", uri, name, "--folder", str(folder)]
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def figures(workspace: Path) -> list[tuple]:
    """What the results say that is no time."""
    results = [load_result(file.path) for file in find_results(workspace / "output" / "demo").files]
    return [
        (one.framework, one.dataset, one.split, one.metric_error, one.metric_error_val, one.predictions.test.tolist())
        for one in results
    ]


def bullet(entry: str, name: str) -> str:
    (text,) = re.findall(rf"^- \*\*{re.escape(name)}:\*\* (.*\n(?:  .*\n)*)", entry, re.M)
    return " ".join(text.split())


@pytest.mark.slow
def test_a_run_through_a_bucket_is_the_local_run_and_is_logged(bucket, tmp_path, monkeypatch, capsys):
    """Real fits: one worker killed after its first item, another that goes on once the lease has expired."""
    monkeypatch.setattr("benchwright.launch.bucket_queue.LEASE_SECONDS", 10.0)
    script = planned(capsys, tmp_path, "--scheduler", "skypilot", "--store", bucket)
    said = take(capsys, script, "setup")
    assert said["exit"] == 0, said
    (launch,) = said["data"]["launches"]
    assert re.fullmatch(r"demo-cpu-1-[0-9a-f]{4}", launch["launch"])
    assert said["next"][0] == f"# launch {launch['launch']}, queue {bucket}/demo/queue/{launch['launch']}, 2 bundles"
    assert "--secret" not in said["next"][-1], "at Google a worker has its machine's own account"

    first = worker(launch, tmp_path / "one")
    while "item-done" not in (line := first.stdout.readline()):
        assert line, "the worker ended before an item was done"
    first.kill()
    first.communicate()
    second = worker(launch, tmp_path / "two")
    output = second.communicate(timeout=200)[0]
    queue = BucketQueue(open_store(f"{bucket}/demo"), launch["launch"])
    assert second.returncode == 0 and queue.standing().done == {"00000", "00001"}, output

    again = take(capsys, script, "setup")
    assert (again["data"]["approved"], again["data"]["cached"], again["data"]["launches"]) == (0, 3, [])
    entry = Script.named("log_run", capsys).answer("--run-script", script, "--log", tmp_path / "log.md")["data"][
        "entry"
    ]
    facts = bullet(entry, "SkyPilot launch")
    assert facts.startswith(f"launch {launch['launch']}, ")
    assert re.search(r"infra gcp, use_spot True, workers 2, environment env/[0-9a-f]{16}, ", facts), facts
    assert re.search(r"repositories\.benchwright [0-9a-f]{40}", facts), facts
    assert bullet(entry, "Results") == "3 of 3 items have a result file"
    assert bullet(entry, "Failures") == "none in the event logs"
    assert re.match(r"0:\d\d:\d\d from the first event or result", bullet(entry, "Wall time"))

    (tmp_path / "here").mkdir()
    local = planned(capsys, tmp_path / "here")
    assert take(capsys, local, "setup")["exit"] == take(capsys, local, "run")["exit"] == 0
    assert figures(tmp_path / "w s") == figures(tmp_path / "here" / "w s")


def test_what_set_up_prints_and_hands_off_names_the_secrets_and_can_be_run(
    seaweed, no_credentials, monkeypatch, tmp_path, capsys
):
    token = uuid.uuid4().hex
    for name, value in settings(seaweed.url, AWS_REGION="us-east-1", HF_TOKEN=token).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"/usr/bin{os.pathsep}/bin")
    store = f"s3://results/{uuid.uuid4()}"
    script = planned(capsys, tmp_path, "--scheduler", "skypilot-pool", "--store", store)
    module, sheet, report = load(script), tmp_path / "sheet.md", tmp_path / "report.json"
    words = ["setup", "--handoff", str(sheet), "--out", str(report)]
    assert run_script(module.build_parser(), module.main, words) == 0
    printed = capsys.readouterr().out
    said = json.loads(report.read_text())
    (launch,) = said["data"]["launches"]
    command = said["next"][-1]
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL_S3", "HF_TOKEN")
    assert re.findall(r"--secret (\S+)", command) == list(names)
    assert command == launch["commands"][-1]
    for text in (printed, sheet.read_text()):
        assert command in text
        assert "[hidden]" not in text and token not in text


def test_eval_brings_results_first_and_a_script_without_a_bucket_is_refused(bucket, tmp_path, capsys):
    script = planned(capsys, tmp_path)
    refused = take(capsys, script, "setup", "--scheduler", "skypilot")
    assert (refused["exit"], refused["problems"][0]["code"]) == (2, "usage")
    data = ROOT / "tests" / "data" / "tabarena_raw" / "data"
    genuine = next(data.glob("*/*/0_0/results.pkl"))
    place = genuine.relative_to(data)
    open_store(f"{bucket}/demo").put(f"output/data/{place}", genuine)
    here = tmp_path / "w s" / "output" / "demo" / "data"
    (here / "own" / "task" / "0_0").mkdir(parents=True)
    (here / "own" / "task" / "0_0" / "results.pkl").write_bytes(b"mine")
    take(capsys, script, "eval", "--scheduler", "skypilot-pool", "--store", bucket)
    assert (here / place).read_bytes() == genuine.read_bytes()
    assert (here / "own" / "task" / "0_0" / "results.pkl").read_bytes() == b"mine"
