"""Readers of buckets: real servers of both protocols, whole and with faults in the way."""

from __future__ import annotations

import itertools
import uuid

import pytest

from benchwright.contract import Exit, Failure
from benchwright.objects import ObjectStore, open_reader, open_store
from object_servers import QUICK, drop_connection, settings, times

KEYS = ("job/a/result.json", "job/b/result.json", "job/c/deep/er", "job/config.json", "job/é +%25.txt", "jobs/other")


def google(url):
    return {"STORAGE_EMULATOR_HOST": url}


@pytest.fixture(params=["s3", "gs"])
def place(request):
    """The address of an empty place in a bucket, and what its server is asked with."""
    whole = {"s3": ("seaweed", settings), "gs": ("google", google)}
    server, told = whole[request.param]
    return f"{request.param}://results/{uuid.uuid4()}", told(request.getfixturevalue(server).url)


@pytest.fixture(params=["s3", "gs"])
def faulty(request):
    """The same behind a way with faults, and that way."""
    server, told = {"s3": ("moto", settings), "gs": ("faulty_google", google)}[request.param]
    way = request.getfixturevalue(server)
    return f"{request.param}://results/{uuid.uuid4()}", told(way.url), way


def filled(address, own):
    store = open_store(address, settings=own, patience=QUICK)
    for key in KEYS:
        store.put(key, key.encode())
    store.put("job/empty", b"")
    return open_reader(address, settings=own, patience=QUICK)


def sorted_names(reader, folder):
    found = reader.names(folder)
    return sorted(found.folders), sorted(found.objects)


def test_what_is_in_a_folder_and_in_an_object(place):
    reader = filled(*place)
    assert sorted_names(reader, "job") == (["a", "b", "c"], ["config.json", "empty", "é +%25.txt"])
    assert sorted_names(reader, "") == (["job", "jobs"], [])
    assert sorted_names(reader, "jo") == ([], [])
    for key in KEYS:
        assert reader.read(key, 100) == key.encode()
    assert (reader.read("job/config.json", 3), reader.read("job/empty", 3), reader.read("job/no", 3)) == (
        b"job",
        b"",
        None,
    )
    assert reader.url == place[0]


def test_a_reader_cannot_write(place):
    writing = {"put", "put_stream", "delete", "discard_unfinished"}
    assert writing < set(dir(ObjectStore))
    assert not writing & set(dir(open_reader(place[0], settings=place[1])))


def test_every_page_of_a_listing_is_asked_for(faulty):
    address, own, way = faulty
    reader = filled(address, own)
    size = {"s3": "max-keys", "gs": "maxResults"}[address[:2]]

    def small_pages(environ, start):
        more = f"&{size}=2" if environ["QUERY_STRING"] else f"{size}=2"
        environ["QUERY_STRING"] += more
        environ["REQUEST_URI"] += more

    way.seen.clear()
    way.fault = small_pages
    assert sorted_names(reader, "job") == (["a", "b", "c"], ["config.json", "empty", "é +%25.txt"])
    assert len(way.seen) > 1


def broken(environ, start):
    drop_connection(environ)


def unavailable(environ, start):
    start("503 Service Unavailable", [("Content-Length", "0")])
    return [b""]


@pytest.mark.parametrize("fault", [broken, unavailable])
def test_what_passes_is_waited_out_and_nothing_is_ever_written(faulty, fault):
    address, own, way = faulty
    reader = filled(address, own)
    way.seen.clear()
    way.fault = times(2, fault, method="GET")
    assert sorted_names(reader, "jobs") == ([], ["other"])
    way.fault = times(2, fault, method="GET")
    assert reader.read("job/config.json", 100) == b"job/config.json"
    assert len(way.seen) == 6 and {line.split()[0] for line in way.seen} == {"GET"}


def test_content_that_breaks_off_is_asked_for_again(faulty):
    address, own, way = faulty
    reader = filled(address, own)
    cuts = itertools.count()

    def cut_off(environ, start):
        if next(cuts):
            return None
        status, headers, body = way.pass_on(environ)
        start(status, headers)
        return iter([body[:3]])

    way.fault = cut_off
    assert reader.read("job/config.json", 100) == b"job/config.json"
    assert next(cuts) == 2


@pytest.mark.parametrize("case", ["no such bucket", "nobody answers"])
def test_what_cannot_be_looked_at_is_a_failure_and_never_nothing(place, case):
    address, own = place
    exit, code = Exit.ENVIRONMENT, "no-bucket"
    if case == "no such bucket":
        address = f"{address.partition(':')[0]}://no-such-bucket"
    else:
        own = {name: value.replace("127.0.0.1", "127.0.0.9") for name, value in own.items()}
        exit, code = Exit.REMOTE, "store-unavailable"
    with pytest.raises(Failure) as caught:
        open_reader(address, settings=own, patience=QUICK).names("job")
    assert (caught.value.exit, caught.value.problems[0].code) == (exit, code)


def test_wrong_credentials_are_told(seaweed):
    wrong = settings(seaweed.url, AWS_SECRET_ACCESS_KEY="another-secret")
    for call in (lambda reader: reader.names(), lambda reader: reader.read("key", 1)):
        with pytest.raises(Failure) as caught:
            call(open_reader("s3://results", settings=wrong, patience=QUICK))
        assert (caught.value.exit, caught.value.problems[0].code) == (Exit.ENVIRONMENT, "credentials-refused")


def test_what_is_no_address_is_told_of_buckets_alone():
    with pytest.raises(Failure) as caught:
        open_reader("/results")
    expected = "gs://BUCKET/PREFIX, s3://BUCKET/PREFIX or r2://BUCKET/PREFIX"
    fix = "correct it where the store is named, an option, the environment or the metadata"
    assert str(caught.value) == f"/results: no store, expected {expected}\n    fix: {fix}"
    with pytest.raises(Failure, match="expected local:FOLDER, gs://BUCKET/PREFIX, "):
        open_store("/results")


def test_a_folder_is_no_bucket(tmp_path):
    with pytest.raises(Failure) as caught:
        open_reader(f"local:{tmp_path}")
    assert str(caught.value) == (
        f"local:{tmp_path}: a folder, expected gs://BUCKET, s3://BUCKET or r2://BUCKET\n"
        "    fix: name a bucket, or give the folder by its plain path"
    )
    assert caught.value.exit is Exit.USAGE
