"""Trials without a reward once more: one folder made ready, or a list of them fired in chunks."""
