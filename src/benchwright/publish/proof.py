"""What reading a hosted artifact back proved, what it found wrong, and what it can only remark on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.contract import Exit, Failure, Outcome, Problem
from benchwright.objects import ObjectInfo, ObjectStore
from benchwright.publish.hosted import HostedObject

READ_AGAIN = "run this again; if it stays so, the object is damaged and must be uploaded anew"


@dataclass(frozen=True, slots=True)
class Proof:
    """What reading an object back whole showed: its size in bytes, its SHA-256, and what they were compared with."""

    name: str
    size: int
    sha256: str
    shown: str

    def to_dict(self) -> dict[str, Any]:
        """The proof in the JSON envelope's form."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256, "proved": self.shown}


@dataclass(frozen=True)
class Verification:
    """What was proved of a hosted artifact, what is wrong with it (``problems``), and what is beside it (``remarks``).

    ``basis`` says what its objects were compared with.
    """

    url: str
    basis: str
    proofs: tuple[Proof, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether every expected object is there as it should be."""
        return not self.problems

    def outcome(
        self, what: str, data: Mapping[str, Any], *, remarks: Sequence[Problem] = (), next: Sequence[str] = ()
    ) -> Outcome:
        """The verification in a script's form; ``what`` was verified, ``remarks`` are others' beside its own."""
        state = f"{len(self.proofs)} objects proved" if self.ok else f"{len(self.problems)} problems"
        lines = [f"  {one.name}: {one.size:,} bytes, SHA-256 {one.sha256[:12]}..., {one.shown}" for one in self.proofs]
        return Outcome(
            f"{what}: {state} at {self.url}",
            {**data, "verification": self.to_dict()},
            [f"compared with {self.basis}", *lines],
            (*self.problems, *self.remarks, *remarks),
            next,
            exit=Exit.DONE if self.ok else Exit.NO,
        )

    def to_dict(self) -> dict[str, Any]:
        """The verification in the JSON envelope's form."""
        proofs = [proof.to_dict() for proof in self.proofs]
        return {"url": self.url, "basis": self.basis, "ok": self.ok, "objects": proofs}


@contextlib.contextmanager
def kept(problems: list[Problem], fix: str | None = None) -> Iterator[None]:
    """Keep what is wrong with one object in ``problems``, so that the others are looked at too; with another ``fix``.

    Raises:
        Failure: what goes beyond the one object, as of a store that does not answer.
    """
    try:
        yield
    except Failure as failure:
        if failure.exit != Exit.NO:
            raise
        problems += [problem if fix is None else replace(problem, fix=fix) for problem in failure.problems]


def bring_object(store: ObjectStore, key: str, facts: HostedObject, path: Path) -> ObjectInfo:
    """Bring an object to ``path``; no more is taken than it should have.

    Raises:
        Failure: it is another one than it should be (codes ``digest-mismatch``, ``size-mismatch``, ``too-large``, exit
            1), and as ``ObjectStore.get`` does.
    """
    return _whole(store.get(key, path, sha256=facts.sha256, most=facts.size), facts, f"{store.url}/{key}")


def prove_object(store: ObjectStore, key: str, facts: HostedObject) -> ObjectInfo:
    """Read an object back and keep nothing. Raises as ``bring_object`` does."""
    return _whole(store.prove(key, sha256=facts.sha256, most=facts.size), facts, f"{store.url}/{key}")


def _whole(read: ObjectInfo, facts: HostedObject, where: str) -> ObjectInfo:
    if read.size != facts.size:
        raise Failure(Problem("size-mismatch", where, f"{read.size:,} bytes", f"{facts.size:,} bytes", READ_AGAIN))
    return read


def stray(store: ObjectStore, info: ObjectInfo) -> Problem:
    """The remark on an object beside an artifact's own."""
    found = f"{info.size:,} bytes that are no part of this artifact"
    fix = "nothing reads it; remove it there if it is yours"
    return Problem("extra-object", f"{store.url}/{info.key}", found, fix=fix)


def not_hosted(url: str, close: str = "") -> Failure:
    """There is no artifact at this place; ``close`` says what might have been meant."""
    fix = close or "compare method, suite and store with those it was uploaded with"
    return Failure(Problem("not-hosted", url, "no artifact there", "a hosted artifact", fix))
