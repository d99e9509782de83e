"""A planned registration, or the undoing of one, as the edit of one file and what there is to say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from benchwright.publish.registration.arenas import Arena
from benchwright.publish.registration.entries import Entry
from benchwright.publish.registration.places import Places
from benchwright.publish.registration.source_text import SourceText
from benchwright.publish.registration.steps import Steps
from benchwright.publish.source_edit import SourceEdit


@dataclass(frozen=True, slots=True)
class Registration(SourceEdit):
    """The edit of a collection's module. ``target`` is the collection, ``method`` the declaration as ``MODULE:ATTR``.

    ``entry`` is the name in the list, ``group`` the comment above it ("" without one), ``imported`` the import that
    comes or goes with it, ``replaced`` the declaration that the entry takes over from, or hands back to. ``unread``
    names the entries that it could not be compared with, and why; ``caveats`` are sentences for the report.
    """

    arena: Arena
    method: str
    entry: str
    group: str
    imported: str | None
    replaced: str | None
    undoes: bool
    unread: tuple[str, ...]
    caveats: tuple[str, ...]

    @classmethod
    def of(
        cls,
        arena: Arena,
        places: Places,
        steps: Steps,
        after: SourceText,
        *,
        group: str,
        old: Entry | None = None,
        undoes: bool = False,
        caveats: Sequence[str] = (),
    ) -> Self:
        """The edit of the collection in ``places`` to ``after``, by these steps or back over them."""
        return cls(
            target=after.target,
            before=places.file.source.content,
            after=after.content,
            encoding=after.encoding,
            arena=arena,
            method=str(places.method),
            entry=steps.entry,
            group=group,
            imported=None if steps.imported is None else str(steps.imported),
            replaced=None if old is None else old.reference,
            undoes=undoes,
            unread=places.unread,
            caveats=tuple(caveats),
        )

    def sentence(self, *, done: bool) -> str:
        """What was done, or would be."""
        label = self.target.label
        if not self.changes_file:
            state = "not registered" if self.undoes else "registered already"
            return f"{self.method} is {state} in {label}: nothing to change"
        verb = "" if done else "to be "
        if self.undoes:
            back = f", {self.replaced} put back" if self.replaced else ""
            return f"{label}: {self.entry} {verb}taken out{back}"
        place = f" for {self.replaced}" if self.replaced else f" below '{self.group}'" if self.group else ""
        return f"{label}: {self.entry} {verb}{'swapped in' if self.replaced else 'entered'}{place}"

    def to_dict(self) -> dict[str, Any]:
        """The registration in the JSON envelope's form."""
        return {
            "arena": self.arena.name,
            "method": self.method,
            "file": str(self.target.path),
            "group": self.group,
            "import": self.imported,
            "entry": self.entry,
            "replaced": self.replaced,
            "rollback": self.undoes,
            "unread": list(self.unread),
            "caveats": list(self.caveats),
            "diff": "\n".join(self.diff()),
        }
