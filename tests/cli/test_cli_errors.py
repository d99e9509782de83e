"""What an exception amounts to: a refusal of the operating system is told, and everything else is a bug."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import make_dataclass
from pathlib import Path

import pytest

from benchwright.cli import ScriptParser, run_script
from benchwright.cli.errors import Bug, outcome_of
from benchwright.contract import Exit
from benchwright.launch import ModelJob, PathSetup, SlurmSetup

AGAIN = "run this again"
REFUSALS = {
    "ENOSPC": (3, "disk-full", "/data: no space left on device, expected free disk space",
               "free some space, then run this again"),
    "EDQUOT": (3, "disk-full", "/data: disk quota exceeded, expected free disk space",
               "free some space, then run this again"),
    "EFBIG": (3, "file-too-large", "/data: file too large, expected a higher limit",
              "ulimit -f unlimited, then run this again"),
    "EACCES": (3, "no-permission", "/data: permission denied, expected a path you may use",
               "correct its permissions, or name another path"),
    "EPERM": (3, "no-permission", "/data: operation not permitted, expected a path you may use",
              "correct its permissions, or name another path"),
    "EROFS": (3, "no-permission", "/data: read-only file system, expected a path you may use",
              "correct its permissions, or name another path"),
    "ENOENT": (3, "not-found", "/data: no such file or directory, expected an existing path",
               "correct the path, or make what is missing"),
    "ENOTDIR": (3, "not-a-folder", "/data: not a directory, expected a folder at every step of it",
                "move the file away, or name another path"),
    "EEXIST": (3, "in-the-way", "/data: file exists, expected a folder, or nothing, there",
               "move it away, or name another path"),
    "ENOTEMPTY": (3, "in-the-way", "/data: directory not empty, expected a folder, or nothing, there",
                  "move it away, or name another path"),
    "EISDIR": (3, "is-a-folder", "/data: is a directory, expected a file", "name a file"),
    "ENAMETOOLONG": (3, "name-too-long",
                     "/data: file name too long, expected at most 255 bytes a name and 4,095 a path",
                     "name a shorter path"),
    "ELOOP": (3, "link-loop", "/data: too many levels of symbolic links, expected a link that ends somewhere",
              "mend the link, or name another path"),
    "EXDEV": (3, "other-file-system", "/data: invalid cross-device link, expected one file system",
              "name paths on one disk"),
    "EMFILE": (3, "too-many-open-files", "/data: too many open files, expected a higher limit",
               "ulimit -n 4096, then run this again"),
    "ENOMEM": (3, "out-of-memory", "/data: cannot allocate memory, expected free memory",
               "end what else takes it, then run this again"),
    "EIO": (3, "disk-error", "/data: input/output error, expected a disk that works",
            "look at the disk or its server, then run this again"),
    "EAGAIN": (4, "passing-failure", "/data: resource temporarily unavailable", AGAIN),
    "EBUSY": (4, "passing-failure", "/data: device or resource busy", AGAIN),
    "ENFILE": (4, "passing-failure", "/data: too many open files in system", AGAIN),
    "ESTALE": (4, "passing-failure", "/data: stale file handle", AGAIN),
    "ETXTBSY": (4, "passing-failure", "/data: text file busy", AGAIN),
    "ETIMEDOUT": (4, "passing-failure", "/data: connection timed out", AGAIN),
    "ECONNABORTED": (4, "passing-failure", "/data: software caused connection abort", AGAIN),
    "ECONNREFUSED": (4, "passing-failure", "/data: connection refused", AGAIN),
    "ECONNRESET": (4, "passing-failure", "/data: connection reset by peer", AGAIN),
    "ENETUNREACH": (4, "passing-failure", "/data: network is unreachable", AGAIN),
    "EHOSTUNREACH": (4, "passing-failure", "/data: no route to host", AGAIN),
}  # fmt: skip


def refusal(name, *paths):
    number = getattr(errno, name)
    return OSError(number, os.strerror(number), *paths)


def told(error):
    """Exit code, problem code and the problem's words."""
    outcome = outcome_of(error)
    (problem,) = outcome.problems
    return outcome.code, problem.code, str(problem)


@pytest.mark.parametrize("name", REFUSALS)
def test_what_the_system_refuses_is_told(name):
    exit, code, line, fix = REFUSALS[name]
    assert told(refusal(name, "/data")) == (exit, code, line + (f"\n    fix: {fix}" if fix else ""))


@pytest.mark.parametrize("number", errno.errorcode)
def test_what_the_system_refuses_of_a_path_is_never_a_bug(number):
    assert outcome_of(OSError(number, os.strerror(number), "/data")).code in (3, 4)


def test_a_refusal_without_a_name_of_its_own_is_told():
    assert told(refusal("ENXIO", "/data")) == (
        3, "system-refusal",
        "/data: no such device or address, expected a path that the system takes\n    fix: name another path",
    )  # fmt: skip


def test_where_a_refusal_happened():
    assert told(refusal("EISDIR", "/data/.a.tmp", None, "/data/a"))[2].startswith("/data/a: is a directory, ")
    assert told(refusal("ENOENT", b"/data/b\xff"))[2].startswith("/data/b\udcff: ")
    assert told(refusal("ENOENT"))[2] == (
        "the current folder: no such file or directory, expected an existing path\n"
        "    fix: change into a folder that is there"
    )
    assert told(refusal("ENOENT", ""))[2] == (
        "'': no such file or directory, expected an existing path\n    fix: correct the path, or make what is missing"
    )
    assert told(refusal("EMFILE"))[2].startswith("this machine: too many open files, ")
    assert told(MemoryError())[1:] == (
        "out-of-memory",
        "this machine: cannot allocate memory, expected free memory\n"
        "    fix: end what else takes it, then run this again",
    )


@pytest.mark.parametrize("error", [refusal("EBADF"), refusal("EPIPE"), OSError("not one of the system's"), OSError()])
def test_an_error_of_no_path_and_no_known_kind_is_a_bug(error):
    assert isinstance(outcome_of(error), Bug)


def test_a_text_that_no_path_can_hold_is_told(tmp_path):
    fix = "\n    fix: correct it in the command, or in the file that it comes from"
    with pytest.raises(ValueError) as caught:
        (tmp_path / "a\0b").open()
    assert told(caught.value) == (
        2, "nul-character", f"a text: a NUL character in it, expected text without{fix}"
    )  # fmt: skip
    for text, shown in (
        ("a\ud800b", r"'a\ud800b'"),
        (f"{'n' * 90}\udcff{'m' * 90}", rf"'{'n' * 20}\udcff{'m' * 20}'"),
    ):
        with pytest.raises(UnicodeEncodeError) as caught:
            text.encode()
        assert told(caught.value) == (2, "not-utf-8", f"{shown}: not UTF-8, expected text that is{fix}")


def test_a_link_to_itself_is_told(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises((OSError, RuntimeError)) as caught:
        loop.resolve().stat()  # before Python 3.13 the first raises, an error without number
    assert told(caught.value) == (
        3, "link-loop",
        f"{loop}: too many levels of symbolic links, expected a link that ends somewhere\n"
        "    fix: mend the link, or name another path",
    )  # fmt: skip


def test_a_home_that_is_not_there_is_told():
    with pytest.raises(RuntimeError) as caught:
        Path("~no-such-user/data").expanduser()
    assert told(caught.value) == (
        2, "no-home",
        "a path that begins with ~: no such user's home, expected an existing home\n"
        "    fix: correct it in the command, or in the file that it comes from",
    )  # fmt: skip


def raised_by(line, module):
    ours = {kind.__name__: kind for kind in (ModelJob, PathSetup, SlurmSetup)}
    names = {"__name__": module, **ours, "Other": make_dataclass("Other", ["size"])}
    with pytest.raises(TypeError) as caught:
        exec(compile(f"\n{line}\n", "/tmp_scripts/run_knn.py", "exec"), names)
    return caught.value


def test_a_misspelt_field_of_a_plan_is_told():
    error = raised_by("SlurmSetup(bundle_size=2, aray_job_limit=1)", "run_knn")
    assert told(error) == (
        2, "unknown-field",
        "/tmp_scripts/run_knn.py:2: SlurmSetup has no field 'aray_job_limit', expected a field of it\n"
        "    fix: did you mean 'array_job_limit'?",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code", "found"),
    [
        (
            "ModelJob(name='cpu')", "missing-field",
            "ModelJob lacks 'models', expected every field that has no default\n    fix: add models=...",
        ),
        (
            "ModelJob(('KNN', 0), models=('KNN', 1))", "field-values",
            "ModelJob has two values for 'models', expected one value a field\n    fix: give each by its field's name",
        ),
        (
            "PathSetup('a', 'b', 'c')", "field-values",
            "PathSetup has more values than fields, expected one value a field\n    fix: give each by its field's name",
        ),
    ],
)  # fmt: skip
def test_fields_of_a_plan_without_a_value_or_with_two_are_told(line, code, found):
    assert told(raised_by(line, "run_knn")) == (2, code, f"/tmp_scripts/run_knn.py:2: {found}")


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("SlurmSetup(aray_job_limit=1)", "benchwright.launch.setup"),
        ("ModelJob(name='cpu')", "benchwright.launch.setup"),
        ("Other(sizes=1)", "run_knn"),
        ("Other()", "run_knn"),
        ("SlurmSetup.__eq__()", "run_knn"),
        ("int('1', bases=3)", "run_knn"),
    ],
)
def test_any_other_argument_that_nothing_takes_is_a_bug(line, module):
    assert isinstance(outcome_of(raised_by(line, module)), Bug)


class Odd(BaseException):
    def __str__(self):
        raise SystemExit(0)


class OddValue(ValueError):
    def __str__(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (SystemExit(0), "SystemExit: 0"),
        (SystemExit(), "SystemExit"),
        (GeneratorExit(), "GeneratorExit"),
        (BaseException("b\udcff"), "BaseException: b\udcff"),
        (RuntimeError("Symlink loop of ours"), "RuntimeError: Symlink loop of ours"),
        (ValueError("a value"), "ValueError: a value"),
        (UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range(128)"),
         "UnicodeEncodeError: 'ascii' codec can't encode character '\\xe9' in position 0: ordinal not in range(128)"),
        (Odd(), "Odd"),
        (OddValue(), "OddValue"),
    ],
)  # fmt: skip
def test_whatever_a_call_raises_ends_in_one_object(error, found, capsys):
    def call(args, shell):
        raise error

    code = run_script(ScriptParser(prog="check.py", description="Check."), call, ["--json"])
    out, err = capsys.readouterr()
    envelope = json.loads(out)
    assert (code, envelope["exit"], envelope["ok"], envelope["summary"]) == (70, 70, False, found)
    (problem,) = envelope["problems"]
    assert (problem["code"], problem["fix"]) == ("bug", "report it with the traceback above")
    assert err.startswith("Traceback (most recent call last):\n")


def test_a_bug_is_no_exit_code_of_the_contract_whatever_else_goes_wrong(tmp_path, capsys):
    def call(args, shell):
        raise ZeroDivisionError

    code = run_script(ScriptParser(prog="check.py", description="Check."), call, ["--json", "--out", str(tmp_path)])
    envelope = json.loads(capsys.readouterr().out)
    assert code == envelope["exit"] == 70
    assert code not in set(Exit)
    assert [problem["code"] for problem in envelope["problems"]] == ["bug", "report-not-written"]


def test_a_call_without_an_outcome_is_a_bug(capsys):
    code = run_script(ScriptParser(prog="check.py", description="Check."), lambda args, shell: None, ["--json"])
    assert code == json.loads(capsys.readouterr().out)["exit"] == 70
