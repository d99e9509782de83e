"""Where an entry goes, what is in its way, and which texts are not edited: on collections of a few lines."""

from __future__ import annotations

import pytest
from registries import SMALL, commit, declaration, declare, is_clean, registered, rolled_back, small_registry

from benchwright.contract import Exit, Failure
from benchwright.publish import plan_registration, plan_rollback


def text_of(repository) -> str:
    return (repository / "src/reg/methods.py").read_bytes().decode()


def refusal(repository, method="reg.info:c", *, rollback=False, **words) -> Failure:
    before = text_of(repository)
    with pytest.raises(Failure) as caught:
        (plan_rollback if rollback else plan_registration)(SMALL, method, repository=repository, **words)
    assert text_of(repository) == before
    return caught.value


def collection(entries: str, *, names: str = "abdz", superseded: str | None = "[]") -> str:
    """A collection's module; ``entries`` are the lines of its list."""
    imports = f"from reg.info import {', '.join(names)}\n" if names else ""
    tail = "" if superseded is None else f"\nmethods_superseded = {superseded}\n"
    return f"{imports}\ncollection = Collection(\n    [\n{entries}    ]\n)\n{tail}"


GROUPS = "        # Systems\n        z,\n        # Models (CPU)\n        a,\n        b,\n        d,\n        # GPU\n"


def test_a_group_in_the_order_of_its_methods_keeps_it(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS))
    before = text_of(repository)
    assert registered(repository, "reg.info:c").group == "Models (CPU)"
    assert "        b,\n        c,\n        d,\n" in text_of(repository)
    assert is_clean(repository / "src/reg/methods.py")
    rolled_back(repository, "reg.info:c")
    assert text_of(repository) == before


def test_methods_come_before_variables(tmp_path):
    made = declaration("y", "AA") + declaration("x", "BB") + declaration("w", "aaa")
    repository = small_registry(
        tmp_path, "from reg.info import x, y\n\ncollection = C([\n    y,\n    x,\n])\n", more=made
    )
    registered(repository, "reg.info:w")
    assert "    y,\n    w,\n    x,\n" in text_of(repository)


def test_a_group_in_the_order_of_its_variables_keeps_that(tmp_path):
    made = declaration("x", "BB") + declaration("y", "AA") + declaration("w", "aaa")
    repository = small_registry(
        tmp_path, "from reg.info import x, y\n\ncollection = C([\n    x,\n    y,\n])\n", more=made
    )
    registered(repository, "reg.info:w")
    assert "[\n    w,\n    x,\n    y,\n]" in text_of(repository)


def test_a_group_in_no_order_takes_it_at_its_end(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS.replace("a,\n        b,", "b,  # why\n        a,")))
    registered(repository, "reg.info:c")
    assert "        b,  # why\n        a,\n        d,\n        c,\n        # GPU\n" in text_of(repository)


def test_an_empty_group_takes_it_below_its_comment(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS), more=declaration("g", "G", compute="gpu"))
    before = text_of(repository)
    assert registered(repository, "reg.info:g").group == "GPU"
    assert "        # GPU\n        g,\n    ]" in text_of(repository)
    rolled_back(repository, "reg.info:g")
    assert text_of(repository) == before


def test_a_comment_of_two_lines_is_one_heading_and_a_commented_out_entry_none(tmp_path):
    entries = (
        "        # Models\n        # on a GPU\n        a,\n        # b,\n        d,\n        # The rest\n        z,\n"
    )
    repository = small_registry(tmp_path, collection(entries))
    edit = registered(repository, "reg.info:c", group="Models on a GPU")
    assert edit.group == "Models on a GPU"
    assert "        a,\n        c,\n        # b,\n        d,\n" in text_of(repository)


def test_the_comment_that_was_asked_for_decides(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS))
    registered(repository, "reg.info:c", group="Systems")
    assert "        # Systems\n        c,\n        z,\n" in text_of(repository)


def test_a_comment_that_is_not_there_is_told_with_those_that_are(tmp_path):
    failure = refusal(small_registry(tmp_path, collection(GROUPS)), group="Models (CPUs)")
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "--group: 'Models (CPUs)': no comment says that, expected a group's comment\n"
        "    fix: did you mean 'Models (CPU)'?"
    )


def test_a_kind_that_no_comment_or_several_name_needs_one(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS.replace("GPU", "Other CPU models")))
    assert str(refusal(repository)) == (
        "--group: a place for a cpu method: 2 groups' comments name it, expected one group\n"
        "    fix: choose one with --group: 'Systems', 'Models (CPU)', 'Other CPU models'"
    )
    declare(repository / "src", "reg.info", declaration("g", "G", compute="gpu"))
    assert "a place for a gpu method: no group's comment names it" in str(refusal(repository, "reg.info:g"))


def test_a_group_beside_a_swap_is_wrong_usage(tmp_path):
    failure = refusal(small_registry(tmp_path, collection(GROUPS)), group="GPU", replaces="reg.info:a")
    assert failure.exit == Exit.USAGE
    assert failure.problems[0].found == "given beside --replaces, which keeps the old entry's place"


def test_a_swap_takes_the_comment_along_and_brings_it_back(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS.replace("b,", "b,  # three splits")))
    before = text_of(repository)
    registered(repository, "reg.info:c", replaces="reg.info:b")
    assert "        a,\n        c,\n        d,\n" in text_of(repository)
    assert text_of(repository).endswith("methods_superseded = [\n    b,  # three splits\n]\n")
    rolled_back(repository, "reg.info:c", replaces="reg.info:b")
    assert text_of(repository) == before


def test_reruns_of_a_rerun_go_back_one_by_one(tmp_path):
    made = declaration("a2", "A", "s-2") + declaration("a3", "A", "s-3")
    repository = small_registry(tmp_path, collection(GROUPS), more=made)
    texts = [text_of(repository)]
    for new, old in (("a2", "a"), ("a3", "a2")):
        registered(repository, f"reg.info:{new}", replaces=f"reg.info:{old}")
        texts.append(text_of(repository))
    assert texts[-1].endswith("methods_superseded = [\n    a,\n    a2,\n]\n")
    for new in ("a3", "a2"):
        assert texts.pop() == text_of(repository)
        rolled_back(repository, f"reg.info:{new}")
    assert texts == [text_of(repository)]


OF_ANOTHER_METHOD = {
    "the registration not committed": [],
    "the registration committed": ["registered"],
    "both committed, and others since": ["registered", "since"],
}


@pytest.mark.parametrize("committed", OF_ANOTHER_METHOD.values(), ids=OF_ANOTHER_METHOD)
@pytest.mark.parametrize("replaces", ["reg.info:b", None])
def test_the_history_says_what_another_methods_entry_replaced(tmp_path, committed, replaces):
    """Or that it replaced nothing."""
    repository = small_registry(tmp_path, collection(GROUPS, superseded="[\n    x,\n]", names="abdxz"), names="abcdxyz")
    commit(repository)
    words = {} if replaces is None else {"replaces": replaces}
    before = text_of(repository)
    registered(repository, "reg.info:c", **words)
    if "registered" in committed:
        commit(repository)
    if "since" in committed:
        registered(repository, "reg.info:y", replaces="reg.info:d")
        commit(repository)
        before = before.replace("        d,", "        y,").replace("    x,\n]", "    x,\n    d,\n]")
        before = before.replace("import a, b, d, x, z", "import a, b, d, x, y, z")
    undone = rolled_back(repository, "reg.info:c")
    assert undone.replaced == replaces
    assert text_of(repository) == before


def test_of_two_entries_in_the_place_of_one_it_is_not_known_which_replaced_it(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS), names="abcdez")
    commit(repository)
    before = text_of(repository)
    registered(repository, "reg.info:c", replaces="reg.info:b")
    registered(repository, "reg.info:e", group="Models (CPU)")
    path = repository / "src/reg/methods.py"
    path.write_text(text_of(repository).replace("        d,\n        e,\n", "        e,\n        d,\n"))
    failure = refusal(repository, rollback=True)
    assert failure.exit == Exit.REFUSED
    assert str(failure) == (
        "reg.info:c: what it replaced is not known, if anything: reg.info:b in methods_superseded may be it, "
        "expected the entry that goes back to its place\n    fix: name it with --replaces MODULE:ATTR; "
        "if it replaced none, take the entry and its import out by hand"
    )
    assert refusal(repository, "reg.info:e", rollback=True).problems[0].code == "predecessor-unknown"
    rolled_back(repository, "reg.info:c", replaces="reg.info:b")
    rolled_back(repository, "reg.info:e")
    assert text_of(repository) == before


def test_without_a_history_another_methods_predecessor_has_to_be_named(tmp_path):
    repository = small_registry(tmp_path / "a swap", collection(GROUPS))
    registered(repository, "reg.info:c", replaces="reg.info:b")
    assert refusal(repository, rollback=True).problems[0].code == "predecessor-unknown"
    entries = GROUPS.replace("        b,\n", "")
    repository = small_registry(tmp_path / "an addition", collection(entries, superseded="[\n    b,\n]"))
    registered(repository, "reg.info:c")
    assert refusal(repository, rollback=True).problems[0].code == "predecessor-unknown"


def test_what_was_replaced_by_a_rerun_of_its_own_was_replaced_by_nothing_else(tmp_path):
    made = declaration("a2", "A", "s-2")
    repository = small_registry(tmp_path, collection(GROUPS), more=made)
    registered(repository, "reg.info:a2", replaces="reg.info:a")
    before = text_of(repository)
    registered(repository, "reg.info:c")
    assert rolled_back(repository, "reg.info:c").replaced is None
    assert text_of(repository) == before


def test_the_same_method_in_another_suite_needs_to_be_swapped(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS), more=declaration("a2", "A", "s-2"))
    failure = refusal(repository, "reg.info:a2")
    assert failure.exit == Exit.NO
    assert str(failure) == (
        "reg.info:a2: method 'A' is live with suite 's-1', as a, expected one entry a method\n"
        "    fix: for a rerun that takes its place, add --replaces reg.info:a"
    )
    assert refusal(repository, "reg.info:a2", replaces="reg.info:b").problems[0].code == "method-live"
    assert registered(repository, "reg.info:a2", replaces="reg.info:a").replaced == "reg.info:a"


def test_the_same_run_under_another_name_is_refused(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS), more=declaration("a2", "A"))
    failure = refusal(repository, "reg.info:a2")
    assert failure.exit == Exit.NO
    assert str(failure) == (
        "reg.info:a2: method 'A' of suite 's-1' is registered as a, expected a (method, suite) that is not there yet\n"
        "    fix: give the new run a suite of its own, or keep reg.info:a"
    )
    superseded = collection(GROUPS.replace("        a,\n", ""), superseded="[\n    a,\n]")
    (repository / "src/reg/methods.py").write_text(superseded)
    assert refusal(repository, "reg.info:a2").problems[0].code == "registered-otherwise"


def test_what_is_replaced_must_be_live(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS.replace("        b,\n", ""), superseded="[\n    b,\n]"))
    failure = refusal(repository, replaces="reg.info:bb")
    assert failure.exit == Exit.NO
    assert str(failure) == (
        "reg.info:bb: not in the live list of src/reg/methods.py, expected a live entry\n"
        "    fix: did you mean 'reg.info:z' or 'reg.info:d' or 'reg.info:a'?"
    )
    assert str(refusal(repository, replaces="reg.info:b")) == (
        "reg.info:b: in methods_superseded already, expected a live entry\n    fix: name a live entry, or none"
    )


def test_a_swap_needs_a_list_for_what_it_replaces(tmp_path):
    failure = refusal(small_registry(tmp_path, collection(GROUPS, superseded=None)), replaces="reg.info:a")
    assert failure.exit == Exit.NO
    assert str(failure) == (
        "src/reg/methods.py: no list methods_superseded, which would keep the replaced entry reachable, expected one\n"
        "    fix: add methods_superseded: list[MethodMetadata] = [] below the collection, then run this again"
    )


def test_what_was_superseded_is_neither_registered_nor_rolled_back(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS.replace("        b,\n", ""), superseded="[\n    b,\n]"))
    assert str(refusal(repository, "reg.info:b")) == (
        "reg.info:b: in methods_superseded, as b, expected a method that was not replaced\n"
        "    fix: roll back the method that replaced it, or take it out of that list"
    )
    assert str(refusal(repository, "reg.info:b", rollback=True)) == (
        "reg.info:b: in methods_superseded: another method replaced it, expected a live entry\n"
        "    fix: roll back that one first"
    )


def test_half_a_swap_is_not_taken_for_one(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS))
    failure = refusal(repository, "reg.info:a", replaces="reg.info:b")
    assert failure.problems[0].found == "registered already, as a, and reg.info:b is not in methods_superseded"
    failure = refusal(repository, "reg.info:a", rollback=True, replaces="reg.info:b")
    assert str(failure) == (
        "reg.info:b: not in methods_superseded, expected what was replaced\n    fix: leave --replaces out"
    )


def test_a_run_without_a_suite_is_not_ready(tmp_path):
    made = 'n = MethodMetadata.config(method="N")\n' + declaration("o", "O", "O")
    repository = small_registry(tmp_path, collection(GROUPS), more=made)
    failure = refusal(repository, "reg.info:n")
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "reg.info:n: suite: not set, expected another name than the method's, for (method, suite) to tell runs apart\n"
        "    fix: scripts/set_method_info.py reg.info:n --set suite=NAME-OF-THE-RUN --apply"
    )
    assert refusal(repository, "reg.info:o").problems[0].found == "'O'"


def test_everything_that_is_missing_comes_at_once(tmp_path):
    repository = small_registry(tmp_path, "collection = make()\n", more=declaration("o", "O", "O"))
    failure = refusal(repository, "reg.info:o", replaces="reg.inf:a")
    assert failure.exit == Exit.REFUSED
    assert [(problem.code, problem.found) for problem in failure.problems] == [
        ("not-editable", "collection is no single call of one list"),
        ("suite-is-method", "'O'"),
        ("module", f"no such module below {tmp_path}"),
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("other = C([])\n", "no collection in src/reg/methods.py"),
        ("collection = C(x)\n", "the name x, which no single literal is bound to"),
        ("x = {}\ncollection = C(x)\n", "x is a mapping"),
        ("collection = C([], [])\n", "collection is no single call of one list"),
        ("collection = C([a, b,\n  d])\n", "names in an unusual layout"),
        ("collection = C([\n    a, b,\n])\n", "names in an unusual layout"),
        ("collection = C([\n    a,\n    b])\n", "names in an unusual layout"),
        ("collection = C([a,])\n", "names in an unusual layout"),
        ("collection = C([\n    a,\n])\nmethods_superseded = make()\n", "methods_superseded is a call of make(...)"),
        ("collection = C([\n    a,\n])\n", "no block of imports at the module's head"),
        ("from reg.info import (a, b)\ncollection = C([\n    a,\n])\n", "names in an unusual layout"),
    ],
)
def test_a_text_that_cannot_be_edited_is_refused(tmp_path, source, found):
    failure = refusal(small_registry(tmp_path, source))
    assert failure.problems[0].found == found
    assert failure.exit == (Exit.USAGE if failure.problems[0].code == "no-collection" else Exit.REFUSED)


LAYOUTS = {
    "one line": (
        "from reg.info import a\n\ncollection = C([a])\n",
        "from reg.info import a, c\n\ncollection = C([a, c])\n",
    ),
    "an empty list": (
        "import reg.info\nfrom reg.info import z\n\ncollection = C([])\n",
        "import reg.info\nfrom reg.info import c, z\n\ncollection = C([\n    c,\n])\n",
    ),
    "no comma at the end": (
        "from reg.info import (\n  a,\n  z\n)\n\ncollection = C([\n  a,\n  z  # last\n])\n",
        "from reg.info import (\n  a,\n  c,\n  z\n)\n\ncollection = C([\n  a,\n  c,\n  z  # last\n])\n",
    ),
    "no comma, and at the end": (
        "from reg.info import (\n  a,\n  b\n)\n\ncollection = C([\n  a,\n  b  # last\n])\n",
        "from reg.info import (\n  a,\n  b,\n  c\n)\n\ncollection = C([\n  a,\n  b,  # last\n  c\n])\n",
    ),
    "a name for the list": (
        "from reg.info import a\n\nthose = [\n    a,\n]\ncollection = C(methods=those)\n",
        "from reg.info import a, c\n\nthose = [\n    a,\n    c,\n]\ncollection = C(methods=those)\n",
    ),
    "an alias": (
        "from reg.info import a as one\n\ncollection = C([\n    one,\n])\n",
        "from reg.info import a as one, c\n\ncollection = C([\n    one,\n    c,\n])\n",
    ),
    "imported already": (
        "from reg.info import a, c as it\n\nothers = [it]\ncollection = C([\n    a,\n])\n",
        "from reg.info import a, c as it\n\nothers = [it]\ncollection = C([\n    a,\n    it,\n])\n",
    ),
    "a name that is taken": (
        "from other import c\nfrom reg.info import a\n\ncollection = C([\n    a,\n    c,\n])\n",
        "from other import c\nfrom reg.info import a, c as reg_c\n\ncollection = C([\n    a,\n    c,\n    reg_c,\n])\n",
    ),
    "another package": (
        '"""Doc."""\n\nimport os\nfrom typing import Any\n\nfrom other import b\n\ncollection = C([\n    b,\n])\n',
        '"""Doc."""\n\nimport os\nfrom typing import Any\n\nfrom other import b\nfrom reg.info import c\n\n'
        "collection = C([\n    b,\n    c,\n])\n",
    ),
    "Windows' line ends": (
        "from other import b\r\n\r\ncollection = C([\r\n    b,\r\n])\r\n",
        "from other import b\r\nfrom reg.info import c\r\n\r\ncollection = C([\r\n    b,\r\n    c,\r\n])\r\n",
    ),
    "characters of many bytes": (
        'from other import b\n\n"é"; collection = C([b])  # ü\n',
        'from other import b\nfrom reg.info import c\n\n"é"; collection = C([b, c])  # ü\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_is_kept_and_given_back(tmp_path, before, after):
    repository = small_registry(tmp_path, before)
    registered(repository, "reg.info:c")
    assert text_of(repository) == after
    rolled_back(repository, "reg.info:c")
    assert text_of(repository) == before


@pytest.mark.parametrize("head", [b"\xef\xbb\xbf", b"# coding: latin-1\n# \xe9\n"], ids=["a mark", "latin-1"])
def test_the_encoding_is_kept(tmp_path, head):
    before = head + b"from reg.info import a\n\ncollection = C([\n    a,\n])\n"
    repository = small_registry(tmp_path, before)
    path = repository / "src/reg/methods.py"
    registered(repository, "reg.info:c")
    assert path.read_bytes() == head + b"from reg.info import a, c\n\ncollection = C([\n    a,\n    c,\n])\n"
    rolled_back(repository, "reg.info:c")
    assert path.read_bytes() == before


def test_a_byte_of_no_encoding_is_told_with_its_file(tmp_path):
    repository = small_registry(tmp_path, b"from reg.info import a\n\n\ncollection = C([\n    a,  # \xe9\n])\n")
    path = repository / "src/reg/methods.py"
    for rollback in (False, True):
        with pytest.raises(Failure) as caught:
            (plan_rollback if rollback else plan_registration)(SMALL, "reg.info:c", repository=repository)
        (problem,) = caught.value.problems
        assert (caught.value.exit, problem.code, problem.where) == (Exit.USAGE, "not-python", str(path))
        assert problem.found.startswith("not Python: 'utf-8' codec can't decode byte 0xe9 in position")


def test_two_names_that_are_taken_leave_none(tmp_path):
    repository = small_registry(tmp_path, "from other import c, reg_c, x\n\ncollection = C([\n    x,\n])\n")
    assert refusal(repository).problems[0].found == "c and reg_c are other names there"


def test_a_method_of_the_collections_own_module_needs_no_import(tmp_path):
    source = f"from reg.info import a\n{declaration('own', 'Own')}\ncollection = C([\n    a,\n])\n"
    source += declaration("low", "Low")
    repository = small_registry(tmp_path, source)
    assert registered(repository, "reg.methods:own").imported is None
    assert text_of(repository) == source.replace("    a,\n", "    a,\n    own,\n")
    rolled_back(repository, "reg.methods:own")
    assert text_of(repository) == source
    failure = refusal(repository, "reg.methods:low")
    assert str(failure) == (
        f"{repository}/src/reg/methods.py:12: declared below the list, which starts at line 8, expected a declaration "
        "above it\n    fix: move it up"
    )


def test_an_entry_handed_on_by_another_module_is_known(tmp_path):
    repository = small_registry(tmp_path, "from reg.more import a\n\ncollection = C([\n    a,\n])\n")
    (repository / "src/reg/more.py").write_text("from reg.info import a\n")
    assert not plan_registration(SMALL, "reg.info:a", repository=repository).changes_file


def test_a_comment_that_came_beside_the_entry_is_not_lost(tmp_path):
    repository = small_registry(tmp_path, collection(GROUPS))
    registered(repository, "reg.info:c")
    path = repository / "src/reg/methods.py"
    path.write_text(text_of(repository).replace("        c,\n", "        c,  # ours\n"))
    failure = refusal(repository, rollback=True)
    assert failure.exit == Exit.REFUSED
    assert str(failure) == (
        f"{path}:10: a comment beside c, expected the entry alone\n    fix: take the comment away, then run this again"
    )


def test_what_is_not_as_a_registration_leaves_it_is_not_undone(tmp_path):
    source = "from reg.info import a\nfrom reg.info import c\n\ncollection = C([\n    a,\n    c,\n])\n"
    repository = small_registry(tmp_path, source)
    failure = refusal(repository, rollback=True)
    assert failure.exit == Exit.REFUSED
    assert str(failure) == (
        f"{repository}/src/reg/methods.py: not as a registration leaves it, expected one text to go back to\n"
        "    fix: take the entry and its import out by hand"
    )
