"""What a dataset of traces holds, counted while it is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from benchwright.harbor.traces.conversation import Conversation
from benchwright.harbor.traces.labels import Labels


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A trial, or a part of it, that is in no row, and why."""

    trial: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """The same as JSON data."""
        return {"trial": self.trial, "why": self.why}


@dataclass(slots=True)
class TraceCounts:
    """The counts of a dataset: ``trials`` have rows, with the reward of each, ``sources`` are rows by trace source."""

    trials: dict[str, float | None] = field(default_factory=dict)
    sources: Counter[str] = field(default_factory=Counter)
    exceptions: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.sources.total()

    @property
    def rewards(self) -> list[float]:
        """The rewards of the trials that have one."""
        return [reward for reward in self.trials.values() if reward is not None]

    def add(self, labels: Labels, conversation: Conversation) -> None:
        """Count the rows of a conversation."""
        self.sources[conversation.source] += len(conversation.episodes)
        self.agents.add(labels.agent)
        self.models.add(conversation.model or labels.model)
        if labels.trial_name not in self.trials:
            self.trials[labels.trial_name] = labels.reward
            if labels.exception:
                self.exceptions[labels.exception] += 1
