"""What another person needs to know to upload an artifact, here or from another machine with a copy of it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.files.checkout import git
from benchwright.objects import credentials_help
from benchwright.processing import layout
from benchwright.processing.sidecar import FileFacts
from benchwright.publish.archive import survey_folder
from benchwright.publish.artifact import DeclaredArtifact, open_recorded
from benchwright.publish.targets import find_target
from benchwright.publish.upload_plan import UploadPlan

_DIGEST = "find . -type f ! -path ./{sidecar} -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum"
_CHECKS = (
    "the first command ends with every object proved, and exit code 0",
    "exit code 4: run the same command again; what is there already is not sent again",
    "exit code 5: another artifact or another upload is there; look before you act",
)


@dataclass(frozen=True)
class UploadSheet:
    """The text of a command sheet around its commands; ``sections`` are headings with their lines of Markdown."""

    title: str
    why: str
    facts: tuple[str, ...]
    sections: tuple[tuple[str, Sequence[str]], ...]
    checks: tuple[str, ...] = _CHECKS


def upload_sheet(
    artifact: DeclaredArtifact,
    plan: UploadPlan,
    *,
    cache_root: Path | None,
    uncommitted: Path | None,
    options: Sequence[str],
    after: Sequence[str],
) -> UploadSheet:
    """The sheet for a planned upload.

    ``uncommitted`` is the declaration's file where only this machine has it so; ``options`` are the upload's own, and
    ``after`` the commands of the steps that follow.
    """
    remarks = [f"{remark.where}: {remark.found}" for remark in plan.remarks]
    return UploadSheet(
        title=f"Upload {plan.label}",
        why=f"The artifact was checked and is complete; it goes to {plan.url}. Whoever runs this needs credentials.",
        facts=(f"{plan.size:,} bytes: {', '.join(plan.parts)}", *credentials_help(plan.destination.kind), *remarks),
        sections=(
            ("Elsewhere", _elsewhere(artifact, plan, cache_root, uncommitted, options)),
            ("The objects", object_table(plan)),
            ("When it is proved", _afterwards(after)),
        ),
    )


def _elsewhere(
    artifact: DeclaredArtifact,
    plan: UploadPlan,
    cache_root: Path | None,
    uncommitted: Path | None,
    options: Sequence[str],
) -> list[str]:
    """The same upload from a checkout of Benchwright on a machine that has a copy of the artifact alone."""
    lines = []
    if uncommitted is not None:
        lines = [f"- `{uncommitted}` is not committed: the commands above need it, committed, on any other machine."]
    if fields := only_declared(artifact, cache_root):
        said = f"metadata.yaml in the folder differs from the declaration in {', '.join(fields)}"
        return [*lines, f"- Not as it is: {said}. Process again, which records it, and write this sheet anew."]
    words = ["--from-cache", *artifact.metadata.key, "--store", str(plan.destination.below(Path.cwd())), *options]
    command = shlex.join([".venv/bin/python", "scripts/run_upload_results.py", *words])
    return [
        *lines,
        *copy_lines(artifact, plan),
        "",
        "Then, in a checkout of Benchwright:",
        "",
        "```bash",
        *(f"{command} {mode}" for mode in ("--apply", "--verify-only")),
        "```",
    ]


def _afterwards(commands: Sequence[str]) -> list[str]:
    said = "Both are dry without `--apply`; the second needs the script that set the run up."
    return [said, "", "```bash", *commands, "```"]


def tree_digest(files: Mapping[str, FileFacts]) -> str:
    """The SHA-256, in hex, of the lines that ``sha256sum`` prints for the files, in the order of their names' bytes."""
    names = sorted(files, key=str.encode)
    return hashlib.sha256("".join(f"{files[name].sha256}  {name}\n" for name in names).encode()).hexdigest()


def copy_lines(artifact: DeclaredArtifact, plan: UploadPlan) -> list[str]:
    """The folder to copy, where to, and how to see that it arrived whole, in lines of Markdown."""
    folder = artifact.folder.resolve()
    members = survey_folder(folder).members
    size = sum(member.size for member in members)
    lines = [
        f"- Copy `{folder}`: {len(members):,} files, {size:,} bytes.",
        f"- To `{plan.prefix}` below the cache there: `$TABARENA_CACHE`, or else `~/.cache/tabarena`.",
    ]
    if artifact.sidecar is None:
        return [*lines, f"- There is no {layout.SIDECAR} to compare the copy with."]
    digest = tree_digest(artifact.sidecar.files)
    command = _DIGEST.format(sidecar=layout.SIDECAR)
    return [
        *lines,
        f"- Digest of the tree by {layout.SIDECAR}: `{digest}`. In the copy, this prints it:",
        "",
        "```bash",
        command,
        "```",
    ]


def object_table(plan: UploadPlan) -> list[str]:
    """The objects with their sizes and digests, as a table in Markdown."""
    rows = [f"| `{plan.prefix}/{one.name}` | {one.size:,} | `{one.sha256}` |" for one in plan.objects]
    return ["| object | bytes | SHA-256 |", "|---|---:|---|", *rows]


def only_declared(artifact: DeclaredArtifact, cache_root: Path | None) -> list[str]:
    """The fields in which an upload by the cache's own metadata would host something else than the declaration says."""
    recorded = open_recorded(*artifact.declared.key, cache_root).metadata
    if recorded.to_yaml() == artifact.metadata.to_yaml():
        return []
    old, new = recorded.to_dict(), artifact.metadata.to_dict()
    return [name for name in {**new, **old} if old.get(name) != new.get(name)] or [layout.METADATA]


def uncommitted(reference: str, repository: Path | None) -> Path | None:
    """The file of a declaration that its repository does not have as it is here; None where it does, or is none."""
    path = find_target(reference, repository, to_write=False).path
    changes = git(path.parent, "status", "--porcelain", "--", path.name)
    return path if changes else None
