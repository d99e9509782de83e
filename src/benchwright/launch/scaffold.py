"""From a model's name to a filled run script: the defaults it takes, and the template it fills."""

from __future__ import annotations

import datetime
import io
import re
import tokenize
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchwright.arena import ArenaSpec, ModelInfo, TaskSubset
from benchwright.contract import Exit, Failure, Problem, usage_error
from benchwright.files import RunPaths

ALL_PROBLEM_TYPES = ("binary", "multiclass", "regression")
RERUN_SUFFIX = " [Rerun]"
_MARKER = re.compile(r"""(["'])<([a-z_]+)>\1""")


@dataclass(frozen=True)
class Choices:
    """What a run script is filled with: the identities, what is fitted, and where.

    ``num_configs`` is ``"all"`` or the number of random configs beside the default one. ``subset`` and each entry of
    ``eval_subsets`` are subset expressions; an empty one is the whole arena. ``result_suffix`` tells a run of a model
    that the arena has reference results of from those.
    """

    model: str
    key: str
    benchmark_name: str
    arena: str
    num_configs: int | str
    subset: tuple[str, ...]
    eval_subsets: tuple[tuple[str, ...], ...]
    job_name: str
    resources: Mapping[str, int]
    workspace: str
    python_path: str
    result_suffix: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The choices as JSON data."""
        return asdict(self)

    def markers(self) -> dict[str, str]:
        """The Python literal that takes each marker's place."""
        literals = {
            name: repr(value) for name, value in self.to_dict().items() if name not in ("subset", "eval_subsets")
        }
        literals["subset"] = repr(list(self.subset))
        literals["eval_subsets"] = repr([list(subset) for subset in self.eval_subsets])
        return {name: text.replace("'", '"') if '"' not in text else text for name, text in literals.items()}


def choose(
    info: ModelInfo,
    spec: ArenaSpec,
    *,
    workspace: Path,
    python_path: str,
    configs: int | str | None = None,
    subset: Sequence[str] = (),
    name: str | None = None,
    fake_memory_for_estimates: int | None = None,
    hosted: Collection[str] = (),
    today: datetime.date | None = None,
) -> Choices:
    """The benchmark protocol's choices for one model, each of which the caller may override.

    A model with a search space runs its default config and all random ones, any other its default alone. A model that
    fits one kind of problem only is run and evaluated on that kind. A GPU model needs its card's memory in GB, since
    AutoGluon would plan parallel folds by the machine's RAM. ``hosted`` are the methods that the arena has results of.

    Raises:
        Failure: a value is wrong or missing; all problems at once (exit 2).
    """
    today = datetime.date.today() if today is None else today
    name = name or f"{re.sub(r'[^a-z0-9]', '', info.key.lower())}_{today:%d%m%Y}"
    problems = [*_problems(info, configs, fake_memory_for_estimates), *_name_problems(workspace, name)]
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    kinds = tuple(kind for kind in ALL_PROBLEM_TYPES if kind in info.problem_types)
    whole = kinds == ALL_PROBLEM_TYPES
    scope = tuple(subset) if whole else (*subset, "|".join(kinds))
    resources = {} if info.compute == "cpu" else {"num_gpus": 1, "fake_memory_for_estimates": fake_memory_for_estimates}
    chosen = Choices(
        model=info.name,
        key=info.key,
        benchmark_name=name,
        arena=spec.name,
        num_configs=configs if configs is not None else "all" if info.has_search_space else 0,
        subset=scope,
        eval_subsets=((), *((kind,) for kind in kinds)) if whole else (("|".join(kinds),),),
        job_name=info.compute,
        resources={key: value for key, value in resources.items() if value is not None},
        workspace=str(workspace),
        python_path=python_path,
        result_suffix=RERUN_SUFFIX if info.name in hosted else "",
    )
    spec.tasks.select(TaskSubset(subset=list(chosen.subset)))  # an unknown subset is refused here, with close names
    return chosen


def _problems(info: ModelInfo, configs: int | str | None, vram: int | None) -> list[Problem]:
    problems = []
    if not info.has_search_space and configs not in (None, 0):
        problems.append(
            Problem("no-search-space", "--configs", f"{configs} for {info.name}, which has no search space", "0")
        )
    if isinstance(configs, int) and configs < 0:
        problems.append(Problem("usage", "--configs", str(configs), "all, 0 or a positive number"))
    if info.compute == "gpu" and vram is None:
        problems.append(
            Problem(
                "no-gpu-memory",
                "--fake-memory-for-estimates",
                f"nothing given, and {info.name} is a GPU model",
                "the card's memory in GB, so that parallel folds are planned by it and not by the machine's RAM",
            )
        )
    if info.compute == "cpu" and vram is not None:
        problems.append(
            Problem(
                "gpu-memory-on-cpu",
                "--fake-memory-for-estimates",
                f"{vram} for {info.name}, which runs on the CPU",
                "nothing: a CPU model's estimate is held against the machine's RAM",
            )
        )
    return problems


def _name_problems(workspace: Path, name: str) -> Sequence[Problem]:
    try:
        RunPaths(workspace, name)
    except Failure as failure:
        return failure.problems
    return ()


def fill(template: str, choices: Choices) -> str:
    """The template with every marker replaced and the guidance behind ``# EDIT`` removed.

    Raises:
        ValueError: the template has a marker that the choices do not know.
    """
    literals = choices.markers()
    unknown = {name for _, name in markers(template)} - set(literals)
    if unknown:
        raise ValueError(f"the template's markers {sorted(unknown)} are not known")
    filled = _MARKER.sub(lambda match: literals[match[2]], template)
    return re.sub(r"  # EDIT.*$", "", filled, flags=re.M)


def markers(source: str) -> list[tuple[int, str]]:
    """Line number and name of every unfilled marker: a string literal that reads ``<name>``."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        match = _MARKER.fullmatch(token.string) if token.type == tokenize.STRING else None
        if match:
            found.append((token.start[0], match[2]))
    return found


def require_filled(script: Path | str) -> None:
    """Refuse a run script that still has markers.

    Raises:
        Failure: one problem a marker, naming its line (exit 2).
    """
    unfilled = markers(Path(script).read_text())
    if unfilled:
        raise Failure(
            [
                Problem(
                    "unfilled-marker",
                    f"{script}:{line}",
                    f"the marker <{name}> is not filled",
                    "a value",
                    "scripts/new_benchmark.py MODEL fills every marker, or write the value there",
                )
                for line, name in unfilled
            ],
            exit=Exit.USAGE,
        )


def parse_configs(text: str) -> int | str:
    """``all`` or a number from the command line.

    Raises:
        Failure: it is neither (exit 2).
    """
    if text == "all":
        return text
    if not re.fullmatch(r"\d+", text):
        raise usage_error("--configs", repr(text), "all, 0 or a number")
    return int(text)
