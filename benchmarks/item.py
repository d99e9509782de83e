"""What an item costs beside its fit: in a forked process of ours, and as a fresh process of the public way.

KNN's default config on the three splits of one mini task. The public way imports, reads the batch and runs one job of
it, each time; this batch holds three jobs, a benchmark's hundred thousand, so its cost is measured at its lowest.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

from measure import Bench, Row, Sample, Side, answer, same_answer

_BAR_S = 0.5
_BENCHMARK = "item"


def measure(bench: Bench) -> list[Row]:
    """The overhead of an item, and the whole command of three items."""
    folder = bench.workspace / "item"
    shutil.rmtree(folder, ignore_errors=True)
    batch, *items = bench.run("item", "setup", folder).answer
    ours, peer, overheads, peer_overheads = [], [], [], []
    for _ in range(1 if bench.quick else 3):
        shutil.rmtree(folder / "output", ignore_errors=True)
        ours.append(bench.run("item", "ours", folder))
        fits = bench.run("item", "fits", folder).answer
        shutil.rmtree(folder / "peer", ignore_errors=True)
        fresh = [bench.run("item", "peer", batch, folder / "peer", *item) for item in items]
        same_answer("item", [error for _, error in fits], [one.answer[1] for one in fresh])
        # From the end of one item to that of the next; the first one paid the imports of all.
        ends = pairwise(ours[-1].answer)
        overheads += [end - before - fit for (before, end), (fit, _) in zip(ends, fits[1:], strict=True)]
        peer_overheads += [one.seconds - one.answer[0] for one in fresh]
        peer.append(Sample(sum(one.seconds for one in fresh), max(one.peak for one in fresh), None))
    whole, peer_whole = Side.of(ours), Side.of(peer)
    return [
        Row("item: beside its fit", Side(tuple(overheads)), Side(tuple(peer_overheads)), most_seconds=_BAR_S),
        Row(f"item: {len(items)} of them, whole command", whole, peer_whole),
    ]


def set_up(workspace: str) -> list[Any]:
    """Set up the items; the batch's folder, and what names each of them to the peer."""
    from benchwright.arena import TaskSubset
    from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, setup_jobs
    from benchwright.mini import TASKS

    plan = BenchmarkPlan(
        benchmark_name=_BENCHMARK,
        arena="mini",
        model_jobs=[ModelJob(("KNeighbors", 0))],
        path_setup=PathSetup(Path(workspace)),
        scheduler_setup=LocalSetup(bundle_size=100),
        task_subset=TaskSubset(dataset_names=[TASKS[0].name]),
    )
    (job_file,) = setup_jobs(plan).job_files
    content = json.loads(job_file.read_text())
    items = [item for job in content["jobs"] for item in job["items"]]
    names = ("experiment", "dataset", "fold", "repeat")
    return [content["defaults"]["job_batch_dir"], *([item[name] for name in names] for item in items)]


def ours(workspace: str) -> list[float]:
    """Run them; when each ended, in seconds since the epoch."""
    from benchwright.files import RunPaths
    from benchwright.launch import run_local
    from benchwright.node import read_events

    report = run_local(RunPaths(Path(workspace), _BENCHMARK))
    if report.failed or report.left or report.logs is None:
        raise SystemExit(report.outcome().summary)
    return [event["time"] for event in read_events(report.logs / "events.jsonl") if event["event"] == "item-done"]


def fits(workspace: str) -> list[tuple[float, float]]:
    """The fit's own seconds and the error of each of our results, by fold."""
    from benchwright.files import RunPaths
    from benchwright.raw import find_results, load_result

    results = [load_result(file.path) for file in find_results(RunPaths(Path(workspace), _BENCHMARK).data).files]
    return [(result.experiment_metadata["total_duration"], float(result.metric_error)) for result in results]


def peer(folder: str, output: str, *wanted: str) -> tuple[float, float]:
    """Read the whole batch and run the wanted job of it; the fit's own seconds and its error."""
    from tabarena.benchmark.experiment import ExperimentBatchRunner, JobBatch

    batch = JobBatch.load(folder)
    if batch.cache_config is not None:
        batch.cache_config.apply()
    (job,) = (job for job in batch.jobs if (job.experiment.name, *map(str, job.task.as_triple())) == wanted)
    runner = ExperimentBatchRunner(expname=output, task_metadata=batch.task_metadata, debug_mode=False)
    (result,) = runner.run_jobs([job])
    return result["experiment_metadata"]["total_duration"], float(result["metric_error"])


if __name__ == "__main__":
    answer(setup=set_up, ours=ours, fits=fits, peer=peer)
