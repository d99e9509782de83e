"""Writing to the evaluation database as a Supabase project: a plan is done step by step, each one request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from benchwright.contract import Failure
from benchwright.evaldb.comparing import holds
from benchwright.evaldb.source import KEYS, Condition, Record
from benchwright.evaldb.supabase import Refusal, SupabaseSource
from benchwright.evaldb.write_steps import (
    FUNCTIONS_VERSION,
    Step,
    change_arguments,
    contested,
    function_name,
    key_of,
    needs_function,
    refusal,
    row_refused,
    settled,
    settled_inserts,
    steps,
)
from benchwright.evaldb.writes import OWNED, Call, Insert, Update, Write, Written

_LONGEST_FILTERS = 6000
"""Characters of an address that may compare what was read: proxies take about 8,000 in all."""
_JSON_COLUMNS = frozenset(
    {"config", "exception_info", "generation_parameters", "metrics", "stats", "training_parameters"}
)
_NO_FUNCTION = "PGRST202"
_VERSION = "benchwright_functions"


class SupabaseWriter(SupabaseSource):
    """Rows of a Supabase project, written through its client.

    A request whose answer was lost is sent again: each compares what it writes over, and finds its own work done. What
    filters in an address cannot compare, or not at that length, is a function's to do; that the functions are there is
    asked before the first write of a plan that needs one.
    """

    _has_functions = False

    def write(self, plan: Sequence[Write]) -> tuple[Written, ...]:
        """See ``RowWriter.write``."""
        ordered = list(steps(plan))
        if any(_needs_function(step) for step in ordered):
            self._check_functions()
        try:
            return tuple(one for step in ordered for one in self._step(step))
        except UnicodeEncodeError:  # before anything of the step was sent
            raise row_refused(self.place, "half a surrogate pair, which no text may have") from None

    def _step(self, step: Step) -> list[Written]:
        if isinstance(step, Call):
            return [settled(self.place, step, self._called(step))]
        if isinstance(step, Update):
            return [self._update(step)]
        return self._insert(step)

    def _insert(self, inserts: Sequence[Insert]) -> list[Written]:
        table = inserts[0].table
        query = self._client.table(table).upsert(
            [insert.record for insert in inserts], ignore_duplicates=True, on_conflict=",".join(KEYS[table])
        )
        inserted = self._rows(query)
        new = {key_of(table, record) for record in inserted}
        there = [
            record
            for insert in inserts
            if key_of(table, insert.record) not in new
            for record in self._there(table, insert.key)
        ]
        return settled_inserts(self.place, inserts, inserted, there)

    def _update(self, update: Update) -> Written:
        if _needs_function(update):
            return settled(self.place, update, self._called(Call("change_row", change_arguments(update))))
        query = self._client.table(update.table).update(dict(update.values))
        for column, value in _compared(update).items():
            text = _filter(column, value)
            query = query.is_(column, "null") if text is None else query.filter(column, "eq", text)
        changed = self._rows(query)
        if changed:
            return Written(update, "done", {**changed[0], **update.read}, changed[0])
        now = next(iter(self._there(update.table, update.key)), None)
        if now is not None and holds(now, _compared(update)):  # as it was read, though no filter finds JSON's own null
            self._check_functions()
            return settled(self.place, update, self._called(Call("change_row", change_arguments(update))))
        if now is None or not holds(now, _owned(update)) or not holds(now, update.values):
            raise contested(self.place, update, now)
        return Written(update, "done-already", now, now)

    def _there(self, table: str, key: Mapping[str, Any]) -> list[Record]:
        return self.select(table, *(Condition(column, "eq", str(value)) for column, value in key.items()))

    def _called(self, call: Call) -> Any:
        name = function_name(call)
        return self._ask(self._client.rpc(name, dict(call.arguments))).data

    def _check_functions(self) -> None:
        """Go on where the database has the functions of this version.

        Raises:
            Failure: it does not (code ``needs-function``, exit 5).
        """
        if not self._has_functions:
            version = self._ask(self._client.rpc(_VERSION, {})).data
            if version != FUNCTIONS_VERSION:
                raise needs_function(self.place, f"of version {FUNCTIONS_VERSION}: {_VERSION} says {version}")
            self._has_functions = True

    def _rows(self, query: Any) -> list[Record]:
        rows: Any = self._ask(query).data
        if not isinstance(rows, list):
            raise self._odd_answer("a write")
        return rows

    def _failure(self, answer: Refusal) -> Failure:
        said = self._hidden(f"{answer.message} (HTTP {answer.status})")
        if answer.code == _NO_FUNCTION:
            return needs_function(self.place, _VERSION)
        return refusal(self.place, answer.code, said) or super()._failure(answer)


def _compared(update: Update) -> Record:
    """What the row must have for the update to find it."""
    return {**update.key, **_owned(update), **update.read}


def _owned(update: Update) -> Record:
    return {OWNED[update.table]: update.owner} if update.table in OWNED else {}


def _needs_function(step: Step) -> bool:
    if not isinstance(step, Update):
        return isinstance(step, Call)
    filters = "&".join(f"{name}=eq.{_filter(name, value)}" for name, value in _compared(step).items())
    return len(quote(filters)) > _LONGEST_FILTERS


def _filter(column: str, value: Any) -> str | None:
    """A value as the text that a column is compared with; None for NULL, which no text is."""
    if value is None:
        return None
    if isinstance(value, str) and column not in _JSON_COLUMNS:
        return value
    return json.dumps(value, allow_nan=False)
