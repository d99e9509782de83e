"""Several users, repairs and pushes in any order, with the line cut anywhere, and each given again until it is done.

No row of another user changes, no good row is lost, and in the end everything is where it is without the cuts.

``BENCHWRIGHT_REPAIRS`` is how many sequences are tried. An operation is a function of ``OPERATIONS``.
"""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from push_runs import Pusher
from registered import BENCHMARK, HASH, ONCE, PARTIAL, REAL, SERVED_TOO, Bench, Queue, Repairer

from audit_runs import BENCHMARK as SMALL
from audit_runs import AuditedRun
from benchwright.contract import Exit, Failure, Outcome, Problem
from benchwright.evaldb import open_database, open_writer
from benchwright.rehearsal.eval_rows import load_rows
from benchwright.rehearsal.harbor_jobs import JobShape
from benchwright.rehearsal.postgrest_standin import Answer
from eval_databases import EvalRows, folder_for_all, numbered
from postgres_cuts import CutLine

SEQUENCES = int(os.environ.get("BENCHWRIGHT_REPAIRS", "24"))
USERS = {"ada": ("ada", "lovelace"), "bob": ("bob",), "eve": ("eve",)}
LIVE = "99"
MOST_CUTS = 3
MESSAGES = {"postgres": 100, "supabase": 25}
"""How many a push takes."""
LEFT_OVER = "old__1234567"
"""A trial of a pushed row that its run has no more."""
Everything = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Run:
    """A run that ``user`` made, and may push: into the row of its launch, or under its own id where it has none."""

    user: str
    audited: AuditedRun

    @property
    def row_id(self) -> str:
        return self.audited.row_id or self.audited.aggregate["id"]

    @property
    def row_ids(self) -> frozenset[str]:
        """The ids that its row may have."""
        return frozenset({self.row_id, self.audited.aggregate["id"]})


@dataclass
class World:
    """What there is at first: rows of every user, by whom they are of, and the repos with their traces.

    Of the ``runs``, some have a row that waits for them, and those of ``pushed`` are to be pushed before it begins.
    """

    bench: Bench
    rng: random.Random
    pusher: Pusher
    runs: Sequence[Run]
    pushed: list[Run] = field(default_factory=list)
    jobs: dict[str, str] = field(default_factory=dict)
    repos: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng, bench = self.rng, self.bench
        models = [bench.real, bench.served, bench.rows.model(SERVED_TOO)]
        benchmarks = [bench.benchmark, bench.hash]
        for user, owner in ((user, name) for user, names in USERS.items() for name in names):
            for _ in range(rng.randint(1, 3)):
                row: dict[str, Any] = {"username": owner, "hf_traces_link": None, "job_name": f"run{len(self.jobs)}"}
                row |= rng.choice([{}, {}, {"stats": PARTIAL}, {"job_status": "Started"}, {"job_status": "Pending"}])
                row |= rng.choices([{}, {"slurm_job_id": LIVE}, {"slurm_job_id": None}], (8, 1, 1))[0]
                benchmark, trials = rng.choices(benchmarks, (2, 1))[0], rng.randint(0, 3)
                job = bench.job(rng.choice(models), benchmark, trials=trials, **row)
                self.jobs[job] = user
                self.repos[job] = [f"{row['job_name']}__{number}" for number in range(max(trials, 1))]
        for run in self.runs:
            self._register(run)
        for trial in bench.rows.rows.get("sandbox_trials", []):
            if rng.random() < 0.3:  # usage under the right name beside that under the wrong one
                there = {(one["trial_id"], one["model_id"]) for one in bench.rows.rows["sandbox_trial_model_usage"]}
                if (trial["id"], bench.real) not in there:
                    bench.usage(trial["id"], bench.real, n_input_tokens=rng.choice([10, 99]), n_output_tokens=1)

    def _register(self, run: Run) -> None:
        self.jobs[run.row_id] = run.user
        self.repos[run.row_id] = sorted(run.audited.truth.states)
        state = self.rng.choice(["new", "Pending", "Started", "pushed"])
        if state == "pushed":
            self.pushed.append(run)
        elif state != "new":
            waiting: dict[str, Any] = dict.fromkeys(("metrics", "stats", "hf_traces_link")) | {"n_trials": 0}
            waiting |= {"id": run.row_id, "username": run.user, "model": run.audited.model, "job_status": state}
            run.audited.row(self.bench.rows, **waiting)

    def start(self) -> Everything:
        """All rows as they are loaded, with those of the pushed runs, each of which keeps a trial too many."""
        rows = self.bench.rows
        rows.load()
        for run in self.pushed:
            push_as(self.pusher, run, run.user, {"BENCHWRIGHT_OWNERS": run.user})
        there = rows.everything()
        for number, run in enumerate(self.pushed, 9001):
            trial = next((one for one in there["sandbox_trials"] if one["job_id"] in run.row_ids), None)
            if trial is None:  # refused, since another run serves the pair
                continue
            usage = [one for one in there["sandbox_trial_model_usage"] if one["trial_id"] == trial["id"]]
            there["sandbox_trials"].append(trial | {"id": numbered(number), "trial_name": LEFT_OVER})
            there["sandbox_trial_model_usage"] += [one | {"trial_id": numbered(number)} for one in usage]
        return there


@dataclass(frozen=True)
class Step:
    """One thing that a user does: ``act``, with what the user works with, as often as need be. It says how it ended.

    ``makes`` are the ids of the rows that may be good by it which were not, ``messages`` as many as it may take.
    """

    user: str
    name: str
    act: Callable[[Repairer], tuple[Exit, Sequence[Problem]]]
    makes: frozenset[str] = frozenset()
    messages: int = 30


def ended(outcome: Outcome) -> tuple[Exit, Sequence[Problem]]:
    """How a call ended that gave an outcome."""
    return outcome.exit, outcome.problems


def repair(world: World) -> Step:
    """A repair of some row, mostly one of the user's own."""
    job, owner = world.rng.choice(list(world.jobs.items()))
    user = owner if world.rng.random() < 0.8 else world.rng.choice(list(USERS))
    action, options = world.rng.choice(
        [
            ("fix-model", {"model_name": REAL}),
            ("fix-model", {"model_name": REAL}),
            ("fix-benchmark", {"benchmark_name": BENCHMARK}),
            ("fix-benchmark", {"benchmark_name": BENCHMARK}),
            ("deregister", {}),
            ("link-traces", {"link": f"traces/{world.rng.choice([job, job, *world.jobs])}"}),
        ]
    )
    return Step(user, f"{action} {job} {options}", lambda by: ended(by.run(action, row=job, **options)))


def clean(world: World) -> Step:
    """Stale rows, or the hash, of which nobody else may need anything."""
    user = world.rng.choice(list(USERS))
    if world.rng.random() < 0.5:
        return Step(user, "drop-stale", lambda by: ended(by.run("drop-stale")))
    return Step(user, "drop-orphan-benchmark", lambda by: ended(by.run("drop-orphan-benchmark", benchmark_name=HASH)))


def undo(world: World) -> Step:
    """The undoing of something that the user did, if anything was."""
    user, which = world.rng.choice(list(USERS)), world.rng.random()

    def act(by: Repairer) -> tuple[Exit, Sequence[Problem]]:
        files = sorted(by.folder.glob("*.json"))
        return ended(by.run("undo", file=files[int(which * len(files))])) if files else (Exit.DONE, ())

    return Step(user, f"undo {which}", act)


def push(world: World) -> Step:
    """The push of a run, mostly by who made it; by force or not."""
    run, forced = world.rng.choice(world.runs), world.rng.random() < 0.5
    user = run.user if world.rng.random() < 0.8 else world.rng.choice(list(USERS))

    def act(by: Repairer) -> tuple[Exit, Sequence[Problem]]:
        return ended(push_as(world.pusher, run, user, by.settings, forced=forced))

    return Step(user, f"push {run.audited.tag} {forced}", act, run.row_ids, MESSAGES[world.pusher.backend])


def push_as(pusher: Pusher, run: Run, user: str, settings: Mapping[str, str], *, forced: bool = False) -> Outcome:
    """A push of a run as a user with settings of theirs."""
    for name, value in {**settings, "UPLOAD_USERNAME": user}.items():
        pusher.settings.setenv(name, value)
    return pusher.push(run.audited, forced=forced)


OPERATIONS: list[Callable[[World], Step]] = [repair, repair, repair, clean, push, push]


class Backend:
    """One of the two, on which the n-th message of a client can be cut, before or after it takes effect."""

    def __init__(self, name: str, rows: Any, line: CutLine) -> None:
        self.name, self.rows, self.line = name, rows, line

    def by(self, user: str, folder: Path, hub: str) -> Repairer:
        names = ",".join(USERS[user])
        return Repairer(self.rows, self.name, folder / user, names, Queue(LIVE), self.line.url(user), hub)

    def cut(self, at: int | None, *, after: bool = False) -> None:
        self.line.cut(at, after=after)
        seen: list[object] = []

        def fault(request: object) -> Answer | None:
            seen.append(request)
            return Answer(0) if len(seen) == at else None

        standin = self.rows.standin
        standin.fault, standin.fault_after = (None, fault) if after else (fault, None)


@pytest.fixture(scope="module")
def roles(postgres_server, postgrest_standin):
    """A role of Postgres for each user, which a trigger keeps from the rows of others."""
    rows = EvalRows(postgres_server, postgrest_standin)
    rows.execute("CREATE TABLE whose (role text, username text); GRANT SELECT ON whose TO PUBLIC")
    rows.execute(
        "CREATE FUNCTION ones_own() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF current_user IN (SELECT role FROM whose) AND NOT EXISTS"
        " (SELECT FROM whose WHERE role = current_user AND username = OLD.username)"
        " THEN RAISE 'the row is of %', OLD.username; END IF;"
        " RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END $$"
    )
    rows.execute(
        "CREATE TRIGGER ones_own BEFORE UPDATE OR DELETE ON sandbox_jobs FOR EACH ROW EXECUTE FUNCTION ones_own()"
    )
    for user, names in USERS.items():
        rows.execute(f"CREATE ROLE {user} LOGIN")
        rows.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user}")
        for name in names:
            rows.execute("INSERT INTO whose VALUES (%s, %s)", user, name)
    yield
    rows.execute("DROP TRIGGER ones_own ON sandbox_jobs; DROP FUNCTION ones_own; DROP TABLE whose")
    for user in USERS:
        rows.execute(f"DROP OWNED BY {user}; DROP ROLE {user}")


@pytest.fixture
def backends(eval_rows, roles):
    eval_rows.install_functions()
    with folder_for_all() as folder:
        line = CutLine(eval_rows.server.folder / "data", folder / "cut")
        yield [Backend(name, eval_rows, line) for name in ("postgres", "supabase")]
        line.stop()


def belongings(everything: Everything, names: tuple[str, ...]) -> list[Any]:
    """The rows of everybody but those called ``names``, with their trials and usage."""
    jobs = [row for row in everything["sandbox_jobs"] if row["username"] not in names]
    ids = {row["id"] for row in jobs}
    trials = [row for row in everything["sandbox_trials"] if row["job_id"] in ids]
    of_trials = {row["id"] for row in trials}
    return [jobs, trials, [row for row in everything["sandbox_trial_model_usage"] if row["trial_id"] in of_trials]]


def good(everything: Everything) -> dict[str, Any]:
    """The good rows: all of them but for the names and the link, which a repair may put right; and their trials."""
    mended = {"model_id", "benchmark_id", "hf_traces_link"}
    trials = [trial for trial in everything["sandbox_trials"] if trial["trial_name"] != LEFT_OVER]
    return {
        row["id"]: {name: value for name, value in row.items() if name not in mended}
        | {"trials": {trial["id"]: trial["reward"] for trial in trials if trial["job_id"] == row["id"]}}
        for row in everything["sandbox_jobs"]
        if row["job_status"] == "Finished" and row["stats"] != PARTIAL
    }


def timeless(everything: Everything, start: Everything) -> Everything:
    """All rows without the times at which new ones were made, which are not those of any row at the start."""
    columns = ("created_at", "creation_time")
    times = {row.get(name) for rows in start.values() for row in rows for name in columns}
    return {
        table: [row | {name: None for name in columns if row.get(name) not in times} for row in rows]
        for table, rows in everything.items()
    }


@dataclass
class Play:
    """Steps taken from one state of the database, undisturbed or with cuts, which ``rng`` places."""

    backend: Backend
    start: Everything
    folder: Path
    hub: str
    rng: random.Random | None

    def run(self, steps: list[Step]) -> tuple[list[str], Everything]:
        """What became of each step, and all rows in the end."""
        self.backend.rows.empty()
        load_rows(self.backend.rows.server.url, self.start)
        took = [self.took(step) for step in steps]
        return took, timeless(self.backend.rows.everything(), self.start)

    def took(self, step: Step) -> str:
        """What became of a step, tried again as long as the line was cut. Each try leaves the rows of others alone."""
        by = self.backend.by(step.user, self.folder, self.hub)
        before = self.backend.rows.everything()
        others, goods = belongings(before, USERS[step.user]), good(before)
        for left in range(self.rng.randint(0, MOST_CUTS) if self.rng else 0, -1, -1):
            if self.rng and left:
                self.backend.cut(self.rng.randint(1, step.messages), after=self.rng.random() < 0.5)
            try:
                exit, problems = step.act(by)
            except Failure as failure:
                exit, problems = failure.exit, failure.problems
            self.backend.cut(None)
            assert left or exit is not Exit.REMOTE, problems
            there = self.backend.rows.everything()
            assert belongings(there, USERS[step.user]) == others, step.name
            now = good(there)
            assert {id: now.get(id) for id in goods} == goods, step.name
            assert now.keys() - goods.keys() <= step.makes, step.name
            if exit is not Exit.REMOTE:
                break
        return f"{step.user}: {step.name}: {exit.name} {[problem.code for problem in problems]}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs to push. Two of the three are of one model and benchmark, of which no more than one can be shown."""

    def run(number: int, user: str, model: str, **more: Any) -> Run:
        root, tag = tmp_path_factory.mktemp("run"), f"{SMALL}_{user}_{number}"
        shape = JobShape(source=SMALL, model=f"177495014576700{number}")
        return Run(user, AuditedRun(root, tag, shape=shape, model=model, seed=number, **more))

    one, other = "laion/pushed-8B", "laion/pushed-32B"
    return [run(1, "ada", one, row_id=numbered(9000), slurm_id="4711"), run(2, "bob", one), run(3, "bob", other)]


@pytest.fixture
def pushing(monkeypatch):
    """Pushes that try everything once."""
    for module in ("audit", "repair.push"):
        name = f"benchwright.{module}.command.open_database"
        monkeypatch.setattr(name, functools.partial(open_database, patience=ONCE))
    monkeypatch.setattr("benchwright.repair.push.command.open_writer", functools.partial(open_writer, patience=ONCE))


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_any_order_and_any_cut(seed, backends, eval_rows, hub, tmp_path, settings, runs, pushing):
    rng = random.Random(seed)
    backend = backends[seed % 2]
    pusher = Pusher(eval_rows, hub, settings, tmp_path, backend.name)
    pusher.with_a_scheduler()
    world = World(Bench(eval_rows), rng, pusher, runs)
    start = world.start()
    for job, trials in world.repos.items():
        hub.add(f"traces/{job}", trials)
    steps = [rng.choice(OPERATIONS)(world) for _ in range(rng.randint(2, 4))]
    steps += [rng.choice([*OPERATIONS, undo])(world) for _ in range(rng.randint(0, 2))]
    undisturbed = Play(backend, start, tmp_path / "undisturbed", hub.url, None).run(steps)
    disturbed = Play(backend, start, tmp_path / "disturbed", hub.url, rng).run(steps)
    assert disturbed == undisturbed
