"""Absolute paths in texts: what a machine's folders are called is nobody else's business."""

from __future__ import annotations

import re

HIDDEN_PATH = "<path>"
_ROOTED = re.compile(r"(?:file://)?/+[\w.~-](?:\S*$|.*/)|~[\w.-]*/\S*$|[A-Za-z]:[\\/]|\\\\\w")
"""How a line begins that is an absolute path and nothing else, spaces in its names included."""
_NAME = r"[\w.@+~-]+"
_INSIDE = re.compile(
    "|".join(
        (
            r"""(?<=")/+[\w.~-][^"\n/]*/[^"\n]*(?=")""",
            r"""(?<=')/+[\w.~-][^'\n/]*/[^'\n]*(?=')""",
            rf"(?<![\w.<>/\\-])(?:(?:file://)?(?:(?<!:)/+|/){_NAME}(?:/+{_NAME})+|~(?:[A-Za-z_][\w-]+)?(?:/+{_NAME})+)"
            rf"(?: (?!~){_NAME}(?: (?!~){_NAME})?(?:/+{_NAME})+)*/*",
            r"(?<!\w)[A-Za-z]:\\[\w.@+~\\-]+(?: [\w.@+~-]+\\[\w.@+~\\-]+)*",
        )
    )
)
"""An absolute path within a text: two names at least, and nothing before it as in a fraction or a web address.

A folder's name may hold spaces: words with a slash behind them belong to it.
"""
_IN_BYTES = re.compile(
    r"/(?:home|Users|root|tmp|var|mnt|media|data|scratch|srv|opt|usr|etc|work|workspace|private|lustre|nfs|gpfs)"
    rf"/+[\w.@+~-]{{2,}}(?:/+{_NAME})*",
    re.ASCII,
)
"""An absolute path in bytes that are no text, where a letter between slashes is met by chance."""


def without_paths(text: str) -> str:
    """The text, itself if it names no absolute path."""
    if "/" not in text and "\\" not in text:
        return text
    rooted = "\n" not in text and _ROOTED.match(text)
    hidden = HIDDEN_PATH if rooted else _INSIDE.sub(HIDDEN_PATH, text)
    return text if hidden == text else hidden


def without_paths_in_bytes(text: str) -> str:
    """The text of bytes that are none, without what is the path of a file and was not met by chance."""
    return _IN_BYTES.sub(HIDDEN_PATH, text)
