"""One split's part of an artifact: its files are read once, and written as predictions, labels and raw copies."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import family_of, prefix_of, processed_name
from benchwright.contract import Failure, Problem, Redaction
from benchwright.files.run_paths import RESULT_NAME
from benchwright.processing.findings import Finding
from benchwright.processing.layout import RAW
from benchwright.processing.naming import family_names
from benchwright.processing.plain import json_ready
from benchwright.processing.published_names import check_names
from benchwright.processing.quality import Quality
from benchwright.processing.raw_copy import Hidings, PlainSource, plain_source, raw_copy
from benchwright.processing.recorded_folder import RecordedFolder
from benchwright.processing.sidecar import NO_INPUTS, FileFacts, Inputs, digest_of
from benchwright.processing.split import SplitOutcome, SplitWork
from benchwright.processing.stored_split import StoredSplit
from benchwright.processing.task_metadata import SplitFacts
from benchwright.processing.trajectories import TrajectoryPlan
from benchwright.raw.finding import RawFile, misplaced
from benchwright.raw.loading import LoadedFile, load_file
from benchwright.raw.protocol import Protocol, effective_protocol
from benchwright.raw.reading import INPUT_CHANGED
from benchwright.raw.result import Result

_WAIT = "wait until nothing writes there, then run this again"


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """What the work on every split of an artifact has in common.

    ``folder`` is the one that is being filled; ``redact`` hides the same secrets wherever a split is worked on.
    """

    metadata: MethodMetadata
    folder: Path
    trajectories: TrajectoryPlan | None
    cache_raw: bool
    redact: Redaction


@dataclass(slots=True)
class SplitPart:
    """What one split adds to the whole.

    ``place`` is ``<task>/<repeat>_<fold>``; ``inputs`` are the files that became results, ``files`` those written,
    ``hyperparameters`` the JSON of each config by its processed name. ``facts`` is None where no file gave a result.
    """

    place: str
    outcome: SplitOutcome
    facts: SplitFacts | None = None
    inputs: Inputs = NO_INPUTS
    files: dict[str, FileFacts] = field(default_factory=dict)
    hyperparameters: dict[str, str] = field(default_factory=dict)
    protocols: Counter[Protocol] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def work_on_split(files: Sequence[RawFile], plan: SplitPlan) -> SplitPart:
    """The part of the split whose result files are ``files``, sorted by method.

    A file that cannot be used is a finding; the others are processed. One that is not as it was found is a problem of
    the split: nobody has inspected it.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    folder, quality, hidings = RecordedFolder(plan.folder), Quality(), Hidings.of(plan.redact)
    work = SplitWork(tune=plan.metadata.can_hpo, trajectories=plan.trajectories)
    part = SplitPart(f"{files[0].task_key}/{files[0].split_name}", work.outcome)
    digests: dict[str, str] = {}
    size = 0
    store: StoredSplit | None = None
    with ExitStack() as stack:
        for file in files:
            try:
                loaded, name, source = _read(file, plan, hidings)
            except Failure as failure:
                for problem in failure.problems:
                    if problem.code == INPUT_CHANGED:
                        work.outcome.problems.append(replace(problem, fix=_WAIT))
                    else:
                        part.findings.append(_unusable(problem, file))
                continue
            result = loaded.result
            work.add(result)
            quality.note(result, had_secret=source.had_secret)
            _take(part, file, result)
            digests[file.method] = hashlib.sha256(loaded.content).hexdigest()
            size += len(loaded.content)
            if plan.cache_raw:
                copy = raw_copy(loaded, source, name, plan.metadata)
                folder.write(f"{RAW}/{name}/{part.place}/{RESULT_NAME}", copy)
            if result.predictions is not None:
                hyperparameters = _hyperparameters(result, source, plan.metadata)
                part.hyperparameters[name] = json.dumps(hyperparameters, allow_nan=False)
                store = store or stack.enter_context(StoredSplit(folder, result))
                store.add(name, result.predictions)
    part.outcome = work.finish()
    part.findings += quality.findings()
    part.inputs = Inputs(len(digests), size, digest_of(digests))
    part.files = folder.files
    return part


def _read(file: RawFile, plan: SplitPlan, hidings: Hidings) -> tuple[LoadedFile, str, PlainSource]:
    """A result, its processed name, and what the file holds as it may be published.

    Raises:
        Failure: the file cannot be used.
    """
    loaded = load_file(file.place, file.version)
    result = loaded.result
    if problem := misplaced(result, file.method, file.split_name):
        raise Failure(problem)
    name = processed_name(result.framework, prefix_of(result.framework, result.method_metadata), plan.metadata)
    check_names(result, file.task_key, name, plan.redact)
    return loaded, name, plain_source(loaded, hidings)


def _take(part: SplitPart, file: RawFile, result: Result) -> None:
    """Note what the whole needs of a result."""
    if part.facts is None:
        part.facts = SplitFacts.of(result, file.task_key)
    part.protocols[effective_protocol(result)] += 1


def _hyperparameters(result: Result, source: PlainSource, metadata: MethodMetadata) -> dict[str, Any]:
    """What the store tells of a config: its class, family and hyperparameters."""
    recorded = source.values.get("method_metadata") or result.method_metadata
    method = {**recorded, **family_names(recorded, metadata)}
    known = "model_hyperparameters" in method
    names = ("model_cls", "model_type", "ag_key", "name_prefix")
    told = {name: method.get(name) if known else None for name in names}
    told["ag_key"] = family_of(recorded) if known else None
    entry: dict[str, Any] = json_ready({**told, "hyperparameters": method.get("model_hyperparameters", {})})
    return entry


def _unusable(problem: Problem, file: RawFile) -> Finding:
    """A file that gives no result: it is left out, and named by its place in the tree.

    Which split that is of a later repeat depends on the number of folds, which a name does not tell.
    """
    found = f"{file.split_name}/{RESULT_NAME}: {problem.found}"
    split = file.fold if file.repeat == 0 else None
    return Finding(problem.code, "error", file.task_key, split, file.method, found, problem.expected, problem.fix)
