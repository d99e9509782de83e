"""Several users and repairs in any order, with the line cut anywhere, and each repair given again until it is done.

No row of another user changes, no good row is lost, and in the end everything is where it is without the cuts.

``BENCHWRIGHT_REPAIRS`` is how many sequences are tried. An operation is a function of ``OPERATIONS``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from registered import BENCHMARK, HASH, PARTIAL, REAL, SERVED_TOO, Bench, Queue, Repairer

from benchwright.contract import Exit, Failure, Outcome, Problem
from benchwright.rehearsal.eval_rows import load_rows
from benchwright.rehearsal.postgrest_standin import Answer
from eval_databases import EvalRows, folder_for_all
from postgres_cuts import CutLine

SEQUENCES = int(os.environ.get("BENCHWRIGHT_REPAIRS", "24"))
USERS = {"ada": ("ada", "lovelace"), "bob": ("bob",), "eve": ("eve",)}
LIVE = "99"
MOST_CUTS = 3
Everything = dict[str, list[dict[str, Any]]]


@dataclass
class World:
    """What there is at first: rows of every user, by whom they are of, and the repos with their traces."""

    bench: Bench
    rng: random.Random
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
        for trial in bench.rows.rows.get("sandbox_trials", []):
            if rng.random() < 0.3:  # usage under the right name beside that under the wrong one
                there = {(one["trial_id"], one["model_id"]) for one in bench.rows.rows["sandbox_trial_model_usage"]}
                if (trial["id"], bench.real) not in there:
                    bench.usage(trial["id"], bench.real, n_input_tokens=rng.choice([10, 99]), n_output_tokens=1)


@dataclass(frozen=True)
class Step:
    """One thing that a user does: ``act``, with what the user works with, as often as need be. It says how it ended."""

    user: str
    name: str
    act: Callable[[Repairer], tuple[Exit, Sequence[Problem]]]


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


OPERATIONS: list[Callable[[World], Step]] = [repair, repair, repair, clean]


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
    """The good rows: all of them but for the names and the link, which a repair may put right."""
    mended = {"model_id", "benchmark_id", "hf_traces_link"}
    return {
        row["id"]: {name: value for name, value in row.items() if name not in mended}
        for row in everything["sandbox_jobs"]
        if row["job_status"] == "Finished" and row["stats"] != PARTIAL
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
        return [self.took(step) for step in steps], self.backend.rows.everything()

    def took(self, step: Step) -> str:
        """What became of a step, tried again as long as the line was cut. Each try leaves the rows of others alone."""
        by = self.backend.by(step.user, self.folder, self.hub)
        others = belongings(self.backend.rows.everything(), USERS[step.user])
        for left in range(self.rng.randint(0, MOST_CUTS) if self.rng else 0, -1, -1):
            if self.rng and left:
                self.backend.cut(self.rng.randint(1, 30), after=self.rng.random() < 0.5)
            try:
                exit, problems = step.act(by)
            except Failure as failure:
                exit, problems = failure.exit, failure.problems
            self.backend.cut(None)
            assert left or exit is not Exit.REMOTE, problems
            there = self.backend.rows.everything()
            assert belongings(there, USERS[step.user]) == others, step.name
            assert good(there) == good(self.start), step.name
            if exit is not Exit.REMOTE:
                break
        return f"{step.user}: {step.name}: {exit.name} {[problem.code for problem in problems]}"


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_any_order_and_any_cut(seed, backends, eval_rows, hub, tmp_path):
    rng = random.Random(seed)
    backend = backends[seed % 2]
    world = World(Bench(eval_rows), rng)
    eval_rows.load()
    start = eval_rows.everything()
    for job, trials in world.repos.items():
        hub.add(f"traces/{job}", trials)
    steps = [rng.choice(OPERATIONS)(world) for _ in range(rng.randint(2, 4))]
    steps += [rng.choice([*OPERATIONS, undo])(world) for _ in range(rng.randint(0, 2))]
    undisturbed = Play(backend, start, tmp_path / "undisturbed", hub.url, None).run(steps)
    disturbed = Play(backend, start, tmp_path / "disturbed", hub.url, rng).run(steps)
    assert disturbed == undisturbed
