"""The plan of a dataset of traces, and the folder that comes of it."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from benchwright import __version__
from benchwright.contract import Exit, Failure, Problem, Progress, counted, secrets_in, some, usage_error
from benchwright.files import FileLock, read_json, swap_in, write_json, write_text
from benchwright.harbor.cache import ScanCache
from benchwright.harbor.places import JobPlace
from benchwright.harbor.reading import read_job
from benchwright.harbor.scan import RESULT, as_text, real_names
from benchwright.harbor.traces.card import card, names_of
from benchwright.harbor.traces.counts import LeftOut, TraceCounts
from benchwright.harbor.traces.labels import labels_of
from benchwright.harbor.traces.schema import schema
from benchwright.harbor.traces.shards import Shards, TraceFile
from benchwright.harbor.traces.trajectories import Episodes
from benchwright.harbor.traces.trial_files import TrialFiles
from benchwright.harbor.traces.trial_rows import told_by
from benchwright.harbor.traces.unexported import Unexported
from benchwright.harbor.trial import Trial

CARD = "README.md"
PROVENANCE = "provenance.json"
_KIND = "traces"
_SHORTEST_SECRET = 12
"""Characters."""

_UNTRACED = "register the score alone: manual_db_eval_push.py --skip-hf"


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """What becomes a row. ``outcome`` keeps the trials with a reward above 0 and no exception, or the others."""

    episodes: Episodes = "last"
    outcome: Literal["success", "failure"] | None = None
    sharegpt: bool = False


@dataclass(frozen=True, slots=True)
class TraceDataset:
    """A dataset in a folder: its files, the card and the provenance among them, and what is in it.

    ``trials`` are the names in its rows, ``columns`` what each row has, ``own`` the names of every trial of the run,
    ``counting`` those that its score is of. ``incomplete`` trials have rows, but not all that was asked for.
    """

    run: str
    job_id: str | None
    folder: Path
    files: tuple[TraceFile, ...]
    rows: int
    trials: frozenset[str]
    columns: frozenset[str]
    own: frozenset[str]
    counting: frozenset[str]
    left_out: tuple[LeftOut, ...]
    incomplete: tuple[LeftOut, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """The dataset as JSON data, without where it is."""
        return {
            "run": self.run,
            "job_id": self.job_id,
            "rows": self.rows,
            "trials": len(self.trials),
            "size": self.size,
            "files": [
                {"path": one.path, "size": one.size, "sha256": one.sha256, "rows": one.rows} for one in self.files
            ],
            "left_out": [one.to_dict() for one in self.left_out],
            "incomplete": [one.to_dict() for one in self.incomplete],
        }


@dataclass(frozen=True, slots=True)
class TracePlan:
    """The trials of a run that are to have rows, in the order of these, and those that are not, with the reason."""

    run: str
    job_id: str | None
    options: TraceOptions
    trials: tuple[tuple[Trial, Path], ...]
    own: frozenset[str]
    counting: frozenset[str]
    left_out: tuple[LeftOut, ...]
    unwanted: int

    def write(
        self, folder: Path, progress: Progress | None = None, *, settings: Mapping[str, str] | None = None
    ) -> TraceDataset:
        """Write the dataset to ``folder``, in the place of an earlier one of its kind there. One trial is in memory.

        The same trials come to the same bytes, and the folder is there whole or not at all. Secrets among the
        ``settings``, by default the environment, are hidden in every text.

        Raises:
            Failure: a file may not be read (exit 3) or does not come (exit 4); no trial has a row (code ``no-traces``,
                exit 1); the folder has no name (exit 2); it holds something else, or is being written (exit 5).
            OSError: the folder cannot be written.
        """
        folder = folder.absolute()
        if folder.name in ("", ".."):  # its files are made beside it, under its name
            raise usage_error(
                str(folder), "a folder without a name of its own", "a folder to be made", "--dataset-dir DIR"
            )
        with FileLock(folder.with_name(f".{folder.name}.lock"), f"traces of {self.run}"):
            _check_place(folder)
            new = folder.with_name(f".{folder.name}.writing")
            shutil.rmtree(new, ignore_errors=True)
            dataset = self._written(new, progress, _secrets(os.environ if settings is None else settings))
            swap_in(new, folder)
        return replace(dataset, folder=folder)

    def untold(self, there: Collection[str]) -> Iterator[str]:
        """The trials that have rows, and none among those of a dataset with the trials ``there``. Only these are read.

        Raises:
            Failure: a file may not be read (exit 3), or does not come for the moment (exit 4).
        """
        for trial, place in self.trials:
            if trial.folder.rpartition("/")[2] not in there and _name_in_rows(trial, place) not in (None, *there):
                yield trial.folder

    def _written(self, folder: Path, progress: Progress | None, secrets: Sequence[bytes]) -> TraceDataset:
        counts = TraceCounts()
        left_out, incomplete = list(self.left_out), list[LeftOut]()
        with Shards(folder, sharegpt=self.options.sharegpt) as shards:
            for done, (trial, place) in enumerate(self.trials):
                if progress is not None:
                    progress(done, len(self.trials), note=trial.folder)
                before = counts.rows
                notes = _add(trial, TrialFiles(place, secrets), self.options, shards, counts)
                if notes or counts.rows == before:
                    found = incomplete if counts.rows > before else left_out
                    found.append(LeftOut(trial.folder, "; ".join(notes) or "it says nothing"))
        if not counts.rows:
            raise _no_traces(self.run, left_out, self.unwanted)
        left_out.sort(key=lambda one: one.trial)
        dataset = TraceDataset(
            run=self.run,
            job_id=self.job_id,
            folder=folder,
            files=tuple(shards.files),
            rows=counts.rows,
            trials=frozenset(counts.trials),
            columns=frozenset(schema(sharegpt=self.options.sharegpt).names),
            own=self.own | frozenset(counts.trials),
            counting=self.counting,
            left_out=tuple(left_out),
            incomplete=tuple(incomplete),
        )
        provenance = self._provenance()
        write_json(
            folder / PROVENANCE,
            {"kind": _KIND} | provenance | dataset.to_dict() | {"trials": sorted(counts.trials)},
            indent=1,
        )
        write_text(folder / CARD, card(self.run, provenance, counts, left_out))
        files = (*dataset.files, *(TraceFile.at(folder, name) for name in (PROVENANCE, CARD)))
        return replace(dataset, files=files)

    def _provenance(self) -> dict[str, str]:
        """Where the rows come from, and what was asked for."""
        trials = [trial for trial, _ in self.trials]
        return {
            "job": self.job_id or "not recorded",
            "dataset": names_of(trial.source for trial in trials),
            "episodes": self.options.episodes,
            "filter": f"{self.options.outcome}; {self.unwanted:,} others" if self.options.outcome else "none",
            "ShareGPT": "yes" if self.options.sharegpt else "no",
            "written by": f"benchwright {__version__}",
        }


def plan_traces(place: JobPlace, options: TraceOptions, *, cache: ScanCache | None = None) -> TracePlan:
    """Which trials of a job, or of the shards of a run, are to have rows: those that count and have a result.

    Raises:
        Failure: as ``read_job`` does.
    """
    job = read_job(place, cache=cache)
    folders = {folder.name: (folder, real_names(folder)) for folder in place.folders}
    wanted, left_out, unwanted = [], [], 0
    for trial in sorted(job.trials, key=lambda trial: trial.folder):
        shard, _, name = trial.folder.rpartition("/")
        if why := _unfit(trial):
            left_out.append(LeftOut(trial.folder, why))
        elif options.outcome is not None and (options.outcome == "success") != _succeeded(trial):
            unwanted += 1
        else:
            folder, names = folders[shard or place.folders[0].name]
            wanted.append((trial, folder / names.get(name, name)))
    return TracePlan(
        run=as_text(job.name),
        job_id=job.aggregate.id,
        options=options,
        trials=tuple(wanted),
        own=frozenset(trial.folder.rpartition("/")[2] for trial in job.trials),
        counting=frozenset(trial.folder.rpartition("/")[2] for trial in job.trials if not trial.surplus),
        left_out=tuple(left_out),
        unwanted=unwanted,
    )


def _unfit(trial: Trial) -> str:
    """Why a trial has no row whatever it said; empty where it may have one."""
    if trial.surplus:
        return "it does not count: its task has more trials than planned"
    if trial.state == "missing":
        return "it has no result"
    return f"its result cannot be read: {trial.why}" if trial.state == "corrupt" else ""


def _succeeded(trial: Trial) -> bool:
    """By the rule of Harbor's exporter, to which a trial with an exception has failed, scored or not."""
    return trial.reward is not None and trial.reward > 0 and trial.exception is None


def _secrets(settings: Mapping[str, str]) -> tuple[bytes, ...]:
    """The values to hide, the longest first. A shorter one may be an ordinary word."""
    values = {value for value in secrets_in(settings).values() if len(value) >= _SHORTEST_SECRET}
    return tuple(value.encode(errors="surrogateescape") for value in sorted(values, key=lambda one: (-len(one), one)))


def _name_in_rows(trial: Trial, place: Path) -> str | None:
    """What a trial's rows call it; None where it has none."""
    try:
        with TrialFiles(place) as files:
            name = labels_of(trial, files).trial_name
            return name if any(True for _ in told_by(files, "last", [])) else None
    except Unexported:
        return None


def _add(trial: Trial, files: TrialFiles, options: TraceOptions, shards: Shards, counts: TraceCounts) -> list[str]:
    """Write the rows of a trial; what is not in them is said."""
    notes: list[str] = []
    try:
        with files:
            labels = labels_of(trial, files)
            for told in told_by(files, options.episodes, notes):
                shards.add(labels, told)
                counts.add(labels, told.conversation)
    except Unexported as why:
        notes.append(str(why))
    hid = sorted(files.hid - {RESULT})  # of a result's texts hardly any is in a row
    if hid:
        notes.append(f"a secret of this machine is hidden in {', '.join(hid)}")
    return list(map(as_text, notes))


def _check_place(folder: Path) -> None:
    """Refuse a folder that holds something else than an earlier dataset.

    Raises:
        Failure: it does (code ``not-empty``, exit 5).
    """
    if not folder.exists():
        return
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    others = sorted(found - _files_of_dataset(folder)) if folder.is_dir() else [folder.name]
    if others:
        problem = Problem("not-empty", str(folder), f"it holds {some(others)}", "an empty folder", "name another")
        raise Failure(problem, exit=Exit.REFUSED)


def _files_of_dataset(folder: Path) -> set[str]:
    """The files of the dataset that a folder holds, none where it is none."""
    try:
        told = read_json(folder / PROVENANCE)
        if told["kind"] != _KIND:
            return set()
        return {CARD, PROVENANCE, *(str(file["path"]) for file in told["files"])}
    except (Failure, OSError, KeyError, TypeError):
        return set()


def _no_traces(run: str, left_out: Iterable[LeftOut], unwanted: int) -> Failure:
    reasons = Counter(one.why for one in left_out)
    problems = [
        Problem("no-traces", run, f"{counted(number, 'trial')}: {why}", fix=_UNTRACED)
        for why, number in reasons.most_common()
    ]
    if unwanted:
        problems.append(
            Problem("no-traces", run, f"{counted(unwanted, 'trial')} that --filter leaves out", fix="--filter none")
        )
    return Failure(problems or Problem("no-traces", run, "no trial", fix=_UNTRACED))
