"""The run's methods' result rows: processed from raw results, or read back from an earlier evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Problem, Progress
from benchwright.leaderboard.frame import names
from benchwright.leaderboard.run_methods import RunMethod, experiment_owner
from benchwright.raw import Protocol, RawFile, Result, effective_protocol, find_results, load_result

if TYPE_CHECKING:
    import pyarrow as pa

_FILES_WORTH_A_POOL = 400
"""Below this many result files, worker processes cost more than they save."""


@dataclass(frozen=True)
class MethodRows:
    """A method's rows for the leaderboard, its metadata in this run, and what was found on the way to them.

    ``protocol`` is how one of its results was validated, ``n_configs`` how many configs have results; None where no
    result was read.
    """

    method: RunMethod
    metadata: MethodMetadata
    rows: pa.Table
    findings: tuple[Problem, ...]
    protocol: Protocol | None = None
    n_configs: int | None = None


def load_rows(
    methods: Sequence[RunMethod],
    data: Path,
    output_dir: Path,
    tasks: Collection[str],
    *,
    num_cpus: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[MethodRows], list[Problem]]:
    """Each method's rows, and the problems of the results tree ``data`` that are no method's own.

    ``tasks`` are the folder names of the arena's tasks. Where a method has results on some of them, those on others are
    left out: their configs must not count as tuned on the arena.

    Processed tables and their metadata are written below ``output_dir``.

    Raises:
        Failure: there is no results tree, or a method's results are not there or cannot be processed (exit 1 or 2);
            the problems of all methods at once.
    """
    raw = [method for method in methods if not method.request.only_load_cache]
    if raw and not data.is_dir():
        fix = "take the run script's setup and run steps first"
        problem = Problem("no-results", str(data), "no results: nothing has been run", "a run's results", fix)
        raise Failure(problem, exit=Exit.USAGE)
    found = find_results(data) if raw else None
    files: Sequence[RawFile] = found.files if found else ()
    tree_problems = [problem for problem in found.problems if problem.code != "no-results"] if found else []
    loaded: list[MethodRows] = []
    failures: list[Failure] = []
    for method in methods:
        folder = method.artifact_folder(output_dir)
        try:
            if method.request.only_load_cache:
                loaded.append(_read_back(method, folder))
            else:
                own, strange = _on_tasks(_own_files(method, files, data), tasks)
                if strange:
                    tree_problems.append(_foreign(method, strange, data))
                loaded.append(_process(method, own, folder, num_cpus, _noted(progress, method.label)))
        except Failure as failure:
            failures.append(failure)
    if failures:
        exits = {failure.exit for failure in failures}
        problems = [problem for failure in failures for problem in failure.problems]
        raise Failure([*problems, *tree_problems], exit=exits.pop() if len(exits) == 1 else Exit.NO)
    return loaded, tree_problems


def _own_files(method: RunMethod, files: Sequence[RawFile], data: Path) -> list[RawFile]:
    own = method.own(files)
    if own:
        return own
    there = names({experiment_owner(file.method) for file in files}) or "nothing"
    script = f" (python tmp_scripts/run_{method.key}.py setup)" if method.key else ""
    raise Failure(
        Problem(
            "no-results",
            str(data),
            f"no result of {method.ag_name}; there is {there}",
            f"results in folders named {method.ag_name}_c1... or {method.ag_name}_r1...",
            f"take the run script's setup and run steps{script}, or say what it is called there: "
            "EvalMethod(..., ag_name_override=...)",
        )
    )


def _on_tasks(own: list[RawFile], tasks: Collection[str]) -> tuple[list[RawFile], list[RawFile]]:
    """The files on the arena's tasks, and the others. Where none is, all are kept, so that this can be said of them."""
    here = [file for file in own if file.task_key in tasks]
    return (here, [file for file in own if file.task_key not in tasks]) if here else (own, [])


def _foreign(method: RunMethod, files: Sequence[RawFile], data: Path) -> Problem:
    return Problem(
        "foreign-results",
        str(data),
        f"{len(files)} results of {method.ag_name} on tasks of another arena, left out: "
        f"{names({file.task_key for file in files})}",
        "results on the arena's tasks",
        "move them to a benchmark of their own",
    )


def _process(
    method: RunMethod, files: Sequence[RawFile], folder: Path, num_cpus: int | None, progress: Progress | None
) -> MethodRows:
    from benchwright.arena.config_names import default_config
    from benchwright.processing import process_files, write_tables

    sample = _first_readable(files)
    metadata = run_metadata(method, files, sample)
    tables = process_files(files, metadata, jobs=_jobs(len(files), num_cpus), progress=progress)
    if tables.hpo_results is not None:
        configs = tables.model_results.column("method").unique().to_pylist()
        metadata = replace(metadata, config_default=default_config(configs))
    write_tables(folder, tables, metadata)
    rows = tables.model_results if tables.hpo_results is None else tables.hpo_results
    protocol = None if sample is None else effective_protocol(sample)
    return MethodRows(method, metadata, rows, tuple(tables.findings), protocol, len({file.method for file in files}))


def run_metadata(method: RunMethod, files: Sequence[RawFile], sample: Result | None) -> MethodMetadata:
    """The method as it was run: the registry's description, corrected by what the results record.

    A result with predictions makes it a config method with the model class that it records, any other a baseline.
    ``sample`` is one of the results, None if none can be read.
    """
    known = method.registered.to_dict() if method.registered is not None else {}
    is_config = sample is None or sample.kind == "config"
    shared = {
        "method": method.name,
        "suite": method.suite,
        "display_name": method.label,
        "compute": known.get("compute", "cpu"),
        "method_class": known.get("method_class", "model"),
        "tags": tuple(known.get("tags", ())),
        "date_introduced": known.get("date_introduced"),
        "reference_url": known.get("reference_url"),
        "verified": known.get("verified", False),
        "has_raw": False,
        "has_processed": False,
    }
    if not is_config:
        return MethodMetadata.from_dict(shared | {"method_type": "baseline"})
    recorded = sample.method_metadata if sample is not None else {}
    family = _text(recorded, "ag_key") or _text(recorded, "model_type") or known.get("ag_key")
    suffix = method.request.result_suffix or ""
    return MethodMetadata.from_dict(
        shared
        | {
            "method_type": "config",
            "method_class": "model",
            "compute": "gpu" if _is_positive(recorded.get("num_gpus")) else "cpu",
            "ag_key": family,
            "model_key": f"{known.get('model_key') or family or method.ag_name}{suffix}",
            "can_hpo": len({file.method for file in files}) > 1,
            "is_bag": _children(sample) > 1,
        }
    )


def _first_readable(files: Iterable[RawFile]) -> Result | None:
    for file in files:
        try:
            return load_result(file.path)
        except Failure:
            continue  # processing lists every damaged file
    return None


def _read_back(method: RunMethod, folder: Path) -> MethodRows:
    """The tables that an earlier evaluation left.

    Raises:
        Failure: they are not there, incomplete or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    results = folder / "results"
    table = results / "hpo_results.parquet"
    table = table if table.exists() else results / "model_results.parquet"
    if not (folder / "metadata.yaml").exists() or not table.exists():
        raise Failure(
            Problem(
                "no-tables",
                str(folder),
                f"no complete tables of {method.name}",
                "what an earlier evaluation processed",
                "evaluate once without only_load_cache",
            )
        )
    try:
        rows = pq.read_table(table)
    except (pa.ArrowException, OSError) as error:
        raise Failure(
            Problem(
                "damaged-table",
                str(table),
                f"cannot be read: {str(error).splitlines()[0]}",
                "a complete Parquet file",
                "evaluate once without only_load_cache",
            )
        ) from error
    return MethodRows(method, MethodMetadata.from_yaml(folder), rows, ())


def _jobs(n_files: int, num_cpus: int | None) -> int:
    import os

    available = len(os.sched_getaffinity(0)) if num_cpus is None else num_cpus
    return available if n_files >= _FILES_WORTH_A_POOL else 1


def _noted(progress: Progress | None, label: str) -> Progress | None:
    if progress is None:
        return None

    def show(done: int, total: int, *, failed: int = 0, note: str = "") -> None:
        progress(done, total, failed=failed, note=note or f"processing {label}")

    return show


def _children(sample: Result | None) -> int:
    return 0 if sample is None or sample.predictions is None else len(sample.predictions.val_rows_per_child)


def _text(values: Any, key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) and value else None


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and value > 0
