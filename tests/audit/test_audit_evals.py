"""The script audit_evals, with all of its sources: folders, Postgres and the stand-in over it, the Hub's stand-in."""

from __future__ import annotations

import json
import re
import shutil
import zlib

import pytest

from audit_runs import BENCHMARKS, GOOD, MODEL, ORG, SERVED, AuditedRun, settle, snapshot
from benchwright.evaldb import open_database
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from eval_databases import SOON
from hub_standin import TOKEN, Answer, refusal
from scripts_in_process import Script

BAD = (*GOOD[:8], "no-sandbox", "no-sandbox", "no-key", "no-key")
"""A third of them for nothing, whose errors count."""
UNHEARD = JobShape(source="small_bench_verified")
"""Of a dataset that no benchmark is known for, though the run's tag has the name of one in it."""


@pytest.fixture
def script(capsys, settings, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return Script.named("eval/audit_evals", capsys, "--no-cache", "--benchmarks", tmp_path / "benchmarks.yaml")


def configure(settings, eval_rows, hub, backend="postgres"):
    for name, value in eval_rows.settings(backend, key=eval_rows.standin.service_key).items():
        settings.setenv(name, value)
    settings.setenv("BENCHWRIGHT_OWNERS", "ada, grace")
    settings.setenv("BENCHWRIGHT_TRACE_ORGS", ORG)
    settings.setenv("HF_ENDPOINT", hub.url)
    settings.setenv("HF_TOKEN", TOKEN)


@pytest.fixture
def sources(settings, eval_rows, hub):
    """Everything is configured."""
    configure(settings, eval_rows, hub)


def registered(run, rows, hub, **more):
    run.row(rows, **{"id": run.aggregate["id"]} | more)
    rows.load()
    run.upload(hub)


@pytest.mark.parametrize("backend", ["postgres", "supabase"])
def test_a_complete_eval_is_ok(script, settings, tmp_path, eval_rows, hub, backend):
    configure(settings, eval_rows, hub, backend)
    run = AuditedRun(tmp_path)
    registered(run, eval_rows, hub)
    answer = script.answer(run.folder)
    (one,) = answer["data"]["evals"]
    assert (answer["exit"], one["verdict"], one["why"]) == (0, "OK", "12 valid, 0 errored, of 12 planned")
    assert {name: check["status"] for name, check in one["checks"].items()} == dict.fromkeys(one["checks"], "pass")
    assert (one["model"], one["benchmark"], one["agent"]) == (MODEL, "small_bench", "terminus-2")
    assert one["checks"]["traces"]["detail"] == f"{ORG}/{run.tag}-traces: 12 rows"
    assert hub.unknown == []


def _unlinked(run, rows, hub):
    registered(run, rows, hub, hf_traces_link=None)


def _no_traces(run, rows, hub):
    registered(run, rows, hub)
    hub.repos.clear()


def _anothers_traces(run, rows, hub):
    registered(run, rows, hub)
    hub.add(f"{ORG}/{run.tag}-traces", ["another__0000000"])


def _empty_repo(run, rows, hub):
    registered(run, rows, hub)
    hub.add(f"{ORG}/{run.tag}-traces", [])


def _no_row(run, rows, hub):
    run.upload(hub)


def _by_name(run, rows, hub):
    registered(run, rows, hub, id="7d2a0dd0-0000-4000-8000-000000000001")


def _twice(run, rows, hub):
    run.row(rows, id=run.aggregate["id"], created_at="2026-09-01T21:00:00Z")
    run.row(rows, job_name="x", job_status="Pending", created_at="2026-08-01T00:00:00Z", slurm_job_id=None)
    rows.load()
    run.upload(hub)


def _damaged(run, rows, hub):
    registered(run, rows, hub)
    again = run.folder / "task__0000__zzzzzzz"
    shutil.copytree(next(run.folder.glob("task__0000__*")), again)
    (again / "result.json").write_text("{")
    settle(run.folder)


def _with(**more):
    return lambda run, rows, hub: registered(run, rows, hub, **more)


CASES = {
    "nobody linked the traces": ({}, _unlinked, "LINK"),
    "there are no traces": ({}, _no_traces, "UPLOAD"),
    "the repo is empty": ({}, _empty_repo, "UPLOAD"),
    "the traces are another run's": ({}, _anothers_traces, "STOP"),
    "it is not registered": ({}, _no_row, "UPLOAD"),
    "it bears the name alone": ({}, _by_name, "STOP"),
    "an old pending row beside it": ({}, _twice, "OK"),
    "it is another's": ({}, _with(username="them"), "OK"),
    "its score is another": ({}, _with(metrics=[{"name": "accuracy", "value": 0.9}]), "UPLOAD"),
    "its metrics have the wrong shape": ({}, _with(metrics={"accuracy": 1 / 3}), "UPLOAD"),
    "its model is a number": ({}, _with(model=SERVED), "FIX_MODEL"),
    "its model is another one": ({}, _with(model="org/another"), "STOP"),
    "its benchmark is a hash": ({}, _with(benchmark="377118ff" * 5), "FIX_BENCH"),
    "its benchmark is a hash in capitals": ({}, _with(benchmark="377118FF" * 5), "FIX_BENCH"),
    "its benchmark has the model's name in it": ({"model": "laion/bench"}, _with(model="laion/bench"), "OK"),
    "nobody knows its dataset, and it is filed under it": ({"shape": UNHEARD}, _with(benchmark=UNHEARD.source), "OK"),
    "nobody knows its dataset, and it is not registered": ({"shape": UNHEARD}, _no_row, "STOP"),
    "nobody knows its dataset, and a row of it has a score": (
        {"shape": UNHEARD},
        _with(id="7d2a0dd0-0000-4000-8000-000000000001", job_name="x", benchmark=UNHEARD.source, username="them"),
        "STOP",
    ),
    "its benchmark is another one": ({}, _with(benchmark="another_bench"), "STOP"),
    "a third failed, and it is registered": ({"kinds": BAD}, _with(), "DEREGISTER+RESUME"),
    "a third failed, and it is another's": ({"kinds": BAD}, _with(username="them"), "STOP"),
    "a third failed, and it is not registered": ({"kinds": BAD}, _no_row, "RESUME"),
    "half of the benchmark was run": ({"kinds": GOOD[:6]}, _with(), "STOP"),
    "no trial was run": ({"kinds": ()}, _no_row, "RERUN"),
    "it measures the machinery": ({"tag": "grid_small_bench_real-model-8B", "kinds": BAD}, _no_row, "EXEMPT"),
    "not finished, and quiet for weeks": ({"kinds": BAD, "shape": JobShape(finished=False)}, _no_row, "RESUME"),
    "45 a damaged result beside the trials that were run again": ({}, _damaged, "OK"),
    "every trial hit the same wall": ({"kinds": ("no-sandbox",) * 12}, _with(), "RERUN"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_verdict(script, sources, tmp_path, eval_rows, hub, name):
    shape, arrange, verdict = CASES[name]
    run = AuditedRun(tmp_path, **shape)
    arrange(run, eval_rows, hub)
    answer = script.answer(run.folder)
    (one,) = answer["data"]["evals"]
    assert one["verdict"] == verdict, one["why"]
    assert answer["problems"] == []
    assert answer["exit"] == (0 if verdict in ("OK", "EXEMPT") else 1)
    assert hub.unknown == []


def test_a_row_stays_where_nobody_can_say_whether_its_job_lives(script, sources, tmp_path, eval_rows, hub):
    run = AuditedRun(tmp_path)
    run.row(eval_rows, id=run.aggregate["id"])
    run.row(eval_rows, job_name="x", job_status="Pending", created_at="2026-08-01T00:00:00Z", slurm_job_id="17")
    run.row(eval_rows, job_name="x", job_status="Pending", created_at="2026-08-01T00:00:00Z", username="them")
    eval_rows.load()
    run.upload(hub)
    answer = script.answer(run.folder)
    (one,) = answer["data"]["evals"]
    assert (answer["exit"], answer["problems"], one["verdict"]) == (0, [], "OK")
    assert sorted((row["owner"], row["status"], row["advice"]) for row in one["rows"]) == [
        ("ada", "Finished", "keep"),
        ("ada", "Pending", "leave"),
        ("them", "Pending", "leave"),
    ]


class TestNothingIsWritten:
    def test_no_source_is_sent_a_writing_request_and_no_file_is_touched(
        self, script, settings, tmp_path, eval_rows, hub
    ):
        runs = [AuditedRun(tmp_path, f"small_bench_real-model-8B_{n}", kinds) for n, kinds in enumerate((GOOD, BAD))]
        for run in runs:
            run.row(eval_rows, id=_own_id(run))
            run.upload(hub)
        eval_rows.load()
        root = runs[0].folder.parent
        before = snapshot(root)
        eval_rows.execute("ALTER DATABASE postgres SET log_statement = 'all'")
        log = eval_rows.server.folder / "log"
        start = log.stat().st_size
        try:
            for backend in ("postgres", "supabase"):
                for name in ("DATABASE_URL", "SUPABASE_URL"):
                    settings.delenv(name, raising=False)
                configure(settings, eval_rows, hub, backend)
                assert script.answer("--jobs-root", root)["problems"] == []
            said = log.read_bytes()[start:].decode()
        finally:
            eval_rows.execute("ALTER DATABASE postgres RESET log_statement")
        assert snapshot(root) == before
        assert {request.method for request in hub.seen} == {"GET"}
        assert {request.method for request in eval_rows.standin.seen} == {"GET"}
        statements = re.findall(r"(?:statement|execute [^:]*): (\w+)", said)
        assert set(statements) <= {"BEGIN", "SELECT", "SET", "COMMIT", "GRANT"}
        assert hub.unknown == []

    def test_the_folder_may_be_one_that_nobody_can_write(self, script, tmp_path):
        run = AuditedRun(tmp_path)
        before = snapshot(run.root)
        script.answer(run.folder, "--no-hub", "--db", "none")
        assert snapshot(run.root) == before


def _own_id(run):
    """Runs that are grown from one seed have one id; a run of its own needs another."""
    path = run.folder / "result.json"
    content = json.loads(path.read_text())
    content["id"] = f"00000000-0000-4000-8000-{zlib.crc32(run.tag.encode()):012}"
    path.write_text(json.dumps(content))
    settle(run.folder)
    return content["id"]


@pytest.fixture
def judged(capsys, settings):
    """The answer to a file of facts."""
    return lambda file, *words: Script.named("eval/audit_evals", capsys).answer("--facts", file, *words)


def test_the_second_run_is_byte_for_byte_the_first(script, judged, sources, tmp_path, eval_rows, hub):
    for number, kinds in enumerate((GOOD, BAD, GOOD[:6], ("timeout", "not-verified", "cut-off") * 4)):
        run = AuditedRun(tmp_path, f"small_bench_real-model-8B_{number}", kinds)
        run.row(eval_rows, id=_own_id(run), hf_traces_link=None if number else f"{ORG}/{run.tag}")
        run.upload(hub, f"{ORG}/{run.tag}")
    eval_rows.load()
    told = []
    for number in range(2):
        files = [tmp_path / f"{name}-{number}.json" for name in ("facts", "out")]
        words = ["--jobs-root", run.folder.parent, "--dump-facts", files[0], "--out", files[1]]
        told.append((script.run(*words), *(file.read_bytes() for file in files)))
    assert told[0] == told[1]
    again = judged(files[0])
    assert again["data"] == json.loads(files[1].read_bytes())["data"]
    first = json.loads(files[1].read_bytes())["data"]["evals"]
    paths = [one["folder"] for one in first]
    backwards = script.answer(*reversed(paths))["data"]["evals"]
    assert backwards == first  # whatever order the folders come in


class TestUnknown:
    def test_nothing_is_configured(self, script, tmp_path):
        run = AuditedRun(tmp_path)
        answer = script.answer(run.folder)
        (one,) = answer["data"]["evals"]
        assert (answer["exit"], one["verdict"]) == (3, "STOP")
        assert [problem["where"] for problem in answer["problems"]] == [
            "database", "BENCHWRIGHT_OWNERS", "BENCHWRIGHT_TRACE_ORGS"
        ]  # fmt: skip
        assert {name: check["status"] for name, check in one["checks"].items()} == {
            "finished": "pass",
            "score": "unknown",
            "traces": "unknown",
            "trials": "pass",
        }

    def test_what_was_not_to_be_asked_is_no_problem_and_no_pass(self, script, tmp_path):
        run = AuditedRun(tmp_path, slurm_id="17")
        answer = script.answer(run.folder, "--no-hub", "--db", "none", "--no-slurm")
        (one,) = answer["data"]["evals"]
        assert (answer["exit"], answer["problems"], one["verdict"]) == (1, [], "STOP")
        assert one["why"].startswith("whether the job is live is unknown (SLURM was not asked")
        assert one["checks"]["traces"]["detail"] == "the Hub was not asked (--no-hub)"

    def test_a_scheduler_that_ran_it_and_is_not_here(self, script, settings, tmp_path):
        settings.setenv("PATH", str(tmp_path))
        answer = script.answer(AuditedRun(tmp_path, slurm_id="17").folder, "--no-hub", "--db", "none")
        assert (answer["exit"], {problem["code"] for problem in answer["problems"]}) == (3, {"no-scheduler"})
        (one,) = answer["data"]["evals"]
        assert (one["verdict"], one["checks"]["finished"]["status"]) == ("STOP", "unknown")
        local = AuditedRun(tmp_path, "a-local-run").folder
        assert script.answer(local, "--no-hub", "--db", "none")["problems"] == []
        forced = script.answer(local, "--no-hub", "--db", "none", "--slurm")
        assert (forced["exit"], forced["data"]["evals"][0]["checks"]["finished"]["status"]) == (3, "pass")

    def test_owners_are_never_guessed(self, script, sources, settings, tmp_path, eval_rows, hub):
        settings.delenv("BENCHWRIGHT_OWNERS")
        settings.setenv("USER", "ada")
        run = AuditedRun(tmp_path, kinds=BAD)
        registered(run, eval_rows, hub)
        answer = script.answer(run.folder)
        assert (answer["exit"], answer["problems"][0]["code"]) == (3, "no-owners")
        assert answer["data"]["evals"][0]["rows"] == []

    def test_a_database_that_dies_in_the_middle(self, script, settings, tmp_path, eval_rows, hub):
        configure(settings, eval_rows, hub, "supabase")
        for number in range(3):
            run = AuditedRun(tmp_path, f"small_bench_real-model-8B_{number}")
            run.row(eval_rows, id=_own_id(run))
            run.upload(hub)
        eval_rows.load()
        seen = eval_rows.standin.seen
        eval_rows.standin.fault = lambda request: Answer(0) if len(seen) > 4 else None
        settings.setattr(
            "benchwright.audit.command.open_database", lambda choice, values: open_database(choice, values, SOON)
        )
        answer = script.answer("--jobs-root", run.folder.parent)
        verdicts = sorted(one["verdict"] for one in answer["data"]["evals"])
        assert answer["exit"] == 4
        assert [problem["code"] for problem in answer["problems"]] == ["database-unavailable"]
        assert verdicts == ["STOP"] * 3

    def test_a_hub_that_limits_and_one_that_refuses(self, script, sources, tmp_path, eval_rows, hub):
        run = AuditedRun(tmp_path)
        registered(run, eval_rows, hub)
        hub.fault = lambda request: refusal(403)
        answer = script.answer(run.folder)
        assert (answer["exit"], answer["problems"][0]["code"]) == (3, "hub-refused")
        assert answer["data"]["evals"][0]["verdict"] == "STOP"

    def test_a_repo_by_name_that_is_refused_is_no_matter_where_the_linked_one_is_there(
        self, script, sources, tmp_path, eval_rows, hub
    ):
        run = AuditedRun(tmp_path)
        registered(run, eval_rows, hub)
        hub.fault = lambda request: refusal(403) if f"{run.tag}/" in request.path else None
        answer = script.answer(run.folder)
        assert (answer["exit"], answer["data"]["evals"][0]["verdict"]) == (0, "OK")


class TestUsage:
    def test_every_mistake_is_told_at_once(self, script, tmp_path):
        (tmp_path / "log").write_text("r1 because\n")
        answer = script.answer(
            "--jobs-root", tmp_path / "none", "--profile", "mine", "--grandfather", tmp_path / "log"
        )  # fmt: skip
        assert answer["exit"] == 2
        assert [problem["code"] for problem in answer["problems"]] == ["unknown-profile", "grandfather", "usage"]

    @pytest.mark.parametrize(
        ("words", "where"),
        [
            ((), ["JOB_DIR"]),
            (("x", "--facts", "f"), ["--facts", "--benchmarks"]),
            (("x", "--report", "r.pdf"), ["--report"]),
            (("x", "--cache", "c"), ["--no-cache"]),
        ],
    )
    def test_options_go_together_or_not(self, script, words, where):
        answer = script.answer(*words)
        assert (answer["exit"], [problem["where"] for problem in answer["problems"]]) == (2, where)

    def test_facts_are_not_gathered_again(self, judged, tmp_path):
        more = ("--benchmarks", "b", "--since", "2026-09-01", "--db", "postgres", "--slurm", "--cache", "c")
        answer = judged(tmp_path / "f", *more)
        said = [(problem["where"], problem["found"]) for problem in answer["problems"]]
        assert (answer["exit"], said) == (2, [(word, "beside --facts") for word in more if word.startswith("--")])

    def test_a_day_that_no_calendar_has(self, script, capsys):
        with pytest.raises(SystemExit) as left:
            script.run("x", "--since", "2026-13-01")
        assert left.value.code == 2
        said = "argument --since: '2026-13-01', expected a day such as 2026-06-03, or 2026-06-03T12:00"
        assert said in capsys.readouterr().err

    def test_two_databases_need_a_choice(self, script, sources, settings, tmp_path):
        settings.setenv("SUPABASE_URL", "http://127.0.0.1:1")
        answer = script.answer(AuditedRun(tmp_path).folder)
        assert (answer["exit"], answer["problems"][0]["code"]) == (2, "several-databases")


def test_a_decision_on_record_spares_a_row(script, sources, tmp_path, eval_rows, hub):
    run = AuditedRun(tmp_path, kinds=BAD)
    registered(run, eval_rows, hub)
    log = tmp_path / "decisions.log"
    log.write_text(f"# on record\n\n{run.aggregate['id'].upper()} 2026-09-02 ada: pushed before the gate\n")
    (one,) = script.answer(run.folder, "--grandfather", log)["data"]["evals"]
    assert one["verdict"] == "RESUME"
    assert [(row["advice"], row["why"]) for row in one["rows"]] == [("keep", "spared by a logged decision")]


def test_a_decision_spares_a_row_of_a_file_of_facts_too(script, judged, sources, tmp_path, eval_rows, hub):
    run = AuditedRun(tmp_path, kinds=BAD)
    registered(run, eval_rows, hub)
    script.answer(run.folder, "--dump-facts", tmp_path / "facts.json")
    (tmp_path / "log").write_text(f"{run.aggregate['id'].upper()} 2026-09-02 ada: pushed before the gate\n")
    verdicts = [
        judged(tmp_path / "facts.json", *words)["data"]["evals"][0]["verdict"]
        for words in ((), ("--grandfather", tmp_path / "log"), ("--profile", "seven"))
    ]
    assert verdicts == ["DEREGISTER+RESUME", "RESUME", "DEREGISTER+RESUME"]
    (tmp_path / "log").write_text("r1 because\n")
    answer = judged(tmp_path / "facts.json", "--grandfather", tmp_path / "log", "--profile", "five")
    assert (answer["exit"], [problem["code"] for problem in answer["problems"]]) == (2, ["facts", "grandfather"])


def test_a_manifest_says_what_folders_do_not(script, sources, tmp_path, eval_rows, hub):
    run = AuditedRun(tmp_path, model=None)
    run.row(eval_rows, id="7d2a0dd0-0000-4000-8000-000000000001", job_name="x", hf_traces_link=None)
    eval_rows.load()
    hub.add("elsewhere/a-name-of-its-own", sorted(run.truth.states))
    (tmp_path / "runs.csv").write_text(
        "job_dir,model,row_id,traces\n"
        f"{run.tag},{MODEL},7d2a0dd0-0000-4000-8000-000000000001,elsewhere/a-name-of-its-own\n"
        "gone,,,\n"
    )
    words = ("--manifest", tmp_path / "runs.csv", "--jobs-root", run.folder.parent)
    answer = script.answer(*words)
    found = {one["run_tag"]: one for one in answer["data"]["evals"]}
    assert found[run.tag]["verdict"] == "LINK"
    link = found[run.tag]["actions"][0]["command"]
    assert "--link https://huggingface.co/datasets/elsewhere/a-name-of-its-own" in link
    assert (found["gone"]["verdict"], found["gone"]["checks"]["trials"]["status"]) == ("STOP", "unknown")


def test_runs_without_a_sign_since_are_left_out_and_told(script, tmp_path):
    run = AuditedRun(tmp_path)
    words = ("--jobs-root", run.folder.parent, "--no-hub", "--db", "none")
    assert len(script.answer(*words, "--since", "2026-09-01")["data"]["evals"]) == 1
    answer = script.answer(*words, "--since", "2026-09-03")
    (problem,) = answer["problems"]
    assert (answer["exit"], answer["summary"]) == (0, "0 evals: nothing to audit")
    assert (problem["code"], problem["where"]) == ("left-out", "--since")
    assert problem["found"] == f"1 run left out: {run.tag}"


def test_what_is_named_is_audited_whenever_it_was(script, tmp_path):
    run = AuditedRun(tmp_path)
    (tmp_path / "runs.csv").write_text(f"job_dir\n{run.folder}\n")
    for words in ((run.folder,), ("--manifest", tmp_path / "runs.csv"), (run.folder, "--jobs-root", run.folder.parent)):
        answer = script.answer(*words, "--since", "2026-09-03", "--no-hub", "--db", "none")
        assert ([one["run_tag"] for one in answer["data"]["evals"]], answer["problems"]) == ([run.tag], [])


def test_the_report_is_written_in_the_form_that_its_name_asks_for(script, tmp_path):
    run = AuditedRun(tmp_path)
    for name, start in (("report.md", "# Audit of 1 eval"), ("report.html", "<!doctype html>")):
        script.answer(run.folder, "--no-hub", "--db", "none", "--report", tmp_path / name)
        text = (tmp_path / name).read_text()
        assert text.lower().startswith(start.lower())
        assert run.tag in text
    assert "task__0000" in text  # the heat map has the tasks


def test_a_look_is_remembered_outside_of_the_folder(capsys, settings, tmp_path):
    run = AuditedRun(tmp_path)
    script = Script.named("eval/audit_evals", capsys, "--no-hub", "--db", "none", "--cache", tmp_path / "cache")
    first = script.answer(run.folder)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert script.answer(run.folder) == first
    inside = Script.named("eval/audit_evals", capsys, "--no-hub", "--db", "none", "--cache", run.folder / "cache")
    assert inside.answer(run.folder)["exit"] == 2


@pytest.mark.parametrize("option", ["--dump-facts", "--report", "--out"])
@pytest.mark.parametrize("named", ["JOB_DIR", "shard", "--jobs-root", "--manifest", "--facts"])
def test_nothing_is_written_into_a_job(capsys, settings, tmp_path, named, option):
    script = Script.named("eval/audit_evals", capsys, "--no-cache")
    run = AuditedRun(tmp_path)
    if named == "shard":
        run.folder.rename(run.folder.with_name("run_shard0"))
    folder = next(run.folder.parent.iterdir())
    (tmp_path / "runs.csv").write_text(f"job_dir\n{folder}\n")
    (tmp_path / "facts.json").write_text(json.dumps([{"run_tag": run.tag, "folder": str(folder)}]))
    words = {
        "JOB_DIR": (folder,),
        "shard": (folder.with_name("run"),),
        "--jobs-root": ("--jobs-root", folder.parent),
        "--manifest": ("--manifest", tmp_path / "runs.csv"),
        "--facts": ("--facts", tmp_path / "facts.json"),
    }[named]
    before = snapshot(folder)
    (tmp_path / "link").symlink_to(folder)
    name = "report.md" if option == "--report" else "result.json"
    for target in (folder / name, tmp_path / "link" / "deeper" / name):
        answer = script.answer(*words, option, target)
        (problem,) = answer["problems"]
        assert (answer["exit"], problem["where"], problem["found"]) == (2, option, str(target))
        assert problem["expected"] == f"a file outside of {folder}"
    assert snapshot(folder) == before


def test_what_is_beside_a_job_in_the_folder_that_names_it_is_outside_of_it(capsys, settings, tmp_path):
    script = Script.named("eval/audit_evals", capsys, "--no-cache", "--no-hub", "--db", "none")
    folder = AuditedRun(tmp_path).folder
    wrap = tmp_path / folder.name
    wrap.mkdir()
    folder.rename(wrap / folder.name)
    answer = script.answer(wrap, "--out", wrap / "audit.json")
    assert (answer["exit"], (wrap / "audit.json").is_file()) == (1, True)
    problem = script.answer(wrap, "--out", wrap / folder.name / "audit.json")["problems"][0]
    assert problem["expected"] == f"a file outside of {wrap / folder.name}"


@pytest.mark.parametrize("folder", ["/", "gone"])
def test_facts_of_a_folder_that_is_none_here_forbid_no_file(capsys, settings, tmp_path, folder):
    script = Script.named("eval/audit_evals", capsys)
    (tmp_path / "facts.json").write_text(json.dumps([{"run_tag": "run", "folder": str(tmp_path / folder)}]))
    answer = script.answer("--facts", tmp_path / "facts.json", "--out", tmp_path / "gone" / "audit.json")
    assert (answer["exit"], (tmp_path / "gone" / "audit.json").is_file()) == (1, True)


def test_folders_that_are_no_jobs_are_told(script, tmp_path):
    root = AuditedRun(tmp_path).folder.parent
    (root / "launched_and_failed").mkdir()
    (root / "launched_and_failed" / "meta.env").write_text("MODEL=x\n")
    (root / "logs").mkdir()
    (root / "notes.txt").write_text("x")
    words = ("--jobs-root", root, "--no-hub", "--db", "none")
    (problem,) = script.answer(*words)["problems"]
    assert (problem["code"], problem["where"]) == ("not-a-job", str(root))
    assert problem["found"] == "2 folders that are none, passed over: launched_and_failed, logs"
    (root / "logs").rmdir()
    (problem,) = script.answer(*words)["problems"]
    assert problem["found"] == "1 folder that is no Harbor job, passed over: launched_and_failed"
    shutil.rmtree(root / "launched_and_failed")
    assert script.answer(*words)["problems"] == []


def test_shards_and_copies_are_not_passed_over(script, tmp_path):
    for number in range(2):
        grow_job(tmp_path / "jobs" / f"run_shard{number}", ["pass"])
    grow_job(tmp_path / "jobs" / "copied" / "copied", ["pass"])
    assert script.answer("--jobs-root", tmp_path / "jobs", "--no-hub", "--db", "none")["problems"] == []


def test_many_evals_have_a_line_each_and_the_table_a_name_for_each_agent(script, tmp_path):
    shutil.copytree(AuditedRun(tmp_path).folder, tmp_path / "jobs" / "one")
    grow_job(tmp_path / "jobs" / 'a "name"\nof two lines', ["pass"])
    code, lines = script.run("--jobs-root", tmp_path / "jobs", "--no-hub", "--db", "none")
    assert code == 1
    assert any(line.endswith('a "name"\\nof two lines') for line in lines)
