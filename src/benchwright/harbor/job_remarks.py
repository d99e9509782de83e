"""What a person should know of a job before they believe its figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from benchwright.contract import counted
from benchwright.harbor.aggregate import Aggregate
from benchwright.harbor.job_config import JobConfig
from benchwright.harbor.remark import Remark, named
from benchwright.harbor.scan import Trials
from benchwright.harbor.tally import Tally
from benchwright.harbor.trial import REWARD, Trial


def remarks_on(
    trials: Sequence[Trial], evals: Mapping[str, Tally], config: JobConfig, aggregate: Aggregate, found: Trials
) -> list[Remark]:
    """Everything odd about a job's folder, each kind once, with the first names."""
    return [
        *_on_folders(trials, aggregate, found),
        *_on_files(config, aggregate),
        *_on_progress(aggregate),
        *_on_differences(evals, aggregate),
        *_on_trials(trials, aggregate),
    ]


def _on_folders(trials: Sequence[Trial], aggregate: Aggregate, found: Trials) -> Iterator[Remark]:
    if found.gone or found.changing:
        text = f"changed while it was read: {named([*found.gone, *found.changing])}"
        yield Remark("live", "error", text)
    if found.jobs:
        text = f"jobs inside the job's folder are not counted in it: {named(found.jobs)}"
        yield Remark("nested-job", "warn", text)
    if found.others:
        text = f"folders that are no trials, and that a resume of the job would delete: {named(found.others)}"
        yield Remark("other-folders", "warn", text)
    if not trials and aggregate.ok:
        text = "there is the aggregate alone: nothing is known of the trials"
        yield Remark("only-aggregate", "error", text)


def _on_files(config: JobConfig, aggregate: Aggregate) -> Iterator[Remark]:
    if not aggregate.ok:
        yield Remark(f"aggregate-{aggregate.state}", "warn", f"the job's own result.json: {aggregate.why}")
    if not config.ok:
        yield Remark(f"config-{config.state}", "warn", f"the job's config.json: {config.why}; it cannot be resumed")
    malformed = sorted({name for one in aggregate.evals.values() for name in one.malformed})
    if malformed:
        text = f"the aggregate's exceptions are no lists of trials and do not count: {named(malformed)}"
        yield Remark("malformed-exceptions", "warn", text)


def _on_progress(aggregate: Aggregate) -> Iterator[Remark]:
    planned, completed = aggregate.planned, aggregate.completed
    if planned is None or completed is None:
        return
    told = f"{completed} of {planned} trials completed"
    if completed > planned:
        yield Remark("over-complete", "warn", f"{told}: something went on writing after the job had ended")
    elif aggregate.finished is not None and completed < planned:
        yield Remark("finished-short", "warn", f"finished by its own account, with {told}")
    if aggregate.finished is None and completed >= planned:
        yield Remark("stuck-at-full", "warn", f"{told}, and no time of finishing")


def _on_differences(evals: Mapping[str, Tally], aggregate: Aggregate) -> Iterator[Remark]:
    """What the aggregate counts otherwise than the folder shows. A job that runs is a moment ahead or behind."""
    if not aggregate.ok or not evals:
        return
    results = sum(tally.count("valid", "unscored", "corrupt") for tally in evals.values())
    if aggregate.completed is not None and aggregate.completed != results:
        text = f"the aggregate counts {aggregate.completed} completed trials, and {results} left a result"
        yield Remark("counts-differ", "warn", text)
    spelled = {spelling for key in evals for spelling in (key, key.replace("/", "-"))}
    unseen = [key for key in aggregate.evals if key not in spelled]
    if unseen:
        yield Remark("unseen-evals", "warn", f"the aggregate counts trials that no folder shows: {named(unseen)}")


def _on_trials(trials: Sequence[Trial], aggregate: Aggregate) -> Iterator[Remark]:
    foreign = [one.folder for one in trials if aggregate.id and one.job_id and one.job_id != aggregate.id]
    if foreign:
        text = f"{counted(len(foreign), 'trial')} of another job than the aggregate's: {named(foreign)}"
        yield Remark("foreign-trials", "warn", text)
    checksums = defaultdict(set)
    for one in trials:
        if one.checksum is not None:
            checksums[one.source, one.task].add(one.checksum)
    changed = sorted(task for (_, task), sums in checksums.items() if len(sums) > 1)
    if changed:
        text = f"tasks whose content was not the same in all attempts: {named(changed)}"
        yield Remark("changed-tasks", "warn", text)
    others = sorted({one.reward_key for one in trials if one.reward_key not in (None, REWARD)}, key=str)
    if others:
        yield Remark("other-reward-key", "context", f"scored under {named(map(repr, others))}, not under {REWARD!r}")
    several = [one.folder for one in trials if len(one.rewards) > 1]
    if several:
        text = f"{counted(len(several), 'trial')} with several rewards, of which the aggregate has no mean"
        yield Remark("several-rewards", "context", f"{text}: {named(several)}")
