"""Trajectories in the Agent Trajectory Interchange Format (ATIF) 1.x: the fields that conversations are made of.

The rest, such as token ids and their probabilities, is skipped unread.

Source of the format: ``harbor.models.trajectories`` of Harbor 0.25.0, which writes ATIF-v1.8.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.traces.unexported import Unexported

_VERSION = "ATIF-v1."


class ToolCall(msgspec.Struct, gc=False):
    """A call that the agent made in a step."""

    function_name: Any = None
    arguments: Any = msgspec.field(default_factory=dict)


class Result(msgspec.Struct, gc=False):
    """One part of what the environment answered. ``content`` is a text, parts of one, or UNSET."""

    content: Any = msgspec.UNSET


class Observation(msgspec.Struct, gc=False):
    """What the environment answered to a step."""

    results: list[Result] | None = None


class Step(msgspec.Struct, gc=False):
    """A step; ``source`` is ``system``, ``user`` or ``agent``. Copied context is in an earlier trajectory already."""

    source: str | None = None
    message: Any = ""
    reasoning_content: Any = None
    tool_calls: list[ToolCall] | None = None
    observation: Observation | None = None
    is_copied_context: bool | None = None


class AtifAgent(msgspec.Struct, gc=False):
    """Who acted."""

    name: str | None = None
    model_name: str | None = None
    tool_definitions: Any = None


class Trajectory(msgspec.Struct, gc=False):
    """A trajectory, without its subagents' own."""

    schema_version: str | None = None
    trajectory_id: str | None = None
    agent: AtifAgent = msgspec.field(default_factory=AtifAgent)
    steps: list[Step] = msgspec.field(default_factory=list)
    continued_trajectory_ref: str | None = None


class WholeTrajectory(Trajectory, gc=False):
    """A trajectory with those of its subagents, which files from version 1.7 on may hold."""

    subagent_trajectories: list[Trajectory] | None = None


_DECODER = msgspec.json.Decoder(WholeTrajectory)


def read_trajectory(name: str, data: bytes) -> WholeTrajectory:
    """The trajectory in a file called ``name``. One that names no version is taken for one of 1.x.

    Raises:
        Unexported: it is cut off or damaged, is no trajectory, or one of another version.
    """
    try:
        trajectory = decode(data, _DECODER)
    except NotJson as error:
        raise Unexported(f"{name} cannot be read: {error}") from None
    version = trajectory.schema_version
    if version is not None and not version.startswith(_VERSION):
        raise Unexported(f"{name} is {version[:40]!a}, and {_VERSION}x is what can be read")
    return trajectory
