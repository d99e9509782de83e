"""Where trials go before a resume: a folder beside the job, with a journal that is finished or undone after any kill.

    .before-resume/<job>/lock
    .before-resume/<job>/leg-01/journal.json    written before the first folder moves
    .before-resume/<job>/leg-01/files/          the job's own files as they were
    .before-resume/<job>/leg-01/folders/        what was moved, under its own names

Its name is hidden, so that nothing takes it for a job: launchers know their jobs by how folders' names begin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from benchwright.contract import Exit, Failure, Problem, counted
from benchwright.files import FileLock, read_json, write_bytes, write_text
from benchwright.files.atomic import sync_folder
from benchwright.harbor.remark import named
from benchwright.harbor.resume import Move, ResumePlan
from benchwright.harbor.scan import CONFIG, LOCK, META, RESULT, TRIAL_NAME

HOME = ".before-resume"
_FILES = (CONFIG, RESULT, LOCK, META)
LegState = Literal["moving", "moved", "undoing", "undone"]


@dataclass(frozen=True, slots=True)
class Leg:
    """One preparation of a job: what it moved, and the folders that it left where they were."""

    folder: Path
    state: LegState
    moves: tuple[Move, ...]
    stayed: tuple[str, ...]

    @property
    def files(self) -> Path:
        """Where the job's own files are as they were before."""
        return self.folder / "files"

    @property
    def folders(self) -> Path:
        """Where the moved folders are."""
        return self.folder / "folders"

    @property
    def unfinished(self) -> bool:
        """Whether it was stopped half-way."""
        return self.state in ("moving", "undoing")


class Backup:
    """All that was ever moved out of the folder of a job, whose path is resolved."""

    def __init__(self, job: Path) -> None:
        self.job = job
        self.home = job.parent / HOME / job.name

    def lock(self) -> FileLock:
        """The right to change it, and the job's folder with it."""
        return FileLock(self.home / "lock", f"preparing a resume of {self.job.name}")

    def legs(self) -> list[Leg]:
        """Every preparation, the first one first.

        Raises:
            Failure: a journal cannot be read (code ``bad-journal``, exit 5): nobody knows what was moved by it.
        """
        found = sorted(self.home.glob("leg-*/journal.json")) if self.home.is_dir() else []
        return [_read(journal) for journal in found]

    def begin(self, plan: ResumePlan) -> Leg:
        """The next preparation, noted before anything moves."""
        number = len(self.legs()) + 1
        leg = Leg(self.home / f"leg-{number:02d}", "moving", plan.moves, tuple(sorted(plan.kept)))
        leg.folders.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            if (self.job / name).is_file():
                write_bytes(leg.files / name, (self.job / name).read_bytes())
        _write(leg)
        return leg

    def move(self, leg: Leg) -> Leg:
        """Move what a leg says, or what of it is still to be moved.

        Raises:
            Failure: a folder is in both places or in none of them (exit 5).
            OSError: the system refuses; what was moved is noted.
        """
        self._rename(leg, self.job, leg.folders)
        return _noted(leg, "moved")

    def undo(self, leg: Leg) -> Leg:
        """Move everything back.

        Raises:
            Failure: the job was resumed since, or a folder is in both places or in none (exit 5).
        """
        new = self._new_trials(leg)
        if new and leg.state != "undoing":
            found = f"{counted(len(new), 'trial')} that Harbor has run since: {named(new)}"
            fix = f"the job was resumed; compare by hand with {leg.folders}"
            raise Failure(Problem("resumed-since", str(self.job), found, "none", fix), exit=Exit.REFUSED)
        leg = _noted(leg, "undoing")
        self._rename(leg, leg.folders, self.job)
        return _noted(leg, "undone")

    def resumed_since(self, leg: Leg) -> bool:
        """Whether Harbor went on with the job after a leg: it writes its own result anew, first of all."""
        before, now = leg.files / RESULT, self.job / RESULT
        return (before.read_bytes() if before.is_file() else b"") != (now.read_bytes() if now.is_file() else b"")

    def _new_trials(self, leg: Leg) -> list[str]:
        known = {*leg.stayed, *(move.name for move in leg.moves)}
        return sorted(
            path.name for path in self.job.iterdir() if TRIAL_NAME.fullmatch(path.name) and path.name not in known
        )

    def _rename(self, leg: Leg, origin: Path, target: Path) -> None:
        wrong = []
        for move in leg.moves:
            here, there = os.path.lexists(origin / move.name), os.path.lexists(target / move.name)
            if here == there:
                where = "in both places" if here else "in neither place"
                wrong.append(Problem("contested", move.name, where, f"it in {origin} or in {target}", _LOOK))
        if wrong:
            raise Failure(wrong, exit=Exit.REFUSED)
        for move in leg.moves:
            if os.path.lexists(origin / move.name):
                (origin / move.name).rename(target / move.name)
        sync_folder(origin)
        sync_folder(target)


_LOOK = "something else is at work here: find out what before you go on"


def _noted(leg: Leg, state: LegState) -> Leg:
    leg = replace(leg, state=state)
    _write(leg)
    return leg


def _write(leg: Leg) -> None:
    content = {"state": leg.state, "moves": [asdict(move) for move in leg.moves], "stayed": leg.stayed}
    write_text(leg.folder / "journal.json", json.dumps(content, indent=1) + "\n")  # ASCII: a name may be no UTF-8


def _read(journal: Path) -> Leg:
    try:
        content = read_json(journal)
        return Leg(journal.parent, content["state"], _moves(content["moves"]), tuple(content["stayed"]))
    except (Failure, KeyError, TypeError) as error:
        fix = "compare the folders beside it with the job's by hand"
        problem = Problem("bad-journal", str(journal), f"cannot be read ({error})", "the journal of a resume", fix)
        raise Failure(problem, exit=Exit.REFUSED) from None


def _moves(content: Sequence[Any]) -> tuple[Move, ...]:
    return tuple(Move(**move) for move in content)
