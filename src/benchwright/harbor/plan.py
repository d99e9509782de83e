"""How many trials there should be: by the job's own plan, beside what the benchmark has."""

from __future__ import annotations

from dataclasses import dataclass

from benchwright.harbor.benchmarks import Benchmark
from benchwright.harbor.job import Job


@dataclass(frozen=True, slots=True)
class Planned:
    """The number of planned trials, ``total``, and who says so; None where nobody does.

    ``by_benchmark`` is how many the benchmark's tasks make with the job's attempts and agents, ``disagreements`` are
    the sources that say something else than ``total``.
    """

    total: int | None
    source: str
    by_benchmark: int | None = None
    disagreements: tuple[str, ...] = ()


def plan_of(job: Job, benchmark: Benchmark | None = None, *, expected: int | None = None) -> Planned:
    """The plan of a job: ``expected`` if someone says so, else its aggregate's, its lock's or its benchmark's.

    Without any of them it is not known, since the trials that are there say nothing of those that are not. Nor does a
    plan of none say anything beside trials.
    """
    by_benchmark = None
    if benchmark is not None:
        attempts = job.config.attempts or benchmark.repeats
        by_benchmark = benchmark.tasks * attempts * max(1, len(job.config.agents))
    sources = [
        ("expected", expected),
        ("aggregate", job.aggregate.planned),
        ("lock", sum(job.locked.values()) or None),
        (f"benchmark {benchmark.name}" if benchmark else "benchmark", by_benchmark),
    ]
    known = [(source, number) for source, number in sources if number or (number == 0 and not job.present)]
    source, total = known[0] if known else ("nothing", None)
    differing = tuple(f"{other}: {number}" for other, number in known[1:] if number != total)
    return Planned(total, source, by_benchmark, differing)
