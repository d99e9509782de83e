"""From results to a method's artifact: our command beside the peer's, which processes in one process or on Ray.

Tables, tuning curves, predictions and raw copies are written by both, and have to agree. The peer's ``process_method``
makes a table of all 816 splits of its benchmark anew for every split of ours, and takes longer over that than over all
else where there is little to tune; so its side knows the three tasks alone, and is asked for the same steps otherwise.
The nine small results go through ``process_method`` as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from ensembles import CONFIGS
from measure import HERE, Bench, Row, Sample, Side, answer, beside, same_answer, take_turns
from raw_results import FOLDS, INFO_MODULE, QUICK_CONFIGS, TASKS, WARM_UP_CONFIGS, info, small, tuned

_SCRIPT = HERE.parent / "scripts" / "run_process_method.py"
_BAR_RATIO = 5.0
_BAR_MB = 600
_BAR_SMALL_S = 1.5
_JOBS = (1, 2, 8)


def measure(bench: Bench) -> list[Row]:
    """The tuned method's results beside both ways of the peer, memory by number of jobs, and the nine small results."""
    return [*_tuned(bench), *_small(bench)]


def _tuned(bench: Bench) -> list[Row]:
    configs = QUICK_CONFIGS if bench.quick else CONFIGS
    checkout, caches = info(bench), _caches(bench)
    data, warm_up = tuned(bench, configs), tuned(bench, WARM_UP_CONFIGS)
    work = f"process {configs * len(TASKS) * len(FOLDS):,}"

    def command(data: Path, *words: object, watched: bool = False) -> Sample:
        return _command(bench, data, "lightgbm", caches / "ours", *words, watched=watched)

    def peer(way: str, data: Path = data) -> Sample:
        return bench.run("process", "peer", way, data, _emptied(caches / way), checkout)

    command(warm_up)  # compiles, once a machine; the peer too, with g++
    peer("native", warm_up)
    ways = {way: partial(peer, way) for way in (["native"] if bench.quick else ["native", "ray"])}
    ours, peers = take_turns(partial(command, data), ways, times=1 if bench.quick else 3)
    for way in ways:
        _same_artifact(bench, work, caches / "ours", caches / way)
    inner = [bench.run("process", "ours", data, _emptied(caches / "ours"), checkout) for _ in ours]
    rows = compared(work, ours, inner, peers, least_ratio=None if bench.quick else _BAR_RATIO)
    for jobs in _JOBS:
        watched = command(data, "--jobs", jobs, watched=True)
        rows.append(Row(f"{work}: all processes of --jobs {jobs}", Side.of([watched]), most_mb=_BAR_MB))
    return rows


def compared(
    work: str,
    ours: Sequence[Sample],
    inner: Sequence[Sample],
    peers: Mapping[str, Sequence[Sample]],
    *,
    least_ratio: float | None,
) -> list[Row]:
    """Whole command against whole command, and compute (``inner``) against compute, both held against the bar."""
    whole_peers = {way: Side.of(runs) for way, runs in peers.items()}
    inner_peers = {way: _inner(runs) for way, runs in peers.items()}
    return [
        *beside(work, Side.of(ours), whole_peers, least_ratio),
        *beside(f"{work}, start-up left out", _inner(inner), inner_peers, least_ratio),
    ]


def _small(bench: Bench) -> list[Row]:
    checkout, caches, data = info(bench), _caches(bench), small(bench)
    samples = [_command(bench, data, "random_forest", caches / "ours") for _ in range(3)]
    peer = bench.run("process", "process_method", data, _emptied(caches / "native"), checkout)
    _same_artifact(bench, "process 9 small", caches / "ours", caches / "native")
    return [Row("process 9 small", Side.of(samples), Side.of([peer]), most_seconds=_BAR_SMALL_S)]


def _command(bench: Bench, data: Path, method: str, cache: Path, *words: object, watched: bool = False) -> Sample:
    metadata = ["--method-metadata", f"{INFO_MODULE}:{method}_method_metadata", "--repo", info(bench)]
    command = [sys.executable, _SCRIPT, data, *metadata, "--process", "--cache-root", _emptied(cache), *words, "--json"]
    sample = bench.time([str(word) for word in command], "process-command", watched=watched)
    bench.talk(f"  {_SCRIPT.name} of {data.parent.name}: {sample.seconds:.2f} s")
    return sample


def _same_artifact(bench: Bench, work: str, ours: Path, peer: Path) -> None:
    same_answer(f"{work}, {peer.name}", *(bench.run("process", "read", cache).answer for cache in (ours, peer)))


def _caches(bench: Bench) -> Path:
    return bench.workspace / "results" / "caches"


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _inner(samples: Sequence[Sample]) -> Side:
    return Side(tuple(one.answer["seconds"] for one in samples))


def ours(data: str, cache: str, checkout: str) -> dict[str, float]:
    """Process, and the seconds of that alone."""
    from benchwright.processing import build_artifact
    from benchwright.publish.method_reference import load_method
    from benchwright.raw import find_results

    metadata = load_method(f"{INFO_MODULE}:lightgbm_method_metadata", Path(checkout))
    files = find_results(Path(data)).files
    start = perf_counter()
    build_artifact(files, metadata, cache_root=Path(cache))
    return {"seconds": perf_counter() - start}


def peer(way: str, data: str, cache: str, checkout: str) -> dict[str, float]:
    """Inspect, verify and process as the peer's command does; the last one's seconds, without the start of Ray."""
    metadata = _peer_metadata("lightgbm_method_metadata", cache, checkout)
    from tabarena.benchmark.result.raw_loading import fetch_raw_result_paths
    from tabarena.benchmark.task.metadata import default_task_metadata_collection
    from tabarena.end_to_end import EndToEnd
    from tabarena.tools.process_local_raw_data import (
        RawMethod,
        _infer_from_raw,
        log_raw_data_info,
        verify_method_metadata,
    )

    engine, workers = ("ray", len(os.sched_getaffinity(0))) if way == "ray" else ("sequential", None)
    method = RawMethod(Path(data), method_metadata=metadata)
    files = fetch_raw_result_paths(data, num_workers=workers)
    inferred = _infer_from_raw(method, engine=engine, file_paths=files)
    log_raw_data_info(method, inferred=inferred)
    verify_method_metadata(method, inferred=inferred)
    names = [task.dataset for task in TASKS.values()]
    start = perf_counter()
    EndToEnd.from_path_raw(
        path_raw=method.path_raw,
        method_metadata=metadata,
        name=method.resolved_name,
        model_key=method.resolved_model_key,
        suite=method.resolved_suite,
        file_paths=files,
        cache_raw=True,
        cache_processed=True,
        cache_hpo_trajectories=True,
        backend=way,
        task_metadata=default_task_metadata_collection().subset_tasks(dataset_names=names),
    )
    return {"seconds": perf_counter() - start}


def process_method(data: str, cache: str, checkout: str) -> None:
    """The peer's own function for it."""
    metadata = _peer_metadata("random_forest_method_metadata", cache, checkout)
    from tabarena.tools.process_local_raw_data import RawMethod, process_method

    process_method(RawMethod(Path(data), method_metadata=metadata), process=True, backend="native")


def _peer_metadata(name: str, cache: str, checkout: str) -> Any:
    os.environ["TABARENA_CACHE"] = cache  # the workers of Ray know of no other way
    sys.path.insert(0, checkout)
    return getattr(import_module(INFO_MODULE), name)


def read(cache: str) -> dict[str, Any]:
    """An artifact: its tables by column, the digests of its predictions, the names of its raw copies."""
    import pyarrow.parquet as pq

    (folder,) = Path(cache).glob("artifacts/bench/methods/*")
    tables = {path.name: pq.read_table(path).to_pydict() for path in folder.glob("results/*.parquet")}
    predictions = {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("processed/model_predictions/**/*.dat"))
    }
    raw = sorted(path.relative_to(folder).as_posix() for path in folder.glob("raw/**/results.pkl"))
    return {"tables": tables, "predictions": predictions, "raw": raw}


if __name__ == "__main__":
    answer(ours=ours, peer=peer, process_method=process_method, read=read)
