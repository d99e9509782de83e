"""What a zip file says of its members: nothing that depends on the machine or the moment."""

from __future__ import annotations

import stat
import zipfile

_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip file can name. A file's own would change the archive's bytes, not its content."""
_MODE = stat.S_IFREG | 0o644
_UNIX = 3


def zip_entry(name: str) -> zipfile.ZipInfo:
    """The entry of a file, to be deflated: the same bytes wherever it is written."""
    entry = zipfile.ZipInfo(name, _EARLIEST)
    entry.external_attr = _MODE << 16
    entry.create_system = _UNIX
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
