"""The call that declares a method in source, read without running it.

A method is declared by ``MethodMetadata(...)`` or one of its constructors, by ``DESCRIPTOR.method_metadata(...)`` over
a ``ModelDescriptor(...)``, or by such a call inside ``ModelInfo(...)`` or ``SystemInfo(...)``: the shapes of
``tabarena`` 0.1.0's ``info.py`` files.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.publish.bindings import Binding, kind_of
from benchwright.publish.changes import FIELDS
from benchwright.publish.scope import NotLiteral, Scope, calls_in_functions, parse
from benchwright.publish.targets import Target

METADATA = "MethodMetadata"
HOLDERS = ("ModelInfo", "SystemInfo")
HOLDER_KEYWORD = "method_metadata"
DESCRIPTOR = "descriptor"
LEGACY = "tabarena_legacy_s3"
_BY_HAND = "edit this one by hand"
_DESCRIPTOR_CLASS = "ModelDescriptor"
_CONSTRUCTORS = ("config", "baseline", "system", "portfolio", LEGACY)
_LOCATION = ("bucket", "prefix")
_SUPPLIED: Mapping[str, Mapping[str, Any]] = {
    "system": {"validation_protocol": "system"},
    "portfolio": {"has_raw": False},
}
"""What a constructor says of a field that the call leaves out, where that is not the field's own default."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A keyword of the call. ``what`` is empty for a literal, or names the reference it is ("the name _PAPER")."""

    value: Any
    line: int
    what: str = ""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A field that ``**source`` brings into the call."""

    value: Any
    line: int
    source: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """A method's declaration. ``constructor`` is "" for the class itself, ``descriptor`` for a descriptor's call.

    ``arguments`` are the call's own keywords in their order, ``unpacked`` come from its ``**`` arguments, ``described``
    from the descriptor. ``known_fields`` are those of the checkout's own class (None when it is not found). ``held``
    says that the call is inside a ``ModelInfo`` or ``SystemInfo``; ``line`` and ``end_line`` are the call's.
    """

    target: Target
    constructor: str
    arguments: Mapping[str, Argument]
    unpacked: Mapping[str, Unpacked]
    described: Mapping[str, Any]
    known_fields: frozenset[str] | None
    held: bool
    line: int
    end_line: int

    @property
    def values(self) -> dict[str, Any]:
        """The values of the call's own keywords."""
        return {name: argument.value for name, argument in self.arguments.items()}

    def declares(self, field: str) -> bool:
        """Whether the call says anything of ``field``, itself or through ``**``."""
        return field in self.arguments or field in self.unpacked

    def supplied(self, field: str) -> Any:
        """What ``field`` is when the call's own keywords leave it out: from ``**``, the descriptor, the constructor."""
        if field in self.unpacked:
            return self.unpacked[field].value
        return self.described.get(field, _SUPPLIED.get(self.constructor, {}).get(field, FIELDS[field]))

    def metadata(self, values: Mapping[str, Any] | None = None) -> MethodMetadata:
        """The method that the call declares, or would with ``values`` for its own keywords.

        Keywords that are no fields here (a newer ``tabarena`` may have more) are left out.

        Raises:
            Failure: a rule of ``MethodMetadata`` is broken (exit 2), with a problem for each.
        """
        own = self.values if values is None else values
        unpacked = {name: entry.value for name, entry in self.unpacked.items()}
        merged = {**self.described, **unpacked, **own}
        known = {name: value for name, value in merged.items() if name in FIELDS}
        where = f"{METADATA} {known.get('method')!r}"
        if not self.constructor:
            return MethodMetadata.from_dict(known, where=where)
        if self.constructor == LEGACY:
            return self._legacy(known, merged, where)
        if self.constructor == DESCRIPTOR:
            known.pop("method_type", None)  # a descriptor's call may name the one type that it makes
            return MethodMetadata.config(**known)
        build: Callable[..., MethodMetadata] = getattr(MethodMetadata, self.constructor)
        return build(**known)

    def _legacy(self, known: dict[str, Any], merged: Mapping[str, Any], where: str) -> MethodMetadata:
        problems = [
            Problem(
                "metadata-conflict",
                f"{where}: {name}",
                f"given to {METADATA}.{LEGACY}(...), which sets it",
                "",
                f"declare the method with another constructor of {METADATA}",
            )
            for name in ("cache_type", "cache_kwargs")
            if name in known
        ]
        location = {"bucket": "tabarena", "prefix": "cache"} | {key: merged[key] for key in _LOCATION if key in merged}
        storage = {"cache_type": "s3", "cache_kwargs": {**location, "upload_as_public": True}}
        try:
            built = MethodMetadata.from_dict(known | storage, where=where)
        except Failure as failure:
            raise Failure([*problems, *failure.problems], exit=Exit.USAGE) from None
        if problems:
            raise Failure(problems, exit=Exit.USAGE)
        return built


def read_declaration(target: Target, source: bytes | None = None) -> Declaration:
    """The declaration at ``target``, from its file or from ``source``.

    Raises:
        Failure: the file cannot be read or is not Python, or the name is not in it (exit 2, with close names); it is
            bound twice, in a block, or by something other than a call of literals (exit 5): each with its line.
    """
    return declaration_in(Scope(target, parse(target.read() if source is None else source, target.path)))


def declaration_in(scope: Scope) -> Declaration:
    """The declaration that the scope's target names in it. Raises as ``read_declaration`` does."""
    target = scope.target
    try:
        binding = _binding(scope)
        if not isinstance(binding.value, ast.Call):
            raise _not_a_call(target, binding)
        call, held = _metadata_call(scope, binding.value)
        return _declaration(scope, call, held)
    except RecursionError:
        raise _refused(str(target.path), "nested too deeply to follow", "a module of plain declarations") from None


def all_but_fields(target: Target, source: bytes) -> str:
    """A module's syntax tree as text, without the fields that the call at ``target`` declares. Raises as above."""
    scope = Scope(target, parse(source, target.path))
    value = _binding(scope).value
    assert isinstance(value, ast.Call)
    call, _ = _metadata_call(scope, value)
    call.keywords = [entry for entry in call.keywords if entry.arg not in FIELDS]
    return ast.dump(scope.tree)


def declared_names(scope: Scope) -> list[str]:
    """The top-level names of a module that a call of one of the known shapes is bound to."""
    return [
        name
        for name, bindings in scope.bindings.items()
        if any(isinstance(entry.value, ast.Call) and _shape(scope, entry.value) is not None for entry in bindings)
    ]


def _binding(scope: Scope) -> Binding:
    target, name = scope.target, scope.target.attribute
    bindings = scope.bindings.get(name, [])
    if not bindings:
        raise _no_name(scope)
    if len(bindings) > 1:
        places = "; ".join(f"line {entry.line}: {entry.what}" for entry in bindings)
        raise _refused(target.at(bindings[1].line), f"{name} is bound more than once ({places})", "one assignment")
    return bindings[0]


def _no_name(scope: Scope) -> Failure:
    target, names = scope.target, declared_names(scope)
    built = [f"line {line}, in {name}()" for name, line in calls_in_functions(scope.tree, METADATA)]
    if names:
        fix = did_you_mean(target.attribute, names)
    elif built:
        fix = f"{METADATA} is called at {', '.join(built)}: edit that by hand"
    else:
        fix = f"name the module that calls {METADATA}"
    found = f"no {target.attribute} in {target.label}"
    return usage_error(str(target), found, "a name that a method is declared under", fix, code="unknown-attribute")


def _not_a_call(target: Target, binding: Binding) -> Failure:
    fix = f"edit it where it is declared: {':'.join(binding.imported)}" if binding.imported else _BY_HAND
    return _refused(target.at(binding.line), f"{target.attribute} is {binding.what}", f"a call of {METADATA}", fix)


def _shape(scope: Scope, call: ast.Call) -> str | None:
    """Which constructor a call is of, or ``held`` for one that holds another; None for any other call."""
    name = scope.class_of(call.func)
    if name == METADATA:
        return ""
    if name in HOLDERS:
        return "held"
    if isinstance(call.func, ast.Attribute):
        if call.func.attr in _CONSTRUCTORS and scope.class_of(call.func.value) == METADATA:
            return call.func.attr
        if call.func.attr == HOLDER_KEYWORD:
            return DESCRIPTOR
    return None


def _metadata_call(scope: Scope, call: ast.Call) -> tuple[ast.Call, bool]:
    """The call that declares the method, and whether a ``ModelInfo`` or ``SystemInfo`` holds it."""
    target = scope.target
    shape = _shape(scope, call)
    if shape is None:
        expected = f"{METADATA}(...), a constructor of it, or a descriptor's {HOLDER_KEYWORD}(...)"
        raise _refused(target.at(call.lineno), f"{target.attribute} is {kind_of(call)}", expected)
    if shape != "held":
        return call, False
    inner = next((entry.value for entry in call.keywords if entry.arg == HOLDER_KEYWORD), None)
    if isinstance(inner, ast.Call) and _shape(scope, inner) not in (None, "held"):
        return inner, True
    line = call.lineno if inner is None else inner.lineno
    holder = f"{ast.unparse(call.func)}(...)"
    if isinstance(inner, ast.Name):
        found = f"{holder} refers to {inner.id}"
        raise _refused(target.at(line), found, f"a call of {METADATA} in it", f"edit {target.module}:{inner.id}")
    found = f"no {HOLDER_KEYWORD}=" if inner is None else f"{HOLDER_KEYWORD}= is {kind_of(inner)}"
    raise _refused(target.at(line), f"{holder}: {found}", f"a call of {METADATA} there")


def _declaration(scope: Scope, call: ast.Call, held: bool) -> Declaration:
    target = scope.target
    lines = dict.fromkeys(positional.lineno for positional in call.args)
    problems = [_problem(target.at(line), "an argument without a name", "FIELD=VALUE arguments") for line in lines]
    constructor = _shape(scope, call) or ""
    arguments, unpacked = _keywords(scope, call, problems)
    described: dict[str, Any] = {}
    if constructor == DESCRIPTOR:
        assert isinstance(call.func, ast.Attribute)
        try:
            described = _described(scope, call.func.value)
        except NotLiteral as error:
            problems.append(_problem(target.at(error.line), f"the descriptor is {error.what}", "a literal descriptor"))
    if not problems and "method" not in {**arguments, **unpacked}:
        problems.append(_problem(target.at(call.lineno), "no method=", "the method's name"))
    if problems:
        raise Failure(problems, exit=Exit.REFUSED)
    return Declaration(
        target,
        constructor,
        arguments,
        unpacked,
        described,
        known_fields(scope),
        held,
        call.lineno,
        call.end_lineno or call.lineno,
    )


def _keywords(scope: Scope, call: ast.Call, problems: list[Problem]) -> tuple[dict[str, Argument], dict[str, Unpacked]]:
    """The call's own keywords, and the fields its ``**`` arguments bring; what is no literal goes to ``problems``."""
    arguments: dict[str, Argument] = {}
    unpacked: dict[str, Unpacked] = {}
    given = {entry.arg for entry in call.keywords}
    for entry in call.keywords:
        try:
            if entry.arg is None:
                source = f"**{ast.unparse(entry.value)}"
                brought = {
                    name: Unpacked(value, entry.lineno, source) for name, value in _mapping(scope, entry.value).items()
                }
                problems += [_twice(scope, entry, name, source) for name in sorted(brought.keys() & given)]
                given |= brought.keys()
                unpacked |= brought
            else:
                what = f"{kind_of(entry.value)} ({ast.unparse(entry.value)})" if _refers(entry.value) else ""
                arguments[entry.arg] = Argument(scope.value(entry.value), entry.value.lineno, what)
        except NotLiteral as error:
            if entry.arg is None or entry.arg in (*FIELDS, *_LOCATION):
                name = entry.arg or f"**{ast.unparse(entry.value)}"
                problems.append(_problem(scope.target.at(error.line), f"{name} is {error.what}", "a literal"))
    return arguments, unpacked


def _twice(scope: Scope, entry: ast.keyword, name: str, source: str) -> Problem:
    return _problem(scope.target.at(entry.lineno), f"{name} is given twice, by {source} too", "one value")


def known_fields(scope: Scope) -> frozenset[str] | None:
    """The fields of the ``MethodMetadata`` that the module, or one it imports from, defines as a plain class.

    None where there is no such class.
    """
    modules = {
        binding.imported[0]
        for bindings in scope.bindings.values()
        for binding in bindings
        if binding.imported and binding.imported[1] in (METADATA, _DESCRIPTOR_CLASS)
    }
    for other in filter(None, map(scope.module, sorted(modules))):
        for node in other.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == METADATA and not node.bases:
                return frozenset(
                    entry.target.id
                    for entry in node.body
                    if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
                )
    return None


def _refers(node: ast.expr) -> bool:
    """Whether an expression is more than literals, so that replacing it would drop a reference."""
    return any(isinstance(inner, ast.Name | ast.Call) for inner in ast.walk(node))


def _mapping(scope: Scope, node: ast.expr) -> dict[str, Any]:
    value = scope.value(node)
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise NotLiteral("no mapping of field names", node.lineno)
    return value


def _described(scope: Scope, node: ast.expr) -> dict[str, Any]:
    """The fields that a ``ModelDescriptor(...)`` declares, through a name or an import of the same checkout."""
    call, its_scope = scope.resolve(node)
    if not isinstance(call, ast.Call) or its_scope.class_of(call.func) != _DESCRIPTOR_CLASS or call.args:
        raise NotLiteral(f"{kind_of(call)}, not {_DESCRIPTOR_CLASS}(...) with named arguments", node.lineno)
    try:
        return {entry.arg: its_scope.value(entry.value) for entry in call.keywords if entry.arg is not None}
    except NotLiteral as error:
        raise NotLiteral(f"not literal: {error.what}", node.lineno) from None


def _problem(where: str, found: str, expected: str, fix: str = _BY_HAND) -> Problem:
    return Problem("not-editable", where, found, expected, fix)


def _refused(where: str, found: str, expected: str, fix: str = _BY_HAND) -> Failure:
    return Failure(_problem(where, found, expected, fix), exit=Exit.REFUSED)
