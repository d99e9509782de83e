"""The validation protocol that a result's children show."""

from __future__ import annotations

import numpy as np
import pytest

from benchwright.raw import effective_protocol, infer_validation_protocol, load_result
from benchwright.raw.protocol import BEYONDARENA_KEY, is_known

GENUINE_KEYS = {
    "binary": ("8x1", "8 children, 8 folds x 1 repeat"),
    "knn": ("8x1", "8x1 requested; 1 child via use_child_oof"),
    "beyond": (
        BEYONDARENA_KEY,
        "25 children, 5 folds x 5 repeats on 118 rows, at most 500: the dynamic rule (8x1 requested)",
    ),
    "holdout": ("holdout:0.2", "no children, 24 validation rows beside 94 training rows"),
    "outer": ("outer", "AGModelWrapper fits on all training rows"),
    "system": ("system", "DemoLogisticSystem validates by itself"),
    "autogluon": ("system", "AGWrapper validates by itself"),
}


@pytest.mark.parametrize("name", GENUINE_KEYS)
def test_genuine_results(genuine, name) -> None:
    protocol = effective_protocol(load_result(genuine(name)))
    assert (protocol.key, protocol.explanation) == GENUINE_KEYS[name]


def test_every_bagged_genuine_result_is_8x1(genuine_files) -> None:
    keys = {path.parts[-4].rsplit("_", 2)[-2:] == ["BAG", "L1"]: set() for path in genuine_files}
    for path in genuine_files:
        if "beyond" not in path.parts:
            keys[path.parts[-4].endswith("_BAG_L1")].add(infer_validation_protocol(load_result(path)))
    assert keys == {True: {"8x1"}, False: {"system", "outer", "holdout:0.2"}}


def test_legacy_file_says_nothing(content, written) -> None:
    value = content("system")
    del value["experiment_metadata"]
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.explanation) == (None, "records neither children nor what ran it")
    assert protocol.agrees_with("8x1") is None


def rebag(value, folds: int, repeats: int, rows: int | None = None) -> None:
    """Give a genuine bag other children."""
    sim = value["simulation_artifacts"]
    count = len(sim["y_val"])
    rng = np.random.default_rng(0)
    splits = [part for _ in range(repeats) for part in np.array_split(rng.permutation(count), folds)]
    child = sim["bag_info"]["pred_proba_test_per_child"][0]
    sim["bag_info"] = {"val_idx_per_child": splits, "pred_proba_test_per_child": [child] * len(splits)}


def enlarge(value, times: int) -> None:
    """Repeat the validation rows of a genuine result."""
    sim = value["simulation_artifacts"]
    for key in ("y_val", "y_val_idx"):
        sim[key] = np.concatenate([sim[key]] * times)
    name = value["framework"]
    sim["pred_proba_dict_val"][name] = np.concatenate([sim["pred_proba_dict_val"][name]] * times)


def test_children_win_over_the_request(content, written) -> None:
    value = content("binary")
    enlarge(value, 4)
    rebag(value, 5, 2)
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.requested, protocol.shape) == ("5x2", "8x1", (5, 2))
    assert protocol.explanation == "10 children, 5 folds x 2 repeats (8x1 requested)"
    assert protocol.agrees_with("8x1") is False


def test_children_that_are_no_folds_times_repeats(content, written) -> None:
    value = content("binary")
    rebag(value, 5, 2)
    for each in value["simulation_artifacts"]["bag_info"].values():
        del each[-1]
    protocol = effective_protocol(load_result(written(value)))
    assert protocol.key == "custom:9"
    assert protocol.explanation == "9 children that cover 1 to 2 times each row (8x1 requested)"


def test_5x5_without_a_request_of_8x1_is_only_5x5(content, written) -> None:
    value = content("beyond")
    value["method_metadata"]["fit_kwargs_extra"].update(num_bag_folds=5, num_bag_sets=5)
    assert infer_validation_protocol(load_result(written(value))) == "5x5"
    del value["method_metadata"]["fit_kwargs_extra"]
    assert infer_validation_protocol(load_result(written(value))) == "5x5"


def test_only_child_without_a_request_says_nothing(content, written) -> None:
    value = content("knn")
    del value["method_metadata"]["fit_kwargs_extra"]
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.explanation) == (None, "1 child, no request recorded")


def test_bag_whose_children_were_not_kept(content, written) -> None:
    value = content("binary")
    del value["simulation_artifacts"]["bag_info"]
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.explanation) == ("8x1", "8x1 by the bag's own record (children not kept)")
    value["method_metadata"]["info"]["bagged_info"]["_k_per_n_repeat"] = [[8], 8]
    assert effective_protocol(load_result(written(value))).key.startswith("holdout")


def test_holdout_of_unknown_fraction(content, written) -> None:
    value = content("holdout")
    value["method_metadata"]["fit_metadata"]["num_samples"] = None
    assert infer_validation_protocol(load_result(written(value))) == "holdout"


def test_holdout_of_unknown_fraction_is_the_recorded_one(content, written) -> None:
    value = content("holdout")
    value["method_metadata"]["fit_metadata"]["num_samples"] = None
    value["experiment_metadata"]["validation_protocol"] = "holdout:0.33"
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.disputed) == ("holdout:0.33", False)
    value["experiment_metadata"]["validation_protocol"] = "8x1"
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.disputed) == ("holdout", True)


def test_agreement_with_a_declared_key(genuine, content, written) -> None:
    def agrees(name: str, declared: str) -> bool | None:
        return effective_protocol(load_result(genuine(name))).agrees_with(declared)

    assert agrees("binary", "8x1") is True
    assert agrees("binary", "5x5") is False
    assert agrees("binary", BEYONDARENA_KEY) is False, "160 rows would have been 5 x 5"
    assert agrees("knn", "8x1") is True
    assert agrees("knn", BEYONDARENA_KEY) is True
    assert agrees("beyond", BEYONDARENA_KEY) is True
    assert agrees("beyond", "8x1") is False
    assert agrees("holdout", "holdout:0.2") is True
    assert agrees("holdout", "holdout:0.33") is False
    assert agrees("holdout", "8x1") is False
    assert agrees("outer", "system") is False
    assert agrees("system", "system") is True
    large = content("binary")
    enlarge(large, 4)
    rebag(large, 8, 1)
    assert effective_protocol(load_result(written(large))).agrees_with(BEYONDARENA_KEY) is True


@pytest.mark.parametrize("record", [BEYONDARENA_KEY, {"key": BEYONDARENA_KEY, "rows": 640}])
def test_record_names_the_protocol_where_the_children_can_agree(content, written, record) -> None:
    value = content("binary")
    enlarge(value, 4)
    rebag(value, 8, 1)
    value["experiment_metadata"]["validation_protocol"] = record
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.recorded, protocol.disputed) == (BEYONDARENA_KEY, BEYONDARENA_KEY, False)
    assert protocol.explanation == f"records {BEYONDARENA_KEY}; 8 children, 8 folds x 1 repeat"


def test_record_that_the_children_contradict_is_disputed(content, written) -> None:
    value = content("beyond")
    value["experiment_metadata"]["validation_protocol"] = "8x1"
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.recorded, protocol.disputed) == (BEYONDARENA_KEY, "8x1", True)
    assert protocol.explanation.startswith("records 8x1, but 25 children, 5 folds x 5 repeats on 118 rows")


@pytest.mark.parametrize("key", ["8x1|<=500:5x5|groups:logo", "8x", "0x1", "custom:", "holdout:half", "System", ""])
def test_a_key_of_no_known_form_is_unknown(content, written, genuine, key) -> None:
    for name in ("binary", "beyond", "holdout", "system"):
        assert effective_protocol(load_result(genuine(name))).agrees_with(key) is None
    value = content("beyond")
    value["experiment_metadata"]["validation_protocol"] = key
    protocol = effective_protocol(load_result(written(value)))
    assert (protocol.key, protocol.recorded, protocol.disputed) == (key, key, False)
    assert protocol.explanation.startswith(f"records {key}; 25 children, 5 folds x 5 repeats on 118 rows")


@pytest.mark.parametrize(
    "key", [BEYONDARENA_KEY, "8x1", "10x10", "custom:9", "holdout", "holdout:.2", "outer", "system"]
)
def test_keys_of_known_forms_are_compared(genuine, key) -> None:
    assert is_known(key)
    assert effective_protocol(load_result(genuine("binary"))).agrees_with(key) is (key == "8x1")


def test_metadata_of_wrong_types_says_nothing(content, written) -> None:
    value = content("holdout")
    value["method_metadata"].update(info=[1], fit_metadata="x", fit_kwargs_extra=None)
    value["experiment_metadata"]["validation_protocol"] = 8
    assert infer_validation_protocol(load_result(written(value))) == "holdout"


def test_positions_of_several_integer_types(content, written) -> None:
    value = content("binary")
    bag = value["simulation_artifacts"]["bag_info"]
    bag["val_idx_per_child"] = [
        rows.astype("int64" if child else "uint64") for child, rows in enumerate(bag["val_idx_per_child"])
    ]
    assert infer_validation_protocol(load_result(written(value))) == "8x1"
