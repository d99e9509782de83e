"""Leaderboards: which results are on them, in which view and order, and what models declare."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

from benchwright.rehearsal.hub.results import VERIFIED
from benchwright.rehearsal.hub.sample import card, eval_file, results_file

RESULT = ".eval_results/logic.yaml"


@pytest.fixture
def board(ask, logic):
    """Rows as (model, value, pull request), after a check that their ranks count up."""

    def rows(query="", dataset="bench-org/logic-1k"):
        told = ask(f"/api/datasets/{dataset}/leaderboard?{query}").raise_for_status().json()
        assert [row["rank"] for row in told] == list(range(1, len(told) + 1))
        return [(row["modelId"].partition("/")[2], row["value"], row.get("pullRequest")) for row in told]

    return rows


def test_rows_are_ordered_by_value(hub, board, result):
    for name, value in (("a", 50), ("b", 72.5), ("c", 61.25)):
        hub.add_model(f"nova-ai/{name}", {RESULT: result(value)})
    hub.add_model("nova-ai/other-task", {RESULT: result(99, "hard")})
    hub.add_model("nova-ai/none")
    assert board() == board("task_id=logic") == [("b", 72.5, None), ("c", 61.25, None), ("a", 50, None)]
    assert board("task_id=hard") == [("other-task", 99, None)]


def test_the_client_reads_a_board(hub, api, logic, result):
    more = {"url": "https://example.org/blog", "notes": "no tools"}
    hub.add_model("nova-ai/a", {RESULT: result("61.25", **more)}, parameters={"BF16": 7})
    (row,) = api.get_dataset_leaderboard("bench-org/logic-1k")
    assert (row.rank, row.model_id, row.value, row.filename, row.verified, row.notes, row.pull_request) == (
        1, "nova-ai/a", 61.25, RESULT, False, "no tools", None,
    )  # fmt: skip
    assert row.source == {"url": "https://example.org/blog", "isExternal": True, "name": "Model Card"}
    assert (row.author.name, row.num_parameters) == ("nova-ai", 7)


def test_a_task_that_is_unknown_has_an_empty_board(hub, board, result):
    hub.add_model("nova-ai/a", {RESULT: result(50, "logic_1k")})
    assert board("task_id=logic_1k") == []


def test_ids_of_tasks_may_have_any_characters(hub, board):
    for task in ("fixit_%_resolved", "sum-arena/sums_2026"):
        dataset = f"bench-org/{task[:4]}"
        hub.add_dataset(dataset, {"eval.yaml": eval_file("X", task)}, official=True)
        hub.add_model(f"nova-ai/{task[:4]}", {RESULT: results_file(dataset, task, 5)})
        encoded = task.replace("%", "%25").replace("/", "%2F")
        assert board(f"task_id={encoded}", dataset) == board("", dataset) == [(task[:4], 5, None)]


def test_less_can_be_better(ask, hub, board):
    hub.add_dataset("bench-org/wer", {"eval.yaml": eval_file("W", "wer", "speed")}, official=True, lower=["wer"])
    for name, value in (("a", 7.03), ("b", 6.05)):
        files = {".eval_results/w.yaml": results_file("bench-org/wer", "wer", value)}
        files[".eval_results/s.yaml"] = results_file("bench-org/wer", "speed", value)
        hub.add_model(f"nova-ai/{name}", files)
    assert board("", "bench-org/wer") == [("b", 6.05, None), ("a", 7.03, None)]
    assert board("task_id=speed", "bench-org/wer") == [("a", 7.03, None), ("b", 6.05, None)]
    rows = ask("/api/datasets/bench-org/wer/leaderboard").json()
    assert [row.get("lower_is_better") for row in rows] == [True, True]
    assert "lower_is_better" not in ask("/api/datasets/bench-org/wer/leaderboard?task_id=speed").json()[0]


def test_of_equals_the_newcomer_comes_last(hub, board, result):
    for day, name in ((3, "c"), (1, "b"), (2, "a")):
        with hub.at(datetime(2026, 5, day, tzinfo=UTC)):
            hub.add_model(f"nova-ai/{name}", {RESULT: result(50)})
    with hub.at(datetime(2026, 4, 1, tzinfo=UTC)):
        hub.open_pull_request(hub.add_model("nova-ai/d"), {RESULT: result(50)}, author="porter", title="Add")
    assert [name for name, _, _ in board()] == ["b", "a", "c", "d"]


def test_a_model_has_one_row_with_its_best_value(hub, board, result):
    both = result(50) + result(60, notes="with tools")
    repo = hub.add_model("nova-ai/a", {RESULT: both})
    assert board() == [("a", 60, None)]
    hub.open_pull_request(repo, {".eval_results/more.yaml": result(60)}, author="porter", title="Add")
    assert board() == [("a", 60, None)]  # of equals the one on main
    hub.open_pull_request(repo, {".eval_results/more.yaml": result(65)}, author="porter", title="Add")
    assert board() == [("a", 65, 2)]


def test_sizes_and_bases_select_rows(hub, board, result):
    def add(name, parameters, **metadata):
        counts = {"BF16": parameters} if parameters else None
        hub.add_model(f"nova-ai/{name}", {"README.md": card(name, **metadata), RESULT: result(50)}, parameters=counts)

    add("one", 1_000_000_000)
    add("over", 1_000_000_001)
    add("big", 600_000_000_000)
    add("uncounted", None)
    add("tuned", 500_000, base_model="nova-ai/one")
    add("itself", 500_000, base_model="nova-ai/itself")
    add("list", 500_000, base_model="[nova-ai/one, nova-ai/over]")

    def names(query):
        return {name for name, _, _ in board(query)}

    assert names("") == {"one", "over", "big", "uncounted"}
    assert names("base_model=true&max_params=1B") == {"one"}
    assert names("base_model=false") == {"one", "over", "big", "uncounted", "tuned", "itself", "list"}
    assert names("base_model=false&max_params=1B") == {"one", "tuned", "itself", "list"}
    assert names("max_params=3B") == names("max_params=500B") == {"one", "over"}


def test_a_size_that_there_is_not_is_refused(ask, logic):
    answer = ask("/api/datasets/bench-org/logic-1k/leaderboard?max_params=27B")
    assert (answer.status_code, "at max_params" in answer.json()["error"]) == (400, True)


def test_what_never_is_on_a_board(hub, board, result):
    hub.add_user("person")
    hub.add_model("person/own", {RESULT: result(99)})
    hub.add_model("nova-ai/private", {RESULT: result(98)}, private=True)
    hub.add_model("nova-ai/disabled", {RESULT: result(97)}, disabled=True)
    hub.add_model("nova-ai/gated", {RESULT: result(96)}, gated="auto")
    places = (".eval_results/a.yml", ".eval_results/deep/a.yaml", "a.yaml")
    hub.add_model("nova-ai/elsewhere", {place: result(95) for place in places})
    assert board("base_model=false") == [("gated", 96, None)]


def test_open_pull_requests_show_what_they_add(hub, board, result, api):
    repo = hub.add_model("nova-ai/a")
    hub.open_pull_request(repo, {RESULT: result(50)}, author="porter", title="Add")
    assert board() == [("a", 50, 1)]
    hub.commit(repo, {RESULT: result(55)}, ref="refs/pr/1", author="porter")
    assert board() == [("a", 55, 1)]
    hub.close_pull_request(repo, 1)
    assert board() == []
    api.change_discussion_status("nova-ai/a", 1, "open")
    hub.merge_pull_request(repo, 1)
    assert board() == [("a", 55, None)]


def test_a_draft_is_not_shown(hub, board, result, api):
    repo = hub.add_model("nova-ai/a")
    api.create_pull_request("nova-ai/a", title="From scratch")
    hub.commit(repo, {RESULT: result(50)}, ref="refs/pr/1", author="porter")
    assert board() == []


def test_an_edit_shows_what_main_has_until_it_is_merged(hub, board, result, api):
    repo = hub.add_model("nova-ai/a", {RESULT: result(40)})
    hub.open_pull_request(repo, {RESULT: result(70)}, author="porter", title="Correct")
    assert board() == [("a", 40, None)]
    assert [one.value for one in api.model_info("nova-ai/a", expand=["evalResults"]).eval_results] == [40]
    hub.merge_pull_request(repo, 1)
    assert board() == [("a", 70, None)]


def test_a_file_that_comes_to_main_meanwhile_makes_an_edit_of_an_addition(hub, board, result):
    repo = hub.add_model("nova-ai/a")
    hub.open_pull_request(repo, {RESULT: result(50)}, author="porter", title="Add")
    hub.commit(repo, {RESULT: result(45)})
    assert board() == [("a", 45, None)]


def test_results_come_on_boards_late_where_that_is_set(hub, board, result):
    hub.settings.board_lag = 60
    hub.add_model("nova-ai/a", {RESULT: result(50)})
    assert board() == []
    hub.state.clock = lambda: datetime.now(UTC) + timedelta(seconds=61)
    assert board() == [("a", 50, None)]


def test_results_of_a_renamed_model_are_under_its_new_name(hub, board, result):
    hub.rename(hub.add_model("nova-ai/beta", {RESULT: result(50)}), "nova-ai/final")
    assert board() == [("final", 50, None)]


def test_what_is_no_benchmark_has_no_board(hub, api, client, logic):
    hub.add_dataset("bench-org/almost", {"eval.yaml": eval_file("Almost", "almost")})
    with pytest.raises(HfHubHTTPError, match="This dataset is not a benchmark"):
        api.get_dataset_leaderboard("bench-org/almost")
    with pytest.raises(RepositoryNotFoundError):
        api.get_dataset_leaderboard("bench-org/none")
    hub.change(logic, gated="auto", granted=["porter"])
    assert api.get_dataset_leaderboard("bench-org/logic-1k") == []
    with pytest.raises(GatedRepoError):
        client().get_dataset_leaderboard("bench-org/logic-1k")


def test_verified_is_what_the_hub_vouches_for(ask, hub, logic, result):
    hub.add_model("nova-ai/a", {RESULT: result(50) + f"  verifyToken: {VERIFIED}\n"})
    hub.add_model("nova-ai/b", {RESULT: result(40) + "  verifyToken: made up\n"})
    path = "/api/datasets/bench-org/logic-1k/leaderboard"
    assert [row["verified"] for row in ask(path).json()] == [True, False]
    hub.settings.verified_key = False
    assert [row.get("verified") for row in ask(path).json()] == [True, None]


def test_a_broken_file_is_an_error_beside_good_ones(ask, hub, board, result, api):
    bad = result(60) + "  source:\n    url: null\n"
    repo = hub.add_model("nova-ai/a", {RESULT: result(50), ".eval_results/z.yaml": result(1) + bad})
    hub.open_pull_request(repo, {".eval_results/y.yaml": "- dataset: ["}, author="porter", title="Add")
    told = ask("/api/models/nova-ai/a?expand=evalResults").json()["evalResults"]
    assert [one["filename"] for one in told] == [RESULT, ".eval_results/z.yaml", ".eval_results/y.yaml"]
    assert told[0]["data"]["value"] == 50
    assert told[1]["error"] == "✖ Invalid input: expected string, received null → at [1].source.url"
    assert (told[2]["error"].startswith("YAML: "), told[2]["pullRequest"]) == (True, 1)
    assert board() == [("a", 50, None)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a: 1\n", "expected array, received object"),
        ("- 1\n", "expected object, received number → at [0]"),
        ("- {dataset: x, value: 1}\n", "expected object, received string → at [0].dataset"),
        ("- {dataset: {id: a/b}, value: 1}\n", "expected string, received undefined → at [0].dataset.task_id"),
        ("- {dataset: {id: a/b, task_id: t}}\n", "expected number, received undefined → at [0].value"),
        ("- {dataset: {id: a/b, task_id: t}, value: '1'}\n", "expected number, received string → at [0].value"),
        ("- {dataset: {id: a/b, task_id: t}, value: .nan}\n", "expected number, received NaN → at [0].value"),
        ("- {dataset: {id: a/b, task_id: t}, value: true}\n", "expected number, received boolean → at [0].value"),
        ("- {dataset: {id: a/b, task_id: t}, value: 1, date: 2026-05-01}\n", "received date → at [0].date"),
        ("- {dataset: {id: a/b, task_id: t}, value: 1, source: {name: x}}\n", "received undefined → at [0].source.url"),
        ("- {dataset: {id: a/b, task_id: t}, value: 1, notes: [x]}\n", "received array → at [0].notes"),
    ],
)
def test_what_a_file_of_results_may_not_be(ask, hub, content, problem):
    hub.add_model("nova-ai/a", {RESULT: content})
    (told,) = ask("/api/models/nova-ai/a?expand=evalResults").json()["evalResults"]
    assert problem in told["error"]


def test_a_board_comes_as_a_whole(hub, board, result):
    with hub.at_once():
        for number in range(400):
            hub.add_model(f"lab-{number % 7}/m-{number:04}", {RESULT: result(number / 20)})
    assert board()[:2] == [("m-0399", 19.95, None), ("m-0398", 19.9, None)]
    assert len(board()) == 400
