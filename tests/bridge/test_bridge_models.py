import pytest

from benchwright.arena import ModelInfo
from benchwright.bridge import model_info, model_infos, prefetch_weights
from benchwright.contract import Exit, Failure


def test_registry_is_complete():
    names = [info.name for info in model_infos()]
    assert len(names) == len(set(names)) == 37
    assert all(isinstance(info, ModelInfo) for info in model_infos())


@pytest.mark.parametrize(
    ("name", "key", "ag_name", "compute", "metadata_key"),
    [
        ("XGBoost", "xgboost", "XGBoost", "cpu", "XGB"),
        ("KNeighbors", "knn", "KNeighbors", "cpu", "KNN"),
        ("TabM", "tabm", "TA-TabM", "gpu", "TA-TABM"),
        ("TabICLv2", "tabicl", "TA-TabICLv2", "gpu", "TA-TABICLv2"),
    ],
)
def test_models_have_their_registry_facts(name, key, ag_name, compute, metadata_key):
    info = model_info(name)
    assert (info.name, info.key, info.ag_name, info.compute) == (name, key, ag_name, compute)
    assert info.metadata.ag_key == metadata_key


def test_problem_types_are_those_that_the_class_supports():
    assert model_info("XGBoost").problem_types == ("binary", "multiclass", "regression")
    assert model_info("TabICL").problem_types == ("binary", "multiclass")
    assert model_info("Nori").problem_types == ("regression",)


def test_search_spaces_weights_and_extras_are_seen():
    assert model_info("LightGBM").has_search_space
    assert not model_info("TabPFN-3").has_search_space
    assert model_info("TabPFN-3").prefetches_weights
    assert not model_info("LightGBM").prefetches_weights
    assert model_info("TabSTAR").pip_extra == ("tabstar==1.1.15",)
    assert [info.name for info in model_infos() if info.superseded] == ["TabDPT_GPU"]


def test_memory_estimates_and_devices_are_read_from_the_class():
    # TabFM and TabSwift have no estimate of their own, so a memory limit cannot cap their parallel folds.
    without = {info.name for info in model_infos() if not info.estimates_memory}
    assert {"TabFM", "TabSwift"} <= without
    assert not {"LightGBM", "TabM", "TabPFN-3"} & without
    assert model_info("TabM").reads_num_gpus


def test_display_name_case_and_folder_find_a_model():
    assert model_info("KNN").name == "KNeighbors"
    assert model_info("xgboost").name == "XGBoost"
    assert model_info("lr").name == "LinearModel"


def test_a_name_means_what_it_means_to_tabarena_but_for_registry_names_that_are_displayed_elsewhere():
    from tabarena.models.utils import get_model_info_from_name

    differing = [
        (name, get_model_info_from_name(name).method_metadata.method)
        for info in model_infos()
        for name in (info.name, info.display_name)
        if model_info(name).name != get_model_info_from_name(name).method_metadata.method
    ]

    assert set(differing) == {("ModernNCA", "ModernNCA_GPU")}


@pytest.mark.parametrize("info", model_infos(), ids=lambda info: info.name)
def test_every_registry_name_is_its_own(info):
    assert model_info(info.name) == info


def test_an_unknown_model_is_refused_with_close_names():
    with pytest.raises(Failure) as raised:
        model_info("LigthGBM")
    assert raised.value.exit == Exit.USAGE
    assert str(raised.value) == "model: no model is called 'LigthGBM'\n    fix: did you mean 'LightGBM'?"


def test_an_ambiguous_folder_is_refused_with_its_models():
    with pytest.raises(Failure) as raised:
        model_info("realmlp")
    assert str(raised.value) == (
        "model: 'realmlp' stands for 2 models, expected 'RealMLP' or 'RealMLP_GPU'\n    fix: give one of these names"
    )


def test_models_without_weights_fetch_nothing():
    assert prefetch_weights(["LightGBM", "XGBoost", "KNN"]) == []


def test_weights_that_cannot_be_had_are_all_named(no_network):
    with pytest.raises(Failure) as raised:
        prefetch_weights(["LightGBM", "TabPFN-3", "TabSTAR"])
    assert raised.value.exit == Exit.ENVIRONMENT
    wheres = [problem.where for problem in raised.value.problems]
    assert len(wheres) == 2
    assert "TabPFN-3" in wheres[0]
    assert "TabSTAR" in wheres[1]
    assert all(problem.fix for problem in raised.value.problems)
