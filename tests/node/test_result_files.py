"""What the runner takes for a complete result."""

from __future__ import annotations

import gzip
import pickle
import random
from pathlib import Path

import pytest

from benchwright.node.results import is_complete, seems_complete

CONTENT = {"metric_error": 0.25, "predictions": random.Random(0).randbytes(30_000)}


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "results.pkl"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_whole_results_are_complete_packed_or_plain(tmp_path, pack):
    assert is_complete(written(tmp_path, pack(pickle.dumps(CONTENT, protocol=4))))


def test_every_truncation_of_a_packed_result_is_seen(tmp_path):
    whole = gzip.compress(pickle.dumps(CONTENT, protocol=4))
    for length in [*range(40), *range(40, len(whole), 997), *range(len(whole) - 40, len(whole))]:
        assert not is_complete(written(tmp_path, whole[:length])), length


def test_a_flipped_byte_of_a_packed_result_is_seen(tmp_path):
    whole = bytearray(gzip.compress(pickle.dumps(CONTENT, protocol=4)))
    whole[len(whole) // 2] ^= 1
    assert not is_complete(written(tmp_path, bytes(whole)))


@pytest.mark.parametrize("content", [b"", b"..", b"PK\x03\x04 an archive.", gzip.compress(b"not a pickle.", mtime=0)])
def test_other_files_are_not_results(tmp_path, content):
    assert not is_complete(written(tmp_path, content))


@pytest.mark.parametrize("look", [is_complete, seems_complete])
def test_a_folder_or_nothing_is_no_result(tmp_path, look):
    assert not look(tmp_path)
    assert not look(tmp_path / "results.pkl")
    (tmp_path / "0_0").touch()
    assert not look(tmp_path / "0_0" / "results.pkl")
