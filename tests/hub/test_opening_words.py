"""The words of pull requests, the names of their files, and the marker."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape

import pytest
from markdown_it import MarkdownIt
from opening_runs import result_of, spec_of

from benchwright.contract import Failure
from benchwright.hub.benchmarks import Benchmark
from benchwright.hub.entries import Entry
from benchwright.hub.opening.result_files import paths_for
from benchwright.hub.opening.words import Told, body_for, check_seen, marker_in, plain, spec_hash, title_for


def entry(value="61.25", task="logic", **more):
    return Entry("bench-org/logic-1k", task, Decimal(value), value, **more)


def test_the_marker_is_that_of_the_results_and_not_of_their_order():
    both = [entry(), entry("9", "hard")]
    digits = spec_hash(both)
    assert spec_hash(reversed(both)) == digits
    assert spec_hash([entry("61.250"), entry("9", "hard")]) != digits  # other digits
    assert spec_hash([entry(notes="five trials"), entry("9", "hard")]) != digits
    body = body_for([Told("Logic-1k", "https://h/x", "the card")], digits)
    assert marker_in(body) == digits
    assert marker_in(body + "\n<!-- port-evals:0123456789ab -->") == "0123456789ab"
    assert marker_in("port-evals:0123456789ab") is None


def test_a_title_has_the_names_that_there_is_room_for():
    assert title_for(["A"]) == "Add community evaluation results for A"
    assert title_for(["A", "B", "A", "C"]) == "Add community evaluation results for A, B and C"
    title = title_for([f"Benchmark number {number}" for number in range(20)])
    assert len(title) <= 200
    assert title.endswith(", Benchmark number 6 and 13 more")
    assert title_for(["x" * 300, "y"]) == "Add community evaluation results for 2 benchmarks"


def test_several_origins_say_what_each_is_of():
    results = [Told("A", "l", "Table 6"), Told("B", "l", "the blog."), Told("C", "l", "Table 6")]
    assert "These results were extracted from Table 6 for A and C and the blog for B.\n" in body_for(results, "0" * 12)


def test_what_others_wrote_is_no_markup_and_calls_nobody():
    evil = Told("A](http://evil) <!-- @owner", "l", "the *card* by @owner, pass@1 <img>")
    body = body_for([evil, Told("fix_%_it", "m", "A &lt;b&gt; _c_")], "0" * 12)
    assert r"**[fix\_%\_it](m)**" in body
    assert r"and A \&lt;b\&gt; \_c\_ for fix\_%\_it." in body
    assert r"**[A\](`http://evil`) \<!-- @⁠owner](l)**" in body
    assert r"from the \*card\* by @⁠owner, pass@1 \<img\> for" in body


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "the table at https://lab.example/a_b~c/@us?x=*1&y, 9",
            "the table at `https://lab.example/a_b~c/@us?x=*1&y`, 9",
        ),
        ("(WWW.lab.example/x.) by_us", "(`WWW.lab.example/x`.) by\\_us"),
        ("`http://a.example/`", "\\``http://a.example/`\\`"),
        ("http://<b>", "http://\\<b\\>"),
    ],
)
def test_addresses_can_be_copied_and_are_no_links(text, shown):
    assert plain(text) == shown
    page = MarkdownIt("commonmark").render(f"From {plain(text)} on.")
    assert unescape(re.sub("</?(p|code)>", "", page)).strip() == f"From {text} on."
    assert not re.search(r"(?i)(://|www\.)\w", re.sub("<code>.*?</code>", "", page))


def test_an_address_in_a_name_leaves_the_link_to_the_board_alone():
    body = body_for([Told("Logic https://evil.example", "https://hub.example/board", "the card")], "0" * 12)
    page = MarkdownIt("commonmark").render(body)
    assert '<a href="https://hub.example/board">Logic <code>https://evil.example</code></a>' in page


@pytest.mark.parametrize("character", ["\u2028", "\u0085", "\u202e", "\u2067", "\ud800", "\x1b"])
def test_characters_that_nobody_sees_are_not_posted(character):
    with pytest.raises(Failure) as refused:
        check_seen(f"Table 4{character}", "spec.json:3")
    (problem,) = refused.value.problems
    assert (problem.code, problem.found) == (
        "unseen-characters",
        f"U+{ord(character):04X} in {f'Table 4{character}'!a}",
    )
    check_seen("χ-Bench, 表 4, ±0.5, 👍", "spec.json:3")


@pytest.fixture
def named(tmp_path):
    def paths(results, taken=(), kept=()):
        spec = spec_of(tmp_path, {"nova-ai/nova-7b": results})
        held = [(one, Benchmark(one.dataset, "n", ("logic",), official=True, revision="")) for one in spec.results]
        return paths_for(held, taken, dict(kept))

    return paths


def test_a_benchmark_has_one_file_with_its_own_name(named):
    results = [result_of(), result_of(task="hard"), result_of(dataset="Other/Logic-1K"), result_of(filename="x.yaml")]
    results[-1]["task_id"] = "third"
    assert named(results) == (
        ".eval_results/logic-1k.yaml",
        ".eval_results/logic-1k.yaml",
        ".eval_results/other-logic-1k.yaml",
        ".eval_results/x.yaml",
    )


def test_a_name_that_is_taken_is_given_up_whatever_its_case(named):
    taken = {".eval_results/LOGIC-1k.yaml"}
    assert named([result_of()], taken) == (".eval_results/bench-org-logic-1k.yaml",)
    taken.add(".eval_results/bench-org-logic-1k.yaml")
    assert named([result_of()], taken) == (".eval_results/logic-1k-2.yaml",)
    with pytest.raises(Failure, match=r"\.eval_results/logic-1k\.yaml is there already"):
        named([result_of(filename="logic-1k.yaml")], taken)


def test_a_file_that_is_changed_keeps_its_name(named):
    kept = {("bench-org/logic-1k", "logic"): ".eval_results/mine.yaml"}
    assert named([result_of(), result_of(task="hard")], kept=kept) == (".eval_results/mine.yaml",) * 2
