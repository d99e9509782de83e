"""Free the disk of a job whose traces and row are proved: its folder is renamed at once, and deleted behind that.

    .freed/<job>/proof.json    what proved it, written first
    .freed/<job>/folder/       the folder, on its way out
    .freed/<job>/lock          held by whatever deletes it, which outlives the command

Nothing is sized or walked through before, no link is followed, and no other file system is entered.
"""

from __future__ import annotations

import glob
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from benchwright.audit import commands
from benchwright.audit.command import gathered
from benchwright.audit.gather import ShowProgress
from benchwright.audit.options import AuditOptions
from benchwright.audit.record import Audited, audit
from benchwright.audit.rows import foreign, standing
from benchwright.audit.trace_names import repo_of_link
from benchwright.contract import Exit, Failure, Problem, counted, some
from benchwright.files import FileLock, read_json, write_json
from benchwright.files.atomic import sync_folder
from benchwright.harbor import resolve_job_folder
from benchwright.harbor.progress import REJECTED
from benchwright.harbor.remark import named
from benchwright.harbor.resume_checks import read_settings
from benchwright.harbor.scan import CONFIG, LOCK, META, RESULT
from benchwright.harbor.traces import TraceOptions, plan_traces
from benchwright.objects import settings_from_environment
from benchwright.repair.traces.upload import open_hub

HOME = ".freed"
_HARBORS_OWN = frozenset({".sources"})
_RUNS_OWN = frozenset({CONFIG, LOCK, META, RESULT, REJECTED, "result_with_std_error.json", "config.json.bak-port"})
"""What Harbor and a launch write into a job's folder, besides their logs."""
_GOOD = frozenset({"pass", "warn"})
_PROVING = {"finished": _GOOD, "score": _GOOD, "trials": _GOOD, "traces": frozenset({"pass"})}
_MOST_NAMES = 20
FreeState = Literal["there", "deleting", "stopped", "freed"]
"""The folder is in its place; it is being deleted; that was stopped; nothing of it is left."""


@dataclass(frozen=True)
class Disk:
    """A job's folder, or what is left of it."""

    folder: Path

    @property
    def home(self) -> Path:
        """Where it is on its way out."""
        return self.folder.parent / HOME / self.folder.name

    def lock(self) -> FileLock:
        """The right to delete it; the deleting process inherits it."""
        return FileLock(self.home / "lock", f"deleting {self.folder.name}")

    @property
    def leaving(self) -> Path | None:
        """What is left of it on its way out, None where nothing is."""
        folder = self.home / "folder"
        return folder if folder.exists() else None

    @property
    def state(self) -> FreeState:
        """Where it is."""
        if self.leaving is not None and self.lock().is_held():
            return "deleting"
        if self.leaving is not None:  # once more: what held the lock may have been done in between
            return "stopped"
        return "there" if self.folder.exists() or not (self.home / "proof.json").exists() else "freed"

    @property
    def proof(self) -> Mapping[str, Any]:
        """What proved it before it went on its way.

        Raises:
            Failure: it cannot be read (code ``bad-proof``, exit 5): nobody knows what the folder is.
        """
        path = self.home / "proof.json"
        try:
            proof = read_json(path)
            if isinstance(proof["folders"], dict):
                return cast(Mapping[str, Any], proof)
            why = "it names no folders"
        except (Failure, OSError, KeyError, TypeError) as error:
            why = str(error)
        fix = "look what is beside it, and move it away by hand"
        problem = Problem("bad-proof", str(path), f"cannot be read ({why})", "what an audit proved", fix)
        raise Failure(problem, exit=Exit.REFUSED)


def disks_of(job_dir: Path) -> list[Disk]:
    """The folders of a job, also of one that is on its way out or gone.

    Raises:
        Failure: it is no job's folder (exit 2), or a link to one (code ``is-a-link``, exit 5).
    """
    own = job_dir.absolute()
    if own.is_symlink():
        fix = "name the folder itself, if it is yours to delete"
        found = f"a link to {own.resolve()}"
        raise Failure(Problem("is-a-link", str(own), found, "the job's own folder", fix), exit=Exit.REFUSED)
    own = own.resolve()
    shards = (own.parent / HOME).glob(f"{glob.escape(own.name)}_shard*")
    known = [Disk(own), Disk(own / own.name), *(Disk(own.parent / path.name) for path in sorted(shards))]
    left = [disk for disk in known if disk.state != "there"]
    if not left:
        return [Disk(folder.resolve()) for folder in resolve_job_folder(own).folders]
    return [*left, *(disk for disk in _proved_with(left) if disk not in left)]


def _proved_with(left: Sequence[Disk]) -> Iterator[Disk]:
    """The other folders that one proof was for, where they are still the same ones."""
    for path, identity in {pair for disk in left for pair in disk.proof["folders"].items()}:
        folder = Path(path)
        if folder.is_dir() and _identity(folder) == identity:
            yield Disk(folder)


def _identity(folder: Path) -> str:
    """What no other folder has that is made in its place, which may get its inode."""
    status = folder.stat()
    return f"{status.st_dev}:{status.st_ino}:{status.st_mtime_ns}:{status.st_ctime_ns}"


@dataclass(frozen=True)
class Freed:
    """A job's folders, what the audit says of them, and what is against deleting them."""

    disks: Sequence[Disk]
    audited: Sequence[Audited]
    problems: Sequence[Problem]
    exit: Exit


def free_job(
    job_dir: Path,
    options: Mapping[str, Any],
    *,
    apply: bool,
    now: datetime,
    talk: Callable[[str], None],
    progress: ShowProgress,
) -> Freed:
    """Prove a job by the audit with some options of it, and with ``apply`` put its folders on their way out.

    What is on its way already goes on; it was proved before.

    Raises:
        Failure: it is no job's folder (exit 2); it is a link, or another process deletes it (exit 5).
    """
    disks = disks_of(job_dir)
    audited: list[Audited] = []
    against: list[tuple[Problem, Exit]] = []
    proof = next((disk.proof for disk in disks if disk.state != "there"), None)
    if proof is None:
        folders = {str(disk.folder): _identity(disk.folder) for disk in disks}
        audited, against = prove(job_dir, options, now=now, talk=talk, progress=progress)
        against += [(problem, Exit.REFUSED) for disk in disks for problem in holds_others(disk.folder)]
        proof = {"evals": [one.to_dict() for one in audited], "folders": folders}
    if apply and not against:
        for disk in disks:
            if disk.state in ("there", "stopped"):
                free(disk, proof)
    exit = max((exit for _, exit in against), default=Exit.DONE)
    return Freed(disks, audited, [problem for problem, _ in against], exit)


def prove(
    job_dir: Path, options: Mapping[str, Any], *, now: datetime, talk: Callable[[str], None], progress: ShowProgress
) -> tuple[list[Audited], list[tuple[Problem, Exit]]]:
    """Audit a job, all sources of it, and why it is not proved to be complete, registered and uploaded.

    Raises:
        Failure: as the audit does.
    """
    asked = AuditOptions(job_dirs=(job_dir,), all_listed=True, **options)
    asked.check()
    found = gathered(asked, now=now, talk=talk, progress=progress)
    audited = audit(found.facts, now=now)
    against = [(problem, found.troubles.exit or Exit.NO) for problem in found.troubles.problems]
    for one in audited:
        lacking = [name for name, check in one.judgement.checks.named() if check.status not in _PROVING[name]]
        why = one.judgement.why if one.judgement.verdict != "OK" else f"{some(lacking)} did not pass"
        if one.judgement.verdict != "OK" or lacking:
            fix = f"do what the audit says first: {commands.again(one.facts)}"
            said = f"{one.judgement.verdict}: {why}"
            against.append((Problem("not-proved", one.facts.run_tag, said, "OK", fix), Exit.REFUSED))
        if other := foreign(one.facts):
            told = f"row {other.id} of this run is {other.owner}'s"
            against.append((Problem("not-yours", one.facts.run_tag, told, "a row of yours", "tell them"), Exit.REFUSED))
    if not against:
        against += [(problem, Exit.REFUSED) for problem in _not_uploaded(job_dir, audited)]
    return audited, against


def _not_uploaded(job_dir: Path, audited: Sequence[Audited]) -> Iterator[Problem]:
    """That trials with a trajectory are in no repo that a row of theirs links: the audit takes most of them for all."""
    place = resolve_job_folder(job_dir)
    links = [repo for one in audited for row in standing(one.facts) if row.link and (repo := repo_of_link(row.link))]
    hub = open_hub(settings_from_environment(), writes=False)
    there = {name for repo in dict.fromkeys(links) for name in hub.look(repo, whole=True).trials or ()}
    lacking = list(plan_traces(place, TraceOptions()).untold(there))
    if lacking:
        found = f"{some(links)} lacks {counted(len(lacking), 'trial')} with a trajectory: {some(lacking, _MOST_NAMES)}"
        upload = [".venv/bin/python", "scripts/harbor/make_and_upload_trace_dataset.py", "--job-dir", str(job_dir)]
        fix = f"upload them first: {shlex.join([*upload, '--repo_id', links[0], '--episodes', 'last'])}"
        yield Problem("not-uploaded", place.name, found, "the traces of every trial", fix)


def holds_others(folder: Path) -> Iterator[Problem]:
    """What in a job's folder is not the job's alone, or not one's own: tasks, other jobs, what somebody put there."""
    if folder.stat().st_uid != os.geteuid():
        yield Problem("not-yours", str(folder), "a folder of another user", "one of yours", "tell them")
    settings = read_settings(folder)
    if isinstance(settings, Mapping):
        inside = [path for path in _task_paths(settings) if Path(path).resolve().is_relative_to(folder)]
        if inside:
            yield Problem("shared-tasks", str(folder), f"tasks in it: {some(inside)}", "none", "move them out first")
    with os.scandir(folder) as entries:
        there = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries if not entry.is_symlink()}
    folders = sorted(name for name, is_folder in there.items() if is_folder)
    files = sorted(there.keys() - {*folders} - _RUNS_OWN)
    if notes := [name for name in files if not name.endswith(".log")]:
        yield Problem(
            "other-files", str(folder), f"files that no run writes: {named(notes)}", "none", "move them out first"
        )
    others = [name for name in folders if name not in _HARBORS_OWN and not (folder / name / RESULT).is_file()]
    if others:
        found = f"folders without a trial's result: {named(others)}"
        yield Problem("other-folders", str(folder), found, "trials alone", "move them out first")
    mounted = [name for name in folders if os.path.ismount(folder / name)]
    if mounted:
        yield Problem(
            "mounted", str(folder), f"another file system in it: {named(mounted)}", "none", "unmount it first"
        )


def free(disk: Disk, proof: Mapping[str, Any]) -> None:
    """Put a folder on its way out, and start to delete what is on its way, in a process of its own.

    ``proof`` is what the audit proved.

    Raises:
        Failure: another process deletes it, or it is not what was proved any more (code ``contested``, exit 5).
    """
    with disk.lock() as lock:
        if disk.leaving is None:
            if _identity(disk.folder) != proof["folders"].get(str(disk.folder)):
                found = "something came, went or was put in its place since it was audited"
                problem = Problem("contested", str(disk.folder), found, "the folder that was proved", "run this again")
                raise Failure(problem, exit=Exit.REFUSED)
            write_json(disk.home / "proof.json", proof, indent=1)
            disk.folder.rename(disk.home / "folder")
            sync_folder(disk.folder.parent)
        subprocess.Popen(
            ["rm", "-rf", "--one-file-system", "--", str(disk.leaving)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(lock.fileno(),),
            start_new_session=True,
        )


def _task_paths(settings: Mapping[str, Any]) -> list[str]:
    places = [one for key in ("datasets", "tasks") for one in settings.get(key) or [] if isinstance(one, Mapping)]
    return [path for one in places if isinstance(path := one.get("path"), str) and path.startswith("/")]
