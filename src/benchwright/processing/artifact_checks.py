"""What is checked of an artifact as a whole: before any work, and once all splits are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.arena import MethodMetadata
from benchwright.arena.names import did_you_mean
from benchwright.contract import Exit, Failure, Problem
from benchwright.files.run_paths import RESULT_NAME
from benchwright.processing.findings import Finding
from benchwright.processing.layout import RAW
from benchwright.processing.naming import default_config, prefix_of, processed_name
from benchwright.raw.finding import RawFile

_ORDER = ("error", "warn", "context")


def refuse_early(files: Sequence[RawFile], metadata: MethodMetadata, *, cache_raw: bool) -> None:
    """Refuse before an hour's work what the names of files and folders alone tell.

    Raises:
        Failure: raw results would be lost (exit 5); no files, or a default that cannot be among them (exit 1).
    """
    present = metadata.path / RAW
    if not cache_raw and next(present.rglob(RESULT_NAME), None) is not None:
        raise Failure(
            Problem(
                "raw-would-be-lost",
                str(present),
                "raw results, which the new artifact would not have",
                "raw copies in the new artifact too",
                "process with --cache-raw, or move that folder away first",
            ),
            exit=Exit.REFUSED,
        )
    problems = list(_without_default({file.method for file in files}, metadata))
    if problems:
        raise Failure(problems)


def _without_default(configs: set[str], metadata: MethodMetadata) -> Iterator[Problem]:
    if metadata.method_type != "config" or not configs:
        return
    names = sorted(processed_name(config, prefix_of(config, {}), metadata) for config in configs)
    where = f"{metadata.method}: config_default"
    declared = metadata.config_default
    if declared is None and len(configs) > 1:
        fix = f"declare {default_config(names)!r}, the first config by its name, or another of them"
        yield Problem("missing-default", where, f"none declared, with {len(configs)} configs", "a config's name", fix)
    elif declared is not None:
        own = f"{metadata.method}{metadata.name_suffix or ''}"
        rest = declared.removeprefix(own)
        if not declared.startswith(own) or not any(config.endswith(rest) for config in configs):
            expected = "a config's name after processing"
            fix = did_you_mean(declared, names)
            yield Problem("missing-default", where, f"{declared!r}, of which there is no result", expected, fix)


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
