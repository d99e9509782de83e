"""All sources together: what is asked of whom, and what is not."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit_runs import BENCHMARKS, NOW, Asked, AuditedRun
from benchwright.audit import judge
from benchwright.audit.gather import Sources, gather
from benchwright.audit.gather_folder import FolderRules
from benchwright.audit.manifest import Entry
from benchwright.harbor import Benchmarks, Taxonomy

DATA = Path(__file__).parents[1] / "data" / "harbor_jobs"
TWO_AGENTS = SimpleNamespace(folder=DATA / "eval-infra_bench-nop-20260901_122000")


@pytest.fixture
def rules(settings, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return FolderRules(Taxonomy.load().profile(), Benchmarks.load(tmp_path / "benchmarks.yaml"))


def gathered(rules, *runs, clients=None, database="no rows"):
    owners = frozenset({"ada"})
    sources = Sources(folders=rules, database=database, owners=owners, hub="no traces", clients=clients or Asked())
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


class TestCopies:
    def run(self, tmp_path, name, *, lost=0, **more):
        """A folder of one run, which has lost some trials."""
        run = AuditedRun(tmp_path / name, **more)
        for trial in sorted(run.truth.states)[:lost]:
            shutil.rmtree(run.folder / trial)
        return run

    def judged(self, rules, *runs, **more):
        found = gathered(rules, *runs, **more).facts
        return {facts.folder: (judge(facts, now=NOW), facts) for facts in found}

    def test_the_fullest_folder_of_a_run_is_acted_for_and_the_others_are_copies(self, rules, tmp_path):
        runs = [self.run(tmp_path, name, lost=lost) for name, lost in (("a", 3), ("b", 0), ("c", 12))]
        a, b, c = (str(run.folder) for run in runs)
        for order in itertools.permutations(runs):
            found = self.judged(rules, *order)
            assert {folder: facts.copy_of for folder, (_, facts) in found.items()} == {a: b, b: None, c: b}
            why = f"a copy of {b}, which has more of its trials, or as many: act there"
            assert [(found[one][0].verdict, found[one][0].why) for one in (a, c)] == [("STOP", why)] * 2
            assert f"{b} is of the same run: 12 valid trials there, 9 here" in found[a][1].notes
            assert f"{a} is of the same run: 9 valid trials there, 12 here" in found[b][1].notes

    def test_of_equal_folders_one_is_acted_for(self, rules, tmp_path):
        runs = [self.run(tmp_path, name) for name in "ba"]
        a, b = sorted(str(run.folder) for run in runs)
        assert {folder: facts.copy_of for folder, (_, facts) in self.judged(rules, *runs).items()} == {a: None, b: a}

    def test_an_aggregate_alone_comes_after_any_folder_with_trials(self, rules, tmp_path):
        run = self.run(tmp_path, "b", lost=1)
        alone = SimpleNamespace(folder=tmp_path / "a" / run.tag)
        alone.folder.mkdir(parents=True)
        for name in ("result.json", "config.json"):
            shutil.copy(run.folder / name, alone.folder)
        found = self.judged(rules, alone, run)
        copy_of = {folder: facts.copy_of for folder, (_, facts) in found.items()}
        assert copy_of == {str(alone.folder): str(run.folder), str(run.folder): None}

    def test_folders_of_one_row_are_of_one_run(self, rules, tmp_path, eval_rows):
        of_row = {"row_id": "7d2a0dd0-0000-4000-8000-000000000001"}
        full, partial = self.run(tmp_path, "a", seed=1, **of_row), self.run(tmp_path, "b", seed=2, lost=6, **of_row)
        full.row(eval_rows, id=of_row["row_id"])
        eval_rows.load()
        with eval_rows.open("postgres") as database:
            found = self.judged(rules, partial, full, database=database)
        assert found[str(partial.folder)][1].copy_of == str(full.folder)
        assert [row.advice for row in found[str(partial.folder)][0].rows] == ["leave"]

    def test_runs_of_their_own_and_evals_of_one_folder_are_no_copies(self, rules, tmp_path):
        found = gathered(rules, self.run(tmp_path, "a", seed=1), self.run(tmp_path, "b", seed=2), TWO_AGENTS)
        assert [facts.copy_of for facts in found.facts] == [None] * 4
