"""Files that survive a kill: atomic writes, bounded reads, digests, locks, and the one owner of a run's paths."""

from benchwright.files.atomic import atomic_writer, naming_full_disks, write_bytes, write_json, write_text
from benchwright.files.lock import FileLock
from benchwright.files.reading import digest, inside, open_regular, read_bytes, read_json
from benchwright.files.run_paths import RunPaths
from benchwright.files.swap import swap_in

__all__ = [
    "FileLock",
    "RunPaths",
    "atomic_writer",
    "digest",
    "inside",
    "naming_full_disks",
    "open_regular",
    "read_bytes",
    "read_json",
    "swap_in",
    "write_bytes",
    "write_json",
    "write_text",
]
