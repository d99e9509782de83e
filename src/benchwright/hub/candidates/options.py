"""What a search for candidates is of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, Progress
from benchwright.files import digest
from benchwright.hub.candidates import mapping
from benchwright.hub.candidates.leads import Source
from benchwright.hub.client import HubPatience

ShowProgress = Callable[[str], AbstractContextManager[Progress]]
"""Gives a callable that shows how far a long piece of work is."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What is searched for; see the script's help. ``pause`` is between requests to the API, in seconds.

    It allows 60 lists a minute.
    """

    out: Path
    source: Source = "db"
    org: str | None = None
    models: Path | None = None
    mapping: Path | None = None
    patience: HubPatience | None = None
    pause: float = 1.0

    def check(self) -> None:
        """Whether the options go together.

        Raises:
            Failure: they do not; every problem (exit 2).
        """
        problems = []
        if self.source == "csv" and self.models is None:
            fix = "name it with --models"
            problems.append(Problem("usage", "--models", "missing", "the CSV with the results, with --source csv", fix))
        if self.source == "cards" and self.models is None and self.org is None:
            fix = "name one of them"
            problems.append(Problem("usage", "--org", "missing", "--org O or --models FILE, with --source cards", fix))
        if self.out.suffix.lower() != ".csv":
            problems.append(Problem("usage", "OUT.csv", self.out.name, "a name that ends in .csv", "name it so"))
        if problems:
            raise Failure(problems, exit=Exit.USAGE)

    @property
    def about(self) -> dict[str, str | None]:
        """What makes it another search."""
        own = digest(self.mapping) if self.mapping else ""
        return {
            "source": self.source,
            "org": self.org,
            "models": digest(self.models) if self.models else None,
            "mapping": digest(mapping.SHIPPED) + own,
        }
