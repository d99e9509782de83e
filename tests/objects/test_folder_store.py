"""The folder as a store: links, kills, foreign writers, and names that clash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from benchwright.contract import Exit, Failure
from benchwright.objects import Conflict, open_store


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def local(folder):
    return open_store(f"local:{folder}")


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_opening_and_reading_make_nothing(local, folder):
    assert list(local.list()) == [] and local.head("a") is None and local.discard_unfinished() == 0
    local.delete("a")
    assert not folder.exists()


def test_objects_are_plain_files_with_the_usual_permissions(local, folder):
    local.put("a/b", b"content")
    umask = os.umask(0)
    os.umask(umask)
    assert files(folder) == [".benchwright/lock", "a/b"]
    assert (folder / "a/b").stat().st_mode & 0o777 == 0o666 & ~umask


def test_listings_are_in_the_order_of_whole_keys(local):
    keys = ["a/b/c", "a-b", "a/b.txt", "a/bc", "z", "a/é"]
    for key in keys:
        local.put(key, b"x")
    assert [info.key for info in local.list()] == sorted(keys, key=str.encode)


def test_links_are_no_objects_and_lead_nowhere(local, folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    local.put("a", b"x")
    (folder / "link").symlink_to(outside)
    (folder / "file").symlink_to(outside / "secret")
    (folder / "inner").symlink_to(folder / "a")
    assert [info.key for info in local.list()] == ["a"]
    assert list(local.list("inner/")) == []
    for key in ("link/secret", "file", "inner"):
        for call in (local.head, lambda k: local.put(k, b"!"), local.delete):
            with pytest.raises(Failure) as failure:
                call(key)
            assert failure.value.problems[0].code == "path-escape"
    assert (outside / "secret").read_text() == "x"
    with pytest.raises(Failure, match="leaves"):
        list(local.list("link/"))


def test_folders_pipes_and_foreign_names_are_no_objects(local, folder):
    local.put("a/b", b"x")
    os.mkfifo(folder / "pipe")
    (folder / "back\\slash").write_text("x")
    (folder / os.fsdecode(b"\xff")).write_text("x")
    assert [info.key for info in local.list()] == ["a/b"]
    assert local.head("a") is None and local.head("pipe") is None and local.head("a/b/c") is None


def test_a_key_that_is_the_start_of_another_is_refused(local):
    local.put("a/b", b"x")
    for key, found in (("a", "is a directory"), ("a/b/c", "file exists")):
        with pytest.raises(Failure) as failure:
            local.put(key, b"x")
        assert failure.value.exit == Exit.ENVIRONMENT
        assert str(failure.value) == (
            f"{local.url}/{key}: {found}, expected a folder to write to\n"
            "    fix: in a folder one key cannot be both an object and the start of another: choose another key"
        )


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(Failure) as failure:
        open_store(f"local:{tmp_path / 'file'}").put("a", b"x")
    assert failure.value.exit == Exit.ENVIRONMENT and failure.value.problems[0].code == "folder-unusable"


def test_a_file_put_by_other_means_is_not_overwritten(local, folder):
    local.put("other", b"x")
    (folder / "once").write_text("theirs")
    with pytest.raises(Conflict) as conflict:
        local.put("once", b"mine", if_absent=True)
    assert str(conflict.value) == (
        f"{local.url}/once: an object, expected none under this key\n"
        "    fix: look at what is there now, then run this again"
    )


def test_a_change_by_other_means_is_another_version_with_its_own_digest(local, folder):
    put = local.put("key", b"content")
    (folder / "key").write_text("changed")
    assert local.head("key").sha256 != put.sha256
    with pytest.raises(Conflict):
        local.put("key", b"mine", if_match=put.etag)
    with pytest.raises(Failure, match="read back SHA-256"):
        local.prove("key", sha256=put.sha256)


def test_a_file_system_without_hard_links_keeps_the_condition(local, monkeypatch):
    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    local.put("once", b"first", if_absent=True)
    with pytest.raises(Conflict):
        local.put("once", b"second", if_absent=True)
    assert local.prove("once").size == 5


def test_a_failing_source_leaves_nothing(local, folder):
    def chunks():
        yield b"x"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        local.put_stream("key", chunks())
    assert [name for name in files(folder) if name != ".benchwright/lock"] == []


def test_an_unreadable_source_is_not_taken_for_the_store(local, tmp_path):
    with pytest.raises(FileNotFoundError):
        local.put("key", tmp_path / "none")

    def chunks():
        yield b"x"
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output error"):
        local.put_stream("key", chunks())


WRITER = """
import sys
from benchwright.objects import open_store
store = open_store(sys.argv[1])
print("ready", flush=True)
while True:
    store.put("key", b"x" * 3_000_000 + b"y")
"""


def test_a_killed_writer_leaves_the_object_whole_and_the_lock_free(local, folder):
    for pause in (0.0, 0.005, 0.02):
        command = [sys.executable, "-c", WRITER, f"local:{folder}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            while local.head("key") is None:
                time.sleep(0.005)
            time.sleep(pause)
            writer.send_signal(signal.SIGKILL)
        assert local.prove("key").size == 3_000_001
    local.put("key", b"mine")
    assert [info.key for info in local.list()] == ["key"]
    left = len([name for name in files(folder) if "upload-" in name])
    assert local.discard_unfinished() == 0
    assert local.discard_unfinished(older_than=timedelta(0)) == left
    assert files(folder) == [".benchwright/lock", "key"]
