"""The command lines that scripts print for what comes next, here from any folder, elsewhere from a checkout's root."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path


def command(script: str | Path, *words: str | Path) -> str:
    """The command that runs a script with the Python of this one. Paths among ``words`` are made absolute."""
    return shlex.join([sys.executable, str(Path(script).resolve()), *map(_word, words)])


def command_elsewhere(script: str | Path, *words: str | Path) -> str:
    """The same on another machine, from the root of its checkout: scripts are below ``scripts`` there, too."""
    path = Path(script).resolve()
    place = path.relative_to(next(folder for folder in path.parents if folder.name == "scripts").parent)
    return shlex.join([".venv/bin/python", str(place), *map(_word, words)])


def option(name: str, value: object) -> list[str]:
    """The words of an option: none for None and False, the name alone for True, a path made absolute."""
    if value is None or value is False:
        return []
    return [name] if value is True else [name, _word(value)]


def repeated(name: str, values: Iterable[object]) -> list[str]:
    """The words of an option that is given once a value."""
    return [word for value in values for word in option(name, value)]


def _word(value: object) -> str:
    return str(value.absolute() if isinstance(value, Path) else value)
