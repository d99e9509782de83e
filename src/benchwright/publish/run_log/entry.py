"""The text of a run's entry in the benchmark log."""

from __future__ import annotations

import datetime
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.arena.benchmark_log import entry_heading
from benchwright.arena.machine_paths import without_paths
from benchwright.contract import counted
from benchwright.publish.run_log.head import Head, utc
from benchwright.publish.run_log.records import SetUp
from benchwright.publish.run_log.settings import Settings
from benchwright.publish.run_log.traces import FailedItem, Traces

UNKNOWN = "unknown"
_NO_EVENTS = f"{UNKNOWN} (no event log)"
_NO_RESULTS = "none yet"
NOTHING_SAID = frozenset({UNKNOWN, _NO_EVENTS, _NO_RESULTS})
"""The texts of bullets that wait for something to say."""
_WIDTH = 120
_REASONS_SHOWN = 5
_LONGEST = 200
_WOULD_BE_MARKUP = re.compile(r"(-+|[+*]|#{1,6}|=+|\d+[.)])(?=\s|$)|>|`{3,}|~{3,}")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What an entry says. Suites are None, ``protocol``, ``purpose`` and ``reference`` "" where not known.

    ``protocol`` says the key with how it is known. ``suite`` is the run's own, ``declared_suite`` that of its method's
    metadata, which may be of an earlier run. ``plan`` is the plan's Python, ``arguments`` what is recorded of those
    that it reads, "" for nothing; ``notes`` are paragraphs and list items (with their dash).
    """

    date: str
    benchmark: str
    settings: Settings
    set_ups: Sequence[SetUp]
    head: Head
    traces: Traces
    protocol: str
    suite: str | None
    declared_suite: str | None
    reference: str
    purpose: str
    notes: Sequence[str]
    fixes: Sequence[str]
    plan: str
    arguments: str


def entry_text(facts: RunFacts) -> str:
    """The entry: its heading, a bullet a fact, and the plan.

    Models, commit, protocol, purpose, notes, infrastructure, results, wall time and failures are always there, as
    "unknown" where nothing says; every other bullet only where there is something to say.
    """
    lines = [
        *_fact("Model(s)", _models(facts)),
        *_fact("Git SHA", _head(facts.head)),
        *_fact("Validation protocol", facts.protocol or UNKNOWN),
        *_fact("Purpose", facts.purpose or UNKNOWN),
        *_notes(facts.notes),
        *_fact("Infrastructure", _infrastructure(facts)),
        *_fact("Arguments", facts.arguments),
        *(line for launch in facts.traces.launches for line in _fact("SkyPilot launch", _launch(launch))),
        *_fact("Results", _results(facts)),
        *_fact("Wall time", _wall_time(facts.traces)),
        *_fact("Failures", _failures(facts)),
        *_fact("Fixes", "; ".join(facts.fixes)),
        *_fact("Packages", _packages(facts.set_ups)),
        *_fact("Artifacts", _artifacts(facts)),
    ]
    fence = "`" * max(3, *(len(run) + 1 for run in ["", *re.findall("`+", facts.plan)]))
    plan = [f"{fence}python", facts.plan.rstrip("\n"), fence]
    return "\n".join([entry_heading(facts.date, facts.benchmark), "", *lines, "", *plan, ""])


def _fact(name: str, text: str) -> list[str]:
    """The lines of a bullet; none without a text."""
    return _bullet(f"**{name}:** {text}") if text else []


def _models(facts: RunFacts) -> str:
    text = facts.settings.models_text or UNKNOWN
    if facts.settings.arena:
        text += f" on {facts.settings.arena}"
    if facts.set_ups:
        configs = len({name for one in facts.set_ups for name in one.experiments})
        tasks = len({name for one in facts.set_ups for name in one.tasks})
        items = " and ".join(f"{one.total:,}" for one in facts.set_ups)
        text += f"; {counted(configs, 'config')}, {counted(tasks, 'task')}, {items} items"
    return text


def _head(head: Head) -> str:
    if head.sha is None:
        return "; ".join([f"{UNKNOWN} ({head.how})", *head.remarks])
    changes = {True: "with local changes", False: "no local changes", None: "whether with local changes is not known"}
    return "; ".join([f"`{head.sha}` ({head.how}; {changes[head.changed]})", *head.remarks])


def _infrastructure(facts: RunFacts) -> str:
    parallel = " and ".join(map(str, facts.traces.parallel))
    arrays = facts.traces.arrays
    parts = [
        facts.settings.text,
        *dict.fromkeys(f"default partition {one.default_partition}" for one in facts.set_ups if one.default_partition),
        f"array{'s' if len(arrays) > 1 else ''} {' and '.join(map(str, arrays))}" if arrays else "",
        f"{parallel} items side by side" if parallel else "",
    ]
    return ", ".join(part for part in parts if part) or UNKNOWN


def _launch(launch: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in _plain_values("", launch))


def _plain_values(prefix: str, content: Any) -> Iterator[tuple[str, str]]:
    """Names and values of JSON data that fit on a line; command blocks do not."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield from _plain_values(f"{prefix}.{name}" if prefix else str(name), value)
    elif isinstance(content, str | int | float) and "\n" not in str(content) and len(str(content)) <= _LONGEST:
        yield prefix, f"{content}"


def _results(facts: RunFacts) -> str:
    there = facts.traces.results
    if not there:
        return _NO_RESULTS
    if len(facts.set_ups) == 1:
        return f"{there:,} of {facts.set_ups[0].total:,} items have a result file"
    return counted(there, "result file")


def _wall_time(traces: Traces) -> str:
    if traces.begun is None or traces.ended is None:
        return UNKNOWN
    kind = "result" if traces.failures is None else "event or result"
    length = datetime.timedelta(seconds=round(traces.ended - traces.begun))
    return f"{length} from the first {kind}, {utc(traces.begun)}, to the last, {utc(traces.ended)}, pauses included"


def _failures(facts: RunFacts) -> str:
    """What failed, and what has neither failed nor a result: an array that was cancelled has no failures to tell."""
    traces = facts.traces
    if traces.failures is None:
        return _NO_EVENTS
    parts = [_failed(traces.failures) if traces.failures else "none in the event logs"]
    if traces.unfinished:
        parts.append(f"{counted(traces.unfinished, 'item')} stopped or still at work")
    if len(facts.set_ups) == 1:
        total = facts.set_ups[0].total
        lost = traces.unfinished + sum(not item.mended for item in traces.failures)
        waiting = total - traces.results - lost
        parts += [f"{waiting:,} of {total:,} items not started"] if waiting > 0 else []
    return "; ".join(parts)


def _failed(failures: Sequence[FailedItem]) -> str:
    mended = sum(item.mended for item in failures)
    reasons = Counter(_short(item.reason) for item in failures)
    shown = [f"`{reason}` ({counted(count, 'item')})" for reason, count in reasons.most_common(_REASONS_SHOWN)]
    if len(reasons) > _REASONS_SHOWN:
        shown.append(f"{len(reasons) - _REASONS_SHOWN} more reasons")
    failed = f"{counted(len(failures), 'item')} failed at some time, {mended} of them done since"
    return f"{failed}: {'; '.join(shown)}"


def _short(reason: str) -> str:
    text = " ".join(reason.replace("`", "'").split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _packages(set_ups: Sequence[SetUp]) -> str:
    """What the fits depended on, each by the earliest record that names it."""
    versions: dict[str, str] = {}
    for one in set_ups:
        for name, version in one.versions.items():
            versions.setdefault(name, version)
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _artifacts(facts: RunFacts) -> str:
    if facts.reference and not facts.suite:
        declared = f" (suite `{facts.declared_suite}`)" if facts.declared_suite else ""
        return f"metadata `{facts.reference}`{declared}, as declared"
    parts = [f"suite `{facts.suite}`"] if facts.suite else []
    return ", ".join([*parts, f"metadata `{facts.reference}`"] if facts.reference else parts)


def _notes(notes: Sequence[str]) -> list[str]:
    """The notes: paragraphs up to the first list item flow together, then a nested bullet each."""
    first = next((index for index, note in enumerate(notes) if note.startswith(("- ", "* "))), len(notes))
    opening = " ".join(notes[:first]) or ("" if notes else "none")
    lines = _bullet(f"**Notes:** {opening}")  # empty where all notes are list items
    for note in notes[first:]:
        lines += _bullet(re.sub(r"^[-*] ", "", note), indent="  ")
    return lines


def _bullet(text: str, indent: str = "") -> list[str]:
    """A list item on lines of at most 120 columns, none of which begins like markup of its own.

    Absolute paths, of a docstring or of an error, are no more shown than in an artifact: the log is published.
    """
    start = f"{indent}- "
    lines = textwrap.wrap(
        without_paths(" ".join(text.split())),
        _WIDTH - len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [(" " * len(start) if index else start) + _escaped(line) for index, line in enumerate(lines)]


def _escaped(line: str) -> str:
    """A line of prose as Markdown that does not begin a list, a heading, a quote or a block of code."""
    match = _WOULD_BE_MARKUP.match(line)
    if not match:
        return line
    number = len(line) - len(line.lstrip("0123456789"))
    return f"{line[:number]}\\{line[number:]}"
