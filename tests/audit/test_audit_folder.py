"""Facts from folders: genuine runs of Harbor, and runs grown in every mix; what a run is called, and of what kind."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from audit_runs import BENCHMARK, BENCHMARKS, GOOD, MODEL, SERVED, AuditedRun, settle
from benchwright.audit.gather_folder import FolderRules, read_legs
from benchwright.audit.manifest import NO_HINT, Entry, Hint, read_manifest
from benchwright.audit.model_names import plain_model
from benchwright.audit.run_kinds import is_measurement
from benchwright.audit.troubles import Troubles
from benchwright.contract import Exit, Failure
from benchwright.harbor import Benchmarks, Taxonomy
from benchwright.rehearsal.harbor_jobs import KINDS, JobShape, grow_job

DATA = Path(__file__).parents[1] / "data" / "harbor_jobs"
PROFILE = Taxonomy.load().profile()


@pytest.fixture
def rules(settings, tmp_path):
    (tmp_path / "benchmarks.yaml").write_text(BENCHMARKS)
    return FolderRules(PROFILE, Benchmarks.load(tmp_path / "benchmarks.yaml"))


def legs_of(rules, *paths, hint=NO_HINT, troubles=None):
    entries = [path if isinstance(path, Entry) else Entry(path, hint) for path in paths]
    return read_legs(entries, rules, troubles or Troubles())


def facts_of(rules, path, **hint):
    (leg,) = legs_of(rules, path, hint=Hint(**hint))
    return leg.facts


class TestGenuineRuns:
    def test_every_outcome(self, rules):
        facts = facts_of(rules, DATA / "eval-tiny_bench-oracle-20260901_120000")
        trials = facts.trials
        assert (trials.planned, trials.attempted, trials.valid, trials.nonzero, trials.silent) == (18, 18, 9, 3, 0)
        assert trials.errors == {"AgentTimeoutError": 6, "RewardFileNotFoundError": 3, "VerifierTimeoutError": 3}
        assert trials.unscored == {"AgentTimeoutError": 3, "RewardFileNotFoundError": 3, "VerifierTimeoutError": 3}
        assert (trials.invalid, trials.invalid_in_aggregate, trials.reward_sum) == (6, 6, 3.0)
        assert (trials.stored_score, trials.tokens, trials.requests) == (3 / 18, None, None)
        assert trials.worked == 18
        assert (facts.agent, facts.model, facts.benchmark, facts.kind) == ("oracle", None, None, "local")
        assert "its benchmark could not be told: its configuration names tiny_bench" in facts.notes
        assert facts.figures["valid"] == 9

    def test_two_agents_are_two_evals(self, rules):
        legs = legs_of(rules, DATA / "eval-infra_bench-nop-20260901_122000")
        found = {leg.facts.agent: leg.facts.trials for leg in legs}
        assert [(name, one.planned, one.valid, one.reward_sum) for name, one in found.items()] == [
            ("nop", 8, 4, 0.0),
            ("oracle", 8, 4, 4.0),
        ]
        errors = {"AddTestsDirError": 2, "EnvironmentStartTimeoutError": 2}
        assert all(one.errors == one.unscored == errors for one in found.values())
        assert [(leg.key, leg.sole) for leg in legs] == [("nop__infra_bench", True), ("oracle__infra_bench", True)]

    def test_a_run_that_was_killed(self, rules):
        facts = facts_of(rules, DATA / "eval-tiny_bench-killed9-20260901_124000")
        trials = facts.trials
        assert (trials.planned, trials.attempted, trials.missing) == (12, 7, 5)
        assert (trials.covered, facts.moving) == (7, False)

    def test_odd_rewards(self, rules):
        trials = facts_of(rules, DATA / "eval-odd_bench-oracle-20260901_123000").trials
        assert (trials.valid, trials.silent, trials.without_reward, trials.stored_score) == (6, 4, 10, None)

    def test_a_resumed_run_over_a_damaged_result(self, rules):
        trials = facts_of(rules, DATA / "eval-tiny_bench-sigint-20260901_125000").trials
        assert (trials.planned, trials.attempted, trials.corrupt) == (12, 12, 0)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_trial_of_each_kind_is_counted_as_what_it_is(rules, tmp_path, name):
    truth = grow_job(tmp_path / "run", ["pass", name, "fail"])
    trials = facts_of(rules, tmp_path / "run").trials
    expected = truth.facts()
    for figure in ("planned", "attempted", "valid", "silent", "corrupt", "covered", "invalid"):
        assert getattr(trials, figure) == expected[figure], figure
    assert (trials.without_reward, trials.reward_sum) == (expected["unscored"], truth.reward_sum)
    assert trials.errors == {name: number for name, number in truth.errors.items() if number}


LATER = "1774999999999999"


def served_as(run, model, *, every=3, **config):
    """The run, with every so many of its trials, and so many of each task, under another name of its model."""
    for path in sorted(run.folder.glob("*/result.json"))[::every]:
        result = json.loads(path.read_text())
        result["agent_info"]["model_info"]["name"] = model
        path.write_text(json.dumps(result))
    place = run.folder / "config.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | config))
    settle(run.folder)
    return run.folder


NOT_ONE = (
    f"its trials name the model by several numbers, {SERVED}, {LATER}, and nothing shows that it is one model: "
    "if it is, let config.json plan it alone, and keep no trial beyond the attempts of a task in the folder; "
    "if there are several, give each a folder of its own"
)


def beside(folder, kinds, **shape):
    """Put trials of the same tasks into a folder, under the later number."""
    other = folder.with_name("other")
    grow_job(other, kinds, JobShape(source=BENCHMARK, model=LATER, **shape), seed=9)
    for path in other.iterdir():
        if path.is_dir():
            path.rename(folder / path.name)
    shutil.rmtree(other)
    settle(folder)


class TestNumbers:
    """What a server called a model: a new number each time that it was started."""

    def test_several_of_one_model_are_one_eval(self, rules, tmp_path):
        run = AuditedRun(tmp_path)
        (leg,) = legs_of(rules, served_as(run, LATER))
        trials = leg.facts.trials
        assert (leg.key, leg.facts.model, leg.run.eval_ids) == (None, MODEL, {})
        assert (trials.planned, trials.valid, trials.attempted) == (12, 12, 12)
        assert trials.reward_sum == run.truth.reward_sum
        assert {SERVED, LATER, MODEL} <= set(leg.run.models)
        assert {trial.model for trial in leg.run.job.trials} == {SERVED}
        note = f"its trials name the model by several numbers, {SERVED}, {LATER}, which are taken for one"
        assert note in leg.facts.notes

    def test_a_damaged_result_of_one_beside_its_rerun_under_another_is_surplus(self, rules, tmp_path):
        """Two readable attempts of each task are under the first number, one is under the second."""
        run = AuditedRun(tmp_path, kinds=(*GOOD[:3], "cut-off") * 4, shape=JobShape(source=BENCHMARK, attempts=4))
        damaged = [path for path in run.folder.glob("*/result.json") if run.truth.states[path.parent.name] == "corrupt"]
        for path in damaged:
            path.rename(path.with_name("away"))
        served_as(run, LATER, n_attempts=3)
        for path in damaged:
            path.with_name("away").rename(path)
        (leg,) = legs_of(rules, run.folder, hint=Hint(trials=12))
        assert (leg.facts.trials.planned, leg.facts.trials.attempted, leg.facts.figures["surplus"]) == (12, 12, 4)
        assert sum("beyond the 3 attempts of a task" in note for note in leg.facts.notes) == 1

    @pytest.mark.parametrize("models", [("org/a-8B", "org/b-8B"), ("org/a-8B", SERVED), (SERVED, None), (None,), ()])
    def test_without_one_that_is_planned_each_stays_an_eval(self, rules, tmp_path, models):
        run = AuditedRun(tmp_path)
        (agent,) = json.loads((run.folder / "config.json").read_text())["agents"]
        agents = [agent | {"model_name": model and f"hosted_vllm/{model}"} for model in models]
        folder = served_as(run, LATER, agents=agents)
        if not models:
            (folder / "config.json").unlink()
        legs = legs_of(rules, folder)
        assert [(leg.key, leg.facts.model) for leg in legs] == [
            (f"terminus-2__{number}__{BENCHMARK}", None) for number in (SERVED, LATER)
        ]
        for leg in legs:
            assert NOT_ONE in leg.facts.notes

    def test_without_a_number_of_attempts_each_stays_an_eval(self, rules, tmp_path):
        legs = legs_of(rules, served_as(AuditedRun(tmp_path), LATER, n_attempts=None, agents=[]))
        assert len(legs) == 2

    @pytest.mark.parametrize("planned", [SERVED, LATER, "org/a-8B"])
    def test_where_whole_slots_were_done_twice_each_stays_an_eval(self, rules, tmp_path, planned):
        """A resume keeps what has a result, so that the second set is another model's: none of it is surplus."""
        run = AuditedRun(tmp_path)
        beside(run.folder, ["fail"] * 12)
        config = json.loads((run.folder / "config.json").read_text())
        config["agents"][0]["model_name"] = f"hosted_vllm/{planned}"
        (run.folder / "config.json").write_text(json.dumps(config))
        legs = legs_of(rules, run.folder)
        assert [(leg.facts.model, leg.facts.trials.attempted, leg.facts.trials.reward_sum) for leg in legs] == [
            (None, 12, run.truth.reward_sum),
            (None, 12, 0.0),
        ]
        assert NOT_ONE in legs[0].facts.notes

    def test_a_single_slot_that_was_done_twice_is_enough(self, rules, tmp_path):
        run = AuditedRun(tmp_path)
        beside(run.folder, ["fail"])
        assert [leg.facts.trials.attempted for leg in legs_of(rules, run.folder)] == [12, 1]

    def test_of_two_agents_each_stays_an_eval(self, rules, tmp_path):
        run = AuditedRun(tmp_path, kinds=GOOD * 2, shape=JobShape(source=BENCHMARK, attempts=6))
        agents = json.loads((run.folder / "config.json").read_text())["agents"]
        for path in sorted(run.folder.glob("*/result.json"))[::2]:
            path.write_text(path.read_text().replace('"terminus-2"', '"openhands"'))
        agents.append(agents[0] | {"name": "openhands"})
        folder = served_as(run, LATER, n_attempts=3, agents=agents)
        legs = legs_of(rules, folder)
        assert [leg.key for leg in legs] == [f"{agent}__{SERVED}__{BENCHMARK}" for agent in ("openhands", "terminus-2")]
        assert [(leg.facts.model, leg.facts.trials.planned, leg.facts.trials.valid) for leg in legs] == [
            (MODEL, 12, 12)
        ] * 2

    def test_one_number_stands_for_all_agents(self, rules, tmp_path):
        """The first agent had finished when the run was resumed, so that its trials have the first number alone."""
        run = AuditedRun(tmp_path, kinds=GOOD * 2, shape=JobShape(source=BENCHMARK, attempts=6))
        agents = json.loads((run.folder / "config.json").read_text())["agents"]
        for number, path in enumerate(sorted(run.folder.glob("*/result.json"))):
            text = path.read_text()
            path.write_text(text.replace('"terminus-2"', '"openhands"') if number % 2 else text)
        agents = [
            agents[0] | {"model_name": f"hosted_vllm/{LATER}", "name": name} for name in ("openhands", "terminus-2")
        ]
        legs = legs_of(rules, served_as(run, LATER, every=4, n_attempts=3, agents=agents))
        assert [(leg.key, leg.facts.model, leg.facts.trials.valid) for leg in legs] == [
            (f"{agent}__{LATER}__{BENCHMARK}", MODEL, 12) for agent in ("openhands", "terminus-2")
        ]

    def test_several_that_were_planned_are_several_models(self, rules, tmp_path):
        run = AuditedRun(tmp_path)
        (agent,) = json.loads((run.folder / "config.json").read_text())["agents"]
        agents = [agent, agent | {"model_name": f"hosted_vllm/{LATER}"}]
        legs = legs_of(rules, served_as(run, LATER, agents=agents))
        assert [(leg.key, leg.facts.model) for leg in legs] == [
            (f"terminus-2__{number}__{BENCHMARK}", None) for number in (SERVED, LATER)
        ]

    @pytest.mark.parametrize(("own", "named"), [(MODEL, MODEL), ("org/other-8B", None), (None, None)])
    def test_one_beside_a_name_is_what_the_launch_names_unless_that_is_the_other(self, rules, tmp_path, own, named):
        run = AuditedRun(tmp_path, model=own)
        legs = legs_of(rules, served_as(run, "other-8B"))
        assert [leg.facts.model for leg in legs] == [named, "other-8B"]

    def test_shards_of_one_model(self, rules, tmp_path):
        grow_job(tmp_path / "run_shard0", ("pass", "fail"), JobShape(source=BENCHMARK, attempts=1), seed=1)
        shape = JobShape(source=BENCHMARK, attempts=1, model=LATER)
        grow_job(tmp_path / "run_shard1", ("pass", "fail"), shape, seed=2)
        (leg,) = legs_of(rules, tmp_path / "run")
        assert (leg.facts.trials.attempted, len(leg.run.job.folders)) == (4, 2)

    def test_slots_of_a_shard_that_were_done_twice_keep_both(self, rules, tmp_path):
        for number in range(2):
            shape = JobShape(source=BENCHMARK, attempts=1)
            grow_job(tmp_path / f"run_shard{number}", ["pass"] * 6, shape, seed=number)
        beside(tmp_path / "run_shard1", ["fail"] * 6, attempts=1)
        legs = legs_of(rules, tmp_path / "run")
        assert [(leg.facts.trials.attempted, leg.facts.trials.reward_sum) for leg in legs] == [(12, 12.0), (6, 0.0)]

    def test_a_damaged_result_in_a_shard_counts_once(self, rules, tmp_path):
        for number in range(2):
            shape = JobShape(source=BENCHMARK, attempts=1)
            grow_job(tmp_path / f"run_shard{number}", ("pass", "cut-off"), shape, seed=number)
        beside(tmp_path / "run_shard1", ("cut-off", "pass"), attempts=1)
        (leg,) = legs_of(rules, tmp_path / "run")
        assert (leg.facts.trials.valid, leg.facts.trials.corrupt, leg.facts.figures["surplus"]) == (3, 1, 2)
        assert any("beyond the 1 attempts of a task" in note for note in leg.facts.notes)


class TestNames:
    def test_the_runs_own_record_comes_before_what_it_was_served_as(self, rules, tmp_path):
        run = AuditedRun(tmp_path)
        (leg,) = legs_of(rules, run.folder)
        assert (leg.facts.model, leg.facts.benchmark, leg.facts.kind) == (MODEL, BENCHMARK, "local")
        assert set(leg.run.models) == {MODEL, SERVED, f"hosted_vllm/{SERVED}"}
        assert {BENCHMARK, "small"} <= set(leg.run.benchmarks)
        assert leg.run.row_ids == (run.aggregate["id"],)

    def test_a_manifest_comes_before_everything(self, rules, tmp_path):
        run = AuditedRun(tmp_path, slurm_id="17", row_id="AB-CD")
        hint = Hint(model="hosted_vllm/other/m", benchmark="SMALL", slurm_job_id="18", row_id="x", trials=15)
        (leg,) = legs_of(rules, run.folder, hint=hint)
        assert (leg.facts.model, leg.facts.benchmark, leg.facts.trials.planned) == ("other/m", BENCHMARK, 15)
        assert leg.run.slurm_ids == ("18", "17")
        assert leg.run.row_ids == ("x", "ab-cd", run.aggregate["id"])

    def test_the_launch_record_beside_the_trials_folder_is_found(self, rules, tmp_path):
        run = AuditedRun(tmp_path / "elsewhere", model=None)
        home = tmp_path / "experiments" / run.tag
        shutil.move(run.root / "trace_jobs", home / "trace_jobs")
        (home / "configs").mkdir()
        (home / "configs" / f"{run.tag}_eval_config.json").write_text(json.dumps({"model_hf_name": MODEL}))
        assert facts_of(rules, home / "trace_jobs" / run.tag).model == MODEL

    def test_a_model_keeps_the_organisation_that_its_trials_take_for_a_provider(self, rules, tmp_path):
        shape = JobShape(source=BENCHMARK, model="real-model-8B", provider="laion")
        assert facts_of(rules, AuditedRun(tmp_path, model=None, shape=shape).folder).model == "laion/real-model-8B"

    def test_a_run_whose_result_is_gone_has_the_id_that_its_trials_agree_on(self, rules, tmp_path):
        run = AuditedRun(tmp_path)
        own = run.aggregate["id"]
        (run.folder / "result.json").write_text("{")
        (leg,) = legs_of(rules, run.folder)
        assert leg.run.row_ids == (own,)

    @pytest.mark.parametrize("content", ["{", '{"model_hf_name": 3}', '{"model_hf_name": "1774950145766573"}', "{}"])
    def test_without_a_name_the_model_is_not_known(self, rules, tmp_path, content):
        run = AuditedRun(tmp_path, model=None)
        config = tmp_path / "experiments" / run.tag / "configs" / f"{run.tag}_eval_config.json"
        config.parent.mkdir(parents=True)
        config.write_text(content)
        assert facts_of(rules, run.folder).model is None

    @pytest.mark.parametrize(
        ("name", "plain"),
        [
            ("laion/m", "laion/m"),
            ("hosted_vllm/laion/m", "laion/m"),
            ("openai/laion/m", "laion/m"),
            ("openai/gpt-5", "openai/gpt-5"),
            ("gpt-5", "gpt-5"),
            ("hosted_vllm/1774950145766573", None),
            ("1774950145766573", None),
            ("/scratch/checkpoints/m", None),
            ("a/b/c", None),
            ("", None),
            (None, None),
        ],
    )
    def test_a_serving_prefix_is_no_part_of_a_name(self, name, plain):
        assert plain_model(name) == plain

    def test_names_from_outside_are_kept_as_they_are(self, rules, tmp_path):
        tag = 'it\'s "a"\nrun'
        grow_job(tmp_path / tag, ["pass"])
        assert facts_of(rules, tmp_path / tag).run_tag == tag


class TestKinds:
    @pytest.mark.parametrize(
        ("tag", "measures"),
        [
            ("grid_small_bench_real-model-8B_1", True),
            ("small_bench_real-model-8B_OOM_1", True),
            ("throughput-test-real-model-8B", True),
            ("small_bench_real-model-8B_1", False),
            ("small_bench_real-model-8B_gridded", False),
        ],
    )
    def test_a_measurement_says_so_in_its_tag(self, rules, tmp_path, tag, measures):
        assert facts_of(rules, AuditedRun(tmp_path, tag).folder).measurement is measures

    def test_a_word_of_the_model_says_nothing(self, rules, tmp_path):
        run = AuditedRun(tmp_path, "small_bench_grid-oom-8B_1", model="org/grid-oom-8B")
        assert facts_of(rules, run.folder).measurement is False
        assert is_measurement("a_grid", ["b"])
        assert not is_measurement("a_grid", ["x/The.GRID"])

    def test_without_a_model_nobody_knows_whose_word_it_is(self, rules, tmp_path):
        run = AuditedRun(tmp_path, "grid_small_bench_1", model=None)
        assert facts_of(rules, run.folder).measurement is False
        assert facts_of(rules, run.folder, measurement=True).measurement is True
        assert facts_of(rules, AuditedRun(tmp_path / "b", "grid_1").folder, measurement=False).measurement is False


class TestPlans:
    def test_a_run_of_half_the_benchmark_is_not_complete(self, rules, tmp_path):
        facts = facts_of(rules, AuditedRun(tmp_path, kinds=("pass",) * 6).folder)
        assert (facts.trials.planned, facts.trials.expected) == (6, 12)
        assert "6 trials are planned by the aggregate, but lock: 6" not in " ".join(facts.notes)
        assert f"6 trials are planned by the aggregate, but benchmark {BENCHMARK}: 12" in facts.notes

    def test_what_a_person_expects_settles_it(self, rules, tmp_path):
        facts = facts_of(rules, AuditedRun(tmp_path, kinds=("pass",) * 6).folder, trials=6)
        assert (facts.trials.planned, facts.trials.expected) == (6, None)

    @pytest.mark.parametrize(("total", "planned"), [(12, [9, 3]), (11, [None, None])])
    def test_of_several_datasets_each_is_an_eval_of_its_own_benchmark(self, rules, tmp_path, total, planned):
        (tmp_path / "two.yaml").write_text("big_bench: {tasks: 3}\ntiny_set: {tasks: 1}\n")
        two = FolderRules(PROFILE, Benchmarks.load(tmp_path / "two.yaml"))
        run = tmp_path / "run"
        grow_job(run, ["pass"] * 9, JobShape(source="big_bench", version="0.6"))
        grow_job(tmp_path / "other", ["fail"] * 3, JobShape(source="tiny_set", version="0.6"), seed=1)
        for trial in (tmp_path / "other").iterdir():
            if trial.is_dir():
                trial.rename(run / trial.name)
        result = json.loads((run / "result.json").read_text())
        (run / "result.json").write_text(json.dumps(result | {"n_total_trials": total}))
        found = [leg.facts for leg in legs_of(two, run)]
        assert [facts.benchmark for facts in found] == ["big_bench", "tiny_set"]
        assert [facts.trials.planned for facts in found] == planned
        assert [facts.trials.valid for facts in found] == [9, 3]
        assert [facts.trials.expected for facts in found] == [None, None]

    def test_each_of_two_agents_is_to_cover_the_benchmark(self, rules, tmp_path):
        grow_job(tmp_path / "run", ["pass"] * 6, JobShape(source=BENCHMARK))
        grow_job(tmp_path / "other", ["fail"] * 6, JobShape(source=BENCHMARK, agent="swe-agent"), seed=1)
        for trial in (tmp_path / "other").iterdir():
            if trial.is_dir():
                trial.rename(tmp_path / "run" / trial.name)
        model = f"hosted_vllm/{SERVED}"
        trials = [
            {"agent": {"name": agent, "model_name": model}, "task": {"source": BENCHMARK}}
            for agent in ("terminus-2", "swe-agent") * 6
        ]
        (tmp_path / "run" / "lock.json").write_text(json.dumps({"trials": trials}))
        result = json.loads((tmp_path / "run" / "result.json").read_text())
        (tmp_path / "run" / "result.json").write_text(json.dumps(result | {"n_total_trials": 12}))
        found = [leg.facts for leg in legs_of(rules, tmp_path / "run")]
        assert [(facts.trials.planned, facts.trials.expected) for facts in found] == [(6, 12), (6, 12)]

    def test_a_shard_that_is_not_there_is_expected(self, rules, tmp_path):
        for number in (0, 1, 3):
            grow_job(tmp_path / f"run_shard{number}", ["pass"] * 3, JobShape(source="unheard_of"), seed=number)
        facts = facts_of(rules, tmp_path / "run")
        assert (facts.trials.planned, facts.trials.expected, facts.trials.valid) == (9, 12, 9)
        assert any("run_shard2" in note for note in facts.notes)

    def test_shards_that_were_launched_one_by_one_have_a_job_each(self, rules, tmp_path):
        for number in range(2):
            grow_job(tmp_path / f"run_shard{number}", ["pass"] * 3, seed=number)
            (tmp_path / f"run_shard{number}" / "meta.env").write_text(f"SLURM_JOB_ID={17 + number}\nDB_JOB_ID=R\n")
        (leg,) = legs_of(rules, tmp_path / "run")
        assert (leg.run.slurm_ids, leg.run.row_ids) == (("17", "18"), ("r",))

    def test_an_aggregate_alone_proves_no_trial(self, rules, tmp_path):
        run = AuditedRun(tmp_path, kinds=("pass", "fail", "timeout", "no-sandbox", "unverified", "pass") * 2)
        for trial in run.truth.states:
            shutil.rmtree(run.folder / trial)
        trials = facts_of(rules, run.folder).trials
        assert (trials.whole, trials.attempted, trials.valid, trials.silent, trials.worked) == (False, 12, 6, 2, None)
        assert trials.errors == trials.unscored == {"AgentTimeoutError": 2, "DaytonaError": 2}
        assert trials.stored_score == pytest.approx(4 / 12)

    def test_trials_beyond_the_plan_are_counted_apart(self, rules, tmp_path):
        grow_job(tmp_path / "run", ["pass", "fail", "fail"] * 4, extras=("zombie", "corrupt-rerun", "copy"))
        facts = facts_of(rules, tmp_path / "run")
        trials = facts.trials
        assert (trials.attempted, trials.reward_sum, facts.figures["surplus"]) == (12, 4.0, 3)
        assert (trials.surplus_valid, trials.surplus_unscored, trials.surplus_sum) == (1, 0, 1.0)

    def test_a_folder_without_a_trial_has_none(self, rules, tmp_path):
        grow_job(tmp_path / "run", [])
        assert facts_of(rules, tmp_path / "run").trials.attempted == 0


class TestWrongFolders:
    def test_every_wrong_path_is_told_at_once(self, rules, tmp_path):
        (tmp_path / "eval_jobs" / "run").mkdir(parents=True)
        (tmp_path / "eval_jobs" / "run" / "meta.env").write_text("MODEL=x\n")
        run = AuditedRun(tmp_path)
        with pytest.raises(Failure) as failure:
            legs_of(rules, run.folder, tmp_path / "none", tmp_path / "eval_jobs" / "run", tmp_path / "benchmarks.yaml")
        assert failure.value.exit is Exit.USAGE
        assert [problem.where.rpartition("/")[2] for problem in failure.value.problems] == [
            "none", "run", "benchmarks.yaml"
        ]  # fmt: skip
        assert f"{tmp_path}/trace_jobs/run is meant" in failure.value.problems[1].fix

    def test_a_listed_folder_that_is_gone_is_an_eval_of_which_nothing_is_known(self, rules, tmp_path):
        entry = Entry(tmp_path / "small_bench_x_1", Hint(model=MODEL, slurm_job_id="7"), listed=True)
        troubles = Troubles()
        (leg,) = legs_of(rules, entry, troubles=troubles)
        assert (leg.facts.run_tag, leg.facts.benchmark, leg.facts.model) == ("small_bench_x_1", BENCHMARK, MODEL)
        assert leg.facts.trials is None
        assert leg.facts.unknown == {"trials": f"{entry.path}: no such file or directory"}
        assert (leg.run.slurm_ids, troubles.exit) == (("7",), None)

    def test_a_folder_that_may_not_be_read_leaves_the_others(self, rules, tmp_path, monkeypatch):
        run, other = AuditedRun(tmp_path / "a"), AuditedRun(tmp_path / "b")
        monkeypatch.setattr("benchwright.harbor.tree.os.open", _refusing(run.folder))
        troubles = Troubles()
        first, second = legs_of(rules, run.folder, other.folder, troubles=troubles)
        assert first.facts.trials is None
        assert (second.facts.trials.valid, troubles.exit) == (12, Exit.ENVIRONMENT)


def _refusing(folder):
    opening = os.open

    def refuse(path, *args, **kwargs):
        if str(path) == str(folder):
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *args, **kwargs)

    return refuse


class TestManifest:
    def read(self, tmp_path, text, root=None):
        (tmp_path / "runs.csv").write_text(text)
        return read_manifest(tmp_path / "runs.csv", root)

    def test_a_row_has_what_a_person_knows(self, tmp_path):
        heading = "job_dir, slurm_job_id,model,benchmark,trials,row_id,traces,measurement\n"
        row = '"a ""b""",12_3,org/m,small,12,r-1,https://huggingface.co/datasets/o/t,no\n'
        (one, other) = self.read(tmp_path, f"\ufeff{heading}{row}\n/abs,,,,,,,yes\n", tmp_path / "jobs")
        assert one == Entry(
            tmp_path / "jobs" / 'a "b"', Hint(slurm_job_id="12_3", model="org/m", benchmark="small", trials=12,
                                              row_id="r-1", traces="o/t", measurement=False), listed=True,
        )  # fmt: skip
        assert other == Entry(Path("/abs"), Hint(measurement=True), listed=True)

    def test_every_mistake_is_told(self, tmp_path):
        text = "job_dir,trials,slurm_job_id,traces,measurement\na,0,x,no-repo,maybe\na,,,,\n,,,,\nb,1,2,o/t,no,extra\n"
        with pytest.raises(Failure) as failure:
            self.read(tmp_path, text)
        told = [(one.where.removeprefix(f"{tmp_path}/runs.csv: "), one.found) for one in failure.value.problems]
        assert told == [
            ("line 2: trials", "'0'"),
            ("line 2: slurm_job_id", "'x'"),
            ("line 2: traces", "'no-repo'"),
            ("line 2: measurement", "'maybe'"),
            ("line 3: job_dir", "a again"),
            ("line 4: job_dir", "missing"),
            ("line 5", "more cells than columns"),
        ]

    @pytest.mark.parametrize(
        ("text", "found"),
        [("", "no job_dir in it"), ("path\nx\n", "no job_dir in path"), ("job_dir,job_dir\na,b\n", "'job_dir' again")],
    )
    def test_a_heading_is_needed(self, tmp_path, text, found):
        with pytest.raises(Failure) as failure:
            self.read(tmp_path, text)
        assert failure.value.problems[0].found == found
