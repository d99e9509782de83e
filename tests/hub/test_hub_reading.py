"""Reading the Hub: what is asked again, what is kept, and what each refusal means."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.client import Hub, HubPatience, api_path, where_of
from benchwright.hub.refusals import Disabled, Forbidden, Gated, NotFound
from benchwright.objects.credentials import settings_from_environment
from benchwright.rehearsal.hub import Fault, FaultRule, Limit, RuledFaults
from hub_emulators import emulated_hub

MODEL = api_path("model", "nova-ai/nova-7b")


@pytest.fixture(autouse=True)
def nova(emulator):
    return emulator.add_model("nova-ai/nova-7b", {"README.md": "# Nova 7B\n" * 50})


def faults(emulator, *kinds: Fault, path: str = "*", times: int = 1) -> None:
    emulator.fault = RuledFaults([FaultRule(kind, path=path, times=times) for kind in kinds])


def problem_of(error) -> tuple[Exit, str, str, str]:
    (problem,) = error.value.problems
    return error.value.exit, problem.code, problem.where, problem.found


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ("/api/models/org/name?expand=sha", "org/name"),
        ("/api/models/org/name/tree/refs%2Fpr%2F7/.eval_results", "org/name"),
        ("/api/datasets/org/name/leaderboard", "datasets/org/name"),
        ("/datasets/org/name/resolve/main/eval.yaml", "datasets/org/name"),
        ("/org/name/resolve/main/README.md", "org/name"),
        ("/api/datasets?filter=benchmark%3Aofficial", "/api/datasets"),
        ("/api/organizations/org/overview", "/api/organizations/org/overview"),
        ("/api/whoami-v2", "/api/whoami-v2"),
    ],
)
def test_requests_are_counted_by_repo(target, where):
    assert where_of(target) == where


@pytest.mark.parametrize(
    "fault", [Fault("cut"), Fault("half"), Fault("short"), Fault("error", status=500), Fault("error", status=429)]
)
def test_an_answer_that_fails_is_asked_for_again(emulator, hub, fault):
    faults(emulator, fault, fault)
    assert hub.json(MODEL)["id"] == "nova-ai/nova-7b"
    assert hub.requests == {"nova-ai/nova-7b": 3}


def test_half_a_file_is_no_file(emulator, hub):
    faults(emulator, Fault("short"), path="*/resolve/*")
    assert hub.text("nova-ai/nova-7b", "README.md") == "# Nova 7B\n" * 50
    faults(emulator, Fault("short"), path="*/resolve/*", times=3)
    with pytest.raises(Failure) as failure:
        hub.text("nova-ai/nova-7b", "README.md", cached=False)
    told = "a file that is not the one of its git id"
    assert problem_of(failure) == (Exit.REMOTE, "hub-unavailable", "nova-ai/nova-7b", told)


def test_a_hub_that_is_gone_is_not_asked_again_and_again(emulator, hub):
    faults(emulator, Fault("cut"), times=3)
    for _ in range(2):
        with pytest.raises(Failure) as failure:
            hub.json(MODEL)
        assert problem_of(failure)[:3] == (Exit.REMOTE, "hub-unavailable", "nova-ai/nova-7b")
    assert len(emulator.seen) == 3


@pytest.mark.parametrize("path", [MODEL, "/api/whoami-v2"], ids=["RateLimit", "Retry-After"])
def test_a_limit_is_waited_for_as_the_hub_says(emulator, open_hub, monkeypatch, path):
    slept = []
    monkeypatch.setattr("tenacity.nap.time.sleep", slept.append)
    monkeypatch.setattr(emulator.limits, "clock", lambda: datetime(2026, 3, 2, 9, 59, 5, tzinfo=UTC))
    if path == MODEL:
        emulator.limits.known["api"] = Limit(0, 60)
    else:
        emulator.limits.actions["whoami"] = Limit(0, 60)
        emulator.limits.retry_after = True
    with pytest.raises(Failure) as failure:
        open_hub(patience=HubPatience(attempts=2, longest_wait=400)).json(path)
    assert slept == [56.0]
    assert problem_of(failure)[1::2] == ("hub-unavailable", "HTTP 429")


def test_waiting_has_a_bound(emulator, open_hub, monkeypatch):
    slept = []
    monkeypatch.setattr("tenacity.nap.time.sleep", slept.append)
    emulator.limits.known["api"] = Limit(0, 3600)
    with pytest.raises(Failure):
        open_hub(patience=HubPatience(attempts=3, longest_wait=10)).json(MODEL)
    assert all(wait <= 10 for wait in slept)
    assert len(slept) == 2


def test_a_budget_is_kept_and_each_attempt_counts(emulator, open_hub):
    hub = open_hub(budget=3)
    faults(emulator, Fault("cut"))
    hub.json(MODEL)
    hub.json(MODEL)
    hub.text("nova-ai/nova-7b", "README.md")
    with pytest.raises(Failure) as failure:
        hub.json(api_path("model", "nova-ai/other"))
    found = "this run has sent 3 requests to the Hub, and may send no more"
    assert problem_of(failure) == (Exit.REMOTE, "budget-spent", "nova-ai/other", found)
    assert isinstance(hub.lost, Failure)
    assert len(emulator.seen) == 3


def test_what_is_known_is_not_asked_for_until_it_is_forgotten(emulator, hub, nova, asked):
    for _ in range(2):
        assert hub.text("nova-ai/nova-7b", "README.md").startswith("# Nova")
        with pytest.raises(NotFound):
            hub.json(api_path("model", "nova-ai/none"))
    assert len(asked()) == 2
    emulator.commit(nova, {"README.md": "new"})
    assert hub.text("nova-ai/nova-7b", "README.md").startswith("# Nova")
    assert hub.text("nova-ai/nova-7b", "README.md", cached=False) == "new"
    emulator.commit(nova, {"README.md": "newer"})
    hub.text("nova-ai/nova-7b", "README.md")
    hub.forget("nova-ai/nova-7b")
    assert hub.text("nova-ai/nova-7b", "README.md") == "newer"


def test_lists_are_read_to_their_end(emulator, hub):
    emulator.settings.list_page = 2
    for number in range(5):
        emulator.add_dataset(f"bench-org/number-{number}")
    found = [one["id"] for one in hub.pages("/api/datasets", author="bench-org", limit=200)]
    assert sorted(found) == [f"bench-org/number-{number}" for number in range(5)]


def test_numbers_keep_their_digits(hub, emulator, result, logic):
    emulator.add_model("nova-ai/nova-8b", {".eval_results/logic.yaml": result("61.25")})
    (told,) = hub.json(api_path("model", "nova-ai/nova-8b"), expand=["evalResults"])["evalResults"]
    assert told["data"]["value"] == Decimal("61.25")


def test_what_is_not_there_is_told_from_what_is_not_known(emulator, open_hub, nova):
    path = api_path("model", "nova-ai/none")
    for hub, told in (
        (open_hub(), "HTTP 404, Repository not found"),
        (open_hub(False), "HTTP 401, Invalid username or password"),
    ):
        with pytest.raises(NotFound) as missing:
            hub.json(path)
        assert missing.value.kind == "repo"
        assert problem_of(missing) == (Exit.NO, "not-on-hub", "nova-ai/none", told)
    with pytest.raises(Forbidden) as wrong:
        open_hub("hf-not-a-token").json(path)
    assert problem_of(wrong)[::3] == (
        Exit.ENVIRONMENT,
        "HTTP 401, Invalid credentials in Authorization header",
    )
    with pytest.raises(NotFound) as missing:
        open_hub().text("nova-ai/nova-7b", "README.md", "refs/pr/9")
    assert missing.value.kind == "revision"
    with pytest.raises(NotFound) as missing:
        open_hub().text("nova-ai/nova-7b", "none")
    assert missing.value.kind == "file"
    with pytest.raises(Forbidden):
        open_hub(False).json("/api/whoami-v2")


def test_gates_and_disabled_repos_are_not_missing(emulator, open_hub, nova):
    emulator.change(nova, gated="manual")
    for token in (False, emulator.token("porter")):
        with pytest.raises(Gated) as gated:
            open_hub(token).text("nova-ai/nova-7b", "README.md")
        assert gated.value.exit is Exit.ENVIRONMENT
    emulator.change(nova, disabled=True)
    with pytest.raises(Disabled) as disabled:
        open_hub().json(MODEL)
    assert problem_of(disabled)[1::2] == ("disabled", "HTTP 403, Access to this resource is disabled")


def test_a_server_that_is_no_hub_is_said_to_be_none(emulator, hub):
    faults(emulator, Fault("error", status=418))
    with pytest.raises(Failure) as failure:
        hub.json(MODEL)
    assert failure.value.exit is Exit.ENVIRONMENT
    assert failure.value.problems[0].fix == f"is {emulator.url} the Hub?"


@pytest.mark.parametrize(
    ("endpoint", "token", "where"), [("no address", "t", "HF_ENDPOINT"), (None, "a\nb", "HF_TOKEN")]
)
def test_settings_that_no_request_can_carry_are_told(endpoint, token, where):
    with pytest.raises(Failure) as failure:
        Hub(endpoint, token)
    assert (failure.value.exit, failure.value.problems[0].where) == (Exit.ENVIRONMENT, where)


def test_the_settings_of_whoever_runs_the_tests_lead_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    (tmp_path / "another").mkdir()
    with emulated_hub(tmp_path / "another", monkeypatch) as emulator:
        assert Hub.of(settings_from_environment()).endpoint == emulator.url
