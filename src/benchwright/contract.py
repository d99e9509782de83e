"""The words every part shares: problems, outcomes, exit codes, the JSON envelope and redaction.

``references/script-contract.md`` is the public form of this module. It imports the standard library alone, so that
any script can say what is wrong before a single optional package is there.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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


_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|ACCESS_KEY|API_?KEY|SERVICE_ROLE|PRIVATE_KEY", re.I)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")
_KNOWN_TOKENS = re.compile(r"\b(?:hf_|sk-|ghp_|eyJ)[A-Za-z0-9_\-.]{16,}")
_SHORTEST_SECRET = 6
HIDDEN = "[hidden]"


def secrets_in(env: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names say that they are secret, without values that are too short to tell."""
    return {name: value for name, value in env.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET}


def redact(text: str, env: Mapping[str, str] | None = None) -> str:
    """Hide secrets in a text: values of secret-looking environment variables, credentials in URLs, known token shapes.

    Values shorter than six characters are left alone, since hiding them would punch holes into ordinary words.
    """
    for value in sorted(secrets_in(os.environ if env is None else env).values(), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    text = _URL_CREDENTIALS.sub(HIDDEN, text)
    return _KNOWN_TOKENS.sub(HIDDEN, text)


def some(names: Iterable[str], most: int = 3) -> str:
    """The first ``most`` of several names for a message, and how many more there are: ``a, b, c and 2 more``."""
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 split``, ``2,700 splits``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def said(error: OSError) -> str:
    """What the operating system says of a refusal, in the middle of a sentence: ``no such file or directory``."""
    return (error.strerror or str(error)).lower()
