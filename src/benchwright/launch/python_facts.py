"""What a Python says of itself: where it imports the benchmark from, and which distributions it has.

It is asked in a process of its own, and nothing heavy is imported there: a damaged or hanging environment costs a line
and not the run. Environment variables such as ``PYTHONPATH`` count, since they count for a fit; the current folder does
not, since fits start elsewhere.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.node.processes import kill_leader

ANSWER_SECONDS = 60
_WITHOUT_CURRENT_FOLDER = "import sys\nsys.path[:] = [folder for folder in sys.path if folder]\n"
# Any Python since 3.8 runs this. `origin` is None for a folder that only looks like a package.
_PROBE = """
import importlib.metadata, importlib.util, json, os, platform, re, sysconfig

def origin(name):
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # a finder of that environment may raise anything; then the import would too
        return None
    return spec and spec.origin and os.path.realpath(spec.origin)

distributions = {}
for distribution in importlib.metadata.distributions():
    try:
        name, version = distribution.metadata["Name"], distribution.version
        facts = {"version": version, "requires": distribution.requires or []}
        facts["extras"] = distribution.metadata.get_all("Provides-Extra") or []
    except Exception:  # leftovers of a broken installation count as not installed, as they do for an installer
        continue
    if name and version:
        distributions.setdefault(re.sub("[-_.]+", "-", name).lower(), facts)

in_environment = sys.prefix != sys.base_prefix
marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
print(json.dumps({
    "prefix": os.path.realpath(sys.prefix),
    "externally_managed": not in_environment and os.path.exists(marker),
    "origins": {name: origin(name) for name in sys.argv[1:]},
    "distributions": distributions,
    "markers": {
        "implementation_name": sys.implementation.name,
        "implementation_version": platform.python_version(),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "platform_python_implementation": platform.python_implementation(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    },
}))
"""
_BENCHMARK = ("tabarena", "benchwright")


class NoAnswer(Exception):
    """A Python that did not answer; the message is a clause that says why."""


@dataclass(frozen=True)
class Distribution:
    """An installed distribution: its version, its ``Requires-Dist`` entries, and the extras it has."""

    version: str
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportedPackage:
    """Where an import leads: the package's folder with links resolved, and the installed version, None if unrecorded.

    ``editable`` is whether that folder is someone's source rather than a copy among the installed packages.
    """

    path: str
    version: str | None
    editable: bool

    def to_dict(self) -> dict[str, Any]:
        """The package as JSON."""
        return {"path": self.path, "version": self.version, "editable": self.editable}


@dataclass(frozen=True)
class PythonFacts:
    """What one Python answered.

    ``distributions`` go by normalised name, ``markers`` are the values of PEP 508's environment markers there, and
    ``externally_managed`` is PEP 668's word for a Python that belongs to the system's package manager.
    """

    version: str
    prefix: str
    tabarena: ImportedPackage | None
    benchwright: ImportedPackage | None
    distributions: Mapping[str, Distribution]
    markers: Mapping[str, str]
    externally_managed: bool


def facts_of(python: str, *, seconds: float = ANSWER_SECONDS) -> PythonFacts:
    """Ask a Python about itself.

    Raises:
        NoAnswer: it does not run, fails, says something else, or takes longer than ``seconds``.
    """
    answer = answer_of(python, _PROBE, *_BENCHMARK, seconds=seconds)
    distributions = {
        name: Distribution(facts["version"], tuple(facts["requires"]), tuple(facts["extras"]))
        for name, facts in answer["distributions"].items()
    }
    return PythonFacts(
        version=answer["markers"]["python_full_version"],
        prefix=answer["prefix"],
        distributions=distributions,
        markers=answer["markers"],
        externally_managed=answer["externally_managed"],
        **{name: _package(answer["origins"][name], distributions.get(name)) for name in _BENCHMARK},
    )


def _package(origin: str | None, distribution: Distribution | None) -> ImportedPackage | None:
    if origin is None:
        return None
    folder = Path(origin).parent
    editable = not {"site-packages", "dist-packages"} & set(folder.parts)
    return ImportedPackage(str(folder), distribution.version if distribution else None, editable)


def answer_of(python: str, source: str, *arguments: str, seconds: float) -> Any:
    """Run ``source`` in a Python and return its last line of output, which is JSON.

    The process leads a group of its own, which ends with it: a wrapper that hangs leaves nothing behind.

    Raises:
        NoAnswer: it does not run, fails, says something else, or takes longer than ``seconds``.
    """
    command = [python, "-c", _WITHOUT_CURRENT_FOLDER + source, *arguments]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise NoAnswer(f"does not run: {error.strerror}") from None
    with process:
        try:
            output, talk = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            kill_leader(process.pid)
            raise NoAnswer(f"no answer in {seconds:g} s") from None
        except BaseException:
            kill_leader(process.pid)
            raise
    if process.returncode:
        last = talk.strip().rpartition("\n")[2]
        raise NoAnswer(f"exit {process.returncode}" + (f": {last}" if last else ""))
    try:
        return json.loads(output.strip().rpartition("\n")[2])
    except ValueError:
        raise NoAnswer("answers like no Python") from None
