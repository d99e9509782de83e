"""Watch one launch on SkyPilot to its end.

Every interval one line: the share of bundles left, how many are done, failed and left by the markers in the bucket, and
the launch's jobs by status. Each failed item is named once, with its coordinates and its log. It ends with DONE when
every bundle has its marker, with WORKERS GONE when some have none and no job of the launch is at work any more, and
with SILENT when nobody can say of a job that it is at work and no lease was renewed for as long as --patience says.
What cannot be asked is said, and never taken for DONE. What it knows is kept in --log-dir, so that it can be stopped
and started at any time.

exit codes: 0 every bundle done; 2 an item failed, the workers are gone, or the end cannot be told; 3 the bucket cannot
be asked from this machine; 64 wrong usage. With --once: 0 nothing has failed so far, 2 something has, or nothing can be
seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, redact, usage_error
from benchwright.launch.bucket_queue import BucketQueue
from benchwright.launch.sky_jobs import read_jobs
from benchwright.launch.sky_view import Quiet, View
from benchwright.node.array_memory import Memory, keep_memory, read_memory
from benchwright.node.watcher import USAGE, WatcherParser, watched, whole_path
from benchwright.objects import open_store

_BAD_END = 2
_QUEUE = "/queue/"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = WatcherParser("sky_progress.sh", __doc__)
    add = parser.add_argument
    add("queue_uri", help="the queue, from the first line of setup's command block")
    add("n_bundles", type=_positive, help="the number of its bundles, from the same line")
    add("--launch", metavar="ID", help="the name of its jobs (default: the queue's own)")
    add("--log-dir", type=whole_path, metavar="L", help="the launch's logs, <workspace>/slurm_out/<benchmark>/<launch>")
    parser.add_waits()
    return parser


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bundles")
    return int(text)


class Watch:
    """The loop: look, say, remember, wait."""

    def __init__(self, queue: BucketQueue, options: argparse.Namespace) -> None:
        self._queue = queue
        self._options = options
        self._memory = Memory() if options.log_dir is None else read_memory(self._place(options.log_dir))
        self._moved = time.monotonic()
        self._remarked = ""

    def run(self) -> int:
        """Watch to the end, or for one look; the exit code."""
        heard = time.monotonic()
        while True:
            try:
                code = self._look()
                heard = time.monotonic()
                if code is not None:
                    return code
            except Failure as failure:
                if failure.exit != Exit.REMOTE:
                    raise
                self._remark(str(failure.problems[0]))
                if self._options.once or time.monotonic() - heard > self._options.patience:
                    return self._end("NO ANSWER", _BAD_END, "the bucket does not answer; nothing is known of the end")
            time.sleep(min(self._options.interval, self._options.patience))

    def _look(self) -> int | None:
        view = self._view()
        for bundle in sorted(view.standing.failed):
            self._tell(bundle)
        self._say(view.to_dict(), view.line)
        self._keep()
        failed = bool(view.standing.failed)
        if view.verdict:
            return self._end(view.verdict, _BAD_END if failed or view.verdict != "DONE" else 0, view.ending)
        return (_BAD_END if failed else 0) if self._options.once else None

    def _view(self) -> View:
        """Look, and note whether anything has moved since the last look, this watcher's own or an earlier one's."""
        jobs = read_jobs(self._options.launch or self._queue.launch)
        standing, leases = self._queue.standing(), self._queue.versions("leases")
        if standing.bundles != self._options.n_bundles:
            found = f"{self._options.n_bundles} given, and the queue has {standing.bundles}"
            raise usage_error("n_bundles", found, fix="take the queue and the number from one line of setup's commands")
        signs = _digest([sorted(standing.done), sorted(standing.failed), sorted(leases.items())])
        now, clock = time.time(), time.monotonic()
        moved = signs != self._memory.signs
        self._moved = clock if moved else self._moved
        since = self._memory.still_since(now, moved=moved)
        self._memory = replace(self._memory, signs=signs, moved_at=since, seen=True)
        quiet = Quiet(now - since, clock - self._moved, self._options.patience)
        return View(standing, jobs, bool(leases), quiet)

    def _tell(self, bundle: str) -> None:
        """Name the failed items of a bundle, unless someone has."""
        if int(bundle) in self._memory.told:
            return
        for item in self._queue.failures(bundle):
            said = {**item, "log": f"{self._queue.store.url}/{item['log']}" if item.get("log") else "no log"}
            self._say({"event": "item-failed", **said}, _failed(said))
        self._memory = replace(self._memory, told={**self._memory.told, int(bundle): ""})

    def _keep(self) -> None:
        """Remember, in the log folder if there is one."""
        log_dir: Path | None = self._options.log_dir
        if log_dir is None:
            return
        try:
            log_dir.mkdir(parents=True, exist_ok=True)
            keep_memory(self._place(log_dir), self._memory)
        except OSError as error:
            self._remark(f"{log_dir}: {error.strerror}: after a restart the failures are named again")

    def _place(self, log_dir: Path) -> Path:
        return log_dir / f".sky_progress_{self._queue.launch}.json"

    def _end(self, verdict: str, code: int, found: str) -> int:
        self._say({"event": "verdict", "verdict": verdict, "exit": code, "found": found}, f"{verdict}: {found}")
        return code

    def _say(self, content: dict[str, Any], line: str) -> None:
        text = json.dumps(content, sort_keys=True) if self._options.json else line
        sys.stdout.write(redact(text) + "\n")
        sys.stdout.flush()

    def _remark(self, text: str) -> None:
        if text != self._remarked:
            self._remarked = text
            sys.stderr.write(redact(text) + "\n")


def _failed(item: dict[str, Any]) -> str:
    """A failed item for people."""
    names = ("experiment", "dataset", "repeat", "fold")
    where = " ".join(f"{name}={item[name]}" for name in names if name in item) or "an unknown item"
    return f"FAILED (exit {item.get('exit')}) {where}: {item.get('reason')}; bundle {item['bundle']}, {item['log']}"


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def main(argv: Sequence[str] | None = None) -> int:
    """Watch the launch; the exit code."""
    parser = build_parser()
    options = parser.parse_args(argv)
    run, found, launch = options.queue_uri.rstrip("/").rpartition(_QUEUE)
    if not found:
        parser.error(f"{options.queue_uri} is no queue, <run>/queue/<launch>")
    try:
        return watched(Watch(BucketQueue(open_store(run), launch), options).run)
    except Failure as failure:
        sys.stderr.write(redact(f"{failure}") + "\n")
        return {Exit.USAGE: USAGE, Exit.ENVIRONMENT: int(Exit.ENVIRONMENT)}.get(failure.exit, _BAD_END)


if __name__ == "__main__":
    sys.exit(main())
