"""Facts in a file: what was gathered once may be judged again without any source, and a case is written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.audit.facts import EvalFacts, JobFacts, RowFacts, TraceRepo, TrialFacts
from benchwright.contract import Exit, Failure, Problem, redact, said, usage_error
from benchwright.files import read_bytes, write_bytes
from benchwright.harbor import Profile, Taxonomy

_MOST_BYTES = 2**28
_PARTS: Mapping[str, type[msgspec.Struct]] = {"job": JobFacts, "trials": TrialFacts}
_LISTS: Mapping[str, type[msgspec.Struct]] = {"traces": TraceRepo, "rows": RowFacts}
_FIX = "correct it in the file, or gather the facts anew: --dump-facts FILE"
_FORM = 'the facts of evals: a list of objects, or {"evals": [...]}'


def write_facts(path: Path, facts: Iterable[EvalFacts]) -> None:
    """Write facts, by run and agent: the same ones are the same bytes. Secrets in a launching command are hidden."""
    encoder = msgspec.json.Encoder(order="deterministic")
    ordered = sorted((one.run_tag, one.agent or "", encoder.encode(one)) for one in facts)
    content = b'{"evals":[' + b",".join(text for *_, text in ordered) + b"]}"
    write_bytes(path, redact(msgspec.json.format(content, indent=2).decode()).encode() + b"\n")


def read_facts(path: Path, taxonomy: Taxonomy, profile: str | None = None) -> list[EvalFacts]:
    """The facts in a file. Where trials say nothing of what is benign, the profile of their eval does, or ``profile``.

    Raises:
        Failure: there is no such ``profile``; the file cannot be read or is of another form, or names another profile;
            every problem of it (exit 2).
    """
    if profile is not None:
        profile = taxonomy.profile(profile).name
    evals = _evals(path)
    problems = [problem for where, one in evals for problem in _struct_problems(where, one, EvalFacts)]
    facts = [] if problems else [_filled(where, one, taxonomy, profile, problems) for where, one in evals]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return facts


def informative(profile: Profile) -> frozenset[str]:
    """The names of exceptions that explain a missing reward by what it would have been: most likely 0."""
    return frozenset(name for name, group in profile.taxonomy.groups.items() if group.missing == "MNAR")


def rejecting(profile: Profile, errors: Iterable[str]) -> frozenset[str]:
    """The names among ``errors`` that the taxonomy does not have, where the profile takes no eval with such a one."""
    return frozenset(name for name in errors if profile.rejects_drift and not profile.of(name).known)


def _evals(path: Path) -> list[tuple[str, Any]]:
    """Each eval of a file as it stands there, and where it is."""
    try:
        content = msgspec.json.decode(read_bytes(path, limit=_MOST_BYTES))
    except OSError as error:
        raise usage_error(
            str(path), said(error), _FORM, code="facts", fix="name a file that --dump-facts wrote"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise usage_error(str(path), f"not JSON: {error}", _FORM, code="facts", fix=_FIX) from None
    if isinstance(content, dict) and list(content) == ["evals"]:
        content = content["evals"]
    if not isinstance(content, list):
        raise usage_error(str(path), "neither", _FORM, code="facts", fix=_FIX)
    return [(f"{path}: eval {number}", one) for number, one in enumerate(content, start=1)]


def _struct_problems(where: str, value: Any, kind: type[msgspec.Struct]) -> Iterator[Problem]:
    """Everything that keeps a value from being facts of a kind, and not the first thing alone."""
    if not isinstance(value, dict):
        yield Problem("facts", where, f"{value!r:.80}", "an object", _FIX)
        return
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for name in sorted(value.keys() - fields.keys()):
        yield Problem("facts", f"{where}: {name}", "no such field", f"one of {', '.join(fields)}", _FIX)
    for name, field in fields.items():
        if name not in value:
            if field.required:
                yield Problem("facts", f"{where}: {name}", "missing", "a value", _FIX)
            continue
        nested = name if kind is EvalFacts else ""
        yield from _field_problems(f"{where}: {name}", nested, value[name], field.type)


def _field_problems(where: str, nested: str, value: Any, kind: Any) -> Iterator[Problem]:
    """What is wrong with a value; ``nested`` is its name where it is a part of an eval's facts."""
    if nested in _PARTS and isinstance(value, dict):
        yield from _struct_problems(where, value, _PARTS[nested])
    elif nested in _LISTS and isinstance(value, list):
        for number, one in enumerate(value, start=1):
            yield from _struct_problems(f"{where} {number}", one, _LISTS[nested])
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            yield Problem("facts", where, f"{value!r:.80}", str(error).partition(" - at ")[0], _FIX)


def _filled(
    where: str, one: Mapping[str, Any], taxonomy: Taxonomy, named: str | None, problems: list[Problem]
) -> EvalFacts:
    """The facts of an eval, with what its profile says of errors where it does not itself."""
    facts = msgspec.convert(one, EvalFacts)
    problems += _doubled(where, facts)
    if named is not None and facts.profile not in ("", named):
        expected = f"{named}, which --profile names"
        fix = "gather the facts again by it, or leave --profile out"
        problems.append(Problem("facts", f"{where}: profile", facts.profile, expected, fix))
    if facts.trials is None:
        return facts
    problems += _contradictions(f"{where}: trials", facts.trials)
    try:
        profile = taxonomy.profile(facts.profile or named)
    except Failure as failure:
        problems += [Problem("facts", f"{where}: profile", one.found, one.expected, _FIX) for one in failure.problems]
        return facts
    by_profile = {
        "benign": profile.benign,
        "informative": informative(profile),
        "rejecting": rejecting(profile, facts.trials.errors),
    }
    lacking = {name: value for name, value in by_profile.items() if name not in one["trials"]}
    trials = msgspec.structs.replace(facts.trials, **lacking)
    return msgspec.structs.replace(facts, trials=trials, profile=profile.name)


def _doubled(where: str, facts: EvalFacts) -> Iterator[Problem]:
    """Rows and repos that are there twice, of which nobody knows which is right, and impossible repos."""
    for noun, names in (
        ("row", [row.id for row in facts.rows or ()]),
        ("repo", [one.name for one in facts.traces or ()]),
    ):
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Problem("facts", f"{where}: {noun} {name}", "again", "each once", _FIX)
    for repo in facts.traces or ():
        if repo.shared > repo.compared:
            found = f"{repo.shared} shared"
            yield Problem(
                "facts", f"{where}: repo {repo.name}", found, f"at most the {repo.compared} that were compared", _FIX
            )


def _contradictions(where: str, trials: TrialFacts) -> Iterator[Problem]:
    """Counts that no trials have: a verdict on them would be one on nothing."""
    for name, number in trials.unscored.items():
        if number > trials.errors.get(name, 0):
            recorded = f"at most the {trials.errors.get(name, 0)} that errors has of it"
            yield Problem("facts", f"{where}: unscored: {name}", str(number), recorded, _FIX)
    if sum(trials.errors.values()) > trials.attempted:
        yield Problem("facts", f"{where}: errors", f"{sum(trials.errors.values())} in all", "at most one a trial", _FIX)
    for name, valid in (("reward_sum", trials.valid), ("surplus_sum", trials.surplus_valid)):
        total = getattr(trials, name)
        if total and not valid:
            yield Problem("facts", f"{where}: {name}", f"{total}", "0, since no trial is valid", _FIX)
    for name, most in (("nonzero", trials.valid), ("worked", trials.attempted)):
        number = getattr(trials, name)
        if number is not None and number > most:
            yield Problem("facts", f"{where}: {name}", str(number), f"at most {most}", _FIX)
