"""A job as its folder shows it: what was planned, what Harbor counted, and what the trials themselves say."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property

import msgspec

from benchwright.harbor.aggregate import Aggregate
from benchwright.harbor.job_config import JobConfig
from benchwright.harbor.remark import Remark
from benchwright.harbor.tally import Tally
from benchwright.harbor.trial import Trial

_PACK = msgspec.msgpack.Encoder()
_UNPACK = msgspec.msgpack.Decoder(tuple[Trial, ...])


def packed(trials: Iterable[Trial]) -> bytes:
    """Trials in the form that a job holds them in, sorted by task and folder."""
    return _PACK.encode(sorted(trials, key=lambda trial: (trial.task, trial.folder)))


class Job(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """A job's folder, read; ``folders`` are several where a run was cut into shards.

    ``aggregate`` is Harbor's own account and stands for no trial. ``locked`` is how many trials the job's lock lists
    for each key of ``evals``; it is looked into where the aggregate does not say how many are planned, or for which.
    ``meta`` has the variables of ``meta.env``. ``whole`` is the tally of all trials, ``evals`` that of each agent,
    model and dataset under the key that Harbor gives them. ``live`` says that the folder changed while it was read, so
    that its figures are those of no moment; ``written`` is when a result last changed, None where there is none. The
    trials themselves are unpacked when they are asked for.
    """

    name: str
    folders: tuple[str, ...]
    config: JobConfig
    aggregate: Aggregate
    locked: dict[str, int]
    meta: dict[str, str]
    whole: Tally
    evals: dict[str, Tally]
    remarks: tuple[Remark, ...]
    live: bool
    written: datetime | None
    packed_trials: bytes

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial folder, sorted by task and folder; those that do not count are marked as surplus."""
        return _UNPACK.decode(self.packed_trials)

    @property
    def present(self) -> int:
        """How many trial folders there are."""
        return sum(number for _, number in self.whole.kinds) + self.whole.surplus
