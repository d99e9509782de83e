"""Pages as a reader sees them, and the places that print a number."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from benchwright.contract import Failure
from benchwright.hub.sources import markup
from benchwright.hub.sources.find import MOST_PLACES, find, sentences
from benchwright.hub.sources.markdown import read_markdown, read_plain
from benchwright.hub.sources.markup import read_markup
from benchwright.hub.sources.page import shown


def places(page, digits="62.7"):
    return find(page, Decimal(digits), digits, "the page")[0]


def only(page, digits="62.7"):
    (place,) = places(page, digits)
    return place


def misses(page, digits="62.7"):
    return {(one.printed, one.why) for one in find(page, Decimal(digits), digits, "the page")[1]}


def test_a_markdown_table_gives_row_and_column_and_its_line():
    text = (
        "# Nova\n\n## Agents\n\nTable 6: agents.\n\n|Model|SSP|\n|---|---|\n|Nova|**62.7** %|\n|Other|61|\n\n† a note\n"
    )
    place = only(read_markdown(text))
    assert (place.kind, place.row, place.column, place.caption) == ("table", "Nova", "SSP", "Table 6: agents.")
    assert (place.heading, place.quote, place.printed, place.percent) == ("Agents", "Nova | 62.7 %", "62.7", True)
    assert "† a note" in place.near


def test_headers_of_several_rows_groups_and_spans():
    rows = "<tr><th rowspan=2>Model</th><th colspan=2>Logic</th></tr><tr><th>easy</th><th>hard</th></tr>"
    rows += "<tr><td colspan=3>Open weights</td></tr><tr><td rowspan=2>Nova</td><td>1</td><td>2</td></tr>"
    rows += "<tr><td>3</td><td>62.7</td></tr>"
    place = only(read_markup(f"<figure><table>{rows}</table><figcaption><p>Table 4. All</p></figcaption></figure>"))
    assert (place.row, place.column, place.group) == ("Nova", "Logic / hard", "Open weights")
    assert place.caption == "Table 4. All"


@pytest.mark.parametrize(
    "text",
    [
        "| | nova-7b |\n|---|---|\n| SSP | 62.7 |\n",
        "| | nova-7b | |\n|---|---|---|\n| SSP | 1 | 62.7 |\n",
        "| nova-7b | |\n|---|---|\n| 62.7 | SSP |\n",
    ],
)
def test_the_only_header_of_a_line_is_no_group(text):
    assert only(read_markdown(text)).group == ""


def test_a_line_with_only_its_first_cell_is_a_group():
    assert only(read_markdown("| | nova-7b |\n|---|---|\n| Agents | |\n| SSP | 62.7 |\n")).group == "Agents"


def test_cells_without_end_tags_and_tables_within_tables():
    page = read_markup(
        "<table><tr><th>a<th>b<tr><td>Nova<td>62.7<tr><td>x<td><table><tr><td>in<td>9.36</table>y</table>"
    )
    assert (only(page).row, only(page).column) == ("Nova", "b")
    assert only(page, "9.36").row == "in"


def test_tables_of_other_elements():
    roles = "<div role=table><div role=row><span role=columnheader>m</span><span role=columnheader>SSP</span></div>"
    roles += "<div role=row><span role=cell>Nova</span><span role=cell>62.7</span></div></div>"
    assert (only(read_markup(roles)).row, only(read_markup(roles)).column) == ("Nova", "SSP")
    latex = '<figure class="ltx_table"><figcaption><span>Table 2: </span>All</figcaption><span class="ltx_tabular">'
    latex += (
        '<span class="ltx_tr"><span class="ltx_td ltx_th">Model</span><span class="ltx_td ltx_th">SSP</span></span>'
    )
    latex += '<span class="ltx_tr"><span class="ltx_td">Nova</span><span class="ltx_td"><math alttext="x"><semantics>'
    latex += "<mrow><mn>62.7</mn><mo>±</mo><mn>0.4</mn></mrow><annotation>62.7\\pm 0.4</annotation></semantics></math>"
    latex += "</span></span></span></figure>"
    place = only(read_markup(latex))
    assert (place.row, place.column, place.caption) == ("Nova", "SSP", "Table 2: All")
    assert places(read_markup(latex), "0.4") == []


def test_a_number_split_by_tags_is_one():
    assert only(read_markup("<p>It scores <b>62</b><span>.7</span>%.</p>")).quote == "It scores 62.7%."
    assert len(places(read_markup("<td>62<wbr>.7</td><p>62&#46;7</p>"))) == 2
    assert places(read_markup("<p>1<span>9.36</span></p>"), "9.36") == []
    assert places(read_markup("<p>62<br>.7</p><ul><li>62<li>.7</ul>")) == []


def test_a_sentence_is_quoted_alone():
    place = only(read_markdown("We ran all. On CLIQuest 2.0 it scores 62.7% (89 tasks). Others are lower.\n"))
    assert (place.kind, place.quote) == ("text", "On CLIQuest 2.0 it scores 62.7% (89 tasks).")
    long = "word " * 200
    assert len(only(read_markdown(f"{long} 62.7 {long}")).quote) < 260
    assert sentences("One. Two!\nthree") == ["One.", "Two!", "three"]


def test_scripts_of_formulas_are_raised():
    formula = "<math><msup><mn>62.7</mn><mn>1</mn></msup></math> <math><msub><mn>9.3</mn><mn>0.4</mn></msub></math>"
    assert only(read_markup(f"<p>{formula}</p>")).marks == ("1",)
    assert only(read_markup(f"<p>{formula}</p>"), "9.3").marks == ()
    assert places(read_markup(f"<p>{formula}</p>"), "0.4") == []
    both = "<math><msubsup><mn>62.7</mn><mrow><mo>-</mo><mn>0.4</mn></mrow><mo>†</mo></msubsup></math>"
    assert only(read_markup(both)).marks == ("†",)


def test_a_footnote_at_its_mark_is_a_passage_of_its_own():
    raised = "<sup class=ltx_note_mark>1</sup>"
    note = f"<span class=ltx_note>{raised}<span class=ltx_note_outer><span>{raised}<span class='ltx_tag ltx_tag_note'>1"
    note += "</span>Measured by others.</span></span></span>"
    page = read_markup(f"<table><tr><th>Model</th><th>SSP{note}</th></tr><tr><td>Nova{note}<td>62.7</table>")
    assert (only(page).row, only(page).column) == ("Nova^1", "SSP^1")
    assert [shown(one.text) for one in page.passages] == ["^1Measured by others."] * 2


def test_footnotes_of_markdown_are_raised_and_read():
    page = read_markdown("It is 62.7%.[^1] More[^b].\n\n[^1]: https://nova.example/\n[^b]: Ours.\n")
    assert only(page).marks == ("1",)
    assert [shown(one.text) for one in page.passages] == [
        "It is 62.7%.^1 More^b.",
        "^1 https://nova.example/",
        "^b Ours.",
    ]


def test_raised_digits_are_notes():
    assert only(read_markup("<table><tr><td>Nova<td>62.7<sup>2</sup></table>")).marks == ("2",)
    assert only(read_markdown("Nova: 62.7²")).marks == ("2",)
    assert places(read_markdown("62.72 is other, 62.7<sub>ab</sub>x"), "62.72")
    assert misses(read_markup("<p>x<sup>62.7</sup></p>")) == {("62.7", "raised or lowered")}
    header = only(read_markdown("|Model|Score†|\n|---|---|\n|Nova*|62.7|\n"))
    assert header.marks == ("*", "†")


@pytest.mark.parametrize(
    ("markup", "label"),
    [
        ("<script>const data = [62.7]</script>", "the page's data"),
        ("<div data-scores='[62.7]'></div>", "the page's data"),
        ("<div style='display: none'>62.7</div>", "a part that is not shown at first"),
        ("<div hidden>62.7</div>", "a part that is not shown at first"),
        ("<table><tr style='display:none'><td>58</td><td>62.7</td></tr></table>", "a part that is not shown at first"),
        ("<template><p>62.7</p></template>", "a part that is shown later"),
        ("<select><option>62.7</option></select>", "a list to choose from"),
        ("<p>once <s>62.7</s>, now 60</p>", "struck through"),
    ],
)
def test_what_is_not_shown_is_told_apart(markup, label):
    place = only(read_markup(f"<p>before</p>{markup}<p>after</p>"))
    assert (place.kind, place.label) == ("hidden", label)


def test_comments_styles_and_second_writings_of_formulas_are_nothing():
    assert places(read_markup("<!-- 62.7 --><style>a{width:62.7px}</style><p>x<!--a--> y <!-- 62.7")) == []
    katex = (
        "<span class=katex><math><mn>62.7</mn><annotation>62.7</annotation></math><span class=katex-html>62.7</span>"
    )
    assert len(places(read_markup(katex))) == 1
    assert only(read_markup("<script>if (a.startsWith('<!--')) {}</script><p>62.7</p><!-- b -->")).kind == "text"


def test_a_folded_section_says_what_opens_it():
    text = "<details><summary>All <b>results</b></summary>\n\n|a|b|\n|---|---|\n|Nova|62.7|\n\n</details>\n\n9.36\n"
    assert only(read_markdown(text)).control == "All results"
    assert only(read_markdown(text), "9.36").control == ""


def test_images_and_drawings_have_words():
    figure = "<figure><img src=a.png alt='Nova 62.7 on SSP'><figcaption>Figure 3</figcaption></figure>"
    assert (only(read_markup(figure)).kind, only(read_markup(figure)).label) == ("image", "Figure 3")
    assert only(read_markdown("![62.7 of it](bars.png)")).kind == "image"
    drawn = only(read_markup("<svg aria-label='Scores'><g/><text>Nova</text><text>62.7</text></svg><p>x</p>"))
    assert (drawn.kind, drawn.label, drawn.quote) == ("image", "Scores", "Nova 62.7")
    assert read_markup(figure).images == 1


def test_metadata_of_a_card_are_not_its_text():
    place = only(read_markdown("---\nmodel-index:\n- value: 62.7\n---\n# Nova\n"))
    assert (place.kind, place.label) == ("hidden", "the card's metadata")


def test_a_plain_text_is_read_by_its_lines():
    page = read_plain("Table 1\nNova   62.7   <b>\nOther  9.36\n\nNext.")
    assert only(page).quote == "Nova 62.7 <b>"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("62,7", ("62,7", "a decimal comma")),
        ("+62.7", ("62.7", "a difference")),
        ("0.627", ("0.627", "the same in another unit")),
        ("6,270", ("6,270", "the same in another unit")),
        ("-62.7", ("-62.7", "the negative number")),
        ("62.71", ("62.71", "with more digits")),
        ("62.65", ("62.65", "with more digits")),
        ("63", ("63", "with fewer digits")),
        ("60 ± 62.7", ("62.7", "the margin of another number")),
    ],
)
def test_what_comes_close_is_told_and_is_no_place(text, near):
    page = read_markdown(f"On it {text}, and 19.365, 162.7, 62.79, 64.")
    assert places(page) == []
    assert misses(page) == {near}


def test_digits_count_as_the_source_prints_them():
    assert [one.exact for one in places(read_markdown("62.70 and 62.7"))] == [False, True]
    assert only(read_markdown("1,234.5"), "1234.5").exact


HOSTILE = {
    "deep": "<div>" * 50_000 + "62.7",
    "deep table": "<table><tr><td>" * 5_000 + "62.7",
    "no end of a comment": "<!--" * 200_000,
    "no end of a tag": "<a href='" * 30_000,
    "no end of scripts": "<script>" * 200_000,
    "headings in headings": "<h1>a" * 5_000,
    "signs": "<" * 100_000 + "&#x" * 50_000,
    "spans": "<table><tr>" + "<td rowspan=999 colspan=999>1" * 5_000 + "<tr>" * 5_000,
    "ends of nothing": "<p>" + "</div></td></x>" * 20_000,
    "one long row": "<table><tr>" + "<td>62.7" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_ends_soon(name, monkeypatch):
    monkeypatch.setattr(markup, "_SECONDS", 6.0)
    start = time.process_time()
    try:
        page = read_markup(HOSTILE[name])
        assert len(places(page)) <= MOST_PLACES
    except Failure as failure:
        assert failure.problems[0].code == "source-unreadable"
    assert time.process_time() - start < 20


def test_markup_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(markup, "_SECONDS", 0.0)
    with pytest.raises(Failure) as told:
        read_markup("<p>62.7</p>")
    assert str(told.value) == (
        "the page: markup that takes more than 0 seconds to read, expected a plain page\n"
        "    fix: save the part that matters, and name the file as source.file"
    )


def test_markdown_beyond_its_bound_is_not_read():
    with pytest.raises(Failure) as told:
        read_markdown("a" * (2**22 + 1))
    assert told.value.problems[0].found == "Markdown of more than 4,194,304 characters"
