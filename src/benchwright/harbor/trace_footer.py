"""The names that a file of traces tells in its footer, where they are found without a look into its groups of rows."""

from __future__ import annotations

NAMES = "benchwright.names"
"""The key of them: JSON, a list of the different values for each of these columns."""
NAMED = ("trial_name", "run_id")
