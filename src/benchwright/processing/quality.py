"""What is doubtful in results that are used all the same, gathered a split at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sized

from benchwright.processing.findings import Finding
from benchwright.processing.split import RESOURCES, is_too_large
from benchwright.raw.result import Result

_MANY = 0.01
"""On a GPU, stored test predictions often differ in a few rows from their children's mean."""
_NEVER_NEGATIVE = ("metric_error", "metric_error_val", "time_train_s", "time_infer_s")


class Quality:
    """The oddities of one split's results: a finding a kind, however many results share it, with the worst one."""

    def __init__(self) -> None:
        self._results = 0
        self._place = ("", 0)
        self._not_close: dict[str, list[tuple[float, str]]] = {}
        self._negative: dict[str, list[tuple[float, str]]] = {}
        self._with_secret: list[str] = []
        self._too_large: dict[str, list[str]] = {}

    def note(self, result: Result, *, had_secret: bool) -> None:
        """Look at one result; only numbers are kept of it. ``had_secret`` says that a secret was hidden in it."""
        self._results += 1
        self._place = (result.dataset, result.split)
        for part, share in result.not_close.items():
            self._not_close.setdefault(part, []).append((share, result.framework))
        for name in _NEVER_NEGATIVE:
            value = getattr(result, name)
            if value is not None and value < 0:
                self._negative.setdefault(name, []).append((value, result.framework))
        for name in RESOURCES:
            if is_too_large(result.method_metadata.get(name)):
                self._too_large.setdefault(name, []).append(result.framework)
        if had_secret:
            self._with_secret.append(result.framework)

    def findings(self) -> Iterator[Finding]:
        """The findings of the results seen so far."""
        for part, shares in sorted(self._not_close.items()):
            worst, framework = max(shares)
            yield Finding(
                f"not-close-{part.lower()}",
                "warn" if part == "VAL" or worst >= _MANY else "context",
                *self._place,
                framework,
                f"Not close {part}: {worst:.3%} of its stored predictions{self._others(shares)}",
                "the mean of its children, which is used instead",
                "ask whoever ran it whether the children were kept as they were",
            )
        for name, values in sorted(self._negative.items()):
            worst, framework = min(values)
            yield Finding(
                "negative-error" if name.startswith("metric") else "negative-time",
                "warn",
                *self._place,
                framework,
                f"{name} is {worst}{self._others(values)}",
                "0 or more",
                f"run the item again{'; leaderboards refuse negative errors' * (name == 'metric_error')}",
            )
        if self._with_secret:
            yield Finding(
                "secret-hidden",
                "warn",
                *self._place,
                self._with_secret[0],
                f"its result holds a secret, which is hidden in the artifact{self._others(self._with_secret)}",
                "results that everyone may read",
                "revoke the secret, and keep the raw results to yourself",
            )
        for name, frameworks in sorted(self._too_large.items()):
            yield Finding(
                "number-too-large",
                "warn",
                *self._place,
                frameworks[0],
                f"{name} is a whole number of more than 64 bits{self._others(frameworks)}",
                "a number that a table can hold; it is rounded there, or left out",
                "ask whoever ran it what the number means",
            )

    def _others(self, those: Sized) -> str:
        count = len(those)
        return f" (and {count - 1} more of {self._results} results)" if count > 1 else ""
