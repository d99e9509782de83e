"""What is lost of a run's results, and whether that fails."""

import ast
from pathlib import Path

import pytest

import benchwright
from benchwright.arena.acceptable import LOSSES
from benchwright.contract import Exit, Failure, Problem
from benchwright.raw import RawFile
from benchwright.raw.finding import EmptyFolder
from benchwright.raw.losses import check_codes, empty_tasks, lost_tasks, unaccepted


def file_of(task, fold=0, method="M"):
    return RawFile(f"/run/{method}/{task}", method, task, 0, fold, 1, 1, 1)


def test_a_task_is_lost_where_none_of_its_files_is_used():
    files = [file_of("b"), file_of("a", 1), file_of("a", 2, "N"), file_of("c"), file_of("c", 1)]
    assert lost_tasks(files, {"c"}) == {"a": "no result in 2 files", "b": "no result in 1 file"}
    assert lost_tasks(files, {"a", "b", "c"}) == lost_tasks([], ()) == {}


def test_a_loss_fails_unless_its_code_is_accepted():
    cut, link = Problem("truncated", "x", "cut"), Problem("link", "y", "a link")
    assert unaccepted([cut, link, cut], ()) == [cut, link, cut]
    assert unaccepted([cut, link, cut], ["truncated", "else"]) == [link]
    assert unaccepted([], ["truncated"]) == []


def empty(task, split="0_0", method="M"):
    return EmptyFolder(f"/run/{method}/{task}", method, task, split)


def test_a_task_of_empty_folders_alone_is_told_by_what_there_is():
    folders = [empty("a"), empty("a", "0_1"), empty("b", ""), empty("c"), empty("d", ""), empty("d", "", "N")]
    assert empty_tasks(folders, {"c"}) == {
        "a": "no result in 2 folders of splits",
        "b": "an empty folder",
        "d": "2 empty folders",
    }
    assert empty_tasks([empty("a"), empty("a", "", "N")], ()) == {"a": "no result in 1 folder of a split"}


def codes_of(module):
    """The codes that a module gives to what it finds, as its source has them."""
    for call in ast.walk(ast.parse(module.read_text())):
        if isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            position = {"BadStream": 0, "Problem": 0, "note": 0, "_note": 0}.get(name)
            if position is not None:
                yield from (
                    part.value for part in ast.walk(call.args[position]) if isinstance(part, ast.Constant)
                )  # fmt: skip


def test_every_code_of_a_loss_can_be_accepted_and_no_other():
    package = Path(benchwright.__file__).parent
    raw = ("alignment", "children", "fields", "finding", "inspection", "integrity", "loading", "opcodes",
           "predictions", "reading", "rebuild", "recorded_errors", "safe_pickle")  # fmt: skip
    modules = [package / "raw" / f"{name}.py" for name in raw]
    modules += [package / "processing" / f"{name}.py" for name in ("published_names", "raw_copy")]
    given = {code for module in modules for code in codes_of(module)}
    others = {"doubtful-result", "duplicate-result", "no-results", "split-empty"}
    assert given - others == set(LOSSES)
    check_codes(LOSSES)


def test_codes_that_no_loss_has_are_refused_with_close_ones():
    with pytest.raises(Failure) as caught:
        check_codes(["bogus", "link", "trunkated"])
    assert (caught.value.exit, [str(problem) for problem in caught.value.problems]) == (
        Exit.USAGE,
        [
            f"--accept-finding: 'bogus' is no code of a loss\n    fix: one of {', '.join(sorted(LOSSES))}",
            "--accept-finding: 'trunkated' is no code of a loss\n    fix: did you mean 'truncated'?",
        ],
    )
