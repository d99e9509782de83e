"""Triage of logs that a real cluster wrote, one for each row of the symptom table, and of what they may not show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchwright.launch.symptoms import SYMPTOMS, UNEXPLAINED, UNFINISHED, WRAPPER
from benchwright.launch.task_log import End, exceptions, read_task_log
from benchwright.launch.triage import group, triage_log

LOGS = Path(__file__).resolve().parents[1] / "data" / "slurm" / "logs"
WRITTEN = sorted(path.stem for path in LOGS.glob("*.out"))


def log_of(name):
    return read_task_log((LOGS / f"{name}.out").read_text().splitlines(keepends=True))


def found(name, state="", exit_code=""):
    return [(one.symptom.code, one.item, one.cause) for one in triage_log(log_of(name), state, exit_code)]


def item(name, fold=0):
    return f"experiment={name} dataset=my data repeat=0 fold={fold}"


@pytest.mark.parametrize(
    ("name", "code", "lost", "cause"),
    [
        ("node_lost", "node-lost", item("hang-a"), "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"),
        ("preempted", "node-lost", item("hang-b", 1), "DUE TO PREEMPTION ***"),
        ("timeout", "timeout", item("hang-b", 1), "DUE TO TIME LIMIT ***"),
        ("cancelled", "cancelled", item("hang-b", 1), "***"),
        ("card_exhausted", "gpu-memory", item("card-a"), "..."),
        ("weights_missing", "weights-missing", item("weights-a"), "..."),
        (
            "package_missing",
            "environment",
            item("package-a"),
            "ModuleNotFoundError: No module named 'a_library_that_is_missing'",
        ),
        ("jq", "environment", "no item", "/bin/bash: line 1: jq: command not found"),
        ("no_job_file", "environment", "no item", "No module named 'benchwright')"),
        (
            "one_item_failed",
            "wrapper-traceback",
            item("fail-b", 1),
            "ValueError: could not convert string to float: 'red' (fold 1)",
        ),
        ("chain", "wrapper-traceback", item("chain-a"), "could not convert string to float: 'red' (fold 0)"),
        ("killed", "memory", item("killed-a"), "killed by SIGKILL (the kernel does this when memory runs out)"),
        ("fit_time", "fit-time", item("time-a"), "autogluon.core.utils.exceptions.TimeLimitExceeded"),
    ],
)
def test_a_log_shows_its_class(name, code, lost, cause):
    first = found(name)[0]
    assert first[:2] == (code, lost)
    assert first[2].endswith(cause)


def test_a_requeued_task_that_went_on_has_lost_nothing():
    log = log_of("requeued")
    assert (log.lost, log.ok, log.failed) == ((), 2, 0)
    assert found("requeued") == []


def test_a_bundle_with_failures_names_the_failed_item_alone():
    log = log_of("one_item_failed")
    assert (log.ok, log.failed, log.not_run) == (2, 1, 0)
    assert [(lost.item, lost.end, lost.exit) for lost in log.lost] == [(item("fail-b", 1), End.FAILED, 1)]
    (finding,) = triage_log(log)
    assert finding.evidence[0] == "Traceback (most recent call last):"
    assert finding.evidence[-1] == "ValueError: could not convert string to float: 'red' (fold 1)"
    assert any("in prepare" in line for line in finding.evidence)


def test_three_failures_in_a_row_are_one_cause_and_the_rest_was_not_run():
    log = log_of("three_in_a_row")
    assert (log.ok, log.failed, log.not_run, len(log.lost)) == (0, 3, 2, 3)
    (one,) = group(triage_log(log))
    assert [finding.item for finding in one.findings] == [item("fail-a"), item("fail-b", 1), item("fail-c", 2)]
    assert one.findings[0].evidence[-1].endswith("(fold 0)")
    assert one.ask_now == ""


def test_allocations_of_different_sizes_are_one_cause():
    (one,) = group(triage_log(log_of("card_exhausted")))
    assert len(one.findings) == 2
    assert one.cause.startswith("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    assert one.symptom.ask_if


def test_a_chain_begins_with_its_cause_and_tells_the_end():
    (finding,) = triage_log(log_of("chain"))
    assert finding.evidence[-2:] == (
        "ValueError: could not convert string to float: 'red' (fold 0)",
        "... then RuntimeError: the model could not be fitted",
    )


@pytest.mark.parametrize(
    ("raised", "code", "cause"),
    [
        (
            ["Traceback (most recent call last):", '  File "a.py", line 1, in fit', "ValueError: no"],
            WRAPPER.code,
            "ValueError: no",
        ),
        ([], UNEXPLAINED.code, "exit 1"),
    ],
)
def test_a_warm_up_that_failed_and_did_not_end_the_fit_is_no_cause(raised, code, cause):
    warm_up = [
        "Traceback (most recent call last):",
        '  File "warm.py", line 7, in warm_up',
        "ModuleNotFoundError: No module named 'flash_attn'",
        "##### warm-up of X failed, the fit goes on cold",
    ]
    begun, failed = f"##### item 1/1 started: {item('x')}", f"##### item FAILED (exit 1): {item('x')}"
    (finding,) = triage_log(read_task_log([begun, *warm_up, *raised, failed]))
    assert (finding.symptom.code, finding.cause) == (code, cause)
    assert "flash_attn" not in "".join(finding.evidence)


def test_more_than_five_items_of_one_cause_are_a_persons_decision():
    findings = triage_log(log_of("one_item_failed")) * 6
    (one,) = group(findings)
    assert one.ask_now == "6 items fail for one reason"
    (lost,) = group(triage_log(log_of("node_lost")) * 9)
    assert lost.ask_now == ""


def test_a_long_traceback_keeps_its_beginning_and_its_end():
    (finding,) = triage_log(log_of("weights_missing"))
    assert len(finding.evidence) == 12
    assert finding.evidence[:2] == ("Traceback (most recent call last):", "  ...")
    assert finding.evidence[-1].startswith("huggingface_hub.errors.LocalEntryNotFoundError: Cannot find")


# Items that a task never came to


OF_TIMEOUT = [item("write-a"), item("hang-b", 1), item("write-c", 2)]


@pytest.mark.parametrize(
    ("items", "third"),
    [(OF_TIMEOUT, item("write-c", 2)), ([], "item 3/3"), (OF_TIMEOUT[:2], "item 3/3"), ([item("x")] * 3, "item 3/3")],
    ids=["known", "unknown", "too few", "another set-up's"],
)
def test_what_a_task_that_was_ended_never_came_to_is_named(items, third):
    begun, waiting = triage_log(log_of("timeout"), items=items)
    assert (begun.item, begun.started, begun.evidence[0][:10]) == (item("hang-b", 1), True, "slurmstepd")
    assert (waiting.item, waiting.started, waiting.same) == (third, False, begun.same)
    (one,) = group([begun, *[waiting] * 9])
    assert one.ask_now == "", "nobody knows yet whether these would fail"


def test_a_task_that_was_cancelled_before_it_began_lost_all_its_items():
    items = [item("write-a"), item("write-b", 1)]
    findings = triage_log(read_task_log([]), "CANCELLED by 0", items=items)
    assert [(one.symptom.code, one.item, one.started) for one in findings] == [
        ("cancelled", items[0], False),
        ("cancelled", items[1], False),
    ]


def test_a_task_that_was_cancelled_between_two_items_lost_the_second():
    lines = ["##### item 1/2 started: a", "slurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-30T09:42:38 ***"]
    (finding,) = triage_log(read_task_log([*lines, "##### bundle summary: ok=1 failed=0"]), "CANCELLED by 0")
    assert (finding.symptom.code, finding.item, finding.started) == ("cancelled", "item 2/2", False)


@pytest.mark.parametrize("name", ["three_in_a_row", "preempted", "cancelled", "no_job_file", "requeued"])
def test_nothing_else_was_left_to_come(name):
    assert all(finding.started for finding in triage_log(log_of(name), items=OF_TIMEOUT))


# What the logs alone do not show


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("NODE_FAIL", "node-lost"),
        ("PREEMPTED", "node-lost"),
        ("TIMEOUT", "timeout"),
        ("OUT_OF_MEMORY", "memory"),
        ("CANCELLED by 0", "cancelled"),
        ("BOOT_FAIL", "node-lost"),
    ],
)
def test_a_task_without_a_log_is_classed_by_its_state(state, code):
    (finding,) = triage_log(read_task_log([]), state)
    assert (finding.symptom.code, finding.item) == (code, "no item")
    assert finding.cause.startswith(f"{state}: ")


def test_a_task_whose_log_slurm_could_not_open():
    (finding,) = triage_log(read_task_log([]), "FAILED", "0:53")
    assert finding.symptom.code == "log-folder"


def test_a_task_that_failed_without_a_word_is_unexplained():
    (finding,) = triage_log(read_task_log(["hello"]), "FAILED", "9:0")
    assert (finding.symptom, finding.cause, finding.evidence) == (
        UNEXPLAINED,
        "FAILED, exit code 9:0",
        ("hello", "exit code 9:0"),
    )
    assert triage_log(read_task_log(["hello"])) == []
    assert triage_log(read_task_log([])) == []


def test_an_item_whose_log_stops_is_unfinished_until_the_state_is_known():
    log = read_task_log([f"##### item 1/2 started: {item('a')}", "fitting", "Warning: ImportError in a fold"])
    assert [one.symptom for one in triage_log(log)] == [UNFINISHED]
    assert [one.symptom.code for one in triage_log(log, "NODE_FAIL")] == ["node-lost"]
    by_memory = triage_log(log, "OUT_OF_MEMORY")
    assert [(one.symptom.code, one.item) for one in by_memory] == [("memory", item("a")), ("memory", "item 2/2")]


def failed(*output, exit=1):
    return read_task_log(
        [
            f"##### item 1/1 started: {item('a')}",
            *output,
            f"##### item FAILED (exit {exit}): {item('a')}",
            "##### bundle summary: ok=0 failed=1",
        ]
    )


def raised(*lines):
    return failed("Traceback (most recent call last):", '  File "/m.py", line 7, in _fit', "    x()", *lines)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("RuntimeError: CUDA error: out of memory", "gpu-memory"),
        (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 1.96 GiB)",
            "gpu-memory",
        ),
        ("autogluon.core.utils.exceptions.NotEnoughCudaMemoryError: 3 GB", "gpu-memory"),
        ("tabpfn.errors.PretrainedWeightsUnavailableError: not cached", "weights-missing"),
        ("nori.WeightsUnavailableError: not cached", "weights-missing"),
        (
            "huggingface_hub.errors.OfflineModeIsEnabled: Cannot reach hf.co: offline mode is enabled.",
            "weights-missing",
        ),
        ("autogluon.core.utils.exceptions.NotEnoughMemoryError", "memory"),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 TiB", "memory"),
        ("MemoryError", "memory"),
        ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "memory"),
        ("ray.exceptions.RayTaskError(ImportError): ray::_ray_fit() (pid=7)", "environment"),
        ("OSError: [Errno 28] No space left on device: '/x'", "disk-full"),
        ("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", "environment"),
        ("autogluon.core.utils.exceptions.NoValidFeatures", "unsuitable-task"),
        ("KeyError: 'ImportError'", "wrapper-traceback"),
    ],
)
def test_exceptions_are_classed_by_their_last_lines(line, code):
    (finding,) = triage_log(raised(line))
    assert finding.symptom.code == code


def test_warnings_of_a_fit_are_not_its_failure():
    log = failed(
        "Warning: ImportError: no fast path; CUDA out of memory is possible",
        "Traceback (most recent call last):",
        '  File "/m.py", line 7, in _fit',
        "ValueError: bad",
    )
    (finding,) = triage_log(log)
    assert (finding.symptom, finding.cause) == (WRAPPER, "ValueError: bad")


def test_an_earlier_exception_that_names_the_cause_counts():
    """AutoGluon reports what a fold raised, skips the model, and fails because no model is left."""
    log = failed(
        "\x1b[36m(_ray_fit pid=77)\x1b[0m Traceback (most recent call last):",
        '\x1b[36m(_ray_fit pid=77)\x1b[0m   File "/m.py", line 7, in _fit',
        "\x1b[36m(_ray_fit pid=77)\x1b[0m torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "Skipping this model.",
        "Traceback (most recent call last):",
        '  File "/p.py", line 9, in fit',
        "RuntimeError: No models were trained",
    )
    (finding,) = triage_log(log)
    assert finding.symptom.code == "gpu-memory"
    assert finding.cause == "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def test_an_item_that_was_killed_without_raising_is_unexplained():
    (finding,) = triage_log(failed("##### killed by SIGSEGV", exit=139))
    assert (finding.symptom, finding.cause, finding.evidence) == (UNEXPLAINED, "exit 139", ("##### killed by SIGSEGV",))


def test_results_that_cannot_be_read_are_one_cause_wherever_they_are():
    said = [f"##### /w/out/data/{name}/0_0/results.pkl cannot be read (Permission denied)" for name in "ab"]
    (one,) = group(finding for line in said for finding in triage_log(failed(line)))
    assert (one.symptom.code, one.cause, len(one.findings)) == ("unreadable-result", said[0], 2)
    (other,) = triage_log(failed(said[0].removeprefix("##### ")))
    assert other.symptom is UNEXPLAINED


def test_equal_code_and_place_are_one_cause_and_others_are_not():
    same = [*triage_log(raised("ValueError: 1")), *triage_log(raised("ValueError: 2"))]
    other = triage_log(failed("Traceback (most recent call last):", '  File "/n.py", line 1, in f', "ValueError: 1"))
    assert [len(one.findings) for one in group([*other, *same])] == [2, 1]


def test_items_side_by_side_are_told_apart():
    """A local run's bundle: the items' output comes in one piece each, before their ends."""
    log = read_task_log(
        [
            f"##### item 1/3 started: {item('a')}",
            f"##### item 2/3 started: {item('b')}",
            "output of b",
            f"##### item FAILED (exit 1): {item('b')}",
            f"##### item 3/3 started: {item('c')}",
            "output of a",
            "output of c",
            f"##### item FAILED (exit 2): {item('c')}",
            "##### bundle summary: ok=1 failed=2",
        ]
    )
    assert [(lost.item, lost.exit) for lost in log.lost] == [(item("b"), 1), (item("c"), 2)]
    assert log.lost[0].lines == ("output of b",)


def test_the_last_attempt_at_an_item_counts():
    attempts = [
        f"##### item 1/1 started: {item('a')}",
        f"##### item FAILED (exit 1): {item('a')}",
        "##### bundle summary: ok=0 failed=1",
        f"##### item 1/1 started: {item('a')}",
        "##### bundle summary: ok=1 failed=0",
    ]
    assert [read_task_log(attempts[:length]).lost != () for length in (3, 4, 5)] == [True, True, False]


def test_a_log_of_any_length_is_read_in_bounded_memory():
    log = read_task_log(
        (
            *[f"##### item 1/1 started: {item('a')}"],
            *(f"epoch {number}" for number in range(50_000)),
            f"##### item FAILED (exit 1): {item('a')}",
        )
    )
    assert len(log.lost[0].lines) == 4000
    assert log.lost[0].lines[-1] == "epoch 49999"


def test_exceptions_in_a_log_are_found_with_their_places():
    lines = (LOGS / "chain.out").read_text().splitlines()
    first, second = exceptions(lines)
    assert (first.kind, first.chained, second.kind, second.chained) == ("ValueError", False, "RuntimeError", True)
    assert re.fullmatch(r"/checkout/tests/slurm/slurm_entries.py:\d+ in prepare", first.frame)


def test_the_table_is_sound():
    codes = [symptom.code for symptom in (*SYMPTOMS, WRAPPER, UNFINISHED, UNEXPLAINED)]
    assert len(set(codes)) == len(codes)
    for symptom in SYMPTOMS:
        assert symptom.meaning
        assert symptom.action
        assert symptom.said + symptom.ended + symptom.states
        assert all(re.compile(pattern) for pattern in symptom.said + symptom.ended)


def test_every_written_log_is_used():
    used = set(re.findall(r'"([a-z_]+)"', Path(__file__).read_text()))
    assert set(WRITTEN) <= used
