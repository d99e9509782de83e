"""The golden template of a run script, and how it is filled."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import write_text
from benchwright.launch.choices import Choices

_LITERAL = re.compile(r"""(["'])<([a-z_]+)>\1""")
_WORD = re.compile(r"<([a-z_]+)>")
_DOCSTRING = re.compile(r'"""(.*?)"""\n', re.S)
_GUIDANCE = re.compile(r"\s*# EDIT.*$")
_WIDTH = 120


def fill(template: str, choices: Choices, *, title: str, notes: Sequence[str] = ()) -> str:
    """The template with every marker replaced and the guidance behind ``# EDIT`` removed.

    A marker is a string literal that reads ``<name>``; a line whose marker has no value here (a GPU's memory for a CPU
    model) is left out. ``title`` is the arena's, for the docstring, and ``notes`` are its sentences on the model.

    Raises:
        ValueError: the template has a marker that is not known.
    """
    literals = _literals(choices)
    texts = {"model": choices.model, "title": title, "notes": _wrapped(notes)}
    unknown = {name for _, name in markers(template)} - literals.keys() - texts.keys()
    if unknown:
        raise ValueError(f"the template's markers {sorted(unknown)} are not known")
    docstring, code = _parts(template)
    if not notes:
        docstring = docstring.replace("<notes>\n\n", "")
    docstring = _WORD.sub(lambda match: texts[match[1]], docstring)
    return docstring + "".join(line for old in code.splitlines() for line in _filled(old, literals))


def _parts(source: str) -> tuple[str, str]:
    """A script's docstring, with its quotes and line end, and the rest."""
    found = _DOCSTRING.match(source)
    end = found.end() if found else 0
    return source[:end], source[end:]


def _wrapped(notes: Sequence[str]) -> str:
    return textwrap.fill(" ".join(notes), _WIDTH, break_long_words=False, break_on_hyphens=False)


def _filled(line: str, literals: Mapping[str, str | None]) -> list[str]:
    """One line of code with its values, or none."""
    values = {name: literals[name] for _, name in _LITERAL.findall(line)}
    if None in values.values():
        return []
    plain = _GUIDANCE.sub("", line)
    if line and not plain:
        return []
    filled = _LITERAL.sub(lambda match: str(values[match[2]]), plain)
    return [f"{filled}  # noqa: E501\n" if len(filled) > _WIDTH else f"{filled}\n"]


def _literals(choices: Choices) -> dict[str, str | None]:
    """The Python literal that takes each marker's place; None where the marker's line does not apply."""
    gpu = choices.compute == "gpu"
    values = {
        **{name: value for name, value in choices.to_dict().items() if name not in ("resources", "partition")},
        "exclusive_node": choices.exclusive_node or None,
        "gpu_partition": choices.partition if gpu else None,
        "cpu_partition": None if gpu else choices.partition,
        "fake_memory_for_estimates": choices.resources.get("fake_memory_for_estimates"),
    }
    return {name: None if value is None else literal(value) for name, value in values.items()}


def literal(value: object) -> str:
    """A value as the project's formatter writes it: in double quotes unless that would need escapes."""
    text = repr(value)
    return text if '"' in text else text.replace("'", '"')


def markers(source: str) -> list[tuple[int, str]]:
    """Line number and name of every unfilled marker: a literal that reads ``<name>``, or one within the docstring."""
    docstring, _ = _parts(source)
    lines = docstring.splitlines()
    found = [(number, name) for number, line in enumerate(lines, start=1) for name in _WORD.findall(line)]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        match = _LITERAL.fullmatch(token.string) if token.type == tokenize.STRING else None
        if match:
            found.append((token.start[0], match[2]))
    return found


def require_filled(script: Path | str) -> None:
    """Refuse a run script that still has markers.

    Raises:
        Failure: one problem a marker, naming its line (exit 2).
    """
    unfilled = markers(Path(script).read_text("utf-8"))
    if unfilled:
        raise Failure(
            [
                Problem(
                    "unfilled-marker",
                    f"{script}:{line}",
                    f"the marker <{name}> is not filled",
                    "a value",
                    "scripts/new_benchmark.py MODEL fills every marker, or write the value there",
                )
                for line, name in unfilled
            ],
            exit=Exit.USAGE,
        )


def write_run_script(script: Path, source: str, *, force: bool = False) -> None:
    """Write a filled script.

    Raises:
        Failure: a different one is there already, and ``force`` is not given (exit 5); the folder is none (exit 2).
    """
    fix = "move it away, or give another --script-dir"
    try:
        if script.exists() and script.read_bytes() != source.encode() and not force:
            raise Failure(
                Problem("script-differs", str(script), "a different run script", "none", "add --force to replace it"),
                exit=Exit.REFUSED,
            )
        write_text(script, source)
    except (FileExistsError, NotADirectoryError):
        found = f"{script.parent} is no folder"
        raise usage_error("--script-dir", found, "a folder, or a place for one", fix) from None
    except IsADirectoryError:
        found = f"{script} is a folder"
        raise usage_error("--script-dir", found, "a place for the run script", fix) from None
