"""Episode folders, which terminus-2 wrote before it wrote trajectories: the input of each request, and its answer.

Source of the format: ``harbor.utils.traces_utils`` of Harbor 0.1.17.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.traces.conversation import Conversation, Turn, text_of
from benchwright.harbor.traces.trajectories import Episodes
from benchwright.harbor.traces.trial_files import TrialFiles
from benchwright.harbor.traces.unexported import Unexported

_EPISODE = re.compile(r"episode-(\d{1,9})")
_ANSWERS = ("content", "text", "message", "output")
"""Where an answer may have its text."""


class _Message(msgspec.Struct, gc=False):
    role: str
    content: Any = None


class _Request(msgspec.Struct, gc=False):
    input: list[_Message] | None = None
    messages: list[_Message] | None = None


_REQUEST = msgspec.json.Decoder(_Request)
_ANY = msgspec.json.Decoder()


class EpisodeFolders:
    """The episodes in ``folder`` of a trial, by number. ``notes`` gathers what of them is in no row, and why."""

    def __init__(self, files: TrialFiles, folder: str, notes: list[str]) -> None:
        self._files = files
        self._folder = folder
        self._notes = notes
        names = map(_EPISODE.fullmatch, files.names(folder))
        self._numbers = sorted(int(found[1]) for found in names if found)
        self.instruction: str | None = None

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def conversations(self, which: Episodes) -> Iterator[Conversation]:
        """The conversation of each episode, or of the last one that has an answer."""
        for number in reversed(self._numbers) if which == "last" else self._numbers:
            try:
                turns = self._turns(f"{self._folder}/episode-{number}")
            except Unexported as why:
                self._notes.append(str(why))
                continue
            self.instruction = next((text.strip() for _, text in turns if text.strip()), None)
            yield Conversation(turns, [(number, len(turns))])
            if which == "last":
                return

    def _turns(self, folder: str) -> list[Turn]:
        request = self._files.read(f"{folder}/debug.json")
        if request is None:
            raise Unexported(f"{folder} has no debug.json")
        try:
            asked = decode(request, _REQUEST)
        except NotJson as error:
            raise Unexported(f"{folder}/debug.json cannot be read: {error}") from None
        turns = [(message.role, text_of(message.content)) for message in asked.input or asked.messages or ()]
        return [*turns, ("assistant", self._answer(folder))]

    def _answer(self, folder: str) -> str:
        answer = self._files.read(f"{folder}/response.json")
        if answer is None:
            text = self._files.read(f"{folder}/response.txt")
            if text is None:
                raise Unexported(f"{folder} has no answer")
            return text.decode(errors="replace")
        try:
            content = decode(answer, _ANY)
        except NotJson as error:
            raise Unexported(f"{folder}/response.json cannot be read: {error}") from None
        if isinstance(content, dict):
            for name in _ANSWERS:
                if isinstance(content.get(name), str | list | dict) and (said := text_of(content[name])):
                    return said
        return json.dumps(content, ensure_ascii=False)
