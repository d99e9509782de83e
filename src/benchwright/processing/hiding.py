"""What must not leave this machine in a text of a result: absolute paths and secrets."""

from __future__ import annotations

import re

from benchwright.contract import HIDDEN, Redaction

HIDDEN_PATH = "<path>"
SHORTEST_NAMED = 8
"""Characters that a text needs to be taken for a secret by its key."""
_FROM_ENVIRONMENT = 12
"""Characters. A shorter password of this machine may be an ordinary word, and hiding that would change a result."""
_SHORTEST_PATH = 2
_LONGEST_REMEMBERED = 100
_MOST_REMEMBERED = 20_000
_ROOTED = re.compile(r"(?:file://)?/[\w.~-](?:\S*$|.*/)|[A-Za-z]:[\\/]|\\\\\w")
"""How a line begins that is an absolute path and nothing else, spaces in its names included."""
_INSIDE = re.compile(r"""(?<![\w.<>/\\-])(?:file://)?(?:/[\w.@+~-]+){2,}/?|(?<!\w)[A-Za-z]:\\[\w.@+~\\-]+""")
"""An absolute path within a text: two names at least, and nothing before it as in a fraction or a web address."""
_SECRET_ENDINGS = ("token", "secret", "password", "passwd", "credential", "credentials", "key", "key_id", "keyid")
_SECRET_KEY = re.compile(
    r"(?:^|[_\W])(?:(?:access|api|auth|bearer|refresh|session)?[_-]?token|secret|passw(?:or)?d|credentials?"
    r"|(?:access|api|private|secret)[_-]?key(?:[_-]?id)?)$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(rf"[^\s\[<]\S{{{SHORTEST_NAMED - 1},}}")
"""A word, but none in brackets, as the special tokens of language models are."""


def redaction() -> Redaction:
    """What hides secrets in an artifact: known shapes, and those of this process's environment."""
    return Redaction(least=_FROM_ENVIRONMENT)


class Hiding:
    """How texts of many results are hidden, and which of them need not be looked at again.

    ``harmless`` are texts that hold nothing to hide: the names of features and parameters, which every result repeats.
    ``shortest`` is a length below which no text does.
    """

    def __init__(self, redact: Redaction, *, paths: bool) -> None:
        self.redact = redact
        self.harmless: set[str] = set()
        self.shortest = _SHORTEST_PATH if paths else redact.shortest
        self._paths = paths

    def without_paths(self, text: str) -> str:
        """The text, without absolute paths where these are to be hidden."""
        return without_paths(text) if self._paths else text

    def remember(self, text: str) -> None:
        """Note a text that is harmless; there is room for those of a benchmark, not for a novel."""
        if len(text) <= _LONGEST_REMEMBERED and len(self.harmless) < _MOST_REMEMBERED:
            self.harmless.add(text)


def without_paths(text: str) -> str:
    """The text, itself if it names no absolute path."""
    if "/" not in text and "\\" not in text:
        return text
    rooted = "\n" not in text and _ROOTED.match(text)
    hidden = HIDDEN_PATH if rooted else _INSIDE.sub(HIDDEN_PATH, text)
    return text if hidden == text else hidden


def published(text: str, redact: Redaction) -> str:
    """The text without absolute paths and secrets."""
    return without_paths(redact(text))


def names_a_secret(key: str) -> bool:
    """Whether the text under this key is a secret whatever it looks like: ``api_key``, ``HF_TOKEN``, ``password``."""
    return key.lower().endswith(_SECRET_ENDINGS) and _SECRET_KEY.search(key) is not None


def without_named_secret(text: str) -> str:
    """The text under a key that `names_a_secret`; itself where it is too short, or no single word."""
    return HIDDEN if _SECRET_VALUE.fullmatch(text) else text
