"""Results against the pages that they cite: states, questions, what blocks, and the wording of origin."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from source_site import page, status

from benchwright.contract import Exit
from benchwright.hub.client import HubPatience
from benchwright.hub.sources import Snapshots, Sources, check_spec, names_figure_or_control
from benchwright.hub.spec import Spec
from benchwright.rehearsal.hub import Fault
from benchwright.rehearsal.hub.sample import card

SOON = HubPatience(attempts=2, first_wait=0.01, longest_wait=0.02, timeout=5)
MODEL = "nova-ai/nova-7b"
URL = f"https://huggingface.co/{MODEL}"


@pytest.fixture
def sources(hub, tmp_path):
    return Sources(hub, Snapshots(tmp_path / "snapshots"), SOON)


@pytest.fixture
def check(emulator, sources, tmp_path):
    """Checks one result of a model whose card has these lines."""

    def check(*lines, value="62.7", url=URL, name="Model Card", file=None, model=MODEL, sources=sources, **more):
        if lines:
            emulator.add_model(model, {"README.md": card("Nova 7B", *lines)})
        source = {"url": url, "name": name, **({"file": str(file)} if file else {})}
        told = {"dataset": "bench-org/logic-1k", "task_id": "logic", "value_text": value, "source": source, **more}
        path = tmp_path / "spec.json"
        path.write_text(json.dumps({"version": 1, "repos": [{"repo": model, "results": [told]}]}))
        (one,) = check_spec(Spec.load(path), sources)
        return one

    return check


def codes(told):
    return [question.code for question in told.open_questions]


def blocks(told):
    return [problem.code for problem in told.blocks]


TABLE = ["Table 2: results", "", "| benchmark | Nova 7B | Other |", "|---|---|---|", "| Logic-1k | 62.7 | 58.1 |", ""]


def test_a_number_in_the_cards_table_is_found_with_nothing_to_ask(check, emulator):
    told = check(*TABLE)
    assert (told.state, codes(told), blocks(told), told.exit) == ("found", [], [], Exit.DONE)
    assert told.origin_proposal == "Table 2 of the model card (Logic-1k row, Nova 7B column)"
    text = card("Nova 7B", *TABLE)
    assert told.digest == sha256(text.encode()).hexdigest()
    assert {request.request.method for request in emulator.seen} == {"GET"}
    commit = emulator.repo(MODEL).main.oid
    assert any(f"/resolve/{commit}/README.md" in request.request.target for request in emulator.seen)


def test_a_sentence_is_quoted_in_the_origin(check):
    told = check("We ran it. On Logic-1k it scores 62.7%. That is all.")
    assert told.origin_proposal == 'the model card ("On Logic-1k it scores 62.7%.")'
    folded = check(
        "<details><summary>More</summary>\n\nLogic-1k: 62.7\n\n</details>", model="nova-ai/b", url=URL[:-7] + "b"
    )
    assert folded.origin_proposal == 'the model card ("Logic-1k: 62.7"), in the section "More", which a click opens'


def test_several_places_warn_and_the_likeliest_leads(check):
    told = check("Speed 62.7 tokens.", "", *TABLE)
    assert (told.state, blocks(told)) == ("several", [])
    assert [one.kind for one in told.places] == ["table", "text"]
    (warning,) = told.warnings
    assert (warning.code, warning.found) == ("several-places", "62.7 is there 2 times")
    assert warning.fix == "origin: Table 2 of the model card (Logic-1k row, Nova 7B column)"


def test_a_number_that_the_text_lacks_blocks_unless_the_origin_names_the_figure(check):
    told = check("Logic-1k: 19.627, 162.7 and 62,7.", "", "![chart](bars.png)")
    assert (told.state, blocks(told), told.exit) == ("absent", ["value-not-found"], Exit.NO)
    (problem,) = told.blocks
    assert problem.found == f"62.7 is not in the text of {URL}"
    assert (
        problem.fix
        == "what comes close: 62,7 (a decimal comma: Logic-1k: 19.627, 162.7 and 62,7.); 1 image that may show it"
    )
    assert told.origin_proposal == "the model card (<which figure and bar, or what reveals the number>)"
    unfinished = check(origin=told.origin_proposal)
    assert blocks(unfinished) == ["value-not-found", "origin-unfinished"]
    named = check(origin="the model card (Figure 3, the bar of Nova 7B)")
    assert (named.state, blocks(named), [one.code for one in named.warnings]) == ("absent", [], ["value-not-found"])


def test_a_number_only_in_an_image_or_behind_a_control(check):
    told = check("![Nova 7B at 62.7 on Logic-1k](bars.png)")
    assert (told.state, blocks(told)) == ("image-only", ["value-not-found"])
    assert told.origin_proposal == 'the model card (the figure "Nova 7B at 62.7 on Logic-1k", <which bar or line>)'
    told = check('<div data-x="62.7"></div>\n\nText.', model="nova-ai/b", url="https://hf.co/nova-ai/b/tree/main")
    assert told.state == "absent"
    assert told.blocks[0].fix == "what comes close: 62.7 in the page's data"
    assert told.origin_proposal == "the model card (<what reveals it; it is in the page's data>)"


@pytest.mark.parametrize(
    "origin",
    [
        "the blog (Figure 2, third bar)",
        "Fig. 4 of the paper",
        'the model card (the figure "Nova 7B at 62.7 on Logic-1k", third bar)',
        "the image at the top of the model card",
        'the chart under "Reasoning" of the blog',
        "the radar plot of the technical report, blue line",
        "the page (the Models picker, set to Nova)",
        "the card (click Results)",
        "the blog (select the AIME tab)",
        'the page (open the "Models" list)',
        "the page, after opening the Benchmarks menu",
        "the page with AIME chosen in the menu",
        "the page (hover over the point of Nova 7B)",
        'the card (expand "More results")',
        'the page (press "All benchmarks")',
        "the graphic in the blog",
        "the page with the section expanded",
        "the third point on the chart",
    ],
)
def test_origins_that_name_a_figure_or_a_control(origin):
    assert names_figure_or_control(origin)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "Table 6 of the paper",
        "the configuration",
        "the blog (<which figure>)",
        "the table of open models",
        "the open-weights section of the blog",
        "the table of select open models",
        "the filtered subset of the table",
        "the knowledge graph section of the card",
        "the figures of the open section",
        "the model card (GUI menu understanding, open-source models)",
        'the table under "Image Understanding" of the model card',
        "Table 2 of the model card (Image Understanding, Nova 7B column)",
        "Table 3 of the paper (Chart row, Bar column)",
        'the model card ("click on Figure 3, the bar chart")',
        "the section on images.",
        "the table below the graph",
        "the list of selected tasks",
        "Model Card (Charts)",
        "results on charts",
        "the model card, filtered results section",
    ],
)
def test_origins_that_name_neither_a_figure_nor_a_control(origin):
    assert not names_figure_or_control(origin)


SIGNS = {
    "third-party": ["Logic-1k: 62.7, as reported by an index.", "Logic-1k: 62.7, taken from Artificial Analysis."],
    "tools": ["Logic-1k (with tools): 62.7", "Logic-1k with a Python interpreter and code execution: 62.7"],
    "inference": [
        "Logic-1k with zoom: 62.7",
        "Logic-1k, cropped: 62.7",
        "Logic-1k with a verifier: 62.7",
        "Logic-1k pass@4 62.7",
    ],
    "subset": ["Logic-1k: 62.7 (88 of 89 tasks)", "Logic-1k: 62.7 on a subset", "Logic-1k excluding images: 62.7"],
    "checkpoint": ["Logic-1k: 62.7\n\nWe evaluated the SFT checkpoint."],
    "unfinished": ["Logic-1k: 62.7\n\nStill training.", "Logic-1k: 62.7\n\nThis card is under revision."],
    "contamination": [
        "Logic-1k: 62.7\n\nWe found contamination.",
        "Logic-1k: 62.7\n\nItems overlap with the training data.",
    ],
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in SIGNS.items() for text in texts])
def test_signs_are_questions_with_their_words(check, code, text):
    told = check(text)
    assert codes(told) == [code]
    assert told.exit == Exit.NO
    question = told.questions[0]
    assert question.quote and question.quote in text
    (problem,) = told.blocks
    assert problem.code == "open-question"
    assert question.quote in problem.expected
    assert f'"answers": {{"{code}": "..."}}' in problem.fix
    answered = check(answers={code: "it is not so"})
    assert (codes(answered), blocks(answered), answered.questions[0].code) == ([], [], code)


@pytest.mark.parametrize(
    "text",
    [
        "Logic-1k: 62.7 (no tools)",
        "Logic-1k without tools: 62.7",
        "Logic-1k: 62.7 (89/89 tasks)",
        "Logic-1k: 62.7, measured by us.",
        "Logic-1k: 62.7\n\nIt calls tools well.",
    ],
)
def test_plain_protocols_raise_no_question(check, text):
    assert codes(check(text)) == []


def test_a_sign_far_into_a_long_sentence_is_quoted(check):
    told = check("Logic-1k: 62.7", "", f"{'results and more, ' * 300}with contamination of {'items and ' * 300}more")
    assert codes(told) == ["contamination"]
    assert "with contamination of items" in told.questions[0].quote
    assert len(told.questions[0].quote) < 250


def test_signs_elsewhere_on_the_page_count_where_they_speak_of_evaluation(check):
    told = check("Logic-1k: 62.7", "", "## Setting", "", "All evaluations use a code interpreter with tools.")
    assert codes(told) == ["tools"]


def test_a_dagger_at_the_number_and_its_note(check):
    rows = ["| benchmark | Nova 7B | Other† |", "|---|---|---|", "| Logic-1k | 62.7† | 58.1 |", ""]
    told = check(*rows, "† measured by an independent index")
    assert codes(told) == ["third-party", "mark"]
    assert told.questions[0].quotes == ("† measured by an independent index",)
    assert told.questions[1].quotes == ("†: † measured by an independent index",)
    assert codes(check(value="58.1"))[-2:] == ["third-party", "mark"]
    silent = check(*rows, model="nova-lab/nova-7b", url="https://huggingface.co/nova-lab/nova-7b")
    assert "† at the number, and no note that says what it means" in silent.questions[0].quotes


def test_a_note_on_another_number_is_no_question(check):
    rows = ["| benchmark | Nova 7B | Other† |", "|---|---|---|", "| Logic-1k | 62.7 | 58.1 |", ""]
    assert codes(check(*rows, "† measured by an independent index")) == []


def test_the_row_of_another_model_and_a_column_without_the_benchmark(check):
    told = check(*TABLE, value="58.1")
    assert codes(told) == ["model"]
    assert told.questions[0].text == "the table has Nova 7B elsewhere: is this number the model's?"
    told = check(
        "|model|SSP|\n|---|---|\n|Nova 7B|62.7|", model="nova-ai/nova-8b", url="https://huggingface.co/nova-ai/nova-8b"
    )
    assert codes(told)[0] == "benchmark"
    assert told.questions[0].text == "nothing near the number names logic-1k: is it that one's?"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            ("Nova 7B Instruct|62.7", "Nova 7B|61.0"),
            "the number is that of Nova 7B Instruct: is it the model in this repo?",
        ),
        (("Nova-7B-Base|62.7",), "the number is that of Nova-7B-Base: is it the model in this repo?"),
        (("Nova 13B|62.7", "Peer|50"), "the number is that of Nova 13B: is it the model in this repo?"),
        (("Nova 7B v1.1|62.7",), "the number is that of Nova 7B v1.1: is it the model in this repo?"),
        (("Nova 7B-0530|62.7", "Nova 7B|61"), "the number is that of Nova 7B-0530: is it the model in this repo?"),
        (
            ("Nova 7B (quick)|62.7", "Nova 7B|61"),
            "the table has Nova 7B by itself elsewhere: is this number the model's?",
        ),
        (("Peer|62.7", "Nova 7B|61"), "the table has Nova 7B elsewhere: is this number the model's?"),
        (("Nova 7B (ours)|62.7", "Peer|61"), None),
        (("Nova|62.7", "Peer|61"), None),
        (("Nova-7B (5-shot)|62.7", "Nova 70B|70"), None),
        (("Nova 7B Instruct|62.7", "Nova 7B|62.7"), None),
    ],
)
def test_a_sibling_whose_name_is_longer_is_another_model(check, rows, text):
    told = check("Results of Nova 7B and others:", "", "|model|Logic-1k|", "|---|---|", *(f"|{row}|" for row in rows))
    assert [one.text for one in told.questions] == ([text] if text else [])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (("Logic-1k|61", "Logic-1k Hard|62.7"), "the number is that of Logic-1k Hard: is it the score of logic-1k?"),
        (("Logic-1k|61", "Hard / Logic-1kX|62.7"), "the number is that of Logic-1kX: is it the score of logic-1k?"),
        (("Logic-1k|61", "Sums|62.7"), "the table has Logic-1k elsewhere: is this number that one's?"),
        (
            ("Logic-1k|61", "Logic-1k (5-shot)|62.7"),
            "the table has Logic-1k by itself elsewhere: is this number that one's?",
        ),
        (("Logic-1k Hard|62.7", "Logic-1k|62.7"), None),
        (("Logic-1k (5-shot)|62.7", "Sums|61"), None),
    ],
)
def test_the_row_of_another_benchmark(check, rows, text):
    told = check("Results on Logic-1k and others:", "", "|task|Nova 7B|", "|---|---|", *(f"|{row}|" for row in rows))
    assert [one.text for one in told.questions] == ([text] if text else [])


def test_a_name_with_its_variant_is_the_model_of_that_name(check):
    more = {"model": "nova-ai/nova-7b-instruct", "url": "https://huggingface.co/nova-ai/nova-7b-instruct"}
    lines = ("|model|Logic-1k|", "|---|---|", "|Nova 7B Instruct|62.7|", "|Nova 7B|61.0|", "")
    assert codes(check(*lines, **more)) == []
    told = check(*lines, value="61.0", **more)
    assert [one.text for one in told.questions] == [
        "the table has Nova 7B Instruct elsewhere: is this number the model's?"
    ]


def test_a_benchmark_that_is_called_like_a_common_word(check):
    told = check("MATH: 62.7", "", "We trained on math and on more of it.", dataset="bench-org/MATH", task_id="default")
    assert codes(told) == []
    more = {"model": "nova-ai/b", "url": "https://huggingface.co/nova-ai/b", "dataset": "bench-org/MATH"}
    assert codes(check("MATH: 62.7", "", "We trained on MATH.", task_id="default", **more)) == ["contamination"]
    told = check(
        "test: 62.7", dataset="bench-org/test", task_id="default", model="nova-ai/c", url="https://hf.co/nova-ai/c"
    )
    assert codes(told) == []


def test_digits_that_differ_and_numbers_that_are_not_exact(check):
    told = check("Logic-1k: 62.70")
    assert (told.state, codes(told)) == ("found", ["digits"])
    assert told.questions[0].text == "the source prints 62.70, the spec 62.7: which digits?"
    assert codes(check("Logic-1k: about 62.7", model="nova-ai/b", url="https://huggingface.co/nova-ai/b")) == ["about"]


def test_the_cards_more_precise_value_wins_over_a_blog(check, site):
    blog = site.add("/blog", "<p>Nova 7B reaches 44.9 on Logic-1k.</p>")
    told = check(f"Logic-1k: 44.94, see [the post]({blog}).", value="44.9", url=blog, name="Nova blog")
    assert codes(told) == ["authors", "precision"]
    assert (
        told.questions[1].text
        == "the model card prints 44.94: more digits win, the card's first; is it the same score?"
    )
    assert told.origin_proposal == 'the Nova blog ("Nova 7B reaches 44.9 on Logic-1k.")'
    unrelated = check("Loss: 44.94", value="44.9", url=blog, model="nova-ai/nova-7b-it", name="Nova blog")
    assert "precision" not in codes(unrelated)


def test_the_card_is_named_where_it_prints_the_number_too(check, site):
    blog = site.add("/blog", "<p>Nova 7B reaches 62.7 on Logic-1k.</p>")
    told = check("Logic-1k: 62.7", url=blog, name="blog")
    assert [one.code for one in told.warnings] == ["card-has-it"]
    assert told.questions[0].text == "the model's card does not link to the source: is it by the model's authors?"


def test_the_card_of_another_model_is_asked_about(check, emulator):
    emulator.add_model("peer-lab/peer", {"README.md": card("Peer", *TABLE)})
    told = check("Nothing here.", url="https://huggingface.co/peer-lab/peer")
    assert told.questions[0].text == f"the source is the card of peer-lab/peer: do its authors answer for {MODEL}?"


@pytest.mark.parametrize(
    ("value", "unit", "given"),
    [
        ("0.6270", ("fraction", "percent"), ", which gives a fraction"),
        ("62.70", ("percent", "fraction"), ", which gives percent"),
        ("62.70", ("percent", "percent"), ""),
    ],
)
def test_an_origin_says_that_the_source_is_in_another_unit_than_the_board(check, value, unit, given):
    more = {"value": value, "unit": dict(zip(("source", "board"), unit, strict=True))}
    told = check(f"On Logic-1k it scores {value}.", **more)
    assert told.origin_proposal == f'the model card ("On Logic-1k it scores {value}."){given}'
    absent = check("See the chart.", model="nova-ai/b", url="https://huggingface.co/nova-ai/b", **more)
    assert absent.origin_proposal.endswith(f"or what reveals the number>){given}")


def test_a_table_that_gives_a_fraction_is_called_so(check):
    unit = {"source": "fraction", "board": "percent"}
    told = check(*(line.replace("62.7", "0.627") for line in TABLE), value="0.627", unit=unit)
    expected = "Table 2 of the model card (Logic-1k row, Nova 7B column), which gives a fraction"
    assert told.origin_proposal == expected


def test_units_that_contradict_the_source(check):
    unit = {"source": "fraction", "board": "percent"}
    told = check("Logic-1k: 0.627", value="0.627", unit=unit)
    assert (told.state, codes(told), told.result.board_text) == ("found", [], "62.7")
    assert codes(
        check("Logic-1k: 0.627%", value="0.627", unit=unit, model="nova-ai/b", url="https://hf.co/nova-ai/b")
    ) == ["unit"]
    told = check(value="62.7")
    assert told.blocks[0].fix == "what comes close: 0.627 (the same in another unit: Logic-1k: 0.627)"


def test_sources_that_cannot_be_read(check, emulator, site):
    guarded = emulator.add_model("guarded-lab/g", {"README.md": card("G", *TABLE)})
    emulator.change(guarded, gated="manual")
    told = check(model="guarded-lab/g", url="https://huggingface.co/guarded-lab/g")
    assert (told.state, told.exit, blocks(told)) == ("unreachable", Exit.ENVIRONMENT, ["gated"])
    told = check(model="nova-ai/none", url="https://huggingface.co/nova-ai/none")
    assert (told.state, blocks(told)) == ("unreachable", ["repo-missing"])
    down = site.add("/down", status(503))
    told = check("Logic-1k: 62.7", url=down)
    assert (told.state, told.exit, blocks(told)) == ("unreachable", Exit.REMOTE, ["source-unavailable"])
    for body, found in ((b"%PDF-1.7 62.7", "a PDF"), (b"\x89PNG\0\0", "image/png, not a text")):
        media = "application/pdf" if body[:1] == b"%" else "image/png"
        told = check(url=site.add(f"/{media}", page(body, media)))
        assert told.blocks[0].found.endswith(found)
    site.add("/none.md", status(404))
    told = check(url=f"{URL}/blob/main/docs/none.md")
    assert blocks(told) == ["source-missing"]


def test_a_card_that_does_not_come_leaves_its_digits_unknown(check, emulator, site):
    blog = site.add("/blog", "<p>Nova 7B reaches 62.7 on Logic-1k.</p>")
    emulator.add_model(MODEL, {"README.md": card("Nova 7B")})
    emulator.fault = lambda request: Fault("status", status=503) if "README" in request.target else None
    told = check(url=blog, answers={"authors": "yes"})
    assert (told.state, told.exit, blocks(told)) == ("found", Exit.REMOTE, ["hub-unavailable"])


def test_a_gated_card_warns_beside_a_public_source(check, emulator, site):
    blog = site.add("/blog", "<p>Nova 7B reaches 62.7 on Logic-1k.</p>")
    emulator.change(emulator.add_model(MODEL, {"README.md": card("Nova 7B")}), gated="manual")
    told = check(url=blog, answers={"authors": "yes"})
    assert (told.state, told.exit, [one.code for one in told.warnings]) == ("found", Exit.DONE, ["card-unread"])


def test_a_saved_copy_is_read_in_the_pages_place(check, tmp_path):
    (tmp_path / "paper page.html").write_text("<p>Nova 7B reaches 62.7 on Logic-1k.</p>")
    check("Nothing.")
    for file in ("paper page.html", (tmp_path / "paper page.html").as_uri()):
        told = check(url="https://nova.invalid/paper", name="Paper (Table 4)", file=file)
        assert told.state == "found"
        assert "saved-copy" in [one.code for one in told.warnings]
        assert told.origin_proposal == 'the paper ("Nova 7B reaches 62.7 on Logic-1k.")'


def test_a_paper_is_read_as_abstract_and_html(check, site, monkeypatch):
    monkeypatch.setenv("http_proxy", site.url)  # so that the site is arXiv
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
    abstract, html = "http://arxiv.org/abs/2601.01234", "http://arxiv.org/html/2601.01234"
    site.answers[abstract] = [page("<blockquote>We present Nova 7B.</blockquote>")]
    rows = "<tr><th>model<th>Logic-1k</tr><tr><td>Nova 7B<td>62.7</tr>"
    site.answers[html] = [page(f"<figure><table>{rows}</table><figcaption>Table 4: x</figcaption></figure>")]
    told = check(
        "See [the paper](https://arxiv.org/pdf/2601.01234v2).", url="http://arxiv.org/pdf/2601.01234", name="Paper"
    )
    assert told.origin_proposal == "Table 4 of the paper (Nova 7B row, Logic-1k column)"
    assert (
        told.questions[0].text
        == "the model's card links to the source: is it by the model's authors, or the benchmark's?"
    )
    assert [path for path, _ in site.seen] == [abstract, html]
    site.answers[html] = [status(404)]
    site.answers["http://arxiv.org/abs/2601.05678"] = [page("<p>Nova 7B</p>")]
    told = check(url="http://arxiv.org/abs/2601.05678", name="Paper")
    assert told.state == "absent"
    assert "no-paper-html" in [one.code for one in told.warnings]


def test_snapshots_keep_what_a_page_said(check, site, hub, tmp_path):
    blog = site.add("/blog", "<p>Nova 7B: 62.7 on Logic-1k</p>", "<p>Nova 7B: 62.7 on Logic-1k!</p>")
    first = check("Nothing.", url=blog)
    second = check(url=blog)
    assert (first.digest, len(site.seen)) == (second.digest, 1)  # once a run
    folder = tmp_path / "snapshots"
    assert (folder / f"{first.digest}.html").read_text() == "<p>Nova 7B: 62.7 on Logic-1k</p>"
    later = check(url=blog, sources=Sources(hub, Snapshots(folder), SOON))
    assert later.digest != first.digest
    assert [one.found for one in later.warnings] == [f"{blog} has changed since it was last checked"]
    (index,) = [one for one in (folder / "index").iterdir() if "blog" in one.name]
    assert [one["sha256"] for one in json.loads(index.read_text())["contents"]] == [first.digest, later.digest]
    index.write_text('{"contents": [')
    again = check(url=blog, sources=Sources(hub, Snapshots(folder), SOON))
    assert again.warnings == ()
    assert json.loads(index.read_text())["contents"][0]["sha256"] == later.digest


def test_a_renamed_model_is_its_own_card(check, emulator):
    old = emulator.add_model("nova-ai/nova-beta", {"README.md": card("Nova 7B", *TABLE)})
    emulator.rename(old, MODEL)
    told = check(model="nova-ai/nova-beta", url="https://huggingface.co/nova-ai/nova-beta")
    assert (told.state, "authors" in codes(told)) == ("found", False)


def test_a_checkpoint_may_be_told_by_an_old_name_of_the_model(check, emulator):
    old = emulator.add_model("nova-ai/nova-beta", {"README.md": card("Nova 7B", *TABLE)})
    emulator.rename(old, MODEL)
    assert check(checkpoint="nova-ai/nova-beta").exit == Exit.DONE
    assert check(checkpoint="Nova-AI/Nova-7B").exit == Exit.DONE


def test_the_checkpoint_of_another_model_is_refused(check, emulator):
    emulator.add_model("nova-ai/nova-7b-sft", {"README.md": card("Nova 7B SFT")})
    for other in ("nova-ai/nova-7b-sft", "nova-ai/none"):
        told = check(*TABLE, checkpoint=other)
        (problem,) = told.blocks
        assert (told.state, told.exit, problem.code, problem.where) == (
            "found",
            Exit.NO,
            "other-checkpoint",
            told.result.place,
        )
        assert (problem.found, problem.expected) == (f"the weights of {other} were evaluated", f"those of {MODEL}")
    emulator.fault = lambda request: Fault("status", status=503) if "nova-lab" in request.target else None
    told = check(checkpoint="nova-lab/unknown")
    assert (told.exit, blocks(told)) == (Exit.REMOTE, ["hub-unavailable"])


def test_a_card_at_the_commit_that_is_cited(check, emulator):
    repo = emulator.add_model(MODEL, {"README.md": card("Nova 7B", *TABLE)})
    before = repo.main.oid
    emulator.commit(repo, {"README.md": card("Nova 7B", "Gone.")})
    assert check(url=f"{URL}/blob/main/README.md").state == "absent"
    assert check(url=f"{URL}/blob/{before}/README.md").state == "found"
