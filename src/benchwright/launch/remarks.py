"""What whoever starts a benchmark should know of its model: remarks for the plan, and notes for the run script."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence

from benchwright.arena import ModelInfo
from benchwright.contract import Failure, Problem
from benchwright.launch.cards import Cards
from benchwright.launch.choices import Choices
from benchwright.launch.model_needs import RegisteredModel, needs_of, parse_requirement
from benchwright.launch.partitions import Partition
from benchwright.launch.python_facts import NoAnswer, facts_of

_ONE_AFTER_ANOTHER = 'ModelJob(..., experiment={"sequential_local_fold_fitting": True})'


def script_notes(info: ModelInfo, choices: Choices) -> list[str]:
    """Sentences on the model for its run script's docstring: what holds on any machine."""
    return list(_script_notes(info, choices))


def _script_notes(info: ModelInfo, choices: Choices) -> Iterator[str]:
    if _folds_share_a_card(choices):
        yield (
            f"{info.name} is a GPU model: its parallel folds are planned by fake_memory_for_estimates, the card's "
            "memory in GB."
        )
        if not info.estimates_memory:
            yield "It has no memory estimate of its own, so that eight folds run side by side whatever that says."
    if len(info.problem_types) < 3:
        yield f"It fits {' and '.join(info.problem_types)} alone."
    if info.prefetches_weights:
        yield "The setup step fetches its weights, before any item runs."
    if info.pip_extra:
        yield f"Beyond the base installation it needs {_names(info.pip_extra)}."


def _folds_share_a_card(choices: Choices) -> bool:
    """On the mini arena folds are fitted one after another."""
    return choices.compute == "gpu" and choices.arena != "mini"


def _names(requirements: Iterable[str]) -> str:
    return " and ".join(parse_requirement(text).name for text in requirements)


def plan_notes(info: ModelInfo, choices: Choices, cards: Cards) -> list[str]:
    """What to say beside the plan, where nothing is to be done about it."""
    notes = []
    if info.prefetches_weights:
        notes.append("setup fetches the model's weights on this machine before any item runs")
    if info.compute == "gpu" and not cards.number:
        notes.append("no CUDA device is here: the smoke fit runs on the CPU")
    if choices.scheduler != "local":
        notes.append("setup prints what follows it: the commands that launch the fits, that watch them, that evaluate")
    if choices.scheduler == "slurm" and choices.partition is None:
        notes.append("without --partition the cluster's default one is taken")
    if choices.scheduler.startswith("skypilot") and not choices.store:
        notes.append("setup and eval need SkyPilot's bucket: --store, or BENCHWRIGHT_STORE in the environment")
    return notes


def remarks(
    info: ModelInfo,
    choices: Choices,
    *,
    infos: Iterable[ModelInfo],
    partition: Partition | None,
    cards: Cards,
) -> list[Problem]:
    """What to judge or to mend before launching; none of it stops the plan from being written.

    ``infos`` are the registry's models, ``partition`` what is known of the chosen one, ``cards`` this machine's.
    """
    return [
        *_of_model(info, choices, infos),
        *_of_hardware(info, choices, partition, cards),
        *_of_python(info, choices.python_path),
    ]


def _of_model(info: ModelInfo, choices: Choices, infos: Iterable[ModelInfo]) -> Iterator[Problem]:
    where = f"model {info.name}"
    if info.superseded:
        newer = [other.name for other in infos if other.key == info.key and not other.superseded]
        fix = f"benchmark {' or '.join(newer) or 'the newer model'}; this one takes an environment of its own"
        found = "a newer entry of the registry has replaced it, and the two cannot be installed together"
        yield Problem("superseded", where, found, "a model that is not superseded", fix)
    memory = choices.resources.get("fake_memory_for_estimates")
    if _folds_share_a_card(choices) and not info.estimates_memory:
        found = f"no static memory estimate, so that eight folds run side by side whatever the {memory} GB say"
        fix = f"hold the largest fold's memory times eight against the card, or fit in turn: {_ONE_AFTER_ANOTHER}"
        yield Problem("no-memory-estimate", where, found, "room for eight folds on the card", fix)


def _of_hardware(info: ModelInfo, choices: Choices, partition: Partition | None, cards: Cards) -> Iterator[Problem]:
    memory = choices.resources.get("fake_memory_for_estimates")
    there = partition.gpu_memory if partition is not None else None
    if memory is not None and there is not None and memory > there:
        found = f"{memory} GB, more than the {there} GB on record for {choices.partition}"
        yield _more_than_the_card(found, there)
    if memory is None and there is not None:
        found = f"{choices.partition} has GPUs, and {info.name} runs on the CPU"
        fix = "run this again with another --partition, or none, and --force"
        yield Problem("gpu-partition-for-cpu", "--partition", found, "a partition without GPUs", fix)
    if choices.scheduler == "slurm":
        if shutil.which("sbatch") is None:
            found = "slurm, and there is no sbatch here"
            fix = "take the step setup on the cluster's head node, or add --scheduler local"
            yield Problem("not-a-head-node", "--scheduler", found, "a machine that submits to SLURM", fix)
    elif choices.scheduler.startswith("skypilot"):
        if shutil.which("sky") is None:
            found = "SkyPilot, and there is no sky client here"
            fix = "run what setup prints, and sky_progress.sh, on a machine that has it"
            yield Problem("no-sky-client", "--scheduler", found, "a machine with SkyPilot's client", fix)
    elif memory is not None and not cards.number:
        fix = "run the script on a machine with the card"
        yield Problem("no-gpu-here", f"model {info.name}", "a GPU model, and no CUDA device is here", "a GPU", fix)
    elif memory is not None and cards.memory is not None and memory > cards.memory:
        found = f"{memory} GB, more than the {cards.memory} GB of the smallest card here"
        yield _more_than_the_card(found, cards.memory)


def _more_than_the_card(found: str, there: int) -> Problem:
    fix = f"run this again with --fake-memory-for-estimates {there} --force"
    return Problem("more-than-the-card", "--fake-memory-for-estimates", found, f"at most {there}", fix)


def _of_python(info: ModelInfo, python: str) -> Sequence[Problem]:
    """What the Python that fits lacks of the model's packages."""
    fix = f"scripts/run_venv.py --install {info.name}"
    try:
        model = RegisteredModel(info.name, info.key, info.pip_extra, info.superseded)
        lacking = [clause for need in needs_of(model, facts_of(python)) for clause in need.lacking]
    except NoAnswer as reason:
        return [Problem("no-python", f"python_path: {python}", str(reason), "the Python that fits", fix)]
    except Failure as failure:
        return failure.problems
    if not lacking:
        return ()
    return [Problem("packages-missing", f"python_path: {python}", ", ".join(lacking), "the model's packages", fix)]
