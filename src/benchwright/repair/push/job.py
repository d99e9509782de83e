"""The values of a run's own row, from its folder and its trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.audit.run import Leg
from benchwright.evaldb import Record
from benchwright.harbor import Folder, Trial
from benchwright.harbor.json_text import NotJson, decode
from benchwright.harbor.scan import CONFIG, LOCK
from benchwright.harbor.tree import Odd
from benchwright.repair.push.score import metrics_of_trials, stats_of_trials
from benchwright.repair.push.storable import Storable
from benchwright.repair.push.trials import time_text

NO_VERSION = "unknown"
"""For a row that has to name a version: before 0.14 Harbor wrote its own nowhere."""
RESULTS = ("metrics", "stats", "hf_traces_link")
"""The columns that are written last: with them a row has its score, and is complete."""


class _Harbor(msgspec.Struct):
    version: Any = None


class _Lock(msgspec.Struct):
    harbor: _Harbor | None = None


_LOCK = msgspec.json.Decoder(_Lock)
_ANY = msgspec.json.Decoder()


def job_values(leg: Leg, folder: Path, trials: Sequence[Trial], planned: int) -> Record:
    """What the row of a run should say, but for its id, its owner, its traces, and the rows that it refers to.

    ``folder`` is the run's, or that of its first shard. ``n_trials`` is how many trials were ``planned``. What nothing
    tells is None.
    """
    run = leg.run
    storable = Storable()
    config, version = _own_files(folder)
    started = run.began or min((trial.started for trial in trials if trial.started), default=None)
    ended = run.ended or max((trial.finished for trial in trials if trial.finished), default=None)
    return {
        "job_name": storable.text(run.tag),
        "job_status": "Finished",
        "started_at": time_text(started),
        "ended_at": time_text(ended),
        "slurm_job_id": next(iter(run.slurm_ids), None),
        "package_version": storable.text(version) if version else None,
        "n_trials": planned,
        "n_rep_eval": _attempts(leg, trials),
        "config": storable(config),
        "metrics": storable(metrics_of_trials(trials)),
        "stats": storable(stats_of_trials(trials)),
        "hf_traces_link": None,
    }


def _own_files(folder: Path) -> tuple[Mapping[str, Any], str | None]:
    """The job's configuration, as it is, and the version of Harbor that its lock names."""
    with Folder(folder) as tree:
        config, lock = (_decoded(tree, CONFIG, _ANY), _decoded(tree, LOCK, _LOCK))
    version = lock.harbor.version if lock and lock.harbor else None
    return config if isinstance(config, Mapping) else {}, version if isinstance(version, str) else None


def _decoded(tree: Folder, file: str, decoder: msgspec.json.Decoder[Any]) -> Any:
    try:
        content = tree.read(file)
        return decode(content.data, decoder) if content is not None and content.data is not None else None
    except (Odd, NotJson):
        return None


def _attempts(leg: Leg, trials: Sequence[Trial]) -> int:
    """How often each task was to be tried; where no configuration says so, as often as most tasks were."""
    job = leg.run.job
    if job is not None and job.config.attempts:
        return job.config.attempts
    tries = Counter(Counter((trial.source, trial.task) for trial in trials).values())
    return max(tries, key=lambda number: (tries[number], number))
