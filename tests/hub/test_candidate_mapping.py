"""The mapping: which results belong on which board, shipped lines and one's own, and every way in which one is none."""

from __future__ import annotations

import pytest

from benchwright.contract import Exit, Failure
from benchwright.hub.benchmarks import names
from benchwright.hub.blocked import blocked_boards
from benchwright.hub.candidates.leads import lead_of
from benchwright.hub.candidates.mapping import BoardMapping, folded, major_labs
from benchwright.hub.candidates.rows import is_major

SHIPPED = BoardMapping.load()


def boards(benchmark, metric, mapping=SHIPPED, **more):
    lead = lead_of({"id": "1", "url": "a/b", "value_text": "1", "metric": metric, **more}, benchmark)
    return [(rule.dataset, rule.task) for rule in mapping.rules_of(lead)]


@pytest.mark.parametrize(
    ("benchmark", "metric", "found"),
    [
        ("swe-bench-verified", "Resolved", [("SWE-bench/SWE-bench_Verified", "swe_bench_%_resolved")]),
        ("SWE-bench_Pro", "% Resolved", [("ScaleAI/SWE-bench_Pro", "SWE_Bench_Pro")]),
        ("swe-bench", "Resolved", []),
        ("deepswe", "pass@1", [("datacurve/deep-swe", "deep_swe")]),
        ("Terminal-Bench 2.0", "Accuracy", [("harborframework/terminal-bench-2.0", "terminalbench_2")]),
        ("terminal-bench-2-1", "Accuracy", [("harborframework/terminal-bench-2.1", "terminalbench_2_1")]),
        ("MMMU-Pro", "Vision", [("MMMU/MMMU_Pro", "mmmu_pro_vision")]),
        ("MMMU-Pro", "Overall", []),
        ("openai/gsm8k", "acc", [("openai/gsm8k", "gsm8k")]),
        ("Open ASR", "Average WER", [("hf-audio/open-asr-leaderboard", "mean_wer")]),
        ("GPQA", "Accuracy", []),
    ],
)
def test_a_result_belongs_on_the_board_whose_task_measures_it(benchmark, metric, found):
    assert boards(benchmark, metric) == found


def test_the_shipped_lines_are_of_benchmarks_with_a_name():
    unnamed = {rule.dataset for rule in SHIPPED.rules if rule.dataset.lower() not in names()}
    assert unnamed == {"mteb/arguana", "ARTPARK-IISc/Vaani-Benchmark-V1.0", "LocalLLaMA/typed-decisions"}
    assert blocked_boards() == {"mme-benchmarks/video-mme-v2": "its board mixes metrics and protocols"}


def test_a_line_of_one_s_own_replaces_those_of_its_dataset(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "- {dataset: mmmu/MMMU_Pro, task: overall, names: [MMMU-Pro], metric: overall}\n"
        "- {dataset: a/b, names: [New], metric: acc, pwc_task: reasoning}\n"
        "- {dataset: a/b, names: [New], metric: '.*', pwc_task: reasoning}\n"
    )
    mapping = BoardMapping.load(path)
    assert boards("MMMU-Pro", "Vision", mapping) == []
    assert boards("MMMU-Pro", "Overall", mapping) == [("mmmu/MMMU_Pro", "overall")]
    assert boards("new", "acc", mapping, pwc_task="reasoning") == [("a/b", None)]
    assert boards("new", "acc", mapping) == []
    assert boards("GSM8K", "acc", mapping) == [("openai/gsm8k", "gsm8k")]


@pytest.mark.parametrize("text", ["{", "a: 1", "- [", "\x00"])
def test_a_file_that_is_no_list_of_lines(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(Failure) as failure:
        BoardMapping.load(path)
    assert (failure.value.exit, failure.value.problems[0].code) == (Exit.USAGE, "mapping")


def test_every_problem_of_a_file_is_told(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "- 7\n- {dataset: x, names: [], metrics: a, metric: '('}\n"
        "- {dataset: a/b, names: ['-'], convert: x10, task: 2}\n"
    )
    with pytest.raises(Failure) as failure:
        BoardMapping.load(path)
    assert [(one.where.rpartition("/")[2], one.found) for one in failure.value.problems] == [
        ("own.yaml: line 1", "7"),
        ("own.yaml: line 2: dataset", "'x'"),
        ("own.yaml: line 2: names", "[]"),
        ("own.yaml: line 2: metrics", "no such field"),
        ("own.yaml: line 2: metric", "'('"),
        ("own.yaml: line 3: metric", "missing"),
        ("own.yaml: line 3: names", "['-']"),
        ("own.yaml: line 3: convert", "'x10'"),
        ("own.yaml: line 3: task", "2"),
    ]


def test_names_are_compared_by_letters_and_digits():
    assert folded("SWE-bench Pro") == folded("swe_bench-pro") == "swebenchpro"
    assert folded("\u03c7-Bench") == "\u03c7bench"


@pytest.mark.parametrize(
    ("repo", "major"),
    [
        ("Qwen/x", True),
        ("https://huggingface.co/qwen/x/tree/main", True),
        ("own/qwen", False),
        ("https://example.org/qwen/x", False),
    ],
)
def test_major_labs_are_told_by_their_namespace(repo, major):
    assert is_major(repo) is major
    assert "qwen" in major_labs()
