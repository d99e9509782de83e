"""The card of a dataset of traces, its README.md: what is in it and where it comes from. No times, no local paths."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchwright.contract import counted
from benchwright.harbor.number import as_score
from benchwright.harbor.traces.counts import LeftOut, TraceCounts

_SIGNS = re.compile(r"[\\`*_{}\[\]<>|#~$]")
_DATA_FILES = [{"split": "train", "path": "data/train-*.parquet"}]
_COLUMNS = """\
| column | what |
|---|---|
| `conversations` | turns, each a role and a text; an episode holds all that was said before it |
| `agent`, `model`, `model_provider` | who acted; a served model may bear the name that its server gave it |
| `date`, `run_id`, `task`, `trial_name` | when the trial began, the job's id, its task and its own name |
| `episode` | `episode-N`, counted over all of a trial's trajectories |
| `result` | the class of the exception, else the reward as a text |
| `reward`, `exception` | the same, apart: a trial that timed out may have been scored; null where there is none |
| `tool_definitions` | the agent's tools, as JSON |
| `instruction`, `verifier_output` | what the agent was asked for, what the verifier printed |
| `trace_source` | `main`, or the name of a subagent, whose whole conversation is one row |
| `step` | the step, in trials that have several |
"""
_SHAREGPT = "| `conversations_sharegpt` | the turns in ShareGPT's form |\n"


def card(run: str, provenance: Mapping[str, Any], counts: TraceCounts, left_out: Sequence[LeftOut]) -> str:
    """The card's text. ``provenance`` are names and values of a table, such as the episodes that were asked for."""
    front = {"pretty_name": f"Traces of {run}", "configs": [{"config_name": "default", "data_files": _DATA_FILES}]}
    facts = {
        "rows": f"{counts.rows:,} ({_tallied(counts.sources)})",
        "trials": f"{len(counts.trials):,}",
        "with a reward": _rewarded(counts.rewards),
        "with an exception": _tallied(counts.exceptions) or "none",
        "left out": _tallied(Counter(one.why for one in left_out)) or "none",
        "agent": ", ".join(sorted(counts.agents)),
        "model": ", ".join(sorted(counts.models)),
    }
    table = "".join(f"| {name} | {_shown(str(value))} |\n" for name, value in (facts | dict(provenance)).items())
    columns = _COLUMNS + (_SHAREGPT if provenance.get("ShareGPT") == "yes" else "")
    return (
        f"---\n{_yaml(front)}---\n\n# Traces of {_shown(run)}\n\nWhat agents and their surroundings said to each other "
        f"in the trials of a Harbor job.\n\n| | |\n|---|---|\n{table}\n{columns}\n"
        "`provenance.json` lists every trial that is left out, with the reason, and the digest of every file.\n"
    )


def _yaml(front: Mapping[str, Any]) -> str:
    """A mapping as YAML, of which JSON is a part."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in front.items())


def _rewarded(rewards: Sequence[float]) -> str:
    if not rewards:
        return "none"
    return f"{len(rewards):,}, the mean is {as_score(sum(rewards) / len(rewards))}"


def _tallied(tally: Mapping[str, int], most: int = 12) -> str:
    """``288 main, 36 summarization-1-summary``: the most frequent ones, and how many others there are."""
    ordered = sorted(tally.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{number:,} {name}" for name, number in ordered[:most]]
    others = ordered[most:]
    if others:
        shown.append(f"{sum(number for _, number in others):,} of {counted(len(others), 'other kind')}")
    return "; ".join(shown)


def _shown(text: str) -> str:
    """A text in a cell of a table, or a heading, as itself."""
    return _SIGNS.sub(lambda found: f"\\{found[0]}", " ".join(text.split()))


def names_of(values: Iterable[str | None]) -> str:
    """Different names in their order, as a cell has them."""
    return ", ".join(sorted({value for value in values if value})) or "not recorded"
