"""Kill a call at its n-th step that writes, in a process of its own, as a machine that goes down would."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_NAMES = {
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.truncate",
    "shutil.rmtree",
    "subprocess.Popen",
}


def killed_at(step: int, call: Callable[[], object]) -> bool:
    """Whether the call was killed before its n-th step that writes. Where it has fewer, it ended."""
    child = os.fork()
    if child == 0:
        try:
            _count(step)
            call()
        except BaseException:  # noqa: BLE001  nothing of this may get out of the child
            os._exit(3)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, f"the call failed with {os.WEXITSTATUS(status)} and was not killed"
    return False


def kills(call: Callable[[], object], fresh: Callable[[], object]) -> Iterator[int]:
    """Each step at which a call can be killed, after it was; ``fresh`` makes what the call works on anew."""
    for step in range(1, 1_000):
        fresh()
        if not killed_at(step, call):
            return
        yield step


def _count(step: int) -> None:
    taken = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal taken
        if event == "open":
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & _WRITING) or str(path) == os.devnull:
                return
        elif event not in _NAMES:
            return
        taken += 1
        if taken == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
