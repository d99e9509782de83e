"""What ``sweep_eval_prs.py`` does: sweep, write the ranks down, tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchwright.contract import DRY_RUN, Exit, Outcome, Problem, Progress, said, usage_error
from benchwright.files import write_text
from benchwright.hub.boards import Boards
from benchwright.hub.opening.rights import holder_of
from benchwright.hub.registry import Registry
from benchwright.hub.sweep.rank_history import RankPoint, points, read_history, write_history
from benchwright.hub.sweep.rank_page import rank_page
from benchwright.hub.sweep.report import data, lines, problems, summary
from benchwright.hub.sweep.sweep import Swept, sweep
from benchwright.hub.writing import Writer, to_apply

DEFAULT_RANKS = "hf-eval-results-ranks.csv"
"""Beside the registry."""


@dataclass(frozen=True)
class Ranks:
    """The file of ranks over time, and what it has; the page is beside it."""

    path: Path
    known: list[RankPoint]

    @property
    def page(self) -> Path:
        """The HTML page."""
        return self.path.with_suffix(".html")

    @classmethod
    def load(cls, path: Path, endpoint: str) -> Ranks:
        """The ranks in a file, and a page drawn of them: what stands in the way is told before anything is sent.

        Raises:
            Failure: the file is none of ours (`read_history`).
            ModuleNotFoundError: jinja2 is missing.
        """
        known = read_history(path)
        rank_page(known, endpoint)
        return cls(path, known)

    def write(self, swept: Sequence[Swept], endpoint: str) -> None:
        """Write both files, with what a sweep has seen; what it dropped or closed stands where it was before.

        Raises:
            OSError: one of them cannot be written.
        """
        today = datetime.now(UTC).date().isoformat()
        new = points((pull for one in swept for pull in (one.before, one.pull) if pull), today)
        write_text(self.page, rank_page(write_history(self.path, self.known, new), endpoint))


def swept_registry(
    boards: Boards,
    registry: Path,
    *,
    apply: bool,
    ranks: Path | None,
    progress: Progress,
    again: str,
    rebuild: str | None = None,
) -> Outcome:
    """Sweep the pull requests of a registry.

    ``again`` is the command that does what the dry run shows, ``rebuild`` the one that writes the registry anew.

    Ranks are written with ``apply``, and without it where ``ranks`` names their file.

    Raises:
        Failure: there is no registry (exit 2), or it is damaged, in use or of another Hub (5); the token may not write
            (3); the file of ranks is none (2).
    """
    if not registry.exists():
        fix = "name it with --registry; open_eval_prs.py writes it, and with --rebuild reads it from the Hub"
        raise usage_error("--registry", f"no file {registry}", "a registry of pull requests", fix, code="no-registry")
    kept = None
    if apply or ranks is not None:
        kept = Ranks.load(ranks or registry.with_name(DEFAULT_RANKS), boards.hub.endpoint)
    if apply:
        holder = holder_of(boards.hub)
        with Registry.locked(registry, "a sweep of pull requests", rebuild=rebuild) as known:
            known.check_hub(boards.hub.endpoint)
            holder.check(one.repo for one in known.records if one.state == "open")
            swept = sweep(boards, known, progress, writer=Writer(boards.hub), holder=holder.name)
    else:
        known = Registry.load(registry, rebuild=rebuild)
        known.check_hub(boards.hub.endpoint)
        swept = sweep(boards, known, progress)
    outcome = _outcome(boards, swept, apply=apply, kept=kept, again=again)
    return outcome if kept is None else _keeping(kept, swept, boards.hub.endpoint, outcome)


def _keeping(kept: Ranks, swept: Sequence[Swept], endpoint: str, outcome: Outcome) -> Outcome:
    """The outcome after the ranks were written; what was done on the Hub is told even if they cannot be."""
    try:
        kept.write(swept, endpoint)
    except OSError as error:
        problem = Problem(
            "ranks-not-written", str(kept.path), f"cannot be written ({said(error)})", "a file that can be"
        )
        exit = max(outcome.exit, Exit.ENVIRONMENT)
        return replace(outcome, problems=[*outcome.problems, problem], exit=exit)
    return outcome


def _outcome(boards: Boards, swept: Sequence[Swept], *, apply: bool, kept: Ranks | None, again: str) -> Outcome:
    told = {
        "applied": apply,
        "pull_requests": data(swept),
        "requests": boards.hub.requests.total(),
        "ranks": str(kept.path) if kept else None,
        "page": str(kept.page) if kept else None,
    }
    to_do = any(one.steps for one in swept)
    dry = f"{DRY_RUN} to the Hub" if kept else DRY_RUN
    return Outcome(
        summary(swept) if apply else f"{dry}; {summary(swept)}",
        told,
        [*lines(swept), *([f"  ranks over time: {kept.page}"] if kept else [])],
        problems(swept),
        next=[again] if to_do else [],
        next_title="next:" if apply else to_apply("do it"),
        closing=() if apply else (dry,),
        exit=max((one.exit for one in swept), default=Exit.DONE),
    )
