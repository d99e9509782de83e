"""Pushes that are cut at every statement, before and after it takes effect, and pushes of one run by two at once."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import time
from contextlib import closing

import psycopg
import pytest
from push_runs import Pusher, said

from audit_runs import AuditedRun
from benchwright.contract import Exit
from benchwright.evaldb import Patience, open_database, open_writer
from benchwright.rehearsal.postgrest_standin import Answer
from eval_databases import folder_for_all
from postgres_cuts import CutLine
from waiting import PATIENCE

ONCE = Patience(attempts=1, connect_timeout=2, answer_timeout=5)
BROKEN = Answer(0)


@pytest.fixture
def impatient(monkeypatch):
    """A push that tries everything once, as one does that is killed at the first failure."""
    monkeypatch.setattr("benchwright.repair.push.command.open_writer", functools.partial(open_writer, patience=ONCE))
    monkeypatch.setattr(
        "benchwright.repair.push.command.open_database", functools.partial(open_database, patience=ONCE)
    )


@pytest.fixture
def run(tmp_path):
    return AuditedRun(tmp_path)


def undisturbed(pusher, run):
    """What the database says after a push that nothing disturbs; it is empty again then."""
    assert pusher.push(run).exit == Exit.DONE
    found = plain(pusher)
    pusher.rows.empty()
    return found


def plain(pusher):
    """All rows, but for the times at which they were made."""
    made = ("created_at", "creation_time")
    tables = pusher.rows.everything()
    return {name: [{key: row[key] for key in row.keys() - {*made}} for row in rows] for name, rows in tables.items()}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_push_over_supabase_goes_on_where_it_was_cut(eval_rows, hub, settings, tmp_path, run, impatient, after):
    pusher = Pusher(eval_rows, hub, settings, tmp_path, "supabase")
    wanted = undisturbed(pusher, run)
    cuts = 0
    while True:
        cut = _Cut(cuts)
        eval_rows.standin.fault, eval_rows.standin.fault_after = (None, cut) if after else (cut, None)
        outcome = pusher.push(run)
        eval_rows.standin.fault = eval_rows.standin.fault_after = None
        if not cut.happened:
            break
        assert outcome.exit == Exit.REMOTE
        shown = [row["metrics"] for row in plain(pusher)["sandbox_jobs"]]
        complete = after and cuts == 8  # the last write is the one that shows the score
        assert shown in ([], [None]) or complete
        assert pusher.push(run).exit == Exit.DONE
        assert plain(pusher) == wanted
        pusher.rows.empty()
        cuts += 1
    assert cuts == 9  # agent, model, benchmark, tasks, links, row, trials, usage, score
    assert plain(pusher) == wanted


class _Cut:
    """Breaks the line off at the writing request of a number."""

    def __init__(self, number):
        self.left, self.happened = number, False

    def __call__(self, request):
        if request.method == "GET" or self.happened:
            return None
        self.left -= 1
        if self.left >= 0:
            return None
        self.happened = True
        return BROKEN


def test_a_push_over_postgres_is_whole_or_not_at_all(eval_rows, hub, settings, tmp_path, run, impatient):
    pusher = Pusher(eval_rows, hub, settings, tmp_path, "postgres")
    wanted = undisturbed(pusher, run)
    nothing = plain(pusher)
    outcomes = set()
    with folder_for_all() as folder, closing(_CutWriters(eval_rows, folder)) as writers:
        settings.setenv("DATABASE_URL", writers.line.url())
        settings.setattr("benchwright.repair.push.command.open_writer", writers.open)
        for number in range(1, 200, 3):  # the writer's own tests cut at each
            writers.at = number
            outcome = pusher.push(run)
            hung_up(pusher)
            found = plain(pusher)
            assert found in (nothing, wanted)
            outcomes.add((outcome.exit, found == wanted))
            if outcome.exit == Exit.DONE:
                break
            writers.at = None
            assert pusher.push(run).exit == Exit.DONE
            assert plain(pusher) == wanted
            pusher.rows.empty()
    # the answer to the commit itself may be lost
    assert outcomes - {(Exit.REMOTE, True)} == {(Exit.REMOTE, False), (Exit.DONE, True)}


def hung_up(pusher):
    """Wait until the server has done what came to it before the line was cut."""
    active = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'benchwright'"
    with psycopg.connect(pusher.rows.server.url, autocommit=True) as connection:
        while connection.execute(active).fetchone() != (0,):
            time.sleep(0.01)


class _CutWriters:
    """Opens writers on whose line the message of number ``at`` is cut, or the answer to it for every other number."""

    def __init__(self, rows, folder):
        self.line = CutLine(rows.server.folder / "data", folder / "line")
        self.at = None
        self.close = self.line.stop

    def open(self, choice, settings):
        writer = open_writer(choice, settings, ONCE)
        write = writer.write

        def cut(plan):
            self.line.cut(self.at, after=bool(self.at and self.at % 2))
            try:
                return write(plan)
            finally:
                self.line.cut(None)

        writer.write = cut
        return writer


@pytest.mark.parametrize("backend", ["postgres", "supabase"])
def test_of_two_who_push_the_same_run_one_wins_and_the_other_is_told(eval_rows, hub, settings, tmp_path, run, backend):
    pusher = Pusher(eval_rows, hub, settings, tmp_path, backend)
    undisturbed(pusher, run)  # everything that both need is imported then
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(2), context.Queue()
    for _ in range(3):
        people = [
            context.Process(target=_push_as, args=(name, pusher, run, barrier, answers)) for name in ("ada", "bob")
        ]
        for person in people:
            person.start()
        told = dict(answers.get(timeout=PATIENCE) for _ in people)
        for person in people:
            person.join()
        winner, loser = sorted(told, key=lambda name: told[name][0])
        assert told[winner] == (Exit.DONE, [])
        code, problems = told[loser]
        assert code == Exit.REFUSED, told
        assert {problem for problem, _ in problems} <= {"contested", "not-yours"}
        (job,) = pusher.table("sandbox_jobs")
        assert (job["username"], job["metrics"] is not None) == (winner, True)
        assert {trial["job_id"] for trial in pusher.table("sandbox_trials")} == {job["id"]}
        assert pusher.count()["sandbox_trials"] == 12
        pusher.rows.empty()


def _push_as(name, pusher, run, barrier, answers):
    os.environ["BENCHWRIGHT_OWNERS"] = name
    barrier.wait()
    outcome = pusher.push(run)
    answers.put((name, (outcome.exit, said(outcome))))


@pytest.mark.parametrize("backend", ["postgres", "supabase"])
def test_who_comes_between_the_plan_and_its_writing_wins(eval_rows, hub, settings, tmp_path, run, backend, monkeypatch):
    pusher = Pusher(eval_rows, hub, settings, tmp_path, backend)
    row = run.aggregate["id"]

    def interrupted(choice, settings):
        writer = open_writer(choice, settings, ONCE)
        write = writer.write

        def late(plan):
            run.row(eval_rows, id=row, username="grace", metrics=None)
            eval_rows.load()
            return write(plan)

        writer.write = late
        return writer

    monkeypatch.setattr("benchwright.repair.push.command.open_writer", interrupted)
    outcome = pusher.push(run)
    assert outcome.exit == Exit.REFUSED
    assert [problem.code for problem in outcome.problems] == ["contested"]
    assert [(str(job["id"]), job["username"]) for job in pusher.table("sandbox_jobs")] == [(row, "grace")]
    assert pusher.count()["sandbox_trials"] == 0


def test_what_is_not_there_after_the_write_is_told(eval_rows, hub, settings, tmp_path, run):
    pusher = Pusher(eval_rows, hub, settings, tmp_path, "postgres")
    eval_rows.execute(
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.reward := 0.5; RETURN NEW; END $$"
    )
    eval_rows.execute(
        "CREATE TRIGGER spoil BEFORE INSERT ON sandbox_trials FOR EACH ROW WHEN (NEW.reward = 1)"
        " EXECUTE FUNCTION spoil()"
    )
    try:
        outcome = pusher.push(run)
    finally:
        eval_rows.execute("DROP FUNCTION spoil CASCADE")
    assert outcome.exit == Exit.NO
    ids = sorted(json.loads(path.read_text())["id"] for path in run.folder.glob("*/result.json"))
    spoilt = {problem.where.rpartition(" ")[2] for problem in outcome.problems}
    assert spoilt < set(ids)
    assert {(problem.code, problem.found) for problem in outcome.problems} == {
        ("not-as-planned", "reward is 0.5, and not 1.0")
    }
