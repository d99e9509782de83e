"""How long an array is by what the scheduler lists of it."""

from __future__ import annotations

import pytest

from benchwright.launch.asked_array import _at_least
from benchwright.slurm import AttemptRow, QueueRow, parse_state

NOON = "2026-11-30T12:00:00"


def queue(*rows: str) -> list[QueueRow]:
    return [
        QueueRow(
            job=7, tasks=tasks, state=parse_state(state), reason="None", user="me", start=NOON, submit=NOON,
            nodes="", command="",
        )
        for tasks, state in map(told, rows)
    ]  # fmt: skip


def accounts(*rows: str) -> list[AttemptRow]:
    return [
        AttemptRow(
            job=7, tasks=tasks, state=parse_state(state), exit_code="0:0", user="me", submit=NOON, start=NOON, nodes=""
        )
        for tasks, state in map(told, rows)
    ]


def told(row: str) -> tuple[tuple[int, ...], str]:
    """``0,1 RUNNING`` of tasks, ``- CANCELLED`` of the plain id."""
    tasks, state = row.split()
    return (() if tasks == "-" else tuple(map(int, tasks.split(",")))), state


@pytest.mark.parametrize(
    ("queued", "booked", "length"),
    [
        (["0 RUNNING", "1 PENDING"], ["0 RUNNING", "1 PENDING"], 2),
        (["0 CANCELLED", "- CANCELLED"], ["0 CANCELLED", "1 CANCELLED"], 2),  # the plain id is what the other names
        (["0 CANCELLED", "- CANCELLED"], [], 2),
        ([], ["0,1 COMPLETED", "- CANCELLED"], 3),
        (["5 RUNNING"], ["0 COMPLETED"], 6),
        (["- RUNNING"], None, 1),
        (["- CANCELLED"], None, 0),  # any task, where nobody tells of the others
    ],
)
def test_a_plain_id_is_of_one_task_that_its_own_source_does_not_name(queued, booked, length):
    assert _at_least(queue(*queued), None if booked is None else accounts(*booked)) == length
