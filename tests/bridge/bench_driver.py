"""Run items the way a bundle does: import once, fork for each, never fit here.

``python bench_driver.py REQUESTS.json REPLIES.json``: requests are objects with ``item`` and ``defaults``; with
``kill_when``, a glob, the item is killed as soon as something matches it.
"""

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from benchwright.bridge.item import preload, run_item


def run(request: dict) -> dict:
    start = time.monotonic()
    child = os.fork()
    if not child:
        code = 1
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ.update(request.get("env", {}))
        try:
            run_item(request["item"], request["defaults"])
            code = 0
        except BaseException:  # noqa: BLE001 - whatever it is, the driver's own code must not run on in the child
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if "kill_when" in request:
        folder, pattern = request["kill_when"]
        while not any(Path(folder).glob(pattern)):
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return {"exit": os.waitstatus_to_exitcode(status), "wall_s": time.monotonic() - start}


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


if __name__ == "__main__":
    preload()
    before = threads()
    with open(sys.argv[1]) as file:
        requests = json.load(file)
    replies = [run(request) for request in requests]
    with open(sys.argv[2], "w") as file:
        json.dump({"replies": replies, "threads": [before, threads()]}, file)
