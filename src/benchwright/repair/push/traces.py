"""The traces of a pushed run: which repo is theirs, their upload, and the proof of it before anything is linked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from benchwright.audit.facts import EvalFacts
from benchwright.audit.gather_traces import repo_facts
from benchwright.audit.run import Run
from benchwright.audit.trace_hub import TraceHub
from benchwright.audit.trace_names import ORGS_VARIABLE, repo_id, repo_of_link
from benchwright.contract import usage_error
from benchwright.harbor import resolve_job_folder
from benchwright.harbor.traces import TraceOptions, plan_traces
from benchwright.repair.registration.trace_link import check_traces


class TraceUploader(Protocol):
    """What brings a job's traces to the Hub. Given the same again it sends nothing."""

    def upload(self, folder: Path, repo: str, *, apply: bool) -> str:
        """Upload the traces of a job to a dataset, ``ORG/NAME``, and read them back; the dataset's link.

        Without ``apply`` nothing is sent, and the link is the one that there would be.

        Raises:
            Failure: the repo holds another run's traces (exit 5); the Hub has no room or does not answer (exit 4);
                credentials are missing (exit 3).
        """


def repo_asked_for(text: str) -> str:
    """The repo that ``--hf-repo`` names, an id or a link.

    Raises:
        Failure: it names none (exit 2).
    """
    repo = repo_of_link(text)
    if repo is None:
        raise usage_error("--hf-repo", f"{text!a}", "ORG/NAME", "--hf-repo ORG/NAME")
    return repo


def repo_of_run(facts: EvalFacts, linked: str | None, asked: str | None, orgs: Sequence[str]) -> str:
    """The repo that a run's traces are in or go to.

    It is the one that was asked for, else the one that the row links, else one that was found to hold them, else the
    first organisation's by the run's name.

    Raises:
        Failure: nothing names one (code ``no-trace-orgs``, exit 2).
    """
    found = [repo.name for repo in facts.traces or () if repo.state == "filled" and repo.of_this_run]
    known = asked or linked or next(iter(found), None)
    if known is None and not orgs:
        fix = f"--hf-repo ORG/NAME, or export {ORGS_VARIABLE}=ORG; without traces: --skip-hf"
        raise usage_error("--hf-repo", "no repo for the traces", "ORG/NAME", fix, code="no-trace-orgs")
    return known or repo_id(orgs[0], f"{facts.run_tag}-traces")


def is_there(facts: EvalFacts, repo: str, folder: Path, hub: TraceHub) -> bool:
    """Whether a repo holds the traces of every trial that left some, so that there is nothing to upload.

    Where the audit has not found all valid trials there, the repo is looked at whole, and the trials that it lacks in
    the job's ``folder``: a trial may have left no trajectory. Names of trials that are gone are of an earlier leg.

    Raises:
        Failure: as ``TraceHub.look``, ``plan_traces`` and ``TracePlan.untold``.
    """
    valid = facts.trials.valid if facts.trials is not None else 0
    found = next((one for one in facts.traces or () if one.name == repo), None)
    if found is None or not found.of_this_run or found.shared >= valid:
        return found is not None and bool(found.of_this_run)
    there = hub.look(repo, whole=True).trials
    plan = plan_traces(resolve_job_folder(folder), TraceOptions())
    return there is not None and there <= plan.own and next(plan.untold(there), None) is None


def check_uploaded(hub: TraceHub, run: Run, repo: str) -> None:
    """Go on where a repo holds this run's traces.

    Raises:
        Failure: as ``trace_link.check_traces`` and ``TraceHub.look``.
    """
    check_traces(repo, repo_facts(run.trial_names, repo, hub.look(repo)))
