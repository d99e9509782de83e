"""Watch one launch on SkyPilot to its end.

Every interval one line: the share of bundles left, how many are done, failed and left by the markers in the bucket, and
the launch's jobs by status. Each failed item is named once, with its coordinates and its log. It ends with DONE when
every bundle has its marker, and with WORKERS GONE when some have none and no job of the launch is at work any more.
What cannot be asked is said, and never taken for an end.

exit codes: 0 every bundle done; 2 an item failed, the workers are gone, or the end cannot be told; 3 the bucket cannot
be asked from this machine; 64 wrong usage. With --once: 0 nothing has failed so far, 2 something has, or nothing can be
seen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from benchwright.contract import Exit, Failure, redact
from benchwright.launch.bucket_queue import BucketQueue, Standing
from benchwright.launch.sky_jobs import NoSky, SkyJob, read_jobs
from benchwright.objects import open_store

_USAGE = 64  # sysexits.h EX_USAGE: 2 is taken by failures
_BAD_END = 2
_QUEUE = "/queue/"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Leave with 64."""
        self.print_usage(sys.stderr)
        self.exit(_USAGE, f"{self.prog}: {message}\n")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = _Parser(
        prog="sky_progress.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("queue_uri", help="the queue, from the first line of setup's command block")
    add("n_bundles", type=_positive, help="the number of its bundles, from the same line")
    add("--launch", metavar="ID", help="the name of its jobs (default: the queue's own)")
    add("--interval", type=_seconds, default=900.0, metavar="S", help="seconds between two lines (default 900)")
    add("--patience", type=_seconds, default=3600.0, metavar="S", help="seconds to wait for an answer (default 3600)")
    add("--once", action="store_true", help="one look, then leave")
    add("--json", action="store_true", help="one JSON object a line")
    return parser


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bundles")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


@dataclass(frozen=True)
class View:
    """One look at a launch; the jobs were asked for before the markers, so that no end is missed between the two."""

    standing: Standing
    jobs: list[SkyJob] | NoSky

    @property
    def left(self) -> int:
        """Bundles without a marker."""
        return self.standing.bundles - len(self.standing.done | self.standing.failed)

    @property
    def verdict(self) -> str:
        """What ends the watch; empty while it goes on."""
        if not self.left:
            return "DONE"
        if self.standing.closed:
            return "CLOSED"
        if not isinstance(self.jobs, NoSky) and self.jobs and not any(job.at_work for job in self.jobs):
            return "WORKERS GONE"
        return ""

    @property
    def line(self) -> str:
        """The look for people."""
        bundles, done, failed = self.standing.bundles, len(self.standing.done), len(self.standing.failed)
        left = 100 * self.left / bundles
        return f"{left:.0f}% left: {done} done, {failed} failed, {self.left} left of {bundles} bundles; {self._workers}"

    @property
    def _workers(self) -> str:
        if isinstance(self.jobs, NoSky):
            return f"workers unknown: {self.jobs.why}"
        if not self.jobs:
            return f"no job called {self.standing.launch} is listed yet"
        counts = Counter(job.status for job in self.jobs)
        return "jobs: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))

    def to_dict(self) -> dict[str, Any]:
        """The look as JSON data."""
        jobs = None if isinstance(self.jobs, NoSky) else [vars(job) for job in self.jobs]
        return {
            "event": "progress",
            "launch": self.standing.launch,
            "bundles": self.standing.bundles,
            "done": len(self.standing.done),
            "failed": len(self.standing.failed),
            "left": self.left,
            "jobs": jobs,
            "jobs_unknown": self.jobs.why if isinstance(self.jobs, NoSky) else None,
        }


class Watch:
    """The loop: look, say, wait."""

    def __init__(self, queue: BucketQueue, options: argparse.Namespace) -> None:
        self._queue = queue
        self._options = options
        self._told: set[str] = set()
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
        jobs = read_jobs(self._options.launch or self._queue.launch)
        view = View(self._queue.standing(), jobs)
        failed = list(self._failures(view.standing.failed))
        self._say(view.to_dict(), view.line)
        bad = bool(view.standing.failed)
        match view.verdict:
            case "DONE":
                found = f"{len(view.standing.failed)} bundles with failed items" if bad else "every bundle is done"
                return self._end("DONE", _BAD_END if bad else 0, found)
            case "WORKERS GONE":
                found = (
                    f"{view.left} bundles have not ended and no job is at work; setup again launches what is missing"
                )
                return self._end("WORKERS GONE", _BAD_END, found)
            case "CLOSED":
                return self._end("CLOSED", _BAD_END, f"the queue was closed with {view.left} bundles left")
        if self._options.once:
            return _BAD_END if bad or failed else 0
        return None

    def _failures(self, bundles: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Name each failed item, once."""
        new = sorted(set(bundles) - self._told)
        self._told.update(new)
        for item in (item for bundle in new for item in self._queue.failures(bundle)):
            log = f"{self._queue.store.url}/{item['log']}" if item.get("log") else "no log"
            names = ("experiment", "dataset", "repeat", "fold")
            where = " ".join(f"{name}={item[name]}" for name in names if name in item) or "an unknown item"
            self._say(
                {"event": "item-failed", **item, "log": log},
                f"FAILED (exit {item.get('exit')}) {where}: {item.get('reason')}; bundle {item['bundle']}, {log}",
            )
            yield item

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


def main(argv: Sequence[str] | None = None) -> int:
    """Watch the launch; the exit code."""
    parser = build_parser()
    options = parser.parse_args(argv)
    run, found, launch = options.queue_uri.rstrip("/").rpartition(_QUEUE)
    if not found:
        parser.error(f"{options.queue_uri} is no queue, <run>/queue/<launch>")
    try:
        queue = BucketQueue(open_store(run), launch)
        bundles = queue.facts()["bundles"]
        if bundles != options.n_bundles:
            parser.error(f"{options.n_bundles} bundles given, and the queue has {bundles}")
        return Watch(queue, options).run()
    except Failure as failure:
        sys.stderr.write(redact(f"{failure}") + "\n")
        return {Exit.USAGE: _USAGE, Exit.ENVIRONMENT: int(Exit.ENVIRONMENT)}.get(failure.exit, _BAD_END)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


if __name__ == "__main__":
    sys.exit(main())
