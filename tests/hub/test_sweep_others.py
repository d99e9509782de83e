"""Sweeps of pull requests that others have merged, closed, changed or commented on."""

from __future__ import annotations

import pytest
from ported_pulls import FIFTY, OWNER, PORTER, only

from benchwright.hub.registry import Registry


def test_a_merged_result_is_nobodys_to_remove(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.merge_pull_request(nova, num, author=OWNER)
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["results"][0]["class"], written()) == ("merged", "invisible", [])
    assert Registry.load(ported.path).records[0].state == "merged"


def test_one_that_its_owner_closed_stays_closed(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.close_pull_request(nova, num, author=OWNER)
    emulator.delete_ref(nova, num)
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["why"], written()) == ("closed_by_owner", f"closed by {OWNER}", [])
    (record,) = Registry.load(ported.path).records
    assert (record.state, record.history[-1].what) == ("closed", "closed_by_owner")


def test_what_others_changed_is_theirs(sweeper, ported, nova, peers, written, emulator):
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.commit(nova, {"README.md": "more"}, ref=f"refs/pr/{num}", author=OWNER, title="Say more")
    told = only(sweeper.answer("--apply"))
    assert (told["class"], written()) == ("changed_by_owner", [])
    assert told["why"] == f"{OWNER} committed 'Say more'"


@pytest.mark.parametrize("what", ["reopened", "renamed", "body"])
def test_whatever_others_do_counts(sweeper, ported, nova, peers, written, emulator, monkeypatch, what):
    from huggingface_hub import HfApi

    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    owner = HfApi(emulator.url, emulator.token(OWNER))
    if what == "reopened":
        assert only(sweeper.answer("--apply"))["class"] == "closed"
        owner.change_discussion_status(nova.id, num, "open")
    elif what == "renamed":
        owner.rename_discussion(nova.id, num, "Hold on")
    else:
        owner.edit_discussion_comment(nova.id, num, ported.pull(nova, num).events[0].id, "Hold on")
    written()
    told = only(sweeper.answer("--apply"))
    assert (told["class"], written(), ported.pull(nova, num).status) == ("changed_by_owner", [], "open")
    words = {"reopened": "made it open", "renamed": "changed the title", "body": "edited the body"}
    assert told["why"] == f"{OWNER} {words[what]}"


def test_what_we_opened_again_by_hand_is_not_closed_again(sweeper, ported, nova, peers, written, emulator):
    """No script opens one again, so a person has; and the comment that closed it says that none will touch it."""
    from huggingface_hub import HfApi

    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    assert only(sweeper.answer("--apply"))["class"] == "closed"
    HfApi(emulator.url, emulator.token(PORTER)).change_discussion_status(nova.id, num, "open")
    written()
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["why"], written()) == ("changed_by_owner", f"{PORTER} made it open", [])


def test_a_comment_ends_automatic_edits_and_is_shown(sweeper, ported, nova, peers, written, emulator, tmp_path):
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.comment(nova, num, "Please stop\nopening these.", author=OWNER)
    told = only(sweeper.answer("--apply", "--handoff", tmp_path / "sheet.md"))
    assert (told["class"], written()) == ("commented", [])
    assert told["why"] == f"{OWNER}: Please stop opening these."
    assert [(one["author"], one["text"]) for one in told["comments"]] == [(OWNER, "Please stop\nopening these.")]
    assert f"- what others wrote is answered: {told['url']}" in (tmp_path / "sheet.md").read_text()


def test_a_sweep_goes_on_once_a_comment_is_answered(sweeper, ported, nova, peers, written, emulator):
    """What others wrote counts from the last comment of the pull request's author on."""
    peers(FIFTY, size=70)
    num = ported.open(nova, {"logic": "62.5"})
    emulator.comment(nova, num, "Which harness?", author=OWNER)
    emulator.comment(nova, num, "Harness X 0.4.", author=PORTER)
    emulator.comment(nova, num, "And how many trials?", author=OWNER)
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["why"], len(told["comments"])) == ("commented", f"{OWNER}: And how many trials?", 1)
    assert written() == []
    emulator.comment(nova, num, "Five.", author=PORTER)
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["comments"], len(told["taken"])) == ("visible", [], 1)


def test_what_happens_between_the_two_looks_counts(sweeper, ported, nova, peers, written, emulator):
    """A comment that comes after the first look, when all boards are read, stops what was planned by it."""
    peers(FIFTY, size=1)
    num = ported.open(nova, {"logic": "62.5"})
    looks = []

    def comes(request):
        if request.path.endswith(f"/discussions/{num}"):
            looks.append(request)
            if len(looks) == 2:
                emulator.comment(nova, num, "Stop.", author=OWNER)

    emulator.fault = comes
    told = only(sweeper.answer("--apply"))
    assert (told["class"], told["taken"], written()) == ("commented", [], [])
