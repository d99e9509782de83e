"""One poll of an array: two calls of the scheduler whatever its size, and a look at the results."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from benchwright.node.array_items import ArrayItems, find_items, setup_folder
from benchwright.node.array_results import ResultTree
from benchwright.node.array_view import view_array
from benchwright.node.array_watch import Poll, Request
from benchwright.slurm import Clients, read_attempts, read_queue

_SECONDS_FOR_RESULTS = 60.0


class Poller:
    """Polls one array again and again. ``job_file`` is the array's, if someone named it."""

    def __init__(self, request: Request, clients: Clients, job_file: Path | None = None) -> None:
        self._request = request
        self._clients = clients
        self._job_file = job_file
        self._tree = None if request.results_dir is None else ResultTree(request.results_dir)
        self.items: ArrayItems | str = "no results folder was named"

    def poll(self) -> Poll:
        """Ask the accounts, then the queue: what has left the one by then is in the other."""
        request = self._request
        attempts = read_attempts(self._clients, request.job)
        queue = read_queue(self._clients, request.job)
        poll = Poll(
            at=time.time(),
            clock=time.monotonic(),
            queue=queue,
            attempts=attempts,
            logs_there=request.log_dir is None or os.path.isdir(request.log_dir),  # noqa: PTH112 - Path may raise
        )
        return poll if self._tree is None else self._with_results(poll, self._tree)

    def _with_results(self, poll: Poll, tree: ResultTree) -> Poll:
        request = self._request
        view = view_array(poll.queue_rows, poll.account_rows, request.tasks)
        if isinstance(self.items, str):
            self.items = find_items(
                setup_folder(request.results_dir, request.log_dir),
                given=self._job_file,
                command=view.command,
                tasks=request.tasks,
                submitted=view.submitted,
            )
            if not isinstance(self.items, str):
                tree.claim(self.items.items.keys())
        count = tree.look(min(_SECONDS_FOR_RESULTS, request.interval), own_again=not view.active)
        if isinstance(self.items, str):
            return replace(poll, results=count, no_items=self.items)
        missing = {
            index: lacking
            for index, places in self.items.places.items()
            for lacking in [tuple(place for place in places if not tree.has(place))]
            if lacking
        }
        return replace(poll, results=count, missing=missing, own=len(self.items.items))
