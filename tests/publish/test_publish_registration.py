"""Registrations in the genuine collections of the installed ``tabarena``, each undone to the byte."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest
from info_files import SOURCE_FOLDER
from registries import commit, declaration, declare, is_clean, registered, rolled_back, tabarena_checkout

from benchwright.contract import Exit, Failure
from benchwright.publish import ARENAS, apply_edit, find_target, plan_registration, plan_rollback, registered_in

HOSTED = "the entry resolves to downloadable artifacts only once the real upload has run"
FILES = {arena: SOURCE_FOLDER / "contexts" / arena / "methods.py" for arena in ("tabarena", "beyondarena")}
INSTALLED = """
import json, sys
from tabarena.contexts.tabarena import methods
live = methods.tabarena_method_metadata_collection
everything = methods.tabarena_method_metadata_complete_collection
keys = [[[entry.method, entry.suite] for entry in some.method_metadata_lst] for some in (live, everything)]
print(json.dumps([methods.__file__, *keys]))
"""


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    return tabarena_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def repository(committed):
    """The checkout, its collections put back afterwards."""
    before = {file: (committed / file).read_bytes() for file in FILES.values()}
    yield committed
    for file, content in before.items():
        (committed / file).write_bytes(content)


def changed_lines(edit) -> list[str]:
    return [line for line in edit.diff()[2:] if line[0] in "+-"]


ADDITIONS = {
    "a line of its own, among the models": (
        ("tabarena", "tabarena.models.zebra.info:zebra_method_metadata"),
        "Neural / GPU / foundation models",
        ["+from tabarena.models.zebra.info import zebra_method_metadata", "+        zebra_method_metadata,"],
    ),
    "first of its group, and below the comment above the models": (
        ("tabarena", "tabarena.models.aardvark.info:aardvark_method_metadata"),
        "Default tabular models (CPU)",
        ["+from tabarena.models.aardvark.info import aardvark_method_metadata", "+        aardvark_method_metadata,"],
    ),
    "among the systems": (
        ("tabarena", "tabarena.systems.apteryx.info:apteryx_method_metadata"),
        "Systems",
        ["+from tabarena.systems.apteryx.info import apteryx_method_metadata", "+        apteryx_method_metadata,"],
    ),
    "a system on a GPU is a system": (
        ("tabarena", "tabarena.systems.zorilla.info:zorilla_method_metadata"),
        "Systems",
        ["+from tabarena.systems.zorilla.info import zorilla_method_metadata", "+        zorilla_method_metadata,"],
    ),
    "into an import of one name a line": (
        ("tabarena", "tabarena.models.tabdpt.info:tabdpt_mid_method_metadata"),
        "Neural / GPU / foundation models",
        ["+    tabdpt_mid_method_metadata,", "+        tabdpt_mid_method_metadata,"],
    ),
    "into an import that grows too long for its line": (
        ("tabarena", "tabarena.models.nori.info:nori_x_method_metadata"),
        "Neural / GPU / foundation models",
        [
            "-from tabarena.models.nori.info import nori30m_method_metadata, nori_method_metadata, "
            "nori_new_method_metadata",
            "+from tabarena.models.nori.info import (",
            "+    nori30m_method_metadata,",
            "+    nori_method_metadata,",
            "+    nori_new_method_metadata,",
            "+    nori_x_method_metadata,",
            "+)",
            "+        nori_x_method_metadata,",
        ],
    ),
    "an import too long from the start": (
        ("tabarena", "tabarena.models.a_model_with_quite_a_long_name_indeed.info:"
         "a_model_with_quite_a_long_name_indeed_method_metadata"),
        "Default tabular models (CPU)",
        [
            "+from tabarena.models.a_model_with_quite_a_long_name_indeed.info import (",
            "+    a_model_with_quite_a_long_name_indeed_method_metadata,",
            "+)",
            "+        a_model_with_quite_a_long_name_indeed_method_metadata,",
        ],
    ),
    "in a list without comments": (
        ("beyondarena", "tabarena.models.zebra.info:zebra_method_metadata"),
        "",
        ["+from tabarena.models.zebra.info import zebra_method_metadata", "+    zebra_method_metadata,"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "group", "lines"), ADDITIONS.values(), ids=ADDITIONS)
def test_an_addition_and_its_undoing(repository, asked, group, lines):
    arena, method = asked
    path = repository / FILES[arena]
    before = path.read_bytes()
    edit = registered(repository, method, arena)
    assert changed_lines(edit) == lines
    assert (edit.target.path, edit.group, edit.replaced) == (path, group, None)
    assert edit.caveats == (f"{HOSTED}; {method} still has cache_type 'local', which is no remote store",)
    assert is_clean(path)
    assert not plan_registration(ARENAS[arena], method, repository=repository).changes_file

    undone = rolled_back(repository, method, arena)
    assert (undone.entry, undone.imported, undone.group) == (edit.entry, edit.imported, group)
    assert path.read_bytes() == before
    assert not plan_rollback(ARENAS[arena], method, repository=repository).changes_file


SWAPS = {
    "among the CPU models": (
        "tabarena.models.xgboost.info:xgboost_new_method_metadata",
        "tabarena.models.xgboost.info:xgboost_method_metadata",
        [
            "-from tabarena.models.xgboost.info import xgboost_method_metadata",
            "+from tabarena.models.xgboost.info import xgboost_method_metadata, xgboost_new_method_metadata",
            "-        xgboost_method_metadata,",
            "+        xgboost_new_method_metadata,",
            "+    xgboost_method_metadata,",
        ],
    ),
    "in the middle of the others": (
        "tabarena.models.nori.info:nori_v2_method_metadata",
        "tabarena.models.nori.info:nori_new_method_metadata",
        [
            "-from tabarena.models.nori.info import nori30m_method_metadata, nori_method_metadata, "
            "nori_new_method_metadata",
            "+from tabarena.models.nori.info import (",
            "+    nori30m_method_metadata,",
            "+    nori_method_metadata,",
            "+    nori_new_method_metadata,",
            "+    nori_v2_method_metadata,",
            "+)",
            "-        nori_new_method_metadata,",
            "+        nori_v2_method_metadata,",
            "+    nori_new_method_metadata,",
        ],
    ),
}


@pytest.mark.parametrize(("method", "old", "lines"), SWAPS.values(), ids=SWAPS)
@pytest.mark.parametrize("named", [True, False], ids=["the old one named", "the old one found"])
def test_a_swap_and_its_undoing(repository, method, old, lines, named):
    path = repository / FILES["tabarena"]
    before = path.read_bytes()
    edit = registered(repository, method, "tabarena", replaces=old)
    assert changed_lines(edit) == lines
    assert edit.replaced == old
    assert edit.caveats[1] == (
        f"the default leaderboard now carries only the new run; {old} stays reachable through methods_superseded"
    )
    assert is_clean(path)
    assert not plan_registration(ARENAS["tabarena"], method, repository=repository, replaces=old).changes_file

    undone = rolled_back(repository, method, "tabarena", **({"replaces": old} if named else {}))
    assert undone.replaced == old
    assert path.read_bytes() == before


def test_an_entry_that_only_running_the_module_tells_of_is_named(repository):
    edit = plan_registration(
        ARENAS["tabarena"], "tabarena.models.zebra.info:zebra_method_metadata", repository=repository
    )
    assert edit.unread == ("tabpfnv2_gpu_metadata: tabpfnv2_gpu_metadata is a call of next(...)",)


def test_it_can_be_replaced_all_the_same(repository):
    path = repository / FILES["tabarena"]
    before = path.read_bytes()
    old = "tabarena.contexts.tabarena.methods:tabpfnv2_gpu_metadata"
    edit = registered(repository, "tabarena.models.zebra.info:zebra_method_metadata", "tabarena", replaces=old)
    assert edit.replaced == old
    rolled_back(repository, "tabarena.models.zebra.info:zebra_method_metadata", "tabarena", replaces=old)
    assert path.read_bytes() == before


def test_tabarena_itself_runs_the_edited_module(repository):
    registered(repository, "tabarena.systems.apteryx.info:apteryx_method_metadata", "tabarena")
    new, old, _ = SWAPS["in the middle of the others"]
    registered(repository, new, "tabarena", replaces=old)
    source = repository / SOURCE_FOLDER.parent
    printed = subprocess.run(
        [sys.executable, "-c", INSTALLED],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    file, live, everything = json.loads(printed.splitlines()[-1])
    assert file == str(repository / FILES["tabarena"])
    assert live[4] == ["Apteryx", "tabarena-2031-01-08"]  # the systems there are in the order of their variables
    assert [key for key in live if key[0] == "Nori"] == [["Nori", "tabarena-2031-01-01"]]
    assert ["Nori", "tabarena-2026-07-13"] in everything
    assert len(live) == 43


MODULES = {"tabpfn_10": [], "tabpfn_9": [], "_hidden": [], "Zeta": [], "lr2": [], "x9y10": ["x"], "x9y9": [], "lr": [
    "run2_metadata", "run10_metadata", "RUN", "Run", "_run", "run_metadata_with_a_name_that_needs_many_columns",
]}  # fmt: skip


def test_many_imports_keep_the_order_and_go_in_any_order(tmp_path):
    """The order is ruff's own: it would change nothing, however numbers, cases and underscores mix."""
    repository = tabarena_checkout(tmp_path)
    source = repository / SOURCE_FOLDER.parent
    places = [
        (f"tabarena.models.{module}.info", name) for module, names in MODULES.items() for name in names or ["run"]
    ]
    for module, name in places:
        declare(source, module, declaration(name, f"{module} {name}"))
    path = repository / FILES["tabarena"]
    before = path.read_bytes()
    methods = [":".join(place) for place in places]
    chosen = random.Random(7)
    for method in chosen.sample(methods, len(methods)):
        registered(repository, method, "tabarena")
    assert is_clean(path)
    for method in chosen.sample(methods, len(methods)):
        rolled_back(repository, method, "tabarena")
    assert path.read_bytes() == before


def test_without_a_commit_from_before_an_unclear_layout_is_refused(tmp_path):
    source = (
        "from reg.info import a_long_name, b_long_name\n\ncollection = C([\n    a_long_name,\n    b_long_name,\n])\n"
    )
    repository = tmp_path
    names = ["a_long_name", "b_long_name", "c_long_name"]
    declare(repository / "src", "reg.info", *(declaration(name, name) for name in names))
    (repository / "src/reg/methods.py").write_text(source)
    (repository / "pyproject.toml").write_text("[tool.ruff]\nline-length = 50\n")
    method = "reg.info:c_long_name"
    registered(repository, method)
    refused = (
        f"{repository}/src/reg/methods.py: names one a line that may have been on one line before, and no commit from "
        "before says which, expected one text to go back to\n"
        "    fix: git revert the commit that registered it, or take the entry and its import out by hand"
    )
    with pytest.raises(Failure) as caught:
        rolled_back(repository, method)
    assert (caught.value.exit, str(caught.value)) == (Exit.REFUSED, refused)

    commit(repository)
    with pytest.raises(Failure) as caught:
        rolled_back(repository, method)
    assert str(caught.value) == refused


@pytest.mark.parametrize("stacked", [True, False])
def test_the_last_commit_says_which_layout_it_was(tmp_path, stacked):
    names = "(\n    a_long_name,\n    b_long_name,\n)" if stacked else "a_long_name, b_long_name"
    source = f"from reg.info import {names}\n\ncollection = C([\n    a_long_name,\n    b_long_name,\n])\n"
    made = [declaration(name, name) for name in ("a_long_name", "b_long_name", "c_long_name", "d_long_name")]
    declare(tmp_path / "src", "reg.info", *made)
    (tmp_path / "src/reg/methods.py").write_text(source)
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 50\n")
    commit(tmp_path)
    for method in ("reg.info:c_long_name", "reg.info:d_long_name"):
        registered(tmp_path, method)
    for method in ("reg.info:c_long_name", "reg.info:d_long_name"):
        rolled_back(tmp_path, method)
    assert (tmp_path / "src/reg/methods.py").read_text() == source


def test_a_file_that_changed_in_between_is_not_written(repository):
    method = "tabarena.models.zebra.info:zebra_method_metadata"
    edit = plan_registration(ARENAS["tabarena"], method, repository=repository)
    path = repository / FILES["tabarena"]
    path.write_bytes(path.read_bytes() + b"# someone was here\n")
    changed = path.read_bytes()
    with pytest.raises(Failure) as caught:
        apply_edit(edit)
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.REFUSED, "file-changed")
    assert path.read_bytes() == changed


@pytest.mark.parametrize(
    ("reference", "arena"),
    [
        ("tabarena.models.catboost.info:catboost_new_method_metadata", "tabarena"),
        ("tabarena.models.nori.info:nori_method_metadata", "tabarena"),
        ("tabarena.models.catboost.info:catboost_method_metadata", "tabarena"),  # of a dated suite, as all below
        ("tabarena.models.modernnca.info:modernnca_method_metadata", "tabarena"),
        ("tabarena.models.realmlp.info:realmlp_cpu_method_metadata", "tabarena"),
        ("tabarena.models.ebm.info:ebm_method_metadata", "tabarena"),
        ("tabarena.systems.autogluon.info:ag_130_metadata", "tabarena"),  # handed on by another module
        ("tabarena.models.xgboost.info:xgboost_new_method_metadata", None),
        ("tabarena.models.zebra.info:zebra_method_metadata", None),
    ],
)
def test_a_run_of_any_suite_is_registered_and_a_new_one_is_not(repository, reference, arena):
    found = registered_in(find_target(reference, repository, to_write=False))
    assert (found.name if found else None) == arena
