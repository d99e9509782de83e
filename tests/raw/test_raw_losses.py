"""What is lost of a run's results, and whether that fails."""

from benchwright.contract import Problem
from benchwright.raw import RawFile
from benchwright.raw.losses import lost_tasks, unaccepted


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
