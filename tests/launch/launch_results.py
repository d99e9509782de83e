"""Genuine results under other names: what a fit of any item would have left."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

RAW = Path(__file__).resolve().parents[1] / "data" / "tabarena_raw" / "data"
GENUINE = next((RAW / "LinearModel_c1_default_BAG_L1").glob("*wine*/0_0/results.pkl"))


def relabelled(item, **changes) -> bytes:
    """The bytes of a genuine result, relabelled as the item's; ``changes`` replace its top-level entries."""
    content = pickle.loads(gzip.decompress(GENUINE.read_bytes()))
    split = 3 * item.repeat + item.fold
    content["task_metadata"] |= {"name": item.dataset, "repeat": item.repeat, "fold": item.fold, "split_idx": split}
    artifacts = content["simulation_artifacts"]
    for part in ("pred_proba_dict_val", "pred_proba_dict_test"):
        artifacts[part] = {item.experiment: artifacts[part][content["framework"]]}
    content["framework"] = item.experiment
    return gzip.compress(pickle.dumps(content | changes, protocol=4))
