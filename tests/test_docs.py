"""Documentation cannot lie: every command line in it is parsed by the real parser, every file it names exists."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.launch import sky_progress
from benchwright.node import slurm_progress
from scripts_in_process import load

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "references/**/*.md", "tmp_scripts/*.md", ".agents/skills/**/*.md")
    for path in ROOT.glob(pattern)
)
TEMPLATE = ROOT / ".agents/skills/benchmark-model/references/run_benchmark_template.py"
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
INTERPRETER, HUB_CLIENT = ".venv/bin/python", ".venv/bin/hf"
_REFERENCES = ".agents/skills/benchmark-model/references"
WATCHERS = {f"{_REFERENCES}/slurm_progress.sh": slurm_progress, f"{_REFERENCES}/sky_progress.sh": sky_progress}


def command_lines(document: Path) -> list[str]:
    """Lines of fenced bash blocks, with continuations joined, and commands in back ticks."""
    text = document.read_text()
    lines = []
    for block in re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S):
        lines += [line.strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    lines += [span for span in re.findall(r"`([^`\n]+)`", text) if span.startswith((INTERPRETER, HUB_CLIENT, "make "))]
    return [line.partition(" #")[0].strip() for line in lines if not line.startswith("#")]


COMMANDS = [(document, line) for document in DOCUMENTS for line in command_lines(document)]


def script_of(word: str) -> Path:
    """The script that a word names; a run script is the template until someone fills it."""
    if re.fullmatch(r"tmp_scripts/run_\w+\.py", word):
        return TEMPLATE
    return ROOT / word


def test_there_are_commands_to_check():
    assert len(COMMANDS) > 5


@pytest.mark.parametrize(("document", "line"), COMMANDS, ids=[f"{d.name}: {line}" for d, line in COMMANDS])
def test_documented_commands_parse(document, line, capsys):
    words = shlex.split(line)
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS, f"{document.name}: {line}"
    elif words[0] == INTERPRETER and words[1] != "-m":
        script = script_of(words[1])
        assert script.is_file(), f"{document.name} names {words[1]}"
        load(script).build_parser().parse_args(words[2:])
    elif words[0] == INTERPRETER and words[2].startswith("benchwright."):
        module = importlib.import_module(words[2])
        run = importlib.import_module(f"{words[2]}.__main__") if hasattr(module, "__path__") else module
        run.build_parser().parse_args(words[3:])
    elif words[0] == HUB_CLIENT:
        client = [Path(sys.executable).with_name("hf"), *words[1:3], "--help"]
        told = subprocess.run(client, capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r" (--[\w-]+)", line)) <= set(re.findall(r" (--[\w-]+)", told))
    elif words[0] in WATCHERS:
        WATCHERS[words[0]].build_parser().parse_args(words[1:])
    else:
        assert words[0] in {INTERPRETER, "git", "cd", "export"}, f"{document.name}: {line}: not a command known here"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documented_files_exist(document):
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
