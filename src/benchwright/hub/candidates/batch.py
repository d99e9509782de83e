"""A batch: rows of a list made into a spec to fill in, with a report of what was left out and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchwright.contract import Exit, Failure, Outcome, Problem, as_markdown, counted, some, usage_error
from benchwright.files import FileLock, read_json, write_json, write_text
from benchwright.hub.candidates.rows import PWC, Row, read_rows, rows_digest
from benchwright.hub.candidates.statuses import GATED
from benchwright.hub.links import PUBLIC_HUB

_RANGES = re.compile(r"\d{1,9}(?:\s*[-\u2013]\s*\d{1,9})?(?:\s*,\s*\d{1,9}(?:\s*[-\u2013]\s*\d{1,9})?)*", re.ASCII)
_MOST = 100_000
_FORM = "numbers of rows, such as 46-65 or 3,7,9-12"
_ABOUT = (
    "A draft. For each result open the source, correct value_text to the digits it prints and the source to the most"
    " direct one, say in origin where the number stands (table, row, column, or sentence) and in notes the protocol."
    " A lead is not evidence."
)


@dataclass(frozen=True)
class Batch:
    """The chosen rows of a list. ``of_all`` are all rows of the list."""

    rows: tuple[Row, ...]
    of_all: tuple[Row, ...]

    @property
    def drafted(self) -> list[Row]:
        """Those that a pull request may have."""
        return [row for row in self.rows if row.is_for_a_pull_request]

    @property
    def skipped(self) -> list[Row]:
        """Those that it may not have."""
        return [row for row in self.rows if not row.is_for_a_pull_request]

    @property
    def name(self) -> str:
        """The numbers of the rows: ``46-65``, ``3,7,9-12``."""
        return _ranges([row.row for row in self.rows])

    @property
    def label(self) -> str:
        """The rows in words: ``rows 46-65``, ``row 7``."""
        return _named([row.row for row in self.rows])

    @property
    def stopped(self) -> str:
        """Where the batch stopped, and where the next one begins."""
        last, end = max(row.row for row in self.rows), max(row.row for row in self.of_all)
        size = len(self.rows)
        rest = range(last + 1, min(last + size, end) + 1)
        following = f"next: {_named(rest)}" if rest else "that is the end of the list"
        return f"row {last} of {end}; {following}"

    @property
    def left_out(self) -> dict[str, list[int]]:
        """Rows outside of the batch that belong into a pull request of a model in it, by the model."""
        models = {row.model for row in self.drafted}
        numbers = {row.row for row in self.rows}
        found: dict[str, list[int]] = {}
        for row in self.of_all:
            if row.model in models and row.row not in numbers and row.is_for_a_pull_request:
                found.setdefault(row.model, []).append(row.row)
        return found


def draft(out: Path, wanted: str) -> Outcome:
    """Write the spec of a batch, without one where no row is a candidate, and its report, both beside the list.

    Raises:
        Failure: the list or the rows are none (exit 2); the numbers mean other rows than they did for an earlier batch,
            or a spec of the batch is there and is not this draft (exit 5).
    """
    numbers = rows_in(wanted)
    with FileLock(out.with_name(f".{out.name}.lock"), f"a batch of {out.name}"):
        rows = read_rows(out)
        batch = _chosen(out, rows, numbers)
        _check_numbering(out, rows)
        name = f"{out.stem}.rows-{batch.name.replace(',', '_')}"
        spec, report = out.with_name(f"{name}.spec.json"), out.with_name(f"{name}.md")
        if batch.drafted:
            _write_spec(spec, _spec(out, batch))
        write_text(report, _report(out, batch, spec))
        _note(out, rows, batch)
    return _outcome(batch, spec if batch.drafted else None, report)


def rows_in(wanted: str) -> list[int]:
    """The numbers that are meant by ``46-65`` or ``3,7,9-12``, ascending.

    Raises:
        Failure: it is no such text (exit 2).
    """
    if not _RANGES.fullmatch(wanted.strip()):
        raise usage_error("--rows", repr(wanted)[:80], _FORM, "write them so")
    numbers: set[int] = set()
    for part in wanted.split(","):
        first, *more = (int(number) for number in re.split(r"[-\u2013]", part))
        last = more[0] if more else first
        if not first <= last <= first + _MOST:
            raise usage_error(
                "--rows", repr(part.strip()), f"{_FORM}; at most {_MOST:,} of them", "take fewer rows at a time"
            )
        numbers |= set(range(first, last + 1))
    return sorted(numbers)


def _chosen(out: Path, rows: Sequence[Row], numbers: Sequence[int]) -> Batch:
    by_number = {row.row: row for row in rows}
    if missing := [number for number in numbers if number not in by_number]:
        there = f"rows {min(by_number)} to {max(by_number)}" if by_number else "a list with rows"
        raise usage_error(
            str(out), f"no row {_ranges(missing)}", there, "choose rows that are in the list", code="no-such-row"
        )
    return Batch(tuple(by_number[number] for number in numbers), tuple(rows))


def _batches(out: Path) -> Path:
    return out.with_name(f"{out.name}.batches.json")


def _known_batches(out: Path) -> Mapping[str, Any]:
    """What is noted of earlier batches: the digest of the rows, and the numbers that were drafted."""
    try:
        told = read_json(_batches(out))
    except FileNotFoundError:
        return {}
    if not isinstance(told, dict) or not isinstance(told.get("batches"), list) or "rows" not in told:
        fix = "move it away; the numbers of rows then begin anew"
        problem = Problem("batches", str(_batches(out)), "no record of batches", "one", fix)
        raise Failure(problem, exit=Exit.REFUSED)
    return told


def _check_numbering(out: Path, rows: Sequence[Row]) -> None:
    """Refuse a list whose numbers mean other rows than they did for an earlier batch."""
    known = _known_batches(out)
    if known and known["rows"] != rows_digest(rows):
        found = f"not the list of the earlier batches ({some(known['batches'])}): it was made anew, or edited"
        fix = f"bring that list back; or begin anew with a copy under another name, without {_batches(out).name}"
        raise Failure(Problem("regenerated", str(out), found, "the same rows", fix), exit=Exit.REFUSED)


def _note(out: Path, rows: Sequence[Row], batch: Batch) -> None:
    before = _known_batches(out).get("batches", [])
    if batch.name not in before:
        write_json(_batches(out), {"rows": rows_digest(rows), "batches": [*before, batch.name]})


def _spec(out: Path, batch: Batch) -> dict[str, Any]:
    models: dict[str, list[dict[str, Any]]] = {}
    for row in batch.drafted:
        models.setdefault(row.model, []).append(_result(row))
    about = f"{batch.label.capitalize()} of {out.name}. {_ABOUT}"
    return {"version": 1, "about": about, "repos": [{"repo": repo, "results": told} for repo, told in models.items()]}


def _result(row: Row) -> dict[str, Any]:
    told = (
        f"result {row.pwc_result_id}: {row.pwc_value_text}",
        row.source_url,
        row.paper_title,
        row.notes,
        row.corrections,
        f"predicted number {row.predicted_rank}, {row.predicted_view}",
    )
    return {
        "dataset": row.hub_dataset,
        "task_id": row.hub_task,
        "value_text": row.board_value_guess,
        "source": _source(row),
        "row": row.row,
        "lead": "; ".join(one for one in told if one),
    }


def _source(row: Row) -> dict[str, str]:
    """The most direct source there may be: the card, or where that may be closed to readers what the lead names."""
    if row.notes.startswith(GATED) and row.source_url.startswith(("https://", "http://")):
        is_paper = (urlsplit(row.source_url).hostname or "").removeprefix("www.") == "arxiv.org"
        return {"url": row.source_url, "name": "Paper" if is_paper else "Source"}
    return {"url": f"{PUBLIC_HUB}/{row.model}", "name": "Model Card"}


def _write_spec(path: Path, spec: Mapping[str, Any]) -> None:
    """Write the draft, unless work has been put into one that is there."""
    if path.exists():
        try:
            same = read_json(path) == spec
        except Failure:
            same = False
        if not same:
            fix = "go on with it, or move it away to draft the batch anew"
            raise Failure(
                Problem("in-the-way", str(path), "there already, and not this draft", fix=fix), exit=Exit.REFUSED
            )
        return
    write_json(path, spec, indent=2)


def _report(out: Path, batch: Batch, spec: Path) -> str:
    parts = [f"# {batch.label.capitalize()} of {out.name}", "", *_drafted(batch, spec)]
    skipped = [(str(row.row), row.model, _board(row), row.status, _reason(row)) for row in batch.skipped]
    parts += ["## Skipped", "", *_table(("row", "model", "benchmark", "status", "reason"), skipped), ""]
    for title, lines in (
        (f"Corrections for {PWC}", corrections(batch)),
        ("Metadata problems of models", metadata_problems(batch)),
        ("Candidates of these models outside of the batch", _left_out(batch)),
    ):
        parts += [f"## {title}", "", *([f"- {as_markdown(one)}" for one in lines] or ["None."]), ""]
    return "\n".join([*parts, "## Where the batch stopped", "", f"At {batch.stopped}.", ""])


def _drafted(batch: Batch, spec: Path) -> list[str]:
    rows = [
        (str(row.row), row.model, _board(row), row.board_value_guess, f"{row.predicted_rank}, {row.predicted_view}")
        for row in batch.drafted
    ]
    heading = ("row", "model", "benchmark", "value to verify", "predicted rank and view")
    return ["## To verify", "", *([f"In {spec.name}:", ""] if rows else []), *_table(heading, rows), ""]


def corrections(batch: Batch) -> list[str]:
    """What Papers With Code has wrong, of each row."""
    return [f"row {row.row}: {row.corrections}" for row in batch.rows if row.corrections.startswith(PWC)]


def metadata_problems(batch: Batch) -> list[str]:
    """What models' repos have wrong, each once."""
    return list(dict.fromkeys(f"{row.model}: {row.metadata_problems}" for row in batch.rows if row.metadata_problems))


def _left_out(batch: Batch) -> list[str]:
    return [f"{model}: {_named(numbers)}" for model, numbers in batch.left_out.items()]


def _outcome(batch: Batch, spec: Path | None, report: Path) -> Outcome:
    skipped = [
        {"row": row.row, "model": row.model, "benchmark": _board(row), "status": row.status, "reason": _reason(row)}
        for row in batch.skipped
    ]
    problems = [
        Problem(
            "more-rows",
            model,
            f"candidates outside of the batch: {_named(numbers)}",
            "one pull request a model",
            f"take them in: --rows {batch.name},{_ranges(numbers)}",
        )
        for model, numbers in batch.left_out.items()
    ]
    return Outcome(
        summary=f"{batch.label}: {_counts(batch)}; stopped at {batch.stopped}",
        data={
            "spec": str(spec) if spec else None,
            "report": str(report),
            "rows": [row.row for row in batch.drafted],
            "skipped": skipped,
            "corrections": corrections(batch),
            "metadata_problems": metadata_problems(batch),
            "stopped": batch.stopped,
        },
        details=[f"  wrote {path}" for path in (spec, report) if path]
        + [f"  skipped {one['row']}  {one['model']}: {one['status']}, {one['reason']}" for one in skipped]
        + [f"  correct {one}" for one in corrections(batch)],
        problems=problems,
    )


def _counts(batch: Batch) -> str:
    """How many there are to verify, and where there are none, why."""
    skipped = f"{len(batch.skipped)} skipped"
    if batch.drafted:
        models = len({row.model for row in batch.drafted})
        return f"{counted(len(batch.drafted), 'result')} of {counted(models, 'model')} to verify, {skipped}"
    reasons = Counter(_reason(row) if row.status == "candidate" else row.status for row in batch.skipped)
    return f"nothing to verify, {skipped} ({', '.join(f'{reasons[one]} {one}' for one in sorted(reasons))})"


def _board(row: Row) -> str:
    return row.hub_name or row.hub_dataset


def _reason(row: Row) -> str:
    return row.reason or row.status


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(map(as_markdown, row))} |" for row in rows]
    if not lines:
        return ["None."]
    return [f"| {' | '.join(heading)} |", f"|{' --- |' * len(heading)}", *lines]


def _named(numbers: Sequence[int]) -> str:
    return f"{'row' if len(numbers) == 1 else 'rows'} {_ranges(numbers)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: ``3,7,9-12``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
