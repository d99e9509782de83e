"""Named subsets of an arena's splits, and the expressions that combine them."""

from __future__ import annotations

from collections.abc import Sequence

Expression = str | Sequence[str]
