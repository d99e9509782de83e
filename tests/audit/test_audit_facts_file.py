"""Facts in a file: a case in a few lines, every mistake in it at once, and the same bytes back."""

from __future__ import annotations

import json

import msgspec
import pytest
from test_audit_rules import CASES

from audit_runs import NOW
from benchwright.audit import judge
from benchwright.audit.facts_file import read_facts, write_facts
from benchwright.contract import Exit, Failure
from benchwright.harbor import Taxonomy

TAXONOMY = Taxonomy.load()


def read(tmp_path, content, profile=None):
    file = tmp_path / "facts.json"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_facts(file, TAXONOMY, profile)


def problems(tmp_path, content, **more):
    with pytest.raises(Failure) as failure:
        read(tmp_path, content, **more)
    assert failure.value.exit is Exit.USAGE
    where = f"{tmp_path}/facts.json"
    return [(one.where.removeprefix(where), one.found, one.expected) for one in failure.value.problems]


CASE = {
    "run_tag": "run",
    "owners": ["us"],
    "job": {"phase": "completed"},
    "trials": {"planned": 300, "valid": 269, "reward_sum": 90, "nonzero": 90,
               "errors": {"DaytonaError": 31}, "unscored": {"DaytonaError": 31}},
    "rows": [{"id": "r1", "owner": "us", "status": "Finished", "of_run": "yes", "live": False, "score": 0.3,
              "fails": True}],
}  # fmt: skip


@pytest.mark.parametrize("content", [[CASE], {"evals": [CASE]}])
def test_a_case_is_a_few_lines(tmp_path, content):
    (facts,) = read(tmp_path, content)
    assert judge(facts, now=NOW).verdict == "DEREGISTER+RESUME"
    assert facts.profile == "seven"
    assert "AgentTimeoutError" in facts.trials.benign
    assert "AgentTimeoutError" in facts.trials.informative
    assert "DaytonaError" not in facts.trials.informative


def test_a_profile_says_what_a_case_leaves_out(tmp_path):
    errors = {"NonZeroAgentExitCodeError": 40, "BrandNewError": 1}
    case = {"run_tag": "run", "trials": {"planned": 300, "valid": 300, "reward_sum": 90, "errors": errors}}
    invalid = {}
    for named in (None, "five", "four-class"):
        (facts,) = read(tmp_path, [case], named)
        invalid[facts.profile] = facts.trials.invalid, sorted(facts.trials.rejecting)
    assert invalid == {"seven": (1, []), "five": (41, []), "four-class": (41, ["BrandNewError"])}
    assert read(tmp_path, [case | {"profile": "five"}], "five")[0].profile == "five"
    with pytest.raises(Failure) as failure:
        read(tmp_path, [case, case | {"profile": "five", "trials": None}], "seven")
    (problem,) = failure.value.problems
    assert str(problem) == (
        f"{tmp_path}/facts.json: eval 2: profile: five, expected seven, which --profile names\n"
        "    fix: gather the facts again by it, or leave --profile out"
    )
    with pytest.raises(Failure) as failure:
        read(tmp_path, [case], "mine")
    assert [problem.code for problem in failure.value.problems] == ["unknown-profile"]
    said = case | {"trials": case["trials"] | {"benign": ["BrandNewError"]}}
    assert read(tmp_path, [said])[0].trials.invalid == 40


def test_the_same_facts_are_the_same_bytes_whatever_their_order(tmp_path):
    every = [msgspec.structs.replace(facts, profile="seven") for facts, _ in CASES.values()]
    first, second, third = (tmp_path / f"{n}.json" for n in range(3))
    write_facts(first, every)
    again = read_facts(first, TAXONOMY)
    write_facts(second, reversed(again))
    assert first.read_bytes() == second.read_bytes()
    write_facts(third, read_facts(second, TAXONOMY))
    assert third.read_bytes() == first.read_bytes()
    by_verdict = sorted(judge(facts, now=NOW).verdict for facts in every)
    assert sorted(judge(facts, now=NOW).verdict for facts in again) == by_verdict


def test_no_secret_of_a_launching_command_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "not-for-everyone")
    job = {"phase": "ended", "submit": "sbatch --export=T=not-for-everyone eval.sbatch"}
    write_facts(tmp_path / "out.json", read(tmp_path, [{"run_tag": "run", "job": job}]))
    assert "not-for-everyone" not in (tmp_path / "out.json").read_text()


def test_every_mistake_is_told_at_once(tmp_path):
    wrong = {
        "kind": "cloud",
        "jobs": 1,
        "job": {"phase": "over"},
        "trials": {"valid": -1, "planned": "300", "unscored": {"X": 2}, "errors": {"X": 1}, "benin": []},
        "traces": [{"name": "a/b", "state": "gone"}, 3],
        "rows": [{"owner": "us", "created": "2026-09-01T00:00:00"}],
    }
    assert problems(tmp_path, [wrong, "x"]) == [
        (": eval 1: jobs", "no such field", f"one of {', '.join(FIELDS)}"),
        (": eval 1: run_tag", "missing", "a value"),
        (": eval 1: kind", "'cloud'", "Invalid enum value 'cloud'"),
        (": eval 1: job: phase", "'over'", "Invalid enum value 'over'"),
        (": eval 1: trials: benin", "no such field", f"one of {', '.join(TRIAL_FIELDS)}"),
        (": eval 1: trials: planned", "'300'", "Expected `int | null`, got `str`"),
        (": eval 1: trials: valid", "-1", "Expected `int` >= 0"),
        (": eval 1: traces 1: state", "'gone'", "Invalid enum value 'gone'"),
        (": eval 1: traces 2", "3", "an object"),
        (": eval 1: rows 1: id", "missing", "a value"),
        (": eval 1: rows 1: status", "missing", "a value"),
        (": eval 1: rows 1: created", "'2026-09-01T00:00:00'", "Expected `datetime` with a timezone component"),
        (": eval 2", "'x'", "an object"),
    ]


FIELDS = (
    "run_tag", "kind", "folder", "buckets", "agent", "model", "benchmark", "measurement", "moving", "profile",
    "owners", "grandfathered", "copy_of", "job", "trials", "traces", "rows", "figures", "unknown", "given", "notes",
)  # fmt: skip
TRIAL_FIELDS = (
    "planned", "expected", "valid", "nonzero", "silent", "corrupt", "errors", "unscored", "benign", "informative",
    "rejecting", "invalid_in_aggregate", "reward_sum", "stored_score", "surplus_valid", "surplus_unscored",
    "surplus_sum", "worked", "tokens", "cached_tokens", "requests", "whole",
)  # fmt: skip


def test_counts_that_no_trials_have_are_told(tmp_path):
    trials = {"valid": 1, "nonzero": 2, "worked": 5, "errors": {"X": 1, "Y": 1}, "unscored": {"Y": 2}}
    assert problems(tmp_path, [{"run_tag": "run", "trials": trials, "profile": "mine"}]) == [
        (": eval 1: trials: unscored: Y", "2", "at most the 1 that errors has of it"),
        (": eval 1: trials: nonzero", "2", "at most 1"),
        (": eval 1: trials: worked", "5", "at most 3"),
        (": eval 1: profile", "no profile is called 'mine'", "one of seven, five, harbor, four-class"),
    ]


def test_what_is_there_twice_is_told(tmp_path):
    one = {"id": "r1", "owner": "us", "status": "Pending"}
    repo = {"name": "org/t", "state": "filled", "shared": 3, "compared": 2}
    trials = {"reward_sum": 1.0, "surplus_unscored": 1, "surplus_sum": 2.0}
    case = {"run_tag": "run", "rows": [one, one], "traces": [repo, repo], "trials": trials}
    assert problems(tmp_path, [case]) == [
        (": eval 1: row r1", "again", "each once"),
        (": eval 1: repo org/t", "again", "each once"),
        (": eval 1: repo org/t", "3 shared", "at most the 2 that were compared"),
        (": eval 1: repo org/t", "3 shared", "at most the 2 that were compared"),
        (": eval 1: trials: reward_sum", "1.0", "0, since no trial is valid"),
        (": eval 1: trials: surplus_sum", "2.0", "0, since no trial is valid"),
    ]


@pytest.mark.parametrize("more", [{}, {"of_run": "yes"}, {"of_run": "yes", "live": False}])
def test_what_is_left_out_of_a_row_is_not_known(tmp_path, more):
    row = {"id": "r1", "owner": "us", "status": "Finished", "score": 0.3} | more
    (facts,) = read(tmp_path, [CASE | {"rows": [row]}])
    judged = judge(facts, now=NOW)
    assert (judged.verdict, [one.advice for one in judged.rows]) == ("STOP", ["leave"])


def test_a_part_of_a_part_has_its_own_form(tmp_path):
    repo = {"name": "org/t", "state": "filled", "rows": []}
    assert problems(tmp_path, [CASE | {"traces": [repo]}]) == [
        (": eval 1: traces 1: rows", "[]", "Expected `int | null`, got `array`")
    ]


@pytest.mark.parametrize(("name", "value"), [("model", "1774950145766573"), ("benchmark", "377118ff" * 5)])
def test_a_name_that_is_none_needs_no_code_to_be_seen(tmp_path, name, value):
    trials = CASE["trials"] | {"valid": 300, "errors": {}, "unscored": {}}
    row = CASE["rows"][0] | {"fails": False, name: value}
    right = {"model": "org/m", "benchmark": "b"}
    (facts,) = read(tmp_path, [CASE | {"trials": trials, "rows": [row], "traces": [], **right}])
    assert judge(facts, now=NOW).verdict == {"model": "FIX_MODEL", "benchmark": "FIX_BENCH"}[name]


def test_an_owner_without_a_name_owns_nothing(tmp_path):
    ((where, found, expected),) = problems(tmp_path, [CASE | {"owners": [""]}])
    assert (where, found, expected) == (": eval 1: owners", "['']", "Expected `str` of length >= 1")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "not JSON: Input data was truncated"),
        (b'[{"run_tag": "x", "trials": {"reward_sum": NaN}}]', "not JSON: JSON is malformed"),
        (b"\xff", "not JSON: "),
        (b"3", "neither"),
        (b'{"evals": [], "more": 1}', "neither"),
        (b'{"evals": 1}', "neither"),
    ],
)
def test_what_is_no_list_of_facts_is_refused(tmp_path, content, found):
    ((where, said, expected),) = problems(tmp_path, content)
    assert (where, expected) == ("", 'the facts of evals: a list of objects, or {"evals": [...]}')
    assert said.startswith(found)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Failure, match="no such file or directory"):
        read_facts(tmp_path / "none.json", TAXONOMY)
