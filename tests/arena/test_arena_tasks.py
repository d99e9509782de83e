"""Task sets, their scopes and their subsets."""

import json
import pickle
import re
from dataclasses import replace

import pytest

from benchwright.arena import SHORTCUTS, Split, TaskSet, TaskSubset, Traits, select_splits, subset_label, subset_names
from benchwright.contract import Exit, Failure


def problems_of(build, *args, **kwargs):
    with pytest.raises(Failure) as caught:
        build(*args, **kwargs)
    assert caught.value.exit is Exit.USAGE
    return [(problem.where, problem.found, problem.expected, problem.fix) for problem in caught.value.problems]


def a_split(dataset="d", repeat=0, fold=0, **values):
    known = {
        "task_key": f"{dataset}-0123456789ab",
        "tid": 7,
        "split": 3 * repeat + fold,
        "problem_type": "binary",
        "metric": "roc_auc",
        "n_features": 4,
        "n_classes": 2,
        "train_rows": 100.0,
        "test_rows": 50.0,
        "categorical_share": 0.25,
    }
    return Split(dataset=dataset, repeat=repeat, fold=fold, **(known | values))


def beyond(*splits):
    return TaskSet(splits, vocabulary="beyondarena")


# The set itself


def test_the_published_arena_has_its_size(v01):
    assert (len(v01), len(v01.datasets), len(list(v01))) == (816, 51, 816)
    assert v01.datasets[0] == "APSFailure"


def test_a_split_may_appear_once():
    with pytest.raises(Failure) as caught:
        TaskSet([a_split(), a_split(fold=1), a_split(train_rows=3.0)])
    (problem,) = caught.value.problems
    assert (problem.where, problem.found, problem.expected) == (
        "dataset=d repeat=0 fold=0",
        "appears twice",
        "each split once",
    )


def test_an_unknown_vocabulary_is_refused():
    assert problems_of(TaskSet, [], vocabulary="tabrena") == [
        ("vocabulary", "'tabrena'", "'tabarena' or 'beyondarena'", "did you mean 'tabarena'?")
    ]


def test_a_set_is_a_value():
    tasks = TaskSet(iter([a_split(), a_split(fold=1)]))
    assert pickle.loads(pickle.dumps(tasks)) == tasks
    assert hash(tasks) == hash(replace(tasks))
    assert tasks.where(lambda split: split.fold == 1).splits == (a_split(fold=1),)


# Subsets


@pytest.mark.parametrize(
    ("expression", "datasets", "splits"),
    [
        ([], 51, 816),
        ([[]], 51, 816),
        ("all", 51, 816),
        ("binary", 30, None),
        ("multiclass", 8, None),
        ("classification", 38, None),
        ("regression", 13, None),
        ("lite", 51, 51),
        ("low_cats", 36, None),
        ("high_cats", 15, None),
        (["classification", "!binary"], 8, None),
        (["lite", "binary|regression"], 43, 43),
        (" ! binary | ! all ", 21, None),
        ([["lite", "binary"], ["regression"]], 43, None),
        (["lite", ["regression"]], 51, None),
        (["binary", "regression"], 0, 0),
        ("!all", 0, 0),
    ],
)
def test_expressions_select(v01, expression, datasets, splits):
    selected = select_splits(v01, expression)
    assert len(selected.datasets) == datasets
    assert splits is None or len(selected) == splits
    assert selected == v01.select(TaskSubset(subset=expression))


def test_tiny_and_its_neighbour_share_small_without_a_gap(v01):
    small, tiny, rest = (set(v01.select(name)) for name in ("small", "tiny", "2k-10k"))
    assert tiny | rest == small
    assert not tiny & rest


def test_bounds_belong_to_one_side_each():
    rows = [2000, 2000.4, 10_000, 10_000.5, 10_001, 100_000, 100_001]
    tasks = TaskSet(a_split(f"d{size}", train_rows=size) for size in rows)

    def sizes(name):
        return [split.train_rows for split in tasks.select(name)]

    assert sizes("tiny") == [2000]
    assert sizes("2k-10k") == [2000.4, 10_000]
    assert sizes("small") == [2000, 2000.4, 10_000]
    assert sizes("medium") == [10_001, 100_000]


def test_a_dataset_counts_with_its_mean_training_rows():
    tasks = TaskSet([a_split(fold=0, train_rows=1900), a_split(fold=1, train_rows=2200)])
    assert len(tasks.select("tiny")) == 0
    assert len(tasks.select(TaskSubset(subset="tiny", split_indices=["r0f0"]))) == 1


def test_foundation_model_bounds():
    tasks = TaskSet(
        [
            a_split("fits"),
            a_split("many classes", problem_type="multiclass", n_classes=11),
            a_split("wide", n_features=501),
            a_split("long", train_rows=10_001),
            a_split("regression", problem_type="regression", n_classes=None),
        ]
    )
    assert tasks.select("tabpfn").datasets == ("fits", "regression")
    assert tasks.select("tabicl").datasets == ("fits", "many classes", "long")


def test_the_same_name_differs_between_arenas():
    rows = [100, 101, 1000, 1001, 100_001, 1_000_350, 1_000_351]
    tasks = beyond(*(a_split(f"d{size}", train_rows=size) for size in rows))
    assert tasks.select("tiny").datasets == ("d101", "d1000")
    assert tasks.select("small").datasets == ("d1001",)
    assert tasks.select("large").datasets == ("d100001", "d1000350")


def test_traits_select_in_beyondarena():
    tasks = beyond(
        a_split("iid", traits=Traits("random", columns=100, text_columns=0, in_core=True)),
        a_split("series", traits=Traits("temporal", columns=101, text_columns=2, in_core=False)),
        a_split("per group", traits=Traits("grouped", "per_group", columns=501, text_columns=0, in_core=True)),
        a_split("per sample", traits=Traits("grouped", "per_sample", columns=5, text_columns=0, in_core=True)),
    )
    assert tasks.select("iid") == tasks.select("random")
    assert tasks.select("grouped").datasets == ("per group", "per sample")
    assert tasks.select("grouped_lpg").datasets == ("per group",)
    assert tasks.select("grouped_lps").datasets == ("per sample",)
    assert tasks.select(["core", "!grouped"]).datasets == ("iid",)
    assert tasks.select("high-dim").datasets == ("series", "per group")
    assert tasks.select("dim_above_500").datasets == ("per group",)
    assert tasks.select("text").datasets == ("series",)


def test_a_trait_that_is_not_recorded_is_unknown_not_absent():
    tasks = beyond(*(a_split(name) for name in "abcd"), a_split("e", traits=Traits(text_columns=1)))
    assert problems_of(tasks.select, "!text") == [
        (
            "subset 'text'",
            "text_columns is not recorded for 4 of its datasets (a, b, c, ...)",
            "an arena that records it",
            "choose another subset, or name datasets",
        )
    ]
    assert tasks.select(TaskSubset(dataset_names=["e"], subset="text")).datasets == ("e",)


def test_unknown_names_and_broken_syntax_are_told_at_once(v01):
    problems = problems_of(v01.select, ["binry|tiny", "!regresion", "a||tiny", "!", "", "low-dim"])
    assert [problem[:2] for problem in problems] == [
        ("subset 'binry|tiny'", "no subset is called 'binry'"),
        ("subset '!regresion'", "no subset is called 'regresion'"),
        ("subset 'a||tiny'", "no subset is called 'a'"),
        ("subset 'a||tiny'", "nothing between '|'"),
        ("subset '!'", "nothing after '!'"),
        ("subset ''", "an empty text"),
        ("subset 'low-dim'", "no subset is called 'low-dim'"),
    ]
    assert problems[0][3] == "did you mean 'binary' or 'tiny'?"
    assert problems[1][3] == "did you mean 'regression'?"
    assert problems[5][3].startswith("one of 2k-10k, all, binary, classification, ")


@pytest.mark.parametrize("expression", [3, {"lite"}, ["lite", 3], [["lite", ["x"]]], b"lite"])
def test_what_is_no_expression_is_refused(v01, expression):
    assert problems_of(v01.select, expression) == [
        (
            "subset",
            repr(expression),
            "a name, a list of expressions, or a list of such lists",
            'write it such as "lite", ["lite", "binary"] or [["binary"], ["regression"]]',
        )
    ]


@pytest.mark.parametrize(
    ("expression", "label"),
    [
        ([], "full"),
        ((), "full"),
        ("lite", "lite"),
        (["tiny", "lite"], "lite_tiny"),
        (["small", "binary|multiclass"], "binary-or-multiclass_small"),
        ("!tiny| ! binary", "not-tiny-or-not-binary"),
        ([["lite", "binary"], ["regression"], []], "binary_lite+regression+full"),
        ("../a b", "-a-b"),
    ],
)
def test_labels_are_file_names(expression, label):
    assert subset_label(expression) == label
    assert re.fullmatch(r"[A-Za-z0-9_+-]+", label)


@pytest.mark.parametrize("vocabulary", ["tabarena", "beyondarena"])
def test_shortcuts_use_known_names(vocabulary):
    names = subset_names(vocabulary)
    for expressions in SHORTCUTS[vocabulary].values():
        assert all(expression.removeprefix("!") in names for expression in expressions)


# Scopes


def test_filters_combine(v01):
    scope = TaskSubset(problem_types=["regression"], split_indices=["r0f1", "r2f0"], subset="tiny")
    selected = v01.select(scope)
    assert {split.problem_type for split in selected} == {"regression"}
    assert {(split.repeat, split.fold) for split in selected} == {(0, 1), (2, 0)}
    assert max(split.train_rows for split in selected) <= 2000
    assert selected == v01.select(scope.to_dict())


def test_lite_as_split_indices_is_the_first_split(v01):
    assert v01.select(TaskSubset(split_indices="lite")) == v01.select("lite")


def test_datasets_and_tasks_are_kept_in_the_arenas_order(v01):
    names = TaskSubset(dataset_names=["anneal", "airfoil_self_noise"], split_indices="lite")
    assert set(v01.select(names).datasets) == {"anneal", "airfoil_self_noise"}
    assert v01.select(TaskSubset(task_ids=[363612])).datasets == ("airfoil_self_noise",)
    assert v01.select(TaskSubset(task_ids=["363612"])).datasets == ("airfoil_self_noise",)


def test_a_dataset_goes_by_its_short_name_and_its_task_key_too():
    tasks = beyond(a_split("iris-0123456789ab", short_name="iris"), a_split("wine"))
    assert tasks.select(TaskSubset(dataset_names=["iris"])).datasets == ("iris-0123456789ab",)
    assert tasks.select(TaskSubset(dataset_names=["iris-0123456789ab"])).datasets == ("iris-0123456789ab",)
    assert tasks.select(TaskSubset(task_ids=["wine-0123456789ab"])).datasets == ("wine",)


def test_missing_names_are_all_told_with_close_ones(v01):
    scope = TaskSubset(dataset_names=["aneal", "anneal", "nowhere"], problem_types=["multiclass"])
    assert [problem[:2] for problem in problems_of(v01.select, scope)] == [
        ("task subset: dataset_names", "'aneal' is not among the 8 datasets here"),
        ("task subset: dataset_names", "'nowhere' is not among the 8 datasets here"),
    ]
    assert problems_of(v01.select, scope)[0][3].startswith("did you mean 'anneal'")


def test_bounds_on_rows_exclude_the_lower_and_include_the_upper():
    tasks = TaskSet(a_split(f"d{size}", train_rows=size) for size in (10, 20, 30))
    assert tasks.select(TaskSubset(n_train_samples=(10, 20))).datasets == ("d20",)
    assert tasks.select(TaskSubset(n_train_samples=(None, 20))).datasets == ("d10", "d20")
    assert tasks.select(TaskSubset(n_train_samples=[20, None])).datasets == ("d30",)


def test_column_kinds_are_required_and_forbidden():
    tasks = TaskSet(
        [
            a_split("text", traits=Traits(has_text=True, has_numerical=True)),
            a_split("numbers", traits=Traits(has_text=False, has_numerical=True), categorical_share=0.0),
        ]
    )
    assert tasks.select(TaskSubset(required_dtypes=["text", "numeric"])).datasets == ("text",)
    assert tasks.select(TaskSubset(forbidden_dtypes=["text"])).datasets == ("numbers",)
    assert tasks.select(TaskSubset(required_dtypes=["categorical"])).datasets == ("text",)
    assert problems_of(tasks.select, TaskSubset(forbidden_dtypes=["datetime"])) == [
        (
            "task subset: forbidden_dtypes",
            "has_datetime is not recorded for 2 of its datasets (text, numbers)",
            "an arena that records it",
            "choose another subset, or name datasets",
        )
    ]


def test_wrong_values_are_told_at_once():
    assert problems_of(
        TaskSubset,
        subset=4,
        problem_types=["binary", "regresion"],
        split_indices=["r0f0", "0_1"],
        dataset_names="anneal",
        task_ids=[1.5],
        required_dtypes=["txt"],
        n_train_samples=[1],
    ) == [
        (
            "subset",
            "4",
            "a name, a list of expressions, or a list of such lists",
            'write it such as "lite", ["lite", "binary"] or [["binary"], ["regression"]]',
        ),
        ("task subset: dataset_names", "'anneal'", "a list of texts", "correct it there"),
        ("task subset: task_ids", "[1.5]", "a list of texts or numbers", "correct it there"),
        ("task subset: n_train_samples", "[1]", "two numbers, None for an open end", "correct it there"),
        ("task subset: problem_types", "'regresion'", "", "did you mean 'regression'?"),
        ("task subset: required_dtypes", "'txt'", "", "did you mean 'text'?"),
        ("task subset: split_indices", "'0_1'", "a text like 'r0f2': repeat 0, fold 2", "correct it there"),
    ]
    assert problems_of(TaskSubset, split_indices="r0f0") == [
        ("task subset: split_indices", "'r0f0'", "'lite', or a list like ['r0f0', 'r0f1']", "correct it there")
    ]


def test_a_stored_mapping_with_an_unknown_filter_is_refused():
    assert problems_of(TaskSubset.of, {"datasets": ["a"], "subset": "lite"}) == [
        ("task subset: datasets", "not a filter", "", "did you mean 'dataset_names'?")
    ]


def test_a_scope_survives_json_and_merges_by_field():
    scope = TaskSubset(subset=[["lite"], ["tiny", "binary"]], n_train_samples=(None, 500), task_ids=[1, "b"])
    assert TaskSubset.of(json.loads(json.dumps(scope.to_dict()))) == scope
    assert len({scope, replace(scope)}) == 1
    merged = scope.merged_with(TaskSubset(subset="tiny", dataset_names=["a"]))
    assert merged.to_dict() == {
        "subset": "tiny",
        "dataset_names": ["a"],
        "task_ids": [1, "b"],
        "n_train_samples": [None, 500],
    }


def test_an_empty_scope_is_everything(v01):
    assert v01.select(None) == v01.select({}) == v01.select(TaskSubset()) == v01
