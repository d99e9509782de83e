"""The clusters of the tests, started once a session and always stopped."""

from __future__ import annotations

import itertools

import pytest
from slurm_cluster import running_cluster
from slurm_run import SlurmRun


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A cluster with accounting."""
    with running_cluster(tmp_path_factory.mktemp("slurm"), accounting=True) as running:
        yield running


@pytest.fixture(scope="session")
def bare_cluster(tmp_path_factory):
    """A cluster that keeps no accounts."""
    with running_cluster(tmp_path_factory.mktemp("bare-slurm"), accounting=False) as running:
        yield running


@pytest.fixture
def new_run(tmp_path):
    """Makes runs, each in a workspace of its own whose path has a space."""
    numbers = itertools.count(1)
    return lambda cluster: SlurmRun(cluster, tmp_path / f"a workspace {next(numbers)}")


@pytest.fixture
def run(cluster, new_run):
    """A run on the cluster with accounting."""
    return new_run(cluster)
