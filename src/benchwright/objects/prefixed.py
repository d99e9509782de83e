"""Objects in a bucket, below a prefix that is no part of their keys here."""

from __future__ import annotations


class Prefixed:
    """What is below a prefix of a bucket, by which ``_prefix`` begins whole keys."""

    def __init__(self, bucket_url: str, prefix: str) -> None:
        self._bucket_url = bucket_url
        self._prefix = f"{prefix}/" if prefix else ""

    @property
    def url(self) -> str:
        """Where it is, fit to be printed."""
        return f"{self._bucket_url}/{self._prefix}".rstrip("/")
