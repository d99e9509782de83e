"""What a model needs beyond the base installation, held against what an environment has."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.arena import ModelInfo
from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.python_facts import Distribution, NoAnswer, PythonFacts, answer_of, facts_of

if TYPE_CHECKING:
    from packaging.requirements import Requirement

# The registry's imports take seconds, and a minute from a cold network disk.
_REGISTRY_SECONDS = 300
_IMPORT_SECONDS = 300
_REGISTRY = """
import json
from benchwright.bridge import model_info
from benchwright.contract import Failure
try:
    info = model_info(sys.argv[1])
except Failure as failure:
    answer = {"exit": int(failure.exit), "problems": [problem.to_dict() for problem in failure.problems]}
else:
    answer = {"name": info.name, "key": info.key, "pip_extra": info.pip_extra, "superseded": info.superseded}
print(json.dumps(answer))
"""
_IMPORT = """
import importlib, importlib.metadata, importlib.util, json

def modules(name):
    yield name.replace("-", "_")
    files = importlib.metadata.files(name) or []
    folders = sorted({file.parts[0] for file in files if len(file.parts) == 2 and file.name == "__init__.py"})
    yield from (folder for folder in folders if folder not in ("tests", "test", "docs", "examples", "benchmarks"))

errors = {}
for name in sys.argv[1:]:
    try:
        for module in modules(name):
            if importlib.util.find_spec(module.partition(".")[0]):
                importlib.import_module(module)
                break
    except BaseException as error:  # a library may raise anything, or exit
        errors[name] = (type(error).__name__ + ": " + str(error)).strip().splitlines()[0]
print()
print(json.dumps(errors))
"""


@dataclass(frozen=True)
class RegisteredModel:
    """A model as the environment's own registry has it, with its requirements beyond the base installation."""

    name: str
    key: str
    requirements: tuple[str, ...]
    superseded: bool


@dataclass(frozen=True)
class Need:
    """One requirement, and what is there of it.

    ``installed`` are the versions of the distributions it names: its own, and those that its extras ask for.
    ``lacking`` are clauses that say what is missing or has a version that will not do. ``note`` says why the
    requirement differs from the registry's.
    """

    requirement: str
    installed: Mapping[str, str]
    lacking: tuple[str, ...]
    note: str = ""

    @property
    def satisfied(self) -> bool:
        """Whether nothing has to be installed for it."""
        return not self.lacking

    def to_dict(self) -> dict[str, Any]:
        """The need as JSON."""
        return {
            "requirement": self.requirement,
            "installed": dict(self.installed),
            "satisfied": self.satisfied,
            "lacking": list(self.lacking),
            "note": self.note,
        }


def registered_model(python: str, name: str) -> RegisteredModel:
    """Look a model up in the registry that ``python`` imports: another checkout may have other models.

    Raises:
        Failure: no model or several are called so (exit 2), or the registry cannot be imported there (exit 3).
    """
    try:
        answer = answer_of(python, _REGISTRY, name, seconds=_REGISTRY_SECONDS)
    except NoAnswer as reason:
        fix = f"{python} -c 'import tabarena.models' shows the whole error"
        problem = Problem("no-registry", python, f"its registry of models: {reason}", "one that can be imported", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    if "problems" in answer:
        raise Failure([Problem(**problem) for problem in answer["problems"]], exit=Exit(answer["exit"]))
    return RegisteredModel(answer["name"], answer["key"], tuple(answer["pip_extra"]), answer["superseded"])


def needs_of(model: RegisteredModel, facts: PythonFacts) -> tuple[Need, ...]:
    """Hold a model's requirements against an environment; those whose marker is false there are left out.

    AutoGluon's own models have no requirements in the registry. Where AutoGluon has an extra of the model's key, that
    is the one.

    Raises:
        Failure: a requirement of the registry cannot be read (exit 3).
    """
    autogluon = facts.distributions.get("autogluon-tabular")
    texts = model.requirements
    if not texts and autogluon and model.key in autogluon.extras:
        texts = (f"autogluon.tabular[{model.key}]",)
    return tuple(need for text in texts for need in _needs(text, facts))


def installed_for(models: Iterable[ModelInfo], python: str) -> dict[str, str]:
    """The versions that ``python`` has of what models need beyond the base installation, by distribution.

    It is for a record of what ran and no check: what cannot be told of a model or of the Python is left out.
    """
    found: dict[str, str] = {}
    with contextlib.suppress(NoAnswer):
        facts = facts_of(python)
        for model in models:
            with contextlib.suppress(Failure):
                registered = RegisteredModel(model.name, model.key, model.pip_extra, model.superseded)
                for need in needs_of(registered, facts):
                    found |= need.installed
    return found


def _needs(text: str, facts: PythonFacts) -> Iterator[Need]:
    requirement = parse_requirement(text)
    if not _applies(requirement, facts, ""):
        return
    rather = _tabarenas_own(requirement, facts)
    note = f"instead of the registry's {text}, which tabarena itself contradicts" if rather else ""
    requirement, text = (rather, _without_marker(rather)) if rather else (requirement, text)
    asked = list(_asked(requirement, facts, frozenset()))
    found = {one.name: facts.distributions.get(canonical(one.name)) for one in asked}
    installed = {name: distribution.version for name, distribution in found.items() if distribution}
    lacking = dict.fromkeys(filter(None, (_lacking(one, installed.get(one.name)) for one in asked)))
    yield Need(text, installed, tuple(lacking), note)


def parse_requirement(text: str) -> Requirement:
    """Read a requirement, also a Git address without a name before it.

    Raises:
        Failure: it is none (exit 3).
    """
    from packaging.requirements import InvalidRequirement, Requirement

    address = re.fullmatch(r"git\+.*/([\w.-]+?)(?:\.git)?(?:@[^#]*)?(?:#(?:.*&)?egg=([\w.-]+).*|#.*)?", text)
    if address:  # an address alone: the distribution is called like the repository, unless the address says otherwise
        text = f"{address[2] or address[1]} @ {text}"
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        found = f"{text!r}: {str(error).partition(chr(10))[0]}"
        fix = "correct it in the checkout of tabarena that the environment imports"
        problem = Problem("bad-requirement", "pip_extra", found, "a requirement, such as tabm>=0.0.3", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None


def _applies(requirement: Requirement, facts: PythonFacts, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**facts.markers, "extra": extra})


def _asked(requirement: Requirement, facts: PythonFacts, above: frozenset[tuple[str, str]]) -> Iterator[Requirement]:
    """A requirement, and those that its extras stand for, all the way down; plain dependencies are not followed."""
    yield requirement
    name = canonical(requirement.name)
    distribution = facts.distributions.get(name, Distribution(""))
    for extra in sorted(requirement.extras):
        step = (name, canonical(extra))
        if step not in above:
            for inner in _of_extra(distribution, extra, facts):
                yield from _asked(inner, facts, above | {step})


def _lacking(requirement: Requirement, installed: str | None) -> str:
    """Why an installed version does not satisfy a requirement; empty when it does."""
    if installed is None:
        return f"{requirement.name} is not installed"
    # An address says nothing of versions: what is installed under that name counts.
    if requirement.url or requirement.specifier.contains(installed, prereleases=True):
        return ""
    return f"{requirement.name} {installed} is not {requirement.specifier}"


def _of_extra(distribution: Distribution, extra: str, facts: PythonFacts) -> Iterator[Requirement]:
    """What a distribution requires with an extra and not without it."""
    spelled = next((known for known in distribution.extras if canonical(known) == canonical(extra)), extra)
    for text in distribution.requires:
        inner = parse_requirement(text)
        if _applies(inner, facts, spelled) and not _applies(inner, facts, ""):
            yield inner


def _tabarenas_own(requirement: Requirement, facts: PythonFacts) -> Requirement | None:
    """What ``tabarena`` itself asks of a distribution, where the registry contradicts it.

    The registry of 0.1.0 wants an AutoGluon for one model that ``tabarena`` cannot run with; an extra of its own has
    it right.

    Raises:
        Failure: they contradict each other, and no extra says otherwise (exit 5).
    """
    tabarena, name = facts.distributions.get("tabarena"), canonical(requirement.name)
    installed = facts.distributions.get(name)
    if tabarena is None or installed is None or requirement.specifier.contains(installed.version, prereleases=True):
        return None
    own = [inner for inner in map(parse_requirement, tabarena.requires) if canonical(inner.name) == name]
    base = [inner for inner in own if _applies(inner, facts, "")]
    if not base or not all(inner.specifier.contains(installed.version, prereleases=True) for inner in base):
        return None
    for inner in own:
        fits = inner.specifier.contains(installed.version, prereleases=True)
        if inner not in base and fits and inner.extras >= requirement.extras:
            return inner
    found = f"the registry wants {requirement}, and tabarena {tabarena.version} requires {base[0]}"
    problem = Problem(
        "contradiction",
        requirement.name,
        found,
        "requirements that hold together",
        "no install here can satisfy both: use a tabarena whose registry agrees with it",
    )
    raise Failure(problem, exit=Exit.REFUSED)


def _without_marker(requirement: Requirement) -> str:
    return str(requirement).partition(";")[0].strip()


def canonical(name: str) -> str:
    """A name of a distribution or an extra in its normalised form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def broken_imports(python: str, needs: Sequence[Need]) -> list[Problem]:
    """The installed packages of these needs that cannot be imported: broken installations, not missing ones."""
    names = list(dict.fromkeys(name for need in needs for name in need.installed))
    if not names:
        return []
    try:
        errors: dict[str, str] = answer_of(python, _IMPORT, *names, seconds=_IMPORT_SECONDS)
    except NoAnswer as reason:
        errors = {", ".join(names): str(reason)}
    fix = "install what the error names, often a library of the system, or install the package again"
    return [
        Problem("broken-package", name, f"installed, but cannot be imported: {error}", "one that imports", fix)
        for name, error in errors.items()
    ]
