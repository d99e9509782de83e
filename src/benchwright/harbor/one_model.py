"""A job whose trials name one model by several names, read as the job of one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import msgspec

from benchwright.harbor.aggregate import EvalStats
from benchwright.harbor.job import Job, packed
from benchwright.harbor.shards import stats_together
from benchwright.harbor.slots import SURPLUS_CODES, with_surplus
from benchwright.harbor.tally import by_eval, tally
from benchwright.harbor.trial import Trial


def with_models(job: Job, models: Mapping[str, str]) -> Job:
    """The job with the trials of each of Harbor's keys in ``models`` under the model that is named there.

    Two keys that become one are one eval: of its trials those count that would if they had always had one name, in each
    shard by itself. What did not count in a run of several shards still does not.
    """
    trials = list(job.trials)
    keys = {trial.key: trial.key for trial in trials}
    for number, trial in enumerate(trials):
        if trial.key in models:
            trials[number] = msgspec.structs.replace(trial, model=models[trial.key])
            keys[trial.key] = trials[number].key
    remarks = job.remarks
    if len(job.folders) == 1:
        trials = [msgspec.structs.replace(trial, surplus=False) for trial in trials]
        remarks = tuple(remark for remark in remarks if remark.code not in SURPLUS_CODES)
    shards: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        shards[trial.folder.rpartition("/")[0]].append(trial)
    trials = []
    for name, shard in shards.items():
        marked, told = with_surplus(shard, job.config, job.aggregate.id)
        trials += marked
        own = f"{name}: " if name else ""
        remarks += tuple(msgspec.structs.replace(remark, text=f"{own}{remark.text}") for remark in told)
    groups, whole = by_eval(trials), tally(trials)
    keys |= {key.replace("/", "-"): new.replace("/", "-") for key, new in keys.items() if "/" in key}
    stats: dict[str, list[EvalStats]] = defaultdict(list)
    for key, one in job.aggregate.evals.items():
        stats[keys.get(key, key)].append(one)
    together = {key: parts[0] if len(parts) == 1 else stats_together(parts) for key, parts in stats.items()}
    locked: Counter[str] = Counter()
    for key, number in job.locked.items():
        locked[keys.get(key, key)] += number
    return msgspec.structs.replace(
        job,
        aggregate=msgspec.structs.replace(job.aggregate, evals=together),
        locked=dict(locked),
        whole=whole,
        evals={key: whole if len(groups) == 1 else tally(group) for key, group in groups.items()},
        remarks=remarks,
        packed_trials=packed(trials),
    )
