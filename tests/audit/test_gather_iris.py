"""Evals of Iris: jobs of a table, their results in buckets of real servers, and the verdicts that follow."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from audit_runs import Asked
from benchwright.audit import judge
from benchwright.audit.gather import Sources, gather
from benchwright.audit.gather_folder import FolderRules, read_legs
from benchwright.audit.gather_iris import IrisSource, read_iris_legs
from benchwright.audit.iris_jobs import parse_iris_jobs
from benchwright.audit.iris_results import Buckets
from benchwright.audit.manifest import Entry, Hint
from benchwright.audit.troubles import Troubles
from benchwright.audit.verdict import Action
from benchwright.contract import Exit, Failure
from benchwright.harbor import Benchmark, Benchmarks, Taxonomy
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job

NAME = "eval-own-bench-model-20260901-120000"
NOW = datetime(2026, 9, 3, tzinfo=UTC)
RULES = FolderRules(Taxonomy.load().profile(), Benchmarks([Benchmark("own-bench", tasks=10, repeats=2)]))
SHAPE = JobShape(attempts=2, model="org/model-8B", source="own-bench")
FINE = ["pass"] * 9 + ["fail"] * 11


@pytest.fixture
def job(tmp_path):
    """Grows the folder of a job."""

    def grow(kinds=FINE, *, finished=True, planned=None, seed=5, version="0.25"):
        folder = tmp_path / f"job-{len(list(tmp_path.iterdir()))}"
        grow_job(folder, kinds, replace(SHAPE, finished=finished, version=version), seed=seed)
        if planned is not None:
            result = json.loads((folder / "result.json").read_text())
            (folder / "result.json").write_text(json.dumps(result | {"n_total_trials": planned}))
        return folder

    return grow


def at(bucket, name=NAME):
    return f"{bucket}/{name}/{name}"


def legs(buckets, rows=f"/me/{NAME},4", *, addresses=None, heading="job_id,state", troubles=None, **source):
    table = None if rows is None else parse_iris_jobs(f"{heading}\n{rows}\n".encode(), "table")
    opened = buckets.at(*(addresses or (buckets.tpu, buckets.gpu)))
    found = IrisSource(buckets=opened, table=table, **source)
    return read_iris_legs(found, RULES, troubles or Troubles())


def verdict(leg):
    """The verdict where the database has no row of the eval, and the Hub no traces."""
    return judge(leg.learned(rows=(), traces=(), owners=frozenset({"me"})).facts, now=NOW)


def test_a_job_is_found_in_whichever_bucket_has_it(buckets, job):
    buckets.put(job(), at(buckets.gpu))
    (leg,) = legs(buckets)
    facts = leg.facts
    assert (facts.kind, facts.folder) == ("iris-gpu", f"{buckets.gpu}/{NAME}/{NAME}")
    assert (facts.model, facts.benchmark, facts.agent) == ("org/model-8B", "own-bench", "terminus-2")
    assert (facts.job.phase, facts.job.state, facts.job.told_by) == ("completed", "COMPLETED", "the jobs table")
    assert (facts.trials.planned, facts.trials.valid, facts.trials.reward_sum, facts.trials.whole) == (20, 20, 9, True)
    assert verdict(leg).verdict == "UPLOAD"
    assert buckets.methods == {"GET"}


def test_a_live_job_is_not_looked_for(buckets, job):
    buckets.put(job(), at(buckets.tpu))
    (leg,) = legs(buckets, f"/me/{NAME},3")
    assert (leg.facts.kind, leg.facts.trials) == ("iris-tpu", None)
    assert leg.facts.unknown == {"trials": "not read while its job is live"}
    waiting = verdict(leg)
    assert waiting.verdict == "WAIT"
    again = f".venv/bin/python scripts/eval/audit_evals.py --iris {buckets.tpu} {buckets.gpu}"
    assert waiting.actions == (Action("look again when it has ended, with a new jobs table", again),)
    assert buckets.methods == set()


@pytest.mark.parametrize(
    ("valid", "word"), [(19, "UPLOAD"), (17, "RESUME")], ids=["95 % valid, 5 % errors", "85 % valid, 15 % errors"]
)
def test_a_killed_job_passes_the_same_gates(buckets, job, valid, word):
    buckets.put(job(["pass"] * valid + ["no-sandbox"] * (20 - valid), finished=False), at(buckets.tpu))
    (leg,) = legs(buckets, f"/me/{NAME},6")
    assert (leg.facts.job.phase, leg.facts.job.state) == ("ended", "KILLED")
    found = verdict(leg)
    assert found.verdict == word
    if word == "RESUME":
        assert found.actions[0].command == f".venv/bin/python scripts/iris/relaunch_eval.py {NAME}"


@pytest.mark.parametrize(
    ("bucket", "told", "word"), [("tpu", {}, "VOID"), ("gpu", {}, "RESUME"), ("gpu", {"kind": "iris-tpu"}, "VOID")]
)
def test_a_leg_without_a_prefix_cache_is_void_on_tpus_alone(buckets, job, bucket, told, word):
    buckets.put(job(["timeout-scored"] * 14 + ["timeout"] * 3 + ["pass"] * 3), at(getattr(buckets, bucket)))
    (leg,) = legs(buckets, **told)
    assert leg.facts.trials.errors == {"AgentTimeoutError": 17} and leg.facts.trials.cached_tokens == 0
    assert verdict(leg).verdict == word


def test_the_table_says_what_a_job_ran_on(buckets, job):
    buckets.put(job(), at(buckets.tpu))
    (leg,) = legs(buckets, f"/me/{NAME},4,GPU", heading="job_id,state,device_type", kind="iris-tpu")
    assert leg.facts.kind == "iris-gpu"


@pytest.mark.parametrize("version", ["0.1", "0.25"])
def test_an_aggregate_alone_is_never_ok(buckets, job, version):
    folder = job(["pass"] * 16 + ["timeout"] * 4, version=version)
    buckets.put(folder, at(buckets.tpu), files=("result.json",))
    (leg,) = legs(buckets)
    trials = leg.facts.trials
    assert (trials.attempted, trials.valid, trials.whole) == (20, 16, False)
    assert (verdict(leg).verdict, verdict(leg).why) == ("STOP", "an aggregate alone was read: no trial is proved")
    assert judge(leg.facts, now=NOW).checks.trials.status == "unknown"


def test_an_aggregate_alone_may_say_no(buckets, job):
    buckets.put(job(["timeout"] * 17 + ["pass"] * 3), at(buckets.tpu), files=("result.json",))
    (leg,) = legs(buckets)
    assert verdict(leg).verdict == "VOID"


@pytest.mark.parametrize(
    "stats", [{"evals": {}}, {"n_trials": 0, "evals": {"a": {"n_trials": 3}}}], ids=["no count", "a count that is none"]
)
def test_an_aggregate_alone_that_does_not_count_its_trials_says_nothing(buckets, tmp_path, stats):
    (tmp_path / "result.json").write_text(json.dumps({"id": "x", "n_total_trials": 20, "stats": stats}))
    buckets.put(tmp_path, at(buckets.tpu))
    (leg,) = legs(buckets)
    why = "an aggregate alone was read, and it does not say how many trials ended"
    assert (leg.facts.trials, leg.facts.unknown) == (None, {"trials": why})
    assert (verdict(leg).verdict, verdict(leg).why) == ("STOP", f"its trials are unknown ({why})")


def test_a_job_without_output_anywhere_is_launched_again(buckets):
    (leg,) = legs(buckets, f"/me/{NAME},5")
    assert leg.facts.folder is None and leg.facts.notes == (
        f"nothing is in {buckets.tpu}/{NAME} or {buckets.gpu}/{NAME}",
    )
    found = verdict(leg)
    assert (found.verdict, found.why) == ("RELAUNCH", "no trial left a result")
    assert found.actions[0].command == f".venv/bin/python scripts/iris/relaunch_eval.py {NAME}"


@pytest.mark.parametrize("several", [False, True])
def test_results_of_a_completed_job_are_in_some_bucket(buckets, job, several):
    if not several:
        buckets.put(job(), at(buckets.gpu))
    (leg,) = legs(buckets, addresses=(buckets.tpu, buckets.gpu) if several else (buckets.tpu,))
    places = f"{buckets.tpu}/{NAME} or {buckets.gpu}/{NAME}" if several else f"{buckets.tpu}/{NAME}"
    why = f"it completed, and nothing is in {places}: its results are in no bucket that was named"
    assert (leg.facts.trials, leg.facts.unknown) == (None, {"trials": why})
    assert (verdict(leg).verdict, verdict(leg).why) == ("STOP", f"its trials are unknown ({why})")


@pytest.mark.parametrize("state", ["5", "6"], ids=["FAILED", "KILLED"])
def test_what_one_bucket_lacks_may_be_in_another(buckets, job, state):
    buckets.put(job(finished=False), at(buckets.gpu))
    (leg,) = legs(buckets, f"/me/{NAME},{state}", addresses=(buckets.tpu,))
    why = f"nothing is in {buckets.tpu}/{NAME}: one bucket alone was named, and its results may be in another"
    assert (leg.facts.trials, leg.facts.unknown) == (None, {"trials": why})
    assert (verdict(leg).verdict, verdict(leg).why) == ("STOP", f"its trials are unknown ({why})")
    (leg,) = legs(buckets, f"/me/{NAME},{state}")
    assert (leg.facts.trials.valid, verdict(leg).verdict) == (20, "UPLOAD")


def test_jobs_launched_before_are_left_out_and_told_but_for_those_that_a_person_names(buckets):
    names = [f"eval-{word}-20260{month}01-120000" for word, month in (("a", 7), ("b", 7), ("c", 9))]
    rows = "\n".join(f"/me/{name},5" for name in names)
    troubles = Troubles()
    since, hints = datetime(2026, 9, 1, tzinfo=UTC), {names[0]: Hint(model="org/m")}
    found = legs(buckets, rows, troubles=troubles, since=since, hints=hints)
    assert [leg.facts.run_tag for leg in found] == [names[0], names[2]]
    assert [(problem.code, problem.found) for problem in troubles.problems] == [
        ("left-out", f"1 run left out: {names[1]}")
    ]
    assert troubles.exit is None


def test_a_bucket_that_cannot_be_listed_is_unknown_and_not_without_output(buckets):
    troubles = Troubles()
    (leg,) = legs(buckets, f"/me/{NAME},5", addresses=[buckets.tpu, "s3://no-such-bucket"], troubles=troubles)
    assert leg.facts.trials is None
    assert leg.facts.unknown["trials"].startswith("s3://no-such-bucket")
    assert verdict(leg).verdict == "STOP"
    assert (troubles.exit, [problem.code for problem in troubles.problems]) == (Exit.ENVIRONMENT, ["no-bucket"])


def test_a_partial_copy_counts_only_where_every_bucket_could_be_looked_at(buckets, job):
    buckets.put(job(["pass"] * 10, finished=False, planned=20), at(buckets.tpu))
    (leg,) = legs(buckets, f"/me/{NAME},6", addresses=[buckets.tpu, "s3://no-such-bucket"])
    assert leg.facts.trials is None
    assert leg.facts.unknown["trials"].startswith(
        f"{at(buckets.tpu)}: 10 of 20 trials completed, 10 trial folders; but it may be complete elsewhere: "
    )
    (leg,) = legs(buckets, f"/me/{NAME},6")
    assert verdict(leg).verdict == "RESUME"


def test_a_complete_copy_counts_and_what_was_not_looked_at_is_noted(buckets, job):
    buckets.put(job(), at(buckets.tpu))
    troubles = Troubles()
    (leg,) = legs(buckets, addresses=["s3://no-such-bucket", buckets.tpu], troubles=troubles)
    assert leg.facts.trials.valid == 20 and troubles.exit is None
    assert leg.facts.notes[-1].startswith("not looked at: s3://no-such-bucket")


def test_the_complete_copy_is_taken_whichever_bucket_comes_first(buckets, job):
    buckets.put(job(["pass"] * 18, finished=False, planned=20, seed=1), at(buckets.tpu))
    buckets.put(job(seed=2), at(buckets.gpu))
    for addresses in ([buckets.tpu, buckets.gpu], [buckets.gpu, buckets.tpu]):
        (leg,) = legs(buckets, addresses=addresses)
        assert leg.facts.folder == at(buckets.gpu)
        assert leg.facts.notes[-1] == (
            f"another copy, which does not count: {at(buckets.tpu)}: 18 of 20 trials completed, 18 trial folders"
        )


def test_a_job_that_planned_nothing_is_not_complete(buckets, job):
    buckets.put(job([]), at(buckets.tpu))
    buckets.put(job(["pass"] * 18, finished=False, planned=20), at(buckets.gpu))
    (leg,) = legs(buckets)
    assert leg.facts.folder == at(buckets.gpu)


def test_a_copy_with_a_readable_aggregate_is_preferred(buckets, job):
    damaged = job(["pass"] * 12)
    (damaged / "result.json").write_text('{"id": "x", "sta')
    buckets.put(damaged, at(buckets.tpu))
    buckets.put(job(["pass"] * 10, finished=False), at(buckets.gpu))
    (leg,) = legs(buckets)
    assert leg.facts.folder == at(buckets.gpu)
    assert leg.facts.notes[-1] == (
        f"another copy, which does not count: {at(buckets.tpu)}: corrupt aggregate, 12 trial folders"
    )


def test_two_complete_runs_of_one_name_are_for_a_person_and_two_copies_of_one_are_not(buckets, job):
    one, other = job(seed=1), job(seed=2)
    buckets.put(one, at(buckets.tpu))
    buckets.put(other, at(buckets.gpu))
    (leg,) = legs(buckets)
    assert leg.facts.trials is None and leg.facts.unknown["trials"] == (
        f"two runs of it are complete: {at(buckets.tpu)}: 20 of 20 trials completed, 20 trial folders; "
        f"{at(buckets.gpu)}: 20 of 20 trials completed, 20 trial folders"
    )
    assert verdict(leg).verdict == "STOP"
    name = f"{NAME}-b"
    for bucket in (buckets.gpu, buckets.tpu):
        buckets.put(one, at(bucket, name))
    (leg,) = legs(buckets, f"/me/{name},4")
    assert leg.facts.folder == at(buckets.tpu, name)


def test_other_layouts(buckets, job):
    folder = job()
    buckets.put(folder, f"{buckets.tpu}/eval-flat")
    buckets.put(folder, f"{buckets.tpu}/eval-other/20260901")
    odd, flat, other = legs(buckets, "/me/eval-flat,4\n/me/eval-other,4\n/me/eval-..,4")
    assert flat.facts.folder == f"{buckets.tpu}/eval-flat" and flat.facts.trials.valid == 20
    assert other.facts.unknown["trials"] == f"{buckets.tpu}/eval-other: holds 20260901"
    assert odd.facts.unknown["trials"].startswith("it completed, and nothing is in ")


def test_a_name_that_is_no_folder_is_unknown(buckets):
    (leg,) = legs(buckets, "/me/eval-\\x,4")
    assert leg.facts.unknown["trials"] == "'eval-\\\\x' names no folder of a bucket"
    assert buckets.methods == set()


def test_without_a_table_the_buckets_are_listed_and_no_job_is_known(buckets, job):
    buckets.put(job(), at(buckets.tpu))
    buckets.put(job(), at(buckets.gpu, "eval-old-20260501"))
    buckets.put(job(), at(buckets.gpu, "train-x"))
    troubles = Troubles()
    found = legs(
        buckets,
        None,
        addresses=[buckets.tpu, "gs://no-such-bucket", buckets.gpu],
        since=datetime(2026, 6, 3, tzinfo=UTC),
        troubles=troubles,
    )
    assert [leg.facts.run_tag for leg in found] == [NAME]
    assert found[0].facts.unknown == {"job": "no table of Iris jobs was given (--iris-jobs FILE)"}
    assert verdict(found[0]).verdict == "STOP"
    assert troubles.exit is Exit.ENVIRONMENT


def test_a_person_says_what_is_right(buckets, job):
    buckets.put(job(), at(buckets.tpu))
    hints = {NAME: Hint(model="org/real", benchmark="own-bench", trials=20, row_id="R")}
    (leg,) = legs(buckets, hints=hints)
    assert (leg.facts.model, leg.run.row_ids[0]) == ("org/real", "r")
    (leg,) = legs(buckets, f"/me/{NAME},1", hints=hints)
    assert (leg.facts.model, leg.facts.benchmark) == ("org/real", "own-bench")


def test_a_job_that_a_person_tells_of_and_nobody_has_is_told(buckets):
    troubles = Troubles()
    legs(buckets, f"/me/{NAME},5", hints={"eval-other": Hint(trials=20)}, troubles=troubles)
    (problem,) = troubles.problems
    assert (troubles.exit, problem.where, problem.found) == (
        Exit.NO,
        "eval-other",
        "no eval of that name in the jobs table",
    )


def test_results_that_stop_coming_are_unknown(buckets, job):
    buckets.put(job(), at(buckets.tpu))

    def gone(environ, start):
        if "task__0001" in environ["PATH_INFO"]:
            start("503 Service Unavailable", [("Content-Length", "0")])
            return [b""]
        return None

    buckets.servers.google.fault = gone
    troubles = Troubles()
    (leg,) = legs(buckets, troubles=troubles)
    assert leg.facts.trials is None and leg.facts.unknown["trials"].startswith(at(buckets.tpu))
    assert troubles.exit is Exit.REMOTE and verdict(leg).verdict == "STOP"


def test_jobs_are_below_ot_agent_where_an_address_does_not_say(buckets):
    opened = Buckets.at(["gs://some-bucket", "s3://some-bucket/deep/er"], settings=buckets.servers.settings)
    assert [reader.url for reader in opened.readers] == ["gs://some-bucket/ot-agent", "s3://some-bucket/deep/er"]
    with pytest.raises(Failure) as caught:
        Buckets.at([])
    assert caught.value.exit is Exit.USAGE


def test_a_folder_copied_from_the_bucket_says_the_same(buckets, job, tmp_path):
    folder = job(["pass", "timeout", "cut-off", "nan", "unfinished", "no-sandbox"])
    copy = shutil.copytree(folder, tmp_path / NAME)
    buckets.put(folder, at(buckets.tpu), files=("**/*",))
    (remote,) = legs(buckets)
    (local,) = read_legs([Entry(copy)], RULES, Troubles())
    assert remote.facts.trials == local.facts.trials
    assert (remote.facts.figures, remote.facts.notes) == (local.facts.figures, local.facts.notes)


def test_beside_other_runs_no_scheduler_is_asked_of_it(buckets, job):
    folder, clients = job(), Asked()
    (folder / "meta.env").write_text("SLURM_JOB_ID=17\n")
    buckets.put(folder, at(buckets.tpu), files=("result.json", "*/result.json", "meta.env"))
    (leg,) = legs(buckets, f"/me/{NAME},6", addresses=[buckets.tpu])
    table = parse_iris_jobs(f"job_id,state\n/me/{NAME},6\n".encode(), "table")
    iris = IrisSource(buckets=buckets.at(buckets.tpu), table=table)
    sources = Sources(folders=RULES, iris=iris, database="not asked", hub="not asked", slurm=True, clients=clients)
    silent = contextlib.nullcontext(lambda *_, **__: None)
    found = gather([], sources, now=NOW, progress=lambda label: silent)
    (facts,) = found.facts
    assert (facts.job, facts.trials, facts.kind) == (leg.facts.job, leg.facts.trials, "iris-tpu")
    assert facts.unknown == {"rows": "not asked", "traces": "not asked"}
    assert [call[0] for call in clients.calls] == ["squeue"]
