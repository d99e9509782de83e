"""The two looks at a file: cheap for every file, full once a file."""

from __future__ import annotations

import gzip
import os
import pickle
import random

import numpy as np
import pytest

from benchwright.raw import check_file, decode_fully

CUTS_A_FILE = 40
"""4,560 cuts in all; where one in 100,000 is missed, three misses would be a miracle."""


def found(path) -> tuple[str | None, str | None]:
    return tuple(problem and problem.code for problem in (check_file(path), decode_fully(path)))


def test_genuine_files_pass_both(genuine_files) -> None:
    assert len(genuine_files) == 114
    assert [path for path in genuine_files if found(path) != (None, None)] == []


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("large", [False, True])
def test_plain_pickles_pass_both(written, content, protocol, large) -> None:
    value = content("binary")
    if large:
        value["arrays"] = [np.arange(50_000.0), np.arange(30_000.0), b"x" * 70_000, "y" * 70_000]
    assert found(written(value, compress=False, protocol=protocol)) == (None, None)


def test_cheap_look_finds_nearly_every_cut(genuine_files, tmp_path) -> None:
    rng = random.Random(0)
    path = tmp_path / "results.pkl"
    missed = 0
    for genuine in genuine_files:
        whole = genuine.read_bytes()
        path.write_bytes(whole)
        for cut in sorted(rng.choices(range(len(whole)), k=CUTS_A_FILE), reverse=True):
            os.truncate(path, cut)
            missed += check_file(path) is None
    assert missed <= 2


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_cheap_look_finds_every_cut_of_a_plain_pickle(written, content, tmp_path, protocol) -> None:
    value = content("binary")
    value["arrays"] = [np.arange(10_000.0), np.arange(9_000.0)]
    whole = written(value, compress=False, protocol=protocol).read_bytes()
    path = tmp_path / "cut.pkl"
    rng = random.Random(0)
    stops = [place + 1 for place, byte in enumerate(whole[:-1]) if byte == pickle.STOP[0]]
    for cut in [*rng.sample(range(len(whole)), 150), *rng.sample(stops, min(100, len(stops))), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        assert check_file(path) is not None, cut
        assert decode_fully(path) is not None, cut


def test_full_decode_finds_one_changed_bit(genuine, tmp_path) -> None:
    whole = bytearray(genuine("binary").read_bytes())
    whole[len(whole) // 2] ^= 1
    path = tmp_path / "results.pkl"
    path.write_bytes(whole)
    assert check_file(path) is None
    assert decode_fully(path).code in {"damaged", "truncated"}


def test_what_compresses_beyond_the_usual_is_decoded_before_it_is_believed(written, tmp_path) -> None:
    constant = written({"pred": np.zeros(200_000)})
    assert check_file(constant) is None
    cut = tmp_path / "cut.pkl"
    cut.write_bytes(constant.read_bytes()[:-100] + (100 * constant.stat().st_size).to_bytes(4, "little"))
    assert check_file(cut) is not None


def test_messages_say_what_is_wrong_and_what_to_do(genuine, tmp_path) -> None:
    path = tmp_path / "results.pkl"
    path.write_bytes(b"")
    assert str(check_file(path)) == (
        f"{path}: 0 bytes, expected a complete result\n    fix: run this item again: its set-up moves the file aside"
    )
    path.write_bytes(genuine("system").read_bytes()[:-4] + b"\xff\xff\xff\xff")
    assert str(check_file(path)) == (
        f"{path}: gzip of 492 bytes that ends with a length of 4,294,967,295, expected a complete gzip file\n"
        "    fix: run this item again: its set-up moves the file aside"
    )
    assert check_file(tmp_path / "nowhere").code == "missing"


@pytest.mark.parametrize(
    ("content", "cheap", "full"),
    [
        (b"\x1f\x8b", "truncated", "truncated"),
        (b"<html>not a result at all, but a page of a proxy</html>", "not-a-pickle", "not-a-pickle"),
        (b"\x1f\x8b\x09" + b"\0" * 40, "damaged", "damaged"),
        (gzip.compress(pickle.dumps(list(range(99)))) * 2, "truncated", "trailing-data"),
        (gzip.compress(pickle.dumps(list(range(99)))) + b"\0" * 512, "truncated", "trailing-data"),
        (b"\0" * 4096, "not-a-pickle", "not-a-pickle"),
    ],
    ids=["two bytes", "html", "header", "twice", "zero tail", "zeros"],
)
def test_other_content(tmp_path, content, cheap, full) -> None:
    path = tmp_path / "results.pkl"
    path.write_bytes(content)
    assert found(path) == (cheap, full)


def test_what_follows_whole_gzip_and_a_length_that_lies_are_no_cut(genuine, tmp_path) -> None:
    whole = genuine("binary").read_bytes()
    path = tmp_path / "results.pkl"

    def said(content) -> tuple[str, str]:
        path.write_bytes(content)
        problem = decode_fully(path)
        return problem.code, problem.found

    for tail in (b"garbage", b"gar" + (50_000).to_bytes(4, "little")):
        assert said(whole + tail) == ("trailing-data", "7 bytes after the gzip data")
    for length in (1, 50_000, 2**32 - 1):
        code, found = said(whole[:-4] + length.to_bytes(4, "little"))
        assert (code, found.partition(":")[0]) == ("damaged", "damaged gzip")
    for cut in (3, 100, len(whole) - 30):
        assert said(whole[:-cut]) == ("truncated", "gzip that ends early")
    bomb = gzip.compress(bytes(80 * 2**20))
    code, found = said(bomb + b"garbage")
    assert (code, found) == ("too-large", f"more than {64 * 2**20:,} bytes out of {len(bomb) + 7:,}")


def test_pipes_folders_and_devices_neither_hang_nor_pass(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", "/dev/zero"):
        assert check_file(path) is not None
        assert decode_fully(path).code in {"not-a-file", "unreadable"}
