"""All sources together: what is asked of whom, and what is not."""

from __future__ import annotations

import contextlib

import pytest

from audit_runs import BENCHMARKS, NOW, AuditedRun
from benchwright.audit.facts import JobFacts
from benchwright.audit.gather import Sources, gather
from benchwright.audit.gather_folder import FolderRules, legs_of
from benchwright.audit.manifest import NO_HINT, Entry
from benchwright.harbor import Benchmarks, JobPlace, Taxonomy, read_job
from benchwright.slurm import Clients


class Asked(Clients):
    """Clients that note what they are asked, and know of no job."""

    def __init__(self):
        object.__setattr__(self, "calls", [])

    def call(self, program, *arguments):
        self.calls.append((program, *arguments))
        return ""


@pytest.fixture
def rules(settings, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return FolderRules(Taxonomy.load().profile(), Benchmarks.load(tmp_path / "benchmarks.yaml"))


def gathered(rules, *runs, clients=None, **more):
    sources = Sources(folders=rules, database="no rows", hub="no traces", clients=clients or Asked())
    quiet = lambda _: contextlib.nullcontext(lambda *_, **__: None)  # noqa: E731
    return gather([Entry(run.folder) for run in runs], sources, now=NOW, progress=quiet, **more)


def test_the_scheduler_is_asked_once_for_all(rules, tmp_path):
    clients = Asked()
    gathered(rules, *(AuditedRun(tmp_path, f"run-{n}", slurm_id=str(n)) for n in range(9)), clients=clients)
    assert [call[0] for call in clients.calls] == ["squeue", "sacct"]
    assert "--jobs=0,1,2,3,4,5,6,7,8" in clients.calls[1]


def test_an_eval_that_was_read_elsewhere_keeps_what_is_known_of_its_job(rules, tmp_path):
    clients = Asked()
    run = AuditedRun(tmp_path, slurm_id="17")
    place = JobPlace(run.tag, (run.folder,))
    (leg,) = legs_of(place, NO_HINT, read_job(place), rules)
    job = JobFacts(phase="ended", state="6 KILLED", told_by="the jobs table")
    found = gathered(rules, clients=clients, others=[leg.learned(job=job)])
    assert [facts.job for facts in found.facts] == [job]
    assert [call[0] for call in clients.calls] == ["squeue"]


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
