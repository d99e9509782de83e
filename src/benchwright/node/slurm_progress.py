"""Watch one SLURM array to its end.

Every interval one line: the share of tasks left, how many are done, failed, running, queued and requeued, and the
results on disk. Each failed task is named once, with its state, exit code and log. It ends with DONE when every task
has ended and none of the array's results is missing, and says in words what else ends it. What it knows is kept beside
the logs, so that it can be stopped and started at any time.

exit codes: 0 every task done; 2 a task failed, a result is missing, or the end cannot be told; 3 no SLURM on this
machine; 64 wrong usage. With --once: 0 nothing has failed so far, 2 something has, or nothing can be seen.
"""

from __future__ import annotations

import argparse
import os
import pwd
import sys
import time
from collections.abc import Sequence

from benchwright.node.array_judge import judge
from benchwright.node.array_memory import Memory, keep_memory, memory_path, read_memory
from benchwright.node.array_poll import Poller
from benchwright.node.array_voices import JsonVoice, TextVoice, summary
from benchwright.node.array_watch import Doubt, Report, Request
from benchwright.node.watcher import WatcherParser, watched, whole_path
from benchwright.slurm import MOST_TASKS, Clients

_NO_JOB = 2**32 - 2  # SLURM's ids have 32 bits, and the last two mean none
_SECONDS_IN_DOUBT = 30.0
"""Between polls while something has to become clear: an interval may be half an hour."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = WatcherParser("slurm_progress.sh", __doc__)
    add = parser.add_argument
    add("job_id", type=_job, help="the array's id, from sbatch")
    add("tasks", type=_tasks, help="the number of its tasks, K+1 of --array=0-K")
    add("--results-dir", type=whole_path, metavar="D", help="the run's results, <workspace>/output/<benchmark>/data")
    add("--expected-results", type=_count, metavar="N", help="how many there are in the end, those of before included")
    add("--log-dir", type=whole_path, metavar="L", help="the array's logs, <workspace>/slurm_out/<benchmark>/<job id>")
    add("--job-file", type=whole_path, metavar="F", help="the array's job JSON, where it is not found by itself")
    add("--user", default=this_user(), metavar="NAME", help="whose job it is (default: %(default)s)")
    parser.add_waits()
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def _job(text: str) -> int:
    if not 0 < _count(text) < _NO_JOB:
        raise argparse.ArgumentTypeError(f"{text} is no job's id")
    return int(text)


def _tasks(text: str) -> int:
    if not 0 < _count(text) <= MOST_TASKS:
        raise argparse.ArgumentTypeError(f"an array has 1 to {MOST_TASKS:,} tasks")
    return int(text)


def this_user() -> str:
    """Who runs this, as the scheduler calls its users; a number where nobody has a name for it."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def main(argv: Sequence[str] | None = None) -> int:
    """Watch the array; the exit code."""
    parser = build_parser()
    options = parser.parse_args(argv)
    if options.expected_results is not None and options.results_dir is None:
        parser.error("--expected-results needs --results-dir")
    request = Request(
        job=options.job_id,
        tasks=options.tasks,
        user=options.user,
        results_dir=options.results_dir,
        expected=options.expected_results,
        log_dir=options.log_dir,
        interval=options.interval,
        patience=options.patience,
        once=options.once,
    )
    voice = JsonVoice(request) if options.json else TextVoice(request)
    return watched(Watch(request, Poller(request, Clients(), options.job_file), voice).run)


class Watch:
    """The loop: poll, judge, say, remember, wait."""

    def __init__(self, request: Request, poller: Poller, voice: TextVoice | JsonVoice) -> None:
        self._request = request
        self._poller = poller
        self._voice = voice
        self._memory: Memory | None = None
        self._doubt: Doubt | None = None
        self._remarked: set[str] = set()
        self._summary = ""
        self._said_at = 0.0

    def run(self) -> int:
        """Watch until there is a verdict, or for one look; the exit code."""
        while True:
            report = judge(self._request, self._poller.poll(), self._remembered(), self._doubt)
            self._memory, self._doubt = report.memory, report.doubt
            self._say(report)
            self._store(report.memory)
            if report.verdict is not None or self._request.once:
                return report.exit
            time.sleep(min(self._request.interval, _SECONDS_IN_DOUBT) if report.doubt else self._request.interval)

    def _say(self, report: Report) -> None:
        items = self._poller.items
        for remark in report.remarks:
            self._remark(remark)
        lines = list(self._voice.failures(report))
        lines += self._voice.progress(report) if self._due(report) else ()
        lines += self._voice.verdict(report, {} if isinstance(items, str) else items.items)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def _due(self, report: Report) -> bool:
        """Whether to say how it stands: every interval, sooner only if it changed."""
        now, clock = summary(self._request, report), report.poll.clock
        if now == self._summary and clock - self._said_at < self._request.interval and report.verdict is None:
            return False
        self._summary, self._said_at = now, clock
        return True

    def _remark(self, text: str) -> None:
        """Say something once."""
        if text not in self._remarked:
            self._remarked.add(text)
            sys.stderr.write(f"{text}\n")

    def _remembered(self) -> Memory:
        """What this watcher knows; at first what earlier ones left, as soon as the log folder is there."""
        if self._memory is None or not self._memory.seen:
            return self._stored()
        return self._memory

    def _stored(self) -> Memory:
        log_dir = self._request.log_dir
        return Memory() if log_dir is None else read_memory(memory_path(log_dir, self._request.job))

    def _store(self, memory: Memory) -> None:
        """Keep what is known beside the logs, with the failures that another watcher has named."""
        log_dir = self._request.log_dir
        if log_dir is None or not os.path.isdir(log_dir):  # noqa: PTH112 - Path raises where it may not look
            return
        try:
            keep_memory(memory_path(log_dir, self._request.job), memory)
        except OSError as error:
            self._remark(f"{log_dir}: {error.strerror}: after a restart the failures are named again")


if __name__ == "__main__":
    sys.exit(main())
