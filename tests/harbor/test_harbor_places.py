"""Which folder is meant: jobs, copies, shards, roots, and what only looks like one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harbor_files import DATA, job_files, trial, write

from benchwright.contract import Exit, Failure
from benchwright.harbor import ScanCache, find_jobs, read_job, read_jobs, resolve_job_folder


def problem_of(call, *args):
    with pytest.raises(Failure) as caught:
        call(*args)
    assert caught.value.exit is Exit.USAGE
    (problem,) = caught.value.problems
    return problem


@pytest.fixture
def job(tmp_path):
    folder = tmp_path / "trace_jobs" / "eval-x"
    trial(folder, "task-1__aaaaaaa")
    job_files(folder, 1)
    return folder


def test_a_job_is_itself_also_by_a_relative_path(job, monkeypatch):
    assert resolve_job_folder(job).folders == (job,)
    monkeypatch.chdir(job)
    for path in (".", "../eval-x"):
        place = resolve_job_folder(Path(path))
        assert (place.name, read_job(place).name, place.folders) == ("eval-x", "eval-x", (job,))


@pytest.mark.parametrize("file", ["config.json", "result.json"])
def test_a_job_without_a_trial_is_one(job, tmp_path, file):
    empty = tmp_path / "empty"
    write(empty / file, (job / file).read_text())
    assert resolve_job_folder(empty).folders == (empty,)


def test_trials_alone_are_a_job(tmp_path):
    trial(tmp_path / "job", "task-1__aaaaaaa")
    write(tmp_path / "other" / "my__project" / "readme.txt", "")
    assert [place.name for place in find_jobs(tmp_path)] == ["job"]


def test_a_copy_in_a_folder_of_the_same_name_is_meant_but_no_deeper(tmp_path):
    trial(tmp_path / "once" / "once", "task-1__aaaaaaa")
    trial(tmp_path / "twice" / "twice" / "twice", "task-1__aaaaaaa")
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "loop").symlink_to(tmp_path / "loop")
    place = resolve_job_folder(tmp_path / "once")
    assert (place.name, place.folders) == ("once", (tmp_path / "once" / "once",))
    for name in ("twice", "loop"):
        assert problem_of(resolve_job_folder, tmp_path / name).code == "not-a-job"


def test_a_run_folder_means_the_one_job_below_its_trace_jobs(job, tmp_path):
    place = resolve_job_folder(tmp_path)
    assert (place.name, place.folders, read_job(place).name) == ("eval-x", (job,), "eval-x")
    inner = trial(tmp_path / "root" / "run7" / "trace_jobs" / "eval-z", "task-1__aaaaaaa").parent
    assert find_jobs(tmp_path / "root") == [resolve_job_folder(tmp_path / "root" / "run7")]
    assert (find_jobs(tmp_path / "root")[0].name, find_jobs(tmp_path / "root")[0].folders) == ("eval-z", (inner,))
    trial(tmp_path / "trace_jobs" / "eval-y", "task-1__aaaaaaa")
    problem = problem_of(resolve_job_folder, tmp_path)
    assert (problem.found, problem.fix) == ("the run folder of 2 jobs", f"one of {job}, {job.with_name('eval-y')}")


def test_the_record_of_a_run_is_not_its_job_and_the_job_is_named(job, tmp_path):
    record = tmp_path / "eval_jobs" / "eval-x"
    write(record / "meta.env", "MODEL=org/m\n")
    problem = problem_of(resolve_job_folder, record)
    assert (problem.code, problem.found) == ("not-a-job", "a run's record, with meta.env and no trial in it")
    assert problem.fix == f"{job} is meant: there it is"
    record.rename(record.with_name("eval-z"))
    assert problem_of(resolve_job_folder, record.with_name("eval-z")).fix == (
        f"{job.with_name('eval-z')} is meant: it is not there either; look where the run's jobs_dir points"
    )


def test_the_record_of_a_launch_is_read_from_the_folder_of_its_name(job, tmp_path):
    cache = ScanCache(tmp_path / "cache")
    assert (read_job(job, cache=cache).meta, read_job(job).remarks) == ({}, ())
    record = write(tmp_path / "eval_jobs" / "eval-x" / "meta.env", "MODEL=org/m\n").parent
    for found in (read_job(job), read_job(job, cache=cache), read_job(resolve_job_folder(tmp_path))):
        assert found.meta == {"MODEL": "org/m"}
        assert [one.text for one in found.remarks] == [f"meta.env of its launch is in {record}"]
    write(job / "meta.env", "MODEL=org/other\n")
    assert (read_job(job).meta, read_job(job).remarks) == ({"MODEL": "org/other"}, ())


def test_what_else_is_no_job_says_what_it_is(job, tmp_path):
    one = DATA / "eval-tiny_bench-oracle-20260901_120000" / "write-answer__Deat6x7"
    (tmp_path / "nothing").mkdir()
    write(tmp_path / "notes" / "a.txt", "")
    name_it = "name the folder that Harbor wrote the run's trials to"
    cases = {
        one: ("one trial of a job", f"the job is {one.parent}"),
        job.parent: ("a folder of 1 job", f"to look at all of them: --jobs-root {job.parent}"),
        tmp_path / "nothing": ("an empty folder", name_it),
        tmp_path / "notes": ("no trial, and no job's config or result", name_it),
        tmp_path / "no such": ("no such file or directory", "name a folder that can be read"),
        tmp_path / "notes" / "a.txt": ("not a directory", "name a folder that can be read"),
    }
    for path, told in cases.items():
        problem = problem_of(resolve_job_folder, path)
        assert (problem.where, problem.found, problem.fix) == (str(path), *told)
        assert problem.expected == "the folder of a Harbor job"


def test_shards_are_found_from_the_run_and_from_one_of_them(tmp_path):
    for number in (0, 1, 10):
        trial(tmp_path / f"run_shard{number}", "task-1__aaaaaaa")
    write(tmp_path / "run_shard2" / "a.txt", "")
    folders = tuple(tmp_path / f"run_shard{number}" for number in (0, 1, 10))
    for path in (tmp_path / "run", tmp_path / "run_shard1"):
        place = resolve_job_folder(path)
        assert (place.name, place.folders, place.lacking) == ("run", folders, (2, 3, 4, 5, 6, 7, 8, 9))
    trial(tmp_path / "run", "task-1__aaaaaaa")
    assert resolve_job_folder(tmp_path / "run").folders == (tmp_path / "run",)
    assert [(place.name, place.folders) for place in find_jobs(tmp_path)] == [
        ("run", (tmp_path / "run",)),
        ("run", folders),
    ]


def test_a_root_of_records_names_the_root_that_is_meant(job, tmp_path):
    records = tmp_path / "eval_jobs"
    write(records / "eval-x" / "meta.env", "MODEL=org/m\n")
    problem = problem_of(find_jobs, records)
    assert (problem.code, problem.found) == ("not-a-job", "no job, and the record of 1 run")
    assert problem.fix == f"{job.parent} is meant: there it is"
    write(records / "eval-y" / "meta.env", "MODEL=org/m\n")
    job.parent.rename(tmp_path / "elsewhere")
    problem = problem_of(find_jobs, records)
    assert problem.found == "no job, and the records of 2 runs"
    assert problem.fix == f"{job.parent} is meant: it is not there either; look where the run's jobs_dir points"


def test_a_job_whose_tag_looks_like_a_trials_name_is_one_all_the_same(tmp_path):
    for number, files in enumerate((["config.json"], ["result.json"], ["config.json", "result.json"])):
        root = tmp_path / str(number)
        whole = root / "bench__llama31"
        trial(whole, "task-1__aaaaaaa")
        job_files(whole, 1)
        for file in {"config.json", "result.json"} - set(files):
            (whole / file).unlink()
        assert [place.name for place in find_jobs(root)] == ["bench__llama31"]
        assert problem_of(resolve_job_folder, root).found == "a folder of 1 job"


@pytest.mark.parametrize("content", ["{", "[]", '{"agents": 3}'])
def test_a_trial_is_one_whatever_its_files_hold(tmp_path, content):
    for file in ("config.json", "result.json"):
        write(tmp_path / file[:6] / "task-1__aaaaaaa" / file, content)
        assert resolve_job_folder(tmp_path / file[:6]).folders == (tmp_path / file[:6],)


def test_links_that_lead_nowhere_are_no_jobs(job):
    for name, target in (("round", "round"), ("a", "b"), ("b", "a"), ("gone", "nowhere"), ("again", "eval-x")):
        (job.parent / name).symlink_to(target)
    assert [place.name for place in find_jobs(job.parent)] == ["again", "eval-x"]


def test_what_may_not_be_looked_into_counts_as_a_job_and_says_why_when_it_is_read(job, monkeypatch):
    trial(job.parent / "private", "task-1__aaaaaaa")
    opened = os.open

    def refuse(path, *args, **kwargs):
        if Path(path).name == "private":
            raise PermissionError(13, os.strerror(13), path)
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    readable, private = find_jobs(job.parent)
    assert (readable.name, private.name, private.folders) == ("eval-x", "private", (job.parent / "private",))
    (failure,) = [one for one in read_jobs([readable, private]) if isinstance(one, Failure)]
    assert (failure.exit, failure.problems[0].where) == (Exit.ENVIRONMENT, str(job.parent / "private"))


def test_the_jobs_of_a_root_by_name(tmp_path):
    names = [place.name for place in find_jobs(DATA)]
    assert names == sorted(path.name for path in DATA.iterdir())
    problem = problem_of(find_jobs, DATA / names[0])
    assert (problem.found, problem.fix) == ("a job and no folder of jobs", "give it as JOB_DIR")
    (tmp_path / "a").mkdir()
    assert problem_of(find_jobs, tmp_path).found == "no job in 1 folder"
    assert problem_of(find_jobs, tmp_path / "a").found == "no folder in it"
