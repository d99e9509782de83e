"""What a measure is, how a command is measured, and the row and the table that come of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from memory import TreeWatch

from benchwright.contract import Failure, Problem

HERE = Path(__file__).resolve().parent
_HEADINGS = ("work", "ours, s", "peer, s", "ratio", "bar", "met?", "memory, MB")


@dataclass(frozen=True)
class Sample:
    """One run of a command: wall seconds, peak memory in bytes, and the JSON it ended with.

    The peak is that of its largest process, or of all its processes together where the run was watched.
    """

    seconds: float
    peak: int
    answer: Any


@dataclass(frozen=True)
class Side:
    """The seconds of every run of one side, and its highest peak in bytes (None where it is another row's)."""

    seconds: tuple[float, ...]
    peak: int | None = None

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Side:
        """Whole commands."""
        return cls(tuple(one.seconds for one in samples), max(one.peak for one in samples))

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.seconds)

    def __str__(self) -> str:
        """Median, least and most, and how many there are."""
        return f"{self.median:.3g} ({min(self.seconds):.3g} to {max(self.seconds):.3g}, n {len(self.seconds)})"


@dataclass(frozen=True)
class Row:
    """One kind of work. Its bar is the most seconds or memory that ours may take, or the least ratio to the peer."""

    work: str
    ours: Side
    peer: Side | None = None
    most_seconds: float | None = None
    least_ratio: float | None = None
    most_mb: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is."""
        return self.peer.median / self.ours.median if self.peer else None

    @property
    def met(self) -> bool | None:
        """Whether the bar is met, None when there is none."""
        if self.most_seconds is not None:
            return self.ours.median < self.most_seconds
        if self.most_mb is not None:
            return 0 < (self.ours.peak or 0) < self.most_mb * 2**20  # nothing seen is no proof
        return None if self.least_ratio is None or self.ratio is None else self.ratio >= self.least_ratio

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as the table shows it."""
        bars = {"< {:g} s": self.most_seconds, "< {:g} MB": self.most_mb, "{:g}x": self.least_ratio}
        bar = next((form.format(bar) for form, bar in bars.items() if bar is not None), "-")
        sides = [side for side in (self.ours, self.peer) if side]
        return (
            self.work,
            str(self.ours),
            str(self.peer or "-"),
            f"{self.ratio:.3g}x" if self.ratio else "-",
            bar,
            {True: "yes", False: "NO", None: "-"}[self.met],
            " | ".join(f"{side.peak / 2**20:.0f}" if side.peak else "-" for side in sides),
        )

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


def table(rows: Sequence[Row]) -> list[str]:
    """One line a row below the headings, in columns."""
    cells = [_HEADINGS, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells] if rows else []


class Measure(Protocol):
    """The ``measure`` of each module. As a program, ``MODULE.py SIDE ARGUMENT...``, the module is one side of it."""

    def __call__(self, bench: Bench) -> list[Row]:
        """Run both sides in turns.

        Raises:
            Failure: a command failed, or the two sides' answers differ.
        """


def answer(**sides: Callable[..., Any]) -> None:
    """Be the side that the command line names: its result is the last line printed, as JSON."""
    _, side, *arguments = sys.argv
    print("\n" + json.dumps(sides[side](*arguments)))


class Bench:
    """Where and how much to measure. This process stays small: a child's peak counts from its parent's size."""

    def __init__(self, workspace: Path, *, quick: bool, talk: Callable[[str], None] = lambda _: None) -> None:
        self.workspace = workspace
        self.quick = quick
        self.talk = talk
        self._environment = dict(os.environ)
        if self._environment.pop("PYTHONDONTWRITEBYTECODE", None):
            # Users do not compile what they import again with every command; it costs the peer seconds.
            self._environment["PYTHONPYCACHEPREFIX"] = str(workspace / "bytecode")

    def run(self, module: str, side: str, *arguments: object) -> Sample:
        """Run one side of a measure."""
        sample = self.time([sys.executable, str(HERE / f"{module}.py"), side, *map(str, arguments)], f"{module}-{side}")
        self.talk(f"  {module} {side}: {sample.seconds:.2f} s")
        return sample

    def time(self, command: Sequence[str], name: str, *, watched: bool = False) -> Sample:
        """Run a command; its output goes to the workspace's logs.

        Watching the memory of all its processes takes some of their time, so seconds come from runs that are not.

        Raises:
            Failure: it does not end with 0.
        """
        logs = self.workspace / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        output, log = logs / f"{name}.out", logs / f"{name}.log"
        with output.open("wb") as out, log.open("wb") as err:
            start = time.perf_counter()
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=logs, env=self._environment
            )
            with TreeWatch(process.pid) if watched else nullcontext() as watch:
                _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            found = f"exit {process.returncode}: {_last_line(log)}"
            raise Failure(Problem("command-failed", str(log), found, "exit 0", "the log has the rest"))
        last = _last_line(output)
        # Linux counts in KiB, macOS in bytes.
        largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Sample(
            seconds, watch.peak if watch else largest, json.loads(last) if last.startswith(("{", "[")) else None
        )


def take_turns(
    ours: Callable[[], Sample], peers: Mapping[str, Callable[[], Sample]], times: int
) -> tuple[list[Sample], dict[str, list[Sample]]]:
    """Runs of ours, and of each way of the peer's by its name: all ways once, then the fastest in turns with ours."""
    ours_runs, runs = [ours()], {way: [run()] for way, run in peers.items()}
    fastest = min(runs, key=lambda way: runs[way][0].seconds)
    for _ in range(times - 1):
        ours_runs.append(ours())
        runs[fastest].append(peers[fastest]())
    return ours_runs, runs


def beside(work: str, ours: Side, peers: Mapping[str, Side], least_ratio: float | None = None) -> list[Row]:
    """A row for each way of the peer's. The bar is held against the fastest."""
    fastest = min(peers, key=lambda way: peers[way].median)
    return [
        Row(f"{work}: peer {way}", ours, peer, least_ratio=least_ratio if way == fastest else None)
        for way, peer in peers.items()
    ]


def _last_line(path: Path) -> str:
    return path.read_text(errors="replace").strip().rpartition("\n")[2]


def same_answer(work: str, ours: Any, peer: Any) -> None:
    """Hold two answers to the same work against each other, numbers to 1e-9.

    Raises:
        Failure: they differ, so that the seconds are not those of the same work.
    """
    if not _close(ours, peer):
        found, expected = (str(one)[:200] for one in (ours, peer))
        fix = "see which of the two is right before anything is timed"
        raise Failure(Problem("answers-differ", work, found, f"the peer's {expected}", fix))


def _close(ours: Any, peer: Any) -> bool:
    if isinstance(ours, Mapping):
        return ours.keys() == peer.keys() and all(_close(ours[key], peer[key]) for key in ours)
    if isinstance(ours, list):
        return len(ours) == len(peer) and all(map(_close, ours, peer))
    if isinstance(ours, int | float) and isinstance(peer, int | float):
        return abs(ours - peer) <= 1e-9
    return ours == peer
