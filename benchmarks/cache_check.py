"""Which of a benchmark's results are there: our check, which reads files, and the public one, which asks for names.

A tree of 201 configs on the 1,530 splits of 51 tasks. Our first look looks at the ends of every file and reads as many
whole as fit into its time budget; a second goes on with the rest. No look waits for a disk: all was written or
read before. The peer's is the public set-up's, 10,000 names a batch on Ray; with --quick a plain loop over fewer names,
where Ray would cost more than it saves.
"""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from measure import HERE, Bench, Row, Side, answer, same_answer

from benchwright.files import RunPaths

CONFIGS, QUICK_CONFIGS = 201, 13
TASKS = [str(number) for number in range(363612, 363612 + 51)]
"""Their keys look like those of OpenML tasks, which the peer's check makes of its task ids."""
SPLITS = list(product(range(10), range(3)))
_RAW = HERE.parent / "tests" / "data" / "tabarena_raw" / "data"
GENUINE = next((_RAW / "DemoLogisticSystem_c1_default").glob("*/0_0/results.pkl"))
"""Half a kilobyte: 307,000 of them fit on the disk, and each is a result in its own right."""
_BAR_S = 5.0
_PEER_BATCH = 10_000


def measure(bench: Bench, configs: int | None = None) -> list[Row]:
    """The first and the second look at a tree of ``configs`` configs, beside the same check of the peer."""
    configs = configs or (QUICK_CONFIGS if bench.quick else CONFIGS)
    paths = paths_of(bench.workspace, configs)
    grow(paths, configs)
    first, second, peer = [], [], []
    for _ in range(1 if bench.quick else 3):
        paths.checked_results.unlink(missing_ok=True)
        for samples, side in ((first, "ours"), (peer, "loop" if bench.quick else "ray"), (second, "ours")):
            samples.append(bench.run("cache_check", side, bench.workspace, configs))
            same_answer("cache-check", samples[-1].answer, [configs * len(TASKS) * len(SPLITS)])
    work = f"cache-check of {configs * len(TASKS) * len(SPLITS):,}"
    bar = _BAR_S if configs == CONFIGS else None
    return [
        Row(f"{work}: {name} look", Side.of(samples), Side.of(peer), most_seconds=bar)
        for name, samples in (("first", first), ("second", second))
    ]


def paths_of(workspace: Path | str, configs: int) -> RunPaths:
    """Where the tree of ``configs`` configs is."""
    return RunPaths(Path(workspace) / "cache-check", f"tree_{configs}")


def _experiments(configs: int) -> list[str]:
    return [f"LightGBM_r{number}_default_BAG_L1" for number in range(configs)]


def coordinates(configs: int) -> Iterator[tuple[str, str, int, int]]:
    """Config, task key, repeat and fold of every result."""
    return ((name, task, *split) for name, task, split in product(_experiments(configs), TASKS, SPLITS))


def grow(paths: RunPaths, configs: int) -> None:
    """Make the tree, unless it is there whole: a small genuine result, relabelled for each place."""
    done = paths.output / "complete"
    if done.exists():
        return
    shutil.rmtree(paths.output, ignore_errors=True)
    content = pickle.loads(gzip.decompress(GENUINE.read_bytes()))
    for name, task, repeat, fold in coordinates(configs):
        path = paths.result(name, task, repeat, fold)
        path.parent.mkdir(parents=True)
        content["framework"] = name
        content["task_metadata"] |= {"name": task, "repeat": repeat, "fold": fold, "split_idx": 3 * repeat + fold}
        path.write_bytes(gzip.compress(pickle.dumps(content, protocol=4), compresslevel=1))
    done.touch()


def ours(workspace: str, configs: str) -> list[int]:
    """How many results are whole."""
    from benchwright.arena import Item
    from benchwright.launch.cache_check import check_cache

    wanted = [Item(name, task, repeat, fold, task) for name, task, repeat, fold in coordinates(int(configs))]
    names = set(_experiments(int(configs)))
    paths = paths_of(workspace, int(configs))
    return [len(check_cache(paths, wanted, experiments=names, tasks=set(TASKS), report=lambda *_: None).done)]


def loop(workspace: str, configs: str) -> list[int]:
    """How many results the peer finds, one after another."""
    from tabarena.benchmark.experiment import job_cache_exists_batch

    return [
        sum(job_cache_exists_batch(items=_asked(configs), output_dir=str(paths_of(workspace, int(configs)).output)))
    ]


def on_ray(workspace: str, configs: str) -> list[int]:
    """The same, fanned out over all cores as the public set-up does it."""
    import ray
    from tabarena.benchmark.experiment import job_cache_exists_batch
    from tabarena.utils.ray_utils import ray_map_list, to_batch_list

    cores = len(os.sched_getaffinity(0))
    ray.init(num_cpus=cores)
    batches = ray_map_list(
        list_to_map=list(to_batch_list(_asked(configs), _PEER_BATCH)),
        func=job_cache_exists_batch,
        func_element_key_string="items",
        num_workers=cores,
        num_cpus_per_worker=1,
        func_kwargs={"output_dir": str(paths_of(workspace, int(configs)).output)},
        track_progress=True,
    )
    return [sum(map(sum, batches))]


def _asked(configs: str) -> list[tuple[str, str, int, int]]:
    return [(name, task, fold, repeat) for name, task, repeat, fold in coordinates(int(configs))]


if __name__ == "__main__":
    answer(ours=ours, loop=loop, ray=on_ray)
