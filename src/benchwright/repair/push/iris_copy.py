"""An Iris job's folder brought down from its bucket for as long as it takes; the bucket is only read."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchwright.contract import Exit, Failure, Problem, Progress, usage_error
from benchwright.harbor.scan import CONFIG, LOCK, META, RESULT
from benchwright.objects import ObjectReader, StoreLocation, open_reader
from benchwright.objects.keys import is_key

_AT_ONCE = 10
"""Google's client keeps no more connections."""
_MOST_BYTES = 2**30
_FOR_ROWS = frozenset({RESULT, CONFIG, LOCK, META})
"""The files that rows are made of; traces take all of them."""


@dataclass(frozen=True, slots=True)
class IrisPlace:
    """A job in a bucket: the address that its folder is below, and its name, which the folder has once or twice."""

    bucket: str
    name: str

    @classmethod
    def parse(cls, address: str) -> IrisPlace:
        """The job at an address, ``gs://BUCKET/FOLDER/JOB`` or ``.../JOB/JOB``.

        Raises:
            Failure: it is none (exit 2).
        """
        location = StoreLocation.parse(address.rstrip("/"))
        *above, name = location.prefix.split("/")
        if above[-1:] == [name]:
            above = above[:-1]
        if location.kind == "local" or not name or not above:
            raise usage_error(
                "--job-dir",
                address,
                "gs://BUCKET/FOLDER/JOB, s3://BUCKET/FOLDER/JOB, or a folder",
                "name the job's folder, below the bucket's own",
            )
        return cls(f"{location.kind}://{location.place}/{'/'.join(above)}", name)


def is_address(text: str) -> bool:
    """Whether a text is an address in a bucket and no path."""
    return "://" in text


@contextlib.contextmanager
def copied_down(address: str, name: str, *, traces: bool, progress: Progress) -> Iterator[Path]:
    """A copy of the job's folder at an address, in a temporary folder called ``name``, which is removed at the end.

    Without ``traces`` it has the files that rows are made of, and no others.

    Raises:
        Failure: a name in the bucket is none for a file (exit 5); it may not be read (3), or does not answer (4).
    """
    reader = open_reader(address)
    above = Path(tempfile.mkdtemp(prefix="benchwright-iris-"))
    try:
        folder = above / name
        folder.mkdir()
        keys = [key for key in _keys(reader) if traces or key.rpartition("/")[2] in _FOR_ROWS]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for done, _ in enumerate(pool.map(lambda key: _fetch(reader, key, folder), keys), start=1):
                progress(done, len(keys))
        yield folder
    finally:
        shutil.rmtree(above, ignore_errors=True)


def _keys(reader: ObjectReader, folder: str = "") -> Iterator[str]:
    """Every object below a folder."""
    found = reader.names(folder)
    start = f"{folder}/" if folder else ""
    for name in found.objects:
        if not is_key(start + name):
            problem = Problem(
                "bad-key",
                f"{reader.url}/{start}",
                f"an object called {name!a}",
                "names of files",
                "have the object renamed or removed, by whoever wrote it",
            )
            raise Failure(problem, exit=Exit.REFUSED)
        yield start + name
    for name in found.folders:
        yield from _keys(reader, start + name)


def _fetch(reader: ObjectReader, key: str, folder: Path) -> None:
    content = reader.read(key, _MOST_BYTES + 1)
    if content is None or len(content) > _MOST_BYTES:
        found = "gone since it was listed" if content is None else f"more than {_MOST_BYTES:,} bytes"
        raise Failure(
            Problem(
                "not-copied",
                f"{reader.url}/{key}",
                found,
                "a file to copy",
                "run this again; a larger file has to be moved away from the job",
            ),
            exit=Exit.REMOTE,
        )
    path = folder / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
