"""Set-up for SkyPilot: what is put into the bucket, the commands, and what is refused, on a real object store."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import tarfile
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from benchwright.arena import TaskSubset
from benchwright.bridge import open_arena
from benchwright.contract import Exit, Failure, Outcome
from benchwright.files import RunPaths
from benchwright.launch import (
    BenchmarkPlan,
    LocalSetup,
    ModelJob,
    PathSetup,
    SetupReport,
    SkyPilotSetup,
    fetch_run,
    run_local,
    setup_jobs,
    with_pools_down,
)
from benchwright.launch.bucket_queue import BucketQueue, launches
from benchwright.launch.mirror import mirror_results
from benchwright.launch.sky_drain import refuse_undrained
from benchwright.launch.sky_jobs import NoSky, SkyJob, parse_jobs
from benchwright.objects import open_store
from object_servers import settings

ROOT = Path(__file__).resolve().parents[2]
TWO = list(open_arena("mini").spec.tasks.datasets[:2])


@pytest.fixture
def bucket(seaweed, monkeypatch, tmp_path):
    """The address of a place in the server's bucket, with the settings for it and no sky client."""
    for name, value in settings(seaweed.url, AWS_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"/usr/bin{os.pathsep}/bin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("benchwright.launch.sky_launch.chance_word", lambda: "ab")
    return f"s3://results/{uuid.uuid4()}"


def plan(workspace, store, **changes):
    setup = {"store": store, "workers": 3, "bundle_size": 2}
    setup |= {name: changes.pop(name) for name in list(changes) if name in SkyPilotSetup.__dataclass_fields__}
    facts = {
        "benchmark_name": "demo",
        "arena": "mini",
        "model_jobs": [ModelJob(("KNN", 0), name="cpu")],
        "path_setup": PathSetup(workspace),
        "scheduler_setup": SkyPilotSetup(**setup),
        "task_subset": TaskSubset(dataset_names=TWO),
    }
    return BenchmarkPlan(**facts | changes)


def sky_that_says(monkeypatch, folder, jobs):
    """A client on PATH that lists these jobs: the real one needs a server that probes outside addresses."""
    folder.mkdir(exist_ok=True)
    (folder / "sky").write_text(f"#!/bin/sh\ncat <<'EOF'\n{json.dumps(jobs)}\nEOF\n")
    (folder / "sky").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def test_the_queue_holds_a_task_file_a_bundle_and_the_commands_name_it(bucket, tmp_path):
    report = setup_jobs(plan(tmp_path, bucket))
    (launch,) = report.launches
    store = open_store(f"{bucket}/demo")
    assert (launch.launch, launch.queue, launch.bundles) == (
        "demo-cpu-1-ab",
        f"{bucket}/demo/queue/demo-cpu-1-ab",
        3,
    )
    keys = {info.key for info in store.list("queue/")}
    batch = f"job_batch_demo_cpu-{report.identity}"
    assert keys == {
        "queue/demo-cpu-1-ab/launch.json",
        f"queue/demo-cpu-1-ab/batch/{batch}.tar.gz",
        *(f"queue/demo-cpu-1-ab/tasks/0000{number}.json" for number in range(3)),
    }
    queue = BucketQueue(store, "demo-cpu-1-ab")
    task = queue.read(queue.key("tasks", "00000.json"))[1]
    assert len(task["items"]) == 2 and task["batch"] == batch
    assert not {"python", "output_dir", "job_batch_dir", "slurm_log_dir"} & task["defaults"].keys()
    folder = tmp_path / "setup_out" / "demo" / "sky" / "demo-cpu-1-ab"
    outcome = report.outcome("python run_knn.py")
    assert list(outcome.next) == [
        f"# launch demo-cpu-1-ab, queue {bucket}/demo/queue/demo-cpu-1-ab, 3 bundles",
        ': "${SKYPILOT_API_SERVER_ENDPOINT:?not set: the address of the SkyPilot API server}"',
        "sky check gcp",
        "sky jobs launch -y -d -n demo-cpu-1-ab --num-jobs 3 --secret AWS_ACCESS_KEY_ID --secret AWS_SECRET_ACCESS_KEY "
        f"--secret AWS_REGION --secret AWS_ENDPOINT_URL_S3 {folder}/job.yaml",
    ]
    assert outcome.next_title == "Run the following 3 command(s) to launch the jobs:"
    watch = (
        f"{sys.executable} -P -m benchwright.launch.sky_progress {launch.queue} 3 --launch demo-cpu-1-ab "
        f"--log-dir {tmp_path}/slurm_out/demo/demo-cpu-1-ab"
    )
    evaluation = f"python run_knn.py eval --scheduler skypilot --store {bucket}"
    assert outcome.closing == (f"Watch each:\n    {watch}", f"When all have ended:\n    {evaluation}")
    assert outcome.summary.endswith("items -> 3 bundles (max 2 items/bundle).")
    assert (outcome.data["launches"][0]["watch"], outcome.data["launches"][0]["down"]) == (watch, None)
    assert outcome.data["eval"] == evaluation == report.steps("python run_knn.py")[-1]
    record = json.loads((folder / "launch.json").read_text())
    facts = queue.facts()
    (checkout,) = facts["manifest"]["checkouts"]
    said = record["repositories"]["benchwright"]
    assert said == checkout["sha"] + (" with local changes" if checkout["changed"] else "")
    assert (record["environment"], record["infra"], record["workers"]) == (facts["environment"], "gcp", 3)
    secret = os.environ["AWS_SECRET_ACCESS_KEY"]
    written = list(folder.iterdir())
    assert written and not any(secret in path.read_text() for path in written)
    with pytest.raises(Failure) as caught:
        run_local(plan(tmp_path, bucket))
    assert caught.value.problems[0].code == "set-up-for-skypilot"
    the_environment_has_pins_and_the_checkout_as_it_is(store, facts, tmp_path)


def the_environment_has_pins_and_the_checkout_as_it_is(store, facts, tmp_path):
    store.get(f"{facts['environment']}/requirements.txt", tmp_path / "requirements.txt")
    pins = (tmp_path / "requirements.txt").read_text().splitlines()
    assert "tabarena==0.1.0" in pins and not any(pin.startswith("benchwright") for pin in pins)
    (checkout,) = facts["manifest"]["checkouts"]
    assert len(checkout["sha"]) == 40 and checkout["projects"] == {"benchwright": "."}
    store.get(f"{facts['environment']}/{checkout['name']}.tar.gz", tmp_path / "checkout.tar.gz")
    with tarfile.open(tmp_path / "checkout.tar.gz") as archive:
        members = archive.getmembers()
    names = {member.name for member in members}
    assert {"pyproject.toml", "src/benchwright/__init__.py"} <= names
    assert not any(name.startswith((".git/", ".venv")) for name in names)
    assert {(member.uname, member.mtime) for member in members} == {("", 0)}


def test_a_pool_has_its_own_file_and_is_taken_down(bucket, tmp_path):
    store = open_store(f"{bucket}/demo")
    assert BucketQueue(store, "demo-cpu-1-00").claim()  # a set-up that was killed while it staged
    store.put("queue/demo-cpu-1-00/tasks/00000.json", b"{}")
    report = setup_jobs(plan(tmp_path, bucket, pool=True, cpus="16+", memory="64+"))
    assert launches(store) == ["demo-cpu-2-ab"]
    folder = tmp_path / "setup_out" / "demo" / "sky" / "demo-cpu-2-ab"
    assert [shlex.split(line, comments=True)[:4] for line in report.commands[3:]] == [
        ["sky", "jobs", "pool", "apply"],
        ["sky", "jobs", "pool", "status"],
        ["sky", "jobs", "launch", "-y"],
    ]
    down = "sky jobs pool down -y demo-cpu-2-ab-pool"
    costs = f"A pool costs until it is down. When the benchmark is finished:\n    {down}"
    assert report.outcome("x").closing[-1] == costs
    assert report.outcome().data["launches"][0]["down"] == report.steps("x")[-1] == down
    pool = yaml.safe_load((folder / "pool.yaml").read_text())
    job = yaml.safe_load((folder / "job.yaml").read_text())
    assert pool["pool"] == {"workers": 3} and "run" not in pool
    assert pool["resources"] == {"infra": "gcp", "cpus": "16+", "memory": "64+", "use_spot": True}
    assert "setup" not in job and "secrets" not in job


def test_the_pools_of_earlier_launches_are_named_until_the_end(bucket, tmp_path, monkeypatch):
    """A launch whose jobs were cancelled leaves a pool that nobody works on."""
    setup_jobs(plan(tmp_path, bucket, pool=True))
    job = {"job_id": 4, "job_name": "demo-cpu-1-ab", "status": "CANCELLED"}
    sky_that_says(monkeypatch, tmp_path / "client", [job])
    report = setup_jobs(plan(tmp_path, bucket, pool=True))
    downs = [f"sky jobs pool down -y demo-cpu-{number}-ab-pool" for number in (1, 2)]
    assert report.outcome().data["pools_down"] == report.steps("x")[-2:] == downs
    said = "\n    ".join(["A pool costs until it is down. When the benchmark is finished:", *downs])
    assert report.outcome("x").closing[-1] == said
    done = replace(report, cached=report.total, arrays=(), launches=())
    assert done.outcome("x").closing == (said,)
    then = "# when nothing is missing any more:"
    assert done.steps("x") == [f"x eval --scheduler skypilot --store {bucket}", then, *downs]
    elsewhere = RunPaths(tmp_path / "another workspace", "demo")
    fetch_run(bucket, elsewhere)
    assert with_pools_down(Outcome("well"), elsewhere).data["pools_down"] == downs
    (elsewhere.setup / "sky" / "pools.json").write_text("damaged")
    assert with_pools_down(Outcome("well"), elsewhere).data["pools_down"] == []
    evaluated = with_pools_down(Outcome("well", {"place": 1}, closing=["first of two"]), report.paths)
    assert (evaluated.data, evaluated.closing) == ({"place": 1, "pools_down": downs}, [said, "first of two"])
    none = with_pools_down(Outcome("well"), RunPaths(tmp_path, "another"))
    assert (none.data, none.closing) == ({"pools_down": []}, [])


@pytest.mark.parametrize("store", ["local:/somewhere", "ftp://bucket", ""])
def test_a_store_that_workers_do_not_reach_is_wrong_usage(tmp_path, store):
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path, store))
    assert caught.value.exit == Exit.USAGE
    assert not (tmp_path / "setup_out").exists()


def test_setup_again_is_refused_until_the_launch_has_drained(bucket, tmp_path, monkeypatch):
    (launch,) = setup_jobs(plan(tmp_path, bucket)).outcome().data["launches"]

    def refused(expected):
        with pytest.raises(Failure) as caught:
            setup_jobs(plan(tmp_path, bucket))
        (problem,) = caught.value.problems
        assert (caught.value.exit, problem.code) == (Exit.REFUSED, "still-launched")
        assert expected in problem.found
        assert caught.value.next == (launch["watch"],), "whoever comes back does not know it"

    refused("whether someone works on it is not known: 3 bundles have not ended, and no sky client on PATH")
    with pytest.raises(Failure):  # a set-up for this machine would fit the same items a second time
        setup_jobs(plan(tmp_path, bucket, scheduler_setup=LocalSetup()))
    client = tmp_path / "client"
    sky_that_says(monkeypatch, client, [])
    refused("sky lists no job called demo-cpu-1-ab: it may be launched yet")
    jobs = [{"job_id": 4, "job_name": "demo-cpu-1-ab", "status": status} for status in ("FAILED", "RECOVERING")]
    sky_that_says(monkeypatch, client, jobs)
    refused("3 bundles have not ended; jobs at work: 4 RECOVERING")
    sky_that_says(monkeypatch, client, jobs[:1])
    report = setup_jobs(plan(tmp_path, bucket))
    assert report.launches[0].launch == "demo-cpu-2-ab"
    assert "launch demo-cpu-1-ab: 3 bundles had not ended, and none of its jobs is at work" in report.notes
    assert BucketQueue(open_store(f"{bucket}/demo"), "demo-cpu-1-ab").closed


def test_of_two_set_ups_at_the_same_time_one_launch_is_left(bucket, tmp_path, monkeypatch):
    """The other one comes in when the first has asked for earlier launches, and has not written its own."""
    publish, others = BucketQueue.publish, []

    def late(queue, *content):
        if not others:
            others.append(None)
            others.append(setup_jobs(plan(tmp_path / "other", bucket)).launches[0].launch)
        publish(queue, *content)

    words = iter(("ab", "cd"))
    monkeypatch.setattr("benchwright.launch.sky_launch.chance_word", lambda: next(words))
    monkeypatch.setattr(BucketQueue, "publish", late)
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path / "first", bucket))
    assert caught.value.exit == Exit.REFUSED and others[1:] == ["demo-cpu-1-cd"]
    assert [(one.where, one.found) for one in caught.value.problems] == [
        (f"{bucket}/demo/queue/demo-cpu-1-cd", "staged by another set-up meanwhile")
    ]
    assert " 3 --launch demo-cpu-1-cd --log-dir " in caught.value.next[0]
    store = open_store(f"{bucket}/demo")
    assert [(name, BucketQueue(store, name).closed) for name in launches(store)] == [
        ("demo-cpu-1-ab", True), ("demo-cpu-1-cd", False),
    ]  # fmt: skip


def test_a_run_that_has_all_is_evaluated_where_its_results_are(tmp_path):
    facts = {"total": 3, "cached": 3, "expected_results": 3, "arrays": (), "record": tmp_path, "identity": "x"}
    report = SetupReport(RunPaths(tmp_path, "demo"), sys.executable, store="s3://bucket/a run", **facts)
    assert list(report.outcome("run").next) == ["run eval --scheduler skypilot --store 's3://bucket/a run'"]
    assert report.steps("run") == list(report.outcome("run").next)


def test_without_a_store_the_option_is_named(tmp_path):
    with pytest.raises(Failure) as caught:
        fetch_run("", RunPaths(tmp_path, "demo"))
    assert str(caught.value) == (
        "store: not given, expected SkyPilot's bucket, gs://, s3:// or r2://BUCKET/PREFIX\n"
        "    fix: --store, BENCHWRIGHT_STORE in the environment, or STORE in the run script"
    )


def test_a_damaged_earlier_launch_is_not_taken_for_an_end(bucket, tmp_path):
    store = open_store(f"{bucket}/demo")
    queue = BucketQueue(store, "demo-cpu-1-ab")
    queue.publish([{"items": []}], {}, {})
    store.put("queue/demo-cpu-1-ab/launch.json", b"damaged")
    with pytest.raises(Failure) as caught:
        refuse_undrained(store, tmp_path, ask_sky=True)
    assert caught.value.exit == Exit.REFUSED
    assert str(caught.value) == (
        f"{queue.url}: whether someone works on it is not known: no JSON object, expected no earlier launch at work\n"
        "    fix: run setup where sky lists the launch's jobs; a launch that is given up is closed by "
        f"{sys.executable} -m benchwright.launch.bucket_worker {bucket}/demo demo-cpu-1-ab --close"
    )
    queue.close("given up")
    assert refuse_undrained(store, tmp_path, ask_sky=True) == []


def test_what_sky_lists_is_read_and_anything_else_is_unknown():
    said = 'Checking...\n[\n {"job_id": 1, "job_name": "a", "status": "RUNNING"},\n {"job_id": 2, "job_name": "b"}]'
    assert isinstance(parse_jobs(said, "b"), NoSky)
    assert parse_jobs(said, "a") == [SkyJob(1, "RUNNING")]
    assert parse_jobs("[]", "a") == []
    assert isinstance(parse_jobs("no jobs", "a"), NoSky)


def test_mirroring_fetches_what_is_missing_and_keeps_what_differs(moto, moto_store, tmp_path):
    data, memory = tmp_path / "data", tmp_path / "memory.json"
    here, differs, missing, own = (f"m/t/0_{number}/results.pkl" for number in range(4))
    for place in (here, differs, missing):
        moto_store.put(f"output/data/{place}", place.encode())
    strangers = ("output/data/m/t/0_9/notes.txt", "output/data/m/t/x_9/results.pkl", "output/data/results.pkl")
    for key in strangers:
        moto_store.put(key, b"someone else's")
    for place, content in {here: here.encode(), differs: b"another", own: b"own"}.items():
        (data / place).parent.mkdir(parents=True)
        (data / place).write_bytes(content)
    moto.seen.clear()
    done = mirror_results(moto_store, data, memory=memory)
    assert (done.fetched, done.there, [problem.code for problem in done.problems]) == (1, 1, ["differs-from-bucket"])
    contents = {str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*") if path.is_file()}
    assert contents == {here: here.encode(), differs: b"another", missing: missing.encode(), own: b"own"}
    put = moto_store.head(f"output/data/{missing}").modified
    assert (data / missing).stat().st_mtime == put.timestamp(), "its time tells when it was fitted"
    moto.seen.clear()
    again = mirror_results(moto_store, data, memory=memory)
    assert (again.fetched, again.there, len(again.problems)) == (0, 2, 1)
    assert [line.split()[0] for line in moto.seen] == ["GET"], "a listing, and not a question a result"
    (data / missing).write_bytes(b"changed since")
    assert len(mirror_results(moto_store, data, memory=memory).problems) == 2
    memory.write_text("damaged")
    moto_store.put(f"output/data/{here}", b"anew")
    assert len(mirror_results(moto_store, data, memory=memory).problems) == 3
