"""A folder takes another's place in one step, or the old one stays."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwright.files import swap, swap_in
from waiting import wait_until


def folder(path: Path, content: str) -> Path:
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "file.txt").write_text(content)
    return path


def names(path: Path) -> list[str]:
    return [entry.name for entry in path.iterdir()]


def content(path: Path) -> str:
    return (path / "deep" / "file.txt").read_text()


@pytest.fixture(params=["exchange", "two renames"])
def either_way(request, monkeypatch):
    """Both ways: this file system can exchange names, others cannot."""
    if request.param == "two renames":
        monkeypatch.setattr(swap, "_renameat2", lambda: None)
    else:
        assert swap._renameat2() is not None, "glibc has it since 2.28"
    return request.param


@pytest.mark.usefixtures("either_way")
def test_a_folder_takes_the_place_of_another(tmp_path):
    target = folder(tmp_path / "a b" / "target", "old")
    (target / "stale").touch()
    swap_in(folder(tmp_path / "new", "new"), target)
    assert content(target) == "new"
    assert names(tmp_path) == ["a b"]
    assert names(target) == ["deep"]
    assert names(target.parent) == ["target"]


@pytest.mark.usefixtures("either_way")
def test_where_nothing_was_the_parents_are_made(tmp_path):
    swap_in(folder(tmp_path / "new", "new"), tmp_path / "one" / "two" / "target")
    assert content(tmp_path / "one" / "two" / "target") == "new"


@pytest.mark.usefixtures("either_way")
def test_a_neighbour_of_nearly_the_same_name_is_left_alone(tmp_path):
    target, neighbour = folder(tmp_path / "in" / "target", "old"), folder(tmp_path / "in" / "target.old", "another's")
    swap_in(folder(tmp_path / "new", "new"), target)
    assert (content(target), content(neighbour)) == ("new", "another's")


@pytest.mark.usefixtures("either_way")
def test_a_link_stays_a_link(tmp_path):
    folder(tmp_path / "elsewhere", "old")
    (tmp_path / "target").symlink_to(tmp_path / "elsewhere")
    swap_in(folder(tmp_path / "new", "new"), tmp_path / "target")
    assert (tmp_path / "target").is_symlink()
    assert content(tmp_path / "elsewhere") == "new"


@pytest.mark.usefixtures("either_way")
def test_a_new_folder_that_is_not_there_changes_nothing(tmp_path):
    target = folder(tmp_path / "target", "old")
    with pytest.raises(OSError, match="No such file") as raised:
        swap_in(tmp_path / "new", target)
    assert raised.value.errno == errno.ENOENT
    assert content(target) == "old"


SWAPPER = """
import shutil, sys
from pathlib import Path
from benchwright.files import swap_in
root = Path(sys.argv[1])
for number in range(10**9):
    new = root / "new"
    shutil.rmtree(new, ignore_errors=True)
    (new / "deep").mkdir(parents=True)
    for name in "abc":
        (new / "deep" / name).write_text(str(number))
    swap_in(new, root / "target")
"""


def test_a_reader_never_sees_a_part_whenever_the_writer_is_killed(tmp_path):
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", SWAPPER, str(tmp_path)])
        wait_until((tmp_path / "target").exists)
        time.sleep(0.2)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        files = sorted((tmp_path / "target" / "deep").iterdir())
        assert [file.name for file in files] == ["a", "b", "c"]
        assert len({file.read_text() for file in files}) == 1
