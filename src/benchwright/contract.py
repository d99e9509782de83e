"""The words every part shares: problems, outcomes, exit codes, the JSON envelope and redaction.

``references/script-contract.md`` is the public form of this module. It imports the standard library alone, so that
any script can say what is wrong before a single optional package is there.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from typing import Any, Literal, Protocol

from benchwright import __version__

DRY_RUN = "DRY RUN: nothing written"
"""How a run of a writer without ``--apply`` begins and ends."""


class Exit(IntEnum):
    """Exit codes of every script."""

    DONE = 0
    """The work is done."""
    NO = 1
    """A check says no: a mismatch, a gate, a failed item."""
    USAGE = 2
    """The command line or a value in a file the user edits is wrong."""
    ENVIRONMENT = 3
    """Something this machine lacks: a package, a credential, a service. The problem names the command that fixes it."""
    REMOTE = 4
    """A remote or passing failure. Running the command again is right."""
    REFUSED = 5
    """Refused for safety: someone else's row, a contested state, an unknown."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and what to do about it.

    ``code`` is a stable kebab-case word to match on, ``where`` a path, row or option, ``found`` and ``expected`` short
    clauses, ``fix`` the next step, a command wherever there is one.
    """

    code: str
    where: str
    found: str
    expected: str = ""
    fix: str = ""

    def __str__(self) -> str:
        """The problem as one line of prose, with the fix on a line of its own."""
        expected = f", expected {self.expected}" if self.expected else ""
        fix = f"\n    fix: {self.fix}" if self.fix else ""
        return f"{self.where}: {self.found}{expected}{fix}"

    def to_dict(self) -> dict[str, str]:
        """The problem in the JSON envelope's form."""
        return {
            "code": self.code,
            "where": self.where,
            "found": self.found,
            "expected": self.expected,
            "fix": self.fix,
        }


Severity = Literal["error", "warn", "context"]
"""How grave a finding is: it stops something, it is worth a look, or it explains."""


class Failure(Exception):
    """Work that cannot go on, with every problem known by then and the exit code to leave with."""

    def __init__(
        self, problems: Problem | Iterable[Problem], *, exit: Exit = Exit.NO, next: Sequence[str] = ()
    ) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.exit = exit
        self.next = tuple(next)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive the way back from a worker process whole."""
        return _failure, (self.problems, self.exit, self.next)


def _failure(problems: Sequence[Problem], exit: Exit, next: Sequence[str]) -> Failure:
    return Failure(problems, exit=exit, next=next)


def usage_error(where: str, found: str, expected: str = "", fix: str = "", *, code: str = "usage") -> Failure:
    """A failure whose cause is what the user typed or wrote (exit 2)."""
    return Failure(Problem(code, where, found, expected, fix), exit=Exit.USAGE)


class Failures:
    """The failures of steps that do not wait for each other, to be told at once."""

    def __init__(self) -> None:
        self._failures: list[Failure] = []

    @contextlib.contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the failure of the step within, if it fails, and go on behind it."""
        try:
            yield
        except Failure as failure:
            self._failures.append(failure)

    def settle(self) -> None:
        """Go on where no step failed.

        Raises:
            Failure: every problem of the steps that did, with the highest of their exit codes.
        """
        if self._failures:
            problems = [problem for failure in self._failures for problem in failure.problems]
            raise Failure(problems, exit=max(failure.exit for failure in self._failures))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a script has to say: a human summary, the same as data, problems, and the commands that come next.

    ``details`` are lines a person wants after the summary (a table, a list; one that holds several lines is shown whole
    or not at all), ``closing`` lines that belong at the very end, behind the problems, ``next_title`` is the line above
    the next commands. None of them is part of the envelope,
    whose ``data`` holds the same facts. ``signal`` is the one that stopped the work, if one did.
    """

    summary: str
    data: Mapping[str, Any] = field(default_factory=dict)
    details: Sequence[str] = ()
    problems: Sequence[Problem] = ()
    next: Sequence[str] = ()
    next_title: str = "next:"
    closing: Sequence[str] = ()
    exit: Exit = Exit.DONE
    signal: int | None = None

    @property
    def code(self) -> int:
        """What the process leaves with: the exit code, or 128 + n when signal n stopped the work."""
        return int(self.exit) if self.signal is None else 128 + self.signal

    @classmethod
    def of_failure(cls, failure: Failure) -> Outcome:
        """The outcome that a failure amounts to."""
        count = len(failure.problems)
        summary = failure.problems[0].found if count == 1 else f"{count} problems"
        return cls(summary=summary, problems=failure.problems, next=failure.next, exit=failure.exit)

    def envelope(self, script: str) -> dict[str, Any]:
        """The one JSON object that ``--json`` prints."""
        return {
            "script": script,
            "version": __version__,
            "ok": self.code == Exit.DONE,
            "exit": self.code,
            "summary": self.summary,
            "data": dict(self.data),
            "problems": [problem.to_dict() for problem in self.problems],
            "next": list(self.next),
        }


class Progress(Protocol):
    """What a package calls to say how far it is; ``benchwright.cli`` turns it into a bar or into plain lines."""

    def __call__(self, done: int, total: int, *, failed: int = 0, note: str = "") -> None:
        """``done`` and ``failed`` of ``total`` have ended; ``note`` names what is at work."""


_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|ACCESS_KEY|API_?KEY|SERVICE_ROLE|PRIVATE_KEY", re.I
)
_NAME = (
    r"(?:tokens?|secrets?|passw(?:or)?ds?|passphrases?|passcodes?|credentials?|authorization"
    r"|(?:api|access|account|auth|client|encryption|master|private|secret|session|signing|ssh)[ _-]?keys?"
    r"(?:[_-]?ids?)?)"
)
"""What the name of a secret ends with, in any case."""
_NAMES_A_SECRET = re.compile(rf"{_NAME}[_\W\d]*$", re.I)
_COUNT_OF_TOKENS = re.compile(
    r"(?:^|[^a-z])(?:n|num|number|of|max|min|total|prompt|completion|input|output|context|new|special|stop)[^a-z]?tokens$",
    re.I,
)
"""What language models count, or list."""
_HINTS = ("token", "secret", "passw", "passphrase", "passcode", "credential", "key", "authorization", "bearer")
"""One of these is in every text that gives a secret by its name."""
_IN_WORD = r"[^\s'\"`,;&|<>\[\]{}()\\]"
_PUT_IN = r"\$\{\w+:\?\}"
"""What a shell puts a value in for, and stops where there is none: ``${NAME:?}``."""
_WORD = (
    rf"(?![\[<{{$(*=-]|(?:\.\.?|~)/|(?:\w+=\"{_PUT_IN}\",?)+(?!\S))(?!\d+(?:\.\d*)?(?![\w-]))"
    rf"(?!env:[A-Za-z_]\w*(?![^\s'\"`,;&|])){_IN_WORD}{{8,}}"
)
"""A value of a text that may be a secret: no number, no mark, and nothing that a shell puts a value in for.

Nor is a path that begins with ``./``, ``../`` or ``~/``, unquoted, or ``env:NAME``, which names the variable that has
the value, or a list of nothing but ``NAME=`` before what a shell puts in.
"""
_VARIABLE = rf"(?<=--secret\s)(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?!{_IN_WORD})"
"""What SkyPilot's ``--secret`` takes: the name of the variable that has the value.

One without an underscore is not told from a value.
"""
_QUOTED = "|".join(
    rf"b?{mark}(?![\[<]|\"?{_PUT_IN}\"?{mark}|[^{mark}\n]*\[hidden])[^{mark}\n]{{8,}}{mark}" for mark in "\"'"
)
_VALUE = f"(?:{_QUOTED}|{_WORD})"
_NAMED_SECRET = re.compile(
    "|".join(
        (
            rf"""(authorization['"]?\s{{0,2}}[:=]\s{{0,2}}['"]?(?:(?:basic|bearer|digest|token)\s{{1,2}})?){_WORD}""",
            rf"(\bbearer\s{{1,2}}){_WORD}",
            rf"""({_NAME}['"]?\s{{0,2}}=\s{{0,2}}|{_NAME}['"]\s{{0,2}}:\s{{0,2}}){_VALUE}""",
            rf"({_NAME}:\s{{0,2}})(?=\w{{0,80}}\d)(?=\w{{0,80}}[a-z])[\w+/=.~-]{{8,}}",
            rf"((?<![\w-])--[\w-]{{0,40}}?{_NAME}\s{{1,2}})(?!{_VARIABLE}){_VALUE}",
        )
    ),
    re.I,
)
"""A secret with its name before it: ``API_KEY=...``, ``--token ...``, ``"password": "..."``, ``Bearer ...``."""
_QUERY = re.compile(rf"([?&][\w.-]{{0,40}}?(?:{_NAME}|key|sig|signature)=)[^&#\s'\"\[<{{$][^&#\s'\"]{{5,}}", re.I)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END[^\n]*|\Z)", re.DOTALL)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]*:[^/\s]+(?=@)")
_KNOWN_TOKENS = re.compile(
    r"\b(?:(?:hf_|sk-|gh[opsu]_|github_pat_|glpat-|eyJ|AIza|xox[abeoprs]-|gsk_)[A-Za-z0-9_\-.]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b)",
    re.ASCII,
)
_SHORTEST_SECRET = 6
_SHORTEST_TOLD = 14
"""Characters of ``token=`` and a value."""
HIDDEN = "[hidden]"


def secrets_in(env: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names say that they are secret, without values that are too short to tell."""
    return {name: value for name, value in env.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET}


@functools.lru_cache(maxsize=4096)
def names_a_secret(key: str) -> bool:
    """Whether what is under this key is secret whatever it looks like: ``api_key``, ``hfToken``, ``password``."""
    return _NAMES_A_SECRET.search(key) is not None and _COUNT_OF_TOKENS.search(key) is None


class Redaction:
    """Hides secrets in many texts, having looked at the environment once: what `redact` does to one.

    Values of the environment count from ``least`` characters. ``shortest`` is the length below which a text without a
    slash holds no secret.
    """

    def __init__(self, env: Mapping[str, str] | None = None, *, least: int = _SHORTEST_SECRET) -> None:
        env = os.environ if env is None else env
        secrets = {value for value in secrets_in(env).values() if len(value) >= least}
        self._values = sorted(secrets, key=lambda value: (-len(value), value))
        self.shortest = min([_SHORTEST_TOLD, *map(len, secrets)])

    def __call__(self, text: str) -> str:
        """The text with every secret hidden; itself if there is none."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        if "://" in text:
            text = _URL_CREDENTIALS.sub(HIDDEN, text)
        if "-----BEGIN" in text:
            text = _PRIVATE_KEY.sub(HIDDEN, text)
        text = _KNOWN_TOKENS.sub(HIDDEN, text)
        if "=" in text and ("?" in text or "&" in text):
            text = _QUERY.sub(_after_its_name, text)
        return _NAMED_SECRET.sub(_after_its_name, text) if _may_name_a_secret(text) else text


def _after_its_name(found: re.Match[str]) -> str:
    return f"{found[found.lastindex or 0]}{HIDDEN}"


def _may_name_a_secret(text: str) -> bool:
    # Most texts give no value to a name, and a search for words is ten times as fast as the pattern.
    lower = text.lower()
    return ("=" in text or ":" in text or "--" in text or "bearer" in lower) and any(map(lower.__contains__, _HINTS))


def redact(text: str, env: Mapping[str, str] | None = None) -> str:
    """Hide secrets in a text: by the environment, by their shape, by the name before them.

    Those are the values of secret-looking environment variables; known tokens, private keys, and credentials in URLs;
    and what follows ``API_KEY=``, ``--token``, ``Bearer`` and the like. Values of the environment shorter than six
    characters are left alone, since hiding them would punch holes into ordinary words.
    """
    return Redaction(env)(text)


def some(names: Iterable[str], most: int = 3) -> str:
    """The first ``most`` of several names for a message, and how many more there are: ``a, b, c and 2 more``."""
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def printable(text: str) -> str:
    """A text as a terminal may show it: as it is, or with escapes, in quotes."""
    return text if text.isprintable() else ascii(text)


_NAMES_SHOWN = 40


def near_names(word: str, known: Iterable[str]) -> str:
    """What may have been meant by a name that there is not, as a question; empty where nothing is like it."""
    from difflib import get_close_matches

    by_folded = {name.casefold(): name for name in sorted(set(known))}
    if word.casefold() in by_folded:
        close = [by_folded[word.casefold()]]
    else:
        close = [by_folded[folded] for folded in get_close_matches(word.casefold(), by_folded, n=3, cutoff=0.6)]
    return f"did you mean {' or '.join(map(repr, close))}?" if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to type instead of ``word``: the closest known names, or else the first 40 of all of them, sorted."""
    names = sorted(set(known))
    if not names:
        return "there are none"
    return near_names(word, names) or f"one of {some(names, _NAMES_SHOWN)}"


_MARKDOWN_SIGNS = re.compile(r"[\\`*\[\]<>|&~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""What Markdown reads as more than a letter, wherever it stands; an underscore inside a word is one."""
_MARKDOWN_STARTS = re.compile(r"^(?=[-+#=:])|^(\d+)(?=[.)](?: |$))")


def as_markdown(text: str) -> str:
    """A line from outside as Markdown shows it letter by letter."""
    escaped = _MARKDOWN_SIGNS.sub(lambda found: f"\\{found[0]}", text)
    return _MARKDOWN_STARTS.sub(lambda found: f"{found[1] or ''}\\", escaped)


def is_day(text: str) -> bool:
    """Whether a text is a day that there is, written YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 split``, ``2,700 splits``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def said(error: OSError) -> str:
    """What the operating system says of a refusal, in the middle of a sentence: ``no such file or directory``."""
    return str(error.strerror or error).lower()


def named(error: BaseException) -> str:
    """An exception in words: ``ZeroDivisionError: division by zero``; its kind alone where it has no text to show."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}".removesuffix(": ")
    except (Exception, SystemExit):  # noqa: BLE001  an exception of someone else's, whose text may raise anything
        return kind
