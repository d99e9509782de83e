"""The managed jobs of a launch, as the ``sky`` client lists them. What it does not say is unknown, never "none"."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

TERMINAL = frozenset(
    {"SUCCEEDED", "FAILED", "FAILED_SETUP", "FAILED_PRECHECKS", "FAILED_NO_RESOURCE", "FAILED_CONTROLLER", "CANCELLED"}
)
"""Statuses after which SkyPilot does nothing more for a job; any other word counts as at work."""
COMMAND = ("sky", "jobs", "queue", "--all", "--all-users", "--output", "json")
"""All jobs, whoever launched them: in a hand-off that is someone else."""
_SECONDS = 120


@dataclass(frozen=True)
class SkyJob:
    """A managed job of a launch."""

    id: int
    status: str

    @property
    def at_work(self) -> bool:
        """Whether it waits, runs or may be started again."""
        return self.status not in TERMINAL


@dataclass(frozen=True)
class NoSky:
    """Why the client gave no answer; ``missing`` where there is none."""

    why: str
    missing: bool = False


def read_jobs(launch: str) -> list[SkyJob] | NoSky:
    """The managed jobs called ``launch``, in one call."""
    try:
        done = subprocess.run(
            COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        return NoSky("no sky client on PATH", missing=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        return NoSky(f"the sky client does not answer ({type(error).__name__})")
    if done.returncode:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2][:200]
        return NoSky(f"sky jobs queue: exit {done.returncode}: {last}")
    return parse_jobs(done.stdout, launch)


def parse_jobs(text: str, launch: str) -> list[SkyJob] | NoSky:
    """The jobs of a launch in what ``sky jobs queue --output json`` prints; lines before the list are talk."""
    start = text.find("\n[") + 1 if not text.startswith("[") else 0
    try:
        records = json.loads(text[start:])
        return [
            SkyJob(int(record["job_id"]), str(record["status"])) for record in records if record["job_name"] == launch
        ]
    except (ValueError, TypeError, KeyError):
        return NoSky("sky jobs queue: an answer that is no list of jobs")
