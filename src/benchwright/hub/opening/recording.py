"""Records of pull requests that are on the Hub already, made from what they say themselves."""

from __future__ import annotations

from benchwright.hub.entries import Entry, parse_entries
from benchwright.hub.opening.body import addresses, board_key
from benchwright.hub.opening.ours import OwnPull
from benchwright.hub.opening.words import spec_hash
from benchwright.hub.pull_requests import PullRequest
from benchwright.hub.registry import Record, RecordedResult, State


def address_of(endpoint: str, repo: str, num: int) -> str:
    """The page of a pull request."""
    return f"{endpoint}/{repo}/discussions/{num}"


def state_of(pull: PullRequest) -> State:
    """What a record says of a pull request."""
    return "open" if pull.live else "merged" if pull.status == "merged" else "closed"


def record_of(endpoint: str, repo: str, own: OwnPull) -> Record:
    """The record of a pull request of ours: its results are those of its files, their links those of its body.

    Its head stays unknown where a file has anything that is no result: then a sweep looks at the files.
    """
    pull, links = own.pull, addresses(own.body.text if own.body else "")
    held = {path: parse_entries(text) for path, text in own.files.items() if text is not None}
    entries = [(path, one) for path, found in held.items() for one in found if isinstance(one, Entry)]
    whole = all(found and all(isinstance(one, Entry) for one in found) for found in held.values())
    return Record(
        repo=repo,
        spec_hash=own.digits or spec_hash(one for _, one in entries),
        state=state_of(pull),
        title=pull.title,
        results=tuple(
            RecordedResult(one.dataset, one.task, path, one.value_text, links.get(board_key(one.dataset, one.task), ""))
            for path, one in entries
        ),
        num=pull.num,
        url=address_of(endpoint, repo, pull.num),
        author=pull.author,
        head=own.head if whole else None,
        opened=pull.created,
    )
