"""A bench of real Harbor, with a job on it that has ended."""

from __future__ import annotations

import shutil

import pytest

from real_harbor import Bench


@pytest.fixture(scope="session")
def finished_bench(tmp_path_factory):
    """Its job ``done`` has six valid trials and two without a reward."""
    bench = Bench(tmp_path_factory.mktemp("harbor"))
    bench.run("done")
    return bench


@pytest.fixture
def bench(finished_bench, tmp_path):
    """The same tasks, with a copy of the job."""
    shutil.copytree(finished_bench.root / "jobs", tmp_path / "jobs")
    return finished_bench.copied_to(tmp_path)
