"""Every status that a lead may have, by what the Hub says of its model and its board."""

from __future__ import annotations

import pytest

from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card, eval_file, results_file
from candidate_lists import Lists
from candidate_lists import result as lead

NOVA = "nova-ai/nova-7b"
URL = f"https://huggingface.co/{NOVA}"
FILE = ".eval_results/logic.yaml"


@pytest.fixture
def lists(tmp_path, emulator, logic, peers):
    emulator.add_user("visitor")
    peers([70, 65, 60, 55, 50, 45, 40, 35, 30])
    return Lists(tmp_path)


@pytest.fixture
def nova(emulator):
    return emulator.add_model(NOVA, {"README.md": card("Nova")}, parameters={"BF16": 7_600_000_000})


def test_a_candidate_says_where_it_would_be_seen(lists, nova, asked):
    outcome, (row,) = lists.search(lead(URL, published="2026-03-02", paper_title="Nova", result_id="12"))
    assert outcome.exit == 0
    assert row | {"row": "1", "status": "candidate", "reason": "", "repo": URL, "repo_canonical": NOVA} == row
    told = {
        "org_kind": "org",
        "major": "",
        "hub_dataset": "bench-org/logic-1k",
        "hub_task": "logic",
        "hub_name": "Logic-1k",
    }
    assert row | told == row
    assert row | {"pwc_result_id": "12", "pwc_value_text": "61.25", "board_value_guess": "61.25"} == row
    assert (
        row | {"unit_conversion": "none", "predicted_rank": "3", "predicted_view": "all sizes, base models only"} == row
    )
    assert row | {"published": "2026-03-02", "paper_title": "Nova", "corrections": "", "metadata_problems": ""} == row
    assert asked()


def test_a_fine_tune_is_seen_with_the_toggle_off(lists, emulator):
    emulator.add_model(NOVA, {"README.md": card("Nova", base_model=NOVA)}, parameters={"BF16": 7_600_000_000})
    _, (row,) = lists.search(lead(NOVA))
    assert (row["status"], row["predicted_view"]) == ("candidate", "all sizes, all models")
    assert row["metadata_problems"] == "its card names the model itself as its base: the default view hides it"


def test_a_candidate_that_no_view_shows_says_so(lists, emulator, peers):
    peers([90] * 60, lab="crowd-lab")
    emulator.add_model(NOVA, {"README.md": card("Nova")})
    outcome, (row,) = lists.search(lead(NOVA))
    assert (row["status"], row["reason"], row["predicted_rank"]) == ("candidate", "in the top 50 of no view", "")
    assert outcome.data["seen"] == 0


def test_a_result_that_the_board_shows_is_on_board(lists, emulator, nova, result, asked):
    emulator.commit(nova, {".eval_results/under-another-name.yaml": result("61.250")})
    assert lists.statuses(lead(URL)) == [("on_board", "number 3 (main)")]
    assert not [one for one in asked() if "discussions" in one]
    rival = emulator.add_model("nova-ai/rival", parameters={"BF16": 10**9})
    emulator.open_pull_request(rival, {FILE: result(62)}, author="visitor", title="Add")
    assert lists.statuses(lead("nova-ai/rival", "62"), name="b.csv") == [("on_board", "number 3 (pr 1)")]


@pytest.mark.parametrize("name", [FILE, ".eval_results/anything.yml"])
def test_a_benchmark_that_main_declares_is_declared_already(lists, emulator, nova, result, name):
    emulator.commit(nova, {name: result("64.0")})
    reason = f"64.0 in main ({name}), which is another value"
    assert lists.statuses(lead(URL)) == [("already_declared", reason)]


def test_a_benchmark_in_somebody_else_s_pull_request_is_declared_already(lists, emulator, nova, result):
    emulator.open_pull_request(nova, {FILE: result("64.0")}, author="visitor", title="Add")
    reason = f"64.0 in pr 1 ({FILE}), which is another value"
    assert lists.statuses(lead(URL)) == [("already_declared", reason)]


def test_a_benchmark_in_a_broken_file_is_declared_already(lists, emulator, nova, result):
    broken = result("61.25") + "  source:\n    url: null\n"
    emulator.commit(nova, {FILE: broken})
    _, (row,) = lists.search(lead(URL))
    assert row["status"] == "already_declared"
    assert row["reason"] == f"61.25 in main ({FILE}, in a file that the Hub does not take)"
    assert row["metadata_problems"] == f"{NOVA}: {FILE} (main): source.url is no text"


def test_a_file_that_says_nothing_is_for_a_person(lists, emulator, nova):
    emulator.commit(nova, {FILE: "{"})
    assert lists.statuses(lead(URL)) == [("needs_human", f"it may be declared: {FILE} (main) cannot be read")]


def test_another_task_or_benchmark_of_a_model_is_no_declaration(lists, emulator, nova, result):
    emulator.commit(
        nova, {FILE: result("6", "hard"), ".eval_results/b.yaml": results_file("bench-org/other", "logic", 3)}
    )
    assert lists.statuses(lead(URL))[0][0] == "candidate"


def test_a_value_that_a_sibling_shows_is_declared_elsewhere(lists, emulator, nova, result):
    emulator.add_model("nova-ai/Nova-7B-FP8", {FILE: result("61.25")})
    emulator.add_model("other-lab/nova-7b", {FILE: result("58")})
    reason = "nova-ai/Nova-7B-FP8 is on the board with this value (main)"
    assert lists.statuses(lead(URL)) == [("declared_elsewhere", reason)]
    assert lists.statuses(lead(URL, "58"), name="b.csv")[0][0] == "candidate"


def test_a_value_that_the_base_shows_is_declared_elsewhere(lists, emulator, result):
    emulator.add_model("base-lab/base", {FILE: result("61.25")})
    emulator.add_model(NOVA, {"README.md": card("Nova", base_model="base-lab/base")}, parameters={"BF16": 10**9})
    assert lists.statuses(lead(URL)) == [("declared_elsewhere", "base-lab/base is on the board with this value (main)")]


@pytest.mark.parametrize(
    ("closer", "found"),
    [
        (None, ("closed_by_owner", "pr 1 with 64 was closed by the owner")),
        ("visitor", ("needs_human", "pr 1 with 64 was closed by its own author")),
    ],
)
@pytest.mark.parametrize("ref", ["kept", "deleted"])
def test_a_benchmark_in_a_closed_pull_request_is_nobody_s_to_open_again(
    lists, emulator, nova, result, closer, found, ref
):
    emulator.open_pull_request(nova, {FILE: result(64)}, author="visitor", title="Add")
    emulator.close_pull_request(nova, 1, author=closer)
    if ref == "deleted":
        emulator.delete_ref(nova, 1)
    assert lists.statuses(lead(URL)) == [found]


def test_a_benchmark_that_was_merged_and_taken_out_since_is_for_a_person(lists, emulator, nova, result):
    emulator.open_pull_request(nova, {FILE: result(64)}, author="visitor", title="Add")
    emulator.merge_pull_request(nova, 1)
    emulator.commit(nova, deleted=[FILE])
    reason = "pr 1 with 64 was merged: its owner has taken it out since"
    assert lists.statuses(lead(URL)) == [("needs_human", reason)]


def test_a_person_s_model_is_not_looked_into(lists, emulator, asked):
    emulator.add_user("somebody")
    emulator.add_model("somebody/best", parameters={"BF16": 10**9})
    found = lists.statuses(lead("somebody/best", "99"))
    assert found == [("personal_account", "somebody is a person: nothing of theirs is on a leaderboard")]
    assert not [one for one in asked() if "leaderboard" in one or "discussions" in one]


def test_a_model_without_discussions_takes_no_pull_request(lists, emulator, nova, asked):
    emulator.change(nova, discussions_disabled=True)
    assert lists.statuses(lead(URL)) == [("discussions_disabled", "it takes no pull requests")]


def test_models_that_are_gone_are_missing(lists, emulator, nova):
    emulator.delete(nova)
    emulator.add_model("nova-ai/inside", private=True)
    emulator.add_model("nova-ai/off", disabled=True)
    _, rows = lists.search(*map(lead, (URL, "nova-ai/inside", "nova-ai/off", "https://huggingface.co/datasets/a/b")))
    found = {row["repo"]: (row["status"], row["reason"]) for row in rows}
    assert found == {
        URL: ("repo_missing", f"{NOVA} is deleted or private"),
        "nova-ai/inside": ("repo_missing", "nova-ai/inside is deleted or private"),
        "nova-ai/off": ("repo_missing", "nova-ai/off is disabled"),
        "https://huggingface.co/datasets/a/b": (
            "repo_missing",
            "'https://huggingface.co/datasets/a/b' is no model's address",
        ),
    }
    assert all(row["corrections"].startswith("the CSV has the model at ") for row in rows)


def test_a_renamed_model_is_looked_up_by_its_present_name(lists, emulator, nova):
    emulator.rename(nova, "nova-ai/nova-8b")
    _, (row,) = lists.search(lead(f"{URL}/tree/main?x=1"))
    assert (row["status"], row["repo_canonical"]) == ("candidate", "nova-ai/nova-8b")
    assert row["corrections"] == f"the CSV has {NOVA} for the model that is now nova-ai/nova-8b"


def test_a_gated_model_is_a_candidate_with_a_word_of_warning(lists, emulator, nova):
    emulator.change(nova, gated="manual")
    _, (row,) = lists.search(lead(URL))
    assert (row["status"], row["notes"]) == ("candidate", "gated: who reviews may not see its card")


def test_a_fraction_of_a_board_in_percent_is_converted_and_said(lists, nova):
    _, (row,) = lists.search(lead(URL, "0.627"))
    assert (row["status"], row["board_value_guess"], row["unit_conversion"]) == ("candidate", "62.7", "x100")
    assert row["corrections"] == "the CSV has 0.627 where the board is in percent: 62.7"


def test_a_value_without_a_unit_that_fits_is_for_a_person(lists, nova):
    assert lists.statuses(lead(URL, "180")) == [("needs_human", "180 is outside of the board's scale, 30 to 70")]


def test_several_values_for_one_board_are_for_a_person(lists, nova):
    results = (lead(URL, "61", result_id="4"), lead(f"{URL}/", "63", result_id="9"), lead(NOVA, "61.0", result_id="5"))
    reason = "several values for one board: 61 (4), 61.0 (5), 63 (9)"
    assert lists.statuses(*results) == [("needs_human", reason)] * 3


def test_one_result_that_is_told_twice_is_one_row(lists, nova):
    _, (row,) = lists.search(lead(URL, result_id="4"), lead(URL, result_id="9"))
    assert (row["status"], row["pwc_result_id"]) == ("candidate", "4;9")


def test_one_result_under_two_addresses_is_one_candidate(lists, nova):
    found = lists.statuses(lead(URL, result_id="4"), lead(NOVA, result_id="9"))
    assert found == [("candidate", ""), ("needs_human", "the same as 61.25 (4)")]


def test_boards_that_there_are_not_are_for_a_person(lists, emulator, nova):
    emulator.add_dataset("bench-org/quiz", {"eval.yaml": eval_file("Quiz", "a", "b")}, official=True)
    emulator.add_dataset("bench-org/plain", {"eval.yaml": eval_file("Plain", "a")})
    emulator.add_dataset("bench-org/bare", {"README.md": "x"}, official=True)
    boards = ("bench-org/quiz ", "bench-org/quiz c", "bench-org/plain a", "bench-org/bare a", "bench-org/none a")
    results = [
        lead(URL, str(number), slug="", metric="", hub_dataset=board.split(" ")[0], hub_task=board.split(" ")[1])
        for number, board in enumerate(boards)
    ]
    blocked = lead(URL, "70", slug="", metric="", hub_dataset="MME-Benchmarks/Video-MME-v2", hub_task="video-mme-v2")
    found = lists.statuses(*results, blocked)
    assert found == [
        ("needs_human", "bench-org/quiz has several tasks; its tasks: a, b"),
        ("needs_human", "bench-org/quiz has no task 'c'; its tasks: a, b"),
        ("needs_human", "bench-org/plain is not official: it has no leaderboard"),
        ("needs_human", "bench-org/bare has no eval.yaml"),
        ("needs_human", "there is no dataset bench-org/none"),
        ("needs_human", "MME-Benchmarks/Video-MME-v2 is blocked: its board mixes metrics and protocols"),
    ]


def test_the_only_task_of_a_benchmark_needs_no_name(lists, emulator, nova):
    emulator.add_dataset("bench-org/quiz", {"eval.yaml": eval_file("Quiz", "only")}, official=True)
    _, (row,) = lists.search(lead(URL, "0.5", "quiz"))
    assert (row["hub_task"], row["board_value_guess"], row["unit_conversion"]) == ("only", "50", "x100")


@pytest.mark.parametrize("path", [f"/api/models/{NOVA}", "*/leaderboard", "*/discussions", "/datasets/*/eval.yaml"])
def test_what_cannot_be_looked_up_is_unknown_and_asked_again(lists, emulator, nova, path):
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path=path, times=99)])
    outcome, (row,) = lists.search(lead(URL))
    assert (outcome.exit, row["status"]) == (4, "unknown")
    assert row["reason"].endswith("HTTP 500")
    assert [one.code for one in outcome.problems] == ["unknown"]
    emulator.fault = None
    outcome, (row,) = lists.search(lead(URL))
    assert (outcome.exit, row["row"], row["status"]) == (0, "1", "candidate")


def test_a_benchmark_behind_a_gate_is_unknown(lists, emulator, nova):
    guarded = {"eval.yaml": eval_file("Guarded", "a")}
    emulator.add_dataset("bench-org/guarded", guarded, official=True, gated="manual")
    outcome, (row,) = lists.search(lead(URL, slug="", metric="", hub_dataset="bench-org/guarded", hub_task="a"))
    assert (outcome.exit, row["status"]) == (3, "unknown")
    assert "set HF_TOKEN to a token of somebody who was let in" in row["reason"]


def test_many_leads_of_one_model_take_few_requests(lists, emulator, nova, result, asked):
    for number in range(3):
        emulator.open_pull_request(nova, {FILE: result(number, "hard")}, author="visitor", title="Add")
    lists.search(lead(URL), lead(URL, "62", metric="time"))
    requests = [one for one in asked() if "nova" in one and "/leaderboard" not in one]
    assert len(requests) <= 2 + 1 + 2 * 3


def test_what_a_foreign_file_says_stays_on_one_line(lists, emulator, nova):
    entry = '- dataset: {id: bench-org/logic-1k, task_id: logic}\n  value: "=1+1\\n\\u202e,2"\n'
    emulator.commit(nova, {FILE: entry})
    assert lists.statuses(lead(URL)) == [
        ("already_declared", f"'=1+1 ,2 in main ({FILE}, in a file that the Hub does not take), which is another value")
    ]
