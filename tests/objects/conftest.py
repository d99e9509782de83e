"""The stores at each of the servers."""

from __future__ import annotations

import pytest

from benchwright.objects import open_store


@pytest.fixture(autouse=True)
def own_environment(no_credentials):
    """No test here may find credentials of its own."""


@pytest.fixture(params=["local", "google", "seaweed", "moto"])
def store(request, tmp_path):
    """Each kind of store, empty."""
    if request.param == "local":
        return open_store(f"local:{tmp_path / 'a store'}")
    return request.getfixturevalue(f"{request.param}_store")
