"""What SLURM printed on a real cluster, and what is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.slurm import (
    JobId,
    Phase,
    State,
    Trouble,
    array_id,
    compact,
    expand,
    parse_attempts,
    parse_id,
    parse_length,
    parse_limits,
    parse_queue,
    parse_state,
    parse_time,
)
from benchwright.slurm.clients import error_of

PRINTED = Path(__file__).resolve().parents[1] / "data" / "slurm"
HELD = "1,2,5,9,14,15,16,22,30,31,35,44,47,49,51,53,55,57,59,61,63,65,67,69,71,73,75,77,79,99"


def printed(name):
    return (PRINTED / name).read_text()


@pytest.mark.parametrize(
    ("text", "job_id"),
    [
        ("4", JobId(4)),
        ("4_7", JobId(4, (7,))),
        ("4_[3-7,9%2]", JobId(4, (3, 4, 5, 6, 7, 9))),
        ("4_[0-15:4]", JobId(4, (0, 4, 8, 12))),
        ("4_[0-400:4%2]", JobId(4, tuple(range(0, 401, 4)))),
        ("4_1.batch", JobId(4, (1,), "batch")),
        ("4.extern", JobId(4, (), "extern")),
        ("4_[1%1]", JobId(4, (1,))),
        ("4+1", JobId(4, (1,))),
        ("4+1.0", JobId(4, (1,), "0")),
        ("4_[1-2,5,30-31,35,4", JobId(4, (1, 2, 5, 30, 31, 35), None, cut=True)),
        ("4_[1-2,5,65,6...%2]", JobId(4, (1, 2, 5, 65), None, cut=True)),
        ("4_[12", JobId(4, (), None, cut=True)),
    ],
)
def test_ids_are_read_in_every_form(text, job_id):
    assert parse_id(text) == job_id


@pytest.mark.parametrize("text", ["", "x", "4_", "4_x", "4_[a-b]", "4_[5-3]", "4_[0-9999999]", "4_[1-9:0]", "JOBID"])
def test_what_is_no_id_is_none(text):
    assert parse_id(text) is None


def test_tasks_are_written_as_scontrol_takes_them():
    assert compact([9, 3, 4, 5, 7]) == "3-5,7,9"
    assert expand(compact(range(0, 100, 7))) == tuple(range(0, 100, 7))
    assert array_id(4, [7]) == "4_7"
    assert array_id(4, [3, 4, 7]) == "4_[3-4,7]"


@pytest.mark.parametrize(
    ("text", "state", "phase"),
    [
        ("CANCELLED by 1000", State("CANCELLED", "1000"), Phase.FAILED),
        ("CANCELLED+", State("CANCELLED"), Phase.FAILED),
        ("CANCELL+", State("CANCELLED"), Phase.FAILED),
        ("NODE_FA+", State("NODE_FAIL"), Phase.FAILED),
        ("COMPLETED", State("COMPLETED"), Phase.DONE),
        ("COMPLET+", State("COMPLET+"), Phase.UNKNOWN),
        ("OUT_OF_ME+", State("OUT_OF_MEMORY"), Phase.FAILED),
        ("COMPLETING", State("COMPLETING"), Phase.RUNNING),
        ("REQUEUED", State("REQUEUED"), Phase.WAITING),
        ("A_NEW_STATE", State("A_NEW_STATE"), Phase.UNKNOWN),
    ],
)
def test_states_are_read_in_every_width(text, state, phase):
    assert parse_state(text) == state
    assert state.phase is phase
    assert parse_state(str(state)) == state


def test_a_queue_lists_what_waits_runs_and_has_ended():
    rows = parse_queue(printed("squeue_working.txt"))
    assert {row.tasks: row.state.name for row in rows} == {
        **{(task,): "COMPLETED" for task in (0, 1, 2, 3, 5)},
        (4,): "RUNNING",
        (6, 7, 8, 9): "PENDING",
    }
    waiting = rows[5]
    assert (waiting.reason, waiting.user, waiting.start, waiting.nodes) == ("JobArrayTaskLimit", "root", "N/A", "")
    assert rows[6].nodes == "n1"
    job_file = "/shared/a workspace/setup_out/demo_30112026/slurm_run_data_demo_30112026_cpu.json"
    assert {row.command for row in rows} == {f"/shared/a workspace/submit.sh {job_file}"}


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("squeue_begin", {tuple(range(10)): "PENDING None"}),
        ("squeue_ended", {(task,): "COMPLETED None" for task in range(10)}),
        ("squeue_node_lost", {(0,): "NODE_FAIL NodeDown", (1,): "NODE_FAIL NodeDown"}),
        (
            "squeue_requeued",
            {(0,): "PENDING BeginTime", (1,): "PENDING job requeued in held state", (2,): "PENDING BeginTime"},
        ),
        ("squeue_second_attempt", {(task,): "COMPLETED None" for task in range(3)}),
        ("squeue_single", {(): "FAILED NonZeroExitCode"}),
        ("squeue_timeout", {(0,): "TIMEOUT TimeLimit"}),
    ],
)
def test_queues_of_every_kind(name, states):
    rows = parse_queue(printed(f"{name}.txt"))
    assert {row.tasks: f"{row.state} {row.reason}" for row in rows} == states


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("sacct_nothing_yet", {tuple(range(10)): "PENDING 0:0"}),
        ("sacct_late", {tuple(range(4, 10)): "PENDING 0:0"}),
        ("sacct_node_lost", {(0,): "NODE_FAIL 0:0", (1,): "NODE_FAIL 0:0"}),
        ("sacct_single", {(): "FAILED 3:0"}),
        ("sacct_timeout", {(0,): "TIMEOUT 0:0"}),
    ],
)
def test_accounts_of_every_kind(name, states):
    rows = parse_attempts(printed(f"{name}.txt"))
    assert {row.tasks: f"{row.state} {row.exit_code}" for row in rows} == states


def test_a_narrow_column_cuts_states():
    lines = [line.split() for line in printed("sacct_narrow.txt").splitlines()]
    assert {parse_state(state).phase for _, state in lines} == {Phase.UNKNOWN}
    assert [parse_id(job_id).tasks for job_id, _ in lines] == [(task,) for task in range(10)]


def test_every_printed_text_is_used():
    source = Path(__file__).read_text()
    assert all(path.stem in source for path in PRINTED.glob("*.txt"))


def test_a_held_list_is_read_whole_or_known_to_be_cut():
    (whole,) = parse_queue(printed("squeue_held.txt"))
    assert whole.tasks == tuple(int(task) for task in HELD.split(","))
    assert (whole.reason, whole.cut) == ("JobHeldUser", False)
    (cut,) = parse_queue(printed("squeue_held_cut.txt"))
    assert cut.tasks == (1, 2, 5, 9, 14, 15, 16, 22, 30, 31, 35)
    assert cut.cut
    (stepped,) = parse_queue(printed("squeue_held_stepped.txt"))
    assert stepped.tasks == tuple(range(0, 401, 4))
    (account,) = parse_attempts(printed("sacct_held.txt"))
    assert account.tasks == whole.tasks
    (account,) = parse_attempts(printed("sacct_held_cut.txt"))
    assert account.tasks == whole.tasks[: len(account.tasks)]
    assert len(account.tasks) == 22


def test_accounts_hold_every_attempt():
    rows = parse_attempts(printed("sacct_second_attempt.txt"))
    assert [(row.tasks[0], str(row.state)) for row in rows] == [
        (0, "REQUEUED"),
        (1, "REQUEUED"),
        (2, "NODE_FAIL"),
        (0, "COMPLETED"),
        (1, "COMPLETED"),
        (2, "COMPLETED"),
    ]
    assert rows[0].submit < rows[3].submit
    waiting = parse_attempts(printed("sacct_requeued.txt"))[3]
    assert (str(waiting.state), waiting.start, waiting.nodes) == ("PENDING", "Unknown", "")


def test_steps_are_no_attempts():
    text = printed("sacct_with_steps.txt")
    assert text.count(".batch|") == 20
    with_steps = parse_attempts("\n".join(line.split("|", 1)[1] for line in text.splitlines()))
    assert with_steps == parse_attempts(printed("sacct_ended.txt"))


def test_a_cancelled_rest_is_listed_under_the_plain_id():
    (row,) = parse_attempts(printed("sacct_cancelled.txt"))
    assert (row.tasks, str(row.state), row.exit_code) == ((), "CANCELLED by 0", "0:0")
    rest = parse_queue(printed("squeue_cancelled.txt"))[0]
    assert (rest.tasks, str(rest.state), rest.nodes) == ((2, 3, 4, 5), "CANCELLED", "")


@pytest.mark.parametrize(
    "text", ["", "CLUSTER: bench\n", "JOBID|STATE\n", "\n\n", "4_1|RUNNING\n", "x|y|z|a|b|c|d|e\n"]
)
def test_lines_of_another_form_are_passed_over(text):
    assert parse_queue(text) == ()
    assert parse_attempts(text) == ()


def test_limits_of_a_cluster():
    limits = parse_limits(printed("scontrol_config.txt"), printed("scontrol_partitions.txt"))
    assert (limits.version, limits.array_size, limits.jobs) == ("22.05.8", 20_001, 50_000)
    assert limits.default_partition is limits.partitions["cpu"]
    cpu, short, closed = (limits.partitions[name] for name in ("cpu", "short", "closed"))
    assert (cpu.longest, cpu.up) == (None, True)
    assert (short.longest, short.up) == (7200, True)
    assert (closed.longest, closed.up, closed.default) == (7 * 86400, False, False)


def test_the_scheduler_may_allow_less_than_the_array_size():
    text = printed("scontrol_config.txt").replace("defer_batch", "max_array_tasks=500")
    limits = parse_limits(text, "")
    assert (limits.array_size, limits.partitions, limits.default_partition) == (500, {}, None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("UNLIMITED", float("inf")),
        ("7-00:00:00", 604_800),
        ("02:00:00", 7200),
        ("1-12", 129_600),
        ("30", 1800),
        ("01:30", 90),
        ("NONE", None),
        ("", None),
    ],
)
def test_lengths_of_time(text, seconds):
    assert parse_length(text) == seconds


def test_times_are_of_this_machines_zone(monkeypatch):
    assert parse_time("2026-11-30T09:00:30") - parse_time("2026-11-30T09:00:00") == 30
    assert parse_time("Unknown") is None
    assert parse_time("N/A") is None


@pytest.mark.parametrize(
    ("program", "name", "trouble", "message"),
    [
        ("squeue", "error_unknown_job.txt", Trouble.UNKNOWN_JOB, "slurm_load_jobs error: Invalid job id specified"),
        (
            "sacct",
            "error_accounting_down.txt",
            Trouble.ACCOUNTING_DOWN,
            "error: Problem talking to the database: Connection refused",
        ),
        ("sbatch", "error_partition.txt", Trouble.REFUSED, "allocation failure: Invalid partition name specified"),
    ],
)
def test_errors_are_told_apart(program, name, trouble, message):
    error = error_of(program, 1, printed(name))
    assert (error.trouble, error.message) == (trouble, message)
    assert str(error) == f"{program}: {message}"


def test_an_error_without_words_is_one():
    assert str(error_of("squeue", 3, "\n")) == "squeue: exit 3 without a word"
    assert len(error_of("squeue", 1, "x" * 5000).message) == 300
