"""Set-up for SkyPilot: what is put into the bucket, the commands, and what is refused, on a real object store."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tarfile
import uuid
from pathlib import Path

import pytest
import yaml

from benchwright.arena import TaskSubset
from benchwright.bridge import open_arena
from benchwright.contract import Exit, Failure
from benchwright.launch import BenchmarkPlan, LocalSetup, ModelJob, PathSetup, SkyPilotSetup, run_local, setup_jobs
from benchwright.launch.bucket_queue import BucketQueue
from benchwright.launch.frozen_environment import read_environment
from benchwright.launch.mirror import mirror_results
from benchwright.launch.sky_jobs import NoSky, SkyJob, parse_jobs
from benchwright.objects import open_store
from benchwright.raw import find_results, load_result
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


def worker(launch, folder):
    uri, _, name = launch.queue.rpartition("/queue/")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "benchwright.launch.bucket_worker", uri, name, "--folder", str(folder)]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_the_queue_holds_a_task_file_a_bundle_and_the_commands_name_it(bucket, tmp_path):
    report = setup_jobs(plan(tmp_path, bucket))
    (launch,) = report.launches
    store = open_store(f"{bucket}/demo")
    assert (launch.launch, launch.queue, launch.bundles) == ("demo-cpu-1", f"{bucket}/demo/queue/demo-cpu-1", 3)
    keys = {info.key for info in store.list("queue/")}
    batch = f"job_batch_demo_cpu-{report.identity}"
    assert keys == {
        "queue/demo-cpu-1/launch.json",
        f"queue/demo-cpu-1/batch/{batch}.tar.gz",
        *(f"queue/demo-cpu-1/tasks/0000{number}.json" for number in range(3)),
    }
    queue = BucketQueue(store, "demo-cpu-1")
    task = queue.read(queue.key("tasks", "00000.json"))[1]
    assert len(task["items"]) == 2 and task["batch"] == batch
    assert not {"python", "output_dir", "job_batch_dir", "slurm_log_dir"} & task["defaults"].keys()
    folder = tmp_path / "setup_out" / "demo" / "sky" / "demo-cpu-1"
    outcome = report.outcome("python run_knn.py")
    assert list(outcome.next) == [
        f"# launch demo-cpu-1, queue {bucket}/demo/queue/demo-cpu-1, 3 bundles",
        ': "${SKYPILOT_API_SERVER_ENDPOINT:?not set: the address of the SkyPilot API server}"',
        "sky check gcp",
        "sky jobs launch -y -d -n demo-cpu-1 --num-jobs 3 --secret AWS_ACCESS_KEY_ID --secret AWS_SECRET_ACCESS_KEY "
        f"--secret AWS_REGION --secret AWS_ENDPOINT_URL_S3 {folder}/job.yaml",
    ]
    assert outcome.next_title == "Run the following 3 command(s) to launch the jobs:"
    assert outcome.closing[0] == (
        f"Watch each:\n    {sys.executable} -m benchwright.launch.sky_progress {launch.queue} 3 --launch demo-cpu-1"
    )
    assert outcome.closing[1] == "When all have ended:\n    python run_knn.py eval --scheduler skypilot"
    record = json.loads((folder / "launch.json").read_text())
    facts = queue.facts()
    assert (record["environment"], record["manifest"]) == (facts["environment"], facts["manifest"])
    secret = os.environ["AWS_SECRET_ACCESS_KEY"]
    written = list(folder.iterdir())
    assert written and not any(secret in path.read_text() for path in written)
    with pytest.raises(Failure) as caught:
        run_local(plan(tmp_path, bucket))
    assert caught.value.problems[0].code == "set-up-for-skypilot"


def test_a_pool_has_its_own_file_and_is_taken_down(bucket, tmp_path):
    report = setup_jobs(plan(tmp_path, bucket, pool=True, cpus="16+", memory="64+"))
    folder = tmp_path / "setup_out" / "demo" / "sky" / "demo-cpu-1"
    assert [shlex.split(line, comments=True)[:4] for line in report.commands[3:]] == [
        ["sky", "jobs", "pool", "apply"],
        ["sky", "jobs", "pool", "status"],
        ["sky", "jobs", "launch", "-y"],
    ]
    assert report.outcome("x").closing[-1].endswith("sky jobs pool down -y demo-cpu-1-pool")
    pool = yaml.safe_load((folder / "pool.yaml").read_text())
    job = yaml.safe_load((folder / "job.yaml").read_text())
    assert pool["pool"] == {"workers": 3} and "run" not in pool
    assert pool["resources"] == {"infra": "gcp", "cpus": "16+", "memory": "64+", "use_spot": True}
    assert "setup" not in job and "secrets" not in job


def test_the_frozen_environment_has_pins_and_the_checkout_as_it_is(bucket, tmp_path):
    (launch,) = setup_jobs(plan(tmp_path, bucket)).launches
    store = open_store(f"{bucket}/demo")
    facts = BucketQueue(store, launch.launch).facts()
    store.get(f"{facts['environment']}/requirements.txt", tmp_path / "requirements.txt")
    pins = (tmp_path / "requirements.txt").read_text().splitlines()
    assert "tabarena==0.1.0" in pins and not any(pin.startswith("benchwright") for pin in pins)
    (checkout,) = facts["manifest"]["checkouts"]
    assert len(checkout["sha"]) == 40 and checkout["projects"] == ["."]
    store.get(f"{facts['environment']}/{checkout['name']}.tar.gz", tmp_path / "checkout.tar.gz")
    with tarfile.open(tmp_path / "checkout.tar.gz") as archive:
        members = archive.getmembers()
    names = {member.name for member in members}
    assert {"pyproject.toml", "src/benchwright/__init__.py"} <= names
    assert not any(name.startswith((".git/", ".venv")) for name in names)
    assert {(member.uname, member.mtime) for member in members} == {("", 0)}


def test_what_cannot_be_had_elsewhere_is_refused(tmp_path):
    import venv

    venv.create(tmp_path / "venv")
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for name, url in {
        "editable": {"url": f"file://{tmp_path}", "dir_info": {"editable": True}},
        "wheel": {"url": f"file://{tmp_path}/wheel.whl", "archive_info": {}},
    }.items():
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "direct_url.json").write_text(json.dumps(url))
    with pytest.raises(Failure) as caught:
        read_environment(str(tmp_path / "venv" / "bin" / "python"))
    assert caught.value.exit == Exit.ENVIRONMENT
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [
        ("not-portable", "wheel"),
        ("no-checkout", "editable"),
    ]


@pytest.mark.parametrize("store", ["local:/somewhere", "ftp://bucket", ""])
def test_a_store_that_workers_do_not_reach_is_wrong_usage(tmp_path, store):
    with pytest.raises(Failure) as caught:
        setup_jobs(plan(tmp_path, store))
    assert caught.value.exit == Exit.USAGE
    assert not (tmp_path / "setup_out").exists()


def test_setup_again_is_refused_until_the_launch_has_drained(bucket, tmp_path, monkeypatch):
    setup_jobs(plan(tmp_path, bucket))

    def refused(expected):
        with pytest.raises(Failure) as caught:
            setup_jobs(plan(tmp_path, bucket))
        (problem,) = caught.value.problems
        assert (caught.value.exit, problem.code) == (Exit.REFUSED, "still-launched")
        assert expected in problem.found

    refused("whether someone works on them is not known: no sky client on PATH")
    with pytest.raises(Failure):  # a set-up for this machine would fit the same items a second time
        setup_jobs(plan(tmp_path, bucket, scheduler_setup=LocalSetup()))
    client = tmp_path / "client"
    sky_that_says(monkeypatch, client, [])
    refused("sky lists no job called demo-cpu-1: it may be launched yet")
    jobs = [{"job_id": 4, "job_name": "demo-cpu-1", "status": status} for status in ("FAILED", "RECOVERING")]
    sky_that_says(monkeypatch, client, jobs)
    refused("3 bundles have not ended; jobs at work: 4 RECOVERING")
    sky_that_says(monkeypatch, client, jobs[:1])
    report = setup_jobs(plan(tmp_path, bucket))
    assert report.launches[0].launch == "demo-cpu-2"
    assert "launch demo-cpu-1: 3 bundles had not ended, and none of its 1 jobs is at work" in report.notes
    assert BucketQueue(open_store(f"{bucket}/demo"), "demo-cpu-1").closed


def test_what_sky_lists_is_read_and_anything_else_is_unknown():
    said = 'Checking...\n[\n {"job_id": 1, "job_name": "a", "status": "RUNNING"},\n {"job_id": 2, "job_name": "b"}]'
    assert isinstance(parse_jobs(said, "b"), NoSky)
    assert parse_jobs(said, "a") == [SkyJob(1, "RUNNING")]
    assert parse_jobs("[]", "a") == []
    assert isinstance(parse_jobs("no jobs", "a"), NoSky)


def test_mirroring_fetches_what_is_missing_and_keeps_what_differs(bucket, tmp_path):
    store, data = open_store(bucket), tmp_path / "data"
    for name in ("here", "differs", "missing"):
        store.put(f"output/data/m/t/{name}/results.pkl", name.encode())
    for name, content in {"here": b"here", "differs": b"another", "own": b"own"}.items():
        (data / "m" / "t" / name).mkdir(parents=True)
        (data / "m" / "t" / name / "results.pkl").write_bytes(content)
    done = mirror_results(store, data)
    assert (done.fetched, done.there, [problem.code for problem in done.problems]) == (1, 1, ["differs-from-bucket"])
    contents = {path.parent.name: path.read_bytes() for path in data.glob("m/t/*/results.pkl")}
    assert contents == {"here": b"here", "differs": b"another", "missing": b"missing", "own": b"own"}


@pytest.mark.slow
def test_a_run_by_workers_is_the_local_run(bucket, tmp_path, monkeypatch):
    """Real fits: one worker killed, two that go on, mirrored, and equal to a run on this machine."""
    monkeypatch.setattr("benchwright.launch.bucket_queue.LEASE_SECONDS", 15.0)
    (launch,) = setup_jobs(plan(tmp_path / "sky", bucket)).launches
    first = worker(launch, tmp_path / "one")
    while "item-done" not in (line := first.stdout.readline()):
        assert line, "the worker ended before an item was done"
    first.kill()
    first.communicate()
    queue = BucketQueue(open_store(f"{bucket}/demo"), launch.launch)
    others = [worker(launch, tmp_path / name) for name in ("two", "three")]
    outputs = [other.communicate(timeout=200)[0] for other in others]
    assert [other.returncode for other in others] == [0, 0], outputs
    assert queue.standing().done == {"00000", "00001", "00002"}, list(queue.failures())
    again = setup_jobs(plan(tmp_path / "sky", bucket))
    assert (again.approved, again.launches, again.cached) == (0, (), 6)
    local = plan(tmp_path / "local", bucket, scheduler_setup=LocalSetup(bundle_size=2))
    setup_jobs(local)
    assert run_local(local).ok == 6
    assert figures(tmp_path / "sky") == figures(tmp_path / "local")


def figures(workspace):
    """What a result says that is no time."""
    files = find_results(workspace / "output" / "demo").files
    results = [load_result(file.path) for file in files]
    return [
        (one.framework, one.dataset, one.split, one.metric_error, one.metric_error_val, one.predictions.test.tolist())
        for one in results
    ]


def test_a_run_script_sets_up_for_a_bucket_and_its_eval_mirrors_first(bucket, tmp_path):
    """The golden template, filled for the mini arena, as a maintainer runs it."""
    made = subprocess.run(
        [
            *(sys.executable, str(ROOT / "scripts" / "new_benchmark.py"), "KNN", "--arena", "mini", "--configs", "0"),
            *("--workspace", str(tmp_path / "ws"), "--script-dir", str(tmp_path), "--name", "demo", "--json"),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    (script,) = tmp_path.glob("run_*.py")

    def step(*words):
        done = subprocess.run(
            [sys.executable, str(script), *words, "--json"], capture_output=True, text=True, check=False
        )
        return json.loads(done.stdout)

    refused = step("setup", "--scheduler", "skypilot")
    assert (refused["exit"], refused["problems"][0]["code"]) == (2, "usage")
    said = step("setup", "--scheduler", "skypilot-pool", "--store", bucket)
    assert said["exit"] == 0, said
    (launch,) = said["data"]["launches"]
    assert launch["pool"] == "demo-cpu-1-pool" and said["next"][0] == (
        f"# launch demo-cpu-1, queue {bucket}/demo/queue/demo-cpu-1, {launch['bundles']} bundles"
    )
    store = open_store(f"{bucket}/demo")
    genuine = next((ROOT / "tests" / "data" / "tabarena_raw" / "data").glob("KN*/*/0_0/results.pkl"), None)
    genuine = genuine or next((ROOT / "tests" / "data" / "tabarena_raw" / "data").glob("*/*/0_0/results.pkl"))
    place = genuine.relative_to(ROOT / "tests" / "data" / "tabarena_raw" / "data")
    store.put(f"output/data/{place}", genuine)
    step("eval", "--scheduler", "skypilot-pool", "--store", bucket)
    assert (tmp_path / "ws" / "output" / "demo" / "data" / place).read_bytes() == genuine.read_bytes()
