"""The methods that were run on the mini arena, each declared by one literal call.

``scripts/set_method_info.py`` edits these calls. A method of your own goes to the end: the snippet that
``scripts/run_process_method.py`` prints, with a suite of its own; ``scripts/register_method.py --arena mini`` then
enters it in ``mini/methods.py``.
"""

from __future__ import annotations

from benchwright.arena import MethodMetadata

randomforest_method_metadata = MethodMetadata.config(
    method="RandomForest",
    suite="mini-arena-1",
    ag_key="RF",
    config_default="RandomForest_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=True,
    display_name="RandomForest",
    verified=True,
    validation_protocol="8x1",
)

extratrees_method_metadata = MethodMetadata.config(
    method="ExtraTrees",
    suite="mini-arena-1",
    ag_key="XT",
    config_default="ExtraTrees_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=True,
    display_name="ExtraTrees",
    verified=True,
    validation_protocol="8x1",
)

lightgbm_method_metadata = MethodMetadata.config(
    method="LightGBM",
    suite="mini-arena-1",
    ag_key="GBM",
    config_default="LightGBM_c1_default_BAG_L1",
    can_hpo=True,
    is_bag=True,
    display_name="LightGBM",
    verified=True,
    validation_protocol="8x1",
)

linearmodel_method_metadata = MethodMetadata.config(
    method="LinearModel",
    suite="mini-arena-1",
    ag_key="LR",
    config_default="LinearModel_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=True,
    display_name="Linear",
    verified=True,
    validation_protocol="8x1",
)

kneighbors_method_metadata = MethodMetadata.config(
    method="KNeighbors",
    suite="mini-arena-1",
    ag_key="TA-KNN",
    model_key="KNN",
    config_default="KNeighbors_c1_default_BAG_L1",
    can_hpo=False,
    is_bag=False,
    display_name="KNN",
    verified=True,
    validation_protocol="8x1",
)
