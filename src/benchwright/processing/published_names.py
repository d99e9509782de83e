"""The names that a result brings into an artifact: of folders and in tables, where they cannot be hidden."""

from __future__ import annotations

from benchwright.arena.config_names import family_of
from benchwright.arena.names import FOLDER_NAME, can_name_folder
from benchwright.contract import Failure, Problem, Redaction
from benchwright.processing.hiding import published
from benchwright.raw.fields import AGAIN, show
from benchwright.raw.result import Result


def check_names(result: Result, task_key: str, name: str, redact: Redaction) -> None:
    """Refuse a result whose names cannot be published; ``name`` is the processed one, ``task_key`` its folder's.

    Raises:
        Failure: one cannot name a folder (code ``bad-name``), or holds a secret or, where no folder or column is named
            by it, a path (code ``secret-in-name``, ``path-in-name``).
    """
    folders = {"the processed name": name, "the task's folder": task_key}
    told = {"the metric": result.metric, "the model's family": family_of(result.method_metadata) or ""}
    data = {"the config's name": result.framework, "the dataset's name": result.dataset}
    if result.predictions is not None:
        data["the target's name"] = result.predictions.label
    path = str(result.path)
    problems = [
        Problem("bad-name", path, f"{what} is {show(one)}", FOLDER_NAME, AGAIN)
        for what, one in folders.items()
        if not can_name_folder(one)
    ]
    problems += [
        Problem("secret-in-name", path, f"{what} looks like a secret", "a name that can be published", AGAIN)
        for what, one in {**folders, **told, **data}.items()
        if redact(one) != one
    ]
    problems += [
        Problem("path-in-name", path, f"{what} is a path", "a name", AGAIN)
        for what, one in told.items()
        if published(one, redact) != redact(one)
    ]
    if problems:
        raise Failure(problems)
