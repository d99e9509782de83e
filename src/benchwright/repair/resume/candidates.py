"""Which jobs a batch of resumes is about: the models of a table or a list, and their folders."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.audit.model_names import model_in_eval_config, plain_model
from benchwright.contract import Problem, some, usage_error
from benchwright.files import read_bytes
from benchwright.harbor import Benchmark, Benchmarks, find_jobs
from benchwright.harbor.job_config import read_meta
from benchwright.harbor.progress import NEEDS_RESUME
from benchwright.harbor.resume_checks import agents_of, read_settings
from benchwright.harbor.scan import META

_MOST_BYTES = 2**24
_NAME = re.compile(r"|[^\s\0#-][^\s\0]*")
"""A model, or nothing."""
_AT_LIMIT = "AT_RESUME_LIMIT"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model whose eval is to be resumed, and the run that is meant where the table says so."""

    model: str
    run_tag: str | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Those to be resumed, each model once in its first place, and those of the table that reached their limit."""

    wanted: tuple[Candidate, ...]
    at_limit: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundJob:
    """A job's folder with its own configuration."""

    folder: Path
    settings: Mapping[str, object]
    meta: Mapping[str, str]


def read_table(path: Path, preset: str | None) -> Candidates:
    """The candidates of a CSV file with the column ``hf_model``, and perhaps ``status``, ``preset`` and ``run_tag``.

    Rows of another preset, and of a status that needs no resume, are left out.

    Raises:
        Failure: it cannot be read, has no such column, or a model in it is no name (exit 2).
    """
    try:
        rows = list(csv.DictReader(io.StringIO(_text(path), newline="")))
    except csv.Error as error:
        raise usage_error(
            str(path), f"no table ({error})", "a CSV file", code="bad-table", fix="save it as CSV"
        ) from None
    if rows and "hf_model" not in rows[0]:
        raise usage_error(
            str(path),
            f"columns {some(rows[0])}",
            "a column hf_model",
            code="bad-table",
            fix="call the column of models hf_model",
        )
    of_preset = [row for row in rows if preset is None or row.get("preset") in (None, "", preset)]
    wanted = [row for row in of_preset if not row.get("status") or row["status"] in NEEDS_RESUME]
    at_limit = [row["hf_model"] for row in of_preset if row.get("status") == _AT_LIMIT]
    candidates = [Candidate((row["hf_model"] or "").strip(), row.get("run_tag") or None) for row in wanted]
    return Candidates(_once(path, candidates), tuple(at_limit))


def read_list(path: Path) -> Candidates:
    """The candidates of a priority file: a model a line, lines with ``#`` in front left out.

    Raises:
        Failure: it cannot be read, or a model in it is no name (exit 2).
    """
    lines = (line.strip() for line in _text(path).splitlines())
    return Candidates(_once(path, [Candidate(line) for line in lines if line and not line.startswith("#")]))


def find_folders(
    jobs_dir: Path, candidates: Sequence[Candidate], preset: str | None, benchmarks: Benchmarks
) -> dict[Candidate, list[FoundJob]]:
    """The folders of the candidates' jobs: by the run's tag, or else by the model and the benchmark of the preset.

    Raises:
        Failure: there is no such folder of jobs (exit 2).
    """
    wanted = benchmarks.resolve(preset) if preset else None
    jobs = list(_jobs(jobs_dir))
    found: dict[Candidate, list[FoundJob]] = {}
    for one in candidates:
        found[one] = (
            [job for tag, job in jobs if tag == one.run_tag]
            if one.run_tag
            else [
                job
                for tag, job in jobs
                if one.model in _models(tag, job) and _is_of(wanted, _benchmark(tag, job, benchmarks))
            ]
        )
    return found


def lacking(found: Mapping[Candidate, Sequence[FoundJob]], jobs_dir: Path) -> Iterator[Problem]:
    """The candidates that have no job to be resumed."""
    for one, jobs in found.items():
        if not jobs:
            where = one.run_tag or one.model
            fix = "name the folder that Harbor writes this model's jobs to, or leave the model out"
            yield Problem("no-job", where, f"no job of it in {jobs_dir}", "one to resume", fix)


def _once(path: Path, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Those that name a model, each model once: the launcher takes them line by line."""
    wrong = [one.model for one in candidates if not _NAME.fullmatch(one.model)]
    if wrong:
        found = some([repr(model) for model in wrong])
        raise usage_error(
            str(path), f"models {found}", "NAME or ORG/NAME", code="bad-table", fix="correct the names in it"
        )
    first: dict[str, Candidate] = {}
    for one in candidates:
        if one.model:
            first.setdefault(one.model, one)
    return tuple(first.values())


def _text(path: Path) -> str:
    try:
        return read_bytes(path, limit=_MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise usage_error(
            str(path), f"cannot be read ({error})", "a text file", code="bad-table", fix="name a file that can be read"
        ) from None


def _jobs(jobs_dir: Path) -> Iterator[tuple[str, FoundJob]]:
    for place in find_jobs(jobs_dir):
        for folder in place.folders:
            settings = read_settings(folder)
            meta = folder / META
            if isinstance(settings, dict):
                yield place.name, FoundJob(folder, settings, read_meta(meta.read_bytes()) if meta.is_file() else {})


def _models(tag: str, job: FoundJob) -> set[str]:
    """What a job's model is called, by its launch and by its agents, who may know it by a number alone."""
    names = [
        job.meta.get("MODEL"),
        model_in_eval_config(tag, [job.folder]),
        *(agent.get("model_name") for agent in agents_of(job.settings)),
    ]
    return {model for name in names if isinstance(name, str) for model in (name, plain_model(name)) if model}


def _benchmark(tag: str, job: FoundJob, benchmarks: Benchmarks) -> Benchmark | None:
    datasets = job.settings.get("datasets")
    places = [one for one in datasets if isinstance(one, Mapping)] if isinstance(datasets, list) else []
    names = [job.meta.get("BENCHMARK_NAME"), *(one.get(key) for one in places for key in ("name", "path"))]
    known = [one for name in names if isinstance(name, str) and (one := benchmarks.resolve(name)) is not None]
    return known[0] if known else benchmarks.in_run_tag(tag)


def _is_of(wanted: Benchmark | None, benchmark: Benchmark | None) -> bool:
    return wanted is None or benchmark is None or wanted.name == benchmark.name
