"""Ids of blobs and trees as git has them, of commits in its manner; listings of a tree, differences of two."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping

from benchwright.rehearsal.hub.records import Commit, FileEntry

_NO_FILE = "0" * 40


def blob_oid(content: bytes) -> str:
    """The id of a file's content."""
    return _oid("blob", content)


def pointer(sha256: str, size: int) -> bytes:
    """What git holds in a large file's place (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()


def tree_oids(files: Mapping[str, FileEntry]) -> dict[str, str]:
    """The id of every folder, ``""`` being the root."""
    children: dict[str, dict[str, tuple[str, str | None]]] = {"": {}}
    for path, entry in files.items():
        folder, _, name = path.rpartition("/")
        children.setdefault(folder, {})[name] = ("100644", entry.oid)
        while folder:
            above, _, name = folder.rpartition("/")
            children.setdefault(above, {})[name] = ("40000", None)
            folder = above
    found: dict[str, str] = {}
    for folder in sorted(children, key=lambda path: -(path.count("/") + bool(path))):
        rows = []
        # git sorts a folder as if its name ended in a slash
        for name, (mode, oid) in sorted(children[folder].items(), key=lambda one: one[0] + "/" * (one[1][1] is None)):
            child = oid or found[f"{folder}/{name}".lstrip("/")]
            rows.append(f"{mode} {name}\0".encode() + bytes.fromhex(child))
        found[folder] = _oid("tree", b"".join(rows))
    return found


def new_commit(
    files: dict[str, FileEntry], parents: Iterable[str], *, title: str, message: str, author: str, date: str
) -> Commit:
    """A commit, with an id that its content, its parents and its words make."""
    above = tuple(parents)
    lines = [f"tree {tree_oids(files)['']}", *(f"parent {oid}" for oid in above)]
    lines += [f"author {author} {date}", f"committer {author} {date}", "", title, "", message]
    return Commit(_oid("commit", "\n".join(lines).encode()), above, files, title, message, author, date)


def below(files: Mapping[str, FileEntry], folder: str, *, recursive: bool) -> list[tuple[str, FileEntry | None]]:
    """The files (with their entry) and folders (with None) below a folder, in the order of their paths."""
    prefix = f"{folder}/" if folder else ""
    found: dict[str, FileEntry | None] = {}
    for path, entry in files.items():
        if not path.startswith(prefix):
            continue
        parts = path.removeprefix(prefix).split("/")
        if recursive or len(parts) == 1:
            found[path] = entry
        for depth in range(1, len(parts) if recursive else min(len(parts), 2)):
            found[prefix + "/".join(parts[:depth])] = None
    return sorted(found.items())


def merge_base(commits: Mapping[str, Commit], one: str, other: str) -> Commit:
    """The newest commit that both have among themselves and their ancestors, following first parents."""
    seen = set()
    oid: str | None = other
    while oid is not None:
        seen.add(oid)
        oid = next(iter(commits[oid].parents), None)
    while one not in seen:
        one = commits[one].parents[0]
    return commits[one]


def changed(old: Mapping[str, FileEntry], new: Mapping[str, FileEntry]) -> list[str]:
    """The paths that are in one alone, or in both with another content."""
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def unified_diff(old: Mapping[str, FileEntry], new: Mapping[str, FileEntry], blobs: Mapping[str, bytes]) -> str:
    """The difference of two trees as ``git diff`` writes it."""
    parts = []
    for path in changed(old, new):
        before, after = old.get(path), new.get(path)
        ids = f"{before.oid if before else _NO_FILE}..{after.oid if after else _NO_FILE}"
        head = [f"diff --git a/{path} b/{path}"]
        if before is None:
            head.append("new file mode 100644")
        elif after is None:
            head.append("deleted file mode 100644")
        head.append(f"index {ids}" + (" 100644" if before and after else ""))
        names = (f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null")
        old_text, new_text = (
            blobs[one.oid].decode(errors="replace").splitlines() if one else [] for one in (before, after)
        )
        parts += [*head, *difflib.unified_diff(old_text, new_text, *names, lineterm="")]
    return "\n".join(parts) + "\n" if parts else ""


def _oid(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
