"""What the exceptions of trials mean: data in ``error_taxonomy.yaml``, and the profile that judges by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import read_bytes

SHIPPED = Path(__file__).with_name("error_taxonomy.yaml")
Missingness = Literal["MNAR", "MAR", "MCAR", "unknown"]
"""Why a reward is missing: because of what it would have been, or for reasons that have nothing to do with it."""
Phase = Literal["agent", "model", "sandbox", "verifier", "harness", "cancelled", "unknown"]
_MOST_BYTES = 1_000_000
_REPAIR_UNKNOWN = "not in the taxonomy: read exception.txt of one of them, and add the name"


FIX = "correct it in the file"


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """One name of an exception under a profile; ``counted`` ones are invalid in the error fraction.

    ``missing`` says why the reward of a trial with it is missing, where it is. ``filters`` are the resume filters that
    run such trials again. A name that the taxonomy does not have is not ``known``: it counts, and is drift.
    """

    name: str
    counted: bool
    missing: Missingness
    phase: Phase
    repair: str
    filters: tuple[str, ...] = ()
    undecided: bool = False
    known: bool = True

    @property
    def benign(self) -> bool:
        """Whether a trial with it does not count as invalid."""
        return not self.counted


@dataclass(frozen=True)
class Profile:
    """Who counts what: the names that are benign, and what the taxonomy says of all."""

    name: str
    title: str
    benign: frozenset[str]
    undecided: frozenset[str]
    rejects_drift: bool
    taxonomy: Taxonomy

    def of(self, name: str) -> ErrorClass:
        """What an exception's name means; one that is not known counts."""
        group = self.taxonomy.groups.get(name)
        return ErrorClass(
            name=name,
            counted=name not in self.benign,
            missing=group.missing if group else "unknown",
            phase=group.phase if group else "unknown",
            repair=group.repair if group else _REPAIR_UNKNOWN,
            filters=tuple(title for title, names in self.taxonomy.filters.items() if name in names),
            undecided=name in self.undecided,
            known=group is not None,
        )


@dataclass(frozen=True, slots=True)
class Group:
    """What the names of one group have in common."""

    phase: Phase
    missing: Missingness
    repair: str


@dataclass(frozen=True)
class Taxonomy:
    """The names of exceptions, the profiles that judge by them and the filters of resumes."""

    default: str
    groups: Mapping[str, Group]
    filters: Mapping[str, frozenset[str]]
    profiles: Mapping[str, Mapping[str, Any]]

    @classmethod
    def load(cls, path: Path | None = None) -> Taxonomy:
        """The taxonomy in a file, by default the one that is shipped, where the format is described.

        Raises:
            Failure: the file cannot be read or is not of that format; every problem of it (exit 2).
        """
        path = path or SHIPPED
        content = read_yaml(path, "a taxonomy of the form that error_taxonomy.yaml has")
        problems = list(_problems(path, content))
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        groups = {
            name: Group(group["phase"], group["missing"], group["repair"])
            for group in content["classes"]
            for name in group["names"]
        }
        filters = {name: frozenset(names) for name, names in content["filters"].items()}
        return cls(content["default"], groups, filters, content["profiles"])

    def profile(self, name: str | None = None) -> Profile:
        """A profile by its name, the default one without.

        Raises:
            Failure: there is none by that name (code ``unknown-profile``, exit 2).
        """
        name = name or self.default
        if name not in self.profiles:
            known = ", ".join(self.profiles)
            raise usage_error(
                "profile",
                f"no profile is called {name!r}",
                f"one of {known}",
                code="unknown-profile",
                fix="--profile NAME",
            )
        facts = self.profiles[name]
        return Profile(
            name=name,
            title=facts["title"],
            benign=frozenset(facts["benign"]),
            undecided=frozenset(facts.get("undecided", ())),
            rejects_drift=facts.get("rejects_drift", False),
            taxonomy=self,
        )


def read_yaml(path: Path, expected: str) -> Mapping[str, Any]:
    """The mapping in a YAML file.

    Raises:
        Failure: it cannot be read, or is none (exit 2).
    """
    import yaml

    try:
        content = yaml.load(read_bytes(path, limit=_MOST_BYTES), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise usage_error(
            str(path), f"cannot be read ({error.strerror})", expected, "name a file that can be read"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise usage_error(str(path), " ".join(str(error).split()), expected, FIX) from None
    if not isinstance(content, dict):
        raise usage_error(str(path), type(content).__name__, expected, FIX)
    return content


def _problems(path: Path, content: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything that is wrong with a taxonomy."""
    for part, kind in (("default", str), ("profiles", dict), ("filters", dict), ("classes", list)):
        if not isinstance(content.get(part), kind):
            yield Problem("usage", f"{path}: {part}", repr(content.get(part)), f"a {kind.__name__}", FIX)
            return
    known: set[str] = set()
    for number, group in enumerate(content["classes"], start=1):
        where = f"{path}: classes, group {number}"
        if not isinstance(group, dict) or not _names(group.get("names")) or not isinstance(group.get("repair"), str):
            yield Problem("usage", where, repr(group)[:80], "a mapping with names, phase, missing and repair", FIX)
            continue
        for field, words in (("phase", get_args(Phase)), ("missing", get_args(Missingness))):
            if group.get(field) not in words:
                yield Problem("usage", f"{where}: {field}", repr(group.get(field)), f"one of {', '.join(words)}", FIX)
        for name in sorted(known & set(group["names"])):
            yield Problem("usage", where, f"{name} again", "each name in one group", FIX)
        known |= set(group["names"])
    yield from _problems_of_uses(path, content, known)


def _problems_of_uses(path: Path, content: Mapping[str, Any], known: set[str]) -> Iterator[Problem]:
    """What is wrong with the filters and the profiles, which use the names."""
    uses = [(f"filters: {name}", names) for name, names in content["filters"].items()]
    for name, facts in content["profiles"].items():
        if not isinstance(facts, dict) or not isinstance(facts.get("title"), str):
            yield Problem(
                "usage", f"{path}: profiles: {name}", repr(facts)[:80], "a mapping with title and benign", FIX
            )
            continue
        uses += [(f"profiles: {name}: {part}", facts.get(part, [])) for part in ("benign", "undecided")]
    for where, names in uses:
        if not _names(names, empty=True):
            yield Problem("usage", f"{path}: {where}", repr(names)[:80], "a list of names", FIX)
            continue
        for name in sorted(set(names) - known):
            yield Problem("usage", f"{path}: {where}", f"{name} is in no group of classes", "a name from there", FIX)
    if content["default"] not in content["profiles"]:
        yield Problem("usage", f"{path}: default", content["default"], "one of the profiles", FIX)


def _names(names: Any, *, empty: bool = False) -> bool:
    return isinstance(names, list) and bool(names or empty) and all(isinstance(name, str) for name in names)
