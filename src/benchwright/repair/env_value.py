"""A value that is named and not written down: ``env:NAME`` on a command line, read when it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from benchwright.contract import Exit, Failure, Problem

_FORM = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class EnvValue:
    """The value of an environment variable; as text it is its name: ``env:NAME``."""

    name: str

    def __str__(self) -> str:
        """What may be shown, and what the command line said."""
        return f"env:{self.name}"

    def read(self, environment: Mapping[str, str]) -> str:
        """The value.

        Raises:
            Failure: the variable is not set (code ``no-credentials``, exit 3).
        """
        value = environment.get(self.name)
        if not value:
            problem = Problem("no-credentials", self.name, "not set", "a value", f"export {self.name}=...")
            raise Failure(problem, exit=Exit.ENVIRONMENT)
        return value


def env_value(text: str) -> EnvValue | None:
    """The variable that ``env:NAME`` names, None where the text is something else."""
    found = _FORM.fullmatch(text)
    return EnvValue(found[1]) if found else None
