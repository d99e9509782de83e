"""The installation of what a model needs: planned as one command, run, and checked by asking the environment again."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
import tomllib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.launch.environments import Environment
from benchwright.launch.model_needs import Need, RegisteredModel, broken_imports, canonical, needs_of, parse_requirement
from benchwright.launch.python_facts import PythonFacts
from benchwright.node.processes import kill_leader

_LAST_LINES = 12


@dataclass(frozen=True)
class InstallPlan:
    """What a model needs of an environment, and the command that installs what is not there; empty when all is."""

    model: RegisteredModel
    python: str
    needs: tuple[Need, ...]
    command: tuple[str, ...]

    @property
    def missing(self) -> tuple[Need, ...]:
        """The needs that are not satisfied."""
        return tuple(need for need in self.needs if not need.satisfied)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What to know before installing: a model whose successor has taken its place cannot live beside it."""
        if not self.model.superseded or not self.command:
            return ()
        found = "superseded: it and its successor cannot be installed together"
        fix = "name one with --python"
        return (Problem("superseded-model", self.model.name, found, "an environment of its own", fix),)

    def lines(self) -> list[str]:
        """The plan as lines of a report."""
        if not self.needs:
            return [f"{self.model.name} needs nothing beyond the base installation"]
        lines = [f"{self.model.name} needs:"]
        for need in self.needs:
            there = ", ".join(f"{name} {version}" for name, version in need.installed.items())
            lines.append(f"  {need.requirement}: " + ("; ".join(need.lacking) or f"there ({there})"))
            lines += [f"        {need.note}"] if need.note else []
        return lines + ([f"command: {shlex.join(self.command)}"] if self.command else [])

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON."""
        return {
            "model": self.model.name,
            "python": self.python,
            "needs": [need.to_dict() for need in self.needs],
            "command": shlex.join(self.command) if self.command else None,
        }


@dataclass(frozen=True)
class Change:
    """A distribution whose version an installation changed; None where it is not there."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """The change as a line."""
        return f"{self.name}  {self.before or 'new'} -> {self.after or 'gone'}"

    def to_dict(self) -> dict[str, str | None]:
        """The change as JSON."""
        return {"name": self.name, "before": self.before, "after": self.after}


def plan_install(model: RegisteredModel, environment: Environment, own: Path) -> InstallPlan:
    """Plan what has to be installed into an environment for a model.

    All requirements of the model go to the installer, so that what is there and needed stays. A benchmark checkout
    with an extra for them is installed again with that extra, as its own documentation has it.

    Raises:
        Failure: the Python belongs to the system (exit 5), the requirements contradict the benchmark's own (exit 5),
            one cannot be read, or there is no installer (exit 3).
    """
    facts = environment.facts
    assert facts is not None, "only an environment that answered is installed into"
    needs = needs_of(model, facts)
    if all(need.satisfied for need in needs):
        return InstallPlan(model, environment.python, needs, ())
    if facts.externally_managed:
        raise Failure(_of_the_system(environment.python, own), exit=Exit.REFUSED)
    targets = _with_extra(facts, model.key, needs) or [need.requirement for need in needs]
    return InstallPlan(model, environment.python, needs, (*_installer(environment.python, facts, own), *targets))


def _of_the_system(python: str, own: Path) -> Problem:
    fix = f"{make_setup(own)}, then --python {shlex.quote(str(own / '.venv/bin/python'))}"
    return Problem("externally-managed", python, "belongs to the system's package manager", "an environment", fix)


def _installer(python: str, facts: PythonFacts, own: Path) -> tuple[str, ...]:
    uv = find_uv(own)
    if uv:
        return (uv, "pip", "install", "--python", python, "--prerelease=allow")
    if "pip" in facts.distributions:
        return (python, "-m", "pip", "install", "--pre")
    problem = Problem("no-installer", python, "has no pip, and there is no uv", "one of them", make_setup(own))
    raise Failure(problem, exit=Exit.ENVIRONMENT)


def find_uv(own: Path) -> str | None:
    """The checkout's private uv, or else the one on PATH."""
    private = own / ".uv" / "bin" / "uv"
    return str(private) if os.access(private, os.X_OK) else shutil.which("uv")


def make_setup(own: Path) -> str:
    """The command that makes Benchwright's own environment."""
    return shlex.join(["make", "-C", str(own), "setup"])


def _with_extra(facts: PythonFacts, key: str, needs: Sequence[Need]) -> list[str]:
    """The editable installation of the imported benchmark checkout with the extra that has these very requirements.

    Empty when the benchmark is no checkout, or has no such extra: one that asks for another version of the same package
    belongs to another model. Of several, the one called like the model's folder, or else the smallest.
    """
    if facts.tabarena is None or not facts.tabarena.editable:
        return []
    wanted = {_comparable(need.requirement) for need in needs}
    for folder in Path(facts.tabarena.path).parents:
        extras = _extras_of(folder)
        if extras is None:
            continue
        fitting = [name for name, texts in extras.items() if wanted <= set(map(_comparable, texts))]
        if not fitting:
            return []
        best = min(fitting, key=lambda name: (canonical(name) != canonical(key), len(extras[name])))
        return ["-e", f"{folder}[{','.join(dict.fromkeys([*_base_extra(extras), best]))}]"]
    return []


def _comparable(text: str) -> tuple[str, str]:
    """A requirement's normalised name, and the rest of it in one spelling."""
    requirement = parse_requirement(text)
    return canonical(requirement.name), str(requirement)[len(requirement.name) :]


def _base_extra(extras: Mapping[str, Any]) -> list[str]:
    return ["benchmark"] if "benchmark" in extras else []


def _extras_of(folder: Path) -> dict[str, list[str]] | None:
    """The extras of the ``tabarena`` project in a folder, each with its requirements; None without such a project."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text()).get("project", {})
    except (OSError, ValueError):
        return None
    extras: dict[str, list[str]] = project.get("optional-dependencies", {})
    return extras if project.get("name") == "tabarena" else None


def run_install(plan: InstallPlan, talk: Callable[[str], None]) -> None:
    """Run a plan's command, passing its output on line by line.

    The installer ends with this process: what it had finished by then stays, and a second call takes it up.

    Raises:
        Failure: it does not start (exit 3), or fails, with its last lines (exit 4).
    """
    talk(f"$ {shlex.join(plan.command)}")
    try:
        process = subprocess.Popen(
            plan.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        fix = f"look what {shlex.join([plan.command[0], '--version'])} says; once it answers, run this again"
        problem = Problem("no-installer", plan.command[0], f"does not run: {error.strerror}", "an installer", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with process:
        try:
            for line in process.stdout or ():
                last.append(line.rstrip())
                talk(line.rstrip())
            process.wait()
        except BaseException:
            kill_leader(process.pid)
            raise
    if process.returncode:
        found = f"exit {process.returncode}:\n" + "\n".join(f"    {line}" for line in last if line)
        fix = "mend what the installer names, or run this again where the network is"
        problem = Problem("install-failed", shlex.join(plan.command), found, "", fix)
        raise Failure(problem, exit=Exit.REMOTE)


def verify_install(plan: InstallPlan, before: Environment, after: Environment) -> tuple[list[Change], list[Problem]]:
    """Hold an environment that was asked again against the plan: what changed in it, and what is still wrong."""
    changes = _changes(before.facts, after.facts) if before.facts and after.facts else []
    if after.facts is None or not after.fits:
        found = f"no longer fits: {after.why}"
        fix = "install the versions back that changed" if changes else "make it again"
        return changes, [Problem("no-longer-fits", plan.python, found, "an environment that fits", fix)]
    needs = needs_of(plan.model, after.facts)
    problems = [
        Problem("still-missing", need.requirement, "; ".join(need.lacking), "installed", shlex.join(plan.command))
        for need in needs
        if not need.satisfied
    ]
    return changes, problems + broken_imports(plan.python, needs)


def _changes(before: PythonFacts, after: PythonFacts) -> list[Change]:
    names = sorted({*before.distributions, *after.distributions})
    changes = [Change(name, _version(before, name), _version(after, name)) for name in names]
    return [change for change in changes if change.before != change.after]


def _version(facts: PythonFacts, name: str) -> str | None:
    distribution = facts.distributions.get(name)
    return distribution.version if distribution else None


def benchmark_project(checkout: Path) -> Path:
    """The folder of the ``tabarena`` project in a benchmark checkout.

    Raises:
        Failure: the folder is no such checkout (exit 2).
    """
    for folder in (checkout / "packages" / "tabarena", checkout):
        if _extras_of(folder) is not None:
            return folder
    expected = "a TabArena checkout: packages/tabarena/pyproject.toml"
    fix = "give the top folder of the checkout, or leave --checkout out"
    raise usage_error("--checkout", f"{checkout} holds no tabarena project", expected, fix)


def making_commands(own: Path, checkout: Path | None) -> tuple[str, ...]:
    """The commands that make an environment that fits: Benchwright's own, or one for a benchmark checkout.

    Raises:
        Failure: ``checkout`` is no benchmark checkout (exit 2).
    """
    if checkout is None:
        return (make_setup(own),)
    project = benchmark_project(checkout)
    extra = "".join(f"[{name}]" for name in _base_extra(_extras_of(project) or {}))
    folder = Path(f"~/.venvs/tabarena_{checkout.name}_{time.strftime('%d%m%Y')}").expanduser()
    python, uv = str(folder / "bin" / "python"), find_uv(own)
    # Benchwright without its `benchmark` extra: that one pins the released tabarena.
    sources = ["-e", f"{project}{extra}", "-e", f"{own}[process,report]"]
    if uv is None:
        make = ["python3", "-m", "venv", str(folder)]
        return shlex.join(make), shlex.join([python, "-m", "pip", "install", "--pre", *sources])
    make = [uv, "venv", "--seed", "--python", "3.12", str(folder)]
    return shlex.join(make), shlex.join([uv, "pip", "install", "--python", python, "--prerelease=allow", *sources])
