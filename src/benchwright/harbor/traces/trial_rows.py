"""The conversations of one trial, wherever its files are, with what else belongs to each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchwright.harbor.scan import as_text
from benchwright.harbor.traces.conversation import Conversation
from benchwright.harbor.traces.episode_folders import EpisodeFolders
from benchwright.harbor.traces.trajectories import MAIN, Episodes, Trajectories
from benchwright.harbor.traces.trial_files import TrialFiles
from benchwright.harbor.traces.unexported import Unexported

_STEPS = "steps"
_VERIFIER_OUTPUT = ("test-stdout.txt", "test-stderr.txt")


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation, the instruction given to its agent, and what the verifier printed; None where there is none."""

    conversation: Conversation
    instruction: str | None
    verifier_output: str | None


def told_by(files: TrialFiles, which: Episodes, notes: list[str]) -> Iterator[Told]:
    """The conversations of a trial, those of its steps one step after another.

    What is in no row goes to ``notes``, with the reason; nothing of that is an exception.

    Raises:
        Failure: a file may not be read (exit 3), or does not come for the moment (exit 4).
    """
    try:
        steps = [name for name in files.names(_STEPS) if files.names(f"{_STEPS}/{name}")]
    except Unexported as why:
        notes.append(str(why))
        return
    if not steps:
        yield from _of_folder(files, "", which, notes)
    for step in sorted(steps, key=_by_number):
        own: list[str] = []
        for told in _of_folder(files, f"{_STEPS}/{step}/", which, own):
            yield replace(told, conversation=replace(told.conversation, step=as_text(step)))
        notes += [f"step {step}: {note}" for note in own]


def _of_folder(files: TrialFiles, before: str, which: Episodes, notes: list[str]) -> Iterator[Told]:
    folder = f"{before}agent"
    try:
        names = files.names(folder)
        logs: Trajectories | EpisodeFolders = EpisodeFolders(files, folder, notes)
        if MAIN in names or not logs:
            logs = Trajectories(files, folder, notes)
        printed = _printed(files, f"{before}verifier", notes)
        for conversation in logs.conversations(which):
            yield Told(conversation, logs.instruction, printed)
    except Unexported as why:
        notes.append(str(why))


def _printed(files: TrialFiles, folder: str, notes: list[str]) -> str | None:
    parts = []
    for name in _VERIFIER_OUTPUT:
        try:
            parts.append(files.read(f"{folder}/{name}"))
        except Unexported as why:
            notes.append(str(why))
    known = [part.decode(errors="replace") for part in parts if part is not None]
    return "".join(known) if known else None


def _by_number(name: str) -> tuple[tuple[int, str], ...]:
    """What sorts ``step-10`` behind ``step-9``."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,9})", name))
