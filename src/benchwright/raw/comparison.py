"""Inferred against declared: what the results say of a method's metadata, field by field, and what that means."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.arena.acceptable import FIELDS
from benchwright.arena.config_names import processed_name
from benchwright.arena.official import OFFICIAL_PROTOCOLS
from benchwright.contract import Exit, Failure, Problem, Severity
from benchwright.raw.inference import Inferred
from benchwright.raw.methods import RUNNER_PREFIX
from benchwright.raw.protocol import OUTER_KEY, is_known
from benchwright.raw.protocols import Protocols

_CORRECT = "see which of the two is right, and correct the declaration if it is not"
_DECLARE = "declare it as it was: the results do not tell"
Match = Literal["yes", "NO", "?", "not declared"]


@dataclass(frozen=True, slots=True)
class ComparedField:
    """One field of the comparison.

    ``match`` is ``?`` where the results do not settle the field, and ``not declared`` where the metadata leaves it open
    and no default counts. ``severity`` says what a difference means: an ``error`` keeps the method from being
    processed, unless it is ``accepted``, which a ``hard`` one never is. ``reason`` says what the row rests on.
    ``several`` marks an ``inferred`` that is a list of what was met, and so no value to declare.
    """

    field: str
    inferred: Any
    provided: Any
    match: Match
    severity: Severity
    reason: str = ""
    hard: bool = False
    accepted: bool = False
    several: bool = False

    @property
    def differs(self) -> bool:
        """Whether the row is more than a match or an unknown."""
        return self.match in ("NO", "not declared")

    @property
    def fails(self) -> bool:
        """Whether the row keeps the method from being processed."""
        return self.differs and self.severity == "error" and not self.accepted

    @property
    def noted(self) -> bool:
        """Whether the artifact's record is to tell of the row: accepted, or a device that was not settled by anyone."""
        return self.accepted or (self.field == "compute" and self.match != "yes" and self.severity == "warn")

    @property
    def correction(self) -> str | None:
        """``FIELD=VALUE`` that would mend a failing row; None where the results do not settle the value."""
        if not self.fails or self.several or self.inferred is None or self.field == "method_type":
            return None
        value = str(self.inferred)
        return f"{self.field}={value.lower() if isinstance(self.inferred, bool) else value}"

    def problem(self, where: str, fix: str | None = None) -> Problem:
        """The row as a problem of the declaration ``where``; without a ``fix``, with what to do by hand."""
        by_hand = _DECLARE if self.provided is None and self.inferred is None else _CORRECT
        code = {"not declared": "not-declared", "?": "metadata-doubtful"}.get(self.match, "metadata-mismatch")
        found = "not declared" if self.provided is None else f"{self.provided!r}"
        accepted = ", accepted" if self.accepted else ""
        reason = f" ({self.reason}{accepted})" if self.reason else accepted
        expected = "" if self.inferred is None else f"{self.inferred!r}"
        return Problem(code, f"{where}: {self.field}", f"{found}{reason}", expected, fix or by_hand)

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "field": self.field,
            "inferred": self.inferred,
            "provided": self.provided,
            "match": self.match,
            "severity": self.severity,
            "reason": self.reason,
            "accepted": self.accepted,
        }


def compare(
    inferred: Inferred,
    metadata: MethodMetadata,
    *,
    accept: Collection[str] = (),
    accept_all: bool = False,
    protocol_declarable: bool = True,
    compute_declared: bool = True,
) -> list[ComparedField]:
    """The rows of the comparison, in the order of the fields.

    ``accept`` names fields whose difference is known and meant, ``accept_all`` means all of them. Where the metadata's
    own class has no ``validation_protocol`` (``tabarena`` 0.1.0), one that is recorded need not be declared. Unless
    ``compute_declared``, the metadata's is no more than the default, which vouches for nothing.
    """
    rows = list(_rows(inferred, metadata, protocol_declarable, compute_declared))
    return [
        replace(row, accepted=True)
        if row.differs and row.severity == "error" and not row.hard and (accept_all or row.field in accept)
        else row
        for row in rows
    ]


def check_accepted(fields: Sequence[str]) -> None:
    """Refuse names that are no fields of the comparison.

    Raises:
        Failure: a problem for each, with close names (exit 2).
    """
    found = "is not compared, or cannot be accepted"
    problems = [
        Problem("usage", "--accept-mismatch", f"{field!r} {found}", "", did_you_mean(field, FIELDS))
        for field in fields
        if field not in FIELDS
    ]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def unofficial(protocols: Protocols, arena: str, where: str) -> Iterator[Problem]:
    """What is wrong if the results do not show the official protocol of ``arena``, one of `OFFICIAL_PROTOCOLS`."""
    unlike = protocols.unlike(arena)
    if not unlike:
        return
    shown = "; ".join(f"{count} of {key or 'no known protocol'}" for _, key, count in protocols.histogram()[:3])
    yield Problem(
        "unofficial-protocol",
        where,
        f"{unlike} of {protocols.results} results are not shown to be validated as {arena} does ({shown})",
        OFFICIAL_PROTOCOLS[arena],
        "these results cannot be uploaded as official ones; run the method under the arena's protocol",
    )


def disputed(protocols: Protocols, where: str) -> Iterator[Problem]:
    """What is wrong if results record another protocol than they show: one of the two is not what was run."""
    if protocols.disputed:
        expected = "a record that the results bear out"
        fix = "what they show counts; ask what wrote the record before they are called official results"
        yield Problem("protocol-disputed", where, protocols.dispute(), expected, fix)


def _rows(
    inferred: Inferred, metadata: MethodMetadata, protocol_declarable: bool, compute_declared: bool
) -> Iterator[ComparedField]:
    yield _plain("method", inferred.method, metadata.method, "warn", _of_name(inferred.method, metadata.method))
    if metadata.method == metadata.suite:
        reason = "the suite is the method's name, as when it is not set"
        yield ComparedField("suite", None, metadata.suite, "NO", "error", reason, hard=True)
    yield _method_type(inferred, metadata)
    yield _compute(inferred, metadata, compute_declared)
    if metadata.method_type == "config":
        yield _ag_key(inferred, metadata)
        yield _plain("model_key", inferred.ag_key, metadata.model_key, "context", "follows from ag_key")
        yield _config_default(inferred, metadata)
        yield _plain("can_hpo", inferred.can_hpo, metadata.can_hpo, "error", _configs(inferred))
        yield _plain("is_bag", inferred.is_bag, metadata.is_bag, "error", "by the children of the results")
    else:
        yield ComparedField("name", None, metadata.name, "?", "context", "a name for display")
    yield _protocol(inferred.protocols, metadata, protocol_declarable)


def _plain(field: str, inferred: Any, provided: Any, severity: Severity, reason: str) -> ComparedField:
    """A field that matches when it is equal."""
    if inferred is None:
        return ComparedField(field, None, provided, "?", "context", reason)
    match: Match = "yes" if inferred == provided else "NO"
    return ComparedField(field, inferred, provided, match, severity, reason)


def _of_name(inferred: str, method: str) -> str:
    if inferred == RUNNER_PREFIX + method:
        return f"the runner's name with its {RUNNER_PREFIX}"
    return "a method may be renamed"


def _method_type(inferred: Inferred, metadata: MethodMetadata) -> ComparedField:
    row = _plain(
        "method_type",
        " and ".join(inferred.method_types),
        metadata.method_type,
        "error",
        "results with predictions are of type config, results without them of type baseline",
    )
    row = replace(row, hard=True)  # a method is processed as the type that its results are of, or not at all
    if inferred.method_type == "baseline" and inferred.protocols.key == OUTER_KEY:
        return replace(row, reason="outer fits keep no predictions: declare a baseline, or run it with validation")
    return row


def _compute(inferred: Inferred, metadata: MethodMetadata, declared: bool) -> ComparedField:
    note = inferred.compute_note
    row = _plain("compute", inferred.compute, metadata.compute, "error", note)
    if row.match != "?":
        return row
    # A hint is no proof: it warns, and lets through what is declared. It does not let through what nobody said.
    if not declared:
        severity: Severity = "error" if inferred.gpu_seen else "warn"
        reason = f"{note}; {metadata.compute} would be published"
        return replace(row, provided=None, match="not declared", severity=severity, reason=reason)
    return replace(row, severity="warn") if inferred.gpu_seen is (metadata.compute == "cpu") else row


def _ag_key(inferred: Inferred, metadata: MethodMetadata) -> ComparedField:
    if len(inferred.ag_keys) > 1:
        shown = " and ".join(inferred.ag_keys)
        return ComparedField("ag_key", shown, metadata.ag_key, "NO", "error", "results of several models", several=True)
    row = _plain("ag_key", inferred.ag_key, metadata.ag_key, "error", "the model_type of the results")
    if row.match == "NO" and inferred.ag_key == f"{RUNNER_PREFIX}{metadata.ag_key}":
        reason = f"the same key with the {RUNNER_PREFIX} that the runner's class got later"
        return replace(row, severity="warn", reason=reason)
    return row


def _config_default(inferred: Inferred, metadata: MethodMetadata) -> ComparedField:
    """The default config by the name that it has once processed: there it must exist, or there is no default row."""
    names = {processed_name(raw, inferred.method, metadata): raw for raw in inferred.frameworks}
    raw, declared = inferred.config_default, metadata.config_default
    expected = None if raw is None else processed_name(raw, inferred.method, metadata)
    if declared is None:
        if not inferred.can_hpo:
            reason = "the only config: processing records it"
            return ComparedField("config_default", expected, None, "not declared", "context", reason)
        reason = f"{_configs(inferred)}, {inferred.config_default_note}; trajectories start from the default"
        return ComparedField("config_default", expected, None, "not declared", "error", reason, hard=True)
    if declared not in names:
        close = did_you_mean(declared, names)
        reason = f"there is no such config in the results, {close}"
        return ComparedField("config_default", expected, declared, "NO", "error", reason, hard=True)
    return _plain("config_default", expected, declared, "error", inferred.config_default_note)


def _protocol(protocols: Protocols, metadata: MethodMetadata, declarable: bool) -> ComparedField:
    """The validation protocol: declared, it must not contradict a result; undeclared, it must not be recorded."""
    declared, shown = metadata.validation_protocol, protocols.key
    if protocols.mixed:
        shown = "; ".join(f"{count} x {key}" for _, key, count in protocols.histogram() if key)
    row = ComparedField("validation_protocol", shown, declared, "yes", "error", several=protocols.mixed)
    if shown is None:
        return replace(row, match="?", severity="context", reason="the results do not say")
    said = protocols.dispute() if protocols.disputed else "the results record it"
    if declared is None and protocols.recorded and not declarable:
        reason = f"{said}; the class it is declared with has no such field"
        return replace(row, match="not declared", severity="warn", reason=reason)
    if declared is None and protocols.recorded:
        return replace(row, match="not declared", reason=said)
    if declared is None:
        return replace(
            row, match="not declared", severity="warn", reason="not recorded, but this is what the results show"
        )
    against = protocols.contradicting(declared)
    if against:
        # Accepted, it would be published as what the results are not; an upload could not compare it with anything.
        return replace(row, match="NO", reason=f"{against} of {protocols.results} results contradict it", hard=True)
    if not is_known(declared) and declared != protocols.key:
        recorded = "not all results record it" if protocols.recorded else "the results record none"
        reason = f"a key of no form that is known here, and {recorded}"
        return replace(row, match="?", severity="warn", reason=reason)
    if protocols.disputed:
        return replace(row, reason=said)
    return replace(row, reason="recorded" if protocols.recorded else "not recorded, but shown")


def _configs(inferred: Inferred) -> str:
    count = len(inferred.frameworks)
    return "1 config" if count == 1 else f"{count} configs"
