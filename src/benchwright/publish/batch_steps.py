"""The steps of a batch's method, each one a script in a process of its own: the command, and the answer it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import read_json
from benchwright.node.processes import die_with_parent, kill_group
from benchwright.publish.batch_manifest import BatchMethod

StepName = Literal["process", "dry-run", "upload"]
_PROCESS, _UPLOAD = "run_process_method.py", "run_upload_results.py"
_GRACE = 20.0
"""Seconds that a step is given to end what it is writing."""
_TICK = 0.05


def step_command(
    step: StepName, method: BatchMethod, scripts: Path, cache_root: Path | None, jobs: int | None
) -> list[str]:
    """The command of a step; processing is left to choose the number of its processes where ``jobs`` is None.

    On a Ray cluster it always is: ``jobs`` is a share of this machine.
    """
    words = [sys.executable, str(scripts / (_PROCESS if step == "process" else _UPLOAD))]
    if step == "process":
        words += [str(method.data), "--process"]
        words += _option("--jobs", None if "ray" in method.processing else jobs)
        words += [*_option("--method", method.name), *method.processing]
    else:
        words += ["--store", str(method.store), *method.uploading]
        words += ["--apply"] if step == "upload" else []
    words += ["--method-metadata", method.reference]
    words += _option("--repo", method.repository)
    words += _option("--cache-root", cache_root)
    return [*words, "--json"]


def _option(name: str, value: object | None) -> list[str]:
    return [] if value is None else [name, str(value)]


@dataclass(frozen=True)
class Answer:
    """What a step left, as in the scripts' envelope; ``adopted`` when an earlier batch had finished it."""

    exit: int
    summary: str
    data: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    next: tuple[str, ...] = ()
    adopted: bool = False

    @property
    def ok(self) -> bool:
        """Whether the step is done."""
        return self.exit == Exit.DONE


class RunningStep:
    """A step at work: talk goes to ``<step>.log``, the answer to ``<step>.json``, both in ``folder``.

    Its process leads a group of its own, so that a Ctrl-C reaches it only through ``end_steps``; it is asked to end
    when this process is killed.
    """

    def __init__(self, step: StepName, command: Sequence[str], folder: Path) -> None:
        self.step = step
        self.log = folder / f"{step}.log"
        self._answer = folder / f"{step}.json"
        folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log, self._answer.open("wb") as answer:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=log,
                process_group=0,
                preexec_fn=partial(die_with_parent, signal.SIGTERM, os.getpid()),  # noqa: PLW1509  no threads here
            )
        self._written = 0
        self._heard = time.monotonic()
        self._told_of = 0.0

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def silence(self) -> float:
        """Seconds since the step last wrote anything."""
        written = self.log.stat().st_size + self._answer.stat().st_size
        if written != self._written:
            self._written, self._heard, self._told_of = written, time.monotonic(), 0.0
        return time.monotonic() - self._heard

    def is_newly_silent(self, seconds: float) -> bool:
        """Whether the step has written nothing for ``seconds`` since it last did, or since this was last true."""
        silence = self.silence()
        if silence - self._told_of < seconds:
            return False
        self._told_of = silence
        return True

    def ask_to_end(self) -> None:
        """Ask the process to end its work, its own processes with it."""
        self._process.terminate()

    def close(self) -> int:
        """End what is left of the group, and return the wait's code: negative for a signal."""
        kill_group(self._process.pid)
        return self._process.wait()

    def answer(self) -> Answer:
        """What the ended step left."""
        code = self.close()
        try:
            envelope = read_json(self._answer)
            if envelope["exit"] != code:
                raise ValueError(code)
            problems = tuple(Problem(**problem) for problem in envelope["problems"])
            return Answer(envelope["exit"], envelope["summary"], envelope["data"], problems, tuple(envelope["next"]))
        except (OSError, Failure, KeyError, TypeError, ValueError):
            how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
            found = f"ended without an answer ({how}){_last_line(self.log)}"
            problem = Problem("step-died", str(self.log), found, "", "read the log, then run the batch again")
            return Answer(code if code > 0 else 128 - code, found, {}, (problem,))


def end_steps(steps: Iterable[RunningStep]) -> None:
    """Have the steps end orderly, and kill their groups when they have not within ``_GRACE`` seconds."""
    steps = list(steps)
    for step in steps:
        step.ask_to_end()
    deadline = time.monotonic() + _GRACE
    while not all(step.ended for step in steps) and time.monotonic() < deadline:
        time.sleep(_TICK)
    for step in steps:
        step.close()


def _last_line(log: Path) -> str:
    """The last words of a log, as an addition to a sentence."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 2000))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""
