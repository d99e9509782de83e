"""Job folders in a bucket: a real S3 server, read through fsspec as any other of its file systems."""

from __future__ import annotations

import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.local import LocalFileSystem
from pyarrow.fs import S3FileSystem

from benchwright.contract import Exit, Failure
from benchwright.harbor import RemoteFolder, Taxonomy, figures, plan_of, read_job, read_tree
from benchwright.harbor.tree import Odd
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from object_servers import KEY_ID, SECRET

KINDS = ["pass", "fail", "not-verified", "cut-off", "nan", "unfinished"]
SEVEN = Taxonomy.load().profile()


@pytest.fixture
def job(tmp_path):
    grow_job(tmp_path / "job", KINDS, JobShape(2), seed=3)
    return tmp_path / "job"


def facts(job):
    return figures(job, SEVEN, plan_of(job)).facts()


def test_a_bucket_says_what_the_folder_says(job, seaweed):
    for path in job.rglob("*"):
        if path.is_file():
            seaweed.client.put_object(
                Bucket=seaweed.bucket, Key=f"jobs/job/job/{path.relative_to(job)}", Body=path.read_bytes()
            )
    s3 = S3FileSystem(access_key=KEY_ID, secret_key=SECRET, endpoint_override=seaweed.url)
    folder = RemoteFolder(ArrowFSWrapper(s3), f"{seaweed.bucket}/jobs/job/job")
    found = read_tree(folder, "job")
    local = read_job(job)
    assert facts(found) == facts(local)
    assert (found.trials, found.aggregate, found.config) == (local.trials, local.aggregate, local.config)
    assert found.written is None
    assert read_tree(RemoteFolder(ArrowFSWrapper(s3), f"{seaweed.bucket}/jobs/none"), "none").present == 0


def test_a_large_result_is_asked_for_once_more(job):
    folder = RemoteFolder(LocalFileSystem(), f"{job}/")
    name = min(path.name for path in job.iterdir() if path.is_dir())
    path = f"{name}/result.json"
    size = (job / path).stat().st_size
    assert folder.read(path, size - 1).data is None
    assert len(folder.read(path, size).data) == size
    assert folder.read("no/such.json") is None
    assert folder.exists(path)
    assert not folder.exists("no")
    with pytest.raises(Odd, match="no regular file"):
        folder.read(name)


def test_what_does_not_answer_and_what_may_not_be_read(job, monkeypatch):
    folder = RemoteFolder(LocalFileSystem(), str(job))
    for error, exit, found in (
        (PermissionError(13, "Permission denied"), Exit.ENVIRONMENT, "permission denied"),
        (RuntimeError("502"), Exit.REMOTE, "RuntimeError: 502"),
    ):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(LocalFileSystem, "ls", fail)
        with pytest.raises(Failure) as caught:
            read_tree(folder, "job")
        (problem,) = caught.value.problems
        assert (caught.value.exit, problem.where, problem.found) == (exit, f"file://{job}", found)
