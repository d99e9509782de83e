"""A run's traces brought to the Hub, and proved there before anything links them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.audit.trace_hub import TraceHub
from benchwright.contract import Exit, Failure, Problem, counted, some
from benchwright.harbor import resolve_job_folder
from benchwright.harbor.traces import TraceDataset, TraceOptions, TracePlan, plan_traces
from benchwright.repair.registration.trace_link import DATASETS
from benchwright.repair.traces.commit import commit, create
from benchwright.repair.traces.standing import RunTraces, Standing, check_whole, standing_of


@dataclass(frozen=True, slots=True)
class UploadedTraces:
    """Traces that are on the Hub, as it says itself: the repo's link and revision, the rows and the trials in them.

    ``sent`` says whether this upload brought anything there.
    """

    repo: str
    link: str
    revision: str
    rows: int
    trials: frozenset[str]
    sent: bool


def open_hub(settings: Mapping[str, str], *, writes: bool) -> TraceHub:
    """The Hub that ``HF_ENDPOINT`` names, with the token in ``HF_TOKEN`` or the one that its own client keeps.

    Raises:
        Failure: it is to be written, and there is no token (code ``no-credentials``, exit 3); or as ``TraceHub``.
    """
    hub = TraceHub(settings.get("HF_ENDPOINT"), settings.get("HF_TOKEN"))
    if writes and hub.token is None:
        fix = "export HF_TOKEN=..., or log in: hf auth login"
        problem = Problem("no-credentials", "HF_TOKEN", "not set, and nobody is logged in", "a token that writes", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT)
    return hub


def run_of(plan: TracePlan) -> RunTraces:
    """How the run of a plan is told on the Hub."""
    return RunTraces(plan.run, plan.own, plan.job_id)


def upload(dataset: TraceDataset, repo: str, hub: TraceHub, *, replaces: bool = False) -> UploadedTraces:
    """Bring a dataset to a repo, unless it is there, and read it back. ``replaces`` puts it in a fuller one's place.

    Raises:
        Failure: the repo holds something else, or more (codes ``other-traces``, ``fuller-traces``), or somebody else
            commits to it (exit 5); what is read back is something else (code ``traces-differ``, exit 1); or as
            ``commit`` and ``TraceHub.look``.
    """
    run = RunTraces(dataset.run, dataset.own, dataset.job_id)
    before = standing_of(hub, repo, run)
    if before.revision is None:
        create(hub, repo)
        before = standing_of(hub, repo, run)  # somebody else may have been there first
    if before.revision is None:
        raise _differs(repo, "it was made, and is not there")
    if not replaces:
        check_whole(repo, before, dataset)
    wanted = [file for file in dataset.files if before.lacks(file)]
    stale = before.stale(dataset.files)
    if wanted or stale:
        summary = f"{counted(dataset.rows, 'row')} of {counted(len(dataset.trials), 'trial')}: {dataset.run[:120]}"
        commit(hub, repo, dataset.folder, wanted, stale, summary=summary, parent=before.revision)
    revision = read_back(dataset, repo, hub)
    return UploadedTraces(repo, DATASETS + repo, revision, dataset.rows, dataset.trials, sent=bool(wanted or stale))


def read_back(dataset: TraceDataset, repo: str, hub: TraceHub) -> str:
    """The revision at which a repo holds a dataset: every file by its digest, its rows, and its trials by name.

    Raises:
        Failure: it does not (code ``traces-differ``, exit 1); or as ``TraceHub.look``.
    """
    files = hub.files(repo)
    if files is None:
        raise _differs(repo, "it is not there")
    found = hub.look(repo, whole=True)
    after = Standing("held", files.revision, dict(files.digests))
    differences = []
    if wrong := [file.path for file in dataset.files if after.lacks(file)]:
        differences.append(f"other files: {some(wrong)}")
    if found.rows != dataset.rows:
        differences.append(f"{counted(found.rows or 0, 'row')}, not {dataset.rows:,}")
    if found.trials != dataset.trials:
        names = sorted((found.trials or frozenset()) ^ dataset.trials)
        differences.append(f"other trials: {some(names)}")
    if differences:
        raise _differs(repo, "; ".join(differences))
    return files.revision


class HubTraces:
    """Uploads of jobs' traces, last episodes, for those who only want the link.

    ``settings`` are as of ``open_hub``, ``replaces`` as of ``upload``.
    """

    def __init__(self, settings: Mapping[str, str], *, replaces: bool = False) -> None:
        self._settings, self._replaces = settings, replaces

    def upload(self, folder: Path, repo: str, *, apply: bool) -> str:
        """Upload the traces of the run that a job's folder means, its shards as one; the dataset's link.

        Without ``apply`` nothing is sent, what the upload would refuse is refused, and the link is the one that there
        would be. A Hub that does not tell what the repo holds does not stop that.

        Raises:
            Failure: no trial has a row (code ``no-traces``, exit 1); or as ``plan_traces``, ``TracePlan.write`` and
                ``upload``.
        """
        hub = open_hub(self._settings, writes=apply)
        plan = plan_traces(resolve_job_folder(folder), TraceOptions())
        if next(plan.untold(()), None) is None:
            fix = "register its score alone: --skip-hf"
            raise Failure(Problem("no-traces", plan.run, "no trial has a trajectory", "traces to upload", fix))
        try:
            before = standing_of(hub, repo, run_of(plan))  # before the long work, not after it
        except Failure as failure:
            if apply or failure.exit is Exit.REFUSED:
                raise
            return DATASETS + repo
        if not apply and (self._replaces or before.state != "held"):
            return DATASETS + repo
        with tempfile.TemporaryDirectory(prefix="benchwright-traces-") as place:
            dataset = plan.write(Path(place) / "dataset", settings=self._settings)
            if apply:
                return upload(dataset, repo, hub, replaces=self._replaces).link
            check_whole(repo, before, dataset)
            return DATASETS + repo


def _differs(repo: str, found: str) -> Failure:
    return Failure(
        Problem("traces-differ", repo, found, "what was uploaded", "run this again, and look who writes there")
    )
