"""A run that was cut into shards."""

from __future__ import annotations

from harbor_files import figures_of, job_files, states, trial, write

from benchwright.harbor import find_jobs, read_job, resolve_job_folder


def test_shards_are_one_run(tmp_path):
    for number in (0, 2):
        shard = tmp_path / f"run_shard{number}"
        trial(shard, f"task-{number}__aaaaaaa", task=f"task-{number}", exception="DaytonaError", reward=None)
        job_files(shard, 1, evals={"oracle__bench": {"n_trials": 0, "exception_stats": {"DaytonaError": ["x"]}}})
    (place,) = find_jobs(tmp_path)
    job = read_job(place)
    assert (job.name, place.lacking) == ("run", (1,))
    assert states(job) == {"run_shard0/task-0__aaaaaaa": "unscored", "run_shard2/task-2__aaaaaaa": "unscored"}
    found = figures_of(job)
    assert (found["planned"], found["invalid"], found["invalid_in_aggregate"]) == (2, 2, 2)
    assert job.remarks[0].text == "a part of the run is not there: run_shard1"
    assert job.aggregate.finished is not None


def test_a_shard_without_an_aggregate_planned_what_its_lock_lists(tmp_path):
    for number in range(2):
        trial(tmp_path / f"run_shard{number}", f"task-{number}__aaaaaaa", task=f"task-{number}", id=str(number))
        job_files(tmp_path / f"run_shard{number}", 2)
    (tmp_path / "run_shard1" / "result.json").unlink()
    assert figures_of(read_job(resolve_job_folder(tmp_path / "run")))["planned"] is None
    write(tmp_path / "run_shard1" / "lock.json", {"trials": [{}, {}]})
    assert figures_of(read_job(resolve_job_folder(tmp_path / "run")))["planned"] == 4


def test_what_no_shard_is_called_is_a_job_of_its_own(tmp_path):
    names = ("run_shard01", "run_shard1", "run_shard20260901120000", "run_shard9999", "run_shardx")
    for name in names:
        trial(tmp_path / name, "task-1__aaaaaaa")
    places = {place.name: [folder.name for folder in place.folders] for place in find_jobs(tmp_path)}
    assert places == {"run": ["run_shard1", "run_shard9999"]} | {
        name: [name] for name in (names[0], names[2], names[4])
    }
    assert resolve_job_folder(tmp_path / names[2]).folders == (tmp_path / names[2],)


def test_a_single_shard_of_several_is_not_the_run(tmp_path):
    trial(tmp_path / "run_shard1", "task-1__aaaaaaa")
    job_files(tmp_path / "run_shard1", 1)
    job = read_job(resolve_job_folder(tmp_path / "run"))
    assert (job.name, states(job)) == ("run", {"run_shard1/task-1__aaaaaaa": "valid"})
    assert job.remarks[0].text == "a part of the run is not there: run_shard0"


def test_a_copy_of_a_shard_counts_once(tmp_path):
    for number in range(2):
        for name in ("a", "b"):
            trial(tmp_path / f"run_shard{number}", f"task-{name}__aaaaaaa", task=name, id=name)
        job_files(tmp_path / f"run_shard{number}", 2)
    job = read_job(resolve_job_folder(tmp_path / "run"))
    assert list(states(job)) == ["run_shard0/task-a__aaaaaaa", "run_shard0/task-b__aaaaaaa"]
    assert [remark.text for remark in job.remarks if remark.code == "copied-trials"] == [
        "2 trials that are there already, and not counted again: run_shard1/task-a__aaaaaaa, run_shard1/task-b__aaaaaaa"
    ]
