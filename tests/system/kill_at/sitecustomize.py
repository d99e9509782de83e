"""Kill this process and all others of its group at their n-th step that writes: a file, a name, a request.

``KILL_STEPS`` is a file that gets a byte a step, whichever process takes it; ``KILL_AT`` is n, 0 for never. What is
compiled into ``NUMBA_CACHE_DIR`` is no step: the first run on a machine alone has that to write.
"""

import os
import signal
import sys

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_NAMES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree", "http.client.send"}
_COMPILED = os.environ["NUMBA_CACHE_DIR"]
_at = int(os.environ["KILL_AT"])
_steps = os.open(os.environ["KILL_STEPS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _count(event, arguments):
    if event == "open":
        path, _, flags = arguments
        if not (isinstance(flags, int) and flags & _WRITING) or str(path) == os.devnull:
            return
    elif event not in _NAMES:
        return
    if str(arguments[0]).startswith(_COMPILED):
        return
    os.write(_steps, b".")
    if 0 < _at <= os.fstat(_steps).st_size:
        os.killpg(0, signal.SIGKILL)


sys.addaudithook(_count)
