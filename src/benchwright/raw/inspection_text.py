"""An inspection as lines for a person: the facts a method is declared by, and the comparison with its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.contract import counted
from benchwright.raw.comparison import ComparedField
from benchwright.raw.inference import Inferred
from benchwright.raw.inspection import Inspection
from benchwright.raw.snippet import snippet

_LABEL = 14
_WIDEST_CELL = 44
_TABLE = ("method", "type", "results", "configs", "datasets", "splits", "compute", "validation")


def details(judged: Sequence[Inspection], others: Sequence[Inspection], *, whole: bool = True) -> list[str]:
    """The report on the methods of a tree; a text of several lines is to be shown whole, or not at all.

    ``judged`` were asked for, ``others`` lie beside them. Unless it is to be ``whole``, those of several that were not
    compared with a declaration get a line each.
    """
    listed = table(judged) if len(judged) > 1 else []
    compared = [inspection for inspection in judged if inspection.declared_as]
    if compared or len(judged) == 1:
        listed += [line for inspection in judged for line in block(inspection)]
    else:
        listed += _listing(judged, whole=whole)
    if others:
        listed += ["also here:", *table(others), *_listing(others, whole=whole)]
    return listed


def _listing(inspections: Sequence[Inspection], *, whole: bool) -> list[str]:
    """Several methods without their declarations in sight: a line each, or all there is to say of them."""
    if whole:
        return [line for inspection in inspections for line in block(inspection)]
    width = max(len(inspection.method.name) for inspection in inspections)
    lines = [
        f"  {inspection.method.name.ljust(width)}  {inspection.inferred.coverage.extent}{_lost(inspection)}"
        for inspection in inspections
        if inspection.inferred is not None
    ]
    return [*lines, "  --method NAME shows one with its declaration, --out FILE writes them all"]


def summary(judged: Sequence[Inspection], others: Sequence[Inspection]) -> str:
    """What came of it, in one line."""
    results = sum(len(inspection.method.results) for inspection in judged)
    if len(judged) > 1:
        wrong = [f"{each.declared_as} ({', '.join(fields)})" for each in judged if (fields := _failing(each))]
        said = f", not as declared: {'; '.join(wrong)}" if wrong else ""
        return f"{len(judged)} methods, {counted(results, 'result')}{said}"
    (one,) = judged
    beside = f", one of {len(others) + 1} methods here" if others else ""
    start = f"{one.method.name}{beside}: {counted(results, 'result')}"
    if failing := _failing(one):
        return f"{start}, not as {one.declared_as} declares: {', '.join(failing)}"
    if one.inferred is None:
        return f"{one.method.name}{beside}: no file of {len(one.method.unusable)} can be used"
    if one.refused:
        return f"{start}, which cannot be processed like this"
    return f"{start}, as {one.declared_as} declares" if one.compared else start


def _failing(inspection: Inspection) -> list[str]:
    return [row.field for row in inspection.compared if row.fails]


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


def block(inspection: Inspection) -> list[str]:
    """One method: the comparison with its declaration if there is one, what its results imply, else what to declare."""
    method, inferred = inspection.method, inspection.inferred
    lines = [f"{method.name}: {counted(len(method.results), 'result')}{_lost(inspection)}"]
    if inferred is None:
        return lines
    if inspection.compared:
        rows = comparison(inspection.compared)
        lines += [f"  inferred against {inspection.declared_as}:", *(f"    {row}" for row in rows)]
    lines += [f"  {label.ljust(_LABEL)}{text}" for label, text in _facts(inferred)]
    lines += [f"  {'validation'.ljust(_LABEL)}{_key(inferred)}, {inferred.protocols.source()}"]
    lines += [f"    {line}" for line in inferred.protocols.lines()]
    lines += [f"  {'coverage'.ljust(_LABEL)}{inferred.coverage.extent}"]
    lines += [f"    {line}" for line in inferred.coverage.lines()]
    return lines if inspection.compared else [*lines, *_pasted(inferred)]


def comparison(rows: Iterable[ComparedField]) -> list[str]:
    """The comparison as a table, what differs on top; a row that matches has no severity."""
    cells = [("field", "inferred", "provided", "match", "severity")]
    for row in sorted(rows, key=lambda row: not row.differs):
        severity = f"{row.severity}, accepted" if row.accepted else row.severity
        shown = "" if row.match == "yes" else severity
        cells.append((row.field, _cell(row.inferred), _cell(row.provided), row.match, shown))
    return _columns(cells)


def _lost(inspection: Inspection) -> str:
    lost = len(inspection.method.unusable)
    return f", and {counted(lost, 'file')} that cannot be used" if lost else ""


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


def _key(inferred: Inferred) -> str:
    return "mixed" if inferred.protocols.mixed else inferred.protocols.key or "?"


def _pasted(inferred: Inferred) -> list[str]:
    text = snippet(inferred)
    return [] if text is None else [f"  suggested declaration:\n{text}"]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(value: Any) -> str:
    text = "-" if value is None else str(value)
    return text if len(text) <= _WIDEST_CELL else f"{text[: _WIDEST_CELL - 3]}..."


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values) or "none recorded"
