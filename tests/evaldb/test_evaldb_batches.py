"""Many values asked for at once: in as few requests as there is room for, and each as if it were asked for alone."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.evaldb import RunNames


@pytest.fixture
def supabase(eval_rows):
    with eval_rows.open("supabase", key=eval_rows.standin.service_key) as opened:
        yield opened


def runs_of(rows, number, *, models=1):
    """Runs of so many models on one benchmark, each with its row and its name; a row of each model is no run's."""
    benchmark, hashed = rows.benchmark("tb2"), rows.benchmark("377118ff" * 5)
    ids = [rows.model(f"laion/m-{one}") for one in range(models)]
    names = []
    for one in range(number):
        model = one % models
        row = rows.job(ids[model], benchmark, job_name=f"tb2_m-{model}_{one}", created_at=f"2026-11-{1 + one % 28}")
        names.append(
            RunNames((f"laion/m-{model}", f"17749501457{one:05d}"), ("tb2",), (f"tb2_m-{model}_{one}",), (row,))
        )
    for model in ids:
        rows.job(model, hashed, job_name="x")
    rows.load()
    return names


@pytest.mark.parametrize("models", [1, 7])
def test_runs_asked_for_together_have_the_rows_of_each_alone(database, eval_rows, models):
    runs = [*runs_of(eval_rows, 15, models=models), RunNames(job_names=("x",)), RunNames()]
    together = database.rows_of(runs)
    assert together == [found for run in runs for found in database.rows_of([run])]
    assert [len(found) for found in together] == [sum(at % models == one % models for at in range(15)) + 1 for one in
        range(15)] + [models, 0]  # fmt: skip
    assert together[0][-1].by == ("misnamed-benchmark",)


@pytest.mark.parametrize("models", [1, 300])
def test_hundreds_of_runs_take_a_few_requests(supabase, eval_rows, models):
    runs = runs_of(eval_rows, 300, models=models)
    eval_rows.standin.seen.clear()
    found = supabase.rows_of(runs)
    assert all(any("id" in one.by for one in rows) for rows in found)
    assert len(eval_rows.standin.seen) <= 12


def test_no_address_is_longer_than_proxies_take(supabase, eval_rows):
    names = [f"{number:02}-" + "é" * 150 for number in range(40)]  # six characters each, in an address
    for name in names:
        eval_rows.task(name)
    eval_rows.load()
    eval_rows.standin.seen.clear()
    found = supabase.records("sandbox_tasks", "name", names)
    assert [row["name"] for row in found] == names
    assert len(eval_rows.standin.seen) > 3  # each of an address that the stand-in takes, which are those of proxies


class TestANameThatNoRequestHasRoomFor:
    LONG = "tb2_" + "x" * 9000

    def test_is_of_a_run_of_which_nothing_is_known(self, supabase, eval_rows):
        runs = runs_of(eval_rows, 2)
        lost = RunNames(("laion/m-0",), ("tb2",), (self.LONG,))
        first, unknown, second = supabase.rows_of([runs[0], lost, runs[1]])
        assert [first, second] == supabase.rows_of(runs)
        assert isinstance(unknown, Failure) and unknown.exit is Exit.ENVIRONMENT
        (problem,) = unknown.problems
        assert (problem.code, problem.where) == ("too-long", supabase.place)
        assert problem.found == f"a job's name of 9,004 characters, which no request has room for: tb2_{'x' * 36}..."
        assert problem.fix == "use DATABASE_URL, over which texts may be of any length: --db postgres"

    def test_is_refused_where_it_is_asked_for_by_itself(self, supabase):
        with pytest.raises(Failure) as caught:
            supabase.records("sandbox_tasks", "name", ["short", self.LONG])
        (problem,) = caught.value.problems
        assert (problem.code, caught.value.exit) == ("too-long", Exit.ENVIRONMENT)
        assert problem.fix == "use DATABASE_URL, over which texts may be of any length: --db postgres"

    def test_is_found_over_postgres(self, eval_rows):
        row = eval_rows.job(eval_rows.model("m"), eval_rows.benchmark("b"), job_name=self.LONG)
        eval_rows.load()
        with eval_rows.open("postgres") as database:
            ((found,),) = database.rows_of([RunNames(job_names=(self.LONG,))])
        assert (found.row.id, found.by) == (row, ("job-name",))


ODD = ['a","b', 'a"b', "a\\", "a\\\\", "(a)", "a,b", "null", "", " a ", "a\nb", "a'b", "{a}", "%a%"]


def test_a_name_among_others_is_what_it_says(database, eval_rows):
    plain = ["a", "b", "a b"]
    for name in (*ODD, *plain):
        eval_rows.task(name or "empty")
        eval_rows.rows["sandbox_tasks"][-1]["name"] = name
    eval_rows.load()
    assert sorted(row["name"] for row in database.records("sandbox_tasks", "name", ODD)) == sorted(ODD)


def test_a_name_that_no_database_holds_hides_no_other(database, eval_rows):
    eval_rows.task("t")
    eval_rows.load()
    for odd in ("a\0b", "\ud800"):
        assert [row["name"] for row in database.records("sandbox_tasks", "name", [odd, "t"])] == ["t"]
        assert database.records("sandbox_tasks", "name", [odd]) == []
