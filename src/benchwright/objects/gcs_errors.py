"""What the errors of a Google Cloud Storage client mean: worth another try, or a problem with a fix.

Codes and reasons: https://cloud.google.com/storage/docs/json_api/v1/status-codes and
https://cloud.google.com/storage/docs/retry-strategy.
"""

from __future__ import annotations

import contextlib
from typing import Any

import requests
import urllib3.exceptions
from google.api_core.exceptions import GoogleAPICallError, RetryError
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, RefreshError, TransportError
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse

from benchwright.contract import Failure, redact
from benchwright.objects.attempts import StrangeAnswer
from benchwright.objects.refusals import credentials_refused, no_bucket, no_permission, refused, unavailable

_PASSING_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_PASSING_REASONS = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
"""Said with status 403, like a refusal."""
_CONNECTION = (requests.RequestException, urllib3.exceptions.HTTPError, TransportError, StrangeAnswer)
REMOTE_ERRORS = (GoogleAPICallError, RetryError, InvalidResponse, DataCorruption, GoogleAuthError, *_CONNECTION)
"""Everything that a request may raise through no fault of the code that made it."""
_FIX = (
    "set GOOGLE_APPLICATION_CREDENTIALS to a service account's key file, or run gcloud auth application-default login"
)


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, GoogleAPICallError | InvalidResponse):
        return status_of(error) in _PASSING_STATUS or _details(error)[0] in _PASSING_REASONS
    if isinstance(error, RefreshError):
        return bool(error.retryable)
    return isinstance(error, (RetryError, *_CONNECTION))


def is_lost_race(error: BaseException) -> bool:
    """Whether a condition of the request did not hold."""
    return status_of(error) == 412


def is_absent(error: BaseException) -> bool:
    """Whether there is no such object, no such bucket, or no such upload any more."""
    return status_of(error) == 404


def is_forbidden(error: BaseException) -> bool:
    """Whether the credentials, or the rights that come with them, do not suffice."""
    return status_of(error) in {401, 403}


def status_of(error: BaseException) -> int:
    """The HTTP status; 0 where there was no answer."""
    if isinstance(error, InvalidResponse):
        return int(getattr(error.response, "status_code", 0))
    return int(getattr(error, "code", None) or 0) if isinstance(error, GoogleAPICallError) else 0


def failure_of(error: Exception, where: str, attempts: int) -> Failure:
    """The failure that an error amounts to, without any secret in it; ``attempts`` is how often it was tried."""
    if isinstance(error, RetryError) and isinstance(error.cause, Exception):
        error = error.cause
    said = redact(_said(error))
    if is_passing(error):
        return unavailable(where, said, attempts)
    if isinstance(error, GoogleAuthError) or status_of(error) == 401:
        return credentials_refused(where, said, _FIX)
    if status_of(error) == 404:
        return no_bucket(where, said)
    if status_of(error) == 403:
        return no_permission(where, said, "the account", _FIX)
    return refused(where, said)


def _said(error: Exception) -> str:
    """One line of what went wrong, in the server's words where it had any."""
    if isinstance(error, GoogleAPICallError | InvalidResponse):
        reason, message = _details(error)
        text = " ".join(filter(None, ("HTTP", str(status_of(error)), reason))) + (f": {message}" if message else "")
    elif type(error) is DefaultCredentialsError:
        text = "no credentials found"
    else:
        text = str(error) or type(error).__name__
    return " ".join(text.split())[:300]


def _details(error: GoogleAPICallError | InvalidResponse) -> tuple[str, str]:
    """Reason and message of the answer's body, empty where it has none of that form."""
    with contextlib.suppress(ValueError, TypeError, KeyError, IndexError, AttributeError):
        said: dict[str, Any] = error.response.json()["error"]  # type: ignore[union-attr]
        reasons = [one["reason"] for one in said.get("errors", []) if "reason" in one]
        return str(reasons[0]) if reasons else "", str(said.get("message", ""))
    return "", ""
