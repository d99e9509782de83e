"""Repairs of registered rows: what each changes and leaves, whom it does not touch, and that it can be taken back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import psycopg
import pytest
from registered import BENCHMARK, HASH, ONCE, PARTIAL, REAL, SERVED, SERVED_TOO, Bench, Queue, Repairer

from audit_runs import BENCHMARKS, ORG, AuditedRun
from benchwright.contract import Exit, Failure
from benchwright.evaldb import open_database
from benchwright.repair.push.names import NOBODY, made_id, version_hash
from benchwright.repair.registration import carry_out as registration
from benchwright.repair.registration.names import repointed
from benchwright.repair.registration.undo_file import read_undo
from benchwright.slurm import Clients
from eval_databases import cut_at, numbered
from hub_standin import TOKEN
from kills import kills
from scripts_in_process import Script


@pytest.fixture
def rows(eval_rows):
    eval_rows.install_functions()
    return eval_rows


@pytest.fixture
def bench(rows):
    return Bench(rows)


@pytest.fixture
def ada(rows, backend, tmp_path):
    return Repairer(rows, backend, tmp_path / "undo")


def refused(repairer, action, **options):
    with pytest.raises(Failure) as failure:
        repairer.run(action, **options)
    (problem,) = failure.value.problems
    return failure.value.exit, problem


def only(rows, table, id):
    (found,) = (row for row in rows.everything()[table] if row.get("id") == id)
    return found


_OWNED_CALLS = {"delete_job": ("row_owner", "username"), "change_usage": ("row_owner",)}
"""Where the arguments of a function say whose row it is of."""


def edited(file, **more):
    """The undo file, with other content."""
    file.write_text(json.dumps(json.loads(file.read_text()) | more))


def open_place(repairer):
    """What a repairer's database is called."""
    with open_database(None, repairer.settings, ONCE) as database:
        return database.place


def timeless(rows):
    """All rows, but for the times at which they were made."""
    made = {"creation_time", "updated_at", "created_at"}
    return {
        table: [{name: value for name, value in row.items() if name not in made} for row in there]
        for table, there in rows.everything().items()
    }


def writes(rows):
    return [request for request in rows.standin.seen if request.method != "GET" and "functions" not in request.path]


class TestModels:
    def test_the_row_its_usage_and_the_number(self, bench, rows, ada):
        job, other = bench.job(bench.served), bench.job()
        bench.load()
        start = rows.everything()
        done = ada.run("fix-model", row=job, model_name=REAL)
        assert done.details == [
            f"row {job}: model {SERVED} -> {REAL}",
            f"2 usage rows of its trials: model {SERVED} -> {REAL}",
            f"model {SERVED} ({bench.served}), to which nothing refers then -> gone",
        ]
        there = rows.everything()
        assert only(rows, "sandbox_jobs", job) == only_in(start, job) | {"model_id": bench.real}
        assert only(rows, "sandbox_jobs", other) == only_in(start, other)
        assert {row["model_id"] for row in there["sandbox_trial_model_usage"]} == {bench.real}
        assert [row["name"] for row in there["models"]] == [REAL]
        again = ada.run("fix-model", row=job, model_name=REAL)
        assert again.summary == "nothing left to do"
        (file,) = ada.undo_files()
        undone = ada.run("undo", file=file)
        assert (undone.summary, rows.everything()) == ("3 writes done", start)
        assert ada.run("undo", file=file).summary == "nothing left to do"

    def test_others_need_the_number(self, bench, rows, ada):
        """Somebody else's rows under it are not ours to move, and keep it."""
        job, foreign = bench.job(bench.served), bench.job(bench.served, username="bob")
        bench.load()
        start = rows.everything()
        done = ada.run("fix-model", row=job, model_name=REAL)
        assert done.details[2] == (
            f"the model {SERVED} stays: 1 of sandbox_jobs of bob, 2 of sandbox_trial_model_usage of bob refer to it"
        )
        assert only(rows, "sandbox_jobs", foreign) == only_in(start, foreign)
        used = [row["model_id"] for row in rows.everything()["sandbox_trial_model_usage"]]
        assert sorted(used) == sorted([bench.served] * 2 + [bench.real] * 2)

    def test_what_refers_to_it_since_it_was_planned_keeps_it(self, bench, rows, ada, monkeypatch):
        job = bench.job(bench.served)
        bench.load()
        written = registration.UndoFile.write

        def write(file):
            written(file)
            with psycopg.connect(rows.server.url) as connection:
                connection.execute("UPDATE models SET base_model_id = %s WHERE name = %s", [bench.served, REAL])

        monkeypatch.setattr(registration.UndoFile, "write", write)
        done = ada.run("fix-model", row=job, model_name=REAL)
        assert f"drop_model {bench.served} stays: 1 of models.base_model_id refer to it" in done.details
        assert only(rows, "models", bench.served)["name"] == SERVED

    def test_usage_that_is_there_under_the_right_name_too(self, bench, rows, ada):
        job = bench.job(bench.served)
        trials = [row["id"] for row in rows.rows["sandbox_trials"]]
        bench.usage(trials[0], bench.real, n_input_tokens=10, n_output_tokens=1)  # the same, registered twice
        bench.usage(trials[1], bench.real, n_input_tokens=5)
        bench.load()
        start = rows.everything()
        done = ada.run("fix-model", row=job, model_name=REAL)
        assert done.details[1] == f"2 usage rows of its trials: model {SERVED} -> {REAL}, 2 rows merged"
        counts = [
            (row["n_input_tokens"], row["n_output_tokens"]) for row in rows.everything()["sandbox_trial_model_usage"]
        ]
        assert sorted(counts) == [(10, 1), (16, 1)]
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start

    def test_usage_that_was_left_behind(self, bench, rows, ada):
        """A repair by hand that changed the row alone."""
        job = bench.job(bench.served)
        rows.rows["sandbox_jobs"][0]["model_id"] = bench.real
        bench.load()
        done = ada.run("fix-model", row=job, model_name=REAL)
        assert done.details[0] == f"2 usage rows of its trials: model {SERVED} -> {REAL}"
        assert [row["name"] for row in rows.everything()["models"]] == [REAL]

    def test_a_sibling_stays(self, bench, rows, ada):
        prefixed = rows.model(f"hosted_vllm/{REAL}")
        job = bench.job(prefixed)
        bench.load()
        ada.run("fix-model", row=job, model_name=REAL)
        assert only(rows, "sandbox_jobs", job)["model_id"] == bench.real
        assert only(rows, "models", prefixed)

    def test_a_row_under_another_name_is_left(self, bench, rows, ada):
        rows.model("laion/another")
        job = bench.job()
        bench.load()
        exit_code, problem = refused(ada, "fix-model", row=job, model_name="laion/another")
        assert (exit_code, problem.code) == (Exit.REFUSED, "other-name")
        assert problem.found == f"its model is {REAL}, which is a name, and not laion/another"

    @pytest.mark.parametrize("by_id", [False, True], ids=["by its name", "by its id"])
    def test_a_number_is_no_right_name_though_the_database_has_it(self, bench, rows, ada, by_id):
        number = rows.model(SERVED_TOO)
        job = bench.job(bench.served)
        bench.job(number, username="bob")
        bench.load()
        start = rows.everything()
        exit_code, problem = refused(ada, "fix-model", row=job, model_name=number if by_id else SERVED_TOO)
        assert (exit_code, problem.code, problem.where) == (Exit.REFUSED, "numeric-model", "--model-name")
        assert problem.found == f"{SERVED_TOO}, the number that a server gave the model"
        assert rows.everything() == start

    def test_a_model_that_is_not_there_is_made_as_a_push_makes_it(self, bench, rows, ada):
        """The name that the audit prints is often new; a sibling's is none of its business."""
        job = bench.job(bench.served)
        bench.load()
        start = rows.everything()
        made, name = made_id("models", "laion/real-modle-8B"), "laion/real-modle-8B"
        dry = ada.run("fix-model", row=job, model_name=name, apply=False)
        assert dry.details[0] == f"model {name} ({made}), which is not there -> made"
        done = ada.run("fix-model", row=job, model_name=f"hosted_vllm/{name}")
        assert done.details == [
            f"model {name} ({made}), which is not there -> made",
            f"row {job}: model {SERVED} -> {name}",
            f"2 usage rows of its trials: model {SERVED} -> {name}",
            f"model {SERVED} ({bench.served}), to which nothing refers then -> gone",
        ]
        there = only(rows, "models", made)
        assert {column: there[column] for column in ("name", "created_by", "agent_id", "weights_location")} == {
            "name": name,
            "created_by": "ada",
            "agent_id": NOBODY,
            "weights_location": f"https://huggingface.co/{name}",
        }
        assert only(rows, "sandbox_jobs", job)["model_id"] == made
        assert ada.run("fix-model", row=job, model_name=name).summary == "nothing left to do"
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start

    def test_a_model_that_was_made_stays_where_others_took_it_up(self, bench, rows, ada):
        job = bench.job(bench.served)
        bench.load()
        ada.run("fix-model", row=job, model_name="laion/new-8B")
        made = made_id("models", "laion/new-8B")
        with psycopg.connect(rows.server.url) as connection:
            connection.execute("UPDATE models SET base_model_id = %s WHERE name = %s", [made, REAL])
        undone = ada.run("undo", file=ada.undo_files()[0])
        assert f"drop_model {made} stays: 1 of models.base_model_id refer to it" in undone.details
        assert only(rows, "sandbox_jobs", job)["model_id"] == bench.served
        assert only(rows, "models", made)

    def test_names_that_are_none_or_several_times(self, bench, rows, ada):
        twin = rows.model(REAL)
        job = bench.job(bench.served)
        bench.load()
        exit_code, problem = refused(ada, "fix-model", row=job, model_name=numbered(77))
        assert (exit_code, problem.code) == (Exit.USAGE, "no-such-model")
        exit_code, problem = refused(ada, "fix-model", row=job, model_name="no name")
        assert (exit_code, problem.where, problem.expected) == (Exit.USAGE, "--model-name", "NAME or ORG/NAME")
        exit_code, problem = refused(ada, "fix-model", row=job, model_name="1774950145766000")
        assert (exit_code, problem.code) == (Exit.REFUSED, "numeric-model")
        exit_code, problem = refused(ada, "fix-model", row=job, model_name=REAL)
        assert (exit_code, problem.found) == (Exit.USAGE, f"2 models are called {REAL}")
        ada.run("fix-model", row=job, model_name=twin)
        assert only(rows, "sandbox_jobs", job)["model_id"] == twin

    def test_counts_that_are_merged(self):
        def row(model, trial="t", **counts):
            return {"trial_id": trial, "model_id": model, "model_provider": "p", "n_input_tokens": None,
                    "n_output_tokens": None} | counts  # fmt: skip

        usage = [row("x", n_input_tokens=1), row("y", n_input_tokens=2), row("z"), row("x", "u")]
        assert repointed(usage, "x", "y") == [row("y", n_input_tokens=3), row("z"), row("y", "u")]
        assert repointed([row("x"), row("y")], "x", "y") == [row("y")]


def only_in(everything, job):
    (found,) = (row for row in everything["sandbox_jobs"] if row["id"] == job)
    return found


class TestBenchmarks:
    def test_the_row_and_the_hash(self, bench, rows, ada):
        job = bench.job(benchmark=bench.hash)
        bench.load()
        start = rows.everything()
        done = ada.run("fix-benchmark", row=job, benchmark_name=BENCHMARK)
        assert done.details == [
            f"row {job}: benchmark {HASH} -> {BENCHMARK}",
            f"benchmark {HASH} ({bench.hash}), to which nothing refers then -> gone",
        ]
        there = rows.everything()
        assert [row["name"] for row in there["benchmarks"]] == [BENCHMARK]
        assert there["sandbox_benchmark_tasks"] == []
        assert len(there["sandbox_tasks"]) == 1
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start

    def test_a_row_of_somebody_else_still_points_at_it(self, bench, rows, ada):
        job = bench.job(benchmark=bench.hash)
        bench.job(benchmark=bench.hash, username="bob", job_status="Started")
        bench.load()
        done = ada.run("fix-benchmark", row=job, benchmark_name=BENCHMARK)
        assert done.details[1] == f"the benchmark {HASH} stays: 1 of sandbox_jobs of bob refer to it"
        exit_code, problem = refused(ada, "drop-orphan-benchmark", benchmark_name=HASH)
        assert (exit_code, problem.code) == (Exit.REFUSED, "still-referenced")
        assert problem.found == "1 of sandbox_jobs of bob refer to it"
        assert only(rows, "benchmarks", bench.hash)

    def test_an_orphan(self, bench, rows, ada):
        bench.job()
        bench.load()
        start = rows.everything()
        done = ada.run("drop-orphan-benchmark", benchmark_name=HASH)
        assert done.details == [f"benchmark {HASH} ({bench.hash}), to which nothing refers -> gone"]
        assert not rows.everything()["sandbox_benchmark_tasks"]
        again = ada.run("drop-orphan-benchmark", benchmark_name=HASH)
        assert (again.exit, again.summary) == (Exit.DONE, "nothing left to do")
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start

    def test_an_orphan_with_a_proper_name_is_left(self, bench, rows, ada):
        bench.load()
        exit_code, problem = refused(ada, "drop-orphan-benchmark", benchmark_name=BENCHMARK)
        assert (exit_code, problem.code) == (Exit.REFUSED, "proper-name")
        assert refused(ada, "drop-orphan-benchmark", benchmark_name="x")[0] == Exit.USAGE

    @pytest.mark.parametrize("own", [False, True], ids=["shipped", "of a file"])
    def test_a_benchmark_that_is_known_and_not_there_is_made_as_a_push_makes_it(self, bench, rows, ada, tmp_path, own):
        job = bench.job(benchmark=bench.hash)
        bench.load()
        start = rows.everything()
        name, file = ("mine_7", tmp_path / "more.yaml") if own else ("gaia_127", None)
        if file is not None:
            file.write_text("mine_7: {tasks: 7}")
        done = ada.run("fix-benchmark", row=job, benchmark_name=name.replace("_", "-"), benchmarks=file)
        made = made_id("benchmarks", name)
        assert done.details == [
            f"benchmark {name} ({made}), which is not there -> made",
            f"row {job}: benchmark {HASH} -> {name}",
            f"benchmark {HASH} ({bench.hash}), to which nothing refers then -> gone",
        ]
        there = only(rows, "benchmarks", made)
        assert (there["name"], there["benchmark_version_hash"]) == (name, version_hash(name, [HASH]))
        (link,) = rows.everything()["sandbox_benchmark_tasks"]
        assert (link["benchmark_id"], link["benchmark_name"], link["task_checksum"]) == (made, name, "t")
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start

    @pytest.mark.parametrize("by_id", [False, True], ids=["by its name", "by its id"])
    @pytest.mark.parametrize(
        ("name", "code", "found"),
        [
            ("0c553bd6" * 5, "hash-benchmark", "the version hash of a dataset"),
            ("eval-run-20261201_120000", "run-dir-benchmark", "the name of a run"),
            ("tb2-real_model_8b", "run-dir-benchmark", "the name of a run"),
        ],
    )
    def test_no_right_name_though_the_database_has_it(self, bench, rows, ada, name, code, found, by_id):
        there = rows.benchmark(name)
        job = bench.job(benchmark=bench.hash)
        bench.job(benchmark=there, username="bob")
        bench.load()
        start = rows.everything()
        exit_code, problem = refused(ada, "fix-benchmark", row=job, benchmark_name=there if by_id else name)
        assert (exit_code, problem.code, problem.where) == (Exit.REFUSED, code, "--benchmark-name")
        assert problem.found == f"{name}, {found}"
        assert rows.everything() == start

    def test_a_benchmark_that_nothing_knows_is_not_made(self, bench, rows, ada):
        job = bench.job(benchmark=bench.hash)
        bench.load()
        exit_code, problem = refused(ada, "fix-benchmark", row=job, benchmark_name="terminal_bnch_2")
        assert (exit_code, problem.code) == (Exit.USAGE, "no-such-benchmark")
        assert problem.fix.startswith(f"did you mean '{BENCHMARK}'")
        assert problem.fix.endswith("; or describe it in a file of the form of benchmarks.yaml: --benchmarks FILE")

    def test_a_row_under_another_name_is_left(self, bench, rows, ada):
        rows.benchmark("gaia_127")
        job = bench.job()
        bench.load()
        exit_code, problem = refused(ada, "fix-benchmark", row=job, benchmark_name="gaia_127")
        assert (exit_code, problem.code) == (Exit.REFUSED, "other-name")


class TestTraces:
    REPO = "traces-org/run-traces"
    LINK = f"https://huggingface.co/datasets/{REPO}"

    @pytest.fixture
    def linking(self, ada, hub):
        ada.hub = hub.url
        return ada

    def test_a_link_and_nothing_else(self, bench, rows, linking, hub):
        job = bench.job(job_name="run", hf_traces_link=None)
        bench.load()
        start = rows.everything()
        hub.add(self.REPO, ["run__0", "run__1"])
        linking.run("link-traces", row=job, link=self.REPO)
        assert only(rows, "sandbox_jobs", job) == only_in(start, job) | {"hf_traces_link": self.LINK}
        assert linking.run("link-traces", row=job, link=self.LINK).summary == "nothing left to do"
        linking.run("undo", file=linking.undo_files()[0])
        assert rows.everything() == start
        assert hub.unknown == []

    @pytest.mark.parametrize(
        ("trials", "code", "found"),
        [
            (None, "no-traces", "it is not there"),
            ([], "no-traces", "it has no rows"),
            (["run__0", "a__1", "a__2"], "other-traces", "1 of the 3 trials that it names are this run's"),
            ([None], "unknown-traces", "its rows name no trials"),
        ],
    )
    def test_traces_that_are_not_there_or_not_its_own(self, bench, rows, linking, hub, trials, code, found):
        job = bench.job(job_name="run", hf_traces_link=None)
        bench.load()
        start = rows.everything()
        if trials is not None:
            hub.add(self.REPO, trials)
        exit_code, problem = refused(linking, "link-traces", row=job, link=self.LINK)
        assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, code, found)
        assert rows.everything() == start
        assert not linking.undo_files()

    def test_a_hub_that_does_not_answer_is_no_proof(self, bench, rows, linking, hub, monkeypatch):
        monkeypatch.setattr("benchwright.hub.client.HubPatience.__init__.__defaults__", (1, 0.0, 0.0, 1.0))
        job = bench.job(job_name="run", hf_traces_link=None)
        bench.load()
        linking.hub = "http://127.0.0.1:1"
        assert refused(linking, "link-traces", row=job, link=self.LINK)[0] == Exit.REMOTE

    def test_whose_they_are_is_told_by_the_folder_where_the_rows_do_not(self, bench, rows, linking, hub, tmp_path):
        run = AuditedRun(tmp_path)
        job = bench.job(job_name=run.tag, hf_traces_link=None, trials=0)
        other = bench.job(job_name="other", hf_traces_link=None, trials=0, slurm_job_id="18")
        bench.load()
        run.upload(hub, self.REPO)
        exit_code, problem = refused(linking, "link-traces", row=job, link=self.LINK)
        assert (exit_code, problem.code, problem.fix) == (
            Exit.REFUSED, "unknown-traces", "say where the run is: --job-dir DIR",
        )  # fmt: skip
        exit_code, problem = refused(linking, "link-traces", row=other, link=self.LINK, job_dir=run.folder)
        assert (exit_code, problem.code) == (Exit.REFUSED, "other-run")
        linking.run("link-traces", row=job, link=self.LINK, job_dir=run.folder)
        assert only(rows, "sandbox_jobs", job)["hf_traces_link"] == self.LINK

    def test_the_run_of_a_row_that_a_manifest_names(self, bench, rows, linking, hub, tmp_path):
        run = AuditedRun(tmp_path)
        job = bench.job(job_name="other", hf_traces_link=None, trials=0, slurm_job_id="18")
        bench.load()
        run.upload(hub, self.REPO)
        manifest = tmp_path / "runs.csv"
        manifest.write_text(f"job_dir,row_id\n{run.tag},{job}\n")
        told = {"row": job, "link": self.LINK, "manifest": manifest}
        exit_code, problem = refused(linking, "link-traces", **told)
        assert (exit_code, problem.where, problem.found) == (Exit.USAGE, "--manifest", "without --job-dir")
        exit_code, problem = refused(linking, "link-traces", **told, job_dir=run.folder)
        assert (exit_code, problem.code) == (Exit.USAGE, "not-listed")
        linking.run("link-traces", **told, job_dir=run.folder, jobs_root=run.folder.parent)
        assert only(rows, "sandbox_jobs", job)["hf_traces_link"] == self.LINK

    def test_a_link_to_traces_that_are_there_stays(self, bench, rows, linking, hub):
        job = bench.job(job_name="run", hf_traces_link="https://huggingface.co/datasets/o/old")
        bench.load()
        hub.add(self.REPO, ["run__0", "run__1"])
        hub.add("o/old", ["x"])
        exit_code, problem = refused(linking, "link-traces", row=job, link=self.LINK)
        assert (exit_code, problem.code) == (Exit.REFUSED, "linked")
        del hub.repos["o/old"]
        linking.run("link-traces", row=job, link=self.LINK)
        assert only(rows, "sandbox_jobs", job)["hf_traces_link"] == self.LINK

    def test_no_link_to_a_dataset(self, bench, rows, linking):
        job = bench.job()
        bench.load()
        exit_code, problem = refused(linking, "link-traces", row=job, link="https://huggingface.co/o/model")
        assert (exit_code, problem.where) == (Exit.USAGE, "--link")


class TestRemovals:
    def test_a_partial_row_with_all_that_is_its(self, bench, rows, ada):
        job, good, foreign = bench.job(stats=PARTIAL), bench.job(), bench.job(stats=PARTIAL, username="bob")
        bench.load()
        start = rows.everything()
        done = ada.run("deregister", row=job)
        assert done.details == [
            f"row {job}: Finished, {REAL} on {BENCHMARK}, with 2 trials and 2 usage rows -> gone"
            " (its own statistics fail a gate)"
        ]
        there = rows.everything()
        assert [row["id"] for row in there["sandbox_jobs"]] == [good, foreign]
        assert len(there["sandbox_trials"]) == len(there["sandbox_trial_model_usage"]) == 4
        again = ada.run("deregister", row=job)
        assert (again.exit, again.summary) == (Exit.DONE, "nothing left to do")
        dry = ada.run("deregister", row=job, apply=False)
        assert dry.summary == "DRY RUN: nothing written; nothing to do"
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start
        ada.run("deregister", row=job)  # once more
        assert len(ada.undo_files()) == 2
        ada.run("undo", file=ada.undo_files()[1])
        assert rows.everything() == start

    @pytest.mark.parametrize(
        ("row", "live", "code", "found"),
        [
            ({}, (), "good-row", "its own statistics say that it is complete"),
            ({"stats": None}, (), "unproved", "its statistics do not tell whether it is partial"),
            ({"stats": PARTIAL}, ("17",), "live", "its job waits or runs"),
            ({"job_status": "Started"}, ("17",), "live", "its job waits or runs"),
            ({"job_status": "Started", "slurm_job_id": None, "created_at": "2026-12-13T12:00:00Z"}, (), "unknown-live",
             "whether a job that the row does not name is live is unknown"),
            ({"job_status": "Started", "created_at": "2026-12-19T12:00:00Z"}, (), "unknown-live",
             "whether job 17 is live is unknown"),
            ({"username": "bob", "stats": PARTIAL}, (), "not-yours", "it is bob's"),
        ],
    )  # fmt: skip
    def test_rows_that_stay(self, bench, rows, ada, row, live, code, found):
        job = bench.job(**row)
        bench.load()
        start = rows.everything()
        ada.clients = Queue(*live)
        exit_code, problem = refused(ada, "deregister", row=job)
        assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, code, found)
        assert rows.everything() == start
        assert not ada.undo_files()

    def test_without_a_scheduler_no_row_goes(self, bench, rows, ada):
        job = bench.job(stats=PARTIAL)
        bench.load()
        ada.clients = Clients()
        assert refused(ada, "deregister", row=job)[1].code == "unknown-live"

    def test_a_row_that_is_not_there(self, ada, bench):
        bench.load()
        exit_code, problem = refused(ada, "deregister", row=numbered(99))
        assert (exit_code, problem.code) == (Exit.NO, "no-such-row")
        assert refused(ada, "deregister", row="'; DROP TABLE models; --")[0] == Exit.USAGE

    def test_a_row_that_a_logged_decision_spares(self, bench, rows, ada, tmp_path):
        job = bench.job(stats=PARTIAL)
        bench.load()
        log = tmp_path / "log"
        log.write_text(f"{job} 2026-12-01 it stays\n")
        assert refused(ada, "deregister", row=job, grandfather=log)[1].code == "spared"

    def test_stale_rows(self, bench, rows, ada):
        stale = [
            bench.job(job_status="Started"),
            bench.job(job_status="Pending", username="lovelace", trials=0),
            bench.job(job_status="Started", slurm_job_id=None),
        ]
        kept = [
            bench.job(job_status="Failed"),
            bench.job(),
            bench.job(stats=PARTIAL),
            bench.job(job_status="Started", username="bob"),
            bench.job(job_status="Started", slurm_job_id="18"),
            bench.job(job_status="Started", slurm_job_id=None, created_at="2026-12-13T12:00:00Z"),
            bench.job(job_status="Started", created_at="2026-12-20T11:00:00Z"),
        ]
        bench.load()
        start = rows.everything()
        ada.clients = Queue("18")
        dry = ada.run("drop-stale", apply=False)
        assert len(dry.details) == len(stale) + 3
        done = ada.run("drop-stale")
        assert {row["id"] for row in rows.everything()["sandbox_jobs"]} == set(kept)
        assert done.details[3:] == [
            f"row {kept[4]} stays: its job is live",
            f"row {kept[5]} stays: whether its job is live is unknown",
            f"row {kept[6]} stays: whether its job is live is unknown",
        ]
        assert ada.run("drop-stale").summary == "nothing left to do"
        for file in ada.undo_files():
            ada.run("undo", file=file)
        assert rows.everything() == start

    @pytest.mark.parametrize(
        ("action", "more", "row", "fix"),
        [
            ("deregister", {}, {"slurm_job_id": "17"},
             "run this where SLURM's clients know the job, or say where the run is: --job-dir DIR"),
            ("deregister", {}, {"slurm_job_id": None}, "say where the run is: --job-dir DIR"),
            ("fix-model", {"model_name": REAL}, {"slurm_job_id": "17"}, "run this where SLURM's clients know the job"),
            ("fix-model", {"model_name": REAL}, {"slurm_job_id": None},
             "wait for its run to end: a row without a sign for 7 days has none"),
        ],
    )  # fmt: skip
    def test_what_helps_where_its_job_is_unknown_is_an_option_of_the_command(
        self, bench, rows, ada, action, more, row, fix
    ):
        job = bench.job(job_status="Started", created_at="2026-12-19T12:00:00Z", **row)
        bench.load()
        _, problem = refused(ada, action, row=job, **more)
        assert (problem.code, problem.fix) == ("unknown-live", fix)

    def test_one_stale_row(self, bench, rows, ada):
        job, other = bench.job(job_status="Started"), bench.job(job_status="Started")
        good = bench.job()
        bench.load()
        ada.run("drop-stale", row=job)
        assert [row["id"] for row in rows.everything()["sandbox_jobs"]] == [other, good]
        assert ada.run("drop-stale", row=job).summary == "nothing left to do"
        exit_code, problem = refused(ada, "drop-stale", row=good)
        assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, "not-stale", "it is Finished")

    def test_stale_rows_of_one_name(self, bench, rows, ada):
        bench.job(job_status="Started")
        job = bench.job(job_status="Started", username="lovelace")
        bench.load()
        ada.run("drop-stale", username="lovelace")
        assert job not in {row["id"] for row in rows.everything()["sandbox_jobs"]}
        assert len(rows.everything()["sandbox_jobs"]) == 1


class TestByTheAudit:
    """A row whose run is named goes where the audit would take it off, and only there."""

    @pytest.fixture
    def script(self, rows, settings, capsys, tmp_path):
        for name, value in rows.settings("postgres").items():
            settings.setenv(name, value)
        settings.setenv("BENCHWRIGHT_OWNERS", "ada")
        (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
        return Script.named("database/repair_registration", capsys, "--undo-dir", tmp_path / "undo")

    def row(self, rows, run):
        """The run's row, by the id of its result."""
        job = run.row(rows, id=run.aggregate["id"])
        rows.load()
        return job

    def test_partial(self, rows, script, tmp_path):
        run = AuditedRun(tmp_path, kinds=("pass", "no-sandbox") * 6)
        self.row(rows, run)
        audit = Script.named("eval/audit_evals", script.capsys)
        words = [run.folder, "--benchmarks", tmp_path / "benchmarks.yaml", "--no-cache", "--no-hub"]
        (judged,) = audit.answer(*words)["data"]["evals"]
        assert judged["verdict"] == "DEREGISTER+RESUME"
        printed = judged["actions"][0]["command"].split()
        assert printed[1] == "scripts/database/repair_registration.py"
        words = [*printed[2:], "--benchmarks", tmp_path / "benchmarks.yaml", "--apply"]
        answer = script.answer(*words)
        assert answer["summary"] == "1 write done"
        assert answer["data"]["repairs"][0]["changes"][0].endswith(f"(DEREGISTER+RESUME: {judged['why']})")
        assert rows.everything()["sandbox_jobs"] == []

    def test_complete(self, rows, script, tmp_path):
        run = AuditedRun(tmp_path)
        words = ["--row", self.row(rows, run), "--job-dir", run.folder]
        words += ["--benchmarks", tmp_path / "benchmarks.yaml", "--apply"]
        answer = script.answer("deregister", *words)
        assert (answer["exit"], answer["problems"][0]["code"]) == (5, "not-advised")
        assert answer["problems"][0]["found"].startswith("the audit says STOP, and of the row: leave")
        assert len(rows.everything()["sandbox_jobs"]) == 1

    def test_another_run(self, bench, rows, script, tmp_path):
        run = AuditedRun(tmp_path, kinds=("pass", "no-sandbox") * 6)
        job = bench.job(stats=None, slurm_job_id=None)
        bench.load()
        words = ["--row", job, "--job-dir", run.folder, "--benchmarks", tmp_path / "benchmarks.yaml", "--apply"]
        answer = script.answer("deregister", *words)
        assert answer["problems"][0]["found"] == "the audit found no such row of this run"
        assert len(rows.everything()["sandbox_jobs"]) == 1


class TestOwners:
    ACTIONS = (
        ("fix-model", {"model_name": REAL}),
        ("fix-benchmark", {"benchmark_name": BENCHMARK}),
        ("link-traces", {"link": "o/n"}),
        ("deregister", {}),
    )

    @pytest.mark.parametrize(("action", "more"), ACTIONS)
    def test_a_row_of_somebody_else(self, bench, rows, ada, action, more):
        job = bench.job(bench.served, bench.hash, username="bob", stats=PARTIAL, hf_traces_link=None)
        bench.load()
        start = rows.everything()
        for apply in (False, True):
            exit_code, problem = refused(ada, action, row=job, apply=apply, **more)
            assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, "not-yours", "it is bob's")
        assert rows.everything() == start
        assert not writes(rows)

    @pytest.mark.parametrize(("action", "more"), [*ACTIONS, ("drop-stale", {})])
    def test_a_name_that_is_not_ones_own(self, bench, rows, ada, action, more):
        row = {} if action == "drop-stale" else {"row": numbered(9)}
        exit_code, problem = refused(ada, action, username="bob", **row, **more)
        assert (exit_code, problem.code) == (Exit.REFUSED, "not-yours")
        assert problem.found == "bob is none of your user names"

    def test_another_of_ones_own_names(self, bench, ada):
        job = bench.job(bench.served, username="lovelace")
        bench.load()
        exit_code, problem = refused(ada, "fix-model", row=job, model_name=REAL, username="ada")
        assert (exit_code, problem.found) == (Exit.REFUSED, "it is lovelace's")

    def test_nobody(self, bench, ada):
        ada.owners = " , "
        assert refused(ada, "drop-stale")[0] == Exit.ENVIRONMENT

    def test_an_undo_file_of_somebody_else_or_of_another_database(self, bench, rows, ada, tmp_path):
        job = bench.job(stats=PARTIAL)
        bench.load()
        ada.run("deregister", row=job)
        (file,) = ada.undo_files()
        ada.owners = "bob"
        assert refused(ada, "undo", file=file)[1].code == "not-yours"
        ada.owners = "ada"
        file.write_text(file.read_text().replace(" at ", " at another-"))
        assert refused(ada, "undo", file=file)[1].code == "other-database"
        file.write_text("{}")
        exit_code, problem = refused(ada, "undo", file=file)
        assert (exit_code, problem.code) == (Exit.USAGE, "no-undo-file")
        assert refused(ada, "undo", file=tmp_path / "none")[1].found == "no such file or directory"

    @pytest.mark.parametrize("state", ["written", "writing", "undoing"])
    @pytest.mark.parametrize("column", ["owner", "read", "values"])
    def test_an_undo_file_of_ones_own_that_names_a_row_of_somebody_else(self, bench, rows, ada, state, column):
        job, other = bench.job(bench.served), bench.job(username="bob")
        bench.load()
        ada.run("fix-model", row=job, model_name=REAL)
        (file,) = ada.undo_files()
        start = rows.everything()
        write = {"update": "sandbox_jobs", "key": {"id": other}, "owner": "ada"}
        write |= {"read": {"job_status": "Started"}, "values": {"job_status": "Finished"}}
        if column == "owner":
            write["owner"] = "bob"
        else:
            write["read"]["username"] = write["values"]["username"] = "ada"
            write[column]["username"] = "bob"
        edited(file, state=state, plan=[write])
        exit_code, problem = refused(ada, "undo", file=file)
        assert (exit_code, problem.code, problem.found) == (Exit.REFUSED, "not-yours", "it is of a row of bob's")
        assert refused(ada, "undo", file=file, apply=False)[1] == problem
        assert rows.everything() == start

    @pytest.mark.parametrize(
        ("action", "row", "more"),
        [
            ("deregister", {"stats": PARTIAL}, {}),
            ("fix-model", {"model": "served"}, {"model_name": REAL}),
        ],
    )
    def test_an_undo_file_whose_functions_name_somebody_else(self, bench, rows, ada, action, row, more):
        """Of a deleted row the file says twice whose it is, and what is put back goes below it."""
        model = bench.served if "model" in row else None
        job = bench.job(model, **{name: value for name, value in row.items() if name != "model"})
        bench.load()
        ada.run(action, row=job, **more)
        (file,) = ada.undo_files()
        rows.execute("UPDATE sandbox_jobs SET username = 'bob' WHERE id = %s", job)
        start, plan = rows.everything(), read_undo(file).repair.plan
        (number,) = (number for number, write in enumerate(plan) if getattr(write, "function", "") in _OWNED_CALLS)
        for place in _OWNED_CALLS[plan[number].function]:
            text = file.read_text()
            content = json.loads(text)
            arguments = content["plan"][number]["arguments"]
            (arguments["job"] if place == "username" else arguments)[place] = "bob"
            file.write_text(json.dumps(content))
            assert refused(ada, "undo", file=file)[1].code == "not-yours"
            file.write_text(text)
        assert rows.everything() == start

    def test_what_is_put_back_goes_below_its_own_row_alone(self, bench, rows, ada):
        job, other = bench.job(stats=PARTIAL), bench.job(username="bob")
        bench.load()
        ada.run("deregister", row=job)
        (file,) = ada.undo_files()
        start, text = rows.everything(), file.read_text()
        theirs = next(trial["id"] for trial in start["sandbox_trials"] if trial["job_id"] == other)
        for table, column, value in (("trials", "job_id", other), ("usage", "trial_id", theirs)):
            content = json.loads(text)
            content["plan"][0]["arguments"][table][0][column] = value
            file.write_text(json.dumps(content))
            assert refused(ada, "undo", file=file)[1].code == "no-undo-file"
        assert rows.everything() == start
        file.write_text(text)
        assert ada.run("undo", file=file).summary == "5 writes done"

    @pytest.mark.parametrize(
        "write",
        [
            {"call": "drop_trials", "arguments": {"row_owner": "ada"}},
            {"call": "delete_job", "arguments": {"row_owner": "ada"}},
            {"call": "change_usage", "arguments": []},
            {"update": "models", "key": {"id": "x"}, "owner": None, "read": {"name": "a"}, "values": {"name": "b"}},
            {"insert": "sandbox_trials", "record": {"id": "x", "job_id": "y"}},
            {"insert": "models", "record": {"id": "x", "name": "of somebody else"}},
        ],
    )
    def test_a_write_that_no_repair_plans(self, ada, tmp_path, write):
        file = tmp_path / "edited.json"
        repair = {"what": "fix-model", "subject": "x", "owner": "ada", "place": "here", "changes": []}
        file.write_text(json.dumps(repair | {"form": 1, "state": "written", "plan": [write]}))
        exit_code, problem = refused(ada, "undo", file=file)
        assert (exit_code, problem.code) == (Exit.USAGE, "no-undo-file")

    @pytest.mark.parametrize("gone", [False, True])
    def test_an_interrupted_repair_whose_file_names_somebody_else_is_not_finished(self, bench, rows, ada, gone):
        """What it names is left alone, and what the row needs is planned from the row."""
        job, other = bench.job(bench.served), bench.job(bench.served, username="bob")
        bench.load()
        self.cut_off(ada, job, file=[{**self.moved(other, "bob", bench), "values": {"model_id": bench.real}}])
        if gone:
            rows.execute("DELETE FROM sandbox_trial_model_usage; DELETE FROM sandbox_trials")
            rows.execute("DELETE FROM sandbox_jobs WHERE id = %s", job)
            assert refused(ada, "fix-model", row=job, model_name=REAL)[1].code == "not-yours"
        else:
            ada.run("fix-model", row=job, model_name=REAL)
            assert only(rows, "sandbox_jobs", job)["model_id"] == bench.real
            assert [read_undo(file).state for file in ada.undo_files()] == ["left", "written"]
        assert only(rows, "sandbox_jobs", other)["model_id"] == bench.served

    def moved(self, job, owner, bench):
        return {"update": "sandbox_jobs", "key": {"id": job}, "owner": owner, "read": {"model_id": bench.served}}

    def cut_off(self, ada, job, file):
        """The undo file that a repair leaves which was killed before its first write, with another plan in it."""
        ada.folder.mkdir()
        dry = ada.run("fix-model", row=job, model_name=REAL, apply=False)
        wanted = next(row["id"] for row in ada.rows.everything()["models"] if row["name"] == REAL)
        place = open_place(ada)
        content = {"form": 1, "state": "writing", "what": "fix-model", "subject": job, "owner": "ada"}
        content |= {"place": place, "wanted": wanted, "changes": dry.data["changes"], "plan": file}
        (ada.folder / f"fix-model-{job}-1.json").write_text(json.dumps(content))

    def test_what_somebody_changed_since_is_not_taken_back(self, bench, rows, ada):
        job = bench.job(benchmark=bench.hash)
        bench.job(benchmark=bench.hash, username="bob")
        bench.load()
        ada.run("fix-benchmark", row=job, benchmark_name=BENCHMARK)
        (file,) = ada.undo_files()
        rows.execute("UPDATE sandbox_jobs SET username = 'bob' WHERE id = %s", job)
        start = rows.everything()
        assert refused(ada, "undo", file=file)[1].code == "contested"
        assert rows.everything() == start


class TestInterrupted:
    """Cut at every write, before and after it takes effect, or killed at every step: the same command completes it."""

    CASES = (
        ("fix-model", {"model_name": REAL}, {"model": "served"}, 3),
        ("fix-benchmark", {"benchmark_name": BENCHMARK}, {"benchmark": "hash"}, 2),
        ("deregister", {}, {"stats": PARTIAL}, 1),
    )

    def made(self, bench, row):
        named = {name: getattr(bench, value) for name, value in row.items() if name in ("model", "benchmark")}
        job = bench.job(**{**row, **named})
        bench.job()
        bench.load()
        return job

    @pytest.mark.parametrize("after", [False, True])
    @pytest.mark.parametrize(("action", "more", "row", "steps"), CASES)
    def test_over_supabase(self, bench, rows, tmp_path, action, more, row, steps, after):
        ada = Repairer(rows, "supabase", tmp_path / "undisturbed")
        job = self.made(bench, row)
        start = rows.everything()
        ada.run(action, row=job, **more)
        wanted = rows.everything()
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start
        for step in range(steps):
            ada.folder = tmp_path / f"cut-{step}"
            self.cut(rows, step, after)
            assert refused(ada, action, row=job, **more)[0] == Exit.REMOTE
            (file,) = ada.undo_files()
            assert read_undo(file).state == "writing"
            rows.standin.fault = rows.standin.fault_after = None
            ada.run(action, row=job, **more)
            assert rows.everything() == wanted
            assert [read_undo(file).state for file in ada.undo_files()] == ["written"]
            self.cut(rows, step, after)
            assert refused(ada, "undo", file=file)[0] == Exit.REMOTE
            rows.standin.fault = rows.standin.fault_after = None
            ada.run("undo", file=file)
            assert rows.everything() == start

    @pytest.mark.parametrize("after", [False, True])
    @pytest.mark.parametrize(
        ("action", "more", "row"),
        [
            ("fix-model", {"model_name": "laion/new-8B"}, {"model": "served"}),
            ("fix-benchmark", {"benchmark_name": "gaia_127"}, {"benchmark": "hash"}),
        ],
    )
    def test_over_supabase_where_the_name_is_made(self, bench, rows, tmp_path, action, more, row, after):
        ada = Repairer(rows, "supabase", tmp_path / "undisturbed")
        job = self.made(bench, row)
        start = rows.everything()
        ada.run(action, row=job, **more)
        wanted = timeless(rows)
        ada.run("undo", file=ada.undo_files()[0])
        for step in range(4):
            ada.folder = tmp_path / f"cut-{step}"
            self.cut(rows, step, after)
            assert refused(ada, action, row=job, **more)[0] == Exit.REMOTE
            rows.standin.fault = rows.standin.fault_after = None
            ada.run(action, row=job, **more)
            assert timeless(rows) == wanted
            (file,) = ada.undo_files()
            self.cut(rows, step, after)
            assert refused(ada, "undo", file=file)[0] == Exit.REMOTE
            rows.standin.fault = rows.standin.fault_after = None
            ada.run("undo", file=file)
            assert rows.everything() == start

    def cut(self, rows, step, after):
        fault = cut_at(step)
        rows.standin.fault, rows.standin.fault_after = (None, fault) if after else (fault, None)

    def test_killed_at_every_step(self, bench, rows, tmp_path):
        action, more, row, _ = self.CASES[0]
        ada = Repairer(rows, "postgres", tmp_path / "undisturbed")
        job = self.made(bench, row)
        start = rows.everything()
        ada.run(action, row=job, **more)
        wanted = rows.everything()
        ada.run("undo", file=ada.undo_files()[0])
        number = 0

        def fresh():
            nonlocal number
            number += 1
            if rows.everything() != start:
                ada.run("undo", file=ada.undo_files()[0])
                assert rows.everything() == start
            ada.folder = tmp_path / f"killed-{number}"

        for _ in kills(lambda: ada.run(action, row=job, **more), fresh):
            assert rows.everything() in (start, wanted)
            ada.run(action, row=job, **more)
            assert rows.everything() == wanted
            assert [read_undo(file).state for file in ada.undo_files()] == ["written"]
        assert number > 5

    def test_a_dry_run_says_what_is_left_of_an_interrupted_one(self, bench, rows, tmp_path):
        ada = Repairer(rows, "supabase", tmp_path / "undo")
        job = self.made(bench, {"stats": PARTIAL})
        self.cut(rows, 0, True)
        assert refused(ada, "deregister", row=job)[0] == Exit.REMOTE
        rows.standin.fault_after = None
        dry = ada.run("deregister", row=job, apply=False)
        assert (dry.summary, len(dry.details)) == ("DRY RUN: nothing written; 1 change to make", 1)

    def test_what_may_not_be_done_any_more_is_not_completed(self, bench, rows, tmp_path):
        """The job of the row was begun again while the repair was interrupted."""
        ada = Repairer(rows, "supabase", tmp_path / "undo")
        job = self.made(bench, {"stats": PARTIAL})
        self.cut(rows, 0, False)
        assert refused(ada, "deregister", row=job)[0] == Exit.REMOTE
        start = rows.everything()
        rows.standin.fault = None
        ada.clients = Queue("17")
        assert refused(ada, "deregister", row=job)[1].code == "live"
        assert rows.everything() == start

    def test_somebody_was_faster_meanwhile(self, bench, rows, tmp_path):
        """What was planned is contested; what there is now is planned anew."""
        ada = Repairer(rows, "supabase", tmp_path / "undo")
        job = self.made(bench, {"stats": PARTIAL})
        self.cut(rows, 0, False)
        assert refused(ada, "deregister", row=job)[0] == Exit.REMOTE
        rows.standin.fault = None
        rows.execute("UPDATE sandbox_jobs SET notes = 'seen' WHERE id = %s", job)
        start = rows.everything()
        ada.run("deregister", row=job)
        assert [read_undo(file).state for file in ada.undo_files()] == ["left", "written"]
        ada.run("undo", file=ada.undo_files()[1])
        assert rows.everything() == start

    def stopped(self, rows, ada, action, **options):
        """A repair of which nothing comes to be written: by a role that may only read, or without the functions."""
        if ada.backend == "supabase":
            rows.drop_functions()
            try:
                assert refused(ada, action, **options)[1].code == "needs-function"
            finally:
                rows.install_functions()
            return
        rows.execute("CREATE ROLE onlooker LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO onlooker")
        ada.url = rows.server.url.replace("//postgres@", "//onlooker@")
        assert ada.url != rows.server.url
        try:
            assert refused(ada, action, **options)[1].code == "no-permission"
        finally:
            ada.url = None
            rows.execute("DROP OWNED BY onlooker; DROP ROLE onlooker")

    @pytest.mark.parametrize(
        ("action", "names", "row"),
        [("fix-model", ("laion/new-8B", REAL), "served"), ("fix-benchmark", ("gaia_127", BENCHMARK), "hash")],
    )
    def test_a_corrected_name_is_the_one_that_is_written(self, bench, rows, ada, action, names, row):
        noun = action.removeprefix("fix-")
        job = self.made(bench, {noun: row})
        start = rows.everything()
        self.stopped(rows, ada, action, row=job, **{f"{noun}_name": names[0]})
        (begun,) = ada.undo_files()
        assert (read_undo(begun).state, rows.everything()) == ("writing", start)
        corrected = {f"{noun}_name": names[1]}
        left = "an earlier run began another, and nothing of it is written: "
        left += "; ".join(read_undo(begun).repair.changes)
        dry = ada.run(action, row=job, apply=False, **corrected)
        assert (dry.details[0], dry.details[-1]) == (
            f"row {job}: {noun} {SERVED if noun == 'model' else HASH} -> {names[1]}",
            left,
        )
        done = ada.run(action, row=job, **corrected)
        assert (done.details[0], done.details[-1]) == (dry.details[0], left)
        assert only(rows, "sandbox_jobs", job)[f"{noun}_id"] == getattr(bench, "real" if noun == "model" else noun)
        assert [read_undo(file).state for file in ada.undo_files()] == ["left", "written"]
        ada.run("undo", file=ada.undo_files()[1])
        assert rows.everything() == start

    def test_a_corrected_link_is_the_one_that_is_written(self, bench, rows, ada, hub):
        job = bench.job(job_name="run", hf_traces_link=None)
        bench.load()
        ada.hub = hub.url
        for name in ("wrong", "right"):
            hub.add(f"traces-org/{name}", ["run__0", "run__1"])

        if ada.backend == "supabase":
            self.cut(rows, 0, False)
            assert refused(ada, "link-traces", row=job, link="traces-org/wrong")[0] == Exit.REMOTE
            rows.standin.fault = None
        else:
            self.stopped(rows, ada, "link-traces", row=job, link="traces-org/wrong")
        ada.run("link-traces", row=job, link="traces-org/right")
        link = "https://huggingface.co/datasets/traces-org/right"
        assert only(rows, "sandbox_jobs", job)["hf_traces_link"] == link

    def test_the_same_name_in_other_words_finishes_what_was_begun(self, bench, rows, ada):
        job = self.made(bench, {"model": "served"})
        self.stopped(rows, ada, "fix-model", row=job, model_name=REAL)
        done = ada.run("fix-model", row=job, model_name=bench.real)
        assert done.details[0] == f"row {job}: model {SERVED} -> {REAL} (begun by an earlier run)"
        assert [read_undo(file).state for file in ada.undo_files()] == ["written"]

    @pytest.mark.parametrize(
        ("name", "codes"), [(REAL, ["other-name", "cut-off"]), ("laion/new-8B", ["cut-off"])], ids=["there", "made"]
    )
    def test_another_name_waits_for_what_is_half_written(self, bench, rows, tmp_path, name, codes):
        """One step of the repair is there, of a row or of a model that was made: it is not left behind in silence."""
        ada = Repairer(rows, "supabase", tmp_path / "undo")
        job = self.made(bench, {"model": "served"})
        start = rows.everything()
        self.cut(rows, 1, False)
        assert refused(ada, "fix-model", row=job, model_name=name)[0] == Exit.REMOTE
        rows.standin.fault = None
        half, (file,) = rows.everything(), ada.undo_files()
        assert half != start
        for apply in (False, True):
            with pytest.raises(Failure) as failure:
                ada.run("fix-model", row=job, model_name="laion/another-8B", apply=apply)
            assert (failure.value.exit, [one.code for one in failure.value.problems]) == (Exit.REFUSED, codes)
        problem = failure.value.problems[-1]
        assert problem.found == f"an earlier run was cut off amid {'; '.join(read_undo(file).repair.changes)}"
        undo = f".venv/bin/python scripts/database/repair_registration.py undo {file} --apply"
        assert problem.fix == f"its own command finishes it, or take it back: {undo}"
        assert rows.everything() == half
        ada.run("undo", file=file)
        assert rows.everything() == start
        ada.run("fix-model", row=job, model_name="laion/another-8B")
        assert only(rows, "sandbox_jobs", job)["model_id"] == made_id("models", "laion/another-8B")

    def test_another_name_waits_for_what_a_function_may_have_done(self, bench, rows, tmp_path):
        ada = Repairer(rows, "supabase", tmp_path / "undo")
        sibling = rows.model(f"hosted_vllm/{REAL}")
        job = bench.job(bench.served)
        rows.rows["sandbox_jobs"][0]["model_id"] = bench.real  # by hand, and its usage was forgotten
        bench.load()
        start = rows.everything()
        self.cut(rows, 0, False)
        assert refused(ada, "fix-model", row=job, model_name=REAL)[0] == Exit.REMOTE
        rows.standin.fault = None
        assert refused(ada, "fix-model", row=job, model_name=sibling)[1].code == "cut-off"
        ada.run("undo", file=ada.undo_files()[0])
        assert rows.everything() == start

    def test_an_undo_file_that_cannot_be_written_stops_it(self, bench, rows, ada, tmp_path, monkeypatch):
        job = bench.job(stats=PARTIAL)
        bench.load()
        start = rows.everything()

        def full(path, content, *, indent):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("benchwright.repair.registration.undo_file.write_json", full)
        exit_code, problem = refused(ada, "deregister", row=job)
        assert (exit_code, problem.code) == (Exit.ENVIRONMENT, "undo-not-written")
        assert rows.everything() == start


class TestScript:
    @pytest.fixture
    def script(self, rows, settings, capsys, tmp_path, backend):
        for name, value in rows.settings(backend, key=rows.standin.service_key).items():
            settings.setenv(name, value)
        settings.setenv("BENCHWRIGHT_OWNERS", "ada")
        return Script.named("database/repair_registration", capsys, "--undo-dir", tmp_path / "undo")

    def test_a_dry_run_writes_nothing_and_says_what_to_do(self, bench, rows, script, tmp_path):
        job = bench.job(bench.served)
        bench.load()
        start = rows.everything()
        code, lines = script.run("fix-model", "--row", job, "--model-name", REAL)
        assert code == 0
        assert lines[0] == "DRY RUN: nothing written; 3 changes to make"
        assert lines[-1] == "DRY RUN: nothing written"
        assert f"row {job}: model {SERVED} -> {REAL}" in "\n".join(lines)
        answer = script.answer("fix-model", "--row", job, "--model-name", REAL)
        assert answer["data"]["applied"] is False
        assert answer["data"]["repairs"][0]["plan"][0] == {
            "row": f"sandbox_jobs {job}",
            "owner": "ada",
            "before": {"job_name": "job-5", "model_id": bench.served},
            "after": {"model_id": bench.real},
        }
        assert answer["next"][0].endswith("--apply")
        assert (rows.everything(), writes(rows)) == (start, [])
        assert not (tmp_path / "undo").exists()

    def test_applied_and_undone(self, bench, rows, script, tmp_path):
        job = bench.job(bench.served)
        bench.load()
        start = rows.everything()
        answer = script.answer("fix-model", "--row", job, "--model-name", REAL, "--apply")
        assert (answer["exit"], answer["data"]["applied"]) == (0, True)
        first = answer["data"]["repairs"][0]["writes"][0]
        assert (first["before"]["model_id"], first["after"]["model_id"]) == (bench.served, bench.real)
        file = answer["data"]["repairs"][0]["undo_file"]
        code, lines = script.run("undo", file)
        assert lines[0] == "DRY RUN: nothing written; 3 changes to take back"
        code, lines = script.run("undo", file, "--apply")
        assert (code, lines[0]) == (0, "3 writes done")
        assert rows.everything() == start

    def test_without_a_database_a_dry_run_says_that_it_does_not_know(self, script, settings):
        settings.delenv("DATABASE_URL", raising=False)
        settings.delenv("SUPABASE_URL", raising=False)
        answer = script.answer("drop-stale")
        assert (answer["exit"], answer["problems"][0]["code"]) == (0, "no-credentials")
        assert answer["summary"] == (
            "DRY RUN: nothing written; no database is configured, so what drop-stale would change is unknown"
        )
        assert script.answer("drop-stale", "--apply")["exit"] == 3

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            (["fix-model", "--row", numbered(1)], [("--model-name", "missing")]),
            (["deregister"], [("--row", "missing")]),
            (["undo"], [("FILE", "missing")]),
            (
                ["drop-stale", "--benchmarks", "f", "--link", "x"],
                [("--link", "given to drop-stale"), ("--benchmarks", "given to drop-stale")],
            ),
            (
                ["deregister", "--row", numbered(1), "--iris", "gs://b"],
                [("--iris", "without --iris-job, or beside --job-dir")],
            ),
        ],
    )
    def test_options_that_do_not_go_together(self, script, words, found):
        answer = script.answer(*words)
        assert answer["exit"] == 2
        assert [(problem["where"], problem["found"]) for problem in answer["problems"]] == found

    def test_what_an_undo_lacks_is_its_file(self, script):
        (problem,) = script.answer("undo")["problems"]
        assert (problem["expected"], problem["fix"]) == ("one, for undo", "undo FILE")

    def test_a_sheet_for_the_owner(self, bench, rows, script, tmp_path):
        job = bench.job(bench.served, username="bob")
        bench.load()
        words = ["fix-model", "--row", job, "--model-name", REAL, "--handoff", tmp_path / "sheet.md"]
        assert script.answer(*words)["exit"] == 5
        assert (tmp_path / "sheet.md").read_text().splitlines()[2:10] == [
            "It is for the row's owner to do.",
            "",
            f"- row {job}: it is bob's",
            "",
            "## Run, in this order, from the root of a checkout of benchwright",
            "",
            "```bash",
            ".venv/bin/python scripts/database/repair_registration.py fix-model"
            f" --row {job} --model-name {REAL} --apply",
        ]

    def test_what_comes_next_is_an_audit_of_the_run_where_it_is_known(
        self, bench, rows, script, settings, hub, tmp_path
    ):
        settings.setenv("HF_ENDPOINT", hub.url)
        settings.setenv("HF_TOKEN", TOKEN)
        run = AuditedRun(tmp_path)
        run.upload(hub)
        row = run.row(rows, id=run.aggregate["id"], hf_traces_link=None)
        job = bench.job(bench.served)
        bench.load()
        link = ["--link", f"{ORG}/{run.tag}-traces", "--job-dir", run.folder]
        (audit,) = script.answer("link-traces", "--row", row, *link, "--apply")["next"]
        assert audit.endswith(f"/scripts/eval/audit_evals.py {run.folder}")
        assert script.answer("fix-model", "--row", job, "--model-name", REAL, "--apply")["next"] == []

    def squeue(self, settings, tmp_path, body):
        """Clients of SLURM that the script finds."""
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        for name in ("squeue", "sacct"):
            (folder / name).write_text(f"#!/bin/sh\n{body}\n")
            (folder / name).chmod(0o755)
        settings.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def test_where_nothing_is_to_do_nothing_comes_next(self, bench, rows, script, settings, tmp_path):
        self.squeue(settings, tmp_path, "")
        job = bench.job(job_status="Started", created_at=datetime.now(UTC).isoformat())
        bench.load()
        answer = script.answer("drop-stale")
        assert (answer["exit"], answer["summary"]) == (0, "DRY RUN: nothing written; nothing to do")
        assert answer["data"]["stays"] == [f"row {job} stays: whether its job is live is unknown"]
        assert (answer["data"]["changes"], answer["next"]) == ([], [])

    @pytest.mark.parametrize(
        ("said", "exit_code", "problem"),
        [
            ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", 4,
             ("scheduler-unavailable", "squeue", "run this again later")),
            (None, 3, ("no-scheduler", "squeue", "run this where SLURM's clients are")),
        ],
    )  # fmt: skip
    def test_a_scheduler_that_does_not_answer_is_told(
        self, bench, rows, script, settings, tmp_path, said, exit_code, problem
    ):
        """What is stale cannot be known then, which is not the same as nothing."""
        if said is None:
            settings.setenv("PATH", str(tmp_path))
        else:
            self.squeue(settings, tmp_path, f"echo '{said}' >&2; exit 1")
        job = bench.job(job_status="Started")
        bench.load()
        dry = script.answer("drop-stale")
        assert (dry["exit"], dry["summary"]) == (exit_code, "DRY RUN: nothing written; what is to do is unknown")
        first = dry["problems"][0]
        assert (first["code"], first["where"], first["fix"]) == problem
        stays = [f"row {job} stays: whether its job is live is unknown"]
        assert (dry["data"]["stays"], dry["next"]) == (stays, [])
        applied = script.answer("drop-stale", "--apply")
        assert (applied["exit"], applied["summary"]) == (exit_code, "nothing done")
        one = script.answer("drop-stale", "--row", job, "--apply")
        assert (one["exit"], one["problems"][0]["found"]) == (exit_code, "whether its job is live is unknown")
        assert one["problems"][1] == first
        assert only(rows, "sandbox_jobs", job)
        bench.rows.execute("UPDATE sandbox_jobs SET job_status = 'Failed'")
        assert script.answer("drop-stale")["exit"] == 0  # nothing hangs on the answer

    def test_a_sheet_for_who_may_install_functions(self, bench, rows, script, tmp_path, backend):
        job = bench.job(bench.served)
        bench.load()
        rows.drop_functions()
        words = ["fix-model", "--row", job, "--model-name", REAL, "--handoff", tmp_path / "sheet.md", "--apply"]
        start = rows.everything()
        try:
            answer = script.answer(*words)
        finally:
            rows.install_functions()
        if backend == "postgres":
            assert answer["exit"] == 0
            return
        assert (answer["exit"], answer["problems"][0]["code"]) == (5, "needs-function")
        install = 'psql "$DATABASE_URL" -f src/benchwright/evaldb/functions.sql'
        assert install in (tmp_path / "sheet.md").read_text().splitlines()
        assert rows.everything() == start
        assert script.answer(*words)["exit"] == 0  # once they are installed

    def test_nothing_of_the_key_is_shown(self, bench, rows, script, tmp_path):
        job = bench.job(bench.served)
        bench.load()
        answer = script.answer("fix-model", "--row", job, "--model-name", REAL, "--apply")
        said = json.dumps(answer) + "".join(path.read_text() for path in (tmp_path / "undo").glob("*"))
        assert rows.standin.service_key not in said
