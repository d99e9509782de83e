"""A launch on SkyPilot: its queue in the bucket, its task files, and the commands that start its workers."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchwright.arena import Resources
from benchwright.contract import Exit, Failure, Problem, Progress, usage_error
from benchwright.files import RunPaths, read_json, write_json, write_text
from benchwright.launch.archives import pack
from benchwright.launch.bucket_queue import BucketQueue, launches
from benchwright.launch.frozen_environment import freeze, read_environment
from benchwright.launch.groups import Group
from benchwright.launch.mirror import Mirrored, mirror_results
from benchwright.launch.plan import SkyPilotSetup
from benchwright.launch.record import checkout_state
from benchwright.launch.sky_jobs import NoSky, read_jobs
from benchwright.launch.sky_tasks import job_task, pool_task
from benchwright.objects import ObjectStore, StoreLocation, open_store, settings_from_environment

_OF_THE_MACHINE = ("python", "run_script", "job_batch_dir", "output_dir", "slurm_log_dir")
"""Defaults of a job file that each worker has its own of."""
_SECRETS = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL_S3"),
    "r2": ("R2_ACCOUNT_ID", "R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY", "R2_ENDPOINT_URL"),
}
_HUB = "HF_TOKEN"
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
    def down(self) -> str:
        """The command that ends the pool."""
        return shlex.join(["sky", "jobs", "pool", "down", "-y", str(self.pool)])

    def to_dict(self) -> dict[str, Any]:
        """The launch as JSON data."""
        return {**vars(self), "commands": list(self.commands)}


def run_location(store: str, benchmark: str) -> StoreLocation:
    """The address of a benchmark's run in a plan's bucket.

    Raises:
        Failure: the store is none that other machines reach (exit 2).
    """
    location = StoreLocation.parse(store)
    if location.kind == "local":
        raise usage_error("store", store, "s3://BUCKET/PREFIX or r2://BUCKET/PREFIX: workers are other machines")
    return StoreLocation(location.kind, location.place, "/".join(filter(None, (location.prefix, benchmark))))


def fetch_run(store: str, paths: RunPaths, progress: Progress | None = None) -> Mirrored:
    """Bring the results of a benchmark's run in a bucket into the workspace; nothing here is deleted or replaced.

    ``store`` is the plan's.

    Raises:
        Failure: it is none (exit 2), and as the store does.
    """

    def report(done: int, total: int) -> None:
        if progress:
            progress(done, total, note="fetching results from the bucket")

    return mirror_results(open_store(run_location(store, paths.benchmark)), paths.data, report=report)


def refuse_undrained(store: ObjectStore, *, ask_sky: bool) -> list[str]:
    """Refuse to set up while a launch of this run has bundles that someone may still run; notes on what was closed.

    A launch whose workers are gone is closed, so that a job that SkyPilot starts again later finds nothing to take.

    Raises:
        Failure: every launch at work, or of which that is not known (exit 5); as the store does.
    """
    problems, notes = [], []
    for launch in launches(store):
        queue = BucketQueue(store, launch)
        standing = queue.standing()
        if standing.drained:
            continue
        left = standing.bundles - len(standing.done | standing.failed)
        jobs = read_jobs(launch) if ask_sky else NoSky("it was not asked")
        at_work = [] if isinstance(jobs, NoSky) else [job for job in jobs if job.at_work]
        if isinstance(jobs, NoSky) or at_work or not jobs:
            problems.append(_undrained(queue, left, jobs, [f"{job.id} {job.status}" for job in at_work]))
        else:
            notes.append(f"launch {launch}: {left} bundles had not ended, and none of its {len(jobs)} jobs is at work")
            queue.close("its workers were gone when setup ran again")
    if problems:
        raise Failure(problems, exit=Exit.REFUSED)
    return notes


def _undrained(queue: BucketQueue, left: int, jobs: object, at_work: Sequence[str]) -> Problem:
    if at_work:
        found = f"{left} bundles have not ended; jobs at work: {', '.join(at_work)}"
        fix = f"wait until sky_progress.sh says DONE, or sky jobs cancel {' '.join(one.split()[0] for one in at_work)}"
        return Problem("still-launched", queue.url, found, "no earlier launch at work", f"{fix}; then run setup again")
    why = jobs.why if isinstance(jobs, NoSky) else f"sky lists no job called {queue.launch}: it may be launched yet"
    found = f"{left} bundles have not ended; whether someone works on them is not known: {why}"
    fix = (
        "run setup where sky lists the launch's jobs; a launch that is given up is closed by "
        f"{close_command(queue.store.url, queue.launch)}"
    )
    return Problem("still-launched", queue.url, found, "no earlier launch at work", fix)


def close_command(run_uri: str, launch: str) -> str:
    """The command that lets no worker take a bundle of a launch any more."""
    return shlex.join(["python", "-m", "benchwright.launch.bucket_worker", run_uri, launch, "--close"])


class SkyStage:
    """Puts the launches of one set-up into the bucket; the environment is frozen once for all of them."""

    def __init__(self, location: StoreLocation, paths: RunPaths, python: str) -> None:
        self._location = location
        self._paths = paths
        self._python = python
        self._settings = settings_from_environment()
        self._store = open_store(location, settings=self._settings)
        self._frozen: tuple[str, dict[str, Any]] | None = None

    def launch(self, group: Group, setup: SkyPilotSetup, resources: Resources, job_files: Sequence[Path]) -> SkyLaunch:
        """Stage one group's job files as a launch of its own.

        Raises:
            Failure: the environment cannot be frozen (exit 3); another set-up staged meanwhile (exit 5); as the store
                does.
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
        }
        with tempfile.TemporaryDirectory(prefix="bw-stage-") as folder:
            archives = {name: Path(folder, f"{number}.tar.gz") for number, name in enumerate(batches)}
            for name, batch in batches.items():
                pack(batch, archives[name])
            queue.publish(tasks, archives, facts)
        return self._write(queue, setup, resources, len(tasks))

    def _freeze(self) -> tuple[str, dict[str, Any]]:
        if self._frozen is None:
            self._frozen = freeze(read_environment(self._python), self._store)
        return self._frozen

    def _free_id(self, group: str) -> str:
        """A name that no launch of this run has had: the benchmark's and the group's, numbered."""
        base = re.sub(r"[^a-z0-9]+", "-", f"{self._paths.benchmark}-{group}".lower()).strip("-")[:_LONGEST_ID]
        taken = {name for name in launches(self._store) if name.startswith(f"{base}-")}
        number = 1
        while f"{base}-{number}" in taken:
            number += 1
        return f"{base}-{number}"

    def _write(self, queue: BucketQueue, setup: SkyPilotSetup, resources: Resources, bundles: int) -> SkyLaunch:
        """Write the task files and ``launch.json`` of this machine, and say what to run."""
        launch, uri = queue.launch, str(self._location)
        place, manifest = self._freeze()
        folder = self._paths.setup / "sky" / launch
        secrets = [name for name in (*_SECRETS[self._location.kind], _HUB) if self._settings.get(name)]
        environment = f"{uri}/{place}"
        job = job_task(setup, resources, launch=launch, run_uri=uri, manifest=manifest, environment=environment)
        write_text(folder / "job.yaml", _yaml(job))
        pool = f"{launch}-pool" if setup.pool else None
        if pool:
            write_text(folder / "pool.yaml", _yaml(pool_task(setup, resources, manifest, environment)))
        workers = min(setup.workers, bundles)
        made = SkyLaunch(launch, queue.url, bundles, tuple(_commands(folder, launch, setup, workers, secrets)), pool)
        write_json(
            folder / "launch.json",
            {**made.to_dict(), "environment": place, "manifest": manifest, "workers": workers, "git": checkout_state()},
            indent=1,
        )
        return made


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


def _commands(folder: Path, launch: str, setup: SkyPilotSetup, workers: int, secrets: Sequence[str]) -> Iterator[str]:
    """The commands, in the order to run them."""
    yield GUARD
    yield shlex.join(["sky", "check", setup.infra.partition("/")[0]])
    given = [word for name in secrets for word in ("--secret", name)]
    job = str(folder / "job.yaml")
    if not setup.pool:
        yield shlex.join(["sky", "jobs", "launch", "-y", "-d", "-n", launch, "--num-jobs", str(workers), *given, job])
        return
    pool = f"{launch}-pool"
    yield shlex.join(
        ["sky", "jobs", "pool", "apply", "-y", "-p", pool, "--workers", str(workers), str(folder / "pool.yaml")]
    )
    yield shlex.join(["sky", "jobs", "pool", "status", "--all", pool]) + "  # until its workers are READY"
    yield shlex.join(
        ["sky", "jobs", "launch", "-y", "-d", "--pool", pool, "-n", launch, "--num-jobs", str(workers), *given, job]
    )


def _yaml(content: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(content), sort_keys=False, width=10_000))
