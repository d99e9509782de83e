"""Models that misbehave in one way each, for items to be run with."""

import importlib
import os
import time
from pathlib import Path

import numpy as np
from tabarena.models.knn.model import KNNNewModel


class ImportsLate(KNNNewModel):
    """Imports a package inside its fit, and one inside its prediction."""

    ag_key = "LATE"
    ag_name = "Late"

    def _fit(self, **kwargs):
        importlib.import_module("bench_late_fit")
        super()._fit(**kwargs)

    def _predict_proba(self, X, **kwargs):
        if os.environ.get("BENCH_FITTED"):
            importlib.import_module("bench_late_predict")
        return super()._predict_proba(X, **kwargs)

    def prepare_for_inference(self):
        os.environ["BENCH_FITTED"] = "1"

    @classmethod
    def warmup(cls, **kwargs):
        raise RuntimeError("no such kernel")


class Hangs(KNNNewModel):
    """Hangs in its fit until the file that BENCH_GO names is there."""

    ag_key = "HANGS"
    ag_name = "Hangs"

    def _fit(self, **kwargs):
        while not Path(os.environ["BENCH_GO"]).exists():
            time.sleep(0.02)
        super()._fit(**kwargs)


class SaysNothing(KNNNewModel):
    """Predicts no number at all."""

    ag_key = "NOTHING"
    ag_name = "Nothing"

    def _predict_proba(self, X, **kwargs):
        return super()._predict_proba(X, **kwargs) * np.nan


class AsksTheHub(KNNNewModel):
    """Wants weights that nobody fetched."""

    ag_key = "HUB"
    ag_name = "Hub"

    def _fit(self, **kwargs):
        from huggingface_hub import hf_hub_download

        hf_hub_download("autogluon/a-model", "weights.safetensors")
