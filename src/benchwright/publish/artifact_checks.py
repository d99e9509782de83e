"""What must hold of a processed artifact before any of it is published; every check names all that it finds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.contract import Failure, Problem, some
from benchwright.files import open_regular, read_json
from benchwright.files.run_paths import RESULT_NAME
from benchwright.processing import layout
from benchwright.processing.findings import not_accepted
from benchwright.processing.sidecar import FileFacts, Sidecar
from benchwright.publish.archive import Archive

PROCESS = "scripts/run_process_method.py PATH --method-metadata MODULE:ATTR --process"
PROCESS_AGAIN = f"process again: {PROCESS}"


def check_table(folder: Path, name: str) -> Iterator[Problem]:
    """A result table that is not there, is empty, or cannot be read to its end."""
    path = folder / name
    if not path.is_file():
        yield _incomplete(path, "not there", "a table")
        return
    try:
        rows = _rows(path)
    except Exception as error:  # noqa: BLE001  the library raises what it likes on damaged bytes
        said = (str(error).splitlines() or [type(error).__name__])[0][:200]
        yield Problem("damaged-table", str(path), f"cannot be read: {said}", "a whole Parquet file", PROCESS_AGAIN)
        return
    if not rows:
        yield _incomplete(path, "no rows", "at least one")


def check_processed(processed: Archive, *, has_configs: bool) -> Iterator[Problem]:
    """Files of the processed store that are not there, those that its own context lists included."""
    present = {f"{layout.PROCESSED}/{member.name}" for member in processed.members if member.size}
    needed = [
        layout.HYPERPARAMETERS,
        layout.CONFIGS,
        layout.BASELINES,
        layout.TASK_METADATA,
        layout.STORE_METADATA,
        layout.CONTEXT,
    ]
    listed: Iterable[str] = ()
    if layout.CONTEXT in present:
        try:
            listed = _listed(read_json(processed.folder.parent / layout.CONTEXT))
        except (Failure, AttributeError, KeyError, TypeError):
            where, expected = str(processed.folder.parent / layout.CONTEXT), "the list of the store's files"
            yield Problem("damaged-context", where, "cannot be read", expected, PROCESS_AGAIN)
    missing = [name for name in dict.fromkeys([*needed, *listed]) if name not in present]
    if missing:
        yield _incomplete(processed.folder, f"not there, or empty: {some(missing)}", "a whole processed store")
    if has_configs and layout.HYPERPARAMETERS in present:
        yield from _check_hyperparameters(processed.folder.parent / layout.HYPERPARAMETERS)


def check_raw(raw: Archive, tables: Path) -> Iterator[Problem]:
    """Too few raw results: none at all, or fewer than the result table has rows."""
    results = sum(member.name.endswith(f"/{RESULT_NAME}") for member in raw.members)
    if not results:
        yield _incomplete(raw.folder, f"no {RESULT_NAME}", "at least one")
        return
    try:
        rows = _rows(tables / layout.MODEL_RESULTS)
    except Exception:  # noqa: BLE001  check_table says what is wrong with it
        return
    if results < rows:
        yield _incomplete(
            raw.folder, f"{results:,} {RESULT_NAME}", f"{rows:,}, one for each row of {layout.MODEL_RESULTS}"
        )


def check_findings(sidecar: Sidecar) -> Iterator[Problem]:
    """Findings of severity ``error`` that processing noted, and whoever ran it did not accept."""
    found = not_accepted(sidecar.findings, layout.SIDECAR, PROCESS)
    if found is not None:
        yield found


def check_files(folder: Path, recorded: Mapping[str, FileFacts], found: Mapping[str, FileFacts]) -> Iterator[Problem]:
    """Files that are not those which processing wrote; both by their paths inside the artifact."""
    missing = sorted(recorded.keys() - found.keys())
    extra = sorted(found.keys() - recorded.keys())
    changed = sorted(name for name in recorded.keys() & found.keys() if recorded[name] != found[name])
    for what, names in (("not there", missing), ("changed", changed), ("not written by processing", extra)):
        if names:
            said, expected = f"{what}: {some(names)}", f"the files that {layout.SIDECAR} lists, with their digests"
            yield Problem("artifact-changed", str(folder), said, expected, PROCESS_AGAIN)


def machine_path(context: Path) -> Problem | None:
    """A remark on a folder of someone's machine that the processed store would publish."""
    try:
        named = read_json(context)["benchmark_paths"]["relative_path"]
    except (Failure, OSError, KeyError, TypeError):
        return None
    if not isinstance(named, str) or not Path(named).is_absolute():
        return None
    fix = f"{PROCESS_AGAIN}; the store written there names no folder"
    return Problem("machine-path", f"{layout.CONTEXT}: relative_path", repr(named), "no folder of one machine", fix)


def _check_hyperparameters(path: Path) -> Iterator[Problem]:
    try:
        content = read_json(path)
    except Failure as failure:
        yield from failure.problems
        return
    if not isinstance(content, dict) or not content:
        said = json.dumps(content)[:40]
        yield _incomplete(path, f"no config: {said}", "the hyperparameters of each config")


def _listed(context: Any) -> list[str]:
    """The files that ``context.json`` names, as paths inside the artifact."""
    paths = context["benchmark_paths"]
    single = [paths[name] for name in ("configs", "baselines", "task_metadata") if paths[name] is not None]
    several = [name for names in ("zs_pp", "zs_gt", "configs_hyperparameters") for name in paths[names] or ()]
    return [f"{layout.PROCESSED}/{name}" for name in (*single, *several)]


def _rows(path: Path) -> int:
    """The rows of a Parquet file, counted by reading every one of them."""
    import pyarrow.parquet as pq

    with open_regular(path) as file, pq.ParquetFile(file) as table:
        return sum(batch.num_rows for batch in table.iter_batches())


def _incomplete(path: Path, found: str, expected: str) -> Problem:
    return Problem("artifact-incomplete", str(path), found, expected, PROCESS_AGAIN)
