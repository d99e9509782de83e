"""The record of a set-up: what was planned, on which code, and which files belong to it. Written last."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import RunPaths, read_json, write_json
from benchwright.files.checkout import git

_PACKAGES = (
    *("benchwright", "tabarena", "bencheval", "autogluon.tabular", "numpy", "pandas", "scikit-learn", "ray"),
    *("lightgbm", "xgboost", "catboost", "torch"),
)
_PROBE = """
import importlib.metadata as m, json, platform, sys
def version(name):
    for distribution in (name, name + "-cpu"):  # xgboost-cpu is XGBoost without CUDA
        try:
            return m.version(distribution)
        except m.PackageNotFoundError:
            pass
print(json.dumps({"python": platform.python_version(), **{name: version(name) for name in sys.argv[1:]}}))
"""
_SECONDS = 60


@dataclass(frozen=True)
class PlanRecord:
    """A finished set-up. ``job_files`` may be empty: then nothing was missing.

    ``experiments`` and ``tasks`` are the folder names that the plan's results may have; ``commands`` launch the job
    files on a cluster, and there are none for this machine; ``runs`` are the addresses of runs in a bucket that it
    staged launches for. ``expected_results`` is how many the results tree holds when what was launched has ended; None
    in a record that does not say.
    """

    identity: str
    job_files: tuple[Path, ...]
    experiments: frozenset[str]
    tasks: frozenset[str]
    commands: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    expected_results: int | None = None

    @property
    def arrays(self) -> list[tuple[Path, int]]:
        """The job files that were launched on a cluster, each with the number of its array's tasks."""
        by_file = ((file, command) for file in self.job_files for command in self.commands if _launches(command, file))
        found = ((file, re.search(r" --array=0-(\d+)", command)) for file, command in by_file)
        return [(file, int(match[1]) + 1) for file, match in found if match]


def _launches(command: str, job_file: Path) -> bool:
    return shlex.split(command)[-1:] == [str(job_file)]


def record_path(paths: RunPaths, identity: str) -> Path:
    """Where the record of a plan is."""
    return paths.plans / f"{identity}.json"


def read_records(paths: RunPaths, *, other_than: str | None = None) -> tuple[dict[str, PlanRecord], list[Problem]]:
    """Every finished set-up of a benchmark, by identity, and a problem for each record that cannot be read."""
    records, problems = {}, []
    for path in sorted(paths.plans.glob("*.json")):
        if path.stem == other_than:
            continue
        record = _read_record(path)
        if isinstance(record, Problem):
            problems.append(record)
        else:
            records[record.identity] = record
    return records, problems


def _read_record(path: Path) -> PlanRecord | Problem:
    try:
        content = read_json(path)
        job_files = tuple(Path(name) for name in content["job_files"])
        expected = content.get("expected_results")
        return PlanRecord(
            path.stem,
            job_files,
            frozenset(content["experiments"]),
            frozenset(content["tasks"]),
            tuple(content.get("commands", ())),
            tuple(content.get("runs", ())),
            expected if isinstance(expected, int) else None,
        )
    except (KeyError, TypeError, Failure, OSError):
        fix = "run setup of the plan that it is of, or remove it"
        return Problem("bad-record", str(path), "damaged", "the record that a set-up wrote", fix)


def write_record(
    paths: RunPaths,
    identity: str,
    *,
    plan: Mapping[str, Any],
    job_files: Sequence[Path],
    experiments: Iterable[str],
    tasks: Iterable[str],
    protocol: str,
    approved: int,
    total: int,
    versions: Mapping[str, str | None],
    commands: Sequence[str] = (),
    runs: Sequence[str] = (),
    expected_results: int | None = None,
    default_partition: str | None = None,
) -> Path:
    """Write the record that makes a set-up finished. ``protocol`` is the key that the arena requires of a result.

    ``default_partition`` is the cluster's own, where jobs of the plan go to it because the plan names none.

    One that approved items is remembered first, since the next set-up, such as the one that finds nothing missing,
    takes the record's place.
    """
    path = record_path(paths, identity)
    moment = {"set_up_at": time.strftime("%Y-%m-%d %H:%M:%S%z"), "git": checkout_state(), "approved": approved}
    if approved:
        _remember(paths.approvals(identity), moment)
    content = {
        "identity": identity,
        **moment,
        "versions": dict(versions),
        "plan": dict(plan),
        "validation_protocol": protocol,
        "total": total,
        "expected_results": expected_results,
        "job_files": [str(file) for file in job_files],
        "commands": list(commands),
        "runs": list(runs),
        "default_partition": default_partition,
        "experiments": sorted(experiments),
        "tasks": sorted(tasks),
    }
    write_json(path, content, indent=1)
    return path


def _remember(path: Path, moment: Mapping[str, Any]) -> None:
    """Add a set-up to those that are remembered; what cannot be read of them is lost."""
    earlier = []
    with contextlib.suppress(Failure, OSError):
        content = read_json(path)
        earlier = content if isinstance(content, list) else []
    write_json(path, [*earlier, moment], indent=1)


def remove_own_files(paths: RunPaths, identity: str) -> None:
    """Remove the job files and job batches that earlier set-ups of this plan wrote."""
    for job_file in paths.setup.glob(f"slurm_run_data_{paths.benchmark}_*-{identity}*.json"):
        job_file.unlink()
    for job_batch in paths.setup.glob(f"job_batch_{paths.benchmark}_*-{identity}"):
        shutil.rmtree(job_batch)


def checkout_state() -> dict[str, Any] | None:
    """HEAD of the checkout this code runs from, and whether it has local changes; None outside a checkout."""
    folder = Path(__file__).parent
    head = git(folder, "rev-parse", "HEAD")
    # An installed copy inside someone's repository is not that repository's code.
    if head is None or git(folder, "ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    changes = git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"head": head.decode().strip(), "changed": bool(changes)}


def versions_of(python: str) -> dict[str, str | None]:
    """The versions of what a fit depends on, as the Python that fits sees them; None for a booster that it lacks.

    Raises:
        Failure: that Python does not run, or lacks what every fit needs (exit 3).
    """
    try:
        done = subprocess.run(
            [python, "-c", _PROBE, *_PACKAGES], capture_output=True, text=True, timeout=_SECONDS, check=True
        )
        versions: dict[str, str | None] = json.loads(done.stdout)
    except OSError as error:
        found = error.strerror
    except subprocess.CalledProcessError as error:
        found = f"exit {error.returncode}"
    except (subprocess.TimeoutExpired, ValueError):
        found = "no answer"
    else:
        lacking = [name for name in ("benchwright", "tabarena", "autogluon.tabular") if versions[name] is None]
        if not lacking:
            return versions
        found = f"lacks {', '.join(lacking)}"
    fix = "correct PYTHON_PATH, for one of this checkout's own: make setup, then .venv/bin/python; then run setup again"
    raise Failure(
        Problem("no-python", f"python_path: {python}", f"cannot fit: {found}", "the Python that fits", fix),
        exit=Exit.ENVIRONMENT,
    )
