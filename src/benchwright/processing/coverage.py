"""Which splits and datasets a method's results leave out, and where leaderboards will have to impute its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from benchwright.contract import Problem, some
from benchwright.processing.findings import Finding
from benchwright.processing.split import Row
from benchwright.processing.task_metadata import SplitFacts, TaskTable
from benchwright.raw.finding import RawFile
from benchwright.raw.losses import lost_tasks

_IMPUTED = "leaderboards impute the row with another method's"
_SHOWN = 3
_RUN = "run the missing items, then process again"


def task_problems(facts: Iterable[SplitFacts], tasks: TaskTable) -> Iterator[Problem]:
    """Datasets that are not one task: with two task ids, with another's, or not with the one of the table."""
    ids: dict[str, set[int]] = defaultdict(set)
    for split in facts:
        ids[split.dataset].add(split.tid)
        if split.dataset in tasks:
            ids[split.dataset].add(tasks.tid(split.dataset))
    first: dict[int, str] = {}
    for dataset, tids in sorted(ids.items()):
        found = " and ".join(str(tid) for tid in sorted(tids))
        if len(tids) > 1:
            expected = "one, that of the table of tasks" if dataset in tasks else "one"
            yield Problem(
                "tid-differs", dataset, f"results with task ids {found}", expected, "run one of the tasks again"
            )
        for tid in tids:
            if first.setdefault(tid, dataset) != dataset:
                found, fix = f"task id {tid} is that of {first[tid]} too", "run one of the tasks again"
                yield Problem("tid-differs", dataset, found, "one of its own", fix)


def lost_datasets(files: Iterable[RawFile], facts: Iterable[SplitFacts]) -> Iterator[Finding]:
    """Datasets that have ``files`` and no result, whatever else is covered."""
    yield from datasets_without(lost_tasks(files, {split.task_key for split in facts}))


def datasets_without(found: Mapping[str, str]) -> Iterator[Finding]:
    """Datasets without any result, by their folders' names, with what there is of each instead."""
    for task, said in found.items():
        yield Finding("dataset-lost", "error", task, None, None, said, f"at least one; {_IMPUTED}", _RUN)


def coverage_findings(
    rows: Sequence[Row], default: str | None, facts: Sequence[SplitFacts], tasks: TaskTable
) -> Iterator[Finding]:
    """What is missing. ``default`` is the raw name of the default config, None for a baseline."""
    yield from _without_default(rows, default)
    present: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for split in facts:
        present[split.dataset].add((split.repeat, split.fold))
    yield from _missing_splits(present, tasks)
    missing = [dataset for dataset in tasks.datasets if dataset not in present]
    if missing:
        found = f"no results on {len(missing)} of {len(tasks.datasets)} datasets ({some(missing)})"
        yield Finding("datasets-missing", "context", None, None, None, found, f"all; {_IMPUTED}", _RUN)


def _without_default(rows: Sequence[Row], default: str | None) -> Iterator[Finding]:
    splits: dict[str, set[int]] = defaultdict(set)
    covered: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        splits[row.dataset].add(row.split)
        if row.framework == default:
            covered[row.dataset].add(row.split)
    for dataset, all_splits in sorted(splits.items()) if default is not None else ():
        missing = sorted(all_splits - covered[dataset])
        if missing:
            found = f"no default row on {len(missing)} of {len(all_splits)} splits ({some(map(str, missing))})"
            yield Finding(
                "imputation-needed", "warn", dataset, None, default, found, f"a row on each; {_IMPUTED}", _RUN
            )


def _missing_splits(present: Mapping[str, set[tuple[int, int]]], tasks: TaskTable) -> Iterator[Finding]:
    most = max((len(splits) for splits in present.values()), default=0)
    for dataset, splits in sorted(present.items()):
        if dataset in tasks:
            expected = tasks.splits(dataset)
            total, missing, whose = len(expected), len(expected - splits), "of the task"
            absent: Iterator[tuple[int, int]] = iter(sorted(expected - splits))
        else:
            repeats, folds = (1 + max(split[part] for split in splits) for part in (0, 1))
            total, missing, whose = repeats * folds, repeats * folds - len(splits), "by its repeats and folds"
            # A stray folder may be called 0_2000000: what is between is counted, not listed.
            grid = ((repeat, fold) for repeat in range(repeats) for fold in range(folds))
            absent = (split for split in grid if split not in splits)
        if missing:
            first = ", ".join(f"{repeat}_{fold}" for repeat, fold in islice(absent, _SHOWN))
            more = f" and {missing - _SHOWN:,} more" if missing > _SHOWN else ""
            found = f"no results on {missing:,} of {total:,} splits {whose} ({first}{more})"
            yield Finding("splits-missing", "warn", dataset, None, None, found, f"all; {_IMPUTED}", _RUN)
        elif dataset not in tasks and len(splits) < most:
            found = f"{len(splits)} splits, where another dataset has {most}"
            yield Finding("splits-missing", "context", dataset, None, None, found, "as many as the task has", _RUN)
