"""Plans of pull requests: what they would say, and everything that is refused."""

from __future__ import annotations

import pytest
from opening_runs import Run, add_model, believed, result_of, spec_of, writes

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.opening.plan import Evidence
from benchwright.rehearsal.hub.faults import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import eval_file, results_file

NOVA = "nova-ai/nova-7b"
FILE = ".eval_results/logic-1k.yaml"


@pytest.fixture
def nova(emulator):
    return add_model(emulator, NOVA)


@pytest.fixture
def planned(open_hub, logic, peers, nova, tmp_path, emulator):
    """The plan for a model with results, nova's by default, beside peers from 80 to 35. Nothing is ever written."""
    peers([80, 70, 60, 50, 40, 35])

    def plan(results="61.25", repo=NOVA, evidence=believed, **more):
        run = Run(open_hub(), tmp_path / "registry.json", evidence)
        (made,) = run.plan(spec_of(tmp_path, {repo: results}), **more)
        assert writes(emulator) == []
        return made

    return plan


def told(plan):
    """The codes and the words of the problems."""
    return [(problem.code, problem.found) for problem in plan.problems]


def test_a_pull_request_as_it_would_look(planned, emulator):
    plan = planned([result_of("61.250", notes="five trials", date="2026-03-01")])
    draft = plan.draft
    assert (plan.state, plan.exit) == ("new", Exit.DONE)
    assert draft.title == "Add community evaluation results for Logic-1k"
    link = f"{emulator.url}/datasets/bench-org/logic-1k?eval_result=nova-ai/nova-7b&leaderboard_task_id=logic"
    assert draft.body.splitlines() == [
        "This adds the results to the leaderboards, where these links show them:",
        "",
        f"- **[Logic-1k]({link})**",
        "",
        "These results were extracted from the model card.",
        "",
        "[What evaluation results are](https://huggingface.co/docs/hub/eval-results). This pull request was opened by a"
        " script: please check the numbers before you merge it, or close it if they do not belong here.",
        "",
        f"<!-- port-evals:{draft.digits} -->",
    ]
    assert draft.files == {
        FILE: "- dataset:\n    id: bench-org/logic-1k\n    task_id: logic\n  value: 61.250\n"
        '  date: "2026-03-01"\n  source:\n    url: https://huggingface.co/nova-ai/nova-7b\n    name: Model Card\n'
        '  notes: "five trials"\n'
    }
    assert draft.results[0].placed.prediction.rank == 3


def test_the_digits_are_the_sources_in_the_boards_unit(planned):
    unit = {"source": "fraction", "board": "percent"}
    plan = planned([result_of("0.6270", unit=unit), result_of("44.90", task="hard", unit_checked=True)])
    assert "  value: 62.70\n" in plan.draft.files[FILE]
    assert "  value: 44.90\n" in plan.draft.files[FILE]
    assert list(plan.draft.files) == [FILE]  # a benchmark has one file
    assert [one.name for one in plan.draft.results] == ["Logic-1k", "Logic-1k (hard)"]


def test_a_fine_tune_is_linked_to_a_view_that_shows_it(planned, emulator):
    emulator.commit(emulator.repo(NOVA), {"README.md": "---\nbase_model: nova-ai/nova-base\n---\n"})
    assert planned().draft.results[0].link.endswith("&leaderboard_base_model=false")


@pytest.mark.parametrize(
    ("results", "code", "found"),
    [
        ([result_of(task="logic_overall")], "unknown-task", "bench-org/logic-1k: no task 'logic_overall'"),
        ("0.627", "outside-scale", "0.627"),
        (
            [result_of(dataset="bench-org/none")],
            "not-on-hub",
            "datasets/bench-org/none: HTTP 404, Repository not found",
        ),
        ([result_of(dataset="MME-Benchmarks/Video-MME-v2")], "blocked-board", None),
        (
            [result_of(task="hard")],
            "outside-scale",
            "61.25, and the values of bench-org/logic-1k, hard do not tell their unit",
        ),
    ],
)
def test_what_does_not_belong_on_its_board_is_refused(planned, results, code, found):
    plan = planned(results)
    assert (plan.state, plan.draft) == ("refused", None)
    assert told(plan)[0][0] == code
    assert found is None or told(plan)[0][1] == found
    assert ":1: repos[0].results[0]" in plan.problems[0].where


def test_a_unit_that_a_person_has_seen_is_taken(planned):
    assert planned([result_of("0.627", unit_checked=True)]).state == "new"


UNSURE = "which may be a fraction, or percent"
IN_FRACTIONS = "of a board whose unit is said to be fraction"


@pytest.mark.parametrize(
    ("value", "unit", "found"),
    [
        ("0.627", None, f"0.627, {UNSURE}"),
        ("1.0", None, f"1.0, {UNSURE}"),
        ("62.7", ("percent", "fraction"), f"0.627, {IN_FRACTIONS}"),
        ("0.627", ("fraction", "fraction"), f"0.627, {IN_FRACTIONS}"),
        ("62.7", ("fraction", "fraction"), f"62.7, {IN_FRACTIONS}"),
        ("62.7", ("fraction", "percent"), "6270"),
        ("62.7", None, None),
        ("0.627", ("percent", "percent"), None),
        ("0.627", ("fraction", "percent"), None),
        ("0.00627", ("fraction", "percent"), None),
    ],
)
def test_a_low_row_lets_no_fraction_onto_a_board_in_percent(planned, peers, value, unit, found):
    peers([72, 60, 0.4], lab="other-lab")
    plan = planned([result_of(value, **({"unit": dict(zip(("source", "board"), unit, strict=True))} if unit else {}))])
    assert told(plan) == ([("outside-scale", found)] if found else [])
    if found:
        assert plan.problems[0].expected == "the values of bench-org/logic-1k, logic, which are 0.4 to 80: percent"
        assert planned([result_of(value, unit_checked=True)]).state == "new"


@pytest.mark.parametrize(
    ("value", "unit", "found"),
    [
        ("0.906", None, None),
        ("90.6", ("percent", "fraction"), None),
        ("0.906", ("percent", "percent"), "0.906, of a board whose unit is said to be percent"),
        ("90.6", None, "90.6"),
    ],
)
def test_a_board_in_fractions_takes_no_other_unit(planned, peers, value, unit, found):
    peers([0.95, 0.9, 0.8], lab="other-lab", task="hard")
    more = {"unit": dict(zip(("source", "board"), unit, strict=True))} if unit else {}
    assert told(planned([result_of(value, task="hard", **more)])) == ([("outside-scale", found)] if found else [])


def test_a_dataset_without_leaderboards_is_refused(planned, emulator):
    emulator.add_dataset("bench-org/almost", {"eval.yaml": eval_file("Almost", "almost")})
    plan = planned([result_of(dataset="bench-org/almost", task="almost")])
    assert told(plan) == [("not-official", "bench-org/almost: without the tag benchmark:official")]


def test_a_result_that_nobody_would_see_is_refused(planned, peers):
    peers(range(90, 38, -1), lab="other-lab", size=0.5)
    plan = planned("36.5")
    assert told(plan) == [("invisible", "36.5 would be in the top 50 of no view of bench-org/logic-1k, logic")]


def test_all_problems_are_told_at_once(planned, emulator):
    emulator.commit(emulator.repo(NOVA), {".eval_results/x.yaml": results_file("bench-org/logic-1k", "logic", 55)})
    problem = Problem("source-absent", "x", "not on the page")
    evidence = Evidence("", (problem,), exit=Exit.REMOTE)
    plan = planned([result_of("0.5"), result_of("9", task="none")], evidence=lambda result: evidence)
    assert [one.code for one in plan.problems] == ["declared", "outside-scale", "source-absent", "unknown-task"]
    assert plan.exit == Exit.REMOTE


def test_persons_and_what_nobody_sees_are_refused(planned, emulator):
    emulator.add_user("visitor")
    add_model(emulator, "visitor/own")
    assert told(planned(repo="visitor/own")) == [
        ("personal-account", "visitor is a person: nothing of theirs is on a leaderboard")
    ]
    assert told(planned(repo="nova-ai/none")) == [("repo-missing", "nova-ai/none: HTTP 404, Repository not found")]


def test_disabled_discussions_are_known_before_anything_is_tried(planned, emulator, nova):
    emulator.change(nova, discussions_disabled=True)
    found = "nova-ai/nova-7b takes no pull requests: its discussions are disabled"
    assert told(planned()) == [("discussions-disabled", found)]


def test_a_renamed_model_has_its_present_name(planned, emulator, nova):
    emulator.rename(nova, "nova-ai/nova-8b")
    plan = planned()
    assert plan.draft.model.id == "nova-ai/nova-8b"
    assert "eval_result=nova-ai/nova-8b" in plan.draft.body
    assert "nova-ai/nova-7b is nova-ai/nova-8b now" in [one.found for one in plan.remarks]


def test_two_names_of_one_model_are_refused(open_hub, logic, peers, emulator, nova, tmp_path):
    peers([80, 35])
    emulator.rename(nova, "nova-ai/nova-8b")
    plans = Run(open_hub(), tmp_path / "registry.json").plan(
        spec_of(tmp_path, {NOVA: "61.25", "nova-ai/nova-8b": "61.25"})
    )
    assert [(plan.state, plan.problems[0].code, plan.exit) for plan in plans] == [("refused", "twice", Exit.USAGE)] * 2


def test_two_names_of_one_board_are_refused(planned, emulator, logic):
    emulator.rename(logic, "bench-org/logic")
    plan = planned([result_of("61.25"), result_of("62.5", dataset="bench-org/logic")])
    assert [one.code for one in plan.problems] == ["twice"]


def test_a_gated_model_can_have_a_pull_request(planned, emulator, nova):
    emulator.change(nova, gated="manual")
    plan = planned()
    assert plan.state == "new"
    assert "its files are behind a gate: a reviewer may not see its card" in [one.found for one in plan.remarks]


class TestDeclaredAlready:
    """A benchmark that the model has a result for, wherever and by whomever."""

    def test_on_main_in_a_file_of_another_name(self, planned, emulator, nova, result):
        emulator.commit(nova, {".eval_results/anything.yaml": result(55)})
        found = ".eval_results/anything.yaml on main declares bench-org/logic-1k, logic with 55, which is not 61.25"
        assert told(planned()) == [("declared", found)]

    def test_in_somebody_elses_open_pull_request(self, planned, emulator, nova, result):
        emulator.add_user("visitor")
        emulator.open_pull_request(nova, {FILE: result(61.25)}, author="visitor", title="Add")
        found = f"{FILE} in pr 1 by visitor declares bench-org/logic-1k, logic with 61.25"
        assert told(planned()) == [("declared", found)]

    def test_in_a_file_that_the_hub_does_not_take(self, planned, emulator, nova):
        emulator.commit(nova, {".eval_results/odd.yaml": "- dataset: {id: bench-org/logic-1k, task_id: logic\n"})
        ((code, found),) = told(planned())
        assert code == "declared"
        assert found.startswith(".eval_results/odd.yaml on main may declare bench-org/logic-1k, logic: no YAML")

    def test_another_task_is_no_obstacle_and_its_name_is_not_taken(self, planned, emulator, nova, result):
        emulator.commit(nova, {".eval_results/LOGIC-1k.yaml": result(12, "hard")})
        assert list(planned().draft.files) == [".eval_results/bench-org-logic-1k.yaml"]

    def test_a_name_that_the_spec_wants_is_not_taken_from_main(self, planned, emulator, nova, result):
        emulator.commit(nova, {".eval_results/mine.yaml": result(12, "hard")})
        plan = planned([result_of(filename="mine.yaml")])
        assert told(plan) == [("filename-taken", ".eval_results/mine.yaml is there already")]

    def test_what_the_hub_does_not_tell_is_no_go(self, planned, emulator):
        emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path="*/discussions", times=-1)])
        plan = planned()
        assert (plan.state, plan.exit) == ("refused", Exit.REMOTE)
        assert told(plan) == [("hub-unavailable", "nova-ai/nova-7b: HTTP 500")]


class TestClosedBefore:
    """Somebody has said no: a person decides, and never about our own."""

    def test_by_the_owner(self, planned, emulator, nova, result):
        emulator.add_user("visitor")
        pull = emulator.open_pull_request(nova, {FILE: result(64)}, author="visitor", title="Add")
        emulator.close_pull_request(nova, pull.num)
        found = "pr 1 had 64 for bench-org/logic-1k, logic, and was closed by nova-ai"
        assert told(planned()) == [("closed", found)]
        assert planned([result_of(answers={"closed-pull-request": "the owner asked for it"})]).state == "new"

    def test_our_own_is_never_opened_again(self, planned, emulator, nova, result):
        pull = emulator.open_pull_request(nova, {FILE: result(61.25)}, author="porter", title="Add")
        emulator.close_pull_request(nova, pull.num)
        plan = planned([result_of(answers={"closed-pull-request": "I want to"})], author="porter")
        found = "pr 1 of ours had 61.25 for bench-org/logic-1k, logic, and was closed by nova-ai"
        assert told(plan) == [("closed", found)]


def test_of_a_pull_request_with_other_results_a_second_is_not_opened(planned, emulator, nova, result):
    body = "<!-- port-evals:0123456789ab -->"
    emulator.open_pull_request(nova, {".eval_results/x.yaml": result(9, "hard")}, author="porter", title="T", body=body)
    plan = planned(author="porter")
    assert told(plan) == [("own-pull-request", "pull request 1 of ours is open with other results")]
    assert plan.problems[0].fix.endswith("--amend 1")


def test_a_title_like_ours_is_nothing_and_a_marker_is_enough_for_nobody_in_particular(planned, emulator, nova, result):
    title = planned().draft.title
    emulator.add_user("visitor")
    files = {".eval_results/x.yaml": result(9, "hard")}
    emulator.open_pull_request(nova, files, author="visitor", title=title)
    assert planned().state == planned(author="porter").state == "new"
    body = "<!-- port-evals:0123456789ab -->"
    emulator.open_pull_request(nova, files, author="visitor", title=title, body=body)
    found = "pull request 2 by visitor has a marker like ours, and is open with other results"
    assert told(planned()) == [("own-pull-request", found)]
    assert planned(author="porter").state == "new"


def test_of_two_pull_requests_with_the_same_results_none_is_adopted(planned, emulator, nova):
    draft = planned().draft
    for _ in range(2):
        emulator.open_pull_request(nova, draft.files, author="porter", title=draft.title, body=draft.body)
    (problem,) = planned(author="porter").problems
    assert (problem.code, problem.found) == ("two-pull-requests", "pull requests 1, 2 of nova-ai/nova-7b are the same")


def test_a_damaged_registry_stops_everything(planned, tmp_path):
    (tmp_path / "registry.json").write_text('{"version": 1, "rec')
    with pytest.raises(Failure) as failure:
        planned()
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.REFUSED, "registry-damaged")
