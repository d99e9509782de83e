"""Traces of a run, from its folder to the Hub, as one command: what is asked for, done and told."""

from __future__ import annotations

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.audit.trace_hub import TraceHub
from benchwright.audit.trace_names import repo_of_link
from benchwright.contract import DRY_RUN, Exit, Failure, Outcome, Progress, counted, some, usage_error
from benchwright.harbor import resolve_job_folder
from benchwright.harbor.traces import LeftOut, TraceDataset, TraceOptions, TracePlan, plan_traces
from benchwright.repair.traces.standing import Standing, check_whole, standing_of
from benchwright.repair.traces.upload import UploadedTraces, open_hub, run_of, upload


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCommand:
    """What is asked for; see the script's help. ``dataset`` is the folder that the files stay in, None for none."""

    job_dir: Path
    repo: str
    rows: TraceOptions
    dataset: Path | None
    replaces: bool
    apply: bool


def make_and_upload(asked: TraceCommand, settings: Mapping[str, str], progress: Progress) -> Outcome:
    """Make the dataset, and with ``apply`` upload it and read it back; without, say what would be.

    Raises:
        Failure: as ``plan_traces``, ``TracePlan.write`` and ``upload``; ``repo`` is none (exit 2).
    """
    repo = repo_of_link(asked.repo)
    if repo is None:
        raise usage_error("--repo_id", f"{asked.repo!a}", "ORG/NAME", "--repo_id ORG/NAME")
    hub = open_hub(settings, writes=asked.apply)
    plan = plan_traces(resolve_job_folder(asked.job_dir), asked.rows)
    before = _standing(hub, repo, plan, needed=asked.apply)
    with _folder(asked.dataset) as folder:
        dataset = plan.write(folder, progress, settings=settings)
        if asked.apply:
            return _uploaded(upload(dataset, repo, hub, replaces=asked.replaces), dataset)
        if isinstance(before, Standing) and not asked.replaces:
            check_whole(repo, before, dataset)
        return _planned(repo, dataset, before)


def _standing(hub: TraceHub, repo: str, plan: TracePlan, *, needed: bool) -> Standing | Failure:
    """What the repo holds, before the long work; that it is not told stops a plan no more than it stops the work."""
    try:
        return standing_of(hub, repo, run_of(plan))
    except Failure as failure:
        if needed or failure.exit is Exit.REFUSED:
            raise
        return failure


@contextlib.contextmanager
def _folder(asked: Path | None) -> Iterator[Path]:
    """The folder that was asked for, or one that goes away again."""
    if asked is not None:
        yield asked
        return
    with tempfile.TemporaryDirectory(prefix="benchwright-traces-") as place:
        yield Path(place) / "dataset"


def _planned(repo: str, dataset: TraceDataset, before: Standing | Failure) -> Outcome:
    return Outcome(
        f"{DRY_RUN} to the Hub; {_what(dataset)}, for {repo}",
        _data(repo, dataset) | {"applied": False, "hub": _state(before, dataset)},
        [f"{repo}: {_state(before, dataset)}", *_lacking(dataset)],
        closing=(DRY_RUN,),
    )


def _uploaded(done: UploadedTraces, dataset: TraceDataset) -> Outcome:
    how = "uploaded and read back" if done.sent else "there already, and read back"
    link = {"applied": True, "link": done.link, "revision": done.revision, "sent": done.sent}
    return Outcome(
        f"{_what(dataset)}: {how}",
        _data(done.repo, dataset) | link,
        [f"{done.link} at {done.revision[:12]}", *_lacking(dataset)],
    )


def _state(before: Standing | Failure, dataset: TraceDataset) -> str:
    """What the repo holds, for people."""
    if isinstance(before, Failure):
        return f"unknown: {before.problems[0].found}"
    if before.state == "absent":
        return "not there, and will be made"
    if before.state == "empty":
        return "there, without rows"
    same = not before.stale(dataset.files) and not any(map(before.lacks, dataset.files))
    return "it holds just that" if same else f"it holds {counted(before.rows, 'row')} of this run, to be replaced"


def _what(dataset: TraceDataset) -> str:
    trials = counted(len(dataset.trials), "trial")
    size = f"{dataset.size:,} bytes in {counted(len(dataset.files), 'file')}"
    return f"{dataset.run}: {counted(dataset.rows, 'row')} of {trials}, {size}"


def _data(repo: str, dataset: TraceDataset) -> dict[str, Any]:
    return {"repo": repo} | dataset.to_dict()


def _lacking(dataset: TraceDataset) -> list[str]:
    """What is in no row, by the reason: a line each."""
    return [*_by_reason("left out", dataset.left_out), *_by_reason("not whole", dataset.incomplete)]


def _by_reason(what: str, trials: Sequence[LeftOut]) -> list[str]:
    names = defaultdict(list)
    for one in trials:
        names[one.why].append(one.trial)
    return [
        f"{what}: {counted(len(found), 'trial')}, {why}: {some(found)}"
        for why, found in sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
