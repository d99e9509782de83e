"""The benchmark command works: rows, bars, both sides of a measure, and what it says when they disagree. No timing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.contract import Failure
from benchwright.raw import find_results, load_results
from benchwright.raw.metrics import metric_error

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MODULES = (
    "measure",
    "memory",
    "cache_check",
    "progress_poll",
    "ensembles",
    "raw_results",
    "inspect_results",
    "process",
)


def bench_command(*words):
    command = [sys.executable, str(BENCHMARKS / "run.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_measure_gives_rows_for_people_and_as_json(tmp_path):
    done = bench_command("help", "--quick", "--json", "--workspace", tmp_path / "a folder")
    envelope = json.loads(done.stdout)
    rows = envelope["data"]["rows"]
    assert "help: run.py" in {row["work"] for row in rows}
    for row in rows:
        assert len(row["ours"]["seconds"]) == 3
        assert row["ours"]["peak"] > 2**20
        assert row["met"] is (sorted(row["ours"]["seconds"])[1] < 0.3)
    assert envelope["ok"] is all(row["met"] for row in rows)
    assert envelope["problems"] == []
    assert done.returncode == envelope["exit"] == int(not envelope["ok"])


def test_an_unknown_measure_is_wrong_usage():
    done = bench_command("help", "speed")
    assert done.returncode == 2
    assert "NAME: speed, expected measures among help, item, cache-check, progress-poll, ensembles" in done.stdout


def test_both_checks_of_a_small_tree_find_the_same_results(tmp_path, modules):
    bench = modules["measure"].Bench(tmp_path, quick=True)
    first, second = modules["cache_check"].measure(bench, configs=1)
    assert (first.work, second.work) == ("cache-check of 1,530: first look", "cache-check of 1,530: second look")
    assert first.ratio > 0
    assert first.peer == second.peer
    assert first.met is second.met is None
    (tmp_path / "cache-check/output/tree_1/data/LightGBM_r0_default_BAG_L1/363612/0_0/results.pkl").unlink()
    with pytest.raises(Failure) as caught:
        modules["cache_check"].measure(bench, configs=1)
    (problem,) = caught.value.problems
    assert (problem.code, problem.found, problem.expected) == ("answers-differ", "[1529]", "the peer's [1530]")


def test_a_look_at_ten_thousand_tasks_is_two_calls_and_counts_results(tmp_path, modules):
    bench = modules["measure"].Bench(tmp_path / "a workspace", quick=True)
    tasks, results = modules["progress_poll"].measure(bench, configs=1)
    assert (tasks.work, tasks.most_seconds) == ("progress-poll of 10,000 tasks", 1.0)
    assert (results.work, results.met) == ("progress-poll of 10,000 tasks and 1,530 results", None)
    program = tmp_path / "a workspace" / "progress-poll" / "sacct"
    program.write_text(program.read_text().replace("cat ", "head -n 5000 "))
    with pytest.raises(Failure) as caught:
        modules["progress_poll"].looks(bench, program.parent)
    assert [problem.code for problem in caught.value.problems] == ["answers-differ"]


def test_ensembles_give_errors_and_weights_of_every_pass(modules):
    ensembles = modules["ensembles"]
    orders = ensembles.make_orders(1)[:3]
    passes = ensembles.fit_ours("rmse", ensembles.make_split("rmse"), orders)
    assert [len(weights) for _, _, weights in passes] == [1, 2, 5]
    assert len(ensembles.make_orders(ensembles.ORDERS_A_SIZE)) == 142


def test_both_inspections_of_generated_results_agree(tmp_path, modules):
    bench = modules["measure"].Bench(tmp_path, quick=True)
    whole, all_processes = modules["inspect_results"].measure(bench, configs=2)
    assert (whole.work, all_processes.work) == ("inspect 12: peer native", "inspect 12: all processes")
    assert whole.met is None
    assert all_processes.met is True
    data = modules["raw_results"].tuned(bench, 2)
    results, problems = load_results(find_results(data).files)
    assert problems == []
    assert {result.framework for result in results} == {"LightGBM_c1_default_BAG_L1", "LightGBM_r1_default_BAG_L1"}
    for result in results:
        assert list(result.warnings) == []
        assert len(result.predictions.test_per_child) == 8
        error = metric_error(result.metric, result.predictions.y_test, result.predictions.test)
        assert result.metric_error == pytest.approx(error, rel=1e-6)


def test_watching_counts_the_memory_of_all_processes_but_what_they_share_once(tmp_path, modules):
    bench = modules["measure"].Bench(tmp_path, quick=True)
    two_hold_40_and_share_60 = """
import os, time
shared = bytearray(60 * 2**20)
child = os.fork()
own = bytearray(os.urandom(1)) * (40 * 2**20)
time.sleep(1)
child and os.wait()
"""
    command = [sys.executable, "-c", two_hold_40_and_share_60]
    # Measured from here, the largest process might be this one's copy before the command took its place.
    measure = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(BENCHMARKS)!r})
from measure import Bench
print(Bench(Path({str(tmp_path)!r}), quick=True).time({command!r}, "largest").peak)
"""
    done = subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True, check=True)
    assert 100 < int(done.stdout) / 2**20 < 130
    assert 140 < bench.time(command, "all", watched=True).peak / 2**20 < 180


def test_processing_more_results_takes_no_more_memory(tmp_path, modules):
    bench = modules["measure"].Bench(tmp_path / "bench", quick=True)
    (tmp_path / "declared.py").write_text(
        'x = MethodMetadata.config(method="LightGBM", suite="memory", ag_key="GBM", is_bag=True,'
        ' config_default="LightGBM_c1_default_BAG_L1", validation_protocol="8x1")\n'
    )
    raw = BENCHMARKS.parent / "tests" / "data" / "tabarena_raw" / "data"
    peaks = []
    for folds in ((0,), (0, 1, 2)):
        data = tmp_path / f"{len(folds)} folds"
        for path in raw.glob("LightGBM_*/*/*/results.pkl"):
            if int(path.parent.name.partition("_")[2]) in folds:
                (data / path.relative_to(raw)).parent.mkdir(parents=True)
                shutil.copyfile(path, data / path.relative_to(raw))
        command = [sys.executable, BENCHMARKS.parent / "scripts" / "run_process_method.py", data, "--process"]
        command += [
            "--method-metadata",
            "declared:x",
            "--repo",
            tmp_path,
            "--cache-root",
            tmp_path / "caches" / data.name,
        ]
        watched = bench.time([*map(str, command), "--jobs", "3", "--json"], f"{len(folds)}-folds", watched=True)
        peaks.append(watched.peak / 2**20)
    assert peaks[1] < peaks[0] + 40
    assert max(peaks) < 600


def test_the_fastest_way_of_the_peer_is_the_one_that_is_run_again_and_held_against_the_bar(modules):
    measure = modules["measure"]
    seconds = {"ours": iter((1.0, 2.0, 3.0)), "slow": iter((9.0,)), "fast": iter((8.0, 7.0, 6.0))}

    def run(side):
        return measure.Sample(next(seconds[side]), 0, None)

    ours, peers = measure.take_turns(
        lambda: run("ours"), {"slow": lambda: run("slow"), "fast": lambda: run("fast")}, times=3
    )
    assert [one.seconds for one in ours] == [1.0, 2.0, 3.0]
    sides = {way: measure.Side.of(runs) for way, runs in peers.items()}
    assert {way: side.seconds for way, side in sides.items()} == {"slow": (9.0,), "fast": (8.0, 7.0, 6.0)}
    rows = measure.beside("work", measure.Side.of(ours), sides, 3.0)
    assert [(row.work, row.ratio, row.met) for row in rows] == [
        ("work: peer slow", 4.5, None),
        ("work: peer fast", 3.5, True),
    ]


def test_processing_is_held_against_its_bar_with_start_up_and_without(modules):
    def samples(seconds, inner):
        return [modules["measure"].Sample(seconds, 2**20, {"seconds": inner})]

    peers = {"native": samples(60.0, 50.0), "ray": samples(50.0, 15.0)}
    rows = modules["process"].compared("work", samples(10.0, 4.0), samples(9.0, 4.0), peers, least_ratio=5.0)
    assert [(row.work, row.ratio, row.cells[4:6]) for row in rows] == [
        ("work: peer native", 6.0, ("-", "-")),
        ("work: peer ray", 5.0, ("5x", "yes")),
        ("work, start-up left out: peer native", 12.5, ("-", "-")),
        ("work, start-up left out: peer ray", 3.75, ("5x", "NO")),
    ]


def test_a_command_that_fails_is_a_problem_with_its_log(tmp_path, modules):
    bench = modules["measure"].Bench(tmp_path, quick=True)
    with pytest.raises(Failure) as caught:
        bench.time([sys.executable, "-c", "raise SystemExit('no luck')"], "demo")
    (problem,) = caught.value.problems
    assert (problem.code, problem.found) == ("command-failed", "exit 1: no luck")
    assert problem.where == str(tmp_path / "logs" / "demo.log")


def test_rows_are_held_against_their_bars(modules):
    measure = modules["measure"]
    slow, fast = measure.Side((4.0, 6.0, 5.0), 3 * 2**20), measure.Side((1.0,))
    rows = [
        measure.Row("seconds", slow, most_seconds=5.0),
        measure.Row("ratio", fast, slow, least_ratio=5.0),
        measure.Row("no bar", slow, fast),
        measure.Row("memory", slow, most_mb=3),
    ]
    assert [row.met for row in rows] == [False, True, None, False]
    assert [measure.Row("memory", measure.Side((1.0,), peak), most_mb=3).met for peak in (1, 0)] == [True, False]
    assert measure.table(rows) == [
        "work     ours, s          peer, s          ratio  bar     met?  memory, MB",
        "seconds  5 (4 to 6, n 3)  -                -      < 5 s   NO    3",
        "ratio    1 (1 to 1, n 1)  5 (4 to 6, n 3)  5x     5x      yes   - | 3",
        "no bar   5 (4 to 6, n 3)  1 (1 to 1, n 1)  0.2x   -       -     3 | -",
        "memory   5 (4 to 6, n 3)  -                -      < 3 MB  NO    3",
    ]
