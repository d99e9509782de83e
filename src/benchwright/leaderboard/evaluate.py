"""Evaluate a run: process its raw results, put them beside the arena's reference results, rate, and write tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from benchwright.arena import ArenaSource, ArenaSpec, Expression, TaskSet, TaskSubset, select_splits, subset_label
from benchwright.contract import Exit, Failure, Problem, Progress, did_you_mean, usage_error
from benchwright.files import RunPaths
from benchwright.leaderboard.comparison import Field, assemble, compare
from benchwright.leaderboard.coverage import (
    at_time_limit,
    covered,
    run_notes,
    run_rows,
    unlike_protocols,
    without_fallback,
)
from benchwright.leaderboard.evaluation import Evaluation, SkippedSubset, SubsetEvaluation
from benchwright.leaderboard.frame import results_frame
from benchwright.leaderboard.labels import equal_labels
from benchwright.leaderboard.outputs import write_outputs
from benchwright.leaderboard.ratings import N_BOOTSTRAPS, check_bootstraps
from benchwright.leaderboard.rows import keep_rows
from benchwright.leaderboard.run_methods import EvalMethod, resolve
from benchwright.leaderboard.run_tables import load_rows

if TYPE_CHECKING:
    import pandas as pd


_FORMATS = ("pdf", "png", "svg")


class HasWorkspace(Protocol):
    """What a run was launched with, as far as an evaluation needs it: ``benchwright.launch.PathSetup``."""

    @property
    def workspace(self) -> Path:
        """The folder below which every run has its results."""
        ...


@dataclass(frozen=True)
class EvalConfig:
    """What to evaluate: the run that ``benchmark_name`` and ``path_setup`` were launched with.

    ``arena`` is the name of one, or an opened one. ``figure_output_dir`` takes every table and figure. ``subsets`` are
    subset expressions (``[]`` is everything); None means the arena's own list. ``task_subset`` is the scope that the
    run was launched with; splits outside of it are on no leaderboard. ``only_valid_tasks`` narrows every leaderboard
    to the splits that the run has results on, in place of imputing the rest. ``figure_file_type`` is one format or
    several ("pdf", "png", "svg"), or none. ``pareto_focus_new_methods`` boxes the run's methods in the Pareto figures
    even off the front. ``interactive_pages`` writes the HTML pages. ``num_cpus`` bounds the processes that process
    results; None means all cores.
    """

    benchmark_name: str
    arena: str | ArenaSource
    methods: Sequence[EvalMethod]
    path_setup: HasWorkspace
    figure_output_dir: Path | str
    subsets: Sequence[Expression] | None = None
    task_subset: TaskSubset | Expression | None = None
    only_valid_tasks: bool = False
    n_bootstraps: int = N_BOOTSTRAPS
    figure_file_type: str | Sequence[str] = ("pdf", "png")
    pareto_focus_new_methods: bool = True
    interactive_pages: bool = True
    num_cpus: int | None = None


def run_eval(config: EvalConfig, progress: Progress | None = None) -> Evaluation:
    """Evaluate a run on every subset, and write report, tables, figures and pages under ``figure_output_dir``.

    Written are ``artifacts/<benchmark>/methods/<method>/`` (the processed tables and their metadata) and what
    ``outputs.write_outputs`` says. ``progress`` counts the splits processed, then the subsets rated, then those drawn.

    Raises:
        Failure: the configuration is wrong (exit 2), a method has no results or they are another arena's (exit 1), or
            the reference results cannot be had (exit 3).
    """
    source = _open(config.arena)
    arena = source.spec
    paths = RunPaths(Path(config.path_setup.workspace), config.benchmark_name)
    output_dir = Path(config.figure_output_dir).expanduser().absolute()
    check_bootstraps(config.n_bootstraps)
    formats = _formats(config.figure_file_type)
    launched = replace(arena, tasks=arena.tasks.select(config.task_subset))
    scopes = _scopes(config.subsets, launched, TaskSubset.of(config.task_subset).subset or ())
    methods = resolve(config.methods, config.benchmark_name)

    reference, left_out = _reference_rows(source)
    tasks = {split.task_key for split in arena.tasks}
    loaded, problems = load_rows(methods, paths.data, output_dir, tasks, num_cpus=config.num_cpus, progress=progress)
    run, shortfalls = run_rows(loaded, launched, only_valid_tasks=config.only_valid_tasks)
    metadata = {method.key: method for method in source.reference_methods()}
    display = {key: method.display_name for key, method in metadata.items()}
    field = assemble(reference, run, display, {entry.metadata.key: entry.method.label for entry in loaded})
    metadata |= {entry.metadata.key: entry.metadata for entry in loaded}
    problems += [*unlike_protocols(loaded, arena), *shortfalls, *left_out, *without_fallback(field.results, arena)]
    problems += at_time_limit(run, launched, field.new)
    problems += equal_labels(
        field.labels, field.sources, {entry.metadata.key: entry.method.request.name for entry in loaded}
    )
    if config.only_valid_tasks:
        scopes = {label: covered(scope, run) for label, scope in scopes.items()}
    outcomes = _compared(field, scopes, config, arena, progress)
    subsets = tuple(outcome for outcome in outcomes if isinstance(outcome, SubsetEvaluation))
    evaluation = Evaluation(
        benchmark_name=config.benchmark_name,
        arena=arena.title,
        output_dir=output_dir,
        subsets=subsets,
        skipped=tuple(outcome for outcome in outcomes if isinstance(outcome, SkippedSubset)),
        metadata=metadata,
        new=tuple(field.new),
        problems=tuple(problems),
        files=(),
        notes=tuple(run_notes(loaded, arena, launched)),
    )
    files = write_outputs(
        evaluation,
        formats,
        focus_new=config.pareto_focus_new_methods,
        pages=config.interactive_pages,
        progress=progress,
    )
    return replace(evaluation, files=tuple(files))


def _formats(file_type: str | Sequence[str]) -> tuple[str, ...]:
    formats = (file_type,) if isinstance(file_type, str) else tuple(file_type)
    unknown = [name for name in formats if name not in _FORMATS]
    if unknown:
        expected, fix = f"formats among {', '.join(_FORMATS)}", did_you_mean(unknown[0], _FORMATS)
        raise usage_error("figure_file_type", ", ".join(map(repr, unknown)), expected, fix)
    return tuple(dict.fromkeys(formats))


def _open(arena: str | ArenaSource) -> ArenaSource:
    if not isinstance(arena, str):
        return arena
    from benchwright.bridge import open_arena

    return open_arena(arena)


def _scopes(subsets: Sequence[Expression] | None, arena: ArenaSpec, launched: Expression) -> dict[str, TaskSet]:
    """The splits of each subset, by its label; all bad expressions at once.

    The label of a part of the arena names the part: what was launched as ``lite`` is not called ``full``.
    """
    scopes: dict[str, TaskSet] = {}
    problems: list[Problem] = []
    for expression in arena.default_subsets if subsets is None else subsets:
        try:
            label = subset_label(list(dict.fromkeys([*_parts(launched), *_parts(expression)])))
            scopes[label] = select_splits(arena.tasks, expression)
        except Failure as failure:
            problems += failure.problems
    if not scopes and not problems:
        fix = "put [] into EVAL_SUBSETS of the run script for the whole arena"
        problems.append(Problem("usage", "subsets", "none", "at least one subset", fix))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return scopes


def _parts(expression: Expression) -> Sequence[str]:
    return [expression] if isinstance(expression, str) else [str(part) for part in expression]


def _reference_rows(source: ArenaSource) -> tuple[pd.DataFrame, list[Problem]]:
    arena = source.spec
    frame = results_frame([source.reference_results()], where=f"the reference results of {arena.title}")
    return keep_rows(frame, arena.tasks, arena=arena.title)


def _compared(
    field: Field, scopes: Mapping[str, TaskSet], config: EvalConfig, arena: ArenaSpec, progress: Progress | None
) -> list[SubsetEvaluation | SkippedSubset]:
    outcomes = []
    for done, (label, scope) in enumerate(scopes.items()):
        if progress is not None:
            progress(done, len(scopes), note=f"rating {label}")
        outcomes.append(compare(field, scope, arena, label=label, n_bootstraps=config.n_bootstraps))
    if progress is not None:
        progress(len(scopes), len(scopes))
    return outcomes
