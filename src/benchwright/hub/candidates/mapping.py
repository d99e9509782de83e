"""The mapping: which results elsewhere belong on which board of the Hub. Shipped as data, ``mapping.yaml``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchwright.contract import Exit, Failure, Problem, said, usage_error
from benchwright.files import read_bytes
from benchwright.hub.candidates.leads import Lead

Conversion = Literal["none", "x100", "/100"]
SHIPPED = Path(__file__).with_name("mapping.yaml")
_LABS = Path(__file__).with_name("major_labs.yaml")
_MOST_BYTES = 2**20
_FORM = "a list of lines of the form that mapping.yaml has"
_FIELDS = {
    "dataset": "an id, OWNER/NAME",
    "task": "text",
    "names": "a list of names",
    "metric": "a regular expression",
    "pwc_task": "text",
    "convert": "none, x100 or /100",
}
_NEEDED = ("dataset", "names", "metric")
_ID = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


@dataclass(frozen=True)
class Rule:
    """A board, and the results elsewhere that belong on it. ``task`` None: the only one that the benchmark has.

    ``names`` are those of the benchmark elsewhere, ``metric`` is a pattern for the whole name of the metric.
    """

    dataset: str
    task: str | None
    names: tuple[str, ...] = ()
    metric: str = ""
    pwc_task: str | None = None
    convert: Conversion = "none"

    @functools.cached_property
    def keys(self) -> frozenset[str]:
        """The names, folded, that results of this benchmark may be under; its dataset's id is one."""
        return frozenset(map(folded, (*self.names, self.dataset)))

    def takes_metric(self, metric: str) -> bool:
        """Whether a metric is the one that the task measures."""
        return re.fullmatch(self.metric, metric, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Mapped:
    """Leads that say the same, with the board they belong on. ``lead`` is the first of them, ``ids`` are of all."""

    lead: Lead
    rule: Rule
    ids: tuple[str, ...]

    @property
    def key(self) -> str:
        """What tells it from others, the same in each run."""
        lead, rule = self.lead, self.rule
        return "\t".join((lead.url, rule.dataset, rule.task or "", lead.value_text, *self.ids))


class BoardMapping:
    """All rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_key: dict[str, list[Rule]] = {}
        for rule in self.rules:
            for key in rule.keys:
                self._by_key.setdefault(key, []).append(rule)

    @classmethod
    def load(cls, own: Path | None = None) -> BoardMapping:
        """The shipped rules, and those of a file of the same form, which replace the shipped ones of their datasets.

        Raises:
            Failure: the file cannot be read or is not of that form; every problem of it (exit 2).
        """
        rules, shipped = _read(own) if own else [], _read(SHIPPED)
        said_again = {rule.dataset.lower() for rule in rules}
        return cls([*(rule for rule in shipped if rule.dataset.lower() not in said_again), *rules])

    def knows(self, *names: str) -> bool:
        """Whether a benchmark has a board, by any of its names elsewhere."""
        return any(folded(name) in self._by_key for name in names)

    def named(self, name: str) -> tuple[Rule, ...]:
        """The rules of a benchmark by one of its names elsewhere, the first of each board."""
        return tuple(_of_each_board(self._by_key.get(folded(name), ())))

    def rules_of(self, lead: Lead) -> list[Rule]:
        """The boards that a lead belongs on: the one that it names itself, or those of the rules."""
        if lead.hub_dataset:
            return [Rule(lead.hub_dataset, lead.hub_task or None)]
        taking = [
            rule
            for name in lead.benchmark
            for rule in self._by_key.get(folded(name), ())
            if rule.takes_metric(lead.metric) and (rule.pwc_task is None or rule.pwc_task == lead.pwc_task)
        ]
        return _of_each_board(taking)

    def apply(self, leads: Iterable[Lead]) -> tuple[list[Mapped], Mapping[str, int]]:
        """Leads on their boards, those that say the same as one; and how many have a metric that no board measures.

        The latter are by benchmark and metric, ``MMMU-Pro: overall``.
        """
        found: dict[tuple[str, Rule, str], Mapped] = {}
        left: dict[str, int] = {}
        for lead in leads:
            rules = self.rules_of(lead)
            if not rules:
                what = f"{lead.benchmark[0] if lead.benchmark else '?'}: {lead.metric or 'no metric'}"
                left[what] = left.get(what, 0) + 1
            for rule in rules:
                key = (lead.url, rule, lead.value_text)
                before = found[key].ids if key in found else ()
                found[key] = Mapped(found[key].lead if key in found else lead, rule, (*before, lead.id))
        return list(found.values()), left


def _of_each_board(rules: Iterable[Rule]) -> list[Rule]:
    """The first rule of each board."""
    boards: dict[tuple[str, str | None], Rule] = {}
    for rule in rules:
        boards.setdefault((rule.dataset, rule.task), rule)
    return list(boards.values())


def folded(name: str) -> str:
    """The letters and digits of a name, in lower case: ``SWE-bench Pro`` and ``swe_bench-pro`` are alike."""
    return "".join(filter(str.isalnum, name.casefold()))


@functools.cache
def major_labs() -> frozenset[str]:
    """The organisations whose models come first, in lower case: ``major_labs.yaml``."""
    import yaml

    return frozenset(name.lower() for name in yaml.safe_load(_LABS.read_text("utf-8")))


def _read(file: Path) -> list[Rule]:
    import yaml

    try:
        content = yaml.safe_load(read_bytes(file, limit=_MOST_BYTES))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise usage_error(
            str(file), f"no YAML: {' '.join(str(error).split())[:200]}", _FORM, "correct it", code="mapping"
        ) from None
    except OSError as error:
        raise usage_error(
            str(file), said(error), _FORM, "name a file that can be read with --mapping", code="mapping"
        ) from None
    if not isinstance(content, list):
        raise usage_error(str(file), "no list", _FORM, "correct it; each line begins with a dash", code="mapping")
    lines = {f"{file}: line {number}": told for number, told in enumerate(content, start=1)}
    problems = [problem for where, told in lines.items() for problem in _problems(where, told)]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return [Rule(**{"task": None, **told, "names": tuple(told["names"])}) for told in content]


def _problems(where: str, told: Any) -> Iterator[Problem]:
    if not isinstance(told, dict):
        yield Problem("mapping", where, repr(told)[:80], "a mapping with dataset, names and metric", "correct the line")
        return
    for name in _NEEDED:
        if name not in told:
            yield Problem("mapping", f"{where}: {name}", "missing", _FIELDS[name], "fill it in")
    for name, value in told.items():
        if name not in _FIELDS:
            fix = "take it out, or correct its name"
            yield Problem("mapping", f"{where}: {name}", "no such field", f"one of {', '.join(_FIELDS)}", fix)
        elif not _fits(name, value):
            yield Problem("mapping", f"{where}: {name}", repr(value)[:80], _FIELDS[name], "correct it")


def _fits(name: str, value: object) -> bool:
    if name == "names":
        return isinstance(value, list) and bool(value) and all(isinstance(one, str) and folded(one) for one in value)
    if not isinstance(value, str):
        return False
    if name == "metric":
        try:
            re.compile(value)
        except re.error:
            return False
    allowed = {"convert": ("none", "x100", "/100")}.get(name)
    return (allowed is None or value in allowed) and (name != "dataset" or _ID.fullmatch(value) is not None)
