"""The source of a search, read once: a database, an API, cards or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchwright.contract import Problem, usage_error
from benchwright.hub.candidates.csv_source import csv_leads, read_models
from benchwright.hub.candidates.journal import Journal
from benchwright.hub.candidates.leads import Lead
from benchwright.hub.candidates.mapping import BoardMapping, Mapped
from benchwright.hub.candidates.options import SearchOptions, ShowProgress
from benchwright.hub.client import Hub
from benchwright.hub.model_repo import namespace_kind, normalise_url


@dataclass(frozen=True)
class Found:
    """What a source has, on its boards.

    ``unmapped`` counts results of mapped benchmarks whose metric no board measures, ``problems`` are what the source
    did not tell.
    """

    mapped: tuple[Mapped, ...]
    unmapped: Mapping[str, int]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, kw_only=True)
class SourceReader:
    """Reads the leads of the source that the options name; the journal has them once they are all there."""

    options: SearchOptions
    settings: Mapping[str, str]
    mapping: BoardMapping
    journal: Journal
    hub: Hub
    progress: ShowProgress

    def found(self) -> Found:
        """The leads of the models that are asked for.

        Raises:
            Failure: the source lacks what it needs, or has nothing of an organisation that is not there (exit 2 or 3),
                or does not answer (exit 4).
        """
        told = self.journal.once("leads", "", self._told)
        leads = [Lead.noted(one) for one in told["leads"]]
        mapped, unmapped = self.mapping.apply(lead for lead in leads if lead.value_text)
        return Found(tuple(mapped), unmapped, tuple(Problem(**one) for one in told["problems"]))

    def _told(self) -> dict[str, Any]:
        options = self.options
        models = read_models(options.models) if options.models and options.source != "csv" else None
        leads, problems = self._leads(models)
        chosen = [asdict(lead) for lead in leads if _is_asked_for(lead.url, options.org, models)]
        if options.org is not None and not chosen and namespace_kind(self.hub, options.org) is None:
            fix = "write it as in the address of its page on the Hub"
            raise usage_error("--org", f"nobody on the Hub is called {options.org}", "an organisation", fix)
        return {"leads": chosen, "problems": [one.to_dict() for one in problems]}

    def _leads(self, models: frozenset[str] | None) -> tuple[list[Lead], Sequence[Problem]]:
        options = self.options
        if options.source == "db":
            from benchwright.hub.candidates.pwc_database import database_leads

            return database_leads(self.settings, self.mapping), ()
        if options.source == "api":
            from benchwright.hub.candidates.pwc_api import PUBLIC_API, VARIABLE, PwcApi

            address = self.settings.get(VARIABLE, PUBLIC_API)
            api = PwcApi(self.journal, address, options.patience, pause=options.pause)
            with self.progress("reading") as show:
                return api.leads(self.mapping, show), api.incomplete
        if options.source == "cards":
            from benchwright.hub.candidates.cards import card_leads, models_of

            wanted = models if models is not None else models_of(self.hub, options.org or "")
            with self.progress("reading cards") as show:
                return card_leads(self.hub, sorted(wanted), self.mapping, self.journal, show)
        assert options.models is not None
        return csv_leads(options.models), ()


def _is_asked_for(url: str, org: str | None, models: frozenset[str] | None) -> bool:
    """Whether a model is of the organisation, and of the models, that were named."""
    id_ = (normalise_url(url) or "").lower()
    if org is not None and id_.partition("/")[0] != org.lower():
        return False
    return models is None or id_ in {one.lower() for one in models}
