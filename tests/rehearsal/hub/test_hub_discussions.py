"""Discussions and pull requests, as the real client has them."""

from __future__ import annotations

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete
from huggingface_hub.errors import BadRequestError, HfHubHTTPError, RevisionNotFoundError


def add(path, content):
    return CommitOperationAdd(path, content.encode())


def amend(api, num, *operations, **more):
    return api.create_commit("nova-ai/m", operations, commit_message="Amend", revision=f"refs/pr/{num}", **more)


@pytest.fixture
def model(hub, owner):
    return hub.add_model("nova-ai/m", {"README.md": "# M\n", "a.yaml": "x: 1\n"})


@pytest.fixture
def opened(api, model):
    """A pull request of the porter's that adds a file."""
    operations = [add("b.yaml", "y: 2\n")]
    return api.create_commit(
        "nova-ai/m", operations, commit_message="Add b", commit_description="From the *card*.", create_pr=True
    )


def test_a_pull_request_begins_with_its_body_and_a_commit(hub, api, model, opened):
    assert (opened.pr_url, opened.pr_num) == (f"{hub.url}/nova-ai/m/discussions/1", 1)
    told = api.get_discussion_details("nova-ai/m", 1)
    assert (told.title, told.status, told.author, told.is_pull_request) == ("Add b", "open", "porter", True)
    assert (told.target_branch, told.merge_commit_oid, told.conflicting_files) == ("refs/heads/main", None, [])
    comment, commit = told.events
    assert (comment.type, comment.content, comment.author) == ("comment", "From the *card*.", "porter")
    assert (commit.type, commit.summary, commit.oid) == ("commit", "Add b", opened.oid)
    assert told.diff == (
        "diff --git a/b.yaml b/b.yaml\nnew file mode 100644\n"
        f"index {'0' * 40}..{model.commits[opened.oid].files['b.yaml'].oid}\n"
        "--- /dev/null\n+++ b/b.yaml\n@@ -0,0 +1 @@\n+y: 2\n"
    )
    assert "b.yaml" not in model.main.files


def test_a_pull_request_is_amended_with_a_check_of_its_head(api, model, opened):
    second = amend(api, 1, add("b.yaml", "y: 3\n"), parent_commit=opened.oid)
    with pytest.raises(HfHubHTTPError, match="A commit has happened since"):
        amend(api, 1, add("b.yaml", "y: 4\n"), parent_commit=opened.oid)
    amend(api, 1, CommitOperationDelete("b.yaml"), add("c.yaml", "z: 1\n"), parent_commit=second.oid)
    told = api.get_discussion_details("nova-ai/m", 1)
    assert [event.type for event in told.events] == ["comment", "commit", "commit", "commit"]
    assert "b.yaml" not in told.diff
    assert "+++ b/c.yaml" in told.diff
    assert [one.path for one in api.list_repo_tree("nova-ai/m", revision="refs/pr/1")] == [
        ".gitattributes", "README.md", "a.yaml", "c.yaml",
    ]  # fmt: skip


def test_who_may_amend(hub, client, owner, opened):
    with pytest.raises(HfHubHTTPError, match=r"Authorization error\."):
        amend(client(hub.token("other")), 1, add("b.yaml", "y: 9\n"))
    amend(owner, 1, add("b.yaml", "y: 5\n"))
    owner.change_discussion_status("nova-ai/m", 1, "closed")
    with pytest.raises(HfHubHTTPError, match="This pull request is closed"):
        amend(owner, 1, add("b.yaml", "y: 6\n"))


def test_a_pull_request_can_begin_at_an_older_commit(hub, api, model):
    older = model.main.oid
    hub.commit(model, {"a.yaml": "x: 2\n"})
    api.create_commit(
        "nova-ai/m", [add("b.yaml", "y: 2\n")], commit_message="Add b", create_pr=True, parent_commit=older
    )
    told = api.get_discussion_details("nova-ai/m", 1)
    assert "a.yaml" not in told.diff
    assert (told.conflicting_files, model.discussions[0].head in model.commits) == ([], True)


def test_a_merge_brings_its_files_to_main(api, owner, hub, model, opened):
    hub.commit(model, {"other.txt": "1"})
    with pytest.raises(HfHubHTTPError, match=r"Authorization error\."):
        api.merge_pull_request("nova-ai/m", 1)
    owner.merge_pull_request("nova-ai/m", 1, comment="Thanks")
    told = api.get_discussion_details("nova-ai/m", 1)
    assert (told.status, told.merge_commit_oid) == ("merged", model.main.oid)
    assert [event.type for event in told.events] == ["comment", "commit", "comment", "status-change"]
    assert set(model.main.files) == {".gitattributes", "README.md", "a.yaml", "b.yaml", "other.txt"}
    assert "+++ b/b.yaml" in told.diff
    assert "other.txt" not in told.diff
    with pytest.raises(BadRequestError, match="This discussion is merged"):
        owner.merge_pull_request("nova-ai/m", 1)
    with pytest.raises(BadRequestError, match="This discussion is merged"):
        owner.change_discussion_status("nova-ai/m", 1, "open")


def test_conflicts_are_named_and_not_merged(api, owner, hub, model):
    hub.open_pull_request(model, {"a.yaml": "x: 2\n"}, author="porter", title="Change a")
    hub.commit(model, {"a.yaml": "x: 3\n"})
    assert api.get_discussion_details("nova-ai/m", 1).conflicting_files == ["a.yaml"]
    with pytest.raises(HfHubHTTPError, match="This pull request has conflicts"):
        owner.merge_pull_request("nova-ai/m", 1)
    assert "a.yaml" in api.get_discussion_details("nova-ai/m", 1).diff


def test_comments_are_written_edited_and_hidden(hub, api, client, owner, opened):
    written = api.comment_discussion("nova-ai/m", 1, "A *note*.")
    assert (written.content, written.author, written.edited) == ("A *note*.", "porter", False)
    body = api.get_discussion_details("nova-ai/m", 1).events[0]
    edited = api.edit_discussion_comment("nova-ai/m", 1, body.id, "A new body.")
    assert (edited.content, edited.edited, edited.number_of_edits) == ("A new body.", True, 1)
    assert edited.edit_history[0]["raw"] == "From the *card*."
    other = client(hub.token("other"))
    with pytest.raises(HfHubHTTPError, match=r"Authorization error\."):
        other.edit_discussion_comment("nova-ai/m", 1, body.id, "Mine.")
    assert owner.hide_discussion_comment("nova-ai/m", 1, written.id).hidden
    with pytest.raises(HfHubHTTPError, match="Comment not found"):
        api.edit_discussion_comment("nova-ai/m", 1, written.id, "Again.")
    with pytest.raises(BadRequestError, match="Invalid length: expected 1 to 65536 characters → at comment"):
        api.comment_discussion("nova-ai/m", 1, "x" * 65_537)


def test_who_may_close_and_open(hub, api, client, owner, opened):
    with pytest.raises(HfHubHTTPError, match=r"Authorization error\."):
        client(hub.token("other")).change_discussion_status("nova-ai/m", 1, "closed")
    closed = api.change_discussion_status("nova-ai/m", 1, "closed", comment="Not visible any more.")
    assert closed.new_status == "closed"
    with pytest.raises(BadRequestError, match="This discussion is closed"):
        api.change_discussion_status("nova-ai/m", 1, "closed")
    assert owner.change_discussion_status("nova-ai/m", 1, "open").author == "keeper"
    events = api.get_discussion_details("nova-ai/m", 1).events
    assert [event.type for event in events[2:]] == ["comment", "status-change", "status-change"]
    with pytest.raises(HfHubHTTPError, match="401"):
        client().comment_discussion("nova-ai/m", 1, "Hello")


def test_titles_change(api, opened):
    told = api.rename_discussion("nova-ai/m", 1, "Add b again")
    assert (told.old_title, told.new_title) == ("Add b", "Add b again")
    assert api.get_discussion_details("nova-ai/m", 1).title == "Add b again"
    with pytest.raises(BadRequestError, match="expected 3 to 200 characters → at title"):
        api.rename_discussion("nova-ai/m", 1, "xy")


def test_a_pull_request_without_a_commit_is_a_draft(api, owner, model):
    told = api.create_pull_request("nova-ai/m", title="From scratch", description="Later.")
    assert (told.status, told.diff) == ("draft", "")
    assert list(api.get_repo_discussions("nova-ai/m", discussion_status="open")) == []
    amend(api, 1, add("b.yaml", "y: 2\n"))
    assert "+++ b/b.yaml" in api.get_discussion_details("nova-ai/m", 1).diff
    api.change_discussion_status("nova-ai/m", 1, "open")
    assert [one.num for one in api.get_repo_discussions("nova-ai/m", discussion_status="open")] == [1]


def test_lists_have_pages_and_filters(hub, api, model):
    hub.settings.discussions_page = 3
    for number in range(1, 8):
        hub.open_pull_request(model, {f"{number}.txt": "1"}, author="ab"[number % 2], title=f"Add {number}")
    hub.close_pull_request(model, 2)
    hub.merge_pull_request(model, 5)
    api.create_discussion("nova-ai/m", title="A question", description="Why?")

    def numbers(**words):
        return [one.num for one in api.get_repo_discussions("nova-ai/m", **words)]

    assert numbers() == [8, 7, 6, 5, 4, 3, 2, 1]
    assert numbers(discussion_type="pull_request") == [7, 6, 5, 4, 3, 2, 1]
    assert numbers(discussion_type="discussion") == [8]
    assert numbers(discussion_type="pull_request", discussion_status="open") == [7, 6, 4, 3, 1]
    assert numbers(discussion_status="closed") == [5, 2]
    assert numbers(author="a", discussion_status="open") == [6, 4]
    assert hub.seen[-1].request.one("p") == "0"


@pytest.mark.parametrize("drafts", [True, False])
def test_whether_drafts_are_open_is_a_setting(hub, api, model, drafts):
    hub.settings.open_has_drafts = drafts
    api.create_pull_request("nova-ai/m", title="From scratch")
    assert len(list(api.get_repo_discussions("nova-ai/m", discussion_status="open"))) == drafts


def test_a_ref_that_is_deleted_leaves_the_discussion(ask, hub, api, client, opened):
    token = hub.token("porter")
    assert ask("/api/models/nova-ai/m/discussions/1/ref", "DELETE", token).status_code == 400
    api.change_discussion_status("nova-ai/m", 1, "closed")
    assert ask("/api/models/nova-ai/m/discussions/1/ref", "DELETE", token).status_code == 200
    with pytest.raises(RevisionNotFoundError):
        api.list_repo_files("nova-ai/m", revision="refs/pr/1")
    with pytest.raises(RevisionNotFoundError):
        amend(api, 1, add("b.yaml", "y: 9\n"))
    told = api.get_discussion_details("nova-ai/m", 1)
    assert (told.status, "+++ b/b.yaml" in told.diff) == ("closed", True)


def test_where_discussions_are_disabled_nothing_can_be_opened(hub, api, client, model):
    hub.change(model, discussions_disabled=True)
    for call in (
        lambda: list(api.get_repo_discussions("nova-ai/m")),
        lambda: api.create_discussion("nova-ai/m", title="A question"),
        lambda: api.create_commit("nova-ai/m", [add("b", "1")], commit_message="x", create_pr=True),
        lambda: list(client().get_repo_discussions("nova-ai/m")),
    ):
        with pytest.raises(HfHubHTTPError, match="Discussions are disabled for this repo") as told:
            call()
        assert told.value.response.status_code == 403
    assert model.discussions == []


def test_who_is_gone_is_no_author(hub, api, model, opened):
    del hub.state.accounts.people["porter"]
    told = api.get_discussion_details("nova-ai/m", 1)
    assert (told.author, told.events[0].author, told.events[0].last_edited_by) == ("deleted",) * 3


def test_what_is_not_there(api, model):
    with pytest.raises(HfHubHTTPError, match="Discussion not found"):
        api.get_discussion_details("nova-ai/m", 7)
