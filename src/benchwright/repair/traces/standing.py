"""What a repo on the Hub holds before a run's traces go there, and whether they may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchwright.audit.trace_hub import FoundTraces, TraceHub
from benchwright.contract import Exit, Failure, Problem, counted, some
from benchwright.harbor.traces import PROVENANCE, TraceDataset, TraceFile

_BESIDE = frozenset({".gitattributes", ".gitignore", "README.md", "LICENSE", PROVENANCE})
"""What may lie in a repo that holds no rows."""


@dataclass(frozen=True, slots=True)
class RunTraces:
    """How a run is told on the Hub: by the names of all its trials, and the id of its job where that is known."""

    run: str
    trials: frozenset[str]
    job_id: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A repo before an upload: not there, without rows, or holding this run's traces, ``rows`` of them.

    ``digests`` are those of its files at ``revision``, ``trials`` the names in the rows, ``columns`` what rows have.
    """

    state: Literal["absent", "empty", "held"]
    revision: str | None
    digests: dict[str, str]
    rows: int = 0
    trials: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()

    def lacks(self, file: TraceFile) -> bool:
        """Whether a file is not there as it is to be."""
        return self.digests.get(file.path) not in (file.sha256, file.git_id)

    def stale(self, files: tuple[TraceFile, ...]) -> tuple[str, ...]:
        """The files with rows of an earlier upload that these do not replace."""
        kept = {file.path for file in files}
        return tuple(sorted(path for path in self.digests if path.endswith(".parquet") and path not in kept))


def standing_of(hub: TraceHub, repo: str, run: RunTraces) -> Standing:
    """What a repo holds, where that may be replaced by this run's traces.

    It may where there is no row, where every row names a trial of this run, and where every row names its job: a resume
    gives trials other names.

    Raises:
        Failure: it holds something else (code ``other-traces``, exit 5); or as ``TraceHub.look``.
    """
    files = hub.files(repo)
    if files is None:
        return Standing("absent", None, {})
    digests = dict(files.digests)
    found = hub.look(repo, whole=True)
    if found.state != "filled":
        others = sorted(digests.keys() - _BESIDE - {path for path in digests if path.endswith(".parquet")})
        if others:
            raise _refused(repo, f"it holds {some(others)}")
        return Standing("empty", files.revision, digests)
    _check_own(repo, run, found)
    return Standing("held", files.revision, digests, found.rows or 0, found.trials or frozenset(), found.columns)


def check_whole(repo: str, before: Standing, dataset: TraceDataset) -> None:
    """Go on where a dataset has all of its run that the one in the repo has.

    Raises:
        Failure: it lacks trials that count, or columns, or has fewer rows of as many trials (code ``fuller-traces``,
            exit 5).
    """
    lost = sorted((before.trials & dataset.counting) - dataset.trials)
    if lost:
        found = f"it holds {counted(len(lost), 'trial')} of this run that the new traces lack: {some(lost)}"
    elif columns := sorted(before.columns - dataset.columns):
        found = f"its rows have what the new traces lack: {some(columns)}"
    elif len(before.trials) <= len(dataset.trials) and dataset.rows < before.rows:
        trials = counted(len(before.trials), "trial")
        new = f"the new traces {dataset.rows:,} of {len(dataset.trials):,}"
        found = f"it holds {counted(before.rows, 'row')} of {trials}, and {new}"
    else:
        return
    fix = (
        "upload them to another repo, or make all of them, by make_and_upload_trace_dataset.py: --filter none, "
        "--episodes all, --to_sharegpt; --replace-traces replaces them"
    )
    raise Failure(Problem("fuller-traces", repo, found, "no more than the new traces", fix), exit=Exit.REFUSED)


def _check_own(repo: str, run: RunTraces, found: FoundTraces) -> None:
    if found.trials is None:
        raise _refused(repo, "it holds rows that name no trial")
    foreign = sorted(found.trials - run.trials)
    if foreign and not (run.job_id and found.runs == frozenset([run.job_id])):
        number = counted(len(foreign), "trial")
        raise _refused(repo, f"it holds {number} that {run.run} has not: {some(foreign)}")


def _refused(repo: str, found: str) -> Failure:
    problem = Problem("other-traces", repo, found, "a repo that is empty, or this run's", "name another repo")
    return Failure(problem, exit=Exit.REFUSED)
