"""Kill this process and all others of its group at its n-th step that writes: a file, a name, a request.

``KILL_AT`` is n; without it the number of steps is written to the file ``KILL_STEPS`` when the process ends.
"""

import atexit
import os
import signal
import sys

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_NAMES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree", "http.client.send"}
_at = int(os.environ.get("KILL_AT", "0"))
_steps = []


def _count(event, arguments):
    if event == "open":
        path, _, flags = arguments
        if not (isinstance(flags, int) and flags & _WRITING) or str(path) == os.devnull:
            return
    elif event not in _NAMES:
        return
    _steps.append(event)
    if len(_steps) == _at:
        os.killpg(0, signal.SIGKILL)


if "KILL_STEPS" in os.environ:
    _file = os.open(os.environ["KILL_STEPS"], os.O_WRONLY | os.O_CREAT, 0o600)
    _process = os.getpid()

    def _tell():
        if os.getpid() == _process:
            os.write(_file, f"{len(_steps)}\n".encode())

    atexit.register(_tell)
sys.addaudithook(_count)
