"""What must hold across all splits before tables are made of them: every breach is one problem, all at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import processed_name
from benchwright.contract import Problem, did_you_mean, some
from benchwright.processing.ensemble import METRICS
from benchwright.processing.findings import Finding
from benchwright.processing.split import Row


def check_rows(rows: Sequence[Row], metadata: MethodMetadata, *, tune: bool) -> Iterator[Problem]:
    """What keeps ``rows`` from being the results of the method that ``metadata`` describes."""
    if not rows:
        fix = "run its items again, then process again"
        yield Problem("no-results", metadata.method, "no result that can be read", "the results of one method", fix)
        return
    own = _own_prefix(rows, metadata)
    own_rows = [row for row in rows if row.prefix == own]
    yield from _types(rows, metadata)
    yield from _strangers([row for row in rows if row.prefix != own], own or metadata.method, metadata)
    yield from _duplicates(own_rows, metadata)
    yield from _default(own_rows, metadata)
    yield from _mixed_metrics(own_rows)
    if tune:
        yield from _metrics(rows)


def missing_configs(rows: Iterable[Row], default: str | None) -> Iterator[Finding]:
    """The splits that lack configs which other splits have; ``default`` is the raw name of the default config."""
    by_split: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows:
        by_split[row.dataset, row.split].add(row.framework)
    configs = set().union(*by_split.values())
    for (dataset, split), present in sorted(by_split.items()):
        missing = sorted(configs - present)
        if missing:
            without = ", the default among them: the split has no default row" if default in missing else ""
            yield Finding(
                "configs-missing",
                "warn",
                dataset,
                split,
                None,
                f"{len(missing)} of {len(configs)} configs missing ({some(missing)}){without}",
                "all configs on all splits; tuned rows rest on those that are there",
                "run the missing items, then process again",
            )


def _types(rows: Sequence[Row], metadata: MethodMetadata) -> Iterator[Problem]:
    odd = [row for row in rows if row.kind != metadata.method_type]
    if odd:
        kinds = " and ".join(sorted({row.kind for row in odd}))
        yield Problem(
            "method-type",
            f"{metadata.method}: method_type",
            f"{metadata.method_type} declared, {len(odd)} of {len(rows)} results are of type {kinds}, as {odd[0].path}",
            "one type (results with predictions are configs, others baselines)",
            "correct method_type, or process the two kinds separately",
        )


def _own_prefix(rows: Sequence[Row], metadata: MethodMetadata) -> str | None:
    """The prefix that the method's results have in ``rows``.

    It is the method's name where there are results of that name. Otherwise results of a single prefix and of the
    method's family are its own, since a method may be renamed; of several prefixes nothing says which is meant.
    """
    prefixes = {row.prefix for row in rows}
    if metadata.method in prefixes:
        return metadata.method
    families = (None, metadata.ag_key)
    of_family = {row.prefix for row in rows if row.family in families or metadata.ag_key is None}
    return of_family.pop() if len(of_family) == 1 else None


def _strangers(strangers: Sequence[Row], own: str, metadata: MethodMetadata) -> Iterator[Problem]:
    by_framework: dict[str, list[Row]] = defaultdict(list)
    for row in strangers:
        by_framework[row.framework].append(row)
    for framework, rows in sorted(by_framework.items()):
        family = f" of family {rows[0].family}" if rows[0].family else ""
        key = f" of family {metadata.ag_key}" if metadata.ag_key else ""
        yield Problem(
            "foreign-method",
            framework,
            f"{len(rows)} results of method {rows[0].prefix}{family}, as {rows[0].path}",
            f"results of {own}{key} alone",
            f"process {rows[0].prefix} with its own metadata, and name only the folders of one method here",
        )


def _duplicates(rows: Sequence[Row], metadata: MethodMetadata) -> Iterator[Problem]:
    first: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        name = processed_name(row.framework, row.prefix, metadata)
        earlier = first.setdefault((name, row.dataset, row.split), row)
        if earlier is not row:
            yield Problem(
                "duplicate-result",
                row.path,
                f"{name} on {row.dataset}, split {row.split}, is also in {earlier.path}",
                "one result each",
                "move the file that does not belong to this run out of its tree",
            )


def _default(rows: Sequence[Row], metadata: MethodMetadata) -> Iterator[Problem]:
    names = {processed_name(row.framework, row.prefix, metadata) for row in rows}
    if metadata.config_default is not None and metadata.config_default not in names:
        yield Problem(
            "missing-default",
            f"{metadata.method}: config_default",
            f"{metadata.config_default!r}, of which there is no result",
            "a config's name after processing",
            did_you_mean(metadata.config_default, names),
        )


def _mixed_metrics(rows: Sequence[Row]) -> Iterator[Problem]:
    first: dict[str, Row] = {}
    for row in rows:
        earlier = first.setdefault(row.dataset, row)
        if (row.problem_type, row.metric) != (earlier.problem_type, earlier.metric):
            yield Problem(
                "metric-differs",
                row.path,
                f"{row.metric} ({row.problem_type}) on {row.dataset}",
                f"{earlier.metric} ({earlier.problem_type}), as in {earlier.path}",
                "run the items of one of the two again",
            )


def _metrics(rows: Sequence[Row]) -> Iterator[Problem]:
    for metric in sorted({row.metric for row in rows} - set(METRICS)):
        concerned = sorted({row.dataset for row in rows if row.metric == metric})
        yield Problem(
            "unsupported-metric",
            metric,
            f"the metric of {len(concerned)} datasets ({some(concerned)}), without ensembles",
            f"one of {', '.join(METRICS)}",
            "set can_hpo to False to get the default config's rows alone",
        )
