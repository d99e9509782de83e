"""What must not leave this machine in a text of a result: absolute paths and secrets."""

from __future__ import annotations

import re

from benchwright.arena.machine_paths import without_paths, without_paths_in_bytes
from benchwright.contract import HIDDEN, Redaction, names_a_secret

_SHORTEST_NAMED = 5
"""Characters that a text needs to be taken for a secret by its key."""
_FROM_ENVIRONMENT = 12
"""Characters. A shorter password of this machine may be an ordinary word, and hiding that would change a result."""
_SHORTEST_PATH = 2
LONGEST_NAME = 100
_MOST_REMEMBERED = 20_000
_SPECIAL = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
"""A special token of a language model."""


def redaction() -> Redaction:
    """What hides secrets in an artifact: known shapes, and those of this process's environment."""
    return Redaction(least=_FROM_ENVIRONMENT)


class Hiding:
    """How texts of many results are hidden, and which of them need not be looked at again.

    ``harmless`` are texts that hold nothing to hide: the names of features and parameters, which every result repeats.
    ``shortest`` is a length below which no text does.
    """

    def __init__(self, redact: Redaction, *, paths: bool) -> None:
        self.harmless: set[str] = set()
        self.shortest = _SHORTEST_PATH if paths else redact.shortest
        self._redact = redact
        self._paths = paths

    def __call__(self, text: str) -> tuple[str, bool]:
        """The text as it may be published, and whether that hides a secret."""
        redacted = self._redact(text)
        hidden = without_paths(redacted) if self._paths else redacted
        if hidden == text and not self.is_name(text):
            self._remember(text)
        return hidden, redacted != text

    def is_name(self, text: str) -> bool:
        """Whether a text is the name of a secret, so that what follows it may be one; no such text is harmless."""
        return len(text) <= LONGEST_NAME and names_a_secret(text)

    def in_bytes(self, text: str) -> tuple[str, bool]:
        """The same of bytes that are no text: in those only the paths of usual folders are met by more than chance."""
        redacted = self._redact(text)
        return without_paths_in_bytes(redacted) if self._paths else redacted, redacted != text

    def _remember(self, text: str) -> None:
        """Note a text that is harmless; there is room for those of a benchmark, not for a novel."""
        if len(text) <= LONGEST_NAME and len(self.harmless) < _MOST_REMEMBERED:
            self.harmless.add(text)


class HidingAll(Hiding):
    """How texts under a key that names a secret are hidden: each, whatever it looks like."""

    def __init__(self) -> None:
        super().__init__(Redaction({}), paths=True)
        self.shortest = _SHORTEST_NAMED

    def __call__(self, text: str) -> tuple[str, bool]:
        """The mark; but a special token of a language model, or a text too short to be secret, as it is."""
        hidden = text if len(text) < _SHORTEST_NAMED or text == HIDDEN or _SPECIAL.fullmatch(text) else HIDDEN
        return hidden, hidden != text

    def in_bytes(self, text: str) -> tuple[str, bool]:
        """As of a text."""
        return self(text)


def published(text: str, redact: Redaction) -> str:
    """The text without absolute paths and secrets."""
    return without_paths(redact(text))
