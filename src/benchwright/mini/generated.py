"""Generated mini tasks. Each docstring gives the formula; every draw comes from ``StableRandom``.

Numbers are rounded to four decimals, so that a last-bit difference between two machines' arithmetic cannot show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.mini.stable_random import StableRandom

Columns = dict[str, Any]


def loan_default(rows: int = 480) -> Columns:
    """Binary, 7 features, 3 of them categorical, two with missing values.

    ``P(default) = 1 / (1 + exp(-z))``, ``z = -0.9 + 1.1 a - 0.8 i + 0.7 [term=60] + 0.9 [purpose=debt] [a > 0]
    - 0.5 [region=north] + 0.5 h`` with standardised amount ``a``, income ``i`` and history ``h``. Income is missing in
    12 % and purpose in 8 % of the rows, whatever their values.
    """
    random = StableRandom(101)
    income, amount, history = random.normal(rows), random.normal(rows), random.normal(rows)
    age = np.floor(21 + 45 * random.uniform(rows))
    term = random.pick(rows, (3, 4, 3, 2))
    purpose = random.pick(rows, (3, 2, 2, 1, 1))
    region = random.pick(rows, (1, 1, 1, 1))
    z = -0.9 + 1.1 * amount - 0.8 * income + 0.7 * (term == 3) + 0.5 * history
    z = z + 0.9 * (purpose == 1) * (amount > 0) - 0.5 * (region == 0)
    target = random.uniform(rows) < 1 / (1 + np.exp(-z))
    return {
        "income": _with_gaps(random, np.round(2800 + 900 * income, 4), 0.12),
        "amount": np.round(9000 + 4000 * amount, 4),
        "history": np.round(history, 4),
        "age": age,
        "term": _labels(term, ("12", "24", "36", "60")),
        "purpose": _with_gaps(random, _labels(purpose, ("car", "debt", "home", "study", "travel")), 0.08),
        "region": _labels(region, ("north", "south", "east", "west")),
        "target": _labels(target.astype(int), ("paid", "defaulted")),
    }


def ring_signal(rows: int = 400) -> Columns:
    """Binary, 6 numeric features in [-1, 1], where no single one tells the classes apart.

    Inside when ``x1**2 + x2**2 < 0.55`` differs from ``x3 > 0.4``; 12 % of the labels are turned over, and
    ``x4`` to ``x6`` say nothing.
    """
    random = StableRandom(102)
    x = [np.round(2 * random.uniform(rows) - 1, 4) for _ in range(6)]
    inside = (x[0] ** 2 + x[1] ** 2 < 0.55) != (x[2] > 0.4)
    inside = inside != random.chance(rows, 0.12)
    columns: Columns = {f"x{i + 1}": values for i, values in enumerate(x)}
    columns["target"] = _labels(inside.astype(int), ("outside", "inside"))
    return columns


def soil_type(rows: int = 330) -> Columns:
    """Three classes, 8 features of which 5 are categorical; acidity and vegetation have missing values.

    The class is the largest of four scores: a class' own profile of (moisture, acidity, slope), plus 0.9 for its
    own vegetation and 0.6 for its own rock, plus normal noise of standard deviation 0.8.
    """
    random = StableRandom(103)
    moisture, acidity, slope = random.normal(rows), random.normal(rows), random.normal(rows)
    vegetation = random.pick(rows, (3, 2, 2, 2, 1))
    rock = random.pick(rows, (2, 2, 1, 1))
    aspect, use, season = (random.pick(rows, weights) for weights in ((1, 1, 1, 1), (3, 2, 1), (1, 1)))
    profiles = ((1.0, 0.2, -0.4), (-0.9, 0.7, 0.0), (0.0, -1.0, 0.5))
    scores = np.stack(
        [
            m * moisture
            + a * acidity
            + s * slope
            + 0.9 * (vegetation == k)
            + 0.6 * (rock == k)
            + 0.8 * random.normal(rows)
            for k, (m, a, s) in enumerate(profiles)
        ]
    )
    return {
        "moisture": np.round(moisture, 4),
        "acidity": _with_gaps(random, np.round(acidity, 4), 0.15),
        "slope": np.round(slope, 4),
        "vegetation": _with_gaps(random, _labels(vegetation, ("grass", "heath", "pine", "oak", "none")), 0.1),
        "rock": _labels(rock, ("lime", "sand", "granite", "slate")),
        "aspect": _labels(aspect, ("n", "e", "s", "w")),
        "use": _labels(use, ("forest", "meadow", "field")),
        "season": _labels(season, ("wet", "dry")),
        "target": _labels(np.argmax(scores, axis=0), ("clay", "loam", "peat")),
    }


def friedman_gaps(rows: int = 420) -> Columns:
    """Regression after Friedman (1991), with a parabola for the sine, 8 uniform features, three of them with gaps.

    ``y = 10 x1 x2 + 20 (x3 - 0.5)**2 + 10 x4 + 5 x5 + 1.5 e``; ``x6`` to ``x8`` say nothing. ``x1``, ``x4`` and ``x6``
    are missing in 10 % of the rows each.
    """
    random = StableRandom(104)
    x = [np.round(random.uniform(rows), 4) for _ in range(8)]
    y = 10 * x[0] * x[1] + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4] + 1.5 * random.normal(rows)
    columns: Columns = {
        f"x{i + 1}": _with_gaps(random, values, 0.1) if i in (0, 3, 5) else values for i, values in enumerate(x)
    }
    columns["target"] = np.round(y, 4)
    return columns


def apartment_rent(rows: int = 500) -> Columns:
    """Regression, 6 features, two categorical (a city of twelve, a kind of heating); the year is missing in 7 %.

    ``rent = (6 + level(city)) area + 60 rooms - 45 [heating=coal] + 2 (year - 1950) [level(city) > 3] + 90 e`` with
    city levels 0, 0.5, ..., 5.5.
    """
    random = StableRandom(105)
    city = random.pick(rows, tuple(range(12, 0, -1)))
    heating = random.pick(rows, (4, 3, 2, 1))
    area = np.round(25 + 95 * random.uniform(rows), 1)
    rooms = np.floor(1 + area / 30 + random.uniform(rows))
    year = np.floor(1950 + 72 * random.uniform(rows))
    floor = np.floor(7 * random.uniform(rows))
    level = 0.5 * city
    rent = (6 + level) * area + 60 * rooms - 45 * (heating == 3) + 2 * (year - 1950) * (level > 3)
    return {
        "area": area,
        "rooms": rooms,
        "year": _with_gaps(random, year, 0.07),
        "floor": floor,
        "city": _labels(city, tuple(f"c{i:02d}" for i in range(12))),
        "heating": _labels(heating, ("gas", "district", "oil", "coal")),
        "target": np.round(rent + 90 * random.normal(rows), 2),
    }


def _labels(codes: NDArray[np.int64], names: Sequence[str]) -> NDArray[np.object_]:
    """The names behind ``codes``, as an object array of strings: what becomes a categorical column."""
    return np.array(names, dtype=object)[codes]


def _with_gaps(random: StableRandom, values: NDArray[Any], share: float) -> NDArray[Any]:
    """``values`` with about ``share`` of them missing: NaN among numbers, ``None`` among names."""
    values = values.copy()
    values[random.chance(len(values), share)] = None if values.dtype == object else np.nan
    return values
