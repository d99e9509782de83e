"""Whose rows may be touched: names that a person declares, since the account of this machine says nothing about it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchwright.contract import Exit, Failure, Problem

OWNERS_VARIABLE = "BENCHWRIGHT_OWNERS"
"""Holds one's user names in the database, separated by commas, or by blanks where there is no comma.

A name with a blank in it needs a comma behind it: its parts may be other people's names.
"""


def owners_from(settings: Mapping[str, str]) -> frozenset[str]:
    """The user names that are one's own.

    Raises:
        Failure: none are declared (code ``no-owners``, exit 3).
    """
    said = settings.get(OWNERS_VARIABLE, "")
    parts = re.split(r"[,\n]", said) if "," in said else said.split()
    names = frozenset(name for part in parts if (name := part.strip()))
    if not names:
        fix = f"export {OWNERS_VARIABLE}=NAME,NAME with every name that your rows have in the column username"
        raise Failure(
            Problem("no-owners", OWNERS_VARIABLE, "not set", "your user names in the database", fix),
            exit=Exit.ENVIRONMENT,
        )
    return names
