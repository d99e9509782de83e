"""The Hub, written: each request is sent once, and its failure says whether the Hub may have done it all the same.

Nothing here is sent again. A commit that opens a pull request would open a second one; who gets no answer looks at the
Hub (`WriteLost`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Problem, named, redact, said
from benchwright.files import FileLock
from benchwright.hub.client import Hub, named_wait


def to_apply(what: str) -> str:
    """The line above the command that does what a dry run has shown."""
    return f"to {what} (where a client blocks this, a person runs it):"


class WriteRefused(Failure):
    """The Hub has said no: nothing was written."""

    def __init__(self, where: str, found: str) -> None:
        fix = "read what the Hub says; with a setting of the model or the token mended, run this again"
        super().__init__(Problem("hub-refused", where, found, "a Hub that takes it", fix))


class WriteStale(Failure):
    """The revision has a commit that was not looked at: nothing was written."""

    def __init__(self, where: str, found: str) -> None:
        problem = Problem("stale", where, found, "the commit that was looked at", "run this again: it looks anew")
        super().__init__(problem, exit=Exit.REMOTE)


class WriteLimited(Failure):
    """The Hub takes no more for now: nothing was written. ``wait`` is the time to come again in, in seconds."""

    def __init__(self, where: str, wait: float | None) -> None:
        self.wait = wait
        when = f"run this again in {wait:.0f} s" if wait is not None else "run this again later"
        super().__init__(Problem("rate-limit", where, "HTTP 429: too many requests", "fewer", when), exit=Exit.REMOTE)


class WriteLost(Failure):
    """No answer that tells: the Hub may have done it, or not."""

    def __init__(self, where: str, found: str) -> None:
        problem = Problem("answer-lost", where, redact(found), "an answer", "run this again: it looks before it writes")
        super().__init__(problem, exit=Exit.REMOTE)


class NothingToWrite(Failure):
    """All of it is there already: the client sent no commit."""

    def __init__(self, where: str) -> None:
        fix = "leave it out: it is declared"
        super().__init__(Problem("no-change", where, "the files are there already, as they are", "a change", fix))


@dataclass(frozen=True)
class Written:
    """A commit: its id, and the pull request that it opened."""

    oid: str
    num: int | None = None
    url: str | None = None


@contextlib.contextmanager
def alone(hub: Hub, purpose: str) -> Iterator[None]:
    """Have nobody else on this machine open pull requests of a Hub meanwhile, whatever registry they keep.

    Raises:
        Failure: somebody does (code ``locked``, exit 5), or the client's folder cannot be written (exit 3).
    """
    from huggingface_hub import constants

    lock = Path(constants.HF_HOME) / f"port-evals-{sha256(hub.endpoint.encode()).hexdigest()[:12]}.lock"
    try:
        held = FileLock(lock, purpose).__enter__()
    except OSError as error:
        found = f"{lock} cannot be written ({said(error)})"
        raise Failure(
            Problem("bad-setting", "HF_HOME", found, "a folder that can be", "set it to one"), exit=Exit.ENVIRONMENT
        ) from None
    with contextlib.ExitStack() as stack:
        stack.push(held)
        yield


class Writer:
    """Writes to models as the holder of the Hub's token. What is known of the model is forgotten then."""

    def __init__(self, hub: Hub) -> None:
        from huggingface_hub import HfApi

        self.hub = hub
        self._api = HfApi(endpoint=hub.endpoint, token=hub.token or False)

    def open_pull_request(self, repo: str, files: Mapping[str, str], *, title: str, body: str, parent: str) -> Written:
        """Open a pull request with a commit on top of ``parent``, a commit of main; ``files`` are texts by path.

        Raises:
            NothingToWrite, WriteRefused, WriteStale, WriteLimited: it was not opened.
            WriteLost: it may have been.
        """
        words = {"commit_message": title, "commit_description": body, "parent_commit": parent}
        told = self._commit(repo, files, create_pr=True, **words)
        if told.pr_num is None:
            raise NothingToWrite(repo)
        return Written(told.oid, told.pr_num, told.pr_url)

    def amend(self, repo: str, num: int, files: Mapping[str, str | None], *, title: str, parent: str) -> Written:
        """Commit to a pull request whose newest commit is ``parent``; a file's text None deletes it.

        Raises:
            WriteStale: it has a newer commit.
            NothingToWrite, WriteRefused, WriteLimited, WriteLost: as `open_pull_request` does.
        """
        told = self._commit(repo, files, revision=f"refs/pr/{num}", commit_message=title, parent_commit=parent)
        if told.oid == parent:
            raise NothingToWrite(repo)
        return Written(told.oid, num)

    def edit_comment(self, repo: str, num: int, comment: str, text: str) -> None:
        """Give a comment of ours another text; that of the first one is the pull request's body.

        Raises:
            WriteRefused, WriteLimited, WriteLost: as `open_pull_request` does.
        """
        with self._sending(repo):
            self._api.edit_discussion_comment(repo, num, comment, text)

    def rename(self, repo: str, num: int, title: str) -> None:
        """Give a pull request another title; `edit_comment` says what it raises."""
        with self._sending(repo):
            self._api.rename_discussion(repo, num, title)

    def close(self, repo: str, num: int, comment: str) -> None:
        """Close a pull request, and say why; `edit_comment` says what it raises."""
        with self._sending(repo):
            self._api.change_discussion_status(repo, num, "closed", comment=comment)

    def _commit(self, repo: str, files: Mapping[str, str | None], **words: Any) -> Any:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations = [
            CommitOperationDelete(path) if text is None else CommitOperationAdd(path, text.encode())
            for path, text in files.items()
        ]
        with self._sending(repo):
            return self._api.create_commit(repo, operations, **words)

    @contextlib.contextmanager
    def _sending(self, repo: str) -> Iterator[None]:
        """What a request's failure says about what was written."""
        from huggingface_hub.errors import HfHubHTTPError, HTTPError  # type: ignore[attr-defined]

        try:
            yield
        except HfHubHTTPError as error:
            raise _answered(repo, error) from None
        except (HTTPError, OSError, ValueError, KeyError, TypeError) as error:  # of an answer that came in part, too
            raise WriteLost(repo, named(error)) from None
        finally:
            self.hub.forget(repo)


def _answered(repo: str, error: Any) -> Failure:
    """What an answer that is no success amounts to."""
    status = int(error.response.status_code)
    said = " ".join(redact(error.server_message or "").split())[:300]
    found = f"HTTP {status}{f', {said}' if said else ''}"
    if status == 429:
        return WriteLimited(repo, named_wait(error.response.headers))
    if status == 412:
        return WriteStale(repo, found)
    if 400 <= status < 500 and status != 408:
        return WriteRefused(repo, found)
    return WriteLost(repo, found)
