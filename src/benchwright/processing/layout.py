"""The names inside an artifact folder, ``<cache>/artifacts/<suite>/methods/<method>``: ``tabarena``'s, and ours."""

from __future__ import annotations

from benchwright.arena import MethodMetadata

METADATA = "metadata.yaml"
"""The completion marker: a folder without it is no artifact."""
SIDECAR = "provenance.json"
"""What the public format has no place for; see ``sidecar``."""
RESULTS = "results"
PROCESSED = "processed"
RAW = "raw"

MODEL_RESULTS = f"{RESULTS}/model_results.parquet"
HPO_RESULTS = f"{RESULTS}/hpo_results.parquet"
TRAJECTORIES = f"{RESULTS}/hpo_trajectories.parquet"
PORTFOLIO_RESULTS = f"{RESULTS}/portfolio_results.parquet"

HYPERPARAMETERS = f"{PROCESSED}/configs_hyperparameters.json"
CONFIGS = f"{PROCESSED}/configs.parquet"
BASELINES = f"{PROCESSED}/baselines.parquet"
TASK_METADATA = f"{PROCESSED}/task_metadata.parquet"
STORE_METADATA = f"{PROCESSED}/metadata.json"
CONTEXT = f"{PROCESSED}/context.json"
PREDICTIONS = f"{PROCESSED}/model_predictions"

_RESULTS_OF_TYPE = {
    "config": (MODEL_RESULTS, HPO_RESULTS),
    "baseline": (MODEL_RESULTS,),
    "portfolio": (PORTFOLIO_RESULTS,),
}


def required_results(metadata: MethodMetadata) -> tuple[str, ...]:
    """The result tables without which a method of this type cannot be shown, as paths inside its folder."""
    return _RESULTS_OF_TYPE[metadata.method_type]


def expects_trajectories(metadata: MethodMetadata) -> bool:
    """Whether a complete artifact of this method has ``TRAJECTORIES``: whether more than one config was run."""
    return metadata.can_hpo
