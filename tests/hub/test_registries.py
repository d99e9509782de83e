"""The registry's file: written whole, refused where it is damaged, changed by one at a time."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.registry import Record, RecordedResult, Registry

LINK = "https://huggingface.co/datasets/a/b?eval_result=c%2Fd&leaderboard_task_id=t&leaderboard_max_params=32B"
RECORD = Record("lab/model", "0123456789ab", "intent", "T", (RecordedResult("a/b", "t", "f.yaml", "44.90", LINK),))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "reports" / "registry.json"


@pytest.fixture
def written(path):
    with Registry.locked(path, "a test") as registry:
        registry.put(RECORD.noting("intent"))
        registry.put(replace(RECORD, repo="lab/other", state="open", num=3))
    return path


def test_no_file_is_an_empty_registry(path):
    assert Registry.load(path).records == ()


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_folder_is_no_registry(path):
    with pytest.raises(Failure) as refused, Registry.locked(path, "a test"):
        pass
    assert (refused.value.exit, refused.value.problems[0].where) == (Exit.USAGE, "--registry")


def test_a_record_is_replaced_by_its_key(written):
    with Registry.locked(written, "a test") as registry:
        (intent,) = registry.of("LAB/model")
        registry.put(replace(intent, state="open", num=7).noting("opened"))
        registry.put(replace(registry.of("lab/other")[0], spec_hash="f" * 12), instead_of=registry.of("lab/other")[0])
    records = Registry.load(written).records
    assert [(one.repo, one.state, one.num) for one in records] == [("lab/model", "open", 7), ("lab/other", "open", 3)]
    assert [one.what for one in records[0].history] == ["intent", "opened"]
    assert records[1].spec_hash == "f" * 12
    shown = records[0].results[0].shown
    assert (shown.dataset, shown.task, shown.model, shown.view.max_params) == ("a/b", "t", "c/d", "32B")


def test_two_pull_requests_with_the_same_results_are_two_records(path):
    one, other = (replace(RECORD, state="open", num=num) for num in (3, 4))
    with Registry.locked(path, "a test") as registry:
        registry.write([one, other])
        registry.put(replace(other, state="closed"))
        registry.put(replace(one, state="merged"), instead_of=one)
    assert [(found.num, found.state) for found in Registry.load(path).records] == [(3, "merged"), (4, "closed")]


def test_an_intent_ends_with_the_pull_request_of_its_results(path):
    """One whose answer was lost, and another one that was changed to the same results since."""
    opened = replace(RECORD, spec_hash="f" * 12, state="open", num=3)
    with Registry.locked(path, "a test") as registry:
        registry.write([RECORD, opened, replace(RECORD, repo="lab/other")])
        registry.put(replace(opened, spec_hash=RECORD.spec_hash), instead_of=opened)
    assert [(one.repo, one.state, one.num) for one in Registry.load(path).records] == [
        ("lab/model", "open", 3),
        ("lab/other", "intent", None),
    ]


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda text: text[: text.index("0123456789ab") + 5], "Unterminated string"),
        (lambda text: "", "Expecting value"),
        (lambda text: text.replace('"num": 3', '"num": 4'), "its digest is another one: it was edited by hand"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version 2, not 1"),
        (lambda text: "[]", "Expected `object`, got `array`"),
    ],
)
def test_a_damaged_file_is_refused_and_left_alone(written, damage, found):
    text = damage(written.read_text())
    written.write_text(text)
    with pytest.raises(Failure) as failure, Registry.locked(written, "a test"):
        pass
    (problem,) = failure.value.problems
    assert (problem.code, problem.where, failure.value.exit) == ("registry-damaged", str(written), Exit.REFUSED)
    assert problem.found.startswith(found)
    assert problem.fix.endswith(f"from the Hub: open_eval_prs.py --registry {written} --rebuild")
    assert written.read_text() == text


def test_an_open_one_without_a_number_is_damage(path):
    with Registry.locked(path, "a test") as registry:
        registry.put(replace(RECORD, repo="lab/other", state="merged", num=3))
        registry.put(replace(RECORD, state="open"))
    with pytest.raises(Failure, match="lab/model is open, and has no number"):
        Registry.load(path)


def test_one_at_a_time(written):
    with Registry.locked(written, "open_eval_prs.py with a.json"):
        with pytest.raises(Failure, match=r"open_eval_prs\.py with a\.json") as failure, Registry.locked(written, "b"):
            pass
        assert failure.value.exit == Exit.REFUSED
        assert len(Registry.load(written).records) == 2  # to look is allowed


def test_a_place_that_cannot_be_used_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure) as failure, Registry.locked(tmp_path / "file" / "registry.json", "a test"):
        pass
    assert (failure.value.problems[0].code, failure.value.exit) == ("registry-unwritable", Exit.ENVIRONMENT)
    with pytest.raises(Failure) as failure:
        Registry.load(tmp_path)
    assert (failure.value.problems[0].code, failure.value.exit) == ("registry-unreadable", Exit.ENVIRONMENT)


def test_the_pull_requests_of_another_hub_are_left_alone(path):
    registry = Registry(
        path, [RECORD, replace(RECORD, state="open", num=3, url="https://hub.test/lab/m/discussions/3")]
    )
    registry.check_hub("https://hub.test")
    with pytest.raises(Failure) as refused:
        registry.check_hub("https://hub")
    assert refused.value.exit == Exit.REFUSED
    assert str(refused.value) == (
        f"{path}: pull requests of another Hub: https://hub.test/lab/m/discussions/3, expected those of https://hub\n"
        "    fix: set HF_ENDPOINT to that Hub, or name another registry with --registry"
    )


def test_a_fresh_one_replaces_what_is_there_at_its_first_change(written):
    written.write_text("{")
    with Registry.locked(written, "a test", fresh=True) as registry:
        assert written.read_text() == "{"
        registry.write([RECORD])
    assert json.loads(written.read_text())["records"][0]["repo"] == "lab/model"
