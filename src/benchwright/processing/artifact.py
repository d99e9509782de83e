"""A method's result files become its artifact folder: tables, store, trajectories, raw copies, sidecar."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import default_config, prefix_of, processed_name
from benchwright.contract import Failure, Problem, Progress, did_you_mean
from benchwright.files import swap_in
from benchwright.forks import as_they_come, processors
from benchwright.processing.artifact_files import protocols_of, write_record, write_results, write_store
from benchwright.processing.artifact_split import SplitPart, SplitPlan, work_on_split
from benchwright.processing.assembly import Assembly, assemble
from benchwright.processing.coverage import coverage_findings, lost_datasets, task_problems
from benchwright.processing.ensemble.preload import preload
from benchwright.processing.findings import Finding, of_inspection, sorted_findings, with_accepted
from benchwright.processing.hiding import redaction
from benchwright.processing.kept_raw import refuse_lost_input, refuse_lost_raw
from benchwright.processing.ray_workers import on_ray
from benchwright.processing.recorded_folder import RecordedFolder
from benchwright.processing.staging import staging_folder
from benchwright.processing.task_metadata import TaskRow, TaskTable
from benchwright.processing.trajectories import TrajectoryPlan
from benchwright.processing.workers import affordable, heaviest_first
from benchwright.raw.comparison import disputed
from benchwright.raw.consistency import name_collisions
from benchwright.raw.finding import RawFile

Backend = Literal["local", "ray"]


@dataclass(frozen=True)
class Artifact:
    """What was built: the folder, the method's metadata as recorded there, what was found, and how many of what."""

    folder: Path
    metadata: MethodMetadata
    findings: tuple[Finding, ...]
    counts: Mapping[str, int]


def build_artifact(
    files: Sequence[RawFile],
    metadata: MethodMetadata,
    *,
    cache_root: Path | None = None,
    task_rows: Iterable[TaskRow] | None = None,
    cache_raw: bool = True,
    trajectories: bool = True,
    replace_present: bool = False,
    beside: Iterable[Finding] = (),
    accept: Collection[str] = (),
    jobs: int | None = None,
    backend: Backend = "local",
    progress: Progress | None = None,
) -> Artifact:
    """Build the artifact of the results in ``files``, all of one method, and put it in the place of an earlier one.

    It is built in a folder of its own beside the cache's artifacts and takes its place whole: a kill at any moment
    leaves the earlier artifact, and nothing of that one stays in the new. The same results give the same bytes. A lone
    config is recorded as the method's default, and ``has_raw`` is false without ``cache_raw``. ``task_rows`` are rows
    of a table of splits (a run's ``task_metadata.csv``, the wheel's table); of datasets without rows the results
    themselves tell. ``replace_present`` lets raw results of an earlier artifact be lost that the new one does not have.

    A file that cannot be used is a finding of severity ``error``, and so is a dataset of which there is no other; those
    of ``beside`` are told with them. The artifact is built from the rest, and is not to be published unless their codes
    are among those that its maker means to ``accept``.

    ``jobs`` splits are worked on at a time (as many as there are processors, if not said), fewer where memory would
    not do; on a Ray cluster (``backend``), whose machines must see ``files`` and the cache under the same paths, as
    many as it has processors. ``progress`` counts splits.

    Raises:
        Failure: with every problem. The results are not those of this method, contradict each other, or lack the
            default config (exit 1); the present artifact has raw results that would be lost (code
            ``raw-would-be-lost``), or is where ``files`` lie and would not keep them as they are
            (``input-would-be-lost``, whatever is to be replaced), or another build of the method is at work
            (``locked``; all exit 5); a worker was killed (exit 4); a package is missing (exit 3).
        OSError: the cache cannot be written, or its disk is full. The earlier artifact is untouched.
    """
    metadata = metadata if cache_root is None else replace(metadata, cache_root=Path(cache_root), artifact_dir=None)
    redact = redaction()
    tasks = TaskTable(task_rows or ())
    _check_files(files, metadata)
    with staging_folder(metadata) as folder:
        if not cache_raw:  # before the work; what the new one has is known after it
            refuse_lost_input(files, metadata.path, {})
            if not replace_present:
                refuse_lost_raw(metadata.path, {})
        plan = SplitPlan(metadata, folder, None, cache_raw, redact)
        parts = _all_parts(files, plan, _Effort(jobs, backend, progress), trajectories=trajectories)
        recorded = RecordedFolder(folder)
        lost = lost_datasets(files, [part.facts for part in parts if part.facts is not None])
        artifact = _finish(recorded, parts, plan, tasks, beside=[*beside, *lost], accept=accept)
        if not replace_present:
            refuse_lost_raw(metadata.path, recorded.files)
        refuse_lost_input(files, metadata.path, recorded.files)
        swap_in(folder, metadata.path)
    return artifact


def _check_files(files: Sequence[RawFile], metadata: MethodMetadata) -> None:
    """Refuse before an hour's work what the names of folders tell: a default that cannot be there, names that meet."""
    configs = {file.method for file in files}
    problems = [*_without_default(configs, metadata), *name_collisions("configs", configs)]
    problems += name_collisions("folders of tasks", {file.task_key for file in files})
    if problems:
        raise Failure(problems)


def _without_default(configs: set[str], metadata: MethodMetadata) -> Iterator[Problem]:
    if metadata.method_type != "config" or not configs:
        return
    names = sorted(processed_name(config, prefix_of(config, {}), metadata) for config in configs)
    where = f"{metadata.method}: config_default"
    declared = metadata.config_default
    if declared is None and len(configs) > 1:
        fix = f"declare {default_config(names)!r}, the first config by its name, or another of them"
        yield Problem("missing-default", where, f"none declared, with {len(configs)} configs", "a config's name", fix)
    elif declared is not None:
        own = f"{metadata.method}{metadata.name_suffix or ''}"
        rest = declared.removeprefix(own)
        if not declared.startswith(own) or not any(config.endswith(rest) for config in configs):
            expected = "a config's name after processing"
            fix = did_you_mean(declared, names)
            yield Problem("missing-default", where, f"{declared!r}, of which there is no result", expected, fix)


@dataclass(frozen=True)
class _Effort:
    """How to work on the splits; see `build_artifact`."""

    jobs: int | None
    backend: Backend
    progress: Progress | None


def _all_parts(files: Sequence[RawFile], plan: SplitPlan, effort: _Effort, *, trajectories: bool) -> list[SplitPart]:
    """The parts of all splits, by task and split.

    How the passes draw depends on how many configs the method has. Where a config turns out to have no result that can
    be used, it is none of them, and the work is done again without it.
    """
    configs = tuple(sorted({file.method for file in files}))
    if not trajectories or plan.metadata.method_type != "config":
        return _parts(files, plan, effort)
    parts = _parts(files, replace(plan, trajectories=TrajectoryPlan(configs, plan.metadata)), effort)
    usable = tuple(sorted({row.framework for part in parts for row in part.outcome.rows}))
    if usable == configs or not usable:
        return parts
    for left in plan.folder.iterdir():
        shutil.rmtree(left)
    return _parts(files, replace(plan, trajectories=TrajectoryPlan(usable, plan.metadata)), effort)


def _parts(files: Sequence[RawFile], plan: SplitPlan, effort: _Effort) -> list[SplitPart]:
    groups: dict[tuple[str, int, int], list[RawFile]] = {}
    for file in files:
        groups.setdefault((file.task_key, file.repeat, file.fold), []).append(file)
    units = [sorted(groups[split], key=lambda file: (file.method, file.folder)) for split in sorted(groups)]
    most = len(units) if effort.backend == "ray" else processors()  # a cluster shares its own processors out
    processes = min(effort.jobs or most, len(units))
    if effort.backend == "local" and processes > 1:
        processes = min(processes, affordable(units))
        if any(len(unit) > 1 for unit in units):  # a lone config is its own ensemble
            preload()
    parts: dict[int, SplitPart] = {}
    failed = 0
    work = partial(work_on_split, plan=plan)
    same: dict[str, str] = {}
    run = on_ray if effort.backend == "ray" else as_they_come
    order = heaviest_first(units) if processes > 1 else range(len(units))
    for number, part in run(work, [units[number] for number in order], processes=processes):
        parts[order[number]] = part
        for config, text in part.hyperparameters.items():  # every split has them all again
            part.hyperparameters[config] = same.setdefault(text, text)
        failed += bool(part.outcome.problems)
        if effort.progress is not None:
            effort.progress(len(parts) - failed, len(units), failed=failed)
    return [parts[number] for number in range(len(units))]


def _finish(
    folder: RecordedFolder,
    parts: Sequence[SplitPart],
    plan: SplitPlan,
    tasks: TaskTable,
    *,
    beside: Iterable[Finding],
    accept: Collection[str],
) -> Artifact:
    """Write what the artifact holds of all splits together, and what was found in them and ``beside`` them.

    Raises:
        Failure: the parts do not make a method's results; see `build_artifact`.
    """
    metadata = plan.metadata
    of_parts = [finding for part in parts for finding in part.findings]
    left_out = [finding.problem() for finding in of_parts if finding.severity == "error"]
    facts = [part.facts for part in parts if part.facts is not None]
    whole = assemble(
        [part.outcome for part in parts],
        metadata,
        tune=metadata.can_hpo,
        further=[*task_problems(facts, tasks), *name_collisions("datasets", {split.dataset for split in facts})],
        left_out=left_out,
    )
    plan = replace(plan, metadata=_recorded(metadata, whole, cache_raw=plan.cache_raw))
    coverage = coverage_findings(whole.rows, whole.default, facts, tasks)
    disputes = map(of_inspection, disputed(protocols_of(parts), metadata.method))
    found = sorted_findings(beside, of_parts, whole.findings, coverage, disputes)
    findings = [finding.published(plan.redact) for finding in with_accepted(found, accept)]
    for part in parts:
        folder.files.update(part.files)
    write_results(folder, whole, parts, plan)
    write_store(folder, whole, parts, plan, tasks)
    counts = write_record(folder, whole, parts, plan, findings)
    return Artifact(metadata.path, plan.metadata, tuple(findings), counts)


def _recorded(metadata: MethodMetadata, whole: Assembly, *, cache_raw: bool) -> MethodMetadata:
    """The metadata with a lone config as the default, where none is declared, and ``has_raw`` as it turned out."""
    metadata = replace(metadata, has_raw=metadata.has_raw and cache_raw)
    if metadata.config_default is not None or whole.default is None:
        return metadata
    row = next(row for row in whole.rows if row.framework == whole.default)
    return replace(metadata, config_default=processed_name(row.framework, row.prefix, metadata))
