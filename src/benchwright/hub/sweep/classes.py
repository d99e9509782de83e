"""The class of each pull request and of each result in it: a pure function of what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchwright.contract import Exit, some
from benchwright.hub.sweep.facts import PullFacts, ResultFacts
from benchwright.hub.sweep.sight import Hidden, Shown, Superseded, Untold
from benchwright.hub.views import SHOWN

ResultClass = Literal["visible", "drifted", "invisible", "edits_existing", "superseded", "dropped", "unknown"]
"""``drifted``: another view than the linked one shows it. ``superseded``: the board has another result of the model.
``dropped``: the pull request does not have it any more, by our own doing."""
PullClass = Literal[ResultClass, "merged", "closed", "closed_by_owner", "changed_by_owner", "commented"]
"""``closed``: by ourselves. Of the classes of its results a pull request has the first one of `GRAVEST`."""

GRAVEST: tuple[ResultClass, ...] = (
    "unknown",
    "superseded",
    "invisible",
    "drifted",
    "edits_existing",
    "visible",
    "dropped",
)


@dataclass(frozen=True)
class SweptResult:
    """A result with its class, and why it has it."""

    facts: ResultFacts
    kind: ResultClass
    why: str
    exit: Exit = Exit.DONE


@dataclass(frozen=True)
class SweptPull:
    """A pull request with its class, and why it has it; ``hands_off``: a person acts or has acted, and no script."""

    facts: PullFacts
    kind: PullClass
    why: str
    results: tuple[SweptResult, ...]

    @property
    def hands_off(self) -> bool:
        """Whether nothing may be written: it is done, somebody else has a say in it, or it has files of its own."""
        done = self.kind in ("merged", "closed", "closed_by_owner", "changed_by_owner", "commented")
        return done or not self.facts.as_registered


def classify(facts: PullFacts) -> SweptPull:
    """The class of a pull request and of its results."""
    results = tuple(_of_result(one) for one in facts.results)
    kind, why = _of_others(facts) or _of_files(facts) or _of_results(results)
    return SweptPull(facts, kind, why, results)


def _of_others(facts: PullFacts) -> tuple[PullClass, str] | None:
    """What others' doings make of a pull request; None: they leave it to us."""
    if facts.status == "merged":
        return "merged", "its owner merged it"
    if facts.status == "closed":
        ours = facts.closed_by == facts.author
        return ("closed", "closed by us") if ours else ("closed_by_owner", f"closed by {facts.closed_by or 'others'}")
    if facts.by_others:
        return "changed_by_owner", "; ".join(facts.by_others)
    if facts.comments:
        last = facts.comments[-1]
        return "commented", f"{last.author or 'a user who is gone'}: {_brief(last.text)}"
    return None


def _of_files(facts: PullFacts) -> tuple[PullClass, str] | None:
    """What files beside the registered ones make of a pull request; None: it has no such."""
    if facts.unregistered:
        return "unknown", f"it changes {some(facts.unregistered)}, with results that the registry does not know"
    if facts.left_over:
        return "unknown", f"it still has {some(facts.left_over)}, which main had and its owner has deleted since"
    return None


def _of_results(results: tuple[SweptResult, ...]) -> tuple[PullClass, str]:
    kinds = [one.kind for one in results]
    if set(kinds) <= {"dropped"}:
        return "unknown", "none of its registered results is in it"
    kind = next(kind for kind in GRAVEST if kind in kinds)
    return kind, next(one.why for one in results if one.kind == kind)


def _of_result(facts: ResultFacts) -> SweptResult:
    name = facts.result.filename
    match facts.file, facts.sight:
        case _, Untold(why, exit):
            return SweptResult(facts, "unknown", why, exit)
        case "other", _:
            return SweptResult(facts, "unknown", f"{name} is not as the registry has it", Exit.NO)
        case "on_main", _:
            return SweptResult(facts, "edits_existing", f"main has {name}, too, and is what boards show until a merge")
        case "gone", _:
            return SweptResult(facts, "dropped", "it is not in the pull request any more")
        case _, Shown(view, rank):
            drifted = facts.linked not in (None, view)
            return SweptResult(facts, "drifted" if drifted else "visible", f"number {rank}: {view}")
        case _, Hidden() as seen:
            return SweptResult(facts, "invisible", f"number {seen.widest} of all, and in no view's top {SHOWN}")
        case _, Superseded(row):
            origin = "main" if row.pull_request is None else f"pull request {row.pull_request}"
            return SweptResult(facts, "superseded", f"the board has {row.value} of {origin} for this model")
    return SweptResult(facts, "unknown", "nobody looked for it", Exit.NO)


def _brief(text: str, most: int = 120) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
