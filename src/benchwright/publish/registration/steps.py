"""What a registration does to a collection's module, told as places, and the carrying out of it.

Both directions use it: a plan carries the steps out, and a rollback looks for the text from which they lead to the
text that is there.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace

from benchwright.contract import Exit, Failure, Problem
from benchwright.publish.registration.collection_file import CollectionFile
from benchwright.publish.registration.imports import Imported, with_import


@dataclass(frozen=True, slots=True)
class Steps:
    """An entry's way into the live list at ``index``, after the import of its name where that is ``imported``.

    An addition stays ``below`` so many lines of the list (see ``Items.with_item``). A swap moves the entry
    ``replaced``, with the comment beside it, to number ``superseded_at`` of the superseded ones.
    """

    entry: str
    imported: Imported | None
    index: int
    below: int | None = None
    replaced: str | None = None
    superseded_at: int = 0


def carried_out(file: CollectionFile, steps: Steps) -> str:
    """The module's text after the steps. Raises as the parts do where a layout is unusual (exit 5)."""
    if steps.replaced is None:
        text = file.live.with_item(steps.index, steps.entry, below=steps.below)
    else:
        tail = file.live.tail(steps.index)
        text = file.live.with_other(steps.index, steps.entry)
        superseded = file.edited(text).superseded
        assert superseded is not None
        text = superseded.with_item(steps.superseded_at, steps.replaced, tail=tail)
    return text if steps.imported is None else with_import(file.edited(text), steps.imported)


def prove(before: CollectionFile, after: CollectionFile, steps: Steps) -> None:
    """Raise unless ``after`` compiles, and differs from ``before`` by the steps and by nothing else (exit 5)."""
    compile(after.source.text, str(after.source.target.path), "exec")
    if _expected(_facts(before), steps) != _facts(after):
        found = "an edit that would change more than it should"
        fix = "edit it by hand, and report this file's layout"
        problem = Problem("edit-not-proved", str(after.source.target.path), found, "the registration alone", fix)
        raise Failure(problem, exit=Exit.REFUSED)


@dataclass(frozen=True)
class _Facts:
    """A module taken apart: what it imports, its two lists, its comments, and all the rest of its tree."""

    imports: Counter[tuple[str | None, str, str | None]]
    live: tuple[str, ...]
    superseded: tuple[str, ...]
    comments: Counter[str]
    rest: str


def _facts(file: CollectionFile) -> _Facts:
    live, superseded = file.live.names, file.superseded.names if file.superseded else ()
    tree = ast.parse(file.source.text)
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    starts = {items.opened - 1 for items in (file.live, file.superseded) if items}
    for node in ast.walk(tree):
        if isinstance(node, ast.List) and file.source.span(node)[0] in starts:
            node.elts = []
    return _Facts(
        Counter((node.module, alias.name, alias.asname) for node in imports for alias in node.names),
        live,
        superseded,
        Counter(comment.text for comment in file.source.comments),
        ast.dump(tree),
    )


def _expected(facts: _Facts, steps: Steps) -> _Facts:
    live, superseded, imports = list(facts.live), list(facts.superseded), facts.imports
    if steps.replaced is None:
        live.insert(steps.index, steps.entry)
    else:
        live[steps.index] = steps.entry
        superseded.insert(steps.superseded_at, steps.replaced)
    if steps.imported is not None:
        alias = None if steps.imported.bound == steps.imported.name else steps.imported.bound
        imports = imports + Counter([(steps.imported.module, steps.imported.name, alias)])
    return replace(facts, imports=imports, live=tuple(live), superseded=tuple(superseded))
