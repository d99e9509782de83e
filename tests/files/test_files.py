from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwright.contract import Exit, Failure
from benchwright.files import (
    FileLock,
    RunPaths,
    atomic_writer,
    digest,
    inside,
    naming_full_disks,
    read_bytes,
    read_json,
    write_bytes,
    write_json,
    write_text,
)


def test_a_write_replaces_whole_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "deep" / "a b.json"
    write_json(path, {"ä": [1, 2]})
    write_json(path, {"ä": [3]})
    assert path.read_text() == '{"ä": [3]}\n'
    assert [entry.name for entry in path.parent.iterdir()] == ["a b.json"]


def test_a_failed_write_leaves_the_old_content(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(RuntimeError), atomic_writer(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_permissions_are_kept_and_new_files_follow_the_umask(tmp_path):
    path = tmp_path / "script"
    write_text(path, "1")
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    path.chmod(0o750)
    write_text(path, "2")
    assert path.stat().st_mode & 0o777 == 0o750


def test_not_a_number_is_refused(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "x.json", {"a": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_a_killed_writer_never_leaves_half_a_file(tmp_path):
    """Kill a process that rewrites one file over and over; what stands there is always one whole version."""
    path = tmp_path / "result"
    code = (
        "import sys\nfrom benchwright.files import write_bytes\n"
        "i = 0\nwhile True:\n    write_bytes(sys.argv[1], bytes([i % 256]) * 200_000); i += 1"
    )
    for round in range(8):
        writer = subprocess.Popen([sys.executable, "-c", code, str(path)])
        while not path.exists():
            time.sleep(0.005)
        time.sleep(0.01 * round)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        content = path.read_bytes()
        assert len(content) == 200_000
        assert len(set(content)) == 1


def test_reads_are_bounded(tmp_path):
    write_bytes(tmp_path / "x", b"12345")
    assert read_bytes(tmp_path / "x", limit=5) == b"12345"
    with pytest.raises(Failure) as caught:
        read_bytes(tmp_path / "x", limit=4)
    assert caught.value.problems[0].code == "too-large"


@pytest.mark.parametrize("content", [b"", b'{"a":', b"\xff\xfe"])
def test_a_broken_json_file_is_one_problem(tmp_path, content):
    write_bytes(tmp_path / "x.json", content)
    with pytest.raises(Failure) as caught:
        read_json(tmp_path / "x.json")
    assert caught.value.problems[0].code == "not-json"


def test_what_is_no_regular_file_is_never_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's name may not be long
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name in ("pipe", "socket", "/dev/zero", "."):
            for read in (lambda path: read_bytes(path, limit=9), read_json, digest):
                with pytest.raises(OSError):
                    read(Path(name))
    with pytest.raises(OSError, match="no regular file: 'pipe'"):
        digest("pipe")


def test_digest_is_sha256(tmp_path):
    write_bytes(tmp_path / "x", b"abc")
    assert digest(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("member", ["../x", "/etc/passwd", "a/../../x", "", ".", "link/x"])
def test_a_member_never_leaves_its_folder(tmp_path, member):
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(Failure) as caught:
        inside(root, member)
    assert caught.value.problems[0].code == "path-escape"
    assert inside(root, "a/b") == root / "a" / "b"


HOLD = """
import sys, time
from benchwright.files import FileLock
with FileLock(sys.argv[1], "set-up of x"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_names_its_holder_and_dies_with_it(tmp_path):
    path = tmp_path / "lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Failure) as caught, FileLock(path, "mine"):
        pass
    assert caught.value.exit == Exit.REFUSED
    assert f"set-up of x (process {holder.pid} on " in str(caught.value)
    assert "wait for it to end, or stop it, then run this again" in str(caught.value)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with FileLock(path, "mine"):
        assert json.loads(path.read_text())["purpose"] == "mine"


def test_a_lock_is_held_by_what_inherits_it_and_a_look_at_it_writes_nothing(tmp_path):
    lock = FileLock(tmp_path / "lock", "mine")
    assert (lock.is_held(), lock.path.exists()) == (False, False)
    with lock:
        heir = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(lock.fileno(),))
    note = lock.path.read_bytes()
    assert lock.is_held()
    heir.communicate()
    assert (lock.is_held(), lock.path.read_bytes()) == (False, note)


def test_run_paths_are_the_public_layout():
    paths = RunPaths(Path("/w"), "tabm_26062026")
    assert paths.result("TabM_c1", "363612", 2, 1) == Path(
        "/w/output/tabm_26062026/data/TabM_c1/363612/2_1/results.pkl"
    )
    assert paths.job_batch("cpu") == Path("/w/setup_out/tabm_26062026/job_batch_tabm_26062026_cpu")
    assert paths.job_file("cpu", size=5, batch=1).name == "slurm_run_data_tabm_26062026_cpu_size5_batch1.json"
    assert paths.logs == Path("/w/slurm_out/tabm_26062026")


@pytest.mark.parametrize("name", ["", "a/b", "..", "a b", "-x", "x" * 129, None, 3])
def test_a_benchmark_name_is_a_plain_file_name(name):
    with pytest.raises(Failure) as caught:
        RunPaths(Path("/w"), name)
    assert caught.value.exit == Exit.USAGE


@pytest.mark.parametrize(
    ("workspace", "said"),
    [
        (None, "'None': no path"),
        (3, "'3': no path"),
        (Path("/w/a\0b"), r"'/w/a\x00b': no path"),
        (Path(os.fsdecode(b"/w/caf\xe9")), r"'/w/caf\udce9': a name that is not UTF-8"),
        (Path("~nobody-of-that-name/w"), "'~nobody-of-that-name/w': no such user's home"),
    ],
)
def test_a_workspace_is_a_path(workspace, said):
    with pytest.raises(Failure) as caught:
        RunPaths(workspace, "demo")
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        f"workspace: {said}, expected a folder's path, in UTF-8\n"
        "    fix: give another, by --workspace or as WORKSPACE in the run script"
    )


def test_a_relative_workspace_needs_a_current_folder(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(Failure) as caught:
        RunPaths(Path("w"), "demo")
    assert "'w': a relative path, and the current folder is gone" in str(caught.value)
    assert RunPaths(tmp_path, "demo").workspace == tmp_path


def test_a_full_disk_is_told_with_the_path_that_was_written(tmp_path):
    target = tmp_path / "table"
    full = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
    with full, pytest.raises(OSError, match="No space left") as caught, naming_full_disks(target):
        full.write(b"x")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(target))
    with pytest.raises(OSError, match="elsewhere") as caught, naming_full_disks(target):
        raise OSError(errno.EIO, "elsewhere")
    assert caught.value.filename is None
