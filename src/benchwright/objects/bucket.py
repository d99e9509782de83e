"""One bucket and the requests to it: sent again while that may help, their errors put into words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from benchwright.contract import Exit, Failure, Problem
from benchwright.objects.attempts import StrangeAnswer, repeat
from benchwright.objects.credentials import Credentials
from benchwright.objects.patience import Patience
from benchwright.objects.refusals import missing_client

try:
    import boto3  # type: ignore[import-untyped]
    from botocore.config import Config  # type: ignore[import-untyped]
    from botocore.exceptions import BotoCoreError, HTTPClientError  # type: ignore[import-untyped]
except ModuleNotFoundError as error:
    raise missing_client(error, "boto3", "stores behind the S3 protocol", "s3") from None

from benchwright.objects.s3_errors import REMOTE_ERRORS, failure_of, is_passing

T = TypeVar("T")

_CONNECTIONS = 16


class Bucket:
    """A bucket, the client to it and the patience with it; safe to use from several threads."""

    def __init__(self, name: str, kind: str, url: str, credentials: Credentials, patience: Patience) -> None:
        self.name = name
        self.url = url
        self._kind = kind
        self._patience = patience
        self._hidden = {
            "ACCESS_KEY_ID": credentials.key_id or "",
            "SECRET": credentials.secret or "",
            "TOKEN": credentials.session_token or "",
        }
        self._client = self._make_client(credentials)

    def where(self, key: str) -> str:
        """An object as problems name it."""
        return f"{self.url}/{key}" if key else self.url

    def send(
        self,
        key: str,
        operation: str,
        *,
        expect: Callable[[BaseException], bool] = lambda _: False,
        needs: tuple[str, ...] = (),
        **arguments: Any,
    ) -> Mapping[str, Any]:
        """The answer to one operation of the client, sent as often as the patience allows.

        ``key`` is for the problem's ``where`` alone. An answer that lacks a field of ``needs`` is not one.

        Raises:
            Expected: an error for which ``expect`` is true.
            Failure: any other (exit 3 or 4).
        """

        def once() -> Mapping[str, Any]:
            answer: Mapping[str, Any] = self.call(operation, **arguments)
            if missing := [name for name in needs if name not in answer]:
                raise StrangeAnswer(f"an answer to {operation} without {', '.join(missing)}")
            return answer

        return self.repeat(key, once, expect=expect)

    def call(self, operation: str, **arguments: Any) -> Any:
        """One request, sent once."""
        try:
            return getattr(self._client, operation)(Bucket=self.name, **arguments)
        except (RecursionError, HTTPClientError) as error:
            # The client asks the place it is redirected to where to go, and so on, and may have wrapped the end of it.
            if isinstance(error, HTTPClientError) and not isinstance(error.kwargs.get("error"), RecursionError):
                raise
            raise StrangeAnswer("a redirection that leads back to itself") from None

    def repeat(self, key: str, once: Callable[[], T], *, expect: Callable[[BaseException], bool]) -> T:
        """What ``once`` gives, called as often as the patience allows; raises as ``send`` does."""
        return repeat(
            once,
            self._patience,
            errors=REMOTE_ERRORS,
            is_passing=is_passing,
            expect=expect,
            failure=lambda error, attempts: failure_of(error, self.where(key), self._kind, attempts, self._hidden),
        )

    def _make_client(self, credentials: Credentials) -> Any:
        config = Config(
            signature_version="s3v4",
            connect_timeout=self._patience.connect_timeout,
            read_timeout=self._patience.read_timeout,
            retries={"total_max_attempts": 1},
            max_pool_connections=_CONNECTIONS,
            # Checksums are sent where this package sends them: the client's own need trailers that R2 once refused.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={"addressing_style": "path" if credentials.endpoint else "auto"},
        )
        try:
            session = boto3.session.Session(profile_name=credentials.profile)
            return session.client(
                "s3",
                endpoint_url=credentials.endpoint,
                region_name=credentials.region or session.region_name or "us-east-1",
                aws_access_key_id=credentials.key_id,
                aws_secret_access_key=credentials.secret,
                aws_session_token=credentials.session_token,
                config=config,
            )
        except REMOTE_ERRORS as error:
            raise failure_of(error, self.url, self._kind, 1, self._hidden) from None
        except (BotoCoreError, ValueError) as error:
            problem = Problem("bad-client", self.url, str(error), "usable settings", "correct the AWS configuration")
            raise Failure(problem, exit=Exit.ENVIRONMENT) from None
