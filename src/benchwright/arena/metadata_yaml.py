"""``metadata.yaml``: strict reading, the keys of older versions, and the peer's own form on writing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.arena.metadata_rules import describe
from benchwright.contract import Exit, Failure, Problem, said
from benchwright.files import read_bytes

if TYPE_CHECKING:
    import yaml

_LARGEST = 64 * 2**10
"""Bytes. Genuine files have under 1 KiB; nothing below this limit can tie up the parser."""
_DEEPEST = 8


def read(path: Path) -> dict[Any, Any]:
    """The mapping in a YAML file.

    Raises:
        Failure: there is no such file, it is too large, or as for ``parse`` (exit 2).
    """
    try:
        content = read_bytes(path, limit=_LARGEST)
    except OSError as error:
        fix = "process the method again with scripts/run_process_method.py"
        problem = Problem("metadata-unreadable", str(path), said(error), "a method's metadata", fix)
        raise Failure(problem, exit=Exit.USAGE) from None
    except Failure as failure:
        raise Failure(failure.problems, exit=Exit.USAGE) from None
    return parse(content, str(path))


def parse(content: str | bytes, where: str) -> dict[Any, Any]:
    """The mapping that a YAML document of plain values holds.

    Aliases, tags, repeated keys and deep nesting are refused: no genuine file has them.

    Raises:
        Failure: it is not UTF-8, not such a document, or not a mapping (exit 2).
    """
    import yaml

    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    except UnicodeDecodeError as error:
        raise _unreadable(where, f"not UTF-8 at byte {error.start}", "UTF-8 text") from None
    if len(text) > _LARGEST:
        raise _unreadable(where, f"more than {_LARGEST:,} characters", "a method's metadata")
    try:
        values = yaml.load(text, _loader())
    except yaml.YAMLError as error:
        raise _unreadable(where, f"not plain YAML: {_one_line(error)}", "a mapping of field names to values") from None
    except ValueError as error:
        # PyYAML leaves a date or a number that cannot exist to Python's own constructors.
        raise _unreadable(where, f"not plain YAML: {error}", "a mapping of field names to values") from None
    if not isinstance(values, dict):
        raise _unreadable(where, describe(values), "a mapping of field names to values")
    return values


def modernised(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """``values`` with the keys of older versions replaced, as ``tabarena`` 0.1.0 reads them.

    ``artifact_name`` becomes ``suite``; ``use_artifact_name_in_prefix`` is dropped; ``upload_as_public`` counts for
    S3 alone; ``s3_bucket`` or ``bucket``, and ``s3_prefix`` or ``prefix``, move into ``cache_kwargs``. What is there
    under the new name wins.
    """
    modern = dict(values)
    if "artifact_name" in modern:
        modern.setdefault("suite", modern.pop("artifact_name"))
    modern.pop("use_artifact_name_in_prefix", None)
    moved: dict[str, Any] = {}
    if modern.pop("upload_as_public", False) and modern.get("cache_type") == "s3":
        moved["upload_as_public"] = True
    for old, new in (("s3_bucket", "bucket"), ("bucket", "bucket"), ("s3_prefix", "prefix"), ("prefix", "prefix")):
        if old in modern:
            moved.setdefault(new, modern.pop(old))
    if moved:
        present = modern.get("cache_kwargs", {})
        # Anything but a mapping stays as it is, for the rules to name.
        modern["cache_kwargs"] = {**moved, **present} if isinstance(present, dict) else present
    return modern


def dump(values: dict[str, Any]) -> str:
    """``values`` in block style with sorted keys and ASCII escapes, byte for byte what ``tabarena`` writes."""
    import yaml

    return yaml.safe_dump(values, default_flow_style=False)


def _unreadable(where: str, found: str, expected: str) -> Failure:
    return Failure(Problem("metadata-unreadable", where, found, expected, "correct it there"), exit=Exit.USAGE)


def _one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
    text = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return f"{text}{place}"


@cache
def _loader() -> type[yaml.SafeLoader]:
    """PyYAML's safe loader without what only a hostile or damaged file holds. Made on first use, for the import."""
    import yaml

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            refused = None
            if isinstance(event, yaml.AliasEvent):
                refused = "an alias"
            elif event.tag is not None:
                refused = f"the tag {event.tag!r}"
            elif self.depth == _DEEPEST:
                refused = "nested too deeply"
            if refused:
                raise yaml.composer.ComposerError(None, None, refused, event.start_mark)
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    problem = f"the key {key.value!r} appears twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
            return super().construct_mapping(node, deep)

    return Loader
