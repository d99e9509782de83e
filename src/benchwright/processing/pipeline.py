"""From the results of one method to its tables, a split at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.contract import Progress
from benchwright.forks import as_they_come
from benchwright.processing.assembly import assemble
from benchwright.processing.ensemble.preload import preload
from benchwright.processing.split import SplitOutcome, work_on_files
from benchwright.processing.tables import ResultTables
from benchwright.raw import RawFile


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
        Failure: with every problem: results of another method or type, duplicates, a ``config_default`` that is not
            in the data, results of one split that do not fit each other, a metric without ensembles (exit 1); or a
            worker process was killed (exit 4).
    """
    groups = _by_split(files)
    work = partial(work_on_files, tune=metadata.can_hpo)
    if min(jobs, len(groups)) > 1 and metadata.can_hpo:
        preload()
    outcomes = dict(_followed(as_they_come(work, groups, processes=jobs), len(groups), progress))
    return _tables([outcomes[number] for number in range(len(groups))], metadata)


def _by_split(files: Iterable[RawFile | Path | str]) -> list[list[Path]]:
    """The files of each split, by the last two folders of their paths."""
    groups: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        path = file.path if isinstance(file, RawFile) else Path(file)
        groups.setdefault(path.parts[-3:-1], []).append(path)
    return [sorted(groups[split]) for split in sorted(groups)]


def _followed(
    outcomes: Iterable[tuple[int, SplitOutcome]], total: int, progress: Progress | None
) -> Iterator[tuple[int, SplitOutcome]]:
    failed = 0
    for done, (number, outcome) in enumerate(outcomes, start=1):
        failed += bool(outcome.problems)
        if progress is not None:
            progress(done - failed, total, failed=failed)
        yield number, outcome


def _tables(outcomes: Sequence[SplitOutcome], metadata: MethodMetadata) -> ResultTables:
    left_out = [problem for outcome in outcomes for problem in outcome.left_out]
    whole = assemble(outcomes, metadata, tune=metadata.can_hpo, left_out=left_out)
    findings = (*left_out, *(finding.problem() for finding in whole.findings))
    return ResultTables(whole.model_results, whole.hpo_results, findings)
