"""One bucket of Google Cloud Storage and the requests to it."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from benchwright.objects.attempts import repeat
from benchwright.objects.credentials import GOOGLE_FILE, GOOGLE_SERVER
from benchwright.objects.patience import Patience
from benchwright.objects.refusals import missing_client

try:
    import google.auth
    from google.api_core.retry import Retry
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage
except ModuleNotFoundError as error:
    raise missing_client(error, "google-cloud-storage", "stores at Google Cloud", "gcs") from None

from benchwright.objects.gcs_errors import REMOTE_ERRORS, failure_of, is_passing

T = TypeVar("T")

_SCOPES = ("https://www.googleapis.com/auth/devstorage.read_write",)
_LISTED = "items(name,size,generation),nextPageToken"


class GCSBucket:
    """A bucket, the client to it and the patience with it; safe to use from several threads."""

    def __init__(self, name: str, url: str, settings: Mapping[str, str], patience: Patience) -> None:
        self.url = url
        self._name = name
        self._settings = settings
        self._patience = patience
        self.once: dict[str, Any] = {
            "retry": None,
            "timeout": (patience.connect_timeout, patience.read_timeout),
        }
        """The client's arguments that send a request once."""

    def where(self, key: str) -> str:
        """An object as problems name it."""
        return f"{self.url}/{key}" if key else self.url

    def blob(self, key: str, **options: Any) -> Any:
        """The client's object for a key; nothing is asked."""
        return self._bucket.blob(key, **options)

    def look(self, key: str) -> Any | None:
        """The client's object with the facts of what is there; None if nothing is."""
        return self._bucket.get_blob(key, **self.once)

    def pages(self, prefix: str, most: int | None = None) -> Iterator[list[Any]]:
        """The pages of a listing, each asked for alone; raises as ``repeat`` does."""
        token = None
        while True:
            page, token = self.repeat(prefix, functools.partial(self._page, prefix, token, most))
            yield page
            if token is None or most is not None:
                return

    def _page(self, prefix: str, token: str | None, most: int | None) -> tuple[list[Any], str | None]:
        listed = self._client.list_blobs(
            self._bucket, prefix=prefix, page_token=token, max_results=most, fields=_LISTED, **self.once
        )
        return list(next(listed.pages, ())), listed.next_page_token

    def repeat(
        self,
        key: str,
        once: Callable[[], T],
        *,
        expect: Callable[[BaseException], bool] = lambda _: False,
        most: int | None = None,
    ) -> T:
        """What ``once`` gives, called as often as the patience allows, or at most as often as ``most`` says.

        Raises:
            Expected: an error for which ``expect`` is true.
            Failure: any other (exit 3 or 4).
        """
        return repeat(
            once,
            replace(self._patience, attempts=most) if most else self._patience,
            errors=REMOTE_ERRORS,
            is_passing=is_passing,
            expect=expect,
            failure=lambda error, attempts: failure_of(error, self.where(key), attempts),
        )

    def retry(self, sent: Callable[[], int], note: Callable[[BaseException], None]) -> Retry:
        """For uploads in parts, which the client itself goes on with: as often as the patience allows for each part.

        ``sent`` says how much was read for sending, which tells the parts apart; ``note`` hears of every error that may
        pass.
        """
        failed: Counter[int] = Counter()

        def may_pass(error: BaseException) -> bool:
            if not is_passing(error):
                return False
            note(error)
            failed[sent()] += 1
            return failed[sent()] < self._patience.attempts

        patience = self._patience
        attempt = patience.connect_timeout + patience.read_timeout + patience.longest_wait
        return Retry(
            predicate=may_pass,
            initial=patience.first_wait,
            maximum=patience.longest_wait,
            multiplier=2,
            timeout=patience.attempts * attempt,  # the client counts the time of sending, too
        )

    @functools.cached_property
    def _client(self) -> Any:
        """The client; to make it may ask the machine for credentials, so it is made with the first request."""
        server = self._settings.get(GOOGLE_SERVER)
        if server:
            return storage.Client(
                project="-", credentials=AnonymousCredentials(), client_options={"api_endpoint": server}
            )
        if file := self._settings.get(GOOGLE_FILE):
            os.environ[GOOGLE_FILE] = file  # the client looks for it there alone
        try:
            credentials, _ = google.auth.default(scopes=_SCOPES)
        except REMOTE_ERRORS as error:
            raise failure_of(error, self.url, 1) from None
        return storage.Client(project="-", credentials=credentials)

    @functools.cached_property
    def _bucket(self) -> Any:
        return self._client.bucket(self._name)
