"""Leads from a server that answers as the documents of Papers With Code's API say; its pages are made by hand."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.candidates.journal import Journal
from benchwright.hub.candidates.mapping import BoardMapping
from benchwright.hub.candidates.pwc_api import PwcApi
from benchwright.rehearsal.hub.sample import card
from candidate_lists import SOON, Lists
from object_servers import FaultyServer, drop_connection, stopped_at_end

ROW = {
    "paper_id": 1,
    "task_id": 3,
    "dataset_id": 7,
    "model_name": "Nova 7B",
    "harness": "H 1",
    "hf_model_url": "https://huggingface.co/nova-ai/nova-7b",
    "paper_title": "Nova",
    "paper_arxiv_id": "2601.00001",
    "paper_published_date": "2026-01-02",
    "task_slug": "reasoning",
}


class Api:
    """The two lists that are asked for, in pages of at most ``page`` rows."""

    def __init__(self) -> None:
        self.datasets = [
            {
                "id": 7,
                "name": "Logic 1K",
                "slug": "logic-1000",
                "hf_url": "https://huggingface.co/datasets/bench-org/logic-1k",
            }
        ]
        self.datasets += [{"id": 8, "name": "Logic-1k Hard", "slug": "logic-1k-hard", "hf_url": None}]
        self.rows: list[dict] = []
        self.page = 100
        self.form = "number"

    def __call__(self, environ, start):
        words = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
        rows = {"/api/v1/datasets/": self.datasets, "/api/v1/datasets/7/evaluations/": self.rows}.get(
            environ["PATH_INFO"]
        )
        if rows is None:
            start("404 Not Found", [("Content-Type", "text/html")])
            return [b"<html>no such page</html>"]
        size, page = min(self.page, int(words["page_size"])), int(words["page"])
        told = {"count": len(rows), "results": rows[(page - 1) * size : page * size]}
        more = page * size < len(rows)
        if self.form == "number":
            told["next_page"] = page + 1 if more else None
        elif self.form == "address":
            told["next_page"] = f"/api/v1{environ['PATH_INFO']}?page={page + 1}&page_size={size}" if more else None
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(told).encode()]


@pytest.fixture
def pages():
    return Api()


@pytest.fixture(scope="module")
def any_server():
    """A server for the module, which takes half a second to stop; ``pages`` are those of a test."""

    def answer(environ, start):
        return running.pages(environ, start)

    with stopped_at_end(FaultyServer(answer)) as running:
        yield running


@pytest.fixture
def server(any_server, pages):
    any_server.pages, any_server.fault, any_server.seen = pages, None, []
    return any_server


@pytest.fixture
def lists(tmp_path):
    return Lists(tmp_path)


@pytest.fixture
def read(lists, server, tmp_path):
    """Reads all leads, with the journal that an earlier call left."""

    def leads(pause=0.0, **more):
        journal = Journal(tmp_path / "journal", {})
        api = PwcApi(journal, f"{server.url}/api/v1", SOON, pause=pause, **more)
        return api.leads(BoardMapping.load(lists.mapping), lambda done, total, **told: None), api.incomplete

    return leads


def row(id_, metrics, **more):
    return {**ROW, "id": id_, "metrics": metrics, **more}


def answering(status, *headers, times=1):
    left = [times]

    def fault(environ, start):
        if left[0] == 0 or "evaluations" not in environ["PATH_INFO"]:
            return None
        left[0] -= 1
        start(status, list(headers))
        return [b"busy"]

    return fault


@pytest.mark.parametrize("form", ["number", "address", "count"])
def test_every_page_is_read_once(pages, server, read, form):
    pages.rows = [row(number, {"accuracy": number}, model_name=f"m{number}") for number in range(250)]
    pages.page, pages.form = 100, form
    leads, incomplete = read()
    assert [lead.id for lead in leads] == [str(number) for number in range(250)]
    assert incomplete == []
    evaluations = [one for one in server.seen if "evaluations" in one]
    assert evaluations == [
        f"GET /api/v1/datasets/7/evaluations/?ordering=best_rank&page={page}&page_size=100" for page in (1, 2, 3)
    ]
    server.seen.clear()
    assert read()[0] == leads
    assert server.seen == []


def test_a_result_that_is_split_over_rows_is_one(pages, read):
    pages.rows = [
        row(1, {"Accuracy": "62.70", "F1": None}, paper_title=None, hf_model_url=None),
        row(2, {"Time": 12.5}, paper_published_date=None),
        row(3, {"Accuracy": 1, "Time": True}, harness="H 2", hf_model_url=None),
        row(4, {"Accuracy": 61.250}, paper_id=2, source_url="https://x.org", uses_additional_data=True),
    ]
    leads, _ = read()
    assert [(lead.id, lead.metric, lead.value_text) for lead in leads] == [
        ("1", "Accuracy", "62.70"),
        ("2", "Time", "12.5"),
        ("4", "Accuracy", "61.25"),
    ]
    first, second, last = leads
    assert first.url == second.url == ROW["hf_model_url"]
    assert (first.paper_title, second.published, first.harness) == ("Nova", "2026-01-02", "H 1")
    assert (first.source_url, last.source_url) == ("https://arxiv.org/abs/2601.00001", "https://x.org")
    assert last.remark == "uses additional data"


def test_numbers_keep_their_digits(pages, server, read):
    def fault(environ, start):
        if "evaluations" not in environ["PATH_INFO"]:
            return None
        start("200 OK", [])
        told = json.dumps({"count": 1, "results": [row(1, {"accuracy": "@"})]})
        return [told.replace('"@"', "44.90").encode()]

    server.fault = fault
    assert [lead.value_text for lead in read()[0]] == ["44.90"]
    assert [lead.value_text for lead in read()[0]] == ["44.90"]


@pytest.mark.parametrize(
    "fault",
    [
        answering("429 Too Many Requests", ("Retry-After", "0")),
        answering("429 Too Many Requests", ("RateLimit", '"api";r=0;t=0')),
        answering("500 Internal Server Error", times=2),
        answering("503 Service Unavailable"),
    ],
)
def test_what_may_pass_is_asked_again(pages, server, read, fault):
    pages.rows = [row(1, {"accuracy": 60})]
    server.fault = fault
    assert len(read()[0]) == 1


def test_a_line_that_breaks_is_no_end(pages, server, read):
    pages.rows = [row(1, {"accuracy": 60})]
    cut = iter([True])
    server.fault = lambda environ, start: drop_connection(environ) if next(cut, False) else None
    assert len(read()[0]) == 1


def test_an_api_that_does_not_answer_fails_and_is_gone_on_with(pages, server, read):
    pages.rows = [row(number, {"accuracy": number}) for number in range(150)]
    broken = answering("500 Internal Server Error", times=99)
    server.fault = lambda environ, start: broken(environ, start) if "page=2" in environ["QUERY_STRING"] else None
    with pytest.raises(Failure) as failure:
        read()
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.REMOTE, "pwc-unavailable")
    server.fault = None
    server.seen.clear()
    assert len(read()[0]) == 150
    assert server.seen == ["GET /api/v1/datasets/7/evaluations/?ordering=best_rank&page=2&page_size=100"]


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        ("200 OK", b"<html>", "an answer that is no list"),
        ("200 OK", b'{"results": 3}', "an answer that is no list"),
        ("200 OK", b"[]", "an answer that is no list"),
        ("404 Not Found", b"", "HTTP 404"),
        ("403 Forbidden", b"", "HTTP 403"),
    ],
)
def test_an_answer_that_is_none_is_refused(server, read, status, body, found):
    def fault(environ, start):
        start(status, [])
        return [body]

    server.fault = fault
    with pytest.raises(Failure) as failure:
        read()
    (problem,) = failure.value.problems
    assert (failure.value.exit, problem.code, problem.found) == (Exit.ENVIRONMENT, "pwc-answer", found)


def test_rows_that_did_not_come_are_told(pages, server, read):
    pages.rows = [row(number, {"accuracy": number}) for number in (1, 2, 2)]
    leads, incomplete = read()
    assert len(leads) == 2
    assert [(one.code, one.where, one.found) for one in incomplete] == [
        ("pwc-incomplete", "/datasets/7/evaluations/", "2 of 3 rows")
    ]


def test_a_next_page_that_leads_back_is_the_end(pages, server, read):
    def fault(environ, start):
        if "evaluations" not in environ["PATH_INFO"]:
            return None
        start("200 OK", [])
        return [json.dumps({"count": 1, "next_page": 1, "results": [row(1, {"accuracy": 60})]}).encode()]

    server.fault = fault
    assert len(read()[0]) == 1


def test_requests_keep_their_distance(pages, server, read):
    pages.rows = [row(1, {"accuracy": 60})]
    slept: list[float] = []
    read(pause=1.0, sleep=slept.append)
    assert len(slept) == len(server.seen) - 1
    assert all(0.5 < one <= 1.0 for one in slept)


def test_no_token_is_sent_and_nothing_but_get(pages, server, read, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 30)
    sent = []
    server.fault = lambda environ, start: sent.append(environ.get("HTTP_AUTHORIZATION"))
    read()
    assert set(sent) == {None}
    assert all(one.startswith("GET ") for one in server.seen)


def test_a_search_by_the_api(pages, server, lists, emulator, logic, peers):
    peers([70, 60, 50, 40, 30])
    emulator.add_model("nova-ai/nova-7b", {"README.md": card("Nova")}, parameters={"BF16": 7 * 10**9})
    pages.rows = [row(1, {"accuracy": 0.627}), row(2, {"accuracy": 50}, hf_model_url="x/y", model_name="y")]
    pages.rows += [row(3, {"recall": 50}), row(4, {"accuracy": 9}, hf_model_url=None, model_name="closed")]
    outcome, rows = lists.search(source="api", org="nova-ai", settings={"PWC_API_URL": f"{server.url}/api/v1/"})
    assert [(one["pwc_result_id"], one["status"], one["board_value_guess"]) for one in rows] == [
        ("1", "candidate", "62.7")
    ]
    assert rows[0]["corrections"] == "Papers With Code has 0.627 where the board is in percent: 62.7"
    assert outcome.data["unmapped_metrics"] == {"logic-1000: recall": 1}
