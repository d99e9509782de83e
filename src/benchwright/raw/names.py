"""Which names a pickle may mention, and what each of them gets."""

from __future__ import annotations

import builtins
import functools
from typing import Literal

from benchwright.raw.rebuild import REBUILDERS

Verdict = Literal["rebuild", "stand-in", "refuse"]

_INERT_BUILTINS = frozenset(
    {"object", "int", "float", "str", "bool", "tuple", "range", "slice", "Ellipsis", "NotImplemented"}
) | frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
"""Types that a result may mention as a value. They get a stand-in as well: nothing is made of them."""

_DANGEROUS_PACKAGES = {
    "__builtin__", "_codecs", "_ctypes", "_io", "_operator", "_pickle", "_posixsubprocess", "_pyio", "_socket",
    "_thread", "aiohttp", "ast", "asyncio", "atexit", "bdb", "builtins", "cPickle", "cProfile", "cffi", "cloudpickle",
    "code", "codecs", "codeop", "commands", "compileall", "ctypes", "dill", "distutils", "doctest", "ensurepip",
    "fabric", "fileinput", "ftplib", "gc", "glob", "http", "httpx", "idlelib", "imp", "importlib", "inspect", "io",
    "joblib", "linecache", "marshal", "mmap", "modulefinder", "multiprocessing", "nt", "ntpath", "operator", "os",
    "paramiko", "pdb", "pickle", "pip", "pipes", "pkg_resources", "pkgutil", "platform", "popen2", "posix",
    "posixpath", "profile", "pty", "py_compile", "pydoc", "requests", "resource", "runpy", "setuptools", "shelve",
    "shutil", "signal", "site", "smtplib", "socket", "socketserver", "sqlite3", "ssl", "subprocess", "sys",
    "sysconfig", "tarfile", "telnetlib", "tempfile", "threading", "timeit", "trace", "urllib", "urllib2", "urllib3",
    "venv", "webbrowser", "winreg", "xmlrpc", "zipfile", "zipimport",
}  # fmt: skip
_DANGEROUS_PREFIXES = (
    "functools.reduce", "types.CodeType", "types.FunctionType", "types.LambdaType", "types.MethodType",
    "numpy.distutils", "numpy.f2py", "numpy.testing", "numpy.load", "numpy.lib.npyio", "numpy.ctypeslib",
    "pandas.read_pickle", "pandas.io", "pandas.eval", "pandas.core.computation",
    "autogluon.common.loaders", "autogluon.common.savers",
    "torch.hub", "torch.load", "torch.serialization", "torch.utils.cpp_extension",
)  # fmt: skip
_DANGEROUS_FUNCTIONS = {"eval", "exec", "system", "popen", "getattr", "__import__"}


@functools.lru_cache(maxsize=1024)
def verdict(module: str, name: str) -> Verdict:
    """What happens to the global ``module.name``.

    ``rebuild``: our own builder of an array or a container takes its place. ``stand-in``: an inert class does.
    ``refuse``: the name has no business in a result and every business in an attack. Neither imports or calls
    anything, so where the line runs decides only what a person hears of.
    """
    path = f"{module}.{name}"
    if path in REBUILDERS:
        return "rebuild"
    if module in ("builtins", "__builtin__") and name in _INERT_BUILTINS:
        return "stand-in"
    if path.partition(".")[0] in _DANGEROUS_PACKAGES:
        return "refuse"
    if any(path == prefix or path.startswith(f"{prefix}.") for prefix in _DANGEROUS_PREFIXES):
        return "refuse"
    # A dotted name reaches through a module into what that module imported.
    *through, last = name.split(".")
    if last in _DANGEROUS_FUNCTIONS or any(part in _DANGEROUS_PACKAGES or part.startswith("__") for part in through):
        return "refuse"
    return "stand-in"
