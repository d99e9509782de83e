"""The journal of a search beside its list: what has been answered, so that a search that was killed goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import read_bytes

_ABOUT = "about"
_MOST_BYTES = 2**30


class Journal:
    """Answers by kind and question; a later one replaces an earlier. Each is on the disk once `put` returns.

    ``about`` says which search it is of.

    Raises:
        Failure: the file is of another search (exit 2), or no journal (exit 5).
    """

    def __init__(self, path: Path, about: Any) -> None:
        self.path = path
        self._known: dict[tuple[str, str], Any] = {}
        self._size = 0
        self._read()
        if self._known and self.get(_ABOUT) != about:
            raise self._other_search(about)
        self._about = about

    def get(self, kind: str, question: str = "") -> Any:
        """The answer to a question, None where there is none."""
        return self._known.get((kind, question))

    def of_kind(self, kind: str) -> dict[str, Any]:
        """All answers of a kind."""
        return {question: answer for (one, question), answer in self._known.items() if one == kind}

    def put(self, kind: str, question: str, answer: Any) -> None:
        """Note an answer, of what JSON can hold; numbers with a fraction are noted as their texts."""
        self.put_all(kind, {question: answer})

    def put_all(self, kind: str, answers: Mapping[str, Any]) -> None:
        """Note several answers of a kind."""
        if not answers:
            return
        if not self._known and kind != _ABOUT:  # not before there is something to keep
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.put(_ABOUT, "", self._about)
        lines = [
            json.dumps([kind, question, answer], ensure_ascii=False, default=str)
            for question, answer in answers.items()
        ]
        with self.path.open("ab") as file:
            file.truncate(self._size)  # what a killed search wrote in part
            file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
            self._size = file.tell()
        self._known |= {(kind, question): json.loads(line)[2] for question, line in zip(answers, lines, strict=True)}

    def once(self, kind: str, question: str, ask: Callable[[], Any]) -> Any:
        """The answer to a question, asked where it is not known."""
        if (kind, question) not in self._known:
            self.put(kind, question, ask())
        return self._known[kind, question]

    def _read(self) -> None:
        try:
            content = read_bytes(self.path, limit=_MOST_BYTES)
        except FileNotFoundError:
            return
        self._size = content.rfind(b"\n") + 1
        try:
            for text in content[: self._size].splitlines():
                kind, question, answer = json.loads(text)
                self._known[str(kind), str(question)] = answer
            if self._known and next(iter(self._known)) != (_ABOUT, ""):
                raise ValueError("no first line")
        except (ValueError, TypeError, RecursionError):
            fix = "move it away to search anew; rows are then numbered anew"
            problem = Problem("journal", str(self.path), "no journal of a search, or a damaged one", "one", fix)
            raise Failure(problem, exit=Exit.REFUSED) from None

    def _other_search(self, about: Any) -> Failure:
        before = self.get(_ABOUT)
        differing = sorted(name for name in {*before, *about} if before.get(name) != about.get(name))
        found = f"of another search: {', '.join(f'{name} {before.get(name)}' for name in differing)}"
        return usage_error(str(self.path), found, "the same options", "name another OUT.csv", code="other-search")
