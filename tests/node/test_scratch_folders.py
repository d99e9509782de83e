"""Scratch folders: gone with their run, or removed by the next one; anybody else's stay."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import pytest

from benchwright.node.scratch import new_scratch, passing_scratch, remove_abandoned, remove_if_empty
from waiting import PATIENCE, wait_for_ends


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_what_a_kill_of_the_whole_tree_leaves_is_removed_by_the_next_run(run):
    process = run.start(["hang-a"])
    item, *family, server = map(int, run.wait_for("pids").split()[1:])
    with open(f"/proc/{item}/stat", encoding="utf-8") as stat:
        supervisor = int(stat.read().rpartition(")")[2].split()[1])
    # Stopped first, none of them can clear up before its turn.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (process.pid, server, supervisor, item, *family):
            with contextlib.suppress(ProcessLookupError):  # a child of one that was killed before it
                os.kill(pid, number)
    process.communicate()
    wait_for_ends([item, *family, server])
    assert [path.name[:3] for path in run.scratch()] == ["bw-"]
    run.start(["write-a"]).communicate(timeout=PATIENCE)
    assert run.result("write-a", 0).exists()
    assert run.scratch() == []


def test_a_killed_supervisors_item_ends_with_all_it_started(run):
    process = run.start(["hang-a", "write-b"])
    item, *family, server = map(int, run.wait_for("pids").split()[1:])
    with open(f"/proc/{item}/stat", encoding="utf-8") as stat:
        os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
    output, _ = process.communicate(timeout=PATIENCE)
    wait_for_ends([item, *family, server])
    assert "##### item FAILED (exit 137): experiment=hang-a" in output
    assert run.result("write-b", 1).exists()
    assert run.scratch() == []


def test_a_folder_in_use_stays_also_when_its_first_owner_is_gone(temporary):
    """Those that the owner forked hold its lock."""
    reading, writing = os.pipe()
    owner = os.fork()
    if not owner:
        new_scratch()
        heir = os.fork()
        if not heir:
            time.sleep(60)
        os.write(writing, b"%d" % heir)
        os._exit(0)
    os.waitpid(owner, 0)
    heir = int(os.read(reading, 20))
    remove_abandoned()
    assert len(list(temporary.iterdir())) == 1
    os.kill(heir, signal.SIGKILL)
    wait_for_ends([heir])
    remove_abandoned()
    assert list(temporary.iterdir()) == []


def test_a_folder_for_a_while_is_gone_with_it_or_with_the_next_run_after_a_kill(temporary):
    with passing_scratch() as folder:
        (folder / "object.json").write_text("{}")
        remove_abandoned()
        assert (folder / "object.json").exists()
    assert list(temporary.iterdir()) == []
    killed = os.fork()
    if not killed:
        with passing_scratch():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(killed, 0)
    assert len(list(temporary.iterdir())) == 1
    remove_abandoned()
    assert list(temporary.iterdir()) == []


def test_folders_that_are_nobodys_scratch_stay(temporary):
    (temporary / "bw-results").mkdir()
    (temporary / "bw-results" / "kept").write_text("x")
    (temporary / "bw-file").write_text("x")
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere" / "benchwright.lock").touch()
    (temporary / "bw-link").symlink_to(temporary / "elsewhere")
    before = sorted(temporary.rglob("*"))
    remove_abandoned()
    assert sorted(temporary.rglob("*")) == before


def test_only_an_empty_folder_is_removed_with_its_lock(temporary):
    folder = new_scratch()
    (folder / "7").mkdir()
    remove_if_empty(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["7", "benchwright.lock"]
    (folder / "7").rmdir()
    remove_if_empty(folder)
    assert list(temporary.iterdir()) == []
