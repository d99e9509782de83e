"""The mini arena's tasks: three of each problem type."""

from __future__ import annotations

from benchwright.mini import bundled, generated
from benchwright.mini.task import MiniTask

TASKS: tuple[MiniTask, ...] = (
    MiniTask("mini_breast_mass", "binary", bundled.breast_mass, 201),
    MiniTask("mini_loan_default", "binary", generated.loan_default, 202),
    MiniTask("mini_ring_signal", "binary", generated.ring_signal, 203),
    MiniTask("mini_wine_cultivar", "multiclass", bundled.wine_cultivar, 204),
    MiniTask("mini_digit_shape", "multiclass", bundled.digit_shape, 205),
    MiniTask("mini_soil_type", "multiclass", generated.soil_type, 206),
    MiniTask("mini_diabetes_progress", "regression", bundled.diabetes_progress, 207),
    MiniTask("mini_friedman_gaps", "regression", generated.friedman_gaps, 208),
    MiniTask("mini_apartment_rent", "regression", generated.apartment_rent, 209),
)
"""In the order of the task table."""
