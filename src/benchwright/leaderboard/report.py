"""The report of an evaluation, in Markdown and ready to relay: where the run landed, and what is behind the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchwright.contract import as_markdown
from benchwright.leaderboard.entrants import Entrant, entrants
from benchwright.leaderboard.evaluation import Evaluation
from benchwright.leaderboard.position import few_datasets, position_line, size_of
from benchwright.leaderboard.table import REPORT, TOP, format_leaderboard

_FIGURES = {
    "pareto_front_elo_vs_time_infer": "Elo against inference time",
    "pareto_front_elo_vs_time_train": "Elo against training time",
    "pareto_front_improvability_vs_time_infer": "improvability against inference time",
    "pareto_front_improvability_vs_time_train": "improvability against training time",
    "tuning-impact-elo": "Elo of every variant",
    "tuning-impact-elo-horizontal": "Elo of every variant, methods in rows",
    "winrate_matrix": "who beats whom",
}
"""What each figure shows, the Pareto figures first."""
_PICTURED = ("pareto_front_elo_vs_time_infer", "tuning-impact-elo-horizontal", "winrate_matrix")
_FORMATS = (".png", ".pdf", ".svg")
_PAGES = {
    "leaderboard.html": "the table, to sort and filter",
    "pareto_front_explorer.html": "Pareto front, inference time",
    "pareto_front_explorer_time_train.html": "Pareto front, training time",
    "winrate_explorer.html": "win rates, method by method",
}


def report_markdown(evaluation: Evaluation, files: Sequence[Path]) -> str:
    """The report's text. ``files`` are the evaluation's, absolute; the report names them from its own folder.

    In this order: one line a subset and method, the first subset's table (the top ten, and every row of the run in
    bold) with the neighbours of each, the figures and pages, and what the numbers hide.
    """
    names = ", ".join(as_markdown(evaluation.metadata[source].display_name) for source in evaluation.new)
    parts = [[f"# {names} on {evaluation.arena}", "", f"Benchmark `{evaluation.benchmark_name}`."]]
    parts.append(["## Where it landed", "", *_landed(evaluation)])
    if evaluation.subsets:
        first = evaluation.subsets[0]
        table = format_leaderboard(
            first.leaderboard, evaluation.metadata, new=evaluation.new, columns=REPORT, markdown=True, top=TOP
        )
        neighbours = _neighbours(entrants(first, evaluation.metadata, evaluation.new))
        parts.append([f"## Leaderboard {first.label}", "", *table, "", *neighbours])
        parts.append(["## Figures and pages", "", *_pictures(evaluation, files)])
    parts.append(["## What the numbers hide", "", *_hidden(evaluation)])
    return "\n\n".join("\n".join(part).rstrip() for part in parts) + "\n"


def _landed(evaluation: Evaluation) -> list[str]:
    lines = []
    for subset in evaluation.subsets:
        few = few_datasets(subset)
        where = f"- **{as_markdown(subset.label)}** ({size_of(subset)}{f'; {few}' if few else ''}): "
        lines += [where + as_markdown(position_line(position, separator=", ")) for position in subset.positions]
        lines += [f"{where}{as_markdown(label)} has no result of its own" for label in subset.absent]
    skipped = [(as_markdown(one.label), as_markdown(one.reason)) for one in evaluation.skipped]
    return lines + [f"- **{label}**: skipped, {reason}" for label, reason in skipped]


def _neighbours(field: Sequence[Entrant]) -> list[str]:
    """A line for each of the run's rows: who stands right above and below it that is not the run's."""
    lines = []
    for at, entrant in enumerate(field):
        if not entrant.new:
            continue
        above = next((other for other in reversed(field[:at]) if not other.new), None)
        below = next((other for other in field[at + 1 :] if not other.new), None)
        said = [
            f"{as_markdown(other.label)} ({_distance(other, entrant, where)})"
            for other, where in ((above, "above"), (below, "below"))
            if other is not None
        ]
        if above is None:
            said.insert(0, "the top")
        elif below is None:
            said.append("the bottom")
        lines.append(f"- **{as_markdown(entrant.label)}** stands between {' and '.join(said)}.")
    return lines


def _distance(other: Entrant, entrant: Entrant, where: str) -> str:
    elo = f"{abs(other.elo - entrant.elo):.0f}"
    return "level with it" if elo == "0" else f"{elo} Elo {where}"


def _pictures(evaluation: Evaluation, files: Sequence[Path]) -> list[str]:
    """The first subset's figures as pictures, then every subset's figures and pages by name."""
    pictures: list[str] = []
    lists: list[str] = []
    for subset in evaluation.subsets:
        own = [path for path in files if path.parent == evaluation.folder(subset)]
        links = {path.name: path.relative_to(evaluation.output_dir).as_posix().replace(" ", "%20") for path in own}
        figures = {name: first for name in _FIGURES if (first := _first(links, name, _FORMATS))}
        if not pictures:
            shown = [name for name in _PICTURED if figures.get(name, "").endswith(".png")]
            pictures = [line for name in shown for line in (f"![{_FIGURES[name]}]({figures[name]})", "")]
        listed = [f"  - [{link}]({link}): {_FIGURES[name]}" for name, link in figures.items()]
        listed += [f"  - [{link}]({link}): {said}" for name, said in _PAGES.items() if (link := links.get(name))]
        lists += [f"- {as_markdown(subset.label)}", *listed] if listed else []
    return [*pictures, *lists] or ["None were drawn."]


def _first(links: Mapping[str, str], name: str, suffixes: Sequence[str]) -> str:
    """The link of the first format that a figure was written in."""
    return next((links[name + suffix] for suffix in suffixes if name + suffix in links), "")


def _hidden(evaluation: Evaluation) -> list[str]:
    """What a reader of the table has to know besides: the evaluation's problems and notes."""
    lines = [f"- {as_markdown(problem.where)}: {as_markdown(problem.found)}" for problem in evaluation.problems]
    lines = lines or ["- Nothing is imputed, left out or known to be odd."]
    return lines + [f"- {as_markdown(note)}" for note in evaluation.notes]
