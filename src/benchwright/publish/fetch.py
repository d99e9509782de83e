"""A hosted artifact brought into the cache: verified, unpacked beside its place, and put there whole."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure, Problem, Progress, some
from benchwright.files import digest, swap_in
from benchwright.objects import ObjectStore, StoreLocation
from benchwright.processing import layout
from benchwright.processing.staging import artifact_lock, check_file_system, kept_folder
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.description import DESCRIPTIONS, UPLOAD_AGAIN, Description, missing
from benchwright.publish.destination import check_apart
from benchwright.publish.extract import extract_zip
from benchwright.publish.fetchable import Fetchable, look_up, replaced_meanwhile
from benchwright.publish.hosted import RAW_ZIP, ZIPS, HostedObject, key_prefix
from benchwright.publish.local_copy import different_files, differing
from benchwright.publish.proof import bring_object, kept
from benchwright.publish.unlisted import check_readable, no_digests

_MAY_LACK = (layout.TRAJECTORIES, layout.HYPERPARAMETERS, RAW_ZIP)
"""What uploads of other programs leave out in silence, and what an artifact can be used without."""


@dataclass(frozen=True)
class FetchReport:
    """What became of a fetch: ``written`` says whether ``folder`` changed.

    ``objects`` are the hosted ones it consists of, ``reused`` those that an earlier fetch had brought already.
    """

    folder: Path
    written: bool
    objects: Mapping[str, HostedObject]
    reused: tuple[str, ...]
    remarks: tuple[Problem, ...]

    @property
    def size(self) -> int:
        """The bytes of all objects."""
        return _size(self.objects)

    def to_dict(self) -> dict[str, Any]:
        """The report in the JSON envelope's form."""
        return {
            "folder": str(self.folder),
            "written": self.written,
            "reused": list(self.reused),
            "objects": [
                {"name": name, "size": facts.size, "sha256": facts.sha256} for name, facts in self.objects.items()
            ],
        }


def fetch(
    store: ObjectStore,
    source: StoreLocation,
    method: str,
    suite: str,
    *,
    cache_root: Path | None = None,
    raw: bool = True,
    replace: bool = False,
    progress: Progress | None = None,
) -> FetchReport:
    """Bring a method's artifact from ``store``, which is at ``source``, into a cache.

    Every object is compared with the manifest's digest, and every file with the sidecar's; of an artifact that has
    neither only sizes, tables and the checksums inside the zips can be, which is said. No more is brought than the
    manifest or the store said before. A local artifact that is the same already is left alone. May be killed and run
    again: what was brought whole is not brought again.

    Raises:
        Failure: there is no complete artifact (codes ``not-hosted``, ``upload-unfinished``, ``object-missing``, exit
            1), it is another method's, damaged or refused, each object with its problem (exit 1); it was replaced
            meanwhile (``object-changed``, exit 4); a different local artifact is in its place and ``replace`` is not
            set (``local-differs``), or its raw results would be lost (``raw-would-be-lost``; both exit 5); it is being
            processed or fetched already (``locked``, exit 5); the cache has its artifacts on another file system
            (``other-file-system``, exit 3); as the store does.
    """
    place = MethodMetadata(method=method, suite=suite, cache_root=cache_root)
    check_apart(source, key_prefix(method, suite), place.path)
    left_out = () if raw else (RAW_ZIP,)
    hosted = look_up(store, method, suite, left_out=left_out)
    with artifact_lock(place, "a fetch"):
        work = _Fetch(hosted, place, kept_folder(place, "fetch"), left_out, progress)
        try:
            written = work.run(replace=replace)
        except Failure as failure:
            if failure.exit == Exit.NO and hosted.changed:
                raise replaced_meanwhile(hosted.url) from None
            raise
        finally:
            work.clear_unfinished()
    return FetchReport(place.path, written, work.objects, tuple(work.reused), tuple(work.remarks))


class _Fetch:
    """One artifact on its way: objects as they were hosted, then the folder that they make, both in ``staging``.

    ``remarks`` are worth knowing and stop nothing.
    """

    def __init__(
        self,
        hosted: Fetchable,
        place: MethodMetadata,
        staging: Path,
        left_out: Collection[str],
        progress: Progress | None,
    ) -> None:
        self.reused: list[str] = []
        self.remarks: list[Problem] = []
        self._hosted = hosted
        self._left_out = left_out
        self._place = place
        self._target = place.path
        self._staging = staging
        self._downloads = staging / "objects"
        self._folder = staging / "artifact"
        self._found: dict[str, HostedObject] = {}
        self._count = ByteCount(progress, 2 * _size(self.objects))

    @property
    def objects(self) -> dict[str, HostedObject]:
        """The hosted objects that are wanted."""
        return {name: facts for name, facts in self._hosted.objects.items() if name not in self._left_out}

    def run(self, *, replace: bool) -> bool:
        """Whether the artifact in the cache was written; it is not where it is the same already."""
        there, listed = self._target.exists(), self._hosted.manifest is not None
        if there and listed and self._is_same(differing(self._target, self.objects), replace):
            self.remarks += self._hosted.remarks
            return False
        self._make_room()
        self._bring(DESCRIPTIONS)
        described = self._described()
        self._bring([name for name in self.objects if name not in DESCRIPTIONS])
        self._assemble(described)
        if there and not listed:
            without = () if RAW_ZIP in self.objects else (layout.RAW,)
            if self._is_same(different_files(self._folder, self._target, without), replace):
                return False
        self._refuse_to_lose_raw()
        swap_in(self._folder, self._target)
        self._clear()
        return True

    def clear_unfinished(self) -> None:
        """Remove a folder that was not finished; the objects are kept for the next fetch."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _is_same(self, different: list[str], replace: bool) -> bool:
        """Whether the local artifact is the hosted one; another one may only be replaced."""
        if not different:
            self._clear()
            return True
        if not replace:
            found = f"a local artifact that differs in {some(different, 5)}"
            fix = "--replace puts the hosted one in its place"
            problem = Problem("local-differs", str(self._target), found, "none, or the hosted one", fix)
            raise Failure(problem, exit=Exit.REFUSED)
        return False

    def _make_room(self) -> None:
        """Have a place for the objects, of which nothing is there but what an earlier fetch brought of them."""
        self._downloads.mkdir(parents=True, exist_ok=True)
        check_file_system(self._downloads, self._place)
        held = 0
        for path in self._downloads.rglob("*"):
            if path.relative_to(self._downloads).as_posix() in self.objects:
                held += path.stat().st_size
            elif not path.is_dir():
                path.unlink()
        needed, free = _size(self.objects) - held, shutil.disk_usage(self._downloads).free
        if needed > free:
            where, found = str(self._downloads), f"{free:,} bytes free"
            problem = Problem("disk-full", where, found, f"{needed:,} bytes", "free some space, then run this again")
            raise Failure(problem, exit=Exit.ENVIRONMENT)

    def _bring(self, names: Collection[str]) -> None:
        """Bring those of the objects that there are; what is wrong with any of them is said at the end."""
        problems: list[Problem] = []
        for name in names:
            facts = self.objects.get(name)
            if facts is not None:
                self._count.note = name
                with kept(problems):
                    self._bring_one(name, facts)
                self._count(facts.size)
        if problems:
            raise Failure(problems)

    def _bring_one(self, name: str, facts: HostedObject) -> None:
        path = self._downloads / name
        if facts.sha256 is not None and path.is_file() and digest(path) == facts.sha256:
            self.reused.append(name)
            self._found[name] = facts
        else:
            key = f"{self._hosted.prefix}/{name}"
            self._found[name] = HostedObject.of(bring_object(self._hosted.store, key, facts, path))

    def _described(self) -> Description:
        """What the artifact says of itself, when it is this one and has all that it needs."""
        hosted = self._hosted
        described = Description.read(self._downloads, hosted.method, hosted.suite, hosted.url)
        problems = list(described.problems)
        names = {*hosted.objects, *self._left_out}
        if hosted.manifest is None:
            self._hosted = hosted = hosted.narrowed(described)
            lacking = {name: missing(f"{hosted.url}/{name}") for name in described.absent(names)}
            problems += [problem for name, problem in lacking.items() if name not in _MAY_LACK]
            self.remarks += [problem for name, problem in lacking.items() if name in _MAY_LACK]
            self.remarks.append(no_digests(described))
        else:
            problems += described.not_listed(names)
        if problems:
            raise Failure(problems)
        self.remarks += hosted.remarks
        return described

    def _assemble(self, described: Description) -> None:
        """Make the artifact's folder, when every object of it is what it should be."""
        self.clear_unfinished()  # what a kill left
        self._folder.mkdir(parents=True)
        problems: list[Problem] = []
        for name, below in ZIPS.items():
            if name in self.objects:
                self._count.note = f"unpacking {name}"
                listed = described.files_of(name)
                with kept(problems):
                    source = self._downloads / name
                    extract_zip(source, self._folder / below, self._where(name), self._count, listed=listed)
        for name in self.objects.keys() - ZIPS.keys():
            with kept(problems):
                self._put(name, described)
        problems += described.contradictions(self._found)
        if problems:
            raise Failure(problems)

    def _put(self, name: str, described: Description) -> None:
        """Put an object that is a file of the artifact in its place."""
        source, path, facts = self._downloads / name, self._folder / name, self.objects[name]
        if self._hosted.manifest is None and described.sidecar is None and name.endswith(".parquet"):
            check_readable(self._downloads, name, self._where(name))
        if path.exists() and not filecmp.cmp(path, source, shallow=False):
            found = "another file than the one in the zip"
            raise Failure(Problem("bad-artifact", self._where(name), found, "one file", UPLOAD_AGAIN))
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        self._count(facts.size)

    def _refuse_to_lose_raw(self) -> None:
        """Refuse to replace a folder that has raw results by one without: they may be the only ones."""
        present = self._target / layout.RAW
        if RAW_ZIP not in self.objects and present.exists():
            found, expected = "raw results, which the fetched artifact does not have", "raw results in both, or in none"
            fix = "fetch it without --no-raw, or move that folder away first"
            raise Failure(Problem("raw-would-be-lost", str(present), found, expected, fix), exit=Exit.REFUSED)

    def _where(self, name: str) -> str:
        return f"{self._hosted.url}/{name}"

    def _clear(self) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)


def _size(objects: Mapping[str, HostedObject]) -> int:
    return sum(facts.size for facts in objects.values())
