"""Markdown read into a page: model cards, with the HTML in them."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from benchwright.contract import Failure, Problem
from benchwright.hub.sources.markup import read_markup
from benchwright.hub.sources.page import Page, Passage, plain

_MOST_CHARACTERS = 4 * 2**20
_FOOTNOTE = re.compile(r"^\[\^([^\]\s]{1,40})\]:[ \t]*|(?<!\\)\[\^([^\]\s]{1,40})\]", re.MULTILINE)
_METADATA = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


def read_markdown(text: str) -> Page:
    """The page that Markdown makes; the metadata above it are no part of what is shown.

    Raises:
        Failure: it is longer than 4 Mi characters, or too intricate (code ``source-unreadable``).
    """
    from markdown_it import MarkdownIt

    if len(text) > _MOST_CHARACTERS:
        found = f"Markdown of more than {_MOST_CHARACTERS:,} characters"
        fix = "save the part that matters, and name the file as source.file"
        raise Failure(Problem("source-unreadable", "the page", found, "less", fix))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    metadata = _METADATA.match(text)
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = read_markup(parser.render(_FOOTNOTE.sub(_raised, text[metadata.end() :] if metadata else text)))
    if metadata is None:
        return page
    hidden = Passage(plain(metadata[1]), kind="hidden", label="the card's metadata")
    return replace(page, passages=(*page.passages, hidden))


def _raised(found: re.Match[str]) -> str:
    """A footnote's mark as the Hub shows it, which begins a line of its own where the note is."""
    return f"\n<sup>{escape(found[1])}</sup> " if found[1] else f"<sup>{escape(found[2])}</sup>"


def read_plain(text: str) -> Page:
    """The page that a text makes, line by line."""
    return read_markup("".join(f"<pre>{escape(block)}</pre>" for block in re.split(r"\n\s*\n", text)))
