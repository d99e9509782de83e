"""A checkout whose methods the tests of processing declare, and what they read out of an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.publish import ARENAS

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
demo = MethodMetadata.system(method="DemoLogisticSystem", suite="a-run", compute="cpu")
open_demo = MethodMetadata.system(method="DemoLogisticSystem", suite="a-run")
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


def register(checkout: Path, arena: str, reference: str, *, place: str = "live") -> None:
    """Give the checkout a collection of ``arena`` that has the method at ``reference``.

    ``place`` is ``live``, ``superseded``, or ``earlier`` for the list of an earlier suite, in a module beside it.
    """
    module, attribute = ARENAS[arena].collection.split(":")
    name = reference.partition(":")[2]
    live, superseded, earlier = (name if place == one else "" for one in ("live", "superseded", "earlier"))
    path = checkout.joinpath("src", *module.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True)
    imports = f"from {reference.replace(':', ' import ')}\n\n"
    if earlier:
        path.with_name("_earlier.py").write_text(f"{imports}methods_earlier = [*map(copy, [{earlier}])]\n")
        imports = f"from {module.rpartition('.')[0]}._earlier import methods_earlier\n\n"
    path.write_text(
        f"{imports}{attribute} = MethodMetadataCollection(method_metadata_lst=[{live}])\n"
        f"methods_superseded = [{superseded}]\n"
    )


def declared(checkout: Path, name: str) -> tuple[object, ...]:
    """The words that name a declared method."""
    return "--method-metadata", f"demo.info:{name}", "--repo", checkout


def codes(envelope: dict[str, Any]) -> list[str]:
    """The codes of an answer's problems."""
    return [problem["code"] for problem in envelope["problems"]]
