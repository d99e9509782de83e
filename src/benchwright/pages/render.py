"""Templates become pages: everything escaped, scripts and styles inside."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_SHARED = Path(__file__).parent / "templates"


def embedded(data: object) -> str:
    """``data`` as JSON that can stand in a ``<script>`` element: no text in it can end the element.

    Raises:
        ValueError: a number is NaN or infinite, which JSON has no word for.
    """
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


@cache
def environment(templates: Path) -> Environment:
    """The templates of a folder, beside those that all pages share: a ``frame.html.j2`` to extend, its look and script.

    Every value is escaped; the filter ``embedded`` puts data into a script. Needs jinja2.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader([templates, _SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["embedded"] = lambda data: Markup(embedded(data))  # JSON without "<"
    return made
