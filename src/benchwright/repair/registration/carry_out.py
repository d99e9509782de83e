"""A repair of a row carried out: its undo file first, then the writes; one that was interrupted is finished first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchwright.audit import commands
from benchwright.contract import Exit, Failure, Problem
from benchwright.evaldb import Call, EvalDatabase, Insert, RowWriter, Written
from benchwright.evaldb.comparing import holds
from benchwright.files import FileLock
from benchwright.repair.registration.undo_file import Repair, UndoFile, read_undo


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a repair. ``undo_file`` is None where nothing was to be done.

    ``adopted`` says that an earlier run had begun it.
    """

    repair: Repair
    written: tuple[Written, ...] = ()
    undo_file: Path | None = None
    adopted: bool = False

    @property
    def kept(self) -> list[Written]:
        """What was to be deleted, and stays because something refers to it after all."""
        return [written for written in self.written if written.state == "kept"]


def undo_folder(settings: Mapping[str, str]) -> Path:
    """Where undo files are by default."""
    state = settings.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "benchwright" / "undo"


def carry_out(
    what: str,
    subject: str,
    plan: Callable[[], Repair],
    *,
    owners: Collection[str],
    database: EvalDatabase,
    writer: RowWriter,
    folder: Path,
) -> Done:
    """Do a repair of the row ``subject``, which ``plan`` plans, and allows, by what the ``database`` has now.

    One that an earlier run began is finished, if it wanted the same and still may be done. Where somebody else's write
    is in its way, or its file names rows of others than the ``owners``, or another name or link is asked for now and
    nothing of it is written, it is left as it is, and what is planned now is done.

    Raises:
        Failure: another process repairs the same row here (code ``locked``, exit 5); an earlier run was cut off amid a
            repair that wanted another name or link (``cut-off``, exit 5); or as ``plan``, ``UndoFile.write`` and
            ``RowWriter.write``.
    """
    with FileLock(folder / f"{what}-{subject}.lock", f"{what} of {subject}"):
        files = [file for file in undo_files(folder, what, subject) if file.repair.place == writer.place]
        begun = files[-1] if files and files[-1].state == "writing" else None
        try:
            repair = _planned(plan, begun, database)
        except Failure as failure:
            if not _is_gone(failure) or not files or files[-1].state not in ("writing", "written"):
                raise
            return _finished(begun, owners, writer) if begun else Done(files[-1].repair, (), files[-1].path, True)
        if begun is not None and begun.repair.wanted != repair.wanted:
            begun.become("left")
        elif begun is not None:
            try:
                return _finished(begun, owners, writer)
            except Failure as failure:
                if not _is_in_the_way(failure):
                    raise
                begun.become("left")
        if not repair.plan:
            return Done(repair)
        number = 1 + sum(1 for _ in undo_files(folder, what, subject))
        file = UndoFile(folder / f"{what}-{subject}-{number}.json", repair, "writing")
        file.write()
        return _written(file, writer, adopted=False)


def preview(what: str, subject: str, plan: Callable[[], Repair], database: EvalDatabase, folder: Path) -> Repair:
    """What ``carry_out`` would do, of a row that is gone also because of an earlier run.

    Raises:
        Failure: as ``carry_out``, but for what it writes.
    """
    files = [file for file in undo_files(folder, what, subject) if file.repair.place == database.place]
    try:
        return _planned(plan, files[-1] if files and files[-1].state == "writing" else None, database)
    except Failure as failure:
        if not _is_gone(failure) or not files or files[-1].state not in ("writing", "written"):
            raise
        last = files[-1].repair
        return last if files[-1].state == "writing" else replace(last, plan=(), changes=())


def take_back(file: UndoFile, writer: RowWriter) -> Done:
    """Undo a repair: every row becomes what it was, or, where somebody changed it since, none does over Postgres.

    Raises:
        Failure: it is of another database (code ``other-database``, exit 5); or as ``RowWriter.write``.
    """
    repair = file.repair
    if repair.place != writer.place:
        found = f"it is of {repair.place}, and this is {writer.place}"
        raise Failure(
            Problem(
                "other-database",
                str(file.path),
                found,
                "the same database",
                f"name that one: --db, or the settings of {repair.place}",
            ),
            exit=Exit.REFUSED,
        )
    if file.state == "undone":
        return Done(repair.taken_back, undo_file=file.path, adopted=True)
    with FileLock(file.path.with_suffix(".lock"), f"the undoing of {file.path.name}"):
        if file.state == "writing":  # what it made is dropped as the database has it
            made = [write for write in repair.plan if isinstance(write, Insert)]
            repair = repair.with_rows(writer.write(made))
        begun = replace(file, repair=repair).become("undoing")
        written = writer.write(repair.undo)
        begun.become("undone")
    return Done(repair.taken_back, written, file.path, adopted=file.state == "undoing")


def undo_files(folder: Path, what: str, subject: str) -> Iterator[UndoFile]:
    """The undo files of a repair of a row, in the order in which they were made."""
    number = 1
    while (path := folder / f"{what}-{subject}-{number}.json").exists():
        yield read_undo(path)
        number += 1


def begun(folder: Path, what: str, place: str) -> tuple[str, ...]:
    """The rows of which a repair was interrupted."""
    files = [read_undo(path) for path in sorted(folder.glob(f"{what}-*.json"))]
    return tuple(file.repair.subject for file in files if file.state == "writing" and file.repair.place == place)


def _planned(plan: Callable[[], Repair], begun: UndoFile | None, database: EvalDatabase) -> Repair:
    """What ``plan`` plans, with a remark where it takes the place of what an earlier run began."""
    try:
        repair = plan()
    except Failure as failure:
        if begun is None or not begun.repair.wanted or _is_gone(failure) or not _is_written(begun.repair, database):
            raise
        raise Failure([*failure.problems, _cut_off(begun)], exit=failure.exit) from None
    if begun is None or begun.repair.wanted in ("", repair.wanted):
        return repair
    if _is_written(begun.repair, database):
        raise Failure(_cut_off(begun), exit=Exit.REFUSED)
    left = f"an earlier run began another, and nothing of it is written: {'; '.join(begun.repair.changes)}"
    return replace(repair, remarks=(*repair.remarks, left))


def _is_written(repair: Repair, database: EvalDatabase) -> bool:
    """Whether the first write of a plan is there. What a function did cannot be told, and may be."""
    first = repair.plan[0]
    if isinstance(first, Call):
        return True
    wanted = first.record if isinstance(first, Insert) else first.values
    return any(holds(row, wanted) for row in database.records(first.table, "id", [first.key["id"]]))


def _cut_off(begun: UndoFile) -> Problem:
    found = f"an earlier run was cut off amid {'; '.join(begun.repair.changes)}"
    fix = f"its own command finishes it, or take it back: {commands.undo(str(begun.path))}"
    return Problem("cut-off", f"row {begun.repair.subject}", found, "a repair that came to its end", fix)


def _written(file: UndoFile, writer: RowWriter, *, adopted: bool) -> Done:
    written = writer.write(file.repair.plan)
    replace(file, repair=file.repair.with_rows(written)).become("written")
    return Done(file.repair, written, file.path, adopted)


def _finished(begun: UndoFile, owners: Collection[str], writer: RowWriter) -> Done:
    begun.check_own(owners)
    return _written(begun, writer, adopted=True)


def _is_gone(failure: Failure) -> bool:
    return all(problem.code in ("no-such-row", "no-such-benchmark") for problem in failure.problems)


def _is_in_the_way(failure: Failure) -> bool:
    return any(problem.code in ("contested", "not-yours") for problem in failure.problems)
