"""Scripts as processes: every locale, full disks, readers that leave or sleep, signals while printing."""

from __future__ import annotations

import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time

import pytest

from waiting import PATIENCE

SCRIPT = """
import os
from benchwright.cli import ScriptParser, run_script
from benchwright.contract import Exit, Outcome

def call(args, shell):
    text = os.fsdecode(bytes.fromhex(args.text))
    shell.talk(text)
    shell.tell(text, {"event": text})
    return Outcome(text, {"text": text, "rest": "." * args.size}, exit=Exit.NO if args.fail else Exit.DONE)

parser = ScriptParser(prog="x.py", description="Show \u0142.")
parser.add_argument("--text", default=b"fine".hex())
parser.add_argument("--size", type=int, default=0)
parser.add_argument("--fail", action="store_true")
raise SystemExit(run_script(parser, call))
"""
LOCALES = {
    "utf-8": {"LC_ALL": "C.UTF-8"},
    "utf-8 mode of the C locale": {"LC_ALL": "C"},
    "the C locale": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "strict ascii": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"},
    "latin-1": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"},
    "unbuffered": {"LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
}
LATIN = "bé\udcff"
"""Bytes of a name that is not UTF-8, as Python shows them where the locale is UTF-8."""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(SCRIPT)
    return path


def environment(**settings):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    return kept | settings


def run(script, *words, shell="", **settings):
    """The script as a process, and with it what ``shell`` adds to its command line."""
    command = ["sh", "-c", f'"$@" {shell}', "sh", sys.executable, str(script), *words]
    return subprocess.run(command, capture_output=True, env=environment(**settings), check=False)


@pytest.mark.parametrize("name", LOCALES)
def test_every_locale_gets_one_object_and_every_line(name, script):
    words = ("--text", os.fsencode(LATIN).hex())
    done = run(script, *words, "--json", **LOCALES[name])
    assert done.returncode == 0, done.stderr
    event, envelope = (json.loads(line) for line in done.stdout.decode("ascii").splitlines())
    shown = LATIN if name != "the C locale" else os.fsencode(LATIN).decode("ascii", "surrogateescape")
    assert event == {"event": shown}
    assert (envelope["summary"], envelope["data"]) == (shown, {"text": shown, "rest": ""})
    assert b"Traceback" not in done.stderr

    done = run(script, *words, **LOCALES[name])
    text = {"the C locale": "b\\udcc3\\udca9\\udcff", "strict ascii": "b\\xe9\\udcff"}.get(name, "bé\\udcff")
    encoding = "latin-1" if name == "latin-1" else "utf-8"
    assert (done.returncode, done.stdout.decode(encoding)) == (0, f"{text}\n{text}\n")
    assert done.stderr.decode(encoding) == f"{text}\n"


@pytest.mark.parametrize("name", LOCALES)
def test_help_and_wrong_usage_are_printed_in_every_locale(name, script):
    done = run(script, "--help", **LOCALES[name])
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: x.py")
    done = run(script, f"--{LATIN}", "--json", **LOCALES[name])
    assert (done.returncode, done.stderr) == (2, b"")
    assert json.loads(done.stdout)["summary"].startswith("unrecognized arguments: --b")


LOST = "the outcome cannot be printed: OSError: [Errno 28] No space left on device\n"
BUFFERED = [{}, {"PYTHONUNBUFFERED": "1"}]


@pytest.mark.parametrize("buffered", BUFFERED, ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    ("words", "shell", "code", "out", "err"),
    [
        ([], ">/dev/full", 3, "", f"fine\n{LOST}"),
        (["--json"], ">/dev/full", 3, "", f"fine\n{LOST}"),
        (["--fail"], ">/dev/full", 1, "", f"fine\n{LOST}"),
        (["--help"], ">/dev/full", 0, "", ""),
        (["--nonsense", "--json"], ">/dev/full", 2, "", ""),
        ([], "2>/dev/full", 0, "fine\nfine\n", ""),
        (["--nonsense"], "2>/dev/full", 2, "", ""),
        ([], ">/dev/full 2>/dev/full", 3, "", ""),
    ],
)
def test_a_full_disk_ends_in_a_code_and_no_traceback(words, shell, code, out, err, buffered, script):
    done = run(script, *words, shell=shell, LC_ALL="C.UTF-8", **buffered)
    assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (code, out, err)


@pytest.mark.parametrize("buffered", BUFFERED, ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("words", [[], ["--json"], ["--help"], ["--nonsense", "--json"]])
def test_a_reader_that_left_is_no_error(words, buffered, script):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, str(script), *words]
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, env=environment(**buffered), text=True, check=False
    )
    os.close(writing)
    expected = (2, "") if "--nonsense" in words else (0, "" if "--help" in words else "fine\n")
    assert (done.returncode, done.stderr) == expected


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_the_reader_sleeps_ends_the_script_without_a_word(number, code, script):
    command = [sys.executable, str(script), "--json", "--size", "1000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
    assert process.stderr.readline() == "fine\n"
    assert process.stdout.readline() == '{"event": "fine"}\n'
    waiting = array.array("i", [0])
    while not waiting[0]:  # a pipe takes some of it, and the rest waits
        assert process.poll() is None
        fcntl.ioctl(process.stdout, termios.FIONREAD, waiting)
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(timeout=PATIENCE) == code
    out, err = process.communicate()
    assert (out.endswith("\n"), err) == (False, "")


LOADING = """
import importlib.abc, sys, time

class Waits(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {waits_at!r}:
            sys.stderr.write("loading\\n")
            sys.stderr.flush()
            time.sleep({patience})

sys.meta_path.insert(0, Waits())
"""


@pytest.mark.parametrize("module", ["benchwright.cli.commands", "benchwright.contract", "benchwright.files"])
def test_a_ctrl_c_while_a_script_loads_is_a_line_and_a_code(module, script):
    text = LOADING.format(waits_at=module, patience=PATIENCE) + script.read_text("utf-8")
    script.write_text(text, "utf-8")
    command = [sys.executable, str(script), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True)
    assert process.stderr.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "stopped by Ctrl-C\n")
