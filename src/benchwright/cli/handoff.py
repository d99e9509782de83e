"""The command sheet that one person hands to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.contract import redact


@dataclass(frozen=True)
class Handoff:
    """What to do, why, the exact commands, and what to check afterwards.

    ``heading`` stands above the commands; ``sections``, each a heading with its lines of Markdown, follow them.
    """

    title: str
    why: str
    commands: Sequence[str]
    checks: Sequence[str]
    facts: Sequence[str] = ()
    heading: str = "Run, in this order"
    sections: Sequence[tuple[str, Sequence[str]]] = ()

    def markdown(self) -> str:
        """The sheet as Markdown, with secrets hidden."""
        parts = [f"# {self.title}", "", self.why, ""]
        if self.facts:
            parts += [*(f"- {fact}" for fact in self.facts), ""]
        parts += [f"## {self.heading}", "", "```bash", *self.commands, "```", ""]
        for heading, lines in self.sections:
            parts += [f"## {heading}", "", *lines, ""]
        parts += ["## Check afterwards", ""]
        parts += [f"- {check}" for check in self.checks]
        return redact("\n".join(parts) + "\n")
