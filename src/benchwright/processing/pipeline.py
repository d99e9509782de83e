"""From the results of one method to its tables, a split at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Problem, Progress
from benchwright.processing.checks import check_rows, missing_configs
from benchwright.processing.ensemble.compiled import PACKAGE_MISSING
from benchwright.processing.naming import default_config, processed_name
from benchwright.processing.split import Row, SplitOutcome, SplitWork, work_on_files
from benchwright.processing.tables import ResultTables, hpo_results, model_results
from benchwright.raw import RawFile, load_result
from benchwright.raw.result import Result

_PRELOADED = ["benchwright.processing.pipeline", "benchwright.processing.ensemble.preload"]
"""What the pool's server imports once for all workers; it is forked from, and does nothing else."""


def process(results: Iterable[Result], metadata: MethodMetadata, *, progress: Progress | None = None) -> ResultTables:
    """The tables of a method's results. They may come as a stream: of each only what its metric looks at is kept.

    Raises:
        Failure: with every problem: results of another method or type, duplicates, a ``config_default`` that is not
            in the data, results of one split that do not fit each other, a metric without ensembles (exit 1).
    """
    splits: dict[tuple[str, int], SplitWork] = {}
    for result in results:
        work = splits.setdefault((result.dataset, result.split), SplitWork(tune=metadata.can_hpo))
        work.add(result)
    outcomes = _followed((work.finish() for work in splits.values()), len(splits), progress)
    return _assemble(outcomes, metadata)


def process_files(
    files: Iterable[RawFile | Path | str],
    metadata: MethodMetadata,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ResultTables:
    """The tables of a method's result files, ``.../<framework>/<task>/<repeat>_<fold>/results.pkl``.

    Splits are loaded, reduced and dropped one after another, or ``jobs`` at a time in processes of their own; memory
    does not grow with their number. ``progress`` counts splits. A file that cannot be loaded is a finding, as are the
    configs that a split thereby lacks.

    Raises:
        Failure: as ``process``; or a worker process was killed (exit 4).
    """
    groups = _by_split(files)
    work = partial(work_on_files, load=load_result, tune=metadata.can_hpo)
    jobs = min(jobs, len(groups))
    outcomes = _in_pool(work, groups, jobs) if jobs > 1 else map(work, groups)
    return _assemble(_followed(outcomes, len(groups), progress), metadata)


def _by_split(files: Iterable[RawFile | Path | str]) -> list[list[Path]]:
    """The files of each split, by the last two folders of their paths."""
    groups: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        path = file.path if isinstance(file, RawFile) else Path(file)
        groups.setdefault(path.parts[-3:-1], []).append(path)
    return [sorted(groups[split]) for split in sorted(groups)]


def _in_pool(work: partial[SplitOutcome], groups: Sequence[Sequence[Path]], jobs: int) -> Iterator[SplitOutcome]:
    """The outcomes in the order of ``groups``, from a pool whose server has done the imports."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        try:
            yield from pool.map(work, groups)
        except BrokenProcessPool as error:
            raise Failure(
                Problem(
                    "worker-killed",
                    f"{jobs} worker processes",
                    "one of them was killed, most likely for want of memory",
                    "",
                    "run it again with fewer jobs",
                ),
                exit=Exit.REMOTE,
            ) from error


def _followed(outcomes: Iterable[SplitOutcome], total: int, progress: Progress | None) -> Iterator[SplitOutcome]:
    failed = 0
    for done, outcome in enumerate(outcomes, start=1):
        failed += bool(outcome.problems)
        if progress is not None:
            progress(done - failed, total, failed=failed)
        yield outcome


def _assemble(outcomes: Iterable[SplitOutcome], metadata: MethodMetadata) -> ResultTables:
    """The tables of all splits, once every check on the whole has passed."""
    kept = list(outcomes)
    rows = [row for outcome in kept for row in outcome.rows]
    findings = [finding for outcome in kept for finding in outcome.findings]
    problems = [*check_rows(rows, metadata, tune=metadata.can_hpo), *_scattered(kept)]
    problems += [problem for outcome in kept for problem in outcome.problems]
    if problems:
        lacking = any(problem.code == PACKAGE_MISSING for problem in problems)
        raise Failure(dict.fromkeys([*problems, *findings]), exit=Exit.ENVIRONMENT if lacking else Exit.NO)
    if metadata.method_type != "config":
        return ResultTables(model_results(rows, metadata, None), None, tuple(findings))
    default, remark = _default(rows, metadata)
    findings += [*remark, *missing_configs(rows, default)]
    config_type = metadata.config_type or _family(rows)
    return ResultTables(
        model_results(rows, metadata, config_type),
        hpo_results(
            [row for row in rows if row.framework == default],
            [row for outcome in kept for row in outcome.tuned],
            metadata,
            config_type,
        ),
        tuple(findings),
    )


def _scattered(outcomes: Sequence[SplitOutcome]) -> Iterator[Problem]:
    """Splits of one dataset whose files lie in different task folders: neither part alone is the split."""
    first: dict[tuple[str, int], Row] = {}
    for outcome in outcomes:
        for row in {(row.dataset, row.split): row for row in outcome.rows}.values():
            earlier = first.setdefault((row.dataset, row.split), row)
            if earlier is not row:
                yield Problem(
                    "split-scattered",
                    f"{row.dataset}, split {row.split}",
                    f"results in {Path(row.path).parent} and in {Path(earlier.path).parent}",
                    "one task folder for a dataset",
                    "bring them under one folder name, or process the runs separately",
                )


def _default(rows: Sequence[Row], metadata: MethodMetadata) -> tuple[str, list[Problem]]:
    """The raw name of the default config: the declared one, else the one that the naming rule picks."""
    names = {processed_name(row.framework, row.prefix, metadata): row.framework for row in rows}
    by_rule = default_config(names)
    declared = metadata.config_default or by_rule
    if declared == by_rule:
        return names[declared], []
    remark = Problem(
        "default-differs",
        f"{metadata.method}: config_default",
        f"{declared!r} makes the default rows",
        f"{by_rule!r}, which the public pipeline shows as default by its name",
    )
    return names[declared], [remark]


def _family(rows: Sequence[Row]) -> str:
    """The family of results whose metadata does not name one: what they record, or the prefix of their names."""
    return rows[0].family or rows[0].prefix
