"""An edit is written whole over the bytes it was planned from, whatever kills it and whoever else writes."""

from __future__ import annotations

import os
import signal

import pytest
from info_files import checkout

from benchwright.contract import Exit, Failure
from benchwright.publish import apply_edit
from benchwright.publish.source_edit import SourceEdit, replace_unchanged

BEFORE, AFTER = b"x = 1\n", b"x = 1\ny = 2\n"


@pytest.fixture
def edit(tmp_path):
    target = checkout(tmp_path, BEFORE.decode(), attribute="x")
    return SourceEdit(target, BEFORE, AFTER, "utf-8")


def test_an_edit_of_nothing_writes_nothing(edit):
    before = edit.target.path.stat()
    assert not apply_edit(SourceEdit(edit.target, BEFORE, BEFORE, "utf-8"))
    assert edit.target.path.stat() == before


def test_what_was_changed_since_it_was_read_stays(edit):
    edit.target.path.write_bytes(b"x = 3\n")
    with pytest.raises(Failure) as caught:
        apply_edit(edit)
    assert caught.value.exit == Exit.REFUSED
    assert str(caught.value) == (
        f"{edit.target.path}: changed since it was read, expected the file of the plan\n    fix: run this again"
    )
    assert edit.target.path.read_bytes() == b"x = 3\n"


def test_of_editors_at_the_same_time_one_writes(tmp_path):
    path = tmp_path / "log.md"
    path.write_bytes(b"0")
    children = []
    for number in range(1, 9):
        child = os.fork()
        if child == 0:
            try:
                replace_unchanged(path, b"0", str(number).encode())
            except Failure:
                os._exit(5)
            os._exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0, *[5] * 7]
    assert path.read_bytes() == str(codes.index(0) + 1).encode()


@pytest.mark.parametrize("call", ["fdopen", "fchmod", "fsync", "replace"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_leaves_the_old_file_or_the_new_one(edit, call, moment):
    path = edit.target.path
    child = os.fork()
    if child == 0:
        real = getattr(os, call)

        def killed(*args, **kwargs):
            if moment == "after":
                real(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(os, call, killed)
        apply_edit(edit)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    replaced = (call, moment) == ("replace", "after")
    assert path.read_bytes() == (AFTER if replaced else BEFORE)
    if not replaced:
        assert apply_edit(edit)
    assert path.read_bytes() == AFTER
    assert [found.name for found in path.parent.iterdir()] == ["info.py"]
