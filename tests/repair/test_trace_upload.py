"""Traces on their way to a Hub that is emulated, by the real client: proved there, refused, cut off, and run again."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.audit.trace_hub import TraceHub
from benchwright.contract import Exit, Failure
from benchwright.hub.client import HubPatience
from benchwright.rehearsal.hub import Fault, FaultRule, HubEmulator, Limit, RuledFaults
from benchwright.repair.traces.upload import HubTraces, upload
from trace_jobs import TraceJob, refusal, rows_of, said, three_trials, trajectory

REPO = "org/run-traces"
LINK = f"https://huggingface.co/datasets/{REPO}"
WRITES = ("POST", "PUT", "DELETE")


@pytest.fixture
def emulator(tmp_path, monkeypatch, settings):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    with HubEmulator(tmp_path / "hub") as hub:
        hub.add_organisation("org", {"me": "write", "other": "write", "guest": "read"})
        yield hub
        assert hub.unknown == []


@pytest.fixture
def job(tmp_path):
    return three_trials(tmp_path / "job")


def opened(emulator: HubEmulator, user: str = "me", role: str = "write") -> TraceHub:
    return TraceHub(emulator.url, emulator.token(user, role), HubPatience(attempts=2, first_wait=0.01, timeout=5))


def writes(emulator: HubEmulator) -> list[str]:
    """The writing requests since the last look, by their last words."""
    found = [one.request for one in emulator.seen if one.request.method in WRITES]
    emulator.seen.clear()
    return [request.path.rpartition("/")[2] if "/storage/" not in request.path else "storage" for request in found]


def files(emulator: HubEmulator, repo: str = REPO) -> dict[str, str]:
    return {path: entry.lfs or entry.oid for path, entry in emulator.repo(repo, "dataset").main.files.items()}


def commits(emulator: HubEmulator, repo: str = REPO) -> int:
    return len(emulator.repo(repo, "dataset").commits)


def holds(emulator: HubEmulator, dataset) -> bool:
    """Whether a repo has just the files of a dataset, beside git's own."""
    wanted = {file.path: file.sha256 if file.rows else file.git_id for file in dataset.files}
    return {path: digest for path, digest in files(emulator).items() if path != ".gitattributes"} == wanted


def test_a_dataset_goes_up_in_one_commit_and_is_read_back(emulator, job):
    dataset = job.dataset()
    done = upload(dataset, REPO, opened(emulator))
    assert (done.repo, done.link, done.rows, done.trials, done.sent) == (REPO, LINK, 2, dataset.trials, True)
    assert done.revision == emulator.repo(REPO, "dataset").main.oid
    assert emulator.repo(REPO, "dataset").main.title == "2 rows of 2 trials: job"
    assert writes(emulator) == ["create", "validate-yaml", "main", "batch", "storage", "verify", "main"]
    assert holds(emulator, dataset)


def test_what_is_there_is_not_sent_again(emulator, job):
    upload(job.dataset(), REPO, opened(emulator))
    there = commits(emulator)
    writes(emulator)
    again = upload(job.dataset(), REPO, opened(emulator))
    assert (again.sent, writes(emulator), commits(emulator)) == (False, [], there)


def test_the_client_reads_the_rows_that_were_written(emulator, job, tmp_path):
    from huggingface_hub import HfApi

    dataset = job.dataset(episodes="all")
    hub = opened(emulator)
    upload(dataset, REPO, hub)
    path = HfApi(endpoint=hub.endpoint, token=hub.token).hf_hub_download(
        REPO, "data/train-00000.parquet", repo_type="dataset", local_dir=tmp_path / "got"
    )
    assert pq.ParquetFile(path).read().to_pylist() == rows_of(dataset)


def test_a_later_upload_of_the_run_replaces_the_earlier(emulator, job, tmp_path, monkeypatch):
    monkeypatch.setattr("benchwright.harbor.traces.shards._GROUP_TEXT", 1)
    monkeypatch.setattr("benchwright.harbor.traces.shards._SHARD_TEXT", 1)
    upload(job.dataset(), REPO, opened(emulator))
    assert len(files(emulator)) == 5
    emulator.commit(emulator.repo(REPO, "dataset"), {"notes/mine.txt": "stays"})
    monkeypatch.undo()
    resumed = job.trials[1].rename(job.trials[1].with_name("task__0001__resumed"))  # run again, under another name
    result = json.loads((resumed / "result.json").read_text())
    (resumed / "result.json").write_text(json.dumps(result | {"trial_name": resumed.name}))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    dataset = job.dataset()
    assert resumed.name in dataset.trials
    assert upload(dataset, REPO, opened(emulator)).sent
    assert set(files(emulator)) == {".gitattributes", "notes/mine.txt", *(file.path for file in dataset.files)}


def test_another_runs_traces_are_left_alone(emulator, job, tmp_path):
    other = TraceJob(tmp_path / "other", ["pass", "pass"], seed=7)
    for trial in range(2):
        other.put(trial)
    upload(other.dataset(tmp_path / "of-other"), REPO, opened(emulator))
    before = files(emulator)
    writes(emulator)
    names = ", ".join(sorted(other.name(trial) for trial in range(2)))
    found = f"it holds 2 trials that job has not: {names}"
    assert refusal(lambda: upload(job.dataset(), REPO, opened(emulator))) == (Exit.REFUSED, "other-traces", found)
    assert refusal(lambda: HubTraces(told(emulator)).upload(job.folder, REPO, apply=False))[1] == "other-traces"
    assert (files(emulator), writes(emulator)) == (before, [])


def told(emulator: HubEmulator, user: str = "me") -> dict[str, str]:
    return {"HF_ENDPOINT": emulator.url, "HF_TOKEN": emulator.token(user)}


def parquet(**columns: list[str]) -> bytes:
    file = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), file)
    return file.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ({"data/x.parquet": parquet(text=["a"])}, "it holds rows that name no trial"),
        ({"data.csv": b"a,b\n"}, "it holds data.csv"),
    ],
)
def test_a_repo_of_something_else_is_left_alone(emulator, job, content, found):
    emulator.add_dataset(REPO, content)
    assert refusal(lambda: upload(job.dataset(), REPO, opened(emulator))) == (Exit.REFUSED, "other-traces", found)


def test_rows_of_this_runs_trials_are_this_runs_whoever_wrote_them(emulator, job):
    names = sorted(job.dataset().trials)[:2]
    emulator.add_dataset(REPO, {"data/train-00000-of-00001.parquet": parquet(trial_name=names, run_id=["x", "x"])})
    dataset = job.dataset()
    assert upload(dataset, REPO, opened(emulator)).sent
    assert holds(emulator, dataset)


def test_an_empty_repo_is_filled(emulator, job):
    emulator.add_dataset(REPO, {"README.md": "soon"})
    assert upload(job.dataset(), REPO, opened(emulator)).sent


def test_a_token_that_may_only_read(emulator, job):
    exit, code, found = refusal(lambda: upload(job.dataset(), REPO, opened(emulator, "guest")))
    assert (exit, code) == (Exit.ENVIRONMENT, "hub-refused")
    assert "403" in found
    emulator.add_dataset(REPO)
    assert refusal(lambda: upload(job.dataset(), REPO, opened(emulator, "me", "read")))[:2] == (exit, code)
    assert files(emulator).keys() <= {".gitattributes"}


def test_without_a_token_nothing_is_begun(emulator, job):
    expected = (Exit.ENVIRONMENT, "no-credentials", "not set, and nobody is logged in")
    there = {"HF_ENDPOINT": emulator.url}
    assert refusal(lambda: HubTraces(there).upload(job.folder, REPO, apply=True)) == expected
    assert emulator.seen == []
    assert HubTraces(there).upload(job.folder, REPO, apply=False) == LINK
    assert writes(emulator) == []


def test_the_push_gets_the_link(emulator, job):
    assert HubTraces(told(emulator)).upload(job.folder, REPO, apply=False) == LINK
    assert writes(emulator) == []
    assert HubTraces(told(emulator)).upload(job.folder, REPO, apply=True) == LINK
    assert holds(emulator, job.dataset())


def test_too_many_commits(emulator, job):
    emulator.limits.actions["commit"] = Limit(0)
    hub = opened(emulator)
    exit, code, found = refusal(lambda: upload(job.dataset(), REPO, hub))
    assert (exit, code) == (Exit.REMOTE, "hub-unavailable")
    assert "You have exceeded our quotas for action: commit" in found
    emulator.limits.actions.clear()
    writes(emulator)
    assert upload(job.dataset(), REPO, hub).sent
    assert "storage" not in writes(emulator)  # what was sent is kept


@pytest.mark.parametrize("status", [402, 413, 507])
def test_no_room(emulator, job, status):
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=status), "POST", "*/commit/main")])
    assert refusal(lambda: upload(job.dataset(), REPO, opened(emulator)))[:2] == (Exit.REMOTE, "hub-full")


@pytest.mark.parametrize("takes_effect", [False, True])
@pytest.mark.parametrize("step", range(7))
def test_a_line_cut_at_any_write_is_mended_by_the_next_run(emulator, job, step, takes_effect):
    dataset, hub = job.dataset(), opened(emulator)
    cut = Fault("cut", takes_effect=takes_effect)
    emulator.fault = RuledFaults(
        [FaultRule(cut, "POST", skip=step)] if step < 6 else [FaultRule(cut, "PUT")]  # create, card, ..., commit; file
    )
    try:
        upload(dataset, REPO, hub)
    except Failure as failure:
        assert failure.exit is Exit.REMOTE, failure
    emulator.fault = None
    done = upload(dataset, REPO, hub)
    assert (done.rows, holds(emulator, dataset)) == (2, True)
    assert commits(emulator) == 2  # the repo's first, and ours


def test_somebody_elses_commit_meanwhile(emulator, job):
    emulator.add_dataset(REPO)
    hub = opened(emulator)

    def meanwhile(request) -> None:
        if request.path.endswith("/preupload/main"):
            emulator.fault = None
            emulator.commit(emulator.repo(REPO, "dataset"), {"data/theirs.parquet": parquet(trial_name=["a__1234567"])})

    emulator.fault = meanwhile
    expected = (Exit.REFUSED, "hub-moved", "somebody else committed meanwhile")
    assert refusal(lambda: upload(job.dataset(), REPO, hub)) == expected
    assert set(files(emulator)) - {".gitattributes"} == {"data/theirs.parquet"}
    assert refusal(lambda: upload(job.dataset(), REPO, hub))[1] == "other-traces"


def test_two_who_make_the_same_repo(emulator, job, tmp_path):
    other = TraceJob(tmp_path / "other", ["pass"], seed=7)
    other.put(0)
    theirs = other.dataset(tmp_path / "of-other")

    def meanwhile(request) -> None:
        if request.path == "/api/repos/create":
            emulator.fault = None
            upload(theirs, REPO, opened(emulator, "other"))

    emulator.fault = meanwhile
    assert refusal(lambda: upload(job.dataset(), REPO, opened(emulator)))[1] == "other-traces"
    assert holds(emulator, theirs)


def test_what_is_read_back_is_compared(emulator, job):
    dataset, hub = job.dataset(), opened(emulator)

    def afterwards(request) -> None:
        if request.path.endswith("/commit/main"):
            emulator.fault = spoiled

    def spoiled(request) -> None:
        emulator.fault = None
        content = {"data/train-00000.parquet": parquet(trial_name=[job.name(0), "other__1234567", "x"])}
        emulator.commit(emulator.repo(REPO, "dataset"), content)

    emulator.fault = afterwards
    exit, code, found = refusal(lambda: upload(dataset, REPO, hub))
    assert (exit, code) == (Exit.NO, "traces-differ")
    names = ", ".join(sorted([job.name(1), "other__1234567", "x"]))
    assert found == f"other files: data/train-00000.parquet; 3 rows, not 2; other trials: {names}"


def test_many_trials_in_several_files_are_all_read_back(emulator, tmp_path, monkeypatch):
    monkeypatch.setattr("benchwright.harbor.traces.shards._GROUP_TEXT", 1)
    monkeypatch.setattr("benchwright.harbor.traces.shards._SHARD_TEXT", 1)
    job = TraceJob(tmp_path / "job", ["pass"] * 12)
    for trial in range(12):
        job.put(trial, trajectory(said(f"{trial}")))
    done = upload(job.dataset(), REPO, opened(emulator))
    assert (done.rows, len(done.trials)) == (12, 12)
    assert writes(emulator).count("main") == 2  # what is to be sent, and the one commit


def test_the_audit_finds_the_names_in_a_footer(emulator, job, monkeypatch):
    monkeypatch.setattr("benchwright.harbor.traces.shards._GROUP_TEXT", 1)
    dataset, hub = job.dataset(), opened(emulator)
    upload(dataset, REPO, hub)
    emulator.seen.clear()
    found = hub.look(REPO)
    assert (found.rows, found.trials) == (2, dataset.trials)
    assert sum("/resolve/" in one.request.path for one in emulator.seen) == 1


@pytest.mark.parametrize("footer", [b"{", b"[]", b'{"trial_name": ["a"]}', b'{"trial_name": 1, "run_id": []}'])
def test_a_footer_that_cannot_be_relied_on_is_passed_over(emulator, footer):
    file = pa.BufferOutputStream()
    table = pa.table({"trial_name": ["real__1234567"], "run_id": ["r"]})
    pq.write_table(table.replace_schema_metadata({b"benchwright.names": footer}), file)
    emulator.add_dataset(REPO, {"data/x.parquet": file.getvalue().to_pybytes()})
    found = opened(emulator).look(REPO, whole=True)
    assert (found.trials, found.runs) == ({"real__1234567"}, {"r"})
