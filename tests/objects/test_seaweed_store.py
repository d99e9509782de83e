"""A real S3 server process: many objects, bounded memory, and a kill in the middle."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from benchwright.contract import Exit, Failure
from benchwright.objects import PART_SIZE, open_store
from object_servers import KEY_ID, QUICK, SECRET, settings

MANY = 1500


def test_a_listing_of_many_pages_is_complete(seaweed_store):
    keys = [f"many/{number:04d}" for number in range(MANY)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: seaweed_store.put(key, b"x", sha256=hashlib.sha256(b"x").hexdigest()), keys))
    assert [info.key for info in seaweed_store.list("many/")] == keys


def test_uploads_that_nobody_completed_are_discarded_once_they_are_old(seaweed, seaweed_store):
    prefix = seaweed_store.url.removeprefix("s3://results/")
    seaweed.client.create_multipart_upload(Bucket="results", Key=f"{prefix}/large")
    assert seaweed_store.discard_unfinished() == 0
    assert seaweed_store.discard_unfinished("other", older_than=timedelta(0)) == 0
    assert seaweed_store.discard_unfinished("lar", older_than=timedelta(0)) == 1
    assert seaweed_store.discard_unfinished(older_than=timedelta(0)) == 0


def test_damaged_content_is_refused_by_the_server(seaweed, monkeypatch):
    from benchwright.objects import multipart, s3

    seaweed_store = open_store("s3://results/damaged", settings=settings(seaweed.url), patience=QUICK)

    monkeypatch.setattr(multipart, "md5", lambda block: "AAAAAAAAAAAAAAAAAAAAAA==")
    with pytest.raises(Failure, match="BadDigest"):
        seaweed_store.put("large", b"x" * (PART_SIZE + 1))
    monkeypatch.setattr(s3, "sha256_of", lambda content: "0" * 64)
    with pytest.raises(Failure, match="BadDigest"):
        seaweed_store.put("small", b"x", sha256="0" * 64)
    assert seaweed_store.head("large") is None and seaweed_store.head("small") is None


def test_wrong_credentials_are_an_environment_to_set(seaweed):
    wrong = settings(seaweed.url, AWS_SECRET_ACCESS_KEY="another-secret")
    store = open_store("s3://results", settings=wrong)
    for call in (lambda: store.put("key", b"content"), lambda: store.head("key")):
        with pytest.raises(Failure) as failure:
            call()
        assert failure.value.exit == Exit.ENVIRONMENT and failure.value.problems[0].code == "credentials-refused"
        assert failure.value.problems[0].fix == (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment or in a .env file "
            "(the environment wins)"
        )
        assert "another-secret" not in str(failure.value)


def test_an_r2_store_speaks_to_the_endpoint_that_is_named(seaweed):
    named = {"R2_ENDPOINT_URL": seaweed.url, "R2_ACCESS_KEY_ID": KEY_ID, "R2_SECRET_ACCESS_KEY": SECRET}
    store = open_store("r2://results/cache", settings=named)
    put = store.put("artifacts/metadata.yaml", b"method: x\n")
    assert store.url == "r2://results/cache"
    assert (
        open_store("s3://results", settings=settings(seaweed.url)).head("cache/artifacts/metadata.yaml").etag
        == put.etag
    )


def test_a_server_killed_before_a_download_is_waited_for(seaweed, seaweed_store, tmp_path):
    content = os.urandom(20 * 2**20)
    put = seaweed_store.put("large", content)
    seaweed.kill()
    back = threading.Timer(0.5, seaweed.start)
    back.start()
    assert seaweed_store.get("large", tmp_path / "copy") == put
    assert (tmp_path / "copy").read_bytes() == content
    back.join()


def test_a_server_killed_between_two_parts_loses_no_part(seaweed, seaweed_store):
    content = os.urandom(20 * 2**20)
    restarts = []

    def chunks():
        for start in range(0, len(content), 2**20):
            if start == 17 * 2**20:
                seaweed.kill()
                restarts.append(threading.Timer(0.5, seaweed.start))
                restarts[0].start()
            yield content[start : start + 2**20]

    digest = hashlib.sha256(content).hexdigest()
    assert seaweed_store.put_stream("large", chunks(), sha256=digest, size=len(content)).sha256 == digest
    restarts[0].join()
    assert seaweed_store.prove("large").size == len(content)


UPLOAD = """
import json, resource, sys
from pathlib import Path
from benchwright.objects import open_store
store = open_store(sys.argv[1], settings=json.loads(sys.argv[2]))
store.put("warm", b"x")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store.put("large", Path(sys.argv[3]))
store.prove("large")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_the_memory_of_an_upload_does_not_grow_with_the_file(seaweed, tmp_path):
    import json

    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(64 * 2**20)
    command = [sys.executable, "-c", UPLOAD, "s3://results/memory", json.dumps(settings(seaweed.url)), str(path)]
    grown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert int(grown) < 60, f"{grown} MiB"
