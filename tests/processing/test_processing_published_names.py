"""Names and numbers that an artifact cannot hold: each a listed problem, never a folder elsewhere and never a crash."""

import pytest
from artifact_samples import build, copied, metadata_of, task_rows
from processing_samples import RAW, genuine_files

from benchwright.arena.names import collisions
from benchwright.contract import Failure, Redaction
from benchwright.processing.published_names import check_names
from benchwright.processing.task_metadata import TaskTable
from benchwright.raw import load_result
from raw_trees import TASKS, add_result, with_method

C1, R1 = "LightGBM_c1_default_BAG_L1", "LightGBM_r1_default_BAG_L1"
FOREST = "RandomForest_c1_default_BAG_L1"
BREAST = TASKS["binary"]
NAMELESS = [
    *("..", ".", "a/b", "a\\b", "/etc", ".benchwright", "a\nb", "\x1b[31m", "a\u202eb", " a", "a.", "x" * 201),
    "\N{SNOWMAN}" * 67,
]


@pytest.mark.parametrize("name", NAMELESS)
def test_a_dataset_that_no_folder_can_be_called_by_is_refused_by_name(tmp_path, name):
    source = copied(tmp_path / "run", FOREST)
    add_result(source, FOREST, source=RAW / FOREST, change=lambda value: value["task_metadata"].update(name=name))
    artifact = build("RandomForest", tmp_path / "cache", source=source)
    finding = artifact.findings[0]
    assert (finding.code, finding.severity, finding.expected) == ("bad-name", "error", "a name that can name a folder")
    assert finding.found.startswith("0_0/results.pkl: task_metadata.name is '")
    assert artifact.counts["results"] == 8
    outside = {path.name for path in tmp_path.iterdir()} | {path.name for path in (tmp_path / "cache").iterdir()}
    assert outside == {"run", "cache", "artifacts", ".benchwright"}


@pytest.mark.parametrize("name", NAMELESS)
def test_a_config_that_no_folder_can_be_called_by_is_refused_by_name(tmp_path, name):
    source = copied(tmp_path / "run", FOREST)
    add_result(source, FOREST, source=RAW / FOREST, change=lambda value: value.update(framework=name))
    finding = build("RandomForest", tmp_path / "cache", source=source).findings[0]
    assert (finding.code, finding.severity) == ("bad-name", "error")
    assert finding.found.startswith("0_0/results.pkl: framework is '")


def result_and_problems(task_key="t", name="M", **changes):
    result = load_result(genuine_files("RandomForest")[0])
    for field, value in changes.items():
        object.__setattr__(result, field, value)
    with pytest.raises(Failure) as caught:
        check_names(result, task_key, name, Redaction({}))
    return [(problem.code, problem.found) for problem in caught.value.problems]


def test_names_after_processing_and_of_folders_are_looked_at_too():
    check_names(load_result(genuine_files("RandomForest")[0]), BREAST, FOREST, Redaction({}))
    assert result_and_problems(name="M" * 201) == [("bad-name", f"the processed name is '{'M' * 60}'...")]
    assert result_and_problems(task_key=".x") == [("bad-name", "the task's folder is '.x'")]


def test_what_tables_tell_is_no_path():
    assert result_and_problems(metric="/home/someone/metric.py") == [("path-in-name", "the metric is a path")]
    family = {"ag_key": "/srv/models/mine"}
    assert result_and_problems(method_metadata=family) == [("path-in-name", "the model's family is a path")]


def test_configs_that_differ_by_case_alone_refuse_the_run_before_it_is_read(tmp_path):
    source = copied(tmp_path / "run", C1, R1)
    add_result(source, R1.replace("default", "Default"))
    with pytest.raises(Failure) as caught:
        build("LightGBM", tmp_path / "cache", source=source)
    assert [str(problem) for problem in caught.value.problems] == [
        "configs: 'LightGBM_r1_Default_BAG_L1' and 'LightGBM_r1_default_BAG_L1', which are one name on some systems, "
        "expected names that differ by more than case or the form of accents\n"
        "    fix: rename all but one, and run their items again"
    ]
    assert not (tmp_path / "cache").exists()


def test_datasets_and_tasks_that_differ_by_case_alone_refuse_the_run(tmp_path):
    for dataset, key in (("wine", "t1"), ("Wine", "t2"), ("beer", "T3"), ("mead", "t3")):
        add_result(tmp_path / "run", FOREST, source=RAW / FOREST, dataset=dataset, key=key)
    forest = metadata_of("RandomForest")
    with pytest.raises(Failure) as caught:
        build("RandomForest", tmp_path / "cache", source=tmp_path / "run", metadata=forest, task_rows=None)
    assert [problem.where for problem in caught.value.problems] == ["folders of tasks"]
    (tmp_path / "run" / FOREST / "T3").rename(tmp_path / "run" / FOREST / "T4")
    with pytest.raises(Failure) as caught:
        build("RandomForest", tmp_path / "cache", source=tmp_path / "run", metadata=forest, task_rows=None)
    assert "datasets" in [problem.where for problem in caught.value.problems]
    assert not (tmp_path / "cache" / "artifacts").exists()


def test_names_that_meet():
    assert collisions(["a", "A", "b", "\u00e9", "e\u0301", "STRASSE", "stra\u00dfe"]) == [
        ("A", "a"),
        ("STRASSE", "stra\u00dfe"),
        ("e\u0301", "\u00e9"),
    ]
    assert collisions(["a", "b", "a"]) == []


@pytest.mark.parametrize(
    "place",
    [
        lambda number: with_method(model_hyperparameters={"depth": number}),
        lambda number: with_method(model_hyperparameters={number: 1}),
        lambda number: with_method(model_hyperparameters={"depths": {number, 1}}),
        lambda number: with_method(disk_usage=number),
        lambda number: lambda value: value.update(metric_error=number),
        lambda number: lambda value: value["memory_usage"].update(peak=[(number,)]),
    ],
)
def test_a_number_too_long_for_any_text_is_a_finding_with_its_file(tmp_path, place):
    source = copied(tmp_path / "run", FOREST)
    add_result(source, FOREST, source=RAW / FOREST, change=place(10**5000))
    artifact = build("RandomForest", tmp_path / "cache", source=source)
    finding = artifact.findings[0]
    assert (finding.code, finding.severity, finding.dataset, finding.framework) == (
        "too-large",
        "error",
        BREAST,
        FOREST,
    )
    assert finding.found.startswith("0_0/results.pkl: a whole number of more than 600 digits at byte ")
    assert artifact.counts["results"] == 8


def test_a_number_that_tables_round_is_told(tmp_path):
    source = copied(tmp_path / "run", FOREST)
    for split, number in enumerate((2**63, 10**400, -(2**70))):
        change = with_method(disk_usage=number, model_hyperparameters={"seed": 10**600})
        add_result(source, FOREST, source=RAW / FOREST, split=split, change=change)
    artifact = build("RandomForest", tmp_path / "cache", source=source)
    assert [(each.code, each.severity, each.split, each.found) for each in artifact.findings] == [
        ("number-too-large", "warn", split, "disk_usage is a whole number of more than 64 bits") for split in range(3)
    ]
    stored = (artifact.folder / "processed" / "configs_hyperparameters.json").read_text()
    assert str(10**600) in stored


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("num_instances", "9" * 5000),
        ("num_instances", "many"),
        ("has_text", "yes"),
        ("repeat", "9" * 5000),
        ("task_id_str", f"UserTask|{'9' * 30}|x"),
        ("task_id_str", None),
    ],
)
def test_a_table_of_tasks_that_no_table_can_hold(column, text):
    with pytest.raises(Failure) as caught:
        TaskTable([task_rows()[0] | {column: text}])
    assert caught.value.problems[0].code == "bad-task-row"
