"""The actions that rules recommend, each with its exact command."""

from __future__ import annotations

import shlex

from benchwright.audit.facts import EvalFacts, RowFacts
from benchwright.audit.verdict import Action

_PYTHON = ".venv/bin/python"
"""Of this checkout, from its root, as all its documents have it: another machine's paths would help nobody there."""
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
    place = shlex.join(["--iris", *facts.buckets]) if facts.buckets else _folder(facts)
    return f"{_PYTHON} scripts/eval/audit_evals.py {place}"


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
    return f"{_PYTHON} scripts/eval/prepare_resume.py {_folder(facts)}"


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
    told = f"{why}, with the --iris-jobs of this audit where it had them" if _is_iris(facts) else why
    return Action(told, shlex.join(words))


def repair(what: str, row: RowFacts, *values: str) -> str:
    """One repair of one row."""
    return shlex.join([_PYTHON, "scripts/database/repair_registration.py", what, "--row", row.id, *values])


def _iris_launch(name: str) -> str:
    return f"{_PYTHON} scripts/iris/relaunch_eval.py {shlex.quote(name)}"


def _is_iris(facts: EvalFacts) -> bool:
    return facts.kind.startswith("iris")


def deregister(facts: EvalFacts, row: RowFacts) -> str:
    """One row off the board. The run is named with it, for the repair to audit it once more before it deletes."""
    return repair("deregister", row, *_place(facts))


def link(facts: EvalFacts, row: RowFacts, repo: str) -> str:
    """The link to traces that are there. The run is named with it, whose trials the traces have to be of."""
    place = () if facts.buckets else _place(facts)
    return repair("link-traces", row, "--link", f"https://huggingface.co/datasets/{repo}", *place)


def _place(facts: EvalFacts) -> tuple[str, ...]:
    """The options that say where a run is, none where that is not known."""
    if facts.buckets:
        return ("--iris", *facts.buckets, "--iris-job", facts.run_tag)
    return ("--job-dir", facts.folder) if facts.folder and "://" not in facts.folder else ()


def _folder(facts: EvalFacts) -> str:
    return shlex.quote(facts.folder or "JOB_DIR")
