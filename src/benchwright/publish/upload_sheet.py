"""What another person needs to know to upload an artifact from another machine: what to copy, and what it must be."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from benchwright.files.checkout import git
from benchwright.processing import layout
from benchwright.processing.sidecar import FileFacts
from benchwright.publish.archive import survey_folder
from benchwright.publish.artifact import DeclaredArtifact, open_recorded
from benchwright.publish.targets import find_target
from benchwright.publish.upload_plan import UploadPlan

_DIGEST = "find . -type f ! -path ./{sidecar} -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum"


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
