"""Commands that an audit recommends: each is one of a real script, and does its work with what the audit was given."""

from __future__ import annotations

import shlex

import msgspec
import pytest
from test_audit_evals import configure, registered
from test_audit_rules import CASES

from audit_runs import GOOD, MODEL, NOW, AuditedRun
from benchwright.audit import judge
from benchwright.audit.facts import Given
from scripts_in_process import SCRIPTS, Script, load

HASH = "377118ff" * 5
GIVEN = Given(
    manifest="/lists/the runs.csv",
    jobs_root="/jobs",
    profile="five",
    benchmarks="/lists/benchmarks.yaml",
    grandfather="/lists/decisions.log",
    iris_jobs="/lists/jobs.csv",
    database="postgres",
    slurm=False,
    hub=False,
)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("given", [GIVEN, msgspec.structs.replace(GIVEN, database="none", slurm=True), Given()])
def test_every_script_takes_what_the_audit_was_given(name, given):
    facts, _ = CASES[name]
    for action in judge(msgspec.structs.replace(facts, given=given), now=NOW).actions:
        python, script, *words = shlex.split(action.command) or ("", "")
        if python == ".venv/bin/python":
            args = load(SCRIPTS.parent / script).build_parser().parse_args(words)
            assert getattr(args, "db", "postgres") != "none" or script.startswith("scripts/eval/")
            if getattr(args, "action", "deregister") == "deregister":  # other repairs of rows always ask the scheduler
                assert getattr(args, "slurm", given.slurm) is given.slurm
                assert getattr(args, "profile", given.profile) == given.profile


@pytest.fixture
def given(settings, eval_rows, hub, tmp_path):
    """A run of which only a manifest knows the model, a benchmark of a file, two databases, and the options for it."""
    configure(settings, eval_rows, hub)
    settings.setenv("SUPABASE_URL", "http://127.0.0.1:1")
    settings.setenv("UPLOAD_USERNAME", "ada")
    (tmp_path / "benchmarks.yaml").write_text("small_bench: {tasks: 4}\n")
    (tmp_path / "log").write_text("r0 2026-09-02 of another run\n")
    words = {"--manifest": tmp_path / "runs.csv", "--jobs-root": tmp_path / "trace_jobs", "--profile": "five"}
    words |= {"--benchmarks": tmp_path / "benchmarks.yaml", "--grandfather": tmp_path / "log", "--db": "postgres"}
    return [word for pair in words.items() for word in pair] + ["--no-slurm"]


def audited(given, capsys, run, **more):
    columns = {"job_dir": run.tag, "model": MODEL, **more}
    (run.root / "runs.csv").write_text(f"{','.join(columns)}\n{','.join(columns.values())}\n")
    (one,) = Script.named("eval/audit_evals", capsys, "--no-cache").answer(*given)["data"]["evals"]
    return one


def ran(command, capsys):
    """What a printed command answers, as it stands."""
    python, script, *words = shlex.split(command)
    assert python == ".venv/bin/python"
    return Script.named(script.removeprefix("scripts/").removesuffix(".py"), capsys).answer(*words)


class TestAsItStands:
    def test_a_name_is_mended(self, given, capsys, tmp_path, eval_rows, hub):
        run = AuditedRun(tmp_path, model=None)
        registered(run, eval_rows, hub, benchmark=HASH)
        one = audited(given, capsys, run)
        assert one["verdict"] == "FIX_BENCH"
        answer = ran(one["actions"][0]["command"], capsys)
        assert (answer["exit"], len(answer["data"]["changes"])) == (0, 3)
        done = ran(shlex.join([".venv/bin/python", "scripts/database/repair_registration.py",
            *shlex.split(answer["next"][0])[2:]]), capsys)  # fmt: skip
        assert (done["exit"], done["problems"]) == (0, [])
        assert audited(given, capsys, run)["verdict"] == "OK"

    def test_a_run_is_registered(self, given, capsys, tmp_path, eval_rows, hub):
        run = AuditedRun(tmp_path, model=None)
        run.upload(hub)
        one = audited(given, capsys, run)
        assert one["verdict"] == "UPLOAD"
        answer = ran(one["actions"][0]["command"], capsys)
        assert (answer["exit"], answer["problems"], answer["data"]["plan"]["model"]) == (0, [], MODEL)
        (again,) = answer["next"]
        words = shlex.split(again)
        script = Script.named("database/manual_db_eval_push", capsys)
        pushed = script.answer(*words[2:])
        assert (pushed["exit"], pushed["problems"]) == (0, [])
        (after,) = pushed["next"]
        checked = Script.named("eval/audit_evals", capsys, "--no-cache").answer(*shlex.split(after)[2:])
        assert [found["verdict"] for found in checked["data"]["evals"]] == ["OK"]

    def test_a_score_that_one_profile_alone_refuses_goes_by_that_profile(self, given, capsys, tmp_path, eval_rows, hub):
        run = AuditedRun(tmp_path, model=None, kinds=(*GOOD[:10], "verifier-runtime", "verifier-runtime"))
        registered(run, eval_rows, hub)
        one = audited(given, capsys, run)
        assert one["verdict"] == "DEREGISTER+RESUME"
        deregister, resume = (action["command"] for action in one["actions"][:2])
        answer = ran(deregister, capsys)
        assert (answer["exit"], len(answer["data"]["changes"])) == (0, 1)
        assert ran(resume, capsys)["exit"] == 0
