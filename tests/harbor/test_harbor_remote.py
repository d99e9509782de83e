"""Job folders in buckets: what real servers of both protocols say of them is what the folder says."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from harbor_files import DATA

from benchwright.harbor import RemoteFolder, Taxonomy, figures, plan_of, read_job, read_tree
from benchwright.harbor.tree import Content, Odd
from benchwright.objects import open_reader, open_store
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from object_servers import QUICK, settings

KINDS = ["pass", "fail", "not-verified", "cut-off", "nan", "unfinished"]
SEVEN = Taxonomy.load().profile()


@pytest.fixture(params=["s3", "gs"])
def bucket(request, no_credentials):
    """The address of an empty place in a bucket, and what its server is asked with."""
    if request.param == "s3":
        own = settings(request.getfixturevalue("seaweed").url)
    else:
        own = {"STORAGE_EMULATOR_HOST": request.getfixturevalue("google").url}
    return f"{request.param}://results/{uuid.uuid4()}", own


def upload(folder, bucket, path):
    address, own = bucket
    store = open_store(address, settings=own, patience=QUICK)
    files = [file for file in folder.rglob("*") if file.is_file()]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda file: store.put(f"{path}/{file.relative_to(folder)}", file), files))


def reader_of(bucket):
    address, own = bucket
    return open_reader(address, settings=own, patience=QUICK)


def facts(job):
    return figures(job, SEVEN, plan_of(job)).facts()


@pytest.fixture
def job(tmp_path):
    grow_job(tmp_path / "job", KINDS, JobShape(2), seed=3)
    return tmp_path / "job"


def test_a_bucket_says_what_the_folder_says(job, bucket):
    upload(job, bucket, "jobs/job/job")
    found = read_tree(RemoteFolder(reader_of(bucket), "jobs/job/job"), "job")
    local = read_job(job)
    assert facts(found) == facts(local)
    assert (found.trials, found.aggregate, found.config) == (local.trials, local.aggregate, local.config)
    assert (found.folders, found.written, found.live) == ((f"{bucket[0]}/jobs/job/job",), None, False)
    assert read_tree(RemoteFolder(reader_of(bucket), "jobs/none"), "none").present == 0


def test_a_genuine_folder_in_a_bucket(bucket):
    folder = DATA / "eval-tiny_bench-killed9-20260901_124000"
    upload(folder, bucket, "killed")
    found = read_tree(RemoteFolder(reader_of(bucket), "killed"), folder.name)
    assert found.trials == read_job(folder).trials
    assert facts(found) == facts(read_job(folder))


def test_so_much_is_read_and_no_more(bucket):
    address, own = bucket
    store = open_store(address, settings=own, patience=QUICK)
    store.put("job/trial/result.json", b"0123456789")
    store.put("job/empty", b"")
    folder = RemoteFolder(reader_of(bucket), "job")
    assert folder.read("trial/result.json", 9) == Content(None, bytes(32))
    assert folder.read("trial/result.json", 10).data == folder.read("trial/result.json").data == b"0123456789"
    assert folder.read("empty").data == b""
    assert folder.read("no/such.json") is None
    assert all(map(folder.exists, ("trial", "trial/result.json", "empty")))
    assert not any(map(folder.exists, ("no", "tri")))


def test_what_no_result_can_be_as_large_as(bucket, monkeypatch):
    address, own = bucket
    open_store(address, settings=own, patience=QUICK).put("job/trial/result.json", b"0123456789")
    monkeypatch.setattr("benchwright.harbor.remote.MOST_BYTES", 9)
    with pytest.raises(Odd, match="more than 1 GiB"):
        RemoteFolder(reader_of(bucket), "job").read("trial/result.json", 9)
