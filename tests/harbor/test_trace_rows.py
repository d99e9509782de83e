"""Rows of traces: Harbor's own export of a genuine job, then every form and damage of what agents leave behind."""

from __future__ import annotations

import gzip
import json
import os
import socket
from pathlib import Path

import pytest

from benchwright.harbor import resolve_job_folder
from benchwright.harbor.traces import LeftOut, TraceOptions, plan_traces
from benchwright.harbor.traces.conversation import text_of
from benchwright.harbor.traces.unexported import Unexported
from trace_jobs import TALK, USER, TraceJob, rows_of, said, talk, trajectory

DATA = Path(__file__).resolve().parents[1] / "data" / "harbor_traces"
JOB = DATA / "eval-tiny_traces-20260901_130000"


@pytest.fixture
def job(tmp_path):
    """A scored trial, one that failed, and one that timed out and was scored."""
    return TraceJob(tmp_path / "job", ["pass", "fail", "timeout-scored"])


@pytest.mark.parametrize("episodes", ["last", "all"])
def test_rows_are_those_of_harbors_exporter(tmp_path, episodes):
    expected = json.loads(gzip.decompress((DATA / "harbor_export.json.gz").read_bytes()))[episodes]
    options = TraceOptions(episodes=episodes, sharegpt=True)
    dataset = plan_traces(resolve_job_folder(JOB), options).write(tmp_path / "dataset")
    rows = sorted(rows_of(dataset), key=lambda row: (row["trial_name"], row["trace_source"], int(row["episode"][8:])))
    assert len(rows) == len(expected) == {"last": 40, "all": 52}[episodes]
    own = {"reward", "exception", "step", "tool_definitions"}
    assert [{name: row[name] for name in row.keys() - own} for row in rows] == expected
    assert {row["reward"] for row in rows} == {0.0, 1.0}
    assert {row["exception"] for row in rows} == {None}
    assert dataset.left_out == dataset.incomplete == ()


def test_reward_and_exception_are_apart(tmp_path):
    job = TraceJob(tmp_path / "job", ["pass", "timeout-scored", "not-verified", "unverified"])
    for trial in range(4):
        job.put(trial)
    rows = job.rows()
    assert [(row["result"], row["reward"], row["exception"]) for row in rows] == [
        ("1.0", 1.0, None),
        ("AgentTimeoutError", 0.0, "AgentTimeoutError"),
        ("VerificationNotCompletedError", None, "VerificationNotCompletedError"),
        (None, None, None),
    ]


def test_labels_of_a_row(job):
    job.put(0)
    job.put(0, "well\n", "verifier/test-stdout.txt")
    job.put(0, b"\xff!", "verifier/test-stderr.txt")
    (row,) = job.rows()
    assert {name: row[name] for name in row if name not in ("conversations", "date", "run_id")} == {
        "agent": "terminus-2",
        "model": "served/4711",
        "model_provider": "hosted_vllm",
        "task": "task__0000",
        "episode": "episode-1",
        "trial_name": job.name(0),
        "result": "1.0",
        "tool_definitions": None,
        "instruction": "Do it.",
        "verifier_output": "well\n\ufffd!",
        "trace_source": "main",
        "step": None,
        "exception": None,
        "reward": 1.0,
    }
    assert row["date"] == "2026-09-01T10:00:00Z"
    assert len(row["run_id"]) == 36


def test_all_episodes_are_beginnings_of_the_last(job):
    job.put(0)
    rows = job.rows(episodes="all")
    assert [(row["episode"], talk(row)) for row in rows] == [
        ("episode-0", [("user", "Do it."), ("assistant", "One.")]),
        ("episode-1", [("user", "Do it."), ("assistant", "One."), ("user", "1"), ("assistant", "Two.")]),
    ]


def test_what_an_agent_thinks_says_and_calls_is_one_turn(job):
    call = {"function_name": "run", "arguments": {"b": "ä", "a": 1.0}}
    tools = [{"name": "run"}]
    steps = (
        {"source": "system", "message": "Rules."},
        {"source": "system", "message": "More."},
        said("Well.", reasoning_content="Hm.", tool_calls=[call, {"function_name": "stop"}]),
        said("I see</think>ok", ""),
        {"source": "oddity", "message": "left out"},
        said(None),
    )
    job.put(0, trajectory(*steps) | {"agent": {"name": "other", "tool_definitions": tools}})
    (row,) = job.rows()
    assert talk(row) == [
        ("user", '<tools>\n[\n  {\n    "name": "run"\n  }\n]\n</tools>\n\nRules.'),
        ("user", "More."),
        (
            "assistant",
            '<think>Hm.</think>\nWell.\n<tool_call>\n{"name": "run", "arguments": {"b": "ä", "a": 1.0}}\n</tool_call>\n'
            '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call>',
        ),
        ("assistant", "<think>I see</think>ok"),
        ("user", ""),
        ("assistant", ""),
    ]
    assert row["tool_definitions"] == '[{"name": "run"}]'
    assert row["agent"] == "other"
    assert row["model"] == "org/model-8B"


def test_parts_of_a_message_are_lines_and_pictures_are_none(job):
    parts = [{"type": "text", "text": "a"}, "b", {"type": "file", "id": 1}]
    job.put(0, trajectory({"source": "user", "message": parts}, said("x", parts), said({"odd": 1})))
    job.put(1, trajectory({"source": "user", "message": [{"type": "image", "source": "x.png"}]}, said("x")))
    (row,) = job.rows()
    assert talk(row) == [
        ("user", 'a\nb\n{"type": "file", "id": 1}'),
        ("assistant", "x"),
        ("user", 'a\nb\n{"type": "file", "id": 1}'),
        ("assistant", '{"odd": 1}'),
    ]
    assert reasons(job)[1] == "it holds pictures or sound, and a row holds text"


def reasons(job, **options) -> list[str]:
    """Of each trial why it is left out, or what of it is; empty where nothing is."""
    dataset = job.dataset(**options)
    told = {one.trial: one.why for one in (*dataset.left_out, *dataset.incomplete)}
    return [told.get(trial.name, "") for trial in job.trials]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "trajectory.json cannot be read: empty"),
        (json.dumps(TALK)[:-20], "trajectory.json cannot be read: cut off"),
        (b'{"steps": "none"}', "trajectory.json cannot be read: Expected `array`, got `str` - at `$.steps`"),
        (TALK | {"schema_version": "ATIF-v2.0"}, "trajectory.json is 'ATIF-v2.0', and ATIF-v1.x is what can be read"),
        ({"status": "fine"}, "trajectory.json has no step of the agent"),
        (trajectory(USER), "trajectory.json has no step of the agent"),
        (trajectory(USER, said("x", is_copied_context=True)), "trajectory.json has no step of the agent"),
    ],
)
def test_a_trajectory_that_says_nothing_is_listed_by_name(job, content, why):
    job.put(0)
    job.put(1, content)
    assert reasons(job) == ["", why, "there is no trajectory.json"]
    assert len(job.rows()) == 1


def test_a_trajectory_of_no_version_or_a_later_one_is_read(job):
    job.put(0, {"steps": [USER, said("x")]})
    job.put(1, TALK | {"schema_version": "ATIF-v1.12", "news": 1})
    assert [row["trial_name"] for row in job.rows()] == [job.name(0), job.name(1)]


def test_halves_of_surrogate_pairs_and_tokens_that_are_no_json(job):
    text = json.dumps(trajectory(USER, said("\ud83d!", "\ude00?"), said("\U0001f600", extra={"x": float("nan")})))
    job.put(0, text.encode())
    (row,) = job.rows()
    assert talk(row)[1:] == [("assistant", "\ufffd!"), ("user", "\ufffd?"), ("assistant", "\U0001f600")]


def test_a_message_of_fifty_megabytes(job):
    job.put(0, trajectory(USER, said("x" * 50_000_000, "y"), said("done")))
    (row,) = job.rows()
    assert [len(text) for _, text in talk(row)] == [6, 50_000_000, 1, 4]


def test_a_chain_is_followed_and_its_episodes_count_on(job):
    job.put(0, trajectory(USER, said("One."), continued_trajectory_ref="trajectory.cont-1.json"))
    handed = said("One.", is_copied_context=True)
    job.put(0, trajectory(USER, handed, said("Two.", "2"), said("Three.")), "agent/trajectory.cont-1.json")
    assert [(row["episode"], len(row["conversations"])) for row in job.rows(episodes="all")] == [
        ("episode-0", 2),
        ("episode-1", 3),
        ("episode-2", 5),
    ]
    (row,) = job.rows()
    assert (row["episode"], talk(row)[-1]) == ("episode-2", ("assistant", "Three."))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("trajectory.cont-1.json", "there is no trajectory.cont-1.json"),
        ("trajectory.json", "it goes on in 'trajectory.json', which is no other file beside it"),
        ("../../secret.json", "it goes on in '../../secret.json', which is no other file beside it"),
        ("", "it goes on in '', which is no other file beside it"),
        ("a\0b", r"it goes on in 'a\x00b', which is no other file beside it"),
        ("x" * 300, f"there is no {'x' * 300}"),
    ],
)
def test_a_chain_that_breaks_off_is_taken_up_to_there(job, name, why):
    job.put(0, TALK | {"continued_trajectory_ref": name})
    (row,) = job.rows()
    assert row["episode"] == "episode-1"
    assert reasons(job)[0] == why


def test_subagents_are_whole_rows_of_their_own(job):
    inner = trajectory(USER, said("Sum.", "so"), trajectory_id="helper")
    job.put(0, TALK | {"subagent_trajectories": [inner]})
    job.put(0, trajectory(USER, said("In short.")), "agent/trajectory.summarization-1-summary.json")
    job.put(0, trajectory(USER), "agent/trajectory.silent.json")
    job.put(0, "{", "agent/trajectory.broken.json")
    rows = job.rows()
    assert [(row["trace_source"], row["episode"], talk(row)[-1]) for row in rows] == [
        ("main", "episode-1", ("assistant", "Two.")),
        ("summarization-1-summary", "episode-0", ("assistant", "In short.")),
        ("helper", "episode-0", ("user", "so")),
    ]
    assert reasons(job)[0] == "trajectory.broken.json cannot be read: cut off"


def episode(job, trial: int, number: int, *, request: object = "as usual", answer: str | None = "Done.") -> None:
    """An episode's folder as terminus-2 left it before it wrote trajectories."""
    asked = {"input": [{"role": "system", "content": "Rules."}, {"role": "user", "content": f"{number}?"}]}
    if request is not None:
        job.put(trial, asked if request == "as usual" else request, f"agent/episode-{number}/debug.json")
    if answer is not None:
        job.put(trial, answer, f"agent/episode-{number}/response.txt")


def test_episode_folders_come_in_the_order_of_their_numbers(job):
    for number in (0, 9, 10):
        episode(job, 0, number, answer=f"{number}!")
    episode(job, 0, 11, answer=None)  # it was asked for when the trial ended
    job.put(0, {"output": [{"text": "from JSON"}]}, "agent/episode-9/response.json")
    rows = job.rows(episodes="all")
    assert [(row["episode"], talk(row)[1:]) for row in rows] == [
        ("episode-0", [("user", "0?"), ("assistant", "0!")]),
        ("episode-9", [("user", "9?"), ("assistant", "from JSON")]),
        ("episode-10", [("user", "10?"), ("assistant", "10!")]),
    ]
    (row,) = job.rows()
    assert (row["episode"], row["instruction"], talk(row)[0]) == ("episode-10", "Rules.", ("system", "Rules."))
    assert reasons(job)[0] == "agent/episode-11 has no answer"


def test_damaged_episode_folders_are_listed(job):
    episode(job, 0, 0, request=None)
    episode(job, 0, 1, request='{"input": [{')
    episode(job, 0, 2)
    job.put(0, "{", "agent/episode-2/response.json")
    episode(job, 1, 0, request={"messages": [{"role": "user", "content": "Hm?"}]})
    assert [talk(row) for row in job.rows(episodes="all")] == [[("user", "Hm?"), ("assistant", "Done.")]]
    assert reasons(job, episodes="all")[0] == (
        "agent/episode-0 has no debug.json; agent/episode-1/debug.json cannot be read: cut off; "
        "agent/episode-2/response.json cannot be read: cut off"
    )


def test_a_trajectory_goes_before_episode_folders(job):
    job.put(0)
    episode(job, 0, 0)
    assert [row["episode"] for row in job.rows(episodes="all")] == ["episode-0", "episode-1"]


def test_each_step_of_a_trial_has_rows(job):
    for step in ("step-10", "step-9"):
        job.put(0, trajectory(USER, said(step)), f"steps/{step}/agent/trajectory.json")
        job.put(0, f"checked {step}", f"steps/{step}/verifier/test-stdout.txt")
    job.put(0, "x", "steps/step-11/artifacts/manifest.json")
    rows = job.rows()
    assert [(row["step"], talk(row)[-1][1], row["verifier_output"]) for row in rows] == [
        ("step-9", "step-9", "checked step-9"),
        ("step-10", "step-10", "checked step-10"),
    ]
    assert reasons(job)[0] == "step step-11: there is no trajectory.json"


@pytest.mark.parametrize("what", ["trajectory", "agent", "output", "loop", "pipe", "socket", "folder"])
def test_nothing_outside_of_a_trial_is_read(job, tmp_path, monkeypatch, what):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "trajectory.json").write_text(json.dumps(TALK))
    agent = job.trials[1] / "agent"
    job.put(0)
    if what == "agent":
        agent.symlink_to(outside)
        expected = "agent is a link, which is not followed"
    elif what == "output":
        job.put(1)
        (job.trials[1] / "verifier").mkdir()
        (job.trials[1] / "verifier" / "test-stdout.txt").symlink_to(outside / "trajectory.json")
        expected = "verifier/test-stdout.txt is a link, which is not followed"
    else:
        agent.mkdir()
        path = agent / "trajectory.json"
        expected = "agent/trajectory.json is no regular file"
        if what == "pipe":
            os.mkfifo(path)
        elif what == "socket":
            with socket.socket(socket.AF_UNIX) as server:
                monkeypatch.chdir(agent)
                server.bind(path.name)
        elif what == "folder":
            path.mkdir()
        else:
            path.symlink_to(outside / "trajectory.json" if what == "trajectory" else path)
            expected = "agent/trajectory.json is a link, which is not followed"
    assert reasons(job)[1] == expected
    assert [row["verifier_output"] for row in job.rows()] == [None] * (2 if what == "output" else 1)


def test_names_that_are_no_text_come_as_escapes(job):
    inner = json.dumps(trajectory(USER, said("x"))).encode()
    for name in (b"trajectory.a\xff.json", b"trajectory.b\xff.json"):
        job.put(0)
        (job.trials[0] / "agent" / os.fsdecode(name)).write_bytes(inner if b".a" in name else b"{")
    assert [row["trace_source"] for row in job.rows()] == ["main", r"a\xff"]
    assert reasons(job)[0] == r"trajectory.b\xff.json cannot be read: cut off"


def test_values_that_are_nested_too_deeply(job):
    job.put(0)
    job.put(1, '{"steps": [{"source": "agent", "message": ' + "[" * 100_000 + "]" * 100_000 + "}]}")
    assert reasons(job)[1] == "trajectory.json cannot be read: nested too deeply"
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(Unexported, match="a value in it is nested too deeply"):
        text_of(deep)


def test_a_trials_own_folder_may_be_a_link(job, tmp_path):
    job.put(0)
    elsewhere = tmp_path / "elsewhere"
    job.trials[0].rename(elsewhere)
    job.trials[0].symlink_to(elsewhere)
    assert [row["trial_name"] for row in job.rows()] == [job.name(0)]


def test_trials_that_go_away_meanwhile(job):
    job.put(0)
    plan = plan_traces(job.place, TraceOptions())
    (job.trials[1] / "result.json").unlink()
    job.put(1)
    for path in sorted(job.trials[2].rglob("*"), reverse=True):
        path.unlink()
    job.trials[2].rmdir()
    dataset = plan.write(job.folder.with_name("dataset"))
    assert dataset.left_out == (
        LeftOut(job.name(1), "its result went away"),
        LeftOut(job.name(2), "its folder went away"),
    )
    assert dataset.trials == {job.name(0)}


def test_trials_without_a_result_or_beyond_the_plan_have_no_row(tmp_path):
    job = TraceJob(tmp_path / "job", ["pass", "cut-off", "unfinished"])
    for trial in range(3):
        job.put(trial)
    dataset = job.dataset()
    assert [one.why for one in dataset.left_out] == ["its result cannot be read: cut off", "it has no result"]
    assert dataset.own == {job.name(trial) for trial in range(3)}

    more = TraceJob(tmp_path / "more", ["pass", "fail"], extras=["zombie"])
    for trial in range(3):
        more.put(trial)
    surplus = [why for why in reasons(more) if why]
    assert surplus == ["it does not count: its task has more trials than planned"]


def test_the_filter_goes_by_reward_and_exception(tmp_path):
    job = TraceJob(tmp_path / "job", ["pass", "fail", "timeout-scored", "timeout-passed", "unverified"])
    for trial in range(5):
        job.put(trial)
    assert [(row["reward"], row["exception"]) for row in job.rows(outcome="success")] == [(1.0, None)]
    others = {(row["reward"], row["exception"]) for row in job.rows(outcome="failure")}
    assert others == {(0.0, None), (0.0, "AgentTimeoutError"), (1.0, "AgentTimeoutError"), (None, None)}
    card = (job.folder.with_name("dataset") / "README.md").read_text()
    assert "| filter | failure; 1 others |" in card


def test_a_secret_of_this_machine_is_hidden_and_said(job, monkeypatch):
    monkeypatch.setenv("SERVICE_TOKEN", "rehearsal-4711-0815")
    monkeypatch.setenv("SHORT_TOKEN", "Two.")
    job.put(0, trajectory(USER, said("rehearsal-4711-0815, that is", "1"), said("Two.")))
    (row,) = job.rows()
    assert talk(row)[1] == ("assistant", "[hidden], that is")
    assert talk(row)[-1] == ("assistant", "Two.")
    assert reasons(job)[0] == "a secret of this machine is hidden in agent/trajectory.json"


def test_sharegpt_has_no_place_for_other_roles(job):
    episode(job, 0, 0, request={"input": [{"role": "tool", "content": "t"}, {"role": "user", "content": "u"}]})
    (row,) = job.rows(sharegpt=True)
    assert [(turn["from"], turn["value"]) for turn in row["conversations_sharegpt"]] == [
        ("human", "u"),
        ("gpt", "Done."),
    ]
    assert len(talk(row)) == 3
