"""What a sweep decides: proofs that nobody sees a result, classes, plans; no fault makes it close too much."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.contract import Exit, Failure, Problem
from benchwright.hub.boards import Board, BoardRow
from benchwright.hub.links import view_link
from benchwright.hub.model_repo import ModelRepo
from benchwright.hub.opening.body import addresses
from benchwright.hub.opening.words import TITLE, Told, body_for, in_order, title_for
from benchwright.hub.registry import Record, RecordedResult
from benchwright.hub.sweep.classes import classify
from benchwright.hub.sweep.facts import Comment, PullFacts, ResultFacts
from benchwright.hub.sweep.plan import plan
from benchwright.hub.sweep.sight import Hidden, Shown, Superseded, Untold, sight
from benchwright.hub.views import DEFAULT, SHOWN, VIEWS, WIDEST, View

LOGIC = "bench-org/logic-1k"
OURS, VALUE, NUM = "nova-ai/nova-27b", Decimal("62.5"), 7
DOWN = Failure(Problem("hub-unavailable", "datasets/bench-org/logic-1k", "HTTP 502"), exit=Exit.REMOTE)


@dataclass(frozen=True)
class Peer:
    name: str
    value: float
    billions: float | None
    has_base: bool


def rows_of(peers: list[Peer], view: View) -> tuple[BoardRow, ...]:
    """The rows of a view, as the Hub would rank them; the newcomer stands behind its equals."""
    listed = [one for one in peers if view.shows(count(one), has_base=one.has_base)]
    listed.sort(key=lambda one: (-one.value, one.name == OURS))
    return tuple(
        BoardRow(
            rank,
            one.name,
            "org",
            Decimal(str(one.value)),
            ".eval_results/logic.yaml",
            pull_request=NUM if one.name == OURS else None,
            parameters=count(one),
        )
        for rank, one in enumerate(listed, start=1)
    )


def count(one: Peer) -> int | None:
    return None if one.billions is None else round(one.billions * 10**9)


def model_of(own: Peer) -> ModelRepo:
    return ModelRepo(OURS, "0" * 40, "nova-ai", "org", parameters=count(own), bases=("base/model",) * own.has_base)


def boards_of(peers: list[Peer], **disturbed):
    """All views of a board; a view that is disturbed is a failure, or has the rows given."""

    def board_of(view: View) -> Board:
        rows = disturbed["views"].get(view) if "views" in disturbed else None
        if isinstance(rows, Failure):
            raise rows
        return Board(LOGIC, "logic", view, rows_of(peers, view) if rows is None else rows, False)

    return board_of


sizes = st.sampled_from([None, 0.5, 2, 7, 27, 70, 400, 900])
peers = st.builds(Peer, st.just(""), st.sampled_from([50.0, 62.5, 70.0, 80.0]), sizes, st.booleans())
crowds = st.lists(st.tuples(peers, st.sampled_from([1, 20, 49, 50])), max_size=6).map(
    lambda groups: [
        replace(one, name=f"peer/{at}-{number}") for at, (one, times) in enumerate(groups) for number in range(times)
    ]
)
faults = st.sampled_from([DOWN, "empty", 1, 30, 60])


@settings(max_examples=300, deadline=None)
@given(crowds, sizes, st.booleans(), st.dictionaries(st.sampled_from(VIEWS), faults), st.sampled_from([None, *VIEWS]))
def test_what_is_called_hidden_is_hidden_and_what_is_called_shown_is_shown(crowd, billions, has_base, broken, linked):
    """Whatever views fail, come empty, or lack their ends: the result is not taken for hidden while a view shows it."""
    own = Peer(OURS, float(VALUE), billions, has_base)
    everybody = [*crowd, own]
    shown = {}
    for view in VIEWS:
        for row in rows_of(everybody, view):
            if row.model == OURS and row.rank <= SHOWN:
                shown[view] = row.rank
    views = {
        view: fault if isinstance(fault, Failure) else rows_of(everybody, view)[: 0 if fault == "empty" else fault]
        for view, fault in broken.items()
    }
    seen = sight(boards_of(everybody, views=views), model_of(own), VALUE, NUM, linked)
    if isinstance(seen, Hidden):
        assert shown == {}
    if isinstance(seen, Shown):
        assert shown[seen.view] == seen.rank
    if not broken:
        best = linked if linked in shown else next(iter(shown), None)
        assert isinstance(seen, Shown) == (best is not None)
        assert best is None or seen.view == best
        crowded = bool(rows_of(everybody, DEFAULT))
        assert best is not None or isinstance(seen, Hidden) == crowded


def test_a_view_that_fails_ends_the_search():
    """Behind it there may be a broader view than those that are told."""
    crowd = [Peer(f"peer/{number}", 70, 70, False) for number in range(50)]
    own = Peer(OURS, 62.5, 27, False)
    look = lambda **views: sight(boards_of([*crowd, own], **views), model_of(own), VALUE, NUM, DEFAULT)  # noqa: E731
    assert look() == Shown(View("32B"), 1, 51)
    assert look(views={View("500B"): DOWN}) == Untold("datasets/bench-org/logic-1k: HTTP 502", Exit.REMOTE)
    assert look(views={View("1B"): DOWN}) == Shown(View("32B"), 1, 51)


@pytest.mark.parametrize(("view", "billions", "has_base"), [(DEFAULT, None, False), (View("32B", False), 27, True)])
def test_a_view_that_lacks_its_end_proves_nothing(view, billions, has_base):
    """The row would be the 41st of it; its first thirty rows are a board that looks whole."""
    own = Peer(OURS, 62.5, billions, has_base)
    crowd = [own, Peer("peer/small", 10, 1, False), *(Peer(f"peer/{number}", 70, 70, True) for number in range(60))]
    crowd += [Peer(f"peer/{number}-27b", 70, 27, has_base) for number in range(40)]
    assert sight(boards_of(crowd), model_of(own), VALUE, NUM, None) == Shown(view, 41, 101)
    cut = [view, *(one for one in VIEWS[2:] if not one.base_only)]
    views = {one: rows_of(crowd, one)[:30] for one in cut}
    seen = sight(boards_of(crowd, views=views), model_of(own), VALUE, NUM, None)
    assert isinstance(seen, Untold) and seen.why.startswith("the board does not list it")


def test_another_result_of_the_model_supersedes_ours():
    own = Peer(OURS, 63.0, 27, False)
    seen = sight(boards_of([own]), model_of(own), VALUE, NUM, DEFAULT)
    assert isinstance(seen, Superseded) and seen.row.value == 63
    assert isinstance(sight(boards_of([replace(own, value=62.5)]), model_of(own), VALUE, 8, DEFAULT), Superseded)


def a_result(task: str) -> RecordedResult:
    link = view_link(LOGIC, task, DEFAULT, OURS)
    return RecordedResult(LOGIC, task, f".eval_results/{task}.yaml", "62.5", link)


TASKS = ("one", "two", "three")
sights = st.sampled_from(
    [
        Shown(DEFAULT, 9, 9),
        Shown(View("32B"), 31, 53),
        Hidden(((WIDEST, 60),)),
        Superseded(BoardRow(1, OURS, "org", Decimal(63), "x")),
        Untold("HTTP 502", Exit.REMOTE),
        None,
    ]
)
results = st.builds(
    ResultFacts,
    st.sampled_from(TASKS).map(a_result),
    st.just("Logic-1k"),
    st.sampled_from(["ours"] * 5 + ["on_main", "gone", "other"]),
    st.none(),
    sights,
)


def pull_of(found: list[ResultFacts], **more) -> PullFacts:
    found = [replace(one, name=f"Bench {one.result.task_id}", link=one.result.link) for one in found]
    body = body_for([Told(one.name, one.result.link, "the model card") for one in found], "0" * 12)
    record = Record(OURS, "0" * 12, "open", "", tuple(one.result for one in found), NUM)
    told = {"status": "open", "title": title_for([one.name for one in found])} | more
    return PullFacts(record, OURS, NUM, body=body, body_id="a", head="b", results=tuple(found), author="porter", **told)


pulls = st.builds(
    lambda found, status, others, comments, closed_by, beside: pull_of(
        found, status=status, by_others=others, comments=comments, closed_by=closed_by, **beside
    ),
    st.lists(results, min_size=1, max_size=3, unique_by=lambda one: one.result.task_id),
    st.sampled_from(["open"] * 6 + ["draft", "closed", "merged"]),
    st.sampled_from([()] * 6 + [("nova-keeper committed 'x'",)]),
    st.sampled_from([()] * 6 + [(Comment("nova-keeper", "2026-01-01", "stop"),)]),
    st.sampled_from(["porter", "nova-keeper", None]),
    st.sampled_from([{}] * 6 + [{"unregistered": ("x.yaml",)}, {"left_over": ("x.yaml",)}]),
)


@settings(max_examples=1000, deadline=None)
@given(pulls)
def test_no_pull_request_is_closed_that_has_a_visible_an_edited_or_an_unknown_result(facts):
    steps = plan(classify(facts))
    in_it = [one for one in facts.results if one.file != "gone"]
    hidden = [one for one in in_it if one.file == "ours" and isinstance(one.sight, Hidden)]
    unknown = [
        one
        for one in facts.results
        if one.file == "other" or isinstance(one.sight, Untold) or (one.file == "ours" and one.sight is None)
    ]
    ours = facts.status in ("open", "draft") and not facts.by_others and not facts.comments and facts.as_registered
    if steps:
        assert ours
    assert (steps.farewell is not None) == (ours and bool(hidden) and hidden == in_it and not unknown)
    if steps.farewell is not None:
        assert not steps.drops and steps.body is None and steps.title is None
    assert set(steps.drops) < {one.result for one in in_it} or not steps.drops
    assert set(steps.drops) <= {one.result for one in hidden}
    assert not (steps.drops and unknown)
    if ours and not unknown and len(hidden) < len(in_it):
        assert set(steps.drops) == {one.result for one in hidden}
    if steps.body is not None:
        kept = {one.result.task_id for one in [*in_it, *unknown] if one.result not in steps.drops}
        assert {task for _, task in addresses(steps.body)} == kept
        assert "<!-- port-evals:000000000000 -->" in steps.body
    assert bool(steps) == bool(steps.drops or steps.farewell or steps.body or steps.title)


drifts = st.tuples(crowds, sizes, st.booleans(), st.dictionaries(st.sampled_from(VIEWS), faults, max_size=2))
files = st.sampled_from(["ours"] * 6 + ["on_main", "gone", "other"])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(drifts, files), min_size=1, max_size=3))
def test_whatever_fails_or_drifts_what_somebody_sees_is_not_taken_away(drifted):
    """From the boards on: what is closed or dropped is by the truth behind the faults in no view's top fifty."""
    found, truly_shown = [], set()
    for task, ((crowd, billions, has_base, broken), file) in zip(TASKS, drifted, strict=False):
        own = Peer(OURS, float(VALUE), billions, has_base)
        rows = {view: rows_of([*crowd, own], view) for view in VIEWS}
        if any(row.model == OURS and row.rank <= SHOWN for held in rows.values() for row in held):
            truly_shown.add(task)
        views = {
            view: fault if isinstance(fault, Failure) else rows[view][: 0 if fault == "empty" else fault]
            for view, fault in broken.items()
        }
        seen = (
            sight(boards_of([*crowd, own], views=views), model_of(own), VALUE, NUM, DEFAULT) if file == "ours" else None
        )
        found.append(ResultFacts(a_result(task), "", file, None, seen))
    steps = plan(classify(pull_of(found)))
    taken = {one.task_id for one in steps.drops}
    if steps.farewell is not None:
        assert all(one.file in ("ours", "gone") for one in found)
        taken = {one.result.task_id for one in found if one.file == "ours"}
    assert taken.isdisjoint(truly_shown)


@settings(max_examples=200, deadline=None)
@given(pulls)
def test_what_was_done_is_not_done_again(facts):
    """The facts after the steps need no more of them."""
    steps = plan(classify(facts))
    links = addresses(steps.body or facts.body)
    after = [
        replace(
            one, file="gone" if one.result in steps.drops else one.file, link=links.get((LOGIC, one.result.task_id))
        )
        for one in facts.results
    ]
    closed = {"status": "closed", "closed_by": "porter"} if steps.farewell else {}
    changed = {"body": steps.body or facts.body, "title": steps.title or facts.title, **closed}
    assert not plan(classify(replace(facts, results=tuple(after), **changed)))


def test_a_pull_request_without_its_results_is_unknown():
    swept = classify(pull_of([ResultFacts(a_result("one"), "", "gone")]))
    assert (swept.kind, swept.why, bool(plan(swept))) == ("unknown", "none of its registered results is in it", False)


def test_what_a_benchmark_is_called_cannot_become_marks_of_the_last_comment():
    facts = pull_of([ResultFacts(a_result("one"), "", "ours", None, Hidden(((WIDEST, 60),)))])
    called = replace(facts.results[0], name="[x](https://elsewhere.example) @everybody")
    farewell = plan(classify(replace(facts, results=(called,)))).farewell
    assert "- \\[x\\](`https://elsewhere.example`) @\u2060everybody (62.5): number 60 of all, and in" in farewell


def test_the_class_of_a_pull_request_is_its_results_gravest():
    def kinds(*sights):
        of_each = zip(TASKS, sights, strict=False)
        return classify(pull_of([ResultFacts(a_result(task), "", "ours", None, one) for task, one in of_each])).kind

    shown, drifted, hidden = Shown(DEFAULT, 1), Shown(View("32B"), 31), Hidden(((WIDEST, 60),))
    assert kinds(shown, drifted) == "drifted"
    assert kinds(shown, drifted, hidden) == "invisible"
    assert kinds(shown, hidden, Untold("x")) == "unknown"


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("C, A and B", ["C", "A", "B"]),
        ("MMLU-Pro, A and MMLU", ["MMLU-Pro", "A", "MMLU"]),
        ("B and 2 more", ["B", "A", "C"]),
        ("something else", ["A", "B", "C"]),
    ],
)
def test_names_in_the_order_of_a_title(title, names):
    assert in_order(TITLE + title, sorted(names)) == names


def test_a_title_whose_names_are_in_another_order_than_the_results_loses_what_is_dropped():
    """As after ``--rebuild``, which finds results by their files."""
    hidden, shown = Hidden(((WIDEST, 60),)), Shown(DEFAULT, 9, 9)
    sights = {"one": shown, "three": hidden, "two": shown}
    facts = pull_of([ResultFacts(a_result(task), "", "ours", None, seen) for task, seen in sights.items()])
    kept = plan(classify(replace(facts, title=title_for(["Bench two", "Bench three", "Bench one"]))))
    assert kept.title == title_for(["Bench two", "Bench one"])
    assert plan(classify(replace(facts, title="Add results"))).title is None
