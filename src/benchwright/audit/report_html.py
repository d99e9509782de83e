"""The report as one HTML page to look at: which evals need something, and why, down to each trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright.audit.error_bars import error_bars
from benchwright.audit.eval_view import FIGURES, EvalView, view_of
from benchwright.audit.heat_map import MOST_BYTES, HeatMap, HeatMaps
from benchwright.audit.record import Audited, summary
from benchwright.audit.report_words import STATUS_WORDS, titles, visible
from benchwright.audit.score_marks import READINGS, score_chart
from benchwright.audit.trial_cells import TrialsOf
from benchwright.contract import counted

_TEMPLATES = Path(__file__).parent / "templates"


def report_html(
    audited: Sequence[Audited],
    *,
    trials_of: TrialsOf | None = None,
    at: Path | None = None,
    most_bytes: int = MOST_BYTES,
) -> str:
    """The page's text; it needs no other file and no network, and the same facts and trials give the same bytes.

    Args:
        audited: the evals, in the order in which they are shown.
        trials_of: finds the trials of an eval, for its heat map; None where no folder was read at all.
        at: the folder that the page will be written to, absolute: links to the folders of trials start there.
        most_bytes: of the data of all heat maps; tasks without room are left out, and the page says how many.

    Needs jinja2.
    """
    from benchwright.pages import environment

    names = titles(one.facts for one in audited)
    views = [view_of(one, place, name) for place, (one, name) in enumerate(zip(audited, names, strict=True), start=1)]
    maps = HeatMaps(at, most_bytes)
    drawn: dict[str, HeatMap] = {}
    for one, view in zip(audited, views, strict=True):
        cells = trials_of(one.facts) if trials_of else None
        if cells:
            drawn[view.id] = maps.draw(cells, one.facts.trials.planned if one.facts.trials else None)
    heat: dict[str, Any] = {"texts": maps.texts, "evals": {name: one.to_dict() for name, one in drawn.items()}}
    template = environment(_TEMPLATES).get_template("audit.html.j2", globals={"counted": counted})
    return template.render(
        summary=visible(summary(audited)),
        views=views,
        verdicts=_verdicts(views),
        words=STATUS_WORDS,
        figures=FIGURES,
        readings=READINGS,
        bars=error_bars(audited),
        chart=score_chart(audited),
        maps=drawn,
        folders_read=trials_of is not None,
        heat=heat,
    )


def _verdicts(views: Sequence[EvalView]) -> list[tuple[str, str, int]]:
    """Every verdict that there is, its tone, and how many evals have it, in the order of the evals."""
    tones = {view.verdict: view.tone for view in views}
    return [(name, tone, sum(view.verdict == name for view in views)) for name, tone in tones.items()]
