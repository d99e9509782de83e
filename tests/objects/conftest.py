"""The stores' servers, started once a session and always stopped."""

from __future__ import annotations

import os
import uuid

import pytest
from object_servers import QUICK, FaultyMoto, SeaweedServer, impatient_client, settings, stopped_at_end

from benchwright.objects import Patience, open_store
from benchwright.objects.bucket import Bucket
from benchwright.objects.credentials import credentials_for
from benchwright.objects.s3 import S3Store

LASTING = Patience(attempts=90, first_wait=0.1, longest_wait=1, connect_timeout=2, read_timeout=3)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, tmp_path):
    """No credentials of whoever runs the tests, and no machine to ask for some."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "R2_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory):
    with stopped_at_end(SeaweedServer(tmp_path_factory.mktemp("seaweed"), "results")) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def moto_server():
    with stopped_at_end(FaultyMoto()) as server:
        impatient_client(server.url).create_bucket(Bucket="results")
        yield server


@pytest.fixture
def moto(moto_server):
    moto_server.fault = None
    moto_server.seen.clear()
    yield moto_server
    moto_server.fault = None


def bucket_at(url, patience):
    return Bucket("results", "s3", "s3://results", credentials_for("s3", settings(url)), patience)


@pytest.fixture(scope="session")
def moto_bucket(moto_server):
    """Making a client takes half a second: one serves all."""
    return bucket_at(moto_server.url, QUICK)


@pytest.fixture(scope="session")
def seaweed_bucket(seaweed):
    return bucket_at(seaweed.url, LASTING)


@pytest.fixture
def moto_store(moto, moto_bucket):
    return S3Store(moto_bucket, f"{uuid.uuid4()}")


@pytest.fixture
def seaweed_store(seaweed_bucket):
    return S3Store(seaweed_bucket, f"{uuid.uuid4()}")


@pytest.fixture(params=["local", "seaweed", "moto"])
def store(request, tmp_path):
    """Each kind of store, empty."""
    if request.param == "local":
        return open_store(f"local:{tmp_path / 'a store'}")
    return request.getfixturevalue(f"{request.param}_store")
