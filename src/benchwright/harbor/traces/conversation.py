"""A conversation as a row of a dataset has it: turns, each a role and a text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from benchwright.harbor.traces.atif import Step
from benchwright.harbor.traces.unexported import Unexported

_ENCODER, _INDENTING = json.JSONEncoder(ensure_ascii=False), json.JSONEncoder(ensure_ascii=False, indent=2)
Turn = tuple[str, str]
"""The role, ``user``, ``assistant`` or what a log calls it, and the text."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said between an agent and its surroundings, and the episodes in it, by number and length.

    An episode is a row: the first ``length`` turns, up to what the agent says last. ``source`` is ``main`` or names a
    subagent; ``step`` is that of a trial of several steps. ``agent``, ``model`` and ``tools``, as JSON, are None where
    the log does not name them.
    """

    turns: Sequence[Turn]
    episodes: Sequence[tuple[int, int]]
    source: str = "main"
    step: str | None = None
    agent: str | None = None
    model: str | None = None
    tools: str | None = None


def turns_of(steps: Iterable[Step], tools: Any = None) -> tuple[list[Turn], list[int]]:
    """The turns that steps make, and the numbers of turns up to each of the agent's steps, without the copied ones.

    What the system says is a turn of the user's, the first with the tools before it; what the environment answers is
    one too. The agent's reasoning, words and tool calls are one turn, as Harbor's own exporter puts them together.

    Raises:
        Unexported: a step holds more than text.
    """
    turns: list[Turn] = []
    ends: list[int] = []
    for step in steps:
        if step.source == "agent":
            turns.append(("assistant", _said(step)))
            if not step.is_copied_context:
                ends.append(len(turns))
            if answers := _answers(step):
                turns.append(("user", "\n".join(answers)))
        elif step.source in ("system", "user"):
            text = text_of(step.message)
            if step.source == "system" and tools:
                text = f"<tools>\n{_json(tools, _INDENTING)}\n</tools>\n\n{text}"
                tools = None
            turns.append(("user", text))
    return turns, ends


def text_of(content: Any) -> str:
    """The text of a message, whatever form it has; its parts are lines.

    Raises:
        Unexported: a part is a picture or a sound, which a row of text would lose in silence.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return "\n".join(map(_part, content)) if isinstance(content, list) else _json(content)


def tools_text(tools: Any) -> str | None:
    """The definitions of an agent's tools as JSON, None where there are none."""
    return _json(tools) if tools else None


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        if part.get("type") in ("image", "audio", "image_url", "input_audio"):
            raise Unexported("it holds pictures or sound, and a row holds text")
        if isinstance(part.get("text"), str):
            return str(part["text"])
    return _json(part)


def _said(step: Step) -> str:
    parts = [f"<think>{text_of(step.reasoning_content)}</think>"] if step.reasoning_content else []
    message = text_of(step.message)
    if message:
        # a server that is sent the opening tag with the prompt gives back the closing one alone
        lacks_its_start = "</think>" in message and "<think>" not in message
        parts.append(f"<think>{message}" if lacks_its_start else message)
    calls = ({"name": call.function_name, "arguments": call.arguments} for call in step.tool_calls or ())
    return "\n".join([*parts, *(f"<tool_call>\n{_json(call)}\n</tool_call>" for call in calls)])


def _answers(step: Step) -> list[str]:
    results = step.observation.results or () if step.observation else ()
    return [text_of(result.content) for result in results if result.content is not msgspec.UNSET]


def _json(value: Any, encoder: json.JSONEncoder = _ENCODER) -> str:
    try:
        return encoder.encode(value)
    except RecursionError:
        raise Unexported("a value in it is nested too deeply") from None
