"""Models that have a pull request of ours already: it is found, and there is no second one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from opening_runs import (
    LAB,
    RESULTS,
    add_model,
    fault_at_commits,
    pulls_of,
    registered,
    result_of,
    spec_of,
)

from benchwright.contract import Exit
from benchwright.hub.registry import Registry
from benchwright.rehearsal.hub.faults import Fault


def test_a_pull_request_behind_a_gate_is_found_by_its_marker(one, new_run, emulator, registry):
    emulator.change(emulator.repo(LAB), gated="manual")
    fault_at_commits(emulator, Fault("cut", takes_effect=True), method="POST")
    assert new_run().apply(one)[LAB].state == "opened"
    (record,) = Registry.load(registry).records
    assert [(found.filename, float(found.value_text)) for found in record.results] == [(RESULTS, 60)]


def test_one_whose_marker_was_taken_out_is_known_by_its_content(one, new_run, emulator, registry):
    new_run().apply(one)
    (pull,) = pulls_of(emulator, LAB)
    comment = next(event for event in pull.events if event.type == "comment")
    comment.data["latest"]["raw"] = "Added by hand."
    registry.unlink()
    assert new_run().apply(one)[LAB].state == "adopted"


def test_one_that_was_changed_is_not_adopted(one, new_run, emulator, registry, result):
    new_run().apply(one)
    emulator.commit(emulator.repo(LAB), {RESULTS: result(60.5)}, ref="refs/pr/1", author="porter")
    assert new_run().apply(one)[LAB].state == "there"  # the registry knows
    registry.unlink()
    done = new_run().apply(one)[LAB]
    assert (done.state, done.problems[0].found) == ("refused", "pull request 1 of ours is open, and was changed")


def test_a_second_one_from_another_machine_is_for_a_person(one, new_run, emulator):
    opened = new_run().apply(one)[LAB]
    (pull,) = pulls_of(emulator, LAB)
    body = next(event for event in pull.events if event.type == "comment").data["latest"]["raw"]
    emulator.open_pull_request(
        emulator.repo(LAB), {RESULTS: "x"}, author="porter", title=opened.record.title, body=body
    )
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
        emulator.commit(emulator.repo(LAB), deleted=[RESULTS])
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
        emulator.open_pull_request(repo, {RESULTS: result(59)}, author="visitor", title="Words")
        emulator.merge_pull_request(repo, 1)
        emulator.commit(repo, deleted=[RESULTS])
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
    files = {RESULTS: repo.blobs[repo.commits[pull.head].files[RESULTS].oid].decode()}
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
    emulator.open_pull_request(made, {RESULTS: result(12)}, author="visitor", title="Add")
    done = new_run().apply(one)[LAB]
    found = "pull request 1 of lab-00/model, our own, is by visitor now: is this another model?"
    assert (done.state, done.exit, done.problems[0].found) == ("refused", Exit.REFUSED, found)
    assert done.problems[0].fix.endswith(f"open_eval_prs.py --registry {registry} --rebuild")
