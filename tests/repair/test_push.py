"""A push over both backends: the first one, the next one, the completion of a row, and what it leaves alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from push_runs import NOW, Pusher, StandInUploader, no_progress, said

from audit_runs import BENCHMARK, GOOD, MODEL, ORG, SERVED, AuditedRun, settle
from benchwright.audit.manifest import NO_HINT
from benchwright.contract import DRY_RUN, Exit
from benchwright.rehearsal.harbor_jobs import JobShape
from benchwright.repair.push.names import made_id
from benchwright.repair.push.options import PushOptions, audited
from eval_databases import numbered
from trace_jobs import TALK

LINK = f"https://huggingface.co/datasets/{ORG}/small_bench_real-model-8B_20260901-traces"
ERRED = (*GOOD[:11], "no-sandbox")
"""One of twelve trials ended without a reward, for nothing."""


@pytest.fixture
def pusher(backend, eval_rows, hub, settings, tmp_path):
    return Pusher(eval_rows, hub, settings, tmp_path, backend)


def test_a_first_push_registers_everything(pusher, tmp_path):
    pusher.with_a_scheduler()
    run = AuditedRun(tmp_path, kinds=ERRED, slurm_id="4711")
    outcome = pusher.push(run, skip_hf=False)
    assert said(outcome) == []
    assert (outcome.exit, outcome.data["applied"]) == (Exit.DONE, True)
    (agent,), (model,), (benchmark,) = map(pusher.table, ("agents", "models", "benchmarks"))
    assert (agent["name"], model["name"], benchmark["name"]) == ("terminus-2", MODEL, BENCHMARK)
    assert (model["created_by"], model["weights_location"]) == ("ada", f"https://huggingface.co/{MODEL}")
    assert (model["is_external"], model["training_parameters"]) == (True, {})
    (job,) = pusher.table("sandbox_jobs")
    assert str(job["id"]) == run.aggregate["id"]
    assert (job["agent_id"], job["model_id"], job["benchmark_id"]) == (agent["id"], model["id"], benchmark["id"])
    assert (job["username"], job["job_name"], job["job_status"]) == ("ada", run.tag, "Finished")
    assert (job["n_trials"], job["n_rep_eval"], job["slurm_job_id"]) == (12, 3, "4711")
    assert job["hf_traces_link"] == LINK
    accuracy, error = job["metrics"]
    assert accuracy == {"name": "accuracy", "value": pytest.approx(4 / 12)}
    assert error["name"] == "accuracy_stderr"
    assert job["started_at"] == datetime(2026, 9, 1, 10, tzinfo=UTC)
    assert job["config"]["jobs_dir"] == "<path>"
    rewards = {trial["trial_name"]: trial["reward"] for trial in pusher.table("sandbox_trials")}
    assert rewards.keys() == run.truth.states.keys()
    assert sorted(rewards.values(), key=str) == [Decimal("0.0")] * 7 + [Decimal("1.0")] * 4 + [None]
    (erred,) = [trial for trial in pusher.table("sandbox_trials") if trial["reward"] is None]
    assert erred["exception_info"]["exception_type"] == "DaytonaError"
    assert (erred["trial_uri"], erred["job_id"]) == (LINK, job["id"])
    assert pusher.count()["sandbox_tasks"] == pusher.count()["sandbox_benchmark_tasks"] == 4
    usage = pusher.table("sandbox_trial_model_usage")
    assert len(usage) == 11  # no token was counted for the one without a sandbox
    assert {(one["model_id"], one["model_provider"]) for one in usage} == {(model["id"], "hosted_vllm")}


def test_a_second_push_writes_nothing(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run, skip_hf=False)
    before = pusher.rows.everything()
    pusher.rows.standin.seen.clear()
    again = pusher.push(run, skip_hf=False)
    assert (again.exit, again.data["plan"]["changes"]) == (Exit.DONE, [])
    assert again.summary.startswith(f"{run.tag}: nothing to do, row {run.aggregate['id']} says all of it in ")
    forced = pusher.push(run, skip_hf=False, forced=True)
    assert forced.data["plan"]["changes"] == []
    assert pusher.rows.everything() == before
    assert {request.method for request in pusher.rows.standin.seen} <= {"GET"}


def test_a_dry_run_prints_every_value_and_writes_nothing(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    uploader = pusher.uploader = StandInUploader(pusher.hub, sorted(run.truth.states))
    outcome = pusher.push(run, skip_hf=False, apply=False)
    assert (outcome.exit, outcome.data["applied"]) == (Exit.DONE, False)
    assert outcome.summary.startswith(f"{DRY_RUN}; ")
    assert outcome.closing == (DRY_RUN,)
    plan = outcome.data["plan"]
    assert (plan["model"], plan["benchmark"], plan["agent"], plan["username"]) == (
        MODEL,
        BENCHMARK,
        "terminus-2",
        "ada",
    )
    assert plan["counts"] == {
        "create agents": 1,
        "create models": 1,
        "create benchmarks": 1,
        "create sandbox_tasks": 4,
        "link sandbox_benchmark_tasks": 4,
        "create sandbox_jobs": 1,
        "create sandbox_trials": 12,
        "create sandbox_trial_model_usage": 12,
        "update sandbox_jobs": 1,
    }
    assert plan["changes"][-1]["values"]["hf_traces_link"] == LINK
    assert uploader.calls == [(f"{ORG}/{run.tag}-traces", False)]
    assert set(pusher.count().values()) == {0}
    assert {request.method for request in pusher.rows.standin.seen} <= {"GET"}
    assert {request.method for request in pusher.hub.seen} == {"GET"}
    assert pusher.push(run, skip_hf=False).data["plan"] == plan


def test_traces_that_lack_valid_trials_go_up_anew_and_whole_ones_do_not(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    uploader = pusher.uploader = StandInUploader(pusher.hub, sorted(run.truth.states))
    repo = f"{ORG}/{run.tag}-traces"
    pusher.hub.add(repo, [*sorted(run.truth.states)[1:], "task__before1"])
    assert pusher.push(run, skip_hf=False).exit is Exit.DONE
    assert uploader.calls == [(repo, True)]
    assert pusher.push(run, skip_hf=False).exit is Exit.DONE
    assert uploader.calls == [(repo, True)]


def test_an_upload_alone_is_told(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run, skip_hf=False)
    repo = f"{ORG}/{run.tag}-traces"
    pusher.hub.add(repo, sorted(run.truth.states)[1:])
    assert pusher.push(run, skip_hf=False, apply=False).data["upload"] is None  # the other one left no trajectory
    talk = run.folder / sorted(run.truth.states)[0] / "agent" / "trajectory.json"
    talk.parent.mkdir()
    talk.write_text(json.dumps(TALK))
    settle(run.folder)
    row = f"row {run.aggregate['id']} says all of it in "
    dry = pusher.push(run, skip_hf=False, apply=False)
    assert dry.summary.startswith(f"{DRY_RUN}; {run.tag}: traces to {repo}; {row}")
    done = pusher.push(run, skip_hf=False)
    assert done.summary.startswith(f"{run.tag}: traces at {LINK}; {row}")
    assert (dry.data["upload"], done.data["upload"]) == (repo, LINK)


def test_a_dry_run_needs_no_settings(pusher, tmp_path):
    for name in ("DATABASE_URL", "SUPABASE_URL", "SUPABASE_ANON_KEY", "BENCHWRIGHT_OWNERS", "HF_TOKEN"):
        pusher.settings.delenv(name, raising=False)
    run = AuditedRun(tmp_path)
    outcome = pusher.push(run, apply=False)
    assert outcome.exit == Exit.DONE
    assert [problem.code for problem in outcome.problems] == ["no-credentials", "no-owners"]
    assert outcome.data["plan"]["username"] == "USERNAME"
    assert outcome.summary.endswith("in a database that has nothing of it: none was asked")
    applied = pusher.push(run)
    assert applied.exit == Exit.ENVIRONMENT
    assert [problem.code for problem in applied.problems] == ["rows-unknown", "no-credentials", "no-owners"]


@pytest.mark.parametrize("status", ["Pending", "Started"])
def test_the_row_of_the_launch_is_completed(pusher, tmp_path, status):
    pusher.with_a_scheduler()
    run = AuditedRun(tmp_path, kinds=ERRED, row_id=numbered(9))
    waiting = {"job_status": status, "metrics": None, "stats": None, "hf_traces_link": None, "n_trials": 0}
    row = run.row(pusher.rows, id=numbered(9), **waiting, n_rep_eval=0, package_version=None, git_commit_id="c0ffee")
    other = run.row(pusher.rows, id=numbered(8), username="grace", job_name="another", job_status="Failed")
    pusher.rows.load()
    (theirs,) = [one for one in pusher.table("sandbox_jobs") if str(one["id"]) == other]
    outcome = pusher.push(run, skip_hf=False)
    assert (outcome.exit, said(outcome)) == (Exit.DONE, [])
    jobs = {str(one["id"]): one for one in pusher.table("sandbox_jobs")}
    assert jobs.keys() == {row, other}
    assert jobs[other] == theirs
    assert (jobs[row]["job_status"], jobs[row]["n_trials"], jobs[row]["n_rep_eval"]) == ("Finished", 12, 3)
    assert (jobs[row]["hf_traces_link"], jobs[row]["metrics"][0]["value"]) == (LINK, pytest.approx(4 / 12))
    assert {str(trial["job_id"]) for trial in pusher.table("sandbox_trials")} == {row}
    assert pusher.count()["models"] == pusher.count()["benchmarks"] == 1
    assert pusher.push(run, skip_hf=False).data["plan"]["changes"] == []


def test_a_finished_row_without_a_link_gets_the_link_alone(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run)
    (before,) = pusher.table("sandbox_jobs")
    outcome = pusher.push(run, skip_hf=False)
    assert outcome.data["plan"]["counts"] == {"link sandbox_jobs": 1}
    assert pusher.table("sandbox_jobs") == [before | {"hf_traces_link": LINK}]


def test_rewards_that_an_older_upload_left_out_are_filled_in(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run)
    pusher.rows.execute("UPDATE sandbox_trials SET reward = NULL")
    outcome = pusher.push(run)
    assert outcome.data["plan"]["counts"] == {"update sandbox_trials": 12}
    assert sum(trial["reward"] for trial in pusher.table("sandbox_trials")) == 4


def test_what_a_finished_row_says_otherwise_stays_unless_it_is_forced(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run)
    pusher.rows.execute("""UPDATE sandbox_jobs SET metrics = '{"accuracy": 0.9}', notes = 'mine'""")
    refused = pusher.push(run)
    row = run.aggregate["id"]
    assert said(refused) == [("row-differs", f"row {row} has no score that the board can read")]
    assert (refused.exit, refused.problems[0].fix) == (Exit.REFUSED, "--forced-update writes over it")
    pusher.rows.execute("""UPDATE sandbox_jobs SET metrics = '[{"name": "accuracy", "value": 0.9}]'""")
    assert said(pusher.push(run)) == [("row-differs", f"row {row} shows 0.9000, which is no score of this run")]
    assert pusher.table("sandbox_jobs")[0]["metrics"] == [{"name": "accuracy", "value": 0.9}]
    forced = pusher.push(run, forced=True)
    assert forced.data["plan"]["counts"] == {"update sandbox_jobs": 1}
    (job,) = pusher.table("sandbox_jobs")
    assert (job["metrics"][0]["value"], job["notes"]) == (pytest.approx(4 / 12), "mine")
    assert pusher.push(run, forced=True).data["plan"]["changes"] == []


def test_another_link_of_a_row_is_written_over_by_force_alone(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run, skip_hf=False)
    run.upload(pusher.hub, f"{ORG}/elsewhere")
    row = run.aggregate["id"]
    assert said(pusher.push(run, hf_repo=f"{ORG}/elsewhere")) == [("row-differs", f"row {row} links {LINK}")]
    pusher.push(run, hf_repo=f"{ORG}/elsewhere", forced=True)
    assert pusher.table("sandbox_jobs")[0]["hf_traces_link"] == f"https://huggingface.co/datasets/{ORG}/elsewhere"


def test_rewards_as_large_as_there_are(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    aggregate = run.aggregate
    aggregate["stats"]["evals"] = {}
    (run.folder / "result.json").write_text(json.dumps(aggregate))

    def reward(number, **rewards):
        path = sorted(run.folder.glob("*/result.json"))[number]
        result = json.loads(path.read_text())
        result["verifier_result"]["rewards"] |= rewards
        path.write_text(json.dumps(result))
        settle(run.folder)

    reward(0, reward=1e308, points=1e308)
    reward(1, points=1e308)
    reward(2, points=1e308)
    outcome = pusher.push(run)
    assert (outcome.exit, said(outcome)) == (Exit.DONE, [])
    (job,) = pusher.table("sandbox_jobs")
    values = {one["name"]: float(one["value"]) for one in job["metrics"]}
    assert (values["accuracy"], values["rewards.points"]) == (pytest.approx(1e308 / 12), pytest.approx(1e308 / 4))
    assert pusher.push(run).summary.startswith(f"{run.tag}: nothing to do")
    reward(1, reward=1e308)
    outcome = pusher.push(run)
    assert (outcome.exit, said(outcome)) == (
        Exit.REFUSED,
        [("score-unknown", "the sum of its rewards is larger than any number that is kept, and no score")],
    )


def test_names_that_are_there_are_not_made_again(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    original = pusher.rows.model(MODEL)
    pusher.rows.model(MODEL, duplicate_of=original)
    pusher.rows.model(f"hosted_vllm/{MODEL}")
    pusher.rows.model(SERVED)
    benchmark, agent = pusher.rows.benchmark("Small_Bench"), pusher.rows.agent()
    pusher.rows.load()
    outcome = pusher.push(run)
    assert outcome.exit == Exit.DONE
    (job,) = pusher.table("sandbox_jobs")
    assert [str(job[f"{noun}_id"]) for noun in ("model", "benchmark", "agent")] == [original, benchmark, agent]
    assert pusher.count()["models"] == 4
    assert pusher.count()["sandbox_benchmark_tasks"] == 0  # the benchmark is somebody's, and so are its tasks


def test_which_of_several_models_is_meant_is_not_guessed(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    ids = sorted([pusher.rows.model(MODEL), pusher.rows.model(MODEL)])
    pusher.rows.load()
    outcome = pusher.push(run)
    assert (outcome.exit, said(outcome)) == (
        Exit.REFUSED,
        [("several-rows", f"rows {ids[0]}, {ids[1]} of models are all called that")],
    )
    assert pusher.count()["sandbox_jobs"] == 0


def test_another_version_of_a_task_is_told_apart(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    task = {"checksum": "0ld", "name": "task__0001", "source": BENCHMARK, "path": "p"}
    pusher.rows.rows["sandbox_tasks"] = [task | {"agent_timeout_sec": 1, "verifier_timeout_sec": 1}]
    pusher.rows.load()
    assert pusher.push(run).exit == Exit.DONE
    found = {(task["source"], task["name"]): task["checksum"] for task in pusher.table("sandbox_tasks")}
    (source,) = {source for source, name in found if name == "task__0001"} - {BENCHMARK}
    assert source == f"{BENCHMARK}@{found[source, 'task__0001'][:12]}"
    assert pusher.push(run).data["plan"]["changes"] == []


def test_sql_and_odd_characters_are_data(pusher, tmp_path):
    run = AuditedRun(tmp_path, tag="x'; DROP TABLE sandbox_jobs; --")
    for path in sorted(run.folder.glob("*/result.json"))[:1]:
        result = json.loads(path.read_text())
        result["exception_info"] = {
            "exception_type": "AgentTimeoutError",
            "exception_message": "half a pair \ud83d, a NUL \0, it's",
            "exception_traceback": 'File "/home/someone/run.py", line 1',
        }
        result["config"]["agent"]["kwargs"] = {
            "api_base": "http://node17.cluster:18000/v1",
            "api_key": "abcdefgh12345678",
            "temperature": float("nan"),
        }
        path.write_text(json.dumps(result))
    settle(run.folder)
    agent = 'a"); DELETE FROM agents; --'
    outcome = pusher.push(run, agent=agent)
    assert (outcome.exit, said(outcome)) == (Exit.DONE, [])
    assert [one["name"] for one in pusher.table("agents")] == [agent]
    assert pusher.table("sandbox_jobs")[0]["job_name"] == run.tag
    odd = next(one for one in pusher.table("sandbox_trials") if one["trial_name"] == path.parent.name)
    assert odd["exception_info"]["exception_message"] == "half a pair \ufffd, a NUL \ufffd, it's"
    assert odd["exception_info"]["exception_traceback"] == 'File "<path>", line 1'
    kwargs = odd["config"]["agent"]["kwargs"]
    assert kwargs == {"api_base": "http://<host>/v1", "api_key": "[hidden]", "temperature": "NaN"}
    assert pusher.push(run, agent=agent).data["plan"]["changes"] == []


def test_trials_that_a_resume_replaced_go_by_force_alone(pusher, tmp_path):
    pusher.rows.install_functions()
    run = AuditedRun(tmp_path)
    pusher.push(run)
    (job,) = pusher.table("sandbox_jobs")
    checksum, (model,) = pusher.table("sandbox_tasks")[0]["checksum"], pusher.table("models")
    other = run.row(pusher.rows, id=numbered(8), username="ada", job_name="another")
    for id, row in ((numbered(5), str(job["id"])), (numbered(6), other)):
        trial = {"id": id, "trial_name": "old__1234567", "trial_uri": "u", "job_id": row, "config": {}}
        pusher.rows.rows.setdefault("sandbox_trials", []).append(trial | {"task_checksum": checksum})
        usage = {"trial_id": id, "model_id": str(model["id"]), "model_provider": "p"}
        pusher.rows.rows.setdefault("sandbox_trial_model_usage", []).append(usage)
    pusher.rows.rows = {name: pusher.rows.rows[name] for name in pusher.rows.rows if name.startswith("sandbox_")}
    names = {"model_id": str(model["id"]), "agent_id": str(job["agent_id"]), "benchmark_id": numbered(9)}
    pusher.rows.rows["sandbox_jobs"][0] |= names
    pusher.rows.rows["benchmarks"] = [{"id": numbered(9), "name": "another_bench"}]
    pusher.rows.load()
    before = pusher.count()
    told = pusher.push(run)
    assert (told.exit, told.data["plan"]["changes"], pusher.count()) == (Exit.DONE, [], before)
    assert said(told) == [("left-over-trials", "the row keeps 1 trial that the run has no more: old__1234567")]
    assert told.problems[0].fix == "--forced-update removes them"
    dry = pusher.push(run, forced=True, apply=False)
    assert dry.data["plan"]["counts"] == {"delete sandbox_trials": 1}
    assert dry.details[-1] == f"delete sandbox_trials {numbered(5)}, with its usage: old__1234567"
    assert pusher.count() == before
    done = pusher.push(run, forced=True)
    assert (done.exit, said(done)) == (Exit.DONE, [])
    assert done.summary.startswith(f"{run.tag}: row {job['id']} of ada, 1 change in ")
    left = {name: number - (name in ("sandbox_trials", "sandbox_trial_model_usage")) for name, number in before.items()}
    assert pusher.count() == left
    assert numbered(6) in {str(trial["id"]) for trial in pusher.table("sandbox_trials")}  # of another row
    assert pusher.push(run, forced=True).data["plan"]["changes"] == []


def test_a_trial_in_the_folder_stays_though_the_score_is_without_it(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.push(run)
    (first, *_) = pusher.table("sandbox_trials")
    pusher.rows.execute(f"DELETE FROM sandbox_trial_model_usage WHERE trial_id = '{first['id']}'")
    pusher.rows.execute(f"UPDATE sandbox_trials SET id = '{numbered(5)}' WHERE id = '{first['id']}'")
    forced = pusher.push(run, forced=True)
    assert forced.data["plan"]["counts"] == {"create sandbox_trials": 1, "create sandbox_trial_model_usage": 1}


def test_a_benchmark_that_an_interrupted_push_made_gets_its_tasks(pusher, tmp_path):
    pusher.rows.benchmark(BENCHMARK, id=made_id("benchmarks", BENCHMARK))
    pusher.rows.load()
    assert pusher.push(AuditedRun(tmp_path)).exit == Exit.DONE
    assert pusher.count()["sandbox_benchmark_tasks"] == 4


def test_of_several_evals_each_that_is_named_gets_a_row(pusher, tmp_path):
    run = AuditedRun(tmp_path, shape=JobShape(source=BENCHMARK, attempts=6), kinds=GOOD * 2)
    config = json.loads((run.folder / "config.json").read_text())
    config |= {"n_attempts": 3, "agents": [*config["agents"], config["agents"][0] | {"name": "openhands"}]}
    (run.folder / "config.json").write_text(json.dumps(config))
    aggregate = run.aggregate
    aggregate["stats"]["evals"] = {}
    (run.folder / "result.json").write_text(json.dumps(aggregate))
    for path in sorted(run.folder.glob("*/result.json"))[::2]:
        result = json.loads(path.read_text())
        result["agent_info"]["name"] = "openhands"
        path.write_text(json.dumps(result))
    settle(run.folder)
    outcome = pusher.push(run, agent="openhands")
    assert (outcome.exit, said(outcome)) == (Exit.DONE, [])
    assert (pusher.count()["sandbox_jobs"], pusher.count()["sandbox_trials"]) == (1, 12)
    other = pusher.push(run, agent="terminus-2")
    assert (other.exit, said(other)) == (Exit.DONE, [])
    legs = audited_legs(pusher, run)
    assert {str(job["id"]) for job in pusher.table("sandbox_jobs")} == {*legs[0].run.eval_ids.values()}
    for leg in legs:
        assert leg.facts.rows is not None
        assert {row.agent for row in leg.facts.rows if row.of_run == "yes"} == {leg.facts.agent}
        assert {row.of_run for row in leg.facts.rows} == {"yes", "no"}
        assert pusher.push(run, agent=leg.facts.agent).data["plan"]["changes"] == []


def test_a_row_of_another_id_is_the_runs_by_its_trials(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,row_id\n{run.folder},{numbered(7)}\n")
    assert pusher.push(run, manifest=manifest).exit is Exit.DONE
    (leg,) = audited_legs(pusher, run)
    assert [(row.id, row.of_run) for row in leg.facts.rows or ()] == [(numbered(7), "yes")]
    assert pusher.push(run).data["plan"]["changes"] == []
    pusher.rows.execute("DELETE FROM sandbox_trial_model_usage")
    pusher.rows.execute(
        f"UPDATE sandbox_trials SET id = '{numbered(8)}' WHERE id = (SELECT id FROM sandbox_trials ORDER BY 1 LIMIT 1)"
    )
    (leg,) = audited_legs(pusher, run)
    assert [row.of_run for row in leg.facts.rows or ()] == ["maybe"]


def audited_legs(pusher, run):
    """The evals of a run, as an audit without a manifest has them."""
    asked = PushOptions(place=str(run.folder), skip_hf=True, benchmarks=pusher.root / "benchmarks.yaml")
    return audited(asked, NO_HINT, now=NOW, talk=lambda text: None, progress=no_progress).legs


def test_the_launchs_configuration_and_version_stay(pusher, tmp_path):
    run = AuditedRun(tmp_path, shape=JobShape(source=BENCHMARK, version="0.1"))
    config = {"timeout_multiplier": 2.0, "notes": "x" * 20_000}
    waiting = {"job_status": "Started", "metrics": None, "stats": None, "hf_traces_link": None, "n_trials": 32}
    run.row(pusher.rows, id=run.aggregate["id"], **waiting, config=config)
    pusher.rows.load()
    assert pusher.push(run).exit == Exit.DONE
    (job,) = pusher.table("sandbox_jobs")
    assert (job["config"], job["package_version"], job["n_trials"]) == (config, "0.25.0", 12)


def test_a_row_of_the_launch_alone_gets_a_version(pusher, tmp_path):
    run = AuditedRun(tmp_path, shape=JobShape(source=BENCHMARK, version="0.1"))
    waiting = {"job_status": "Pending", "metrics": None, "stats": None, "hf_traces_link": None, "n_trials": 0}
    run.row(pusher.rows, id=run.aggregate["id"], **waiting, package_version=None)
    pusher.rows.load()
    assert pusher.push(run).exit == Exit.DONE
    assert pusher.table("sandbox_jobs")[0]["package_version"] == "unknown"
