"""Everything that a push refuses, to the letter; whatever it refuses, no row of anybody is another afterwards."""

from __future__ import annotations

import json

import pytest
from push_runs import Pusher, StandInUploader, said

from audit_runs import BENCHMARK, GOOD, MODEL, ORG, SERVED, AuditedRun, settle
from benchwright.contract import Exit
from benchwright.evaldb.postgres_writer import PostgresWriter
from benchwright.evaldb.supabase_writer import SupabaseWriter
from benchwright.harbor import read_job
from benchwright.rehearsal.harbor_jobs import JobShape
from benchwright.repair.push.score import stats_of_trials
from eval_databases import numbered

HASH = "377118ff" * 5
USE = "SUPABASE_SERVICE_ROLE_KEY, or DATABASE_URL"
REPAIR = ".venv/bin/python scripts/database/repair_registration.py"


@pytest.fixture
def pusher(eval_rows, hub, settings, tmp_path):
    return Pusher(eval_rows, hub, settings, tmp_path, "postgres")


def refused(pusher, run, **options):
    """The problems of a push that has to be refused, having written nothing; a dry run tells the same."""
    before = pusher.rows.everything()
    dry = pusher.push(run, apply=False, **options)
    outcome = pusher.push(run, **options)
    assert pusher.rows.everything() == before
    assert (said(dry), dry.exit) == (said(outcome), outcome.exit)
    assert outcome.exit == Exit.REFUSED, said(outcome)
    return said(outcome)


def test_more_than_a_tenth_of_errors(pusher, tmp_path):
    run = AuditedRun(tmp_path, kinds=(*GOOD[:10], "no-sandbox", "no-key"))
    told = "2 of 12 trials have errors that count, 16.7 %"
    assert refused(pusher, run) == [("error-fraction", told)]
    for forced in ({"forced": True}, {"grandfather": log(tmp_path, run.aggregate["id"])}):
        assert refused(pusher, run, **forced) == [("error-fraction", told)]
    outcome = pusher.push(run)
    assert outcome.data["run"]["error_fraction"] == pytest.approx(2 / 12)
    assert outcome.next == [".venv/bin/python scripts/eval/prepare_resume.py " + str(run.folder)]


def log(folder, row):
    path = folder / "decisions.log"
    path.write_text(f"{row} 2026-09-01 the paper has it\n")
    return path


def test_exactly_a_tenth_passes_though_a_resume_is_advised(pusher, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(f"{BENCHMARK}: {{tasks: 10}}\n")
    run = AuditedRun(tmp_path, kinds=(*("pass", "fail", "fail") * 9, *("not-verified",) * 3))
    assert pusher.push(run).exit == Exit.DONE
    assert len([trial for trial in pusher.table("sandbox_trials") if trial["reward"] is None]) == 3


def test_fewer_than_nine_tenths_of_the_trials(pusher, tmp_path):
    run = AuditedRun(tmp_path, kinds=(*GOOD[:10], "unfinished", "unfinished"))
    assert refused(pusher, run) == [("coverage", "10 of 12 planned trials say how they ended")]


def test_a_run_of_fewer_trials_than_its_benchmark_has(pusher, tmp_path):
    run = AuditedRun(tmp_path, kinds=GOOD[:9])
    told = "the run planned 9 trials, and 12 were to be expected"
    assert refused(pusher, run) == [("plan-doubtful", told)]


def test_a_zero_without_a_trial_that_reached_the_model(pusher, tmp_path):
    run = AuditedRun(tmp_path, kinds=("exit-code-scored",) * 12)
    for path in run.folder.glob("*/result.json"):
        result = json.loads(path.read_text())
        result["verifier_result"]["rewards"]["reward"] = 0.0
        result |= {"agent_result": None, "agent_execution": None}
        path.write_text(json.dumps(result))
    result = run.aggregate
    next(iter(result["stats"]["evals"].values()))["metrics"] = [{"mean": 0.0}]
    (run.folder / "result.json").write_text(json.dumps(result))
    settle(run.folder)
    assert refused(pusher, run) == [("zero-unproved", "the score is 0, and its trials never reached the model")]


def test_a_row_of_somebody_else(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    run.row(pusher.rows, id=run.aggregate["id"], username="grace", job_status="Started", metrics=None, stats=None)
    pusher.rows.load()
    told = ("not-yours", f"row {run.aggregate['id']} of this run is grace's")
    assert refused(pusher, run) == [told]
    assert refused(pusher, run, forced=True) == [told]


def test_a_pair_that_a_good_row_serves(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    row = run.row(pusher.rows, username="grace", job_name="another")
    pusher.rows.load()
    told = f"row {row} of grace serves this agent, model and benchmark with 0.3333"
    assert refused(pusher, run, forced=True) == [("pair-served", told)]


@pytest.mark.parametrize("mine", [{"job_status": "Started"}, {"job_status": "Pending"}, {}])
def test_a_row_without_a_score_beside_one_that_serves_the_pair(pusher, tmp_path, mine):
    run = AuditedRun(tmp_path)
    row = run.row(pusher.rows, username="grace", job_name="another")
    run.row(pusher.rows, id=run.aggregate["id"], metrics=None, stats=None, hf_traces_link=None, **mine)
    pusher.rows.load()
    pusher.with_a_scheduler()
    told = f"row {row} of grace serves this agent, model and benchmark with 0.3333"
    assert refused(pusher, run, forced=True) == [("pair-served", told)]


def test_a_link_to_a_finished_row_beside_another_one_gives_the_pair_no_second_score(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    run.row(pusher.rows, username="grace", job_name="another")
    own = run.row(pusher.rows, id=run.aggregate["id"], hf_traces_link=None)
    pusher.rows.load()
    outcome = pusher.push(run, skip_hf=False)
    assert (said(outcome), outcome.exit) == ([], Exit.DONE)
    (linked,) = [job for job in pusher.table("sandbox_jobs") if str(job["id"]) == own]
    assert linked["hf_traces_link"] is not None


class WhileTheTracesGoUp(StandInUploader):
    """An upload during which somebody else writes a statement."""

    statement = ""
    rows = None

    def upload(self, folder, repo, *, apply):
        link = super().upload(folder, repo, apply=apply)
        if apply:
            self.rows.execute(self.statement)
        return link


@pytest.mark.parametrize("backend", ["postgres", "supabase"])
@pytest.mark.parametrize(
    ("statement", "code", "found"),
    [
        (
            "UPDATE sandbox_jobs SET job_status = 'Finished' WHERE username = 'grace'",
            "pair-served",
            "row {other} of grace serves this agent, model and benchmark with 0.3333",
        ),
        (
            "UPDATE sandbox_jobs SET model_id = (SELECT id FROM models WHERE name ~ 'other') WHERE username = 'ada'",
            "contested",
            f"row {{own}} has the model org/other, not {MODEL}",
        ),
        (
            "UPDATE sandbox_jobs SET job_status = 'Failed' WHERE username = 'ada'",
            "contested",
            "row {own} has the status Failed, not Started",
        ),
        (
            "UPDATE sandbox_jobs SET username = 'ada ' WHERE username = 'ada'",
            "not-yours",
            "row {own} is ada 's, and not ada's",
        ),
    ],
)
def test_what_changes_while_traces_go_up_is_looked_at_again(
    eval_rows, hub, settings, tmp_path, backend, statement, code, found
):
    pusher = Pusher(eval_rows, hub, settings, tmp_path, backend)
    pusher.with_a_scheduler()
    run = AuditedRun(tmp_path)
    pusher.rows.model("org/other")
    other = run.row(pusher.rows, username="grace", job_name="another", job_status="Failed")
    own = run.row(pusher.rows, id=run.aggregate["id"], metrics=None, job_status="Started", hf_traces_link=None)
    pusher.rows.load()
    pusher.uploader = WhileTheTracesGoUp(hub, sorted(run.truth.states))
    pusher.uploader.rows, pusher.uploader.statement = pusher.rows, statement
    outcome = pusher.push(run, skip_hf=False)
    assert outcome.exit is Exit.REFUSED
    assert (code, found.format(own=own, other=other)) in said(outcome)
    assert pusher.count()["sandbox_trials"] == 0


def test_a_manifest_of_relative_paths_says_of_a_run_what_its_folder_does_not(pusher, tmp_path):
    run = AuditedRun(tmp_path, model=None)
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,model\nelsewhere,org/other\n{run.tag},{MODEL}\n")
    outcome = pusher.push(run, manifest=manifest, jobs_root=run.folder.parent, apply=False)
    assert (said(outcome), outcome.data["plan"]["model"]) == ([], MODEL)
    outcome = pusher.push(run, jobs_root=run.folder.parent)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("usage", "without --manifest")])


@pytest.mark.parametrize("noun", ["agent", "model", "benchmark"])
def test_a_name_with_blanks_around_it(pusher, tmp_path, noun):
    outcome = pusher.push(AuditedRun(tmp_path), **{noun: " small "})
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("usage", "' small ', with blanks around it")])
    assert outcome.problems[0].fix == f"--{noun}-name NAME"


@pytest.mark.parametrize("backend", ["postgres", "supabase"])
def test_a_row_that_becomes_anothers_before_the_first_write_gets_no_trial(eval_rows, hub, settings, tmp_path, backend):
    """Its score is there: what is missing are trials, which are put below it without a change of the row."""
    pusher = Pusher(eval_rows, hub, settings, tmp_path, backend)
    run = AuditedRun(tmp_path)
    pusher.push(run)
    pusher.rows.execute("DELETE FROM sandbox_trial_model_usage")
    pusher.rows.execute("DELETE FROM sandbox_trials")
    write = {"postgres": PostgresWriter, "supabase": SupabaseWriter}[backend].write

    def taken_before(writer, plan):
        pusher.rows.execute("UPDATE sandbox_jobs SET username = 'grace'")
        return write(writer, plan)

    for writer in (PostgresWriter, SupabaseWriter):
        settings.setattr(writer, "write", taken_before)
    outcome = pusher.push(run)
    told = ("contested", "it is grace's, and not ada's")
    assert (outcome.exit, said(outcome)) == (Exit.REFUSED, [told])
    assert pusher.count()["sandbox_trials"] == pusher.count()["sandbox_trial_model_usage"] == 0


def test_a_finished_row_of_another_run_that_a_copied_record_names(pusher, tmp_path):
    pusher.with_a_scheduler()
    run = AuditedRun(tmp_path, row_id=numbered(777), slurm_id="4711")
    row = run.row(pusher.rows, id=numbered(777), job_name="another")
    pusher.rows.load()
    found = f"row {row}, which its meta.env names, is finished and of another"
    for forced in (False, True):
        assert refused(pusher, run, forced=forced) == [("other-run", found)]
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,row_id\n{run.folder},{row}\n")
    assert pusher.push(run, manifest=manifest).exit == Exit.DONE


def test_a_finished_row_with_the_trials_of_another_run(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    row = run.row(pusher.rows, id=numbered(777), job_name="another")
    pusher.rows.trial(row, pusher.rows.task("c"))
    pusher.rows.load()
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,row_id\n{run.folder},{row}\n")
    told = ("other-run", f"row {row} is finished, and none of its 1 trial is this run's")
    for forced in (False, True):
        assert refused(pusher, run, manifest=manifest, forced=forced) == [told]


def test_another_agent_is_another_pair(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    run.row(pusher.rows, username="grace", job_name="another", agent=pusher.rows.agent("openhands"))
    pusher.rows.load()
    assert pusher.push(run).exit == Exit.DONE


def test_a_pair_is_of_the_agent_that_was_named(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    run.row(pusher.rows, username="grace", job_name="another", agent=pusher.rows.agent("terminus-2"))
    pusher.rows.load()
    assert pusher.push(run, agent="terminus-2-fork").exit == Exit.DONE


def test_a_manifest_that_does_not_list_the_run_is_no_manifest_of_it(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    manifest = tmp_path / "runs.csv"
    manifest.write_text("job_dir,row_id\nelsewhere,\n")
    outcome = pusher.push(run, manifest=manifest)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("not-listed", f"{manifest} does not list it")])


def test_no_traces_are_replaced_where_none_are_uploaded(pusher, tmp_path):
    outcome = pusher.push(AuditedRun(tmp_path), replace_traces=True)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("usage", "beside --skip-hf")])


@pytest.mark.parametrize(
    ("served", "asked"), [("Terminus-2", None), ("openhands", "openhands"), ("OpenHands", "openhands"), ("old", None)]
)
def test_a_pair_that_is_served_under_another_spelling_of_its_agent(pusher, tmp_path, served, asked):
    run = AuditedRun(tmp_path)
    agent = pusher.rows.agent(served)
    if served == "old":
        pusher.rows.agent("terminus-2", duplicate_of=agent)
    row = run.row(pusher.rows, username="grace", job_name="another", agent=agent)
    pusher.rows.load()
    told = f"row {row} of grace serves this agent, model and benchmark with 0.3333"
    assert refused(pusher, run, agent=asked) == [("pair-served", told)]


def test_a_row_that_may_be_the_runs(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    row = run.row(pusher.rows, metrics=None, job_status="Started", model="org/other")
    pusher.rows.load()
    (told,) = refused(pusher, run)
    assert told == ("rows-unclear", f"rows {row} may be of this run, and nothing says so for sure")


@pytest.mark.parametrize(
    ("names", "code", "found"),
    [
        ({"model": SERVED}, "numeric-model", f"{SERVED}, the number that a server gave the model"),
        ({"model": f"hosted_vllm/{SERVED}"}, "numeric-model",
         f"hosted_vllm/{SERVED}, the number that a server gave the model"),
        ({"benchmark": HASH}, "hash-benchmark", f"{HASH}, the version hash of a dataset"),
        ({"benchmark": "small_bench_real-model-8B_20260901"}, "run-dir-benchmark",
         "small_bench_real-model-8B_20260901, the name of a run"),
        ({"benchmark": "eval-anything"}, "run-dir-benchmark", "eval-anything, the name of a run"),
        ({"benchmark": "bench_Real_Model_8b"}, "run-dir-benchmark", "bench_Real_Model_8b, the name of a run"),
    ],
)  # fmt: skip
def test_names_that_are_none(pusher, tmp_path, names, code, found):
    assert refused(pusher, AuditedRun(tmp_path), **names, forced=True) == [(code, found)]


def test_a_benchmark_that_nothing_knows_is_not_made(pusher, tmp_path):
    """The run's own size and name may be anything; under a misspelt one no board finds its score."""
    run = AuditedRun(tmp_path)
    before = pusher.rows.everything()
    for apply in (False, True):
        outcome = pusher.push(run, benchmark="smal_bench", apply=apply)
        (problem,) = outcome.problems
        assert (outcome.exit, problem.code, problem.where) == (Exit.USAGE, "benchmark-unknown", "--benchmark-name")
        assert problem.found == "'smal_bench', which neither the database has nor a file of benchmarks"
        assert problem.fix.startswith(f"did you mean '{BENCHMARK}' or ")
        assert problem.fix.endswith("?; or describe it in a file of the form of benchmarks.yaml: --benchmarks FILE")
    assert pusher.rows.everything() == before
    pusher.rows.benchmark("smal_bench")
    pusher.rows.load()
    assert pusher.push(run, benchmark="smal_bench").exit == Exit.DONE


@pytest.mark.parametrize(
    ("wrong", "code", "found", "fix"),
    [
        ({"model": SERVED}, "numeric-model", f"names the model {SERVED}",
         f"{REPAIR} fix-model --row ROW --model-name {MODEL}"),
        ({"benchmark": HASH}, "hash-benchmark", f"names the benchmark {HASH}",
         f"{REPAIR} fix-benchmark --row ROW --benchmark-name {BENCHMARK}"),
        ({"benchmark": "small_bench_real-model-8B_20260901"}, "run-dir-benchmark",
         "names the benchmark small_bench_real-model-8B_20260901",
         f"{REPAIR} fix-benchmark --row ROW --benchmark-name {BENCHMARK}"),
        ({"model": "org/another-model"}, "other-model", "has the model org/another-model", "say which is right"),
    ],
)  # fmt: skip
def test_a_row_that_is_filed_wrongly_is_mended_first(pusher, tmp_path, wrong, code, found, fix):
    run = AuditedRun(tmp_path)
    row = run.row(pusher.rows, id=run.aggregate["id"], metrics=None, **wrong)
    pusher.rows.load()
    assert refused(pusher, run) == [(code, f"row {row} {found}")]
    more = f" --benchmarks {tmp_path / 'benchmarks.yaml'}" if "fix-benchmark" in fix else ""
    assert pusher.push(run).problems[0].fix == fix.replace("ROW", row) + more


def test_a_row_of_another_agent(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    row = run.row(pusher.rows, id=run.aggregate["id"], metrics=None, agent=pusher.rows.agent("openhands"))
    pusher.rows.load()
    assert refused(pusher, run) == [("other-agent", f"row {row} has the agent openhands, and the run terminus-2")]
    assert pusher.push(run).problems[0].fix == "if that is its name: --agent-name openhands"
    assert pusher.push(run, agent="openhands").exit == Exit.DONE


def test_trials_of_another_row(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    trial = next(iter(sorted(run.folder.glob("*/result.json"))))
    other = run.row(pusher.rows, username="grace", job_name="another", model="org/other")
    pusher.rows.add(
        "sandbox_trials",
        id=json.loads(trial.read_text())["id"],
        trial_name="t",
        trial_uri="u",
        job_id=other,
        task_checksum=pusher.rows.task("c"),
        config={},
    )
    pusher.rows.load()
    assert refused(pusher, run) == [("trials-of-another-row", f"row {other} has 1 trial of this run")]


def test_a_user_name_that_is_not_ones_own(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    outcome = pusher.push(run, username="grace")
    assert (outcome.exit, said(outcome)) == (Exit.REFUSED, [("not-yours", "grace is none of your user names")])
    pusher.settings.setenv("BENCHWRIGHT_OWNERS", "ada, ada2")
    outcome = pusher.push(run)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("usage", "you have several names: ada, ada2")])
    assert pusher.push(run, username="ada2").exit == Exit.DONE
    assert [job["username"] for job in pusher.table("sandbox_jobs")] == ["ada2"]
    assert pusher.push(run, username="ada").data["plan"]["username"] == "ada2"  # whose row it is already
    for wrong in ({"username": "grace"}, {}):
        pusher.settings.setenv("UPLOAD_USERNAME", "grace")
        assert refused(pusher, run, **wrong) == [("not-yours", "grace is none of your user names")]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ({"model": "../etc/passwd"}, "'../etc/passwd'"),
        ({"model": "org/x'); DROP TABLE models; --"}, '"org/x\'); DROP TABLE models; --"'),
        ({"agent": "half \ud800"}, "'half \\ud800', which no database holds"),
        ({"benchmark": "nul \0"}, "'nul \\x00', which no database holds"),
        ({"agent": " "}, "' ', which no database holds"),
    ],
)
def test_texts_that_are_no_names(pusher, tmp_path, names, found):
    outcome = pusher.push(AuditedRun(tmp_path), **names)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("usage", found)])


def test_names_that_cannot_be_told_are_asked_for(pusher, tmp_path):
    run = AuditedRun(tmp_path, "run-1", shape=JobShape(source="unheard-of"), model=None)
    outcome = pusher.push(run)
    assert outcome.exit == Exit.USAGE
    assert [(one.code, one.where, one.found, one.fix) for one in outcome.problems] == [
        (
            "name-unknown",
            "--model-name",
            f"no record of its launch names the model; its trials say {SERVED}, hosted_vllm/{SERVED}",
            "name it: --model-name NAME",
        ),
        (
            "name-unknown",
            "--benchmark-name",
            "its datasets are of no benchmark that is known: org/unheard-of",
            "name it: --benchmark-name NAME",
        ),
    ]
    (tmp_path / "benchmarks.yaml").write_text("unheard-of: {tasks: 4}")
    assert pusher.push(run, model="hosted_vllm/org/named", benchmark="unheard-of").exit == Exit.DONE
    assert [one["name"] for one in pusher.table("models")] == ["org/named"]
    assert [one["name"] for one in pusher.table("benchmarks")] == ["unheard-of"]


def test_a_launch_that_names_another_model_than_the_trials(pusher, tmp_path):
    run = AuditedRun(tmp_path, shape=JobShape(source=BENCHMARK, model="org/served-8B"))
    outcome = pusher.push(run)
    found = f"its launch says {MODEL}, its trials org/served-8B"
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("name-unknown", found)])
    assert pusher.push(run, model="org/served-8B").exit == Exit.DONE


def test_several_evals_in_one_folder(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    for path in sorted(run.folder.glob("*/result.json"))[::2]:
        result = json.loads(path.read_text())
        result["agent_info"]["name"] = "openhands"
        path.write_text(json.dumps(result))
    settle(run.folder)
    outcome = pusher.push(run)
    assert outcome.exit == Exit.USAGE
    assert said(outcome) == [
        ("several-evals", f"2 evals in one folder: openhands with {MODEL}, terminus-2 with {MODEL}")
    ]


LATER = "1774999999999999"


def served_too(run, model, every=3, agents=()):
    """The run as Harbor leaves it with every so many trials under another model, and more agents in the plan."""
    for path in sorted(run.folder.glob("*/result.json"))[::every]:
        result = json.loads(path.read_text())
        result["agent_info"]["model_info"]["name"] = model
        path.write_text(json.dumps(result))
    config = json.loads((run.folder / "config.json").read_text())
    config["agents"] += [config["agents"][0] | {"model_name": name} for name in agents]
    config["n_attempts"] = len(run.kinds) // 4 // len(config["agents"])
    (run.folder / "config.json").write_text(json.dumps(config))
    evals = stats_of_trials(read_job(run.folder).trials)["evals"]
    (run.folder / "result.json").write_text(
        json.dumps(run.aggregate | {"stats": run.aggregate["stats"] | {"evals": evals}})
    )
    assert len(evals) == 2
    settle(run.folder)
    return run


@pytest.mark.parametrize("by", ["launch", "option", "manifest"])
def test_a_model_that_was_served_under_two_numbers_is_one(pusher, tmp_path, by):
    """As a resume leaves it that served the model again."""
    run = AuditedRun(tmp_path, model=MODEL if by == "launch" else None)
    score = run.score
    served_too(run, LATER)
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,model,trials\n{run.folder},{MODEL},12\n")
    if by != "launch":
        outcome = pusher.push(run)
        told = f"no record of its launch names the model; its trials say {SERVED}, {LATER}, hosted_vllm/{SERVED}"
        assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("name-unknown", told)])
    more = {"launch": {}, "option": {"model": MODEL}, "manifest": {"manifest": manifest}}[by]
    outcome = pusher.push(run, **more)
    assert (outcome.exit, said(outcome)) == (Exit.DONE, [])
    assert (pusher.count()["sandbox_jobs"], pusher.count()["sandbox_trials"]) == (1, 12)
    assert [one["name"] for one in pusher.table("models")] == [MODEL]
    (job,) = pusher.table("sandbox_jobs")
    assert str(job["id"]) == run.aggregate["id"]
    assert (job["metrics"][0]["name"], job["metrics"][0]["value"]) == ("accuracy", score)
    assert list(job["stats"]["evals"]) == [f"terminus-2__{SERVED}__{BENCHMARK}"]
    assert pusher.push(run, **more).data["plan"]["changes"] == []


def test_a_number_beside_another_model_is_the_one_that_is_named(pusher, tmp_path):
    shape = JobShape(source=BENCHMARK, attempts=6)
    run = AuditedRun(tmp_path, shape=shape, kinds=GOOD * 2, model=None)
    served_too(run, "other-8B", every=2, agents=["hosted_vllm/other-8B"])
    outcome = pusher.push(run)
    found = f"2 evals in one folder: terminus-2 with {SERVED}, terminus-2 with other-8B"
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("several-evals", found)])
    assert outcome.problems[0].fix == "name the one that is meant: --agent-name, --model-name"
    done = pusher.push(run, model=f"hosted_vllm/{MODEL}")
    assert (done.exit, said(done)) == (Exit.DONE, [])
    assert [one["name"] for one in pusher.table("models")] == [MODEL]
    numbered_trials = {
        path.parent.name for path in run.folder.glob("*/result.json") if f'"{SERVED}"' in path.read_text()
    }
    assert {trial["trial_name"] for trial in pusher.table("sandbox_trials")} == numbered_trials
    done = pusher.push(run, model="other-8B")
    assert (done.exit, said(done)) == (Exit.DONE, [])
    assert pusher.count()["sandbox_jobs"] == 2


def test_two_numbers_that_were_planned_are_two_models_that_no_name_tells_apart(pusher, tmp_path):
    run = served_too(AuditedRun(tmp_path, model=None), LATER, agents=[f"hosted_vllm/{LATER}"])
    outcome = pusher.push(run, model=MODEL)
    found = f"2 evals in one folder: terminus-2 with {SERVED}, terminus-2 with {LATER}"
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("several-evals", found)])
    assert outcome.problems[0].fix == "no option tells them apart: run each as a job of its own, and push that"


@pytest.mark.parametrize("spelt", [str, str.upper])
def test_trials_with_one_id_are_refused_before_anything_is_written(pusher, tmp_path, spelt):
    run = AuditedRun(tmp_path)
    results = {path: json.loads(path.read_text()) for path in sorted(run.folder.glob("*/result.json"))}
    first = min(results)
    other = next(path for path in results if results[path]["task_name"] != results[first]["task_name"])
    other.write_text(json.dumps(results[other] | {"id": spelt(results[first]["id"])}))
    settle(run.folder)
    found = " and ".join(sorted(path.parent.name for path in (first, other)))
    assert refused(pusher, run) == [("doubled-trials", f"trials with one id: {found}")]
    assert set(pusher.count().values()) == {0}


def test_traces_of_another_run_are_not_linked(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.hub.add(f"{ORG}/another", ["another__0000000", *sorted(run.truth.states)[:1], "another__0000001"])
    told = ("other-traces", "1 of the 3 trials that it names are this run's")
    assert refused(pusher, run, hf_repo=f"{ORG}/another") == [told]
    assert refused(pusher, run, hf_repo=f"{ORG}/nothing") == [("no-traces", "it is not there")]


def test_a_plan_is_refused_before_anything_is_public(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.rows.model(MODEL)
    pusher.rows.model(MODEL)
    pusher.rows.load()
    uploader = pusher.uploader = StandInUploader(pusher.hub, sorted(run.truth.states))
    assert [code for code, _ in said(pusher.push(run, skip_hf=False))] == ["several-rows"]
    assert uploader.calls == []


def test_an_upload_that_brings_nothing_leaves_the_database_alone(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    pusher.uploader = StandInUploader(pusher.hub, ["another__0000000"])
    outcome = pusher.push(run, skip_hf=False)
    assert said(outcome) == [("other-traces", "0 of the 1 trials that it names are this run's")]
    assert set(pusher.count().values()) == {0}


def test_a_run_without_an_id_gets_one_from_a_person(pusher, tmp_path):
    run = AuditedRun(tmp_path)
    result = run.aggregate
    (run.folder / "result.json").write_text(json.dumps(result | {"id": "no id"}))
    settle(run.folder)
    outcome = pusher.push(run)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("no-run-id", "its id is 'no id'")])
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,row_id\n{run.folder},{numbered(77)}\n")
    assert pusher.push(run, manifest=manifest).exit == Exit.DONE
    assert [str(job["id"]) for job in pusher.table("sandbox_jobs")] == [numbered(77)]
    assert pusher.push(run, manifest=manifest).data["plan"]["changes"] == []


def test_where_traces_go_is_asked_for(pusher, tmp_path):
    pusher.settings.delenv("BENCHWRIGHT_TRACE_ORGS")
    outcome = pusher.push(AuditedRun(tmp_path), skip_hf=False)
    assert (outcome.exit, said(outcome)) == (Exit.USAGE, [("no-trace-orgs", "no repo for the traces")])
    assert outcome.problems[0].fix == (
        "--hf-repo ORG/NAME, or export BENCHWRIGHT_TRACE_ORGS=ORG; without traces: --skip-hf"
    )


def test_an_unreachable_database_is_no_empty_one(pusher, tmp_path):
    pusher.settings.setattr("tenacity.nap.time.sleep", lambda seconds: None)
    pusher.settings.setenv("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/postgres")
    outcome = pusher.push(AuditedRun(tmp_path), apply=False)
    assert outcome.exit == Exit.REMOTE
    assert [problem.code for problem in outcome.problems] == ["rows-unknown", "database-unavailable"]


def test_a_key_that_may_not_see_every_row_lacks_rights(pusher, tmp_path):
    AuditedRun(tmp_path / "other").row(pusher.rows, job_name="another")
    pusher.rows.load()
    pusher.settings.delenv("DATABASE_URL")
    for name, value in pusher.rows.settings("supabase").items():
        pusher.settings.setenv(name, value)
    run, before = AuditedRun(tmp_path), pusher.rows.everything()
    hidden = "this key may not see every row"
    for apply in (False, True):
        outcome = pusher.push(run, apply=apply)
        assert (outcome.exit, said(outcome)) == (
            Exit.ENVIRONMENT,
            [
                ("rows-unknown", f"what the database holds of it is unknown ({hidden}: use {USE})"),
                ("no-permission", hidden),
            ],
        )
        assert outcome.problems[1].fix == f"use {USE}"
    assert pusher.rows.everything() == before


def test_a_role_that_may_only_read(pusher, tmp_path):
    for statement in ("CREATE ROLE reader LOGIN BYPASSRLS", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"):
        pusher.rows.execute(statement)
    try:
        pusher.settings.setenv("DATABASE_URL", pusher.rows.server.url.replace("//postgres@", "//reader@"))
        assert pusher.push(AuditedRun(tmp_path), apply=False).exit == Exit.DONE
        outcome = pusher.push(AuditedRun(tmp_path / "again"))
        assert (outcome.exit, said(outcome)) == (
            Exit.ENVIRONMENT,
            [("no-permission", "permission denied for table agents")],
        )
    finally:
        pusher.rows.execute("DROP OWNED BY reader")
        pusher.rows.execute("DROP ROLE reader")
