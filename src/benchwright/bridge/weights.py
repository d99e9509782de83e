"""Pretrained weights, fetched on this machine before any item runs: compute nodes may have no network."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from benchwright.bridge.models import registered
from benchwright.bridge.network import reachable
from benchwright.contract import Exit, Failure, Problem

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")


def prefetch_weights(models: Iterable[str]) -> list[str]:
    """Make sure that the weights of every model that has some are in this machine's caches.

    A fetcher that several models share runs once. Returns a line for each fetched model, so nothing for models that
    are trained from scratch.

    Raises:
        Failure: a model is unknown (exit 2), or weights cannot be had (exit 3); a problem for each.
    """
    done: list[str] = []
    problems: list[Problem] = []
    fetchers = []
    for name in models:
        info, entry = registered(name)
        fetch = entry.prefetch_weights
        if fetch is None or fetch in fetchers:
            continue
        fetchers.append(fetch)
        try:
            with contextlib.redirect_stdout(io.StringIO()), hub_as_reachable():
                fetch()
        except ImportError as error:
            fix = install_command(info.name) if info.pip_extra else "install it and run this again"
            problems.append(Problem("not-installed", f"model {info.name}", str(error), "its libraries", fix))
        except Exception as error:  # noqa: BLE001 - each model fetches in its own way, and raises what it likes
            problems.append(
                Problem(
                    "weights-missing",
                    f"weights of {info.name}",
                    f"{type(error).__name__}: {error}",
                    "its weights in the cache, or a connection to fetch them",
                    "connect (and log in, for gated weights) and run this again",
                )
            )
        else:
            done.append(f"weights of {info.name} are in the cache")
    if problems:
        raise Failure(problems, exit=Exit.ENVIRONMENT)
    return done


def install_command(model: str) -> str:
    """What installs a model's packages into this Python, typed at the checkout's root; its installer may not be pip."""
    return shlex.join(
        [sys.executable, "scripts/run_venv.py", "--python", sys.executable, "--install", model, "--apply"]
    )


@contextlib.contextmanager
def hub_as_reachable() -> Iterator[None]:
    """Tell the Hub's client at once that there is no network, if so: by itself it retries for half a minute a file."""
    from huggingface_hub import constants

    offline = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = offline or not reachable(constants.ENDPOINT)
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline


def leave_the_hub_alone() -> None:
    """Keep this process's Hub clients off the network: weights that are not in the cache fail at once."""
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    constants: Any = sys.modules.get("huggingface_hub.constants")
    if constants is not None:  # it has read the environment already
        constants.HF_HUB_OFFLINE = True
