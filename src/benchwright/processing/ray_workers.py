"""Units of work on the workers of a Ray cluster: the one at ``RAY_ADDRESS``, or one started here for the while."""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchwright.contract import Exit, Failure, Problem, named
from benchwright.forks import killed, processors

_Unit = TypeVar("_Unit")
_Output = TypeVar("_Output")
_SECONDS_TO_ANSWER = 5


def on_ray(
    work: Callable[[_Unit], _Output], units: Sequence[_Unit], *, processes: int
) -> Iterator[tuple[int, _Output]]:
    """The output of every unit with its position, as they come; ``processes`` are given to Ray at a time.

    Raises:
        Failure: Ray is not installed (exit 3), its cluster does not answer or come up, or a worker was killed (both
            exit 4).
    """
    try:
        import ray
    except ImportError:
        fix = "make setup in a checkout, or pip install 'benchwright[benchmark]'"
        problem = Problem("package-missing", "ray", "not installed", "ray, for --backend ray", fix)
        raise Failure(problem, exit=Exit.ENVIRONMENT) from None
    started = not ray.is_initialized()
    if started:
        _start(ray.init, _options(processes))
    try:
        remote = ray.remote(_call).options(num_cpus=1, max_retries=0)
        waiting = list(range(len(units)))[::-1]
        running: dict[Any, int] = {}
        while waiting or running:
            while waiting and len(running) < processes:
                number = waiting.pop()
                running[remote.remote(work, units[number])] = number
            (done, *_), _ = ray.wait(list(running))
            yield running.pop(done), ray.get(done)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise killed(f"the workers of Ray ({type(error).__name__})") from error
    finally:
        if started:
            ray.shutdown()


def _start(init: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Start Ray here, or join its cluster."""
    try:
        init(**options, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # a start that takes too long raises no kind of its own
        address = os.environ.get("RAY_ADDRESS")
        fix = f"run this again{', correct RAY_ADDRESS' if address else ''}, or use --backend local"
        raise _unreachable(address, f"did not come up: {' '.join(named(error).split())}", fix) from error


def _options(most: int) -> dict[str, Any]:
    """What ``ray.init`` needs. Workers start elsewhere than this process and must find the same package."""
    paths = [str(Path(__file__).parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment: dict[str, Any] = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, paths))}}
    address = os.environ.get("RAY_ADDRESS")
    if address:
        _check(address)
        return {"runtime_env": environment}
    environment["py_executable"] = shlex.quote(sys.executable)  # Ray would hand it to a shell as it is
    here = {"address": "local", "num_cpus": min(most, processors()), "include_dashboard": False}
    return {"runtime_env": environment, **here}


def _check(address: str) -> None:
    """Refuse an address where nothing listens, which Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():  # such as auto, which Ray resolves
        return
    try:
        socket.create_connection((host, int(port)), timeout=_SECONDS_TO_ANSWER).close()
    except OSError as error:
        fix = "start the cluster, correct RAY_ADDRESS, or use --backend local"
        raise _unreachable(address, f"no answer: {error}", fix) from None


def _unreachable(address: str | None, found: str, fix: str) -> Failure:
    where = f"RAY_ADDRESS={address}" if address else "ray"
    return Failure(Problem("ray-unreachable", where, found, "a Ray cluster", fix), exit=Exit.REMOTE)


def _call(work: Callable[[_Unit], _Output], unit: _Unit) -> _Output:
    return work(unit)
