"""Rows gathered in memory until they are enough for a group of a Parquet file."""

from __future__ import annotations

from array import array
from dataclasses import asdict, dataclass, field

import pyarrow as pa

from benchwright.harbor.traces.conversation import Conversation
from benchwright.harbor.traces.labels import Labels
from benchwright.harbor.traces.schema import TEXTS, NumberColumn, TextColumn, TurnColumn, Words
from benchwright.harbor.traces.trial_rows import Told

_SHAREGPT = {"user": "human", "assistant": "gpt", "system": "system"}


@dataclass(slots=True)
class _Numbers:
    """The numbers of a conversation's roles and texts, turn by turn, and the same in ShareGPT's form.

    That has no place for other roles: of the first ``n`` turns it has ``known[n]``.
    """

    conversation: Conversation
    roles: array[int] = field(default_factory=lambda: array("i"))
    texts: array[int] = field(default_factory=lambda: array("i"))
    speakers: array[int] = field(default_factory=lambda: array("i"))
    spoken: array[int] = field(default_factory=lambda: array("i"))
    known: array[int] = field(default_factory=lambda: array("i", [0]))


class RowGroup:
    """Rows of a dataset, in the form of ``schema``. Add the episodes of one conversation one after another."""

    def __init__(self, *, sharegpt: bool) -> None:
        self.rows = 0
        self._roles, self._texts = Words(), Words()
        self._turns = TurnColumn("role", "content")
        self._columns = {name: TextColumn() for name in TEXTS}
        self._rewards = NumberColumn()
        self._pairs = TurnColumn("from", "value") if sharegpt else None
        self._speakers = Words()
        self._numbered: _Numbers | None = None

    @property
    def size(self) -> int:
        """The characters of its texts, each counted once."""
        return self._texts.size + sum(column.size for column in self._columns.values())

    @property
    def turns(self) -> int:
        """The turns of all its conversations."""
        return len(self._turns)

    def names(self, column: str) -> frozenset[str]:
        """The different texts of a column."""
        return self._columns[column].texts

    def add(self, labels: Labels, told: Told, number: int, length: int) -> None:
        """The row of one episode, by its number and how many turns of the conversation it has."""
        conversation = told.conversation
        numbers = self._numbers(conversation)
        self._turns.add(numbers.roles[:length], numbers.texts[:length])
        if self._pairs is not None:
            known = numbers.known[length]
            self._pairs.add(numbers.speakers[:known], numbers.spoken[:known])
        values = asdict(labels) | {
            "episode": f"episode-{number}",
            "tool_definitions": conversation.tools,
            "instruction": told.instruction,
            "verifier_output": told.verifier_output,
            "trace_source": conversation.source,
            "step": conversation.step,
        }
        if conversation.agent:
            values["agent"] = conversation.agent
        if conversation.model:
            values["model"] = conversation.model
        for name, column in self._columns.items():
            column.add(values[name])
        self._rewards.add(labels.reward)
        self.rows += 1

    def table(self, schema: pa.Schema) -> pa.Table:
        """The rows; texts as dictionaries, which the writer takes as they are."""
        texts = self._texts.values()
        columns: dict[str, pa.Array] = {"conversations": self._turns.column(self._roles.values(), texts)}
        columns |= {name: column.column() for name, column in self._columns.items()}
        columns["reward"] = self._rewards.column()
        if self._pairs is not None:
            columns["conversations_sharegpt"] = self._pairs.column(self._speakers.values(), texts)
        return pa.table({name: columns[name] for name in schema.names})

    def _numbers(self, conversation: Conversation) -> _Numbers:
        """The numbers of a conversation, found once for all its episodes."""
        if self._numbered is not None and self._numbered.conversation is conversation:
            return self._numbered
        found = _Numbers(conversation)
        for role, text in conversation.turns:
            number = self._texts.number(text)
            found.roles.append(self._roles.number(role))
            found.texts.append(number)
            if role in _SHAREGPT:
                found.speakers.append(self._speakers.number(_SHAREGPT[role]))
                found.spoken.append(number)
            found.known.append(len(found.spoken))
        self._numbered = found
        return found
