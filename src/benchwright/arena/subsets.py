"""Named subsets of an arena's splits, and the expressions that combine them.

``"a"`` is a name, ``"!a"`` its complement, ``"a|!b"`` a union; a list of such texts is their intersection, and a list
that holds lists is the union of these. ``[]`` is everything. The names belong to a vocabulary: ``small`` means up to
10,000 training rows in TabArena and 1,001 to 10,000 in BeyondArena. Names, bounds and grammar are those of
``tabarena`` 0.1.0. Training rows are a dataset's mean over the splits at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchwright.arena.split import Split
from benchwright.contract import Exit, Failure, Problem, did_you_mean

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")

Expression = str | Sequence[str | Sequence[str]]

_Test = Callable[[Split, float], bool]
"""Whether a split, whose dataset has so many training rows, belongs to a subset."""


@dataclass(frozen=True, slots=True)
class _Subset:
    holds: _Test
    needs: tuple[str, ...] = ()
    """The traits that the test reads, and that some arenas do not record."""


def _classes(split: Split) -> int:
    """The number of classes, or -1 for regression, as the published tables have it."""
    return -1 if split.n_classes is None else split.n_classes


def _rows(lowest: float, highest: float) -> _Subset:
    return _Subset(lambda split, rows: lowest <= rows <= highest)


_SHARED: Mapping[str, _Subset] = {
    "all": _Subset(lambda split, rows: True),
    "binary": _Subset(lambda split, rows: split.problem_type == "binary"),
    "multiclass": _Subset(lambda split, rows: split.problem_type == "multiclass"),
    "classification": _Subset(lambda split, rows: split.problem_type in ("binary", "multiclass")),
    "regression": _Subset(lambda split, rows: split.problem_type == "regression"),
    "medium": _rows(10_001, 100_000),
    "lite": _Subset(lambda split, rows: split.split == 0),
}

_TABARENA: Mapping[str, _Subset] = {
    **_SHARED,
    "small": _Subset(lambda split, rows: rows <= 10_000),
    "tiny": _Subset(lambda split, rows: rows <= 2_000),
    "2k-10k": _Subset(lambda split, rows: 2_000 < rows <= 10_000),
    "low_features": _Subset(lambda split, rows: split.n_features <= 500),
    "high_features": _Subset(lambda split, rows: split.n_features > 500),
    "tabpfn": _Subset(lambda split, rows: rows <= 10_000 and split.n_features <= 500 and _classes(split) <= 10),
    "tabicl": _Subset(lambda split, rows: rows <= 100_000 and split.n_features <= 500 and _classes(split) > 0),
    "low_cats": _Subset(lambda split, rows: split.categorical_share <= 0.5),
    "high_cats": _Subset(lambda split, rows: split.categorical_share > 0.5),
    "numerical": _Subset(lambda split, rows: split.categorical_share == 0),
}


def _count(trait: str, test: Callable[[int], bool]) -> _Subset:
    return _Subset(lambda split, rows: test(getattr(split.traits, trait)), (trait,))


def _regime(task_type: str) -> _Subset:
    return _Subset(lambda split, rows: split.traits.task_type == task_type, ("task_type",))


def _grouped(labels: str) -> _Subset:
    return _Subset(
        lambda split, rows: split.traits.task_type == "grouped" and split.traits.group_labels == labels, ("task_type",)
    )


def _is_numerical(split: Split, rows: float) -> bool:
    traits = split.traits
    return not traits.has_categorical and not traits.has_datetime and traits.text_columns == 0


_BEYONDARENA: Mapping[str, _Subset] = {
    **_SHARED,
    # One grouped dataset's training part is a little over a million rows.
    "large": _rows(100_001, 1_000_350),
    "small": _rows(1_001, 10_000),
    "tiny": _rows(101, 1_000),
    "iid": _regime("random"),
    "random": _regime("random"),
    "temporal": _regime("temporal"),
    "grouped": _regime("grouped"),
    "grouped_lpg": _grouped("per_group"),
    "grouped_lps": _grouped("per_sample"),
    "low-dim": _count("columns", lambda columns: columns <= 100),
    "high-dim": _count("columns", lambda columns: columns > 100),
    "dim_above_500": _count("columns", lambda columns: columns > 500),
    "text": _count("text_columns", lambda columns: columns > 0),
    "high-cardinality": _count("high_cardinality_columns", lambda columns: columns > 0),
    "numerical": _Subset(_is_numerical, ("has_categorical", "has_datetime", "text_columns")),
    "core": _Subset(lambda split, rows: bool(split.traits.in_core), ("in_core",)),
}

VOCABULARIES: Mapping[str, Mapping[str, _Subset]] = MappingProxyType(
    {"tabarena": MappingProxyType(_TABARENA), "beyondarena": MappingProxyType(_BEYONDARENA)}
)

SHORTCUTS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "tabarena": {
            "full": (),
            "lite": ("lite",),
            "low_cats": ("low_cats",),
            "high_cats": ("high_cats",),
            "low_features": ("low_features",),
            "high_features": ("high_features",),
            "numerical": ("numerical",),
        },
        "beyondarena": {
            "large": ("core", "large"),
            "high_dim": ("core", "high-dim"),
            "low_dim": ("core", "low-dim"),
            "high_cardinality": ("core", "high-cardinality"),
            "grouped": ("core", "grouped"),
            "temporal": ("core", "temporal"),
            "iid": ("core", "iid"),
            "random": ("core", "random"),
            "text": ("core", "text"),
            "numerical": ("core", "numerical"),
            "hc_nolarge": ("core", "high-cardinality", "!large"),
            "hc_nolarge_lite": ("core", "lite", "high-cardinality", "!large"),
        },
    }
)
"""Each arena's standard slices by name, as expressions; they are not names within an expression."""


def subset_names(vocabulary: str = "tabarena") -> tuple[str, ...]:
    """The names that expressions of an arena may use, in its order."""
    return tuple(VOCABULARIES[vocabulary])


def subset_label(expression: Expression) -> str:
    """A file name for an expression: ``full`` for everything, otherwise the sorted parts joined by ``_``.

    For plain names that is the public leaderboards' label. ``!a`` reads ``not-a``, ``a|b`` reads ``a-or-b``, and ``+``
    joins the parts of a union of lists.
    """
    labels = ["_".join(sorted(_spelled(text) for text in view)) or "full" for view in views(expression)]
    return "+".join(labels)


def _spelled(text: str) -> str:
    _, atoms = _parse(text)
    return "-or-".join(("not-" if negated else "") + _UNSAFE.sub("-", name) for negated, name in atoms)


def matching(splits: Sequence[Split], expression: Expression, vocabulary: str) -> tuple[Split, ...]:
    """The splits that an expression selects, in their order.

    Raises:
        Failure: the expression is malformed or uses an unknown name (exit 2, one problem for each), or a subset reads
            a trait that a dataset does not record (exit 2).
    """
    subsets = VOCABULARIES[vocabulary]
    parsed = [[_parse(text) for text in view] for view in views(expression)]
    problems = [
        problem for view in parsed for text, atoms in view for problem in _syntax_problems(text, atoms, tuple(subsets))
    ]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    rows = _mean_train_rows(splits)
    kept: set[tuple[str, int, int]] = set()
    for view in parsed:
        left = list(splits)
        for _, atoms in view:
            chosen = [(subsets[name], negated) for negated, name in atoms]
            _require_traits(left, [(name, subsets[name].needs) for _, name in atoms])
            left = [
                split
                for split in left
                if any(subset.holds(split, rows[split.dataset]) != negated for subset, negated in chosen)
            ]
        kept.update(split.coordinates for split in left)
    return tuple(split for split in splits if split.coordinates in kept)


def views(expression: Expression) -> list[list[str]]:
    """The lists of texts whose intersections an expression unites.

    Raises:
        Failure: it is neither a text nor a list of texts or of lists of texts (exit 2).
    """
    if isinstance(expression, str):
        return [[expression]]
    if isinstance(expression, list | tuple):
        if all(isinstance(part, str) for part in expression):
            return [[part for part in expression if isinstance(part, str)]]
        united = [[part] if isinstance(part, str) else part for part in expression]
        if all(isinstance(view, list | tuple) and all(isinstance(text, str) for text in view) for view in united):
            return [list(view) for view in united]
    raise Failure(
        Problem(
            "subset",
            "subset",
            repr(expression),
            "a name, a list of expressions, or a list of such lists",
            'write it such as "lite", ["lite", "binary"] or [["binary"], ["regression"]]',
        ),
        exit=Exit.USAGE,
    )


_Atom = tuple[bool, str]


def _parse(text: str) -> tuple[str, list[_Atom]]:
    """A text and its atoms: whether each is negated, and its name (empty where nothing stands)."""
    parts = [part.strip() for part in text.split("|")]
    return text, [(part.startswith("!"), part.removeprefix("!").strip()) for part in parts]


def _syntax_problems(text: str, atoms: Sequence[_Atom], names: Sequence[str]) -> Iterator[Problem]:
    where = f"subset {text!r}"
    for negated, name in atoms:
        if not name:
            found = "nothing after '!'" if negated else "nothing between '|'" if len(atoms) > 1 else "an empty text"
            yield Problem("subset", where, found, "a name", did_you_mean("", names))
        elif name not in names:
            yield Problem("subset", where, f"no subset is called {name!r}", "", did_you_mean(name, names))


def _require_traits(splits: Sequence[Split], atoms: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    problems = []
    for name, needs in atoms:
        for trait in needs:
            unknown = dict.fromkeys(split.dataset for split in splits if getattr(split.traits, trait) is None)
            if unknown:
                problems.append(unknown_trait(f"subset {name!r}", trait, list(unknown)))
    if problems:
        raise Failure(problems, exit=Exit.USAGE)


def unknown_trait(where: str, trait: str, datasets: Sequence[str]) -> Problem:
    """The problem that ``where`` asks for a trait that some datasets do not record."""
    shown = ", ".join(datasets[:3]) + (", ..." if len(datasets) > 3 else "")
    found = f"{trait} is not recorded for {len(datasets)} of its datasets ({shown})"
    return Problem("unknown-trait", where, found, "an arena that records it", "choose another subset, or name datasets")


def _mean_train_rows(splits: Sequence[Split]) -> dict[str, float]:
    sizes: dict[str, list[float]] = {}
    for split in splits:
        sizes.setdefault(split.dataset, []).append(split.train_rows)
    return {dataset: sum(rows) / len(rows) for dataset, rows in sizes.items()}
