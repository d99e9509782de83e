"""The edit of a method's declaration: planned as data, and proved before it is written."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchwright.contract import Exit, Failure, Problem
from benchwright.publish import call_edit
from benchwright.publish.changes import FIELDS, Change, same_value
from benchwright.publish.declarations import HOLDER_KEYWORD, Declaration, all_but_fields, read_declaration
from benchwright.publish.line_length import line_length
from benchwright.publish.source_edit import SourceEdit, lines_of
from benchwright.publish.targets import Target
from benchwright.publish.wanted import check_values, wanted_values

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """One keyword of the call, before and after; None for a keyword that is not there."""

    field: str
    old: str | None
    new: str | None

    def to_dict(self) -> dict[str, str | None]:
        """The edit in the JSON envelope's form, values as source text."""
        return {"field": self.field, "old": self.old, "new": self.new}


@dataclass(frozen=True, slots=True)
class InfoEdit(SourceEdit):
    """A planned edit of one call, which starts at ``line``."""

    line: int
    fields: tuple[FieldEdit, ...]

    def to_dict(self) -> dict[str, Any]:
        """The edit in the JSON envelope's form."""
        return {
            "target": str(self.target),
            "file": str(self.target.path),
            "line": self.line,
            "fields": [field.to_dict() for field in self.fields],
            "diff": "\n".join(self.diff()),
        }


def plan_edit(target: Target, changes: Sequence[Change], *, force: bool = False) -> InfoEdit:
    """The edit that brings ``changes`` to the declaration at ``target``, and ``verified=False`` where that is missing.

    A line of the call that is the comment ``# FIELD=...`` is a place held for the field, and goes when that is set. The
    new text has been proved: it compiles, its call re-read as literals is the old one with the changes, every other
    statement and every other comment is what it was.

    Raises:
        Failure: a field comes from a name or from ``**``; or another suite is declared, or the run is registered and
            has other results, and that is not to be changed by ``force`` (exit 5); the method may not have these values
            (exit 2); as for ``read_declaration``; or the text cannot be kept as it is (exit 5). All that is known at
            once.
    """
    before = target.read()
    declaration = read_declaration(target, before)
    wanted = wanted_values(declaration, changes)
    check_values(declaration, wanted, changes, force=force)
    after, encoding = _edited(declaration, before, wanted)
    edits = _field_edits(declaration.values, wanted)
    _prove(declaration, before, after, wanted)
    return InfoEdit(target, before, after, encoding, declaration.line, edits)


def _field_edits(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[FieldEdit, ...]:
    def shown(values: Mapping[str, Any], name: str) -> str | None:
        return repr(values[name]) if name in values else None

    changed = [name for name in FIELDS if name in {**old, **new} and not _same(name, old, new)]
    return tuple(FieldEdit(name, shown(old, name), shown(new, name)) for name in changed)


def _same(field: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return field in old and field in new and same_value(field, old[field], new[field])


def _edited(declaration: Declaration, before: bytes, wanted: Mapping[str, Any]) -> tuple[bytes, str]:
    """The file's new bytes and their encoding."""
    import libcst as cst

    module = _module(declaration.target, before)
    call = _call_node(module, declaration)
    edited = _with_values(call, declaration, wanted, _style(call, module.encoding))
    after = module.deep_replace(call, edited)
    assert isinstance(after, cst.Module)
    if declaration.line == declaration.end_line and edited is not call:
        line = lines_of(after.code)[declaration.line - 1]
        if len(line) > line_length(declaration.target):
            base = line[: len(line) - len(line.lstrip())]
            after = module.deep_replace(call, call_edit.exploded(edited, base, module.default_indent))
            assert isinstance(after, cst.Module)
    return after.bytes, module.encoding


def _module(target: Target, source: bytes) -> cst.Module:
    """The file as libcst holds it; refused when it would not come out byte for byte."""
    import libcst as cst

    try:
        module = cst.parse_module(source)
        if module.bytes == source:
            return module
        found = "its line ends or its encoding would not be kept"
    except (cst.ParserSyntaxError, LookupError, UnicodeError, RecursionError) as error:
        found = f"libcst cannot read it ({type(error).__name__})"
    problem = Problem("not-kept", str(target.path), found, "UTF-8 with one kind of line end", "edit it by hand")
    raise Failure(problem, exit=Exit.REFUSED)


def _with_values(
    call: cst.Call, declaration: Declaration, wanted: Mapping[str, Any], style: call_edit.Style
) -> cst.Call:
    old = declaration.values
    problems = [
        Problem(
            "not-editable",
            declaration.target.at(declaration.arguments[field].line),
            f"a comment inside the value of {field}",
            "a value without one",
            "move the comment out of the value, then run this again",
        )
        for field in old
        if not _same(field, old, wanted) and call_edit.comment_inside(call, field)
    ]
    if problems:
        raise Failure(problems, exit=Exit.REFUSED)
    call = call_edit.without_comments(call, _placeholders(old, wanted))
    for field in FIELDS:
        if field in wanted and not _same(field, old, wanted):
            call = call_edit.set_keyword(call, field, wanted[field], style)
        elif field in old and field not in wanted:
            call = call_edit.remove_keyword(call, field)
    return call


def _placeholders(old: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The pattern of the comments that hold the place of a field that is set; none where none is."""
    names = [field for field in FIELDS if field in wanted and not _same(field, old, wanted)]
    return rf"# ?({'|'.join(names)})=.*" if names else ""


def _call_node(module: cst.Module, declaration: Declaration) -> cst.Call:
    """The libcst node of the declaration's call."""
    import libcst as cst
    from libcst import matchers as m

    name = m.Name(declaration.target.attribute)
    assigned = m.Assign(targets=[m.AssignTarget(target=name)]) | m.AnnAssign(target=name, value=m.Call())
    for statement in module.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if m.matches(small, assigned):
                assert isinstance(small, cst.Assign | cst.AnnAssign)
                call = cst.ensure_type(small.value, cst.Call)
                return _inner(call) if declaration.held else call
    raise AssertionError(f"{declaration.target} was there a moment ago")


def _inner(holder: cst.Call) -> cst.Call:
    import libcst as cst

    keywords = {argument.keyword.value: argument.value for argument in holder.args if argument.keyword}
    return cst.ensure_type(keywords[HOLDER_KEYWORD], cst.Call)


def _style(call: cst.Call, encoding: str) -> call_edit.Style:
    """Single quotes where the call's own texts have no others; double ones else."""
    import libcst as cst
    from libcst import matchers as m

    quotes = [cst.ensure_type(node, cst.SimpleString).quote for node in m.findall(call, m.SimpleString())]
    single = bool(quotes) and all("'" in quote for quote in quotes)
    return call_edit.Style("'" if single else '"', encoding, tuple(FIELDS))


def _prove(declaration: Declaration, before: bytes, after: bytes, wanted: Mapping[str, Any]) -> None:
    """Raise unless the new text is the old one with the wanted values and nothing else."""
    again = read_declaration(declaration.target, after)
    values = {name: value for name, value in again.values.items() if name in FIELDS}
    expected = {name: value for name, value in wanted.items() if name in FIELDS}
    same = values.keys() == expected.keys() and all(same_value(name, values[name], expected[name]) for name in values)
    rest = all_but_fields(declaration.target, before) == all_but_fields(declaration.target, after)
    inside = range(declaration.line, declaration.end_line + 1)
    kept = _comments(before, but=_placeholders(declaration.values, wanted), inside=inside)
    if not (same and rest and kept == _comments(after)):
        where, found = declaration.target.at(declaration.line), "an edit that would change more than it should"
        fix = "edit it by hand, and report this declaration's layout"
        raise Failure(Problem("edit-not-proved", where, found, "the declared changes alone", fix), exit=Exit.REFUSED)


def _comments(source: bytes, *, but: str = "", inside: range = range(0)) -> list[str]:
    """The comments of a file, but those on a line of their own, ``inside`` these lines, that are of a pattern."""
    tokens = tokenize.tokenize(io.BytesIO(source).readline)
    return [
        token.string
        for token in tokens
        if token.type == tokenize.COMMENT
        and not (token.start[0] in inside and token.line.strip() == token.string and re.fullmatch(but, token.string))
    ]
