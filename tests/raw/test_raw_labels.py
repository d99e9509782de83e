"""The checksum that tells the labels and rows of one split from those of another."""

from __future__ import annotations

from benchwright.raw import load_result
from benchwright.raw.labels import labels_checksum

MINE = "LightGBM_c1_default_BAG_L1"


def test_labels_tell_results_of_one_split_from_results_of_another(genuine, content, written) -> None:
    root = genuine("binary").parents[3]

    def labels(method: str, split: str, task: str = "local_breast_cancer-498b8450f429") -> str:
        return labels_of(root / method / task / split / "results.pkl")

    def labels_of(path) -> str:
        return labels_checksum(load_result(path).predictions)

    assert len(labels(MINE, "0_0")) == 16
    assert labels(MINE, "0_0") == labels("RandomForest_c1_default_BAG_L1", "0_0")
    assert labels(MINE, "0_0") != labels(MINE, "0_1")
    wider = content("binary")
    sim = wider["simulation_artifacts"]
    sim["y_val"], sim["y_val_idx"] = sim["y_val"].astype("int64"), sim["y_val_idx"].astype("int32")
    assert labels_of(written(wider)) == labels(MINE, "0_0")
    sim["y_val"] = 1 - sim["y_val"]
    assert labels_of(written(wider)) != labels(MINE, "0_0")
