"""The views of a leaderboard: a tier of sizes, and whether models that are built on another one are hidden.

https://huggingface.co/docs/hub/eval-results; a page shows the first fifty rows of the view that is selected.
"""

from __future__ import annotations

from dataclasses import dataclass

SHOWN = 50
"""Rows of a view that the page of a benchmark shows."""
TIERS = {"500B": 500, "128B": 128, "32B": 32, "12B": 12, "6B": 6, "3B": 3, "1B": 1}
"""Tiers of size, the broadest first: at most so many thousand millions of parameters."""


@dataclass(frozen=True)
class View:
    """A selection of models: ``max_params`` is a key of `TIERS`, None for all sizes.

    ``base_only`` hides every model whose card names a base model, itself included; it is on by default.
    """

    max_params: str | None = None
    base_only: bool = True

    @property
    def breadth(self) -> int:
        """The place in `VIEWS`, 0 for the broadest."""
        return VIEWS.index(self)

    @property
    def query(self) -> dict[str, str]:
        """What selects the view in a request for a board; what the Hub does by itself is left out."""
        size = {"max_params": self.max_params} if self.max_params else {}
        return size if self.base_only else {**size, "base_model": "false"}

    def shows(self, parameters: int | None, *, has_base: bool) -> bool:
        """Whether a model is in the view. One whose parameters nobody counted is in no view of a size."""
        if self.base_only and has_base:
            return False
        if self.max_params is None:
            return True
        return parameters is not None and parameters <= TIERS[self.max_params] * 10**9

    def __str__(self) -> str:
        """The view in words: ``all sizes, base models only``."""
        size = f"up to {self.max_params}" if self.max_params else "all sizes"
        return f"{size}, {'base models only' if self.base_only else 'all models'}"


VIEWS = tuple(View(size, base_only) for size in (None, *TIERS) for base_only in (True, False))
"""All sixteen, the broadest first; each is linked with fewer words than those behind it, or as few."""
DEFAULT, WIDEST = VIEWS[0], VIEWS[1]
"""What the page shows first, and the one that every row is in."""
