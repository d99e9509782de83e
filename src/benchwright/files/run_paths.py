"""Every path of a benchmark run, in one place: nobody else joins their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import usage_error

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
RESULT_NAME = "results.pkl"


@dataclass(frozen=True)
class RunPaths:
    """The folders of one benchmark below a workspace, in the public launcher's layout.

    Raises:
        Failure: the benchmark's name is not a plain file name, or the workspace no path in UTF-8 (exit 2).
    """

    workspace: Path
    benchmark: str

    def __post_init__(self) -> None:
        if not isinstance(self.benchmark, str) or not _NAME.fullmatch(self.benchmark):
            raise usage_error(
                "benchmark_name",
                repr(self.benchmark),
                "letters, digits, '.', '_' and '-', at most 128 characters",
                "give it so, by --name or as BENCHMARK_NAME in the run script",
            )
        object.__setattr__(self, "workspace", _absolute(self.workspace))

    @property
    def output(self) -> Path:
        """Where results go: the runner's output folder."""
        return self.workspace / "output" / self.benchmark

    @property
    def data(self) -> Path:
        """The results tree: ``<method>/<task>/<repeat>_<fold>/results.pkl``."""
        return self.output / "data"

    @property
    def logs(self) -> Path:
        """The logs of array tasks and local bundles, and the Ray logs of failed items."""
        return self.workspace / "slurm_out" / self.benchmark

    @property
    def setup(self) -> Path:
        """What set-up writes: job batches, job files, the memory of the cache check."""
        return self.workspace / "setup_out" / self.benchmark

    @property
    def setup_lock(self) -> Path:
        """Held while a set-up writes."""
        return self.setup / ".setup.lock"

    @property
    def run_lock(self) -> Path:
        """Held while items run on this machine, and while a set-up replaces what they read."""
        return self.setup / ".run.lock"

    @property
    def task_cache(self) -> Path:
        """The data of published tasks, shared by every benchmark of the workspace."""
        return self.workspace / "task_cache"

    def local_logs(self, started: str) -> Path:
        """The logs of a run on this machine that started at ``started``, a time stamp fit for a file name."""
        return self.logs / f"local-{started}"

    @property
    def checked_results(self) -> Path:
        """Which result files were read in full, by size, mtime and inode."""
        return self.setup / "checked_results.json"

    @property
    def plans(self) -> Path:
        """The record of each plan: its identity, job files and the state of the checkout at set-up."""
        return self.setup / "plans"

    def approvals(self, identity: str) -> Path:
        """The set-ups of a plan that approved items, the earliest first: they outlast the plan's record."""
        return self.plans / "approved" / f"{identity}.json"

    def job_batch(self, group: str) -> Path:
        """The job batch folder of a group of jobs."""
        return self.setup / f"job_batch_{self.benchmark}_{group}"

    def job_file(self, group: str, *, size: int | None = None, batch: int | None = None) -> Path:
        """The job JSON of a group, of one bundle size, of one array when the group is split over several."""
        suffix = (f"_size{size}" if size is not None else "") + (f"_batch{batch}" if batch is not None else "")
        return self.setup / f"slurm_run_data_{self.benchmark}_{group}{suffix}.json"

    def result(self, method: str, task_key: str, repeat: int, fold: int) -> Path:
        """The file of one result."""
        return self.data / method / task_key / f"{repeat}_{fold}" / RESULT_NAME


def _absolute(workspace: Path) -> Path:
    try:
        path = Path(workspace).expanduser().absolute()
        if b"\0" not in str(path).encode():
            return path
        found = "no path"
    except TypeError:
        found = "no path"
    except UnicodeEncodeError:
        found = "a name that is not UTF-8"
    except RuntimeError:
        found = "no such user's home"
    except OSError:
        found = "a relative path, and the current folder is gone"
    fix = "give another, by --workspace or as WORKSPACE in the run script"
    raise usage_error("workspace", f"{str(workspace)!a}: {found}", "a folder's path, in UTF-8", fix)
