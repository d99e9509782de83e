"""Leads from the public API of Papers With Code: lists in pages, asked for no faster than it allows.

https://paperswithcode.co/api/v1/ : ``datasets/?search=`` and ``datasets/{id}/evaluations/?page=&page_size=``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from benchwright.contract import Exit, Failure, Problem, Progress
from benchwright.hub.candidates.journal import Journal
from benchwright.hub.candidates.leads import Lead, lead_of, paper_address
from benchwright.hub.candidates.mapping import BoardMapping, Rule, folded
from benchwright.hub.client import Hub, HubPatience

PUBLIC_API = "https://paperswithcode.co/api/v1"
VARIABLE = "PWC_API_URL"
"""Names another server with the same API."""
INCOMPLETE = "pwc-incomplete"
"""The code of a list that was not told to its end."""
_PAGE = 100
"""Rows of a page, the most there are."""
_LOGICAL = ("paper_id", "task_id", "dataset_id", "model_name", "harness")
"""What several rows have in common that are one result, with different metrics."""
_NUMBER_OF_PAGE = re.compile(r"(?:\A|[?&]page=)(\d+)(?:\Z|&)")


class PwcApi:
    """The API, asked at most once in ``pause`` seconds. What it answered is in the journal, and not asked for again.

    ``incomplete`` are lists that ended before as many rows as they were said to have.
    """

    def __init__(
        self,
        journal: Journal,
        address: str = PUBLIC_API,
        patience: HubPatience | None = None,
        *,
        pause: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.incomplete: list[Problem] = []
        # A client for JSON over HTTP that waits as it is told to: of the Hub's own it does nothing, and sends no token.
        self._server = Hub(address, False, patience)
        self._journal = journal
        self._pause, self._sleep = pause, sleep
        self._last: float | None = None

    def leads(self, mapping: BoardMapping, progress: Progress) -> list[Lead]:
        """All results of mapped benchmarks whose models have an address on the Hub.

        Raises:
            Failure: the API does not answer (exit 4), or says what it does not say by its documents (exit 3).
        """
        datasets = self._datasets(mapping, progress)
        found: list[Lead] = []
        for number, (id_, told) in enumerate(datasets.items()):
            progress(number, len(datasets), note=str(told.get("slug")))
            rows = self._list(f"/datasets/{id_}/evaluations/", ordering="best_rank")
            found += _leads(told, rows)
        progress(len(datasets), len(datasets))
        return found

    def _datasets(self, mapping: BoardMapping, progress: Progress) -> dict[str, Mapping[str, Any]]:
        """The datasets of mapped benchmarks by their ids, found by any of their names."""
        found: dict[str, Mapping[str, Any]] = {}
        names = list(dict.fromkeys(name for rule in mapping.rules for name in rule.names))
        for number, name in enumerate(names):
            progress(number, len(names), note=name)
            for told in self._list("/datasets/", search=name):
                if _is_mapped(mapping.rules, told):
                    found[str(told.get("id"))] = told
        return found

    def _list(self, path: str, **words: str) -> list[Mapping[str, Any]]:
        """All rows of a list, each once: what moves while it is read may come twice."""
        rows: dict[str, Mapping[str, Any]] = {}
        page, seen = 1, 0
        while True:
            target = f"{path}?{urlencode({**words, 'page': page, 'page_size': _PAGE})}"
            told = self._journal.once("page", target, lambda target=target: self._ask(target))  # type: ignore[misc]
            rows |= {str(row.get("id")): row for row in told["results"] if isinstance(row, dict)}
            seen += len(told["results"])
            following = _next_page(told, page, seen)
            if following is None:
                break
            page = following
        count = told.get("count")
        if isinstance(count, int) and len(rows) < count:
            found = f"{len(rows)} of {count} rows"
            self.incomplete.append(
                Problem("pwc-incomplete", path, found, "all rows", "search again under another name")
            )
        return list(rows.values())

    def _ask(self, target: str) -> Any:
        if self._last is not None:
            self._sleep(max(0.0, self._last + self._pause - time.monotonic()))
        try:
            answer = self._server.get(target, where=target)
        except Failure as failure:
            problems = [replace(one, code="pwc-unavailable") for one in failure.problems]
            raise Failure(problems, exit=failure.exit) from None
        finally:
            self._last = time.monotonic()
        try:
            told = json.loads(answer.content, parse_float=Decimal) if answer.status == 200 else None
        except ValueError:
            told = None
        if not isinstance(told, dict) or not isinstance(told.get("results"), list):
            found = "an answer that is no list" if answer.status == 200 else f"HTTP {answer.status}"
            fix = f"is {self._server.endpoint} the API of Papers With Code? Set {VARIABLE}, or use another --source"
            raise Failure(Problem("pwc-answer", target, found, "a page of a list", fix), exit=Exit.ENVIRONMENT)
        return told


def _is_mapped(rules: Iterable[Rule], dataset: Mapping[str, Any]) -> bool:
    return any(name in rule.keys for name in map(folded, _names(dataset)) for rule in rules)


def _names(dataset: Mapping[str, Any]) -> list[str]:
    """What a dataset is called; its address on the Hub tells its id there."""
    told = [dataset.get(key) for key in ("slug", "name", "full_name")]
    address = str(dataset.get("hf_url") or "").rstrip("/").split("/datasets/")
    return [str(name) for name in (*told, *address[1:2]) if name]


def _next_page(told: Mapping[str, Any], page: int, seen: int) -> int | None:
    """The page behind one: as it says, or else while there are more rows; None for the last, and for an empty one."""
    if not told["results"]:
        return None
    if "next_page" in told:
        named = _NUMBER_OF_PAGE.search(str(told["next_page"]))
        return int(named[1]) if named and int(named[1]) > page else None
    count = told.get("count")
    return page + 1 if isinstance(count, int) and seen < count else None


def _leads(dataset: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Iterator[Lead]:
    """A lead for each metric of a result. Of rows that are one result, each tells what the others leave out."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row.get(name)) for name in _LOGICAL), []).append(row)
    for group in groups.values():
        told = {name: value for row in reversed(group) for name, value in row.items() if value not in (None, "")}
        addresses = {str(row["hf_model_url"]) for row in group if row.get("hf_model_url")}
        for row in group:
            url = row.get("hf_model_url") or (addresses.copy().pop() if len(addresses) == 1 else None)
            metrics = row.get("metrics")
            for metric, value in metrics.items() if url and isinstance(metrics, dict) else ():
                if isinstance(value, str | int | Decimal) and not isinstance(value, bool):
                    yield _lead(dataset, {**told, "id": row.get("id"), "url": url, "metric": metric}, str(value))


def _lead(dataset: Mapping[str, Any], told: Mapping[str, Any], value_text: str) -> Lead:
    source = told.get("source_url") or told.get("result_url") or paper_address(told.get("paper_arxiv_id"))
    more = {
        "value_text": value_text,
        "pwc_task": told.get("task_slug"),
        "published": told.get("paper_published_date"),
        "source_url": source,
        "remark": "uses additional data" if told.get("uses_additional_data") is True else None,
    }
    return lead_of({**told, **more}, *_names(dataset))
