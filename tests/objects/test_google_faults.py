"""Google Cloud Storage when it throttles, breaks off, refuses and lies: fake-gcs-server behind a way with faults."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from benchwright.contract import Exit, Failure
from benchwright.objects import PART_SIZE, Conflict, StoreLocation, credentials_note, missing_credentials, open_store
from object_servers import QUICK, answer_lost, drop_connection, times

LARGE = 2 * PART_SIZE + 99


def say(environ, start, status, reason, message="no"):
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    error = {"code": int(status[:3]), "message": message, "errors": [{"reason": reason, "message": message}]}
    body = json.dumps({"error": error}).encode()
    start(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def saying(status, reason, message="no"):
    return lambda environ, start: say(environ, start, status, reason, message)


def broken(environ, start):
    drop_connection(environ)


def page(environ, start):
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start("200 OK", [("Content-Type", "text/html"), ("Content-Length", "6")])
    return [b"<html>"]


def changed(server, change):
    """What the server answers, with another body."""

    def fault(environ, start):
        status, headers, body = server.pass_on(environ)
        body = change(body)
        start(status, [pair for pair in headers if pair[0] != "Content-Length"] + [("Content-Length", str(len(body)))])
        return [body]

    return fault


PASSING = {
    "503": saying("503 Service Unavailable", "backendError"),
    "429": saying("429 Too Many Requests", "rateLimitExceeded"),
    "rate": saying("403 Forbidden", "userRateLimitExceeded"),
    "page of a proxy": page,
    "broken connection": broken,
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_what_passes_is_waited_out(faulty_google, faulty_google_store, fault):
    faulty_google.fault = times(3, fault, method="POST")
    put = faulty_google_store.put("key", b"content")
    assert [line.split()[0] for line in faulty_google.seen] == ["POST"] * 4
    faulty_google.fault = times(2, fault, method="GET")
    assert faulty_google_store.prove("key") == put
    faulty_google.fault = times(2, fault, method="GET")
    assert [info.key for info in faulty_google_store.list()] == ["key"]
    faulty_google.fault = times(2, fault if fault is not page else broken, method="DELETE")
    faulty_google_store.delete("key")
    assert faulty_google_store.head("key") is None


def test_throttling_that_does_not_end_is_a_remote_failure_after_four_attempts(faulty_google, faulty_google_store):
    faulty_google.fault = saying("503 Service Unavailable", "backendError", "Backend Error")
    with pytest.raises(Failure) as failure:
        faulty_google_store.put("key", b"content")
    assert failure.value.exit == Exit.REMOTE and len(faulty_google.seen) == QUICK.attempts
    assert str(failure.value) == (
        f"{faulty_google_store.url}/key: HTTP 503 backendError: Backend Error, 4 times, expected an answer\n"
        "    fix: run this again later"
    )


REFUSALS = {
    "authError": ("401 Unauthorized", "credentials-refused"),
    "forbidden": ("403 Forbidden", "no-permission"),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_refusal_is_said_at_once_and_never_tried_again(faulty_google, faulty_google_store, reason):
    status, code = REFUSALS[reason]
    faulty_google.fault = saying(status, reason, "not you")
    calls = (
        lambda: faulty_google_store.put("key", b"content"),
        lambda: faulty_google_store.put("key", b"x" * LARGE),
        lambda: faulty_google_store.head("key"),
        lambda: list(faulty_google_store.list()),
        lambda: faulty_google_store.delete("key"),
    )
    for call in calls:
        faulty_google.seen.clear()
        with pytest.raises(Failure) as failure:
            call()
        assert (failure.value.exit, failure.value.problems[0].code) == (Exit.ENVIRONMENT, code)
        # The client itself tries to make up for a 401, which it cannot without credentials.
        found = {"forbidden": "HTTP 403 forbidden: not you", "authError": "Anonymous credentials cannot be refreshed."}
        assert failure.value.problems[0].found == found[reason]
        assert len(faulty_google.seen) == 1


def test_a_bucket_that_does_not_exist_is_never_taken_for_an_absent_object(google):
    store = open_store("gs://no-such-bucket/x", settings={"STORAGE_EMULATOR_HOST": google.url}, patience=QUICK)
    calls = (
        lambda: store.head("key"),
        lambda: list(store.list()),
        lambda: store.put("key", b"x"),
        lambda: store.prove("key"),
    )
    for call in calls:
        with pytest.raises(Failure) as failure:
            call()
        assert (failure.value.exit, failure.value.problems[0].code) == (Exit.ENVIRONMENT, "no-bucket")


def test_a_conditional_write_whose_answer_was_lost_has_won(faulty_google, faulty_google_store):
    faulty_google.fault = times(1, answer_lost(faulty_google), method="POST")
    put = faulty_google_store.put("claim", b"mine", if_absent=True)
    assert faulty_google_store.head("claim") == put
    faulty_google.fault = times(1, answer_lost(faulty_google), method="POST")
    again = faulty_google_store.put("claim", b"mine too", if_match=put.etag)
    assert again == faulty_google_store.head("claim") and again.etag != put.etag


def test_a_conditional_write_that_broke_off_and_then_lost_has_lost(faulty_google, faulty_google_store):
    faulty_google_store.put("claim", b"theirs")
    faulty_google.fault = times(1, broken, method="POST")
    with pytest.raises(Conflict):
        faulty_google_store.put("claim", b"mine", if_absent=True)


@pytest.mark.parametrize("fault", [PASSING["503"], broken], ids=["503", "broken connection"])
def test_a_part_is_sent_again_alone(faulty_google, faulty_google_store, fault):
    faulty_google.fault = times(2, fault)
    content = os.urandom(LARGE)
    put = faulty_google_store.put("large", content)
    assert [line.split()[0] for line in faulty_google.seen] == ["POST"] + ["PUT"] * 5
    assert faulty_google_store.prove("large", sha256=hashlib.sha256(content).hexdigest()).size == put.size == LARGE


@pytest.mark.parametrize("condition", [{}, {"if_absent": True}], ids=["unconditional", "if absent"])
def test_a_large_upload_whose_last_answer_was_lost_is_there(faulty_google, faulty_google_store, condition):
    sent = []

    def lost(environ, start):
        sent.append(environ["HTTP_CONTENT_RANGE"])
        return answer_lost(faulty_google)(environ, start) if sent[-1].endswith(f"/{LARGE}") else None

    faulty_google.fault = times(3, lost)
    put = faulty_google_store.put("large", b"x" * LARGE, **condition)
    assert faulty_google_store.prove("large") == put and len(sent) == 3


def test_a_part_that_is_never_taken_makes_no_object(faulty_google, faulty_google_store):
    faulty_google.fault = times(99, PASSING["503"])
    with pytest.raises(Failure) as failure:
        faulty_google_store.put("large", b"x" * LARGE)
    assert failure.value.exit == Exit.REMOTE
    assert faulty_google_store.head("large") is None


def test_an_interrupted_source_makes_no_object(google_store):
    def chunks():
        yield b"x" * LARGE
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        google_store.put_stream("large", chunks(), sha256="0" * 64)
    assert google_store.head("large") is None


def test_a_broken_download_is_taken_up_where_it_broke(faulty_google, faulty_google_store, tmp_path):
    content = os.urandom(LARGE)
    put = faulty_google_store.put("key", content)
    asked = []

    def half(environ, start):
        asked.append(environ.get("HTTP_RANGE"))
        return changed(faulty_google, lambda body: body[: len(body) // 2])(environ, start) if len(asked) == 2 else None

    faulty_google.fault = times(99, half, method="GET", having="alt=media")
    assert faulty_google_store.get("key", tmp_path / "copy") == put
    assert (tmp_path / "copy").read_bytes() == content
    first, second, again, last = asked
    assert second == again and len({first, second, last}) == 3


def test_an_object_replaced_while_it_is_read_is_not_mixed(faulty_google, faulty_google_store, tmp_path):
    faulty_google_store.put("key", b"a" * LARGE)

    def replaced(environ, start):
        faulty_google.fault = None
        faulty_google_store.put("key", b"b" * LARGE)

    faulty_google.fault = times(1, replaced, method="GET", having="alt=media")
    with pytest.raises(Failure, match="replaced while it was read") as failure:
        faulty_google_store.get("key", tmp_path / "copy")
    assert failure.value.exit == Exit.REMOTE and not (tmp_path / "copy").exists()


def test_other_bytes_than_were_stored_are_refused(faulty_google, faulty_google_store, tmp_path):
    put = faulty_google_store.put("key", b"content")
    other = changed(faulty_google, lambda body: body[:-1] + b"!")
    faulty_google.fault = times(99, other, method="GET", having="alt=media")
    with pytest.raises(Failure) as failure:
        faulty_google_store.get("key", tmp_path / "copy")
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.NO, "digest-mismatch")
    assert put.sha256 in str(failure.value) and not (tmp_path / "copy").exists()


def test_what_is_stored_outlives_a_kill_of_the_server(google, google_store):
    put = google_store.put("kept", b"content")
    google.kill()
    google.start()
    assert google_store.head("kept").sha256 == put.sha256
    assert google_store.put("more", b"x").size == 1


def test_listings_of_many_pages_are_complete(faulty_google, faulty_google_store, monkeypatch):
    from benchwright.objects import gcs_bucket

    for number in range(5):
        faulty_google_store.put(f"many/{number}", b"x")
    page_of = gcs_bucket.GCSBucket._page
    monkeypatch.setattr(gcs_bucket.GCSBucket, "_page", lambda self, prefix, token, _: page_of(self, prefix, token, 2))
    faulty_google.seen.clear()
    assert [info.key for info in faulty_google_store.list("many/")] == [f"many/{number}" for number in range(5)]
    assert len(faulty_google.seen) == 3


def test_an_address_at_google_is_one():
    assert StoreLocation.parse("gs://bucket/a/") == StoreLocation("gs", "bucket", "a")


def test_credentials_are_those_of_the_file_the_user_or_the_machine(tmp_path):
    assert missing_credentials("gs", {}) == ()
    assert credentials_note("gs")[0] == (
        "credentials: gs: none set here; those of the machine's service account would be used"
    )
    lost = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")}
    with pytest.raises(Failure) as failure:
        open_store("gs://bucket", settings=lost)
    assert failure.value.exit == Exit.ENVIRONMENT
    assert str(failure.value) == (
        "GOOGLE_APPLICATION_CREDENTIALS: no such file, expected a key file\n"
        "    fix: correct or unset GOOGLE_APPLICATION_CREDENTIALS"
    )
    (tmp_path / "key.json").write_text("{}")
    with pytest.raises(Failure) as failure:
        open_store("gs://bucket", settings=lost).head("key")
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.ENVIRONMENT, "credentials-refused")


def test_the_package_needs_googles_client_for_gs_alone(tmp_path):
    code = (
        "import sys; sys.modules['google.cloud.storage'] = None; sys.modules['google.auth'] = None\n"
        "from benchwright.objects import open_store\n"
        "open_store('local:x').put('a', b'x')\n"
        "from benchwright.contract import Failure\n"
        "try: open_store('gs://bucket')\n"
        "except Failure as failure: print(int(failure.exit), failure)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )  # fmt: skip
    assert told.stdout == (
        "3 google.auth: not installed, expected google-cloud-storage, for stores at Google Cloud\n"
        "    fix: make setup in a checkout, or pip install 'benchwright[gcs]'\n"
    )
