"""A checkout whose methods the tests of processing declare, and what they read out of an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DECLARATIONS = """\
from tabarena.models._method_metadata import MethodMetadata

gbm = MethodMetadata.config(
    method="LightGBM",
    suite="a-run",
    ag_key="GBM",
    config_default="LightGBM_c1_default_BAG_L1",
    is_bag=True,
)
forest = MethodMetadata.config(
    method="RandomForest", suite="a-run", ag_key="RF", can_hpo=False, is_bag=True, validation_protocol="8x1"
)
demo = MethodMetadata.system(method="DemoLogisticSystem", suite="a-run")
knn = MethodMetadata.config(method="KNeighbors", suite="a-run", ag_key="KNN", can_hpo=False)
wrong = MethodMetadata.config(method="RandomForest", ag_key="XT", can_hpo=True, compute="gpu", is_bag=True)
one = MethodMetadata.config(method="LightGBM", suite="a-run", ag_key="GBM", can_hpo=False, is_bag=True)
stranger = MethodMetadata.config(method="Stranger", suite="a-run", ag_key="TAB")
"""


def checkout_in(folder: Path) -> Path:
    """A checkout in ``folder`` that declares methods as ``demo.info``."""
    source = folder / "checkout" / "src" / "demo" / "info.py"
    source.parent.mkdir(parents=True)
    source.write_text(DECLARATIONS)
    return folder / "checkout"


def declared(checkout: Path, name: str) -> tuple[object, ...]:
    """The words that name a declared method."""
    return "--method-metadata", f"demo.info:{name}", "--repo", checkout


def codes(envelope: dict[str, Any]) -> list[str]:
    """The codes of an answer's problems."""
    return [problem["code"] for problem in envelope["problems"]]
