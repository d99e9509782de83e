"""The command that inspects a run: what it prints, and what fails it."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from declared_methods import checkout_in, codes, declared, register
from raw_trees import CONFIG, PROTOCOLS, RAW, SYSTEM, add_result, recorded
from scripts_in_process import SCRIPTS, Script

SCRIPT = SCRIPTS / "run_process_method.py"


@pytest.fixture
def checkout(tmp_path):
    """A checkout that declares methods as ``demo.info``."""
    return checkout_in(tmp_path)


@pytest.fixture
def run(capsys):
    """The human answer of a call in this process: its exit code and its lines."""
    return Script.named("run_process_method", capsys).run


@pytest.fixture
def answer(capsys):
    """The envelope of a call in this process."""
    return Script.named("run_process_method", capsys).answer


def test_a_run_of_several_methods_is_listed(run, answer):
    code, lines = run(RAW)
    assert code == 0
    assert lines[:6] == [
        "4 methods, 99 results",
        "method              type      results  configs  datasets  splits  compute  validation",
        "DemoLogisticSystem  baseline  9        1        3         9       ?        system",
        "LightGBM            config    54       6        3         9       cpu      8x1",
        "LinearModel         config    27       3        3         9       cpu      8x1",
        "RandomForest        config    9        1        3         9       cpu      8x1",
    ]
    assert lines[6:] == [
        *(
            f"  {name}  3 datasets, 9 of 9 splits (dataset x fold)"
            for name in ("DemoLogisticSystem", "LightGBM          ", "LinearModel       ", "RandomForest      ")
        ),
        "  --method NAME shows one with its declaration, --out FILE writes them all",
    ]
    data = answer(RAW)["data"]
    assert data["artifact"] is None
    assert [(each["method"], each["files"], each["unusable"]) for each in data["methods"]] == [
        ("DemoLogisticSystem", 9, 0),
        ("LightGBM", 54, 0),
        ("LinearModel", 27, 0),
        ("RandomForest", 9, 0),
    ]
    assert all(each["snippet"].endswith(")") and each["comparison"] == [] for each in data["methods"])


def test_the_whole_report_has_a_block_for_every_method(run, tmp_path):
    _, lines = run(RAW, "--out", tmp_path / "report.txt")
    assert lines[-1] == f"... the whole report: {tmp_path / 'report.txt'}"
    assert sum(line.startswith("  suggested declaration:") for line in lines) == lines.count(")")
    report = (tmp_path / "report.txt").read_text()
    for name, count in (("DemoLogisticSystem", 9), ("LightGBM", 54), ("LinearModel", 27), ("RandomForest", 9)):
        assert f"\n{name}: {count} results\n  method_type " in report
    assert report.count("  suggested declaration:") == 4


def test_the_declaration_of_a_single_method_is_shown_whole(run, tmp_path):
    for number in range(1, 9):
        for task in ("binary", "multiclass", "regression"):
            for split in range(2 if number == 1 else 1):
                add_result(tmp_path, f"LightGBM_r{number}_default_BAG_L1", task=task, split=split)
    for words in ((tmp_path,), (RAW, "--method", "LightGBM")):
        _, lines = run(*words)
        assert not any(line.startswith("... ") for line in lines)
        assert "  method_type   config" in lines
        start = lines.index("lightgbm_2026_11_29_method_metadata = MethodMetadata.config(")
        assert (lines[start - 1], lines[-1]) == ("  suggested declaration:", ")")


def test_one_method_as_a_person_sees_it(run, checkout):
    code, lines = run(PROTOCOLS / "knn", *declared(checkout, "knn"))
    assert code == 0
    assert lines[:26] == [
        "KNeighbors: 3 results, as demo.info:knn declares",
        "KNeighbors: 3 results",
        "  inferred against demo.info:knn:",
        "    field                inferred                      provided    match         severity",
        "    ag_key               TA-KNN                        KNN         NO            warn",
        "    model_key            TA-KNN                        KNN         NO            context",
        "    config_default       KNeighbors_c1_default_BAG_L1  -           not declared  context",
        "    validation_protocol  8x1                           -           not declared  warn",
        "    method               KNeighbors                    KNeighbors  yes",
        "    method_type          config                        config      yes",
        "    compute              cpu                           cpu         yes",
        "    can_hpo              False                         False       yes",
        "    is_bag               False                         False       yes",
        "  method_type   config",
        "  model_type    TA-KNN",
        "  ag_key        TA-KNN",
        "  name_prefix   KNeighbors -> method KNeighbors",
        "  problem types binary, multiclass, regression",
        "  metrics       log_loss, rmse, roc_auc",
        "  compute       cpu (num_gpus 0 in all 3 results)",
        "  is_bag        False",
        "  frameworks    1 -> can_hpo False, config_default KNeighbors_c1_default_BAG_L1 (the only config)",
        "  validation    8x1, not recorded, but shown by the results",
        "         3  8x1 requested; 1 child via use_child_oof",
        "  coverage      3 datasets, 3 of 3 splits (dataset x fold)",
        "    KNeighbors_c1_default_BAG_L1  3 of 3",
    ]
    assert lines[-2:] == [
        "next:",
        "    "
        + shlex.join(
            [sys.executable, str(SCRIPT), str(PROTOCOLS / "knn"), "--process", *map(str, declared(checkout, "knn"))]
        ),
    ]


def test_a_declared_method_comes_first_and_the_others_are_listed(answer, checkout):
    envelope = answer(RAW, *declared(checkout, "forest"))
    assert (envelope["ok"], envelope["summary"]) == (
        True,
        "RandomForest, one of 4 methods here: 9 results, as demo.info:forest declares",
    )
    methods = envelope["data"]["methods"]
    assert [each["method"] for each in methods] == ["RandomForest", "DemoLogisticSystem", "LightGBM", "LinearModel"]
    assert {row["field"]: row["match"] for row in methods[0]["comparison"]} == {
        "method": "yes",
        "method_type": "yes",
        "compute": "yes",
        "ag_key": "yes",
        "model_key": "yes",
        "config_default": "not declared",
        "can_hpo": "yes",
        "is_bag": "yes",
        "validation_protocol": "yes",
    }
    assert set(methods[0]["comparison"][0]) >= {"field", "inferred", "provided", "match", "severity"}
    assert not any(each["comparison"] for each in methods[1:])


def test_several_declared_methods_are_compared_each_with_its_own(answer, run, checkout):
    words = (RAW, *declared(checkout, "wrong"), *declared(checkout, "gbm")[:2])
    envelope = answer(*words)
    assert (envelope["exit"], envelope["summary"]) == (
        1,
        "2 methods, 63 results, not as declared: demo.info:wrong (suite, compute, ag_key, can_hpo)",
    )
    methods = envelope["data"]["methods"]
    assert [(each["method"], each["declared_as"], len(each["comparison"])) for each in methods] == [
        ("RandomForest", "demo.info:wrong", 10),
        ("LightGBM", "demo.info:gbm", 9),
        ("DemoLogisticSystem", None, 0),
        ("LinearModel", None, 0),
    ]
    assert {problem["where"].partition(": ")[0] for problem in envelope["problems"]} == {
        "demo.info:wrong", "demo.info:gbm"
    }  # fmt: skip
    (edit,) = envelope["next"]
    assert shlex.split(edit)[2] == "demo.info:wrong"
    fine = answer(RAW, *declared(checkout, "forest"), *declared(checkout, "gbm")[:2])
    assert fine["exit"] == 0
    assert [shlex.split(line)[-3] for line in fine["next"]] == ["demo.info:forest", "demo.info:gbm"]
    _, lines = run(*words)
    assert "  inferred against demo.info:wrong:" in lines
    both = answer(RAW, *declared(checkout, "stranger"), *declared(checkout, "gbm")[:2], "--process")
    assert (both["exit"], both["summary"]) == (2, "2 declarations")


def test_holes_are_told_and_fail_nothing(answer, checkout, tmp_path):
    for split in range(3):
        for task in ("binary", "multiclass"):
            if (task, split) != ("multiclass", 1):
                add_result(tmp_path / "data", CONFIG, task=task, split=split, dataset=task)
    envelope = answer(tmp_path / "data")
    (problem,) = envelope["problems"]
    assert (envelope["exit"], problem["code"], problem["found"]) == (
        0,
        "splits-missing",
        "2 datasets, 5 of 6 splits (dataset x fold); missing: multiclass 0_1",
    )
    assert envelope["data"]["methods"][0]["coverage"]["lost"] == ["multiclass 0_1"]
    words = (*declared(checkout, "one"), "--process", "--cache-root", tmp_path / "cache")
    processed = answer(tmp_path / "data", *words)
    assert (processed["exit"], codes(processed).count("splits-missing")) == (0, 1)


def test_next_commands_name_the_current_folder_where_that_declares_the_method(answer, checkout, tmp_path, monkeypatch):
    monkeypatch.chdir(checkout)
    named = ("--method-metadata", "demo.info:forest")
    (next_one,) = answer(RAW, *named)["next"]
    assert shlex.split(next_one)[-4:] == [*named, "--repo", str(checkout)]
    (upload,) = answer(RAW, *named, "--process", "--cache-root", tmp_path / "cache")["next"]
    assert shlex.split(upload)[-4:] == [*named, "--repo", str(checkout)]
    wrong = answer(RAW, "--method-metadata", "demo.info:wrong")
    assert ["--repo", str(checkout)] == shlex.split(wrong["next"][0])[-2:]


def test_differences_fail_and_their_fixes_mend_them(answer, checkout):
    envelope = answer(RAW, *declared(checkout, "wrong"))
    assert (envelope["exit"], envelope["summary"]) == (
        1,
        "RandomForest, one of 4 methods here: 9 results, "
        "not as demo.info:wrong declares: suite, compute, ag_key, can_hpo",
    )
    (dry_run,) = envelope["next"]
    edit = [sys.executable, str(SCRIPT.with_name("set_method_info.py")), "demo.info:wrong"]
    repository = ["--repo", str(checkout)]
    assert shlex.split(dry_run) == [
        *edit, "--set", "compute=cpu", "--set", "ag_key=RF", "--set", "can_hpo=false", *repository
    ]  # fmt: skip
    assert [shlex.split(problem["fix"]) for problem in envelope["problems"] if "--set" in problem["fix"]] == [
        [*edit, "--set", change, *repository, "--apply"] for change in ("compute=cpu", "ag_key=RF", "can_hpo=false")
    ]
    subprocess.run([*shlex.split(dry_run), "--apply"], capture_output=True, check=True, cwd="/")
    left = answer(RAW, *declared(checkout, "wrong"))
    assert [problem["where"] for problem in left["problems"]] == [
        "demo.info:wrong: suite",
        "demo.info:wrong: validation_protocol",
    ]


def test_all_differences_are_told_before_the_screen_is_full(run, checkout):
    _, lines = run(RAW, *declared(checkout, "wrong"))
    for field in ("suite", "compute", "ag_key", "can_hpo"):
        assert any(line.startswith(f"  - demo.info:wrong: {field}: ") for line in lines)
    assert len(lines) <= 40


def test_differences_are_accepted_by_name_or_all(answer, checkout):
    source = checkout / "src" / "demo" / "info.py"
    source.write_text(
        source.read_text().replace("wrong = MethodMetadata.config(", "wrong = MethodMetadata.config(suite='s', ")
    )
    wrong = (RAW, *declared(checkout, "wrong"))
    some = answer(*wrong, "--accept-mismatch", "compute", "--accept-mismatch", "ag_key")
    assert (some["exit"], some["summary"].rpartition(": ")[2]) == (1, "can_hpo")
    every = answer(*wrong, "--ignore-metadata-mismatch")
    assert every["exit"] == 0
    assert {row["field"] for row in every["data"]["methods"][0]["comparison"] if row["accepted"]} == {
        "compute",
        "ag_key",
        "can_hpo",
    }
    assert "--ignore-metadata-mismatch" in every["next"][0]


def test_all_that_is_wrong_with_a_command_line_is_told_at_once(answer, checkout, tmp_path):
    envelope = answer(tmp_path / "nowhere", *declared(checkout, "gmb"), "--accept-mismatch", "can_hop", "--no-inspect")
    assert envelope["exit"] == 2
    assert codes(envelope) == ["usage", "usage", "unknown-attribute", "no-such-folder"]
    fixes = [problem["fix"] for problem in envelope["problems"]]
    assert "did you mean 'can_hpo'?" in fixes
    assert "did you mean 'gbm'?" in fixes


def test_a_number_of_jobs_that_is_none_is_wrong_usage(run, capsys):
    with pytest.raises(SystemExit) as caught:
        run(RAW, "--jobs", 0)
    assert caught.value.code == 2
    assert "argument --jobs: 0, expected a number above 0" in capsys.readouterr().err


def test_processing_needs_a_declaration(answer):
    envelope = answer(RAW, "--process")
    assert (envelope["exit"], envelope["summary"]) == (2, "no declaration")


def test_a_folder_without_results(answer, tmp_path):
    envelope = answer(tmp_path)
    assert (envelope["exit"], codes(envelope)) == (1, ["no-results"])


def test_one_method_by_its_exact_name(answer, tmp_path):
    for name in ("TabICL", "TabICLv2", "TA-TabICL"):
        add_result(tmp_path, f"{name}_c1_default_BAG_L1")
    data = answer(tmp_path, "--method", "TabICL")["data"]
    assert [(each["method"], each["files"]) for each in data["methods"]] == [("TabICL", 1)]
    unknown = answer(tmp_path, "--method", "TabIC")
    assert (unknown["exit"], codes(unknown)) == (2, ["unknown-method"])


def test_a_declaration_that_fits_none_of_several_asks_for_a_name(answer, checkout):
    envelope = answer(RAW, *declared(checkout, "stranger"))
    assert (envelope["exit"], codes(envelope)) == (2, ["ambiguous-method"])
    assert envelope["problems"][0]["fix"] == "--method NAME"
    named = answer(RAW, *declared(checkout, "stranger"), "--method", "LightGBM")
    assert named["exit"] == 1
    assert "demo.info:stranger: ag_key" in [problem["where"] for problem in named["problems"]]


@pytest.mark.parametrize("more", [(), ("--ignore-metadata-mismatch",)])
def test_an_expected_protocol_that_results_do_not_have_fails(answer, more):
    envelope = answer(PROTOCOLS / "holdout", "--expect-validation-protocol", "tabarena", *more)
    assert (envelope["exit"], codes(envelope)) == (1, ["unofficial-protocol"])
    assert answer(PROTOCOLS / "knn", "--expect-validation-protocol", "tabarena", *more)["exit"] == 0


def test_a_new_run_must_declare_the_protocol_that_it_records(answer, checkout, tmp_path):
    add_result(tmp_path / "data", CONFIG, change=recorded("8x1"))
    envelope = answer(tmp_path, *declared(checkout, "one"))
    assert (envelope["exit"], codes(envelope)) == (1, ["not-declared"])
    assert envelope["problems"][0]["found"] == "not declared (the results record it)"


# Children that say one thing and a record that says another: the children count, and nobody takes the record for true.
@pytest.mark.parametrize(("config", "key"), [(CONFIG, "holdout:0.2"), (CONFIG, "4x2"), (SYSTEM, "8x1")])
def test_a_record_that_the_results_contradict_is_told_and_fails_an_expectation(answer, run, tmp_path, config, key):
    add_result(tmp_path / "data", config, source=RAW / config, change=recorded(key))
    shown = "system" if config == SYSTEM else "8x1"
    envelope = answer(tmp_path)
    assert (envelope["exit"], codes(envelope)) == (0, ["protocol-disputed"])
    said = f"1 of 1 results record another protocol than they show: 1 record {key} and show {shown}"
    assert envelope["problems"][0]["found"] == said
    (method,) = envelope["data"]["methods"]
    assert (method["protocols"]["key"], method["protocols"]["disputed"]) == (shown, 1)
    _, lines = run(tmp_path)
    source = "shown by the results, but 1 of 1 record another"
    assert f"  validation    {shown}, {source}" in lines
    assert f'    # validation_protocol="{shown}",  # {source}' in lines
    expecting = answer(tmp_path, "--expect-validation-protocol", "tabarena")
    assert (expecting["exit"], codes(expecting)) == (1, ["protocol-disputed"])


def test_results_of_another_run_than_the_registered_one_are_to_be_declared_beside_it(answer, checkout, tmp_path):
    register(checkout, "beyondarena", "demo.info:gbm")
    for number in (1, 2):
        add_result(tmp_path / "data", f"LightGBM_c{number}_BAG_L1")
    envelope = answer(tmp_path / "data", *declared(checkout, "gbm"), "--method", "LightGBM")
    problem = envelope["problems"][0]
    assert (envelope["exit"], problem["where"]) == (1, "demo.info:gbm: config_default")
    assert problem["fix"] == (
        "it is declared for suite 'a-run', registered in beyondarena: declare the new run beside it, under another "
        "name, and register it with --replaces, if these are another run's results"
    )
    (following,) = envelope["next"]
    assert shlex.split(following) == [sys.executable, str(SCRIPT), str(tmp_path / "data"), "--method", "LightGBM"]
    assert answer(*shlex.split(following)[2:])["data"]["methods"][0]["snippet"]


def test_what_a_registered_run_does_not_declare_is_to_be_filled_in(answer, checkout, tmp_path):
    register(checkout, "beyondarena", "demo.info:one")
    add_result(tmp_path / "data", CONFIG, change=recorded("8x1"))
    envelope = answer(tmp_path / "data", *declared(checkout, "one"))
    assert codes(envelope) == ["not-declared"]
    words = shlex.split(envelope["problems"][0]["fix"])
    assert words[1:] == [
        *(str(SCRIPTS / "set_method_info.py"), "demo.info:one", "--set", "validation_protocol=8x1"),
        *("--repo", str(checkout), "--apply"),
    ]
    subprocess.run(words, capture_output=True, check=True)
    assert answer(tmp_path / "data", *declared(checkout, "one"))["exit"] == 0


def test_a_declaration_of_an_installed_package_is_not_to_be_edited(answer, tmp_path):
    add_result(tmp_path / "data", CONFIG)
    reference = "tabarena.models.catboost.info:catboost_method_metadata"
    envelope = answer(tmp_path / "data", "--method", "LightGBM", "--method-metadata", reference)
    assert (envelope["exit"], {problem["fix"] for problem in envelope["problems"][:2]}) == (
        1,
        {"it is part of an installed package: declare the run beside it in a checkout, named by --repo DIR"},
    )
    (following,) = envelope["next"]
    assert shlex.split(following)[2:] == [str(tmp_path / "data"), "--method", "LightGBM"]


def test_two_configs_of_a_system_say_why_without_any_declaration(answer, tmp_path):
    for number in (1, 2):
        add_result(tmp_path, f"DemoLogisticSystem_c{number}_default", source=RAW / SYSTEM)
    envelope = answer(tmp_path)
    assert (envelope["exit"], codes(envelope)) == (1, ["several-configs"])


def test_files_that_cannot_be_used_are_all_told_and_fail_an_inspection(answer, tmp_path):
    add_result(tmp_path, CONFIG)
    cut = add_result(tmp_path, CONFIG, split=1)
    cut.write_bytes(cut.read_bytes()[:-50])
    empty = add_result(tmp_path, CONFIG, split=2)
    empty.write_bytes(b"")
    (tmp_path / "elsewhere").symlink_to(RAW)
    envelope = answer(tmp_path)
    assert envelope["exit"] == 1
    assert [(problem["code"], problem["where"]) for problem in envelope["problems"]] == [
        ("truncated", str(cut)),
        ("empty-file", str(empty)),
        ("link", str(tmp_path / "elsewhere")),
        ("splits-missing", "LightGBM"),
    ]
    (method,) = envelope["data"]["methods"]
    assert (method["files"], method["unusable"], method["inferred"]["n_results"]) == (3, 2, 1)


def test_a_method_without_a_usable_result_is_refused(answer, tmp_path):
    add_result(tmp_path, CONFIG).write_bytes(b"")
    envelope = answer(tmp_path)
    assert (envelope["exit"], codes(envelope)) == (1, ["empty-file"])
    assert envelope["summary"] == "LightGBM: no file of 1 can be used"
    assert envelope["data"]["methods"][0]["inferred"] is None


def test_inspection_imports_nothing_heavy(checkout):
    code = (
        "import runpy, sys\n"
        "try:\n    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "except SystemExit as left:\n    print(left.code, file=sys.stderr)\n"
        "print(sorted({'pandas', 'pyarrow', 'numba', 'tabarena', 'ray', 'scipy', 'sklearn'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    words = [str(RAW), *map(str, declared(checkout, "gbm"))]
    start = f"import sys; sys.argv = {[str(SCRIPT), *words]!r}\n"
    done = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-2:] == ["0", "[]"]
