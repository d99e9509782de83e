"""The plan of a push: every row that is made, linked or changed, with every value, in the order of writing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchwright.audit.facts import RowFacts
from benchwright.audit.refusals import PAIR_SERVED
from benchwright.contract import Exit, Failure, Problem, counted, some
from benchwright.evaldb import Call, Insert, Record, Update, metrics_of
from benchwright.evaldb.comparing import same
from benchwright.evaldb.rows import FINISHED, RegisteredRow
from benchwright.harbor.number import as_score
from benchwright.repair.push.identity import Identity
from benchwright.repair.push.job import NO_VERSION, RESULTS
from benchwright.repair.push.known import Known
from benchwright.repair.push.names import (
    NamedRow,
    agent_row,
    benchmark_links,
    benchmark_row,
    made_id,
    model_row,
    original_id,
)
from benchwright.repair.push.trials import TrialRows

_VERSION_DIGITS = 12
"""Of a task's checksum behind its dataset's name, where another version of the task has the name alone."""


NamedBy = Literal["itself", "manifest", "launch"]
_NAMING: Mapping[NamedBy, str] = {"manifest": "manifest", "launch": "meta.env"}


@dataclass(frozen=True, slots=True)
class Change:
    """One row that is made, made to point at another (``link``), or changed."""

    action: Literal["create", "link", "update"]
    write: Insert | Update

    def to_dict(self) -> dict[str, Any]:
        """The change as data, with every value."""
        write = self.write
        if isinstance(write, Insert):
            return {"action": self.action, "table": write.table, "key": write.key, "values": dict(write.record)}
        found = {"action": self.action, "table": write.table, "key": dict(write.key), "owner": write.owner}
        return found | {"read": dict(write.read), "values": dict(write.values)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """What is to be pushed: a run under its names, and the row that it is to have.

    ``audited`` is its row as the audit found it, None where it has none yet. ``values`` are those of the row (see
    ``push_job``), ``version`` is the hash of a benchmark to be made. ``lacks`` is what a finished row does not show of
    the run, None where it does; ``forced`` writes over what is there and differs. ``trial_names`` are those of every
    trial in the run's folders, also of what it does not push. ``named_by`` is what says that the row is the run's: its
    own id, or else a person's manifest, or only the launch's record, which may have been copied from another run.
    ``others`` are other runs' rows with a score for the model and the benchmark.
    """

    tag: str
    row_id: str
    owner: str
    identity: Identity
    version: str
    values: Record
    trials: tuple[TrialRows, ...]
    audited: RowFacts | None = None
    lacks: str | None = None
    forced: bool = False
    trial_names: frozenset[str] = frozenset()
    named_by: NamedBy = "itself"
    others: tuple[RowFacts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPlan:
    """A push, the changes that it takes, and what is worth knowing of what it leaves as it is.

    ``removal`` takes left-over trials out of the row behind them, None where there is none to take out.
    """

    push: Push
    changes: tuple[Change, ...]
    removal: Call | None = None
    remarks: tuple[Problem, ...] = ()

    @property
    def writes(self) -> list[Insert | Update | Call]:
        """The changes as a writer takes them, behind the claim to a row that is there."""
        found = [*(change.write for change in self.changes), *([self.removal] if self.removal else [])]
        return [*([self.claim] if found and self.claim else []), *found]

    @property
    def claim(self) -> Update | None:
        """The run's row, held by its owner until all is written: so what goes below it goes below a row of theirs.

        None where it is made by the plan itself, under its owner's name.
        """
        owner = {"username": self.push.owner}
        key = {"id": self.push.row_id}
        return Update("sandbox_jobs", key, self.push.owner, owner, owner) if self.push.audited else None

    @property
    def removed(self) -> Sequence[Record]:
        """The trials that are taken out."""
        return self.removal.arguments["trials"] if self.removal else ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every change as data, what is removed by its ids."""
        removed = {"action": "delete", "table": "sandbox_trials", "ids": [trial["id"] for trial in self.removed]}
        return [*(change.to_dict() for change in self.changes), *([removed] if self.removal else [])]

    def counts(self) -> dict[str, int]:
        """How many rows are changed in which way, such as ``create sandbox_trials: 300``."""
        found: dict[str, int] = {}
        for change in self.changes:
            name = f"{change.action} {change.write.table}"
            found[name] = found.get(name, 0) + 1
        return found | ({"delete sandbox_trials": len(self.removed)} if self.removal else {})


def plan_push(push: Push, known: Known) -> PushPlan:
    """The changes that a push takes, none where all is there.

    Raises:
        Failure: the run's row or a trial of it is somebody else's, is filed under other names, or shows other values
            that nothing allows to write over; every problem (exit 5).
    """
    return _Planning(push, known).plan()


class _Planning:
    def __init__(self, push: Push, known: Known) -> None:
        self.push, self.known = push, known
        self.problems: list[Problem] = []
        self.remarks: list[Problem] = []

    def plan(self) -> PushPlan:
        self._check_row()
        self._check_trials()
        self._settle()
        names = self._names()
        row = self.known.row
        if row is None or not _shows_score(row):
            self._check_pair(names[0])
        model = row["model_id"] if row else names[1].id
        changes = [*self._named(names), *self._tasks(), *self._links(names[2])]
        changes += self._new_row(names) if row is None else []
        changes += [*self._trials(), *self._usage(model), *self._results()]
        self._settle()
        removal = self._left_over()
        return PushPlan(push=self.push, changes=tuple(changes), removal=removal, remarks=tuple(self.remarks))

    def _settle(self) -> None:
        if self.problems:
            raise Failure(self.problems, exit=Exit.REFUSED)

    def _refuse(self, code: str, found: str, expected: str, fix: str) -> None:
        self.problems.append(Problem(code, self.push.tag, found, expected, fix))

    def _check_row(self) -> None:
        """Whether the row is the one that was audited, and filed under the names of the run."""
        push, row = self.push, self.known.row
        if row is None:
            if push.audited is not None:
                self._refuse("contested", f"row {push.row_id} is gone", "the row that was audited", "run this again")
            return
        if push.audited is None:
            found = f"row {push.row_id} of {row['username']} has this run's id, and is another eval's or new"
            self._refuse("contested", found, "no row, or the one that was audited", "look at it, then run this again")
            return
        if row["username"] != push.owner:
            found = f"row {push.row_id} is {row['username']}'s, and not {push.owner}'s"
            self._refuse("not-yours", found, "a row of yours", "tell them")
        self._check_audited(row, push.audited)
        self._check_finished(row)
        name = _name(self.known.agents, row["agent_id"])
        if name is not None and name.casefold() != push.identity.agent.casefold():
            found = f"row {push.row_id} has the agent {name}, and the run {push.identity.agent}"
            self._refuse("other-agent", found, "one agent", f"if that is its name: --agent-name {name}")

    def _check_audited(self, row: Mapping[str, Any], audited: RowFacts) -> None:
        """Whether the row is still what the audit judged: what it is filed under, and whether it has its score."""
        named = {"agent": self.known.agents, "model": self.known.models, "benchmark": self.known.benchmarks}
        now = {noun: _name(rows, row[f"{noun}_id"]) for noun, rows in named.items()} | {"status": row["job_status"]}
        was = {noun: getattr(audited, noun) for noun in now}
        changed = [f"the {noun} {name}, not {was[noun]}" for noun, name in now.items() if name != was[noun]]
        if changed:
            found = f"row {self.push.row_id} has {' and '.join(changed)}"
            self._refuse("contested", found, "the row that was audited", "look at it, then run this again")

    def _check_finished(self, row: Mapping[str, Any]) -> None:
        """Whether a finished row that has not this run's own id is another run's all the same."""
        push = self.push
        if push.named_by == "itself" or row["job_status"] != FINISHED:
            return
        own = {one.row["id"] for one in push.trials}
        if self.known.of_row and not any(trial["id"] in own for trial in self.known.of_row):
            theirs = counted(len(self.known.of_row), "trial")
            found = f"row {push.row_id} is finished, and none of its {theirs} is this run's"
            self._refuse("other-run", found, "a row of this run", f"correct the id in its {_NAMING[push.named_by]}")
        elif push.named_by == "launch" and row["job_name"] != push.values["job_name"]:
            found = f"row {push.row_id}, which its meta.env names, is finished and of {row['job_name']}"
            fix = f"if it is this run's after all, name it in a manifest: row_id {push.row_id}"
            self._refuse("other-run", found, "a row of this run", fix)

    def _check_pair(self, agent: NamedRow) -> None:
        """Whether no other run's row shows a score for this agent, whatever name either of them has for it."""
        agents = self.known.agents
        for other in self.push.others:
            id = self.known.agents_of.get(other.id)
            if id is not None and original_id(agents, id) == original_id(agents, agent.id):
                score = as_score(other.score)
                found = f"row {other.id} of {other.owner} serves this agent, model and benchmark with {score}"
                self._refuse("pair-served", found, "a pair without a score", PAIR_SERVED)

    def _check_trials(self) -> None:
        """Whether each trial has an id of its own, and those with this run's ids are under its row, if anywhere."""
        folders: dict[str, list[str]] = defaultdict(list)
        for one in self.push.trials:
            folders[one.row["id"]].append(one.row["trial_name"])
        if doubled := [" and ".join(sorted(names)) for names in folders.values() if len(names) > 1]:
            fix = "look which of them is a copy, and move it away by hand"
            self._refuse("doubled-trials", f"trials with one id: {some(sorted(doubled))}", "an id for each trial", fix)
        elsewhere = {
            id: trial["job_id"] for id, trial in self.known.trials.items() if trial["job_id"] != self.push.row_id
        }
        if elsewhere:
            rows = some(sorted({str(job) for job in elsewhere.values()}))
            found = f"row {rows} has {counted(len(elsewhere), 'trial')} of this run"
            self._refuse("trials-of-another-row", found, f"row {self.push.row_id}", "is the run registered twice?")

    def _left_over(self) -> Call | None:
        """What removes the trials of the row that no folder of the run has any more, by force alone."""
        push, known = self.push, self.known
        left = [trial for trial in known.left_over if trial["trial_name"] not in push.trial_names]
        if left and not push.forced:
            found = f"the row keeps {counted(len(left), 'trial')} that the run has no more: {_names(left)}"
            self.remarks.append(
                Problem("left-over-trials", push.tag, found, "the run's own", "--forced-update removes them")
            )
        if not left or not push.forced:
            return None
        ids = {trial["id"] for trial in left}
        usage = [one for one in known.left_usage if one["trial_id"] in ids]
        arguments = {"row_owner": push.owner, "target": push.row_id, "trials": left, "usage": usage}
        return Call("drop_trials", arguments)

    def _names(self) -> tuple[NamedRow, NamedRow, NamedRow]:
        """Agent, model and benchmark. A row that is there has its own, which are not looked up again."""
        push, known = self.push, self.known
        if known.row is not None:
            ids = [known.row[f"{noun}_id"] for noun in ("agent", "model", "benchmark")]
            names = (push.identity.agent, push.identity.model, push.identity.benchmark)
            agent, model, benchmark = map(NamedRow, ids, names)
            return agent, model, benchmark
        return (
            agent_row(known.agents, push.identity.agent),
            model_row(known.models, push.identity.model, push.owner),
            benchmark_row(known.benchmarks, push.identity.benchmark, push.version),
        )

    def _named(self, names: Sequence[NamedRow]) -> Iterator[Change]:
        for table, row in zip(("agents", "models", "benchmarks"), names, strict=True):
            if row.record is not None:
                yield Change("create", Insert(table, row.record))

    def _tasks(self) -> Iterator[Change]:
        """The tasks that are not there. One whose name another version of it has is told apart by its checksum."""
        seen: set[str] = set(self.known.tasks)
        taken = dict(self.known.task_names)
        for one in self.push.trials:
            checksum = one.task["checksum"]
            if checksum in seen:
                continue
            seen.add(checksum)
            place = one.task["source"], one.task["name"]
            source = place[0]
            if source is not None and taken.setdefault(place, checksum) != checksum:
                source = f"{source}@{checksum[:_VERSION_DIGITS]}"
            yield Change("create", Insert("sandbox_tasks", {**one.task, "source": source}))

    def _links(self, benchmark: NamedRow) -> Iterator[Change]:
        """The tasks of a benchmark that was made here, now or by a push that was interrupted."""
        if benchmark.id != made_id("benchmarks", benchmark.name):
            return
        checksums = (one.task["checksum"] for one in self.push.trials)
        for record in benchmark_links(benchmark, self.push.version, checksums):
            if (benchmark.id, record["task_checksum"]) not in self.known.linked:
                yield Change("link", Insert("sandbox_benchmark_tasks", record))

    def _new_row(self, names: Sequence[NamedRow]) -> list[Change]:
        """The run's row, finished as the run is, and without its score until everything else is there."""
        ids = {f"{noun}_id": row.id for noun, row in zip(("agent", "model", "benchmark"), names, strict=True)}
        record = {"id": self.push.row_id, "username": self.push.owner, **self.push.values, **ids}
        record["package_version"] = record["package_version"] or NO_VERSION
        return [Change("create", Insert("sandbox_jobs", record | dict.fromkeys(RESULTS)))]

    def _trials(self) -> Iterator[Change]:
        """The trials that are not there, and the rewards of those that are there without."""
        link = self.push.values["hf_traces_link"]
        differ = []
        for one in self.push.trials:
            there = self.known.trials.get(one.row["id"])
            if there is None:
                uri = link or f"{self.push.values['job_name']}/{one.row['trial_name']}"
                record = {**one.row, "job_id": self.push.row_id, "trial_uri": uri}
                yield Change("create", Insert("sandbox_trials", record))
            elif not same(there["reward"], one.row["reward"], "reward"):
                if there["reward"] is not None and not self.push.forced:
                    differ.append(one.row["trial_name"])
                    continue
                yield Change("update", _reward(self.push.row_id, there, one.row["reward"]))
        if differ:
            found = f"the database has another reward for {counted(len(differ), 'trial')}: {some(differ)}"
            self._refuse("row-differs", found, "the run's own", "--forced-update writes over them")

    def _usage(self, model: str) -> Iterator[Change]:
        for one in self.push.trials:
            if one.usage is not None and one.row["id"] not in self.known.used:
                yield Change("create", Insert("sandbox_trial_model_usage", {**one.usage, "model_id": model}))

    def _results(self) -> Iterator[Change]:
        """What completes the row: its score, its link and, where it was not finished, all that it is to say."""
        push, row = self.push, self.known.row
        wanted = {name: value for name, value in push.values.items() if value is not None and name != "job_name"}
        if row is None:
            values = {name: wanted[name] for name in RESULTS if name in wanted}
            read: Record = dict.fromkeys(RESULTS)
        else:
            values = self._completing(row, wanted)
            read = {name: row[name] for name in (*values, "job_status", "agent_id", "model_id", "benchmark_id")}
        if values:
            action: Literal["link", "update"] = "link" if set(values) == {"hf_traces_link"} else "update"
            yield Change(action, Update("sandbox_jobs", {"id": push.row_id}, push.owner, read, values))

    def _completing(self, row: Mapping[str, Any], wanted: Mapping[str, Any]) -> Record:
        """What of a row is to be written: all that differs where it is not finished, else what is missing.

        What is there in a finished row stays, unless it is ``forced``, and so does the configuration of the launch.
        """
        differing = {name: value for name, value in wanted.items() if not same(row[name], value, name)}
        if self.push.forced:
            return differing
        if row["job_status"] != FINISHED:
            if row["config"]:
                differing.pop("config", None)
            if row["package_version"] is None and row["git_commit_id"] is None:  # without one no row is finished
                differing.setdefault("package_version", NO_VERSION)
            return differing
        why = [self.push.lacks] if self.push.lacks and row["metrics"] is not None else []
        link = row["hf_traces_link"]
        why += [f"links {link}"] if link is not None and "hf_traces_link" in differing else []
        if why:
            found = f"row {self.push.row_id} {' and '.join(why)}"
            self._refuse("row-differs", found, "what the run says", "--forced-update writes over it")
        return {name: value for name, value in differing.items() if row[name] is None}


def _shows_score(row: Mapping[str, Any]) -> bool:
    metrics = metrics_of(row["metrics"])
    return row["job_status"] == FINISHED and metrics.shape == "list" and metrics.accuracy is not None


def _name(rows: Iterable[RegisteredRow], id: str) -> str | None:
    return next((row.name for row in rows if row.id == id), None)


def _names(trials: Sequence[Record]) -> str:
    return some(sorted(trial["trial_name"] for trial in trials))


def _reward(row_id: str, there: Mapping[str, Any], reward: float | None) -> Update:
    read = {"job_id": row_id, "reward": there["reward"]}
    return Update("sandbox_trials", {"id": there["id"]}, None, read, {"reward": reward})
