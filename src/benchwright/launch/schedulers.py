"""The schedulers that this version can launch on."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.groups import Group
from benchwright.launch.plan import BenchmarkPlan, SlurmSetup


def require_this_machine(plan: BenchmarkPlan, groups: Sequence[Group]) -> None:
    """Refuse a plan for a cluster: its jobs could be written, but not launched.

    Raises:
        Failure: the plan's scheduler is not this machine (exit 3).
    """
    if not isinstance(plan.scheduler_setup, SlurmSetup):
        return
    memory = next((group.resources.fake_memory_for_estimates for group in groups if group.resources.num_gpus), None)
    card = f"; fake_memory_for_estimates, {memory:g} GB, must then be this machine's card's" if memory else ""
    found = f"{type(plan.scheduler_setup).__name__}, and this version launches on this machine only"
    raise Failure(
        Problem("scheduler-not-available", "scheduler_setup", found, "LocalSetup", f"setup --scheduler local{card}"),
        exit=Exit.ENVIRONMENT,
    )
