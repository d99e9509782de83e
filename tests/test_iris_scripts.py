"""The scripts check_progress and check_resume_needed: folders here and jobs in buckets, one line each, and the exit."""

from __future__ import annotations

import hashlib
import shutil
import sys
from dataclasses import replace

import pytest

from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from scripts_in_process import Script

SHAPE = JobShape(attempts=1, model="org/model-8B", source="own-bench")
DAY = "20260901-120000"


@pytest.fixture
def buckets(buckets, monkeypatch):
    for name, value in buckets.servers.settings.items():
        monkeypatch.setenv(name, value)
    return buckets


@pytest.fixture
def progress(capsys):
    return Script.named("iris/check_progress", capsys)


@pytest.fixture
def resumes(capsys):
    return Script.named("iris/check_resume_needed", capsys)


@pytest.fixture
def jobs(tmp_path):
    """A folder of three jobs: one done, one killed, one with too many errors."""
    root = tmp_path / "jobs"
    grow_job(root / f"eval-done-{DAY}", ["pass", "fail", "timeout-scored"], SHAPE)
    grow_job(root / f"eval-killed-{DAY}", ["pass", "cut-off", "unfinished"], replace(SHAPE, finished=False))
    grow_job(root / f"eval-errors-{DAY}", ["pass", "no-sandbox", "no-sandbox"], replace(SHAPE, version="0.1"))
    return root


LINES = [
    f"DONE             eval-done-{DAY}  3 of 3 done, 3 valid, score 0.3333",
    f"DONE_WITH_ERRORS eval-errors-{DAY}  3 of 3 done, 1 valid, 2 with errors that count, score 0.3333 "
    "(too many have errors that count)",
    f"INCOMPLETE       eval-killed-{DAY}  1 of 3 done, 1 valid, 1 corrupt, score 1.0000 "
    "(fewer than 9 in 10 say how they ended)",
]


def state_of(root):
    """Every file's bytes and times."""
    return {
        str(path): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in root.rglob("*")
    }


def test_folders_of_a_root_one_line_each_and_untouched(progress, jobs):
    before = state_of(jobs)
    assert progress.run("--jobs-root", jobs) == (1, ["3 jobs: 1 DONE, 1 DONE_WITH_ERRORS, 1 INCOMPLETE", *LINES])
    assert progress.run(jobs / f"eval-done-{DAY}") == (0, ["1 job: 1 DONE", LINES[0]])
    assert state_of(jobs) == before


def test_data_of_a_job(progress, jobs):
    answer = progress.answer(jobs / f"eval-done-{DAY}")
    assert (answer["exit"], answer["summary"]) == (0, "1 job: 1 DONE")
    (job,) = answer["data"]["jobs"]
    assert (job["status"], job["planned"], job["done"], job["needs_resume"]) == ("DONE", 3, 3, False)


def test_what_is_to_be_resumed_comes_first_and_not_before_it_is_known_to_be_dead(resumes, jobs, tmp_path):
    code, lines = resumes.run("--jobs-root", jobs)
    assert (code, lines[1:4]) == (1, [LINES[1], LINES[2], LINES[0]])
    assert lines[4].startswith("of jobs that may be live none is to be resumed")
    table = tmp_path / "jobs.csv"
    table.write_text(f"job_id,state\n/me/eval-errors-{DAY},5\n/me/eval-killed-{DAY},3\n")
    answer = resumes.answer("--jobs-root", jobs, "--iris-jobs", table)
    assert [job["status"] for job in answer["data"]["jobs"]] == ["DONE_WITH_ERRORS", "DONE", "IN_FLIGHT"]
    assert answer["next"] == [f".venv/bin/python scripts/eval/prepare_resume.py {jobs}/eval-errors-{DAY}"]


def test_the_limits_are_options(resumes, jobs):
    folder = jobs / f"eval-errors-{DAY}"
    assert resumes.run(folder, "--error-threshold", 2)[0] == 0
    assert resumes.run(folder, "--error-threshold", 1)[0] == 1
    (folder / "meta.env").write_text("RESUME_COUNT=1\n")
    assert resumes.answer(folder)["data"]["jobs"][0]["status"] == "AT_RESUME_LIMIT"
    assert resumes.answer(folder, "--max-fires", 3)["data"]["jobs"][0]["status"] == "DONE_WITH_ERRORS"
    (folder / ".no-resume").write_text("")
    assert resumes.answer(folder)["data"]["jobs"][0]["status"] == "REJECTED"
    assert resumes.run(folder, "--needs-resume-only") == (0, ["1 job: 1 REJECTED"])


def test_jobs_of_the_table_in_whichever_bucket(resumes, progress, jobs, buckets, tmp_path):
    buckets.put(jobs / f"eval-done-{DAY}", f"{buckets.gpu}/eval-done-{DAY}/eval-done-{DAY}")
    killed = f"{buckets.tpu}/eval-killed-{DAY}/eval-killed-{DAY}"
    buckets.put(jobs / f"eval-killed-{DAY}", killed, files=("*.json", "*/*.json"))
    table = tmp_path / "jobs.csv"
    rows = [f"/me/eval-done-{DAY},4", f"/me/eval-killed-{DAY},6", f"/me/eval-gone-{DAY},5", "/me/eval-old-20260101,4"]
    table.write_text("\n".join(["job_id,state", *rows]))
    words = ("--iris", buckets.tpu, buckets.gpu, "--iris-jobs", table, "--since", "2026-06-03")
    code, lines = resumes.run(*words)
    gone = f"nothing is in {buckets.tpu}/eval-gone-{DAY} or {buckets.gpu}/eval-gone-{DAY}"
    assert (code, lines[:4]) == (
        1,
        [
            "3 jobs: 1 DONE, 1 EARLY_KILL, 1 INCOMPLETE",
            f"EARLY_KILL       eval-gone-{DAY}  0 of ? done, 0 valid (no trial left a result; {gone})",
            LINES[2],
            LINES[0],
        ],
    )
    launch = "    .venv/bin/python scripts/iris/relaunch_eval.py eval-{}-{}"
    assert lines[4:] == ["next:", launch.format("gone", DAY), launch.format("killed", DAY)]
    for place in (killed, killed.rpartition("/")[0]):
        assert progress.run(place) == (1, ["1 job: 1 INCOMPLETE", LINES[2]])
    assert progress.run(f"eval-done-{DAY}", "--iris", buckets.tpu, buckets.gpu) == (0, ["1 job: 1 DONE", LINES[0]])
    assert progress.run("--iris", buckets.gpu, buckets.tpu, "--tag", "eval-d*") == (0, ["1 job: 1 DONE", LINES[0]])
    assert buckets.methods == {"GET"}


def test_a_bucket_says_the_same_of_a_job_as_its_folder(progress, jobs, buckets):
    folder = jobs / f"eval-killed-{DAY}"
    (folder / ".no-resume").write_text("no")
    buckets.put(folder, f"{buckets.gpu}/{folder.name}", files=("**/*", ".no-resume"))
    (here,) = progress.answer(folder)["data"]["jobs"]
    (there,) = progress.answer(f"{buckets.gpu}/{folder.name}")["data"]["jobs"]
    assert here["status"] == "REJECTED"
    assert there == here | {"where": f"{buckets.gpu}/{folder.name}"}


def test_an_aggregate_alone_is_said_to_be_one(progress, jobs, buckets, tmp_path):
    folder = jobs / f"eval-errors-{DAY}"
    buckets.put(folder, f"{buckets.tpu}/x/x", files=("result.json",))
    line = (
        "DONE_WITH_ERRORS x  3 of 3 done, 2 with errors that count, score 0.3333, by the aggregate alone "
        "(too many have errors that count)"
    )
    assert progress.run(f"{buckets.tpu}/x") == (0, ["1 job: 1 DONE_WITH_ERRORS", line])
    alone = shutil.copytree(folder, tmp_path / "x", ignore=lambda at, names: [n for n in names if "__" in n])
    assert progress.run(alone) == (0, ["1 job: 1 DONE_WITH_ERRORS", line])


def test_what_cannot_be_looked_at_is_unknown(progress, jobs, buckets):
    answer = progress.answer("eval-x", "--iris", buckets.tpu, "s3://no-such-bucket")
    assert (answer["exit"], answer["data"]["jobs"][0]["status"]) == (3, "UNKNOWN")
    assert [problem["code"] for problem in answer["problems"]] == ["no-bucket"]


def test_the_table_may_come_from_the_environments_command(resumes, jobs, monkeypatch, buckets):
    prints = f"print('job_id,state\\n/me/eval-x-{DAY},3')"
    monkeypatch.setenv("BENCHWRIGHT_IRIS_JOBS", f'{sys.executable} -c "{prints}"')
    code, lines = resumes.run("--iris", buckets.tpu)
    assert (code, lines[0]) == (0, "1 job: 1 IN_FLIGHT")
    monkeypatch.setenv("BENCHWRIGHT_IRIS_JOBS", f'{sys.executable} -c "raise SystemExit(1)"')
    assert resumes.answer("--iris", buckets.tpu)["exit"] == 4


@pytest.mark.parametrize(
    ("words", "where", "found"),
    [
        ((), "PLACE", "missing"),
        (("gs://bucket",), "gs://bucket", "no job's address"),
        (("gs://bucket/job/job",), "gs://bucket/job/job", "no job's address"),
        (("ftp://bucket/job",), "ftp://bucket/job", "no store"),
        (("no/such",), "{}/no/such", "no such file or directory"),
        (("--jobs-root", "none"), "{}/none", "no such file or directory"),
        (("x", "--iris", "here"), "here", "no store"),
        (("x", "--profile", "eight"), "profile", "no profile is called 'eight'"),
        (("x", "--iris-jobs", "none.csv"), "none.csv", "no such file or directory"),
    ],
)
def test_wrong_usage(progress, no_credentials, tmp_path, words, where, found):
    answer = progress.answer(*words)
    (problem,) = answer["problems"]
    assert (answer["exit"], problem["where"], problem["found"]) == (2, where.format(tmp_path), found)


@pytest.mark.parametrize("words", [("ftp://bucket/job",), ("x", "--iris", "/buckets")])
def test_an_address_that_is_none_is_told_of_buckets_alone(progress, no_credentials, words):
    (problem,) = progress.answer(*words)["problems"]
    assert problem["expected"] == "gs://BUCKET/PREFIX, s3://BUCKET/PREFIX or r2://BUCKET/PREFIX"


def test_all_that_is_wrong_is_told_at_once(progress, no_credentials):
    answer = progress.answer("a", "gs://bucket", "--jobs-root", "none")
    assert (answer["exit"], len(answer["problems"])) == (2, 3)


class TestAudit:
    """The script audit_evals over buckets; what it makes of them is tested with ``gather_iris``."""

    @pytest.fixture
    def audit(self, capsys, tmp_path):
        (tmp_path / "benchmarks.yaml").write_text("own-bench: {tasks: 3, repeats: 1}\n")
        words = ("--no-cache", "--no-hub", "--db", "none", "--benchmarks", tmp_path / "benchmarks.yaml")
        return Script.named("eval/audit_evals", capsys, *words)

    def test_jobs_of_the_table_beside_folders(self, audit, jobs, buckets, tmp_path):
        buckets.put(jobs / f"eval-done-{DAY}", f"{buckets.gpu}/eval-done-{DAY}/eval-done-{DAY}")
        table = tmp_path / "jobs.csv"
        table.write_text(f"job_id,state\n/me/eval-done-{DAY},4\n/me/eval-new-{DAY},3\n")
        words = ("--iris", buckets.tpu, buckets.gpu, "--iris-jobs", table)
        answer = audit.answer(*words, jobs / f"eval-errors-{DAY}", "--no-slurm")
        found = {one["run_tag"]: one for one in answer["data"]["evals"]}
        assert sorted(found) == [f"eval-done-{DAY}", f"eval-errors-{DAY}", f"eval-new-{DAY}"]
        done, new = found[f"eval-done-{DAY}"], found[f"eval-new-{DAY}"]
        assert (done["valid"], done["planned"], done["checks"]["finished"]["status"]) == (3, 3, "pass")
        assert new["verdict"] == "WAIT"
        assert (answer["exit"], answer["problems"]) == (1, [])
        assert buckets.methods == {"GET"}

    def test_a_bucket_that_is_not_there_is_a_problem_and_its_jobs_are_unknown(self, audit, jobs, buckets, tmp_path):
        table = tmp_path / "jobs.csv"
        table.write_text(f"job_id,state\n/me/eval-done-{DAY},4\n")
        answer = audit.answer("--iris", buckets.gpu, "s3://no-such-bucket", "--iris-jobs", table)
        (one,) = answer["data"]["evals"]
        assert (one["verdict"], one["checks"]["trials"]["status"]) == ("STOP", "unknown")
        assert (answer["exit"], [problem["code"] for problem in answer["problems"]]) == (3, ["no-bucket"])

    @pytest.mark.parametrize("kind", ["s3", "r2"])
    def test_a_bucket_without_credentials_leaves_what_the_others_tell(
        self, audit, progress, jobs, buckets, tmp_path, monkeypatch, kind
    ):
        name = f"eval-done-{DAY}"
        buckets.put(jobs / name, f"{buckets.tpu}/{name}/{name}")
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(variable, raising=False)
        table = tmp_path / "jobs.csv"
        table.write_text(f"job_id,state\n/me/{name},4\n/me/eval-gone-{DAY},5\n")
        words = ("--iris", f"{kind}://private", buckets.tpu, "--iris-jobs", table)
        answer = audit.answer(*words, jobs / f"eval-errors-{DAY}", "--no-slurm")
        found = {one["run_tag"]: one for one in answer["data"]["evals"]}
        assert sorted(found) == [name, f"eval-errors-{DAY}", f"eval-gone-{DAY}"]
        assert (found[name]["valid"], found[name]["checks"]["trials"]["status"]) == (3, "pass")
        gone = found[f"eval-gone-{DAY}"]
        assert (gone["verdict"], gone["checks"]["trials"]["status"]) == ("STOP", "unknown")
        assert (answer["exit"], {one["code"] for one in answer["problems"]}) == (
            3,
            {{"s3": "credentials-refused", "r2": "no-credentials"}[kind]},
        )
        told = progress.answer("--iris", f"{kind}://private", buckets.tpu, "--iris-jobs", table)
        assert told["exit"] == 3
        assert [(job["name"], job["status"]) for job in told["data"]["jobs"]] == [
            (name, "DONE"),
            (f"eval-gone-{DAY}", "UNKNOWN"),
        ]

    def test_a_table_that_does_not_come_leaves_the_jobs_that_are_known_otherwise(
        self, audit, jobs, buckets, tmp_path, monkeypatch
    ):
        name = f"eval-done-{DAY}"
        buckets.put(jobs / name, f"{buckets.gpu}/{name}/{name}")
        manifest = tmp_path / "runs.csv"
        manifest.write_text(f"job_dir,model\n{buckets.gpu}/{name}/{name},\n{buckets.gpu}/a-job/a-job,org/m\n")
        command = f"{sys.executable} -c \"raise SystemExit('no answer of the cluster')\""
        monkeypatch.setenv("BENCHWRIGHT_IRIS_JOBS", command)
        answer = audit.answer("--iris", buckets.gpu, "--manifest", manifest)
        found = {one["run_tag"]: one for one in answer["data"]["evals"]}
        assert sorted(found) == ["a-job", name]
        assert (found[name]["verdict"], found[name]["checks"]["trials"]["status"]) == ("STOP", "pass")
        assert found[name]["checks"]["finished"]["detail"].endswith(": no answer of the cluster")
        assert found["a-job"]["verdict"] == "STOP"
        assert (answer["exit"], [problem["code"] for problem in answer["problems"]]) == (4, ["iris-jobs"])

    def test_addresses_that_are_none_are_told_at_once(self, audit):
        answer = audit.answer("--iris", "here", "s3://UPPER", "local:/x")
        assert (answer["exit"], len(answer["problems"])) == (2, 3)

    def test_a_manifest_tells_of_a_job_by_its_address(self, audit, jobs, buckets, tmp_path):
        name = f"eval-done-{DAY}"
        buckets.put(jobs / name, f"{buckets.gpu}/{name}/{name}")
        manifest = tmp_path / "runs.csv"
        manifest.write_text(f"job_dir,model\n{buckets.gpu}/{name}/{name},org/the-real-one\n")
        (one,) = audit.answer("--iris", buckets.gpu, "--manifest", manifest)["data"]["evals"]
        assert (one["run_tag"], one["model"]) == (name, "org/the-real-one")
        answer = audit.answer("--manifest", manifest)
        (problem,) = answer["problems"]
        assert (answer["exit"], problem["found"]) == (2, f"{buckets.gpu}/{name}/{name} is in a bucket")

    def test_a_table_without_buckets(self, audit):
        answer = audit.answer("x", "--iris-jobs", "jobs.csv")
        assert (answer["exit"], [problem["where"] for problem in answer["problems"]]) == (2, ["--iris-jobs"])
