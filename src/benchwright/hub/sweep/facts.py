"""What is known of a registered pull request: its class, and what is done about it, follow from this alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchwright.hub.links import read_link
from benchwright.hub.pull_requests import Status
from benchwright.hub.registry import Record, RecordedResult
from benchwright.hub.sweep.sight import Sight
from benchwright.hub.views import View

FileState = Literal["ours", "on_main", "gone", "other"]
"""A result's file at the pull request: as registered; main has a file of that name, too, and what the pull request says
is not previewed; without the result; or with something else in its place."""


@dataclass(frozen=True)
class ResultFacts:
    """A registered result. ``name`` is its benchmark's, ``link`` the body's link to its board.

    ``sight`` says where it is seen; None: nobody looked, since nothing of it is previewed.
    """

    result: RecordedResult
    name: str
    file: FileState
    link: str | None = None
    sight: Sight | None = None

    @property
    def linked(self) -> View | None:
        """The view that the body links."""
        return link.view if self.link and (link := read_link(self.link)) else None


@dataclass(frozen=True)
class Comment:
    """What somebody else wrote below a pull request, and nobody has answered there."""

    author: str | None
    created: str
    text: str


@dataclass(frozen=True)
class PullFacts:
    """A pull request of ours.

    ``repo`` is the model's name now, ``record`` what the registry has. ``closed_by`` is who closed it. ``by_others``
    says what others did to it, ``comments`` what they wrote since its author's last comment. ``body_id`` is the comment
    that the body is.

    ``unregistered`` are result files that it changes and of which the registry does not know, or not of all they hold:
    as a change leaves them that was cut short. ``left_over`` are those that main had and whose owner has deleted them
    since, which the pull request still has.
    """

    record: Record
    repo: str
    num: int
    status: Status
    title: str
    body: str
    body_id: str
    head: str | None
    results: tuple[ResultFacts, ...]
    author: str
    closed_by: str | None = None
    by_others: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    unregistered: tuple[str, ...] = ()
    left_over: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The pull request for a message: ``nova-ai/nova-7b#3``."""
        return f"{self.repo}#{self.num}"

    @property
    def as_registered(self) -> bool:
        """Whether it has no files beside those of its results; they may be dropped from it."""
        return not self.unregistered and not self.left_over
