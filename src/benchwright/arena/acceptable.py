"""What may be accepted of results that are not as they should be: the fields that differ, and the ways to be lost."""

from __future__ import annotations

FIELDS = (
    "method",
    "compute",
    "ag_key",
    "model_key",
    "config_default",
    "can_hpo",
    "is_bag",
    "name",
    "validation_protocol",
)
"""The fields whose difference may be accepted. A method that is its own suite, or of another type than its results, may
not; nor may a validation protocol that results contradict, or a default config that is not there."""

LOSSES = (
    "bad-name",
    "contradiction",
    "damaged",
    "dangerous-pickle",  # known, and accepted in vain: it keeps the method from being processed
    "dataset-lost",
    "empty-file",
    "label-out-of-range",
    "labels-differ",
    "link",
    "misplaced-result",
    "missing",
    "missing-key",
    "not-a-file",
    "not-a-pickle",
    "not-a-result",
    "not-finite",
    "odd-name",
    "path-in-name",
    "secret-in-data",
    "secret-in-name",
    "shape-mismatch",
    "too-complex",
    "too-large",
    "trailing-data",
    "truncated",
    "unknown-problem-type",
    "unreadable",
    "unsupported-object",
    "unsupported-pickle",
    "wrong-type",
)
"""The codes of files, folders and datasets that give no result."""
