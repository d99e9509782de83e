"""The copy of a result that an artifact keeps: with processed names, and nothing of the machine it was made on."""

from __future__ import annotations

import pickle
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure, Problem
from benchwright.processing.gzip_stream import HEADER, gzipped
from benchwright.processing.naming import family_names
from benchwright.processing.plain import Plain, TooDeep
from benchwright.raw.loading import LoadedFile
from benchwright.raw.result import Result

_PROTOCOL = 4
_DATA = frozenset({"simulation_artifacts", "task_metadata", "framework", "dataset"})
"""What names rows, classes, targets and tasks may look like a path, and must stay as it is."""
_PREDICTIONS = {"pred_proba_dict_val", "pred_proba_dict_test"}


def raw_copy(file: LoadedFile, name: str, metadata: MethodMetadata) -> bytes:
    """The result under its processed ``name``, as a gzip file of plain values.

    Objects become dicts, class references their dotted names, absolute paths a mark; the rest is as in the file, in
    today's layout. The bytes of a file in which nothing changes are kept.

    Raises:
        Failure: the values are nested too deeply to be written again (code ``too-complex``).
    """
    data, told = Plain(hide_paths=False), Plain(hide_paths=True)
    try:
        values = {key: data(value) if key in _DATA else told(value) for key, value in file.source.items()}
    except TooDeep as error:
        raise Failure(Problem("too-complex", str(file.result.path), str(error), "plain metadata")) from None
    renamed = _rename(values, file.result, name, metadata, told)
    if not (renamed or data.changed or told.changed) and file.content.startswith(HEADER):
        return file.content
    return gzipped(pickle.dumps(values, _PROTOCOL))


def _rename(values: dict[Any, Any], result: Result, name: str, metadata: MethodMetadata, told: Plain) -> bool:
    """Give ``values`` the processed names; whether that changed anything."""
    changed = name != result.framework
    values["framework"] = name
    if result.predictions is None:
        return changed
    recorded = values.get("method_metadata") or told(result.method_metadata)
    values["method_metadata"] = {**recorded, **family_names(recorded, metadata)}
    artifacts = values["simulation_artifacts"]
    if list(artifacts) == [result.dataset]:  # the first layout
        artifacts = values["simulation_artifacts"] = artifacts[result.dataset][result.split]
        changed = True
    for predictions in artifacts.keys() & _PREDICTIONS:
        artifacts[predictions] = {name: artifacts[predictions][result.framework]}
    return changed or values["method_metadata"] != recorded
