"""A submission on trial: would the controller take it?"""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.slurm.clients import CallError, Clients


def try_submission(clients: Clients, options: Sequence[str]) -> str | CallError:
    """Ask ``sbatch --test-only`` about a submission; when and where it would start, in the controller's words.

    It finds an unknown partition or account, an array that is too large, and resources that no node has. It takes a
    time limit beyond the partition's, and a partition that is down: `read_limits` tells those.
    """
    said = clients.call_stderr("sbatch", "--test-only", *options)
    return said if isinstance(said, CallError) else said.strip()
