"""Job folders in the shape that Harbor's versions write, of any mix of trials, with the truth about them.

Nothing here calls Harbor or our reading of its folders: the truth comes from what was asked for.
"""

from __future__ import annotations

import json
import math
import os
import random
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import msgspec

from benchwright.files import write_json
from benchwright.rehearsal.trial_kinds import KINDS, NO_RESULT, Kind

Version = Literal["0.1", "0.6", "0.25", "0.26"]
"""Up to 0.1.45: naive times, the older counts. From 0.6: the newer counts, a lock. From 0.25: defaults left out.

From 0.26: the schema is numbered, exceptions of steps count, the mean is that of the rewarded trials.
"""

BENIGN = frozenset(
    {
        "AgentTimeoutError",
        "ContextLengthExceededError",
        "SummarizationTimeout",
        "SummarizationTimeoutError",
        "BadRequestError",
        "NonZeroAgentExitCodeError",
        "VerifierRuntimeError",
    }
)
"""The seven names that the default profile does not count, written down here once more so that they are checked."""

EXTRAS = ("corrupt-rerun", "zombie", "copy")
"""What a task can have too much of: a damaged result beside its rerun, an older attempt, the same trial twice."""


@dataclass
class Truth:
    """What the trials of a folder amount to. ``states`` has every trial folder that counts, ``surplus`` the others."""

    planned: int
    states: dict[str, str] = field(default_factory=dict)
    surplus: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    unscored_errors: Counter[str] = field(default_factory=Counter)
    reward_sum: float = 0.0

    def count(self, state: str) -> int:
        """How many trials are in a state."""
        return sum(1 for one in self.states.values() if one == state)

    def facts(self) -> dict[str, Any]:
        """The figures that have to come out, by the names of ``Figures.facts``."""
        valid, unscored, corrupt = (self.count(state) for state in ("valid", "unscored", "corrupt"))
        silent = unscored - sum(self.unscored_errors.values())
        return {
            "planned": self.planned,
            "attempted": valid + unscored + corrupt,
            "valid": valid,
            "unscored": unscored,
            "unscored_benign": sum(number for name, number in self.unscored_errors.items() if name in BENIGN),
            "silent": silent,
            "corrupt": corrupt,
            "unfinished": self.count("missing"),
            "surplus": len(self.surplus),
            "covered": valid + unscored - silent,
            "invalid": sum(number for name, number in self.errors.items() if name not in BENIGN),
        }


@dataclass(frozen=True)
class JobShape:
    """What a job folder is to look like. ``weight`` from 0 to 1 is how much each result holds beside what counts."""

    attempts: int = 3
    version: Version = "0.25"
    agent: str = "terminus-2"
    model: str = "1774950145766573"
    provider: str = "hosted_vllm"
    source: str = "terminal_bench_2"
    finished: bool = True
    weight: float = 0.0


def grow_job(
    folder: Path, kinds: Sequence[str], shape: JobShape = JobShape(), *, extras: Sequence[str] = (), seed: int = 0
) -> Truth:
    """Write a job folder with one trial of each of ``kinds``, ``attempts`` for a task, and what it has too much of.

    Each of ``extras`` goes to a task of its own whose trials all have a readable result; there have to be enough.
    """
    grower = _Grower(folder, shape, random.Random(seed))
    truth = Truth(planned=len(kinds))
    for number, name in enumerate(kinds):
        grower.add(number // shape.attempts, name, truth)
    full = [
        task
        for task in range(len(kinds) // shape.attempts)
        if all(KINDS[name].readable for name in kinds[task * shape.attempts : (task + 1) * shape.attempts])
    ]
    for task, extra in zip(full, extras, strict=False):
        grower.add_extra(task, extra, truth)
    grower.finish(truth)
    return truth


class _Grower:
    """A job folder being written."""

    def __init__(self, folder: Path, shape: JobShape, rng: random.Random) -> None:
        self.folder, self.shape, self._rng = folder, shape, rng
        self._job_id = self._uuid()
        self._dataset = f"/cache/hub/datasets--org--{shape.source}/snapshots/{rng.getrandbits(160):040x}"
        self._start = datetime(2026, 9, 1, 10, tzinfo=UTC)
        self._results: list[tuple[str, dict[str, Any]]] = []
        folder.mkdir(parents=True)

    def add(self, task: int, name: str, truth: Truth) -> None:
        """A trial of a task."""
        kind = KINDS[name]
        trial = self._trial_name(task)
        result = self._result(task, trial, kind, minutes=len(truth.states))
        self._write(trial, result, kind, task)
        truth.states[trial] = kind.state
        truth.reward_sum += kind.reward
        exception = kind.exception or (kind.step_exception if self._numbered else None)
        if exception:
            truth.errors[exception] += 1
            truth.unscored_errors[exception] += kind.state == "unscored"
        if kind.readable:
            self._results.append((trial, result))

    def add_extra(self, task: int, extra: str, truth: Truth) -> None:
        """A trial that a task has too much of."""
        trial = self._trial_name(task)
        kind = KINDS["cut-off" if extra == "corrupt-rerun" else "pass"]
        result = self._result(task, trial, kind, minutes=-60)
        if extra == "copy":
            of_task = [one for one in self._results if one[1]["task_name"] == self._task_name(task)]
            original = of_task[0][0]
            result = dict(of_task[0][1])
            if trial < original:  # the one whose name comes first is taken for the original
                truth.states[trial] = truth.states.pop(original)
                truth.surplus.append(original)
            else:
                truth.surplus.append(trial)
        else:
            truth.surplus.append(trial)
        self._write(trial, result, kind, task)

    def finish(self, truth: Truth) -> None:
        """The job's own files."""
        shape = self.shape
        config: dict[str, Any] = {"job_name": self.folder.name, "jobs_dir": "/data/evals/trace_jobs"}
        if shape.attempts != 1 or shape.version in ("0.1", "0.6"):
            config["n_attempts"] = shape.attempts
        config |= {"agents": [self._agent_config()], "datasets": [{"path": self._dataset}]}
        write_json(self.folder / "config.json", config, indent=4)
        if shape.version != "0.1":
            write_json(self.folder / "lock.json", {"schema_version": 3, "trials": [{}] * truth.planned})
        (self.folder / "job.log").write_text("")
        write_json(self.folder / "result.json", self._aggregate(truth), indent=4)

    def _aggregate(self, truth: Truth) -> dict[str, Any]:
        """What Harbor counts: the readable trials, without those that are too many."""
        results = [result for _, result in self._results]
        rewards = [one["verifier_result"] and one["verifier_result"]["rewards"] for one in results]
        exceptions: dict[str, list[str]] = {}
        for trial, one in self._results:
            steps = one.get("step_results") if self._numbered else None
            for info in (one["exception_info"], *(step["exception_info"] for step in steps or ())):
                if info:
                    exceptions.setdefault(info["exception_type"], []).append(trial)
        key = f"{self.shape.agent}__{self.shape.model}__{self.shape.source}"
        errored = sum(map(len, exceptions.values()))
        one_eval = {
            "n_trials": sum(reward is not None for reward in rewards),
            "n_errors": errored,
            "metrics": _metrics([reward for reward in rewards if reward] if self._numbered else rewards),
            "reward_stats": {},
            "exception_stats": exceptions,
        }
        new = self.shape.version != "0.1"
        evals = {key if new else key.replace("/", "-"): one_eval}
        stats: dict[str, Any] = {"n_trials": len(results), "n_errors": errored, "evals": evals}
        if new:
            counts = {"running": 0, "pending": truth.planned - len(results), "cancelled": 0}
            stats = {"n_completed_trials": len(results), "n_errored_trials": errored, "evals": evals}
            stats |= {f"n_{name}_trials": number for name, number in counts.items()}
        ended = self._start + timedelta(hours=9)
        job = {
            **self._schema(),
            "id": str(self._job_id),
            "started_at": _naive(self._start),
            "finished_at": _naive(ended) if self.shape.finished else None,
            "n_total_trials": truth.planned,
            "stats": stats,
        }
        return job | ({"updated_at": _naive(ended)} if new else {})

    def _write(self, trial: str, result: Mapping[str, Any], kind: Kind, task: int) -> None:
        folder = self.folder / trial
        folder.mkdir()
        if kind.named or _shares_its_start(task):  # of such a bare folder nobody could tell the task
            (folder / "config.json").write_text(_text(self._config(task, trial)))
        if kind.content is not None:
            file = folder / "result.json"
            file.write_text(_text(result) if kind.readable else kind.content)
            if not kind.readable:  # damage that is fresh is taken for a result that is being written
                os.utime(file, (self._start.timestamp(),) * 2)

    def _result(self, task: int, trial: str, kind: Kind, *, minutes: int) -> dict[str, Any]:
        start = self._start + timedelta(minutes=minutes)
        end = start + timedelta(seconds=self._rng.randint(60, 3000))
        span = {"started_at": self._time(start), "finished_at": self._time(end)}
        verified = None if kind.rewards is NO_RESULT else {"rewards": kind.rewards}
        step = kind.step_exception
        result = {
            **self._schema(),
            "id": str(self._uuid()),
            "task_name": self._task_name(task),
            "trial_name": trial,
            "trial_uri": f"file:///data/evals/trace_jobs/{self.folder.name}/{trial}",
            "task_id": {"path": f"{self._dataset}/{self._task_name(task)}"},
            "source": self.shape.source,
            "task_checksum": f"{random.Random(task).getrandbits(256):064x}",
            "config": self._config(task, trial),
            "agent_info": {
                "name": self.shape.agent,
                "version": "2.0.0",
                "model_info": {"name": self.shape.model, "provider": self.shape.provider},
            },
            "agent_result": self._work() if kind.ran and not step else None,
            "verifier_result": verified,
            "exception_info": self._exception(kind.exception, end) if kind.exception else None,
            **span,
            "environment_setup": span,
            "agent_execution": span if kind.ran else None,
            "verifier": span if verified else None,
        }
        if step or self.shape.version != "0.1":
            result["step_results"] = [self._step(step, end)] if step else None
        return result

    def _step(self, exception: str, end: datetime) -> dict[str, Any]:
        failed = self._exception(exception, end)
        return {"step_name": "build", "agent_result": self._work(), "verifier_result": None, "exception_info": failed}

    def _exception(self, name: str, end: datetime) -> dict[str, Any]:
        lines = self._rng.randint(20, 160) if self.shape.weight else 1
        frames = "".join(f'  File "/opt/harbor/part_{i}.py", line {i}, in f{i}\n    await g()\n' for i in range(lines))
        message = f"{name}: it said 'no'"
        return {
            "exception_type": name,
            "exception_message": message,
            "exception_traceback": f"Traceback (most recent call last):\n{frames}{name}: {message}\n",
            "occurred_at": self._time(end),
        }

    def _work(self) -> dict[str, Any]:
        requests = int(self._rng.randint(20, 700) * self.shape.weight) or 2
        return {
            "n_input_tokens": self._rng.randint(10**4, 10**6),
            "n_cache_tokens": 0,
            "n_output_tokens": self._rng.randint(10**3, 10**5),
            "cost_usd": 0.0,
            "rollout_details": [],
            "metadata": {
                "n_episodes": requests,
                "api_request_times_msec": [self._rng.random() * 20_000 for _ in range(requests)],
                "summarization_count": 0,
            },
        }

    def _config(self, task: int, trial: str) -> dict[str, Any]:
        return {
            "task": {"path": f"{self._dataset}/{self._task_name(task)}", "name": None, "source": self.shape.source},
            "trial_name": trial,
            "trials_dir": f"/data/evals/trace_jobs/{self.folder.name}",
            "timeout_multiplier": 1.0,
            "agent": self._agent_config(),
            "environment": {"type": "daytona", "override_cpus": 1, "override_memory_mb": 2048, "kwargs": {}},
            "verifier": {"override_timeout_sec": None, "disable": False},
            "artifacts": ["/logs/artifacts"] * int(90 * self.shape.weight),
            "job_id": str(self._job_id),
        }

    @property
    def _numbered(self) -> bool:
        return self.shape.version == "0.26"

    def _schema(self) -> dict[str, Any]:
        return {"schema_version": 1} if self._numbered else {}

    def _agent_config(self) -> dict[str, Any]:
        model = f"{self.shape.provider}/{self.shape.model}"
        return {"name": self.shape.agent, "import_path": None, "model_name": model, "kwargs": {"max_episodes": 64}}

    def _task_name(self, task: int) -> str:
        return f"a-task-with-a-very-long-name-indeed-{task}" if _shares_its_start(task) else f"task__{task:04d}"

    def _trial_name(self, task: int) -> str:
        letters = "".join(self._rng.choice(string.ascii_letters + string.digits) for _ in range(7))
        return f"{self._task_name(task)[:32].rstrip('_-')}__{letters}"

    def _time(self, moment: datetime) -> str:
        return _naive(moment) if self.shape.version == "0.1" else moment.isoformat().replace("+00:00", "Z")

    def _uuid(self) -> UUID:
        return UUID(int=self._rng.getrandbits(128))


def _shares_its_start(task: int) -> bool:
    """Whether a task's name is as long as others' and begins like them: a trial's name keeps 32 letters of it."""
    return task % 5 == 4


def _metrics(rewards: Sequence[Any]) -> list[dict[str, Any]]:
    """Harbor's mean: over all completed trials, 0 for one without rewards, and by key where there are several keys."""
    keys = sorted({key for reward in rewards if reward for key in reward})
    sums = {key: sum(_number(reward.get(key)) for reward in rewards if reward) for key in keys}
    if len(keys) <= 1:
        return [{"mean": sum(sums.values()) / len(rewards) if rewards else None}]
    return [{key: value / len(rewards) for key, value in sums.items()}]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _naive(moment: datetime) -> str:
    return moment.astimezone().replace(tzinfo=None).isoformat()


def _text(value: Any) -> str:
    """JSON as Python writes it, with its NaN, indented where that can be done fast."""
    text = json.dumps(value)
    try:
        return msgspec.json.format(text, indent=4)
    except msgspec.DecodeError:
        return text
