"""Kills at random writes of processing and of uploading, each run again: the end is the undisturbed one, to the byte.

``BENCHWRIGHT_KILLS`` sets how many there are (``make soak``: 200).
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchwright.processing.ensemble.compiled import cache_folder
from object_servers import SeaweedServer, settings, stopped_at_end

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests" / "data" / "tabarena_raw" / "data"
KILLS = int(os.environ.get("BENCHWRIGHT_KILLS", "12"))
SUITE = "kills-2026-11-30"
INFO = f"""
linear_method_metadata = MethodMetadata.config(
    method="LinearModel",
    suite="{SUITE}",
    ag_key="LR",
    config_default="LinearModel_c1_default_BAG_L1",
    can_hpo=True,
    is_bag=True,
    date="2026-11-30",
    verified=False,
    validation_protocol="8x1",
)
"""
HOOK = Path(__file__).parent / "kill_at"


@dataclass(frozen=True)
class Stage:
    """One of the two commands, in a world of its own: a cache and a place in the bucket."""

    world: Path
    store: str
    environment: Mapping[str, str]

    def command(self, name: str) -> list[str]:
        info = ["--method-metadata", "kill_info:linear_method_metadata", "--repo", str(self.world / "checkout")]
        cache = ["--cache-root", str(self.world / "cache"), "--json"]
        if name == "process":
            options = [str(RESULTS), "--process", "--jobs", "2"]
        else:
            options = ["--store", self.store, "--apply"]
        script = {"process": "run_process_method.py", "upload": "run_upload_results.py"}[name]
        return [sys.executable, str(ROOT / "scripts" / script), *options, *info, *cache]

    def run(self, name: str, *, counted: Path | None = None, kill_at: int = 0) -> subprocess.CompletedProcess[str]:
        hook = {"PYTHONPATH": str(HOOK), "KILL_STEPS": str(counted), "KILL_AT": str(kill_at)} if counted else {}
        environment = {**self.environment, **hook}
        return subprocess.run(
            self.command(name), env=environment, capture_output=True, text=True, check=False, start_new_session=True,
            timeout=120,
        )  # fmt: skip

    def finish(self, name: str) -> None:
        done = self.run(name)
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["ok"]

    def artifacts(self) -> dict[str, str]:
        """Every file of the cache that others see, with its digest."""
        folder = self.world / "cache" / "artifacts"
        return {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def steps(self, name: str) -> int:
        """How many steps of an undisturbed run write something, those of all its processes."""
        with tempfile.NamedTemporaryFile(dir=self.world) as counted:
            done = self.run(name, counted=Path(counted.name))
            assert done.returncode == 0, done.stdout + done.stderr
            return Path(counted.name).stat().st_size

    def kill(self, name: str, step: int) -> bool:
        """Whether the run was killed: one that adopts an earlier one's work takes fewer steps."""
        with tempfile.NamedTemporaryFile(dir=self.world) as counted:
            done = self.run(name, counted=Path(counted.name), kill_at=step)
        assert done.returncode in (-signal.SIGKILL, 0), done.stdout + done.stderr
        return done.returncode != 0


def stage(world: Path, store: str, server: SeaweedServer) -> Stage:
    (world / "checkout").mkdir(parents=True)
    (world / "checkout" / "kill_info.py").write_text(INFO)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(world),
        "NUMBA_CACHE_DIR": str(cache_folder()),
        "PYTHONDONTWRITEBYTECODE": "1",  # in a fresh checkout the first run alone would have more to write
    }
    return Stage(world, store, {**environment, **settings(server.url)})


def objects(server: SeaweedServer, prefix: str) -> dict[str, str]:
    """Every object below a prefix with the digest of what is read back."""
    found = {}
    for page in server.client.get_paginator("list_objects_v2").paginate(Bucket=server.bucket, Prefix=f"{prefix}/"):
        for entry in page.get("Contents", ()):
            body = server.client.get_object(Bucket=server.bucket, Key=entry["Key"])["Body"].read()
            found[entry["Key"].removeprefix(f"{prefix}/")] = hashlib.sha256(body).hexdigest()
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with stopped_at_end(SeaweedServer(tmp_path_factory.mktemp("weed"), "results")) as running:
        running.start()
        yield running


@pytest.fixture(scope="module")
def undisturbed(server, tmp_path_factory):
    """The cache, its files, the objects, and the number of steps of each kind of run, when nothing is killed."""
    world = stage(tmp_path_factory.mktemp("kills") / "undisturbed", "s3://results/undisturbed", server)
    steps = {kind: world.steps(kind.split()[0]) for kind in ("process", "process again", "upload")}
    return world.world / "cache", world.artifacts(), objects(server, "undisturbed"), steps


@pytest.mark.slow
@pytest.mark.timeout(KILLS * 60)
def test_any_kill_and_another_run_end_as_if_nothing_had_happened(undisturbed, server, tmp_path):
    cache, files, hosted, steps = undisturbed
    assert len(hosted) > 6
    assert min(steps.values()) > 10
    chance, killed = random.Random(4), 0
    for number in range(KILLS):
        prefix = f"kill-{number}"
        world = stage(tmp_path / prefix, f"s3://results/{prefix}", server)
        name = ("process", "upload")[number % 2]
        again = name == "process" and chance.random() < 0.5  # a kill over an artifact that is there, or over none
        if name == "upload" or again:
            shutil.copytree(cache, world.world / "cache")
        step = chance.randint(1, steps["process again" if again else name])
        for time in range(chance.choice((1, 1, 2))):
            killed += world.kill(name, step) and time == 0
            assert world.artifacts() in ({}, files), f"{name} killed at step {step} left a part of an artifact"
            if "metadata.yaml" in {Path(key).name for key in objects(server, prefix)}:
                assert objects(server, prefix) == hosted, f"{name} killed at step {step}: marked before it was whole"
        world.finish("process")
        world.finish("upload")
        assert world.artifacts() == files, f"{name} killed at step {step}"
        assert list((world.world / "cache").glob(".benchwright/staging/*")) == [], f"{name} killed at step {step}"
        assert objects(server, prefix) == hosted, f"{name} killed at step {step}"
    assert killed >= KILLS * 0.9
