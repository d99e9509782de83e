"""The import of a method's metadata: put into a module's block of imports in its order and style, and taken out.

The order is isort's, as ruff keeps it: modules and names naturally and without regard to case. A module that is
imported from already takes the name into its statement.
"""

from __future__ import annotations

import ast
import bisect
import itertools
import re
import sys
from dataclasses import dataclass

from benchwright.publish.line_length import line_length
from benchwright.publish.registration.collection_file import CollectionFile

_NATURAL = re.compile(r"\d+|\D")


@dataclass(frozen=True, slots=True)
class Imported:
    """``from module import name``, bound to ``bound``."""

    module: str
    name: str
    bound: str

    @property
    def item(self) -> str:
        """The name as the statement has it."""
        return self.name if self.bound == self.name else f"{self.name} as {self.bound}"

    def __str__(self) -> str:
        return f"from {self.module} import {self.item}"


def import_of(file: CollectionFile, module: str, name: str) -> Imported | None:
    """The import that the module has of ``name``; None when there is none."""
    for node in file.imports:
        for alias in node.names:
            if (node.module, alias.name, node.level) == (module, name, 0):
                return Imported(module, name, alias.asname or name)
    return None


def new_import(file: CollectionFile, module: str, name: str) -> Imported:
    """An import of ``name`` under its own name, or under one with its package's where that is taken.

    Raises:
        Failure: that one is taken too (exit 5).
    """
    package = module.rpartition(".")[0].rpartition(".")[2]
    for bound in (name, f"{package}_{name}"):
        if bound not in file.scope.bindings:
            return Imported(module, name, bound)
    line = file.scope.bindings[name][0].line
    raise file.source.refused(line, f"{name} and {package}_{name} are other names there", "one that is free")


def with_import(file: CollectionFile, new: Imported) -> str:
    """The module's text with the import.

    Raises:
        Failure: there is no block of imports for it, or its layout is an unusual one (exit 5).
    """
    same = [
        node for node in file.imports if node.module == new.module and node.level == 0 and node.names[0].name != "*"
    ]
    if same:
        items = file.items_of(same[0])
        index = bisect.bisect([_member(alias) for alias in same[0].names], _member(ast.alias(new.name, new.bound)))
        return items.with_item(index, new.item)
    block = _block(file, new.module)
    if not block:
        raise file.source.refused(1, "no block of imports at the module's head", "one to add to")
    index = bisect.bisect([_natural(node.module or "") for node in block], _natural(new.module))
    before, after = (block[index - 1] if index else None), (block[index] if index < len(block) else None)
    # What stands between two statements (a comment, a blank line) may head the lower one and its like.
    if after and (not before or _kinship(new.module, after) > _kinship(new.module, before)):
        line = after.lineno - 1
    else:
        assert before is not None and before.end_lineno is not None
        line = before.end_lineno
    at = file.source.starts[line]
    return file.source.text[:at] + _statement(file, new) + file.source.text[at:]


def without_import(file: CollectionFile, old: Imported) -> tuple[str, ...]:
    """The texts that the module may have had before the import came (see ``Items.without``).

    Raises:
        Failure: the import shares its line with something else (exit 5).
    """
    for node in file.imports:
        names = [(node.module, alias.name, alias.asname or alias.name) for alias in node.names]
        if (old.module, old.name, old.bound) in names:
            break
    else:
        raise AssertionError(f"{old} was there a moment ago")
    if len(names) > 1:
        return file.items_of(node).without(names.index((old.module, old.name, old.bound)))
    start, end = file.source.span(node)
    first, last = file.source.starts[node.lineno - 1], file.source.starts[node.end_lineno or node.lineno]
    if file.source.text[first:last].strip() != file.source.text[start:end]:
        raise file.source.refused(node.lineno, "something beside the import", "the import alone")
    return (file.source.text[:first] + file.source.text[last:],)


def _statement(file: CollectionFile, new: Imported) -> str:
    newline = file.source.newline
    if len(str(new)) <= line_length(file.source.target):
        return str(new) + newline
    return f"from {new.module} import ({newline}    {new.item},{newline}){newline}"


def _block(file: CollectionFile, module: str) -> list[ast.ImportFrom]:
    """The statements that a new one is sorted among: those of its top package, or else of no standard library."""
    top = module.partition(".")[0]
    named = [node for node in file.imports if node.module and not node.level]
    same = [node for node in named if _top(node) == top]
    return same or [node for node in named if _top(node) not in (*sys.stdlib_module_names, "__future__")]


def _top(node: ast.ImportFrom) -> str:
    return (node.module or "").partition(".")[0]


def _kinship(module: str, node: ast.ImportFrom) -> tuple[int, bool]:
    ours, theirs = module.split("."), (node.module or "").split(".")
    shared = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    return len(list(shared)), ours[-1] == theirs[-1]


def _natural(text: str) -> list[tuple[int, int]]:
    """A key in which runs of digits count as numbers: among other characters they stand where digits do."""
    runs = _NATURAL.findall(text.lower())
    return [(ord("0"), int(run)) if run.isdecimal() else (ord(run), 0) for run in runs]


def _member(alias: ast.alias) -> tuple[int, list[tuple[int, int]], str]:
    """Constants first, then classes, then the rest."""
    name = alias.name
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[0].isupper() else 2
    return kind, _natural(name), name
