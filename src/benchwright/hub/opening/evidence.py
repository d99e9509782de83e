"""The source checks as a plan takes them: what keeps a result from being posted, and the origin that the body tells."""

from __future__ import annotations

from benchwright.contract import Exit, Problem
from benchwright.hub.opening.plan import Evidence
from benchwright.hub.sources.check import check_result
from benchwright.hub.sources.reading import Sources
from benchwright.hub.spec import Result


def evidence_of(result: Result, sources: Sources) -> Evidence:
    """What the sources of a result say; its own origin, or the one that leads to the only place with the number."""
    check = check_result(result, sources)
    problems = check.blocks
    if result.origin is None and check.state == "several":
        expected = "an origin that says which one is meant"
        fix = f'"origin": "{check.origin_proposal}", or as a reviewer finds it'
        found = f"{result.value_text} is at several places of {result.source.url}"
        problems = (*problems, Problem("no-origin", result.place, found, expected, fix))
    return Evidence(result.origin or check.origin_proposal, problems, check.warnings, max(check.exit, Exit.NO))
