"""A request sent as often as the patience with its store allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import tenacity

from benchwright.contract import Failure
from benchwright.objects.patience import Patience

T = TypeVar("T")


class StrangeAnswer(Exception):
    """A server that answered, and not as its protocol says: a proxy's page, a cut body."""


class Expected(Exception):
    """An error that the caller of a request asked for, and how often the request was sent until it came."""

    def __init__(self, error: Exception, attempts: int) -> None:
        self.error = error
        self.attempts = attempts
        super().__init__(str(error))


def repeat(
    once: Callable[[], T],
    patience: Patience,
    *,
    errors: tuple[type[Exception], ...],
    is_passing: Callable[[BaseException], bool],
    expect: Callable[[BaseException], bool],
    failure: Callable[[Exception, int], Failure],
) -> T:
    """What ``once`` gives, called again after an error that may pass.

    ``errors`` are what a request may raise through no fault of the code that made it, and ``failure`` is what such an
    error amounts to after that many attempts.

    Raises:
        Expected: an error for which ``expect`` is true.
        Failure: any other of ``errors``.
    """
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(lambda error: is_passing(error) and not expect(error)),
        stop=tenacity.stop_after_attempt(patience.attempts),
        wait=tenacity.wait_exponential(multiplier=patience.first_wait, max=patience.longest_wait)
        + tenacity.wait_random(0, patience.first_wait),
        reraise=True,
    )
    try:
        return retrying(once)
    except errors as error:
        attempts = int(retrying.statistics.get("attempt_number", 1))
        if expect(error):
            raise Expected(error, attempts) from None
        raise failure(error, attempts) from None
