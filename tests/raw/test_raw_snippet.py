"""The declaration to paste: Python that declares what the results imply, and leaves open what they do not."""

from __future__ import annotations

import pytest

from benchwright.arena import MethodMetadata
from benchwright.raw import find_results, inspect, read_methods
from benchwright.raw.snippet import snippet, variable
from raw_trees import CONFIG, PROTOCOLS, RAW, SYSTEM, add_result, recorded

FOREST = """\
randomforest_2026_11_29_method_metadata = MethodMetadata.config(
    method="RandomForest",
    # suite="...",  # REQUIRED: the dated id of the run, other than the method
    compute="cpu",
    ag_key="RF",
    config_default="RandomForest_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=True,
    # validation_protocol="8x1",  # shown by the results, which do not record it
    # Not in the results; fill in what applies:
    # display_name="...",
    # reference_url="https://...",
    # date="2026-11-29",  # the day of the run
    # verified=False,
    # cache_type="r2",  # or s3, or local, which has no bucket
    # cache_kwargs={"bucket": "...", "prefix": "..."},
)"""
DEMO = """\
demologisticsystem_2026_11_29_method_metadata = MethodMetadata.baseline(
    method="DemoLogisticSystem",
    # suite="...",  # REQUIRED: the dated id of the run, other than the method
    # compute="...",  # REQUIRED, cpu or gpu; not inferable: no num_gpus is recorded; torch saw no GPU in all 9 results
    # validation_protocol="system",  # shown by the results, which do not record it
    # Not in the results; fill in what applies:
    # A whole pipeline, an agent or a hosted API? Then MethodMetadata.system(...), and set tags.
    # display_name="...",
    # reference_url="https://...",
    # date="2026-11-29",  # the day of the run
    # verified=False,
    # cache_type="r2",  # or s3, or local, which has no bucket
    # cache_kwargs={"bucket": "...", "prefix": "..."},
)"""


@pytest.fixture(scope="module")
def genuine():
    return {name: inspect(method).inferred for name, method in read_methods(find_results(RAW).files).items()}


def inspected(root, metadata=None):
    (method,) = read_methods(find_results(root).files).values()
    return inspect(method, metadata)


def declared(text, **classes):
    """What the source declares, with ``MethodMetadata`` ours unless given."""
    names = {"MethodMetadata": MethodMetadata} | classes
    exec(text, names)
    return next(value for name, value in names.items() if name.endswith("_method_metadata"))


def test_a_config_and_a_baseline_to_the_letter(genuine):
    assert snippet(genuine["RandomForest"]) == FOREST
    assert snippet(genuine["DemoLogisticSystem"]) == DEMO


@pytest.mark.parametrize("name", ["LightGBM", "LinearModel", "RandomForest"])
def test_pasted_it_fails_for_want_of_a_suite_alone(name):
    (method,) = read_methods(find_results(RAW).files, only=[name]).values()
    compared = inspect(method, declared(snippet(inspect(method).inferred))).compared
    assert [row.field for row in compared if row.fails] == ["suite"]


@pytest.mark.parametrize("name", ["LightGBM", "DemoLogisticSystem"])
def test_the_peers_class_takes_it(genuine, name):
    from tabarena.models._method_metadata import MethodMetadata as Theirs

    assert declared(snippet(genuine[name]), MethodMetadata=Theirs).method == name


def test_comments_become_arguments(genuine):
    text = snippet(genuine["LightGBM"])
    for field in ("suite", "validation_protocol", "display_name", "date", "verified", "cache_type", "cache_kwargs"):
        text = text.replace(f"# {field}=", f"{field}=")
    metadata = declared(text.replace('suite="..."', 'suite="runs-2030"'))
    assert (metadata.validation_protocol, metadata.date, metadata.verified) == ("8x1", "2026-11-29", False)
    assert metadata.cache_kwargs == {"bucket": "...", "prefix": "..."}


def test_a_recorded_protocol_is_declared(tmp_path):
    add_result(tmp_path, CONFIG, change=recorded("8x1"))
    assert declared(snippet(inspected(tmp_path).inferred)).validation_protocol == "8x1"


def test_the_runners_prefix_goes_and_the_default_is_named_as_processed(tmp_path):
    for config in ("TA-Net-3_c1_default_BAG_L1", "TA-Net-3_r1_default_BAG_L1"):
        add_result(tmp_path, config)
    text = snippet(inspected(tmp_path).inferred)
    assert text.startswith("net_3_2026_11_29_method_metadata = ")
    metadata = declared(text)
    assert (metadata.method, metadata.config_default) == ("Net-3", "Net-3_c1_default_BAG_L1")
    assert not [row.field for row in inspected(tmp_path, metadata).compared if row.fails and row.field != "suite"]


def test_without_a_c1_the_default_is_left_open(tmp_path):
    for number in (1, 2):
        add_result(tmp_path, f"LightGBM_r{number}_default_BAG_L1")
    text = snippet(inspected(tmp_path).inferred)
    assert '    # config_default="...",  # REQUIRED: no config is called _c1\n' in text
    assert declared(text).config_default is None


def test_what_cannot_be_declared_has_none(tmp_path):
    for number in (1, 2):
        add_result(tmp_path / "system", f"Demo_c{number}", source=RAW / SYSTEM)
    assert snippet(inspected(tmp_path / "system").inferred) is None
    add_result(tmp_path / "mixed", CONFIG)
    outer = PROTOCOLS / "outer" / "data" / "LightGBM_c1_default"
    add_result(tmp_path / "mixed", "LightGBM_c1_default", source=outer)
    assert snippet(inspected(tmp_path / "mixed").inferred) is None


@pytest.mark.parametrize(
    ("method", "name"),
    [("TabPFN-3", "tabpfn_3"), ("TabFM+", "tabfm"), ("3Net", "_3net"), ("Ünet", "net"), ("+", "method")],
)
def test_variables(method, name):
    assert variable(method, None) == f"{name}_method_metadata"
    assert variable(method, "2030-01-31") == f"{name}_2030_01_31_method_metadata"
    assert variable(method, None).isidentifier()
