"""Who may what: tokens, private, gated and renamed repos; what the Hub says of repos and accounts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
)

from benchwright.rehearsal.hub import Rights

DISCUSSES = Rights("fineGrained", everywhere=("discussion.write",), gated=False)


def pull(api, repo="nova-ai/m", path="a.yaml", content=b"x: 1\n", **more):
    operations = [CommitOperationAdd(path, content)]
    return api.create_commit(repo, operations, commit_message="Add a", create_pr=True, **more)


@pytest.mark.parametrize("role", ["read", "write"])
def test_whoami_tells_user_organisations_and_rights(hub, client, owner, role):
    told = client(hub.token("keeper", role)).whoami()
    assert (told["name"], told["type"], told["auth"]["accessToken"]["role"]) == ("keeper", "user", role)
    assert [(one["name"], one["roleInOrg"]) for one in told["orgs"]] == [("nova-ai", "admin")]


def test_whoami_tells_the_scopes_of_a_fine_grained_token(hub, client):
    hub.add_model("nova-ai/m")
    rights = Rights(
        "fineGrained", ("discussion.write",), {"nova-ai": ("repo.write",), "nova-ai/m": ("repo.content.read",)}
    )
    told = client(hub.token("porter", rights)).whoami()["auth"]["accessToken"]["fineGrained"]
    assert told["global"] == ["discussion.write"]
    assert [(one["entity"]["type"], one["entity"]["name"], one["permissions"]) for one in told["scoped"]] == [
        ("org", "nova-ai", ["repo.write"]),
        ("model", "nova-ai/m", ["repo.content.read"]),
    ]


def test_a_wrong_token_is_refused_everywhere(hub, client):
    hub.add_model("nova-ai/m")
    wrong = client("rehearsal-wrong")
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        wrong.whoami()
    with pytest.raises(HfHubHTTPError, match="Invalid credentials in Authorization header") as told:
        wrong.model_info("nova-ai/m")
    assert not isinstance(told.value, RepositoryNotFoundError)


@pytest.mark.parametrize(
    ("rights", "allowed"),
    [
        ("read", False),
        ("write", True),
        (DISCUSSES, True),
        (Rights("fineGrained", at={"nova-ai/m": ("discussion.write",)}), True),
        (Rights("fineGrained", at={"nova-ai": ("discussion.write",)}), True),
        (Rights("fineGrained", at={"other-lab": ("discussion.write",)}), False),
        (Rights("fineGrained", everywhere=("repo.content.read",)), False),
    ],
)
def test_which_tokens_open_pull_requests(hub, client, rights, allowed):
    repo = hub.add_model("nova-ai/m")
    api = client(hub.token("porter", rights))
    if allowed:
        assert pull(api).pr_num == 1
        return
    with pytest.raises(HfHubHTTPError, match=r"Authorization error\.") as told:
        pull(api)
    assert told.value.response.status_code == 403
    assert repo.discussions == []


def test_who_may_commit_to_main(hub, api, client, owner):
    hub.add_model("nova-ai/m")
    operations = [CommitOperationAdd("a.yaml", b"x: 1\n")]
    for denied in (api, client(hub.token("keeper", DISCUSSES))):
        with pytest.raises(HfHubHTTPError, match="pass `create_pr=1` as a query parameter to create a Pull Request"):
            denied.create_commit("nova-ai/m", operations, commit_message="x")
    with pytest.raises(RepositoryNotFoundError) as told:
        client().create_commit("nova-ai/none", operations, commit_message="x")
    assert told.value.response.status_code == 401
    writes = Rights("fineGrained", at={"nova-ai": ("repo.write",)})
    client(hub.token("keeper", writes)).create_commit("nova-ai/m", operations, commit_message="x")
    assert "a.yaml" in hub.repo("nova-ai/m").main.files


def test_checks_of_rights_write_nothing(hub, api, owner):
    hub.add_model("nova-ai/m")
    owner.auth_check("nova-ai/m", write=True)
    api.auth_check("nova-ai/m")
    with pytest.raises(HfHubHTTPError, match=r"Authorization error\."):
        api.auth_check("nova-ai/m", write=True)


@pytest.mark.parametrize("private", [True, False])
def test_missing_and_private_repos_look_alike(hub, client, api, owner, private):
    if private:
        hub.add_model("nova-ai/m", private=True)
    for who, status in ((client(), 401), (api, 404)):
        for call in (who.model_info, who.get_discussion_details):
            with pytest.raises(RepositoryNotFoundError) as told:
                call("nova-ai/m", *([1] if call == who.get_discussion_details else []))
            assert told.value.response.status_code == status
    if private:
        assert owner.model_info("nova-ai/m").private


def test_a_gate_keeps_files_alone(hub, client, api, owner, tmp_path):
    hub.add_model("nova-ai/m", {"README.md": "x"}, gated="manual", parameters={"BF16": 7})
    for who in (client(), api):
        assert who.model_info("nova-ai/m").gated == "manual"
        assert [one.path for one in who.list_repo_tree("nova-ai/m")] == [".gitattributes", "README.md"]
        with pytest.raises(GatedRepoError):
            who.hf_hub_download("nova-ai/m", "README.md", cache_dir=tmp_path / "none")
    with pytest.raises(GatedRepoError):
        api.auth_check("nova-ai/m")
    assert pull(api).pr_num == 1
    hub.change(hub.repo("nova-ai/m"), granted=["porter"])
    assert api.hf_hub_download("nova-ai/m", "README.md", cache_dir=tmp_path / "porter")
    assert owner.hf_hub_download("nova-ai/m", "README.md", cache_dir=tmp_path / "owner")
    with pytest.raises(GatedRepoError):  # let in, but not with this token
        client(hub.token("porter", DISCUSSES)).hf_hub_download("nova-ai/m", "README.md", cache_dir=tmp_path / "none")


def test_a_disabled_repo_says_so(hub, api):
    hub.add_model("nova-ai/m", disabled=True)
    with pytest.raises(DisabledRepoError):
        api.model_info("nova-ai/m")


def test_a_renamed_repo_is_found_under_its_old_name(hub, api, tmp_path):
    repo = hub.add_model("nova-ai/beta", {"a.txt": "1"})
    hub.rename(repo, "nova-ai/final")
    assert api.model_info("nova-ai/beta").id == "nova-ai/final"
    assert api.hf_hub_download("nova-ai/beta", "a.txt", cache_dir=tmp_path / "cache")
    assert [one.path for one in api.list_repo_tree("nova-ai/beta")] == [".gitattributes", "a.txt"]
    assert pull(api, "nova-ai/beta").pr_url == f"{hub.url}/nova-ai/final/discussions/1"
    assert [one.repo_id for one in api.get_repo_discussions("nova-ai/beta")] == ["nova-ai/final"]
    hub.delete(repo)
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("nova-ai/beta")


def test_a_private_repo_does_not_betray_its_new_name(ask, hub):
    hub.rename(hub.add_model("nova-ai/beta", private=True), "nova-ai/secret")
    answer = ask("/api/models/nova-ai/beta")
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (401, "RepoNotFound")


def test_an_account_is_a_person_or_an_organisation(hub, api):
    hub.add_organisation("nova-ai", {"keeper": "admin", "other": "read"}, fullname="Nova")
    told = api.get_organization_overview("nova-ai")
    assert (told.name, told.fullname, told.num_users) == ("nova-ai", "Nova", 2)
    assert (api.get_user_overview("keeper").username, api.get_user_overview("keeper").user_type) == ("keeper", "user")
    for call, name in (
        (api.get_organization_overview, "keeper"),
        (api.get_user_overview, "nova-ai"),
        (api.get_user_overview, "nobody"),
        (api.get_organization_overview, "nobody"),
    ):
        with pytest.raises(HfHubHTTPError) as told:
            call(name)
        assert told.value.response.status_code == 404


def test_lists_of_models_come_in_pages(hub, client, api, owner):
    hub.settings.list_page = 2
    for number in range(5):
        with hub.at(datetime(2026, 5, 1 + number, tzinfo=UTC)):
            hub.add_model(f"nova-ai/m-{number}", private=number == 3)
    hub.add_model("other-lab/m")
    assert [one.id for one in api.list_models(author="nova-ai", expand=["sha"])] == [
        f"nova-ai/m-{n}" for n in (4, 2, 1, 0)
    ]
    assert len(list(owner.list_models(author="nova-ai"))) == 5
    assert [one.id for one in client().list_models(search="LAB/")] == ["other-lab/m"]
    assert all("cursor=" in one.request.target for one in hub.seen[1:2])


def test_lists_of_benchmarks(hub, api, logic):
    hub.settings.list_page = 1
    hub.add_dataset("bench-org/almost", {"eval.yaml": "tasks: [{id: a}]\n"})
    hub.add_dataset("bench-org/plain")
    hub.add_dataset("other-lab/official", {"eval.yaml": "tasks: [{id: a}]\n"}, official=True)
    official = {"other-lab/official", "bench-org/logic-1k"}
    assert {one.id for one in api.list_datasets(filter="benchmark:official")} == official
    assert {one.id for one in api.list_datasets(filter=["benchmark:eval-yaml"], limit=200)} == {
        *official,
        "bench-org/almost",
    }
    assert {one.id for one in api.list_datasets(benchmark=True, author="other-lab")} == {"other-lab/official"}


def test_what_is_said_of_a_model(hub, api, owner):
    readme = "---\nlicense: mit\nbase_model: nova-ai/base\n---\n# M\n"
    repo = hub.add_model("nova-ai/m", {"README.md": readme}, parameters={"BF16": 5, "F32": 2})
    info = api.model_info(
        "nova-ai/m",
        expand=["author", "baseModels", "cardData", "createdAt", "disabled", "evalResults", "gated", "lastModified",
                "private", "safetensors", "sha", "siblings", "tags", "config"],
    )  # fmt: skip
    assert (info.author, info.sha, info.private, info.gated, info.disabled) == (
        "nova-ai", repo.main.oid, False, False, False,
    )  # fmt: skip
    assert (info.safetensors.total, info.safetensors.parameters) == (7, {"BF16": 5, "F32": 2})
    assert [one["id"] for one in info.base_models["models"]] == ["nova-ai/base"]
    assert info.card_data.base_model == "nova-ai/base"
    assert info.tags == ["license:mit", "base_model:nova-ai/base"]
    assert api.model_info("nova-ai/m", files_metadata=True).siblings[1].size == len(readme)
    bare = hub.add_model("nova-ai/bare")
    info = api.model_info("nova-ai/bare", expand=["safetensors", "baseModels", "evalResults"])
    assert (info.safetensors, info.base_models, info.eval_results, info.sha) == (None, None, None, None)
    assert api.model_info("nova-ai/bare").sha == bare.main.oid


def test_what_is_said_of_a_dataset(hub, api, logic):
    info = api.repo_info("bench-org/logic-1k", repo_type="dataset")
    assert ("benchmark:official" in info.tags, [one.rfilename for one in info.siblings]) == (
        True,
        [".gitattributes", "eval.yaml"],
    )
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree("bench-org/logic-1k", "data", repo_type="dataset"))


def test_whether_there_are_discussions_cannot_be_expanded(ask, hub):
    hub.add_model("nova-ai/m", discussions_disabled=True)
    assert ask("/api/models/nova-ai/m?expand=discussionsDisabled").status_code == 400
    assert ask("/api/models/nova-ai/m").json()["discussionsDisabled"] is True
