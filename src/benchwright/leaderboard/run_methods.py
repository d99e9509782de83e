"""The methods of a run: which result files are theirs, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import prefix_of
from benchwright.contract import Exit, Failure, Problem
from benchwright.files import inside
from benchwright.leaderboard.labels import method_label
from benchwright.raw import RawFile


@dataclass(frozen=True, slots=True)
class EvalMethod:
    """One of the run's methods to put on the leaderboard.

    ``name`` is the registry's. Its results are found by the model's AutoGluon name, or by ``ag_name_override`` (needed
    for what is not in the registry). ``result_suffix`` tells a re-run from the hosted method: it becomes part of its
    name and of its label. ``display_name_override`` takes the registry's display name's place. ``only_load_cache``
    reads the tables of an earlier evaluation in place of the raw results.
    """

    name: str
    only_load_cache: bool = False
    ag_name_override: str | None = None
    result_suffix: str | None = None
    display_name_override: str | None = None


@dataclass(frozen=True)
class RunMethod:
    """A method of the run, resolved: whose folders to look for, and what is known of it.

    ``registered`` is the registry's description and ``key`` its folder there; both are None for another method.
    """

    request: EvalMethod
    ag_name: str
    registered: MethodMetadata | None
    key: str | None
    label: str
    suite: str

    @property
    def name(self) -> str:
        """The method's artifact name: the registry's, or else the request's, with the result suffix."""
        name = self.registered.method if self.registered is not None else self.request.name
        return name + (self.request.result_suffix or "")

    def artifact_folder(self, output_dir: Path) -> Path:
        """Where its processed tables belong."""
        suites = output_dir / "artifacts"
        return inside(inside(suites, self.suite) / "methods", self.name)

    def own(self, files: Iterable[RawFile]) -> list[RawFile]:
        """The result files that are the method's: by its exact AutoGluon name, never by a beginning of it."""
        return [file for file in files if experiment_owner(file.method) == self.ag_name or file.method == self.ag_name]


def experiment_owner(experiment: str) -> str:
    """The AutoGluon name in an experiment's name; a name without a config number stands for itself.

    ``TA-TabICLv2_c1_default_BAG_L1`` is ``TA-TabICLv2``'s, and not ``TA-TabICL``'s.
    """
    return prefix_of(experiment, {})


def resolve(requests: Sequence[EvalMethod], suite: str) -> list[RunMethod]:
    """The requested methods, with what the registry knows of them.

    Raises:
        Failure: there are none, two have the same name, one is not in the registry and has no ``ag_name_override``, or
            a label cannot be (exit 2); all problems at once.
    """
    problems: list[Problem] = []
    methods: list[RunMethod] = []
    for request in requests:
        try:
            methods.append(_resolved(request, suite))
        except Failure as failure:
            if failure.exit != Exit.USAGE:
                raise
            problems += failure.problems
    if not requests:
        fix = "put EvalMethod(MODEL) into methods of the run script"
        problems.append(Problem("usage", "methods", "none", "at least one EvalMethod", fix))
    seen: set[str] = set()
    for method in methods:
        if method.name in seen:
            problems.append(
                Problem(
                    "repeated-method",
                    method.name,
                    "more than one EvalMethod of that name",
                    "each method once",
                    f'EvalMethod({method.request.name!r}, result_suffix=" [Rerun]")',
                )
            )
        seen.add(method.name)
    if problems:
        raise Failure(problems, exit=Exit.USAGE)
    return methods


def _resolved(request: EvalMethod, suite: str) -> RunMethod:
    from benchwright.bridge import model_info

    try:
        info = model_info(request.name)
    except Failure as failure:
        if request.ag_name_override is None or failure.exit != Exit.USAGE:
            raise
        label = method_label(request.name, request.display_name_override, request.result_suffix)
        return RunMethod(request, request.ag_name_override, None, None, label, suite)
    label = method_label(info.display_name, request.display_name_override, request.result_suffix)
    return RunMethod(request, request.ag_name_override or info.ag_name, info.metadata, info.key, label, suite)
