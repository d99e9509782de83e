"""The trajectories of an agent's folder: the main one with what continues it, and those of subagents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from benchwright.harbor.scan import as_text
from benchwright.harbor.traces.atif import Step, Trajectory, WholeTrajectory, read_trajectory
from benchwright.harbor.traces.conversation import Conversation, tools_text, turns_of
from benchwright.harbor.traces.trial_files import TrialFiles
from benchwright.harbor.traces.unexported import Unexported

Episodes = Literal["last", "all"]
"""Which of an agent's episodes become rows: the final one, or each with all that was said before."""
MAIN = "trajectory.json"
_CONTINUATION = ".cont-"
_SUBAGENT = re.compile(r"trajectory\.(?P<name>.+)\.json", re.DOTALL)


class Trajectories:
    """The trajectories in ``folder`` of a trial. ``notes`` gathers what of them is in no row, and why.

    ``instruction`` is the first text of the main one, once it was read.
    """

    def __init__(self, files: TrialFiles, folder: str, notes: list[str]) -> None:
        self._files = files
        self._folder = folder
        self._notes = notes
        self._embedded: list[Trajectory] = []
        self.instruction: str | None = None

    def conversations(self, which: Episodes) -> Iterator[Conversation]:
        """The main agent's conversations, then a whole one of each subagent. ``last`` is the last episode of them all.

        Of a chain that breaks off, what comes before is taken, and the break noted.
        """
        last = None
        for conversation in self._main():
            if which == "all":
                yield conversation
            else:
                last = conversation
        if last is not None:
            yield replace(last, episodes=last.episodes[-1:])
        yield from self._subagents()

    def _main(self) -> Iterator[Conversation]:
        """A conversation of each trajectory of the chain that the agent acts in; episodes count on through all."""
        seen: set[str] = set()
        name: str | None = MAIN
        count = 0
        while name is not None:
            seen.add(name)
            try:
                trajectory = self._read(name)
                if name == MAIN:
                    self.instruction = _first_text(trajectory.steps)
                self._embedded += trajectory.subagent_trajectories or ()
                turns, ends = turns_of(trajectory.steps, trajectory.agent.tool_definitions)
            except Unexported as why:
                self._notes.append(str(why))
                return
            if ends:
                agent = trajectory.agent
                episodes = [(count + number, end) for number, end in enumerate(ends)]
                count += len(ends)
                del turns[ends[-1] :]
                yield Conversation(
                    turns, episodes, agent=agent.name, model=agent.model_name, tools=tools_text(agent.tool_definitions)
                )
            name = trajectory.continued_trajectory_ref
            if name is not None and (name in seen or name in ("", ".", "..") or "/" in name or "\0" in name):
                self._notes.append(f"it goes on in {name[:80]!a}, which is no other file beside it")
                return
        if not count:
            self._notes.append(f"{MAIN} has no step of the agent")

    def _subagents(self) -> Iterator[Conversation]:
        for name in self._files.names(self._folder):
            if (found := _SUBAGENT.fullmatch(name)) and _CONTINUATION not in name:
                try:
                    yield from _whole(as_text(found["name"]), self._read(name))
                except Unexported as why:
                    self._notes.append(str(why))
        for number, embedded in enumerate(self._embedded):
            try:
                yield from _whole(embedded.trajectory_id or f"subagent-{number}", embedded)
            except Unexported as why:
                self._notes.append(f"a subagent: {why}")

    def _read(self, name: str) -> WholeTrajectory:
        data = self._files.read(f"{self._folder}/{name}")
        if data is None:
            raise Unexported(f"there is no {name}")
        return read_trajectory(name, data)


def _whole(source: str, trajectory: Trajectory) -> Iterator[Conversation]:
    """A subagent's conversation, to its end, as the main agent's doing; none where it never spoke."""
    turns, _ = turns_of(trajectory.steps)
    if any(role == "assistant" for role, _ in turns):
        yield Conversation(turns, [(0, len(turns))], source=source, model=trajectory.agent.model_name)


def _first_text(steps: Sequence[Step]) -> str | None:
    return next((text for step in steps if isinstance(step.message, str) and (text := step.message.strip())), None)
