"""Copies of the genuine ``info.py`` files, and little checkouts with a declaration of one's own."""

from __future__ import annotations

import io
import shutil
import sysconfig
import tokenize
from pathlib import Path

from benchwright.publish.declarations import declared_names
from benchwright.publish.scope import Scope, parse
from benchwright.publish.targets import Target, find_target

TABARENA = Path(sysconfig.get_path("purelib")) / "tabarena"
INFO_FILES = sorted(
    path.relative_to(TABARENA)
    for pattern in ("models/*/info.py", "systems/*/info.py")
    for path in TABARENA.glob(pattern)
)
SOURCE_FOLDER = Path("packages/tabarena/src/tabarena")


def copied_checkout(folder: Path) -> Path:
    """A checkout's layout around a copy of the installed package's Python files."""
    shutil.copytree(
        TABARENA, folder / SOURCE_FOLDER, ignore=lambda _, names: [name for name in names if name == "__pycache__"]
    )
    (folder / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    return folder


def declarations_in(repository: Path, file: Path) -> list[Target]:
    """The editable names of one of ``INFO_FILES`` in a copied checkout; holders that refer to another one left out."""
    module = ".".join(("tabarena", *file.with_suffix("").parts))
    place = find_target(f"{module}:anything", repository)
    names = declared_names(Scope(place, parse(place.read(), place.path)))
    return [find_target(f"{module}:{name}", repository) for name in names if not name.endswith("_info")]


def checkout(folder: Path, source: str | bytes, *, attribute: str = "x") -> Target:
    """A checkout with ``source`` as ``models.info``, and the place of ``attribute`` there."""
    path = folder / "src" / "models" / "info.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return find_target(f"models.info:{attribute}", folder)


def comments(source: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
