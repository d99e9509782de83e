"""What was found in a method's results while they were processed, in a form that can be counted and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args

from benchwright.contract import Problem, Severity

_ORDER = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth knowing of an artifact, without a path of the machine that made it.

    ``severity`` says what became of it: ``error``, a result is not in the tables; ``warn``, it is in and doubtful, or
    something that others have is missing; ``context``, the tables are right and this explains them. What would make
    tables wrong is no finding: it refuses the run. ``dataset``, ``split`` (the split index) and ``framework`` (the
    config's raw name) say what it concerns, None where it concerns them all.
    """

    code: str
    severity: Severity
    dataset: str | None
    split: int | None
    framework: str | None
    found: str
    expected: str = ""
    fix: str = ""

    @property
    def where(self) -> str:
        """What it concerns, as text."""
        split = None if self.split is None else f"split {self.split}"
        return ", ".join(part for part in (self.dataset, split, self.framework) if part) or "all results"

    def problem(self) -> Problem:
        """The finding as the scripts' envelope has it."""
        return Problem(self.code, self.where, self.found, self.expected, self.fix)

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Finding:
        """The finding of ``to_dict``.

        Raises:
            TypeError: a field is missing or unknown.
        """
        return cls(**values)


def sorted_findings(*findings: Iterable[Finding]) -> list[Finding]:
    """All findings, the gravest first, then by what they concern."""
    return sorted(
        (finding for some in findings for finding in some),
        key=lambda finding: (
            _ORDER.index(finding.severity),
            finding.code,
            finding.dataset or "",
            -1 if finding.split is None else finding.split,
            finding.framework or "",
            finding.found,
        ),
    )
