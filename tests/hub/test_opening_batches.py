"""Batches opened for real on the emulator: one pull request a model, whatever happens on the way."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from opening_runs import Run, add_model, pulls_of, result_of, spec_of, writes

from benchwright.contract import Exit, Failure
from benchwright.hub.client import HubPatience
from benchwright.hub.opening.apply import Opener
from benchwright.hub.opening.plan import Planner
from benchwright.hub.registry import Registry
from benchwright.rehearsal.hub.conversation import conflicts
from benchwright.rehearsal.hub.faults import EVERY_FAULT, Fault, FaultRule, RandomFaults, RuledFaults
from benchwright.rehearsal.hub.limits import Limit

COMMIT = "/api/models/*/commit/*"
FILE = ".eval_results/logic-1k.yaml"


@pytest.fixture
def registry(tmp_path):
    return tmp_path / "reports" / "registry.json"


@pytest.fixture
def new_run(open_hub, registry, monkeypatch):
    """Makes runs, each with a session of its own. The client waits for nothing."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    return lambda **more: Run(open_hub(**more), registry)


@pytest.fixture
def lab(emulator, logic, peers):
    """Makes so many models, each of a lab of its own, and returns what a spec says of them."""
    peers([80, 70, 60, 50, 40, 35])

    def make(count):
        with emulator.at_once():
            for number in range(count):
                add_model(emulator, f"lab-{number:02}/model", f"{60 + number / 4:.2f}")
        return {f"lab-{number:02}/model": f"{60 + number / 4:.2f}" for number in range(count)}

    return make


def registered(registry):
    return {one.repo: (one.state, one.num) for one in Registry.load(registry).records}


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


def fault(emulator, fault, path=COMMIT, **more):
    emulator.fault = RuledFaults([FaultRule(fault, path=path, **more)])


@pytest.fixture
def one(lab, tmp_path):
    """The spec of one model."""
    return spec_of(tmp_path, lab(1))


LAB = "lab-00/model"


@pytest.mark.parametrize("kind", ["cut", "half", "short", "error"])
def test_a_commit_whose_answer_is_lost_is_found_and_not_sent_again(kind, one, new_run, emulator, registry):
    fault(emulator, Fault(kind, takes_effect=True), method="POST")
    done = new_run().apply(one)[LAB]
    assert (done.state, done.record.num) == ("opened", 1)
    assert len([request for request in writes(emulator) if "/commit/" in request.path]) == 1
    assert [event.what for event in Registry.load(registry).records[0].history] == ["intent", "adopted"]


def test_a_commit_that_was_lost_on_the_way_is_left_to_the_next_run(one, new_run, emulator, registry):
    fault(emulator, Fault("cut"), method="POST")
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


def test_a_pull_request_behind_a_gate_is_found_by_its_marker(one, new_run, emulator, registry):
    emulator.change(emulator.repo(LAB), gated="manual")
    fault(emulator, Fault("cut", takes_effect=True), method="POST")
    assert new_run().apply(one)[LAB].state == "opened"
    (record,) = Registry.load(registry).records
    assert [(found.filename, float(found.value_text)) for found in record.results] == [(FILE, 60)]


def test_one_whose_marker_was_taken_out_is_known_by_its_content(one, new_run, emulator, registry):
    new_run().apply(one)
    (pull,) = pulls_of(emulator, LAB)
    comment = next(event for event in pull.events if event.type == "comment")
    comment.data["latest"]["raw"] = "Added by hand."
    registry.unlink()
    assert new_run().apply(one)[LAB].state == "adopted"


def test_one_that_was_changed_is_not_adopted(one, new_run, emulator, registry, result):
    new_run().apply(one)
    emulator.commit(emulator.repo(LAB), {FILE: result(60.5)}, ref="refs/pr/1", author="porter")
    assert new_run().apply(one)[LAB].state == "there"  # the registry knows
    registry.unlink()
    done = new_run().apply(one)[LAB]
    assert (done.state, done.problems[0].found) == ("refused", "pull request 1 of ours is open, and was changed")


def test_a_second_one_from_another_machine_is_for_a_person(one, new_run, emulator):
    opened = new_run().apply(one)[LAB]
    (pull,) = pulls_of(emulator, LAB)
    body = next(event for event in pull.events if event.type == "comment").data["latest"]["raw"]
    emulator.open_pull_request(emulator.repo(LAB), {FILE: "x"}, author="porter", title=opened.record.title, body=body)
    done = new_run().apply(one)[LAB]
    found = "pull requests 1, 2 of lab-00/model are the same"
    assert (done.state, done.problems[0].found) == ("refused", found)


def test_one_that_was_closed_stays_closed(one, new_run, emulator, registry):
    new_run().apply(one)
    emulator.close_pull_request(emulator.repo(LAB), 1)
    done = new_run().apply(one)[LAB]
    assert (done.state, done.problems[0].found) == ("refused", "pull request 1 of lab-00/model, our own, was closed")
    registry.unlink()
    assert new_run().apply(one)[LAB].problems[0].code == "closed"
    assert len(pulls_of(emulator, LAB)) == 1


def test_one_that_was_merged_is_done(one, new_run, emulator, registry):
    new_run().apply(one)
    emulator.merge_pull_request(emulator.repo(LAB), 1)
    assert new_run().apply(one)[LAB].state == "there"
    assert registered(registry) == {LAB: ("merged", 1)}


class TestTakenOut:
    """It was merged, and its owner has taken it out of main since: the Hub knows that without any registry."""

    @pytest.fixture
    def merged(self, one, new_run, emulator, registry):
        assert new_run().apply(one)[LAB].state == "opened"
        emulator.merge_pull_request(emulator.repo(LAB), 1)
        registry.unlink()
        assert new_run().apply(one)[LAB].problems[0].code == "declared"
        emulator.commit(emulator.repo(LAB), deleted=[FILE])
        return one

    FOUND = "pr 1 of ours had 60.00 for bench-org/logic-1k, logic, and was merged: its owner has taken it out since"

    @pytest.mark.parametrize("gone", ["nothing", "ref", "ref and difference"])
    def test_ours(self, gone, merged, new_run, emulator):
        if gone != "nothing":
            emulator.delete_ref(emulator.repo(LAB), 1)
        if gone == "ref and difference":  # then its merge is what it left
            emulator.repo(LAB).discussions[0].head = None
        done = new_run().apply(merged)[LAB]
        assert (done.state, done.problems[0].code, done.problems[0].found) == ("refused", "taken-out", self.FOUND)
        assert done.problems[0].fix == "leave the result out"
        assert len(pulls_of(emulator, LAB)) == 1

    def test_somebody_elses_is_for_a_person(self, lab, new_run, emulator, tmp_path, result):
        lab(1)
        emulator.add_user("visitor")
        repo = emulator.repo(LAB)
        emulator.open_pull_request(repo, {FILE: result(59)}, author="visitor", title="Words")
        emulator.merge_pull_request(repo, 1)
        emulator.commit(repo, deleted=[FILE])
        (plan,) = new_run().plan(spec_of(tmp_path, {LAB: "60.00"}))
        found = "pr 1 had 59 for bench-org/logic-1k, logic, and was merged: its owner has taken it out since"
        assert [(one.code, one.found) for one in plan.problems] == [("taken-out", found)]
        answered = result_of("60.00", answers={"closed-pull-request": "the owner wants it with other digits"})
        assert new_run().plan(spec_of(tmp_path, {LAB: [answered]}))[0].state == "new"

    def test_what_its_owner_has_moved_is_declared(self, merged, new_run, emulator, result):
        emulator.commit(emulator.repo(LAB), {".eval_results/moved.yaml": result(60)})
        assert new_run().apply(merged)[LAB].problems[0].code == "declared"

    def test_others_that_were_merged_are_no_obstacle(self, lab, new_run, emulator, tmp_path, result):
        lab(1)
        repo = emulator.repo(LAB)
        for number, files in enumerate([{"README.md": "# Better"}, {".eval_results/h.yaml": result(9, "hard")}], 1):
            emulator.open_pull_request(repo, files, author="lab-00", title="T")
            emulator.merge_pull_request(repo, number)
        assert new_run().plan(spec_of(tmp_path, {LAB: "60.00"}))[0].state == "new"


def test_of_two_with_the_same_results_the_open_one_counts(one, new_run, emulator, registry):
    """Two machines opened one each, a person closed one, and the registry was rebuilt with both."""
    new_run().apply(one)
    (first,) = Registry.load(registry).records
    (pull,) = pulls_of(emulator, LAB)
    repo = emulator.repo(LAB)
    body = next(event for event in pull.events if event.type == "comment").data["latest"]["raw"]
    files = {FILE: repo.blobs[repo.commits[pull.head].files[FILE].oid].decode()}
    emulator.open_pull_request(repo, files, author="porter", title=pull.title, body=body)
    emulator.close_pull_request(repo, 1, author="porter")
    with Registry.locked(registry, "a test") as held:
        held.write([replace(first, state="closed"), replace(first, num=2)])
    done = new_run().apply(one)[LAB]
    assert (done.state, done.record.num) == ("there", 2)
    with Registry.locked(registry, "a test") as held:
        held.write([replace(first, num=2), replace(first, state="closed")])
    assert new_run().apply(one)[LAB].record.num == 2


def test_a_model_that_was_renamed_keeps_its_pull_request(one, new_run, emulator, registry):
    new_run().apply(one)
    emulator.rename(emulator.repo(LAB), "lab-00/other")
    assert new_run().apply(one)[LAB].state == "there"
    assert registered(registry) == {"lab-00/other": ("open", 1)}
    registry.unlink()
    assert new_run().apply(one)[LAB].state == "adopted"
    assert registered(registry) == {"lab-00/other": ("open", 1)}


def test_a_spec_with_the_new_name_of_a_model_finds_the_old_record(one, new_run, emulator, registry, tmp_path):
    new_run().apply(one)
    emulator.rename(emulator.repo(LAB), "lab-00/other")
    add_model(emulator, "lab-00/gone")
    renamed = spec_of(tmp_path, {"lab-00/other": "60.00"})
    with Registry.locked(registry, "a test") as held:
        held.put(replace(held.records[0], repo="lab-00/gone", num=7))  # another model's, with the same digits
        emulator.delete(emulator.repo("lab-00/gone"))
    assert new_run().apply(renamed)["lab-00/other"].state == "there"
    assert registered(registry) == {"lab-00/other": ("open", 1), "lab-00/gone": ("open", 7)}


def test_one_that_was_opened_again_is_open(one, new_run, emulator, registry):
    new_run().apply(one)
    with Registry.locked(registry, "a test") as held:  # as a sweep writes it
        held.put(replace(held.records[0], state="closed"))
    assert new_run().apply(one)[LAB].state == "there"
    assert registered(registry) == {LAB: ("open", 1)}


def test_a_pull_request_of_a_model_that_took_the_place_of_another_is_not_ours(one, new_run, emulator, registry, result):
    new_run().apply(one)
    emulator.delete(emulator.repo(LAB))
    emulator.add_user("visitor")
    made = add_model(emulator, LAB)
    emulator.open_pull_request(made, {FILE: result(12)}, author="visitor", title="Add")
    done = new_run().apply(one)[LAB]
    found = "pull request 1 of lab-00/model, our own, is by visitor now: is this another model?"
    assert (done.state, done.exit, done.problems[0].found) == ("refused", Exit.REFUSED, found)
    assert done.problems[0].fix.endswith(f"open_eval_prs.py --registry {registry} --rebuild")


def test_a_limit_of_commits_stops_the_batch_and_the_next_run_goes_on(new_run, lab, emulator, registry, tmp_path):
    spec = spec_of(tmp_path, lab(5))
    emulator.limits.actions["commit"] = Limit(2)
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


def test_two_runs_with_one_registry_do_not_work_at_once(one, new_run, registry):
    with Registry.locked(registry, "open_eval_prs.py with spec.json"), pytest.raises(Failure) as failure:
        new_run().apply(one)
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.REFUSED, "locked")


def test_a_run_with_another_registry_sees_what_came_between(one, new_run, emulator, tmp_path, monkeypatch):
    """Two machines: the other opens its own between this one's plan and its commit."""
    other = Run(new_run().hub, tmp_path / "other.json")
    plans = Planner.plans

    def plan_slowly(self, spec):
        made = plans(self, spec)
        monkeypatch.setattr(Planner, "plans", plans)
        other.apply(spec)
        return made

    monkeypatch.setattr(Planner, "plans", plan_slowly)
    done = new_run().apply(one)[LAB]
    assert (done.state, done.exit) == ("untried", Exit.REMOTE)
    assert done.problems[0].found == "lab-00/model has other pull requests than a moment ago"
    assert new_run().apply(one)[LAB].state == "adopted"
    assert len(pulls_of(emulator, LAB)) == 1


def test_a_benchmark_that_main_declares_meanwhile_is_not_opened(one, new_run, emulator, monkeypatch, result):
    plans = Planner.plans

    def plan_slowly(self, spec):
        made = plans(self, spec)
        emulator.commit(emulator.repo(LAB), {".eval_results/theirs.yaml": result(60)})
        return made

    with monkeypatch.context() as patch:
        patch.setattr(Planner, "plans", plan_slowly)
        done = new_run().apply(one)[LAB]
    assert (done.state, done.exit) == ("untried", Exit.REMOTE)
    assert done.problems[0].found == "lab-00/model has other files on main than a moment ago"
    assert new_run().apply(one)[LAB].problems[0].code == "declared"
    assert pulls_of(emulator, LAB) == []


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


def between(monkeypatch, do):
    """Have something happen between the last look and the commit."""
    intent = Opener._intent

    def after(self, draft):
        do()
        return intent(self, draft)

    monkeypatch.setattr(Opener, "_intent", after)


def test_the_same_file_on_main_meanwhile_leaves_nothing_to_open(one, new_run, emulator, registry, monkeypatch):
    text = new_run().plan(one)[0].draft.files[FILE]
    between(monkeypatch, lambda: emulator.commit(emulator.repo(LAB), {FILE: text}))
    done = new_run().apply(one)[LAB]
    assert (done.state, done.problems[0].code) == ("failed", "no-change")
    assert registered(registry) == {LAB: ("failed", None)}
    assert new_run().apply(one)[LAB].problems[0].code == "declared"


def test_a_file_of_the_owners_with_our_name_is_never_overwritten(one, new_run, emulator, monkeypatch, result):
    between(monkeypatch, lambda: emulator.commit(emulator.repo(LAB), {FILE: result(12, "hard")}))
    new_run().apply(one)
    repo = emulator.repo(LAB)
    (pull,) = pulls_of(emulator, LAB)
    assert conflicts(repo, pull) == [FILE]  # a person has to look, and main is as it was


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"discussions_disabled": True}, "HTTP 403, Discussions are disabled for this repo"),
        ({"private": True}, "HTTP 404, Repository not found"),
    ],
)
def test_what_the_hub_refuses_is_failed_and_tried_again_by_nobody(
    change, found, one, new_run, emulator, registry, monkeypatch
):
    between(monkeypatch, lambda: emulator.change(emulator.repo(LAB), **change))
    done = new_run().apply(one)[LAB]
    assert (done.state, done.exit) == ("failed", Exit.NO)
    assert done.problems[0].found == f"{LAB}: {found}"
    assert registered(registry) == {LAB: ("failed", None)}


def test_a_main_that_has_moved_on_is_looked_at_anew(one, new_run, emulator):
    fault(emulator, Fault("error", status=412))
    done = new_run().apply(one)[LAB]
    assert (done.state, done.exit, done.problems[0].code) == ("failed", Exit.REMOTE, "stale")
    assert new_run().apply(one)[LAB].state == "opened"
