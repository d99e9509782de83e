"""The sidecar of an artifact: what it was made from, with what, and every file it should hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem
from benchwright.files import read_json
from benchwright.processing.findings import Finding
from benchwright.processing.layout import SIDECAR

FORMAT = 1
"""Counted up when a field changes its meaning."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The size in bytes and the SHA-256 (hex) of a file."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """The result files an artifact was made from: their number, their bytes, and one SHA-256 over all.

    The digest is that of sorted lines, ``<task>/<repeat>_<fold> <sha256>``, one a split; a split's is that of sorted
    lines ``<method> <sha256>``, one a file.
    """

    files: int
    size: int
    sha256: str


def digest_of(digests: Mapping[str, str]) -> str:
    """The SHA-256 of digests by name, as sorted lines ``<name> <digest>``."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


NO_INPUTS = Inputs(0, 0, digest_of({}))


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The content of ``provenance.json``. The same results, processed again, give the same bytes.

    ``validation_protocol`` is the declared key where no result contradicts it, else the one of results that record
    theirs, None where they record none, or show several; ``protocols`` says how many results show what. ``counts`` are
    numbers of results, configs, datasets and splits; ``versions`` those of what computed the numbers. ``files`` are all
    files of the artifact but the sidecar, by their paths inside it.
    """

    method: str
    suite: str
    validation_protocol: str | None
    protocols: Mapping[str, int]
    counts: Mapping[str, int]
    versions: Mapping[str, str]
    inputs: Inputs
    files: Mapping[str, FileFacts]
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> str:
        """The sidecar as it is written: keys sorted, one to a line."""
        values = {
            "format": FORMAT,
            "method": self.method,
            "suite": self.suite,
            "validation_protocol": self.validation_protocol,
            "protocols": dict(self.protocols),
            "counts": dict(self.counts),
            "versions": dict(self.versions),
            "inputs": asdict(self.inputs),
            "files": {name: asdict(facts) for name, facts in self.files.items()},
            "findings": [finding.to_dict() for finding in self.findings],
        }
        return json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def read_sidecar(folder: Path | str) -> Sidecar:
    """The sidecar of the artifact in ``folder``.

    Raises:
        Failure: it is not there (code ``no-sidecar``), not JSON, or of another format (``bad-sidecar``).
    """
    path = Path(folder) / SIDECAR
    try:
        values = read_json(path)
    except FileNotFoundError:
        expected = "the sidecar that processing writes"
        raise Failure(Problem("no-sidecar", str(path), "no such file", expected, "process the results again")) from None
    try:
        return _sidecar(values)
    except (AttributeError, KeyError, TypeError, ValueError):
        expected = f"a sidecar of format {FORMAT}"
        fix = "process the results again"
        raise Failure(Problem("bad-sidecar", str(path), "other content", expected, fix)) from None


def _sidecar(values: Any) -> Sidecar:
    if values["format"] != FORMAT:
        raise ValueError(values["format"])
    return Sidecar(
        method=values["method"],
        suite=values["suite"],
        validation_protocol=values["validation_protocol"],
        protocols=dict(values["protocols"]),
        counts=dict(values["counts"]),
        versions=dict(values["versions"]),
        inputs=Inputs(**values["inputs"]),
        files={name: FileFacts(**facts) for name, facts in values["files"].items()},
        findings=tuple(Finding.from_dict(finding) for finding in values["findings"]),
    )
