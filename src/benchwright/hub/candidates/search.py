"""A search for candidates: leads from one source, what the Hub says of each, and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

from benchwright.contract import Exit, Failure, Outcome, Problem, counted
from benchwright.files import FileLock, digest, write_bytes
from benchwright.hub.boards import Boards
from benchwright.hub.candidates.journal import Journal
from benchwright.hub.candidates.leads import Lead, Source
from benchwright.hub.candidates.mapping import BoardMapping, Mapped
from benchwright.hub.candidates.options import SearchOptions, ShowProgress
from benchwright.hub.candidates.rows import Row, is_major, row_of, rows_text
from benchwright.hub.candidates.source import SourceReader
from benchwright.hub.candidates.statuses import Finding, look_up
from benchwright.hub.candidates.summary import summarised, unmapped_benchmarks
from benchwright.hub.client import Hub
from benchwright.hub.model_repo import normalise_url

_WRITTEN = "written"
"""The kind of digests that the list has had, noted before it is written."""


def find_candidates(
    options: SearchOptions, settings: Mapping[str, str], *, talk: Callable[[str], None], progress: ShowProgress
) -> Outcome:
    """Search, and write the list. A search that was killed goes on; of a list that is there, unknowns are asked again.

    ``settings`` are ``PWC_DATABASE_URL`` or ``PWC_API_URL``, and ``HF_ENDPOINT`` and ``HF_TOKEN`` where the client does
    not know them itself.

    Raises:
        Failure: options or files are wrong (exit 2); a source lacks what it needs (exit 3), or does not answer
            (exit 4), or the Hub answers nothing any more (exit 4); the list is not as it was written (exit 5).
    """
    options.check()
    mapping = BoardMapping.load(options.mapping)
    with FileLock(options.out.with_name(f".{options.out.name}.lock"), f"the search for {options.out.name}"):
        journal = _journal(options)
        hub = Hub.of(settings, options.patience)
        reader = SourceReader(
            options=options, settings=settings, mapping=mapping, journal=journal, hub=hub, progress=progress
        )
        found = reader.found()
        talk(f"{counted(len(found.mapped), 'result')} on mapped benchmarks")
        findings = _findings(found.mapped, Boards(hub), journal, progress)
        rows = _rows(found.mapped, findings, journal, options.source)
        content = rows_text(rows).encode()
        journal.put(_WRITTEN, sha256(content).hexdigest(), True)
        write_bytes(options.out, content)
        return summarised(options.out, rows, findings.values(), found, unmapped_benchmarks(hub, mapping))


def _journal(options: SearchOptions) -> Journal:
    """The journal of the list, which must be as it was written if it is there."""
    out = options.out
    path = out.with_name(f"{out.name}.journal")
    if out.exists() and not path.exists():
        raise _not_as_written(out, "a file without the journal of its search")
    journal = Journal(path, options.about)
    if out.exists() and not journal.get(_WRITTEN, digest(out)):
        raise _not_as_written(out, "edited, or not written by this search")
    return journal


def _findings(mapped: Sequence[Mapped], boards: Boards, journal: Journal, progress: ShowProgress) -> dict[str, Finding]:
    """What is known of each lead by its key, looked up where nothing is; what is learned is noted at once."""
    known = {key: Finding.of(told) for key, told in journal.of_kind("finding").items()}
    by_model: dict[str, list[Mapped]] = {}
    for one in _first_things_first(mapped):
        by_model.setdefault(_model_of(one.lead), []).append(one)
    unknown = 0
    with progress("looking up") as show:
        for number, (model, leads) in enumerate(by_model.items()):
            show(number - unknown, len(by_model), failed=unknown, note=model)
            wanted = [one for one in leads if one.key not in known]
            found = look_up(boards, leads[0].lead.url, wanted) if wanted else []
            if boards.hub.lost is not None:  # else all that is left would be numbered as unknown
                raise boards.hub.lost
            learned = {one.key: finding for one, finding in zip(wanted, found, strict=True)}
            known |= learned
            journal.put_all("finding", {key: asdict(one) for key, one in learned.items() if one.status != "unknown"})
            unknown += any(finding.status == "unknown" for finding in found)
        show(len(by_model) - unknown, len(by_model), failed=unknown)
    return _without_doubles(mapped, known)


def _first_things_first(mapped: Iterable[Mapped]) -> list[Mapped]:
    """Those of major labs first, the newest models of each first, and what is one model's together."""
    by_model = sorted(mapped, key=lambda one: _model_of(one.lead))
    newest: dict[str, str] = {}
    for one in by_model:
        newest[_model_of(one.lead)] = max(newest.get(_model_of(one.lead), ""), one.lead.published)
    by_date = sorted(by_model, key=lambda one: newest[_model_of(one.lead)], reverse=True)
    return sorted(by_date, key=lambda one: not is_major(one.lead.url))


def _model_of(lead: Lead) -> str:
    return (normalise_url(lead.url) or lead.url).lower()


def _without_doubles(mapped: Sequence[Mapped], known: Mapping[str, Finding]) -> dict[str, Finding]:
    """The findings; of several candidates for one board a person has to choose."""
    findings = {one.key: known[one.key] for one in mapped}
    boards: dict[tuple[str, str, str], list[Mapped]] = {}
    for one in mapped:
        finding = findings[one.key]
        if finding.status == "candidate":
            boards.setdefault((finding.repo.lower(), finding.dataset, finding.task), []).append(one)
    for several in boards.values():
        values = {findings[one.key].value: one for one in reversed(several)}
        told = ", ".join(f"{value} ({';'.join(one.ids)})" for value, one in sorted(values.items()))
        reason = f"several values for one board: {told}" if len(values) > 1 else f"the same as {told}"
        for one in several if len(values) > 1 else several[1:]:
            findings[one.key] = replace(findings[one.key], status="needs_human", reason=reason, rank=None, view="")
    return findings


def _rows(mapped: Sequence[Mapped], findings: Mapping[str, Finding], journal: Journal, source: Source) -> list[Row]:
    """The rows in their order: candidates, then major labs, then the newest first. Once numbered they keep it."""

    def order() -> list[str]:
        ordered = _first_things_first(mapped)
        return [one.key for one in sorted(ordered, key=lambda one: findings[one.key].status != "candidate")]

    by_key = {one.key: one for one in mapped}
    keys = journal.once("rows", "", order)
    return [row_of(number, by_key[key], findings[key], source) for number, key in enumerate(keys, start=1)]


def _not_as_written(out: Path, found: str) -> Failure:
    fix = "move it away, or name another OUT.csv: numbers of rows would come to mean others"
    return Failure(Problem("not-as-written", str(out), found, "a list to go on with", fix), exit=Exit.REFUSED)
