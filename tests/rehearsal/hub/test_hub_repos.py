"""Repos: commits, listings, files and their uploads, as the real client has them."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, RevisionNotFoundError

from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.changes import LargeFile
from benchwright.rehearsal.hub.git import tree_oids


def targets(hub, method):
    return [one.request.target for one in hub.seen if one.request.method == method]


def add(path, content):
    return CommitOperationAdd(path, content)


@pytest.fixture
def traces(hub, owner):
    owner.create_repo("nova-ai/traces", repo_type="dataset", private=True)
    return hub.repo("nova-ai/traces", "dataset")


def download(api, tmp_path, path, repo="nova-ai/traces", repo_type="dataset", **more):
    with open(api.hf_hub_download(repo, path, repo_type=repo_type, cache_dir=tmp_path / "cache", **more), "rb") as file:
        return file.read()


def test_a_new_repo_has_one_commit_and_an_address(hub, owner, traces):
    assert traces.private
    assert list(traces.main.files) == [".gitattributes"]
    url = owner.create_repo("nova-ai/traces", repo_type="dataset", exist_ok=True)
    assert (str(url), url.repo_id) == (f"{hub.url}/datasets/nova-ai/traces", "nova-ai/traces")
    with pytest.raises(HfHubHTTPError, match="You already created this dataset repo: nova-ai/traces"):
        owner.create_repo("nova-ai/traces", repo_type="dataset")
    assert owner.create_repo("own").repo_id == "keeper/own"


def test_repos_are_created_where_one_may_write(hub, client, api, owner):
    with pytest.raises(HfHubHTTPError, match='create a dataset under the namespace "nova-ai"'):
        api.create_repo("nova-ai/traces", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="create a model under"):
        client(hub.token("keeper", "read")).create_repo("nova-ai/m")
    assert hub.state.repos("model") == hub.state.repos("dataset") == []


@pytest.mark.parametrize("size", [100, 2_500_000])
def test_large_files_go_to_the_storage_whole_or_in_parts(hub, owner, traces, tmp_path, size):
    hub.settings.part = 1_000_000
    content = random.Random(1).randbytes(size)
    (tmp_path / "train.parquet").write_bytes(content)
    operations = [add("data/train.parquet", tmp_path / "train.parquet"), add("README.md", b"---\nlicense: mit\n---\nx")]
    owner.create_commit("nova-ai/traces", operations, commit_message="Add traces", repo_type="dataset")
    assert download(owner, tmp_path, "data/train.parquet") == content
    assert download(owner, tmp_path, "README.md") == b"---\nlicense: mit\n---\nx"
    sha = hashlib.sha256(content).hexdigest()
    assert targets(hub, "PUT") == ([f"/storage/{sha}"] if size < 1000 else [f"/storage/{sha}/{n}" for n in (1, 2, 3)])
    info = {one.path: one for one in owner.list_repo_tree("nova-ai/traces", repo_type="dataset", recursive=True)}
    assert (info["data/train.parquet"].size, info["data/train.parquet"].lfs.sha256) == (size, sha)
    assert traces.main.files["data/train.parquet"].lfs == sha
    before = len(hub.seen)
    again = [add("copy/train.parquet", tmp_path / "train.parquet")]
    owner.create_commit("nova-ai/traces", again, commit_message="Copy", repo_type="dataset")
    assert "PUT" not in {one.request.method for one in hub.seen[before:]}  # the storage has it


def test_what_breaks_during_an_upload_is_sent_again(hub, owner, traces, tmp_path):
    hub.settings.part = 500_000
    content = random.Random(2).randbytes(1_200_000)
    (tmp_path / "t.parquet").write_bytes(content)
    hub.fault = RuledFaults(
        [FaultRule(Fault("cut", takes_effect=True), "PUT", "*/2"), FaultRule(Fault("error"), "PUT", "*/3")]
    )
    operations = [add("t.parquet", tmp_path / "t.parquet")]
    owner.create_commit("nova-ai/traces", operations, commit_message="Add", repo_type="dataset")
    assert download(owner, tmp_path, "t.parquet") == content
    assert [path.rsplit("/", 1)[1] for path in targets(hub, "PUT")] == ["1", "2", "2", "3", "3"]


def test_a_broken_download_goes_on_where_it_broke(hub, owner, traces, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)
    content = random.Random(3).randbytes(40_000)
    owner.create_commit("nova-ai/traces", [add("t.parquet", content)], commit_message="Add", repo_type="dataset")
    hub.fault = RuledFaults([FaultRule(Fault("half"), "GET", "/storage/*")])
    assert download(owner, tmp_path, "t.parquet") == content
    ranges = [one.request.headers.get("range") for one in hub.seen if one.request.method == "GET"]
    assert ranges[-2:] == [None, "bytes=20000-"]


def test_a_large_file_that_never_came_cannot_be_committed(ask, hub, owner, traces):
    line = '{"key":"lfsFile","value":{"path":"a.bin","algo":"sha256","oid":"%s","size":3}}' % ("0" * 64)
    body = '{"key":"header","value":{"summary":"x"}}\n' + line
    token = hub.token("keeper")
    answer = ask("/api/datasets/nova-ai/traces/commit/main", "POST", token, content=body)
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "LFS pointer pointed to a file that does not exist: a.bin",
    )


def test_the_storage_takes_what_was_announced_alone(ask, hub):
    assert ask("/storage/" + "0" * 64, "PUT", content=b"abc").status_code == 403
    hub.state.large.expected["0" * 64] = 3
    assert ask("/storage/" + "0" * 64, "PUT", content=b"abc").status_code == 400
    assert hub.state.large.size("0" * 64) is None
    assert ask("/storage/" + "0" * 64).status_code == 403
    assert ask("/storage/..%2Faccounts.json").status_code == 501
    hub.unknown.clear()


@pytest.mark.parametrize(
    ("path", "content", "mode"),
    [
        ("a.yaml", b"x: 1\n", "regular"),
        ("a.txt", "é".encode() * 300, "regular"),  # the sample ends inside a character
        ("a.parquet", b"text", "lfs"),
        ("a.txt", b"\0binary", "lfs"),
        ("a.txt", b"\xff\xfe", "lfs"),
        ("a.txt", b"x" * (10 * 1024 * 1024 + 1), "lfs"),
    ],
)
def test_how_a_file_is_to_be_uploaded(owner, traces, path, content, mode):
    operation = add(path, content)
    owner.create_commit("nova-ai/traces", [operation], commit_message="Add", repo_type="dataset")
    assert operation._upload_mode == mode


def test_ids_are_those_of_git(hub, tmp_path):
    files = {"b.txt": b"b\n", "b/a.txt": b"a\n", "b/c/d.txt": b"d\n", "b.d/e.txt": b"e\n"}
    repo = hub.add_model("nova-ai/m", files)
    for path, content in {**files, ".gitattributes": repo.blobs[repo.main.files[".gitattributes"].oid]}.items():
        (tmp_path / "git" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "git" / path).write_bytes(content)
    settings = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words):
        words = ["git", "-C", tmp_path / "git", *words]
        return subprocess.run(words, env=settings, check=True, capture_output=True, text=True).stdout.split()

    git("init")
    git("add", "--all")
    assert git("write-tree") == [tree_oids(repo.main.files)[""]]
    assert git("hash-object", "b/a.txt") == [repo.main.files["b/a.txt"].oid]


def test_listings_have_folders_pages_and_last_commits(hub, client):
    hub.settings.tree_page = 2
    repo = hub.add_model("nova-ai/m", {"a/b/c.txt": "1", "a/d.txt": "2", "e.txt": "3"})
    second = hub.commit(repo, {"a/d.txt": "4"}, title="Second")
    api = client()
    found = list(api.list_repo_tree("nova-ai/m", recursive=True, expand=True))
    assert [one.path for one in found] == [".gitattributes", "a", "a/b", "a/b/c.txt", "a/d.txt", "e.txt"]
    assert [one.last_commit.title for one in found] == [
        "initial commit",
        "Second",
        "Upload",
        "Upload",
        "Second",
        "Upload",
    ]
    assert next(one.last_commit.oid for one in found if one.path == "a/d.txt") == second
    assert [one.path for one in api.list_repo_tree("nova-ai/m", "a")] == ["a/b", "a/d.txt"]
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree("nova-ai/m", ".eval_results"))
    assert [one.path for one in api.get_paths_info("nova-ai/m", ["a/d.txt", "a", "no"])] == ["a/d.txt", "a"]


def test_revisions_are_branches_commits_and_pull_requests(hub, api, client, tmp_path):
    repo = hub.add_model("nova-ai/m", {"a.txt": "1"})
    first = repo.refs["refs/heads/main"]
    hub.open_pull_request(repo, {"a.txt": "2"}, author="porter", title="Two")
    for revision, content in (("main", b"1"), (first, b"1"), ("refs/pr/1", b"2")):
        assert download(api, tmp_path, "a.txt", "nova-ai/m", "model", revision=revision) == content
    hub.commit(repo, {"a.txt": "3"}, ref="refs/pr/1", author="porter")
    assert download(api, tmp_path, "a.txt", "nova-ai/m", "model", revision="refs/pr/1") == b"3"
    refs = api.list_repo_refs("nova-ai/m", include_pull_requests=True)
    assert [(one.ref, one.target_commit) for one in refs.branches] == [("refs/heads/main", first)]
    assert [one.ref for one in refs.pull_requests] == ["refs/pr/1"]
    assert client().list_repo_refs("nova-ai/m").pull_requests is None
    for call in (api.model_info, api.list_repo_tree):
        with pytest.raises(RevisionNotFoundError):
            list(call("nova-ai/m", revision="refs/pr/2"))
    with pytest.raises(EntryNotFoundError):
        download(api, tmp_path, "no.txt", "nova-ai/m", "model")


def test_a_file_in_parts_and_as_git_has_it(ask, hub):
    repo = hub.add_model("nova-ai/m", {"a b.txt": "0123456789"})
    path = "/nova-ai/m/resolve/main/a%20b.txt"
    head = ask(path, "HEAD")
    assert (head.headers["X-Repo-Commit"], head.headers["ETag"], head.headers["Content-Length"], head.content) == (
        repo.main.oid,
        f'"{repo.main.files["a b.txt"].oid}"',
        "10",
        b"",
    )
    for words, status, content, where in (
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=8-", 206, b"89", "bytes 8-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
    ):
        answer = ask(path, headers={"Range": words})
        assert (answer.status_code, answer.content, answer.headers["Content-Range"]) == (status, content, where)
    hub.state.large.put(hashlib.sha256(b"big").hexdigest(), [b"big"])
    files = {"big.bin": LargeFile(hashlib.sha256(b"big").hexdigest(), 3)}
    hub.commit(repo, files)
    assert ask("/nova-ai/m/raw/main/big.bin").text.startswith("version https://git-lfs.github.com/spec/v1\noid sha256:")
    answer = ask("/nova-ai/m/resolve/main/big.bin")
    assert (answer.status_code, answer.headers["X-Linked-Size"]) == (302, "3")
    assert answer.headers["Location"].startswith("http://localhost:")


def test_a_commit_that_changes_nothing_is_not_sent(hub, api):
    repo = hub.add_model("nova-ai/m", {"a.txt": "1"})
    info = api.create_commit("nova-ai/m", [add("a.txt", b"1")], commit_message="Same", create_pr=True)
    assert (info.pr_url, info.oid) == (None, repo.main.oid)
    assert repo.discussions == []


def test_an_empty_commit_that_is_sent_is_made(ask, hub, owner):
    repo = hub.add_model("nova-ai/m", {"a.txt": "1"})
    body = '{"key":"header","value":{"summary":"Nothing"}}\n'
    answer = ask("/api/models/nova-ai/m/commit/main?create_pr=1", "POST", hub.token("porter"), content=body)
    assert answer.json()["pullRequestUrl"] == f"{hub.url}/nova-ai/m/discussions/1"
    assert repo.commits[answer.json()["commitOid"]].files == repo.main.files


def test_commits_say_what_was_there_before(hub, owner):
    repo = hub.add_model("nova-ai/m", {"a.txt": "1", "d/e.txt": "2"})
    stale = repo.main.oid
    owner.create_commit("nova-ai/m", [add("b.txt", b"2")], commit_message="Two", parent_commit=stale)
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as told:
        owner.create_commit("nova-ai/m", [add("c.txt", b"3")], commit_message="Three", parent_commit=stale)
    assert told.value.response.status_code == 412
    with pytest.raises(RevisionNotFoundError):
        owner.create_commit("nova-ai/m", [add("c.txt", b"3")], commit_message="Three", parent_commit="0" * 40)
    with pytest.raises(EntryNotFoundError, match="A file with this name doesn't exist"):
        owner.create_commit("nova-ai/m", [CommitOperationDelete("no.txt")], commit_message="Four")
    with pytest.raises(EntryNotFoundError, match="Make sure to differentiate file and folder paths"):
        owner.create_commit("nova-ai/m", [CommitOperationDelete("d")], commit_message="Four")
    owner.create_commit("nova-ai/m", [CommitOperationDelete("d/")], commit_message="Five")
    assert sorted(repo.main.files) == [".gitattributes", "a.txt", "b.txt"]
    with pytest.raises(HfHubHTTPError, match="Invalid rev id: no"):
        owner.create_commit("nova-ai/m", [add("c.txt", b"3")], commit_message="Six", revision="no")


def test_a_readme_with_metadata_that_are_none_is_refused(hub, owner):
    hub.add_model("nova-ai/m")
    with pytest.raises(ValueError, match=r"Invalid metadata in README\.md\.\n- YAML Metadata Error"):
        owner.create_commit("nova-ai/m", [add("README.md", b"---\na: [\n---\n")], commit_message="x")


def test_a_commit_without_words_is_refused(ask, hub, owner):
    hub.add_model("nova-ai/m")
    token = hub.token("keeper")
    for body, problem in (
        ('{"key":"header","value":{"summary":" "}}', "at summary"),
        ("", "no header"),
        ("{", "truncated"),
        (
            '{"key":"header","value":{"summary":"x"}}\n{"key":"deletedFile","value":{"path":"a/../b"}}',
            "Invalid path: a/../b",
        ),
    ):
        answer = ask("/api/models/nova-ai/m/commit/main", "POST", token, content=body)
        assert answer.status_code == 400
        assert problem in answer.json()["error"]
    told = {"name": "bad%name", "organization": "nova-ai"}
    assert ask("/api/repos/create", "POST", token, json=told).json()["error"] == "Invalid repo name: bad%name"
