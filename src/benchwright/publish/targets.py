"""``MODULE:ATTR`` as a place in a source tree: found by path, never by importing."""

from __future__ import annotations

import importlib.util
import keyword
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.arena import did_you_mean
from benchwright.contract import Exit, Failure, Problem, said, usage_error
from benchwright.files import read_bytes
from benchwright.files.checkout import checkout_around

_LARGEST = 2**20
"""Bytes. The largest module that declares methods has under 20 KiB."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_WRITE_BITS = 0o222


@dataclass(frozen=True, slots=True)
class Target:
    """A name in a module of a source tree.

    ``path`` is the module's file, links resolved; ``source_root`` the folder its imports start from; ``repository`` the
    checkout around it.
    """

    module: str
    attribute: str
    path: Path
    source_root: Path
    repository: Path

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute}"

    @property
    def label(self) -> str:
        """The file as the repository names it; its whole path where a link led out of the repository."""
        inside = self.path.is_relative_to(self.repository)
        return self.path.relative_to(self.repository).as_posix() if inside else str(self.path)

    @property
    def installed(self) -> str | None:
        """The folder of packages that the module is installed in; None for one of a checkout."""
        return next((part for part in self.path.parts if part in _INSTALLED), None)

    def at(self, line: int) -> str:
        """A line of the file, as problems name it."""
        return f"{self.path}:{line}"

    def read(self) -> bytes:
        """The file's bytes.

        Raises:
            Failure: it cannot be read, or is larger than a module that declares methods (exit 2).
        """
        try:
            return read_bytes(self.path, limit=_LARGEST)
        except OSError as error:
            fix = f"ls -l {shlex.quote(str(self.path))} shows who may read it"
            raise usage_error(str(self.path), said(error), "a readable module", fix) from None
        except Failure as failure:
            raise Failure(failure.problems, exit=Exit.USAGE) from None


def find_target(reference: str, repository: Path | None = None, *, to_write: bool = True) -> Target:
    """The place that ``MODULE:ATTR`` names in ``repository``: below ``packages/*/src``, ``src`` or the folder itself.

    Without ``repository`` the current folder is searched, and then what is installed.

    Raises:
        Failure: the reference is malformed or there is no such module (exit 2, with close names); two folders hold it
            (exit 2). If it is found ``to_write``: it belongs to an installed package or leaves the repository by a link
            (exit 5), or may not be written (exit 3).
    """
    module, attribute = _parsed(reference)
    if repository is not None and not repository.is_dir():
        raise usage_error("--repo", f"{repository} is not a folder", "a checkout", "name its root", code="not-found")
    folder = Path.cwd() if repository is None else repository
    roots = source_roots(folder)
    found = _files(module, roots)
    if not found and repository is None:
        roots = [*roots, *_imported_roots(module)]
        found = _files(module, roots)
    if not found:
        raise _no_module(module, folder, roots)
    if len(found) > 1:
        places = " and ".join(str(path) for path, _ in found)
        fix = "name the folder that holds the right one with --repo"
        raise usage_error(module, f"two files: {places}", "one", fix, code="ambiguous-module")
    ((path, root),) = found
    around = folder if root in source_roots(folder) else checkout_around(root)
    target = Target(module, attribute, path.resolve(), root.resolve(), around.resolve())
    if to_write:
        _refuse_installed(target)
        refuse_unwritable(path, target.repository, elsewhere="edit that file's own checkout")
    return target


def named_checkout(reference: str, repository: Path | None) -> Path | None:
    """The checkout to name for a module to be found from any folder; None for that of an installed package.

    Raises:
        Failure: as ``find_target`` does.
    """
    folder = (repository or Path.cwd()).resolve()
    target = find_target(reference, repository, to_write=False)
    return folder if repository is not None or target.path.is_relative_to(folder) else None


def source_roots(repository: Path) -> list[Path]:
    """The folders that a checkout's imports start from."""
    packages = sorted((repository / "packages").glob("*/src"))
    return [root for root in (*packages, repository / "src", repository) if root.is_dir()]


def module_file(module: str, root: Path) -> Path | None:
    """The file of ``module`` below ``root``; None when there is none."""
    stem = root.joinpath(*module.split("."))
    for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


def refuse_unwritable(path: Path, repository: Path, *, elsewhere: str) -> None:
    """Refuse to write a file that is not the repository's own, or that may not be written.

    ``elsewhere`` is what to do about a link that leaves the ``repository``, whose own links are resolved.

    Raises:
        Failure: a link leads out of the repository (exit 5), or file or folder is read-only (exit 3).
    """
    real = path.resolve()
    if not real.is_relative_to(repository):
        found = f"a link out of the repository, to {real}"
        raise _refused("path-escape", str(path), found, f"a file in {repository}", elsewhere)
    # The bits as well: the superuser may write what was made read-only for a reason.
    writable = os.access(real, os.W_OK) and real.stat().st_mode & _WRITE_BITS
    for place, allowed in ((real, writable), (real.parent, os.access(real.parent, os.W_OK))):
        if not allowed:
            fix = f"chmod u+w {shlex.quote(str(place))}"
            if os.statvfs(place).f_flag & os.ST_RDONLY:
                fix = "mount that disk to be written, or name another checkout with --repo DIR"
            problem = Problem("no-permission", str(place), "not writable", "a checkout of yours", fix)
            raise Failure(problem, exit=Exit.ENVIRONMENT)


def _parsed(reference: str) -> tuple[str, str]:
    module, colon, attribute = reference.partition(":")
    names = [*module.split("."), attribute]
    if not colon or not all(name.isidentifier() and not keyword.iskeyword(name) for name in names):
        expected, fix = "MODULE:ATTR", "give it as in tabarena.models.nori.info:nori_method_metadata"
        raise usage_error("MODULE:ATTR", f"{reference!r} is no reference", expected, fix, code="reference")
    return module, attribute


def _files(module: str, roots: Sequence[Path]) -> list[tuple[Path, Path]]:
    """The module's files with the root of each, a file that two roots reach counted once."""
    found: dict[Path, tuple[Path, Path]] = {}
    for root in roots:
        path = module_file(module, root)
        if path is not None:
            found.setdefault(path.resolve(), (path, root))
    return list(found.values())


def _imported_roots(module: str) -> list[Path]:
    """Where Python would import the module's top package from; finding a top package imports nothing."""
    package = module.partition(".")[0]
    if package == __name__.partition(".")[0]:
        return [Path(__file__).resolve().parents[2]]
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    return [Path(place).parent for place in (spec.submodule_search_locations or [])] if spec else []


def _no_module(module: str, folder: Path, roots: Sequence[Path]) -> Failure:
    """What is missing, told at the deepest package that is there."""
    names = module.split(".")
    for depth in range(len(names) - 1, -1, -1):
        there = [place for root in roots if (place := root.joinpath(*names[:depth])).is_dir()]
        if there and (depth or len(names) == 1):
            prefix = "".join(f"{name}." for name in names[:depth])
            known = {prefix + name for place in there for name in _importable(place)}
            fix = did_you_mean(prefix + names[depth], known)
            return usage_error(module, f"no such module below {folder}", "a module of the checkout", fix, code="module")
    fix = "name the checkout with --repo DIR"
    expected = f"a checkout with {names[0]} in packages/*/src, src or its root"
    return usage_error(module, f"no package {names[0]} below {folder}", expected, fix, code="module")


def _importable(folder: Path) -> list[str]:
    names = [entry.stem if entry.suffix == ".py" else entry.name for entry in folder.iterdir() if _is_source(entry)]
    return [name for name in names if name.isidentifier() and name not in ("__init__", "__pycache__")]


def _is_source(entry: Path) -> bool:
    return entry.suffix == ".py" or entry.is_dir()


def _refuse_installed(target: Target) -> None:
    if target.installed:
        found = f"part of an installed package ({target.installed})"
        fix = "name the checkout with --repo DIR; the next installation would undo the edit"
        raise _refused("installed-package", str(target.path), found, "a source checkout", fix)


def _refused(code: str, where: str, found: str, expected: str, fix: str) -> Failure:
    return Failure(Problem(code, where, found, expected, fix), exit=Exit.REFUSED)
