"""Scripts called in the test's own process: as fast as functions, with the parser and the printing of the real call."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchwright.cli import run_script

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def load(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Script:
    """A script of ``scripts/``, whose call has the file's name. ``always`` are words of every call."""

    module: ModuleType
    capsys: pytest.CaptureFixture[str]
    always: tuple[object, ...] = ()

    @classmethod
    def named(cls, name: str, capsys: pytest.CaptureFixture[str], *always: object) -> Script:
        """The script ``scripts/NAME.py``."""
        return cls(load(SCRIPTS / f"{name}.py"), capsys, always)

    def run(self, *words: object) -> tuple[int, list[str]]:
        """The exit code, and the lines on stdout."""
        call = getattr(self.module, Path(self.module.__file__).stem)
        code = run_script(self.module.build_parser(), call, [str(word) for word in (*words, *self.always)])
        return code, self.capsys.readouterr().out.splitlines()

    def answer(self, *words: object) -> dict[str, Any]:
        """The envelope, whose exit code is the call's."""
        code, lines = self.run(*words, "--json")
        envelope = json.loads("\n".join(lines))
        assert envelope["exit"] == code
        return envelope
