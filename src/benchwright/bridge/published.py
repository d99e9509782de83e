"""TabArena-v0.1 and BeyondArena: planned without the network, fitted and compared with it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.arena import ArenaSpec, MethodCollection, MethodMetadata, Resources
from benchwright.bridge.task_tables import beyondarena_tasks, tabarena_tasks
from benchwright.contract import Exit, Failure, Problem

if TYPE_CHECKING:
    import pyarrow

DYNAMIC_PROTOCOL = "dynamic:8x1,5x5<=500"
"""The key of BeyondArena's rule: 8 folds once, and 5 folds 5 times up to 500 rows or groups."""
_STORE = "https://data.tabarena.ai/"
_RESULT_FILES = {"config": "hpo_results", "baseline": "model_results", "portfolio": "portfolio_results"}


@dataclass(frozen=True)
class PublishedArena:
    """An arena whose tasks and reference results are published; ``suite`` is its name in the ``tabarena`` wheel."""

    suite: str
    make_spec: Callable[[], ArenaSpec]
    make_methods: Callable[[], list[Any]]

    @cached_property
    def spec(self) -> ArenaSpec:
        """The tasks and rules.

        Raises:
            Failure: ``tabarena`` is not installed (exit 3).
        """
        return self.make_spec()

    def reference_methods(self) -> MethodCollection:
        """The methods on the arena's leaderboard, as the wheel lists them."""
        return MethodCollection(tuple(MethodMetadata.from_object(method) for method in self.make_methods()))

    def reference_results(self) -> pyarrow.Table:
        """The reference methods' rows; what the ``tabarena`` cache lacks is downloaded into it first.

        Raises:
            Failure: results are missing, and a store cannot be reached (exit 3) or does not have them (exit 4).
        """
        import pyarrow
        from pyarrow import parquet

        methods = self.make_methods()
        missing = [method for method in methods if not _results_file(method).is_file()]
        if missing:
            self._download(missing)
        tables = [parquet.read_table(_results_file(method)) for method in methods]
        # How an ensemble came about differs in type from file to file, and is nothing that a leaderboard reads.
        plain = [table.select([name for name in table.column_names if name != "method_metadata"]) for table in tables]
        return pyarrow.concat_tables(plain, promote_options="permissive")

    def _download(self, methods: list[Any]) -> None:
        from benchwright.bridge.network import reachable

        where = f"reference results of {self.suite}"
        deaf = [store for store in dict.fromkeys(map(_store, methods)) if not reachable(store)]
        if deaf:
            problem = Problem(
                "no-network",
                where,
                f"{len(methods)} methods' results are not on this machine, and {' and '.join(deaf)} cannot be reached",
                "a network connection, or a cache that holds them",
                "connect and run this again, or set TABARENA_CACHE to a filled cache",
            )
            raise Failure(problem, exit=Exit.ENVIRONMENT)
        for method in methods:
            with contextlib.redirect_stdout(io.StringIO()):
                method.method_downloader().download_results()
        problems = [
            Problem(
                "not-published",
                f"{where}: {method.method} ({method.suite})",
                f"{_store(method)} has no {_results_file(method).name}",
                "the results of every method that the installed tabarena lists",
                "run this again",
            )
            for method in methods
            if not _results_file(method).is_file()
        ]
        if problems:
            raise Failure(problems, exit=Exit.REMOTE)


def tabarena() -> PublishedArena:
    """TabArena-v0.1: 51 datasets, 816 splits."""
    return PublishedArena("TabArena-v0.1", _tabarena_spec, _tabarena_methods)


def beyondarena() -> PublishedArena:
    """BeyondArena."""
    return PublishedArena("BeyondArena", _beyondarena_spec, _beyondarena_methods)


def registered_methods() -> Iterator[MethodMetadata]:
    """Every method that the installed ``tabarena`` lists, superseded ones included; none where it is not installed.

    Importing its lists takes seconds.
    """
    if find_spec("tabarena") is None:
        return
    from tabarena.contexts.tabarena.methods import tabarena_method_metadata_complete_collection

    yield from map(MethodMetadata.from_object, tabarena_method_metadata_complete_collection.method_metadata_lst)
    yield from map(MethodMetadata.from_object, _beyondarena_methods())


def _tabarena_spec() -> ArenaSpec:
    sizes, kinds = ("tiny", "small", "medium"), ("binary", "multiclass", "classification", "regression")
    return ArenaSpec(
        name="tabarena",
        title="TabArena-v0.1",
        tasks=tabarena_tasks(),
        calibration_method="RF (default)",
        fillna_method="RF (default)",
        default_subsets=((), *((name,) for name in (*sizes, *kinds))),
        validation_protocol="8x1",
        resources=Resources(time_limit=3600.0, num_cpus=8, num_gpus=0, memory_limit=32.0),
    )


def _beyondarena_spec() -> ArenaSpec:
    sizes, kinds = ("tiny", "small", "medium", "large"), ("binary", "multiclass", "classification", "regression")
    return ArenaSpec(
        name="beyondarena",
        title="BeyondArena",
        tasks=beyondarena_tasks(),
        calibration_method="XGB (default)",
        fillna_method="RF (default)",
        default_subsets=((), *((name,) for name in (*kinds, *sizes))),
        validation_protocol=DYNAMIC_PROTOCOL,
        resources=Resources(time_limit=14400.0, num_cpus=None, num_gpus=0, memory_limit=None),
    )


def _tabarena_methods() -> list[Any]:
    from tabarena.contexts.tabarena.methods import tabarena_method_metadata_collection

    return list(tabarena_method_metadata_collection.method_metadata_lst)


def _beyondarena_methods() -> list[Any]:
    from tabarena.contexts.beyondarena.methods import beyond_method_metadata_collection

    return list(beyond_method_metadata_collection.method_metadata_lst)


def _results_file(method: Any) -> Path:
    return Path(method.path_results) / f"{_RESULT_FILES[str(method.method_type)]}.parquet"


def _store(method: Any) -> str:
    """The address of the store that a method's results are published in."""
    if method.cache_type == "s3":
        return f"https://{method.cache_kwargs['bucket']}.s3.amazonaws.com/"
    return str(method.cache_kwargs.get("base_url", _STORE))
