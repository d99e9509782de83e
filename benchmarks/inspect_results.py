"""What a folder of results is: our command, and the peer's inspection, which runs in one process or on Ray."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from ensembles import CONFIGS
from measure import HERE, Bench, Row, Sample, Side, answer, beside, same_answer, take_turns
from raw_results import FOLDS, QUICK_CONFIGS, TASKS, WARM_UP_CONFIGS, tuned

_SCRIPT = HERE.parent / "scripts" / "run_process_method.py"
_COUNTS = ("n_results", "n_tasks", "n_datasets", "n_folds", "metrics", "problem_types", "model_types", "ag_keys")
_FIELDS = ("method", "method_type", "ag_key", "compute", "can_hpo")
_BAR_RATIO = 5.0
_BAR_MB = 250


def measure(bench: Bench, configs: int | None = None) -> list[Row]:
    """The whole command on the results of ``configs`` configs beside the peer's ways, and all its processes' memory."""
    configs = configs or (QUICK_CONFIGS if bench.quick else CONFIGS)
    data = tuned(bench, configs)
    work = f"inspect {configs * len(TASKS) * len(FOLDS):,}"

    def ours(data: Path, *, watched: bool = False) -> Sample:
        sample = bench.time([sys.executable, str(_SCRIPT), str(data), "--json"], "inspect-command", watched=watched)
        bench.talk(f"  {_SCRIPT.name}: {sample.seconds:.2f} s")
        return sample

    def peer(way: str, data: Path) -> Sample:
        return bench.run("inspect_results", "peer", way, data)

    if not bench.quick:  # what was never imported here is compiled first
        warm_up = tuned(bench, WARM_UP_CONFIGS)
        ours(warm_up)
        peer("native", warm_up)
    ways = {way: partial(peer, way, data) for way in (["native"] if bench.quick else ["native", "ray"])}
    samples, peers = take_turns(partial(ours, data), ways, times=1 if bench.quick else 5)
    for way, runs in peers.items():
        same_answer(f"{work}: {way}", _told(samples[-1].answer), runs[-1].answer)
    sides = {way: Side.of(runs) for way, runs in peers.items()}
    return [
        *beside(work, Side.of(samples), sides, least_ratio=None if bench.quick else _BAR_RATIO),
        Row(f"{work}: all processes", Side.of([ours(data, watched=True)]), most_mb=_BAR_MB),
    ]


def _told(envelope: dict[str, Any]) -> dict[str, Any]:
    """What both find, from our answer. The peer never infers the default of a tuned method."""
    (method,) = envelope["data"]["methods"]
    return {name: method["inferred"][name] for name in (*_COUNTS, *_FIELDS)} | {
        "configs": method["coverage"]["configs"]
    }


def peer(way: str, data: str) -> dict[str, Any]:
    """What the peer infers and prints, as its command does."""
    from tabarena.benchmark.result.raw_loading import fetch_raw_result_paths
    from tabarena.tools.process_local_raw_data import RawMethod, _infer_from_raw, log_raw_data_info

    method = RawMethod(Path(data))
    engine, workers = ("ray", len(os.sched_getaffinity(0))) if way == "ray" else ("sequential", None)
    inferred = _infer_from_raw(method, engine=engine, file_paths=fetch_raw_result_paths(data, num_workers=workers))
    log_raw_data_info(method, inferred=inferred)
    found = {name: inferred[name] for name in _COUNTS} | {name: inferred[f"inferred_{name}"] for name in _FIELDS}
    return found | {"configs": {name: int(count) for name, count in inferred["config_task_counts"].items()}}


if __name__ == "__main__":
    answer(peer=peer)
