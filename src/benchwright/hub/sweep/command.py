"""What ``sweep_eval_prs.py`` does: sweep, write the ranks down, tell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchwright.contract import DRY_RUN, Exit, Failure, Outcome, Problem, Progress, said, usage_error
from benchwright.files import FileLock, write_text
from benchwright.hub.boards import Boards
from benchwright.hub.opening.rights import holder_of
from benchwright.hub.registry import Registry
from benchwright.hub.sweep.classes import SweptPull
from benchwright.hub.sweep.rank_history import RankPoint, points, read_history, write_history
from benchwright.hub.sweep.rank_page import rank_page
from benchwright.hub.sweep.report import data, lines, problems, summary
from benchwright.hub.sweep.sweep import Swept, sweep
from benchwright.hub.writing import Writer, to_apply

DEFAULT_RANKS = "hf-eval-results-ranks.csv"
"""Beside the registry."""


@dataclass(frozen=True)
class Ranks:
    """The file of ranks over time, with the page beside it; links of the page lead to the Hub at ``endpoint``."""

    path: Path
    endpoint: str

    @property
    def page(self) -> Path:
        """The HTML page."""
        return self.path.with_suffix(".html")

    @contextlib.contextmanager
    def kept(self) -> Iterator[Ranks]:
        """The files for one sweep: of two at once, the one that ends last would undo the other's lines.

        The file is read and its page drawn: what stands in the way is told before anything is sent.

        Raises:
            Failure: another sweep has them (code ``locked``, exit 5); they cannot be written (3); the file is none of
                ours (`read_history`).
            ModuleNotFoundError: jinja2 is missing.
        """
        rank_page(read_history(self.path), self.endpoint)
        with self._written(self.path):
            lock = FileLock(self.path.with_name(f"{self.path.name}.lock"), "a sweep that keeps ranks").__enter__()
        with contextlib.ExitStack() as stack:
            stack.push(lock)
            yield self

    def note(self, pull: SweptPull) -> None:
        """Write where the results of a pull request stand, which are about to change: no later look tells it.

        Raises:
            Failure: the file cannot be written, or is none of ours by now.
        """
        self._add([pull])

    def write(self, swept: Sequence[Swept]) -> None:
        """Write both files, with what a sweep has seen; what it dropped or closed stands where it was before.

        Raises:
            Failure: one of them cannot be written, or the file is none of ours by now.
        """
        known = self._add([pull for one in swept for pull in (one.before, one.pull) if pull])
        with self._written(self.page):
            write_text(self.page, rank_page(known, self.endpoint))

    def _add(self, pulls: Iterable[SweptPull]) -> list[RankPoint]:
        known, today = read_history(self.path), datetime.now(UTC).date().isoformat()
        with self._written(self.path):
            return write_history(self.path, known, points(pulls, today))

    @contextlib.contextmanager
    def _written(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            found, fix = f"cannot be written ({said(error)})", "make room for it, or name another file with --ranks"
            problem = Problem("ranks-not-written", str(path), found, "a file that can be", fix)
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None


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
    with contextlib.ExitStack() as held:
        kept = None
        if apply or ranks is not None:
            files = Ranks(ranks or registry.with_name(DEFAULT_RANKS), boards.hub.endpoint)
            kept = held.enter_context(files.kept())
        if kept is None or not apply:
            known = Registry.load(registry, rebuild=rebuild)
            known.check_hub(boards.hub.endpoint)
            return _outcome(boards, sweep(boards, known, progress), apply=False, kept=kept, again=again)
        holder = holder_of(boards.hub)
        known = held.enter_context(Registry.locked(registry, "a sweep of pull requests", rebuild=rebuild))
        known.check_hub(boards.hub.endpoint)
        holder.check(one.repo for one in known.records if one.state == "open")
        swept = sweep(boards, known, progress, writer=Writer(boards.hub), holder=holder.name, note=kept.note)
        return _outcome(boards, swept, apply=True, kept=kept, again=again)


def _outcome(boards: Boards, swept: Sequence[Swept], *, apply: bool, kept: Ranks | None, again: str) -> Outcome:
    """The outcome, with the ranks written; what was done on the Hub is told even if they cannot be."""
    unwritten = None
    try:
        if kept is not None:
            kept.write(swept)
    except Failure as failure:
        unwritten = failure
    troubles = problems(swept) + list(unwritten.problems if unwritten else ())
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
        list(dict.fromkeys(troubles)),  # ranks that cannot be written are in the way of each that would be changed
        next=[again] if to_do else [],
        next_title="next:" if apply else to_apply("do it"),
        closing=() if apply else (dry,),
        exit=max([one.exit for one in swept] + [unwritten.exit if unwritten else Exit.DONE]),
    )
