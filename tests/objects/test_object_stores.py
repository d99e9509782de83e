"""What every store must do alike: the folder, a fake-gcs-server and a SeaweedFS process, and moto."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from benchwright.contract import Exit, Failure
from benchwright.objects import PART_SIZE, Conflict, survey

LARGE = 2 * PART_SIZE + 4321


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_what_was_put_is_there_with_its_digest(store, tmp_path):
    put = store.put("artifacts/a suite/é+%25.bin", b"content")
    assert store.head("artifacts/a suite/é+%25.bin") == put
    assert (put.size, put.sha256) == (7, sha(b"content"))
    got = store.get("artifacts/a suite/é+%25.bin", tmp_path / "deep" / "copy")
    assert got == put and (tmp_path / "deep" / "copy").read_bytes() == b"content"
    assert store.prove("artifacts/a suite/é+%25.bin", sha256=sha(b"content").upper()) == put


def test_empty_content_is_an_object(store):
    assert store.put("empty", b"").size == 0
    assert store.prove("empty").sha256 == sha(b"")


def test_an_absent_object_is_none_and_cannot_be_got(store, tmp_path):
    assert store.head("nothing") is None
    store.delete("nothing")
    target = tmp_path / "target"
    target.write_bytes(b"old")
    with pytest.raises(Failure) as failure:
        store.get("nothing", target)
    assert failure.value.exit == Exit.NO
    assert str(failure.value) == (
        f"{store.url}/nothing: no such object, expected an object that was uploaded\n    fix: list what is there"
    )
    assert target.read_bytes() == b"old"


def test_no_more_is_taken_than_was_asked_for(store, tmp_path):
    store.put("a", b"x" * 100)
    (tmp_path / "a").write_bytes(b"before")
    for read in (store.prove, lambda key, **options: store.get(key, tmp_path / "a", **options)):
        with pytest.raises(Failure) as failure:
            read("a", most=99)
        assert failure.value.exit == Exit.NO and failure.value.problems[0].code == "too-large"
        assert str(failure.value).startswith(f"{store.url}/a: more than 99 bytes, expected no more than that\n")
    assert (tmp_path / "a").read_bytes() == b"before"
    assert store.get("a", tmp_path / "a", most=100).size == 100


@pytest.mark.parametrize("source", ["file", "open file", "chunks", "known chunks"])
def test_large_content_arrives_whole_from_every_source(store, tmp_path, source):
    content = os.urandom(LARGE)
    path = tmp_path / "large"
    path.write_bytes(content)
    chunks = (content[start : start + 999_983] for start in range(0, LARGE, 999_983))
    if source == "file":
        put = store.put("large", path)
    elif source == "open file":
        put = store.put_stream("large", io.BytesIO(content))
    elif source == "chunks":
        put = store.put_stream("large", chunks)
    else:
        put = store.put_stream("large", chunks, sha256=sha(content), size=LARGE)
    assert (put.size, put.sha256) == (LARGE, sha(content))
    assert store.head("large") == put == store.prove("large")


@pytest.mark.parametrize("content", [b"small", b"x" * LARGE], ids=["small", "large"])
def test_content_of_another_digest_never_becomes_an_object(store, content):
    with pytest.raises(Failure) as failure:
        store.put_stream("changed", [content], sha256="0" * 64)
    assert failure.value.exit == Exit.NO
    assert str(failure.value) == (
        f"{store.url}/changed: content with SHA-256 {sha(content)}, expected SHA-256 {'0' * 64}\n"
        "    fix: make sure that nothing writes to the source, then run this again"
    )
    assert store.head("changed") is None
    assert store.discard_unfinished(older_than=timedelta(0)) == 0


@pytest.mark.parametrize("content", [b"new", b"n" * LARGE], ids=["small", "large"])
def test_if_absent_never_overwrites(store, content):
    first = store.put("once", b"first", if_absent=True)
    with pytest.raises(Conflict) as conflict:
        store.put("once", content, if_absent=True)
    assert conflict.value.exit == Exit.REFUSED and conflict.value.problems[0].code == "conflict"
    assert store.head("once") == first
    assert store.discard_unfinished(older_than=timedelta(0)) == 0


@pytest.mark.parametrize("content", [b"new", b"n" * LARGE], ids=["small", "large"])
def test_if_match_writes_over_the_version_it_names_alone(store, content):
    first = store.put("versioned", b"first")
    second = store.put("versioned", content, if_match=first.etag)
    with pytest.raises(Conflict) as conflict:
        store.put("versioned", content + b"!", if_match=first.etag)
    assert str(conflict.value) == (
        f"{store.url}/versioned: version {second.etag}, expected version {first.etag}\n"
        "    fix: look at what is there now, then run this again"
    )
    assert store.head("versioned") == second
    with pytest.raises(Conflict, match="no object, expected version"):
        store.put("elsewhere", content, if_match=first.etag)


def test_of_ten_writers_at_once_one_wins(store):
    def claim(number: int) -> str:
        try:
            return store.put("claim", b"%d" % number, if_absent=True).etag
        except Conflict:
            return "lost"

    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(claim, range(10)))
    assert results.count("lost") == 9
    assert store.head("claim").etag in results


def test_of_ten_replacements_of_one_version_one_wins(store):
    version = store.put("counter", b"0").etag

    def replace(number: int) -> bool:
        try:
            store.put("counter", b"%d" % number, if_match=version)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(replace, range(1, 11))).count(True) == 1


def test_listings_are_cut_by_any_prefix(store):
    keys = ["a/b/c", "a-b", "a/b.txt", "a/bc", "z", "a/é"]
    for key in keys:
        store.put(key, b"x")
    assert sorted(info.key for info in store.list()) == sorted(keys)
    assert sorted(info.key for info in store.list("a/b")) == ["a/b.txt", "a/b/c", "a/bc"]
    assert [info.key for info in store.list("a/b/")] == ["a/b/c"]
    assert list(store.list("nothing/here")) == []
    listed = next(iter(store.list("z")))
    assert (listed.size, listed.sha256, listed.etag) == (1, None, store.head("z").etag)


def test_a_survey_says_what_is_there_what_lacks_and_what_nobody_expected(store):
    for key in ("m/metadata.yaml", "m/raw.zip", "m/old.zip", "n/other"):
        store.put(key, key.encode())
    seen = survey(store, ["m/metadata.yaml", "m/raw.zip", "m/processed.zip"], prefix="m/")
    assert list(seen.found) == ["m/metadata.yaml", "m/raw.zip"]
    assert seen.found["m/raw.zip"].sha256 == sha(b"m/raw.zip")
    assert seen.missing == ("m/processed.zip",)
    assert [info.key for info in seen.unexpected] == ["m/old.zip"]


def test_a_deleted_object_is_gone(store):
    store.put("gone", b"x")
    store.delete("gone")
    assert store.head("gone") is None and list(store.list()) == []


def test_of_an_object_only_the_version_that_was_seen_is_removed(store):
    first = store.put("versioned", b"first")
    second = store.put("versioned", b"second")
    with pytest.raises(Conflict) as conflict:
        store.delete("versioned", if_match=first.etag)
    assert str(conflict.value) == (
        f"{store.url}/versioned: version {second.etag}, expected version {first.etag}\n"
        "    fix: look at what is there now, then run this again"
    )
    assert store.head("versioned") == second
    store.delete("versioned", if_match=second.etag)
    assert store.head("versioned") is None
    store.delete("versioned", if_match=second.etag)


BAD_KEYS = {
    "": "empty",
    "/etc/passwd": "an empty part",
    "a//b": "an empty part",
    "a/": "an empty part",
    "../a": "a part that is '.' or '..'",
    "a/../../b": "a part that is '.' or '..'",
    "./a": "a part that is '.' or '..'",
    "a\nb": "a control character",
    "a\0b": "a control character",
    "a\x85b": "a control character",
    "a\\..\\b": "a backslash",
    "a\udcff": "not UTF-8",
    "x" * 256: "a part of more than 255 bytes",
    "é/" * 400: "1,200 bytes long",
    ".benchwright/lock": "the reserved name .benchwright",
}


def test_a_key_that_is_none_reaches_no_store(store, tmp_path):
    calls = (store.head, lambda k: store.put(k, b""), lambda k: store.get(k, tmp_path / "t"), store.prove, store.delete)
    for call, key in itertools.product(calls, BAD_KEYS):
        with pytest.raises(Failure, match=re.escape(BAD_KEYS[key])) as failure:
            call(key)
        assert failure.value.exit == Exit.USAGE and failure.value.problems[0].code == "bad-key"


@pytest.mark.parametrize("prefix", ["..", "/", "a//", "a/../b", "\n"])
def test_a_prefix_that_starts_no_key_lists_nothing(store, prefix):
    with pytest.raises(Failure, match=r"a relative path with '/' between its parts"):
        list(store.list(prefix))
