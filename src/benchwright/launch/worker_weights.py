"""Pretrained weights on a worker's machine, fetched once before its first item: items then do without the Hub."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

_CODE = """
import sys
from benchwright.bridge import prefetch_weights
from benchwright.contract import Failure
try:
    print(*prefetch_weights(sys.argv[1:]), sep="\\n")
except Failure as failure:
    sys.exit(str(failure))
"""


class NoWeights(Exception):
    """This machine cannot have the weights; the message says why."""


def fetch_weights(models: Sequence[str], python: str) -> str:
    """Fetch them in a process of its own, since that imports the models' libraries; what it says.

    Raises:
        NoWeights: some cannot be had.
    """
    done = subprocess.run(
        [python, "-c", _CODE, *models], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NoWeights((done.stderr or done.stdout).strip() or f"exit {done.returncode}")
    return done.stdout.strip()
