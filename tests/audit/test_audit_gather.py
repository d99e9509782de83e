"""All sources together: what is asked of whom, and what is not."""

from __future__ import annotations

import contextlib

import pytest

from audit_runs import BENCHMARKS, NOW, Asked, AuditedRun
from benchwright.audit.gather import Sources, gather
from benchwright.audit.gather_folder import FolderRules
from benchwright.audit.manifest import Entry
from benchwright.harbor import Benchmarks, Taxonomy


@pytest.fixture
def rules(settings, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return FolderRules(Taxonomy.load().profile(), Benchmarks.load(tmp_path / "benchmarks.yaml"))


def gathered(rules, *runs, clients=None):
    sources = Sources(folders=rules, database="no rows", hub="no traces", clients=clients or Asked())
    quiet = lambda _: contextlib.nullcontext(lambda *_, **__: None)  # noqa: E731
    return gather([Entry(run.folder) for run in runs], sources, now=NOW, progress=quiet)


def test_the_scheduler_is_asked_once_for_all(rules, tmp_path):
    clients = Asked()
    gathered(rules, *(AuditedRun(tmp_path, f"run-{n}", slurm_id=str(n)) for n in range(9)), clients=clients)
    assert [call[0] for call in clients.calls] == ["squeue", "sacct"]
    assert "--jobs=0,1,2,3,4,5,6,7,8" in clients.calls[1]


def test_a_measurement_is_not_looked_up(rules, tmp_path):
    found = gathered(rules, AuditedRun(tmp_path, "grid_small_bench_real-model-8B", slurm_id="17"))
    (facts,) = found.facts
    assert (facts.measurement, facts.job, facts.unknown) == (True, None, {})


def test_each_part_that_is_not_known_has_its_reason(rules, tmp_path):
    (facts,) = gathered(rules, AuditedRun(tmp_path)).facts
    assert facts.unknown == {"rows": "no rows", "traces": "no traces"}


def test_the_trials_of_an_eval_are_found_by_its_facts(rules, tmp_path):
    found = gathered(rules, AuditedRun(tmp_path, "a"), AuditedRun(tmp_path, "b", ("pass", "unfinished")))
    numbers = {facts.run_tag: len(found.trials_of(facts)) for facts in found.facts}
    assert numbers == {"a": 12, "b": 3}  # three attempts were planned for the one task
