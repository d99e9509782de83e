"""Zips: the same bytes for the same files, readable by everyone, and never unpacked beyond what they should be."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import stat
import struct
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from benchwright.contract import Exit, Failure
from benchwright.processing.sidecar import FileFacts
from benchwright.publish import extract
from benchwright.publish.archive import measure, survey_folder, zip_chunks
from benchwright.publish.extract import check_zip, extract_zip

FILES = {
    "configs.parquet": b"table" * 300,
    "context.json": b"{}",
    "empty": b"",
    "predictions/a-b/0/pred.dat": os.urandom(3 * 2**20 + 17),
    "predictions/a/0/label.csv.zip": b"PK",
    "raw/x/0_0/results.pkl": gzip.compress(b"result"),
    "raw/x/0_1/results.pkl": b"\x80\x04plain",
    "ünïcode": b"x",
}


def folder_of(folder, files=FILES):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def zipped(folder):
    return b"".join(zip_chunks(survey_folder(folder)))


def test_the_bytes_depend_on_the_files_alone(tmp_path):
    one = folder_of(tmp_path / "one")
    other = folder_of(tmp_path / "another name", dict(reversed(FILES.items())))
    for path in other.rglob("*"):
        os.utime(path, (0, 0))
        path.chmod(0o700)
    assert zipped(one) == zipped(other)
    (other / "empty").write_bytes(b"x")
    assert zipped(one) != zipped(other)


def test_a_zip_is_read_by_the_standard_library(tmp_path):
    content = zipped(folder_of(tmp_path))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
        assert archive.namelist() == sorted(FILES, key=str.encode)
        stored = {entry.filename for entry in archive.infolist() if entry.compress_type == zipfile.ZIP_STORED}
        assert stored == {"predictions/a/0/label.csv.zip", "raw/x/0_0/results.pkl"}
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {stat.S_IFREG | 0o644}


def test_a_measure_is_that_of_the_bytes_and_of_every_file(tmp_path):
    told = []
    archive = survey_folder(folder_of(tmp_path))
    measured = measure(archive, told.append)
    content = zipped(tmp_path)
    assert (measured.size, measured.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert measured.files == {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    assert sum(told) == archive.size == sum(map(len, FILES.values()))


def test_no_piece_is_larger_than_what_is_read_at_once(tmp_path):
    folder = folder_of(tmp_path, {"large.pkl": gzip.compress(os.urandom(5 * 2**20), 0)})
    assert max(map(len, zip_chunks(survey_folder(folder)))) < 1.1 * 2**20


def test_entries_of_more_than_four_gigabytes_would_have_64_bit_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    content = zipped(folder_of(tmp_path))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
        assert archive.getinfo("predictions/a-b/0/pred.dat").extract_version == zipfile.ZIP64_VERSION


def test_everything_that_is_no_plain_file_is_refused_at_once(tmp_path):
    folder_of(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "linked folder").symlink_to("/")
    os.mkfifo(tmp_path / "predictions" / "pipe")
    (tmp_path / "back\\slash").write_bytes(b"")
    with pytest.raises(Failure) as failure:
        survey_folder(tmp_path)
    found = [(Path(problem.where).name, problem.found) for problem in failure.value.problems]
    assert found == [
        ("back\\slash", "a name that no object may have"),
        ("link", "a link"),
        ("linked folder", "a link"),
        ("pipe", "no regular file"),
    ]
    assert str(failure.value).splitlines()[2] == f"{tmp_path}/link: a link, expected files and folders alone"


@pytest.mark.parametrize("now", [b"shorter", b"longer" * 999])
def test_a_file_that_changes_under_way_is_refused(tmp_path, now):
    archive = survey_folder(folder_of(tmp_path))
    (tmp_path / "configs.parquet").write_bytes(now)
    with pytest.raises(Failure) as failure:
        measure(archive)
    assert str(failure.value) == (
        f"{tmp_path}/configs.parquet: changed while it was read, expected 1,500 bytes\n"
        "    fix: let the program that writes there end, then run this again"
    )


def test_what_was_zipped_comes_out_again(tmp_path):
    told = []
    (tmp_path / "x.zip").write_bytes(zipped(folder_of(tmp_path / "files")))
    extract_zip(tmp_path / "x.zip", tmp_path / "out", "x.zip", told.append)
    assert {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    } == FILES
    assert sum(told) == (tmp_path / "x.zip").stat().st_size
    assert check_zip(tmp_path / "x.zip", "x.zip") is None


def entry(name, mode=stat.S_IFREG | 0o644, method=zipfile.ZIP_STORED):
    info = zipfile.ZipInfo(name)
    info.external_attr, info.compress_type = mode << 16, method
    return info


def hostile(path, *entries):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


HOSTILE = {
    "up and out": ([("../../evil", b"x")], "the name '../../evil'"),
    "absolute": ([("/etc/evil", b"x")], "the name '/etc/evil'"),
    "backslash": ([("a\\..\\evil", b"x")], "the name 'a\\\\..\\\\evil'"),
    "control character": ([("a\x1bb", b"x")], "the name 'a\\x1bb'"),
    "folder out": ([("../", b"")], "the name '../'"),
    "link": ([(entry("link", stat.S_IFLNK | 0o777), b"/etc/passwd")], "link: a link or no regular file"),
    "device": ([(entry("dev", stat.S_IFBLK | 0o777), b"")], "dev: a link or no regular file"),
    "twice": ([("a", b"x"), ("a", b"y")], "two entries of one name"),
    "file and folder": ([("a", b"x"), ("a/b", b"y")], "a name that is both a file and a folder"),
    "other method": ([(entry("a", method=zipfile.ZIP_BZIP2), b"x")], "a: compression method 12"),
    "bomb": ([(entry("a", method=zipfile.ZIP_DEFLATED), bytes(80 * 2**20))], "more than 200 times its"),
}


@pytest.mark.parametrize(("entries", "found"), HOSTILE.values(), ids=HOSTILE)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_hostile_zip_is_refused_before_anything_is_written(tmp_path, entries, found):
    path = hostile(tmp_path / "x.zip", ("good", b"x"), *entries)
    for call in (lambda: extract_zip(path, tmp_path / "in" / "out", "x.zip"), lambda: check_zip(path, "x.zip")):
        with pytest.raises(Failure) as failure:
            call()
        assert failure.value.exit == Exit.NO
        (problem,) = failure.value.problems
        assert problem.code == "bad-zip" and problem.where == "x.zip" and problem.found.startswith(found)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["x.zip"]


@pytest.mark.parametrize("entries", [[], [("a/", b"")]], ids=["nothing", "a folder"])
def test_a_zip_without_files_is_none(tmp_path, entries):
    path = hostile(tmp_path / "x.zip", *entries)
    for call in (lambda: extract_zip(path, tmp_path / "out", "x.zip"), lambda: check_zip(path, "x.zip")):
        with pytest.raises(Failure) as failure:
            call()
        assert str(failure.value) == (
            "x.zip: no file in it, expected files below one folder\n    fix: do not unpack it; ask who uploaded it"
        )
    assert not (tmp_path / "out").exists()


def unpacked(path, folder, listed):
    extract_zip(path, folder, "x.zip", listed=listed)


def checked(path, folder, listed):
    check_zip(path, "x.zip", listed=listed)


@pytest.mark.parametrize("read", [unpacked, checked])
def test_a_zip_holds_what_is_listed_or_is_refused(tmp_path, read):
    files = {"a": b"one", "b": b"two", "c/d": b"three"}
    path = hostile(tmp_path / "x.zip", *files.items())
    facts = {name: FileFacts(len(content), hashlib.sha256(content).hexdigest()) for name, content in files.items()}
    read(path, tmp_path / "whole", facts)
    other = {"b": FileFacts(4, "0" * 64), "c/d": facts["c/d"], "e": facts["a"]}
    with pytest.raises(Failure) as failure:
        read(path, tmp_path / "out", other)
    assert not (tmp_path / "out").exists()
    assert [(problem.code, problem.found) for problem in failure.value.problems] == [
        ("bad-zip", "not listed: a"), ("bad-zip", "not in it: e"), ("bad-zip", "of another size: b"),
    ]  # fmt: skip
    with pytest.raises(Failure, match=r"x\.zip: other content: b, expected the files that provenance\.json lists"):
        read(path, tmp_path / "out", facts | {"b": FileFacts(3, "0" * 64)})


def test_all_that_is_wrong_with_a_zip_is_said_at_once(tmp_path):
    path = hostile(tmp_path / "x.zip", ("../a", b"x"), (entry("link", stat.S_IFLNK), b"/"))
    with pytest.raises(Failure) as failure:
        check_zip(path, "raw.zip")
    assert str(failure.value) == (
        "raw.zip: the name '../a', expected files below one folder\n"
        "    fix: do not unpack it; ask who uploaded it\n"
        "raw.zip: link: a link or no regular file, expected files below one folder\n"
        "    fix: do not unpack it; ask who uploaded it"
    )


def directory_entry(content, name):
    """Where the central directory's entry of a name begins."""
    return content.rindex(b"PK\x01\x02", 0, content.rindex(name.encode()))


def test_entries_that_share_their_bytes_are_refused(tmp_path):
    path = hostile(tmp_path / "x.zip", ("a", b"x" * 99), ("b", b"x" * 99))
    content = bytearray(path.read_bytes())
    struct.pack_into("<L", content, directory_entry(content, "b") + 42, 0)  # the offset of b's header: that of a
    path.write_bytes(content)
    with pytest.raises(Failure, match="entries that share their bytes"):
        check_zip(path, "x.zip")


def test_an_entry_before_the_beginning_is_refused(tmp_path):
    """Bytes that the zip's end does not count push its entries there."""
    path = hostile(tmp_path / "x.zip", ("a", b"x" * 99))
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    offset = struct.unpack_from("<L", content, end + 16)[0]
    struct.pack_into("<L", content, end + 16, offset + 50)  # where the directory is said to begin
    path.write_bytes(content)
    with pytest.raises(Failure, match="entries that share their bytes"):
        check_zip(path, "x.zip")


def test_no_damage_is_anything_but_a_listed_problem(tmp_path):
    chance = random.Random(5)
    whole = hostile(tmp_path / "x.zip", (entry("a/b", method=zipfile.ZIP_DEFLATED), b"x" * 99), ("c", b"y" * 99))
    content, codes = whole.read_bytes(), Counter()
    for _ in range(600):
        damaged = bytearray(content)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(damaged) - 8)
            damaged[place : place + chance.randrange(9)] = chance.choice([b"", b"\xff" * 8, bytes(8), b"PK\x01\x02"])
        whole.write_bytes(damaged)
        try:
            check_zip(whole, "x.zip")
        except Failure as failure:
            codes.update({problem.code for problem in failure.problems})
    assert codes.keys() == {"bad-zip", "damaged-zip"}


def test_a_header_that_lies_about_the_size_is_no_way_to_more(tmp_path):
    path = hostile(tmp_path / "x.zip", (entry("a", method=zipfile.ZIP_DEFLATED), bytes(2**20)))
    content = bytearray(path.read_bytes())
    struct.pack_into("<L", content, directory_entry(content, "a") + 24, 100)  # its size when unpacked
    path.write_bytes(content)
    with pytest.raises(Failure, match="Bad CRC-32") as failure:
        extract_zip(path, tmp_path / "out", "x.zip")
    assert failure.value.problems[0].code == "damaged-zip"
    assert (tmp_path / "out" / "a").stat().st_size <= 100


@pytest.mark.parametrize("damage", ["truncated", "flipped", "no zip", "empty"])
def test_a_damaged_zip_is_said_to_be_one(tmp_path, damage):
    content = bytearray(hostile(tmp_path / "x.zip", ("a", b"x" * 999)).read_bytes())
    content[500] ^= 1
    damaged = {"truncated": content[:700], "flipped": content, "no zip": b"x" * 99, "empty": b""}
    (tmp_path / "x.zip").write_bytes(damaged[damage])
    with pytest.raises(Failure) as failure:
        extract_zip(tmp_path / "x.zip", tmp_path / "out", "x.zip")
    assert failure.value.exit == Exit.NO and failure.value.problems[0].code == "damaged-zip"


def test_a_full_disk_is_said_before_anything_is_written(tmp_path, monkeypatch):
    path = hostile(tmp_path / "x.zip", ("a", b"x" * 999))
    usage = extract.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(extract.shutil, "disk_usage", lambda _: usage._replace(free=100))
    with pytest.raises(Failure, match="100 bytes free, expected 999 bytes") as failure:
        extract_zip(path, tmp_path / "out", "x.zip")
    assert failure.value.exit == Exit.ENVIRONMENT
