"""The report in Markdown, to hand to another person: everything that an audit says of each eval, the commands whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchwright.audit.facts import EvalFacts, TrialFacts
from benchwright.audit.gates import covers_too_little, errs_too_much
from benchwright.audit.record import Audited, summary
from benchwright.audit.report_figures import MEANINGS, OVER, error_classes, folder_figures, readings
from benchwright.audit.report_text import MARKS
from benchwright.audit.report_words import (
    KINDS,
    LONGEST,
    STATUS_WORDS,
    filed_under,
    gaps,
    listed_rows,
    pasted,
    sentence,
    share,
    titles,
    visible,
)
from benchwright.audit.verdict import Action
from benchwright.contract import as_markdown, counted
from benchwright.harbor.number import as_score

_WHERE = (
    "Commands with `.venv/bin/python` are for the root of a checkout of Benchwright; a launch is for the checkout that "
    "launched the eval. Those that repair write only with `--apply`. After any of them, audit again."
)


def report_markdown(audited: Sequence[Audited]) -> str:
    """The report's text: an overview, then every eval with its checks, figures, rows, commands and gaps.

    Names and texts from outside are shown letter by letter, whatever signs they have; very long ones are cut, commands
    never. It has no time and nothing else that is not in the facts, so that the same facts give the same bytes.
    """
    names = titles(one.facts for one in audited)
    parts = [[f"# Audit of {counted(len(audited), 'eval')}", "", _text(summary(audited))]]
    if audited:
        parts.append(_overview(audited, names))
        parts.append([_WHERE])
    for place, (one, name) in enumerate(zip(audited, names, strict=True), start=1):
        parts += [part for part in _parts(f"{place}. {one.judgement.verdict}: {_code(name)}", one) if part]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _overview(audited: Sequence[Audited], names: Sequence[str]) -> list[str]:
    checks = ("finished", "score", "traces", "trials")
    headings = ("#", "eval", "model", "benchmark", *checks, "valid/errored/expected", "verdict")
    rows = []
    for place, (one, name) in enumerate(zip(audited, names, strict=True), start=1):
        marks = [MARKS[check.status] for _, check in one.judgement.checks.named()]
        cells = map(_cell, (name, one.facts.model, one.facts.benchmark))
        rows.append((str(place), *cells, *marks, one.matrix, one.judgement.verdict))
    return _table(headings, rows)


def _parts(title: str, one: Audited) -> Iterable[list[str]]:
    """The parts of an eval's section; an empty one has nothing to say."""
    facts, judgement = one.facts, one.judgement
    yield [
        f"## {title}",
        "",
        sentence(_text(judgement.why)),
        "",
        *_about(facts),
    ]
    yield _actions(judgement.actions)
    checks = [
        (name, f"{MARKS[check.status]} {STATUS_WORDS[check.status]}", _text(check.detail))
        for name, check in judgement.checks.named()
    ]
    yield ["### Checks", "", *_table(("check", "result", "by which figures"), checks)]
    if facts.trials is not None:
        yield _trials(facts, facts.trials, one.matrix)
    yield _errors(facts)
    yield _scores(facts)
    yield _rows(one)
    yield _traces(facts)
    yield ["### Notes", "", *(f"- {_text(note)}" for note in judgement.notes)] if judgement.notes else []
    lacking = gaps(facts)
    unknown = [f"- {gap.what}: {_text(gap.why)}. To learn it, {gap.access}." for gap in lacking]
    yield ["### Not known", "", *unknown] if unknown else []


def _about(facts: EvalFacts) -> list[str]:
    lines = [f"- model {_name(facts.model)}, benchmark {_name(facts.benchmark)}, agent {_name(facts.agent)}"]
    lines.append(f"- ran on {KINDS[facts.kind]}, {_name(facts.folder) if facts.folder else 'its folder is not known'}")
    return lines + ([f"- error classes by profile {_code(facts.profile)}"] if facts.profile else [])


def _actions(actions: Sequence[Action]) -> list[str]:
    """The recommended action, then what else there is to do or to choose."""
    lines = []
    for at, action in enumerate(actions):
        lead = "Recommended" if at == 0 else "Besides"
        lines += [f"**{lead}:** {_text(action.why)}", ""]
        if action.command:
            command = pasted(action.command)
            fence = _longer(command, least=3)
            lines += [f"{fence}sh", command, fence, ""]
    return ["### What to do", "", *lines[:-1]] if lines else []


def _trials(facts: EvalFacts, trials: TrialFacts, matrix: str) -> list[str]:
    figures = folder_figures(facts)
    invalid = share(trials.invalid, trials.attempted) + (", too many" if errs_too_much(trials) else "")
    covered = share(trials.covered, trials.planned) + (", too few" if covers_too_little(trials) else "")
    rows = [
        ("valid/errored/expected", matrix),
        ("attempted", share(trials.attempted, trials.planned)),
        ("valid", share(trials.valid, trials.planned)),
        ("without a reward", f"{trials.without_reward:,}, of which {trials.silent:,} without an exception too"),
        ("not readable", f"{trials.corrupt:,}"),
        ("missing", "?" if trials.missing is None else f"{trials.missing:,}"),
        ("with an error that counts", invalid),
        ("the same by the aggregate", _count(trials.invalid_in_aggregate)),
        ("says how it ended", covered),
    ]
    if trials.expected is not None:
        rows.append(("to be expected, by the benchmark or the shards", f"{trials.expected:,}"))
    if figures is not None:
        planned = ", ".join((figures.planned_by, *figures.plan_disagreements))
        rows += [("planned, by", _text(planned)), ("surplus, counted nowhere", f"{figures.surplus:,}")]
    return ["### Trials", "", *_table(("trials", "number"), rows)]


def _errors(facts: EvalFacts) -> list[str]:
    rows = [
        (
            _cell(name),
            error.says,
            f"{error.scored:,}",
            f"{error.unscored:,}",
            f"{error.in_step:,}",
            MEANINGS.get(error.missing, _text(error.missing)),
            _text(error.repair) or "—",
        )
        for name, error in error_classes(facts)
    ]
    headings = ("class", "counts as", "with a reward", "without", "in a step", "its missing reward says", "repair")
    return ["### Error classes", "", *_table(headings, rows)] if rows else []


def _scores(facts: EvalFacts) -> list[str]:
    score = readings(facts)
    if score is None:
        return []
    rows = [("as stored", as_score(score.stored))]
    for name, trials in OVER.items():
        mean = getattr(score, name)
        if mean is not None or name in ("attempted", "valid", "planned"):
            rows.append((f"over {trials}", as_score(mean)))
    if score.likely is not None:
        rows.append(("likely: a missing reward taken for 0 where it hides one", as_score(score.likely)))
    if score.low is not None:
        rows.append(("left open by trials without a reward", f"{as_score(score.low)} to {as_score(score.high)}"))
    lines = ["### Score", "", *_table(("reading", "score"), rows)]
    if score.stored is not None and score.stored_is:
        over = [OVER.get(name, name) for name in score.stored_is]
        lines += ["", f"The stored score is the one over {_listed(over)}."]
    return lines


def _rows(one: Audited) -> list[str]:
    listed, more = listed_rows(one.facts, one.judgement.rows)
    rows = []
    for row, facts in listed:
        created = facts.created or facts.submitted
        rows.append(
            (
                _cell(row.id),
                _text(row.owner),
                _text(row.status),
                f"**{row.advice}**: {_text(row.why)}",
                _text(filed_under(facts)),
                _text(", ".join(sorted(facts.issues))) or "—",
                as_score(facts.score),
                created.isoformat() if created else "—",
                _cell(facts.link) if facts.link else "—",
            )
        )
    headings = ("row", "owner", "status", "advice", "filed under", "odd about it", "score", "created", "traces")
    rest = ["", f"{counted(more, 'row')} more: see `--json`."] if more else []
    return ["### Rows in the database", "", *_table(headings, rows), *rest] if rows else []


def _traces(facts: EvalFacts) -> list[str]:
    rows = [
        (_cell(repo.name), repo.state, _count(repo.rows), f"{repo.shared:,} of {repo.compared:,}")
        for repo in facts.traces or ()
    ]
    headings = ("repository", "it is", "rows", "of the trial names compared, this run's")
    return ["### Trace repositories", "", *_table(headings, rows)] if rows else []


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _count(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _name(name: str | None) -> str:
    return "unknown" if name is None else _code(name)


def _text(text: str) -> str:
    return as_markdown(visible(text, LONGEST))


def _code(name: str) -> str:
    """A name as code, which can be copied as it stands."""
    shown = visible(name, LONGEST) or "(empty)"
    fence = _longer(shown)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _cell(name: str | None) -> str:
    """A name in a table, where code may hold no bar."""
    return _text(name) if name is not None and "|" in name else _name(name)


def _listed(words: Sequence[str]) -> str:
    """``one``, ``one and two``, ``one, two and three``."""
    *first, last = map(_text, words)
    return f"{', '.join(first)} and {last}" if first else last


def _longer(text: str, least: int = 1) -> str:
    """A fence of backticks that the text cannot end."""
    return "`" * max(least, max(map(len, re.findall("`+", text)), default=0) + 1)
