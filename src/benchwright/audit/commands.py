"""The exact command of each action."""

from __future__ import annotations

import shlex

from benchwright.audit.facts import EvalFacts, RowFacts

LAUNCH_GOTCHAS = (
    "the folder that Harbor writes its jobs to must be one the job may write",
    "a served model needs the provider's prefix and both parts of its name: hosted_vllm/ORG/NAME",
    "model_info (context length, prices) must be given for a served model, or the first request fails",
    "a reservation or partition that has ended keeps the job pending for ever",
    "a stale row of the pair makes the launcher take it for done: see the rows above",
)
"""What to look at before an eval that never ran is launched again."""


def again(facts: EvalFacts) -> str:
    """The audit once more; for an Iris job, of its buckets."""
    place = shlex.join(["--iris", *facts.buckets]) if facts.buckets else _folder(facts)
    return f"python scripts/eval/audit_evals.py {place}"


def launch(facts: EvalFacts) -> str:
    """The launch once more, as it was; empty where nobody knows how it was."""
    if facts.kind in ("iris-tpu", "iris-gpu"):
        return f"python eval/cloud/launch_eval_iris.py --job_name {shlex.quote(facts.run_tag)} --max-retries 2"
    return (facts.job.submit if facts.job else None) or ""


def resume(facts: EvalFacts) -> str:
    """The errored trials once more, the valid ones kept."""
    return launch(facts) if facts.kind.startswith("iris") else f"python scripts/eval/prepare_resume.py {_folder(facts)}"


def push(facts: EvalFacts, *, traces: bool, repo: str | None = None, renew: bool = False) -> str:
    """Traces up and the row right, in one; the names are said where they are known."""
    words = ["python", "scripts/database/manual_db_eval_push.py", "--job-dir", facts.folder or "JOB_DIR"]
    for flag, value in (
        ("--hf-repo", repo),
        ("--model-name", facts.model),
        ("--benchmark-name", facts.benchmark),
        ("--agent-name", facts.agent),
    ):
        words += [flag, value] if value else []
    words += [] if traces else ["--skip-hf"]
    words += ["--forced-update"] if renew else []
    return shlex.join(words)


def repair(what: str, row: RowFacts, *values: str) -> str:
    """One repair of one row."""
    return shlex.join(["python", "scripts/database/repair_registration.py", what, "--row", row.id, *values])


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
    return ("--job-dir", facts.folder) if facts.folder else ()


def _folder(facts: EvalFacts) -> str:
    return shlex.quote(facts.folder or "JOB_DIR")
