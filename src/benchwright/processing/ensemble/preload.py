"""Imports what fitting needs, numba included, where it is installed: a pool's server imports this module."""

import contextlib

from benchwright.contract import Failure
from benchwright.processing.ensemble.compiled import kernels

with contextlib.suppress(Failure):  # without numba, each worker that needs it says so
    kernels()
