"""A launch on SkyPilot: its queue in the bucket, its task files, and the commands that start its workers."""

from __future__ import annotations

import os
import re
import shlex
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchwright.arena import Resources
from benchwright.contract import Progress, secrets_in, some, usage_error
from benchwright.files import RunPaths, read_json, write_json, write_text
from benchwright.launch.archives import pack
from benchwright.launch.bucket_queue import BucketQueue, taken_names
from benchwright.launch.frozen_environment import freeze, read_environment
from benchwright.launch.groups import Group
from benchwright.launch.mirror import Mirrored, mirror_logs, mirror_results
from benchwright.launch.plan import SkyPilotSetup
from benchwright.launch.record import checkout_state
from benchwright.launch.sky_drain import refuse_company
from benchwright.launch.sky_pools import POOL_NAME, launch_folder, pool_down, pool_of, remember_pools
from benchwright.launch.sky_tasks import job_task, pool_task
from benchwright.node import passing_scratch
from benchwright.objects import StoreLocation, open_store, settings_from_environment

_OF_THE_MACHINE = ("python", "run_script", "job_batch_dir", "output_dir", "slurm_log_dir")
"""Defaults of a job file that each worker has its own of."""
_SECRETS = {
    "gs": (),
    "s3": (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL_S3",
        "AWS_ENDPOINT_URL",
    ),
    "r2": ("R2_ACCOUNT_ID", "R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY", "R2_ENDPOINT_URL"),
}
"""What a worker needs to reach the bucket; at Google, its machine's own account serves."""
_HUB = "HF_TOKEN"
_SHORTEST_SECRET = 12
_LONGEST_ID = 50
GUARD = ': "${SKYPILOT_API_SERVER_ENDPOINT:?not set: the address of the SkyPilot API server}"'


@dataclass(frozen=True)
class SkyLaunch:
    """One group's launch: its queue, how many bundles it has, and the commands to run, in order."""

    launch: str
    queue: str
    bundles: int
    commands: tuple[str, ...]
    pool: str | None = None

    @property
    def headline(self) -> str:
        """What a watcher has to be told: the launch, its queue and its bundles."""
        return f"# launch {self.launch}, queue {self.queue}, {self.bundles} bundles"

    @property
    def down(self) -> str | None:
        """The command that ends the pool, where there is one."""
        return pool_down(self.pool) if self.pool else None

    def to_dict(self) -> dict[str, Any]:
        """The launch as JSON data."""
        return {**vars(self), "commands": list(self.commands)}


def run_location(store: str, benchmark: str) -> StoreLocation:
    """The address of a benchmark's run in a plan's bucket.

    Raises:
        Failure: there is no store, or none that other machines reach (exit 2).
    """
    fix = "--store, BENCHWRIGHT_STORE in the environment, or STORE in the run script"
    if not store:
        raise usage_error("store", "not given", "SkyPilot's bucket, gs://, s3:// or r2://BUCKET/PREFIX", fix)
    location = StoreLocation.parse(store)
    if location.kind == "local":
        raise usage_error("store", store, "gs://, s3:// or r2://BUCKET/PREFIX: workers are other machines", fix)
    return StoreLocation(location.kind, location.place, "/".join(filter(None, (location.prefix, benchmark))))


def fetch_run(store: str, paths: RunPaths, progress: Progress | None = None) -> Mirrored:
    """Bring results and logs of a benchmark's run in a bucket into the workspace; nothing here is deleted or replaced.

    ``store`` is the plan's. Which launches have a pool is noted, too.

    Raises:
        Failure: it is none (exit 2), and as the store does.
    """

    def report(done: int, total: int) -> None:
        if progress:
            progress(done, total, note="fetching results from the bucket")

    opened = open_store(run_location(store, paths.benchmark))
    mirror_logs(opened, paths.logs)
    remember_pools(opened, paths)
    return mirror_results(opened, paths.data, memory=paths.setup / "sky" / "mirrored.json", report=report)


class SkyStage:
    """Puts the launches of one set-up into the bucket; the environment is frozen once for all of them.

    ``notes`` say what of it to know.
    """

    def __init__(self, location: StoreLocation, paths: RunPaths, python: str) -> None:
        self._location = location
        self._paths = paths
        self._python = python
        self._settings = settings_from_environment()
        self._store = open_store(location, settings=self._settings)
        self._frozen: tuple[str, dict[str, Any]] | None = None
        self._own: list[str] = []
        self.notes: list[str] = []

    def launch(
        self,
        group: Group,
        setup: SkyPilotSetup,
        resources: Resources,
        job_files: Sequence[Path],
        *,
        weights: Sequence[str] = (),
    ) -> SkyLaunch:
        """Stage one group's job files as a launch of its own; a worker fetches the ``weights`` of these models first.

        Raises:
            Failure: the environment cannot be frozen (exit 3), or holds a secret (exit 5); another set-up staged
                meanwhile (exit 5); as the store does.
        """
        place, manifest = self._freeze()
        launch = self._free_id(group.name)
        queue = BucketQueue(self._store, launch)
        tasks, batches = _tasks(job_files)
        facts = {
            "benchmark": self._paths.benchmark,
            "group": group.name,
            "environment": place,
            "manifest": manifest,
            "git": checkout_state(),
            "weights": list(weights),
            "pool": pool_of(launch) if setup.pool else None,
        }
        with passing_scratch() as folder:
            archives = {name: folder / f"{number}.tar.gz" for number, name in enumerate(batches)}
            for name, batch in batches.items():
                pack(batch, archives[name])
            queue.publish(tasks, archives, facts)
        self._own.append(launch)
        refuse_company(self._store, self._own, self._paths.logs)
        return self._write(queue, setup, resources, len(tasks))

    def _freeze(self) -> tuple[str, dict[str, Any]]:
        if self._frozen is None:
            secrets = {
                name: value
                for name, value in secrets_in(self._settings).items()
                if len(value) >= _SHORTEST_SECRET and not value.startswith(("/", "~"))  # the path of a key's file
            }
            environment = read_environment(self._python, secrets)
            self._frozen = freeze(environment, self._store)
            left_out = [name for one in environment.checkouts for name in one.files.left_out]
            if left_out:
                self.notes.append(f"not sent to the workers, by their names or content secrets: {some(left_out)}")
        return self._frozen

    def _free_id(self, group: str) -> str:
        """A name that no launch has had: the benchmark's and the group's, numbered, and a word by chance.

        SkyPilot lists its jobs by name, whatever bucket their queue is in: those of another launch of that name would
        speak for this one.
        """
        base = re.sub(r"[^a-z0-9]+", "-", f"{self._paths.benchmark}-{group}".lower()).strip("-")[:_LONGEST_ID]
        base = base if base[:1].isalpha() else f"run-{base}"  # SkyPilot's rule
        number = 1 + sum(name.startswith(f"{base}-") for name in taken_names(self._store))
        return f"{base}-{number}-{chance_word()}"

    def _write(self, queue: BucketQueue, setup: SkyPilotSetup, resources: Resources, bundles: int) -> SkyLaunch:
        """Write the task files and ``launch.json`` of this machine, and say what to run."""
        launch, uri = queue.launch, str(self._location)
        place, manifest = self._freeze()
        folder = launch_folder(self._paths, launch)
        environment = f"{uri}/{place}"
        job = job_task(setup, resources, launch=launch, run_uri=uri, manifest=manifest, environment=environment)
        write_text(folder / "job.yaml", _yaml(job))
        pool = pool_of(launch) if setup.pool else None
        if pool:
            write_text(folder / POOL_NAME, _yaml(pool_task(setup, resources, manifest, environment)))
        workers = min(setup.workers, bundles)
        commands = launch_commands(folder, launch, setup, workers, self._secrets)
        made = SkyLaunch(launch, queue.url, bundles, tuple(commands), pool)
        facts = {
            "infra": setup.infra,
            "accelerators": setup.accelerators if resources.num_gpus else None,
            "use_spot": setup.use_spot,
            "workers": workers,
            "environment": place,
            "repositories": {
                name: one["sha"] + (" with local changes" if one["changed"] else "")
                for one in manifest["checkouts"]
                for name in one["projects"]
            },
        }
        write_json(folder / "launch.json", {**made.to_dict(), **facts}, indent=1)
        return made

    @property
    def _secrets(self) -> list[str]:
        """The variables that the launch command hands to the workers."""
        return [name for name in (*_SECRETS[self._location.kind], _HUB) if self._settings.get(name)]


def chance_word() -> str:
    """Four letters or digits."""
    return uuid.uuid4().hex[:4]


def _tasks(job_files: Iterable[Path]) -> tuple[list[dict[str, Any]], dict[str, Path]]:
    """The bundles of job files as task files, and the job batches that they need, by name."""
    tasks, batches = [], {}
    for path in job_files:
        content = read_json(path)
        batch = Path(content["defaults"]["job_batch_dir"])
        batches[batch.name] = batch
        defaults = {name: value for name, value in content["defaults"].items() if name not in _OF_THE_MACHINE}
        tasks += [{"batch": batch.name, "defaults": defaults, "items": job["items"]} for job in content["jobs"]]
    return tasks, batches


def launch_commands(
    folder: Path, launch: str, setup: SkyPilotSetup, workers: int, secrets: Sequence[str]
) -> Iterator[str]:
    """The commands that start the workers of a launch, in order; ``folder`` has its task files.

    ``secrets`` are the variables whose values the workers get from the environment of whoever runs the commands.
    """
    yield GUARD
    # sky hands on what is in the environment alone
    yield from (
        f': "${{{name}:?in .env alone: set -a; . ./.env; set +a}}"' for name in secrets if name not in os.environ
    )
    yield shlex.join(["sky", "check", setup.infra.partition("/")[0]])
    given = [word for name in secrets for word in ("--secret", name)]
    job = str(folder / "job.yaml")
    if not setup.pool:
        yield shlex.join(["sky", "jobs", "launch", "-y", "-d", "-n", launch, "--num-jobs", str(workers), *given, job])
        return
    pool = pool_of(launch)
    yield shlex.join(
        ["sky", "jobs", "pool", "apply", "-y", "-p", pool, "--workers", str(workers), str(folder / POOL_NAME)]
    )
    yield shlex.join(["sky", "jobs", "pool", "status", "--all", pool]) + "  # until its workers are READY"
    yield shlex.join(
        ["sky", "jobs", "launch", "-y", "-d", "--pool", pool, "-n", launch, "--num-jobs", str(workers), *given, job]
    )


def _yaml(content: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(content), sort_keys=False, width=10_000))
