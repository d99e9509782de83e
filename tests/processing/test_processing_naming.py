"""Names of configs: their prefix, what becomes of it, and which of them is the default."""

import pytest

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import default_config, family_of, prefix_of, processed_name
from benchwright.processing.naming import variant


@pytest.mark.parametrize(
    ("framework", "recorded", "prefix"),
    [
        ("LightGBM_c1_default_BAG_L1", "LightGBM", "LightGBM"),
        ("LightGBM_c1_default_BAG_L1", None, "LightGBM"),
        ("TabICLv2_c1_BAG_L1", "TabICL", "TabICLv2"),
        ("TA-RealMLP_r12_BAG_L1", "TA-RealMLP", "TA-RealMLP"),
        ("prep_LightGBM_v6_c1_BAG_L1", "prep_LightGBM_v6", "prep_LightGBM_v6"),
        ("DemoLogisticSystem_c1_default", None, "DemoLogisticSystem"),
        ("AutoGluon_demo", None, "AutoGluon_demo"),
        ("AutoGluon_demo", "AutoGluon_demo", "AutoGluon_demo"),
        ("Model_c1x", None, "Model_c1x"),
        ("Model_c10", 7, "Model"),
        ("Model_c10", "", "Model"),
    ],
)
def test_prefix(framework, recorded, prefix):
    assert prefix_of(framework, {} if recorded is None else {"name_prefix": recorded}) == prefix


@pytest.mark.parametrize(
    ("recorded", "family"),
    [
        ({"ag_key": "GBM", "model_type": "GBM_MINE"}, "GBM"),
        ({"model_type": "GBM"}, "GBM"),
        ({"ag_key": "", "model_type": "GBM"}, "GBM"),
        ({"ag_key": None, "model_type": "GBM"}, "GBM"),
        ({"ag_key": 7, "model_type": ["GBM"]}, None),
        ({}, None),
    ],
)
def test_family(recorded, family):
    assert family_of(recorded) == family


def test_a_config_keeps_what_follows_its_prefix():
    metadata = MethodMetadata.config(method="TabICLv2", ag_key="TA-TABICL", name_suffix="_x")
    assert processed_name("TA-TabICLv2_r3_BAG_L1", "TA-TabICLv2", metadata) == "TabICLv2_x_r3_BAG_L1"


def test_a_baseline_loses_what_follows_its_prefix():
    assert processed_name("S_c1_default", "S", MethodMetadata.system(method="S")) == "S"
    assert processed_name("S_c1_default", "S", MethodMetadata.system(method="S", name="S (4h)")) == "S (4h)"


@pytest.mark.parametrize(
    ("configs", "default"),
    [
        (["M_r2_BAG_L1", "M_c1_BAG_L1", "M_r1_BAG_L1", "M_c10_BAG_L1"], "M_c1_BAG_L1"),
        (["M_r10_BAG_L1", "M_r2_BAG_L1", "M_r1_BAG_L1"], "M_r1_BAG_L1"),
        (["M_r3", "M_r2"], "M_r2"),
        (["M_c1_x_BAG_L1", "M_c1_BAG_L1", "M_c1"], "M_c1"),
        (["M_c1_long_BAG_L1", "M_c1_b_BAG_L1", "M_c1_a_BAG_L1"], "M_c1_a_BAG_L1"),
        (["B_c1", "A_c1"], "A_c1"),
        (["only"], "only"),
    ],
)
def test_default_config(configs, default):
    assert default_config(configs) == default


def test_variants():
    assert [variant("GBM", subtype) for subtype in ("default", "tuned", "tuned_ensemble")] == [
        "GBM (default)",
        "GBM (tuned)",
        "GBM (tuned + ensemble)",
    ]
