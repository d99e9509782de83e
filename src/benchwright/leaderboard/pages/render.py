"""Templates become pages: everything escaped, scripts and styles inside, plotly.js for the pages that draw."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.leaderboard.pages.words import counted, with_interval

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, values: Mapping[str, Any], *, charts: bool = False) -> str:
    """The page of a template; ``charts`` puts plotly.js into it (4.8 MB), from the installed plotly."""
    plotly = ""
    if charts:
        from plotly.offline import get_plotlyjs

        plotly = get_plotlyjs()
    return _environment().get_template(template).render(values, plotly=plotly)


def embedded(data: object) -> str:
    """``data`` as JSON that can stand in a ``<script>`` element: no text in it can end the element.

    Raises:
        ValueError: a number is NaN or infinite, which JSON has no word for.
    """
    return json.dumps(data, allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["embedded"] = lambda data: Markup(embedded(data))  # JSON without "<"
    environment.globals.update(counted=counted, with_interval=with_interval)
    return environment
