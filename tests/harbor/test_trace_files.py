"""Files of traces: the same bytes again, whole or not there, in a declared schema and in little memory."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.contract import Exit, Failure
from benchwright.files import FileLock
from benchwright.harbor.traces import TraceOptions, plan_traces, shards
from benchwright.rehearsal.harbor_jobs import JobShape
from benchwright.rehearsal.harbor_traces import grow_traces
from kills import killed_at
from trace_jobs import TALK, TraceJob, refusal, rows_of, said, talk, three_trials, trajectory


@pytest.fixture
def job(tmp_path):
    return three_trials(tmp_path / "job")


def contents(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_schema_is_declared_whatever_the_rows_hold(job):
    read = pq.read_schema(job.dataset().folder / "data" / "train-00000.parquet").remove_metadata()
    turns = pa.list_(pa.field("element", pa.struct([("role", pa.string()), ("content", pa.string())])))
    names = "agent model model_provider date task episode run_id trial_name result tool_definitions instruction "
    names += "verifier_output trace_source step exception"
    texts = [(name, pa.string()) for name in names.split()]
    assert read == pa.schema([("conversations", turns), *texts, ("reward", pa.float64())])
    shared = pq.read_schema(job.dataset(sharegpt=True).folder / "data" / "train-00000.parquet").remove_metadata()
    pairs = pa.list_(pa.field("element", pa.struct([("from", pa.string()), ("value", pa.string())])))
    assert shared == read.append(pa.field("conversations_sharegpt", pairs))


def test_the_same_trials_come_to_the_same_bytes(job, tmp_path):
    first = contents(job.dataset(tmp_path / "one").folder)
    assert list(first) == ["README.md", "data/train-00000.parquet", "provenance.json"]
    (tmp_path / "elsewhere").mkdir()
    job.folder = job.folder.rename(tmp_path / "elsewhere" / "job")
    assert contents(job.dataset(tmp_path / "two").folder) == first


def test_files_are_described_as_they_are(job):
    dataset = job.dataset()
    for file in dataset.files:
        content = (dataset.folder / file.path).read_bytes()
        git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        assert (file.size, file.sha256, file.git_id) == (len(content), hashlib.sha256(content).hexdigest(), git)
    assert [file.rows for file in dataset.files] == [2, None, None]
    told = json.loads((dataset.folder / "provenance.json").read_text())
    assert told["trials"] == [job.name(0), job.name(1)]
    assert told["left_out"] == [{"trial": job.name(2), "why": "there is no trajectory.json"}]
    assert told["files"] == dataset.to_dict()["files"][:1]


def test_nothing_of_this_machine_is_in_the_files(job, tmp_path):
    dataset = job.dataset()
    for name, content in contents(dataset.folder).items():
        assert str(tmp_path).encode() not in content, name
        assert os.uname().nodename.encode() not in content or len(os.uname().nodename) < 4, name


def test_the_card_counts_and_shows_hostile_names_as_themselves(tmp_path):
    job = TraceJob(
        tmp_path / "a|b\n---\n<script>", ["pass", "timeout-scored", "no-sandbox"], JobShape(1, model="m_[x](y)")
    )
    for trial in range(2):
        job.put(trial, TALK | {"agent": {"name": "t"}})
    card = (job.dataset(tmp_path / "to", episodes="all").folder / "README.md").read_text()
    front, _, text = card.removeprefix("---\n").partition("---\n")
    assert front == (
        'pretty_name: "Traces of a|b\\n---\\n<script>"\n'
        'configs: [{"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*.parquet"}]}]\n'
    )
    assert "# Traces of a\\|b --- \\<script\\>\n" in text
    for line in (
        "| rows | 4 (4 main) |",
        "| trials | 2 |",
        "| with a reward | 2, the mean is 0.5000 |",
        "| with an exception | 1 AgentTimeoutError |",
        "| left out | 1 there is no trajectory.json |",
        "| model | m\\_\\[x\\](y) |",
        "| episodes | all |",
    ):
        assert line in text


def test_every_text_is_stored_once_however_many_episodes_say_it(job):
    steps = [said(f"{number} {os.urandom(2000).hex()}") for number in range(60)]
    job.put(0, trajectory(*steps))
    size = {episodes: job.dataset(episodes=episodes).size for episodes in ("last", "all")}
    assert size["all"] < 1.2 * size["last"]


def test_groups_and_shards_end_between_conversations(job, tmp_path, monkeypatch):
    expected = job.rows(episodes="all")
    monkeypatch.setattr(shards, "_GROUP_TEXT", 1)
    monkeypatch.setattr(shards, "_SHARD_TEXT", 1)
    dataset = job.dataset(tmp_path / "small", episodes="all")
    assert [(file.path, file.rows) for file in dataset.files if file.rows] == [
        ("data/train-00000.parquet", 2),
        ("data/train-00001.parquet", 2),
    ]
    assert rows_of(dataset) == expected
    monkeypatch.setattr(shards, "_GROUP_TURNS", 2)
    assert job.rows(episodes="all") == expected


def test_a_footer_tells_the_names(job):
    metadata = pq.read_metadata(job.dataset().folder / "data" / "train-00000.parquet").metadata
    told = json.loads(metadata[b"benchwright.names"])
    assert told["trial_name"] == [job.name(0), job.name(1)]
    assert len(told["run_id"]) == 1


def test_a_folder_is_replaced_only_by_its_own_kind(job, tmp_path):
    to = tmp_path / "to"
    to.mkdir()
    job.dataset(to)
    job.dataset(to)
    (to / "data" / "note.txt").touch()
    before = contents(to)
    assert refusal(lambda: job.dataset(to)) == (Exit.REFUSED, "not-empty", "it holds data/note.txt")
    assert contents(to) == before
    (to / "data" / "note.txt").unlink()
    (to / "provenance.json").write_text('{"files": []}')
    found = "it holds README.md, data/train-00000.parquet, provenance.json"
    assert refusal(lambda: job.dataset(to)) == (Exit.REFUSED, "not-empty", found)
    assert refusal(lambda: job.dataset(to / "README.md"))[2] == "it holds README.md"


def test_one_at_a_time(job, tmp_path):
    with FileLock(tmp_path / ".dataset.lock", "traces of another"):
        exit, code, found = refusal(job.dataset)
    assert (exit, code) == (Exit.REFUSED, "locked")
    assert "traces of another" in found


def test_a_stop_leaves_what_was_there(job, monkeypatch):
    before = contents(job.dataset().folder)
    job.put(0, trajectory(said("news")))

    def stop(*_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchwright.harbor.traces.plan.card", stop)
    with pytest.raises(KeyboardInterrupt):
        job.dataset()
    monkeypatch.undo()
    assert contents(job.folder.with_name("dataset")) == before
    assert talk(job.rows()[0]) == [("assistant", "news")]
    assert not list(job.folder.parent.glob(".*.writing"))


def test_a_dataset_killed_at_any_write_is_made_by_the_next_run(job, tmp_path):
    plan = plan_traces(job.place, TraceOptions())
    expected = plan.write(tmp_path / "whole")
    step = 1
    while killed_at(step, lambda: plan.write(tmp_path / "to")):
        step += 1
        if (tmp_path / "to").exists():
            assert json.loads((tmp_path / "to" / "provenance.json").read_text())["rows"] == 2
    assert step > 10
    made = plan.write(tmp_path / "to")
    assert (made.files, made.rows) == (expected.files, 2)
    assert {path.name for path in (tmp_path / "to").rglob("*")} == {
        path.name for path in (tmp_path / "whole").rglob("*")
    }


def test_a_disk_that_is_full(job, monkeypatch):
    def full(*_words, **_more) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match="No space left on device"):
        job.dataset()
    data = job.folder.with_name(".dataset.writing") / "data"
    assert list(data.iterdir()) == []
    monkeypatch.undo()
    assert len(job.rows()) == 2


def test_a_job_that_says_nothing_is_told_by_reasons(tmp_path):
    job = TraceJob(tmp_path / "job", ["fail", "fail", "cut-off"])
    with pytest.raises(Failure) as failure:
        job.dataset(outcome="success")
    assert failure.value.exit is Exit.NO
    assert [problem.found for problem in failure.value.problems] == [
        "1 trial: its result cannot be read: cut off",
        "2 trials that --filter leaves out",
    ]
    with pytest.raises(Failure) as failure:
        job.dataset()
    assert [problem.found for problem in failure.value.problems] == [
        "2 trials: there is no trajectory.json",
        "1 trial: its result cannot be read: cut off",
    ]
    assert not job.folder.with_name("dataset").exists()


def test_a_file_that_may_not_be_read_stops_all(job, monkeypatch):
    from benchwright.harbor.traces import trial_files

    def denied(name, *words, **more):
        if name == "trajectory.json":
            raise PermissionError(13, "Permission denied")
        return opened(name, *words, **more)

    opened = os.open
    plan = plan_traces(job.place, TraceOptions())
    monkeypatch.setattr(trial_files.os, "open", denied)
    exit, code, _ = refusal(lambda: plan.write(job.folder.with_name("dataset")))
    assert (exit, code) == (Exit.ENVIRONMENT, "unreadable")


_MEASURED = r"""
import re, sys
from pathlib import Path
from benchwright.harbor import resolve_job_folder
from benchwright.harbor.traces import TraceOptions, plan_traces
plan_traces(resolve_job_folder(Path(sys.argv[1])), TraceOptions(episodes=sys.argv[3])).write(Path(sys.argv[2]))
assert "pandas" not in sys.modules
print(int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.parametrize("episodes", ["last", "all"])
def test_memory_is_that_of_a_trial_and_not_of_a_job(tmp_path, episodes):
    job = TraceJob(tmp_path / "job", ["pass"] * 60)
    grow_traces(job.folder, least=400_000, most=900_000)
    words = [sys.executable, "-c", _MEASURED, job.folder, tmp_path / "to", episodes]
    peak = int(subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout)
    assert sum(path.stat().st_size for path in job.folder.rglob("trajectory.json")) > 30_000_000
    assert peak < 180
