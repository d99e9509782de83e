"""What is worth knowing of a job beside its figures."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from benchwright.contract import Severity, printable, some


class Remark(msgspec.Struct, frozen=True):
    """One thing that is odd about a job, with a stable kebab-case ``code``, and how grave it is.

    ``error``: the figures cannot be relied on; ``warn``: look before you act; ``context``: it explains a figure.
    """

    code: str
    severity: Severity
    text: str

    def to_dict(self) -> dict[str, str]:
        """The remark as JSON data."""
        return {"code": self.code, "severity": self.severity, "text": self.text}


def named(names: Iterable[str]) -> str:
    """The first three of several names, in their order, as they may be shown: ``a, b, c and 2 more``."""
    return some(map(printable, names))
