"""The manifest of a batch: which runs are to be published as which methods, checked whole before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.arena.metadata_rules import describe
from benchwright.contract import Exit, Failure, Problem, said
from benchwright.files import read_bytes
from benchwright.objects import StoreLocation
from benchwright.processing import layout
from benchwright.publish.batch_options import OPTIONS, Repeated, words_for
from benchwright.publish.destination import destination_of
from benchwright.publish.method_reference import load_method, with_reference

_LARGEST = 64 * 2**10
"""Bytes. A method takes some 200 of them."""
_METHODS = "methods"
_NEEDED = ("data", "method_metadata")
_TRAJECTORIES = "cache_hpo_trajectories"
_RAW = "cache_raw"
_Values = Mapping[Any, tuple[str, Any]]
"""Keys of an entry, each with where it is said and its value."""


@dataclass(frozen=True)
class BatchMethod:
    """A method of the batch: where its raw results are, what declares it, and how it is to be published.

    ``name`` picks one of several methods in ``data``; ``store`` is the manifest's, else the one of the metadata.
    ``entry`` says where in the manifest it stands, ``accepted`` the codes of losses that are accepted there.
    ``processing`` and ``uploading`` are further words for the scripts that do it.
    """

    data: Path
    reference: str
    metadata: MethodMetadata
    store: StoreLocation
    repository: Path | None = None
    name: str | None = None
    processing: tuple[str, ...] = ()
    uploading: tuple[str, ...] = ()
    entry: str = ""
    accepted: tuple[str, ...] = ()


def read_batch(path: Path) -> tuple[BatchMethod, ...]:
    """The methods that a manifest lists, in its order.

    A YAML or JSON mapping: ``methods`` is a list of mappings, and every other key of the file is the default of a
    method's key of that name. Paths are relative to the manifest's folder.

    Raises:
        Failure: the file cannot be read, is no such mapping, names what does not exist, or lists a method twice; every
            problem of it (exit 2, or what the worst of them asks for).
    """
    values = _read(path)
    checks = _Checks(path.absolute().parent)
    shared = {key: (str(path), value) for key, value in values.items() if key != _METHODS}
    _check_keys(checks, shared)
    entries = values.get(_METHODS)
    if not isinstance(entries, list) or not entries:
        found = "an empty list" if entries == [] else describe(entries)
        checks.add(f"{path}: {_METHODS}", found, "a list of at least one method")
        entries = []
    methods: dict[str, BatchMethod | None] = {}
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: method {number}"
        if not isinstance(entry, dict):
            checks.add(where, describe(entry), "a mapping with data and method_metadata")
            continue
        own = {key: (where, value) for key, value in entry.items()}
        _check_keys(checks, own)
        methods[where] = _method(checks, where, shared | own)
    known = {where: method for where, method in methods.items() if method is not None}
    _check_twice(checks, known)
    checks.settle()
    return tuple(known.values())


def _read(path: Path) -> dict[Any, Any]:
    from benchwright.arena import metadata_yaml

    try:
        return metadata_yaml.parse(read_bytes(path, limit=_LARGEST), str(path))
    except OSError as error:
        fix = "give the path of one; publish_batch.py --help says what it holds"
        problem = Problem("batch-manifest", str(path), said(error), "a batch's manifest", fix)
        raise Failure(problem, exit=Exit.USAGE) from None
    except Failure as failure:
        problems = [replace(problem, code="batch-manifest") for problem in failure.problems]
        raise Failure(problems, exit=Exit.USAGE) from None


class _Checks:
    """The problems so far, the worst exit code that they ask for, and how a value of the manifest is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._problems: list[Problem] = []
        self._exit = Exit.USAGE

    def add(self, where: str, found: str, expected: str, fix: str = "correct it there") -> None:
        self._problems.append(Problem("batch-manifest", where, found, expected, fix))

    def of(self, where: str, call: Callable[[], Any]) -> Any:
        """What ``call`` returns; None, with its problems noted, when it fails."""
        try:
            return call()
        except Failure as failure:
            self._problems += [replace(problem, where=f"{where}: {problem.where}") for problem in failure.problems]
            self._exit = max(self._exit, failure.exit)
            return None

    def path(self, text: str) -> Path:
        return self.folder / Path(text).expanduser()

    def settle(self) -> None:
        if self._problems:
            raise Failure(dict.fromkeys(self._problems), exit=self._exit)  # what all share is wrong once


def _check_keys(checks: _Checks, values: _Values) -> None:
    """Note keys that are none, and values of another type than their key's."""
    for key, (where, value) in values.items():
        if key not in _EXPECTED:
            checks.add(f"{where}: {describe(key)}", "no such key", "", did_you_mean(str(key), _EXPECTED))
        elif not _fits(key, value):
            checks.add(f"{where}: {key}", describe(value), _EXPECTED[key])
        elif isinstance(option := OPTIONS.get(key), Repeated):
            for word in value:
                if word not in option.known:
                    fix = did_you_mean(word, option.known)
                    checks.add(f"{where}: {key}", f"{word!r}, which is none of them", _EXPECTED[key], fix)


_TEXTS: Mapping[str, str] = {
    "data": "the path of a folder of results",
    "method_metadata": "MODULE:ATTR",
    "method": "a method's name",
    "repo": "the path of a checkout",
    "store": "local:FOLDER, gs://BUCKET/PREFIX, s3://BUCKET/PREFIX or r2://BUCKET/PREFIX",
}
_EXPECTED: Mapping[str, str] = {**_TEXTS, **{key: option.expected for key, option in OPTIONS.items()}}
"""Every key, with what it may be."""


def _fits(key: str, value: Any) -> bool:
    return OPTIONS[key].fits(value) if key in OPTIONS else isinstance(value, str) and bool(value)


def _method(checks: _Checks, where: str, values: _Values) -> BatchMethod | None:
    """The method of an entry with its defaults; None, with the problems noted, where there is none."""
    for key in _NEEDED:
        if key not in values:
            checks.add(f"{where}: {key}", "missing", _EXPECTED[key], "add it there")
    places = {key: place for key, (place, value) in values.items() if key in _EXPECTED and _fits(key, value)}
    good = {key: values[key][1] for key in places}
    folders = {key: checks.path(good[key]) for key in ("data", "repo") if key in good}
    for key, folder in folders.items():
        if not folder.is_dir():
            fix = "correct it there; paths are relative to the manifest"
            checks.add(f"{places[key]}: {key}", f"{folder} is no folder", _EXPECTED[key], fix)
    repository, reference, store, metadata = folders.get("repo"), good.get("method_metadata"), None, None
    if reference is not None and (repository is None or repository.is_dir()):
        metadata = checks.of(where, lambda: load_method(reference, repository))
    if "store" in good:
        store = checks.of(f"{places['store']}: store", lambda: StoreLocation.parse(good["store"]).below(checks.folder))
    elif metadata is not None:
        store = checks.of(where, lambda: _declared_store(metadata, str(reference), repository))
    if metadata is not None and layout.expects_trajectories(metadata) and not good.get(_TRAJECTORIES, True):
        found = f"false, for {metadata.method}, which is tuned: it cannot be uploaded without them"
        fix = "take it out; scripts/run_process_method.py --no-cache-hpo-trajectories is for a look at home"
        checks.add(f"{places[_TRAJECTORIES]}: {_TRAJECTORIES}", found, "true", fix)
    if metadata is not None and metadata.has_raw and good.get("upload_raw", True) and not good.get(_RAW, True):
        found = f"false, for {metadata.method}, whose raw copies are to be uploaded"
        checks.add(f"{places[_RAW]}: {_RAW}", found, "true", "take it out, or add upload_raw: false")
    if metadata is None or store is None or "data" not in folders:
        return None
    return BatchMethod(
        data=folders["data"],
        reference=good["method_metadata"],
        metadata=metadata,
        store=store,
        repository=repository,
        name=good.get("method"),
        processing=words_for("process", good),
        uploading=words_for("upload", good),
        entry=where,
        accepted=tuple(good.get("accept_finding", ())),
    )


def _declared_store(metadata: MethodMetadata, reference: str, repository: Path | None) -> StoreLocation:
    """The store that a declaration names.

    Raises:
        Failure: it names none (exit 2).
    """
    try:
        return destination_of(metadata, None)
    except Failure as failure:
        problems = with_reference(failure.problems, reference, repository)
        raise Failure(problems, exit=failure.exit) from None


def _check_twice(checks: _Checks, methods: Mapping[str, BatchMethod]) -> None:
    """Note methods whose artifact another one of the batch would replace."""
    first: dict[tuple[str, str], str] = {}
    for where, method in methods.items():
        other = first.setdefault(method.metadata.key, where)
        if other != where:
            name, suite = method.metadata.key
            found = f"{name!r} of {suite!r} again, as in {other.rpartition(': ')[2]}"
            checks.add(where, found, "each method once", "take one out, or give the other run a suite of its own")
