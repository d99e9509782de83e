"""The taxonomy and the benchmarks: data that is whole, and what a file of someone's own may have wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harbor_files import DATA, job_files, trial, write

from benchwright.contract import Exit, Failure
from benchwright.harbor import Benchmark, Benchmarks, Taxonomy, benchmark_of, dataset_of, plan_of, read_job
from benchwright.harbor.benchmarks import SHIPPED as BENCHMARKS
from benchwright.harbor.taxonomy import SHIPPED

ROOT = Path(__file__).resolve().parents[2]


def problems_of(call, *args):
    with pytest.raises(Failure) as caught:
        call(*args)
    assert caught.value.exit is Exit.USAGE
    return [f"{problem.where}: {problem.found}" for problem in caught.value.problems]


def test_the_reference_of_the_skills_is_the_shipped_file():
    assert (ROOT / "references" / "error_taxonomy.yaml").read_text() == SHIPPED.read_text()


def test_the_profiles_and_the_default():
    taxonomy = Taxonomy.load()
    assert taxonomy.profile().name == "seven"
    sizes = {name: len(taxonomy.profile(name).benign) for name in taxonomy.profiles}
    assert sizes == {"seven": 7, "five": 5, "harbor": 7, "four-class": 9}
    assert taxonomy.profile("seven").benign - taxonomy.profile("five").benign == {
        "NonZeroAgentExitCodeError",
        "VerifierRuntimeError",
    }
    assert [name for name in taxonomy.profiles if taxonomy.profile(name).rejects_drift] == ["four-class"]


def test_a_class_says_all_that_is_known_of_it():
    profile = Taxonomy.load().profile()
    timeout, key, cancelled = map(profile.of, ("AgentTimeoutError", "DaytonaAuthenticationError", "CancelledError"))
    assert (timeout.benign, timeout.missing, timeout.filters, timeout.known) == (True, "MNAR", (), True)
    assert (key.counted, key.missing, key.phase, key.filters) == (True, "MAR", "sandbox", ("jupiter", "newest"))
    assert key.repair == "renew the provider's key first, or it happens again; then resume"
    assert (cancelled.missing, cancelled.filters) == ("MCAR", ("harbor", "jupiter", "newest"))


def test_an_unknown_name_counts_and_is_drift():
    error = Taxonomy.load().profile().of("BrandNewError")
    assert (error.counted, error.known, error.missing, error.filters) == (True, False, "unknown", ())
    assert error.repair == "not in the taxonomy: read exception.txt of one of them, and add the name"


def test_the_names_that_genuine_folders_record_are_known():
    profile = Taxonomy.load().profile()
    recorded = {one.exception for path in DATA.iterdir() for one in read_job(path).trials if one.exception}
    assert len(recorded) == 6
    assert all(profile.of(name).known for name in recorded)


def test_an_unknown_profile_is_wrong_usage():
    assert problems_of(Taxonomy.load().profile, "eight") == ["profile: no profile is called 'eight'"]


def test_every_problem_of_a_taxonomy_is_told_at_once(tmp_path):
    text = SHIPPED.read_text().replace("missing: MCAR", "missing: perhaps")
    text = text.replace("default: seven", "default: eight").replace("five:\n    title:", "five:\n    name:")
    text = text.replace("harbor: [CancelledError]", "harbor: [NoSuchError]").replace(
        "[VerifierRuntimeError]\n", "[42]\n"
    )
    own = write(
        tmp_path / "own.yaml", text + "  - names: [CancelledError]\n    phase: agent\n    missing: MAR\n    repair: x\n"
    )
    told = problems_of(Taxonomy.load, own)
    groups = len(re.findall("  - names:", text))
    assert any(re.fullmatch(rf"{own}: classes, group \d+: missing: 'perhaps'", one) for one in told)
    assert f"{own}: classes, group {groups + 1}: CancelledError again" in told
    assert f"{own}: filters: harbor: NoSuchError is in no group of classes" in told
    assert f"{own}: profiles: seven: benign: VerifierRuntimeError is in no group of classes" in told
    assert f"{own}: default: eight" in told
    assert any(one.startswith(f"{own}: profiles: five: ") for one in told)
    assert any(re.match(rf"{own}: classes, group \d+: {{'names': \[42\]", one) for one in told)


@pytest.mark.parametrize(
    ("text", "found"), [("[1]", "list"), ("profiles: {}", "default: None"), ("a: [", "while parsing")]
)
def test_what_is_no_taxonomy(tmp_path, text, found):
    (told,) = problems_of(Taxonomy.load, write(tmp_path / "own.yaml", text))
    assert told.startswith(f"{tmp_path}/own.yaml: {found}")


def test_a_taxonomy_that_is_not_there(tmp_path):
    assert problems_of(Taxonomy.load, tmp_path / "no.yaml") == [
        f"{tmp_path}/no.yaml: cannot be read (No such file or directory)"
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("terminal_bench_2", "terminal_bench_2"),
        ("tb2", "terminal_bench_2"),
        ("terminal-bench@2.0", "terminal_bench_2"),
        ("TERMINAL-BENCH@2.0", "terminal_bench_2"),
        ("terminal-bench@2.1", None),
        ("terminal-bench@1.0", None),
        ("terminal-bench", None),
        ("terminal_bench_2@head", "terminal_bench_2"),
        ("DCAgent2/terminal_bench_2@latest", "terminal_bench_2"),
        ("terminal_bench_2@3", None),
        ("DCAgent2/terminal_bench_2", "terminal_bench_2"),
        ("DCAgent_dev_set_v2", "dev_set_v2"),
        (
            "/hub/datasets--DCAgent2--terminal_bench_2/snapshots/377118ff00112233445566778899aabbccddeeff",
            "terminal_bench_2",
        ),
        ("/bench/aider_polyglot", "aider_polyglot"),
        ("/hub/datasets--org--terminal_bench_2_verified/snapshots/377118ff00112233445566778899aabbccddeeff", None),
        ("377118ff00112233445566778899aabbccddeeff", None),
        ("swebench-verified", "swebench-verified"),
        ("unheard-of", None),
        ("", None),
    ],
)
def test_names_of_benchmarks(name, found):
    benchmark = Benchmarks.load().resolve(name)
    assert (benchmark and benchmark.name) == found


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("terminal_bench_2_Qwen3_5_35B_A3B_20260901", "terminal_bench_2"),
        ("eval-laion_foo-8B_DCAgent_dev_set_v2", "dev_set_v2"),
        ("swebench-verified-random-100-folders_a1_m_1", "swebench-verified-random-100-folders"),
        ("eval-terminal_bench_2-dev_set_v2", None),
        ("v2_of_something", None),
        ("eval-mymodel", None),
    ],
)
def test_the_benchmark_in_a_run_tag(tag, found):
    benchmark = Benchmarks.load().in_run_tag(tag)
    assert (benchmark and benchmark.name) == found


def test_sizes_and_ids():
    known = {one.name: (one.tasks, one.repeats, one.id) for one in Benchmarks.load().known}
    assert known["terminal_bench_2"] == (89, 3, "34ab93c4")
    assert {name: tasks * repeats for name, (tasks, repeats, _) in known.items()} == {
        "swebench-verified-random-100-folders": 300,
        "dev_set_v2": 300,
        "terminal_bench_2": 267,
        "dev_set_71_tasks": 213,
        "swebench-verified": 1500,
        "aider_polyglot": 675,
        "bfcl-parity": 369,
        "financeagent_terminal": 150,
        "gaia_127": 381,
        "medagentbench": 900,
    }


def test_a_file_of_someones_own_adds_and_wins(tmp_path):
    own = write(tmp_path / "own.yaml", "mine: {tasks: 7, repeats: 2, aliases: [m]}\ngaia_127: {tasks: 12}\n")
    known = Benchmarks.load(own)
    assert known.resolve("M") == Benchmark("mine", 7, 2, ("m",))
    assert known.resolve("gaia_127").tasks == 12
    assert known.resolve("tb2").name == "terminal_bench_2"


def test_every_problem_of_a_file_of_benchmarks_is_told_at_once(tmp_path):
    own = write(
        tmp_path / "own.yaml", "2: {tasks: 1}\na: 3\nb: {tasks: 0}\nc: {tasks: 1, size: 2, aliases: x, id: 1}\n"
    )
    assert problems_of(Benchmarks.load, own) == [
        f"{own}: 2: a name that YAML reads as int",
        f"{own}: a: 3",
        f"{own}: b: tasks: 0",
        f"{own}: c: size: no such field",
        f"{own}: c: aliases: 'x'",
        f"{own}: c: id: 1",
    ]
    assert problems_of(Benchmarks.load, BENCHMARKS.with_name("no.yaml"))


HASH = "377118ff00112233445566778899aabbccddeeff"


def job_on(tmp_path, *datasets, name="job", meta="", source="adhoc", tasks=()):
    job = tmp_path / name
    trial(job, "task-1__aaaaaaa", source=source)
    job_files(job, 300, completed=1)
    places = [one if isinstance(one, dict) else {"path": one} for one in datasets]
    config = {"n_attempts": 3, "agents": [{"name": "oracle"}], "datasets": places, "tasks": [*tasks]}
    write(job / "config.json", config)
    write(job / "meta.env", meta)
    return read_job(job)


def test_the_benchmark_of_a_job_and_a_plan_that_disagrees_with_it(tmp_path):
    known = Benchmarks.load()
    job = job_on(tmp_path, "/hub/datasets--DCAgent2--terminal_bench_2/snapshots/" + 40 * "a")
    planned = plan_of(job, benchmark_of(job, known))
    assert (planned.total, planned.source, planned.by_benchmark) == (300, "aggregate", 267)
    assert planned.disagreements == ("benchmark terminal_bench_2: 267",)
    planned = plan_of(job, known.resolve("dev_set_v2"), expected=267)
    assert (planned.total, planned.source) == (267, "expected")
    assert planned.disagreements == ("aggregate: 300", "benchmark dev_set_v2: 300")
    assert plan_of(job_on(tmp_path / "other")).disagreements == ()


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"meta": "BENCHMARK_NAME='dev_set_v2'\nREPO_ID=x\n"}, "dev_set_v2"),
        ({"meta": "export REPO_ID=DCAgent2/terminal_bench_2\n"}, "terminal_bench_2"),
        ({"source": "gaia_127"}, "gaia_127"),
        ({"name": "gaia_127_m_20260901"}, "gaia_127"),
        ({"name": "gaia_127_m_20260901", "tasks": [{"path": "/bench/task-1"}]}, "gaia_127"),
        ({"name": "gaia_127_m_20260901", "source": HASH, "meta": f"REPO_ID={HASH}\n"}, "gaia_127"),
        ({"name": "gaia_127_hard_m", "source": "gaia_127_hard"}, None),
        ({"name": "gaia_127_hard_m", "meta": "BENCHMARK_NAME=gaia_127_hard\nREPO_ID=gaia_127\n"}, None),
        ({}, None),
    ],
)
def test_where_else_a_job_names_its_benchmark(tmp_path, fields, found):
    benchmark = benchmark_of(job_on(tmp_path, **fields), Benchmarks.load())
    assert (benchmark and benchmark.name) == found


@pytest.mark.parametrize(
    ("dataset", "source", "found"),
    [
        (f"/hub/datasets--org--terminal_bench_2_verified/snapshots/{HASH}", HASH, None),
        (f"/hub/datasets--org--terminal_bench_2/snapshots/{HASH}", HASH, "terminal_bench_2"),
        (f"/hub/{HASH.upper()}", HASH.upper(), "terminal_bench_2"),
        ("/bench/dev_set_v2_fixed", "dev_set_v2_fixed", None),
        ("terminal_bench_2", "another", None),
        ({"name": "terminal-bench", "version": "2.0"}, "terminal-bench", "terminal_bench_2"),
        ({"name": "terminal-bench@2.0"}, "terminal-bench", "terminal_bench_2"),
        ({"name": "terminal-bench", "version": "2.1"}, "terminal-bench", None),
        ({"name": "terminal-bench", "version": "head"}, "terminal-bench", None),
        ({"name": "terminal-bench@1.0"}, "terminal-bench", None),
        ({"name": "DCAgent2/terminal_bench_2", "ref": "latest"}, "DCAgent2/terminal_bench_2", "terminal_bench_2"),
    ],
)
def test_a_tag_and_a_record_do_not_overrule_the_datasets(tmp_path, dataset, source, found):
    name, meta = "terminal_bench_2_verified_m", "BENCHMARK_NAME=terminal_bench_2\n"
    benchmark = benchmark_of(job_on(tmp_path, dataset, name=name, source=source, meta=meta), Benchmarks.load())
    assert (benchmark and benchmark.name) == found


def test_of_several_versions_none_is_meant_by_a_name(tmp_path):
    one, two = ({"name": "terminal-bench", "version": version} for version in ("2.0", "2.1"))
    job = job_on(tmp_path, one, two, source="terminal-bench")
    (key,) = job.evals
    assert (dataset_of(job, key), benchmark_of(job, Benchmarks.load())) == ("terminal-bench", None)
    assert dataset_of(job_on(tmp_path / "one", one, source="terminal-bench"), key) == "terminal-bench@2.0"


def test_two_benchmarks_are_none(tmp_path):
    job = job_on(tmp_path, "gaia_127", "dev_set_v2", name="gaia_127_m")
    assert benchmark_of(job, Benchmarks.load()) is None


def test_without_any_source_the_plan_is_not_known(tmp_path):
    trial(tmp_path / "job", "task-1__aaaaaaa")
    planned = plan_of(read_job(tmp_path / "job"))
    assert (planned.total, planned.source) == (None, "nothing")
