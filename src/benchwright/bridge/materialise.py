"""Tasks made ready on this machine before any item runs."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from benchwright.arena import ArenaSource, Split
from benchwright.bridge.network import reachable
from benchwright.contract import Exit, Failure, Problem, did_you_mean, some, usage_error
from benchwright.mini import MiniSource, verify

_DATASETS_HUB = "https://huggingface.co"


def materialise_tasks(arena: ArenaSource, datasets: Iterable[str], cache_dir: Path) -> None:
    """Make sure that the data of ``datasets`` (names in result rows) are there for items to read.

    Mini tasks are made and compared with the reference results' (``Grid.save`` stores them in the batch). OpenML tasks
    and BeyondArena's are downloaded into ``cache_dir``, an OpenML cache folder; what it holds already needs no network.

    Raises:
        Failure: a dataset is not the arena's (exit 2); a mini task has changed, data are missing and the network is
            too, or a package is (exit 3).
    """
    wanted = list(dict.fromkeys(datasets))
    first_split = {split.dataset: split for split in reversed(arena.spec.tasks.splits)}
    unknown = [name for name in wanted if name not in first_split]
    if unknown:
        fix = did_you_mean(unknown[0], first_split)
        raise usage_error("datasets", ", ".join(map(repr, unknown)), f"datasets of {arena.spec.title}", fix)
    if isinstance(arena, MiniSource):
        verify(first_split[name].task_key for name in wanted)
    elif arena.spec.name == "tabarena":
        _from_openml([first_split[name] for name in wanted], cache_dir)
    else:
        _from_data_foundry(wanted, cache_dir)


def _from_openml(splits: list[Split], cache_dir: Path) -> None:
    """Fetch each task's description, data and splits; a task that the cache holds whole asks for nothing."""
    import openml
    from openml.exceptions import PyOpenMLError
    from requests import RequestException

    server = openml.config.server
    connected = reachable(server)
    _use_cache(cache_dir)
    retries = openml.config.connection_n_retries
    missing: dict[str, Exception] = {}
    if not connected:
        openml.config.connection_n_retries = 1
    try:
        for split in splits:
            try:
                openml.tasks.get_task(split.tid, download_data=True, download_qualities=True, download_splits=True)
            except (PyOpenMLError, RequestException, OSError) as error:
                missing[f"{split.dataset} ({split.tid})"] = error
    finally:
        openml.config.connection_n_retries = retries
    if missing and not connected:
        raise _no_network(list(missing), server, cache_dir)
    if missing:
        raise Failure(
            [
                Problem("download", f"OpenML task {task}", f"{type(error).__name__}: {error}", "", "run this again")
                for task, error in missing.items()
            ],
            exit=Exit.REMOTE,
        )


def _from_data_foundry(datasets: list[str], cache_dir: Path) -> None:
    """Download and convert each dataset through ``tabarena``; without a network, what is converted already counts."""
    if find_spec("data_foundry") is None:
        problem = Problem(
            "not-installed",
            "package data-foundry",
            "not installed, and BeyondArena's data come through it",
            "data-foundry 0.0.3 or newer",
            "pip install 'tabarena[data-foundry]'",
        )
        raise Failure(problem, exit=Exit.ENVIRONMENT)
    if not reachable(_DATASETS_HUB):
        missing = [name for name in datasets if not (cache_dir / "tabarena_tasks" / f"{name}.pkl").is_file()]
        if missing:
            raise _no_network(missing, _DATASETS_HUB, cache_dir)
        return
    from tabarena.benchmark.task.metadata import BeyondArenaTaskMetadataCollection

    _use_cache(cache_dir)
    collection = BeyondArenaTaskMetadataCollection()
    wanted = set(datasets)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        collection.subset([task for task in collection.dataset_fold_repeats() if task[0] in wanted]).materialize()


def _no_network(missing: list[str], server: str, cache_dir: Path) -> Failure:
    problem = Problem(
        "no-network",
        str(cache_dir),
        f"no data of {some(missing)}, and {server} cannot be reached",
        "a network connection, or the data in this folder",
        "connect and run setup again, or fill the folder on a connected machine and copy it here",
    )
    return Failure(problem, exit=Exit.ENVIRONMENT)


def _use_cache(cache_dir: Path) -> None:
    """Point OpenML, and with it ``tabarena``, at the folder."""
    import openml

    openml.config.set_root_cache_directory(str(cache_dir.absolute()))
