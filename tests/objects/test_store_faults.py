"""Servers that throttle, break off, lie and refuse: moto behind a wrapper of faults."""

from __future__ import annotations

import hashlib
import itertools
import os
from datetime import timedelta

import pytest

from benchwright.contract import Exit, Failure
from benchwright.objects import PART_SIZE, Conflict, open_store, survey
from object_servers import QUICK, SECRET, answer_lost, drop_connection, impatient_client, refuse, settings, times

LARGE = 2 * PART_SIZE + 99


def slow_down(environ, start):
    return refuse(environ, start, "503 Slow Down", "SlowDown", "Please reduce your request rate.")


def too_many(environ, start):
    return refuse(environ, start, "429 Too Many Requests", "TooManyRequests")


def broken(environ, start):
    drop_connection(environ)


PASSING = {"SlowDown": slow_down, "429": too_many, "broken connection": broken}
CUT_PAGE = "<html><body>Bad gateway"


def proxy_page(environ, start):
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(CUT_PAGE)))])
    return [CUT_PAGE.encode()]


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_what_passes_is_waited_out(moto, moto_store, fault):
    moto.fault = times(3, fault)
    put = moto_store.put("key", b"content")
    assert [line.split()[0] for line in moto.seen] == ["PUT"] * 4
    assert moto_store.prove("key") == put


def test_throttling_that_does_not_end_is_a_remote_failure_after_four_attempts(moto, moto_store):
    moto.fault = times(99, slow_down)
    with pytest.raises(Failure) as failure:
        moto_store.put("key", b"content")
    assert failure.value.exit == Exit.REMOTE and len(moto.seen) == QUICK.attempts
    assert str(failure.value) == (
        f"{moto_store.url}/key: HTTP 503 SlowDown: Please reduce your request rate., 4 times, expected an answer\n"
        "    fix: run this again later"
    )


@pytest.mark.parametrize(
    ("status", "name", "code", "rest"),
    [
        (
            "501 Not Implemented",
            "NotImplemented",
            "store-lacks",
            "a store with conditional writes (If-None-Match, If-Match) and multipart uploads\n"
            "    fix: take another store; this one cannot hold artifacts",
        ),
        (
            "507 Insufficient Storage",
            "QuotaExceeded",
            "store-full",
            "room for the object\n    fix: raise the store's quota, or have room made there, then run this again",
        ),
    ],
)
def test_what_no_repetition_would_change_is_sent_once_and_needs_another_store(
    moto, moto_store, status, name, code, rest
):
    moto.fault = times(99, lambda environ, start: refuse(environ, start, status, name))
    with pytest.raises(Failure) as failure:
        moto_store.put("key", b"content", if_absent=True)
    (problem,) = failure.value.problems
    assert (failure.value.exit, problem.code, len(moto.seen)) == (Exit.ENVIRONMENT, code, 1)
    assert str(problem) == f"{moto_store.url}/key: HTTP {status[:3]} {name}: no, expected {rest}"


def test_a_server_that_is_not_there_is_a_remote_failure(moto_store, unused_port):
    store = open_store("s3://results", settings=settings(f"http://127.0.0.1:{unused_port}"), patience=QUICK)
    for call in (lambda: store.head("key"), lambda: list(store.list()), lambda: store.put("key", b"")):
        with pytest.raises(Failure, match="4 times, expected an answer") as failure:
            call()
        assert failure.value.exit == Exit.REMOTE and failure.value.problems[0].code == "store-unavailable"


def test_a_server_that_never_ends_is_left_at_the_bound(moto, moto_store, tmp_path):
    sent = []

    def endless(environ, start):
        start("200 OK", [("Content-Length", str(2**50)), ("ETag", '"x"')])
        return (sent.append(2**20) or bytes(2**20) for _ in itertools.count())

    moto.fault = times(99, endless, method="GET")
    for read in (moto_store.prove, lambda key, **options: moto_store.get(key, tmp_path / "object", **options)):
        with pytest.raises(Failure, match="more than 3,000,000 bytes"):
            read("key", most=3_000_000)
    assert len(moto.seen) == 2 and sum(sent) < 100 * 2**20
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as probe:  # bound and not listening: nobody else takes it, nobody answers
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_part_is_sent_again_alone(moto, moto_store, fault):
    moto.fault = times(2, fault, having="partNumber=2")
    content = os.urandom(LARGE)
    put = moto_store.put("large", content)
    parts = [line.partition("partNumber=")[2][0] for line in moto.seen if "partNumber" in line]
    assert sorted(parts) == ["1", "2", "2", "2", "3"]
    assert moto_store.prove("large", sha256=hashlib.sha256(content).hexdigest()).size == put.size == LARGE


def test_an_upload_that_fails_leaves_nothing_behind(moto, moto_store):
    moto.fault = times(99, slow_down, having="partNumber=2")
    with pytest.raises(Failure) as failure:
        moto_store.put("large", b"x" * LARGE)
    assert failure.value.exit == Exit.REMOTE
    assert [line.split("?")[0] for line in moto.seen if line.startswith("DELETE")], "no upload was aborted"
    moto.fault = None
    assert moto_store.head("large") is None
    assert moto_store.discard_unfinished(older_than=timedelta(0)) == 0


def test_an_interrupted_source_leaves_nothing_behind(moto, moto_store):
    def chunks():
        yield b"x" * LARGE
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moto_store.put_stream("large", chunks(), sha256="0" * 64)
    assert moto_store.head("large") is None
    assert moto_store.discard_unfinished(older_than=timedelta(0)) == 0


def test_an_upload_that_cannot_be_removed_is_said(moto, moto_store):
    denied = times(99, lambda environ, start: refuse(environ, start, "403 Forbidden", "AccessDenied"), method="DELETE")
    moto.fault = denied
    with pytest.raises(Failure) as failure:
        moto_store.put_stream("large", [b"x" * LARGE], sha256="0" * 64)
    assert failure.value.problems[0].code == "content-changed"
    assert "the unfinished upload could not be removed" in failure.value.__notes__[0]
    moto.fault = None
    assert moto_store.discard_unfinished("other", older_than=timedelta(0)) == 0
    assert moto_store.discard_unfinished("lar", older_than=timedelta(0)) == 1
    assert moto_store.discard_unfinished(older_than=timedelta(0)) == 0


def test_a_conditional_write_whose_answer_was_lost_has_won(moto, moto_store):
    moto.fault = times(1, answer_lost(moto))
    put = moto_store.put("claim", b"mine", if_absent=True)
    assert moto_store.head("claim") == put
    moto.fault = times(1, answer_lost(moto))
    assert moto_store.put("claim", b"mine too", if_match=put.etag).sha256 == hashlib.sha256(b"mine too").hexdigest()


def test_a_conditional_write_that_broke_off_and_then_lost_has_lost(moto, moto_store):
    moto_store.put("claim", b"theirs")
    moto.fault = times(1, broken)
    with pytest.raises(Conflict):
        moto_store.put("claim", b"mine", if_absent=True)


@pytest.mark.parametrize("condition", [{}, {"if_absent": True}], ids=["unconditional", "if absent"])
def test_a_large_upload_whose_last_answer_was_lost_is_there(moto, moto_store, condition):
    moto.fault = times(1, answer_lost(moto), method="POST", having="uploadId")
    put = moto_store.put("large", b"x" * LARGE, **condition)
    assert moto_store.prove("large").sha256 == put.sha256


def test_a_broken_download_is_taken_up_where_it_broke(moto, moto_store, tmp_path):
    content = os.urandom(5 * 2**20)
    put = moto_store.put("key", content)
    asked = []

    def half(environ, start):
        asked.append(environ.get("HTTP_RANGE"))
        if len(asked) > 2:
            return None
        status, headers, body = moto.pass_on(environ)
        start(status, headers)
        return cut_after(environ, body[: 2 * 2**20])

    moto.fault = times(99, half, method="GET")
    assert moto_store.get("key", tmp_path / "copy") == put
    assert (tmp_path / "copy").read_bytes() == content
    assert asked[0] is None and asked[1:] == ["bytes=2097152-", "bytes=4194304-"]


def cut_after(environ, body):
    yield body
    drop_connection(environ)


def test_an_object_replaced_while_it_is_read_is_not_mixed(moto, moto_store, tmp_path):
    moto_store.put("key", b"a" * 3 * 2**20)

    def replaced(environ, start):
        status, headers, body = moto.pass_on(environ)
        start(status, headers)
        moto.fault = None
        moto_store.put("key", b"b" * 3 * 2**20)
        return cut_after(environ, body[: 2**20])

    moto.fault = times(1, replaced, method="GET")
    with pytest.raises(Failure, match="replaced while it was read") as failure:
        moto_store.get("key", tmp_path / "copy")
    assert failure.value.exit == Exit.REMOTE and not (tmp_path / "copy").exists()


def test_other_bytes_than_were_stored_are_refused(moto, moto_store, tmp_path):
    put = moto_store.put("key", b"content")

    def other(environ, start):
        status, headers, body = moto.pass_on(environ)
        start(status, headers)
        return [body[:-1] + b"!"]

    moto.fault = times(99, other, method="GET")
    (tmp_path / "copy").write_bytes(b"old")
    for call in (lambda: moto_store.get("key", tmp_path / "copy"), lambda: moto_store.prove("key")):
        with pytest.raises(Failure) as failure:
            call()
        assert failure.value.exit == Exit.NO
        assert str(failure.value) == (
            f"{moto_store.url}/key: read back SHA-256 {hashlib.sha256(b'conten!').hexdigest()}, "
            f"expected SHA-256 {put.sha256}\n"
            "    fix: run this again; if it stays so, the object is damaged and must be uploaded anew"
        )
    assert (tmp_path / "copy").read_bytes() == b"old"


def test_an_object_put_by_others_without_a_digest_is_read_and_measured(moto, moto_store, tmp_path):
    client = impatient_client(moto.url)
    bucket, _, prefix = moto_store.url.removeprefix("s3://").partition("/")
    client.put_object(Bucket=bucket, Key=f"{prefix}/key", Body=b"content", Metadata={"sha256": "none of that"})
    assert moto_store.head("key").sha256 is None
    assert moto_store.prove("key").sha256 == hashlib.sha256(b"content").hexdigest()
    client.put_object(Bucket=bucket, Key=f"{prefix}/key", Body=b"content")
    client.put_object(Bucket=bucket, Key=f"{prefix}/folder/", Body=b"")
    assert moto_store.head("key").sha256 is None
    assert moto_store.get("key", tmp_path / "copy").sha256 == hashlib.sha256(b"content").hexdigest()
    assert [info.key for info in moto_store.list()] == ["key"]
    with pytest.raises(Failure, match="expected SHA-256 0000"):
        moto_store.prove("key", sha256="0" * 64)


def test_a_page_of_a_proxy_is_no_answer(moto, moto_store):
    moto_store.put("key", b"content")
    moto.fault = proxy_page
    calls = (
        lambda: moto_store.put("key", b"content"),
        lambda: list(moto_store.list()),
        lambda: moto_store.head("key"),
        lambda: moto_store.prove("key"),
        lambda: moto_store.put("large", b"x" * LARGE),
    )
    for call in calls:
        with pytest.raises(Failure) as failure:
            call()
        assert failure.value.exit == Exit.REMOTE and failure.value.problems[0].code == "store-unavailable"


def test_a_listing_that_turns_in_circles_ends(moto, moto_store):
    page = (
        b"<?xml version='1.0'?><ListBucketResult><IsTruncated>true</IsTruncated>"
        b"<NextContinuationToken>again</NextContinuationToken></ListBucketResult>"
    )

    def circle(environ, start):
        start("200 OK", [("Content-Type", "application/xml"), ("Content-Length", str(len(page)))])
        return [page]

    moto.fault = times(99, circle, method="GET")
    with pytest.raises(Failure, match="a listing that does not go on") as failure:
        list(moto_store.list())
    assert failure.value.exit == Exit.REMOTE


def test_a_stale_listing_decides_nothing(moto, moto_store):
    for key in ("m/kept", "m/deleted"):
        moto_store.put(key, b"x")
    stale = []

    def remembered(environ, start):
        if not stale:
            stale.append(moto.pass_on(environ))
        status, headers, body = stale[0]
        start(status, headers)
        return [body]

    moto.fault = times(99, remembered, method="GET", having="list-type=2")
    assert len(list(moto_store.list("m/"))) == 2
    moto_store.delete("m/deleted")
    moto_store.put("m/new", b"x")
    assert [info.key for info in moto_store.list("m/")] == ["m/deleted", "m/kept"]
    seen = survey(moto_store, ["m/kept", "m/new"], prefix="m/")
    assert list(seen.found) == ["m/kept", "m/new"] and seen.missing == () and seen.unexpected == ()


REFUSALS = {
    "AccessDenied": ("403 Forbidden", "no-permission"),
    "InvalidAccessKeyId": ("403 Forbidden", "credentials-refused"),
    "SignatureDoesNotMatch": ("403 Forbidden", "credentials-refused"),
    "ExpiredToken": ("400 Bad Request", "credentials-refused"),
    "Unauthorized": ("401 Unauthorized", "credentials-refused"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_is_said_at_once_and_never_tried_again(moto, moto_store, code):
    status, problem = REFUSALS[code]
    moto.fault = lambda environ, start: refuse(environ, start, status, code, f"not with {SECRET}")
    with pytest.raises(Failure) as failure:
        moto_store.put("key", b"content")
    assert failure.value.exit == Exit.ENVIRONMENT and failure.value.problems[0].code == problem
    assert failure.value.problems[0].found == f"HTTP {status[:3]} {code}: not with [hidden]"
    assert len(moto.seen) == 1


def test_a_bucket_of_another_region_is_said(moto, moto_store):
    moto.fault = times(99, lambda environ, start: refuse(environ, start, "301 Moved", "PermanentRedirect", "elsewhere"))
    with pytest.raises(Failure) as failure:
        moto_store.put("key", b"content")
    assert failure.value.exit == Exit.ENVIRONMENT and failure.value.problems[0].code == "wrong-region"
    assert failure.value.problems[0].fix == "set AWS_REGION to the bucket's region"


def test_redirections_without_end_are_no_answer(moto, moto_store):
    moto.fault = lambda environ, start: refuse(environ, start, "301 Moved", "PermanentRedirect", "elsewhere")
    with pytest.raises(Failure, match="a redirection that leads back to itself") as failure:
        moto_store.put("key", b"content")
    assert failure.value.exit == Exit.REMOTE


def test_why_a_question_without_a_body_was_refused_is_asked_for(moto, moto_store):
    moto.fault = lambda environ, start: refuse(environ, start, "403 Forbidden", "AccessDenied")
    with pytest.raises(Failure) as failure:
        moto_store.head("key")
    assert str(failure.value) == (
        f"{moto_store.url}/key: HTTP 403 AccessDenied: no, expected permission\n"
        "    fix: grant the key the right to list, read and write in this bucket, or set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY to one that has it"
    )
    assert [line.split()[0] for line in moto.seen] == ["HEAD", "GET"]


def test_a_key_that_may_list_and_not_read_has_no_permission(moto, moto_store):
    moto.fault = times(9, lambda environ, start: refuse(environ, start, "403 Forbidden", "AccessDenied"), method="HEAD")
    with pytest.raises(Failure, match="HTTP 403: Forbidden, expected permission"):
        moto_store.head("key")
    assert [line.split()[0] for line in moto.seen] == ["HEAD", "GET", "HEAD"]


@pytest.mark.parametrize("server", ["moto", "seaweed"])
def test_a_bucket_that_does_not_exist_is_never_taken_for_an_absent_object(request, server):
    url = request.getfixturevalue(server).url
    store = open_store("s3://no-such-bucket/prefix", settings=settings(url), patience=QUICK)
    calls = (
        lambda: store.head("key"),
        lambda: list(store.list()),
        lambda: store.put("key", b"x"),
        lambda: store.put("key", b"x" * LARGE),
        lambda: store.prove("key"),
    )
    for call in calls:
        with pytest.raises(Failure) as failure:
            call()
        assert failure.value.exit == Exit.ENVIRONMENT and failure.value.problems[0].code == "no-bucket"


def test_a_head_without_the_right_to_see_the_bucket_still_answers(moto, moto_store):
    moto.fault = lambda environ, start: (
        refuse(environ, start, "403 Forbidden", "AccessDenied") if environ["PATH_INFO"] == "/results" else None
    )
    assert moto_store.head("key") is None and moto_store.head("other") is None
    assert sum(line == "HEAD /results" for line in moto.seen) == 1


def test_damage_on_the_way_is_found_by_the_server_and_sent_again(moto, moto_store):
    def bad_digest(environ, start):
        assert environ["HTTP_X_AMZ_CHECKSUM_SHA256"]
        return refuse(environ, start, "400 Bad Request", "BadDigest")

    moto.fault = times(1, bad_digest)
    assert moto_store.put("key", b"content") == moto_store.head("key")
