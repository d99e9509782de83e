"""A template of the leaderboard becomes a page, with plotly.js where it draws."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.contract import counted
from benchwright.leaderboard.pages.words import with_interval
from benchwright.pages import environment

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, values: Mapping[str, Any], *, charts: bool = False) -> str:
    """The page of a template; ``charts`` puts plotly.js into it (4.8 MB), from the installed plotly."""
    plotly = ""
    if charts:
        from plotly.offline import get_plotlyjs

        plotly = get_plotlyjs()
    words = {"counted": counted, "with_interval": with_interval}
    return environment(_TEMPLATES).get_template(template, globals=words).render(values, plotly=plotly)
