"""Artifacts to publish: genuine ones of ``tabarena``, and the same with the sidecar that our processing writes."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from benchwright.arena import MethodMetadata
from benchwright.processing.sidecar import FileFacts, Inputs, Sidecar
from benchwright.publish.artifact import open_artifact, open_recorded

DATA = Path(__file__).resolve().parent / "data"
SUITE = "local-2026-11-29"
GENUINE = DATA / "tabarena_cache" / "artifacts" / SUITE / "methods"
RAW = DATA / "tabarena_raw" / "data"


def artifact_folder(cache, method="LinearModel"):
    return cache / "artifacts" / SUITE / "methods" / method


def genuine(cache, method="LinearModel"):
    """What ``tabarena`` wrote, and genuine raw results in the places of its copies."""
    folder = artifact_folder(cache, method)
    shutil.copytree(GENUINE / method, folder)
    for path in RAW.glob(f"{method}*/*/*/results.pkl"):
        copy = folder / "raw" / path.relative_to(RAW)
        copy.parent.mkdir(parents=True)
        shutil.copyfile(path, copy)
    return folder


def recorded(cache, method="LinearModel", protocol="8x1"):
    """The same, as our processing leaves it: without a path of the machine, and with a sidecar."""
    folder = genuine(cache, method)
    context = folder / "processed" / "context.json"
    named = "/data/bench/tabarena_cache/artifacts/local-2026-11-29/methods"
    context.write_text(context.read_text().replace(f"{named}/{method}/processed", "."))
    add_sidecar(folder, protocol)
    return folder


def add_sidecar(folder, protocol="8x1"):
    metadata = MethodMetadata.from_yaml(folder)
    (folder / "provenance.json").unlink(missing_ok=True)
    sidecar = Sidecar(
        method=metadata.method,
        suite=metadata.suite,
        validation_protocol=protocol,
        protocols=Counter({str(protocol): 27}),
        counts={"results": 27},
        versions={"benchwright": "0.1.0"},
        inputs=Inputs(27, 1, "0" * 64),
        files={name: FileFacts(size, digest) for name, (size, digest) in facts(folder).items()},
    )
    (folder / "provenance.json").write_text(sidecar.to_json())


def facts(folder):
    """Size and digest of every file below a folder, by its path in it."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def opened(cache, method="LinearModel", **declared):
    """The artifact, under its own metadata with other values for the fields in ``declared``."""
    own = open_recorded(method, SUITE, cache).declared
    return open_artifact(MethodMetadata.from_dict(own.to_dict() | declared), cache)


def other_results(folder):
    """Make it another artifact: other raw results and another table."""
    for path in folder.glob("raw/LinearModel_r2*/*/0_0/results.pkl"):
        path.write_bytes(path.read_bytes() + b"more")
    table = folder / "results" / "hpo_results.parquet"
    pq.write_table(pq.read_table(table), table, compression="NONE")
    add_sidecar(folder)


def large_raw(folder):
    """Make its raw results more than two parts of an upload."""
    (folder / "raw" / "LinearModel_r9" / "1" / "0_0").mkdir(parents=True)
    content = random.Random(0).randbytes(20 * 2**20)
    (folder / "raw" / "LinearModel_r9" / "1" / "0_0" / "results.pkl").write_bytes(b"\x1f\x8b" + content)
    add_sidecar(folder)


class Watched:
    """A store whose writes are told: ``before`` and ``after`` are called with the number of the write and its key."""

    def __init__(self, store, before=lambda number, key: None, after=lambda number, key: None):
        self.store, self.before, self.after, self.writes = store, before, after, []

    def __getattr__(self, name):
        call = getattr(self.store, name)
        if name not in ("put", "put_stream", "delete"):
            return call

        def watched(key, *args, **kwargs):
            self.writes.append((name, key))
            number = len(self.writes)
            self.before(number, key)
            answer = call(key, *args, **kwargs)
            self.after(number, key)
            return answer

        return watched


def hosted(store):
    """Every object of a store with its digest; what a store keeps for itself left out."""
    return {info.key: store.prove(info.key).sha256 for info in store.list()}
