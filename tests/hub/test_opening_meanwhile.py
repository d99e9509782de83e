"""What happens on the Hub, or to the registry, while pull requests are opened."""

from __future__ import annotations

import pytest
from opening_runs import (
    LAB,
    RESULTS,
    Run,
    fault_at_commits,
    pulls_of,
    registered,
)

from benchwright.contract import Exit, Failure
from benchwright.hub.opening.apply import Opener
from benchwright.hub.opening.plan import Planner
from benchwright.hub.registry import Registry
from benchwright.rehearsal.hub.conversation import conflicts
from benchwright.rehearsal.hub.faults import Fault


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


def between(monkeypatch, do):
    """Have something happen between the last look and the commit."""
    intent = Opener._intent

    def after(self, draft):
        do()
        return intent(self, draft)

    monkeypatch.setattr(Opener, "_intent", after)


def test_the_same_file_on_main_meanwhile_leaves_nothing_to_open(one, new_run, emulator, registry, monkeypatch):
    text = new_run().plan(one)[0].draft.files[RESULTS]
    between(monkeypatch, lambda: emulator.commit(emulator.repo(LAB), {RESULTS: text}))
    done = new_run().apply(one)[LAB]
    assert (done.state, done.problems[0].code) == ("failed", "no-change")
    assert registered(registry) == {LAB: ("failed", None)}
    assert new_run().apply(one)[LAB].problems[0].code == "declared"


def test_a_file_of_the_owners_with_our_name_is_never_overwritten(one, new_run, emulator, monkeypatch, result):
    between(monkeypatch, lambda: emulator.commit(emulator.repo(LAB), {RESULTS: result(12, "hard")}))
    new_run().apply(one)
    repo = emulator.repo(LAB)
    (pull,) = pulls_of(emulator, LAB)
    assert conflicts(repo, pull) == [RESULTS]  # a person has to look, and main is as it was


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
    fault_at_commits(emulator, Fault("error", status=412))
    done = new_run().apply(one)[LAB]
    assert (done.state, done.exit, done.problems[0].code) == ("failed", Exit.REMOTE, "stale")
    assert new_run().apply(one)[LAB].state == "opened"
