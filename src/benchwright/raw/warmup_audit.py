"""The audit of warm-ups and timed sections: what may have made a run's measured times too long.

A warm-up that failed leaves the first fit cold; a package imported inside a timed section is paid for by that fit. The
runner writes both into ``experiment_metadata``, as ``warmup_report`` (``status`` none, ok or failed, ``duration_s``,
``error``) and ``timing_audit`` (the packages imported in ``fit`` and in ``predict``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Outcome, Problem, printable
from benchwright.forks import in_order
from benchwright.raw.fields import show
from benchwright.raw.finding import RawFile, find_results
from benchwright.raw.loading import load_result
from benchwright.raw.result import Result

SECTIONS = ("fit", "predict")
_STATUSES = ("none", "ok", "failed")
_CHUNK = 50
_LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one result says of its making; ``status`` is None where it says nothing of a warm-up.

    ``imports`` are the packages by section, None where the result has no audit of them. ``damaged`` says what of the
    records is not as a runner writes it.
    """

    model: str
    path: str
    status: str | None
    error: str
    imports: Mapping[str, tuple[str, ...]] | None
    damaged: str = ""


@dataclass
class ModelAudit:
    """The counts of one model's results."""

    results: int = 0
    warmed: int = 0
    cold: int = 0
    failed: int = 0
    unrecorded: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    imports: dict[str, Counter[str]] = field(default_factory=lambda: {section: Counter() for section in SECTIONS})
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, one: Recorded) -> None:
        """Count one result."""
        self.results += 1
        self.warmed += one.status == "ok"
        self.cold += one.status == "none"
        self.failed += one.status == "failed"
        self.unrecorded += one.status is None or one.imports is None
        if one.status == "failed":
            self.errors[one.error] += 1
            self.examples.setdefault(one.error, one.path)
        for section, packages in (one.imports or {}).items():
            for package in packages:
                self.imports[section][package] += 1
                self.examples.setdefault(f"{section}:{package}", one.path)

    def to_dict(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "results": self.results,
            "warmed": self.warmed,
            "no_warmup": self.cold,
            "failed": self.failed,
            "unrecorded": self.unrecorded,
            "errors": dict(self.errors.most_common()),
            "imports": {section: dict(counts.most_common()) for section, counts in self.imports.items()},
        }


@dataclass(frozen=True)
class WarmupAudit:
    """The audit of a results tree, by model (``name_prefix``, else ``model_type``, else the method's name)."""

    folder: str
    models: Mapping[str, ModelAudit]
    problems: Sequence[Problem]

    def outcome(self) -> Outcome:
        """The audit in a script's form: exit 1 for findings, files that cannot be read among them."""
        findings = [problem for model, audit in self.models.items() for problem in _findings(model, audit)]
        total = sum(audit.results for audit in self.models.values())
        unrecorded = sum(audit.unrecorded for audit in self.models.values())
        failed = sum(audit.failed for audit in self.models.values())
        importing = sum(any(audit.imports.values()) for audit in self.models.values())
        summary = f"{total} results: {failed} warm-ups failed, {importing} models import in timed sections"
        if unrecorded:
            summary += f"; {unrecorded} record none or not all of it, as the public runner's do"
        return Outcome(
            summary=summary,
            data={
                "results_dir": self.folder,
                "results": total,
                "unrecorded": unrecorded,
                "models": {model: audit.to_dict() for model, audit in self.models.items()},
            },
            details=[_line(model, audit) for model, audit in self.models.items()],
            problems=[*findings, *self.problems],
            exit=Exit.NO if findings or self.problems else Exit.DONE,
        )


def audit_warmup(folder: Path) -> WarmupAudit:
    """Audit every result below a folder; nothing that a file names is run.

    Raises:
        Failure: no such folder (exit 2).
    """
    found = find_results(folder)
    models: dict[str, ModelAudit] = {}
    problems = list(found.problems)
    for one in in_order(_recorded, found.files, chunk=_CHUNK):
        if isinstance(one, Recorded):
            models.setdefault(one.model, ModelAudit()).add(one)
            problems += _damaged(one)
        else:
            problems += one
    return WarmupAudit(str(folder), dict(sorted(models.items())), problems)


def _recorded(file: RawFile) -> Recorded | Sequence[Problem]:
    """What a file records; its problems where it is no result."""
    try:
        result = load_result(file.place)
    except Failure as failure:
        return failure.problems
    notes: list[str] = []
    status, error = _warmup(result.experiment_metadata.get("warmup_report"), notes)
    return Recorded(
        model=_model(result),
        path=str(result.path),
        status=status,
        error=error,
        imports=_imports(result.experiment_metadata.get("timing_audit"), notes),
        damaged="; ".join(notes),
    )


def _model(result: Result) -> str:
    """The model that a config is of; a method that is none by its own name."""
    for name in map(result.method_metadata.get, ("name_prefix", "model_type")):
        if isinstance(name, str) and name and name.isprintable():
            return str(name)
    return result.framework


def _warmup(report: Any, notes: list[str]) -> tuple[str | None, str]:
    if report is None:
        return None, ""
    status = report.get("status") if isinstance(report, dict) else None
    if not isinstance(status, str) or status not in _STATUSES:
        notes.append(f"warmup_report is {show(report)} with status {show(status)}")
        return None, ""
    error = report.get("error")
    text = " ".join(str(error).split()) if isinstance(error, str) else ""
    return str(status), printable(text[:_LONGEST_ERROR]) if status == "failed" else ""


def _imports(audit: Any, notes: list[str]) -> Mapping[str, tuple[str, ...]] | None:
    if audit is None:
        return None
    if not isinstance(audit, dict) or not all(
        isinstance(audit.get(section), list) and all(isinstance(name, str) for name in audit[section])
        for section in SECTIONS
    ):
        notes.append(f"timing_audit is {show(audit)} without lists of packages for {' and '.join(SECTIONS)}")
        return None
    return {section: tuple(sorted({printable(str(name)) for name in audit[section]})) for section in SECTIONS}


def _damaged(one: Recorded) -> Iterator[Problem]:
    if one.damaged:
        expected = "the records that the runner writes"
        yield Problem("bad-record", one.path, one.damaged, expected, "run this item again")


def _findings(model: str, audit: ModelAudit) -> Iterator[Problem]:
    """The findings of one model, each cause once, with its first file."""
    for error, count in audit.errors.most_common():
        found = (
            f"{count} of {audit.results} warm-ups failed: {error or 'no error recorded'}; e.g. {audit.examples[error]}"
        )
        fix = "mend the model's warm-up, then run what the times are wanted of again"
        yield Problem("warmup-failed", model, found, "a warm-up that succeeds, outside the timed sections", fix)
    for section, counts in audit.imports.items():
        if counts:
            packages = ", ".join(f"{package} ({count})" for package, count in counts.most_common())
            first = audit.examples[f"{section}:{counts.most_common(1)[0][0]}"]
            found = f"packages imported inside the timed {section}: {packages}; e.g. {first}"
            fix = "import them in the model's warm-up, then run what the times are wanted of again"
            yield Problem(f"import-in-{section}", model, found, "no import there", fix)


def _line(model: str, audit: ModelAudit) -> str:
    counts: Iterable[tuple[int, str]] = (
        (audit.warmed, "warmed up"),
        (audit.cold, "without a warm-up"),
        (audit.failed, "whose warm-up failed"),
        (audit.unrecorded, "that record none or not all of it"),
    )
    return f"{model}: {audit.results} results, " + ", ".join(f"{count} {what}" for count, what in counts if count)
