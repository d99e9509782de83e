"""A new benchmark: the filled run script, the plan behind it, and what to know before launching."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.arena import ArenaSource
from benchwright.contract import Outcome, Problem
from benchwright.launch.cards import cards_here
from benchwright.launch.choices import Choices, Request, choose
from benchwright.launch.partitions import read_partitions
from benchwright.launch.remarks import plan_notes, remarks, script_notes
from benchwright.launch.scaffold import fill, literal

_CHECKS = {
    "smoke": "smoke ends with SMOKE OK",
    "setup": "setup ends with the number of items it approved, or with nothing missing",
    "launch": "sbatch takes every command that setup printed; slurm_progress.sh says DONE of every array",
    "workers": "the commands that setup printed are run in order; sky_progress.sh says DONE of every launch",
    "run": "run ends with 0 failed and 0 left; after a failure, setup and run again do what is missing",
    "eval": "eval ends with the position of this run's methods, without imputed splits",
}


@dataclass(frozen=True)
class NewBenchmark:
    """What is chosen for a benchmark; ``source`` is its run script, ``items`` the number of its fits.

    ``problems`` are to be judged before launching, ``notes`` merely said.
    """

    choices: Choices
    title: str
    source: str
    items: int
    problems: Sequence[Problem]
    notes: Sequence[str]

    @property
    def script_name(self) -> str:
        """The run script's file name."""
        return f"run_{self.choices.key}.py"

    @property
    def steps(self) -> tuple[str, ...]:
        """The run script's steps that can be named now; on a cluster, setup prints what follows it."""
        return ("smoke", "setup", "run", "eval") if self.choices.scheduler == "local" else ("smoke", "setup")

    @property
    def checks(self) -> list[str]:
        """What to look for after each step."""
        launched = {"local": "run", "slurm": "launch"}.get(self.choices.scheduler, "workers")
        return [_CHECKS[step] for step in ("smoke", "setup", launched, "eval")]

    @property
    def facts(self) -> list[str]:
        """The plan for a hand-off sheet, with everything to judge."""
        plan = [f"{name}: {value}" for name, value in self.choices.to_dict().items()]
        return [*plan, f"fits: {self.items:,}", *self.notes, *(" ".join(str(one).split()) for one in self.problems)]

    def outcome(self, script: Path, commands: Sequence[str]) -> Outcome:
        """The plan in a script's form."""
        plan = self.choices.to_dict()
        width = max(map(len, plan))
        return Outcome(
            summary=f"wrote {script}: {self.items:,} fits, each one config on one split",
            data={
                "script": str(script),
                "items": self.items,
                "plan": plan,
                "why": dict(self.choices.why),
                "notes": list(self.notes),
            },
            details=[
                *(f"  {name:{width}}  {literal(value)} ({self.choices.why[name]})" for name, value in plan.items()),
                *(f"note: {note}" for note in self.notes),
            ],
            problems=self.problems,
            next=commands,
        )


def plan_benchmark(request: Request, template: str, *, today: datetime.date | None = None) -> NewBenchmark:
    """Choose for one model, fill the template, and look for what to say of the model on this machine.

    Raises:
        Failure: values are wrong or missing; all problems at once (exit 2).
    """
    from benchwright.bridge import model_info, model_infos, open_arena

    cards = cards_here()
    choices = choose(request, cards=cards, today=today)
    info = model_info(choices.model)
    arena = open_arena(choices.arena)
    partition = read_partitions(request.partitions).get(choices.partition or "")
    problems = remarks(info, choices, infos=model_infos(), partition=partition, cards=cards)
    return NewBenchmark(
        choices=choices,
        title=arena.spec.title,
        source=fill(template, choices, title=arena.spec.title, notes=script_notes(info, choices)),
        items=_count_items(arena, choices),
        problems=problems,
        notes=plan_notes(info, choices, cards),
    )


def _count_items(arena: ArenaSource, choices: Choices) -> int:
    """Configs times the splits that the model's limits allow: every config of a model has the same limits."""
    from benchwright.bridge import count_configs, plan_grid

    default = plan_grid(arena, models=[(choices.model, 0)], subset=list(choices.subset)).items
    splits = len({(item.task_key, item.repeat, item.fold) for item in default})
    return len(default) + splits * count_configs(arena, choices.model, choices.num_configs)[1]
