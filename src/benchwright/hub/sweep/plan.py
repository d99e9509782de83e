"""What is done about a pull request: a pure function of its class, so that it can be printed before it is done."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchwright.hub.opening.body import BoardKey, board_key, relinked
from benchwright.hub.opening.words import in_order, plain, title_for
from benchwright.hub.registry import RecordedResult
from benchwright.hub.sweep.classes import SweptPull, SweptResult
from benchwright.hub.sweep.sight import Shown
from benchwright.hub.views import SHOWN, View


@dataclass(frozen=True)
class Steps:
    """Changes of a pull request: results to drop from its files, a new body, a new title; or its end, with a farewell.

    ``words`` say each of them; without any, nothing is to be done.
    """

    drops: tuple[RecordedResult, ...] = ()
    body: str | None = field(default=None, repr=False)
    title: str | None = None
    farewell: str | None = None
    words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words)


NOTHING = Steps()


def plan(swept: SweptPull) -> Steps:
    """What is to be done; nothing where somebody else has a say.

    A pull request is closed only where each result that it still has is proved to be shown nowhere. With one that is
    unknown nothing is dropped either: in the end all of them may have to go, and then none is dropped before.
    """
    kinds = {one.kind for one in swept.results}
    if swept.hands_off or kinds <= {"dropped"}:
        return NOTHING
    if "invisible" in kinds and kinds <= {"invisible", "dropped"}:
        return Steps(farewell=_farewell(swept), words=("close it: no view shows any of its results",))
    drops = [one for one in swept.results if one.kind == "invisible" and "unknown" not in kinds]
    dropped = [one for one in swept.results if one.kind == "dropped"]
    drifted = [one for one in swept.results if one.kind == "drifted"]
    body = _body(swept, [*drops, *dropped], drifted)
    title = _title(swept, [*drops, *dropped])
    words = [f"drop {_named(one)}: {one.why}" for one in drops]
    words += [f"lead the link of {_named(one)} to where it is {one.why}" for one in drifted]
    words += ["take out of the body what was dropped"] if body is not None and not drops and not drifted else []
    words += [f"rename it to {title!r}"] if title is not None else []
    return Steps(tuple(one.facts.result for one in drops), body, title, None, tuple(words))


def _body(swept: SweptPull, gone: list[SweptResult], drifted: list[SweptResult]) -> str | None:
    views: dict[BoardKey, View | None] = {_key(one): None for one in gone}
    views |= {_key(one): one.facts.sight.view for one in drifted if isinstance(one.facts.sight, Shown)}
    body = relinked(swept.facts.body, views)
    return None if body == swept.facts.body else body


def _title(swept: SweptPull, gone: list[SweptResult]) -> str | None:
    """The title without what is gone, if it is the one that was made of all results, in whatever order."""
    names = in_order(swept.facts.title, [one.facts.name for one in swept.results])
    if swept.facts.title != title_for(names):
        return None
    left = {one.facts.name for one in swept.results if one not in gone}
    title = title_for([name for name in names if name in left])
    return None if title == swept.facts.title else title


def _farewell(swept: SweptPull) -> str:
    """The comment that closes a pull request."""
    lines = [f"- {plain(_named(one))}: {one.why}" for one in swept.results if one.kind == "invisible"]
    return "\n".join(
        [
            f"A leaderboard's page shows the first {SHOWN} models of a view. Others have passed this model by now, so"
            " that no view shows what this pull request adds:",
            "",
            *lines,
            "",
            "The script that opened it therefore closes it. The numbers were not found to be wrong: if you want them in"
            " the repo all the same, please reopen it; no script will touch it then.",
        ]
    )


def _key(one: SweptResult) -> BoardKey:
    return board_key(one.facts.result.dataset, one.facts.result.task_id)


def _named(one: SweptResult) -> str:
    return f"{one.facts.name} ({one.facts.result.value_text})"
