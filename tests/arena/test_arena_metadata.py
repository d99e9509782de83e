"""Method metadata: defaults, rules to the letter, YAML both ways."""

import ast
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace
from enum import StrEnum
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.arena import MethodMetadata
from benchwright.arena.metadata_rules import is_private
from benchwright.arena.names import can_name_folder
from benchwright.contract import Exit, Failure

SAMPLES = Path(__file__).parents[1] / "data" / "method_metadata"
REMOTE = {"bucket": "tabarena", "prefix": "cache"}
STORED_FIELDS = [
    "method",
    "suite",
    "method_type",
    "ag_key",
    "model_key",
    "config_default",
    "can_hpo",
    "compute",
    "is_bag",
    "has_raw",
    "has_processed",
    "has_results",
    "name",
    "name_suffix",
    "method_class",
    "tags",
    "cache_type",
    "cache_kwargs",
    "date",
    "date_introduced",
    "reference_url",
    "display_name",
    "verified",
]


def problems_of(build, *args, **kwargs):
    """What ``build`` refuses, as tuples of where, found, expected and fix without the common start of where."""
    with pytest.raises(Failure) as caught:
        build(*args, **kwargs)
    assert caught.value.exit is Exit.USAGE
    return [(problem.where, problem.found, problem.expected, problem.fix) for problem in caught.value.problems]


def only_problem(build, *args, **kwargs):
    (problem,) = problems_of(build, *args, **kwargs)
    return problem


# Defaults and constructors


def test_a_name_alone_is_a_config_method_with_derived_fields():
    assert MethodMetadata(method="KNN").to_dict() == {
        "method": "KNN",
        "suite": "KNN",
        "method_type": "config",
        "ag_key": None,
        "model_key": None,
        "config_default": None,
        "can_hpo": True,
        "compute": "cpu",
        "is_bag": False,
        "has_raw": True,
        "has_processed": True,
        "has_results": True,
        "name": None,
        "name_suffix": None,
        "method_class": "model",
        "tags": [],
        "cache_type": "local",
        "cache_kwargs": {},
        "date": None,
        "date_introduced": None,
        "reference_url": None,
        "display_name": "KNN",
        "verified": True,
        "validation_protocol": None,
    }


def test_model_key_follows_ag_key_and_config_type_adds_the_suffix():
    metadata = MethodMetadata.config(method="LightGBM", ag_key="GBM", name_suffix="_fast")
    assert (metadata.model_key, metadata.config_type, metadata.display_name) == ("GBM", "GBM_fast", "GBM_fast")
    assert MethodMetadata.config(method="LightGBM", ag_key="GBM", model_key="LGB").config_type == "LGB"


def test_a_suffix_without_a_model_key_makes_no_family():
    metadata = MethodMetadata(method="Mystery", name_suffix="_fast")
    assert (metadata.config_type, metadata.display_name) == (None, "Mystery")


def test_display_name_prefers_name_over_method():
    assert MethodMetadata.baseline(method="AutoGluon_bq", name="AutoGluon (best)").display_name == "AutoGluon (best)"
    assert MethodMetadata.baseline(method="AutoGluon_bq").display_name == "AutoGluon_bq"
    assert MethodMetadata.baseline(method="a", name="b", display_name="c").display_name == "c"


def test_config_only_flags_default_to_false_elsewhere():
    assert MethodMetadata.baseline(method="a").can_hpo is False
    assert MethodMetadata.config(method="a", can_hpo=False).can_hpo is False


def test_a_system_is_a_baseline_with_the_system_protocol():
    metadata = MethodMetadata.system(method="Agent", tags=("with-llm", "closed-source-api", "with-llm"))
    assert (metadata.method_type, metadata.method_class, metadata.is_system) == ("baseline", "system", True)
    assert metadata.validation_protocol == "system"
    assert metadata.tags == ("closed-source-api", "with-llm")
    assert MethodMetadata.system(method="Agent", validation_protocol=None).validation_protocol is None


def test_a_portfolio_has_no_raw_results_by_default():
    assert MethodMetadata.portfolio(method="Portfolio").has_raw is False
    assert MethodMetadata.portfolio(method="Portfolio", has_raw=True).has_raw is True


@pytest.mark.parametrize(
    ("cache_type", "options", "settled"),
    [
        (None, {}, "local"),
        (None, REMOTE, "r2"),
        ("s3", REMOTE, "s3"),
        (None, {"base_url": "https://a.example"}, "local"),
    ],
)
def test_storage_is_inferred_from_the_location(cache_type, options, settled):
    metadata = MethodMetadata(method="a", cache_type=cache_type, cache_kwargs=options)
    assert metadata.cache_type == settled


def test_it_is_frozen_hashable_picklable_and_keeps_no_reference_to_its_arguments():
    options = dict(REMOTE)
    metadata = MethodMetadata(method="a", cache_kwargs=options)
    options["bucket"] = "elsewhere"
    assert metadata.cache_kwargs["bucket"] == "tabarena"
    with pytest.raises(FrozenInstanceError):
        metadata.method = "b"
    assert pickle.loads(pickle.dumps(metadata)) == metadata
    assert len({metadata, replace(metadata), replace(metadata, verified=False)}) == 2


def test_key_is_method_and_suite():
    assert MethodMetadata(method="a", suite="run-1").key == ("a", "run-1")


def test_paths_of_this_process_are_not_compared():
    assert MethodMetadata(method="a", cache_root="x") == MethodMetadata(method="a", artifact_dir="y")


# Where the artifacts are


def test_the_folder_follows_the_cache_root_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("TABARENA_CACHE", str(tmp_path / "env"))
    metadata = MethodMetadata(method="A b", suite="s")
    assert metadata.path == tmp_path / "env/artifacts/s/methods/A b"
    assert replace(metadata, cache_root=tmp_path).path == tmp_path / "artifacts/s/methods/A b"
    assert replace(metadata, artifact_dir=tmp_path / "here").path == tmp_path / "here"
    monkeypatch.delenv("TABARENA_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert metadata.path == tmp_path / ".cache/tabarena/artifacts/s/methods/A b"


NO_FOLDERS = [
    *("..", "../x", "a/b", "a\\b", "/etc", ".benchwright", "a.", "a ", " a", "a\nb", "a\x07", "a\u200bb", "a\udc80"),
    *("n" * 201, "\N{SNOWMAN}" * 67),
]


@pytest.mark.parametrize("field", ["method", "suite", "config_default"])
@pytest.mark.parametrize("name", NO_FOLDERS)
def test_a_name_that_no_folder_can_have_is_refused(field, name):
    where, found, expected, fix = only_problem(MethodMetadata.from_dict, {"method": "M", field: name}, where="here")
    assert (where, expected, fix) == (f"here: {field}", "a name that can name a folder", "correct it there")
    assert found.isprintable()


def test_a_name_for_display_may_name_a_folder_and_a_suffix_be_part_of_one():
    MethodMetadata.config(method="TabPFN-v2.6", suite="s", name_suffix=".1 (4h)")
    expected = "a name that can name a folder, behind the method's"
    for suffix in ("/x", "x.", "n" * 200):
        assert only_problem(MethodMetadata.config, method="M", name_suffix=suffix)[2] == expected
    assert only_problem(MethodMetadata.baseline, method="M", name="M/2")[1] == "'M/2'"
    assert MethodMetadata.baseline(method="M", name="AutoGluon 1.4 (best, 4h)").name == "AutoGluon 1.4 (best, 4h)"


def test_a_link_does_not_lead_out_of_the_cache(tmp_path):
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts" / "s").symlink_to("/etc")
    with pytest.raises(Failure) as caught:
        _ = MethodMetadata(method="m", suite="s", cache_root=tmp_path).path
    assert caught.value.problems[0].code == "path-escape"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reference_url", "https://someone:{}@example.org/x"),
        ("display_name", "M hf_{}"),
        ("cache_kwargs", {"bucket": "b", "prefix": "p", "note": "hf_{}"}),
        ("cache_kwargs", {"bucket": "b", "prefix": "p", "aws_secret_access_key": "{}"}),
        ("cache_kwargs", {"bucket": "b", "prefix": "p", "options": {"deep": [{"apiToken": "{}"}]}}),
        ("cache_kwargs", {"bucket": "b", "prefix": "p", "secrets": {"deep": [{"mine": "{}"}]}}),
        *(("reference_url", f"https://example.org/x?a=1&{name}={{}}") for name in ("api_key", "token", "key", "sig")),
        ("reference_url", "https://example.org/x?X-Amz-Signature={}"),
        ("date", "hf_{}"),
        ("method_type", "hf_{}"),
        ("compute", "Bearer {}"),
        ("is_bag", "hf_{}"),
        ("tags", ["with-llm", "password={}"]),
        ("method", "hf_{}"),
    ],
)
def test_a_secret_is_refused_and_not_told(field, value):
    secret = "x1" * 10
    value = ast.literal_eval(repr(value).replace("{}", secret))
    where, found, expected, fix = only_problem(MethodMetadata.from_dict, {"method": "M", field: value}, where="here")
    assert (where, found, expected) == (f"here: {field}", "a text with a secret", "what everyone may read")
    assert (fix, secret in str(found)) == ("take it out, and revoke it", False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, "/home/somebody/x") for field in ("display_name", "reference_url", "validation_protocol", "ag_key")),
        *((field, "/home/somebody/x") for field in ("method", "suite", "name_suffix", "date", "compute", "has_raw")),
        ("display_name", "Model of /home/somebody/x, tuned"),
        ("display_name", "~somebody/x"),
        ("reference_url", "file:///home/somebody/x"),
        ("reference_url", "C:\\Users\\somebody\\x"),
        ("cache_kwargs", {"bucket": "b", "prefix": "p", "endpoint": "/home/somebody/x"}),
        ("tags", ["/home/somebody/x"]),
    ],
)
def test_a_path_of_a_machine_is_refused_and_not_told(field, value):
    named = "MethodMetadata" if field == "method" else "MethodMetadata 'M'"
    assert only_problem(MethodMetadata.from_dict, {"method": "M", field: value}) == (
        f"{named}: {field}",
        "a path of one machine",
        "what everyone may read",
        "take it out",
    )


def test_every_private_field_is_told_at_once():
    options = {"bucket": "b", "prefix": "p", "api_key": "q7" * 8, "endpoint": "/home/somebody/x"}
    values = {"method": "M", "display_name": "/home/somebody/x", "cache_kwargs": options, "date": "yesterday"}
    problems = problems_of(MethodMetadata.from_dict, values, where="here")
    assert [(where, found) for where, found, *_ in problems] == [
        ("here: cache_kwargs", "a path of one machine"),
        ("here: cache_kwargs", "a text with a secret"),
        ("here: display_name", "a path of one machine"),
        ("here: date", "'yesterday'"),
    ]


def test_a_field_named_by_a_secret_is_not_told():
    where, found, expected, fix = only_problem(MethodMetadata.from_dict, {"method": "M", "hf_" + "q7" * 10: 1})
    assert (where, found) == ("MethodMetadata 'M'", "a name that must not be published")
    assert (expected, fix) == ("the names of fields", "take it out")


def test_only_the_place_of_a_store_is_published():
    options = {"bucket": "b", "prefix": "/a/p/", "upload_as_public": True, "base_url": "https://example.org/"}
    assert MethodMetadata(method="M", cache_kwargs=options).cache_kwargs == options
    assert only_problem(MethodMetadata, method="M", cache_kwargs=options | {"bukcet": "b"}) == (
        "MethodMetadata 'M': cache_kwargs",
        "an option that no store has",
        "the place of a store",
        "did you mean 'bucket'?",
    )


# Rules


@pytest.mark.parametrize(
    ("values", "where", "found", "expected", "fix"),
    [
        ({"method": ""}, "method", "an empty text", "a name", "correct it there"),
        ({"suite": ""}, "suite", "an empty text", "a name", "correct it there"),
        ({"display_name": ""}, "display_name", "an empty text", "a name", "correct it there"),
        ({"validation_protocol": ""}, "validation_protocol", "an empty text", "a name", "correct it there"),
        (
            {"method_type": "confg"},
            "method_type",
            "'confg'",
            "'config' or 'baseline' or 'portfolio'",
            "did you mean 'config'?",
        ),
        ({"method_class": "agent"}, "method_class", "'agent'", "'model' or 'system'", "one of model, system"),
        ({"compute": "GPU"}, "compute", "'GPU'", "'cpu' or 'gpu'", "did you mean 'gpu'?"),
        ({"cache_type": "r3"}, "cache_type", "'r3'", "'local' or 'r2' or 's3'", "one of local, r2, s3"),
        (
            {"tags": ["llm", "with-llm"]},
            "tags",
            "'llm'",
            "'closed-source-api' or 'with-llm'",
            "one of closed-source-api, with-llm",
        ),
        ({"tags": "with-llm"}, "tags", "'with-llm'", "a list of texts", "correct it there"),
        ({"tags": None}, "tags", "nothing", "a list of texts", "correct it there"),
        ({"date": "2026-1-5"}, "date", "'2026-1-5'", "YYYY-MM-DD", "correct it there"),
        ({"date": "2026-11-29T00:00"}, "date", "'2026-11-29T00:00'", "YYYY-MM-DD", "correct it there"),
        ({"date": "2026-02-30"}, "date", "'2026-02-30'", "a day that exists", "correct it there"),
        ({"date": "2026-11-2\u0669"}, "date", "'2026-11-2\u0669'", "YYYY-MM-DD", "correct it there"),
        (
            {"date_introduced": "06-2017"},
            "date_introduced",
            "'06-2017'",
            "YYYY, YYYY-MM or YYYY-MM-DD",
            "correct it there",
        ),
        (
            {"name": "X"},
            "name",
            "'X' on a method of type 'config'",
            "a baseline or a portfolio",
            "set display_name instead",
        ),
        (
            {"method_class": "system"},
            "method_class",
            "'system' on a method of type 'config'",
            "method_type 'baseline', as the runner records a system's results",
            "use MethodMetadata.system(...)",
        ),
        (
            {"cache_type": "r2"},
            "cache_kwargs",
            "no 'bucket' and 'prefix' for cache_type 'r2'",
            "'bucket' and 'prefix'",
            "cache_kwargs={'bucket': 'tabarena', 'prefix': 'cache'}",
        ),
        (
            {"cache_type": "s3", "cache_kwargs": {"bucket": "b", "prefix": None}},
            "cache_kwargs",
            "no 'prefix' for cache_type 's3'",
            "'bucket' and 'prefix'",
            "cache_kwargs={'bucket': 'tabarena', 'prefix': 'cache'}",
        ),
        (
            {"cache_type": "local", "cache_kwargs": REMOTE},
            "cache_kwargs",
            "'bucket' and 'prefix' for cache_type 'local'",
            "neither",
            "set cache_type to 'r2', or drop them",
        ),
        (
            {"cache_kwargs": {"prefix": "cache"}},
            "cache_kwargs",
            "'prefix' without 'bucket'",
            "both or neither",
            "add 'bucket'",
        ),
        (
            {"cache_kwargs": {"bucket": 3}},
            "cache_kwargs",
            "a mapping",
            "a mapping of names to plain values, 'bucket' and 'prefix' to texts",
            "correct it there",
        ),
        ({"verified": "no"}, "verified", "'no'", "true or false", "correct it there"),
        ({"can_hpo": 1}, "can_hpo", "the number 1", "true or false", "correct it there"),
        ({"is_bag": None}, "is_bag", "nothing", "true or false", "correct it there"),
        ({"date_introduced": 2017}, "date_introduced", "the number 2017", "text", "quote it: date_introduced: '2017'"),
        ({"ag_key": ["GBM"]}, "ag_key", "a list", "text", "correct it there"),
        ({"compute": None}, "compute", "nothing", "text", "correct it there"),
        ({"cache_root": 3}, "cache_root", "the number 3", "a path", "correct it there"),
        (
            {"artifact_dir": "a", "cache_root": "b"},
            "artifact_dir",
            "set together with cache_root",
            "either the method's own folder or the root of a cache",
            "drop one",
        ),
    ],
)
def test_a_broken_rule_is_one_problem_to_the_letter(values, where, found, expected, fix):
    values = {"method": "M"} | values
    start = f"MethodMetadata {values['method']!r}: "
    assert only_problem(MethodMetadata, **values) == (start + where, found, expected, fix)


@pytest.mark.parametrize("method_type", ["baseline", "portfolio"])
@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("ag_key", "GBM", "'GBM'"),
        ("model_key", "GBM", "'GBM'"),
        ("config_default", "c1", "'c1'"),
        ("name_suffix", "_x", "'_x'"),
        ("can_hpo", True, "true"),
        ("is_bag", True, "true"),
    ],
)
def test_config_fields_are_refused_on_other_types(method_type, field, value, shown):
    assert only_problem(MethodMetadata, method="M", method_type=method_type, **{field: value}) == (
        f"MethodMetadata 'M': {field}",
        f"{shown} on a method of type '{method_type}'",
        "method_type 'config'",
        f"drop {field}",
    )


@pytest.mark.parametrize("method_type", ["config", "baseline", "portfolio"])
def test_name_and_suffix_exclude_each_other_on_every_type(method_type):
    problems_of(MethodMetadata, method="M", method_type=method_type, name="a", name_suffix="b")


def test_a_missing_method_is_named_without_a_name():
    assert only_problem(MethodMetadata.from_dict, {}) == (
        "MethodMetadata: method",
        "nothing",
        "text",
        "correct it there",
    )


def test_all_problems_are_told_at_once_and_a_mistyped_field_brings_no_second_one():
    problems = problems_of(
        MethodMetadata,
        method="M",
        method_type=3,
        name="X",
        cache_type="r2",
        cache_kwargs=[],
        date="yesterday",
        verified=None,
        tags=("llms",),
    )
    assert [where.removeprefix("MethodMetadata 'M': ") for where, *_ in problems] == [
        "method_type",
        "cache_kwargs",
        "verified",
        "tags",
        "date",
    ]


def test_what_a_constructor_sets_cannot_be_given_to_it():
    assert only_problem(MethodMetadata.system, method="M", method_type="config") == (
        "MethodMetadata 'M': method_type",
        "given to MethodMetadata.system(...), which sets it",
        "",
        "drop method_type, or use MethodMetadata(...)",
    )


def test_unknown_fields_are_named_with_close_ones_beside_other_problems():
    assert problems_of(MethodMetadata.config, method="M", dispay_name="x", date="soon") == [
        ("MethodMetadata 'M': dispay_name", "not a field of a method", "", "did you mean 'display_name'?"),
        ("MethodMetadata 'M': date", "'soon'", "YYYY-MM-DD", "correct it there"),
    ]


# YAML


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir()))
def test_a_genuine_file_comes_back_byte_for_byte(sample):
    path = SAMPLES / sample / "metadata.yaml"
    metadata = MethodMetadata.from_yaml(path)
    assert metadata.to_yaml() == path.read_text()
    assert metadata.artifact_dir == path.parent
    assert MethodMetadata.from_yaml(SAMPLES / sample) == metadata
    assert MethodMetadata.from_yaml(str(path)) == metadata
    assert MethodMetadata.from_yaml(path.read_bytes()) == metadata
    assert MethodMetadata.from_yaml(path.read_text()) == metadata


def test_genuine_values_are_read():
    metadata = MethodMetadata.from_yaml(SAMPLES / "DemoLogisticSystem")
    assert (metadata.method, metadata.tags, metadata.is_system) == ("DemoLogisticSystem", ("with-llm",), True)
    assert metadata.validation_protocol is None, "the file records none, and none is made up"
    assert MethodMetadata.from_yaml(SAMPLES / "LightGBM").config_default == "LightGBM_c1_default_BAG_L1"


def test_to_dict_keeps_declaration_order_and_yaml_leaves_the_protocol_out():
    metadata = MethodMetadata.config(method="M", validation_protocol="8x1")
    assert list(metadata.to_dict()) == [*STORED_FIELDS, "validation_protocol"]
    assert list(yaml.safe_load(metadata.to_yaml())) == sorted(STORED_FIELDS)
    assert yaml.safe_load(metadata.to_yaml(with_protocol=True))["validation_protocol"] == "8x1"


def test_a_file_with_the_protocol_is_read():
    metadata = MethodMetadata.config(method="M", validation_protocol="8x1")
    assert MethodMetadata.from_yaml(metadata.to_yaml(with_protocol=True)) == metadata


def test_from_cache_finds_the_folder_and_keeps_the_root(tmp_path):
    written = MethodMetadata(method="A b", suite="s")
    folder = tmp_path / "artifacts/s/methods/A b"
    folder.mkdir(parents=True)
    (folder / "metadata.yaml").write_text(written.to_yaml())
    metadata = MethodMetadata.from_cache("A b", "s", tmp_path)
    assert metadata == written
    assert metadata.path == folder


def test_legacy_keys_become_current_ones():
    metadata = MethodMetadata.from_yaml(
        "method: M\nartifact_name: run\nuse_artifact_name_in_prefix: true\nupload_as_public: true\n"
        "cache_type: s3\ns3_bucket: b\ns3_prefix: p\n"
    )
    assert metadata.suite == "run"
    assert metadata.cache_kwargs == {"bucket": "b", "prefix": "p", "upload_as_public": True}


def test_legacy_public_uploads_count_for_s3_alone():
    metadata = MethodMetadata.from_yaml("method: M\nupload_as_public: true\nbucket: b\nprefix: p\n")
    assert (metadata.cache_type, metadata.cache_kwargs) == ("r2", {"bucket": "b", "prefix": "p"})


def test_current_keys_win_over_legacy_ones():
    metadata = MethodMetadata.from_yaml(
        "method: M\nsuite: new\nartifact_name: old\ns3_bucket: old\ncache_kwargs: {bucket: new, prefix: p}\n"
    )
    assert (metadata.suite, metadata.cache_kwargs) == ("new", {"bucket": "new", "prefix": "p"})


def test_a_legacy_key_beside_a_broken_mapping_is_a_problem():
    where, found, _, _ = only_problem(MethodMetadata.from_yaml, "method: M\nbucket: b\ncache_kwargs: [a]\n")
    assert (where, found) == ("metadata.yaml: cache_kwargs", "a list")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\n", "nothing"),
        ("# only a comment\n", "nothing"),
        ("- method: M\n", "a list"),
        ("just words\n", "'just words'"),
        ("method: [M\n", "not plain YAML: expected ',' or ']', but got '<stream end>' (line 2, column 1)"),
        ("method: M\n---\nmethod: N\n", "not plain YAML: but found another document (line 2, column 1)"),
        ("method: M\nmethod: N\n", "not plain YAML: the key 'method' appears twice (line 2, column 1)"),
        ("method: M\ntags: &a [x]\nname: *a\n", "not plain YAML: an alias (line 3, column 7)"),
        ("method: M\ntags: " + "[" * 30_000 + "\n", "not plain YAML: nested too deeply (line 2, column 14)"),
        ("method: M\ndate: 2026-02-30\n", "not plain YAML: day is out of range for month"),
        (
            "method: !!python/object/apply:os.system ['echo x']\n",
            "not plain YAML: the tag 'tag:yaml.org,2002:python/object/apply:os.system' (line 1, column 9)",
        ),
        (
            "method: M\ndate: !!timestamp x\n",
            "not plain YAML: the tag 'tag:yaml.org,2002:timestamp' (line 2, column 7)",
        ),
        ("? {a: b}\n: c\n", "not plain YAML: found unhashable key (line 1, column 3)"),
        ("method: \x00\n", "not plain YAML: unacceptable character #x0000: special characters are not allowed"),
        ("method: M\n#" + "x" * 70_000, "more than 65,536 characters"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_hostile_yaml_is_one_problem(text, found):
    where, said, *_ = only_problem(MethodMetadata.from_yaml, text)
    assert (where, said) == ("metadata.yaml", found)


def test_an_alias_bomb_is_refused_before_it_grows():
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    _, found, *_ = only_problem(MethodMetadata.from_yaml, "a0: &a0 [x]\n" + levels)
    assert found == "not plain YAML: an alias (line 2, column 10)"


def test_values_of_the_wrong_yaml_type_are_named_with_the_line_to_write():
    text = "method: 3\ndate: 2026-11-29\ndate_introduced: 2017\nverified: 'yes'\ntags: [1]\n1: x\ndisplay_name: 1e3\n"
    assert problems_of(MethodMetadata.from_yaml, text) == [
        ("metadata.yaml", "the number 1 as a key", "the names of fields", "correct it there"),
        ("metadata.yaml: method", "the number 3", "text", "quote it: method: '3'"),
        ("metadata.yaml: tags", "a list", "a list of texts", "correct it there"),
        ("metadata.yaml: date", "the date 2026-11-29", "text", "quote it: date: '2026-11-29'"),
        ("metadata.yaml: date_introduced", "the number 2017", "text", "quote it: date_introduced: '2017'"),
        ("metadata.yaml: verified", "'yes'", "true or false", "correct it there"),
    ], "1e3 is text in YAML 1.1, which tabarena reads the same way"


def test_a_number_too_long_to_print_is_still_a_problem():
    text = f"method: M\ndate: 0x{'f' * 20_000}\n"
    assert only_problem(MethodMetadata.from_yaml, text) == (
        "metadata.yaml: date",
        "a very long number",
        "text",
        "correct it there",
    )
    where, found, *_ = only_problem(MethodMetadata.from_yaml, f"method: M\ndate: {'9' * 20_000}\n")
    assert where == "metadata.yaml"
    assert found.startswith("not plain YAML: Exceeds the limit")


def test_a_key_that_a_terminal_would_obey_is_escaped():
    (problem,) = problems_of(MethodMetadata.from_yaml, 'method: M\n"\\e[2J": x\n')
    assert problem[:2] == (r"metadata.yaml: '\x1b[2J'", "not a field of a method")


def test_a_path_of_one_machine_is_not_read_from_a_file():
    assert only_problem(MethodMetadata.from_yaml, "method: M\nartifact_dir: /data/x\n") == (
        "metadata.yaml: artifact_dir",
        "a path of one machine",
        "facts that hold everywhere",
        "drop the line",
    )


def test_files_that_cannot_be_read_are_problems(tmp_path):
    missing = tmp_path / "no such"
    expected = "a method's metadata"
    assert only_problem(MethodMetadata.from_yaml, missing) == (
        f"{missing}/metadata.yaml",
        "no such file or directory",
        expected,
        "process the method again with scripts/run_process_method.py",
    )
    (tmp_path / "metadata.yaml").write_bytes(b"method: caf\xe9\n")
    where, found, *_ = only_problem(MethodMetadata.from_yaml, tmp_path)
    assert (where, found) == (f"{tmp_path}/metadata.yaml", "not UTF-8 at byte 11")
    (tmp_path / "large.yaml").write_bytes(b"#" * 70_000)
    assert only_problem(MethodMetadata.from_yaml, tmp_path / "large.yaml")[1] == "more than 65,536 bytes"
    (tmp_path / "broken.yaml").write_text("methd: M\n")
    assert problems_of(MethodMetadata.from_yaml, tmp_path / "broken.yaml") == [
        (f"{tmp_path}/broken.yaml: methd", "not a field of a method", "", "did you mean 'method' or 'method_type'?"),
        (f"{tmp_path}/broken.yaml: method", "nothing", "text", "correct it there"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert MethodMetadata.from_yaml(b"\xef\xbb\xbfmethod: M\n").method == "M"


TEXT = st.text(min_size=1, max_size=20).filter(lambda text: not is_private(text))
NAME = TEXT.filter(can_name_folder)


@settings(max_examples=60, deadline=None)
@given(
    method=NAME,
    suite=NAME,
    display_name=TEXT,
    suffix=st.none() | NAME,
    url=st.none() | st.text(max_size=200).filter(lambda text: not is_private(text)),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    protocol=st.none() | TEXT,
)
def test_any_text_survives_yaml(method, suite, display_name, suffix, url, flags, protocol):
    can_hpo, is_bag, verified = flags
    metadata = MethodMetadata.config(
        method=method,
        suite=suite,
        ag_key=method,
        name_suffix=suffix,
        display_name=display_name,
        reference_url=url,
        can_hpo=can_hpo,
        is_bag=is_bag,
        verified=verified,
        validation_protocol=protocol,
    )
    assert MethodMetadata.from_yaml(metadata.to_yaml(with_protocol=True)) == metadata


YAML_LIKE = st.text(alphabet=":-{}[]!?&*<>|%@'\"#=~,.\n\t 0123456789xbeT+_Zaon\x1b", max_size=60).map(str.encode)


@settings(max_examples=400, deadline=None)
@given(st.builds(lambda *parts: b"".join(parts), st.sampled_from([b"", b"method: M\ndate: "]), YAML_LIKE | st.binary()))
def test_noise_is_a_problem_or_a_method_never_a_crash(noise):
    try:
        MethodMetadata.from_yaml(noise)
    except Failure as failure:
        assert failure.problems
        assert failure.exit is Exit.USAGE


# Other libraries' objects


class Kind(StrEnum):
    BASELINE = "baseline"


@dataclass
class Foreign:
    method: str = "Agent"
    method_type: str = Kind.BASELINE
    method_class: str = "system"
    tags: tuple = ("with-llm",)
    hardware: str | None = None


def test_a_foreign_object_is_read_by_its_attributes():
    metadata = MethodMetadata.from_object(Foreign())
    assert metadata == MethodMetadata.system(method="Agent", tags=("with-llm",), validation_protocol=None)
    assert type(metadata.method_type) is str


def test_ours_comes_back_as_it_is():
    metadata = MethodMetadata(method="M")
    assert MethodMetadata.from_object(metadata) is metadata


def test_a_fact_that_a_newer_version_records_is_not_dropped_in_silence():
    assert only_problem(MethodMetadata.from_object, Foreign(hardware="TPU")) == (
        "MethodMetadata 'Agent': hardware",
        "not a field of a method",
        "",
        only_problem(MethodMetadata.from_dict, {"method": "Agent", "hardware": "TPU"})[3],
    )


def test_something_else_is_refused():
    assert only_problem(MethodMetadata.from_object, object()) == (
        "MethodMetadata",
        "an object of type object",
        "an object with a method's fields",
        "name a declaration that makes one",
    )
