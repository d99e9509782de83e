"""Faults, rate limits, strictness, the log, and what a kill leaves."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import parse_ratelimit_headers

from benchwright.contract import Failure
from benchwright.rehearsal.hub import (
    EVERY_FAULT,
    Fault,
    FaultRule,
    HubEmulator,
    Limit,
    RandomFaults,
    Request,
    RuledFaults,
)
from benchwright.rehearsal.hub.faults import faults_from


def pull(api, name="nova-ai/m"):
    return api.create_commit(name, [CommitOperationAdd("a.yaml", b"1")], commit_message="Add a", create_pr=True)


def rule(kind, method="POST", path="*/commit/*", **more):
    return RuledFaults([FaultRule(Fault(kind, **more), method, path)])


@pytest.mark.parametrize(
    ("fault", "error", "opened"),
    [
        (rule("cut"), "disconnected", 0),
        (rule("cut", takes_effect=True), "disconnected", 1),
        (rule("half"), "peer closed connection", 1),
        (rule("short"), "Expecting|Unterminated", 1),
        (rule("error", status=500), "500", 0),
        (rule("error", status=502, takes_effect=True), "502", 1),
    ],
)
def test_a_commit_that_breaks_may_have_taken_effect(hub, api, fault, error, opened):
    repo = hub.add_model("nova-ai/m")
    hub.fault = fault
    with pytest.raises(Exception, match=error):
        pull(api)
    assert len(repo.discussions) == opened
    assert (hub.seen[-1].fault.done, hub.seen[-1].request.path) == (bool(opened), "/api/models/nova-ai/m/commit/main")
    assert pull(api).pr_num == opened + 1  # the fault was for one request


def test_an_answer_can_be_late(hub, api):
    hub.add_model("nova-ai/m")
    hub.fault = rule("slow", "GET", "*", delay=0.2)
    before = datetime.now(UTC)
    api.model_info("nova-ai/m")
    assert datetime.now(UTC) - before >= timedelta(seconds=0.2)


def test_faults_are_picked_by_a_function(ask, hub):
    hub.add_model("nova-ai/m")
    hub.fault = lambda request: Fault("error", status=503) if request.user is None else None
    assert ask("/api/models/nova-ai/m").status_code == 503
    assert ask("/api/models/nova-ai/m", token=hub.token("porter")).status_code == 200


def test_random_faults_are_those_of_their_seed():
    request = Request("GET", "/api/models")

    def picked(seed, share=0.3):
        faults = RandomFaults(seed, share)
        return [faults(request) for _ in range(1000)]

    assert picked(1) == picked(1) != picked(2)
    assert set(picked(1)) == {None, *EVERY_FAULT}
    assert 200 < sum(fault is not None for fault in picked(3)) < 400
    assert set(picked(1, 0)) == {None}


def test_rules_skip_and_count():
    faults = RuledFaults([FaultRule(Fault("cut"), "GET", "/api/*", times=2, skip=1)])
    got = [faults(Request("GET", "/api/models?author=a")) for _ in range(4)]
    assert got == [None, Fault("cut"), Fault("cut"), None]
    assert faults(Request("POST", "/api/models")) is None


def test_faults_of_a_command_line(tmp_path):
    file = tmp_path / "rules.json"
    file.write_text('[{"kind": "error", "status": 500, "path": "*/commit/*", "skip": 1}]')
    assert isinstance(faults_from("7:0.25"), RandomFaults)
    faults = faults_from(str(file))
    assert [faults(Request("POST", "/api/models/a/b/commit/main")) for _ in "12"] == [None, Fault("error", status=500)]
    for content, problem in (
        ("{}", "is no list of rules"),
        ('[{"kind": "odd"}]', "the kind 'odd', not one of cut, half, short, error, slow"),
        ('[{"kind": "cut", "oops": 1}]', "unexpected keyword argument 'oops'"),
    ):
        file.write_text(content)
        with pytest.raises(ValueError, match=problem):
            faults_from(str(file))


def test_every_answer_says_what_is_left(ask, hub):
    hub.add_model("nova-ai/m", {"a.txt": "1"})
    hub.limits.clock = lambda: datetime(2026, 5, 1, 0, 1, tzinfo=UTC)  # four minutes before the window ends
    token = hub.token("porter")
    for path, who, kind, left, most in (
        ("/api/models/nova-ai/m", None, "api", 499, 500),
        ("/api/models/nova-ai/m", token, "api", 999, 1000),
        ("/api/models/nova-ai/m", token, "api", 998, 1000),
        ("/nova-ai/m/resolve/main/a.txt", token, "resolvers", 4999, 5000),
    ):
        told = parse_ratelimit_headers(ask(path, token=who).headers)
        assert (told.resource_type, told.remaining, told.reset_in_seconds) == (kind, left, 240)
        assert (told.limit, told.window_seconds) == (most, 300)


def test_one_request_too_many(hub, client, api):
    now = datetime(2026, 5, 1, tzinfo=UTC)
    hub.limits.clock = lambda: now
    hub.limits.known["api"] = Limit(2, 60)
    hub.add_model("nova-ai/m")
    api.model_info("nova-ai/m")
    api.model_info("nova-ai/m")
    with pytest.raises(HfHubHTTPError, match=r"your 'api' rate limit.\nRetry after 60 seconds \(0/2 requests"):
        api.model_info("nova-ai/m")
    client().model_info("nova-ai/m")  # somebody else
    now += timedelta(seconds=60)
    api.model_info("nova-ai/m")


@pytest.mark.parametrize("retry_after", [True, False])
def test_single_actions_have_limits_of_their_own(hub, api, retry_after):
    hub.limits.actions = {"commit": Limit(6, 10**9)}  # no window ends meanwhile
    hub.limits.retry_after = retry_after
    for number in range(7):
        hub.add_model(f"nova-ai/m-{number}")
    for number in range(6):
        pull(api, f"nova-ai/m-{number}")
    with pytest.raises(HfHubHTTPError, match="quotas for action: commit") as told:
        pull(api, "nova-ai/m-6")
    answer = told.value.response
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, retry_after)
    assert parse_ratelimit_headers(answer.headers).remaining > 0
    assert hub.repo("nova-ai/m-6").discussions == []


@pytest.mark.parametrize(
    ("method", "path", "body", "named"),
    [
        ("GET", "/api/spaces/nova-ai/m", None, "GET /api/spaces/nova-ai/m"),
        ("PUT", "/api/models/nova-ai/m/settings", None, "PUT /api/models/nova-ai/m/settings"),
        ("GET", "/api/models/nova-ai/m?full=1", None, "the query words full of GET /api/{kind}s/{repo_id}"),
        ("GET", "/api/models/nova-ai/m?expand=gguf", None, "to expand gguf of a model"),
        ("GET", "/api/models?sort=likes", None, "lists sorted by likes, in direction None"),
        (
            "POST",
            "/api/repos/create",
            '{"name": "x", "region": "eu"}',
            "in the body of POST /api/repos/create: Object contains unknown field `region`",
        ),
        ("POST", "/api/models/nova-ai/m/commit/main", '{"key": "fork", "value": {}}', 'the line b\'{"key": "fork"'),
        (
            "POST",
            "/api/models/nova-ai/m/commit/main",
            '{"key": "header", "value": {"summary": "x", "sign": 1}}',
            "in a line of a commit: Object contains unknown field `sign`",
        ),
    ],
)
def test_what_it_does_not_know_is_named(ask, hub, owner, method, path, body, named):
    hub.add_model("nova-ai/m")
    answer = ask(path, method, hub.token("keeper"), content=body)
    assert answer.status_code == 501
    assert answer.json()["error"].startswith(f"the emulator does not know {named}")
    assert len(hub.unknown) == 1
    hub.unknown.clear()


def test_xet_is_not_offered(ask, hub):
    hub.add_model("nova-ai/m")
    answer = ask("/api/models/nova-ai/m/xet-write-token/main?create_pr=1")
    assert (answer.status_code, answer.json()["error"]) == (
        404,
        "Xet is not offered here: set HF_HUB_DISABLE_XET=1",
    )


def test_the_log_has_every_request(hub, api):
    hub.add_model("nova-ai/m")
    api.model_info("nova-ai/m")
    hub.fault = rule("cut", takes_effect=True)
    with pytest.raises(Exception, match="disconnected"):
        pull(api)
    lines = [json.loads(line) for line in (hub.folder / "requests.jsonl").read_text().splitlines()]
    assert [(one["method"], one["user"], one["status"]) for one in lines[-3:]] == [
        ("GET", "porter", 200),
        ("POST", "porter", 200),
        ("POST", "porter", 0),
    ]
    assert (lines[-1]["fault"], lines[-1]["took_effect"]) == ("cut", True)
    assert lines[-1]["target"] == "/api/models/nova-ai/m/commit/main?create_pr=1"
    assert [one.request.method for one in hub.seen] == [one["method"] for one in lines]


def test_many_at_once_lose_nothing(hub, client):
    repo = hub.add_model("nova-ai/m")
    clients = [client(hub.token(f"porter-{number}")) for number in range(6)]

    def work(api):
        for _ in range(5):
            pull(api)

    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(work, clients))
    assert [one.num for one in repo.discussions] == list(range(1, 31))
    assert sum(one.request.path.endswith("/commit/main") for one in hub.seen) == 30
    assert len((hub.folder / "requests.jsonl").read_text().splitlines()) == len(hub.seen)


def test_the_state_is_there_again(tmp_path):
    with HubEmulator(tmp_path) as hub:
        token = hub.token("porter")
        repo = hub.add_model("nova-ai/m", {"a.txt": "1", "b.bin": b"\0"}, parameters={"BF16": 7}, gated="auto")
        hub.open_pull_request(repo, {"c.txt": "2"}, author="porter", title="Add c")
        hub.rename(repo, "nova-ai/n")
        hub.delete(hub.add_dataset("bench-org/gone"))
    with HubEmulator(tmp_path) as again:
        assert again.repo("nova-ai/n") == repo
        assert again.state.accounts.tokens[token][0] == "porter"
        assert again.state.repos("dataset") == []
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{again.url}/api/models/nova-ai/n/refs?include_prs=1", headers=headers).status_code == 200


def test_one_emulator_for_a_folder(tmp_path):
    with HubEmulator(tmp_path), pytest.raises(Failure, match="is at work here"), HubEmulator(tmp_path):
        pass
