from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchwright.cli import (
    Handoff,
    ScriptParser,
    Shell,
    command,
    command_elsewhere,
    errors,
    moment,
    option,
    positive,
    repeated,
    run_script,
)
from benchwright.cli.progress import PlainProgress, duration
from benchwright.contract import Exit, Failure, Outcome, Problem
from waiting import PATIENCE


def run(call, argv, capsys):
    parser = ScriptParser(prog="check.py", description="Check.", handoff=True)
    parser.add_argument("--number", type=int)
    code = run_script(parser, call, argv)
    return code, *capsys.readouterr()


def test_the_summary_is_for_people(capsys):
    outcome = Outcome(
        "2 of 3 fit",
        details=["a line"],
        problems=[Problem("x", "here", "broken", fix="mend it")],
        next=["make test"],
        closing=["the end"],
    )
    code, out, err = run(lambda args, shell: outcome, [], capsys)
    assert code == 0
    assert out == "2 of 3 fit\na line\n  - here: broken\n    fix: mend it\nnext:\n    make test\nthe end\n"
    assert err == ""


def test_json_is_one_object_whatever_a_library_prints(capsys):
    def call(args, shell):
        print("a library talks")
        shell.talk("so do we")
        return Outcome("fine", {"n": args.number})

    code, out, err = run(call, ["--json", "--number", "3"], capsys)
    assert code == 0
    assert json.loads(out)["data"] == {"n": 3}
    assert err == "a library talks\nso do we\n"


@pytest.mark.parametrize("exit", list(Exit))
def test_a_failure_leaves_with_its_code(exit, capsys):
    def call(args, shell):
        raise Failure(Problem("x", "here", "broken"), exit=exit)

    code, out, _ = run(call, ["--json"], capsys)
    envelope = json.loads(out)
    assert (code, envelope["exit"], envelope["ok"]) == (exit, exit, exit == 0)
    assert envelope["summary"] == "broken"


def test_a_failure_of_one_problem_says_it_once(capsys):
    def call(args, shell):
        raise Failure(Problem("unknown-model", "model", "no model is called 'XGBost'", fix="did you mean 'XGBoost'?"))

    _, out, _ = run(call, [], capsys)
    assert out == "model: no model is called 'XGBost'\n    fix: did you mean 'XGBoost'?\n"


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (ModuleNotFoundError("No module named 'numba'", name="numba"), 3, "benchwright[process]"),
        (OSError(28, "No space left on device", "/data"), 3, "no space left"),
        (KeyboardInterrupt(), 130, "what was finished is kept"),
        (ZeroDivisionError("division by zero"), 70, "ZeroDivisionError: division by zero"),
        (ModuleNotFoundError("No module named 'nonsense'", name="nonsense"), 70, "nonsense"),
    ],
)
def test_what_can_go_wrong_has_a_code_and_one_object(error, code, word, capsys):
    def call(args, shell):
        raise error

    got, out, err = run(call, ["--json"], capsys)
    envelope = json.loads(out)
    assert (got, envelope["exit"]) == (code, code)
    assert not envelope["ok"]
    assert word in out
    assert ("Traceback" in err) == (code == 70)


def test_wrong_usage_is_two_in_both_forms(capsys):
    for argv in (["--numbr", "1"], ["--numbr", "1", "--json"]):
        with pytest.raises(SystemExit) as caught:
            run(None, argv, capsys)
        assert caught.value.code == 2
        out, err = capsys.readouterr()
        if "--json" in argv:
            assert json.loads(out)["summary"] == "unrecognized arguments: --numbr 1"
            assert err == ""
        else:
            assert "unrecognized arguments: --numbr 1" in err


def test_options_are_not_abbreviated(capsys):
    with pytest.raises(SystemExit):
        run(None, ["--num", "1"], capsys)


def test_a_long_report_is_cut_on_the_screen_and_whole_in_the_file(tmp_path, capsys):
    outcome = Outcome("many", details=[f"line {i}" for i in range(100)])
    _, out, _ = run(lambda args, shell: outcome, [], capsys)
    assert len(out.splitlines()) == 40
    assert out.splitlines()[-1] == "... 62 more lines; --out FILE writes them all"
    file = tmp_path / "report.txt"
    _, out, _ = run(lambda args, shell: outcome, ["--out", str(file)], capsys)
    assert len(out.splitlines()) == 40
    assert out.splitlines()[-1] == f"... the whole report: {file}"
    assert len(file.read_text().splitlines()) == 101


def test_the_next_commands_and_the_closing_are_never_cut(capsys):
    outcome = Outcome("many", details=[f"line {i}" for i in range(100)], next=["make test"], closing=["the", "end"])
    _, out, _ = run(lambda args, shell: outcome, [], capsys)
    lines = out.splitlines()
    assert len(lines) == 40
    assert lines[-5:] == ["... 66 more lines; --out FILE writes them all", "next:", "    make test", "the", "end"]


def test_details_are_cut_before_problems(capsys):
    problems = [Problem("x", f"place {i}", "broken", fix="mend it") for i in range(8)]
    outcome = Outcome("many", details=[f"line {i}" for i in range(100)], problems=problems, next=["make test"])
    _, out, _ = run(lambda args, shell: outcome, [], capsys)
    lines = out.splitlines()
    assert len(lines) == 40
    assert lines[19:24] == ["line 18", "line 19", "... 80 more lines; --out FILE writes them all",
                            "  - place 0: broken", "    fix: mend it"]  # fmt: skip
    assert lines[-4:] == ["  - place 7: broken", "    fix: mend it", "next:", "    make test"]


def test_many_problems_have_half_of_the_screen_and_what_details_leave(capsys):
    problems = [Problem("x", f"place {i}", "broken") for i in range(50)]
    cut = []
    for count in (100, 5):
        outcome = Outcome("many", details=[f"line {i}" for i in range(count)], problems=problems)
        _, out, _ = run(lambda args, shell, outcome=outcome: outcome, [], capsys)
        lines = out.splitlines()
        assert len(lines) == 40
        cut.append([line for line in lines if line.startswith("...")])
    hint = "more lines; --out FILE writes them all"
    assert cut == [[f"... 82 {hint}", f"... 31 {hint}"], [f"... 17 {hint}"]]


def test_a_report_file_can_be_json(tmp_path, capsys):
    file = tmp_path / "report.json"
    run(lambda args, shell: Outcome("fine", {"n": 1}), ["--out", str(file)], capsys)
    assert json.loads(file.read_text())["data"] == {"n": 1}


def test_a_report_file_that_the_outcome_refuses_is_left_as_it_was(tmp_path, capsys):
    file = tmp_path / "result.json"
    file.write_text("another's")
    problems = [Problem("usage", "--out", str(file), "another file"), *[Problem("usage", "x", "wrong")] * 50]

    def refuse(args, shell):
        raise Failure(problems, exit=Exit.USAGE)

    code, out, _ = run(refuse, ["--out", str(file)], capsys)
    assert (code, file.read_text()) == (2, "another's")
    assert str(file) not in out.splitlines()[-1]


def test_secrets_never_reach_the_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SERVICE_TOKEN", "the-secret-value")
    file = tmp_path / "report.json"
    outcome = Outcome("got the-secret-value", {"x": "the-secret-value"})
    _, out, _ = run(lambda args, shell: outcome, ["--json", "--out", str(file)], capsys)
    for text in (out, file.read_text()):
        assert "the-secret-value" not in text
        assert json.loads(text)["summary"] == "got [hidden]"


def test_secrets_never_reach_a_traceback_or_a_usage_message(monkeypatch, capsys):
    monkeypatch.setenv("SERVICE_TOKEN", "the-secret-value")

    def call(args, shell):
        raise ZeroDivisionError("the-secret-value")

    assert "the-secret-value" not in "".join(map(str, run(call, [], capsys)))
    with pytest.raises(SystemExit):
        run(None, ["--the-secret-value"], capsys)
    assert "the-secret-value" not in "".join(capsys.readouterr())


def test_work_that_a_signal_stopped_leaves_with_its_code(tmp_path, capsys):
    file = tmp_path / "report.json"
    outcome = Outcome("stopped", signal=15, exit=Exit.REMOTE)
    code, out, _ = run(lambda args, shell: outcome, ["--json", "--out", str(file)], capsys)
    assert [code, json.loads(out)["exit"], json.loads(file.read_text())["exit"]] == [143, 143, 143]


def test_a_hand_off_sheet_is_what_another_person_needs(tmp_path, capsys):
    sheet = Handoff("Launch tabm", "The head node is set up.", ["sbatch a.sh"], ["27 results"], ["partition: cpu"])
    file = tmp_path / "sheet.md"

    def call(args, shell):
        shell.hand_off(sheet)
        return Outcome("fine")

    run(call, ["--handoff", str(file)], capsys)
    assert file.read_text() == (
        "# Launch tabm\n\nThe head node is set up.\n\n- partition: cpu\n\n## Run, in this order\n\n"
        "```bash\nsbatch a.sh\n```\n\n## Check afterwards\n\n- 27 results\n"
    )


@pytest.mark.parametrize("target", ["/dev/full", "a closed pipe"])
def test_progress_that_nobody_can_read_does_not_end_the_work(target):
    if target == "/dev/full":
        stream = open(target, "w")  # noqa: SIM115
    else:
        reading, writing = os.pipe()
        os.close(reading)
        stream = os.fdopen(writing, "w")
    PlainProgress("fits", stream)(3, 3)
    Shell(None, stderr=stream).talk("all done")
    with contextlib.suppress(OSError):
        stream.close()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_not_end_the_work(closed, tmp_path):
    script, file = tmp_path / "x.py", tmp_path / "report.json"
    script.write_text(
        "from benchwright.cli import ScriptParser, run_script\nfrom benchwright.contract import Outcome\n"
        "def call(args, shell):\n    shell.talk('at work')\n    print('noise')\n    return Outcome('fine')\n"
        "raise SystemExit(run_script(ScriptParser(description='x', prog='x.py'), call))"
    )
    command = f'"{sys.executable}" "{script}" --out "{file}" {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert json.loads(file.read_text())["summary"] == "fine"
    assert done.stdout == ("" if ">&-" in closed.split() else "fine\n")


def test_what_was_done_before_says_nothing_of_the_pace():
    now = [0.0]
    stream = io.StringIO()
    show = PlainProgress("fits", stream, clock=lambda: now[0])
    for done in range(50, 60):
        show(done, 100, failed=0)
        now[0] += 1.0
    assert stream.getvalue() == "fits: 53 done, 0 failed, 47 left, about 47 s to go\n"


def test_a_script_stopped_by_sigterm_says_so(tmp_path):
    code = (
        "import time\nfrom benchwright.cli import ScriptParser, run_script\n"
        "def call(args, shell):\n    shell.talk('at work'); time.sleep(60)\n"
        "raise SystemExit(run_script(ScriptParser(description='x', prog='x.py'), call, ['--json']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "at work\n"
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, json.loads(out)["exit"], err) == (143, 143, "")
    assert json.loads(out)["summary"] == "stopped by SIGTERM; what was finished is kept"


def test_progress_on_a_pipe_is_a_line_now_and_then():
    now = [0.0]
    stream = io.StringIO()
    show = PlainProgress("fits", stream, clock=lambda: now[0])
    for done in range(1, 101):
        now[0] += 1.0
        show(done, 100, failed=0)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "fits: 3 done, 0 failed, 97 left, about 1 min 37 s to go"
    assert lines[-1] == "fits: 100 done, 0 failed, 0 left"
    assert len(lines) == 8


def test_progress_on_a_terminal_is_a_bar():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with Shell(None, stderr=stream).progress("fits") as show:
        show(1, 3, failed=1, note="LightGBM")
    assert "1 done, 1 failed, 1 left" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min"), (200, "3 min 20 s"), (3600, "1 h"), (7500, "2 h 5 min")]
)
def test_durations_read_as_people_say_them(seconds, text):
    assert duration(seconds) == text


def test_a_command_runs_as_it_stands_from_any_folder(tmp_path, monkeypatch):
    script = tmp_path / "a folder" / "show.py"
    script.parent.mkdir()
    script.write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    monkeypatch.chdir(tmp_path)
    words = [
        *option("--path", Path("it's here")),
        *option("--number", 3),
        *option("--flag", True),
        *repeated("--note", ["a b", "$c"]),
    ]
    assert [*option("--not", None), *option("--off", False), *repeated("--none", [])] == []
    line = command(Path("a folder/show.py"), Path("data"), *words)
    done = subprocess.run(["sh", "-c", line], cwd="/", capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        f"{tmp_path}/data", "--path", f"{tmp_path}/it's here", "--number", "3", "--flag",
        "--note", "a b", "--note", "$c",
    ]  # fmt: skip


def test_a_command_for_another_machine_is_from_the_root_of_a_checkout(tmp_path):
    line = command_elsewhere(tmp_path / "scripts" / "database" / "show.py", "a b", "--flag")
    assert line == ".venv/bin/python scripts/database/show.py 'a b' --flag"


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        (int, "0", "0, expected a number above 0"),
        (int, "2.5", "invalid int value: '2.5'"),
        (float, "-1", "-1, expected a number above 0"),
        (float, "nan", "nan, expected a number above 0"),
        (float, "x", "invalid float value: 'x'"),
    ],
)
def test_numbers_that_must_be_positive(kind, text, found, capsys):
    parser = ScriptParser(description="Check.", prog="check.py")
    parser.add_argument("--jobs", type=positive(kind))
    assert parser.parse_args(["--jobs", "2"]).jobs == 2
    parser.wants_json = True
    with pytest.raises(SystemExit):
        parser.parse_args([f"--jobs={text}"])
    assert json.loads(capsys.readouterr().out)["summary"] == f"argument --jobs: {found}"


@pytest.mark.parametrize("text", ["2026-13-01", "yesterday"])
def test_a_moment_that_is_none(text, capsys):
    parser = ScriptParser(description="Check.", prog="check.py")
    parser.add_argument("--since", type=moment)
    assert parser.parse_args(["--since", "2026-06-03T12:00Z"]).since == datetime(2026, 6, 3, 12, tzinfo=UTC)
    assert parser.parse_args(["--since", "2026-06-03"]).since == datetime(2026, 6, 3).astimezone()
    parser.wants_json = True
    with pytest.raises(SystemExit):
        parser.parse_args([f"--since={text}"])
    said = f"argument --since: {text!r}, expected a day such as 2026-06-03, or 2026-06-03T12:00"
    assert json.loads(capsys.readouterr().out)["summary"] == said


def test_the_shell_loads_no_heavy_package():
    code = "import sys, benchwright.cli; print([m for m in ('rich','numpy','yaml','pandas') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_report_that_cannot_be_written_does_not_lose_the_outcome(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code, out, err = run(lambda args, shell: Outcome("fine"), ["--out", str(tmp_path / "file" / "x.txt")], capsys)
    assert (code, err) == (3, "")
    assert out == (
        f"fine\n  - {tmp_path}/file/x.txt: cannot be written (file exists), expected a file that can be\n"
        "    fix: name another with --out\n"
    )


def test_every_package_that_is_always_there_is_known_when_it_is_not():
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    packages = {re.split(r"[^\w-]", dependency)[0] for dependency in project["dependencies"]}
    modules = {"pyyaml": "yaml"}
    assert {modules.get(package, package) for package in packages} == errors.BASE_MODULES


@pytest.mark.parametrize(
    "words",
    ["load --folder d f", "load f --folder d", "--folder d load f", "load --folder d -- f", "--folder d -- load f"],
)
def test_options_and_positionals_come_in_any_order(words):
    parser = ScriptParser(description="Check.", prog="check.py")
    parser.add_argument("action")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--folder", required=True)
    args = parser.parse_args(words.split())
    assert (args.action, args.file, args.folder) == ("load", "f", "d")


@pytest.mark.parametrize("words", ["-- -load -f", "-- -load --folder", "-- -- -f", "--folder d -- -load -f"])
def test_what_follows_two_dashes_is_no_option(words):
    parser = ScriptParser(description="Check.", prog="check.py")
    parser.add_argument("action")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--folder")
    args = parser.parse_args(words.split())
    assert [args.action, args.file] == words.split()[-2:]
