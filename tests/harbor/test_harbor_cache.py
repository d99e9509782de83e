"""The second look: nothing is read that has not changed, and nothing that has changed goes unread."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harbor_files import OLD, job_files, result, trial, write

from benchwright.contract import Exit, Failure
from benchwright.harbor import Folder, ScanCache, read_job
from benchwright.harbor import cache as cache_module

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def job(tmp_path):
    job = tmp_path / "job"
    for number in range(3):
        trial(job, f"task-{number}__aaaaaaa", task=f"task-{number}", id=str(number))
    (job / "task-3__aaaaaaa").mkdir()
    job_files(job, 4, completed=3)
    os.utime(job, (OLD, OLD))
    return job


@pytest.fixture
def cache(tmp_path):
    return ScanCache(tmp_path / "cache")


@pytest.fixture
def opened(monkeypatch):
    """The results that are opened."""
    seen = []
    ordinary = os.open

    def noting(path, *args, **kwargs):
        if str(path).endswith("/result.json"):
            seen.append(str(path).partition("/")[0])
        return ordinary(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", noting)
    return seen


def look(job, cache):
    found = read_job(job, cache=cache)
    return found, {one.folder: (one.state, one.reward, one.surplus) for one in found.trials}


def test_a_second_look_opens_nothing_and_finds_the_same(job, cache, opened):
    first, trials = look(job, cache)
    assert sorted(opened) == ["task-0__aaaaaaa", "task-1__aaaaaaa", "task-2__aaaaaaa", "task-3__aaaaaaa"]
    opened.clear()
    second, again = look(job, cache)
    assert opened == []
    assert (second, again) == (first, trials)


def rewrite(path: Path, **fields):
    """Another content of the same size and time: the inode tells, or when it changed."""
    before = path.read_text()
    after = before.replace('"reward": 1.0', '"reward": 0.0')
    assert (len(after), after != before) == (len(before), True)
    if fields.get("whole"):
        path.unlink()
    write(path, after)


@pytest.mark.parametrize("whole", [False, True])
def test_a_result_of_the_same_size_and_time_is_read_again_when_it_changed(job, cache, opened, whole):
    look(job, cache)
    opened.clear()
    rewrite(job / "task-1__aaaaaaa" / "result.json", whole=whole)
    os.utime(job, (OLD, OLD))
    _, trials = look(job, cache)
    assert trials["task-1__aaaaaaa"] == ("valid", 0.0, False)
    assert set(opened) == {"task-1__aaaaaaa", "task-3__aaaaaaa"}  # what was without a result is always looked at


def test_what_appears_goes_away_or_is_renamed_is_seen(job, cache):
    look(job, cache)
    trial(job, "task-3__aaaaaaa", task="task-3", id="3", config={"job_id": "job-2"})
    assert look(job, cache)[1]["task-3__aaaaaaa"][0] == "valid"
    trial(job, "task-0__000000a", task="task-4", id="4", config={"job_id": "job-2"})
    assert len(look(job, cache)[1]) == 5
    assert look(job, cache) == look(job, None)
    (job / "task-0__aaaaaaa").rename(job / "task-0__bbbbbbb")
    (job / "task-1__aaaaaaa" / "result.json").unlink()
    found = look(job, cache)[1]
    assert {name: state for name, (state, *_) in found.items()} == {
        "task-0__bbbbbbb": "valid",
        "task-1__aaaaaaa": "missing",
        "task-2__aaaaaaa": "valid",
        "task-3__aaaaaaa": "valid",
        "task-0__000000a": "valid",
    }


@pytest.mark.parametrize("file", ["result.json", "config.json", "meta.env", "lock.json"])
def test_the_jobs_own_files_are_looked_at_too(job, cache, file):
    look(job, cache)
    write(job / file, "{")
    os.utime(job, (OLD, OLD))
    found, _ = look(job, cache)
    told = {remark.code for remark in found.remarks}
    assert {"result.json": "aggregate-corrupt" in told, "config.json": "config-corrupt" in told}.get(file, True)


def test_surplus_is_decided_anew(job, cache):
    trial(job, "task-0__zzzzzzz", task="task-0", id="z", finished_at="2026-09-02T10:00:00Z")
    os.utime(job, (OLD, OLD))
    assert look(job, cache)[1]["task-0__aaaaaaa"] == ("valid", 1.0, True)
    (job / "task-0__zzzzzzz" / "result.json").unlink()
    (job / "task-0__zzzzzzz").rmdir()
    assert look(job, cache)[1]["task-0__aaaaaaa"] == ("valid", 1.0, False)


def test_whose_a_damaged_result_is_is_decided_anew(job, cache):
    agents = {"agent": {"name": "oracle", "model_name": "provider/org/new"}, "task": {"path": "/b/task-9"}}
    write(job / "task-9__aaaaaaa" / "result.json", "{")
    write(job / "task-9__aaaaaaa" / "config.json", agents)
    for name in ("a", "b"):
        model = {"name": "oracle", "model_info": {"name": name}}
        trial(job, f"task-{name}__aaaaaaa", task=name, id=name, agent_info=model)
    for _ in range(3):
        os.utime(job, (OLD, OLD))
        (damaged,) = [one for one in look(job, cache)[0].trials if one.state == "corrupt"]
        assert (damaged.task, damaged.model) == ("task-9", "org/new")
        write(job / "task-0__aaaaaaa" / "result.json", result("task-0", id="again"))


def test_a_folder_that_changes_is_not_remembered(job, cache, monkeypatch):
    ordinary = Folder.read

    def vanishing(self, path, *args):
        if path.endswith("/result.json"):
            (job / path.partition("/")[0]).rename(
                job / f"{len(list(job.iterdir()))}__{time.monotonic_ns() % 10**7:07d}"
            )
        return ordinary(self, path, *args)

    monkeypatch.setattr(Folder, "read", vanishing)
    assert look(job, cache)[0].live is True
    assert not cache.folder.exists()


def test_a_file_that_was_just_written_is_not_taken_for_known(job, cache, opened):
    (job / "task-1__aaaaaaa" / "result.json").write_text((job / "task-0__aaaaaaa" / "result.json").read_text())
    look(job, cache)
    opened.clear()
    look(job, cache)
    assert "task-1__aaaaaaa" in opened


@pytest.mark.parametrize("damage", [b"", b"\x00" * 400, b"no scan"])
def test_a_damaged_cache_is_none(job, cache, damage):
    expected = look(job, cache)
    (file,) = cache.folder.iterdir()
    whole = file.read_bytes()
    for content in (damage, whole[: len(whole) // 2]):
        file.write_bytes(content)
        assert look(job, cache) == expected


def test_a_cache_with_a_hole_in_it_is_none(job, cache):
    """As a crash leaves it, whose packed numbers would be read as others."""
    expected = look(job, cache)
    (file,) = cache.folder.iterdir()
    whole = file.read_bytes()
    for place in range(0, len(whole) - 8, 41):
        file.write_bytes(whole[:place] + bytes(8) + whole[place + 8 :])
        assert look(job, cache) == expected


def test_another_version_of_the_program_reads_again(job, cache, opened, monkeypatch):
    look(job, cache)
    opened.clear()
    monkeypatch.setattr(cache_module, "rules", lambda: "another")
    look(job, cache)
    assert "task-0__aaaaaaa" in opened


def test_a_cache_that_cannot_be_written_is_not_in_the_way(job, tmp_path):
    (tmp_path / "file").write_text("")
    assert len(look(job, ScanCache(tmp_path / "file" / "cache"))[1]) == 4


def test_the_cache_is_never_inside_the_job(job):
    with pytest.raises(Failure) as caught:
        read_job(job, cache=ScanCache(job / "cache"))
    assert caught.value.exit is Exit.USAGE
    assert (
        str(caught.value)
        == f"cache: {job / 'cache'}, expected a folder outside of {job}\n    fix: --cache DIR elsewhere"
    )
    assert not (job / "cache").exists()


def test_the_same_folder_by_another_name_is_the_same(job, cache, opened, tmp_path):
    look(job, cache)
    opened.clear()
    (tmp_path / "alias").symlink_to(job)
    found, _ = look(tmp_path / "alias", cache)
    assert (found.name, found.folders, opened) == ("alias", (str(tmp_path / "alias"),), [])


def test_many_at_once_do_not_disturb_each_other(job, cache):
    expected = look(job, None)[1]
    with ThreadPoolExecutor(8) as pool:
        looks = list(pool.map(lambda _: look(job, cache)[1], range(40)))
    assert looks == [expected] * 40
    assert len(list(cache.folder.iterdir())) == 1


def test_names_that_are_no_text_are_read_each_time(cache, tmp_path):
    job = tmp_path / "job"
    trial(job, os.fsdecode(b"\xff__aaaaaaa"))
    for _ in range(2):
        assert list(look(job, cache)[1]) == ["\\xff__aaaaaaa"]


def test_where_the_users_own_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert ScanCache.default().folder == tmp_path / "benchwright" / "harbor"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ScanCache.default().folder == tmp_path / ".cache" / "benchwright" / "harbor"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert ScanCache.default().folder == tmp_path / ".cache" / "benchwright" / "harbor"


def test_a_user_without_a_home_has_no_cache(tmp_path):
    program = """
import os
from benchwright.harbor import ScanCache
os.environ.pop("HOME", None)
os.environ.pop("XDG_CACHE_HOME", None)
os.getuid = lambda: 2**31 - 7
print(ScanCache.default())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"


def test_a_second_look_opens_and_lists_no_folder_of_a_trial(tmp_path):
    """Opening and listing is what a slow file system takes its time for."""
    job = tmp_path / "job"
    for number in range(200):
        trial(job, f"task-{number}__aaaaaaa", result(f"task-{number}", id=str(number)))
    job_files(job, 200)
    os.utime(job, (OLD, OLD))
    program = f"""
import sys
from pathlib import Path
from benchwright.harbor import Folder, ScanCache, read_job
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event in ("open", "os.listdir", "os.scandir") else None)
cache = ScanCache(Path({str(tmp_path / "cache")!r}))
read_job(Path({str(job)!r}), cache=cache)
seen.clear()
read_job(Path({str(job)!r}), cache=cache)
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['open', 'open']\n"  # the folder, and what is remembered of it
