"""``MODULE:ATTR`` as the method that it declares: read from source, and imported only where source does not tell."""

from __future__ import annotations

import contextlib
import importlib
import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.contract import Exit, Failure, Problem, named, usage_error
from benchwright.publish.declarations import HOLDER_KEYWORD, Declaration, declaration_in, known_fields
from benchwright.publish.scope import Scope, parse
from benchwright.publish.targets import Target, find_target

REFERENCE = "MODULE:ATTR"
"""What stands for a declaration in the fixes of those who do not know which one it is."""


def load_method(reference: str, repository: Path | None = None) -> MethodMetadata:
    """The method that ``MODULE:ATTR`` declares, in ``repository``, the current folder or an installed package.

    The module is read as a syntax tree, in milliseconds. Only where a name or a value needs running is it imported,
    from the same place, with all that it imports (``tabarena`` takes five seconds).

    Raises:
        Failure: there is no such module or name, or the method may not have these values (exit 2, with close names);
            the module cannot be imported for want of a package (exit 3), or fails (exit 2); what the name stands for
            declares no method (exit 2).
    """
    return _method(_scope(reference, repository))[0]


def load_declared(reference: str, repository: Path | None = None) -> tuple[MethodMetadata, bool, bool]:
    """The method that ``MODULE:ATTR`` declares, whether it could name a validation protocol, and if it names a device.

    ``tabarena`` 0.1.0's class has no field for a protocol: a checkout of it can neither declare one nor be blamed for
    it. Where the source of the class is not found, it could. A declaration that had to be imported does not show what
    it leaves out, and is taken to name the device.

    Raises:
        Failure: as ``load_method`` does.
    """
    scope = _scope(reference, repository)
    known = known_fields(scope)
    metadata, declaration = _method(scope)
    compute = declaration is None or declaration.declares("compute") or "compute" in declaration.described
    return metadata, known is None or "validation_protocol" in known, compute


def with_reference(problems: Iterable[Problem], reference: str, checkout: Path | None) -> list[Problem]:
    """The problems with the declaration's own words where a fix has ``MODULE:ATTR``, and its ``checkout`` if named."""
    words = shlex.join([reference, *(() if checkout is None else ("--repo", str(checkout)))])
    return [replace(problem, fix=problem.fix.replace(REFERENCE, words)) for problem in problems]


def _scope(reference: str, repository: Path | None) -> Scope:
    """The module that a reference names, read."""
    target = find_target(reference, repository, to_write=False)
    return Scope(target, parse(target.read(), target.path))


def _method(scope: Scope) -> tuple[MethodMetadata, Declaration | None]:
    """The method, and its declaration where its source alone tells it."""
    try:
        declaration = declaration_in(scope)
        return declaration.metadata(), declaration
    except Failure as failure:
        if failure.exit != Exit.REFUSED:
            raise
        return _imported(scope.target, failure), None


def _imported(target: Target, unread: Failure) -> MethodMetadata:
    """The method behind a name that its source alone does not tell (``unread``)."""
    sys.path.insert(0, str(target.source_root))
    step = "imported"
    try:
        module = importlib.import_module(target.module)
        step = "read"
        return _held(module, target)
    except Failure:
        raise
    except ModuleNotFoundError as error:
        found = f"not installed for {sys.executable}, but imported for {target}"
        missing = Problem("missing-package", error.name or "a package", found, "", "use a Python that has it")
        raise Failure([missing, *unread.problems], exit=Exit.ENVIRONMENT) from error
    except (Exception, SystemExit, GeneratorExit) as error:  # someone else's code: it may raise anything, or end us
        problem = Problem(
            "import-failed",
            str(target),
            f"cannot be {step}: {named(error)}",
            fix=f"mend {target.path}, or declare the method by a plain call in it",
        )
        raise Failure([problem, *unread.problems], exit=Exit.USAGE) from error
    finally:
        with contextlib.suppress(ValueError):  # the module may have changed it
            sys.path.remove(str(target.source_root))


def _held(module: ModuleType, target: Target) -> MethodMetadata:
    value: Any = getattr(module, target.attribute, None)
    if value is None:
        fix = did_you_mean(target.attribute, [name for name in vars(module) if not name.startswith("_")])
        raise usage_error(str(target), "the imported module has no such name", "", fix, code="unknown-attribute")
    return MethodMetadata.from_object(getattr(value, HOLDER_KEYWORD, value))
