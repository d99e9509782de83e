"""SkyPilot's task files: a job that is a worker, and the pool that jobs may run on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from benchwright.arena import Resources
from benchwright.launch.frozen_environment import REQUIREMENTS
from benchwright.launch.plan import SkyPilotSetup

ENVIRONMENT = "~/benchwright/env"
_RESTARTS = 3
"""Of a worker that leaves with an error, such as a bucket that does not answer; preemptions do not count."""
_VENV = "$HOME/benchwright/venv"
_SOURCES = "$HOME/benchwright/src"


def job_task(
    setup: SkyPilotSetup,
    resources: Resources,
    *,
    launch: str,
    run_uri: str,
    manifest: Mapping[str, Any],
    environment: str,
) -> dict[str, Any]:
    """The task of one worker. On a pool its machine is made ready already.

    ``environment`` is the address of the frozen environment. Secrets are no part of a task file: the launch command
    takes them from the environment it is run in.
    """
    ready = {} if setup.pool else _ready(manifest, environment)
    worker = shlex.join(["-m", "benchwright.launch.bucket_worker", run_uri, launch])
    return {
        "name": launch,
        "resources": {**_resources(setup, resources), "job_recovery": {"max_restarts_on_errors": _RESTARTS}},
        **ready,
        "run": f'exec "{_VENV}/bin/python" {worker} --folder "$HOME/benchwright/work-${{SKYPILOT_JOB_RANK:-0}}"\n',
    }


def pool_task(
    setup: SkyPilotSetup, resources: Resources, manifest: Mapping[str, Any], environment: str
) -> dict[str, Any]:
    """The pool: its machines, with the environment built once on each."""
    return {
        "pool": {"workers": setup.workers},
        "resources": _resources(setup, resources),
        **_ready(manifest, environment),
    }


def _resources(setup: SkyPilotSetup, resources: Resources) -> dict[str, Any]:
    """What a machine needs. Without figures of its own in the plan, it is what one item gets."""
    cpus = setup.cpus or (f"{resources.num_cpus}+" if resources.num_cpus else None)
    limit = resources.memory_limit if not resources.num_gpus else None
    values = {
        "infra": setup.infra,
        "cpus": cpus,
        "memory": setup.memory or (f"{limit:g}+" if limit else None),
        "accelerators": setup.accelerators if resources.num_gpus else None,
        "disk_size": setup.disk_size,
        "use_spot": setup.use_spot,
    }
    return {name: value for name, value in values.items() if value is not None}


def _ready(manifest: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """What makes a machine ready: the frozen environment, and the commands that install it."""
    python = f'"{_VENV}/bin/python"'
    install = f"uv pip install --python {python} --no-deps"
    lines = [
        "set -eu",
        'export PATH="$HOME/.local/bin:$PATH"',
        "command -v uv >/dev/null || python3 -m pip install --user uv",
        f'uv venv --clear --python {manifest["python"]} "{_VENV}"',
        f"{install} -r {ENVIRONMENT}/{REQUIREMENTS}",
    ]
    for checkout in manifest["checkouts"]:
        folder = f"{_SOURCES}/{checkout['name']}"
        lines += [
            f'rm -rf "{folder}" && mkdir -p "{folder}"',
            f'tar -xzf {ENVIRONMENT}/{checkout["name"]}.tar.gz -C "{folder}"',
        ]
        lines += [f'{install} -e "{folder}"/{shlex.quote(place)}' for place in checkout["projects"].values()]
    return {"file_mounts": {ENVIRONMENT: environment}, "setup": "".join(f"{line}\n" for line in lines)}
