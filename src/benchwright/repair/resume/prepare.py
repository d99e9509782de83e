"""Make a job ready to be resumed: what has no reward leaves its folder, and Harbor runs that again and nothing else."""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchwright.audit import JobFacts
from benchwright.audit.gather import ShowProgress
from benchwright.contract import Exit, Problem, counted, usage_error
from benchwright.harbor import Taxonomy, read_job, resolve_job_folder
from benchwright.harbor.remark import named
from benchwright.harbor.resume import Move, ResumePlan, endangered, outside, plan_resume
from benchwright.harbor.resume_checks import addresses, conflicts, read_settings, refusals
from benchwright.harbor.retry_policy import policy_in, policy_of_yaml
from benchwright.harbor.scan import CONFIG, LOCK
from benchwright.harbor.tunnels import TUNNEL_TOKEN, TUNNEL_URL, address_variables, tunnelled
from benchwright.repair.at_rest import Rest, RestQuestion, ask_whether_at_rest
from benchwright.repair.resume.backup import Backup, Leg

NO_FILTER = "--filter-error-type ''"
"""No exception is called so: Harbor deletes nothing by its class, where its default deletes valid trials too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRequest:
    """What is asked for; see the script's help."""

    job_dir: Path
    question: RestQuestion
    filter: str
    most_resumes: int
    config_yaml: Path | None = None


@dataclass(frozen=True)
class Preparation:
    """One folder of a run on its way to be resumed: what moves, and what moved before."""

    plan: ResumePlan
    backup: Backup
    unfinished: Leg | None
    leg: Leg | None = None
    """What was moved, or finished, just now."""

    @property
    def complete(self) -> bool:
        """Whether every planned trial is there and valid."""
        return not self.plan.moves and len(self.plan.kept) == self.plan.job.aggregate.planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What was found and done.

    ``exit`` is what the problems amount to. ``flags`` are the errors that a resume without this preparation would have
    to name, ``scored`` counts those that a valid trial recorded, ``changes`` are what makes the legs not comparable,
    ``notes`` what else a person should know.
    """

    parts: Sequence[Preparation]
    problems: Sequence[Problem]
    exit: Exit
    flags: Mapping[str, int]
    scored: Mapping[str, int]
    changes: Sequence[str]
    notes: Sequence[str]
    commands: Sequence[str]
    job: JobFacts | None


def prepare_resume(
    request: ResumeRequest,
    settings: Mapping[str, str],
    *,
    apply: bool,
    now: datetime,
    talk: Callable[[str], None],
    progress: ShowProgress,
) -> Prepared:
    """Look at a run, and with ``apply`` move what has to be run again out of its folders, if nothing is against it.

    A preparation that was stopped half-way is finished first. ``settings`` has the tunnel's variables.

    Raises:
        Failure: it is no job's folder, or the filter has no such name (exit 2); another process is at it, or the
            journal of an earlier preparation does not fit what is there (exit 5).
    """
    names = _filter(request.filter)
    with _folders(request, apply=apply, now=now, talk=talk, progress=progress) as (rest, backups):
        parts = [_look(backup) for backup in backups]
        found = list(_problems(parts, request, settings, apply=apply))
        problems = [*rest.problems, *(problem for problem, _ in found)]
        if apply and not problems:
            parts = [_moved(part, talk) for part in parts]
    moves = [move for part in parts for move in moves_of(part)]
    return Prepared(
        parts=parts,
        problems=problems,
        exit=max([rest.exit, *(exit for _, exit in found)]),
        flags=outside(moves, names),
        scored=Counter(trial.exception for part in parts for trial in part.plan.kept.values() if trial.exception),
        changes=[change for part in parts for change in _changes(part, request.config_yaml)],
        notes=[note for part in parts for note in _notes(part, names, request.filter)],
        commands=[resume_command(part.plan.folder, rest.job) for part in parts if not part.complete],
        job=rest.job,
    )


@dataclass(frozen=True, slots=True)
class Undone:
    """What of a run's last preparations moves back, or moved back."""

    legs: Sequence[Leg]
    problems: Sequence[Problem]
    exit: Exit


def undo_resume(
    request: ResumeRequest, *, apply: bool, now: datetime, talk: Callable[[str], None], progress: ShowProgress
) -> Undone:
    """Move what the last preparation of each folder moved back to where it was; with ``apply``, do it.

    Raises:
        Failure: there is nothing to undo (exit 2), or the job was resumed since (exit 5).
    """
    with _folders(request, apply=apply, now=now, talk=talk, progress=progress) as (rest, backups):
        found = [(backup, leg) for backup in backups if (leg := _last(backup)) is not None]
        if not found:
            raise usage_error(
                str(request.job_dir),
                "nothing was moved out of it",
                "a job that was prepared",
                "there is nothing to undo",
            )
        if apply and not rest.problems:
            return Undone([backup.undo(leg) for backup, leg in found], (), Exit.DONE)
    return Undone([leg for _, leg in found], rest.problems, rest.exit)


@contextlib.contextmanager
def _folders(
    request: ResumeRequest, *, apply: bool, now: datetime, talk: Callable[[str], None], progress: ShowProgress
) -> Iterator[tuple[Rest, list[Backup]]]:
    """Whether the run is at rest, and the backups of its folders; with ``apply`` no other process is at them."""
    place = resolve_job_folder(request.job_dir)
    rest = ask_whether_at_rest([request.job_dir], request.question, now=now, talk=talk, progress=progress)
    backups = [Backup(folder.resolve()) for folder in place.folders]
    with contextlib.ExitStack() as held:
        for backup in backups if apply else ():
            held.enter_context(backup.lock())
        yield rest, backups


def _filter(name: str) -> frozenset[str]:
    filters = Taxonomy.load().filters
    if name not in filters:
        raise usage_error(
            "--filter", f"no filter is called {name!r}", f"one of {', '.join(filters)}", "--filter jupiter"
        )
    return filters[name]


def _last(backup: Backup) -> Leg | None:
    """The last preparation that has something to give back."""
    return next((leg for leg in reversed(backup.legs()) if leg.state != "undone"), None)


def _look(backup: Backup) -> Preparation:
    last = _last(backup)
    unfinished = last if last is not None and last.unfinished else None
    return Preparation(plan_resume(backup.job, read_job(backup.job)), backup, unfinished)


def _moved(part: Preparation, talk: Callable[[str], None]) -> Preparation:
    backup, leg = part.backup, part.unfinished
    if leg is not None:
        talk(f"going on with {leg.folder}, which was stopped half-way")
        leg = backup.move(leg)
        part = Preparation(plan_resume(backup.job, read_job(backup.job)), backup, None, leg)
    if part.plan.moves:
        leg = backup.move(backup.begin(part.plan))
        part = Preparation(plan_resume(backup.job, read_job(backup.job)), backup, None, leg)
    return part


def _problems(
    parts: Sequence[Preparation], request: ResumeRequest, settings: Mapping[str, str], *, apply: bool
) -> Iterator[tuple[Problem, Exit]]:
    """What is against a resume, beside that the job may be live. A dry run needs no credentials, and says so alone."""
    for part in parts:
        plan, backup = part.plan, part.backup
        if part.complete:
            continue
        if part.unfinished is not None and part.unfinished.state == "undoing":
            fix = "finish it first: --undo --apply"
            where = str(part.unfinished.folder)
            yield Problem("undo-unfinished", where, "an undo was stopped half-way", fix=fix), Exit.REFUSED
        resumed = sum(leg.state == "moved" and backup.resumed_since(leg) for leg in backup.legs())
        for problem in refusals(plan, prepared=resumed, most=request.most_resumes):
            yield problem, Exit.REFUSED
        for problem in conflicts(plan):
            yield problem, Exit.NO
        for problem in _without_tunnel(plan.folder, settings):
            yield problem, Exit.ENVIRONMENT if apply else Exit.DONE


def _without_tunnel(folder: Path, settings: Mapping[str, str]) -> Iterator[Problem]:
    config = read_settings(folder)
    agents = tunnelled(config) if isinstance(config, Mapping) else ()
    missing = [name for name in (TUNNEL_URL, TUNNEL_TOKEN) if not settings.get(name)]
    if agents and missing:
        found = f"{', '.join(agents)} calls the model from within its sandbox, and {' and '.join(missing)} are not set"
        fix = f"export {' and '.join(missing)} of a free tunnel: the one of the launch is gone"
        yield Problem("no-tunnel", str(folder), found, "a tunnel to the served model", fix)


def _changes(part: Preparation, config_yaml: Path | None) -> Iterator[str]:
    """How the retry policy of the next leg differs from those of the legs before."""
    now = policy_of_yaml(config_yaml) if config_yaml else policy_in(part.plan.folder, CONFIG, LOCK)
    if now is None:
        return
    places = [leg.files for leg in part.backup.legs()] + [part.plan.folder]
    before = [policy for place in places if (policy := policy_in(place)) is not None]
    for change in dict.fromkeys(change for policy in before for change in policy.changes(now)):
        yield f"the retry policy has changed between the legs: {change}"


def _notes(part: Preparation, names: frozenset[str], filter: str) -> Iterator[str]:
    plan = part.plan
    foreign = [move.name for move in moves_of(part) if move.kind == "foreign"]
    if foreign:
        yield f"Harbor would delete, and they are saved with the trials: {named(foreign)}"
    valid = endangered(plan.kept.values(), names)
    if valid:
        classes = Counter(str(trial.exception) for trial in valid)
        told = ", ".join(f"{number} of {name}" for name, number in classes.items())
        yield f"a resume by filter {filter} deletes valid trials: {told}; the command below deletes none"
    config = read_settings(plan.folder)
    reached = addresses(config) if isinstance(config, Mapping) else []
    local = [one for one in reached if "//localhost" in one or "//127." in one]
    if local:
        yield f"the model must be served at {named(local)} again, or both configurations be given its new address"
    if (plan.folder / "config.json.bak-port").exists():
        yield "config.json.bak-port is there: its launch script was rewriting ports when it ended"


def resume_command(folder: Path, job: JobFacts | None) -> str:
    """The command that resumes: the scheduler's, as it was, where it is known; Harbor's own otherwise."""
    config = read_settings(folder)
    agents = tunnelled(config) if isinstance(config, Mapping) else ()
    if job is not None and job.submit:
        restated = f"{TUNNEL_URL}=${TUNNEL_URL} {TUNNEL_TOKEN}=${TUNNEL_TOKEN} " if agents else ""
        place, _, submit = job.submit.partition(" && ")
        return f"{place} && {restated}{submit}"
    public = "".join(f"{name}=https://${TUNNEL_URL}/v1 " for name in address_variables(agents)) if agents else ""
    return f"{public}harbor job resume --job-path {shlex.quote(str(folder))} {NO_FILTER}"


def moves_of(part: Preparation) -> tuple[Move, ...]:
    """What was moved out of a folder just now, or is to be moved."""
    if part.leg is not None:
        return part.leg.moves
    halfway = part.unfinished.moves if part.unfinished is not None else ()
    return tuple({move.name: move for move in (*halfway, *part.plan.moves)}.values())


def told(part: Preparation) -> str:
    """What moves out of one folder, or moved, in words: ``12 folders moved (8 unscored, 4 foreign), 288 stay``."""
    moves = moves_of(part)
    kinds = Counter(move.kind for move in moves)
    words = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    what = (
        f"{counted(len(moves), 'folder')} {'moved' if part.leg else 'to move'} ({words})"
        if moves
        else "nothing to move"
    )
    return f"{what}, {counted(len(part.plan.kept), 'valid trial')} stay"
