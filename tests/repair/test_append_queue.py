"""The script append_queue: queues stay flat, in order, and whole."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from benchwright.contract import Failure
from benchwright.files import write_bytes
from benchwright.repair.queue_file import append_to_queue
from kills import kills
from scripts_in_process import Script

HUB = "https://huggingface.co/datasets/org"


@pytest.fixture
def script(capsys, settings):
    return Script.named("eval/append_queue", capsys)


@pytest.fixture
def queue(tmp_path):
    path = tmp_path / "rl_to_check.md"
    path.write_text(f"{HUB}/b\n{HUB}/a\n")
    return path


def test_what_is_new_comes_last_in_the_order_given(script, queue):
    dry = script.answer(queue, f"{HUB}/d", f"{HUB}/a/", f"{HUB}/c", f"{HUB}/d")
    assert (dry["exit"], dry["data"]["applied"], queue.read_text()) == (0, False, f"{HUB}/b\n{HUB}/a\n")
    assert dry["summary"] == f"DRY RUN: nothing written; {queue}: 2 to add to 2, 1 there already"
    answer = script.answer(queue, f"{HUB}/d", f"{HUB}/a/", f"{HUB}/c", f"{HUB}/d", "--apply")
    assert (answer["data"]["added"], answer["data"]["known"]) == ([f"{HUB}/d", f"{HUB}/c"], [f"{HUB}/a/"])
    assert queue.read_text() == f"{HUB}/b\n{HUB}/a\n{HUB}/d\n{HUB}/c\n"
    again = script.answer(queue, f"{HUB}/d", f"{HUB}/c", "--apply")
    assert (again["exit"], again["data"]["added"]) == (0, [])


@pytest.mark.parametrize(
    "text", ["# Fixes", "| repo | fix |", "* https://a.b/c", "[x](https://a.b/c)", "two words/x", "word", "`a/b`", ""]
)
def test_markdown_is_no_entry(script, queue, text):
    before = queue.read_bytes()
    answer = script.answer(queue, f"{HUB}/d", text, "--apply")
    assert (answer["exit"], [problem["code"] for problem in answer["problems"]]) == (2, ["not-flat"])
    assert queue.read_bytes() == before


def test_a_file_that_is_no_queue_is_refused_with_every_such_line(script, queue):
    queue.write_text(f"# To check\n\n{HUB}/a\n| a | b |\n")
    answer = script.answer(queue, f"{HUB}/c", "--apply")
    assert (answer["exit"], [problem["where"] for problem in answer["problems"]]) == (1, [f"{queue}:1", f"{queue}:4"])
    assert answer["problems"][0] == {
        "code": "not-flat",
        "where": f"{queue}:1",
        "found": "# To check",
        "expected": "one address or path a line, and nothing else",
        "fix": "notes belong into a file of their own",
    }
    queue.write_bytes(b"caf\xe9/x\n")
    assert script.answer(queue, f"{HUB}/c", "--apply")["exit"] == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a/b", b"a/b\nc/d\n"),
        (b"a/b\r\n", b"a/b\r\nc/d\r\n"),
        (b"a/b\n\n", b"a/b\n\nc/d\n"),
        (b"\xef\xbb\xbfa/b\r\n", b"\xef\xbb\xbfa/b\r\nc/d\r\n"),
        (b"\xef\xbb\xbfc/d\n", b"\xef\xbb\xbfc/d\n"),
        (b"", b"c/d\n"),
        (None, b"c/d\n"),
    ],
    ids=["no end of line", "windows", "an empty line", "a byte-order mark", "there behind one", "empty", "new"],
)
def test_every_kind_of_end(script, tmp_path, before, after):
    queue = tmp_path / "queue.md"
    if before is not None:
        queue.write_bytes(before)
    script.answer(queue, "c/d", "--apply")
    assert queue.read_bytes() == after


def test_a_link_to_a_queue_stays_one_and_its_permissions_too(script, queue, tmp_path):
    queue.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(queue)
    script.answer(link, "c/d", "--apply")
    assert (link.is_symlink(), queue.read_text().endswith("c/d\n"), queue.stat().st_mode & 0o777) == (True, True, 0o640)


def test_two_at_once_lose_nothing(script, queue):
    handle = os.open(queue, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    answer = script.answer(queue, "c/d", "--apply")
    os.close(handle)
    assert (answer["exit"], answer["summary"]) == (5, "another process adds to it")
    assert script.answer(queue, "c/d", "--apply")["exit"] == 0


def test_two_at_once_make_one_new_queue(script, tmp_path, monkeypatch):
    queue = tmp_path / "new.md"

    def meanwhile(path, content):
        with pytest.raises(Failure, match="another process adds to it"):
            append_to_queue(queue, ["a/b"], apply=True)
        write_bytes(path, content)

    monkeypatch.setattr("benchwright.repair.queue_file.write_bytes", meanwhile)
    assert script.answer(queue, "c/d", "--apply")["exit"] == 0
    assert queue.read_text() == "c/d\n"


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_is_told(script, tmp_path, make):
    make(tmp_path / "queue.md")
    assert script.answer(tmp_path / "queue.md", "c/d", "--apply")["exit"] == 3


def test_no_such_folder_is_told(script, tmp_path):
    answer = script.answer(tmp_path / "nowhere" / "queue.md", "c/d", "--apply")
    assert (answer["exit"], answer["summary"]) == (2, "no such folder")


def test_killed_at_any_step_it_is_the_old_queue_or_the_new_one(script, queue):
    old, new = queue.read_bytes(), queue.read_bytes() + b"c/d\n"
    seen = set()
    for _ in kills(lambda: script.run(queue, "c/d", "--apply"), lambda: queue.write_bytes(old)):
        seen.add(queue.read_bytes())
    assert seen <= {old, new}
    assert queue.read_bytes() == new
