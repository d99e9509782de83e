"""What the contract promises of every script: help at once, without packages, from anywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from waiting import work_of_children

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted(
    path
    for pattern in ("scripts/**/*.py", "benchmarks/run.py", ".agents/skills/*/scripts/*.py")
    for path in ROOT.glob(pattern)
)
RUN_TEMPLATES = sorted(ROOT.glob(".agents/skills/*/references/run_*_template.py"))
BARE_PYTHON = [getattr(sys, "_base_executable", sys.executable), "-S", "-E"]


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def help_of(script: Path, cwd: Path, command: list[str] = BARE_PYTHON) -> float:
    """Run ``--help``, check that it answers on stdout alone, and return the seconds of processor time it took."""
    start = work_of_children()
    done = subprocess.run([*command, str(script), "--help"], cwd=cwd, capture_output=True, text=True, check=False)
    seconds = work_of_children() - start
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert "exit codes: 0 done" in done.stdout
    assert done.stderr == ""
    return seconds


@pytest.mark.parametrize("script", SCRIPTS + RUN_TEMPLATES, ids=ids)
def test_help_needs_no_package_and_answers_at_once(script):
    assert min(help_of(script, ROOT) for _ in range(5)) < 0.3


@pytest.mark.parametrize("script", SCRIPTS, ids=ids)
def test_help_works_from_anywhere(script, tmp_path):
    help_of(script, Path("/"))
    spaced = tmp_path / "a checkout with spaces"
    spaced.symlink_to(ROOT)
    help_of(spaced / script.relative_to(ROOT), tmp_path)


@pytest.mark.parametrize("link", sorted((ROOT / ".claude/skills").iterdir()), ids=lambda path: path.name)
def test_skills_are_reached_through_both_trees(link):
    assert link.is_symlink()
    assert link.resolve() == ROOT / ".agents" / "skills" / link.name
    for script in (link / "scripts").glob("*.py"):
        help_of(script, Path("/"))


def test_a_copied_script_without_the_package_says_what_to_do(tmp_path):
    for script in SCRIPTS:
        copy = tmp_path / script.name
        copy.write_text(script.read_text())
        done = subprocess.run([*BARE_PYTHON, str(copy), "--help"], capture_output=True, text=True, check=False)
        assert done.returncode == 3
        assert done.stderr == "benchwright is not installed; in its checkout: make setup\n"


def test_every_script_has_the_same_bootstrap():
    starts = set()
    for script in SCRIPTS + RUN_TEMPLATES:
        source = script.read_text()
        start = source.index("try:\n    import benchwright")
        starts.add(source[start : source.index("\n\nfrom benchwright", start)])
    assert len(starts) == 1
