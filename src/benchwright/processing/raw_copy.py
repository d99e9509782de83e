"""The copy of a result that an artifact keeps: with processed names, and nothing of the machine it was made on."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchwright.arena import MethodMetadata
from benchwright.contract import Failure, Problem, Redaction
from benchwright.processing.gzip_stream import gzipped
from benchwright.processing.hiding import Hiding
from benchwright.processing.naming import family_names
from benchwright.processing.plain import Plain, TooDeep
from benchwright.raw.loading import LoadedFile
from benchwright.raw.result import Result

_PROTOCOL = 4
_DATA = "simulation_artifacts"
"""Where rows, classes and targets are named."""
_PREDICTIONS = {"pred_proba_dict_val", "pred_proba_dict_test"}


@dataclass(frozen=True, slots=True)
class PlainSource:
    """What a file holds, as plain values without paths and secrets; ``had_secret`` says whether one was hidden."""

    values: dict[Any, Any]
    had_secret: bool


class Hidings(NamedTuple):
    """What is hidden in data, which may look like a path and must stay as it is, and in what else a result tells."""

    data: Hiding
    told: Hiding

    @classmethod
    def of(cls, redact: Redaction) -> Hidings:
        """Both ways to hide the same secrets."""
        return cls(Hiding(redact, paths=False), Hiding(redact, paths=True))


def plain_source(file: LoadedFile, hidings: Hidings) -> PlainSource:
    """What a file holds, fit to be published.

    Objects become dicts, class references their dotted names, absolute paths and secrets a mark.

    Raises:
        Failure: the values are nested too deeply to be written again (code ``too-complex``); or the names of rows or
            classes hold a secret, which cannot be hidden without changing them (code ``secret-in-data``).
    """
    path = str(file.result.path)
    data, told = Plain(hidings.data), Plain(hidings.told)
    try:
        values = told({key: value for key, value in file.source.items() if key != _DATA})
        if _DATA in file.source:
            values[_DATA] = data(file.source[_DATA])
    except TooDeep as error:
        fix = "have the model record plainer metadata, and run this item again"
        raise Failure(Problem("too-complex", path, str(error), "plain metadata", fix)) from None
    if data.secret:
        found, fix = f"{_DATA} hold what looks like a secret", "rename the rows or classes, and run this item again"
        raise Failure(Problem("secret-in-data", path, found, "data that can be published", fix))
    return PlainSource(values, told.secret)


def raw_copy(file: LoadedFile, source: PlainSource, name: str, metadata: MethodMetadata) -> bytes:
    """The result under its processed ``name``, as a gzip file of the plain values in ``source``.

    Apart from the names, they are as in the file, in today's layout. They are always written anew: a file can hold
    texts that its values do not. A copy of a copy has the same bytes.
    """
    values = dict(source.values)
    _rename(values, file.result, name, metadata)
    return gzipped(pickle.dumps(values, _PROTOCOL))


def _rename(values: dict[Any, Any], result: Result, name: str, metadata: MethodMetadata) -> None:
    """Give ``values`` the processed names."""
    values["framework"] = name
    if result.predictions is None:
        return
    recorded = values.get("method_metadata") or result.method_metadata
    values["method_metadata"] = {**recorded, **family_names(recorded, metadata)}
    artifacts = values[_DATA]
    if list(artifacts) == [result.dataset]:  # the first layout
        artifacts = artifacts[result.dataset][result.split]
    values[_DATA] = {
        part: {name: content[result.framework]} if part in _PREDICTIONS else content
        for part, content in artifacts.items()
    }
