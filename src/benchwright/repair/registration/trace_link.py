"""The link from a row to its traces, after the Hub has shown that they are there and of this run."""

from __future__ import annotations

from pathlib import Path

from benchwright.audit.facts import TraceRepo
from benchwright.audit.gather_traces import repo_facts
from benchwright.audit.manifest import NO_HINT, Hint
from benchwright.audit.run import Run
from benchwright.audit.trace_hub import TraceHub
from benchwright.audit.trace_names import repo_of_link
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.evaldb import EvalDatabase, JobRow, Update
from benchwright.harbor import read_job, resolve_job_folder
from benchwright.repair.own_row import OwnRow
from benchwright.repair.registration.undo_file import Repair

DATASETS = "https://huggingface.co/datasets/"
"""What links in the database begin with, whatever Hub the traces are looked at on."""

_UPLOAD = ".venv/bin/python scripts/harbor/make_and_upload_trace_dataset.py"


def link_traces(
    database: EvalDatabase, own: OwnRow, link: str, hub: TraceHub, *, job_dir: Path | None, hint: Hint = NO_HINT
) -> Repair:
    """The row links the traces at ``link``, and nothing else of it changes.

    Whose traces they are is told by the names of the run's trials, from its folder, or else from the database. ``hint``
    is what a person says of the run in ``job_dir``.

    Raises:
        Failure: ``link`` is none to a dataset, or ``job_dir`` no job's folder (exit 2); the repo is missing, empty or
            another run's, or that is unknown, or the row links others (codes ``no-traces``, ``other-traces``,
            ``unknown-traces``, ``linked``, exit 5); or as ``TraceHub.look`` and ``EvalDatabase.records``.
    """
    row = own.row
    repo = repo_of_link(link)
    if repo is None:
        raise usage_error(
            "--link",
            f"{link!r} is no dataset's",
            "https://huggingface.co/datasets/ORG/NAME, or ORG/NAME",
            "--link ORG/NAME",
        )
    wanted = DATASETS + repo
    present = repo_of_link(row.hf_traces_link) if row.hf_traces_link else None
    if present == repo:
        return _repair(database, row, wanted, None)
    names = _trial_names(database, row, job_dir, hint)
    check_traces(repo, repo_facts(names, repo, hub.look(repo)))
    if row.hf_traces_link and (present is None or hub.look(present).state == "filled"):
        found = f"it links {row.hf_traces_link}, where there are traces"
        problem = Problem(
            "linked",
            f"row {row.id}",
            found,
            "a row without a link, or with a dead one",
            "leave it; if that repo is another run's, ask whoever linked it",
        )
        raise Failure(problem, exit=Exit.REFUSED)
    read = {"hf_traces_link": row.hf_traces_link, "job_name": row.job_name, "job_status": row.job_status}
    update = Update("sandbox_jobs", {"id": row.id}, row.username, read=read, values={"hf_traces_link": wanted})
    return _repair(database, row, wanted, update)


def _trial_names(database: EvalDatabase, row: JobRow, job_dir: Path | None, hint: Hint) -> frozenset[str]:
    """What the run's trials are called."""
    if job_dir is None:
        trials = database.records("sandbox_trials", "job_id", [row.id], columns=("id", "trial_name"))
        names = frozenset(trial["trial_name"] for trial in trials)
        if not names:
            fix = "say where the run is: --job-dir DIR"
            found = "the database has none of its trials, so whose traces they are cannot be told"
            raise Failure(Problem("unknown-traces", f"row {row.id}", found, "trials", fix), exit=Exit.REFUSED)
        return names
    place = resolve_job_folder(job_dir)
    run = Run(tag=place.name, job=read_job(place), hint=hint)
    if row.id not in run.row_ids and row.slurm_job_id not in run.slurm_ids and row.job_name != run.tag:
        found = f"{place.name} is another run: neither its ids nor its name are the row's"
        raise Failure(
            Problem("other-run", str(job_dir), found, f"the run {row.job_name}", "--job-dir DIR of the row's own run"),
            exit=Exit.REFUSED,
        )
    return run.trial_names


def check_traces(repo: str, found: TraceRepo) -> None:
    """Go on where a repo holds the traces of the run that it was compared with.

    Raises:
        Failure: it does not, or does not tell (codes ``no-traces``, ``other-traces``, ``unknown-traces``, exit 5).
    """
    if found.state != "filled":
        upload = f"upload them first: {_UPLOAD} --job-dir DIR --repo_id {repo}"
        what = "it is not there" if found.state == "absent" else "it has no rows"
        problem = Problem("no-traces", repo, what, "a dataset with traces", upload)
    elif found.of_this_run is None:
        problem = Problem(
            "unknown-traces",
            repo,
            "its rows name no trials",
            "rows with the column trial_name",
            f"upload the run's traces: {_UPLOAD} --job-dir DIR --repo_id {repo}",
        )
    elif not found.of_this_run:
        what = f"{found.shared:,} of the {found.compared:,} trials that it names are this run's"
        problem = Problem(
            "other-traces", repo, what, "traces of this run", "name the repo of this run: --link ORG/NAME"
        )
    else:
        return
    raise Failure(problem, exit=Exit.REFUSED)


def _repair(database: EvalDatabase, row: JobRow, wanted: str, update: Update | None) -> Repair:
    changes = []
    if update is not None:
        changes.append(f"row {row.id}: traces {row.hf_traces_link or 'none'} -> {wanted}")
    return Repair(
        what="link-traces",
        subject=row.id,
        owner=row.username,
        place=database.place,
        plan=(update,) if update is not None else (),
        wanted=wanted,
        changes=tuple(changes),
    )
