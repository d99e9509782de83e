"""How an array stands: every answer that queue and accounts can give, and when it has ended."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from array_polls import (
    ACCOUNTING_DOWN,
    ACCOUNTING_OFF,
    CONTROLLER_DOWN,
    NOW,
    QUEUE_SLOW,
    UNKNOWN_JOB,
    accounts,
    poll,
    queue,
    request,
    results,
)
from hypothesis import given
from hypothesis import strategies as st

from benchwright.node.array_judge import judge
from benchwright.node.array_memory import Memory
from benchwright.node.array_view import Standing
from benchwright.node.array_voices import TextVoice, summary
from benchwright.node.slurm_progress import Watch
from benchwright.slurm import CallError, Trouble, parse_attempts

SEEN = Memory(seen=True)


def standings(report):
    return [task.standing.value for _, task in sorted(report.view.tasks.items())]


def look(queue_answer=(), accounts_answer=(), tasks=2, memory=None, **more):
    return judge(request(tasks), poll(queue_answer, accounts_answer, **more), memory or Memory())


def verdict_of(asked, polls, memory=None):
    """The verdict after some polls, and at which."""
    memory, doubt = memory or Memory(), None
    for count, one in enumerate(polls):
        report = judge(asked, one, memory, doubt)
        if report.verdict is not None:
            return report.verdict, count
        memory, doubt = report.memory, report.doubt
    return None, len(polls)


@pytest.mark.parametrize(
    ("queued", "booked", "standing"),
    [
        (["0 RUNNING"], ["0 RUNNING"], "running"),
        (["0 COMPLETING"], ["0 RUNNING"], "running"),
        (["0 SUSPENDED"], [], "running"),
        (["0-1 PENDING"], ["0-1 PENDING"], "queued"),
        (["0 PENDING"], ["0 REQUEUED", "0 PENDING @1"], "requeued"),
        (["0 PENDING"], ["0 NODE_FAIL"], "requeued"),
        (["0 PENDING"], ["0 PREEMPTED", "0 PENDING @1"], "requeued"),
        (["0 RUNNING"], ["0 NODE_FAIL", "0 RUNNING @1"], "running"),
        (["0 COMPLETED"], [], "done"),
        (["0 COMPLETED"], ["0 RUNNING"], "done"),
        (["0 FAILED"], ["0 RUNNING"], "failed"),
        ([], ["0 COMPLETED"], "done"),
        ([], ["0 REQUEUED", "0 COMPLETED @1"], "done"),
        ([], ["0 FAILED 1:0", "0 COMPLETED @1"], "done"),
        ([], ["0 COMPLETED @1", "0 NODE_FAIL"], "done"),
        ([], ["0 COMPLETED", "0 FAILED 1:0 @1"], "failed"),
        ([], ["0 NODE_FAIL"], "failed"),
        ([], ["0 TIMEOUT"], "failed"),
        ([], ["0 OUT_OF_MEMORY 0:125"], "failed"),
        ([], ["0 CANCELLED by root"], "failed"),
        ([], ["0 REQUEUED"], "unknown"),
        ([], ["0 RUNNING"], "unknown"),
        ([], ["0 PENDING"], "unknown"),
        ([], ["0 A_NEW_STATE"], "unknown"),
        (["0 A_NEW_STATE"], ["0 COMPLETED"], "unknown"),
        ([], ["- FAILED 0:53"], "unknown"),
        (["- FAILED"], [], "unknown"),
        (["- CANCELLED"], [], "failed"),
        (["0 RUNNING"], ["- CANCELLED by root"], "running"),
    ],
)
def test_queue_and_accounts_together_say_where_a_task_is(queued, booked, standing):
    assert standings(look(queue(*queued), accounts(*booked)))[0] == standing


@pytest.mark.parametrize(
    ("booked", "standing"),
    [
        (["0 NODE_FAIL"], "requeued"),
        (["0 PREEMPTED"], "requeued"),
        (["0 REQUEUED"], "requeued"),
        (["0 REQUEUED", "0 PENDING @1"], "requeued"),
        (["0 RUNNING"], "running"),
        (["0 PENDING"], "queued"),
        (["0 FAILED 1:0"], "failed"),
        (["0 COMPLETED"], "done"),
    ],
)
def test_without_the_queue_the_accounts_stand(booked, standing):
    assert standings(look(CONTROLLER_DOWN, accounts(*booked)))[0] == standing


def test_every_task_is_counted_once():
    report = look(
        queue("2 RUNNING", "3-5 PENDING Priority", "6 PENDING BeginTime"),
        accounts("0 COMPLETED", "1 FAILED 7:0", "2 RUNNING", "6 NODE_FAIL", "3-5 PENDING"),
        tasks=10,
        results=results(14),
    )
    assert {standing.value: report.view.count(standing) for standing in Standing} == {
        "done": 1, "failed": 1, "running": 1, "queued": 3, "requeued": 1, "unknown": 3
    }  # fmt: skip
    assert summary(request(10), report) == (
        "80% of 10 tasks left; 1 done, 1 failed, 1 running, 3 queued, 1 requeued, 3 unknown; results 14"
    )
    assert report.verdict is report.doubt is None


def test_an_array_that_does_not_begin_at_0_is_counted_too():
    report = look(queue("1-3 PENDING"), (), tasks=5)
    assert (report.view.total, report.view.count(Standing.UNKNOWN), report.view.count(Standing.QUEUED)) == (5, 2, 3)
    report = look(queue("6-10 COMPLETED"), (), tasks=5)
    assert report.verdict.word == "DONE"


def test_a_job_that_is_no_array_is_one_task():
    assert standings(look(queue("- RUNNING"), (), tasks=1)) == ["running"]
    report = look(UNKNOWN_JOB, accounts("- FAILED 3:0"), tasks=1)
    assert (report.verdict.word, report.verdict.exit) == ("DONE", 2)


def test_more_tasks_than_were_named_are_counted_and_remarked():
    report = look(queue("0-9 COMPLETED"), (), tasks=4)
    assert report.view.total == 10
    assert report.remarks == ("the job has 10 tasks, more than the 4 that were named",)


def test_an_older_job_of_the_same_id_does_not_date_the_array():
    old = accounts("0 COMPLETED", "0 RUNNING @1")
    assert look((), old, tasks=1).view.submitted == old[1].submit
    assert look(queue("0 RUNNING"), old[:1], tasks=1).view.submitted == "2026-11-30T09:00:00"


def test_a_list_that_was_cut_leaves_tasks_unknown():
    rows = queue("0-3,5 PENDING")
    cut = [row.__class__(**{**vars(row), "tasks": row.tasks[:3], "cut": True}) for row in rows]
    assert standings(look(cut, (), tasks=5)) == ["queued"] * 3 + ["unknown"] * 2


REST = ["0-1 COMPLETED", "- CANCELLED by root"]


@pytest.mark.parametrize(
    ("queued", "booked"),
    [
        (["- CANCELLED", "0-1 COMPLETED"], []),
        (["- CANCELLED", "0-1 COMPLETED"], ["- CANCELLED by root"]),
        (["0-1 COMPLETED"], ["- CANCELLED by root"]),
        ([], REST),
        (["- CANCELLED", "0-1 COMPLETED"], REST),
    ],
)
def test_the_plain_id_of_what_was_cancelled_while_it_waited_is_every_task_that_no_other_row_names(queued, booked):
    report = look(queue(*queued), accounts(*booked), tasks=6)
    assert standings(report) == ["done"] * 2 + ["failed"] * 4
    how = "CANCELLED by root, exit code 0:0" if booked else "CANCELLED"
    assert list(TextVoice(request(6)).failures(report)) == [f"FAILED 4_[2-5]: {how}, before it began"]
    assert (report.verdict.word, report.verdict.exit) == ("DONE", 2)


def test_an_array_that_was_cancelled_whole_may_be_its_plain_id_alone():
    assert standings(look(UNKNOWN_JOB, accounts("- CANCELLED by root"), tasks=3)) == ["failed"] * 3


def test_the_plain_id_of_the_last_task_is_no_other():
    """It takes the array's own id, and a row may name it by that while another still lists it as a task."""
    last = look(queue("- CANCELLED"), accounts("0-2 COMPLETED"), tasks=4)
    assert standings(last) == ["done"] * 3 + ["failed"]
    both = look(queue("3 CANCELLED"), accounts("0-2 COMPLETED", "- CANCELLED by root"), tasks=4)
    assert standings(both) == ["done"] * 3 + ["failed"]
    begun = look((), accounts("0-2 COMPLETED", "- FAILED 1:0"), tasks=5)
    assert standings(begun) == ["done"] * 3 + ["unknown"] * 2


@pytest.mark.parametrize(
    ("answers", "remembered", "expected"),
    [
        ((CONTROLLER_DOWN, accounts(*REST)), {}, ["done"] * 2 + ["unknown"] * 2),  # late tasks may be at work
        (
            ((), accounts("0-1 COMPLETED @1", "- CANCELLED by root")),
            {},
            ["done"] * 2 + ["unknown"] * 2,
        ),  # an older job's
        (((), accounts(*REST)), {2: "COMPLETED"}, ["done"] * 3 + ["failed"]),
        ((queue("1 COMPLETED", "- CANCELLED"), ACCOUNTING_DOWN), {}, ["unknown", "done"] + ["unknown"] * 2),
        ((queue("1 COMPLETED", "- CANCELLED"), ACCOUNTING_OFF), {0: "FAILED"}, ["failed", "done"] + ["unknown"] * 2),
        ((queue("- CANCELLED"), ACCOUNTING_DOWN), {}, ["unknown"] * 4),  # all may have ended before
        ((queue("2-5 COMPLETED"), accounts("- CANCELLED by root")), {}, ["done"] * 4),  # tasks 2 to 5, not 0 to 3
    ],
)
def test_a_plain_id_stands_for_nothing_that_may_be_elsewhere(answers, remembered, expected):
    assert standings(look(*answers, tasks=4, memory=Memory(ended=remembered))) == expected


# The end


def test_all_tasks_done_is_the_end():
    report = look(UNKNOWN_JOB, accounts("0-1 COMPLETED"))
    assert (report.verdict.word, report.verdict.exit, report.verdict.text) == ("DONE", 0, "2 tasks, 2 done, 0 failed")


def test_accounts_of_done_tasks_suffice_without_a_controller():
    assert look(CONTROLLER_DOWN, accounts("0-1 COMPLETED")).verdict.exit == 0
    assert look(CONTROLLER_DOWN, accounts("0 COMPLETED", "1 FAILED 1:0")).verdict is None


@pytest.mark.parametrize("queue_answer", [(), UNKNOWN_JOB, CONTROLLER_DOWN, QUEUE_SLOW])
@pytest.mark.parametrize("accounts_answer", [(), ACCOUNTING_OFF, ACCOUNTING_DOWN])
@pytest.mark.parametrize("memory", [Memory(), SEEN])
@pytest.mark.parametrize("count", [None, results(0), results(1)])
def test_silence_is_never_done(queue_answer, accounts_answer, memory, count):
    asked = request(2, expected=2 if count else None, patience=60)
    polls = [
        poll(queue_answer, accounts_answer, NOW + 40 * number, results=count, no_items="no job file is known")
        for number in range(10)
    ]
    verdict, _ = verdict_of(asked, polls, memory)
    assert verdict is not None
    assert verdict.exit == 2
    assert verdict.word in {"UNKNOWN", "UNREACHABLE", "LOST", "INCOMPLETE"}


def test_accounts_that_are_late_are_waited_for():
    asked = request(2, patience=100)
    late = poll(UNKNOWN_JOB, accounts("0 COMPLETED", "1 RUNNING"))
    report = judge(asked, late, SEEN)
    assert report.verdict is None
    assert report.doubt.text == "it has left the queue, and nothing says yet how 4_1 ended, and the accounts are late"
    there = poll(UNKNOWN_JOB, accounts("0-1 COMPLETED"), NOW + 5)
    assert verdict_of(asked, [late, there], SEEN)[0].exit == 0
    verdict, count = verdict_of(asked, [poll(UNKNOWN_JOB, late.attempts, NOW + 60 * n) for n in range(9)], SEEN)
    assert (verdict.word, count) == ("LOST", 2)
    assert verdict.text.endswith("; given up after 2 min")


def test_patience_begins_anew_with_another_trouble():
    asked = request(2, patience=100)
    polls = [
        poll(CONTROLLER_DOWN, (), NOW),
        poll(CONTROLLER_DOWN, (), NOW + 90),
        poll(queue("0-1 RUNNING"), (), NOW + 180),
        poll(CONTROLLER_DOWN, (), NOW + 270),
    ]
    assert verdict_of(asked, polls) == (None, 4)
    verdict, count = verdict_of(asked, [*polls, poll(CONTROLLER_DOWN, (), NOW + 370)])
    assert (verdict.word, verdict.exit, count) == ("UNREACHABLE", 2, 4)


def test_a_clock_that_is_set_changes_no_wait():
    asked = request(2, patience=100)
    for hours in (-5, 5):
        polls = [
            poll(CONTROLLER_DOWN, (), NOW + n * (60 + 3600 * hours), clock=60 * n, results=results(0)) for n in range(3)
        ]
        report = judge(asked, polls[1], Memory(), judge(asked, polls[0], Memory()).doubt)
        until = time.strftime("%H:%M", time.localtime(polls[1].at + 40))
        assert summary(asked, report).endswith(f"waiting until {until}")
        assert verdict_of(asked, polls)[1] == 2


def test_a_clock_that_is_set_back_silences_nobody(capsys):
    class Poller:
        items = "no results folder was named"
        polls = iter([*(poll(queue("0-1 RUNNING"), (), NOW - n, clock=n) for n in range(4)), poll(queue("0-1 FAILED"))])

        def poll(self):
            return next(self.polls)

    asked = request(2, interval=0.01)
    assert Watch(asked, Poller(), TextVoice(asked)).run() == 2
    assert capsys.readouterr().out.count("100% of 2 tasks left; 0 done, 0 failed, 2 running") == 4


@pytest.mark.parametrize("trouble", [Trouble.NO_CLIENT, Trouble.NO_CLUSTER])
def test_a_machine_without_slurm_ends_the_watch_at_once(trouble):
    report = look(CallError("squeue", trouble, "not here"), ACCOUNTING_OFF)
    assert (report.verdict.word, report.verdict.exit) == ("NO SLURM", 3)
    assert report.verdict.text == "squeue: not here; run this on the cluster's head node"


@pytest.mark.parametrize("state", ["COMPLETED", "RUNNING", "FAILED"])
def test_another_users_job_is_waited_for_and_never_counted(state):
    asked = request(2, patience=100)
    polls = [poll(queue(f"0-1 {state}", user="someone"), (), NOW + 60 * number) for number in range(3)]
    report = judge(asked, polls[0], Memory())
    assert (report.failures, report.memory, report.exit) == ((), Memory(), 2)
    text = "it belongs to someone, not to me: is the id right? --user someone if it is"
    assert summary(asked, report).startswith(f"{text}; waiting until ")
    verdict, count = verdict_of(asked, polls)
    assert (verdict.word, verdict.exit, count) == ("NOT YOURS", 2, 2)


# Results


def test_completed_tasks_without_results_are_looked_at_three_times():
    asked = request(2, expected=5)
    gap = {"results": results(3), "missing": {1: ("b/t/0_0", "b/t/0_1")}}
    polls = [poll((), accounts("0-1 COMPLETED"), NOW + number, **gap) for number in range(5)]
    verdict, count = verdict_of(asked, polls, SEEN)
    assert (verdict.word, verdict.exit, count, verdict.missing) == ("INCOMPLETE", 2, 2, ("b/t/0_0", "b/t/0_1"))
    assert verdict.text == (
        "2 results of tasks that ended well are missing; results 3 of 5 (2 of this array missing, 0 of others)"
    )
    there = poll((), accounts("0-1 COMPLETED"), NOW + 2, results=results(5), missing={})
    assert verdict_of(asked, [*polls[:2], there], SEEN)[0].word == "DONE"
    assert verdict_of(request(2, expected=5, once=True), polls, SEEN) == (verdict, 0)
    assert summary(asked, judge(asked, polls[0], SEEN)).endswith("tasks that ended well are missing; looking again")


def test_results_of_others_do_not_count():
    report = judge(
        request(2, expected=9), poll((), accounts("0-1 COMPLETED"), results=results(4), missing={}), Memory()
    )
    assert report.verdict.exit == 0
    assert report.verdict.text.endswith("results 4 of 9 (0 of this array missing, 5 of others)")


def test_the_gaps_of_failed_tasks_are_named_and_the_array_is_done():
    found = poll((), accounts("0 COMPLETED", "1 FAILED 1:0"), results=results(1), missing={1: ("b/t/0_1",)})
    report = judge(request(2, expected=2), found, Memory())
    assert (report.verdict.word, report.verdict.exit, report.verdict.missing) == ("DONE", 2, ("b/t/0_1",))


def test_without_a_job_file_a_short_count_is_incomplete():
    short = {"results": results(1), "no_items": "no job file is known"}
    polls = [poll((), accounts("0-1 COMPLETED"), NOW + number, **short) for number in range(3)]
    verdict, count = verdict_of(request(2, expected=2), polls)
    assert (verdict.word, verdict.exit, verdict.missing, count) == ("INCOMPLETE", 2, (), 2)
    assert verdict.text == "results are missing, of this array or of others: no job file is known; results 1 of 2"
    enough = poll((), accounts("0-1 COMPLETED"), results=results(2), no_items="no job file is known")
    report = judge(request(2, expected=2), enough, Memory())
    assert (report.verdict.exit, report.remarks) == (
        0,
        ("which results are this array's is not known: no job file is known",),
    )


def test_a_partial_count_ends_nothing_until_patience_is_over():
    part = {"results": results(3, whole_tree=False), "missing": {0: ("a/t/0_0",)}}
    polls = [poll((), accounts("0-1 COMPLETED"), NOW + 60 * number, **part) for number in range(4)]
    asked = request(2, expected=4, patience=100)
    report = judge(asked, polls[0], Memory())
    assert report.verdict is None
    assert "results at least 3 of 4; every task has ended, and not all results are looked at" in summary(asked, report)
    verdict, count = verdict_of(asked, polls)
    assert (verdict.word, verdict.exit, count) == ("INCOMPLETE", 2, 2)
    assert verdict.text == (
        "every task has ended, and not all results are looked at; given up after 2 min; "
        "results at least 3 of 4 (1 of this array missing, 0 of others)"
    )


def test_damaged_results_and_missing_folders_are_said():
    report = look(queue("0-1 RUNNING"), (), results=results(1, damaged=2))
    assert report.notes == ("2 results are cut short or damaged, and not counted",)
    asked = request(2, results_dir=Path("/w/data"), log_dir=Path("/w/logs"))
    report = judge(asked, poll(queue("0-1 RUNNING"), (), results=results(0, there=False), logs_there=False), Memory())
    assert report.notes == ("no log folder yet: /w/logs", "no results folder yet: /w/data")


# Without accounts


def test_states_that_the_queue_forgot_are_remembered():
    first = judge(request(3), poll(queue("0 COMPLETED", "1 FAILED", "2 RUNNING"), ACCOUNTING_OFF), Memory())
    second = judge(request(3), poll(queue("2 COMPLETED"), ACCOUNTING_OFF, NOW + 900), first.memory)
    assert standings(second) == ["done", "failed", "done"]
    assert (second.failures, second.verdict.exit) == ((), 2)


def test_a_remembered_end_is_forgotten_when_the_task_runs_again():
    first = judge(request(1), poll(queue("0 FAILED"), ACCOUNTING_OFF), Memory())
    second = judge(request(1), poll(queue("0 RUNNING"), ACCOUNTING_OFF, NOW + 900), first.memory)
    assert second.memory.ended == {}


@pytest.mark.parametrize("accounts_answer", [ACCOUNTING_OFF, CallError("sacct", Trouble.NO_CLIENT, "not installed")])
def test_without_accounts_the_results_decide(accounts_answer):
    asked = request(2, expected=4)
    gone = {"queue_answer": UNKNOWN_JOB, "accounts_answer": accounts_answer}
    report = judge(asked, poll(**gone, results=results(4), missing={}), SEEN)
    assert (report.verdict.word, report.verdict.exit) == ("DONE", 0)
    assert report.verdict.text == (
        f"2 tasks, 2 done, 0 failed, some known by their results alone; results 4 of 4; {report.notes[0]}"
    )
    assert report.notes[0].startswith("accounting ")
    assert report.notes[0].endswith(": counted from the queue and the results alone")
    polls = [poll(**gone, at=NOW + n, results=results(3), missing={1: ("b/t/0_0",)}) for n in range(3)]
    verdict, _ = verdict_of(asked, polls, SEEN)
    assert (verdict.word, verdict.exit, verdict.missing) == ("INCOMPLETE", 2, ("b/t/0_0",))
    assert verdict.text.startswith("4_[0-1] ended without 1 of their results")
    report = judge(asked, poll(**gone, results=results(4), no_items="no job file is known"), SEEN)
    assert report.verdict.exit == 0
    report = judge(asked, poll(**gone, results=results(3), no_items="no job file is known"), SEEN)
    assert (report.verdict.word, report.verdict.exit) == ("UNKNOWN", 2)


def test_accounts_that_are_down_are_waited_for_before_the_results_decide():
    asked = request(2, expected=2, patience=100)
    polls = [poll(UNKNOWN_JOB, ACCOUNTING_DOWN, NOW + 60 * n, results=results(2), missing={}) for n in range(4)]
    verdict, count = verdict_of(asked, polls, SEEN)
    assert (verdict.word, verdict.exit, count) == ("DONE", 0, 2)
    polls = [
        poll(UNKNOWN_JOB, ACCOUNTING_DOWN, NOW + 60 * n, results=results(1), missing={1: ("b/t/0_0",)})
        for n in range(4)
    ]
    verdict, count = verdict_of(asked, polls, SEEN)
    assert (verdict.word, verdict.missing, count) == ("INCOMPLETE", ("b/t/0_0",), 2)


# What is said


def test_a_failure_is_said_once_and_again_after_another_attempt():
    first = look(queue("1 RUNNING"), accounts("0 FAILED 1:0"))
    assert [failure.index for failure in first.failures] == [0]
    second = judge(request(2), poll(queue("1 RUNNING"), accounts("0 FAILED 1:0")), first.memory)
    assert second.failures == ()
    third = judge(request(2), poll(queue("1 RUNNING"), accounts("0 FAILED 1:0", "0 FAILED 1:0 @1")), second.memory)
    assert [failure.index for failure in third.failures] == [0]


def test_many_failures_are_twenty_lines_and_the_rest_in_one(tmp_path):
    asked = request(500, log_dir=tmp_path)
    rows = accounts("0-399 FAILED 1:0", "400-409 TIMEOUT", "410-499 PENDING")
    report = judge(asked, poll(queue("410-499 PENDING Priority"), rows), Memory())
    said = list(TextVoice(asked).failures(report))
    assert len(said) == 22
    assert said[0] == f"FAILED 4_0: FAILED, exit code 1:0, no log at {tmp_path}/slurm-4_0.out"
    assert said[20:] == [
        f"FAILED 4_[20-399]: FAILED, exit code 1:0, logs {tmp_path}/slurm-4_<task>.out",
        f"FAILED 4_[400-409]: TIMEOUT, exit code 0:0, logs {tmp_path}/slurm-4_<task>.out",
    ]


def test_a_log_that_could_not_be_opened_is_explained(tmp_path):
    asked = request(1, log_dir=tmp_path)
    report = judge(asked, poll((), accounts("0 FAILED 0:53")), Memory())
    (line,) = TextVoice(asked).failures(report)
    assert line.endswith(f"no log at {tmp_path}/slurm-4_0.out, SLURM could not open it: its folder has to exist")


def test_a_log_above_the_arrays_folder_is_found(tmp_path):
    (tmp_path / "4").mkdir()
    (tmp_path / "slurm-4_0.out").write_text("")
    asked = request(1, log_dir=tmp_path / "4")
    report = judge(asked, poll((), accounts("0 FAILED 1:0")), Memory())
    assert list(TextVoice(asked).failures(report)) == [
        f"FAILED 4_0: FAILED, exit code 1:0, log {tmp_path}/slurm-4_0.out"
    ]


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("JobHeldUser", "scontrol release 4_[0-1]"),
        ("JobHeldAdmin", "an operator frees it: scontrol release 4_[0-1]"),
        ("job requeued in held state", "scontrol release 4_[0-1]"),
        ("DependencyNeverSatisfied", "scancel --state=PENDING 4_[0-1], then setup again"),
        ("PartitionTimeLimit", "scancel --state=PENDING 4_[0-1], then setup again"),
    ],
)
def test_waits_that_time_does_not_end_are_named(reason, advice):
    report = look(queue(f"0-1 PENDING {reason}"), ())
    assert report.notes == (f"4_[0-1] held ({reason}): {advice}",)


def test_a_long_list_of_tasks_is_cut_and_no_command_is(tmp_path):
    every_other = ",".join(str(index) for index in range(0, 2000, 2))
    cut = f"4_[{','.join(str(index) for index in range(0, 80, 2))},...: 1,000 tasks]"
    held = look(queue(f"{every_other} PENDING JobHeldUser"), (), tasks=1000)
    assert held.notes == (f"{cut} held (JobHeldUser): scontrol release 4",)
    others = ",".join(str(index) for index in range(1, 2000, 2))
    held = look(queue(f"{every_other} PENDING JobHeldUser", f"{others} PENDING Priority"), (), tasks=2000)
    assert held.notes == (f"{cut} held (JobHeldUser): scontrol release 4_[{every_other}]",)
    failed = look(queue(f"{every_other} CANCELLED"), (), tasks=1000)
    assert failed.verdict.text == f"1000 tasks, 0 done, 1000 failed ({cut})"
    assert list(TextVoice(request(1000)).failures(failed))[-1].startswith("FAILED 4_[40,42,44,")
    assert len(list(TextVoice(request(1000)).failures(failed))[-1]) < 200


@pytest.mark.parametrize("reason", ["Priority", "Resources", "JobArrayTaskLimit", "BeginTime", "None"])
def test_ordinary_waits_are_not_named(reason):
    assert look(queue(f"0-1 PENDING {reason}"), ()).notes == ()


def test_a_stall_is_said_after_three_intervals_of_running():
    asked = request(3, interval=900, log_dir=Path("/logs"))
    memory, said = Memory(), []
    for number, count in enumerate([0, 5, 5, 5, 5, 6]):
        rows = queue("0 PENDING Priority", "1 RUNNING", "2 RUNNING")
        report = judge(asked, poll(rows, (), NOW + 900 * number, results=results(count)), memory)
        memory = report.memory
        said.append(report.notes)
    assert said[:4] == [(), (), (), ()]
    assert said[4] == ("STALLED: no new result for 45 min while tasks run; look at /logs/slurm-4_1.out",)
    assert said[5] == ()


def test_the_length_of_a_short_stall_is_said_in_seconds():
    asked, memory = request(1, interval=5), Memory(results=1, moved_at=NOW - 21.4, seen=True)
    report = judge(asked, poll(queue("0 RUNNING"), (), results=results(1)), memory)
    assert report.notes == ("STALLED: no new result for 21 s while tasks run; look at the log of 4_0",)


def stalled(*found, memory=None):
    """Whether a stall is said after polls that found these results."""
    asked, memory = request(2, interval=900), memory or Memory()
    for number, one in enumerate(found):
        what = one if isinstance(one, dict) else {"results": one}
        report = judge(asked, poll(queue("0-1 RUNNING"), (), NOW + 900 * number, **what), memory)
        memory = report.memory
    return any(note.startswith("STALLED") for note in report.notes)


def test_results_of_a_sibling_array_hide_no_stall():
    waiting = {"missing": {0: ("a/t/0_0",), 1: ("b/t/0_0",)}, "own": 5}
    assert stalled(*({"results": results(count), **waiting} for count in (3, 10, 20, 30)))
    moving = [{**waiting, "missing": {0: ("a/t/0_0",) * left}} for left in (4, 3, 2, 1)]
    assert not stalled(*({"results": results(4 - len(one["missing"][0])), **one} for one in moving))


def test_a_partial_count_is_no_sign_of_a_stall():
    """A watcher that starts again walks the tree anew, which may take longer than a poll."""
    before = Memory(results=50, moved_at=NOW - 1, seen=True)
    slow = [results(count, whole_tree=False) for count in (10, 10, 20, 30)]
    assert stalled(*slow, memory=before) is False
    assert stalled(*slow, results(55), memory=before) is False
    assert stalled(*slow, results(50), memory=before) is True


def test_a_clock_that_is_set_back_is_no_time_to_come():
    before = Memory(results=3, moved_at=NOW + 9e9, seen=True)
    assert stalled(*[results(3)] * 3, memory=before) is False
    assert stalled(*[results(3)] * 4, memory=before) is True
    assert stalled(*[results(3)] * 4, memory=Memory(results=3, moved_at=float("nan"), seen=True)) is True


def test_what_is_left_is_rounded_up():
    done = accounts(*(f"{index} COMPLETED" for index in range(999)))
    report = look(queue("999 RUNNING"), done, tasks=1000)
    assert summary(request(1000), report).startswith("1% of 1000 tasks left; 999 done, ")


def test_waiting_in_the_queue_is_no_stall():
    asked = request(2, interval=900)
    memory = Memory()
    for number in range(6):
        report = judge(asked, poll(queue("0-1 PENDING"), (), NOW + 900 * number, results=results(0)), memory)
        memory = report.memory
    report = judge(asked, poll(queue("0-1 RUNNING"), (), NOW + 900 * 6, results=results(0)), memory)
    assert report.notes == ()


def test_one_look_leaves_with_what_it_saw():
    assert look(queue("0-1 RUNNING"), ()).exit == 0
    assert look(queue("0 RUNNING"), accounts("1 FAILED 1:0")).exit == 2
    assert look(UNKNOWN_JOB, ()).exit == 2
    assert look(CONTROLLER_DOWN, ACCOUNTING_DOWN).exit == 2


# In general

ACTIVE = ["PENDING", "RUNNING", "COMPLETING", "SUSPENDED"]
ENDED = ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED"]
ATTEMPTS = st.lists(st.sampled_from([*ACTIVE, *ENDED, "REQUEUED", "ODD"]), max_size=3)
QUEUED = st.one_of(st.none(), st.sampled_from([*ACTIVE, *ENDED, "ODD"]))


@given(st.lists(st.tuples(QUEUED, ATTEMPTS), min_size=1, max_size=6), st.booleans())
def test_done_needs_evidence_for_every_task(histories, seen):
    in_queue = queue(*(f"{index} {state}" for index, (state, _) in enumerate(histories) if state))
    booked = accounts(
        *(f"{index} {state} @{n}" for index, (_, states) in enumerate(histories) for n, state in enumerate(states))
    )
    report = judge(request(len(histories)), poll(in_queue, booked), Memory(seen=seen))
    assert sum(report.view.count(standing) for standing in Standing) == len(histories)
    verdict = report.verdict
    if verdict is not None and verdict.exit == 0:
        assert verdict.word == "DONE"
        for state, states in histories:
            assert state == "COMPLETED" or (state is None and states[-1] == "COMPLETED")
    if any(state in ACTIVE for state, _ in histories):
        assert verdict is None


PRINTED = "".join(
    f"4_{index}|{state}|0:0|me|2026-11-30T09:00:00|2026-11-30T09:00:30|n1\n"
    for index, state in enumerate(["COMPLETED"] * 9 + ["RUNNING"])
)
NOISE = st.one_of(st.text(max_size=80), st.sampled_from(PRINTED.splitlines()).map(lambda line: line[:-25]))


@given(st.integers(0, len(PRINTED)), st.sets(st.integers(0, 9)), st.lists(NOISE, max_size=4), st.randoms())
def test_accounts_that_are_cut_or_full_of_noise_end_nothing_well(length, dropped, noise, random):
    """A row that is whole counts, whatever stands around it; the task that still runs is done in none of them."""
    kept = [line for number, line in enumerate(PRINTED[:length].splitlines()) if number not in dropped]
    lines = [*kept, *noise]
    random.shuffle(lines)
    report = judge(request(10), poll(UNKNOWN_JOB, parse_attempts("\n".join(lines))), SEEN)
    assert report.verdict is None or report.verdict.exit == 2
    assert report.view.count(Standing.DONE) <= len(kept)


def test_ten_thousand_tasks_are_judged_at_once():
    rows = accounts(*(f"{index} {'FAILED 1:0' if index % 50 == 0 else 'COMPLETED'}" for index in range(9000)))
    waiting = queue(*(f"{index} RUNNING" for index in range(9000, 9100)), "9100-9999 PENDING Priority")
    start = time.process_time()
    report = judge(request(10_000), poll(waiting, rows), Memory())
    assert time.process_time() - start < 0.5
    assert (report.view.count(Standing.DONE), len(report.failures)) == (8820, 180)
