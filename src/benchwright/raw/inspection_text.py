"""An inspection as lines for a person: the facts a method is declared by, and the comparison with its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.raw.comparison import ComparedField
from benchwright.raw.inference import Inferred
from benchwright.raw.inspection import Inspection
from benchwright.raw.snippet import snippet

_LABEL = 14
_WIDEST_CELL = 44
_TABLE = ("method", "type", "results", "configs", "datasets", "splits", "compute", "validation")


def details(
    judged: Sequence[Inspection], others: Sequence[Inspection], declared_as: str, room: int | None = None
) -> list[str]:
    """The report on the methods of a tree, in at most ``room`` lines: what is cut off there is said in the last one.

    ``judged`` were asked for, and compared with ``declared_as`` where that names something; ``others`` lie beside them.
    """
    blocks = [line for inspection in judged for line in block(inspection, declared_as)]
    listed = [*table(judged), *blocks] if len(judged) > 1 else blocks
    if others:
        listed += ["also here:", *table(others)]
        listed += [line for inspection in others for line in block(inspection)]
    if room is None or len(listed) <= room:
        return listed
    hint = "--out FILE writes them" + (", --method NAME shows one method" if len(judged) + len(others) > 1 else "")
    return [*listed[: room - 1], f"... {len(listed) - room + 1} more lines; {hint}"]


def summary(judged: Sequence[Inspection], others: Sequence[Inspection], declared_as: str) -> str:
    """What came of it, in one line."""
    results = sum(len(inspection.method.results) for inspection in judged)
    if len(judged) > 1:
        return f"{len(judged)} methods, {_count(results, 'result')}"
    (one,) = judged
    beside = f", one of {len(others) + 1} methods here" if others else ""
    start = f"{one.method.name}{beside}: {_count(results, 'result')}"
    failing = [row.field for row in one.compared if row.fails]
    if failing:
        return f"{start}, not as {declared_as} declares: {', '.join(failing)}"
    if one.inferred is None:
        return f"{one.method.name}{beside}: no file of {len(one.method.unusable)} can be used"
    if one.refused:
        return f"{start}, which cannot be processed like this"
    return f"{start}, as {declared_as} declares" if one.compared else start


def table(inspections: Sequence[Inspection]) -> list[str]:
    """The methods of a tree, one line each."""
    return _columns([_TABLE, *map(_row, inspections)])


def _row(inspection: Inspection) -> tuple[str, ...]:
    inferred = inspection.inferred
    if inferred is None:
        return (inspection.method.name, "", f"0 of {len(inspection.method.unusable)}", *[""] * (len(_TABLE) - 3))
    return (
        inferred.method,
        " and ".join(inferred.method_types),
        str(inferred.results),
        str(len(inferred.frameworks)),
        str(inferred.coverage.datasets),
        str(len(inferred.coverage.splits)),
        inferred.compute or "?",
        _key(inferred),
    )


def block(inspection: Inspection, declared_as: str = "") -> list[str]:
    """One method: the comparison with ``declared_as`` if there is one, what the results imply, else what to declare."""
    method, inferred = inspection.method, inspection.inferred
    lost = f", and {_count(len(method.unusable), 'file')} that cannot be used" if method.unusable else ""
    lines = [f"{method.name}: {_count(len(method.results), 'result')}{lost}"]
    if inferred is None:
        return lines
    if inspection.compared:
        lines += [f"  inferred against {declared_as}:", *(f"    {row}" for row in comparison(inspection.compared))]
    lines += [f"  {label.ljust(_LABEL)}{text}" for label, text in _facts(inferred)]
    lines += [f"  {'validation'.ljust(_LABEL)}{_key(inferred)}, {_source(inferred)}"]
    lines += [f"    {line}" for line in inferred.protocols.lines()]
    lines += [f"  {'coverage'.ljust(_LABEL)}{_extent(inferred)}"]
    lines += [f"    {line}" for line in inferred.coverage.lines()]
    return lines if inspection.compared else [*lines, *_pasted(inferred)]


def comparison(rows: Iterable[ComparedField]) -> list[str]:
    """The comparison as a table."""
    cells = [("field", "inferred", "provided", "match", "severity")]
    for row in rows:
        severity = f"{row.severity}, accepted" if row.accepted else row.severity
        cells.append((row.field, _cell(row.inferred), _cell(row.provided), row.match, severity))
    return _columns(cells)


def _facts(inferred: Inferred) -> list[tuple[str, str]]:
    compute = f"{inferred.compute} ({inferred.compute_note})" if inferred.compute else inferred.compute_note
    default = inferred.config_default or "unknown"
    return [
        ("method_type", _listed(inferred.method_types)),
        ("model_type", _listed(inferred.model_types)),
        ("ag_key", _listed(inferred.ag_keys)),
        ("name_prefix", f"{_listed(inferred.name_prefixes)} -> method {inferred.method}"),
        ("problem types", _listed(inferred.problem_types)),
        ("metrics", _listed(inferred.metrics)),
        ("compute", compute),
        ("is_bag", str(inferred.is_bag)),
        (
            "frameworks",
            f"{len(inferred.frameworks)} -> can_hpo {inferred.can_hpo}, "
            f"config_default {default} ({inferred.config_default_note})",
        ),
    ]


def _extent(inferred: Inferred) -> str:
    extent = inferred.coverage
    return (
        f"{_count(extent.datasets, 'dataset')}, {_count(len(extent.splits), 'task')} (dataset x split), "
        f"{_count(extent.folds, 'fold')}"
    )


def _key(inferred: Inferred) -> str:
    return "mixed" if inferred.protocols.mixed else inferred.protocols.key or "?"


def _source(inferred: Inferred) -> str:
    return "as the results record" if inferred.protocols.recorded else "not recorded, but shown by the results"


def _pasted(inferred: Inferred) -> list[str]:
    text = snippet(inferred)
    return [] if text is None else ["  suggested declaration:", *text.splitlines()]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(value: Any) -> str:
    text = "-" if value is None else str(value)
    return text if len(text) <= _WIDEST_CELL else f"{text[: _WIDEST_CELL - 3]}..."


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values) or "none recorded"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
