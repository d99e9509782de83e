"""Which kind of model a method is: what charts colour by, and tables group by."""

from __future__ import annotations

from benchwright.arena import MethodMetadata

TREE, NEURAL, FOUNDATION, BASELINE, SYSTEM, OTHER = FAMILIES = (
    "Tree-based",
    "Neural Network",
    "Foundation Model",
    "Baseline",
    "System",
    "Other",
)
"""The published leaderboard's model families, in the order of legends."""

_MEMBERS = {
    TREE: "RF XT GBM CAT XGB EBM PB CHIMERA",
    NEURAL: "NN_TORCH FASTAI REALMLP REALMLP_GPU TABM MNCA MNCA_GPU XRFM TABSTAR",
    FOUNDATION: "TABPFN REALTABPFN TABICL TABDPT MITRA LIMIX ORION SAP-RPT NORI TABFM TABSWIFT EXAONE ILTM",
    BASELINE: "KNN LR",
}
_FAMILY_OF_KEY = {key: family for family, keys in _MEMBERS.items() for key in keys.split()}


def family_of(metadata: MethodMetadata | None) -> str:
    """The family of a method; ``OTHER`` without metadata, or for a model that is not known here.

    A system says so itself. Of models the longest known key that begins theirs decides, since successors and reruns
    keep the beginning ("TABPFN-V2.6", "XGB [Rerun]"); a short key has to be a word of its own.
    """
    if metadata is None:
        return OTHER
    if metadata.method_class == "system" or metadata.method_type == "portfolio":
        return SYSTEM
    name = (metadata.model_key or metadata.ag_key or metadata.method).upper().removeprefix("TA-")
    beginnings = [
        key for key in _FAMILY_OF_KEY if name.startswith(key) and (len(key) > 3 or _ends_word(name, len(key)))
    ]
    return _FAMILY_OF_KEY[max(beginnings, key=len)] if beginnings else OTHER


def _ends_word(name: str, at: int) -> bool:
    return not name[at : at + 1].isalnum()
