"""Polls of arrays for the tests of judgments: rows as SLURM prints them, and what the results tree held."""

from __future__ import annotations

import re

from benchwright.node.array_results import ResultCount
from benchwright.node.array_watch import Poll, Request
from benchwright.slurm import CallError, Trouble, parse_attempts, parse_queue

NOW = 1_000_000.0
UNKNOWN_JOB = CallError("squeue", Trouble.UNKNOWN_JOB, "slurm_load_jobs error: Invalid job id specified")
CONTROLLER_DOWN = CallError("squeue", Trouble.CONTROLLER_DOWN, "Unable to contact slurm controller")
QUEUE_SLOW = CallError("squeue", Trouble.TIMEOUT, "no answer within 120 s")
ACCOUNTING_OFF = CallError("sacct", Trouble.ACCOUNTING_OFF, "Slurm accounting storage is disabled")
ACCOUNTING_DOWN = CallError("sacct", Trouble.ACCOUNTING_DOWN, "Problem talking to the database: Connection refused")
SUBMITTED = "2026-11-30T09:00:00"
WITHDRAWN = "- CANCELLED"


_ROW = re.compile(r"(?P<tasks>\S+) (?P<state>\D+?)(?: (?P<code>\d+:\d+))?(?: @(?P<minute>\d))?")


def queue(*rows, user="me"):
    """Rows of job 4: ``"0-2 RUNNING"``, ``"3 PENDING JobHeldUser"``, ``"- FAILED"`` for the plain id.

    By that alone, ``"- CANCELLED"``, are tasks that never began.
    """
    lines = []
    for row in rows:
        tasks, state, reason = [*row.split(maxsplit=2), "None"][:3]
        begun = f"2026-11-30T09:00:{10 + int(re.match(r'[0-9]*', tasks)[0] or 0) % 50}"
        start = "N/A" if state == "PENDING" else begun
        nodes = "" if state == "PENDING" or row == WITHDRAWN else "n1"
        lines.append(f"{_printed(tasks)}|{state}|{reason}|{user}|{start}|{SUBMITTED}|{nodes}|/submit.sh /jobs.json")
    return parse_queue("\n".join(lines))


def accounts(*rows):
    """Rows of job 4: ``"0 COMPLETED"``, ``"1 FAILED 1:0"``; ``@1`` at the end of a second attempt."""
    lines = []
    for row in rows:
        words = _ROW.fullmatch(row)
        begun = words["state"] != "PENDING" and not row.startswith(WITHDRAWN)
        start, nodes = ("2026-11-30T09:00:30", "n1") if begun else ("Unknown", "None assigned")
        submitted = f"2026-11-30T09:0{words['minute'] or 0}:00"
        lines.append(
            f"{_printed(words['tasks'])}|{words['state']}|{words['code'] or '0:0'}|me|{submitted}|{start}|{nodes}"
        )
    return parse_attempts("\n".join(lines))


def _printed(tasks):
    if tasks == "-":
        return "4"
    return f"4_{tasks}" if tasks.isdigit() else f"4_[{tasks}]"


def poll(queue_answer=(), accounts_answer=(), at=NOW, **more):
    return Poll(at=at, **{"clock": at, **more}, queue=queue_answer, attempts=accounts_answer)


def results(complete, *, whole_tree=True, damaged=0, there=True):
    return ResultCount(complete, damaged, whole_tree, there)


def request(tasks=2, **more):
    return Request(job=4, tasks=tasks, user="me", **more)
