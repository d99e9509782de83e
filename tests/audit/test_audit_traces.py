"""Traces on the Hub: where they may be, what a repo holds, and every way of not being told."""

from __future__ import annotations

import pytest

from benchwright.audit.facts import TraceRepo
from benchwright.audit.gather_traces import is_enough, look_into, trace_facts, wanted
from benchwright.audit.run import Run
from benchwright.audit.trace_hub import FoundTraces, TraceHub
from benchwright.audit.trace_names import candidates, repo_id, repo_of_link, trace_orgs
from benchwright.contract import Exit, Failure
from benchwright.hub.client import HubPatience
from hub_standin import TOKEN, Answer, parquet, refusal

SOON = HubPatience(attempts=3, first_wait=0.01, longest_wait=0.05, timeout=5)


def opened(hub, token: str | None = TOKEN) -> TraceHub:
    return TraceHub(hub.url, token, SOON)


def failing(hub, repo: str = "org/run", **more) -> tuple[Exit, str, str]:
    with pytest.raises(Failure) as failure:
        opened(hub, **more).look(repo)
    (problem,) = failure.value.problems
    return failure.value.exit, problem.code, problem.found


@pytest.mark.parametrize(
    ("name", "repo"),
    [
        ("eval-laion_m_bench", "org/eval-laion_m_bench"),
        ("a b/c", "org/a-b-c"),
        ("--a..b---c.", "org/a.b-c"),
        ("///", "org/repo"),
        ("x" * 92, "org/" + "x" * 92),
        ("x" * 93, "org/" + "x" * 84 + "db0b0527"),  # of 93 letters the SHA-1
    ],
)
def test_a_run_has_the_repo_that_uploaders_name(name, repo):
    assert repo_id("org", name) == repo
    assert len(repo) <= 96


def test_both_suffixes_are_looked_for_in_each_organisation():
    assert candidates(["run"], ["a", "b"]) == ("a/run-traces", "a/run", "b/run-traces", "b/run")
    assert trace_orgs({"BENCHWRIGHT_TRACE_ORGS": "a, b  a"}) == ("a", "b")
    assert trace_orgs({}) == ()


@pytest.mark.parametrize(
    ("link", "repo"),
    [
        ("https://huggingface.co/datasets/org/run-traces", "org/run-traces"),
        ("https://hf.co/datasets/org/run-traces/tree/main?x=1#y", "org/run-traces"),
        ("huggingface.co/datasets/org/run-traces/", "org/run-traces"),
        ("datasets/org/run", "org/run"),
        (" org/run ", "org/run"),
        ("https://huggingface.co/org/run", None),
        ("https://huggingface.co/datasets/org", None),
        ("org/run/more", None),
        ("org/ru n", None),
        ("org/../run", None),
        ("", None),
    ],
)
def test_a_link_is_of_a_repo_or_of_none(link, repo):
    assert repo_of_link(link) == repo


def test_a_filled_repo_has_its_rows_and_the_trials_of_its_first_file(hub):
    hub.add("org/run", [], [f"a__{n:07}" for n in range(250)], ["later__0000000"])
    found = opened(hub).look("org/run")
    assert found == FoundTraces("filled", 251, frozenset(f"a__{n:07}" for n in range(250)))
    assert hub.unknown == []


def test_a_part_of_a_file_is_fetched_and_nothing_is_sent(hub):
    hub.add("org/run", [f"a__{n:07}" for n in range(2000)])
    opened(hub).look("org/run")
    size = len(hub.repos["org/run"]["data/train-00000.parquet"])
    asked = [request.range.removeprefix("bytes=").split("-") for request in hub.seen if request.range]
    fetched = sum(int(last) - int(first) + 1 for first, last in asked if first != last) / 2  # asked for, redirected
    assert fetched < size / 20
    assert {request.method for request in hub.seen} == {"GET"}


@pytest.mark.parametrize("files", [{"README.md": b"x"}, {"a.parquet": parquet([])}, {}])
def test_a_repo_without_rows_is_empty(hub, files):
    hub.repos["org/run"] = files
    assert opened(hub).look("org/run") == FoundTraces("empty", 0)


@pytest.mark.parametrize("code", ["RevisionNotFound", "EntryNotFound"])
def test_a_repo_without_a_branch_is_empty(hub, code):
    hub.fault = lambda request: refusal(404, code)
    assert opened(hub).look("org/run") == FoundTraces("empty", 0)


def test_a_repo_that_is_not_there_is_absent_for_a_token_alone(hub):
    assert opened(hub).look("org/run") == FoundTraces("absent")
    told = "HTTP 401, Invalid username or password."
    assert failing(hub, token=None) == (Exit.ENVIRONMENT, "hub-refused", told)


def test_a_private_repo_is_seen_with_the_token(hub):
    hub.add("org/run", ["a__0000000"])
    hub.private.add("org/run")
    assert opened(hub).look("org/run").state == "filled"
    assert failing(hub, token=None)[1] == "hub-refused"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (refusal(401, message="Invalid credentials in Authorization header"), (Exit.ENVIRONMENT, "hub-refused")),
        (refusal(403), (Exit.ENVIRONMENT, "hub-refused")),
        (refusal(403, message="Access to this resource is disabled."), (Exit.ENVIRONMENT, "hub-refused")),
        (refusal(404), (Exit.ENVIRONMENT, "hub-answer")),  # no Hub says so
        (refusal(400), (Exit.ENVIRONMENT, "hub-answer")),
        (refusal(500), (Exit.REMOTE, "hub-unavailable")),
        (refusal(429), (Exit.REMOTE, "hub-unavailable")),
        (refusal(429, RateLimit='"api";r=0;t=55'), (Exit.REMOTE, "hub-unavailable")),
        (Answer(0), (Exit.REMOTE, "hub-unavailable")),
        (Answer(200, b"<html>"), (Exit.REMOTE, "hub-unavailable")),
        (Answer(200, b'{"a": 1}'), (Exit.REMOTE, "hub-unavailable")),
        (Answer(200, b'[{"path": 1}]'), (Exit.REMOTE, "hub-unavailable")),
    ],
)
def test_what_is_not_told_is_a_failure(hub, answer, told):
    hub.add("org/run", ["a__0000000"])
    hub.fault = lambda request: answer
    assert failing(hub)[:2] == told


@pytest.mark.parametrize(
    "answer", [refusal(503), refusal(429, RateLimit='"api";r=0;t=0'), refusal(429, **{"Retry-After": "0"}), Answer(0)]
)
def test_what_passes_is_asked_for_again(hub, answer):
    hub.add("org/run", ["a__0000000"])
    hub.fault = lambda request: answer if len(hub.seen) in (1, 3) else None
    assert opened(hub).look("org/run").rows == 1


def test_the_time_that_the_hub_names_is_waited_for(hub):
    waits = []
    one = TraceHub(hub.url, TOKEN, HubPatience(attempts=2, longest_wait=400))
    hub.add("org/run", ["a__0000000"])
    hub.fault = lambda request: refusal(429, RateLimit='"api";r=0;t=55') if len(hub.seen) == 1 else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tenacity.nap.time.sleep", waits.append)
        assert one.look("org/run").rows == 1
    assert waits == [56.0]


def test_a_hub_that_is_not_there_is_not_asked_for_every_repo(hub):
    hub.fault = lambda request: Answer(0)
    looks = look_into(opened(hub), [f"org/{n}" for n in range(200)], lambda *_, **__: None)
    assert len(looks) == 200
    assert all(isinstance(one, Failure) and one.exit is Exit.REMOTE for one in looks.values())
    assert len(hub.seen) <= 8 * SOON.attempts


@pytest.mark.parametrize("data", [b"", b"no parquet", parquet(["a"])[:-9]])
def test_a_file_that_is_damaged_is_no_answer(hub, data):
    hub.repos["org/run"] = {"a.parquet": data}
    exit_, code, _ = failing(hub)
    assert (exit_, code) == (Exit.NO, "traces-unreadable")


def test_a_server_that_sends_whole_files_is_not_read(hub):
    hub.add("org/run", ["a__0000000"] * 50)
    data = hub.repos["org/run"]["data/train-00000.parquet"]
    hub.fault = lambda request: Answer(200, data) if request.range else None
    assert failing(hub)[:2] == (Exit.REMOTE, "hub-unavailable")


def test_a_listing_of_several_pages_is_read_whole_wherever_it_points(hub):
    hub.add("org/run", *([f"a__{n:07}"] for n in range(10)))
    hub.page = 3
    assert opened(hub).look("org/run").rows == 10


def test_names_that_are_not_there_are_compared_with_none(hub):
    hub.repos["org/run"] = {"a.parquet": parquet(["a", None], column="name")}
    assert opened(hub).look("org/run") == FoundTraces("filled", 2, None)
    hub.repos["org/run"] = {"a.parquet": parquet([None, None])}
    assert opened(hub).look("org/run") == FoundTraces("filled", 2, frozenset())


@pytest.mark.parametrize(
    ("endpoint", "token", "wrong"),
    [
        ("no address", TOKEN, ["HF_ENDPOINT"]),
        ("http://[x", TOKEN, ["HF_ENDPOINT"]),
        ("https://h", "a\nb", ["HF_TOKEN"]),
    ],
)
def test_settings_that_no_request_can_carry_are_told(endpoint, token, wrong):
    with pytest.raises(Failure) as failure:
        TraceHub(endpoint, token)
    assert (failure.value.exit, [problem.where for problem in failure.value.problems]) == (Exit.ENVIRONMENT, wrong)


def test_a_client_that_may_not_ask_says_so(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert failing(hub) == (Exit.ENVIRONMENT, "hub-offline", "HF_HUB_OFFLINE is set")
    assert hub.seen == []


class TestFacts:
    run = Run(tag="run")

    def test_a_repo_that_could_not_be_looked_into_is_no_fact(self):
        lost = Failure([], exit=Exit.REMOTE)
        looks = {"org/run-traces": FoundTraces("absent"), "org/run": lost}
        known, _ = trace_facts(self.run, wanted(self.run, (), ["org"]), looks, ["org"])
        assert known == (TraceRepo(name="org/run-traces", state="absent"),)
        assert not is_enough(known, ())

    def test_without_organisations_there_may_be_others(self):
        assert trace_facts(self.run, wanted(self.run, (), []), {}, []) == ((), "BENCHWRIGHT_TRACE_ORGS: not set")
