"""The status of a job: every word, whatever version of Harbor wrote the folder, and which of them ask for a resume."""

from __future__ import annotations

import json

import pytest
from harbor_files import DATA, job_files, trial, write

from benchwright.harbor import Benchmark, Benchmarks, Taxonomy, benchmark_of, figures, plan_of, read_job
from benchwright.harbor.progress import NEEDS_RESUME, Limits, progress_of
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job

SEVEN = Taxonomy.load().profile()


def progress(folder, benchmarks=(), **given):
    job = read_job(folder)
    benchmark = benchmark_of(job, Benchmarks(benchmarks))
    return progress_of(job, figures(job, SEVEN, plan_of(job, benchmark)), **given)


def grown(folder, kinds, *, version="0.25", finished=True, planned=None):
    grow_job(folder, kinds, JobShape(attempts=1, version=version, source="own", finished=finished), seed=1)
    if planned is not None:
        result = json.loads((folder / "result.json").read_text())
        (folder / "result.json").write_text(json.dumps(result | {"n_total_trials": planned}))
    return folder


CASES = {
    "all done": (["pass"] * 9 + ["not-verified"], {}, "DONE"),
    "one error more than a tenth": (["pass"] * 8 + ["no-sandbox"] * 2, {}, "DONE_WITH_ERRORS"),
    "benign errors": (["timeout-scored"] * 5 + ["pass"] * 5, {}, "DONE"),
    "silent": (["pass"] * 8 + ["unverified"] * 2, {}, "DONE_WITH_ERRORS"),
    "not finished": (["pass"] * 8, {"finished": False, "planned": 10}, "INCOMPLETE"),
    "damaged": (["pass"] * 8 + ["cut-off"] * 2, {"finished": False}, "INCOMPLETE"),
    "unfinished": (["pass"] * 8 + ["unfinished"] * 2, {"finished": False}, "INCOMPLETE"),
    "finished short": (["pass"] * 19, {"planned": 20}, "PARTIAL_OK"),
    "finished far too short": (["pass"] * 17, {"planned": 20}, "PARTIAL"),
    "finished short with errors": (["pass"] * 16 + ["no-sandbox"] * 3, {"planned": 20}, "PARTIAL"),
    "went on after its end": (["pass"] * 12, {"planned": 10}, "DONE"),
    "full and not finished": (["pass"] * 10, {"finished": False}, "DONE"),
    "nothing ran": (["unfinished"] * 3, {"finished": False}, "INCOMPLETE"),
    "nothing planned": ([], {}, "UNKNOWN"),
}


@pytest.mark.parametrize("version", ["0.1", "0.6", "0.25", "0.26"])
@pytest.mark.parametrize("case", CASES)
def test_a_status_whatever_version_wrote_the_folder(tmp_path, case, version):
    kinds, shape, status = CASES[case]
    found = progress(grown(tmp_path / "job", kinds, version=version, **shape))
    assert found.status == status
    assert found.whole is bool(kinds) and found.needs_resume is (status in NEEDS_RESUME)


def test_the_figures_that_it_follows_from(tmp_path):
    folder = grown(tmp_path / "job", ["pass"] * 6 + ["cut-off", "no-sandbox", "unfinished"], finished=False)
    found = progress(folder)
    assert found.to_dict() == {
        "name": "job",
        "where": str(folder),
        "status": "INCOMPLETE",
        "why": "too many have errors that count, fewer than 9 in 10 say how they ended",
        "live": None,
        "whole": True,
        "planned": 9,
        "done": 7,
        "valid": 6,
        "corrupt": 1,
        "invalid": 1,
        "fires": 1,
        "finished": None,
        "score": found.score,
        "needs_resume": True,
    }


@pytest.mark.parametrize(("resumes", "fires"), [("2", 3), ("", 1), ("-1", 1), ("x", 1), ("9" * 5000, 1)])
def test_how_often_it_was_launched_is_in_its_meta_env(tmp_path, resumes, fires):
    folder = grown(tmp_path / "job", ["pass"])
    write(folder / "meta.env", f"RESUME_COUNT={resumes}\n")
    assert progress(folder).fires == fires


def test_errors_are_counted_against_a_tenth_or_a_number(tmp_path):
    folder = grown(tmp_path / "job", ["pass"] * 18 + ["no-sandbox"] * 2)
    assert progress(folder).status == "DONE"
    assert progress(folder, limits=Limits(errors=1)).status == "DONE_WITH_ERRORS"
    assert progress(folder, limits=Limits(errors=2)).status == "DONE"


@pytest.mark.parametrize("version", ["0.1", "0.25"])
def test_an_aggregate_alone_counts_what_ended_and_never_what_was_rewarded(tmp_path, version):
    folder = grown(tmp_path / "job", ["pass"] * 5 + ["timeout"] * 5, version=version)
    alone = tmp_path / "alone"
    write(alone / "result.json", (folder / "result.json").read_bytes())
    found = progress(alone)
    assert (found.status, found.done, found.planned, found.whole) == ("DONE", 10, 10, False)
    assert (found.valid, found.corrupt, found.invalid) == (None, None, 0)


def test_an_aggregate_alone_that_counts_nothing_else_is_unknown(tmp_path):
    stats = {"evals": {"a__b": {"n_trials": 10, "n_errors": 0, "metrics": [{"mean": 1.0}]}}}
    write(
        tmp_path / "job" / "result.json", {"n_total_trials": 10, "finished_at": "2026-09-01T12:00:00", "stats": stats}
    )
    found = progress(tmp_path / "job")
    assert (found.status, found.done, found.why) == ("UNKNOWN", None, "how many trials have ended is unknown")


def test_a_damaged_aggregate_without_trials_and_no_file_at_all(tmp_path):
    write(tmp_path / "job" / "result.json", '{"id": "x", "sta')
    assert (progress(tmp_path / "job").status, progress(tmp_path / "job").why) == (
        "UNKNOWN",
        "its result.json: cut off",
    )
    (tmp_path / "none").mkdir()
    assert (progress(tmp_path / "none").status, progress(tmp_path / "none").why) == (
        "EARLY_KILL",
        "no trial left a result",
    )


def test_trials_of_an_unknown_plan_are_unknown_until_someone_says_how_many(tmp_path):
    trial(tmp_path / "job", "task-1__abcdefg", source="own")
    assert progress(tmp_path / "job").why == "how many trials were planned is unknown"
    own = Benchmark("own", tasks=1, repeats=1)
    write(tmp_path / "job" / "config.json", {"datasets": [{"name": "own"}]})
    assert progress(tmp_path / "job", [own]).status == "DONE"


def test_who_says_another_number_is_told(tmp_path):
    trial(tmp_path / "job", "task-1__abcdefg", source="b")
    job_files(tmp_path / "job", 1)
    own = Benchmark("b", tasks=20, repeats=1)
    assert progress(tmp_path / "job", [own]).why == "planned by the aggregate, but benchmark b: 20"


def test_a_live_job_a_rejected_one_and_one_that_was_launched_often(tmp_path):
    folder = grown(tmp_path / "job", ["pass"] * 5 + ["no-sandbox"] * 5)
    assert progress(folder, live=False).status == "DONE_WITH_ERRORS"
    assert progress(folder, live=True).status == "IN_FLIGHT"
    assert progress(folder, live=True, rejected=True).status == "REJECTED"
    write(folder / "meta.env", "RESUME_COUNT=1\n")
    found = progress(folder)
    assert (found.status, found.fires, found.needs_resume) == ("AT_RESUME_LIMIT", 2, False)
    assert found.why == "launched 2 times; too many have errors that count"
    assert progress(folder, limits=Limits(fires=3)).status == "DONE_WITH_ERRORS"
    write(folder / "meta.env", "RESUME_COUNT=many\n")
    assert progress(folder).fires == 1


@pytest.mark.parametrize(
    ("name", "status", "done", "planned"),
    [
        ("eval-tiny_bench-oracle-20260901_120000", "DONE_WITH_ERRORS", 18, 18),
        ("eval-tiny_bench-killed9-20260901_124000", "INCOMPLETE", 7, 12),
        ("eval-tiny_bench-sigint-20260901_125000", "DONE_WITH_ERRORS", 12, 12),
        ("eval-infra_bench-nop-20260901_122000", "DONE_WITH_ERRORS", 16, 16),
        ("eval-odd_bench-oracle-20260901_123000", "DONE_WITH_ERRORS", 16, 16),
    ],
)
def test_folders_that_harbor_wrote(name, status, done, planned):
    found = progress(DATA / name)
    assert (found.status, found.done, found.planned) == (status, done, planned)
