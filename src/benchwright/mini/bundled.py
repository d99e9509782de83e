"""Mini tasks from the data sets that scikit-learn ships, narrowed so that they are not solved by everything.

The raw columns are easy: most of these data sets are, which is why they are bundled. Leaving the telling columns out
leaves errors that differ between methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchwright.mini.generated import Columns
from benchwright.mini.stable_random import StableRandom


def breast_mass() -> Columns:
    """Binary, 569 rows: breast masses by texture, smoothness, symmetry and fractal dimension alone."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    kept = (
        "mean texture",
        "mean smoothness",
        "mean symmetry",
        "mean fractal dimension",
        "texture error",
        "smoothness error",
        "symmetry error",
    )
    names = np.array(["malignant", "benign"], dtype=object)
    return _columns(data.data, data.feature_names, kept) | {"target": names[data.target]}


def wine_cultivar() -> Columns:
    """Three classes, 178 rows: wines by five of thirteen analyses, those that tell the cultivars apart least."""
    from sklearn.datasets import load_wine

    data = load_wine()
    kept = ("ash", "alcalinity_of_ash", "magnesium", "proanthocyanins", "malic_acid")
    names = np.array(["barolo", "grignolino", "barbera"], dtype=object)
    return _columns(data.data, data.feature_names, kept) | {"target": names[data.target]}


def digit_shape(rows: int = 320) -> Columns:
    """Four classes: 320 images of the digits 3, 5, 8 and 9, by six of their 64 pixels."""
    from sklearn.datasets import load_digits

    data = load_digits()
    wanted = np.flatnonzero(np.isin(data.target, (3, 5, 8, 9)))
    wanted = np.sort(wanted[StableRandom(106).order(len(wanted))[:rows]])
    pixels = ((1, 4), (2, 2), (2, 5), (3, 3), (5, 2), (5, 5))
    columns: Columns = {f"pixel_{i}{j}": data.images[wanted, i, j] for i, j in pixels}
    names = np.array([f"d{digit}" for digit in range(10)], dtype=object)
    return columns | {"target": names[data.target[wanted]]}


def diabetes_progress() -> Columns:
    """Regression, 442 rows: progression of diabetes after a year, from unscaled measures; sex is categorical."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    columns = _columns(data.data, data.feature_names, ("age", "bmi", "bp", "s1", "s3", "s5", "s6"))
    sex = data.data[:, data.feature_names.index("sex")].astype(int)
    columns["sex"] = np.array(["", "one", "two"], dtype=object)[sex]
    return columns | {"target": data.target}


def _columns(values: Any, names: Any, kept: tuple[str, ...]) -> Columns:
    """The ``kept`` columns of a scikit-learn data set, with names that need no quoting."""
    position = {str(name): i for i, name in enumerate(names)}
    return {name.replace(" ", "_"): np.asarray(values[:, position[name]], dtype=np.float64) for name in kept}
