"""Traces of a job as a dataset: our export of each trial's last episode, and the exporter that comes with Harbor.

Trajectories are in the sizes of real ones, 50 KB to 2 MB. Both sides write Parquet; the rows have to be equal in every
column that Harbor has. Seconds are those of the work, without the start of Python and the imports, but for the row that
says so. The peer is Harbor with the package that its exporter needs, in an environment of its own in the workspace. The
job of ten times as many trials shares the agents' files of the first, by hard links.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from measure import HERE, Bench, Row, Sample, Side, answer, same_answer

from benchwright.contract import Exit, Failure, Problem

TRIALS, QUICK_TRIALS = 300, 60
_KINDS = ["pass"] * 30 + ["fail"] * 42 + ["timeout-scored"] * 15 + ["context-scored"] * 5 + ["not-verified"] * 4
_KINDS += ["no-sandbox"] * 2 + ["unfinished", "cut-off"]
"""Of 100 trials."""
OWN = ("reward", "exception", "step", "trace_source", "tool_definitions")
"""The columns of ours that the peer's rows here have not."""
_BAR, _BAR_MB = 20.0, 200
_REPOSITORY = HERE.parent
_EXTRA = "datasets==5.2.0"


def measure(bench: Bench, trials: int | None = None) -> list[Row]:
    """Our export of ``trials`` trials beside Harbor's, and of ten times as many alone."""
    trials = trials or (QUICK_TRIALS if bench.quick else TRIALS)
    root = bench.workspace / "traces"
    small, large = root / f"eval-model_{trials}_bench", root / f"eval-model_{10 * trials}_bench"
    grow(small, trials)
    grow(large, 10 * trials, small)
    peer_command = _peer_command()
    work = f"traces, {trials:,} trials, last episodes"
    runs: dict[str, list[Sample]] = {"ours": [], "peer": []}
    for _ in range(1 if bench.quick else 3):
        runs["ours"].append(bench.run("traces", "ours", small, root / "ours"))
        runs["peer"].append(bench.time([*peer_command, str(small), str(root / "peer.parquet")], "traces-peer"))
        contents = [bench.run("traces", "content", root / "ours" / "data").answer]
        contents.append(bench.run("traces", "content", root / "peer.parquet").answer)
        same_answer(work, *contents)
    every = bench.run("traces", "ours", small, root / "all", "all")
    many = bench.run("traces", "ours", large, root / "many")
    whole = {name: Side.of(samples) for name, samples in runs.items()}
    inner = {name: Side.of([_inner(one) for one in samples]) for name, samples in runs.items()}
    bar, bar_mb = (None, None) if bench.quick else (_BAR, _BAR_MB)
    return [
        Row(work, inner["ours"], inner["peer"], least_ratio=bar),
        Row(f"{work}: whole command", whole["ours"], whole["peer"]),
        Row(f"{work}: memory", whole["ours"], most_mb=bar_mb),
        Row(f"traces, {10 * trials:,} trials, last episodes: memory", Side.of([many]), most_mb=bar_mb),
        Row(f"traces, {trials:,} trials, all episodes: memory", Side.of([every]), most_mb=bar_mb),
    ]


def _inner(sample: Sample) -> Sample:
    return replace(sample, seconds=sample.answer["seconds"])


def _peer_command() -> list[str]:
    """The command of the peer's side, up to its arguments.

    Raises:
        Failure: Harbor's environment is not there, or what its exporter uses cannot be installed (exit 3).
    """
    # In .venv, where linters of skills do not look: packages of Harbor's bring some of their own.
    base, own = (_REPOSITORY / ".venv" / name for name in ("harbor/bin/python", "harbor-exporter"))
    python = own / "bin" / "python"
    if not (own / "complete").exists():
        if not base.exists():
            problem = Problem("missing-package", str(base), "not there", "Harbor", "make setup-dev")
            raise Failure(problem, exit=Exit.ENVIRONMENT)
        uv = _REPOSITORY / ".uv" / "bin" / "uv"
        packages = ("--requirement", _REPOSITORY / "scripts" / "harbor-requirements.txt", _EXTRA)
        _run([uv, "venv", "--quiet", "--clear", "--python", base, own])
        _run([uv, "pip", "install", "--quiet", "--python", python, *packages])
        (own / "complete").touch()
    # Without the second variable a library asks the network for prices first.
    settings = [f"PYTHONPATH={_REPOSITORY / 'src'}", "LITELLM_LOCAL_MODEL_COST_MAP=True", "HF_HUB_OFFLINE=1"]
    return ["env", *settings, str(python), __file__, "peer"]


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        found = done.stderr.strip().rpartition("\n")[2]
        problem = Problem(
            "missing-package",
            _EXTRA,
            found,
            "Harbor with its exporter",
            "run this again where the package index can be reached",
        )
        raise Failure(problem, exit=Exit.ENVIRONMENT)


def grow(job: Path, trials: int, source: Path | None = None) -> None:
    """Make a job with traces, unless it is there whole; with the agents' files of ``source`` where there is one."""
    from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
    from benchwright.rehearsal.harbor_traces import grow_traces

    done = job.with_name(f"{job.name}.complete")
    if done.exists():
        return
    shutil.rmtree(job, ignore_errors=True)
    kinds = [_KINDS[number * 37 % len(_KINDS)] for number in range(trials)]
    grow_job(job, kinds, JobShape(attempts=3, weight=1.0))
    if source is None:
        grow_traces(job)
    else:
        traced = sorted(path.parent.parent for path in source.glob("*/agent/trajectory.json"))
        for number, result in enumerate(sorted(job.glob("*/result.json"))):
            given = traced[number % len(traced)]
            for name in ("agent/trajectory.json", "verifier/test-stdout.txt"):
                (result.parent / name).parent.mkdir()
                os.link(given / name, result.parent / name)
    done.touch()


def ours(job: str, to: str, episodes: str = "last") -> dict[str, Any]:
    """Our export, and the seconds it took."""
    from benchwright.harbor import JobPlace
    from benchwright.harbor.traces import TraceOptions, plan_traces

    begin = time.perf_counter()
    place = JobPlace(Path(job).name, (Path(job),))
    rows = plan_traces(place, TraceOptions(episodes=episodes)).write(Path(to)).rows  # type: ignore[arg-type]
    return {"rows": rows, "seconds": time.perf_counter() - begin}


def peer(job: str, to: str) -> dict[str, Any]:
    """Harbor's export of the same."""
    from harbor.utils.traces_utils import export_traces  # type: ignore[import-not-found]

    begin = time.perf_counter()
    options = {"export_subagents": False, "include_instruction": True, "include_verifier_output": True}
    dataset = export_traces(job, episodes="last", use_rich_progress=False, **options)
    dataset.to_parquet(to)
    return {"rows": len(dataset), "seconds": time.perf_counter() - begin}


def content(path: str) -> dict[str, Any]:
    """How many rows there are, and the digest of all that is in the columns that both sides have."""
    import pyarrow.parquet as pq

    files = sorted(Path(path).iterdir()) if Path(path).is_dir() else [Path(path)]
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    for row in rows:
        for own in OWN:
            row.pop(own, None)
    texts = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return {"rows": len(rows), "digest": hashlib.sha256("\n".join(texts).encode()).hexdigest()}


if __name__ == "__main__":
    answer(ours=ours, peer=peer, content=content)
