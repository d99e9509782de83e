"""One commit to a dataset on the Hub by its own client, and what its refusals mean."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.audit.trace_hub import TraceHub
from benchwright.contract import Exit, Failure, Problem, named, redact
from benchwright.harbor.traces import TraceFile

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_QUOTA = re.compile(r"quota|storage|billing|exceeded|limit reached|payment", re.I)
_NO_ROOM = (402, 413, 507)
_MOVED = (409, 412)


def create(hub: TraceHub, repo: str) -> None:
    """Make a dataset, unless somebody made it meanwhile.

    Raises:
        Failure: as ``commit`` does.
    """
    with _refusals(repo):
        _client(hub).create_repo(repo, repo_type="dataset", exist_ok=True)


def commit(
    hub: TraceHub,
    repo: str,
    folder: Path,
    files: Iterable[TraceFile],
    stale: Iterable[str],
    *,
    summary: str,
    parent: str,
) -> None:
    """Bring files to a dataset in one commit on ``parent``, which takes the ``stale`` ones away.

    Large files go first, each under its digest: what an earlier try brought there is not sent again. Until the commit,
    which is tried once, nobody sees anything of them.

    Raises:
        Failure: the token may not write (code ``hub-refused``, exit 3); somebody else committed meanwhile (code
            ``hub-moved``, exit 5); there is no room (``hub-full``) or no answer (``hub-unavailable``), exit 4; the Hub
            takes it for no commit (``hub-answer``, exit 1).
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete

    operations: list[CommitOperationAdd | CommitOperationCopy | CommitOperationDelete] = []
    operations += [CommitOperationAdd(file.path, str(folder / file.path)) for file in files]
    operations += [CommitOperationDelete(path) for path in stale]
    with _refusals(repo):
        _client(hub).create_commit(repo, operations, commit_message=summary, repo_type="dataset", parent_commit=parent)


def _client(hub: TraceHub) -> HfApi:
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    disable_progress_bars()
    return HfApi(endpoint=hub.endpoint, token=hub.token)


@contextlib.contextmanager
def _refusals(repo: str) -> Iterator[None]:
    """Turn what the client raises into what there is to do about it.

    It comes in many kinds: of HTTP, of the storage's own client, and wrapped where several files were on their way. Of
    none of them is anything left to undo.
    """
    from huggingface_hub.errors import HFValidationError, HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]

    try:
        yield
    except HFValidationError as error:
        raise Failure(Problem("usage", repo, str(error), "ORG/NAME", "--repo_id ORG/NAME"), exit=Exit.USAGE) from None
    except OfflineModeIsEnabled:
        problem = Problem("hub-offline", repo, "HF_HUB_OFFLINE is set", "a Hub that may be asked", "unset it")
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        raise _failure(repo, error) from None


def _failure(repo: str, error: BaseException) -> Failure:
    from huggingface_hub.errors import HfHubHTTPError

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, HfHubHTTPError):
        cause = cause.__cause__
    said = " ".join(redact(named(error if cause is None else cause)).split())[:300]
    status = cause.response.status_code if cause is not None else None
    if status in _NO_ROOM or (status == 403 and _QUOTA.search(said)):
        fix = "make room there, then run this again: what was sent is kept"
        return Failure(Problem("hub-full", repo, said, "room for the traces", fix), exit=Exit.REMOTE)
    if status in (401, 403):
        fix = "set HF_TOKEN to a token that may write there"
        return Failure(Problem("hub-refused", repo, said, "a token that may write", fix), exit=Exit.ENVIRONMENT)
    if status in _MOVED:
        problem = Problem("hub-moved", repo, "somebody else committed meanwhile", "one at a time", "run this again")
        return Failure(problem, exit=Exit.REFUSED)
    if status is not None and 400 <= status < 500 and status not in (404, 408, 429):
        return Failure(
            Problem(
                "hub-answer",
                repo,
                said,
                "a commit that the Hub takes",
                "look at the repo's settings, then run this again",
            ),
            exit=Exit.NO,
        )
    fix = "run this again later: what was sent is kept"
    return Failure(Problem("hub-unavailable", repo, said, "an answer", fix), exit=Exit.REMOTE)
