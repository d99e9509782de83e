"""The models of ``tabarena``'s registry, as our own values."""

from __future__ import annotations

import contextlib
import copy
import inspect
import logging
from collections.abc import Iterator
from functools import cache
from typing import Any

from benchwright.arena import MethodMetadata, ModelInfo, did_you_mean
from benchwright.contract import usage_error

_PROBLEM_TYPES = ("binary", "multiclass", "regression")


def model_infos() -> tuple[ModelInfo, ...]:
    """Every registered model, in the registry's order. The first call imports the registry: two seconds or more."""
    return tuple(info for info, _ in _registry())


def model_info(name: str) -> ModelInfo:
    """The model called ``name``.

    The entry of that registry name, or else the first of that display name; failing that, the only one whose names or
    folder it is when case is ignored. ``tabarena`` takes display names alike, so that it cannot name ModernNCA, which
    ModernNCA_GPU is displayed as.

    Raises:
        Failure: none is called so, or several are (exit 2), with close names.
    """
    return registered(name)[0]


def registered(name: str) -> tuple[ModelInfo, Any]:
    """The model called ``name``, and ``tabarena``'s own entry for it; raises like ``model_info``."""
    entries = _registry()
    exact = [entry for entry in entries if entry[0].name == name] or [e for e in entries if e[0].display_name == name]
    if exact:
        return exact[0]
    folded = name.casefold()
    found = [entry for entry in entries if folded in map(str.casefold, _names(entry[0]))]
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(repr(info.name) for info, _ in found)
        said = f"{name!r} stands for {len(found)} models"
        raise usage_error("model", said, names, "give one of these names", code="ambiguous-model")
    known = {known.casefold(): known for info, _ in entries for known in reversed(_names(info))}.values()
    raise usage_error("model", f"no model is called {name!r}", "", did_you_mean(name, known), code="unknown-model")


def random_configs(name: str, wanted: int) -> int:
    """How many of ``wanted`` random configs the search space of a model has: a small one has fewer.

    Raises:
        Failure: the model is unknown (exit 2).
    """
    generator = registered(name)[1].search_space
    if wanted <= 0 or not _has_search_space(generator):
        return 0
    with _quiet():
        if _can_sample(generator, wanted):
            return wanted
        enough, too_many = 0, wanted  # sampling is seeded, so that where it gives up is always the same
        while too_many - enough > 1:
            middle = (enough + too_many) // 2
            enough, too_many = (middle, too_many) if _can_sample(generator, middle) else (enough, middle)
    return enough


def _can_sample(generator: Any, number: int) -> bool:
    """Whether a config generator finds that many different configs."""
    from autogluon.core.searcher.exceptions import ExhaustedSearchSpaceError

    try:
        copy.deepcopy(generator).get_searcher_configs(number)
    except (ExhaustedSearchSpaceError, AssertionError):  # the latter where the searcher does not know its space's size
        return False
    return True


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the searcher's warnings about a search space that has no more."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _names(info: ModelInfo) -> tuple[str, str, str]:
    return info.name, info.display_name, info.key


@cache
def _registry() -> tuple[tuple[ModelInfo, Any], ...]:
    from tabarena.models import get_model_registry

    return tuple((_info(entry), entry) for entry in get_model_registry().values())


def _info(entry: Any) -> ModelInfo:
    from autogluon.core.models import AbstractModel

    metadata, model = MethodMetadata.from_object(entry.method_metadata), entry.model_cls
    static_estimate = model._estimate_memory_usage_static.__func__
    supported = model.supported_problem_types()
    return ModelInfo(
        name=metadata.method,
        key=_folder(entry),
        display_name=metadata.display_name,
        ag_name=entry.search_space.name,
        compute=metadata.compute,
        problem_types=tuple(kind for kind in _PROBLEM_TYPES if supported is None or kind in supported),
        has_search_space=_has_search_space(entry.search_space),
        pip_extra=tuple(entry.pip_extra),
        prefetches_weights=entry.prefetch_weights is not None or getattr(model, "shared_weights", None) is not None,
        estimates_memory=static_estimate is not AbstractModel._estimate_memory_usage_static.__func__,
        reads_num_gpus="num_gpus" in inspect.signature(model._fit).parameters,
        superseded=entry.superseded,
        metadata=metadata,
    )


def _folder(entry: Any) -> str:
    """The folder of a registered model: that of the module that made its entry, found by the entry itself."""
    import sys

    prefix = "tabarena.models."
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix) and name.endswith(".info") and any(one is entry for one in vars(module).values()):
            return name.removeprefix(prefix).removesuffix(".info")
    return str(entry.method_metadata.method)


def _has_search_space(generator: Any) -> bool:
    """Whether a config generator can make random configs beside the manual ones."""
    return bool(getattr(generator, "search_space", None)) or getattr(generator, "search_space_func", None) is not None
