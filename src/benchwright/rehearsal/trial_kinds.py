"""The ways for a trial to end that grown job folders have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NO_RESULT = object()
"""What stands for the rewards of a trial without a verifier's result."""


@dataclass(frozen=True)
class Kind:
    """One way for a trial to end: what it records, and what that makes of it.

    ``rewards`` is what ``verifier_result.rewards`` holds; without it there is no verifier result. ``content`` is what
    stands in ``result.json`` instead of a result, None for no such file; ``named`` says whether the trial has its own
    configuration. ``state`` and ``reward`` are what has to come out.
    """

    state: str
    rewards: Any = NO_RESULT
    exception: str | None = None
    step_exception: str | None = None
    reward: float = 0.0
    ran: bool = True
    content: str | None = ""
    named: bool = True

    @property
    def readable(self) -> bool:
        """Whether the trial has a result, with a reward or without."""
        return self.state in ("valid", "unscored")


def _scored(value: Any, exception: str | None = None) -> Kind:
    return Kind("valid", {"reward": value}, exception, reward=float(value))


def _failed(exception: str, *, ran: bool = False) -> Kind:
    return Kind("unscored", exception=exception, ran=ran)


KINDS: Mapping[str, Kind] = {
    "pass": _scored(1.0),
    "fail": _scored(0.0),
    "partial": _scored(0.375),
    "whole-number": _scored(1),
    "true": _scored(True),
    "below-zero": _scored(-0.25),
    "above-one": _scored(2.5),
    "other-key": Kind("valid", {"accuracy": 1.0}, reward=1.0),
    "several-keys": Kind("valid", {"reward": 0.25, "style": 1.0}, reward=0.25),
    "timeout-scored": _scored(0.0, "AgentTimeoutError"),
    "timeout-passed": _scored(1.0, "AgentTimeoutError"),
    "context-scored": _scored(0.0, "ContextLengthExceededError"),
    "summary-scored": _scored(0.0, "SummarizationTimeoutError"),
    "bad-request-scored": _scored(0.0, "BadRequestError"),
    "exit-code-scored": _scored(1.0, "NonZeroAgentExitCodeError"),
    "rate-limit-scored": _scored(1.0, "ApiRateLimitError"),
    "step-failed-scored": Kind("valid", {"reward": 1.0}, step_exception="AgentTimeoutError", reward=1.0),
    "timeout": _failed("AgentTimeoutError", ran=True),
    "context": _failed("ContextLengthExceededError", ran=True),
    "verifier-runtime": _failed("VerifierRuntimeError", ran=True),
    "not-verified": _failed("VerificationNotCompletedError", ran=True),
    "not-scored": _failed("TrialNotScoredError"),
    "no-reward-file": _failed("RewardFileNotFoundError", ran=True),
    "no-tests": _failed("AddTestsDirError", ran=True),
    "no-sandbox": _failed("DaytonaError"),
    "no-key": _failed("DaytonaAuthenticationError"),
    "not-valid": _failed("DaytonaValidationError"),
    "no-start": _failed("EnvironmentStartTimeoutError"),
    "cancelled": _failed("CancelledError", ran=True),
    "unheard-of": _failed("BrandNewError"),
    "timeout-nan": Kind("unscored", {"reward": math.nan}, "AgentTimeoutError"),
    "nan": Kind("unscored", {"reward": math.nan}),
    "infinite": Kind("unscored", {"reward": -math.inf}),
    "text": Kind("unscored", {"reward": "1.0"}),
    "null": Kind("unscored", {"reward": None}),
    "listed": Kind("unscored", {"reward": [1.0]}),
    "empty": Kind("unscored", {}),
    "no-such-key": Kind("unscored", {"accuracy": 1.0, "style": 1.0}),
    "null-rewards": Kind("unscored", None),
    "unverified": Kind("unscored"),
    "step-failed": Kind("unscored", step_exception="AgentTimeoutError"),
    "cut-off": Kind("corrupt", content='{"id": "0c8a6f5e", "task_name": "x", "trial_na'),
    "nothing-in-it": Kind("corrupt", content=""),
    "something-else": Kind("corrupt", content='{"status": "fine"}'),
    "a-list": Kind("corrupt", content="[1, 2]"),
    "unfinished": Kind("missing", content=None),
    "unfinished-bare": Kind("missing", content=None, named=False),
}
"""Every way for a trial to end, by a name of ours."""
