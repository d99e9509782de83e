"""Keywords of a call set, inserted and removed in a libcst tree, in the layout that the call already has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Style:
    """How new text looks: the quote character, the encoding it must fit, and the order of keywords."""

    quote: str
    encoding: str
    order: Sequence[str]


def literal(value: Any, style: Style) -> str:
    """A plain value as source: text in the style's quotes, what the encoding lacks as escapes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key, style)}: {literal(item, style)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        inner = ", ".join(literal(item, style) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if not isinstance(value, str):
        return repr(value)
    text = repr(value)
    try:
        text.encode(style.encoding)
    except UnicodeEncodeError:
        text = ascii(value)
    if style.quote == '"' and text[0] == "'" and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


def comment_inside(call: cst.Call, name: str) -> bool:
    """Whether the value of ``name`` has a comment in it, which another value would have no place for."""
    from libcst import matchers as m

    return any(m.findall(argument.value, m.Comment()) for argument in call.args if _name(argument) == name)


def without_comments(call: cst.Call, pattern: str) -> cst.Call:
    """The call without the lines that are comments of this pattern and nothing else; an empty one matches none."""
    import libcst as cst
    from libcst import matchers as m

    line = m.EmptyLine(comment=m.Comment(value=m.MatchIfTrue(lambda text: bool(re.fullmatch(pattern, text)))))
    while found := m.findall(call, line):
        call = cst.ensure_type(call.deep_remove(found[0]), cst.Call)
    return call


def set_keyword(call: cst.Call, name: str, value: Any, style: Style) -> cst.Call:
    """The call with ``name=value``: in place where it is declared, else inserted in the style's order."""
    import libcst as cst

    expression = cst.parse_expression(literal(value, style))
    for index, argument in enumerate(call.args):
        if _name(argument) == name:
            return _with_args(call, index, argument.with_changes(value=expression))
    return _inserted(call, name, expression, style)


def remove_keyword(call: cst.Call, name: str) -> cst.Call:
    """The call without ``name``; the comments beside and above it stay, on lines of their own."""
    index = next(index for index, argument in enumerate(call.args) if _name(argument) == name)
    arguments = list(call.args)
    removed = arguments.pop(index)
    if index == 0:
        whitespace = _joined(call.whitespace_before_args, _after(removed))
        return call.with_changes(args=arguments, whitespace_before_args=whitespace)
    before = arguments[index - 1]
    last = index == len(arguments)
    joined = _joined(_after(before), _after(removed), last=last)
    comma = not last or _has_comma(removed)
    arguments[index - 1] = _ending(before, joined, comma=comma)
    return call.with_changes(args=arguments)


def exploded(call: cst.Call, base: str, unit: str) -> cst.Call:
    """A one-line call with each argument on a line of its own, ``base`` being the indentation of the call's line."""
    inner, outer = _line_break(base + unit), _line_break(base)
    arguments = [_ending(argument, inner, comma=True) for argument in call.args]
    arguments[-1] = _ending(call.args[-1], outer, comma=True)
    return call.with_changes(args=arguments, whitespace_before_args=inner)


def _inserted(call: cst.Call, name: str, expression: cst.BaseExpression, style: Style) -> cst.Call:
    import libcst as cst

    new = cst.Arg(
        value=expression,
        keyword=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    arguments = list(call.args)
    index = _place(arguments, name, style.order)
    if index == 0:
        arguments.insert(0, _ending(new, _separator(call), comma=True))
        return call.with_changes(args=arguments)
    before = arguments[index - 1]
    after = _after(before)
    separator = _separator(call)
    if index == len(arguments):
        # The new one takes over what closes the call; a bracket on a line of its own calls for a trailing comma.
        closing = _without_comment(after)
        comma = _has_comma(before) or _is_line_break(closing)
        arguments[index - 1] = _ending(before, _comment_of(after, separator), comma=True)
        arguments.append(_ending(new, closing, comma=comma))
    else:
        arguments[index - 1] = _ending(before, _comment_of(after, separator), comma=True)
        follows = _without_comment(after) if _is_line_break(after) else separator
        arguments.insert(index, _ending(new, follows, comma=True))
    return call.with_changes(args=arguments)


def _place(arguments: Sequence[cst.Arg], name: str, order: Sequence[str]) -> int:
    """Behind the keyword that comes closest before ``name`` in ``order``."""
    rank = {field: number for number, field in enumerate(order)}
    earlier = [
        (rank[known], index + 1)
        for index, argument in enumerate(arguments)
        if (known := _name(argument)) in rank and rank[known] < rank[name]
    ]
    return max(earlier, default=(0, 0))[1]


def _name(argument: cst.Arg) -> str:
    return argument.keyword.value if argument.keyword else ""


def _with_args(call: cst.Call, index: int, argument: cst.Arg) -> cst.Call:
    return call.with_changes(args=[*call.args[:index], argument, *call.args[index + 1 :]])


def _has_comma(argument: cst.Arg) -> bool:
    import libcst as cst

    return isinstance(argument.comma, cst.Comma)


def _after(argument: cst.Arg) -> cst.BaseParenthesizableWhitespace:
    """The whitespace between an argument and what follows it."""
    import libcst as cst

    if isinstance(argument.comma, cst.Comma):
        # "a=1 # note\n, b=2": what stands before the comma holds the break and the comment.
        before = argument.comma.whitespace_before
        return (
            _joined(before, argument.comma.whitespace_after)
            if _is_line_break(before)
            else argument.comma.whitespace_after
        )
    return argument.whitespace_after_arg


def _ending(argument: cst.Arg, whitespace: cst.BaseParenthesizableWhitespace, *, comma: bool) -> cst.Arg:
    """The argument with this whitespace behind it, and behind its comma if it has one."""
    import libcst as cst

    if comma:
        return argument.with_changes(
            comma=cst.Comma(whitespace_after=whitespace), whitespace_after_arg=cst.SimpleWhitespace("")
        )
    return argument.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=whitespace)


def _is_line_break(whitespace: cst.BaseParenthesizableWhitespace) -> bool:
    import libcst as cst

    return isinstance(whitespace, cst.ParenthesizedWhitespace)


def _line_break(indent: str) -> cst.ParenthesizedWhitespace:
    import libcst as cst

    return cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(indent))


def _separator(call: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """What stands between two arguments of this call: a break with the neighbours' indentation, or a space."""
    import libcst as cst

    between = [_after(argument) for argument in call.args[:-1]]
    for whitespace in (call.whitespace_before_args, *between):
        if isinstance(whitespace, cst.ParenthesizedWhitespace):
            newline = cst.TrailingWhitespace(newline=whitespace.first_line.newline)
            return whitespace.with_changes(first_line=newline, empty_lines=[])
    return cst.SimpleWhitespace(" ")


def _comment_of(
    whitespace: cst.BaseParenthesizableWhitespace, separator: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """``separator`` with the comment that ``whitespace`` has on the line where it starts."""
    import libcst as cst

    if isinstance(whitespace, cst.ParenthesizedWhitespace) and whitespace.first_line.comment:
        base = separator if isinstance(separator, cst.ParenthesizedWhitespace) else whitespace
        return base.with_changes(first_line=whitespace.first_line, empty_lines=[])
    return separator


def _has_comment(whitespace: cst.BaseParenthesizableWhitespace) -> bool:
    import libcst as cst

    if not isinstance(whitespace, cst.ParenthesizedWhitespace):
        return False
    return whitespace.first_line.comment is not None or any(line.comment for line in whitespace.empty_lines)


def _without_comment(whitespace: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    import libcst as cst

    if isinstance(whitespace, cst.ParenthesizedWhitespace):
        return whitespace.with_changes(first_line=cst.TrailingWhitespace(newline=whitespace.first_line.newline))
    return whitespace


def _joined(
    first: cst.BaseParenthesizableWhitespace, second: cst.BaseParenthesizableWhitespace, *, last: bool = False
) -> cst.BaseParenthesizableWhitespace:
    """Two whitespaces as one, where what stood between them is gone: all comments, the layout of the second.

    ``last`` says that the call's bracket follows: with nothing to keep, it stays where it is.
    """
    import libcst as cst

    if not isinstance(second, cst.ParenthesizedWhitespace):
        return second if last and not _has_comment(first) else first
    if not isinstance(first, cst.ParenthesizedWhitespace):
        return second
    lines = [*first.empty_lines]
    comment = second.first_line.comment
    if comment is not None:
        lines.append(
            cst.EmptyLine(indent=True, whitespace=first.last_line, comment=comment, newline=second.first_line.newline)
        )
    return second.with_changes(first_line=first.first_line, empty_lines=[*lines, *second.empty_lines])
