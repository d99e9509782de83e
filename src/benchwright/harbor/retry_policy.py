"""Which exceptions a run of Harbor tried again: a score from two legs with different policies is of neither."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contract import some
from benchwright.harbor.resume_checks import read_settings
from benchwright.harbor.scan import CONFIG, LOCK
from benchwright.harbor.taxonomy import read_yaml

_LISTS = ("include_exceptions", "exclude_exceptions")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A leg's policy: what it says, as ``retry`` of Harbor's configuration, and where it says so.

    What a file leaves out is that version's default, which is not known from the file.
    """

    where: str
    says: Mapping[str, Any]

    def changes(self, later: RetryPolicy) -> list[str]:
        """What is different in a later leg, in words; of what both of them say."""
        found = []
        for name in sorted(self.says.keys() & later.says.keys()):
            before, after = self.says[name], later.says[name]
            if name in _LISTS:
                found += _list_changes(name, _names(before), _names(after))
            elif before != after:
                found.append(f"{name} was {before} and is {after}")
        return found


def policy_in(folder: Path, *files: str) -> RetryPolicy | None:
    """The policy that the first of some files says, by default a job's lock, which has it whole, or configuration."""
    for file in files or (LOCK, CONFIG):
        settings = read_settings(folder, file)
        if isinstance(settings, Mapping) and (policy := _policy(folder / file, settings)) is not None:
            return policy
    return None


def policy_of_yaml(path: Path) -> RetryPolicy | None:
    """The policy that a configuration of Harbor in YAML says; None where it says none.

    Raises:
        Failure: the file cannot be read, or is no mapping (exit 2).
    """
    return _policy(path, read_yaml(path, "a configuration of Harbor"))


def _policy(path: Path, settings: Mapping[str, Any]) -> RetryPolicy | None:
    """What a configuration says of it; older versions say it of their orchestrator."""
    for place in (settings, settings.get("orchestrator")):
        if isinstance(place, Mapping) and isinstance(place.get("retry"), Mapping):
            return RetryPolicy(str(path), place["retry"])
    return None


def _list_changes(name: str, before: frozenset[str] | None, after: frozenset[str] | None) -> list[str]:
    if before == after:
        return []
    if before is None or after is None:
        words = [some(sorted(names), 9) if names is not None else "any" for names in (before, after)]
        return [f"{name} was {words[0]} and is {words[1]}"]
    gone, new = ("now tried again", "now final") if name == "exclude_exceptions" else ("now final", "now tried again")
    return [
        f"{word}: {some(sorted(names), 9)}" for word, names in ((gone, before - after), (new, after - before)) if names
    ]


def _names(value: Any) -> frozenset[str] | None:
    return frozenset(map(str, value)) if isinstance(value, list) else None
