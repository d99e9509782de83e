"""The words of a pull request: its title, its body, and the marker in the body by which we know it for ours.

The form is that of pull requests which owners of models have merged: a bold link for each benchmark to the view of its
leaderboard that shows the result, where the numbers come from, and that a script has opened it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchwright.contract import Failure, Problem
from benchwright.hub.entries import Entry, write_entries

TITLE = "Add community evaluation results for "
ABOUT = "https://huggingface.co/docs/hub/eval-results"
EXTRACTED = "These results were extracted from "
_LONGEST_TITLE = 200
LONGEST_BODY = 65_536
"""Characters that the Hub takes."""
_MARKER = re.compile(r"<!-- port-evals:([0-9a-f]{12}) -->", re.ASCII)
_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines, halves of characters, and what turns the direction of a text around."""
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_ADDRESS = re.compile(r"((?:https?://|ftp://|\bwww\.)[^\s<>`]*[^\s<>`.,:;!?\"')\]])", re.IGNORECASE)
"""What renderers of Markdown make a link of by themselves, also within the text of another link, which then is none."""


@dataclass(frozen=True)
class Told:
    """What the body says of a result: the benchmark's name, the link to its view, and the origin of the number."""

    name: str
    link: str
    origin: str


def spec_hash(entries: Iterable[Entry]) -> str:
    """The digits of the marker: those of the results themselves, whatever their order and the files they are in."""
    text = "".join(sorted(write_entries([entry]) for entry in entries))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def marker_in(text: str) -> str | None:
    """The digits of the last marker in a text, None where there is none."""
    found = _MARKER.findall(text)
    return found[-1] if found else None


def title_for(names: Sequence[str]) -> str:
    """The title: as many of the names as it has room for."""
    names = list(dict.fromkeys(names))
    for kept in range(len(names), 0, -1):
        more = [f"{len(names) - kept} more"] if kept < len(names) else []
        title = TITLE + listed([*names[:kept], *more])
        if len(title) <= _LONGEST_TITLE:
            return title
    return f"{TITLE}{len(names)} benchmarks"


def in_order(title: str, names: Iterable[str]) -> list[str]:
    """Names in the order that a title has them in; behind them those that it does not have, in their own."""
    rest, left, found = title.removeprefix(TITLE), list(dict.fromkeys(names)), list[str]()
    while here := [name for name in left if rest.startswith(name)]:
        found.append(max(here, key=len))
        left.remove(found[-1])
        rest = rest.removeprefix(found[-1]).removeprefix(", ").removeprefix(" and ")
    return found + left


def body_for(results: Sequence[Told], digits: str) -> str:
    """The body, as Markdown; what comes from others' files cannot become marks of it."""
    links = [f"- **[{plain(one.name)}]({one.link})**" for one in results]
    origins: dict[str, list[str]] = {}
    for one in results:
        origins.setdefault(one.origin.strip().removesuffix("."), []).append(one.name)
    source = extracted([(plain(origin), [plain(name) for name in names]) for origin, names in origins.items()])
    return "\n".join(
        [
            "This adds the results to the leaderboards, where these links show them:",
            "",
            *links,
            "",
            source,
            "",
            f"[What evaluation results are]({ABOUT}). This pull request was opened by a script:"
            " please check the numbers before you merge it, or close it if they do not belong here.",
            "",
            f"<!-- port-evals:{digits} -->",
        ]
    )


def extracted(origins: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The sentence of where the numbers come from: each origin with the benchmarks that it is of, as Markdown."""
    if len(origins) == 1:
        return f"{EXTRACTED}{origins[0][0]}."
    return f"{EXTRACTED}{listed([f'{origin} for {listed(names)}' for origin, names in origins])}."


def plain(text: str) -> str:
    """A text that Markdown shows as it is, and that calls nobody.

    Addresses are shown as code: so they are no links, and can be copied, which they could not with marks put in.
    """
    pieces = _ADDRESS.split(text)
    pieces[::2] = [_MENTION.sub("@\u2060", _MARKS.sub(r"\\\1", one)) for one in pieces[::2]]
    pieces[1::2] = [f"`{one}`" for one in pieces[1::2]]
    return "".join(pieces)


def check_seen(text: str, where: str) -> None:
    """Refuse a line with characters that nobody sees, and that may show it as another one.

    Raises:
        Failure: it has such (code ``unseen-characters``).
    """
    if found := _UNSEEN.search(text):
        problem = Problem(
            "unseen-characters",
            where,
            f"U+{ord(found[0]):04X} in {text[:80]!a}",
            "a plain line",
            "write it anew, by hand",
        )
        raise Failure(problem)


def listed(words: Iterable[str]) -> str:
    """Words in a row: ``A``, ``A and B``, ``A, B and C``."""
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
