"""The actions that rules recommend, each with its exact command."""

from __future__ import annotations

import shlex

from benchwright.audit.facts import EvalFacts, RowFacts
from benchwright.audit.verdict import Action

_PYTHON = ".venv/bin/python"
"""Of this checkout, from its root, as all its documents have it: another machine's paths would help nobody there."""
_REGISTRATION = "scripts/database/repair_registration.py"
_JUDGING = ("manifest", "jobs_root", "profile", "benchmarks", "grandfather", "iris_jobs")
"""What a verdict follows from, besides the sources."""
_TAKEN = {"fix-benchmark": ("benchmarks",), "deregister": (*_JUDGING, "slurm")}
"""Of what an audit is given, what a repair takes besides the database."""
LAUNCH_GOTCHAS = (
    "the folder that Harbor writes its jobs to must be one the job may write",
    "a served model needs the provider's prefix and both parts of its name: hosted_vllm/ORG/NAME",
    "model_info (context length, prices) must be given for a served model, or the first request fails",
    "a reservation or partition that has ended keeps the job pending for ever",
    "a stale row of the pair makes the launcher take it for done: see the rows above",
)
"""What to look at before an eval that never ran is launched again."""


REGION = "see that the launcher prints its region before the job runs: where it finds none, it writes to another bucket"
"""What a launch of Iris is to be watched for."""


def again(facts: EvalFacts) -> str:
    """The audit once more; for an Iris job, of its buckets."""
    place = ["--iris", *facts.buckets] if facts.buckets else [_folder(facts)]
    words = [_PYTHON, "scripts/eval/audit_evals.py", *place, *_given(facts, *_JUDGING, "database", "slurm")]
    return shlex.join([*words, *([] if facts.given.hub else ["--no-hub"])])


def undo(path: str) -> str:
    """What takes back the repair of an undo file, with the same ``--db``."""
    return shlex.join([_PYTHON, _REGISTRATION, "undo", path, "--apply"])


def launch(facts: EvalFacts, why: str, *, anew: bool = False) -> tuple[Action, ...]:
    """The launch once more, as it was, without a command where nobody knows how that was.

    ``anew`` is for a run of which no trial is to stay: what is launched over a finished one keeps them all.
    """
    command = launch_command(facts, anew=anew)
    if not _is_iris(facts):
        moved = ", with this folder moved away before: what runs over it keeps its trials" if anew else ""
        return (Action(why + moved, command),)
    named = " under a name of its own: under the same one Harbor keeps the trials" if anew else " under the same name"
    return Action(why + named, command), Action(REGION)


def launch_command(facts: EvalFacts, *, anew: bool = False) -> str:
    """The command of a launch, empty where nobody knows how that was."""
    if _is_iris(facts):
        return _iris_launch(f"{facts.run_tag}-rf" if anew else facts.run_tag)
    return (facts.job.submit if facts.job else None) or ""


def resume(facts: EvalFacts, why: str) -> tuple[Action, ...]:
    """The trials without a reward once more, the valid ones kept."""
    region = (Action(REGION),) if _is_iris(facts) else ()
    return Action(why, resume_command(facts)), *region


def resume_command(facts: EvalFacts) -> str:
    """The command of a resume: for an Iris job, its launch under the same name."""
    if _is_iris(facts):
        return _iris_launch(facts.run_tag)
    words = [_PYTHON, "scripts/eval/prepare_resume.py", _folder(facts)]
    words += ["--slurm-job-id", facts.job.id] if facts.given.manifest and facts.job and facts.job.id else []
    return shlex.join([*words, *_given(facts, "database", "slurm")])


def push(facts: EvalFacts, why: str, *, traces: bool, repo: str | None = None, renew: bool = False) -> Action:
    """Traces up and the row right, in one; the names are said where they are known."""
    words = [_PYTHON, "scripts/database/manual_db_eval_push.py", "--job-dir", facts.folder or "JOB_DIR"]
    for flag, value in (
        ("--hf-repo", repo),
        ("--model-name", facts.model),
        ("--benchmark-name", facts.benchmark),
        ("--agent-name", facts.agent),
    ):
        words += [flag, value] if value else []
    words += [] if traces else ["--skip-hf"]
    words += ["--forced-update"] if renew else []
    words += _given(facts, *_JUDGING, "database", "slurm", writes=True)
    return Action(why, shlex.join(words))


def repair(facts: EvalFacts, what: str, row: RowFacts, *values: str) -> str:
    """One repair of one row."""
    words = _given(facts, *_TAKEN.get(what, ()), "database", writes=True)
    return shlex.join([_PYTHON, _REGISTRATION, what, "--row", row.id, *values, *words])


def _iris_launch(name: str) -> str:
    return f"{_PYTHON} scripts/iris/relaunch_eval.py {shlex.quote(name)}"


def _is_iris(facts: EvalFacts) -> bool:
    return facts.kind.startswith("iris")


def deregister(facts: EvalFacts, row: RowFacts) -> str:
    """One row off the board. The run is named with it, for the repair to audit it once more before it deletes."""
    return repair(facts, "deregister", row, *_place(facts))


def link(facts: EvalFacts, row: RowFacts, repo: str) -> str:
    """The link to traces that are there. The run is named with it, whose trials the traces have to be of."""
    place = () if facts.buckets else _place(facts)
    told = _given(facts, "manifest", "jobs_root") if place else ()
    return repair(facts, "link-traces", row, "--link", f"https://huggingface.co/datasets/{repo}", *place, *told)


def _place(facts: EvalFacts) -> tuple[str, ...]:
    """The options that say where a run is, none where that is not known."""
    if facts.buckets:
        return ("--iris", *facts.buckets, "--iris-job", facts.run_tag)
    return ("--job-dir", facts.folder) if facts.folder and "://" not in facts.folder else ()


def _folder(facts: EvalFacts) -> str:
    return facts.folder or "JOB_DIR"


def _given(facts: EvalFacts, *names: str, writes: bool = False) -> list[str]:
    """The options for what the audit was given, of those that a script takes; one that ``writes`` needs a database."""
    words = []
    for name in names:
        value = getattr(facts.given, name)
        if name == "slurm" and value is not None:
            words.append("--slurm" if value else "--no-slurm")
        elif name == "iris_jobs" and not facts.buckets:
            continue
        elif value is not None and not (writes and value == "none"):
            words += ["--db" if name == "database" else f"--{name.replace('_', '-')}", value]
    return words
