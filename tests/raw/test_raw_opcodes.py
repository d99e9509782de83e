"""The walk over a pickle's opcodes: exact about how many there are, whatever runs it takes at a time."""

from __future__ import annotations

import gzip
import pickletools

import pytest

from benchwright.raw import opcodes
from benchwright.raw.opcodes import BadStream, scan

P4 = b"\x80\x04"
LIMIT = 1_000
RUNS = {
    "single bytes": (b"N0", 2),
    "numbers": (b"K\x010", 2),
    "eight bytes": (b"G12345678" + b"0", 2),
    "short texts": (b"\x8c\x05words\x940", 3),
    "longer texts": (b"\x8c\xff" + b"." * 255 + b"0", 2),
    "tuples": (b")0", 2),
    "bytes": (b"C\x02NN0", 2),
}


@pytest.fixture
def limited(monkeypatch) -> None:
    monkeypatch.setattr(opcodes, "MAX_OPCODES", LIMIT)
    monkeypatch.setattr(opcodes, "MAX_COMPOUNDS", LIMIT // 2)


@pytest.mark.parametrize("run", RUNS)
def test_the_limit_is_exact(limited, run) -> None:
    """Of the opcodes beside PROTO, with STOP."""
    piece, count = RUNS[run]
    pieces, rest = divmod(LIMIT - 1, count)
    scan(P4 + piece * pieces + b"N" * rest + b".")
    with pytest.raises(BadStream) as caught:
        scan(P4 + piece * pieces + b"N" * (rest + 1) + b".")
    assert (caught.value.code, caught.value.found) == ("too-complex", "more than 1,000 opcodes")


@pytest.mark.parametrize(
    "piece", [b")0", b"N\x850", b"NN\x860", b"NNN\x870", b"(t0", b"\x8f0", b"(\x910", b"\x8a\x01\x010"]
)
def test_the_limit_of_compounds_is_exact(monkeypatch, piece) -> None:
    """Bytes of texts and numbers that look like some are none."""
    monkeypatch.setattr(opcodes, "MAX_COMPOUNDS", LIMIT)
    none = b"\x8c\x02)t0K\x850"
    scan(P4 + (none + piece) * LIMIT + b"N.")
    with pytest.raises(BadStream) as caught:
        scan(P4 + (none + piece) * (LIMIT + 1) + b"N.")
    assert caught.value.found == "1,001 tuples, sets and long integers"


@pytest.mark.parametrize("name", ["binary", "system", "beyond"])
def test_single_opcodes_and_runs_end_alike(genuine, name) -> None:
    data = gzip.decompress(genuine(name).read_bytes())
    count = sum(1 for _ in pickletools.genops(data)) - 1
    assert opcodes._walk(data, opcodes._SINGLE, opcodes.MAX_OPCODES, 1) == count
    for run in (opcodes._RUN, opcodes._RUN_WITH_COMPOUNDS):
        assert count < opcodes._walk(data, run, opcodes.MAX_OPCODES) < len(data)


@pytest.mark.parametrize("run", RUNS)
def test_every_cut_is_seen(run) -> None:
    whole = P4 + RUNS[run][0] * 3 + b"N."
    for size in range(2, len(whole)):
        with pytest.raises(BadStream) as caught:
            scan(whole[:size])
        assert caught.value.code == "truncated", size


@pytest.mark.parametrize("length", [2**64 - 1, 2**63 - 20, 2**62, 3])
def test_a_length_that_no_file_has(length) -> None:
    with pytest.raises(BadStream) as caught:
        scan(P4 + b"\x8e" + length.to_bytes(8, "little") + b"N.")
    assert caught.value.code == "truncated"


def test_a_memo_index_is_no_larger_than_what_was_read(limited) -> None:
    scan(P4 + b"NNNr\x03\x00\x00\x00.")
    with pytest.raises(BadStream) as caught:
        scan(P4 + b"NNNr\x04\x00\x00\x00.")
    assert caught.value.found == "a memo index out of order at byte 5"
