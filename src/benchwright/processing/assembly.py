"""The splits' outcomes become a method's tables, once every check on the whole has passed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import default_config, processed_name
from benchwright.contract import Exit, Failure, Problem
from benchwright.processing.checks import check_rows, missing_configs
from benchwright.processing.ensemble.compiled import PACKAGE_MISSING
from benchwright.processing.findings import Finding
from benchwright.processing.split import Row, SplitOutcome
from benchwright.processing.tables import hpo_results, model_results

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Assembly:
    """The rows of all results and the tables made of them.

    ``config_type`` is the family in the tables and ``default`` the default config's raw name; both are None for a
    baseline, as is ``hpo_results``.
    """

    rows: Sequence[Row]
    model_results: pa.Table
    hpo_results: pa.Table | None
    config_type: str | None
    default: str | None
    findings: tuple[Finding, ...]


def assemble(
    outcomes: Sequence[SplitOutcome],
    metadata: MethodMetadata,
    *,
    tune: bool,
    further: Iterable[Problem] = (),
    left_out: Iterable[Problem] = (),
) -> Assembly:
    """The tables of all splits, unless there are problems, ``further`` ones included.

    ``tune`` says that ensembles were to be made. What was ``left_out`` is told with a failure, as it may be the reason.

    Raises:
        Failure: with every problem (exit 1, or 3 where a package was missing).
    """
    rows = [row for outcome in outcomes for row in outcome.rows]
    problems = [*check_rows(rows, metadata, tune=tune), *_scattered(outcomes), *further]
    problems += [problem for outcome in outcomes for problem in outcome.problems]
    if problems:
        lacking = any(problem.code == PACKAGE_MISSING for problem in problems)
        raise Failure(dict.fromkeys([*problems, *left_out]), exit=Exit.ENVIRONMENT if lacking else Exit.NO)
    if metadata.method_type != "config":
        return Assembly(rows, model_results(rows, metadata, None), None, None, None, ())
    default, remarks = _default(rows, metadata)
    config_type = metadata.config_type or _family(rows)
    return Assembly(
        rows,
        model_results(rows, metadata, config_type),
        hpo_results(
            [row for row in rows if row.framework == default],
            [row for outcome in outcomes for row in outcome.tuned],
            metadata,
            config_type,
        ),
        config_type,
        default,
        (*remarks, *missing_configs(rows, default)),
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


def _default(rows: Sequence[Row], metadata: MethodMetadata) -> tuple[str, list[Finding]]:
    """The raw name of the default config: the declared one, else the one that the naming rule picks."""
    names = {processed_name(row.framework, row.prefix, metadata): row.framework for row in rows}
    by_rule = default_config(names)
    declared = metadata.config_default or by_rule
    if declared == by_rule:
        return names[declared], []
    remark = Finding(
        "default-differs",
        "context",
        None,
        None,
        names[declared],
        f"config_default {declared!r} makes the default rows",
        f"{by_rule!r}, which the public pipeline shows as default by its name",
        f"if it is not meant: declare config_default {by_rule!r}, and process again",
    )
    return names[declared], [remark]


def _family(rows: Sequence[Row]) -> str:
    """The family of results whose metadata does not name one: what they record, or the prefix of their names."""
    return rows[0].family or rows[0].prefix
