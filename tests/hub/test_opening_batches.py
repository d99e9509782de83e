"""Batches opened for real on the emulator: one pull request a model, whatever happens on the way."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from opening_runs import (
    LAB,
    add_model,
    fault_at_commits,
    pulls_of,
    registered,
    spec_of,
    writes,
)

from benchwright.contract import Exit, Failure
from benchwright.hub.client import HubPatience
from benchwright.hub.registry import Registry
from benchwright.rehearsal.hub.faults import EVERY_FAULT, Fault, RandomFaults
from benchwright.rehearsal.hub.limits import Limit


def test_a_batch_is_opened_and_registered(new_run, lab, emulator, registry, tmp_path):
    spec = spec_of(tmp_path, lab(3))
    done = new_run().apply(spec)
    assert {one.state for one in done.values()} == {"opened"}
    assert registered(registry) == {f"lab-{number:02}/model": ("open", 1) for number in range(3)}
    repo = emulator.repo("lab-01/model")
    (pull,) = pulls_of(emulator, "lab-01/model")
    record = Registry.load(registry).of("lab-01/model")[0]
    assert (record.head, record.author, record.url) == (
        pull.head,
        "porter",
        f"{emulator.url}/lab-01/model/discussions/1",
    )
    assert [one.what for one in record.history] == ["intent", "opened"]
    oid = repo.commits[pull.head].files[".eval_results/logic-1k.yaml"].oid
    assert b"  value: 60.25\n" in repo.blobs[oid]
    assert pull.title == "Add community evaluation results for Logic-1k"
    # Again: nothing is sent, and nothing is new.
    emulator.seen.clear()
    again = new_run().apply(spec)
    assert {one.state for one in again.values()} == {"there"}
    assert writes(emulator) == []


class _Killed(BaseException):
    """What a kill amounts to: nothing that comes later is done."""


@pytest.mark.parametrize(("seed", "count"), [(1, 8), (3, 40)])
def test_faults_at_every_request_and_kills_end_with_one_pull_request_a_model(
    seed, count, new_run, lab, emulator, registry, tmp_path, monkeypatch
):
    spec = spec_of(tmp_path, lab(count))
    patience = HubPatience(attempts=4, first_wait=0.001, longest_wait=0.002, timeout=5)
    kills, put = random.Random(seed), Registry.put

    def put_or_die(self, *args, **more):
        if kills.random() < 0.03:
            raise _Killed
        put(self, *args, **more)
        if kills.random() < 0.03:
            raise _Killed

    monkeypatch.setattr(Registry, "put", put_or_die)
    emulator.limits.known["api"] = Limit(10**6)
    anywhere = RandomFaults(seed, 0.15, [*EVERY_FAULT, Fault("error", status=429)])
    at_commits = RandomFaults(seed, 0.5)
    emulator.fault = lambda request: (at_commits if "/commit/" in request.path else anywhere)(request)
    runs, done = Counter(), {}
    while {one.state for one in done.values()} - {"opened", "adopted", "there"} or not done:
        assert runs.total() < 100
        try:
            done = new_run(patience=patience).apply(spec)
            runs["ended"] += 1
        except _Killed:
            runs["killed"] += 1
        except Failure as failure:
            assert failure.exit == Exit.REMOTE
            runs["failed"] += 1
    emulator.fault = None
    assert runs["killed"] > 0 or count < 40
    commits = [one for one in emulator.seen if "/commit/" in one.request.path]
    assert any(one.fault and one.fault.done and one.status != 200 for one in commits) or count < 40
    assert {repo: len(pulls_of(emulator, repo)) for repo in done} == dict.fromkeys(done, 1)
    assert registered(registry) == dict.fromkeys(done, ("open", 1))
    for record in Registry.load(registry).records:
        (pull,) = pulls_of(emulator, record.repo)
        assert (record.head, record.title) == (pull.head, pull.title)
        assert [one.value_text for one in record.results] == [spec_value(spec, record.repo)]


def spec_value(spec, repo):
    """The value of a model's one result."""
    return next(one.results[0].board_text for one in spec.repos if one.repo == repo)


@pytest.mark.parametrize("kind", ["cut", "half", "short", "error"])
def test_a_commit_whose_answer_is_lost_is_found_and_not_sent_again(kind, one, new_run, emulator, registry):
    fault_at_commits(emulator, Fault(kind, takes_effect=True), method="POST")
    done = new_run().apply(one)[LAB]
    assert (done.state, done.record.num) == ("opened", 1)
    assert len([request for request in writes(emulator) if "/commit/" in request.path]) == 1
    assert [event.what for event in Registry.load(registry).records[0].history] == ["intent", "adopted"]


def test_a_commit_that_was_lost_on_the_way_is_left_to_the_next_run(one, new_run, emulator, registry):
    fault_at_commits(emulator, Fault("cut"), method="POST")
    slept = []
    done = new_run().apply(one, sleep=slept.append)[LAB]
    assert (done.state, done.exit, done.problems[0].code) == ("lost", Exit.REMOTE, "answer-lost")
    assert done.problems[0].fix == "run this again: it looks before it writes"
    assert slept == [0]  # looked twice
    assert len([request for request in writes(emulator) if "/commit/" in request.path]) == 1
    assert registered(registry) == {LAB: ("intent", None)}
    assert new_run().apply(one)[LAB].state == "opened"
    history = [event.what for event in Registry.load(registry).records[0].history]
    assert history == ["intent", "answer lost", "intent", "opened"]


def test_a_kill_after_the_commit_is_mended_by_the_next_run(one, new_run, emulator, registry, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("benchwright.hub.opening.apply.Opener._opened", lambda *args: (_ for _ in ()).throw(_Killed))
        with pytest.raises(_Killed):
            new_run().apply(one)
    assert registered(registry) == {LAB: ("intent", None)}
    assert new_run().apply(one)[LAB].state == "adopted"
    registry.unlink()  # and with no registry at all
    assert new_run().apply(one)[LAB].state == "adopted"
    assert registered(registry) == {LAB: ("open", 1)}
    (record,) = Registry.load(registry).records
    assert record.results[0].shown.model == LAB


def test_a_limit_of_commits_stops_the_batch_and_the_next_run_goes_on(new_run, lab, emulator, registry, tmp_path):
    spec = spec_of(tmp_path, lab(5))
    emulator.limits.actions["commit"] = Limit(2, 10**9)  # no window ends meanwhile
    emulator.limits.retry_after = True
    done = new_run().apply(spec)
    assert [made.state for made in done.values()] == ["opened", "opened", "untried", "untried", "untried"]
    problem = done["lab-02/model"].problems[0]
    assert (problem.code, done["lab-02/model"].exit) == ("rate-limit", Exit.REMOTE)
    assert problem.fix.startswith("run this again in ")
    assert len([request for request in writes(emulator) if "/commit/" in request.path]) == 3
    emulator.limits.actions.clear()
    done = new_run().apply(spec)
    assert [made.state for made in done.values()] == ["there", "there", "opened", "opened", "opened"]


def test_results_of_one_spec_count_each_other(new_run, emulator, logic, peers, tmp_path):
    """Each alone would be the fiftieth of the default view; small ones are seen among small ones."""
    peers([90 - number / 10 for number in range(49)], size=70)
    specs = {f"lab-{number}/model": "61.25" for number in range(4)} | {"lab-9/model": "61.00"}
    for number in range(4):
        add_model(emulator, f"lab-{number}/model", parameters=None if number % 2 else {"BF16": 7 * 10**9})
    add_model(emulator, "lab-9/model", "61.00", parameters=None)
    plans = {plan.spec.repo: plan for plan in new_run().plan(spec_of(tmp_path, specs))}
    assert [plan.state for plan in plans.values()] == ["new", "refused", "new", "refused", "refused"]
    (problem,) = plans["lab-1/model"].problems
    found = "61.25 would be in the top 50 of no view of bench-org/logic-1k, logic, with the other results of this spec"
    assert (problem.code, problem.found) == ("invisible", found)
    views = [plans[f"lab-{number}/model"].draft.results[0].placed.prediction for number in (0, 2)]
    assert [(str(seen.view), seen.rank) for seen in views] == [("up to 32B, base models only", 2)] * 2
    assert "leaderboard_max_params=32B" in plans["lab-0/model"].draft.body
    assert new_run().plan(spec_of(tmp_path, {"lab-9/model": "61.00"}))[0].state == "new"
