"""Task files and commands, read by SkyPilot itself: its own parsers, in an environment of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchwright.arena import Resources
from benchwright.launch import SkyPilotSetup
from benchwright.launch.installs import find_uv
from benchwright.launch.sky_jobs import COMMAND
from benchwright.launch.sky_launch import SkyLaunch, launch_commands
from benchwright.launch.sky_tasks import job_task, pool_task

ROOT = Path(__file__).resolve().parents[2]
VERSION = "0.14.1"
"""SkyPilot's own requirements do not fit into the project's environment."""
READ = """
import json, sys
import sky
for path in sys.argv[1:]:
    task = sky.Task.from_yaml(path)
    (resources,) = task.resources
    print(json.dumps({
        "name": task.name, "cpus": resources.cpus, "memory": resources.memory, "cloud": str(resources.cloud),
        "accelerators": resources.accelerators, "use_spot": resources.use_spot, "mounts": task.file_mounts,
        "setup": task.setup, "run": task.run, "recovery": resources.job_recovery,
        "pool": task.service is not None and task.service.pool,
    }))

import click, shlex
from sky.client.cli import command
for line in sys.stdin.read().splitlines():
    one, words = command.cli, shlex.split(line, comments=True)[1:]
    context = click.Context(one, info_name="sky")
    while isinstance(one, click.Group):
        one = one.get_command(context, words.pop(0))
        context = click.Context(one, info_name=one.name, parent=context)
    given = one.make_context(one.name, words).params
    print(json.dumps({name: value for name, value in given.items() if value not in (None, False, (), [], "")}))
"""
MANIFEST = {"python": "3.11", "checkouts": [{"name": "checkout0", "projects": {"a": ".", "b": "packages/my one"}}]}


@pytest.fixture(scope="module")
def sky_python():
    """SkyPilot's Python, made once a machine: 5 seconds with a fast index, 320 MB."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "benchwright-tests" / f"sky-{VERSION}"
    python = folder / "bin" / "python"
    if not (folder / "made").exists():
        uv = find_uv(ROOT)
        assert uv, "no uv; run: make setup-dev"
        commands = (
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "--quiet", "--python", str(python), f"skypilot=={VERSION}"],
        )
        for command in commands:
            subprocess.run(command, check=True, timeout=280)
        (folder / "made").touch()
    return str(python)


def job(setup, resources):
    return job_task(
        setup, resources, launch="demo-gpu-1", run_uri=f"{setup.store}/demo", manifest=MANIFEST,
        environment=f"{setup.store}/demo/env/0123",
    )  # fmt: skip


def read(python, folder, *tasks, commands=()):
    paths = [folder / f"{number}.yaml" for number in range(len(tasks))]
    for path, task in zip(paths, tasks, strict=True):
        path.write_text(yaml.safe_dump(task, sort_keys=False))
    environment = {**os.environ, "HOME": str(folder), "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    done = subprocess.run(
        [python, "-c", READ, *map(str, paths)],
        env={**environment, "R2_ACCOUNT_ID": "an id"},
        input="\n".join(commands),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.mark.slow
def test_skypilot_reads_every_kind_of_task_file_and_every_command(sky_python, tmp_path):
    cpu = Resources(time_limit=3600, num_cpus=8, num_gpus=0, memory_limit=32)
    gpu = Resources(time_limit=3600, num_cpus=8, num_gpus=1, memory_limit=32)
    jobs, pool = SkyPilotSetup(store="s3://results"), SkyPilotSetup(store="s3://results", pool=True, workers=4)
    card = SkyPilotSetup(store="gs://results", accelerators="H100:1", cpus="16", memory="64+", disk_size=200)
    spread = SkyPilotSetup(store="r2://results", infra="aws/us-east-1", use_spot=False)
    secrets = ["R2_ACCOUNT_ID"]
    commands = [
        *launch_commands(tmp_path, "x-1", jobs, 3, secrets),
        *launch_commands(tmp_path, "x-1", pool, 3, secrets),
    ]
    commands = [line for line in commands if line.startswith("sky ")]
    commands += [shlex.join(COMMAND), SkyLaunch("x-1", "q", 1, (), "x-1-pool").down]
    on_cpu, on_gpu, elsewhere, on_pool, the_pool, *said = read(
        sky_python,
        tmp_path,
        job(jobs, cpu),
        job(card, gpu),
        job(spread, cpu),
        job(pool, cpu),
        pool_task(pool, cpu, MANIFEST, "s3://results/demo/env/0123"),
        commands=commands,
    )
    one_by_one = {"yes": True, "detach_run": True, "name": "x-1", "num_jobs": 3, "secret": [["R2_ACCOUNT_ID", "an id"]]}
    assert [{**one, "mode": None} for one in said] == [
        {"infra_list": ["gcp"], "output_format": "table", "mode": None},
        {**one_by_one, "entrypoint": [f"{tmp_path}/job.yaml"], "mode": None},
        {"infra_list": ["gcp"], "output_format": "table", "mode": None},
        {"yes": True, "pool": "x-1-pool", "workers": 3, "pool_yaml": [f"{tmp_path}/pool.yaml"], "mode": None},
        {"show_all": True, "pool_names": ["x-1-pool"], "mode": None},
        {**one_by_one, "pool": "x-1-pool", "entrypoint": [f"{tmp_path}/job.yaml"], "mode": None},
        {"all": True, "all_users": True, "output_format": "json", "limit": 50, "mode": None},
        {"yes": True, "pool_names": ["x-1-pool"], "mode": None},
    ]
    assert (on_cpu["name"], on_cpu["cloud"], on_cpu["use_spot"]) == ("demo-gpu-1", "GCP", True)
    assert (on_cpu["cpus"], on_cpu["memory"], on_cpu["accelerators"]) == ("8+", "32+", None)
    assert (on_gpu["cpus"], on_gpu["memory"], on_gpu["accelerators"]) == ("16", "64+", {"H100": 1})
    assert on_cpu["mounts"] == the_pool["mounts"] == {"~/benchwright/env": "s3://results/demo/env/0123"}
    assert on_gpu["mounts"] == {"~/benchwright/env": "gs://results/demo/env/0123"}
    assert elsewhere["mounts"] == {"~/benchwright/env": "r2://results/demo/env/0123"}
    assert (elsewhere["cloud"], elsewhere["use_spot"]) == ("AWS", False)
    assert on_pool["setup"] is None and on_pool["run"] == on_cpu["run"]
    assert on_cpu["recovery"]["max_restarts_on_errors"] == on_pool["recovery"]["max_restarts_on_errors"] == 3
    assert (on_cpu["pool"], the_pool["pool"], the_pool["run"]) == (False, True, None)
    for shell in (on_cpu["setup"], on_cpu["run"]):
        subprocess.run(["sh", "-n", "-c", shell], check=True)


def test_setup_installs_what_was_frozen_and_the_job_becomes_the_worker():
    task = job(SkyPilotSetup(store="s3://results"), Resources(time_limit=60, num_cpus=2, num_gpus=0, memory_limit=8))
    lines = task["setup"].splitlines()
    install = 'uv pip install --python "$HOME/benchwright/venv/bin/python" --no-deps'
    assert lines[3:5] == [
        'uv venv --clear --python 3.11 "$HOME/benchwright/venv"',
        f"{install} -r ~/benchwright/env/requirements.txt",
    ]
    assert lines[-2:] == [
        f'{install} -e "$HOME/benchwright/src/checkout0"/.',
        f"{install} -e \"$HOME/benchwright/src/checkout0\"/'packages/my one'",
    ]
    assert task["run"] == (
        'exec "$HOME/benchwright/venv/bin/python" -m benchwright.launch.bucket_worker s3://results/demo demo-gpu-1 '
        '--folder "$HOME/benchwright/work-${SKYPILOT_JOB_RANK:-0}"\n'
    )
    assert "secrets" not in task


def test_a_secret_that_is_in_a_file_alone_has_to_be_exported_first(tmp_path, monkeypatch):
    monkeypatch.setenv("ONE", "x")
    commands = list(launch_commands(tmp_path, "x-1", SkyPilotSetup(store="s3://b"), 1, ["ONE", "TWO"]))
    assert commands[1] == ': "${TWO:?in .env alone: set -a; . ./.env; set +a}"'
    assert commands[-1] == (f"sky jobs launch -y -d -n x-1 --num-jobs 1 --secret ONE --secret TWO {tmp_path}/job.yaml")
    done = subprocess.run(["sh", "-c", commands[1]], capture_output=True, text=True, check=False)
    assert done.returncode and "TWO: in .env alone" in done.stderr
