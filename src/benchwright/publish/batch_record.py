"""What a batch remembers of finished processing, so that the next one does not repeat it.

Only processing is remembered: whether an upload is done is a question to the store, and the upload script asks it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from benchwright import __version__
from benchwright.contract import Failure, Problem
from benchwright.files import digest, read_json, write_json
from benchwright.files.run_paths import RESULT_NAME
from benchwright.processing import layout
from benchwright.publish.batch_manifest import BatchMethod
from benchwright.publish.batch_steps import Answer

_NAME = "processed.json"


def inputs_of(method: BatchMethod) -> str:
    """A digest of what processing depends on: what the manifest says, declared metadata, version, the files' stamps.

    A stamp is path, size, modification time and inode: reading 100,000 results takes minutes, their stamps seconds. Of
    a folder that cannot be read it is the path and the reason, so that it does not pass for one without results.
    """
    options = [str(method.data.resolve()), method.name, *method.processing]
    sha = hashlib.sha256(json.dumps([__version__, options, method.metadata.to_dict()]).encode())
    for stamp in sorted(_stamps(method.data)):
        sha.update(stamp.encode(errors="surrogateescape"))
    return sha.hexdigest()


def remember(folder: Path, inputs: str, artifact: Path, answer: Answer) -> None:
    """Note in ``folder`` that processing is done: from what, what it left in ``artifact``, and its answer."""
    problems = [problem.to_dict() for problem in answer.problems]
    told = {"summary": answer.summary, "data": answer.data, "problems": problems}
    with contextlib.suppress(FileNotFoundError):  # an artifact without a sidecar is not one to adopt
        write_json(folder / _NAME, {"inputs": inputs, "artifact": _state_of(artifact), "answer": told}, indent=2)


def recall(folder: Path, inputs: str, artifact: Path) -> Answer | None:
    """The answer of finished processing; None when there was none, or when its inputs or its record differ by now.

    Whether every file of the artifact is still as it was recorded is for the dry run to say, which reads them all.
    """
    try:
        note = read_json(folder / _NAME)
        if (note["inputs"], note["artifact"]) != (inputs, _state_of(artifact)):
            return None
        told = note["answer"]
        problems = tuple(Problem(**problem) for problem in told["problems"])
        return Answer(0, told["summary"], told["data"], problems, adopted=True)
    except (OSError, Failure, KeyError, TypeError):
        return None


def _state_of(artifact: Path) -> list[str]:
    """The digests of the metadata and of the sidecar, which holds those of all files."""
    return [digest(artifact / name) for name in (layout.METADATA, layout.SIDECAR)]


def _stamps(folder: Path) -> Iterator[str]:
    unread: list[OSError] = []
    for parent, _, names in os.walk(folder, onerror=unread.append):
        if RESULT_NAME in names:
            path = f"{parent}/{RESULT_NAME}"
            with contextlib.suppress(OSError):
                stat = os.stat(path)  # noqa: PTH116  a Path for each is half the time
                yield f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\0{stat.st_ino}\n"
    yield from (f"{error.filename}\0{error.strerror}\n" for error in unread)
