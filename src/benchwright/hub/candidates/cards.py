"""Leads from model cards: their legacy result metadata (``model-index``), and rows of their tables.

https://github.com/huggingface/hub-docs/blob/main/modelcard.md tells the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchwright.contract import Failure, Problem, Progress
from benchwright.hub.candidates.journal import Journal
from benchwright.hub.candidates.leads import Lead, lead_of, line
from benchwright.hub.candidates.mapping import BoardMapping, Rule, folded
from benchwright.hub.candidates.units import NUMBER
from benchwright.hub.client import Hub
from benchwright.hub.links import PUBLIC_HUB
from benchwright.hub.model_repo import ModelRepo, RepoMissing, card_of, model_repo
from benchwright.hub.refusals import Disabled, Gated
from benchwright.hub.sources.markdown import read_markdown
from benchwright.hub.sources.page import Table, shown

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LIST_LIMIT = 1000
"""Models of a page of the Hub's list."""


def models_of(hub: Hub, org: str) -> frozenset[str]:
    """The ids of all models of an organisation.

    Raises:
        Failure: they are not told.
    """
    return frozenset(str(one["id"]) for one in hub.pages("/api/models", author=org, limit=_LIST_LIMIT))


def card_leads(
    hub: Hub, models: Sequence[str], mapping: BoardMapping, journal: Journal, progress: Progress
) -> tuple[list[Lead], list[Problem]]:
    """The leads of the cards of models, and the cards that cannot be read. What has been read is in the journal.

    Raises:
        Failure: a card is not told (exit 4).
    """
    leads: list[Lead] = []
    problems: list[Problem] = []
    for number, model in enumerate(models):
        progress(number, len(models), note=model)
        told = journal.once("card", model, lambda model=model: _read(hub, model, mapping))  # type: ignore[misc]
        leads += [Lead.noted(one) for one in told["leads"]]
        problems += [Problem(**one) for one in told["problems"]]
    progress(len(models), len(models))
    return leads, problems


def _read(hub: Hub, model: str, mapping: BoardMapping) -> dict[str, Any]:
    """The leads of a card, or why it cannot be read."""
    try:
        repo = model_repo(hub, model)
        text = card_of(hub, repo)
    except (RepoMissing, Disabled, Gated) as refused:
        return {"leads": [], "problems": [one.to_dict() for one in refused.problems]}
    if text is None:
        fix = "leave it out, or cite another page of its authors in the spec"
        return {
            "leads": [],
            "problems": [Problem("no-card", model, "no card", "a README.md", fix).to_dict()],
        }
    leads = list(index_leads(repo, text, mapping))
    problems: list[Problem] = []
    try:
        leads += table_leads(repo, text, mapping)
    except Failure as failure:  # no Markdown that can be read
        problems = [replace(one, where=model) for one in failure.problems]
    return {"leads": [asdict(one) for one in leads], "problems": [one.to_dict() for one in problems]}


def index_leads(repo: ModelRepo, text: str, mapping: BoardMapping) -> Iterator[Lead]:
    """The results of mapped benchmarks in a card's legacy metadata, in the digits that it has."""
    for count, result in enumerate(_index_results(text), start=1):
        place, source = _mapping(result.get("dataset")), _mapping(result.get("source"))
        names = [name for name in (place.get("type"), place.get("name")) if isinstance(name, str)]
        by = line(source.get("name") or source.get("url"))
        for number, metric in enumerate(map(_mapping, _list(result.get("metrics"))), start=1):
            called = [one for one in (metric.get("name"), metric.get("type")) if isinstance(one, str) and one]
            if not called or not isinstance(metric.get("value"), str) or not mapping.knows(*names):
                continue
            told = {
                "id": f"model-index {count}.{number}",
                "value_text": metric["value"],
                "remark": "the card's result metadata",
                "doubt": f"measured by {by}: is that the model's authors?" if by else "",
            }
            told |= {"source_url": source["url"]} if source.get("url") else {}
            leads = [_lead(repo, {**told, "metric": one}, *names) for one in called]
            yield next((lead for lead in leads if mapping.rules_of(lead)), leads[0])


@dataclass(frozen=True)
class _Number:
    """A number of a table: as it is printed, its headers, and whether it is in the only column with numbers."""

    text: str
    printed: str
    headers: tuple[str, str]
    table: str
    alone: bool


def table_leads(repo: ModelRepo, text: str, mapping: BoardMapping) -> Iterator[Lead]:
    """The numbers of a card's tables that stand between a mapped benchmark and the model, however they are turned."""
    for count, table in enumerate(read_markdown(text).tables, start=1):
        for number in _numbers(table, f"table {count}"):
            for named, other in (number.headers, number.headers[::-1]):
                rules = mapping.named(named) or mapping.named(_without_brackets(named))
                doubt = _is_other_model(repo, other, alone=number.alone and named == number.headers[0])
                if doubt is not None:
                    several = len(rules) > 1
                    yield from (
                        _table_lead(repo, rule, number, (named, other), doubt, several=several) for rule in rules
                    )


def _numbers(table: Table, name: str) -> Iterator[_Number]:
    cells = [(row, column, shown(cell.text)) for row, column, cell in table.cells() if not cell.header]
    columns = {column for _, column, printed in cells if column and NUMBER.match(printed)}
    for row, column, printed in cells:
        number = NUMBER.match(printed)
        headers = (table.row_header(row, column), table.column_header(row, column))
        if number is not None and all(headers):
            yield _Number(number[0], printed, headers, name, len(columns) == 1)


def _table_lead(
    repo: ModelRepo, rule: Rule, number: _Number, headers: tuple[str, str], doubt: str, *, several: bool
) -> Lead:
    doubts = [doubt] if doubt else []
    doubts += [f"it stands for {headers[0]!r}"] if folded(headers[0]) not in rule.keys else []
    doubts += [f"it is printed as {number.printed!r}"] if number.printed != number.text else []
    doubts += ["the benchmark has several boards"] if several else []
    told = {
        "id": f"{number.table}, {headers[0]}",
        "value_text": number.text,
        "hub_dataset": rule.dataset,
        "hub_task": rule.task,
        "remark": f"{number.table} of the card: {headers[0]}, {headers[1]}",
        "doubt": "; ".join(doubts),
    }
    return _lead(repo, told, headers[0])


def _is_other_model(repo: ModelRepo, header: str, *, alone: bool) -> str | None:
    """Why a header may be another model's; empty: it is the model's own. None: it is another one's."""
    own, told = folded(repo.id.partition("/")[2]), folded(_without_brackets(header))
    if told == own or alone:
        return ""
    if len(told) > 3 and (told in own or own in told):
        return f"{header!r} may be another model"
    return None


def _lead(repo: ModelRepo, told: Mapping[str, Any], *names: str) -> Lead:
    more = {"url": repo.id, "published": (repo.last_modified or "")[:10], "source_url": f"{PUBLIC_HUB}/{repo.id}"}
    return lead_of({**more, **told}, *names)


def _index_results(text: str) -> Iterator[Mapping[str, Any]]:
    import yaml

    head = _HEAD.match(text)
    try:
        # Every scalar as its text: 44.90 keeps its digits.
        told = yaml.load(head[1], Loader=yaml.BaseLoader) if head else None
    except (yaml.YAMLError, RecursionError, ValueError):
        return
    for entry in map(_mapping, _list(_mapping(told).get("model-index"))):
        yield from map(_mapping, _list(entry.get("results")))


def _without_brackets(text: str) -> str:
    return re.sub(r"\s*[(\[][^()\[\]]{0,80}[)\]]", "", text)


def _list(told: Any) -> Sequence[Any]:
    return told if isinstance(told, list) else ()


def _mapping(told: Any) -> Mapping[str, Any]:
    return told if isinstance(told, dict) else {}
