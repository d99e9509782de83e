"""Run scripts of the older public kind, and what their plans do: every call of the launcher they import, in order."""

from __future__ import annotations

import builtins
import contextlib
import symtable
import sys
import types
from pathlib import Path

from benchwright.publish.run_log.plan_text import standalone_plan
from benchwright.publish.run_log.script import read_script

LAUNCHER = "tabflow_slurm"
TOP = '''"""Benchmark TabM on TabArena-v0.1.

Usage::

    python tmp_scripts/run_tabm.py setup
    python tmp_scripts/run_tabm.py eval

TabM notes:
- Extra deps: tabm>=0.0.3
- Partition: 96 GB of memory,
  for three jobs at once

Asked for in issue 12.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tabflow_slurm import (
    EvalConfig,
    ModelJob,
    PathSetup,
    Plan,
    SlurmSetup,
    run_eval,
)

# The names that both steps read.
BENCHMARK_NAME = "tabm_01022030"
WORKSPACE = "/shared/workspace"
PYTHON_PATH = "/shared/venv/bin/python"

MODEL = "TabM"  # the registry's name
NUM_CONFIGS = 0


'''
PATHS = """def _path_setup() -> PathSetup:
    return PathSetup(workspace=WORKSPACE, python_path=PYTHON_PATH)


"""
SETUP = '''def setup() -> None:
    """Print the command of the run."""
    # Whole nodes, as in the run before.
    plan = Plan(
        benchmark_name=BENCHMARK_NAME,
        model_jobs=[
            ModelJob(
                models=(MODEL, NUM_CONFIGS),
                name="gpu",
                resources={
                    "num_gpus": 1,
                    "fake_memory_for_estimates": 96,  # the card's memory in GB
                },
            ),
        ],
        path_setup=_path_setup(),
        scheduler_setup=SlurmSetup(gpu_partition="gpu-96", bundle_size=2),  # spot
    )

    plan.setup_jobs()
    # Launch what it prints.


'''
REST = """def evaluate() -> None:
    run_eval(EvalConfig(output=_path_setup(), figures=Path(__file__).parent / BENCHMARK_NAME))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["setup", "eval"])
    {"setup": setup, "eval": evaluate}[parser.parse_args().step]()
"""
OLDER = TOP + PATHS + SETUP + REST
OLDER_PLAN = """from tabflow_slurm import ModelJob, PathSetup, Plan, SlurmSetup

# Whole nodes, as in the run before.
plan = Plan(
    benchmark_name="tabm_01022030",
    model_jobs=[
        ModelJob(
            models=("TabM", 0),
            name="gpu",
            resources={
                "num_gpus": 1,
                "fake_memory_for_estimates": 96,  # the card's memory in GB
            },
        ),
    ],
    path_setup=PathSetup(workspace="/shared/workspace", python_path="/shared/venv/bin/python"),
    scheduler_setup=SlurmSetup(gpu_partition="gpu-96", bundle_size=2),  # spot
)

plan.setup_jobs()
# Launch what it prints.
"""


def older_script(folder: Path, *, workspace: Path | None = None, name: str = "tabm_01022030") -> Path:
    """The older kind of run script in ``folder``."""
    path = folder / "run_tabm.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    source = OLDER.replace("tabm_01022030", name)
    path.write_text(source if workspace is None else source.replace("/shared/workspace", str(workspace)))
    return path


def plan_of(folder: Path, source: str) -> str:
    """The plan's text out of a script's source."""
    path = folder / "run_demo.py"
    path.write_bytes(source.encode(errors="surrogateescape"))
    return standalone_plan(read_script(path))


class Call:
    """A call of the launcher: what it was given, and every call on what it returned."""

    def __init__(self, journal: list, name: str, args: tuple, kwargs: dict) -> None:
        self._journal = journal
        self._text = f"{name}({args!r}, {kwargs!r})"
        journal.append(self._text)

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: Call(self._journal, f"{self._text}.{name}", args, kwargs)


@contextlib.contextmanager
def launcher():
    """A launcher that can be imported, and the journal of the calls to it."""
    journal: list[str] = []
    module = types.ModuleType(LAUNCHER)
    module.__getattr__ = lambda name: lambda *args, **kwargs: Call(journal, name, args, kwargs)
    module.__all__ = ["Plan", "ModelJob", "PathSetup"]
    sys.modules[LAUNCHER] = module
    try:
        yield journal
    finally:
        del sys.modules[LAUNCHER]


def calls_of(source: str, *args: object) -> list[str]:
    """What a script's ``setup(*args)`` asks of the launcher; for a plan without the function, what running it does."""
    with launcher() as journal:
        names = {"__name__": "a_module", "__file__": "/a/file.py"}
        exec(compile(source, "a script", "exec"), names)
        if "setup" in names:
            names["setup"](*args)
        return journal


def free_names(source: str) -> set[str]:
    """The names that a plan uses and nothing in it binds."""
    compile(source, "a plan", "exec")
    waiting = [symtable.symtable(source, "a plan", "exec")]
    bound = {symbol.get_name() for symbol in waiting[0].get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = set()
    while waiting:
        scope = waiting.pop()
        at_top = scope.get_type() == "module"
        used |= {one.get_name() for one in scope.get_symbols() if one.is_referenced() and (at_top or one.is_global())}
        waiting += scope.get_children()
    return used - bound - set(dir(builtins)) - {"__file__", "__name__"}
