"""The measure of traces: what is compared of both sides, files that jobs share, a peer that is not there. No timing."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.contract import Exit, Failure

MODULES = ("measure", "memory", "traces")


def test_both_sides_rows_are_compared_whole(tmp_path, modules):
    traces = modules["traces"]
    small, large = tmp_path / "eval-model_6_bench", tmp_path / "eval-model_12_bench"
    traces.grow(small, 6)
    traces.grow(large, 12, small)
    links = {path.stat().st_nlink for path in small.glob("*/agent/trajectory.json")}
    assert min(links) > 1
    told = traces.ours(str(small), str(tmp_path / "ours"))
    assert told["rows"] == len(list(small.glob("*/agent/trajectory.json")))
    assert traces.ours(str(large), str(tmp_path / "all"), "all")["rows"] > 10 * told["rows"]
    table = pq.ParquetFile(tmp_path / "ours" / "data" / "train-00000.parquet").read()
    rows = [{name: row[name] for name in row if name not in traces.OWN} for row in table.to_pylist()]
    expected = traces.content(str(tmp_path / "ours" / "data"))
    for changed, same in ((rows[::-1], True), (rows[1:], False), ([rows[0] | {"result": "x"}, *rows[1:]], False)):
        pq.write_table(pa.Table.from_pylist(changed), tmp_path / "peer.parquet")
        assert (traces.content(str(tmp_path / "peer.parquet")) == expected) is same


def test_without_harbor_it_says_how_to_get_it(tmp_path, modules, monkeypatch):
    measure, traces = modules["measure"], modules["traces"]
    monkeypatch.setattr(traces, "_REPOSITORY", tmp_path)
    with pytest.raises(Failure) as failure:
        traces.measure(measure.Bench(tmp_path, quick=True), trials=2)
    (problem,) = failure.value.problems
    assert (failure.value.exit, problem.found, problem.fix) == (Exit.ENVIRONMENT, "not there", "make setup-dev")
