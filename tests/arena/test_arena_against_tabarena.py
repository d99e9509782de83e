"""The same methods and the same splits as the real ``tabarena``: its registry, collections, YAML and subsets."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tabarena.benchmark.task.metadata import TaskMetadataCollection
from tabarena.contexts import BeyondArenaContext, TabArenaContext
from tabarena.contexts.beyondarena.methods import beyond_method_metadata_collection
from tabarena.contexts.tabarena.methods import (
    tabarena_method_metadata_collection,
    tabarena_method_metadata_complete_collection,
)
from tabarena.models import get_model_registry
from tabarena.models._method_metadata import MethodMetadata as TheirMetadata

from benchwright.arena import (
    SHORTCUTS,
    MethodCollection,
    MethodMetadata,
    Split,
    TaskSet,
    TaskSubset,
    Traits,
    subset_names,
)
from benchwright.contract import Failure

THEIR_COLLECTIONS = {
    "live": (tabarena_method_metadata_collection, 42),
    "complete": (tabarena_method_metadata_complete_collection, 76),
    "beyond": (beyond_method_metadata_collection, 12),
}


def assert_reads_back(theirs, tmp_path):
    """Their object, through ours and its YAML, into their own reader: every field the same, every byte as theirs."""
    ours = MethodMetadata.from_object(theirs)
    assert ours.to_dict(with_protocol=False) == theirs._to_yaml_dict()
    assert (ours.config_type, ours.path) == (theirs.config_type, theirs.path)
    path = tmp_path / "metadata.yaml"
    path.write_text(ours.to_yaml())
    again = TheirMetadata.from_yaml(path)
    assert again.to_info_dict() == theirs.to_info_dict()
    assert MethodMetadata.from_yaml(path) == ours
    theirs.to_yaml(path)
    assert path.read_text() == ours.to_yaml()
    assert MethodMetadata.from_yaml(theirs.to_yaml_fileobj().getvalue()) == ours


def test_every_registered_model_reads_back(tmp_path):
    registry = get_model_registry()
    assert len(registry) == 37
    for info in registry.values():
        assert_reads_back(info.method_metadata, tmp_path)


@pytest.mark.parametrize("name", THEIR_COLLECTIONS)
def test_every_collected_method_reads_back(name, tmp_path):
    collection, size = THEIR_COLLECTIONS[name]
    ours = MethodCollection(map(MethodMetadata.from_object, collection.method_metadata_lst))
    assert len(ours) == size
    for theirs in collection.method_metadata_lst:
        assert_reads_back(theirs, tmp_path)
        assert ours.get(theirs.method, theirs.suite).key == (theirs.method, theirs.suite)


def test_a_protocol_keeps_their_reader_out_and_ours_does_not_write_it(tmp_path):
    ours = MethodMetadata.config(method="M", suite="s", validation_protocol="8x1")
    path = tmp_path / "metadata.yaml"
    path.write_text(ours.to_yaml(with_protocol=True))
    with pytest.raises(TypeError, match="validation_protocol"):
        TheirMetadata.from_yaml(path)
    path.write_text(ours.to_yaml())
    assert TheirMetadata.from_yaml(path).method == "M"


LEGACY = {
    "artifact_name": [None, "run"],
    "suite": [None, "new"],
    "cache_type": [None, "s3", "r2"],
    "upload_as_public": [None, True, False],
    "s3_bucket": [None, "b"],
    "prefix": [None, "p"],
    "cache_kwargs": [None, {"bucket": "kept", "prefix": "kept"}],
}


def test_old_files_are_read_alike_or_refused_by_both(tmp_path):
    path = tmp_path / "metadata.yaml"
    outcomes = set()
    for values in itertools.product(*LEGACY.values()):
        lines = [f"{key}: {value}" for key, value in zip(LEGACY, values, strict=True) if value is not None]
        path.write_text("\n".join(["method: M", "use_artifact_name_in_prefix: true", *lines]) + "\n")
        try:
            theirs = TheirMetadata.from_yaml(path)
        except (AssertionError, AttributeError):
            theirs = None
        try:
            ours = MethodMetadata.from_yaml(path)
        except Failure:
            ours = None
        assert (ours is None) == (theirs is None), path.read_text()
        if ours is not None and theirs is not None:
            assert ours.to_dict(with_protocol=False) == theirs._to_yaml_dict()
        outcomes.add(ours is None)
    assert outcomes == {True, False}


RULES = {
    "method_type": ["config", "baseline", "portfolio", "model"],
    "method_class": ["model", "system"],
    "name": [None, "N"],
    "name_suffix": [None, "_x"],
    "ag_key": [None, "GBM"],
    "can_hpo": [None, True],
    "is_bag": [False, True],
    "date": [None, "2026-02-30"],
    "tags": [(), ("llm",)],
}


def test_the_same_combinations_of_fields_are_refused():
    accepted = 0
    for values in itertools.product(*RULES.values()):
        given = dict(zip(RULES, values, strict=True))
        try:
            theirs = TheirMetadata(method="M", **given)
        except AssertionError:
            with pytest.raises(Failure):
                MethodMetadata(method="M", **given)
            continue
        accepted += 1
        ours = MethodMetadata(method="M", **given)
        if given["name_suffix"] is None or given["ag_key"] is not None:
            assert ours.to_dict(with_protocol=False) == theirs._to_yaml_dict()
    assert accepted > 20


def test_the_constructors_agree():
    shared = {"method": "M", "suite": "s", "date": "2026-11-29", "verified": False}
    for name, own in {
        "config": {"ag_key": "GBM", "name_suffix": "_x", "can_hpo": False, "is_bag": True},
        "baseline": {"name": "N"},
        "system": {"name": "N", "tags": ("with-llm",)},
        "portfolio": {"name": "N"},
    }.items():
        theirs = getattr(TheirMetadata, name)(**shared, **own)
        ours = getattr(MethodMetadata, name)(**shared, **own)
        assert ours.to_dict(with_protocol=False) == theirs._to_yaml_dict(), name


# Subsets


def as_task_set(collection, vocabulary, shares, core=frozenset()):
    """Our task set from their collection."""
    splits = []
    grid = collection.task_grid()
    numbers = {(row.dataset, row.fold, row.repeat): int(row.split) for row in grid.itertuples()}
    for task in collection:
        dataset = task.tabarena_task_name
        for split in task.splits_metadata.values():
            number = numbers[dataset, split.fold, split.repeat]
            splits.append(
                Split(
                    dataset=dataset,
                    task_key=str(task.task_id_str),
                    tid=0,
                    repeat=split.repeat,
                    fold=split.fold,
                    split=number,
                    problem_type=task.problem_type,
                    metric=task.eval_metric,
                    n_features=task.num_features,
                    n_classes=task.num_classes if task.num_classes > 0 else None,
                    train_rows=split.num_instances_train,
                    test_rows=split.num_instances_test,
                    categorical_share=shares.get(dataset, 0.0),
                    short_name=task.dataset_name,
                    traits=Traits(
                        task_type=task.task_type,
                        group_labels=task.group_labels,
                        columns=task.num_cols_after_preprocessing,
                        text_columns=task.num_text_cols,
                        high_cardinality_columns=task.num_high_cardinality_cats,
                        has_categorical=task.has_categorical,
                        has_numerical=task.has_numerical,
                        has_binary=task.has_binary,
                        has_datetime=task.has_datetime,
                        has_text=task.has_text,
                        has_high_cardinality=task.has_high_cardinality_categorical,
                        in_core=(dataset, number) in core,
                    ),
                )
            )
    return TaskSet(splits, vocabulary)


@pytest.fixture(scope="module")
def tabarena():
    from tabarena.benchmark.task.metadata.fetch_metadata import load_curated_task_metadata

    curated = load_curated_task_metadata()
    shares = dict(zip(curated["dataset_name"], curated["percentage_cat_features"] / 100, strict=True))
    theirs = TaskMetadataCollection.from_preset("TabArena-v0.1")
    ours = as_task_set(theirs, "tabarena", shares)
    assert (len(ours.datasets), len(ours)) == (51, 816)
    return theirs, ours, TabArenaContext.SUBSET_PREDICATES


@pytest.fixture(scope="module")
def beyondarena():
    import pandas as pd
    from tabarena.contexts.beyondarena.context import CORE_TASKS_CSV

    core = pd.read_csv(CORE_TASKS_CSV)
    theirs = TaskMetadataCollection.from_preset("BeyondArena")
    ours = as_task_set(theirs, "beyondarena", {}, set(zip(core["dataset"], core["split"], strict=True)))
    return theirs, ours, BeyondArenaContext.SUBSET_PREDICATES


@pytest.fixture(params=["tabarena", "beyondarena"])
def arena(request):
    return request.getfixturevalue(request.param)


def assert_same_selection(arena, **filters):
    theirs, ours, predicates = arena
    expected = theirs.subset_tasks(predicates=predicates, **filters).dataset_fold_repeats()
    selected = ours.select(TaskSubset(**filters))
    assert [(split.dataset, split.fold, split.repeat) for split in selected] == expected, filters
    return len(expected)


def test_every_name_selects_the_same_splits(arena):
    _, ours, predicates = arena
    assert set(subset_names(ours.vocabulary)) == set(predicates)
    sizes = {name: assert_same_selection(arena, subset=name) for name in predicates}
    assert sizes["all"] == len(ours)
    assert min(sizes.values()) > 0, "every name was tried on splits it holds for"


@pytest.mark.parametrize(
    "expression",
    [
        [],
        "!tiny",
        "binary|multiclass",
        " !binary | lite ",
        ["classification", "!tiny"],
        ["lite", "small|medium", "!regression"],
        [["lite", "classification"], ["regression"]],
        ["tiny", ["medium", "lite"]],
        ["binary", "regression"],
    ],
)
def test_expressions_select_the_same_splits(arena, expression):
    assert_same_selection(arena, subset=expression)


ATOMS = st.builds("".join, st.tuples(st.sampled_from(["", "!", "! "]), st.sampled_from(subset_names("tabarena"))))
VIEWS = st.lists(st.lists(ATOMS, min_size=1, max_size=3).map("|".join), max_size=3)


@settings(max_examples=60, deadline=None)
@given(expression=VIEWS | st.lists(VIEWS, min_size=1, max_size=3))
def test_random_expressions_select_the_same_splits(tabarena, expression):
    assert_same_selection(tabarena, subset=expression)


def test_shortcuts_are_theirs():
    for context, vocabulary in ((TabArenaContext, "tabarena"), (BeyondArenaContext, "beyondarena")):
        theirs = {name: tuple(parts) for name, parts in context.SUBSET_SHORTCUTS.items()}
        assert theirs == SHORTCUTS[vocabulary]


@pytest.mark.parametrize(
    "filters",
    [
        {"problem_types": ["binary", "regression"], "split_indices": "lite"},
        {"split_indices": ["r0f1", "r2f0"], "subset": "small"},
        {"dataset_names": ["airfoil_self_noise"], "split_indices": ["r0f0"]},
        {"n_train_samples": (1002, 5000)},
        {"n_train_samples": (None, 1002), "subset": ["tiny", "!lite"]},
    ],
)
def test_scopes_select_the_same_splits(arena, filters):
    assert assert_same_selection(arena, **filters) > 0


@pytest.mark.parametrize(
    "filters",
    [
        {"required_dtypes": ["text", "categorical"]},
        {"forbidden_dtypes": ["datetime", "high_cardinality_categorical"]},
        {"required_dtypes": ["numerical"], "forbidden_dtypes": ["binary"], "subset": "lite"},
    ],
)
def test_column_kinds_select_the_same_splits(beyondarena, filters):
    assert assert_same_selection(beyondarena, **filters) > 0


@pytest.mark.parametrize("expression", ["nonsense", "a|", "!", "", "!!tiny"])
def test_malformed_expressions_are_refused_by_both(tabarena, expression):
    theirs, ours, predicates = tabarena
    with pytest.raises(ValueError, match=r"subset|atom|negation"):
        theirs.subset_tasks(subset=expression, predicates=predicates)
    with pytest.raises(Failure):
        ours.select(expression)
