"""What an S3 client's errors mean: worth another try, or a problem with a fix.

Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and
https://developers.cloudflare.com/r2/api/error-codes/.
"""

from __future__ import annotations

from collections.abc import Mapping

from botocore import exceptions, parsers  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from benchwright.contract import Failure, redact
from benchwright.objects.attempts import StrangeAnswer
from benchwright.objects.refusals import credentials_refused, lacking, no_bucket, no_permission, refused, unavailable

_PASSING_STATUS = frozenset({408, 429, 500, 502, 503, 504})
_PASSING_CODES = frozenset(
    {"SlowDown", "RequestTimeout", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests"}
    | {
        "InternalError",
        "ServiceUnavailable",
        "BadDigest",
        "InvalidDigest",
        "XAmzContentSHA256Mismatch",
        "OperationAborted",
    }
)
_WRONG_CREDENTIALS = frozenset(
    {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired"}
    | {"Unauthorized", "401", "AuthorizationHeaderMalformed", "RequestTimeTooSkewed", "InvalidSecurity"}
)
_WRONG_REGION = frozenset(
    {"PermanentRedirect", "301", "TemporaryRedirect", "307", "IllegalLocationConstraintException"}
)
_LOST = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412"})
_ABSENT = frozenset({"NoSuchKey", "404", "NotFound"})

_CONNECTION = (
    exceptions.ConnectionError,
    exceptions.HTTPClientError,
    exceptions.IncompleteReadError,
    exceptions.ChecksumError,
)
_NO_CREDENTIALS = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.ProfileNotFound,
    exceptions.TokenRetrievalError,
    exceptions.UnauthorizedSSOTokenError,
)


REMOTE_ERRORS = (ClientError, StrangeAnswer, parsers.ResponseParserError, *_CONNECTION, *_NO_CREDENTIALS)
"""Everything that a request may raise through no fault of the code that made it."""


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, ClientError):
        return code_of(error) in _PASSING_CODES or status_of(error) in _PASSING_STATUS
    return isinstance(error, (StrangeAnswer, parsers.ResponseParserError, *_CONNECTION))


def is_lost_race(error: BaseException) -> bool:
    """Whether a condition of the request did not hold."""
    return isinstance(error, ClientError) and (code_of(error) in _LOST or status_of(error) == 412)


def is_absent(error: BaseException) -> bool:
    """Whether there is no such object; an absent bucket is told apart where the server does."""
    return isinstance(error, ClientError) and code_of(error) in _ABSENT


def is_unknown_upload(error: BaseException) -> bool:
    """Whether the store does not know, or no longer knows, a multipart upload."""
    return isinstance(error, ClientError) and code_of(error) == "NoSuchUpload"


def is_forbidden(error: BaseException) -> bool:
    """Whether the credentials, or the rights that come with them, do not suffice."""
    return isinstance(error, ClientError) and status_of(error) in {401, 403}


def code_of(error: ClientError) -> str:
    """The error's code; the HTTP status in words where the answer had no body."""
    return str(error.response.get("Error", {}).get("Code", ""))


def status_of(error: ClientError) -> int:
    """The HTTP status."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def failure_of(error: Exception, where: str, kind: str, attempts: int, settings: Mapping[str, str]) -> Failure:
    """The failure that an error amounts to, without any secret in it.

    ``attempts`` is how often the request was sent, ``settings`` the values that must not be shown.
    """
    said = redact(_said(error), settings)
    names = (
        "R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY" if kind == "r2" else "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )
    if is_passing(error):
        return unavailable(where, said, attempts)
    if isinstance(error, _NO_CREDENTIALS) or _code(error) in _WRONG_CREDENTIALS:
        fix = f"set {names} in the environment or in a .env file (the environment wins)"
        if _code(error) == "RequestTimeTooSkewed":
            fix = "set this machine's clock"
        return credentials_refused(where, said, fix)
    if _code(error) == "NoSuchBucket":
        return no_bucket(where, said)
    if _code(error) in _WRONG_REGION:
        fix = "set AWS_REGION to the bucket's region" if kind == "s3" else "correct R2_ENDPOINT_URL or R2_ACCOUNT_ID"
        return lacking("wrong-region", where, said, "the endpoint of the bucket's region", fix)
    if isinstance(error, ClientError) and status_of(error) == 403:
        return no_permission(where, said, "the key", f"set {names} to one that has it")
    if isinstance(error, ClientError) and status_of(error) == 501:
        expected = "a store with conditional writes (If-None-Match, If-Match) and multipart uploads"
        return lacking("store-lacks", where, said, expected, "take another store; this one cannot hold artifacts")
    if isinstance(error, ClientError) and status_of(error) == 507:
        fix = "raise the store's quota, or have room made there, then run this again"
        return lacking("store-full", where, said, "room for the object", fix)
    return refused(where, said)


def _code(error: Exception) -> str:
    return code_of(error) if isinstance(error, ClientError) else ""


def _said(error: Exception) -> str:
    """One line of what went wrong, in the server's words where it had any."""
    if isinstance(error, ClientError):
        message = str(error.response.get("Error", {}).get("Message", "")).strip()
        code, status = code_of(error), str(status_of(error))
        text = f"HTTP {status}" + (f" {code}" if code != status else "") + (f": {message}" if message else "")
    elif isinstance(error, parsers.ResponseParserError):
        text = "an answer that is not S3's"
    else:
        text = str(error) or type(error).__name__
    return " ".join(text.split())[:300]
