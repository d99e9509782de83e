"""The layout an edit leaves behind, what it validates, and what it will not touch."""

from __future__ import annotations

import pytest
from info_files import checkout

from benchwright.contract import Exit, Failure
from benchwright.publish import apply_edit, parse_changes, plan_edit, read_declaration

HEAD = "from tabarena.models._method_metadata import MethodMetadata\n"


def edited(tmp_path, source, *texts, attribute="x"):
    """The source after the edit, proved to be stable under a second one."""
    target = checkout(tmp_path, source, attribute=attribute)
    apply_edit(plan_edit(target, parse_changes(texts)))
    after = target.path.read_bytes()
    assert not plan_edit(target, parse_changes(texts)).changes_file
    return after.decode() if isinstance(source, str) else after


def refused(tmp_path, source, *texts, attribute="x"):
    with pytest.raises(Failure) as caught:
        plan_edit(checkout(tmp_path, source, attribute=attribute), parse_changes(texts))
    return caught.value


LAYOUTS = {
    "own lines": (
        'x = MethodMetadata(\n    method="A",\n    compute="gpu",\n)\n',
        'x = MethodMetadata(\n    method="A",\n    suite="s",\n    compute="gpu",\n    verified=False,\n)\n',
    ),
    "no trailing comma": (
        'x = MethodMetadata(\n    method="A",\n    compute="gpu"\n)\n',
        'x = MethodMetadata(\n    method="A",\n    suite="s",\n    compute="gpu",\n    verified=False,\n)\n',
    ),
    "hanging": (
        'x = MethodMetadata(method="A",\n                   compute="gpu")\n',
        'x = MethodMetadata(method="A",\n                   suite="s",\n                   compute="gpu",\n'
        "                   verified=False)\n",
    ),
    "several a line": (
        'x = MethodMetadata(\n    method="A", compute="gpu",\n    is_bag=True\n)\n',
        'x = MethodMetadata(\n    method="A",\n    suite="s",\n    compute="gpu",\n    is_bag=True,\n'
        "    verified=False,\n)\n",
    ),
    "bracket at the last argument": (
        'x = MethodMetadata(\n    method="A",\n    compute="gpu")\n',
        'x = MethodMetadata(\n    method="A",\n    suite="s",\n    compute="gpu",\n    verified=False)\n',
    ),
    "one line": (
        'x = MethodMetadata(method="A", compute="gpu")\n',
        'x = MethodMetadata(method="A", suite="s", compute="gpu", verified=False)\n',
    ),
    "one line with a trailing comma": (
        "x = MethodMetadata(method='A',)  # why\n",
        "x = MethodMetadata(method='A', suite='s', verified=False,)  # why\n",
    ),
    "tabs": (
        'x = MethodMetadata(\n\tmethod="A",\n)\n',
        'x = MethodMetadata(\n\tmethod="A",\n\tsuite="s",\n\tverified=False,\n)\n',
    ),
    "single quotes": (
        "x = MethodMetadata(\n    method='A',\n)\n",
        "x = MethodMetadata(\n    method='A',\n    suite='s',\n    verified=False,\n)\n",
    ),
    "comments": (
        "x = MethodMetadata(  # of\n    # the name\n    method='A',  # as run\n    # how\n"
        "    compute='gpu',  # one\n    # end\n)\n",
        "x = MethodMetadata(  # of\n    # the name\n    method='A',  # as run\n    suite='s',\n    # how\n"
        "    compute='gpu',  # one\n    verified=False,\n    # end\n)\n",
    ),
    "a comment before the bracket": (
        "x = MethodMetadata(\n    method='A'  # as run\n)\n",
        "x = MethodMetadata(\n    method='A',  # as run\n    suite='s',\n    verified=False,\n)\n",
    ),
    "commas in front": (
        "x = MethodMetadata(\n    method='A'  # as run\n  , compute='gpu'\n)\n",
        "x = MethodMetadata(\n    method='A',  # as run\n    suite='s',\n  compute='gpu',\n    verified=False,\n)\n",
    ),
    "annotated": (
        "x: MethodMetadata = MethodMetadata(method='A')\n",
        "x: MethodMetadata = MethodMetadata(method='A', suite='s', verified=False)\n",
    ),
    "held": (
        "x = ModelInfo(\n    model_cls=A,\n    method_metadata=MethodMetadata(method='A'),\n)\n",
        "x = ModelInfo(\n    model_cls=A,\n"
        "    method_metadata=MethodMetadata(method='A', suite='s', verified=False),\n)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), LAYOUTS.values(), ids=LAYOUTS)
def test_new_keywords_take_the_layout_of_their_neighbours(tmp_path, before, after):
    assert edited(tmp_path, HEAD + before, "suite=s") == HEAD + after


@pytest.mark.parametrize(("before", "after"), LAYOUTS.values(), ids=LAYOUTS)
def test_windows_line_ends_stay(tmp_path, before, after):
    source, expected = ((HEAD + text).replace("\n", "\r\n").encode() for text in (before, after))
    assert edited(tmp_path, source, "suite=s") == expected


def test_a_line_that_grows_too_long_is_broken_up(tmp_path):
    line = "x = ModelInfo(method_metadata=MethodMetadata(method='A', compute='gpu'), model_cls=A)\n"
    (tmp_path / "ruff.toml").write_text("line-length = 99\n")
    assert edited(tmp_path, HEAD + line, "date=2030-01-01") == HEAD + (
        "x = ModelInfo(method_metadata=MethodMetadata(\n    method='A',\n    compute='gpu',\n    date='2030-01-01',\n"
        "    verified=False,\n), model_cls=A)\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "length"),
    [("pyproject.toml", "[tool.ruff]\nline-length = 70\n", 70), ("ruff.toml", "line-length = 71\n", 71), ("x", "", 88)],
)
def test_the_length_is_the_one_the_checkout_configures(tmp_path, name, text, length):
    (tmp_path / name).write_text(text)
    fits = "x = MethodMetadata(method='A', suite='{}', verified=False)"
    room = length - len(fits.format(""))
    assert "\n)" not in edited(tmp_path, "x = MethodMetadata(method='A')\n", f"suite={'s' * room}")
    assert "\n)" in edited(tmp_path, "x = MethodMetadata(method='A')\n", f"suite={'s' * (room + 1)}")


def test_values_are_replaced_in_place(tmp_path):
    source = HEAD + "x = MethodMetadata(\n    method='A',\n    date='2020-01-01',  # run\n    verified=True,\n)\n"
    assert edited(tmp_path, source, "date=2030-01-01") == source.replace("2020", "2030")


PLACEHOLDERS = {
    "of a snippet": (
        "x = MethodMetadata(\n    method='A',\n    # suite=\"...\",  # REQUIRED: the id\n    compute='cpu',\n"
        '    # Not in the results:\n    # display_name="...",\n    # date="2030-01-30",  # the day\n'
        "    # verified=False,\n    # date: the day of the run\n)\n",
        "x = MethodMetadata(\n    method='A',\n    suite='s',\n    compute='cpu',\n    date='2030-01-31',\n"
        '    verified=False,\n    # Not in the results:\n    # display_name="...",\n'
        "    # date: the day of the run\n)\n",
    ),
    "of another declaration": (
        "# date='x'\ny = MethodMetadata(\n    method='A',\n    # date='y'\n)\n"
        "x = MethodMetadata(\n    # date='z'\n    method='A',  # date='a'\n)\n# date='b'\n",
        "# date='x'\ny = MethodMetadata(\n    method='A',\n    # date='y'\n)\n"
        "x = MethodMetadata(\n    method='A',  # date='a'\n    suite='s',\n    date='2030-01-31',\n"
        "    verified=False,\n)\n# date='b'\n",
    ),
    "in front": (
        "x = MethodMetadata(\n    # suite='...'\n    method='A',\n    verified=False,\n    #date='...'\n)\n",
        "x = MethodMetadata(\n    method='A',\n    suite='s',\n    date='2030-01-31',\n    verified=False,\n)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), PLACEHOLDERS.values(), ids=PLACEHOLDERS)
def test_a_comment_that_holds_the_place_of_a_field_goes_when_it_is_set(tmp_path, before, after):
    assert edited(tmp_path, HEAD + before, "suite=s", "date=2030-01-31") == HEAD + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = M(\n    method='A',\n    # above\n    date='2020-01-01',  # beside\n"
         "    # below\n    verified=False,\n)\n",
         "x = M(\n    method='A',\n    # above\n    # beside\n    # below\n    verified=False,\n)\n"),
        ("x = M(\n    method='A',\n    verified=False,\n    date='2020-01-01',  # beside\n)\n",
         "x = M(\n    method='A',\n    verified=False,\n    # beside\n)\n"),
        ("x = M(\n    date='2020-01-01',  # beside\n    method='A',\n    verified=False,\n)\n",
         "x = M(\n    # beside\n    method='A',\n    verified=False,\n)\n"),
        ("x = M(method='A', verified=False, date='2020-01-01')\n", "x = M(method='A', verified=False)\n"),
        ("x = M(date='2020-01-01', method='A', verified=False)\n", "x = M(method='A', verified=False)\n"),
    ],
)  # fmt: skip
def test_none_removes_the_keyword_and_keeps_every_comment(tmp_path, before, after):
    head = "from tabarena.models._method_metadata import MethodMetadata as M\n"
    assert edited(tmp_path, head + before, "date=none") == head + after


DESCRIBED = (
    "d = ModelDescriptor(display_name='Shown', compute='gpu', is_bag=True, reference_url='u')\n"
    "x = d.method_metadata(method='A', verified=False)\n"
)


def test_what_a_descriptor_says_is_overridden_where_it_differs_and_left_alone_where_not(tmp_path):
    assert edited(tmp_path, DESCRIBED, "compute=gpu", "is_bag=true") == DESCRIBED
    assert edited(tmp_path, DESCRIBED, "compute=none", "reference_url=none") == DESCRIBED.replace(
        "'A', verified", "'A', compute='cpu', reference_url=None, verified"
    )


def test_a_systems_protocol_is_none_only_when_it_is_written(tmp_path):
    source = "x = MethodMetadata.system(method='A', verified=False)\n"
    assert "validation_protocol=None" in edited(tmp_path, source, "validation_protocol=none")


def test_every_kind_of_value_is_written_as_a_literal(tmp_path):
    source = 'x = MethodMetadata.system(\n    method="A",\n)\n'
    texts = [
        "tags=with-llm, closed-source-api",
        'cache_kwargs={"bucket": "tabarena", "prefix": "cache"}',
        "cache_type=r2",
        "has_raw=false",
        """display_name=It's "new" é""",
        'name="none"',
    ]
    after = edited(tmp_path, source, *texts)
    assert '    tags=("closed-source-api", "with-llm"),\n' in after
    assert '    cache_kwargs={"bucket": "tabarena", "prefix": "cache"},\n' in after
    assert "    has_raw=False,\n" in after
    declared = read_declaration(checkout(tmp_path, after)).metadata()
    assert (declared.display_name, declared.name) == ("""It's "new" é""", "none")


def test_the_declared_encoding_stays_and_what_it_lacks_is_escaped(tmp_path):
    source = "# -*- coding: latin-1 -*-\n# é\nx = MethodMetadata(method='A', verified=False)\n".encode("latin-1")
    after = edited(tmp_path, source, "display_name=é€")
    assert after == source.replace(b"'A', ", b"'A', display_name='\\xe9\\u20ac', ")


def test_a_byte_order_mark_stays(tmp_path):
    source = b"\xef\xbb\xbfx = MethodMetadata(method='A', verified=False)\n"
    assert edited(tmp_path, source, "date=2030-01-01") == source.replace(b"'A', ", b"'A', date='2030-01-01', ")


def test_fields_that_only_a_newer_tabarena_knows_are_left_alone(tmp_path):
    source = "x = MethodMetadata(method='A', licence=L['mit'], verified=False)\n"
    assert edited(tmp_path, source, "date=2030-01-01") == source.replace("'A', ", "'A', date='2030-01-01', ")


def test_a_shared_constant_is_read_but_not_replaced(tmp_path):
    source = "PAPER = 'u'\nx = MethodMetadata(method='A', reference_url=PAPER, verified=False)\n"
    assert "date=" in edited(tmp_path, source, "date=2030-01-01", "reference_url=u")
    failure = refused(tmp_path, source, "reference_url=other")
    assert failure.exit == Exit.REFUSED
    assert failure.problems[0].found == "reference_url is a name (PAPER)"
    assert failure.problems[0].where.endswith("info.py:2")


UNBOUND = ", which no single literal is bound to"
REFUSED = {
    "bound twice": (
        "x = MethodMetadata(method='A')\nx = MethodMetadata(method='B')\n", 2,
        "x is bound more than once (line 1: a call of MethodMetadata(...); line 2: a call of MethodMetadata(...))",
    ),
    "changed later": (
        "x = MethodMetadata(method='A')\nx.date = 'y'\n", 2,
        "x is bound more than once (line 1: a call of MethodMetadata(...); line 2: changed by x.date = ...)",
    ),
    "a global elsewhere": (
        "x = MethodMetadata(method='A')\ndef f():\n    global x\n    x = 1\n", 3,
        "x is bound more than once (line 1: a call of MethodMetadata(...); line 3: a global of f())",
    ),
    "in a block": ("if FLAG:\n    x = MethodMetadata(method='A')\n", 2, "x is bound in an if"),
    "two names": ("x = y = MethodMetadata(method='A')\n", 1, "x is bound in an assignment to several names"),
    "helper": ("x = make('A')\n", 1, "x is a call of make(...)"),
    "other constructor": (
        "x = MethodMetadata.from_yaml('p')\n", 1, "x is a call of MethodMetadata.from_yaml(...)",
    ),
    "list": ("x = [MethodMetadata(method='A')]\n", 1, "x is a list"),
    "function": ("def x(): ...\n", 1, "x is a function"),
    "imported": ("from models.other import x\n", 1, "x is imported from models.other"),
    "f-string": ("N = 'a'\nx = MethodMetadata(\n    method=f'{N}')\n", 3, "method is an f-string"),
    "computed": ("x = MethodMetadata(\n    method='A' + N)\n", 2, "method is an expression"),
    "unknown name": ("x = MethodMetadata(method=NAME)\n", 1, f"method is the name NAME{UNBOUND}"),
    "unpacked call": ("x = MethodMetadata(method='A', **common())\n", 1, "**common() is a call of common(...)"),
    "positional": ("x = MethodMetadata('A', 's')\n", 1, "an argument without a name"),
    "nothing named": ("x = MethodMetadata()\n", 1, "no method="),
    "held elsewhere": ("y = 1\nx = ModelInfo(method_metadata=y)\n", 2, "ModelInfo(...) refers to y"),
    "held by nothing": ("x = ModelInfo(model_cls=A)\n", 1, "ModelInfo(...): no method_metadata="),
    "unknown descriptor": ("x = d.method_metadata(method='A')\n", 1, f"the descriptor is the name d{UNBOUND}"),
    "cycle": ("A = A\nx = MethodMetadata(method=A)\n", 2, f"method is the name A{UNBOUND}"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "line", "found"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_edited_is_refused_with_its_line(tmp_path, source, line, found):
    failure = refused(tmp_path, source, "date=2030-01-01")
    assert failure.exit == Exit.REFUSED
    (problem,) = failure.problems
    assert (problem.code, problem.found) == ("not-editable", found)
    assert problem.where == f"{tmp_path}/src/models/info.py:{line}"


def test_a_comment_inside_a_value_is_not_dropped(tmp_path):
    source = "x = MethodMetadata(\n    method='A',\n    reference_url=(\n        'a'  # one\n        'b'\n    ),\n)\n"
    failure = refused(tmp_path, source, "reference_url=c")
    assert failure.exit == Exit.REFUSED
    assert failure.problems[0].where.endswith("info.py:4")
    assert failure.problems[0].found == "a comment inside the value of reference_url"
    assert "# one" in edited(tmp_path, source, "date=2030-01-01")


def test_a_shared_mapping_is_named(tmp_path):
    source = "c = dict(date='2020-01-01')\nx = MethodMetadata(method='A', **c)\n"
    assert refused(tmp_path, source, "date=2030-01-01").problems[0].found == (
        "date comes from **c, which other methods may share"
    )
    assert "is_bag=True" in edited(tmp_path, source, "is_bag=true", "date=2020-01-01")


@pytest.mark.parametrize("source", ["x = (\n", "x = 1\0\n", "x = " + "(" * 500 + "\n", "x = \xe9\n".encode("latin-1")])
def test_a_module_that_is_not_python_is_wrong_input(tmp_path, source):
    failure = refused(tmp_path, source, "date=2030-01-01")
    assert failure.exit == Exit.USAGE
    assert failure.problems[0].code == "not-python"


def test_an_unknown_name_gets_close_ones(tmp_path):
    source = "x_metadata = MethodMetadata(method='A')\nother = 1\n"
    failure = refused(tmp_path, source, "date=2030-01-01", attribute="x_metdata")
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "models.info:x_metdata: no x_metdata in src/models/info.py, expected a name that a method is declared under\n"
        "    fix: did you mean 'x_metadata'?"
    )


def test_all_rules_are_checked_at_once_before_anything_is_written(tmp_path):
    source = "x = MethodMetadata(method='A', verified=False)\n"
    failure = refused(tmp_path, source, "date=2030-02-30", "compute=tpu", "tags=with-lm", "cache_type=r2", "name=N")
    assert failure.exit == Exit.USAGE
    assert [problem.where.rpartition(" ")[2] for problem in failure.problems] == [
        "compute", "tags", "date", "name", "cache_kwargs",
    ]  # fmt: skip
    assert failure.problems[1].fix == "did you mean 'with-llm'?"


def test_another_suite_is_refused_unless_forced(tmp_path):
    source = "x = MethodMetadata(\n    method='A',\n    suite='run-1',\n    verified=True,\n)\n"
    failure = refused(tmp_path, source, "suite=run-2", "date=2030-13-01")
    assert failure.exit == Exit.REFUSED
    assert [problem.code for problem in failure.problems] == ["suite-declared", "metadata-value"]
    assert str(failure.problems[0]) == (
        "models.info:x: suite: declared as 'run-1'\n"
        "    fix: declare the new run beside it, under another name, and register it with --replaces; "
        "to change this one nevertheless: --force"
    )
    edit = plan_edit(checkout(tmp_path, source), parse_changes(["suite=run-2"]), force=True)
    assert edit.after.decode() == source.replace("run-1", "run-2")
    assert not plan_edit(checkout(tmp_path, source), parse_changes(["suite=run-1"])).changes_file
    assert edited(tmp_path, source, "date=2030-01-31") == source.replace("1',\n", "1',\n    date='2030-01-31',\n")


@pytest.mark.parametrize("place", ["A", "...", ""])
def test_a_suite_that_names_no_run_is_set(tmp_path, place):
    source = f"x = MethodMetadata(method='A', suite='{place}', verified=True)\n"
    assert edited(tmp_path, source, "suite=s") == source.replace(f"suite='{place}'", "suite='s'")


def test_the_suite_must_not_be_the_method(tmp_path):
    failure = refused(tmp_path, "x = MethodMetadata(method='A')\n", "suite=A")
    assert failure.exit == Exit.USAGE
    assert failure.problems[0].code == "suite-is-method"


def test_what_a_constructor_sets_cannot_be_given_to_it(tmp_path):
    failure = refused(tmp_path, "x = MethodMetadata.system(method='A')\n", "method_class=model")
    assert failure.problems[0].found == "given to MethodMetadata.system(...), which sets it"
    legacy = "x = MethodMetadata.tabarena_legacy_s3(method='A', suite='s', prefix='p')\n"
    assert refused(tmp_path, legacy, "cache_type=r2").problems[0].code == "metadata-conflict"


def test_a_descriptor_of_another_module_is_read_there(tmp_path):
    other = tmp_path / "src" / "models" / "other.py"
    other.parent.mkdir(parents=True)
    other.write_text("d = ModelDescriptor(display_name='Shown', compute='gpu')\n")
    source = "from models.other import d as e\nx = e.method_metadata(method='A', verified=False)\n"
    assert edited(tmp_path, source, "compute=gpu") == source
    other.write_text("d = (\n")
    failure = refused(tmp_path, source, "compute=gpu")
    assert failure.problems[0].found == f"the descriptor is the name e{UNBOUND}"


def test_a_field_that_the_checkouts_own_class_lacks_is_refused(tmp_path):
    own = tmp_path / "src" / "tabarena" / "models" / "_method_metadata.py"
    own.parent.mkdir(parents=True)
    own.write_text("class MethodMetadata:\n    method: str\n    date: str | None = None\n    verified: bool = True\n")
    source = HEAD + "x = MethodMetadata(method='A')\n"
    failure = refused(tmp_path, source, "validation_protocol=8x1", "date=2030-01-01")
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        "models.info:x: no field validation_protocol in that version, "
        f"expected a field of the MethodMetadata in {tmp_path}\n"
        "    fix: leave it out, or bring the checkout up to date"
    )


def test_a_file_that_changed_in_between_is_not_written(tmp_path):
    target = checkout(tmp_path, "x = MethodMetadata(method='A')\n")
    edit = plan_edit(target, parse_changes(["date=2030-01-01"]))
    target.path.write_text("x = MethodMetadata(method='B')\n")
    with pytest.raises(Failure) as caught:
        apply_edit(edit)
    assert caught.value.exit == Exit.REFUSED
    assert caught.value.problems[0].code == "file-changed"
    assert target.path.read_text() == "x = MethodMetadata(method='B')\n"


def test_old_mac_line_ends_are_refused_by_name(tmp_path):
    failure = refused(tmp_path, b"y = 1\rx = MethodMetadata(method='A')\r", "date=2030-01-01")
    assert failure.exit == Exit.REFUSED
    assert failure.problems[0].code == "not-kept"
