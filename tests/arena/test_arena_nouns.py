"""Collections, items, suggestions, and what importing them costs."""

import json
import pickle
import subprocess
import sys

import pytest

from benchwright.arena import Item, MethodCollection, MethodMetadata, did_you_mean
from benchwright.contract import Exit, Failure


def collection():
    return MethodCollection(
        [
            MethodMetadata(method="LightGBM", suite="run-1", ag_key="GBM", display_name="LightGBM"),
            MethodMetadata(method="LightGBM", suite="run-20", ag_key="GBM", display_name="LightGBM (rerun)"),
            MethodMetadata.system(method="Agent", suite="run-1", display_name="LightGBM"),
        ]
    )


def problem_of(build, *args):
    with pytest.raises(Failure) as caught:
        build(*args)
    assert caught.value.exit is Exit.USAGE
    (problem,) = caught.value.problems
    return problem


def test_a_unique_name_needs_no_suite():
    methods = collection()
    assert methods.get("Agent").is_system
    assert methods.get("LightGBM", "run-20").display_name == "LightGBM (rerun)"
    assert methods.by_display_name("LightGBM (rerun)").suite == "run-20"


def test_several_matches_are_listed_in_a_table():
    assert str(problem_of(collection().get, "LightGBM")) == (
        "method 'LightGBM': 2 methods match, expected one\n"
        "    fix: name the method and its suite:\n"
        "        method    suite   display_name\n"
        "        LightGBM  run-1   LightGBM\n"
        "        LightGBM  run-20  LightGBM (rerun)"
    )
    problem = problem_of(collection().by_display_name, "LightGBM")
    assert problem.code == "ambiguous-method"
    assert "        Agent     run-1  LightGBM" in problem.fix


def test_a_wrong_suite_lists_the_others():
    assert str(problem_of(collection().get, "Agent", "run-9")) == (
        "method 'Agent' in suite 'run-9': not in that suite\n"
        "    fix: choose one of:\n"
        "        method  suite  display_name\n"
        "        Agent   run-1  LightGBM"
    )


def test_unknown_names_bring_close_ones():
    assert str(problem_of(collection().get, "lightgmb")) == (
        "method 'lightgmb': not in this collection\n    fix: did you mean 'LightGBM'?"
    )
    assert problem_of(collection().by_display_name, "Lightgbm (re-run)").fix.startswith("did you mean 'LightGBM (r")
    assert problem_of(MethodCollection().get, "x").found == "this collection is empty"


def test_a_key_may_appear_once():
    method = MethodMetadata(method="M", suite="s")
    with pytest.raises(Failure) as caught:
        MethodCollection([method, method])
    assert str(caught.value) == "method 'M': twice in suite 's', expected once\n    fix: take one out"


def test_a_collection_grows_into_a_new_one_and_gives_rows():
    methods = collection()
    grown = methods.with_methods([MethodMetadata(method="New")])
    assert (len(methods), len(grown), [entry.method for entry in grown][-1]) == (3, 4, "New")
    assert [row["suite"] for row in methods.info()] == ["run-1", "run-20", "run-1"]
    assert json.loads(json.dumps(methods.info()))[2]["validation_protocol"] == "system"
    assert pickle.loads(pickle.dumps(methods)) == methods


def test_an_item_names_its_coordinates():
    item = Item("LightGBM_c1_BAG_L1", "used cars", 2, 0, "used_cars-0123456789ab")
    assert item.label() == "experiment=LightGBM_c1_BAG_L1 dataset=used cars repeat=2 fold=0"
    assert Item(**json.loads(json.dumps(item.to_dict()))) == item


def test_suggestions_are_close_or_complete():
    assert did_you_mean("XGBOOST", ["XGBoost", "CatBoost"]) == "did you mean 'XGBoost'?"
    assert did_you_mean("zzz", ["b", "a"]) == "one of a, b"
    assert did_you_mean("zzz", map(str, range(50))).endswith(" and 10 more")
    assert did_you_mean("zzz", []) == "there are none"


def test_the_import_is_light():
    script = (
        "import sys, time; start = time.process_time(); import benchwright.arena\n"
        "print(time.process_time() - start)\n"
        "print([m for m in ('numpy', 'pyarrow', 'pandas', 'yaml', 'tabarena') if m in sys.modules])"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in "123"]
    seconds, heavy = zip(*(run.stdout.splitlines() for run in runs), strict=True)
    assert set(heavy) == {"[]"}
    assert min(map(float, seconds)) < 0.1
