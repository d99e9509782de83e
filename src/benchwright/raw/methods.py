"""The methods in a tree of results: told apart by the exact name before the config's number, never by a beginning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchwright.arena import MethodMetadata, did_you_mean
from benchwright.arena.config_names import prefix_of
from benchwright.contract import Failure, Progress, usage_error
from benchwright.raw.facts import ResultFacts, UnusableFile, read_facts
from benchwright.raw.finding import RawFile

RUNNER_PREFIX = "TA-"
"""What the names of the benchmark's own model classes begin with; methods are registered without it."""


@dataclass(frozen=True, slots=True)
class RawMethod:
    """The results of one method, ``name`` being the prefix of all its configs' names, and its unusable files."""

    name: str
    results: tuple[ResultFacts, ...]
    unusable: tuple[UnusableFile, ...] = ()

    @property
    def files(self) -> list[RawFile]:
        """All of its files, in the order in which a tree's files are found."""
        return sorted([*(result.file for result in self.results), *(each.file for each in self.unusable)])


def read_methods(
    files: Sequence[RawFile], *, only: Collection[str] = (), progress: Progress | None = None
) -> dict[str, RawMethod]:
    """The methods that ``files`` are the results of, by name; with ``only``, those of these names.

    A method's results say themselves which it is (see ``prefix_of``). An unusable file goes with the results of its
    config, or else by the name of its folder. ``progress`` counts files.
    """
    wanted = [file for file in files if _may_be_of(file, only)] if only else files
    results, unusable = read_facts(wanted, progress)
    methods = split_by_method(results, unusable)
    return {name: method for name, method in methods.items() if not only or name in only}


def read_declared(files: Sequence[RawFile], metadata: MethodMetadata, *, progress: Progress | None = None) -> RawMethod:
    """The method that ``metadata`` declares, see `method_declared`; others are read only where its name is not met."""
    methods = read_methods(files, only=names_of(metadata), progress=progress)
    return method_declared(metadata, methods or read_methods(files, progress=progress))


def split_by_method(results: Iterable[ResultFacts], unusable: Iterable[UnusableFile] = ()) -> dict[str, RawMethod]:
    """The methods that these are of, by name and in the order of names."""
    usable: dict[str, list[ResultFacts]] = defaultdict(list)
    broken: dict[str, list[UnusableFile]] = defaultdict(list)
    owners: dict[str, str] = {}
    for result in results:
        usable[result.prefix].append(result)
        owners[result.framework] = result.prefix
    for each in unusable:
        broken[owners.get(each.file.method) or prefix_of(each.file.method, {})].append(each)
    return {name: RawMethod(name, tuple(usable[name]), tuple(broken[name])) for name in sorted({*usable, *broken})}


def method_named(name: str, methods: Mapping[str, RawMethod], files: Iterable[RawFile]) -> RawMethod:
    """The method of exactly this name; ``files`` are all of the tree.

    Raises:
        Failure: there is none (exit 2, with the names that folders suggest).
    """
    if name in methods:
        return methods[name]
    known = {prefix_of(file.method, {}) for file in files}
    raise usage_error("--method", f"no results of {name!r}", "", did_you_mean(name, known), code="unknown-method")


def method_declared(metadata: MethodMetadata, methods: Mapping[str, RawMethod]) -> RawMethod:
    """The method that ``metadata`` declares: of its name, or of its name behind ``TA-``.

    A method that is alone may have been renamed: what differs is for the comparison to say. But one whose name begins
    with the declared one is another method, such as ``TabICLv2`` beside ``TabICL``.

    Raises:
        Failure: there is none (exit 2).
    """
    names = names_of(metadata)
    for name in names:
        if name in methods:
            return methods[name]
    if len(methods) == 1:
        (only,) = methods.values()
        if not only.name.startswith(names):
            return only
    raise _undecided(metadata, methods)


def names_of(metadata: MethodMetadata) -> tuple[str, str]:
    """The names that the results of this method have as a rule."""
    return metadata.method, RUNNER_PREFIX + metadata.method


def _undecided(metadata: MethodMetadata, methods: Mapping[str, RawMethod]) -> Failure:
    found = f"the results of {', '.join(methods)}"
    expected = f"results named {metadata.method}_c1..., or a choice"
    key = metadata.ag_key
    family = [method.name for method in methods.values() if key and any(one.ag_key == key for one in method.results)]
    fix = f"--method {family[0]}, the only one of ag_key {key!r}" if len(family) == 1 else "--method NAME"
    return usage_error(f"method {metadata.method!r}", found, expected, fix, code="ambiguous-method")


def _may_be_of(file: RawFile, names: Collection[str]) -> bool:
    """Whether the file's folder begins with the words of one of these names: all that can be told without a look."""
    return any(f"{file.method}_".startswith(f"{name}_") for name in names)
