"""The ``--help`` of every script, as a user calls it."""

from __future__ import annotations

import sys

from measure import HERE, Bench, Row, Side

ROOT = HERE.parent
PATTERNS = (
    "benchmarks/run.py",
    "scripts/**/*.py",
    ".agents/skills/*/scripts/*.py",
    ".agents/skills/*/references/run_*_template.py",
)
_BAR_S = 0.3


def measure(bench: Bench) -> list[Row]:
    """One row a script; the peer has no such command."""
    rows = []
    for script in sorted({path.resolve() for pattern in PATTERNS for path in ROOT.glob(pattern)}):
        command = [sys.executable, str(script), "--help"]
        samples = [bench.time(command, "help") for _ in range(3 if bench.quick else 15)]
        rows.append(Row(f"help: {script.name}", Side.of(samples), most_seconds=_BAR_S))
    return rows
