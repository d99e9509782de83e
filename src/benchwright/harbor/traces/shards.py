"""The Parquet files of a dataset, written row by row: memory holds two groups of rows, whatever there is in all.

While one group is being written, by a thread of its own, the next is gathered.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchwright.files import atomic_writer, open_regular
from benchwright.harbor.trace_footer import NAMED, NAMES
from benchwright.harbor.traces.labels import Labels
from benchwright.harbor.traces.row_group import RowGroup
from benchwright.harbor.traces.schema import schema
from benchwright.harbor.traces.trial_rows import Told

DATA = "data"
"""The folder of the shards, below that of the dataset."""
_GROUP_TEXT = 4 * 2**20
"""Characters from which on a group of rows is written before the next conversation begins."""
_GROUP_TURNS = 2**21
"""Turns from which on it is written within one."""
_PIECE = 2**20
_SHARD_TEXT = 2**28
"""Characters from which on the next group goes to another file."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file of a dataset by its path below the dataset's folder, with its size in bytes and its SHA-256 in hex.

    ``git_id`` is the id that git would give it. ``rows`` is how many it holds, None where it is none of Parquet's.
    """

    path: str
    size: int
    sha256: str
    git_id: str
    rows: int | None = None

    @classmethod
    def at(cls, folder: Path, path: str, rows: int | None = None) -> TraceFile:
        """A file that is there. Raises ``OSError`` where it cannot be read."""
        size = (folder / path).stat().st_size
        sha256 = hashlib.sha256()
        git = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with open_regular(folder / path) as file:
            while piece := file.read(_PIECE):
                sha256.update(piece)
                git.update(piece)
        return cls(path, size, sha256.hexdigest(), git.hexdigest(), rows)


class Shards:
    """The shards of a dataset in ``folder``. Use as a context manager; ``files`` are known once it has ended.

    Raises:
        OSError: they cannot be written.
    """

    def __init__(self, folder: Path, *, sharegpt: bool) -> None:
        self.files: list[TraceFile] = []
        self._folder = folder
        self._sharegpt = sharegpt
        self._schema = schema(sharegpt=sharegpt)
        self._group = RowGroup(sharegpt=sharegpt)
        self._open: contextlib.ExitStack | None = None
        self._writer: pq.ParquetWriter | None = None
        self._names: dict[str, set[str]] = {name: set() for name in NAMED}
        self._text = self._rows = 0
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        try:
            if kind is None:
                self._flush()
                self._settle()
                self._end()
        finally:
            self._thread.shutdown()
            if self._open is not None:  # what is open is not whole
                stop = error or sys.exception() or RuntimeError()
                self._open.__exit__(type(stop), stop, stop.__traceback__)

    def add(self, labels: Labels, told: Told) -> None:
        """The rows of a conversation."""
        for number, length in told.conversation.episodes:
            self._group.add(labels, told, number, length)
            if self._group.turns >= _GROUP_TURNS:
                self._flush()
        if self._group.size >= _GROUP_TEXT:
            self._flush()

    def _flush(self) -> None:
        """Have the rows that are in memory written, once those before them are."""
        if self._group.rows:
            self._settle()
            self._writing = self._thread.submit(self._write, self._group)
            self._group = RowGroup(sharegpt=self._sharegpt)

    def _settle(self) -> None:
        """Wait for the rows that are being written; what went wrong with them is raised here."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def _write(self, group: RowGroup) -> None:
        if self._text >= _SHARD_TEXT:
            self._end()
        for name in NAMED:
            self._names[name] |= group.names(name)
        table = group.table(self._schema)
        if self._writer is None:
            self._writer = self._begin(table.schema)
        self._writer.write_table(table, row_group_size=group.rows)
        self._text += group.size
        self._rows += group.rows

    def _begin(self, stored: pa.Schema) -> pq.ParquetWriter:
        self._open = contextlib.ExitStack()
        file = self._open.enter_context(atomic_writer(self._folder / self._name))
        return self._open.enter_context(pq.ParquetWriter(file, stored, **_STORED))

    def _end(self) -> None:
        """Finish the file that is being written, if one is."""
        if self._open is None or self._writer is None:
            return
        names = {name: sorted(values) for name, values in self._names.items()}
        self._writer.add_key_value_metadata({NAMES: json.dumps(names)})
        self._open.close()
        self.files.append(TraceFile.at(self._folder, self._name, self._rows))
        self._open = self._writer = None
        self._names = {name: set() for name in NAMED}
        self._text = self._rows = 0

    @property
    def _name(self) -> str:
        return f"{DATA}/train-{len(self.files):05}.parquet"


_STORED: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": True,
    "dictionary_pagesize_limit": 2**30,  # the texts are all in the dictionary
    "write_statistics": False,  # of no use for texts, and as long as they are
    "store_schema": False,  # readers see texts, not dictionaries
}
