"""What a cluster's figures mean for arrays and their logs."""

from __future__ import annotations

import dataclasses

import pytest

from benchwright.launch.beyond_limits import worth_knowing
from benchwright.launch.cluster import Cluster
from benchwright.slurm import parse_limits
from benchwright.slurm.nodes import NodeKind, parse_nodes

LIMITS = parse_limits("MaxArraySize = 1001\nMaxJobCount = 10000\nSLURM_VERSION = 22.05.8\n", "")


def cluster(**changes):
    return Cluster(dataclasses.replace(LIMITS, **changes), ())


def test_an_array_is_no_larger_than_the_controller_can_hold():
    assert cluster().most_tasks == 1001
    assert cluster(array_size=40_000).most_tasks == 9_999
    assert cluster(array_size=40_000, jobs=None).most_tasks == 40_000


@pytest.mark.parametrize(
    ("version", "makes"),
    [("22.05.8", False), ("23.02.0", True), ("23.11.10-1", True), ("24.05.3", True), ("26.11.0", True), ("", False)],
)
def test_newer_versions_make_the_folders_of_logs(version, makes):
    assert cluster(version=version).makes_log_folders is makes


def test_more_tasks_than_the_cluster_holds_are_said():
    assert worth_knowing(cluster(), [], 9_999) == []
    assert worth_knowing(cluster(), [], 10_000) == [
        "10,000 tasks in all, and the cluster keeps 10,000 jobs at most: launch the later arrays when others have ended"
    ]


def test_nodes_are_read_with_their_cards():
    text = (
        "gpu|24|180000|gpu:nvidia_rtx_pro_6000:1(S:0)\n"
        "gpu|96|2000000|gpu:a100:8(S:0-1),localtmp:100\n"
        "mixed|16|64000|localtmp:4,gpu:2,gpu:h100_1g.10gb:7\n"
        "cpu|16|64000|(null)\n"
        "odd line\n"
    )
    assert list(parse_nodes(text)) == [
        NodeKind("gpu", 24, 180_000, 1),
        NodeKind("gpu", 96, 2_000_000, 8),
        NodeKind("mixed", 16, 64_000, 9),
        NodeKind("cpu", 16, 64_000, 0),
    ]
