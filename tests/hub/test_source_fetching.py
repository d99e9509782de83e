"""Pages that are fetched from a real server, which misbehaves, and saved copies."""

from __future__ import annotations

import gzip
import time
import zlib

import pytest
from source_site import dropped, endless, moved, page, status, torn

from benchwright.contract import Exit, Failure
from benchwright.hub.client import HubPatience
from benchwright.hub.sources import fetch as fetching
from benchwright.hub.sources.fetch import MOST_BYTES, fetch, read_file

SOON = HubPatience(attempts=3, first_wait=0.01, longest_wait=0.02, timeout=2)


def refused(address, code, exit=Exit.NO):
    with pytest.raises(Failure) as told:
        fetch(address, SOON)
    (problem,) = told.value.problems
    assert (problem.code, told.value.exit, problem.where) == (code, exit, address)
    return problem.found


def test_a_page_comes_with_its_type_and_without_any_login(site, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_a_token_that_stays_here")
    address = site.add("/a?x=1", "<p>62.7</p>")
    told = fetch(f"{address}#results", SOON)
    assert (told.media, told.text()) == ("text/html", "<p>62.7</p>")
    (path, headers), *rest = site.seen
    assert (path, rest) == ("/a?x=1", [])
    assert not {"Authorization", "Cookie", "Referer"} & set(headers)
    assert "hf_a_token" not in str(headers)


def test_steps_are_followed_on_the_web_alone(site):
    site.add("/b", "<p>here</p>")
    address = site.add("/a", moved("/b"))
    assert fetch(address, SOON).final == f"{site.url}/b"
    for location in ("file:///etc/hostname", "ftp://127.0.0.1/x", "data:text/html,62.7", "http://["):
        site.add("/a", moved(location))
        assert refused(address, "source-refused") == f"it leads to {location!r}"
    site.add("/a", moved("//somebody:word@127.0.0.1/b"))
    assert refused(address, "source-refused") == "it leads to 'http://somebody:word@127.0.0.1/b'"
    site.add("/a", status(302))
    assert refused(address, "source-refused") == "HTTP 302"
    site.add("/a", moved("/a"))
    assert refused(address, "source-refused") == "more than 5 redirections"
    assert sum(path == "/a" for path, _ in site.seen) == 1 + 6 + 6


@pytest.mark.parametrize("trouble", [status(503), status(429), dropped, torn])
def test_what_passes_is_asked_for_again(site, trouble):
    address = site.add("/a", trouble, trouble, "<p>62.7</p>")
    assert fetch(address, SOON).text() == "<p>62.7</p>"
    site.add("/a", trouble)
    refused(address, "source-unavailable", Exit.REMOTE)
    assert len(site.seen) == 6


def test_what_is_not_there_is_asked_for_once(site):
    assert refused(f"{site.url}/none", "source-missing") == "HTTP 404"
    assert refused(site.add("/closed", status(403)), "source-refused") == "HTTP 403"
    assert len(site.seen) == 2


def test_nobody_there_and_hosts_without_an_address(site):
    refused("http://127.0.0.1:9/", "source-unavailable", Exit.REMOTE)
    refused("http://no-such-host.invalid/", "source-unavailable", Exit.REMOTE)


def test_a_page_of_100_megabytes_is_not_read_to_its_end(site):
    start = time.monotonic()
    assert refused(site.add("/a", endless), "source-too-large") == "more than 16,777,216 bytes"
    assert time.monotonic() - start < 30


def test_packed_pages_are_bounded_too(site):
    html = b"<p>62.7</p>"
    assert fetch(site.add("/a", page(gzip.compress(html), Content_Encoding="gzip")), SOON).data == html
    assert fetch(site.add("/a", page(zlib.compress(html), Content_Encoding="deflate")), SOON).data == html
    bomb = zlib.compress(b"\0" * (MOST_BYTES * 8))
    refused(site.add("/a", page(bomb, Content_Encoding="deflate")), "source-too-large")
    cut = page(gzip.compress(html)[:-4], Content_Encoding="gzip")
    refused(site.add("/a", cut), "source-unavailable", Exit.REMOTE)
    assert refused(site.add("/a", page(html, Content_Encoding="br")), "source-unreadable") == "packed with 'br'"


def test_a_page_that_trickles_is_given_up(site, monkeypatch):
    def trickle(handler):
        for _ in range(400):
            handler.wfile.write(b"H")
            handler.wfile.flush()
            time.sleep(0.1)

    monkeypatch.setattr(fetching, "_LONGEST", 0.3)
    address = site.add("/a", trickle)
    start = time.monotonic()
    with pytest.raises(Failure) as told:
        fetch(address, HubPatience(attempts=1, first_wait=0.01, timeout=20))
    assert told.value.problems[0].found == "no whole page within 0 seconds"
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("data", "media", "text"),
    [
        ("62.7†".encode(), "text/html; charset=utf-8", "62.7†"),
        (b"62.7\x86", "text/html; charset=iso-8859-1", "62.7†"),
        (b"62.7\x86", "text/html", "62.7†"),
        ("<meta charset='shift_jis'>点62.7".encode("shift_jis"), "text/html", "<meta charset='shift_jis'>点62.7"),
        ("62.7†".encode("utf-16"), "text/html", "62.7†"),
        (b"\xef\xbb\xbf62.7", "text/html; charset=latin-1", "62.7"),
        (b"62.7\xff", "text/html; charset=utf-8", "62.7\ufffd"),
        (b"62.7", "text/html; charset=punycode", "62.7"),
        (b"62.7", "text/html; charset=no-such", "62.7"),
        (b"62.7", "text/html; charset=zlib", "62.7"),
    ],
)
def test_texts_in_whatever_encoding(site, data, media, text):
    assert fetch(site.add("/a", page(data, media)), SOON).text() == text


def test_saved_copies(tmp_path):
    (tmp_path / "a.md").write_text("62.7")
    (tmp_path / "b").write_text("\n<!doctype html><p>62.7")
    (tmp_path / "c.txt").write_text("62.7")
    (tmp_path / "large.html").write_bytes(b"a" * (MOST_BYTES + 1))
    kinds = [read_file(tmp_path / name).media for name in ("a.md", "b", "c.txt")]
    assert kinds == ["text/markdown", "text/html", "text/plain"]
    for name, found in (
        ("none", "cannot be read (no such file or directory)"),
        ("large.html", "more than 16,777,216 bytes"),
    ):
        with pytest.raises(Failure) as told:
            read_file(tmp_path / name)
        assert told.value.problems[0].found == found
    with pytest.raises(Failure, match="is a directory"):
        read_file(tmp_path)
