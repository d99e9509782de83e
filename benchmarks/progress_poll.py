"""One look at an array of 10,000 tasks, as its watcher takes it every interval: the whole command, start to exit.

The scheduler's clients are stood in for by programs that print what SLURM would of such an array, so that the seconds
are the watcher's own. It asks each of them once, whatever the array's size. The second row looks at the results as
well, in the tree of the cache check: all of it, as a watcher's first look does.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from cache_check import CONFIGS, QUICK_CONFIGS, SPLITS, TASKS, grow, paths_of
from measure import HERE, Bench, Row, Sample, Side, same_answer

SCRIPT = HERE.parent / ".agents" / "skills" / "benchmark-model" / "references" / "slurm_progress.sh"
JOB, ARRAY_TASKS, ENDED, AT_WORK = 77, 10_000, 9_000, 500
_SUBMITTED, _STARTED = "2026-11-30T09:00:00", "2026-11-30T09:10:00"
_COMMAND = "/shared/workspace/submit.sh /shared/workspace/setup_out/demo/slurm_run_data_demo_cpu.json"
_BAR_S = 1.0


def measure(bench: Bench, configs: int | None = None) -> list[Row]:
    """A look at the queue and the accounts, and one at the results of ``configs`` configs, too."""
    folder = bench.workspace / "progress-poll"
    shutil.rmtree(folder, ignore_errors=True)
    _stand_ins(folder)
    configs = configs or (QUICK_CONFIGS if bench.quick else CONFIGS)
    tree = paths_of(bench.workspace, configs)
    grow(tree, configs)
    results = configs * len(TASKS) * len(SPLITS)
    work = f"progress-poll of {ARRAY_TASKS:,} tasks"
    return [
        Row(work, Side.of(looks(bench, folder)), most_seconds=_BAR_S),
        Row(f"{work} and {results:,} results", Side.of(looks(bench, folder, tree.data, results))),
    ]


def looks(bench: Bench, folder: Path, data: Path | None = None, results: int | None = None) -> list[Sample]:
    """Looks that see what there is, in two calls each."""
    command = ["env", f"PATH={folder}:/usr/bin:/bin", str(SCRIPT), str(JOB), str(ARRAY_TASKS), "--user", "me"]
    command += ["--once", "--json", *(["--results-dir", str(data)] if data else [])]
    samples = []
    for _ in range(1 if bench.quick else 5):
        calls = folder / "calls"
        calls.unlink(missing_ok=True)
        # The look leaves with 2, since tasks have failed.
        samples.append(bench.time(["sh", "-c", '"$@"; test $? = 2', "sh", *command], "progress-poll"))
        same_answer("progress-poll", calls.read_text().split(), ["sacct", "squeue"])
        seen = {name: samples[-1].answer[name] for name in ("done", "failed", "running", "queued", "results")}
        same_answer(
            "progress-poll", seen, {"done": 8910, "failed": 90, "running": 500, "queued": 500, "results": results}
        )
    return samples


def _stand_ins(folder: Path) -> None:
    """``squeue`` and ``sacct`` that print a file each, and note their calls."""
    folder.mkdir(parents=True)
    for name, rows in (("squeue", _queue()), ("sacct", _accounts())):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho {name} >>"{folder}/calls"\ncat "{folder}/{name}.txt"\n')
        program.chmod(0o755)
        (folder / f"{name}.txt").write_text("\n".join(rows))


def _queue() -> Iterator[str]:
    """What waits and runs: as many rows as tasks are at work, and one for the rest."""
    for task in range(ENDED, ENDED + AT_WORK):
        yield f"{JOB}_{task}|RUNNING|None|me|{_STARTED}|{_SUBMITTED}|n1|{_COMMAND}"
    rest = f"[{ENDED + AT_WORK}-{ARRAY_TASKS - 1}%{AT_WORK}]"
    yield f"{JOB}_{rest}|PENDING|JobArrayTaskLimit|me|N/A|{_SUBMITTED}||{_COMMAND}"


def _accounts() -> Iterator[str]:
    """Every attempt: a seventh of the tasks lost a node before, and one in a hundred failed."""
    for task in range(0, ENDED, 7):
        yield f"{JOB}_{task}|NODE_FAIL|0:0|me|2026-11-30T08:00:00|{_SUBMITTED}|n2"
    for task in range(ENDED):
        how = "FAILED|1:0" if task % 100 == 0 else "COMPLETED|0:0"
        yield f"{JOB}_{task}|{how}|me|{_SUBMITTED}|{_STARTED}|n{task % 300}"
    for task in range(ENDED, ENDED + AT_WORK):
        yield f"{JOB}_{task}|RUNNING|0:0|me|{_SUBMITTED}|{_STARTED}|n1"
