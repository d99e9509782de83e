"""Partitions are data, and a user's own win."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.launch import BenchmarkPlan, GCPSlurmSetup, LocalSetup, PathSetup, SlurmSetup, setup_jobs
from benchwright.launch.partitions import SHIPPED, Partition, read_partitions


def test_the_preset_names_partitions_that_are_on_record():
    known, preset = read_partitions(), GCPSlurmSetup()
    assert known[preset.gpu_partition].gpu_memory == 96
    assert (known[preset.cpu_partition].cpus, known[preset.cpu_partition].memory) == (16, 64)
    assert known[preset.gpu_partition].exclusive_node == known[preset.cpu_partition].exclusive_node
    assert preset.exclusive_node
    assert SlurmSetup() == SlurmSetup(cpu_partition=None, gpu_partition=None, exclusive_node=False, bundle_size=5)


def test_a_users_own_file_adds_and_wins(tmp_path, monkeypatch):
    own = tmp_path / "my partitions.yaml"
    own.write_text("a: {card: A100, gpu_memory: 80, memory: null}\ngpurtxpro6000flex: {gpu_memory: 48}\nb:\n")
    known = read_partitions(own)
    assert known["a"] == Partition("a", card="A100", gpu_memory=80)
    assert known["b"] == Partition("b")
    assert known["gpurtxpro6000flex"] == Partition("gpurtxpro6000flex", gpu_memory=48)
    assert "cpun416mtspotinteractive" in known
    monkeypatch.setenv("BENCHWRIGHT_PARTITIONS", str(own))
    assert read_partitions() == known


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "NoneType, expected a mapping of partitions"),
        ("- a", "list, expected a mapping of partitions"),
        ("a: [", "expected YAML\n    fix: correct it; the top of "),
        ("\x00", "expected YAML\n    fix: correct it; the top of "),
        ("a: 80", "a: 80, expected a mapping such as {gpu_memory: 80}"),
        ("1: {}", "1: a name that YAML reads as int, expected text\n    fix: put it into quotes"),
        ("a: {gpu_memory: eighty}", "a: gpu_memory: 'eighty', expected a whole number above 0"),
        ("a: {gpu_memory: .nan}", "a: gpu_memory: nan, expected a whole number above 0"),
        ("a: {gpu_memory: true}", "a: gpu_memory: True, expected a whole number above 0"),
        ("a: {gpu_memory: 0}", "a: gpu_memory: 0, expected a whole number above 0"),
        ("a: {card: 1}", "a: card: 1, expected text"),
        ("a: {exclusive_node: 1}", "a: exclusive_node: 1, expected true or false"),
        ("a: {gpu_memry: 1}", "a: gpu_memry: no such field\n    fix: did you mean 'gpu_memory'"),
        ("a: {name: b}", "a: name: no such field"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, content, problem):
    own = tmp_path / "own.yaml"
    own.write_text(content)
    with pytest.raises(Failure) as caught:
        read_partitions(own)
    assert caught.value.exit == Exit.USAGE
    assert problem in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(Failure, match="cannot be read"):
        read_partitions(tmp_path / "own.yaml")
    (tmp_path / "own.yaml").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(Failure, match="expected YAML\n    fix: correct it"):
        read_partitions(tmp_path / "own.yaml")


def test_every_wrong_entry_is_named(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("a: 1\nb: {cpus: x}\n")
    with pytest.raises(Failure) as caught:
        read_partitions(own)
    assert [problem.where for problem in caught.value.problems] == [f"{own}: a", f"{own}: b: cpus"]


def test_the_shipped_file_shows_the_form():
    assert all(field in SHIPPED.read_text() for field in ("card:", "gpu_memory:", "bundle_size:", "exclusive_node:"))


def test_a_wrong_plan_for_a_cluster_is_wrong_first(tmp_path):
    plan = BenchmarkPlan("b", "mini", [], PathSetup(tmp_path), scheduler_setup=SlurmSetup(bundle_size=0))
    with pytest.raises(Failure) as caught:
        setup_jobs(plan)
    assert caught.value.exit == Exit.USAGE
    assert LocalSetup().bundle_size == 5
