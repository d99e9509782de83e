"""The keys of a batch's manifest that set options of the steps' scripts, and the words that each becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchwright.arena.acceptable import FIELDS, LOSSES
from benchwright.arena.official import OFFICIAL_PROTOCOLS


@dataclass(frozen=True, slots=True)
class Switch:
    """An option without a value, given where the key has the value ``when``."""

    script: Literal["process", "upload"]
    option: str
    when: bool = True
    expected: str = "true or false"

    def fits(self, value: Any) -> bool:
        """Whether the key may have this value."""
        return isinstance(value, bool)

    def words(self, value: Any) -> list[str]:
        """The option on a command line."""
        return [self.option] if value is self.when else []


@dataclass(frozen=True, slots=True)
class Choice:
    """An option with one of a few values."""

    script: Literal["process", "upload"]
    option: str
    choices: tuple[str, ...]

    @property
    def expected(self) -> str:
        """What the key may be, in words."""
        return " or ".join(self.choices)

    def fits(self, value: Any) -> bool:
        """Whether the key may have this value."""
        return isinstance(value, str) and value in self.choices

    def words(self, value: Any) -> list[str]:
        """The option on a command line."""
        return [self.option, value]


@dataclass(frozen=True, slots=True)
class Repeated:
    """An option that is given once for each of several ``known`` values."""

    script: Literal["process", "upload"]
    option: str
    expected: str
    known: Sequence[str]

    def fits(self, value: Any) -> bool:
        """Whether the key may have this value."""
        return isinstance(value, list) and all(isinstance(word, str) and word for word in value)

    def words(self, value: Any) -> list[str]:
        """The options on a command line."""
        return [word for given in value for word in (self.option, given)]


OPTIONS: Mapping[str, Switch | Choice | Repeated] = {
    "expect_validation_protocol": Choice("process", "--expect-validation-protocol", tuple(OFFICIAL_PROTOCOLS)),
    "accept_mismatch": Repeated("process", "--accept-mismatch", "a list of fields", FIELDS),
    "ignore_metadata_mismatch": Switch("process", "--ignore-metadata-mismatch"),
    "accept_finding": Repeated("process", "--accept-finding", "a list of codes", LOSSES),
    "cache_raw": Switch("process", "--no-cache-raw", when=False),
    "cache_hpo_trajectories": Switch("process", "--no-cache-hpo-trajectories", when=False),
    "backend": Choice("process", "--backend", ("local", "ray")),
    "replace_raw": Switch("process", "--replace"),
    "upload_raw": Switch("upload", "--no-upload-raw", when=False),
    "replace": Switch("upload", "--replace"),
}
"""By the keys. ``--jobs`` and ``--cache-root`` are the batch's own; what is left has keys of its own, or means nothing
in a batch."""


def words_for(script: Literal["process", "upload"], values: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that the keys in ``values`` become on a script's command line, in the order of ``OPTIONS``."""
    given = [(option, values[key]) for key, option in OPTIONS.items() if key in values and option.script == script]
    return tuple(word for option, value in given for word in option.words(value))
