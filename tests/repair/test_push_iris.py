"""An Iris job pushed from its bucket: copied down, registered, the copy gone, and the bucket only read."""

from __future__ import annotations

import tempfile

import pytest
from push_runs import Pusher, StandInUploader, said

from audit_runs import AuditedRun
from benchwright.contract import Exit, Failure
from benchwright.rehearsal.harbor_jobs import JobShape
from benchwright.repair.push.iris_copy import IrisPlace, copied_down

NAME = "eval-small-bench-real-model-20260901-120000"
SHAPE = JobShape(source="small_bench", model="real-model-8B", provider="laion")


@pytest.fixture
def pusher(buckets, eval_rows, hub, settings, tmp_path):
    for name, value in buckets.servers.settings.items():
        settings.setenv(name, value)
    (tmp_path / "jobs.csv").write_text(f"job_id,state\n/me/{NAME},4\n")
    return Pusher(eval_rows, hub, settings, tmp_path, "postgres")


@pytest.fixture
def copies(tmp_path, settings):
    """Where temporary folders are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    settings.setattr(tempfile, "tempdir", str(place))
    return place


def nothing(done, total, *, failed=0, note=""):
    pass


@pytest.mark.parametrize("kind", ["gpu", "tpu"])
def test_a_job_in_a_bucket_is_registered(pusher, buckets, tmp_path, copies, kind):
    run = AuditedRun(tmp_path, NAME, shape=SHAPE, model=None)
    address = f"{getattr(buckets, kind)}/ot-agent/{NAME}"
    buckets.put(run.folder, f"{address}/{NAME}", files=("*", "*/*"))
    uploader = pusher.uploader = _Looking(pusher.hub, sorted(run.truth.states), copies)
    outcome = pusher.push(address, skip_hf=False, iris_jobs=tmp_path / "jobs.csv")
    assert (outcome.exit, said(outcome)) == (Exit.DONE, [])
    assert uploader.seen == {path.name for path in run.folder.iterdir()}
    assert list(copies.iterdir()) == []
    (job,) = pusher.table("sandbox_jobs")
    assert (str(job["id"]), job["job_name"], job["n_trials"]) == (run.aggregate["id"], NAME, 12)
    assert [one["name"] for one in pusher.table("models")] == ["laion/real-model-8B"]
    assert pusher.count()["sandbox_trials"] == 12
    again = pusher.push(f"{address}/{NAME}/", skip_hf=False, iris_jobs=tmp_path / "jobs.csv")
    assert again.data["plan"]["changes"] == []
    assert buckets.methods <= {"GET", "HEAD"}


class _Looking(StandInUploader):
    """Notes what is in the folder that it is given."""

    def __init__(self, hub, trials, copies):
        super().__init__(hub, trials)
        self.copies, self.seen = copies, set()

    def upload(self, folder, repo, *, apply):
        assert folder.is_relative_to(self.copies)
        self.seen |= {path.name for path in folder.iterdir()}
        return super().upload(folder, repo, apply=apply)


def test_what_the_jobs_table_does_not_tell_is_unknown(pusher, buckets, tmp_path, copies):
    run = AuditedRun(tmp_path, NAME, shape=SHAPE)
    address = f"{buckets.gpu}/ot-agent/{NAME}"
    buckets.put(run.folder, f"{address}/{NAME}", files=("*", "*/*"))
    outcome = pusher.push(address)
    assert (outcome.exit, said(outcome)) == (
        Exit.REFUSED,
        [("job-unknown", "whether its job is live is unknown (no table of Iris jobs was given (--iris-jobs FILE))")],
    )
    (tmp_path / "jobs.csv").write_text("job_id,state\n/me/eval-another,4\n")
    outcome = pusher.push(address, iris_jobs=tmp_path / "jobs.csv")
    assert said(outcome) == [("no-such-job", "no such job in the bucket or the jobs table")]
    assert set(pusher.count().values()) == {0}


def test_a_copy_goes_away_whatever_happens(buckets, tmp_path, copies, settings):
    for name, value in buckets.servers.settings.items():
        settings.setenv(name, value)
    run = AuditedRun(tmp_path, NAME, shape=SHAPE)
    buckets.put(run.folder, f"{buckets.gpu}/{NAME}", files=("*", "*/*"))
    with pytest.raises(RuntimeError), copied_down(f"{buckets.gpu}/{NAME}", NAME, traces=False, progress=nothing) as to:
        assert {path.name for path in to.rglob("*.*")} == {"result.json", "config.json", "lock.json"}
        raise RuntimeError
    assert list(copies.iterdir()) == []


class _Hostile:
    url = "s3://results/job"

    def names(self, folder=""):
        from benchwright.objects.reader import Names

        return Names((), ("..",))


def test_a_name_that_leaves_the_folder_is_refused(copies, monkeypatch):
    monkeypatch.setattr("benchwright.repair.push.iris_copy.open_reader", lambda address: _Hostile())
    with pytest.raises(Failure) as failure, copied_down("s3://results/job", "job", traces=True, progress=nothing):
        pass
    assert failure.value.exit == Exit.REFUSED
    assert str(failure.value) == (
        "s3://results/job/: an object called '..', expected names of files\n"
        "    fix: have the object renamed or removed, by whoever wrote it"
    )
    assert list(copies.iterdir()) == []


@pytest.mark.parametrize(
    ("address", "bucket", "name"),
    [
        ("gs://results/ot-agent/job", "gs://results/ot-agent", "job"),
        ("gs://results/ot-agent/job/job/", "gs://results/ot-agent", "job"),
        ("s3://results/a/b/job", "s3://results/a/b", "job"),
    ],
)
def test_addresses(address, bucket, name):
    assert IrisPlace.parse(address) == IrisPlace(bucket, name)


@pytest.mark.parametrize("address", ["gs://results", "gs://results/job", "ftp://results/a/job", "gs://results/job/job"])
def test_what_is_no_address_of_a_job(address):
    with pytest.raises(Failure) as failure:
        IrisPlace.parse(address)
    assert failure.value.exit == Exit.USAGE
