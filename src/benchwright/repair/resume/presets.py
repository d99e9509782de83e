"""The presets that a launcher has, as its checkout tells of them."""

from __future__ import annotations

import ast
from pathlib import Path

PRESETS = "eval/presets"
"""The folder of a harness's checkout with a file for each."""


def known_presets(harness: Path, launcher: Path) -> frozenset[str] | None:
    """The names of the presets: of the files in the checkout's folder, or else in a table of the launcher's source.

    None where neither is there, so that nobody can say whether a name is one.
    """
    files = {path.stem for path in (harness / PRESETS).glob("*.y*ml")}
    return frozenset(files or _in_source(launcher)) or None


def _in_source(launcher: Path) -> set[str]:
    """The keys of the tables that the source calls presets; the source is read, and not run."""
    try:
        tree = ast.parse(launcher.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(keys=keys))
            ) if name.upper().endswith("PRESETS"):
                found |= {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    return found
