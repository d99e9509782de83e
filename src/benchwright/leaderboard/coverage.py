"""What of a run counts in an arena, what is missing of it, and what can be compared at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchwright.arena import ArenaSpec, TaskSet
from benchwright.contract import Failure, Problem
from benchwright.leaderboard.frame import SPLIT, names, results_frame, split_names
from benchwright.leaderboard.labels import Source
from benchwright.leaderboard.rows import keep_rows
from benchwright.leaderboard.run_tables import MethodRows

if TYPE_CHECKING:
    import pandas as pd


def run_rows(
    loaded: Sequence[MethodRows], arena: ArenaSpec, *, only_valid_tasks: bool
) -> tuple[pd.DataFrame, list[Problem]]:
    """The run's rows that count, and what is missing or wrong of them.

    Raises:
        Failure: a method has no row that counts; the results are another arena's, or none can be used.
    """
    frame = results_frame([entry.rows for entry in loaded], where="the run's results")
    kept, problems = keep_rows(frame, arena.tasks, arena=arena.title)
    findings = [finding for entry in loaded for finding in entry.findings]
    lost = [entry for entry in loaded if not (kept["ta_name"] == entry.metadata.method).any()]
    if lost:
        reasons = [_no_row_counts(entry, frame, arena) for entry in lost]
        raise Failure([*reasons, *problems, *findings])
    rest = "left out of every leaderboard" if only_valid_tasks else f"imputed from {arena.fillna_method}"
    missing = [_missing(entry, kept, arena, rest) for entry in loaded]
    return kept, [*findings, *problems, *(problem for problem in missing if problem is not None)]


def _no_row_counts(entry: MethodRows, frame: pd.DataFrame, arena: ArenaSpec) -> Problem:
    datasets = sorted(set(frame.loc[frame["ta_name"] == entry.metadata.method, "dataset"]))
    strange = [dataset for dataset in datasets if dataset not in arena.tasks.datasets]
    found = f"none of its results counts on {arena.title}"
    if len(strange) == len(datasets):
        found = f"results of another benchmark, on {names(strange)}"
    return Problem(
        "no-row-counts",
        entry.method.label,
        found,
        f"results on {names(arena.tasks.datasets)}",
        "evaluate it in the arena that it was run on, or run setup and run for this one",
    )


def _missing(entry: MethodRows, kept: pd.DataFrame, arena: ArenaSpec, rest: str) -> Problem | None:
    """The splits that a method has no result on at all."""
    import pandas as pd

    rows = kept.loc[kept["ta_name"] == entry.metadata.method, list(SPLIT)]
    present = set(zip(rows["dataset"], rows["fold"], strict=True))
    splits = [(split.dataset, split.split) for split in arena.tasks if (split.dataset, split.split) not in present]
    if not splits:
        return None
    where = split_names(pd.DataFrame(splits, columns=list(SPLIT)))
    return Problem(
        "missing-splits",
        entry.method.label,
        f"{len(splits)} of {len(arena.tasks)} splits have no result, {rest}: {where}",
        "a result on every split",
        "run setup again, it finds what is missing, then run",
    )


def unlike_protocols(loaded: Sequence[MethodRows], arena: ArenaSpec) -> list[Problem]:
    """The methods whose results were validated in another way than the arena's: their numbers are not like for like."""
    return [
        Problem(
            "protocol-differs",
            entry.method.label,
            f"validated as {entry.protocol.key} ({entry.protocol.explanation})",
            f"{arena.validation_protocol}, as {arena.title} does",
            "read its tuned rows with care, or run it under the arena's protocol",
        )
        for entry in loaded
        if entry.protocol is not None
        and entry.protocol.key != "system"
        and entry.protocol.agrees_with(arena.validation_protocol) is False
    ]


def at_time_limit(run: pd.DataFrame, arena: ArenaSpec, labels: Mapping[Source, str]) -> list[Problem]:
    """The methods whose default config trained for as long as the arena allows: time, not the model, ended those fits.

    A fit stops a little before its limit, hence from 90% of it. ``labels`` are the run's methods.
    """
    limit = arena.resources.time_limit
    defaults = run[run["method_subtype"].isna() | (run["method_subtype"] == "default")]
    problems = []
    for (method, suite), label in labels.items():
        own = defaults[(defaults["ta_name"] == method) & (defaults["ta_suite"] == suite)]
        slow = own[own["time_train_s"] >= 0.9 * limit]
        if len(slow):
            found = f"{len(slow)} of {len(own)} fits took the time limit of {limit:,.0f} s: {split_names(slow)}"
            fix = "read its place with care: with more time it might be another"
            problems.append(Problem("time-limit", label, found, "fits that end by themselves", fix))
    return problems


def run_notes(loaded: Sequence[MethodRows], arena: ArenaSpec, launched: ArenaSpec) -> list[str]:
    """What to say with any place of this run: a rehearsal, a part of the arena, and what tuning chose from."""
    notes = []
    if arena.name == "mini":
        notes.append(f"{arena.title} is a rehearsal: its small tasks are no evidence about a model.")
    if len(launched.tasks) < len(arena.tasks):
        notes.append(f"The run is on a part of {arena.title}: {len(launched.tasks)} of {len(arena.tasks)} splits.")
    notes += [
        f"{entry.method.label}: its tuned rows choose from {entry.n_configs} configs; other methods may have more."
        for entry in loaded
        if entry.metadata.can_hpo and entry.n_configs
    ]
    return notes


def without_fallback(results: pd.DataFrame, arena: ArenaSpec) -> list[Problem]:
    """The splits that no leaderboard can count, because the fallback method has no result there."""
    import pandas as pd

    own = results.loc[results["method"] == arena.fillna_method, list(SPLIT)]
    every = results[list(SPLIT)].drop_duplicates()
    joined = pd.merge(every, own, how="left", on=list(SPLIT), indicator="there")
    lost = joined[joined["there"] == "left_only"]
    if lost.empty:
        return []
    found = f"no result on {len(lost)} split(s), left out of every leaderboard: {split_names(lost)}"
    fix = f"bring the results of {arena.fillna_method} there, or read the leaderboards without these splits"
    return [Problem("no-fallback", arena.fillna_method, found, "a result on every split", fix)]


def covered(scope: TaskSet, run: pd.DataFrame) -> TaskSet:
    """The splits of a scope that the run has a result on."""
    present = set(zip(run["dataset"], run["fold"], strict=True))
    return scope.where(lambda split: (split.dataset, split.split) in present)
