"""The environments of this machine: which Pythons there are, what each would import, and which one fits.

Fits import the benchmark from wherever the chosen Python finds it. Fits of another checkout look right and are not.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Progress, usage_error
from benchwright.launch.python_facts import ANSWER_SECONDS, ImportedPackage, NoAnswer, PythonFacts, facts_of
from benchwright.launch.record import versions_of

ORDER = "the checkout's .venv, this interpreter, $VIRTUAL_ENV, the folders searched, ~/.venvs by name"
_CANNOT_FIT = "cannot fit: "
_LACKS = "lacks "


@dataclass(frozen=True)
class Environment:
    """A Python, what it answered (None: nothing), and whether it fits.

    ``lacks`` names what a fit may need and this one has not; ``why`` says why it fits or does not.
    """

    python: str
    facts: PythonFacts | None
    lacks: tuple[str, ...]
    fits: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The environment as JSON."""
        facts = self.facts
        return {
            "python": self.python,
            "version": facts and facts.version,
            "tabarena": facts and facts.tabarena and facts.tabarena.to_dict(),
            "benchwright": facts and facts.benchwright and facts.benchwright.to_dict(),
            "lacks": list(self.lacks),
            "fits": self.fits,
            "why": self.why,
        }

    def lines(self) -> list[str]:
        """The environment as lines of a report."""
        version = f" (Python {self.facts.version})" if self.facts else ""
        lines = [f"  {'fits' if self.fits else 'no':4}  {self.python}{version}: {self.why}"]
        if self.facts is None or not self.fits:
            return lines
        for name, package in (("tabarena", self.facts.tabarena), ("benchwright", self.facts.benchwright)):
            if package is not None:
                kind = "checkout" if package.editable else "installed"
                lines.append(f"        {name} {package.version or 'of no recorded version'}, {kind}: {package.path}")
        return lines + ([f"        without {', '.join(self.lacks)}"] if self.lacks else [])


def find_pythons(own: Path, *, asked: Sequence[str] = (), search: Sequence[Path] = ()) -> tuple[str, ...]:
    """The Pythons to ask, in the order in which one is chosen: ``asked`` alone, or else those of ``ORDER``.

    ``own`` is Benchwright's checkout. A searched folder is an environment, or holds environments. Links are kept, since
    the link is what makes a virtual environment.

    Raises:
        Failure: a folder to search is none (exit 2).
    """
    if asked:
        return tuple(dict.fromkeys(_command(name) for name in asked))
    for folder in search:
        if not folder.expanduser().is_dir():
            fix = "give the folder above your environments, or leave --search out"
            raise usage_error("--search", f"{folder} is no folder", "a folder that holds environments", fix)
    folders = [own / ".venv"]
    found = [*_pythons(folders), *filter(None, [sys.executable])]
    if os.environ.get("VIRTUAL_ENV"):
        found += _pythons([Path(os.environ["VIRTUAL_ENV"])])
    for folder in (*search, Path("~/.venvs")):
        place = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100  resolve() would follow links
        found += _pythons([place, *(sorted(place.iterdir()) if place.is_dir() else ())])
    return tuple(dict.fromkeys(found))


def _pythons(folders: Sequence[Path]) -> list[str]:
    """The Pythons of those folders that are environments; one whose base is gone too, since it must be explained."""
    return [str(folder / "bin" / "python") for folder in folders if os.path.lexists(folder / "bin" / "python")]


def _command(name: str) -> str:
    path = os.path.expanduser(name)  # noqa: PTH111
    return os.path.abspath(shutil.which(path) or path)  # noqa: PTH100  resolve() would follow links


def survey(
    pythons: Sequence[str],
    own: Path,
    checkout: Path | None = None,
    *,
    progress: Progress,
    seconds: float = ANSWER_SECONDS,
) -> tuple[Environment, ...]:
    """Ask every Python, and judge it; one that is the environment of an earlier one is left out.

    Args:
        pythons: What to ask, in the order of choice.
        own: Benchwright's checkout, which must be the one imported.
        checkout: The benchmark's checkout that must be the one imported; without it any ``tabarena`` will do.
        progress: Called before each.
        seconds: How long one may take.
    """
    environments: list[Environment] = []
    seen: set[tuple[str, str]] = set()
    for number, python in enumerate(pythons):
        progress(number, len(pythons), note=python)
        environment = _asked(python, own, checkout, seconds)
        identity = (environment.facts.prefix, environment.facts.version) if environment.facts else (python, "")
        if identity not in seen:
            environments.append(environment)
        seen.add(identity)
    progress(len(pythons), len(pythons))
    return tuple(environments)


def _asked(python: str, own: Path, checkout: Path | None, seconds: float) -> Environment:
    try:
        facts = facts_of(python, seconds=seconds)
    except NoAnswer as reason:
        return Environment(python, None, (), False, str(reason))
    packages = {"benchwright": (facts.benchwright, own), "tabarena": (facts.tabarena, checkout)}
    wrong = [text for name, (package, wanted) in packages.items() for text in _wrong(name, package, wanted)]
    try:
        lacks = tuple(name for name, version in versions_of(python).items() if version is None)
    except Failure as failure:
        found = failure.problems[0].found.removeprefix(_CANNOT_FIT)
        lacks = tuple(found.removeprefix(_LACKS).split(", ")) if found.startswith(_LACKS) else ()
        unsaid = [name for name in lacks if packages.get(name, (True,))[0] is not None]
        wrong += [f"lacks {', '.join(unsaid)}"] if unsaid else [] if lacks else [found]
    return Environment(
        python, facts, lacks, not wrong, "; ".join(wrong) or "imports this checkout and what a fit needs"
    )


def _wrong(name: str, package: ImportedPackage | None, wanted: Path | None) -> list[str]:
    if package is None:
        return [f"imports no {name}"]
    if wanted is None or Path(package.path).is_relative_to(wanted.resolve()):
        return []
    return [f"imports {name} from {package.path}, not from {wanted}"]
