"""What is known of an eval, from whatever source: the only thing that a verdict follows from.

Each part is None where it was not learned, with the reason in ``EvalFacts.unknown``. Nothing here is judged:
which of it passes is ``rules``' to say. The JSON form (``--dump-facts``, ``--facts``) has the same names; a part
that is left out is unknown, so that a case is a few lines. Of the trials, a count that is left out is 0; of a row it
is unknown whose run it is, whether its job lives, and whether its statistics pass.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""An aware time: without a zone it could not be compared with any other."""

Kind = Literal["slurm", "iris-tpu", "iris-gpu", "local"]
"""What ran it: two of the rules are for one kind alone."""

Phase = Literal["live", "completed", "ended"]
"""It waits or runs; it ended as it should; it ended otherwise."""

Source = Literal["job", "trials", "traces", "rows"]
"""A part of the facts, and what it is learned from."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts of one source. A field that nobody knows is a mistake in a file of facts, and no fact."""


class JobFacts(_Part, frozen=True):
    """What the scheduler says of the job, or Harbor where there is none.

    ``state`` is its word (``TIMEOUT``), ``told_by`` who said it (``sacct``), ``submit`` the command that launched it.
    """

    phase: Phase
    state: str = ""
    id: str | None = None
    told_by: str = ""
    submit: str | None = None


class TrialFacts(_Part, frozen=True):
    """What the trials amount to under a profile of error classes; surplus ones are in ``surplus_...`` alone.

    ``errors`` counts trials by the class of the exception they recorded, ``unscored`` those among them without a
    reward; trials without either are in ``silent``. ``benign`` are the classes that make no eval incomplete, as the
    profile has them, ``informative`` those whose missing reward hides a likely 0, ``rejecting`` the names among
    ``errors`` for which the profile takes no such eval at all. ``planned`` is None where nothing says how many there
    should be, ``expected`` how many the benchmark's size or the shards that are not there make of it, where that is
    another number. ``reward_sum`` is over valid trials, ``nonzero`` counts the rewards among them that are not 0.
    ``surplus_valid`` and ``surplus_unscored`` trials have a readable result and exceed the plan, copies apart; Harbor
    counts them in the score that it stores, and their rewards add up to ``surplus_sum``. The evidence that trials ran
    is ``worked``, the number on which an agent spent time, and tokens and requests, each None where nothing records it.
    ``whole`` is False where an aggregate alone was read, which proves no trial.
    """

    planned: Count | None = None
    expected: Count | None = None
    valid: Count = 0
    nonzero: Count = 0
    silent: Count = 0
    corrupt: Count = 0
    errors: dict[str, Count] = {}
    unscored: dict[str, Count] = {}
    benign: frozenset[str] = frozenset()
    informative: frozenset[str] = frozenset()
    rejecting: frozenset[str] = frozenset()
    invalid_in_aggregate: Count | None = None
    reward_sum: float = 0.0
    stored_score: float | None = None
    surplus_valid: Count = 0
    surplus_unscored: Count = 0
    surplus_sum: float = 0.0
    worked: Count | None = None
    tokens: Count | None = None
    cached_tokens: Count | None = None
    requests: Count | None = None
    whole: bool = True

    @property
    def attempted(self) -> int:
        """Trials that left a result, readable or not."""
        return self.valid + self.without_reward + self.corrupt

    @property
    def without_reward(self) -> int:
        """Trials with a readable result and no reward in it."""
        return sum(self.unscored.values()) + self.silent

    @property
    def covered(self) -> int:
        """Trials that say how they ended: with a reward or with an exception."""
        return self.valid + sum(self.unscored.values())

    @property
    def invalid(self) -> int:
        """Trials whose exception makes an eval incomplete, rewarded or not: the leaderboard's own count."""
        return sum(number for name, number in self.errors.items() if name not in self.benign)

    @property
    def missing(self) -> int | None:
        """Planned trials that left no result."""
        return None if self.planned is None else max(0, self.planned - self.attempted)


class TraceRepo(_Part, frozen=True):
    """A dataset on the Hub that may hold the traces. ``shared`` of ``compared`` of its trial names are this run's."""

    name: str
    state: Literal["filled", "empty", "absent"]
    rows: Count | None = None
    shared: Count = 0
    compared: Count = 0

    @property
    def of_this_run(self) -> bool | None:
        """Whether its trials are this run's, at least half of them; None where no name could be compared."""
        return None if not self.compared else 2 * self.shared >= self.compared

    def is_from_before(self, valid: int) -> bool:
        """Whether it is of an earlier leg: it names trials that are gone, and lacks some of the ``valid`` ones."""
        return self.shared < min(self.compared, valid)

    def is_sparse(self, valid: int) -> bool:
        """Whether it has rows of fewer than half of the ``valid`` trials; those without a trajectory have none."""
        return self.rows is not None and 2 * self.rows < valid


class RowFacts(_Part, frozen=True):
    """A row of ``sandbox_jobs`` of the same model and benchmark, or of the run.

    ``of_run`` says whether it is this run's, by its ids: a row that only bears its name is ``maybe``, and so is one of
    which a file does not say it. ``live`` is None where nobody can say whether its job is. ``fails`` says whether its
    own statistics fail a gate, None where they do not tell. ``issues`` are the codes of what is odd about it by itself,
    such as ``numeric-model``.
    """

    id: str
    owner: str
    status: str
    of_run: Literal["yes", "no", "maybe"] = "maybe"
    live: bool | None = None
    model: str | None = None
    benchmark: str | None = None
    agent: str | None = None
    score: float | None = None
    fails: bool | None = None
    link: str | None = None
    created: Moment | None = None
    submitted: Moment | None = None
    issues: frozenset[str] = frozenset()


class Given(_Part, frozen=True):
    """What the audit was given besides the run, which a command that it recommends has to be given, too.

    Paths are absolute. ``jobs_root`` is what the manifest's paths are below.
    """

    manifest: str | None = None
    jobs_root: str | None = None
    profile: str | None = None
    benchmarks: str | None = None
    grandfather: str | None = None
    iris_jobs: str | None = None
    database: Literal["postgres", "supabase", "none"] | None = None
    slurm: bool | None = None
    hub: bool = True


class EvalFacts(_Part, frozen=True):
    """One eval: an agent and a model on a benchmark, in one run.

    ``folder`` is the run's, or its address in a bucket; ``buckets`` are those that Iris may have written it to.
    ``model`` and ``benchmark`` are the right names, None where they could not be told. ``measurement`` runs (grid,
    throughput, memory) are exempt. ``moving`` says that the folder's files changed while they were read.
    ``grandfathered`` are the ids of rows that a logged decision spares. ``copy_of`` is another folder of the same run,
    which counts in place of this one.
    ``given`` is what the audit was given besides the run, ``figures`` those of the folder's own reading, for reports
    alone: no rule looks at them.
    """

    run_tag: str
    kind: Kind = "slurm"
    folder: str | None = None
    buckets: tuple[str, ...] = ()
    agent: str | None = None
    model: str | None = None
    benchmark: str | None = None
    measurement: bool = False
    moving: bool = False
    profile: str = ""
    owners: frozenset[Name] = frozenset()
    grandfathered: frozenset[str] = frozenset()
    copy_of: str | None = None
    job: JobFacts | None = None
    trials: TrialFacts | None = None
    traces: tuple[TraceRepo, ...] | None = None
    rows: tuple[RowFacts, ...] | None = None
    figures: dict[str, Any] | None = None
    unknown: dict[Source, str] = {}
    given: Given = Given()
    notes: tuple[str, ...] = ()

    def why_unknown(self, source: Source) -> str:
        """Why a part was not learned."""
        return self.unknown.get(source, "nothing was gathered")
