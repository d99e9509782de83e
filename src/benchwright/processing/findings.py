"""What was found in a method's results while they were processed, in a form that can be counted and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from benchwright.contract import Problem, Redaction, Severity
from benchwright.processing.hiding import published
from benchwright.raw.losses import unaccepted

if TYPE_CHECKING:
    from benchwright.raw.comparison import ComparedField

DECLARED = "declared-otherwise"
"""The code of what the declaration says and the results do not bear out."""
_ORDER = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth knowing of an artifact, without a path of the machine that made it.

    ``severity`` says what became of it: ``error``, a result is not in the tables; ``warn``, it is in and doubtful, or
    something that others have is missing; ``context``, the tables are right and this explains them. What would make
    tables wrong is no finding: it refuses the run. ``dataset``, ``split`` (the split index) and ``framework`` (the
    config's raw name) say what it concerns, None where it concerns them all. An error that is ``accepted`` is known,
    and lets the artifact be published all the same.
    """

    code: str
    severity: Severity
    dataset: str | None
    split: int | None
    framework: str | None
    found: str
    expected: str
    fix: str
    accepted: bool = False

    @property
    def fails(self) -> bool:
        """Whether it keeps the artifact from being published."""
        return self.severity == "error" and not self.accepted

    @property
    def where(self) -> str:
        """What it concerns, as text."""
        split = None if self.split is None else f"split {self.split}"
        return ", ".join(part for part in (self.dataset, split, self.framework) if part) or "all results"

    def problem(self) -> Problem:
        """The finding as the scripts' envelope has it."""
        accepted = " (accepted)" if self.accepted else ""
        return Problem(self.code, self.where, f"{self.found}{accepted}", self.expected, self.fix)

    def published(self, redact: Redaction) -> Finding:
        """The finding without paths and secrets."""
        return replace(
            self,
            dataset=self.dataset and published(self.dataset, redact),
            framework=self.framework and published(self.framework, redact),
            found=published(self.found, redact),
            expected=published(self.expected, redact),
            fix=published(self.fix, redact),
        )

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


def of_inspection(problem: Problem) -> Finding:
    """A finding of what is doubtful about all of a method, which names no place outside its results."""
    return Finding(problem.code, "warn", None, None, None, problem.found, problem.expected, problem.fix)


def of_comparison(row: ComparedField) -> Finding:
    """A finding of how the declaration differs from the results, which was accepted or is not settled."""
    problem = row.problem("")
    return Finding(DECLARED, "warn", None, None, None, f"{row.field}: {problem.found}", problem.expected, problem.fix)


def of_tree(problem: Problem, root: Path) -> Finding:
    """A finding of what lies in the tree at ``root`` beside its result files, by its place there."""
    place = problem.where.removeprefix(f"{root.expanduser().absolute()}/")
    return Finding(problem.code, "error", None, None, None, f"{place}: {problem.found}", problem.expected, problem.fix)


def with_accepted(findings: Sequence[Finding], codes: Collection[str]) -> list[Finding]:
    """The findings, those errors accepted whose codes are."""
    failing = {finding.code for finding in unaccepted(findings, codes)}
    return [
        replace(finding, accepted=finding.severity == "error" and finding.code not in failing) for finding in findings
    ]


def failing_codes(findings: Iterable[Finding]) -> list[str]:
    """The codes, sorted, whose acceptance would let the artifact be published."""
    return sorted({finding.code for finding in findings if finding.fails})


def not_accepted(findings: Iterable[Finding], where: str, process: str) -> Problem | None:
    """What the findings that fail an artifact amount to; ``process`` is the command that processes it."""
    findings = list(findings)
    counts = Counter(finding.code for finding in findings if finding.fails)
    if not counts:
        return None
    told = ", ".join(f"{count:,} {code}" for code, count in sorted(counts.items()))
    accept = " ".join(f"--accept-finding {code}" for code in failing_codes(findings))
    found, expected = f"results are lost: {told}", "all of them, or that their loss is accepted"
    fix = f"mend the results and process again; or accept the loss, at their owner's word: {process} {accept}"
    return Problem("findings-not-accepted", where, found, expected, fix)


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
