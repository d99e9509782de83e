"""Where a model's fits run, and the memory that its parallel folds are planned by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchwright.arena import ModelInfo, did_you_mean
from benchwright.contract import Exit, Failure, Problem
from benchwright.launch.accelerators import DEFAULT, card_memory, is_accelerators, known_cards
from benchwright.launch.cards import Cards
from benchwright.launch.partitions import SHIPPED, VARIABLE, Partition
from benchwright.launch.plan import SchedulerSetup

SCHEDULERS = ("slurm", "skypilot", "skypilot-pool", "local")
_ON_SKYPILOT = ("skypilot", "skypilot-pool")
_CPU_BUNDLE = 2
"""Items a task of a CPU model: what the boosters' public runs have."""
_PARTITION = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.,-]*")
_MEMORY = "--fake-memory-for-estimates"
_ACCELERATORS = "--accelerators"


@dataclass(frozen=True)
class Hardware:
    """What a model's jobs ask for; ``gpu_memory`` is that of one card in GB, None for a CPU model.

    ``partition`` None is the cluster's default one, ``accelerators`` is SkyPilot's ``CARD:N``, empty where nothing says
    it. ``why`` says where each value comes from, by its name in the plan.
    """

    partition: str | None
    gpu_memory: int | None
    bundle_size: int
    exclusive_node: bool
    accelerators: str
    why: Mapping[str, str]


def find_hardware(
    info: ModelInfo | None,
    scheduler: str,
    *,
    partition: str | None,
    accelerators: str | None,
    memory: int | None,
    partitions: Mapping[str, Partition],
    cards: Cards,
) -> Hardware:
    """The hardware of a model's jobs. Without ``info`` only what does not depend on the model is checked.

    A GPU model's memory is the one given, else that of the known partition or accelerator, else that of the smallest
    card here for a local run. It has no default: a wrong one fails the large fits hours later.

    Raises:
        Failure: a value is wrong, or the memory is not known; every problem (exit 2).
    """
    problems = [*_value_problems(scheduler, partition, accelerators, memory)]
    chosen, accelerators_from = _accelerators(info, scheduler, accelerators)
    on_record = card_memory(chosen) if scheduler in _ON_SKYPILOT else None
    if info is not None and memory is None and info.compute == "gpu" and on_record is None:
        problems += _unknown_memory(
            info, scheduler, partition=partition, accelerators=chosen, partitions=partitions, cards=cards
        )
    if info is not None and info.compute == "cpu" and accelerators:
        found = f"{accelerators} for {info.name}, which runs on the CPU"
        problems.append(Problem("accelerators-on-cpu", _ACCELERATORS, found, "none", f"leave {_ACCELERATORS} out"))
    if info is not None and info.compute == "cpu" and memory is not None:
        expected = "nothing: a CPU model's estimate is held against the machine's RAM"
        found = f"{memory} for {info.name}, which runs on the CPU"
        problems.append(Problem("gpu-memory-on-cpu", _MEMORY, found, expected, f"leave {_MEMORY} out"))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    known = partitions.get(partition or "")
    gpu_memory, memory_from = _memory(info, memory, known, cards)
    if chosen and memory is None and on_record is not None:
        gpu_memory, memory_from = on_record, f"a GPU model; the memory of {chosen.partition(':')[0]}"
    bundle_size, bundle_from = _bundle_size(info, known)
    exclusive = known is not None and known.exclusive_node
    return Hardware(
        partition=partition,
        gpu_memory=gpu_memory,
        bundle_size=bundle_size,
        exclusive_node=exclusive,
        accelerators=chosen,
        why={
            "accelerators": accelerators_from,
            "partition": "given" if partition else "none given",
            "resources": memory_from,
            "bundle_size": bundle_from,
            "exclusive_node": f"on record for {partition}" if exclusive else "default",
        },
    )


def _accelerators(info: ModelInfo | None, scheduler: str, given: str | None) -> tuple[str, str]:
    """SkyPilot's cards for a model, empty for none, and where they come from."""
    if given:
        return given, "given"
    if info is None or info.compute == "cpu":
        return "", "a CPU model"
    return (DEFAULT, "default") if scheduler in _ON_SKYPILOT else ("", "none given")


def _value_problems(
    scheduler: str, partition: str | None, accelerators: str | None, memory: int | None
) -> Iterator[Problem]:
    if scheduler not in SCHEDULERS:
        yield Problem("usage", "--scheduler", repr(scheduler), "a scheduler", did_you_mean(scheduler, SCHEDULERS))
    if memory is not None and memory <= 0:
        expected = "the card's memory in GB, a whole number above 0"
        yield Problem("usage", _MEMORY, str(memory), expected, "give what nvidia-smi shows where the card is")
    if accelerators and not is_accelerators(accelerators):
        fix = f"give it as {_ACCELERATORS} {DEFAULT}"
        yield Problem("usage", _ACCELERATORS, repr(accelerators), "a card and how many, CARD:N", fix)
    if partition is None:
        return
    if not _PARTITION.fullmatch(partition):
        expected = "a partition's name, or several joined by commas"
        yield Problem("usage", "--partition", repr(partition), expected, "take one that sinfo lists on the cluster")
    if scheduler in ("local", *_ON_SKYPILOT):
        where = "this machine" if scheduler == "local" else "SkyPilot"
        found = f"{partition!r} for a run on {where}, which has no partitions"
        fix = "leave --partition out, or add --scheduler slurm"
        yield Problem("partition-without-slurm", "--partition", found, "none", fix)


def _unknown_memory(
    info: ModelInfo,
    scheduler: str,
    *,
    partition: str | None,
    accelerators: str,
    partitions: Mapping[str, Partition],
    cards: Cards,
) -> Iterator[Problem]:
    """The problem of a GPU model whose card's memory nobody says."""
    known = partitions.get(partition or "")
    with_card = [f"{one.name} ({one.gpu_memory} GB)" for one in partitions.values() if one.gpu_memory]
    expected = "the card's memory in GB, so that parallel folds are planned by it and not by the machine's RAM"
    if scheduler == "local":
        if cards.memory is None:
            seen = "cards cut into slices" if cards.number else "no CUDA card"
            fix = f"{_MEMORY} GB; this machine cannot say it, {seen} here"
            yield Problem("no-gpu-memory", _MEMORY, f"nothing given, and {info.name} is a GPU model", expected, fix)
    elif scheduler in _ON_SKYPILOT:
        found = f"no memory is on record for {accelerators!r}, and {info.name} is a GPU model"
        yield Problem("no-gpu-memory", _ACCELERATORS, found, known_cards(), f"name one of these, or {_MEMORY} GB")
    elif partition is None:
        fix = f"{_MEMORY} GB, or --partition {' or '.join(with_card)}"
        yield Problem("no-gpu-memory", _MEMORY, f"nothing given, and {info.name} is a GPU model", expected, fix)
    elif known is None:
        fix = f"{_MEMORY} GB, or put it into a file for --partitions or {VARIABLE}, of the form of {SHIPPED}"
        found = f"no card is on record for {partition!r}, and {info.name} is a GPU model"
        yield Problem("unknown-partition", "--partition", found, " or ".join(with_card), fix)
    elif known.gpu_memory is None:
        found = f"{partition!r} has no card on record, and {info.name} is a GPU model"
        yield Problem(
            "no-gpu-memory", "--partition", found, " or ".join(with_card), f"name one of these, or {_MEMORY} GB"
        )


def _memory(
    info: ModelInfo | None, memory: int | None, known: Partition | None, cards: Cards
) -> tuple[int | None, str]:
    if info is None or info.compute == "cpu":
        return None, "a CPU model"
    if memory is not None:
        return memory, "a GPU model; the memory was given"
    if known is not None:
        return known.gpu_memory, f"a GPU model; the memory of {known.name}'s {known.card or 'card'}"
    return cards.memory, "a GPU model; the memory of the smallest card here, by nvidia-smi"


def _bundle_size(info: ModelInfo | None, known: Partition | None) -> tuple[int, str]:
    if known is not None and known.bundle_size is not None:
        return known.bundle_size, f"on record for {known.name}"
    if info is not None and info.compute == "cpu":
        return _CPU_BUNDLE, "default of a CPU model"
    return SchedulerSetup().bundle_size, "default"
