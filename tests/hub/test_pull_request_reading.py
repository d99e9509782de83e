"""Pull requests as they are read: all of them, what they change, and what happened in them."""

from __future__ import annotations

import pytest
from huggingface_hub import HfApi

from benchwright.contract import Exit, Failure
from benchwright.hub.pull_requests import (
    ChangedFile,
    changed_files,
    files_below,
    heads,
    open_pull_requests,
    pull_requests,
    thread,
)
from benchwright.hub.refusals import Forbidden, NotFound
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults

NOVA = "nova-ai/nova-7b"
LOGIC = ".eval_results/logic.yaml"


@pytest.fixture(autouse=True)
def nova(emulator, result):
    files = {LOGIC: result(50), ".eval_results/other.yml": result(5, "hard"), "README.md": "x"}
    return emulator.add_model(NOVA, files)


@pytest.fixture
def pull(emulator, nova):
    return lambda files, **more: emulator.open_pull_request(nova, files, **{"author": "porter", "title": "Add"} | more)


def test_every_page_and_every_status_is_read(emulator, hub, nova, pull, asked):
    emulator.settings.discussions_page = 4
    for number in range(11):
        pull({f"f{number}": "x"}, title=f"Add {number}")
    HfApi(emulator.url, token=hub.token).create_discussion(NOVA, "A question", description="?")
    HfApi(emulator.url, token=hub.token).create_pull_request(NOVA, "A draft", description="…")
    emulator.close_pull_request(nova, 2)
    emulator.merge_pull_request(nova, 3)
    emulator.seen.clear()
    told = pull_requests(hub, NOVA)
    assert [one.num for one in told] == [13, *range(11, 0, -1)]
    assert {one.num: one.status for one in told if one.status != "open"} == {13: "draft", 3: "merged", 2: "closed"}
    assert len(asked()) == 3
    assert [one.num for one in open_pull_requests(hub, NOVA)] == [13, 11, 10, 9, 8, 7, 6, 5, 4, 1]
    first = told[-1]
    assert (first.title, first.author, first.ref, first.comments, first.live) == (
        "Add 0",
        "porter",
        "refs/pr/1",
        1,
        True,
    )


def test_disabled_discussions_are_not_none(emulator, hub, nova):
    emulator.change(nova, discussions_disabled=True)
    with pytest.raises(Forbidden) as refused:
        pull_requests(hub, NOVA)
    assert refused.value.no_discussions


def test_a_list_that_is_not_told_is_not_empty(emulator, hub):
    emulator.fault = RuledFaults([FaultRule(Fault("short"), path="*/discussions", times=9)])
    with pytest.raises(Failure) as failure:
        pull_requests(hub, NOVA)
    assert failure.value.exit is Exit.REMOTE


def test_changed_files_are_told_by_content(emulator, hub, nova, pull, result):
    pull({LOGIC: result(55), ".eval_results/new.yaml": result(1, "hard"), "config.json": "{}"})
    emulator.commit(nova, deleted=[".eval_results/other.yml"], ref="refs/pr/1")
    edited, added, deleted = changed_files(hub, NOVA, 1)
    assert (added.path, added.change) == (".eval_results/new.yaml", "added")
    assert (edited.path, edited.change) == (LOGIC, "edited")
    assert deleted == ChangedFile(".eval_results/other.yml", "deleted", None)
    assert hub.text(NOVA, edited.path, "refs/pr/1") == result(55)


def test_a_folder_or_a_ref_that_is_not_there(emulator, hub, nova, pull):
    assert files_below(hub, NOVA, folder="none") == {}
    pull({"f": "x"})
    assert changed_files(hub, NOVA, 1) == ()
    emulator.close_pull_request(nova, 1)
    emulator.delete_ref(nova, 1)
    with pytest.raises(NotFound) as missing:
        changed_files(hub, NOVA, 1, cached=False)
    assert missing.value.kind == "revision"


def test_listings_are_read_to_their_end(emulator, hub, nova, result):
    emulator.settings.tree_page = 3
    emulator.commit(nova, {f".eval_results/{number}.yaml": result(number) for number in range(10)})
    assert len(files_below(hub, NOVA)) == 12


def test_a_thread_has_what_was_said_and_done(emulator, hub, nova, pull, result):
    emulator.add_organisation("nova-ai", {"keeper": "admin"})
    pull({LOGIC: result(55)}, body="The body.")
    emulator.comment(nova, 1, "Please stop.", author="keeper")
    emulator.commit(nova, {LOGIC: result(56)}, ref="refs/pr/1", author="porter", title="Correct")
    emulator.close_pull_request(nova, 1, author="keeper")
    told = thread(hub, NOVA, 1)
    assert (told.pull_request.num, told.pull_request.status, told.body.text) == (1, "closed", "The body.")
    assert [(one.author, one.text) for one in told.comments[1:]] == [("keeper", "Please stop.")]
    assert [one.text for one in told.commits] == ["Add", "Correct"]
    assert told.commits[-1].oid == nova.discussions[0].head
    assert (told.status_change.author, told.status_change.text) == ("keeper", "closed")
    assert (told.merge_commit, told.diff) == (None, None)
    assert "+  value: 56" in thread(hub, NOVA, 1, diff=True).diff


@pytest.mark.filterwarnings("ignore:Hidden comments")
def test_hidden_comments_and_users_who_are_gone(emulator, hub, nova, pull):
    emulator.add_user("visitor")
    pull({"f": "x"}, author="visitor")
    event = emulator.comment(nova, 1, "secret", author="porter")
    HfApi(emulator.url, token=hub.token).hide_discussion_comment(NOVA, 1, event)
    del emulator.state.accounts.people["visitor"]
    told = thread(hub, NOVA, 1)
    assert len(told.comments) == 1
    assert (told.body.author, told.pull_request.author) == (None, None)


def test_a_discussion_is_no_pull_request(emulator, hub):
    HfApi(emulator.url, token=hub.token).create_discussion(NOVA, "A question", description="?")
    for number in (1, 9):
        with pytest.raises(NotFound):
            thread(hub, NOVA, number)
    assert open_pull_requests(hub, NOVA) == ()


def test_a_merged_pull_request_names_its_commit(emulator, hub, nova, pull):
    pull({"f": "x"})
    oid = emulator.merge_pull_request(nova, 1)
    assert thread(hub, NOVA, 1).merge_commit == oid


def test_a_listing_of_refs_without_those_of_pull_requests_is_none(emulator, hub, pull, monkeypatch):
    pull({"a": "x"})
    told = hub.json(f"/api/models/{NOVA}/refs", include_prs="1")
    assert set(heads(hub, NOVA)) == {"refs/heads/main", "refs/pr/1"}
    monkeypatch.setattr(hub, "json", lambda *words, **query: {"branches": told["branches"]})
    with pytest.raises(Failure) as unknown:
        heads(hub, NOVA)
    assert (unknown.value.exit, unknown.value.problems[0].found) == (
        Exit.REMOTE,
        "an answer that is no listing of refs",
    )
