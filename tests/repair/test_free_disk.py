"""The script free_disk: what is proved goes, in a process of its own, and nothing else does."""

from __future__ import annotations

import json
import shutil

import pytest

from audit_runs import BENCHMARKS, ORG, AuditedRun, settle, snapshot
from benchwright.repair.disk import prove
from eval_databases import numbered
from hub_standin import TOKEN
from kills import kills
from scripts_in_process import Script
from trace_jobs import TALK
from waiting import wait_until


@pytest.fixture
def script(capsys, settings, tmp_path, eval_rows, hub):
    for name, value in eval_rows.settings("postgres", key=eval_rows.standin.service_key).items():
        settings.setenv(name, value)
    settings.setenv("BENCHWRIGHT_OWNERS", "ada, grace")
    settings.setenv("BENCHWRIGHT_TRACE_ORGS", ORG)
    settings.setenv("HF_ENDPOINT", hub.url)
    settings.setenv("HF_TOKEN", TOKEN)
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return Script.named("eval/free_disk", capsys, "--benchmarks", tmp_path / "benchmarks.yaml")


@pytest.fixture
def proved(tmp_path, eval_rows, hub):
    """A run whose row and traces are as they should be."""
    run = AuditedRun(tmp_path)
    run.row(eval_rows, id=run.aggregate["id"])
    eval_rows.load()
    run.upload(hub)
    return run


def ended(script, folder):
    """What the script says when it deletes no longer."""
    answers = []

    def has_ended():
        answers.append(script.answer(folder))
        return all(one["state"] != "deleting" for one in answers[-1]["data"]["folders"])

    wait_until(has_ended, pause=0.02)
    return answers[-1]


def codes(answer):
    return [problem["code"] for problem in answer["problems"]]


def test_a_proved_job_goes_and_what_links_in_it_lead_to_stays(script, proved, tmp_path):
    shared = tmp_path / "tasks"
    shared.mkdir()
    (shared / "task.toml").touch()
    trial = next(path for path in proved.folder.iterdir() if path.is_dir())
    (trial / "task").symlink_to(shared)
    settle(proved.folder)
    before = snapshot(tmp_path)
    dry = script.answer(proved.folder)
    assert (dry["exit"], dry["data"]["applied"], len(dry["next"])) == (0, False, 1)
    assert dry["summary"] == f"DRY RUN: nothing written; {proved.folder} would be deleted"
    assert snapshot(tmp_path) == before
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], answer["data"]["applied"], proved.folder.exists()) == (0, True, False)
    done = ended(script, proved.folder)
    assert done["summary"] == f"DRY RUN: nothing written; {proved.folder} is deleted"
    assert sorted(path.name for path in (proved.folder.parent / ".freed" / proved.tag).iterdir()) == [
        "lock",
        "proof.json",
    ]
    assert (shared / "task.toml").exists()
    again = script.answer(proved.folder, "--apply")
    assert (again["exit"], again["summary"]) == (0, f"{proved.folder} is deleted")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda run, rows, hub: hub.repos.clear(), "UPLOAD: "),
        (lambda run, rows, hub: rows.empty(), "UPLOAD: complete, and not in the database"),
        (lambda run, rows, hub: [shutil.rmtree(path) for path in sorted(run.folder.glob("*__*"))[:3]], "STOP: "),
    ],
    ids=["no traces", "no row", "three trials less"],
)
def test_what_is_not_proved_stays(script, proved, eval_rows, hub, spoil, said):
    spoil(proved, eval_rows, hub)
    before = snapshot(proved.root)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], answer["data"]["applied"], codes(answer)) == (5, False, ["not-proved"])
    assert answer["summary"] == f"{proved.folder} stays"
    assert answer["problems"][0]["found"].startswith(said)
    assert snapshot(proved.root) == before


def test_a_manifest_tells_which_row_is_the_runs(script, tmp_path, eval_rows, hub):
    run = AuditedRun(tmp_path)
    row = run.row(eval_rows, id=numbered(7))
    eval_rows.load()
    run.upload(hub)
    manifest = tmp_path / "runs.csv"
    manifest.write_text(f"job_dir,row_id\n{run.tag},{row}\n")
    answer = script.answer(run.folder)
    assert (answer["exit"], codes(answer)) == (5, ["not-proved"])
    words = ("--manifest", manifest, "--jobs-root", run.folder.parent)
    told = script.answer(run.folder, *words)
    assert (told["exit"], told["problems"]) == (0, [])
    assert " ".join(map(str, words)) in told["next"][0]
    (problem,) = script.answer(run.folder, *words[:2])["problems"]
    assert (problem["code"], problem["found"]) == ("not-listed", f"{manifest} does not list it")
    assert script.answer(run.folder, *words[2:])["problems"][0]["found"] == "without --manifest"


def test_trials_with_a_trajectory_that_the_repo_lacks_stay(script, proved, hub):
    """The audit takes a repo for this run's where most of its trials are there."""
    names = sorted(proved.truth.states)
    (repo,) = hub.repos
    hub.repos.clear()
    hub.add(repo, names[3:])
    for name, talk in ((names[0], TALK), (names[1], TALK), (names[2], {"no": "trajectory"})):
        (proved.folder / name / "agent").mkdir(exist_ok=True)
        (proved.folder / name / "agent" / "trajectory.json").write_text(json.dumps(talk))
    settle(proved.folder)
    before = snapshot(proved.root)
    for more in ((), ("--apply",)):
        answer = script.answer(proved.folder, *more)
        assert (answer["exit"], answer["data"]["applied"], codes(answer)) == (5, False, ["not-uploaded"])
    problem = answer["problems"][0]
    assert problem["found"] == f"{repo} lacks 2 trials with a trajectory: {names[0]}, {names[1]}"
    assert problem["fix"] == (
        "upload them first: .venv/bin/python scripts/harbor/make_and_upload_trace_dataset.py"
        f" --job-dir {proved.folder} --repo_id {repo} --episodes last"
    )
    assert snapshot(proved.root) == before


def test_a_source_that_does_not_answer_proves_nothing(script, proved, settings):
    settings.delenv("BENCHWRIGHT_OWNERS")
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], codes(answer)[-1]) == (5, "not-proved")
    assert proved.folder.exists()


def test_a_link_and_what_is_not_the_jobs_alone_stay(script, proved, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(proved.folder)
    answer = script.answer(link, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["is-a-link"])
    (proved.folder / "notes").mkdir()
    (proved.folder / "config.json").write_text(f'{{"datasets": [{{"path": "{proved.folder}/notes"}}]}}')
    settle(proved.folder)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], [code for code in codes(answer) if code != "not-proved"]) == (
        5,
        ["shared-tasks", "other-folders"],
    )
    assert answer["problems"][-1]["found"] == "folders without a trial's result: notes"
    assert (proved.folder / "notes").exists()


def test_what_is_somebody_elses_stays(script, proved, settings, monkeypatch):
    settings.setenv("BENCHWRIGHT_OWNERS", "grace")
    monkeypatch.setattr("os.geteuid", lambda: proved.folder.stat().st_uid + 1)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], [(one["code"], one["found"]) for one in answer["problems"]]) == (
        5,
        [
            ("not-yours", f"row {proved.aggregate['id']} of this run is ada's"),
            ("not-yours", "a folder of another user"),
        ],
    )
    assert proved.folder.exists()


def test_notes_of_somebody_stay(script, proved):
    for name in ("notes.md", "slurm.log", "upload.log", "config.json.bak-port"):
        (proved.folder / name).touch()
    settle(proved.folder)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], answer["problems"][0]["found"]) == (5, "files that no run writes: notes.md")
    assert (proved.folder / "notes.md").exists()


def test_what_changed_since_the_audit_stays(script, proved, monkeypatch):
    def late(*words, **more):
        found = prove(*words, **more)
        (proved.folder / "resumed__abcdefg").mkdir()
        (proved.folder / "resumed__abcdefg" / "result.json").touch()
        return found

    monkeypatch.setattr("benchwright.repair.disk.prove", late)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["contested"])
    assert (proved.folder / "resumed__abcdefg").exists()


@pytest.mark.parametrize("proof", [None, "{}", "[]", '{"folders": null}', "not JSON"])
def test_what_is_half_gone_without_a_proof_stays(script, proved, proof):
    home = proved.folder.parent / ".freed" / proved.tag
    (home / "folder" / "trial").mkdir(parents=True)
    if proof is not None:
        (home / "proof.json").write_text(proof)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["bad-proof"])
    assert (home / "folder" / "trial").exists()


def test_what_was_moved_before_a_resume_stays(script, proved):
    backup = proved.folder.parent / ".before-resume" / proved.tag
    (backup / "leg-01").mkdir(parents=True)
    answer = script.answer(proved.folder, "--apply")
    assert answer["data"]["kept"] == [str(backup)]
    ended(script, proved.folder)
    assert backup.exists()


def test_another_job_of_that_name_is_proved_anew(script, proved):
    script.answer(proved.folder, "--apply")
    ended(script, proved.folder)
    proved.folder.mkdir()
    (proved.folder / "result.json").write_text('{"id": "x", "n_total_trials": 12, "stats": {"evals": {}}}')
    settle(proved.folder)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["not-proved"])
    assert proved.folder.exists()


def test_shards_go_together_and_what_comes_in_their_place_does_not(script, proved, eval_rows, hub):
    first, second = (proved.folder.with_name(f"{proved.tag}_shard{number}") for number in range(2))
    shutil.copytree(proved.folder, second)
    proved.folder.rename(first)
    for folder, half in ((first, 0), (second, 1)):
        for trial in sorted(folder.glob("*__*"))[half::2]:
            shutil.rmtree(trial)
        config = json.loads((folder / "result.json").read_text())
        (folder / "result.json").write_text(json.dumps(config | {"n_total_trials": 6}))
        settle(folder)
    answer = script.answer(proved.folder, "--apply")
    assert (answer["exit"], len(answer["data"]["folders"])) == (0, 2), answer["problems"]
    assert ended(script, proved.folder)["summary"].count("is deleted") == 2
    second.mkdir()
    again = script.answer(proved.folder, "--apply")
    assert ([one["folder"] for one in again["data"]["folders"]], second.exists()) == ([str(first)], True)


def test_killed_at_any_step_it_goes_on(script, proved):
    spare = proved.root / "spare"
    shutil.copytree(proved.folder, spare)

    def fresh():
        if (proved.folder.parent / ".freed").exists():
            ended(script, proved.folder)
            shutil.rmtree(proved.folder.parent / ".freed")
        shutil.rmtree(proved.folder, ignore_errors=True)
        shutil.copytree(spare, proved.folder)
        settle(proved.folder)

    steps = 0
    for steps in kills(lambda: script.run(proved.folder, "--apply"), fresh):  # noqa: B007
        if proved.folder.exists():
            assert len(snapshot(proved.folder)) == len(snapshot(spare))
        assert script.answer(proved.folder, "--apply")["exit"] == 0
        assert ended(script, proved.folder)["data"]["folders"][0]["state"] == "freed"
    assert steps > 5
