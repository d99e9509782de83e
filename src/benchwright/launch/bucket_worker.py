"""A worker: ``python -m benchwright.launch.bucket_worker RUN_URI LAUNCH [--folder DIR]`` takes a launch's bundles.

It leases a bundle, runs its items one by one, writes each result into the bucket as it is finished and the bundle's
marker last. Killed at any point it loses the item at work: whoever takes the bundle over skips what has its marker.
When nothing is free it waits for one lease time, to see whether those who hold the rest are alive, and leaves.

Exit codes: 0 nothing is left to take, 2 wrong usage, 3 no item can run here, 4 the bucket does not answer, 143 or 130
after SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import socket
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure
from benchwright.files import FileLock, read_json, write_json
from benchwright.launch.archives import unpack
from benchwright.launch.bucket_lease import Heartbeat, Lease, Leases
from benchwright.launch.bucket_queue import BucketQueue
from benchwright.launch.bucket_sync import BundleSync, LeaseLost
from benchwright.launch.worker_weights import NoWeights, fetch_weights
from benchwright.node import (
    Bundle,
    Item,
    JobFile,
    JobFileError,
    ServerUnusable,
    passing_scratch,
    read_job_file,
    run_bundles,
)
from benchwright.objects import Patience, open_store

MOST_LOSSES = 5
"""Workers lost in a row on a bundle without a finished item: then it is the bundle that ends them."""
_LOOKS = 20
"""In a lease time, while all that is left is someone else's."""
_PATIENCE = Patience(attempts=12, first_wait=1, longest_wait=60)


class _Unusable(Exception):
    """A bundle that no worker can run; the message says why."""


class Worker:
    """One worker at one queue."""

    def __init__(self, queue: BucketQueue, folder: Path, python: str = sys.executable) -> None:
        self._queue = queue
        self._facts = queue.facts()
        self._seconds = float(self._facts["lease_seconds"])
        self._folder = folder
        self._python = python
        self._name = uuid.uuid4().hex[:12]  # what goes into the bucket names no machine
        self._leases = Leases(queue, self._name, self._seconds)
        self._lease: Lease | None = None

    def run(self) -> int:
        """Take bundles until none is left; the exit code.

        Raises:
            NoWeights: this machine cannot have the models' weights: no bundle is taken.
        """
        _say(f"worker {self._name} at {self._queue.url}, process {os.getpid()} on {socket.gethostname()}")
        models = self._facts.get("weights")
        if models and not self._queue.closed and self._open():
            _say(fetch_weights([str(name) for name in models], self._python))
        while not self._queue.closed:
            open_ones = self._open()
            if not open_ones:
                _say("every bundle has ended")
                return 0
            worked = False
            for bundle in open_ones:
                code = self._try(bundle)
                if code is None:
                    continue
                worked = True
                if code >= 128:
                    return code
                break
            if worked:
                self._leases.alive.clear()
                continue
            if set(open_ones) <= self._leases.alive:
                _say(f"nothing is free: {len(open_ones)} bundles are other workers'")
                return 0
            time.sleep(self._seconds / _LOOKS)
        _say("the queue is closed")
        return 0

    def stop(self, number: int, _frame: object) -> None:
        """Leave after a signal between two runs; one for a lease that is lost already is none."""
        if self._lease is None or not self._lease.lost:
            sys.exit(128 + number)

    def _open(self) -> list[str]:
        """The bundles without a closing marker, beginning anywhere: workers that start together then rarely meet."""
        ended = self._queue.names("done") | self._queue.names("failed")
        bundles = [bundle for bundle in self._queue.bundles_of(self._facts) if bundle not in ended]
        start = random.randrange(len(bundles)) if bundles else 0
        return bundles[start:] + bundles[:start]

    def _try(self, bundle: str) -> int | None:
        """Run a bundle if it can be had: 0, or 128 + n after signal n; None if it cannot."""
        lease = self._leases.take(bundle)
        if lease is None:
            return None
        self._lease = lease
        try:
            if self._queue.has_ended(bundle):  # the listing may lag behind
                return None
            with Heartbeat(lease):
                try:
                    job_file = self._job_file(bundle)
                except _Unusable as reason:
                    self._mark(lease, [], 0, str(reason))
                    return 0
                if lease.losses >= MOST_LOSSES:
                    self._give_up(lease, job_file.bundles[0])
                    return 0
                return self._work(lease, job_file)
        except LeaseLost:
            _say(f"bundle {bundle}: the lease is lost, another worker has it")
            return 0
        finally:
            lease.release()
            self._lease = None

    def _work(self, lease: Lease, job_file: JobFile) -> int:
        items = job_file.bundles[0]
        place = job_file.path.parent
        log = place / "bundle.log"
        sync = BundleSync(lease, items, place, log)
        left = sync.left()
        _say(f"bundle {lease.bundle}: {len(left)} of {len(items)} items to run")
        if left:
            bundle = Bundle(int(lease.bundle), tuple(item for _, item in left), job_file.defaults, log=log)
            totals = run_bundles([bundle], sync)
            if lease.lost:
                raise LeaseLost
            if totals.signal:
                return 128 + totals.signal
        self._close(lease, sync, len(items))
        shutil.rmtree(place, ignore_errors=True)
        return 0

    def _close(self, lease: Lease, sync: BundleSync, items: int) -> None:
        """Write what the bundle leaves, and the marker that ends it."""
        if not lease.secure():
            raise LeaseLost
        sync.put_whole_logs()
        failed = {_coordinates(failure) for failure in sync.failures}
        not_run = [
            {**item.coordinates(), "exit": None, "reason": "not run, after three failures in a row", "log": None}
            for _, item in sync.left()
            if _coordinates(item.coordinates()) not in failed
        ]
        self._mark(lease, [*sync.failures, *not_run], items)

    def _give_up(self, lease: Lease, items: Sequence[Item]) -> None:
        """End a bundle that no worker survives."""
        marked = self._queue.names("items", f"{lease.bundle}_")
        reason = f"{lease.losses} workers were lost on this bundle in a row"
        lost = [
            {**item.coordinates(), "exit": None, "reason": reason, "log": None}
            for number, item in enumerate(items)
            if f"{lease.bundle}_{number}" not in marked
        ]
        self._mark(lease, lost, len(items))

    def _mark(self, lease: Lease, lost: Sequence[dict[str, Any]], items: int, reason: str = "") -> None:
        """Write a bundle's closing marker: done, or failed with the items that were lost, or with a reason alone.

        Raises:
            LeaseLost: the bundle is someone else's.
        """
        if not lease.secure():
            raise LeaseLost
        content = {"worker": self._name, "ok": items - len(lost), "items": list(lost), "reason": reason}
        if self._queue.mark("failed" if lost or reason else "done", lease.bundle, content):
            _say(f"##### bundle {lease.bundle} summary: ok={items - len(lost)} failed={len(lost)} {reason}".rstrip())

    def _job_file(self, bundle: str) -> JobFile:
        """The bundle's task file as a job file of this machine, with its batch.

        Raises:
            _Unusable: they are missing or damaged, for this worker as for any other.
        """
        try:
            return self._read_job_file(bundle)
        except (JobFileError, TypeError, ValueError) as error:
            raise _Unusable(f"its task file is no job file: {error}") from None
        except Failure as failure:
            if failure.exit != Exit.NO:
                raise
            raise _Unusable(f"its task file or batch is damaged: {failure.problems[0].where}") from None

    def _read_job_file(self, bundle: str) -> JobFile:
        said = self._queue.read(self._queue.key("tasks", f"{bundle}.json"))
        if said is None:
            raise JobFileError("it is not there")
        task, place = said[1], self._folder / self._queue.launch / bundle
        place.mkdir(parents=True, exist_ok=True)
        defaults: dict[str, Any] = dict(task.get("defaults", {}))
        defaults["python"], defaults["output_dir"] = self._python, str(place)
        if task.get("batch") is not None:
            defaults["job_batch_dir"] = str(self._batch(str(task["batch"])))
        write_json(place / "job.json", {"defaults": defaults, "jobs": [{"items": task.get("items", [])}]})
        return read_job_file(place / "job.json")

    def _batch(self, name: str) -> Path:
        """The folder of a job batch, fetched and unpacked once, with caches of this machine."""
        key = self._queue.key("batch", f"{name}.tar.gz")
        folder = self._folder / self._queue.launch / "batch" / Path(key).name.removesuffix(".tar.gz")
        if not folder.is_dir():
            new = folder.with_name(f".{folder.name}.new")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            archive = new.with_suffix(".tar.gz")
            self._queue.store.get(key, archive)
            unpack(archive, new)
            archive.unlink()
            caches = new / "cache_config.json"
            if caches.is_file():
                cache = str(self._folder / "task_cache")
                said = read_json(caches)
                write_json(caches, {name: cache if isinstance(value, str) else value for name, value in said.items()})
            new.rename(folder)
        return folder


def main(argv: Sequence[str] | None = None) -> int:
    """Work; the exit code."""
    parser = argparse.ArgumentParser(prog="benchwright.launch.bucket_worker", description="Take bundles from a queue.")
    parser.add_argument("run_uri", help="the run's address, s3://BUCKET/PREFIX/BENCHMARK r2:// or gs://...")
    parser.add_argument("launch", help="the launch's id")
    parser.add_argument("--close", action="store_true", help="take nothing: let no worker take a bundle any more")
    parser.add_argument("--folder", type=Path, help="where to work; a new temporary folder otherwise")
    options = parser.parse_args(argv)
    try:
        queue = BucketQueue(open_store(options.run_uri, patience=_PATIENCE), options.launch)
        if options.close:
            if not queue.exists:
                queue.facts()
            queue.close("by hand")
            _say(f"closed: {queue.url}")
            return 0
        with _own(options.folder) as folder:
            worker = Worker(queue, folder)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, worker.stop)
            return worker.run()
    except Failure as failure:
        sys.stderr.write(f"##### {failure}\n")
        return int(failure.exit)
    except (ServerUnusable, NoWeights) as unusable:
        sys.stderr.write(f"##### no item can run: {unusable}\n")
        return int(Exit.ENVIRONMENT)
    except OSError as error:
        sys.stderr.write(f"##### no item can run here: {error}\n")
        return int(Exit.ENVIRONMENT)


@contextlib.contextmanager
def _own(folder: Path | None) -> Iterator[Path]:
    """The folder to work in, for one worker at a time."""
    if folder is None:
        with passing_scratch() as new:
            yield new
        return
    with FileLock(folder.absolute() / ".worker.lock", "a worker"):
        yield folder.absolute()


def _coordinates(item: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(item[name] for name in ("experiment", "dataset", "repeat", "fold"))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
