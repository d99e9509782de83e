"""Every genuine declaration of the installed ``tabarena``, edited on a copy and read back by its own code."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

import pytest
from info_files import INFO_FILES, SOURCE_FOLDER, TABARENA, comments, copied_checkout, declarations_in

from benchwright.publish import apply_edit, parse_changes, plan_edit, read_declaration

CHANGES = parse_changes(["suite=tabarena-2031-01-02", "date=2031-01-02"])
UNPACKED_THERE = "systems/autogluon/info.py"
DUMP = """
import importlib, json, sys
from pathlib import Path
from tabarena.models._method_metadata import MethodMetadata

def methods(file, names):
    found = ((name, value) for name, value in names.items() if isinstance(value, MethodMetadata))
    return {f"{file}:{name}": value._to_yaml_dict() for name, value in found}

before, after = {}, {}
installed = Path(sys.argv[1])
for file in sys.argv[2:]:
    original = {"__name__": "original"}
    exec((installed / file).read_text(), original)
    before |= methods(file, original)
    module = importlib.import_module(".".join(("tabarena", *Path(file).with_suffix("").parts)))
    assert not Path(module.__file__).is_relative_to(installed)
    after |= methods(file, vars(module))
print(json.dumps([before, after]))
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return copied_checkout(tmp_path_factory.mktemp("checkout"))


def call_at(source: bytes, name: str) -> ast.Call:
    (call,) = [
        statement.value
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name
    ]
    return call


def keywords(call: ast.Call) -> dict[str, str]:
    return {entry.arg or "**": ast.unparse(entry.value) for entry in call.keywords}


def test_the_corpus_is_all_there(repository):
    assert len(INFO_FILES) == 33
    assert sum(len(declarations_in(repository, file)) for file in INFO_FILES) == 65


@pytest.mark.parametrize("file", INFO_FILES, ids=lambda path: path.parent.name)
def test_a_genuine_declaration_changes_in_the_intended_keywords_alone(repository, file):
    targets = declarations_in(repository, file)
    assert targets
    for target in targets:
        before = target.path.read_bytes()
        declaration = read_declaration(target, before)
        shared = [change for change in CHANGES if change.field in declaration.unpacked]
        if shared:
            assert file.as_posix() == UNPACKED_THERE
            continue
        edit = plan_edit(target, CHANGES, force=True)
        assert apply_edit(edit)
        after = target.path.read_bytes()
        compile(after, str(target.path), "exec")

        old, new = (keywords(call_at(source, target.attribute)) for source in (before, after))
        intended = {"suite": "'tabarena-2031-01-02'", "date": "'2031-01-02'"}
        if not declaration.declares("verified"):
            intended["verified"] = "False"
        assert new == old | intended
        assert comments(after) == comments(before)
        lines = [line for line in edit.diff() if line[0] in "+-" and line[:3] not in ("+++", "---")]
        assert len(lines) == sum(1 + (name in old) for name in intended if new[name] != old.get(name))
        others = [[ast.dump(node) for node in ast.parse(source).body] for source in (before, after)]
        assert sum(one != other for one, other in zip(*others, strict=True)) == 1
        assert not plan_edit(target, CHANGES, force=True).changes_file


def as_tabarena_reads(files, source_folder):
    """What the package's own code makes of the installed declarations, and of those in ``source_folder``."""
    done = subprocess.run(
        [sys.executable, "-c", DUMP, str(TABARENA), *map(str, files)],
        env=os.environ | {"PYTHONPATH": str(source_folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_tabarena_itself_reads_the_edit_and_nothing_else_has_changed(tmp_path):
    copy = copied_checkout(tmp_path)
    files = [file for file in INFO_FILES if file.parent.name in ("catboost", "chimeraboost", "tabdpt", "tabfm_plus")]
    changes = parse_changes(
        ["suite=tabarena-2031-01-02", "tags=with-llm", "reference_url=none", "date_introduced=2030"]
    )
    intended = {"suite": "tabarena-2031-01-02", "tags": ["with-llm"], "reference_url": None, "date_introduced": "2030"}
    added = {}
    for file in files:
        for target in declarations_in(copy, file):
            declared = read_declaration(target).declares("verified")
            added[f"{file}:{target.attribute}"] = intended | ({} if declared else {"verified": False})
            assert apply_edit(plan_edit(target, changes, force=True))
    before, after = as_tabarena_reads(files, copy / SOURCE_FOLDER.parent)
    assert len(after) == 8
    assert after == {name: values | added[name] for name, values in before.items()}
