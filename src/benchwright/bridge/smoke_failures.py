"""What a failed smoke fit means: something this machine lacks, or a fault of the model's wrapper."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.arena import ModelInfo
from benchwright.bridge.weights import install_command
from benchwright.contract import Exit, Problem

_CPU = 'SMOKE_EXTRA_HYPERPARAMETERS = {"device": "cpu"}'
_WEIGHTS = re.compile(
    "LocalEntryNotFoundError|HfHubHTTPError|OfflineModeIsEnabled|(Pretrained)?WeightsUnavailableError"
    "|ConnectionError|ConnectError|ConnectTimeout|URLError|gaierror"
)
_DEVICE = re.compile(r"cuda|cudnn|cublas|nvidia|NoGPU|num_gpus per|\bgpus?\b", re.IGNORECASE)
_MESSAGE_LINES = 8
_MESSAGE_CHARACTERS = 800


def explained(
    error: Exception,
    info: ModelInfo,
    model_cls: Any,
    settings: Mapping[str, object],
    extra: Mapping[str, object],
    *,
    cuda: bool,
) -> tuple[Problem, Exit]:
    """The problem that an exception of a fit amounts to, and the exit code.

    ``settings`` are all the hyperparameters of the fit, ``extra`` those that the run script adds. ``cuda`` says whether
    this machine has a CUDA device. Missing weights are told by the exception's class, a missing device by its message,
    since each library has its own words for that.
    """
    where = f"model {info.name}"
    found = _found(error, model_cls)
    causes = [error, *([error.__cause__] if error.__cause__ else [])]
    if any(_is_of_weights(one) for one in _chain(error)):
        return _weights(where, found), Exit.ENVIRONMENT
    if any(isinstance(one, ImportError) for one in causes):
        return _not_installed(error, info), Exit.ENVIRONMENT
    if any(_DEVICE.search(f"{type(one).__name__}: {one}") for one in causes):
        return _device(where, found, settings, cuda=cuda), Exit.NO if cuda else Exit.ENVIRONMENT
    if any(isinstance(one, MemoryError) or type(one).__name__ == "NotEnoughMemoryError" for one in causes):
        fix = "free some, or run the smoke fit on a machine with more"
        return Problem("not-enough-memory", where, found, "memory for a fit of a few rows", fix), Exit.ENVIRONMENT
    refused = [name for name in extra if isinstance(error, TypeError) and f"'{name}'" in str(error)]
    if refused:
        fix = f"take {' and '.join(refused)} out of SMOKE_EXTRA_HYPERPARAMETERS in the run script"
        return Problem("fit-failed", where, found, "hyperparameters that the model takes", fix), Exit.NO
    fix = "mend the model's wrapper (the whole traceback is on stderr), then run the smoke fit again"
    if info.compute == "gpu" and not info.reads_num_gpus and not cuda and "device" not in settings:
        fix += f"; it does not read num_gpus, so without a GPU it may need {_CPU} in the run script"
    return Problem("fit-failed", where, found, "a fit that AutoGluon's own check accepts", fix), Exit.NO


def _weights(where: str, found: str) -> Problem:
    expected = "its weights in the cache, or a connection to fetch them"
    return Problem(
        "weights-missing", where, found, expected, "connect (and log in, for gated weights) and run this again"
    )


def _not_installed(error: Exception, info: ModelInfo) -> Problem:
    module = next((one.name for one in _chain(error) if isinstance(one, ModuleNotFoundError) and one.name), None)
    if info.pip_extra:
        fix = install_command(info.name)
    elif module:
        fix = f"install what has the module {module} (mostly: pip install {module.partition('.')[0]})"
    else:
        fix = "install it and run this again"
    found = str(error).strip().partition("\n")[0]
    return Problem("not-installed", f"model {info.name}", found, "its libraries", fix)


def _device(where: str, found: str, settings: Mapping[str, object], *, cuda: bool) -> Problem:
    if "device" not in settings:
        fix = f"set {_CPU} in the run script and run the smoke fit again, or run it on a machine with a GPU"
    elif cuda:
        fix = "free the GPU, or mend the model's wrapper, then run the smoke fit again"
    else:
        fix = "run the smoke fit on a machine with a GPU, or skip it"
    expected = "a fit on this GPU" if cuda else "a fit on the CPU, since this machine has no CUDA device"
    return Problem("device", where, found, expected, fix)


def _is_of_weights(error: BaseException) -> bool:
    return any(_WEIGHTS.fullmatch(kind.__name__) for kind in type(error).__mro__)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception, and those it came from or came up in the handling of."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _found(error: Exception, model_cls: Any) -> str:
    """What was raised, shortened, and where: the wrapper's line, and the innermost one."""
    lines = "".join(traceback.format_exception_only(error)).strip().splitlines()
    text = "\n".join(lines[:_MESSAGE_LINES])[:_MESSAGE_CHARACTERS]
    frames = traceback.extract_tb(error.__traceback__)
    wrapper = inspect.getsourcefile(model_cls)
    of_wrapper = [frame for frame in frames if frame.filename == wrapper][-1:]
    places = dict.fromkeys(f"{frame.filename}:{frame.lineno}, {frame.name}" for frame in [*of_wrapper, *frames[-1:]])
    return f"{text} (at {'; '.join(places)})"
